//! What steps of all kinds have: when they are skipped, and the error that they should end with.

use std::sync::Arc;

use super::error::Error;
use super::output::flat;
use super::program::{Host, Version};

/// Whether to skip something with a program: the reason.
type Skip = Box<dyn FnMut(Host) -> Option<String> + Send>;

/// Reasons to skip a test or a step.
#[derive(Default)]
pub(super) struct Skips(Vec<Skip>);

impl Skips {
    pub fn add(&mut self, skip: impl FnMut(Host) -> Option<String> + Send + 'static) {
        self.0.push(Box::new(skip));
    }

    /// Skips programs whose version is lower. A text that is no version skips all programs.
    pub fn add_below(&mut self, text: &str) {
        let lowest = text.parse::<Version>();
        self.add(move |Host { version, .. }| match &lowest {
            Ok(lowest) => (version < *lowest).then(|| format!("version {version} is below {lowest}")),
            Err(error) => Some(error.to_string()),
        });
    }

    /// Skips programs whose version is higher.
    pub fn add_above(&mut self, text: &str) {
        let highest = text.parse::<Version>();
        self.add(move |Host { version, .. }| match &highest {
            Ok(highest) => (version > *highest).then(|| format!("version {version} is above {highest}")),
            Err(error) => Some(error.to_string()),
        });
    }

    /// Skips programs for which the function returns true.
    pub fn add_if(&mut self, mut skip: impl FnMut(&Host) -> bool + Send + 'static) {
        self.add(move |host| skip(&host).then(|| format!("version {} is excluded", host.version)));
    }

    /// The first reason that applies.
    pub fn reason(&mut self, host: Host) -> Option<String> {
        self.0.iter_mut().find_map(|skip| skip(host))
    }
}

/// The error that a step should end with.
#[derive(Clone)]
pub(super) struct ExpectedError {
    pub description: String,
    /// Gets the output of the program in one line.
    pub holds: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

impl ExpectedError {
    /// An error that contains a text, however the program wraps its lines.
    pub fn with_text(text: &str) -> ExpectedError {
        let wanted = flat(text);
        ExpectedError { description: format!("{text:?}"), holds: Arc::new(move |output| output.contains(&wanted)) }
    }

    /// Accepts a failed command with the expected error, and nothing else. `expected`: none if the step should succeed.
    pub fn judge(expected: Option<&ExpectedError>, result: Result<(), Error>) -> Result<(), Error> {
        let Some(expected) = expected else { return result };
        let error = match result {
            Ok(()) => {
                return Err(Error::new(format!("expected the error {}, but the step succeeded", expected.description)));
            }
            Err(error) => error,
        };
        match error.command_output() {
            Some(output) if output.code != Some(0) && (expected.holds)(&output.flat_text()) => Ok(()),
            Some(_) => {
                Err(Error::new(format!("expected the error {}, found another", expected.description)).and(error))
            }
            None => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::output::Output;
    use super::*;

    #[test]
    fn programs_outside_of_versions_are_skipped() {
        let host = |version: &str| Host { version: version.parse().unwrap(), is_terrane: false };
        let mut skips = Skips::default();
        skips.add_below("1.11");
        skips.add_above("1.12.5");
        for (version, reason) in [
            ("1.10.9", Some("version 1.10.9 is below 1.11.0")),
            ("1.11.0", None),
            ("1.13.0", Some("version 1.13.0 is above 1.12.5")),
        ] {
            assert_eq!(skips.reason(host(version)).as_deref(), reason);
        }
        skips.add_below("x");
        assert_eq!(skips.reason(host("1.12.0")).as_deref(), Some("\"x\" is no version"));
    }

    #[test]
    fn only_the_expected_error_of_a_command_passes() {
        let output = Output {
            command: "terraform plan".to_owned(),
            code: Some(1),
            stdout: String::new(),
            stderr: "│ Error: Missing\n│ title\n".to_owned(),
        };
        let failed = || Err(Error::of_command("the command failed", &output));
        let expected = ExpectedError::with_text("Missing   title");
        let other = ExpectedError::with_text("Missing body");
        let text = |result: Result<(), Error>| result.map_err(|error| error.to_string());
        assert_eq!(text(ExpectedError::judge(Some(&expected), failed())), Ok(()));
        assert!(ExpectedError::judge(None, failed()).is_err());
        let message = text(ExpectedError::judge(Some(&other), failed())).unwrap_err();
        assert!(message.starts_with("expected the error \"Missing body\", found another\n\n"), "{message}");
        assert!(message.contains("│ Error: Missing\n"), "{message}");
        let message = text(ExpectedError::judge(Some(&expected), Ok(()))).unwrap_err();
        assert!(message.ends_with("but the step succeeded"), "{message}");
        assert!(ExpectedError::judge(Some(&expected), Err(Error::new("Missing title"))).is_err(), "a failed check");
    }
}
