//! `override_resource`, `override_data` and `override_module` blocks.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::{Attribute, Block, ExprKind, Expression};
use lang::syntax::body::BodySchema;
use terrane_protocol::schema::ResourceMode;
use terrane_value::{Type, Value};

use super::{Override, OverrideKind, Overrides, duplicate, override_during};
use crate::addr::parse::parse_target_traversal;
use crate::addr::{Pattern, Target};
use crate::config::blocks::references;
use crate::config::constants::constant;

static RESOURCE: LazyLock<BodySchema> = LazyLock::new(|| schema("values"));
static MODULE: LazyLock<BodySchema> = LazyLock::new(|| schema("outputs"));

/// What is said of anything that is overridden in a way that it cannot be, or does not exist.
pub const INVALID_TARGET: &str = "Invalid override target";

fn schema(values: &str) -> BodySchema {
    BodySchema::new().attribute("target").attribute(values).attribute("override_during")
}

/// Adds what a block overrides; twice the same is reported.
pub fn add(block: &Block, overrides: &mut Overrides, diags: &mut Diagnostics) {
    let Some(new) = decode(block, diags) else { return };
    let key = new.target.to_string();
    match overrides.get(&key) {
        Some(first) => {
            let kind = block.kind.as_str();
            let detail = format!("An {kind} block targeting {key} has already been defined at {}.", first.range);
            diags.push(duplicate(block, detail).at(new.range));
        }
        None => {
            overrides.insert(key, new);
        }
    }
}

fn decode(block: &Block, diags: &mut Diagnostics) -> Option<Override> {
    let name = block.kind.as_str();
    let (kind, what, argument) = match name {
        "override_resource" => (OverrideKind::Resource, "resources", "values"),
        "override_data" => (OverrideKind::Data, "data sources", "values"),
        _ => (OverrideKind::Module, "modules", "outputs"),
    };
    let schema = if kind == OverrideKind::Module { &MODULE } else { &RESOURCE };
    let content = diags.take(block.body.content(schema));
    let target = match content.attribute("target") {
        Some(attribute) => target(attribute, diags),
        None => {
            let detail = format!("{name} blocks must specify a target address.");
            diags.push(Diagnostic::error("Missing target attribute", detail).at(block.header_range()));
            None
        }
    };
    let values = content.attribute(argument);
    let values = values.map_or_else(Value::empty_object, |a| object(a, name, diags));
    let during = override_during(content.attribute("override_during"), diags);
    let (target, target_range) = target?;
    if kind_of(&target) != Some(kind) {
        let detail = format!("You can only target {what} from {name} blocks, not {target}.");
        diags.push(Diagnostic::error(INVALID_TARGET, detail).at(target_range));
        return None;
    }
    Some(Override { kind, target, values, during, target_range, range: block.header_range(), inline: true })
}

fn target(attribute: &Attribute, diags: &mut Diagnostics) -> Option<(Target, Range)> {
    if let Some(pattern) = every_instance(&attribute.expr) {
        return Some((Target::Pattern(pattern), attribute.range()));
    }
    let traversal = references::static_traversal(&attribute.expr, diags)?;
    match parse_target_traversal(&traversal, &attribute.expr.file) {
        Ok(target) => Some((target, attribute.range())),
        Err(problem) => {
            diags.push(problem);
            None
        }
    }
}

/// `data.x.y[*]` and `module.m[*].x.y`, as in OpenTofu 1.13: every instance.
fn every_instance(expr: &Expression) -> Option<Pattern> {
    if !matches!(expr.kind(), ExprKind::Splat { full: true, .. }) {
        return None;
    }
    let text: String = expr.range().text().split_whitespace().collect();
    Pattern::parse(&text).ok()
}

fn kind_of(target: &Target) -> Option<OverrideKind> {
    let mode = match target {
        Target::Module(_) => return Some(OverrideKind::Module),
        Target::Resource(resource) => resource.resource.mode,
        Target::Instance(instance) => instance.mode(),
        Target::Pattern(pattern) => pattern.mode()?,
    };
    match mode {
        ResourceMode::Managed => Some(OverrideKind::Resource),
        ResourceMode::Data => Some(OverrideKind::Data),
        ResourceMode::Ephemeral | ResourceMode::List => None,
    }
}

fn object(attribute: &Attribute, block: &str, diags: &mut Diagnostics) -> Value {
    let (value, problems) = constant::value(&attribute.expr);
    let failed = problems.has_errors();
    diags.extend(problems);
    if !failed && !matches!(value.ty(), Type::Object(_)) {
        let name = attribute.name.as_str();
        let article = if name == "outputs" { "an" } else { "a" };
        let detail = format!("{block} blocks must specify {article} {name} attribute that is an object.");
        diags.push(Diagnostic::error(format!("Invalid {name} attribute"), detail).at(attribute.range()));
    }
    value
}
