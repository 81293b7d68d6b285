//! The parts of a module that are evaluated before anything is installed: see [`super::static_context`].

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::source::Range;
use lang::syntax::ast::Expression;
use lang::syntax::body::Body;
use terrane_value::{Marks, Type, Value};

use super::static_context::{self, StaticContext};
use super::{constant, literal, version_constraint};
use crate::addr;
use crate::config::blocks::module_call::{self, ModuleCall};
use crate::config::module::Module;
use crate::config::module_source::INVALID_SOURCE;
use crate::config::providers::requirements::{self, UnevaluatedRequirement};

/// Evaluates sources and versions of calls, instances of providers and constant variables. Calls that are of no use are left as they are written.
pub fn evaluate_static_arguments(module: &mut Module, context: StaticContext, diags: &mut Diagnostics) {
    let mut found = Diagnostics::new();
    evaluate(module, &context, &mut found);
    let mut missing = Vec::new();
    for problem in found {
        // A variable without a value is missed once, however much depends on it.
        if problem.kind == Kind::MissingValue {
            if missing.contains(&problem.subject) {
                continue;
            }
            missing.push(problem.subject.clone());
        }
        diags.push(problem);
    }
    module.static_context = Some(context);
}

fn evaluate(module: &mut Module, context: &StaticContext, diags: &mut Diagnostics) {
    diags.extend(context.check_constants());
    evaluate_requirements(module, context, diags);
    for call in module.calls.values_mut() {
        let written = call.unevaluated.clone();
        if !evaluate_source(call, context, diags) {
            call.unevaluated = written;
        }
    }
    for block in module.providers.values_mut() {
        if let Some(expr) = &block.for_each {
            let alias = block.alias.as_deref().unwrap_or_default();
            let target = format!("provider.{}.{alias}.for_each", block.name);
            block.instances = Some(diags.take(instances(&target, expr, context)).into());
        }
    }
}

type ForEachElements = Vec<(Arc<str>, Value)>;

/// The elements of a provider's `for_each`, sorted by key.
pub fn instances(target: &str, expr: &Expression, context: &StaticContext) -> (ForEachElements, Diagnostics) {
    let (value, mut diags) = context.value(target, expr);
    if diags.has_errors() {
        return (Vec::new(), diags);
    }
    let mut invalid = |detail: String| {
        diags.push(Diagnostic::error("Invalid provider for_each argument", detail).at(expr.range()));
    };
    // Elements may be secret, keys not: addresses show them.
    let (bare, marks) = value.unmark();
    let ty = bare.ty();
    let mut elements = Vec::new();
    if marks.intersects(Marks::SENSITIVE | Marks::EPHEMERAL) {
        invalid(format!(
            "The value of {target} is sensitive or ephemeral, so that its keys must not become part of addresses."
        ));
    } else if !bare.is_known() || ty.is_set() && !bare.is_wholly_known() {
        invalid(format!("The keys of {target} must be known before anything is planned."));
    } else if bare.is_null() {
        invalid(format!("The value of {target} is null. A map, or set of strings is allowed."));
    } else if ty.is_map() || ty.is_object() {
        elements.extend(bare.entries().iter().map(|(key, value)| (key.clone(), value.clone())));
    } else if ty.is_set() && (bare.elements().is_empty() || ty.element_type().is_some_and(|e| *e == Type::String)) {
        elements.extend(bare.elements().iter().filter_map(|member| Some((member.as_arc_str()?, member.clone()))));
    } else {
        invalid(format!("The value of {target} is a {}. A map, or set of strings is allowed.", ty.friendly_name()));
    }
    elements.sort_by(|a, b| a.0.cmp(&b.0));
    (elements, diags)
}

/// Puts values in place of the arguments of the backend, and of its provider, that are more than constants.
pub fn evaluate_backend(module: &mut Module, context: &StaticContext, diags: &mut Diagnostics) {
    let Some(backend) = &mut module.backend else { return };
    backend.body = evaluate_settings(&backend.body, &backend.kind, &backend.range, context, diags);
    if let Some(provider) = &mut backend.store {
        provider.body = evaluate_settings(&provider.body, &backend.kind, &backend.range, context, diags);
    }
}

