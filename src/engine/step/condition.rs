//! Conditions: `validation`, `precondition` and `postcondition`.

use base::diag::{CheckedKind, Diagnostic, Diagnostics, Severity};
use base::name::PROGRAM;
use base::source::Range;
use lang::eval::describe::with_values;
use lang::eval::{Scope, evaluate};
use lang::syntax::ast::Expression;
use model::addr::ModuleInstance;
use model::config::Condition;
use model::state::CheckStatus;
use terrane_value::{Marks, Type, Value, convert};

use crate::coverage::PointKind;
use crate::run::records::CheckRecord;
use crate::run::results::Results;

const INVALID_MESSAGE_VALUE: &str = "Invalid error message";

/// What kind of rule a condition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    Precondition,
    Postcondition,
    OutputPrecondition,
    /// Of a check block: failures only warn.
    Assertion,
}

impl ConditionKind {
    fn summary(self) -> &'static str {
        match self {
            ConditionKind::Precondition => "Resource precondition failed",
            ConditionKind::Postcondition => "Resource postcondition failed",
            ConditionKind::OutputPrecondition => "Module output value precondition failed",
            ConditionKind::Assertion => "Check block assertion failed",
        }
    }

    fn checked(self) -> CheckedKind {
        match self {
            ConditionKind::Precondition | ConditionKind::Postcondition => CheckedKind::Resource,
            ConditionKind::OutputPrecondition => CheckedKind::Output,
            ConditionKind::Assertion => CheckedKind::Check,
        }
    }

    fn point(self) -> PointKind {
        if self == ConditionKind::Assertion { PointKind::Assertion } else { PointKind::Condition }
    }

    fn checkable(self) -> &'static str {
        match self {
            ConditionKind::Precondition | ConditionKind::Postcondition => "resource",
            ConditionKind::OutputPrecondition => "output_value",
            ConditionKind::Assertion => "check",
        }
    }
}

/// What conditions are checked of: addresses with and without instance keys.
pub struct Checked {
    pub config_addr: String,
    pub addr: String,
}

impl Checked {
    /// An object of a module instance, by its name within the module.
    pub fn in_module(module: &ModuleInstance, name: &str) -> Checked {
        let within = |path: String| if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
        Checked { config_addr: within(module.module().to_string()), addr: within(module.to_string()) }
    }
}

/// Checks the conditions of one object and records the results. Failures are errors, or warnings where `lenient`.
pub fn check(
    results: &Results,
    kind: ConditionKind,
    conditions: &[Condition],
    scope: &dyn Scope,
    of: &Checked,
    lenient: bool,
) -> Diagnostics {
    let mut all = Diagnostics::new();
    for condition in conditions {
        let outcome = judge(condition, scope);
        let (status, message) = (outcome.status, outcome.message.clone());
        all.extend(outcome.diagnostics);
        if let Some(coverage) = &results.coverage {
            coverage.record_condition(kind.point(), &condition.condition.range(), status);
        }
        if status == CheckStatus::Fail {
            let detail = message.clone().unwrap_or_else(|| INVALID_MESSAGE.into());
            let failed = Diagnostic::error(kind.summary(), detail).at(condition.condition.range());
            let failed = failed.about_rule_of(kind.checked(), &*of.addr);
            let mut failed = with_values(failed, &condition.condition, scope);
            failed.of_check = kind == ConditionKind::Assertion;
            if lenient {
                failed.severity = Severity::Warning;
            }
            all.push(failed);
        }
        if status == CheckStatus::Unknown && kind == ConditionKind::Assertion {
            let detail = "The condition could not be evaluated at this time, a result will be known when this plan is \
                          applied.";
            let later = Diagnostic::warning("Check block assertion known after apply", detail);
            let later = later.at(condition.condition.range()).about_rule_of(kind.checked(), &*of.addr);
            let mut later = with_values(later, &condition.condition, scope);
            later.of_check = true;
            all.push(later);
        }
        results.checks().records.push(CheckRecord {
            kind: kind.checkable(),
            config_addr: of.config_addr.clone(),
            addr: of.addr.clone(),
            status,
            message: message.filter(|_| status == CheckStatus::Fail),
        });
    }
    all
}

