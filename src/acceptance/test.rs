//! A test: providers, steps, and what always happens at the end.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use terrane_sdk::{Provider, Served, server};

use super::conditions::Skips;
use super::error::{CheckResult, Error};
use super::import::Import;
use super::program::{Host, Program};
use super::providers::{ExternalProvider, LocalProvider, Serving, required_providers};
use super::run::run_step;
use super::session::{Session, Shared};
use super::settings::Settings;
use super::state::State;
use super::step::Step;

/// A test of providers with a real program.
///
/// The providers run in the process of the test, so that debuggers and fake services see them. The test runs in a separate
/// working directory; at its end, also after a failed step, everything is destroyed.
///
/// ```
/// use terrane_sdk_acceptance::{Step, Test, state};
/// # use terrane_sdk::{Context, Error, Provider, Types, Values};
/// # struct Todo;
/// # impl Provider for Todo {
/// #     type Config = ();
/// #     type Data = ();
/// #     async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> { Ok(()) }
/// #     fn types(&self, _: &mut Types<()>) {}
/// # }
/// // #[test]
/// fn note_is_created() {
///     Test::new()
///         .provider("example/todo", || Todo)
///         .step(
///             Step::new(r#"resource "todo_note" "milk" { title = "Buy milk" }"#)
///                 .check(state::value("todo_note.milk", "list", "inbox")),
///         )
///         .run();
/// }
/// # let _: fn() = note_is_created;
/// ```
#[derive(Default)]
pub struct Test {
    providers: Vec<LocalProvider>,
    external: Vec<ExternalProvider>,
    protocol: Option<u16>,
    steps: Vec<AnyStep>,
    always_runs: bool,
    skips: Skips,
    check_destroyed: Option<Box<dyn FnOnce(&State) -> CheckResult + Send>>,
}

enum AnyStep {
    Step(Box<Step>),
    Import(Box<Import>),
}

/// How a test ended that did not fail.
///
/// ```no_run
/// use terrane_sdk_acceptance::{Outcome, Test};
/// match Test::new().try_run() {
///     Ok(Outcome::Passed) => {}
///     Ok(Outcome::Skipped(reason)) => assert!(!reason.is_empty()),
///     Err(error) => panic!("{error}"),
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All steps succeeded.
    Passed,
    /// It was not run, and why.
    Skipped(String),
}

impl Test {
    /// A test without providers and steps.
    ///
    /// ```
    /// let test = terrane_sdk_acceptance::Test::new();
    /// ```
    pub fn new() -> Test {
        Test::default()
    }

    /// Serves a provider. `address` is its source address: NAMESPACE/TYPE, HOST/NAMESPACE/TYPE, or TYPE for the namespace of
    /// TF_ACC_PROVIDER_NAMESPACE (`hashicorp`). Addresses without a host have that of TF_ACC_PROVIDER_HOST, or the default of the
    /// program. `make` is called for each connection of the program: Terraform makes one for each configuration of the provider.
    ///
    /// ```
    /// use terrane_sdk_acceptance::{Echo, Test};
    /// let test = Test::new().provider("example/echo", || Echo);
    /// ```
    #[must_use]
    pub fn provider<P: Provider>(
        self,
        address: impl Into<String>,
        make: impl Fn() -> P + Send + Sync + 'static,
    ) -> Test {
        self.served(address, move || server(make()))
    }

    /// As [`Test::provider`], for providers that were joined by [`mux`](terrane_sdk::mux).
    ///
    /// ```
    /// use terrane_sdk_acceptance::{Echo, Test};
    /// let provider = terrane_sdk::server(Echo);
    /// let test = Test::new().served("example/echo", move || provider.clone());
    /// ```
    #[must_use]
    pub fn served(mut self, address: impl Into<String>, make: impl Fn() -> Served + Send + Sync + 'static) -> Test {
        self.providers.push(LocalProvider { address: address.into(), make: Arc::new(make) });
        self
    }

