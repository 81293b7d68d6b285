//! Failures of acceptance tests.

use std::fmt;

use super::output::Output;

/// The result of a check. The text says what was expected and what was found.
///
/// ```
/// use terrane_sdk_acceptance::{CheckResult, State};
///
/// fn has_notes(state: &State) -> CheckResult {
///     match state.addresses().next() {
///         Some(_) => Ok(()),
///         None => Err("expected notes in the state, found none".to_owned()),
///     }
/// }
/// ```
pub type CheckResult = Result<(), String>;

/// Why a test failed: the step, what was expected and found, and the output of the program.
///
/// ```no_run
/// # use terrane_sdk_acceptance::{Error, Test};
/// let failed: Option<Error> = Test::new().try_run().err();
/// ```
#[derive(Debug)]
pub struct Error {
    /// "step 2 of 3".
    step: Option<String>,
    problem: String,
    output: Option<Box<Output>>,
    /// What failed after it: the final destroy, for example.
    next: Option<Box<Error>>,
}

impl Error {
    pub(super) fn new(problem: impl Into<String>) -> Error {
        Error { step: None, problem: problem.into(), output: None, next: None }
    }

    /// An error with the command that it is about.
    pub(super) fn of_command(problem: impl Into<String>, output: &Output) -> Error {
        Error { output: Some(Box::new(output.clone())), ..Error::new(problem) }
    }

    /// Adds the command if the error has none.
    pub(super) fn or_command(mut self, output: Option<&Output>) -> Error {
        self.output = self.output.or_else(|| output.cloned().map(Box::new));
        self
    }

    /// Names the step. The innermost name counts.
    pub(super) fn in_step(mut self, step: impl Into<String>) -> Error {
        self.step.get_or_insert_with(|| step.into());
        self
    }

    /// Appends an error that happened later.
    pub(super) fn and(mut self, later: Error) -> Error {
        self.next = Some(match self.next.take() {
            Some(next) => Box::new(next.and(later)),
            None => Box::new(later),
        });
        self
    }

    /// The output of the command that failed; none if something else did.
    pub(super) fn command_output(&self) -> Option<&Output> {
        self.output.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(step) = &self.step {
            write!(f, "{step}: ")?;
        }
        f.write_str(&self.problem)?;
        if let Some(output) = &self.output {
            write!(f, "\n\n{output}")?;
        }
        match &self.next {
            Some(next) => write!(f, "\n\n{next}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

impl Output {
    /// An error unless the command ended with one of these exit codes.
    pub fn expect_code(self, codes: &[i32]) -> Result<Output, Error> {
        match self.code {
            Some(code) if codes.contains(&code) => Ok(self),
            _ => Err(Error::of_command("the command failed", &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_show_the_step_the_command_and_what_followed() {
        let output = Output {
            command: "terraform plan".to_owned(),
            code: Some(1),
            stdout: "a\n".to_owned(),
            stderr: "b\n".to_owned(),
        };
        let error = Error::of_command("the command failed", &output).in_step("step 1 of 2").in_step("the test");
        let error = error.and(Error::new("no program").in_step("final destroy"));
        assert_eq!(
            error.to_string(),
            "step 1 of 2: the command failed\n\n$ terraform plan\na\nb\nexit code 1\n\nfinal destroy: no program"
        );
    }
}
