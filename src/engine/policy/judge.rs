//! The results of policies for one target: filter, conditions, messages.

use base::diag::{Diagnostic, Diagnostics, Kind, Severity};
use base::name::PROGRAM;
use base::source::Range;
use lang::eval::describe::with_values;
use lang::eval::evaluate;
use lang::syntax::ast::Expression;
use model::config::policy_file::{Enforce, Policy, PolicyKind, PolicyLevel, PolicySet, SetFile};
use model::plan::{PolicyFinding, PolicyInfo, PolicyOutcome, PolicyReport, PolicyVerdict};
use terrane_value::convert::convert;
use terrane_value::{Marks, Type, Value};

use super::PolicyData;
use super::functions::PolicyFunctions;
use super::scope::{PolicyScope, SharedLocals};
use super::target::PolicyTarget;
use crate::ports::Host;

/// The summary of a condition that does not hold.
const VIOLATION: &str = "Policy violation";
/// The summary of a policy whose result is not known yet.
pub const UNKNOWN_RESULT: &str = "Policy result is unknown";
/// The summary of a condition or a filter that is no bool.
const NO_BOOL: &str = "Policy expression is not a bool";

/// Evaluates policies. Local values that are the same for all targets are evaluated once.
pub struct Judge<'a> {
    set: &'a PolicySet,
    functions: PolicyFunctions<'a>,
    host: &'a dyn Host,
    /// Per file.
    shared: Vec<SharedLocals>,
}

/// The value of a filter or of a condition.
enum Decision {
    Holds(bool),
    Unknown,
    Failed(Diagnostics),
}

/// True if a report keeps a plan from being applied.
pub fn denied(report: &PolicyReport) -> bool {
    report.outcomes.iter().any(PolicyOutcome::denies)
}