    /// Lets the program install a provider. `version` is a constraint, or empty.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Test;
    /// let test = Test::new().external_provider("random", "hashicorp/random", "~> 3.0");
    /// ```
    #[must_use]
    pub fn external_provider(
        mut self,
        name: impl Into<String>,
        source: impl Into<String>,
        version: impl Into<String>,
    ) -> Test {
        let (name, source, version) = (name.into(), source.into(), version.into());
        self.external.push(ExternalProvider { name, source, version });
        self
    }

    /// The version of the plugin protocol, 5 or 6 (default), that the providers speak.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Test;
    /// let test = Test::new().protocol(5);
    /// ```
    #[must_use]
    pub fn protocol(mut self, version: u16) -> Test {
        self.protocol = Some(version);
        self
    }

    /// Adds a step.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Step, Test};
    /// let test = Test::new().step(Step::new("output \"a\" { value = 1 }"));
    /// ```
    #[must_use]
    pub fn step(mut self, step: Step) -> Test {
        self.steps.push(AnyStep::Step(Box::new(step)));
        self
    }

    /// Adds a step that imports an object.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Import, Test};
    /// let test = Test::new().import(Import::command("todo_note.milk").verify());
    /// ```
    #[must_use]
    pub fn import(mut self, step: Import) -> Test {
        self.steps.push(AnyStep::Import(Box::new(step)));
        self
    }

    /// Runs without TF_ACC too: for tests that need only the program and a fake service.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Test;
    /// let test = Test::new().as_unit_test();
    /// ```
    #[must_use]
    pub fn as_unit_test(mut self) -> Test {
        self.always_runs = true;
        self
    }

    /// Skips the test if the version of the program is lower.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Test;
    /// let test = Test::new().skip_below("1.11");
    /// ```
    #[must_use]
    pub fn skip_below(mut self, version: &str) -> Test {
        self.skips.add_below(version);
        self
    }

    /// Skips the test if the version of the program is higher.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Test;
    /// let test = Test::new().skip_above("1.11.4");
    /// ```
    #[must_use]
    pub fn skip_above(mut self, version: &str) -> Test {
        self.skips.add_above(version);
        self
    }

    /// Skips the test if the function returns true.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Test;
    /// let test = Test::new().skip_if(|host| host.is_terrane);
    /// ```
    #[must_use]
    pub fn skip_if(mut self, skip: impl FnMut(&Host) -> bool + Send + 'static) -> Test {
        self.skips.add_if(skip);
        self
    }

    /// Called after the final destroy with the last state that had resources: checks that the service has none of them.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{State, Test};
    /// let test = Test::new().check_destroyed(|state: &State| {
    ///     let id = state.text("todo_note.milk", "id").unwrap_or_default();
    ///     // Ask the service for the note.
    ///     Ok(())
    /// });
    /// ```
    #[must_use]
    pub fn check_destroyed(mut self, check: impl FnOnce(&State) -> CheckResult + Send + 'static) -> Test {
        self.check_destroyed = Some(Box::new(check));
        self
    }

