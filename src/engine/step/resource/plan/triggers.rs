//! Whether an object is replaced because something else changes: `replace_triggered_by`.

use base::diag::{Diagnostic, Diagnostics, Kind};
use lang::eval::steps::apply_step;
use lang::eval::{Scope, evaluate};
use lang::syntax::ast::{ExprKind, Expression, TraversalStep};
use model::addr::parse::parse_reference;
use model::addr::{AbsResource, InstanceKey, Resource, Subject};
use model::config;
use model::config::static_traversal;
use model::model_errors::INVALID_TRIGGER;
use model::plan::ResourceChange;
use model::version::at_least;
use terrane_value::Value;

use crate::blocks::reference_steps::check_steps;
use crate::engine_errors::UNDECLARED_RESOURCE;
use crate::ids::ModuleId;
use crate::opentofu;
use crate::run::Run;
use crate::run::module_scope::ModuleScope;
use crate::run::results::Expansion;
use crate::step::resource::Instance;

/// What an element of `replace_triggered_by` names.
struct Trigger {
    resource: Resource,
    key: Option<InstanceKey>,
    rest: Vec<TraversalStep>,
}

/// The warning of a request to replace a resource that has instances with keys, or none.
pub fn without_key(run: &Run, resource: &AbsResource, expansion: &Expansion) -> Option<Diagnostic> {
    let asked = resource.instance(InstanceKey::None);
    if expansion.index_of(&InstanceKey::None).is_some() || !run.replaced.contains(&asked) {
        return None;
    }
    let options: Vec<String> = (0..expansion.len())
        .map(|index| format!("\n  -replace={:?}", resource.instance(expansion.key(index)).to_string()))
        .collect();
    let (reason, advice) = match options.len() {
        0 => ("this resource doesn't have any instances.", ""),
        1 => (
            "it lacks an instance key.",
            "\n\nTo force replacement of the single declared instance, use the following option instead:",
        ),
        _ => (
            "it lacks an instance key.",
            "\n\nTo force replacement of particular instances, use one or more of the following options instead:",
        ),
    };
    let detail = format!(
        "Your force-replace request for {asked} doesn't match any resource instances because {reason}{advice}{}",
        options.concat()
    );
    Some(Diagnostic::warning("Incompletely-matched force-replace resource instance", detail))
}

