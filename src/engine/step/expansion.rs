//! `count`, `for_each` and `enabled`: the instances of a block.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use lang::eval::describe::{Causes, with_causes};
use lang::eval::{Scope, evaluate, evaluate_to};
use lang::syntax::ast::Expression;
use model::config::Repetition;
use terrane_value::{Marks, Type, Value, convert};

use crate::engine_errors::INVALID_FOR_EACH;
use crate::run::Run;
use crate::run::results::{Expansion, MOST_INSTANCES, Placeholder};

fn unknown_keys() -> String {
    format!(
        "The \"for_each\" map includes keys derived from resource attributes that cannot be determined \
    until apply, and so {PROGRAM} cannot determine the full set of keys that will identify the instances of this \
    resource.\n\nWhen working with unknown values in for_each, it's better to define the map keys statically in your \
    configuration and place apply-time results only in the map values.\n\nAlternatively, you could use the -target \
    planning option to first apply only the resources that the for_each value depends on, and then apply a second time to \
    fully converge."
    )
}

fn unknown_members() -> String {
    format!(
        "The \"for_each\" set includes values derived from resource attributes that cannot be \
    determined until apply, and so {PROGRAM} cannot determine the full set of keys that will identify the instances of this \
    resource.\n\nWhen working with unknown values in for_each, it's better to use a map value where the keys are defined \
    statically in your configuration and where only the values contain apply-time results.\n\nAlternatively, you could \
    use the -target planning option to first apply only the resources that the for_each value depends on, and then apply \
    a second time to fully converge."
    )
}

/// What becomes of a block whose instances are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// An error.
    Refused,
    /// There is no expansion: in validate.
    Skipped,
    /// There is a placeholder for all instances.
    Deferred,
}

impl Unknown {
    /// Outside of validate.
    pub fn of_run(run: &Run) -> Unknown {
        if run.inputs.scope.deferral_allowed { Unknown::Deferred } else { Unknown::Refused }
    }

    /// None: unknown is an error.
    fn expansion(self, placeholder: Placeholder) -> Option<Option<Expansion>> {
        match self {
            Unknown::Refused => None,
            Unknown::Skipped => Some(None),
            Unknown::Deferred => Some(Some(Expansion::Unknown(placeholder))),
        }
    }
}

/// The expansion of a block; none with errors, or where it is unknown and that is skipped.
pub fn expand(of: Repetition<'_>, scope: &dyn Scope, unknown: Unknown) -> (Option<Expansion>, Diagnostics) {
    let (expansion, diagnostics) = match (of.count, of.for_each, of.enabled) {
        (Some(count), _, _) => expand_count(count, scope, unknown),
        (_, Some(for_each), _) => expand_for_each(for_each, scope, unknown),
        (_, _, Some(enabled)) => expand_enabled(enabled, scope, unknown),
        _ => return (Some(Expansion::Single), Diagnostics::new()),
    };
    let known = expansion.as_ref().filter(|expansion| !matches!(expansion, Expansion::Unknown(_)));
    if let (Some(recorder), Some(by), Some(known)) = (scope.recorder(), of.expressions().next(), known) {
        recorder.record_repetition(by.range(), known.len() == 0);
    }
    (expansion, diagnostics)
}

fn expand_enabled(expr: &Expression, scope: &dyn Scope, unknown: Unknown) -> (Option<Expansion>, Diagnostics) {
    let (value, mut diagnostics) = evaluate(expr, scope);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    match enabled_of(&value) {
        Ok(on) => (Some(Expansion::Enabled(on)), diagnostics),
        // As in the other peer, only a plan needs the value.
        Err(_) if unknown == Unknown::Skipped => (None, diagnostics),
        Err((_, causes)) if causes.unknown && unknown == Unknown::Deferred => {
            (Some(Expansion::Unknown(Placeholder::Enabled)), diagnostics)
        }
        Err((detail, causes)) => {
            let error = Diagnostic::error("Invalid enabled argument", detail).at(expr.range());
            diagnostics.push(with_causes(error, expr, scope, causes));
            (None, diagnostics)
        }
    }
}

fn enabled_of(value: &Value) -> Result<bool, (String, Causes)> {
    let given = "The given \"enabled\" argument value";
    let none = Causes::default();
    if value.is_sensitive() {
        let detail = "Sensitive values, or values derived from sensitive values, cannot be used in \"enabled\" arguments. If \
                      used, the sensitive value would be exposed by whether an instance is present.";
        return Err((detail.to_owned(), Causes { sensitive: true, ..none }));
    }
    if value.marks().contains(Marks::EPHEMERAL) {
        return Err((format!("{given} is unsuitable: the given value is ephemeral."), none));
    }
    if value.is_null() {
        return Err((format!("{given} is unsuitable: the given value is null."), none));
    }
    let converted = convert::convert(value, &Type::Bool).map_err(|e| (format!("{given} is unsuitable: {e}."), none))?;
    converted.as_bool().ok_or_else(|| {
        let detail = format!(
            "{given} is derived from a value that won't be known until the apply phase, so {PROGRAM} cannot determine whether \
             an instance of this object is declared or not."
        );
        (detail, Causes { unknown: true, ..none })
    })
}

fn expand_count(expr: &Expression, scope: &dyn Scope, unknown: Unknown) -> (Option<Expansion>, Diagnostics) {
    let (value, mut diagnostics) = evaluate_to(expr, &Type::Number, scope);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    match count_of(&value, unknown) {
        Ok(expansion) => (expansion, diagnostics),
        Err(detail) => {
            diagnostics.push(Diagnostic::error("Invalid count argument", detail).at(expr.range()));
            (None, diagnostics)
        }
    }
}