    /// Runs the test, and panics if it fails. Reports on standard error if it is skipped.
    ///
    /// Blocks the thread. In an `async` test whose own tasks must go on, such as a fake service, call it by
    /// `tokio::task::spawn_blocking`.
    ///
    /// ```no_run
    /// # use terrane_sdk_acceptance::{Step, Test};
    /// Test::new().step(Step::new("output \"a\" { value = 1 }")).run();
    /// ```
    ///
    /// # Panics
    ///
    /// If a step, the final destroy or a check fails.
    #[track_caller]
    pub fn run(self) {
        match self.try_run() {
            Ok(Outcome::Passed) => {}
            Ok(Outcome::Skipped(reason)) => {
                let thread = std::thread::current();
                Settings::of_process().report(&format!("{}: skipped: {reason}", thread.name().unwrap_or("test")));
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`Test::run`], with the result as a value.
    ///
    /// ```no_run
    /// # use terrane_sdk_acceptance::{Outcome, Step, Test};
    /// let outcome = Test::new().step(Step::new("output \"a\" { value = 1 }")).try_run().unwrap();
    /// assert_eq!(outcome, Outcome::Passed);
    /// ```
    pub fn try_run(self) -> Result<Outcome, Error> {
        self.run_with(Settings::of_process())
    }

    pub(super) fn run_with(mut self, settings: Settings) -> Result<Outcome, Error> {
        if !settings.is_enabled() && !self.always_runs {
            return Ok(Outcome::Skipped("set TF_ACC=1 to run acceptance tests".to_owned()));
        }
        let required_providers = required_providers(&self.providers, &self.external, &settings)?;
        let serving = Serving::start(&self.providers, self.protocol.unwrap_or(6), &settings)?;
        let program = Program::open(&settings, serving.variable.clone())?;
        if let Some(reason) = self.skips.reason(program.host()) {
            return Ok(Outcome::Skipped(reason));
        }
        let shared = Shared { program, settings, required_providers };
        let mut session = Session::create(&shared)?;
        // Checks may panic: what the test created is destroyed nevertheless.
        let steps = std::mem::take(&mut self.steps);
        let steps = catch_unwind(AssertUnwindSafe(|| run_steps(&mut session, steps)));
        let destroyed = finish(&mut session, self.check_destroyed.take());
        let destroyed = destroyed.map_err(|error| error.in_step("final destroy"));
        match (steps, destroyed) {
            (Ok(Ok(())), Ok(())) => Ok(Outcome::Passed),
            (Ok(Err(error)), Ok(())) | (Ok(Ok(())), Err(error)) => Err(error),
            (Ok(Err(error)), Err(later)) => Err(error.and(later)),
            (Err(panic), destroyed) => {
                if let Err(error) = destroyed {
                    shared.settings.report(&error.to_string());
                }
                resume_unwind(panic)
            }
        }
    }
}

/// Runs the steps up to the first one that fails.
fn run_steps(session: &mut Session<'_>, steps: Vec<AnyStep>) -> Result<(), Error> {
    let count = steps.len();
    for (index, mut step) in steps.into_iter().enumerate() {
        let name = format!("step {} of {count}", index + 1);
        let skips = match &mut step {
            AnyStep::Step(step) => &mut step.skips,
            AnyStep::Import(import) => &mut import.skips,
        };
        if let Some(reason) = skips.reason(session.shared.program.host()) {
            session.shared.settings.report(&format!("{name}: skipped: {reason}"));
            continue;
        }
        let result = match step {
            AnyStep::Step(step) => run_step(session, *step),
            AnyStep::Import(import) => import.run(session),
        };
        result.map_err(|error| error.in_step(name))?;
    }
    Ok(())
}

/// Destroys everything, then checks that it is gone.
fn finish(
    session: &mut Session<'_>,
    check: Option<Box<dyn FnOnce(&State) -> CheckResult + Send>>,
) -> Result<(), Error> {
    let state = session.destroy()?;
    match check {
        Some(check) => session.check(check(&state.unwrap_or_default())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_skipped_without_the_variable() {
        let outcome = Test::new().run_with(Settings::of(&[])).unwrap();
        assert_eq!(outcome, Outcome::Skipped("set TF_ACC=1 to run acceptance tests".to_owned()));
    }

    #[test]
    fn missing_programs_are_an_error() {
        let error = Test::new().as_unit_test().run_with(Settings::of(&[("PATH", "")])).unwrap_err();
        assert!(error.to_string().contains("Set TF_ACC_TERRAFORM_PATH"), "{error}");
        let settings = Settings::of(&[("TF_ACC", "1"), ("TF_ACC_TERRAFORM_PATH", "/does/not/exist")]);
        let error = Test::new().run_with(settings).unwrap_err();
        assert!(error.to_string().starts_with("cannot run /does/not/exist: "), "{error}");
    }
}