/// True if one of the triggers has a planned change that counts.
pub fn is_triggered(instance: &Instance<'_>) -> (bool, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let (Some(config), Some(scope)) = (instance.config, instance.scope()) else { return (false, diagnostics) };
    for expr in &config.lifecycle.replace_triggered_by {
        match trigger(expr, &scope).and_then(|trigger| fires(instance, &trigger, expr)) {
            Ok(true) => return (true, diagnostics),
            Ok(false) => {}
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

/// What OpenTofu checks of `replace_triggered_by` in `validate`, since 1.12: names of resources and attributes.
pub fn check(run: &Run, module: ModuleId, config: &config::Resource) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for expr in &config.lifecycle.replace_triggered_by {
        let Some((resource, rest)) = named(expr) else { continue };
        let tree = &run.blocks.tree;
        let Some(block) = tree.resource_in(module, &resource) else {
            let own = config.addr.in_module(tree.module(module).path.clone());
            let detail = format!(
                "Resource {own} refers to {resource} in replace_triggered_by, but it is not declared in this module."
            );
            diagnostics.push(Diagnostic::error("Undeclared resource in replace_triggered_by", detail).at(expr.range()));
            continue;
        };
        let other = tree.resource(block);
        if let Some(schema) = run.blocks.schemas.resource(&other.provider, &other.addr) {
            let found = check_steps(&schema.block, &rest, &expr.file);
            diagnostics.extend(found.into_iter().filter(|problem| problem.is_error()));
        }
    }
    diagnostics
}

/// The resource, and the steps behind the instance.
fn named(expr: &Expression) -> Option<(Resource, Vec<TraversalStep>)> {
    match expr.kind() {
        ExprKind::Variable(traversal) => {
            let reference = parse_reference(traversal, &expr.file).ok()?;
            match reference.subject {
                Subject::Resource(resource) => Some((resource, reference.remaining)),
                Subject::ResourceInstance(of) => Some((of.resource, reference.remaining)),
                _ => None,
            }
        }
        ExprKind::Index { collection, .. } => named(&expr.part(collection)),
        ExprKind::RelativeTraversal { source, steps } => Some((named(&expr.part(source))?.0, steps.clone())),
        _ => None,
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
        let own = |d: Diagnostic| match d.kind == Kind::NoRepetition {
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

/// True if a change of the named objects counts. Every object of the configuration has a change, if only a no-op.
fn fires(instance: &Instance<'_>, trigger: &Trigger, expr: &Expression) -> Result<bool, Diagnostics> {
    let module = &instance.addr.module;
    let resource = trigger.resource.absolute(module.clone());
    // An attribute belongs to one instance; a resource as a whole has any number.
    let key = trigger.key.clone().or_else(|| (!trigger.rest.is_empty()).then_some(InstanceKey::None));
    let dialect = instance.run.dialect();
    let mut planned = instance.run.results.changes();
    let current = key.as_ref().and_then(|key| planned.of_current(&resource, key));
    let acting = current.filter(|change| change.action.triggers(dialect));
    let is_checked = at_least(15) || opentofu::checks_attributes_of_triggers(dialect);
    if let Some(change) = acting.filter(|_| !trigger.rest.is_empty() && is_checked) {
        let schema = instance.run.blocks.schemas.kind(
            &change.provider.provider,
            resource.resource.mode,
            &resource.resource.kind,
        );
        let found = schema.map(|schema| check_steps(&schema.block, &trigger.rest, &expr.file)).unwrap_or_default();
        if found.has_errors() {
            return Err(found.into_iter().filter(Diagnostic::is_error).collect());
        }
    }
    let is_changed = |change: &ResourceChange| {
        change.action.triggers(dialect) && (trigger.rest.is_empty() || differs(change, &trigger.rest))
    };
    let found = match &key {
        Some(key) => planned.of_current(&resource, key).map(is_changed),
        None => planned.changes_any_current(&resource, dialect),
    };
    match found {
        Some(changed) => Ok(changed),
        None => missing_change(instance, trigger, expr).map_or(Ok(false), |error| Err(error.into())),
    }
}

/// The error of a name that no instance can have. An instance that just does not exist triggers nothing.
fn missing_change(instance: &Instance<'_>, trigger: &Trigger, expr: &Expression) -> Option<Diagnostic> {
    let module = &instance.addr.module;
    let place = if module.is_root() { "the root module".to_owned() } else { module.to_string() };
    let resource = &trigger.resource;
    let tree = &instance.run.blocks.tree;
    let Some(block) = tree.find_resource(&resource.absolute(module.clone()).config()) else {
        let detail = format!("A resource {resource} has not been declared in {place}");
        return Some(Diagnostic::error(UNDECLARED_RESOURCE, detail).at(expr.range()));
    };
    let block = tree.resource(block);
    let repeats = block.count.is_some() || block.for_each.is_some();
    let possible = match &trigger.key {
        Some(_) => repeats,
        None => !repeats || trigger.rest.is_empty(),
    };
    let key = trigger.key.as_ref().map(ToString::to_string).unwrap_or_default();
    (!possible).then(|| Diagnostic::error(format!("no change found for {resource}{key} in {place}"), ""))
}

/// Whether a part of an object changes. Marks count, unlike where a provider requires a replacement: an attribute that only becomes
/// sensitive is an update in the plan of its object, and planned updates are what triggers look for.
fn differs(change: &ResourceChange, steps: &[TraversalStep]) -> bool {
    let at = |value: &Value| steps.iter().try_fold(value.clone(), |v, step| apply_step(&v, step).ok());
    at(&change.change.before) != at(&change.change.after)
}
