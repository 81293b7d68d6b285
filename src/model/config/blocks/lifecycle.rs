//! `lifecycle` blocks of resources.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::{Attribute, Block, Expression, Traversal};
use lang::syntax::body::{Body, BodySchema};
use terrane_protocol::schema::ResourceMode;
use terrane_value::Type;

use super::action::{self, ActionTrigger};
use super::condition::{self, Condition};
use super::override_bodies::{argument, without};
use super::references;
use crate::addr::parse::parse_reference;
use crate::addr::{self, Subject};
use crate::config::constants::constant;
use crate::model_errors::INVALID_TRIGGER;
use crate::opentofu;

/// `lifecycle {}`.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    /// None: not set, so that a dependent's wish is not overruled.
    pub create_before_destroy: Option<bool>,
    pub prevent_destroy: PreventDestroy,
    /// `destroy = false`: the object is left alone where it would be destroyed.
    pub keep: bool,
    /// A `destroy` that is no constant bool: an error of plan for OpenTofu.
    pub invalid_destroy: Option<Range>,
    pub enabled: Option<Expression>,
    pub ignore_changes: IgnoreChanges,
    pub replace_triggered_by: Vec<Expression>,
    pub preconditions: Vec<Condition>,
    pub postconditions: Vec<Condition>,
    pub action_triggers: Vec<ActionTrigger>,
}

#[derive(Clone, Debug, Default)]
pub enum PreventDestroy {
    #[default]
    No,
    Yes,
    /// An expression in the scope of the module.
    If(Expression),
}

#[derive(Clone, Debug)]
pub enum IgnoreChanges {
    All,
    /// Traversals relative to the resource: their root is the attribute's name.
    Paths(Vec<Traversal>),
}

impl Default for IgnoreChanges {
    fn default() -> IgnoreChanges {
        IgnoreChanges::Paths(Vec::new())
    }
}

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .attribute("create_before_destroy")
        .attribute("prevent_destroy")
        .attribute("ignore_changes")
        .attribute("replace_triggered_by")
        .attribute("destroy")
        .attribute("enabled")
        .block("precondition", &[])
        .block("postcondition", &[])
        .block("action_trigger", &[])
});

pub fn decode(block: &Block, resource: &addr::Resource, diags: &mut Diagnostics) -> Lifecycle {
    let content = diags.take(block.body.content(&SCHEMA));
    let mut lifecycle =
        Lifecycle { enabled: content.attribute("enabled").map(|a| a.expr.clone()), ..Lifecycle::default() };
    if resource.mode == ResourceMode::Managed {
        let attribute = |name: &str| content.attribute(name);
        lifecycle.create_before_destroy = attribute("create_before_destroy").and_then(|a| constant::bool(a, diags));
        if let Some(attribute) = attribute("prevent_destroy") {
            lifecycle.prevent_destroy = decode_prevent_destroy(attribute, diags);
        }
        if let Some(attribute) = attribute("destroy") {
            decode_destroy(attribute, &mut lifecycle, diags);
        }
        if let Some(attribute) = attribute("replace_triggered_by") {
            lifecycle.replace_triggered_by = decode_triggers(attribute, diags);
        }
        if let Some(attribute) = attribute("ignore_changes") {
            lifecycle.ignore_changes = decode_ignore_changes(attribute, diags);
        }
    } else {
        let kind = resource.mode.keyword();
        for (name, attribute) in content.attributes.iter().filter(|(name, _)| &***name != "enabled") {
            diags.push(
                Diagnostic::error(
                    format!("Invalid {kind} resource lifecycle argument"),
                    format!(
                        "The lifecycle argument {:?} is defined only for managed resources (\"resource\" blocks), and \
                         is not valid for {kind} resources.",
                        &**name
                    ),
                )
                .at(attribute.name_range()),
            );
        }
    }
    for block in content.blocks_of("action_trigger") {
        match resource.mode {
            ResourceMode::Managed => lifecycle.action_triggers.push(action::decode_trigger(block, diags)),
            mode => diags.push(trigger_not_allowed(mode.keyword(), block)),
        }
    }
    for block in content.blocks.iter().filter(|block| block.kind.as_str() != "action_trigger") {
        let Some(rule) = condition::decode(block, diags) else { continue };
        condition::check_self_references(&rule, block.kind.as_str(), resource, diags);
        match block.kind.as_str() {
            "precondition" => lifecycle.preconditions.push(rule),
            _ => lifecycle.postconditions.push(rule),
        }
    }
    lifecycle
}

fn trigger_not_allowed(kind: &str, block: &Block) -> Diagnostic {
    let detail = format!(
        "The lifecycle nested block \"action_trigger\" is defined only for managed resources (\"resource\" blocks), and is not \
         valid for {kind} resources."
    );
    Diagnostic::error(format!("Invalid {kind} resource lifecycle nested block"), detail).at(block.kind_range())
}