/// What can be wrong with the message of a condition before it is judged.
pub fn examine_message(condition: &Condition, scope: &dyn Scope) -> Diagnostics {
    let mut diagnostics = mistaken_names(&condition.condition, scope);
    error_message(condition, scope, &mut diagnostics);
    diagnostics
}

/// What the scope says about the names in an expression.
fn mistaken_names(expr: &Expression, scope: &dyn Scope) -> Diagnostics {
    let said = expr.variables().into_iter().map(|traversal| scope.resolve(traversal, &expr.file).diagnostics);
    said.flatten().filter(Diagnostic::is_error).collect()
}

/// Checks one rule of an input variable.
pub fn check_variable(
    results: &Results,
    rule: &Condition,
    scope: &dyn Scope,
    of: &Checked,
    value_at: &Range,
) -> Diagnostics {
    let (status, message, mut all) = judge_variable(rule, scope);
    if let Some(coverage) = &results.coverage {
        coverage.record_condition(PointKind::Condition, &rule.condition.range(), status);
    }
    if status == CheckStatus::Fail {
        let text = message.as_deref().unwrap_or("Failed to evaluate condition error message.");
        let detail = format!("{text}\n\nThis was checked by the validation rule at {}.", rule.range);
        let failed = Diagnostic::error("Invalid value for variable", detail).at(value_at.clone());
        let failed = failed.about_rule_of(CheckedKind::Variable, &*of.addr);
        all.push(with_values(failed, &rule.condition, scope));
    }
    results.checks().records.push(CheckRecord {
        kind: "var",
        config_addr: of.config_addr.clone(),
        addr: of.addr.clone(),
        status,
        message,
    });
    all
}

fn judge_variable(rule: &Condition, scope: &dyn Scope) -> (CheckStatus, Option<String>, Diagnostics) {
    let (value, mut diagnostics) = evaluate(&rule.condition, scope);
    let failed = diagnostics.has_errors();
    let (message, problems) = evaluate(&rule.error_message, scope);
    let message = (!problems.has_errors() && message.is_known() && !message.is_null()).then_some(message);
    for problem in problems {
        if !diagnostics.iter().any(|known| *known == problem) {
            diagnostics.push(problem);
        }
    }
    if failed || !value.is_known() {
        let status = if failed { CheckStatus::Error } else { CheckStatus::Unknown };
        return (status, None, diagnostics);
    }
    let invalid = |detail: String| {
        let error = Diagnostic::error("Invalid variable validation result", detail).at(rule.condition.range());
        with_values(error, &rule.condition, scope)
    };
    if value.is_null() {
        diagnostics.push(invalid("Validation condition expression must return either true or false, not null.".into()));
        return (CheckStatus::Error, None, diagnostics);
    }
    match convert::convert(&value, &Type::Bool).map(|value| value.as_bool()) {
        Ok(Some(false)) => {
            let text = message.and_then(|message| variable_message(rule, message, scope, &mut diagnostics));
            (CheckStatus::Fail, text, diagnostics)
        }
        Ok(Some(true)) => (CheckStatus::Pass, None, diagnostics),
        Ok(None) => (CheckStatus::Unknown, None, diagnostics),
        Err(error) => {
            diagnostics.push(invalid(format!("Invalid validation condition result value: {}.", error.message)));
            (CheckStatus::Error, None, diagnostics)
        }
    }
}

