//! Expected failures: which diagnostics of a run they swallow, and which of them did not happen.

use base::diag::{CheckedKind, CheckedObject, Diagnostic, Diagnostics, Kind, Severity};
use base::source::Range;
use model::config::test_file::{CheckableTarget, TestRun};

/// The objects whose rules a run expects to fail.
#[derive(Debug, Default)]
pub struct ExpectedFailures(Vec<Expectation>);

#[derive(Debug)]
struct Expectation {
    target: CheckableTarget,
    range: Range,
    has_happened: bool,
}

impl ExpectedFailures {
    pub fn of(run: &TestRun) -> ExpectedFailures {
        let mut all: Vec<Expectation> = Vec::new();
        for (target, range) in run.expect_failures.iter().filter_map(|expected| expected.resolve().ok()) {
            all.retain(|known| known.target != target);
            all.push(Expectation { target, range, has_happened: false });
        }
        ExpectedFailures(all)
    }

    /// The expectation that an object meets: the one for this object, or else one for all instances.
    fn find(&mut self, checked: &CheckedObject) -> Option<&mut Expectation> {
        let object = CheckableTarget::parse(&checked.address)?;
        let exact = self.0.iter().position(|expected| expected.target == object);
        let found = exact.or_else(|| self.0.iter().position(|expected| expected.target.covers(&object)))?;
        self.0.get_mut(found)
    }

    /// What is left of the diagnostics of a run: without expected failures, with an error for each one that did not happen. What a
    /// check block says is an error in tests.
    pub fn remove_expected(mut self, found: Diagnostics) -> Diagnostics {
        let mut left = Diagnostics::new();
        for diagnostic in found {
            left.extend(self.remove_if_expected(diagnostic));
        }
        for missing in self.0.into_iter().filter(|expected| !expected.has_happened) {
            let detail =
                format!("The checkable object, {}, was expected to report an error but did not.", missing.target);
            let error = Diagnostic::error("Missing expected failure", detail).of_kind(Kind::MissingFailure);
            left.push(error.at(missing.range));
        }
        left
    }

    fn remove_if_expected(&mut self, mut diagnostic: Diagnostic) -> Option<Diagnostic> {
        let is_of_check = is_of_check(&diagnostic);
        let Some(checked) = diagnostic.checked.clone() else { return Some(diagnostic) };
        let counts = match checked.kind {
            CheckedKind::Check => true,
            CheckedKind::CheckData => checked.was_error,
            _ => diagnostic.is_error(),
        };
        if counts && let Some(expected) = self.find(&checked) {
            expected.has_happened = true;
            return None;
        }
        if counts && is_of_check {
            diagnostic.severity = Severity::Error;
        }
        Some(diagnostic)
    }

    /// The diagnostics of a plan whose errors prevent the apply, with a warning before each that was expected.
    pub fn explain(&mut self, found: Diagnostics) -> Diagnostics {
        let mut all = Diagnostics::new();
        for diagnostic in found {
            let checked = diagnostic.checked.clone().filter(|_| diagnostic.is_error());
            if let Some(checked) = checked
                && let Some(expected) = self.find(&checked)
            {
                let detail = format!(
                    "A custom condition within {} failed during the planning stage and prevented the requested apply operation. While \
                     this was an expected failure, the apply operation could not be executed and so the overall test case will be \
                     marked as a failure and the original diagnostic included in the test report.",
                    checked.address
                );
                let mut warning = Diagnostic::warning("Expected failure while planning", detail);
                // Observed: of all objects, only outputs are shown with their place.
                if checked.kind == CheckedKind::Output {
                    warning = warning.at(expected.range.clone());
                }
                all.push(warning);
            }
            all.push(diagnostic);
        }
        all
    }
}

/// Whether a diagnostic is the result of a `check` block, whose failures do not end a plan or an apply.
pub fn is_of_check(diagnostic: &Diagnostic) -> bool {
    let kind = diagnostic.checked.as_ref().map(|checked| checked.kind);
    matches!(kind, Some(CheckedKind::Check | CheckedKind::CheckData))
}

/// Whether there is nothing wrong but that expected failures did not happen.
pub fn only_missing_failures(diagnostics: &Diagnostics) -> bool {
    diagnostics.iter().filter(|d| d.is_error()).all(|d| d.kind == Kind::MissingFailure)
}