impl<'a> Judge<'a> {
    pub fn new(set: &'a PolicySet, data: &'a dyn PolicyData, host: &'a dyn Host) -> Judge<'a> {
        let shared = set.files.iter().map(|file| SharedLocals::of(&file.file.locals)).collect();
        Judge { set, functions: PolicyFunctions::new(data), host, shared }
    }

    /// Evaluates the policies that are about a target and that are wanted. None if there are none.
    pub fn report(&self, target: &PolicyTarget, is_wanted: impl Fn(&SetFile, &Policy) -> bool) -> Option<PolicyReport> {
        let mut outcomes = Vec::new();
        for (file, shared) in self.set.files.iter().zip(&self.shared) {
            for policy in &file.file.policies {
                if is_about(policy, target) && is_wanted(file, policy) {
                    let scope = PolicyScope::new(file, policy, target, &self.functions, self.host, shared);
                    outcomes.extend(outcome(&scope));
                }
            }
        }
        let (target, place) = (target.address.clone(), target.place.clone());
        (!outcomes.is_empty()).then_some(PolicyReport { target, place, outcomes })
    }
}

fn is_about(policy: &Policy, target: &PolicyTarget) -> bool {
    policy.kind == target.kind
        && policy.matches(&target.name)
        && (policy.kind != PolicyKind::Resource
            || target.operation.is_some_and(|operation| policy.operations.contains(&operation)))
}

/// The result of a policy; none if its filter leaves the target out.
fn outcome(scope: &PolicyScope<'_>) -> Option<PolicyOutcome> {
    let policy = scope.policy;
    let mut outcome = PolicyOutcome {
        policy: policy.address(),
        range: policy.range.clone(),
        level: PolicyLevel::Mandatory,
        verdict: PolicyVerdict::Allow,
        infos: Vec::new(),
        findings: Vec::new(),
    };
    match level(scope) {
        Ok(level) => outcome.level = level,
        Err(found) => note_error(&mut outcome, found, None, scope),
    }
    match policy.filter.as_ref().map_or(Decision::Holds(true), |filter| decide(filter, "filter", scope)) {
        Decision::Holds(false) => return None,
        Decision::Holds(true) => {
            for (position, enforce) in policy.enforces.iter().enumerate() {
                judge(enforce, position, &mut outcome, scope);
            }
        }
        Decision::Unknown => outcome.verdict = outcome.verdict.max(PolicyVerdict::Unknown),
        Decision::Failed(found) => note_error(&mut outcome, found, None, scope),
    }
    Some(outcome)
}

fn judge(enforce: &Enforce, position: usize, outcome: &mut PolicyOutcome, scope: &PolicyScope<'_>) {
    let verdict = match decide(&enforce.condition, "condition", scope) {
        Decision::Holds(true) => PolicyVerdict::Allow,
        Decision::Unknown => PolicyVerdict::Unknown,
        Decision::Holds(false) => {
            let message = enforce.error_message.as_ref().and_then(|expr| message(expr, position, outcome, scope));
            let diagnostic = violation(enforce, message.unwrap_or_default(), outcome.level, scope);
            let verdict = PolicyVerdict::Deny;
            outcome.findings.push(PolicyFinding { diagnostic, enforce: Some(position), verdict });
            verdict
        }
        Decision::Failed(found) => {
            note_error(outcome, found, Some(position), scope);
            PolicyVerdict::Error
        }
    };
    outcome.verdict = outcome.verdict.max(verdict);
    let info = enforce.info_message.as_ref().and_then(|expr| message(expr, position, outcome, scope));
    if let Some(message) = info.filter(|message| !message.is_empty()) {
        let range = enforce.condition.range();
        outcome.infos.push(PolicyInfo { message, range, enforce: position, verdict });
    }
}

/// The level of a policy: its own, that of its file, or the default.
fn level(scope: &PolicyScope<'_>) -> Result<PolicyLevel, Diagnostics> {
    let Some(expr) = scope.policy.level.as_ref().or(scope.file.file.level.as_ref()) else {
        return Ok(PolicyLevel::Mandatory);
    };
    let (value, mut found) = evaluate(expr, scope);
    found.extend(scope.take_problems());
    if found.has_errors() {
        return Err(found);
    }
    let text = convert(&value, &Type::String).ok().map(|text| text.unmark().0);
    let name = text.as_ref().and_then(Value::as_str).unwrap_or_default();
    PolicyLevel::named(name).ok_or_else(|| PolicyLevel::unknown(name, expr.range()).into())
}

fn decide(expr: &Expression, what: &str, scope: &PolicyScope<'_>) -> Decision {
    let (value, mut found) = evaluate(expr, scope);
    found.extend(scope.take_problems());
    if found.has_errors() {
        return Decision::Failed(found);
    }
    let failed = |why: String| {
        let detail = format!("The {what} must be true or false: {why}.");
        Decision::Failed(with_values(Diagnostic::error(NO_BOOL, detail).at(expr.range()), expr, scope).into())
    };
    if !value.is_known() {
        return Decision::Unknown;
    }
    if value.is_null() {
        return failed("it is null".to_owned());
    }
    match convert(&value, &Type::Bool) {
        Ok(value) => value.as_bool().map_or(Decision::Unknown, Decision::Holds),
        Err(error) => failed(error.to_string()),
    }
}

/// The text of a message; none if it cannot be evaluated, which is noted.
fn message(expr: &Expression, position: usize, outcome: &mut PolicyOutcome, scope: &PolicyScope<'_>) -> Option<String> {
    let (value, mut found) = evaluate(expr, scope);
    found.extend(scope.take_problems());
    let mut invalid =
        |detail: String| found.push(Diagnostic::error("Invalid message of a policy", detail).at(expr.range()));
    let text = match convert(&value, &Type::String) {
        Err(error) => {
            invalid(format!("The message is not a string: {error}."));
            None
        }
        Ok(text) if text.is_sensitive() => Some("(the message has sensitive values)".to_owned()),
        Ok(text) if text.marks().contains(Marks::EPHEMERAL) => Some("(the message has ephemeral values)".to_owned()),
        Ok(text) if !text.is_known() => Some("(the message has values that are known after apply)".to_owned()),
        Ok(text) => text.as_str().map(|text| text.trim().to_owned()),
    };
    if found.has_errors() {
        note_error(outcome, found, Some(position), scope);
        return None;
    }
    text
}

/// Notes what keeps a policy from being evaluated. That of an advisory policy only warns.
fn note_error(outcome: &mut PolicyOutcome, found: Diagnostics, enforce: Option<usize>, scope: &PolicyScope<'_>) {
    let verdict = PolicyVerdict::Error;
    outcome.verdict = outcome.verdict.max(verdict);
    for mut diagnostic in found {
        diagnostic = diagnostic.about(scope.target.address.clone()).of_kind(Kind::Policy);
        if outcome.level == PolicyLevel::Advisory {
            diagnostic.severity = Severity::Warning;
        }
        outcome.findings.push(PolicyFinding { diagnostic, enforce, verdict });
    }
}

fn violation(enforce: &Enforce, message: String, level: PolicyLevel, scope: &PolicyScope<'_>) -> Diagnostic {
    let (policy, target) = (scope.policy.address(), &scope.target.address);
    let place = scope.target.place.as_ref().map_or_else(String::new, |place| format!(" ({})", line_of(place)));
    let rule = match level {
        PolicyLevel::Advisory => format!("The advisory policy {policy} does not allow {target}{place}."),
        _ => format!("The {} policy {policy} denies {target}{place}.", level.name()),
    };
    let detail = if message.is_empty() { rule } else { format!("{message}\n\n{rule}") };
    let diagnostic = match level {
        PolicyLevel::Advisory => Diagnostic::warning(VIOLATION, detail),
        _ => Diagnostic::error(VIOLATION, detail),
    };
    let diagnostic = diagnostic.at(enforce.condition.range());
    with_values(diagnostic.about(target.clone()).of_kind(Kind::Policy), &enforce.condition, scope)
}

/// As people name a line: `main.tf line 3`.
fn line_of(range: &Range) -> String {
    format!("{} line {}", range.filename(), range.start().line)
}

/// What is said of a policy whose result is not even known at the end of an apply.
pub fn left_undecided(outcome: &PolicyOutcome, target: &str, severity: Severity) -> Diagnostic {
    let detail = format!(
        "The {} policy {} depends on values that this apply did not make known, so it was not evaluated for {target}.",
        outcome.level.name(),
        outcome.policy
    );
    let found = Diagnostic { severity, ..Diagnostic::warning(UNKNOWN_RESULT, detail) };
    found.at(outcome.range.clone()).about(target.to_owned()).of_kind(Kind::Policy)
}

/// The warning about a policy of a plan whose result is not known before apply.
pub fn undecided(outcome: &PolicyOutcome, target: &str) -> Diagnostic {
    let detail = format!(
        "The {} policy {} depends on values of {target} that are known after apply. {PROGRAM} evaluates it again during the apply, as soon \
         as they are known.",
        outcome.level.name(),
        outcome.policy
    );
    let warning = Diagnostic::warning(UNKNOWN_RESULT, detail);
    warning.at(outcome.range.clone()).about(target.to_owned()).of_kind(Kind::Policy)
}
