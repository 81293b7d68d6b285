//! Whether an object is replaced because something else changes: `replace_triggered_by`.

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::engine::scope::ModuleScope;
use crate::lang::eval::{Scope, evaluate, traversal::apply_step};
use crate::lang::syntax::ast::{ExprKind, Expression, TraversalStep};
use crate::lang::value::Value;
use crate::model::addr::parse::parse_reference;
use crate::model::addr::{InstanceKey, Resource, Subject};
use crate::model::config::names::static_traversal;
use crate::model::mistakes::INVALID_TRIGGER;
use crate::model::plan::{Action, ResourceChange};

use super::Instance;

/// What an element of `replace_triggered_by` names.
struct Trigger {
    resource: Resource,
    key: Option<InstanceKey>,
    rest: Vec<TraversalStep>,
}

/// True if one of the triggers has a planned change that counts.
pub fn is_triggered(instance: &Instance<'_>) -> (bool, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let (Some(config), Some(scope)) = (instance.config, instance.scope()) else { return (false, diagnostics) };
    for expr in &config.lifecycle.replace_triggered_by {
        match trigger(expr, &scope) {
            Ok(trigger) => {
                if fires(instance, &trigger) {
                    return (true, diagnostics);
                }
            }
            Err(errors) => diagnostics.extend(errors),
        }
    }
    (false, diagnostics)
}

fn trigger(expr: &Expression, scope: &ModuleScope<'_>) -> Result<Trigger, Diagnostics> {
    match expr.kind() {
        ExprKind::Variable(traversal) => {
            let reference = parse_reference(traversal, &expr.file).map_err(Diagnostics::from)?;
            let rest = reference.remaining;
            match reference.subject {
                Subject::Resource(resource) => Ok(Trigger { resource, key: None, rest }),
                Subject::ResourceInstance(of) => Ok(Trigger { resource: of.resource, key: Some(of.key), rest }),
                _ => Err(invalid(expr).into()),
            }
        }
        ExprKind::Index { collection, key, .. } => {
            let mut trigger = trigger(&expr.part(collection), scope)?;
            trigger.key = Some(key_of(&expr.part(key), scope)?);
            Ok(trigger)
        }
        ExprKind::RelativeTraversal { source, steps } => {
            let mut trigger = trigger(&expr.part(source), scope)?;
            trigger.rest = steps.clone();
            Ok(trigger)
        }
        _ => Err(invalid(expr).into()),
    }
}

fn key_of(expr: &Expression, scope: &dyn Scope) -> Result<InstanceKey, Diagnostics> {
    let mut found = Diagnostics::new();
    let Some(traversal) = static_traversal(expr, &mut found) else { return Err(found) };
    let (value, found) = evaluate(expr, scope);
    if found.has_errors() {
        let without = match traversal.root_name() {
            "count" => {
                "The \"count\" object can only be used in \"resource\" blocks when the \"count\" argument is set."
            }
            "each" => {
                "The \"each\" object can be used only in \"resource\" blocks when the \"for_each\" argument is set."
            }
            _ => return Err(found),
        };
        let own = |d: Diagnostic| match d.summary.starts_with("Reference to") {
            true => Diagnostic { detail: without.to_string(), ..d },
            false => d,
        };
        return Err(found.into_iter().map(own).collect());
    }
    match (value.as_i64(), value.as_arc_str()) {
        (Some(n), _) => Ok(InstanceKey::Int(n)),
        (_, Some(text)) => Ok(InstanceKey::Str(text)),
        _ => Err(invalid(expr).into()),
    }
}

fn invalid(expr: &Expression) -> Diagnostic {
    Diagnostic::error(INVALID_TRIGGER, "Missing resource reference in replace_triggered_by expression.")
        .at(expr.range())
}

fn fires(instance: &Instance<'_>, trigger: &Trigger) -> bool {
    let resource = trigger.resource.absolute(instance.addr.module.clone());
    let gathered = instance.run.results.gathered();
    gathered.changes_of(&resource).any(|change| {
        let counts = change.action == Action::Update || change.action.is_replace();
        let is_meant = trigger.key.as_ref().is_none_or(|key| key == change.addr.key());
        counts && change.deposed.is_none() && is_meant && (trigger.rest.is_empty() || differs(change, &trigger.rest))
    })
}

fn differs(change: &ResourceChange, steps: &[TraversalStep]) -> bool {
    let at = |value: &Value| steps.iter().try_fold(value.clone(), |v, step| apply_step(&v, step).ok());
    at(&change.change.before) != at(&change.change.after)
}
