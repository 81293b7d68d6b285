//! Errors that a run expects by their texts.

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::source::Range;
use lang::syntax::ast::Expression;
use model::config::test_file::TestRun;
use regex_automata::meta::Regex;
use terrane_value::{Type, Value, convert};

use super::expect::is_of_check;

/// The patterns of one `expect_error` block. All that are given must match one error.
pub struct ExpectedError {
    summary: Option<Regex>,
    message: Option<Regex>,
    address: Option<Regex>,
    range: Range,
    has_happened: bool,
}

/// The errors that a run expects.
#[derive(Default)]
pub struct ExpectedErrors(Vec<ExpectedError>);

impl ExpectedErrors {
    /// Reads the patterns. `evaluate`: gives the values of expressions of the file.
    pub fn of(run: &TestRun, evaluate: &dyn Fn(&Expression) -> (Value, Diagnostics)) -> (ExpectedErrors, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let mut pattern = |expr: &Option<Expression>| {
            let expr = expr.as_ref()?;
            let value = diagnostics.take(evaluate(expr));
            regex_of(&value).map_err(|problem| diagnostics.push(problem.at(expr.range()))).ok()
        };
        let mut all = Vec::new();
        for expected in &run.expect_error {
            all.push(ExpectedError {
                summary: pattern(&expected.summary),
                message: pattern(&expected.message),
                address: pattern(&expected.address),
                range: expected.range.clone(),
                has_happened: false,
            });
        }
        (ExpectedErrors(all), diagnostics)
    }

    /// What is left of the diagnostics of a run: without the errors that are expected. Expected errors that were not reported are errors.
    /// Also returns whether an error that was removed ended the work on its object; a failed `check` block ends nothing.
    pub fn remove_expected(mut self, found: Diagnostics) -> (Diagnostics, bool) {
        let (mut left, mut is_cut_short) = (Diagnostics::new(), false);
        for diagnostic in found {
            let expected = self.0.iter_mut().find(|expected| diagnostic.is_error() && expected.matches(&diagnostic));
            match expected {
                Some(expected) => {
                    expected.has_happened = true;
                    is_cut_short |= !is_of_check(&diagnostic);
                }
                None => left.push(diagnostic),
            }
        }
        for missing in self.0.into_iter().filter(|expected| !expected.has_happened) {
            let detail =
                "The run was expected to report an error that matches the patterns of this block, but did not.";
            let error = Diagnostic::error("Missing expected error", detail).of_kind(Kind::MissingFailure);
            left.push(error.at(missing.range));
        }
        (left, is_cut_short)
    }
}

/// The regular expression that a value is, or what is wrong with it. Says nothing of values that may not be shown.
fn regex_of(value: &Value) -> Result<Regex, Diagnostic> {
    let invalid = |detail: String| Diagnostic::error("Invalid expect_error pattern", detail);
    let text = match convert::convert(value, &Type::String) {
        Ok(text) if text.is_known() && !text.is_null() => text,
        _ => return Err(invalid("A pattern is a string that is known when the run ends.".into())),
    };
    let pattern = text.as_str().unwrap_or_default();
    Regex::new(pattern).map_err(|error| {
        invalid(match text.marks().is_empty() {
            true => format!("{pattern:?} is no regular expression: {error}."),
            false => {
                "The value is no regular expression. It is not shown, because it is sensitive or ephemeral.".to_owned()
            }
        })
    })
}

impl ExpectedError {
    fn matches(&self, diagnostic: &Diagnostic) -> bool {
        let is_match =
            |pattern: &Option<Regex>, text: &str| pattern.as_ref().is_none_or(|pattern| pattern.is_match(text));
        let checked = diagnostic.checked.as_ref().map(|checked| checked.address.as_str());
        let address = diagnostic.address.as_deref().or(checked).unwrap_or_default();
        is_match(&self.summary, &diagnostic.summary)
            && is_match(&self.message, &diagnostic.detail)
            && is_match(&self.address, address)
    }
}

#[cfg(test)]
mod tests {
    use terrane_value::Marks;

    use super::*;

    #[test]
    fn patterns_are_known_strings() {
        let number = convert::convert(&Value::string("12"), &Type::Number).unwrap();
        let cases = [
            (Value::string("^a"), None),
            (number, None),
            (Value::null_dynamic(), Some("A pattern is a string that is known")),
            (Value::dynamic(), Some("A pattern is a string that is known")),
            (Value::string("("), Some("\"(\" is no regular expression")),
            (Value::string("(").mark(Marks::SENSITIVE), Some("The value is no regular expression. It is not shown")),
        ];
        for (value, problem) in cases {
            let found = regex_of(&value).err().map(|found| found.detail);
            assert_eq!(found.is_some(), problem.is_some(), "{value:?}");
            assert!(found.unwrap_or_default().starts_with(problem.unwrap_or_default()), "{value:?}");
        }
    }
}
