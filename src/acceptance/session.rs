//! The commands of one working directory.

use std::path::Path;

use super::directory::{Configuration, Directory};
use super::error::{CheckResult, Error};
use super::output::Output;
use super::plan::Plan;
use super::program::Program;
use super::settings::Settings;
use super::state::State;

/// The file for plans, in the working directory.
const PLAN_FILE: &str = "acceptance.tfplan";

/// What all working directories of a test share.
pub(super) struct Shared {
    pub program: Program,
    pub settings: Settings,
    /// The `terraform` block with the providers.
    pub required_providers: String,
}

/// A working directory with the configuration that it has now.
pub(super) struct Session<'t> {
    pub shared: &'t Shared,
    pub directory: Directory,
    /// What the directory has.
    pub current: Option<Configuration>,
    /// What was applied last. What it created is destroyed by it.
    pub applied: Option<Configuration>,
    /// The last command.
    pub last: Option<Output>,
}

impl<'t> Session<'t> {
    pub fn create(shared: &'t Shared) -> Result<Session<'t>, Error> {
        let directory = Directory::create(&shared.settings)?;
        Ok(Session { shared, directory, current: None, applied: None, last: None })
    }

    /// Writes a configuration and initializes the directory.
    pub fn configure(&mut self, configuration: &Configuration) -> Result<(), Error> {
        self.current = Some(configuration.clone());
        self.directory.write_configuration(configuration, &self.shared.required_providers)?;
        self.run(&["init", "-no-color", "-input=false"], &[0])?;
        Ok(())
    }

    /// Adds a file to the configuration.
    pub fn write(&mut self, name: &str, text: &str) -> Result<(), Error> {
        self.directory.write(Path::new(name), text.as_bytes())
    }

    /// Runs a command that must end with one of the codes.
    pub fn run(&mut self, arguments: &[&str], codes: &[i32]) -> Result<Output, Error> {
        let output = self.shared.program.run(self.directory.path(), arguments)?;
        self.last = Some(output.clone());
        output.expect_code(codes)
    }

    /// Makes a plan and keeps it for [`Session::apply_plan`]. Returns whether it has changes.
    pub fn plan(&mut self, options: &[&str], more: &[String]) -> Result<bool, Error> {
        let fixed = ["plan", "-no-color", "-input=false", "-detailed-exitcode"];
        let out = format!("-out={PLAN_FILE}");
        let more = more.iter().map(String::as_str);
        let arguments: Vec<&str> =
            fixed.into_iter().chain([out.as_str()]).chain(options.iter().copied()).chain(more).collect();
        Ok(self.run(&arguments, &[0, 2])?.code == Some(2))
    }

    /// Reads the last plan.
    pub fn read_plan(&mut self) -> Result<Plan, Error> {
        let output = self.query(&["show", "-no-color", "-json", PLAN_FILE])?;
        Plan::parse(&output.stdout).map_err(|error| error.or_command(Some(&output)))
    }

    /// Applies the last plan.
    pub fn apply_plan(&mut self) -> Result<(), Error> {
        self.applied.clone_from(&self.current);
        self.run(&["apply", "-no-color", "-input=false", PLAN_FILE], &[0]).map(drop)
    }

    /// Reads the state.
    pub fn read_state(&mut self) -> Result<State, Error> {
        let output = self.query(&["show", "-no-color", "-json"])?;
        State::parse(&output.stdout).map_err(|error| error.or_command(Some(&output)))
    }

    /// Runs a command that only shows something. Errors of checks show the command before it.
    fn query(&mut self, arguments: &[&str]) -> Result<Output, Error> {
        self.shared.program.run(self.directory.path(), arguments)?.expect_code(&[0])
    }

    /// Makes an error of a failed check, with the output of the last command.
    pub fn check(&self, result: CheckResult) -> Result<(), Error> {
        result.map_err(|problem| self.failure(problem))
    }

    /// An error with the output of the last command.
    pub fn failure(&self, problem: impl Into<String>) -> Error {
        Error::new(problem).or_command(self.last.as_ref())
    }

    /// Destroys everything. Returns the state before that, if it was not empty.
    pub fn destroy(&mut self) -> Result<Option<State>, Error> {
        let Some(applied) = self.applied.take() else { return Ok(None) };
        self.configure(&applied)?;
        let state = self.read_state()?;
        if state.addresses().next().is_none() {
            return Ok(None);
        }
        self.run(&["destroy", "-no-color", "-input=false", "-auto-approve"], &[0])?;
        Ok(Some(state))
    }
}