fn decode_destroy(attribute: &Attribute, lifecycle: &mut Lifecycle, diags: &mut Diagnostics) {
    if !opentofu::checks_destroy_later(attribute.expr.file.dialect()) {
        lifecycle.keep = constant::bool(attribute, diags) == Some(false);
        return;
    }
    let (value, found) = constant::value(&attribute.expr);
    lifecycle.keep = value.as_bool() == Some(false);
    if found.has_errors() || *value.ty() != Type::Bool {
        lifecycle.invalid_destroy = Some(attribute.expr.range());
    }
}

fn decode_prevent_destroy(attribute: &Attribute, diags: &mut Diagnostics) -> PreventDestroy {
    if !constant::is_constant(&attribute.expr) {
        return PreventDestroy::If(attribute.expr.clone());
    }
    match constant::bool(attribute, diags) {
        Some(true) => PreventDestroy::Yes,
        _ => PreventDestroy::No,
    }
}

fn decode_ignore_changes(attribute: &Attribute, diags: &mut Diagnostics) -> IgnoreChanges {
    if attribute.expr.as_keyword() == Some("all") {
        return IgnoreChanges::All;
    }
    let mut paths: Vec<Traversal> = Vec::new();
    let mut star: Option<Expression> = None;
    for item in references::static_list(&attribute.expr, diags) {
        if item.as_literal_string().as_deref() == Some("*") {
            diags.push(
                Diagnostic::error(
                    "Invalid ignore_changes wildcard",
                    "The [\"*\"] form of ignore_changes wildcard is was deprecated and is now invalid. Use \
                     \"ignore_changes = all\" to ignore changes to all attributes.",
                )
                .at(attribute.expr.range()),
            );
            star = Some(item);
            continue;
        }
        let item = references::unquote(&item, false, diags);
        paths.extend(references::static_traversal(&item, diags));
    }
    match star {
        Some(star) => {
            if !paths.is_empty() {
                diags.push(
                    Diagnostic::error(
                        "Invalid ignore_changes ruleset",
                        "Cannot mix wildcard string \"*\" with non-wildcard references.",
                    )
                    .at(star.range())
                    .within(attribute.expr.range()),
                );
            }
            IgnoreChanges::All
        }
        None => IgnoreChanges::Paths(paths),
    }
}

/// Each item must name one resource; its indices may be `count.index` or `each.key`.
fn decode_triggers(attribute: &Attribute, diags: &mut Diagnostics) -> Vec<Expression> {
    let items: Vec<Expression> = references::static_list(&attribute.expr, diags)
        .iter()
        .filter_map(|item| references::native_expression(item, diags))
        .collect();
    for item in &items {
        let problems = check_trigger(item);
        if !problems.is_empty() {
            diags.extend(problems);
            break;
        }
    }
    items
}

fn check_trigger(item: &Expression) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let mut references = Vec::new();
    for traversal in item.variables() {
        match parse_reference(traversal, &item.file) {
            Ok(reference) => references.push(reference),
            Err(error) => diags.push(error),
        }
    }
    if diags.has_errors() {
        return diags;
    }
    let mut report = |what: &str, detail: &str| {
        let summary = format!("Invalid {what} in replace_triggered_by expression");
        diags.push(Diagnostic::error(summary, detail).at(item.range()));
    };
    let mut resources = 0;
    for reference in references {
        match reference.subject {
            Subject::Resource(_) | Subject::ResourceInstance(_) => resources += 1,
            Subject::Each(name) if &*name == "key" => {}
            Subject::Count(name) if &*name == "index" => {}
            Subject::Each(_) => report("each reference", "Only each.key may be used in replace_triggered_by."),
            Subject::Count(_) => report("count reference", "Only count.index may be used in replace_triggered_by."),
            _ => report("reference", "Only resources, count.index, and each.key may be used in replace_triggered_by."),
        }
    }
    let detail = match resources {
        0 => "Missing resource reference in replace_triggered_by expression.",
        1 => return diags,
        _ => "Multiple resource references in replace_triggered_by expression.",
    };
    diags.push(Diagnostic::error(INVALID_TRIGGER, detail).at(item.range()));
    diags
}

/// The body of a block with one of an override file on top. `replace_triggered_by` cannot be overridden, and `ignore_changes = all`
/// stays.
pub fn merged(base: &Body, over: &Body) -> Body {
    let over = without(over, "replace_triggered_by");
    let ignores_all = argument(base, "ignore_changes").is_some_and(|a| a.expr.as_keyword() == Some("all"));
    Body::merged(base.clone(), if ignores_all { without(&over, "ignore_changes") } else { over })
}

/// The body of a block in an override file for a resource without one.
pub fn without_base(over: &Body) -> Body {
    without(over, "replace_triggered_by")
}