fn count_of(value: &Value, unknown: Unknown) -> Result<Option<Expansion>, String> {
    if value.marks().contains(Marks::EPHEMERAL) {
        return Err(format!(
            "The given \"count\" is derived from an ephemeral value, which means that {PROGRAM} cannot persist it \
                    between plan/apply rounds. Use only non-ephemeral values to specify the number of resource instances."
        ));
    }
    if value.is_null() {
        return Err("The given \"count\" argument value is null. An integer is required.".into());
    }
    let Some(number) = value.as_number() else {
        return unknown.expansion(Placeholder::Count).ok_or_else(|| {
            format!(
                "The \"count\" value depends on resource attributes that cannot be determined until apply, so \
                          {PROGRAM} cannot predict how many instances will be created. To work around this, use the \
                          -target argument to first apply only the resources that the count depends on."
            )
        });
    };
    let unsuitable = |what: &str| format!("The given \"count\" argument value is unsuitable: {what}.");
    let whole = "value must be a whole number, between -9223372036854775808 and 9223372036854775807";
    let count = number.as_i64().ok_or_else(|| unsuitable(whole))?;
    match usize::try_from(count) {
        // Checking makes no instances.
        Ok(count) if count > MOST_INSTANCES && unknown != Unknown::Skipped => {
            Err(unsuitable(&format!("at most {MOST_INSTANCES} instances are possible")))
        }
        Ok(count) => Ok(Some(Expansion::Count(count))),
        Err(_) => Err(unsuitable("must be greater than or equal to zero")),
    }
}

fn expand_for_each(expr: &Expression, scope: &dyn Scope, unknown: Unknown) -> (Option<Expansion>, Diagnostics) {
    let (value, mut diagnostics) = evaluate(expr, scope);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let secrets = forbidden_marks(&value);
    if !secrets.is_empty() {
        let report = |(detail, causes): (String, Causes)| {
            let error = Diagnostic::error(INVALID_FOR_EACH, detail).at(expr.range());
            with_causes(error, expr, scope, causes)
        };
        diagnostics.extend(secrets.into_iter().map(report));
        return (None, diagnostics);
    }
    match entries_of(&value, unknown) {
        Ok(expansion) => (expansion, diagnostics),
        Err((error, causes)) => {
            diagnostics.push(with_causes(error.at(expr.range()), expr, scope, causes));
            (None, diagnostics)
        }
    }
}

/// What a value must not carry to become keys of instances.
fn forbidden_marks(value: &Value) -> Vec<(String, Causes)> {
    let mut found = Vec::new();
    if value.is_sensitive() {
        let detail = "Sensitive values, or values derived from sensitive values, cannot be used as for_each arguments. If \
                      used, the sensitive value could be exposed as a resource instance key.";
        found.push((detail.to_string(), Causes { sensitive: true, ..Causes::default() }));
    }
    if value.marks().contains(Marks::EPHEMERAL) {
        let detail = format!(
            "The given \"for_each\" value is derived from an ephemeral value, which means that {PROGRAM} cannot \
                      persist it between plan/apply rounds. Use only non-ephemeral values to specify a resource's instance \
                      keys."
        );
        found.push((detail, Causes { ephemeral: true, ..Causes::default() }));
    }
    found
}

type Entries = Vec<(Arc<str>, Value)>;

/// An error, without its place, and what of the value to name as its cause.
type Unsuitable = (Diagnostic, Causes);

fn entries_of(value: &Value, unknown: Unknown) -> Result<Option<Expansion>, Unsuitable> {
    let invalid = |detail: String| (Diagnostic::error(INVALID_FOR_EACH, detail), Causes::default());
    if value.is_null() {
        return Err(invalid(
            "The given \"for_each\" argument value is unsuitable: the given \"for_each\" argument value is null. A map, or \
             set of strings is allowed."
                .into(),
        ));
    }
    let ty = value.ty();
    if !(ty.is_map() || ty.is_set() || ty.is_object() || ty.is_dynamic() && !value.is_known()) {
        return Err(invalid(format!(
            "The given \"for_each\" argument value is unsuitable: the \"for_each\" argument must be a map, or set of \
             strings, and you have provided a value of type {}.",
            ty.friendly_name()
        )));
    }
    if !value.is_known() || ty.is_set() && !value.is_wholly_known() {
        return unknown.expansion(Placeholder::ForEach).ok_or_else(|| {
            let (error, causes) = invalid(if ty.is_set() { unknown_members() } else { unknown_keys() });
            (error, Causes { unknown: true, ..causes })
        });
    }
    let of_entries = |entries: Entries| Some(Expansion::ForEach(entries.into()));
    if !ty.is_set() {
        return Ok(of_entries(value.entries().iter().map(|(k, v)| (k.clone(), v.clone())).collect()));
    }
    members_of(value).map(of_entries)
}

fn members_of(value: &Value) -> Result<Entries, Unsuitable> {
    let invalid = |detail: String| (Diagnostic::error("Invalid for_each set argument", detail), Causes::default());
    let element = value.ty().element_type();
    if value.elements().is_empty() {
        return Ok(Vec::new());
    }
    if let Some(element) = element.filter(|element| **element != Type::String) {
        return Err(invalid(format!(
            "The given \"for_each\" argument value is unsuitable: \"for_each\" supports maps and sets of strings, but you \
             have provided a set containing type {}.",
            element.friendly_name()
        )));
    }
    let mut entries = Vec::with_capacity(value.elements().len());
    for member in value.elements() {
        let Some(key) = member.as_arc_str() else {
            return Err(invalid(
                "The given \"for_each\" argument value is unsuitable: \"for_each\" sets must not contain null values."
                    .into(),
            ));
        };
        entries.push((key, member.clone()));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(entries)
}