/// What a message evaluated to, as a string; None, and the error, if it cannot be one.
fn message_text(rule: &Condition, message: &Value, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<Value> {
    convert::convert(message, &Type::String)
        .map_err(|error| {
            let detail = format!("Unsuitable value for error message: {}.", error.message);
            let error = Diagnostic::error(INVALID_MESSAGE_VALUE, detail).at(rule.error_message.range());
            diagnostics.push(with_values(error, &rule.error_message, scope));
        })
        .ok()
}

/// The message of a variable's rule as it is shown.
fn variable_message(
    rule: &Condition,
    message: Value,
    scope: &dyn Scope,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let at = rule.error_message.range();
    let text = message_text(rule, &message, scope, diagnostics)?;
    let (kind, mend) = match text.marks() {
        marks if marks.contains(Marks::SENSITIVE) => ("sensitive", "nonsensitive"),
        marks if marks.contains(Marks::EPHEMERAL) => ("ephemeral", "ephemeralasnull"),
        _ => return text.as_str().map(|text| text.trim().to_string()).filter(|text| !text.is_empty()),
    };
    let detail = format!(
        "The error expression used to explain this condition refers to {kind} values. {PROGRAM} will not display the \
         resulting message.\n\nYou can correct this by removing references to {kind} values, or by carefully using the \
         {mend}() function if the expression will not reveal the {kind} data."
    );
    diagnostics.push(Diagnostic::error(format!("Error message refers to {kind} values"), detail).at(at));
    Some("The error message included a sensitive value, so it will not be displayed.".into())
}

const INVALID_MESSAGE: &str =
    "This check failed, but has an invalid error message as described in the other accompanying messages.";

struct Outcome {
    status: CheckStatus,
    message: Option<String>,
    diagnostics: Diagnostics,
}

fn judge(rule: &Condition, scope: &dyn Scope) -> Outcome {
    let (value, mut diagnostics) = evaluate(&rule.condition, scope);
    let errored = |diagnostics| Outcome { status: CheckStatus::Error, message: None, diagnostics };
    let failed = diagnostics.has_errors();
    let message = error_message(rule, scope, &mut diagnostics);
    if failed || diagnostics.has_errors() {
        return errored(diagnostics);
    }
    let invalid = |detail: String| {
        let error = Diagnostic::error("Invalid condition result", detail).at(rule.condition.range());
        with_values(error, &rule.condition, scope)
    };
    if !value.is_known() {
        return Outcome { status: CheckStatus::Unknown, message, diagnostics };
    }
    if value.is_null() {
        let detail = "Condition expression must return either true or false, not null.";
        diagnostics.push(invalid(detail.into()));
        return errored(diagnostics);
    }
    match convert::convert(&value, &Type::Bool) {
        Ok(value) => {
            let status = match value.as_bool() {
                Some(true) => CheckStatus::Pass,
                Some(false) => CheckStatus::Fail,
                None => CheckStatus::Unknown,
            };
            Outcome { status, message, diagnostics }
        }
        Err(error) => {
            diagnostics.push(invalid(format!("Invalid condition result value: {}.", error.message)));
            errored(diagnostics)
        }
    }
}

pub fn error_message(rule: &Condition, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<String> {
    let (value, found) = evaluate(&rule.error_message, scope);
    let failed = found.has_errors();
    diagnostics.extend(found);
    if failed || !value.is_known() {
        return None;
    }
    let at = rule.error_message.range();
    let text = message_text(rule, &value, scope, diagnostics)?;
    if text.is_null() {
        let detail = "Unsuitable value for error message: must not be null.";
        diagnostics.push(Diagnostic::error(INVALID_MESSAGE_VALUE, detail).at(at));
        return None;
    }
    if text.is_sensitive() {
        let detail = format!(
            "The error expression used to explain this condition refers to sensitive values, so {PROGRAM} will not \
                      display the resulting message.\n\nYou can correct this by removing references to sensitive values, \
                      or by carefully using the nonsensitive() function if the expression will not reveal the sensitive \
                      data."
        );
        let warning = Diagnostic::warning("Error message refers to sensitive values", detail).at(at);
        diagnostics.push(with_values(warning, &rule.error_message, scope));
        return None;
    }
    if text.marks().contains(Marks::EPHEMERAL) {
        let detail = format!(
            "The error expression used to explain this condition refers to ephemeral values, so {PROGRAM} will not \
                      display the resulting message.\n\nYou can correct this by removing references to ephemeral values, or \
                      by using the ephemeralasnull() function on the references to not reveal ephemeral data."
        );
        diagnostics.push(Diagnostic::warning("Error message refers to ephemeral values", detail).at(at));
        return None;
    }
    Value::as_str(&text).map(|text| text.trim().to_string())
}