/// The settings of a backend of a kind with values in place of all that is more than a constant. `place`: where the block
/// stands.
pub fn evaluate_settings(
    body: &Body,
    kind: &str,
    place: &Range,
    context: &StaticContext,
    diags: &mut Diagnostics,
) -> Body {
    body.with_expressions(&mut |within, attribute| {
        if constant::is_constant(&attribute.expr) {
            return None;
        }
        let path: String = within.iter().map(|kind| format!("{kind}.")).collect();
        let target = format!("backend.{kind}.{path}{}", attribute.name.name);
        let (value, found) = context.value(&target, &attribute.expr);
        let failed = found.has_errors();
        diags.extend(found);
        if failed {
            return None;
        }
        let problem = secret(&value, place).or_else(|| static_context::unusable(&value, &target, &attribute.expr));
        let Some(problem) = problem else { return Some(literal::literal(&value, &attribute.expr)) };
        if !diags.iter().any(|before| *before == problem) {
            diags.push(problem);
        }
        None
    })
}

/// Why a value must not be a setting of a backend.
fn secret(value: &Value, place: &Range) -> Option<Diagnostic> {
    let marks = value.deep_marks();
    let what = match () {
        () if marks.contains(Marks::SENSITIVE) => "sensitive",
        () if marks.contains(Marks::EPHEMERAL) => "ephemeral",
        () => return None,
    };
    let detail = format!(
        "The backend configuration is stored in .terraform/terraform.tfstate as well as plan files. It is recommended to instead \
         supply {what} credentials via backend specific environment variables"
    );
    Some(Diagnostic::error(format!("Backend config contains {what} values"), detail).at(place.clone()))
}

/// Evaluates the requirements of a module that are more than constants, and gives its resources the providers that follow.
fn evaluate_requirements(module: &mut Module, context: &StaticContext, diags: &mut Diagnostics) {
    let mut has_new_source = false;
    for (name, requirement) in &mut module.requirements {
        let UnevaluatedRequirement { source, version } = std::mem::take(&mut requirement.unevaluated);
        if let Some(expr) = source {
            let text = diags.take(context.text(&format!("required_providers.{name}.source"), &expr));
            if let Some(provider) = text.and_then(|text| requirements::parsed_source(&text, &expr, diags)) {
                (requirement.source, has_new_source) = (provider, true);
            }
        }
        if let Some(expr) = version {
            let text = diags.take(context.text(&format!("required_providers.{name}.version"), &expr));
            let text = text.and_then(|text| requirements::parsed_version(text, &expr, diags));
            requirement.versions.extend(text.map(|text| (text, expr.range())));
        }
    }
    if has_new_source {
        assign_providers(module);
    }
}

/// Gives resources and actions the providers that their local names stand for.
fn assign_providers(module: &mut Module) {
    let sources: BTreeMap<Arc<str>, addr::Provider> =
        module.requirements.iter().map(|(name, of)| (name.clone(), of.source.clone())).collect();
    for resource in module.resources.values_mut() {
        if let Some(source) = sources.get(&resource.local_provider_config().local_name) {
            resource.provider = source.clone();
        }
    }
    for action in module.actions.values_mut() {
        if let Some(source) = sources.get(&action.local_provider_config().local_name) {
            action.provider = source.clone();
        }
    }
}

/// Evaluates source and version. False: they are of no use, which is reported.
fn evaluate_source(call: &mut ModuleCall, context: &StaticContext, diags: &mut Diagnostics) -> bool {
    let Some(arguments) = call.unevaluated.take() else { return true };
    let target = |argument: &str| format!("module.{}.{argument}", call.name);
    let mut found = Diagnostics::new();
    let version = arguments.version.as_ref().and_then(|version| {
        let text = found.take(context.text(&target("version"), &version.expr))?;
        version_constraint::check(text, version, &mut found)
    });
    let source = found.take(context.text(&target("source"), &arguments.source.expr));
    let failed = found.has_errors();
    if source.is_none() && !failed {
        let detail = format!("The value of {} is null. A source address is required.", target("source"));
        let error = Diagnostic::error(INVALID_SOURCE, detail);
        found.push(error.at(arguments.source.expr.range()));
    }
    let source = source.filter(|_| !failed);
    let source =
        source.and_then(|text| module_call::check_source(text, &arguments.source, version.is_some(), &mut found));
    diags.extend(found);
    call.version = version;
    match source {
        Some(source) => {
            call.source = source;
            true
        }
        None => false,
    }
}
