//! `override_resource`, `override_data` and `override_module` blocks.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use indexmap::IndexMap;
use lang::functions::Machine;
use lang::syntax::ast::{Attribute, Block, ExprKind, Expression};
use lang::syntax::body::BodySchema;
use terrane_protocol::schema::ResourceMode;
use terrane_value::Value;

use super::mock::{OverrideDuring, override_during};
use super::mock_value::{MockLanguage, ObjectNames, evaluate_mock_value, is_object};
use crate::addr::parse::parse_target_traversal;
use crate::addr::pattern::is_pattern;
use crate::addr::{Pattern, Target};
use crate::config::blocks::references;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideKind {
    Resource,
    Data,
    Module,
}

/// `override_resource {}`, `override_data {}`, `override_module {}`.
#[derive(Clone, Debug)]
pub struct Override {
    pub kind: OverrideKind,
    pub target: Target,
    /// `values`, or `outputs` of a module, an object; none: an empty one. See [`Override::evaluate`].
    pub values: Option<Expression>,
    /// The whole argument; without one, the block's header.
    pub values_range: Range,
    pub language: MockLanguage,
    pub during: Option<OverrideDuring>,
    pub target_range: Range,
    pub range: Range,
    /// False: it comes from a folder of mock data, for many configurations.
    pub inline: bool,
}

/// Overrides by what they override, as text.
pub type Overrides = IndexMap<String, Override>;

static RESOURCE: LazyLock<BodySchema> = LazyLock::new(|| schema("values"));
static MODULE: LazyLock<BodySchema> = LazyLock::new(|| schema("outputs"));

/// What is said of anything that is overridden in a way that it cannot be, or does not exist.
pub const INVALID_TARGET: &str = "Invalid override target";

fn schema(values: &str) -> BodySchema {
    BodySchema::new().attribute("target").attribute(values).attribute("override_during")
}

impl OverrideKind {
    fn of(block: &Block) -> OverrideKind {
        match block.kind.as_str() {
            "override_resource" => OverrideKind::Resource,
            "override_data" => OverrideKind::Data,
            _ => OverrideKind::Module,
        }
    }

    /// The kind of the block.
    pub fn block(self) -> &'static str {
        match self {
            OverrideKind::Resource => "override_resource",
            OverrideKind::Data => "override_data",
            OverrideKind::Module => "override_module",
        }
    }

    fn objects(self) -> &'static str {
        match self {
            OverrideKind::Resource => "resources",
            OverrideKind::Data => "data sources",
            OverrideKind::Module => "modules",
        }
    }

    fn argument(self) -> &'static str {
        if self == OverrideKind::Module { "outputs" } else { "values" }
    }

    fn schema(self) -> &'static BodySchema {
        if self == OverrideKind::Module { &MODULE } else { &RESOURCE }
    }
}

impl Override {
    /// Its values for one of the objects that it overrides: an object of any attributes, unless there are errors.
    pub fn evaluate(&self, object: &ObjectNames, machine: Option<&dyn Machine>) -> (Value, Diagnostics) {
        let Some(expr) = &self.values else { return (Value::empty_object(), Diagnostics::new()) };
        let (value, diags) = evaluate_mock_value(expr, self.language, object, machine);
        // Constants were checked when the file was read.
        if self.language == MockLanguage::Constants || is_object(expr, &value, &diags) {
            return (value, diags);
        }
        // The text of Terraform 1.15, for all blocks.
        let detail = format!("{} blocks must specify an outputs attribute that is an object.", self.kind.block());
        let error = Diagnostic::error("Invalid outputs attribute", detail);
        let mut found = Diagnostics::from(error.at(self.values_range.clone()));
        found.extend(diags);
        (value, found)
    }
}

/// Adds what a block overrides; twice the same is reported.
pub fn add(block: &Block, language: MockLanguage, overrides: &mut Overrides, diags: &mut Diagnostics) {
    let Some(new) = decode(block, language, diags) else { return };
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

/// A block for something that another one is for already.
pub fn duplicate(block: &Block, detail: String) -> Diagnostic {
    Diagnostic::error(format!("Duplicate {} block", block.kind.as_str()), detail)
}

fn decode(block: &Block, language: MockLanguage, diags: &mut Diagnostics) -> Option<Override> {
    let kind = OverrideKind::of(block);
    let content = diags.take(block.body.content(kind.schema()));
    let target = match content.attribute("target") {
        Some(attribute) => target(attribute, diags),
        None => {
            let detail = format!("{} blocks must specify a target address.", kind.block());
            diags.push(Diagnostic::error("Missing target attribute", detail).at(block.header_range()));
            None
        }
    };
    let values = content.attribute(kind.argument());
    if let Some(attribute) = values {
        check_values(attribute, kind, language, diags);
    }
    let during = override_during(content.attribute("override_during"), diags);
    let (target, target_range) = target?;
    if kind_of(&target) != Some(kind) {
        let detail = format!("You can only target {} from {} blocks, not {target}.", kind.objects(), kind.block());
        diags.push(Diagnostic::error(INVALID_TARGET, detail).at(target_range));
        return None;
    }
    let range = block.header_range();
    Some(Override {
        kind,
        target,
        values: values.map(|attribute| attribute.expr.clone()),
        values_range: values.map_or_else(|| range.clone(), Attribute::range),
        language,
        during,
        target_range,
        range,
        inline: true,
    })
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
    let text: String = match expr.kind() {
        ExprKind::Splat { full: true, .. } => expr.range().text().split_whitespace().collect(),
        ExprKind::JsonString(text) if is_pattern(&text.text) => text.text.to_string(),
        _ => return None,
    };
    // Other patterns of the command line are none here.
    let is_splat = !is_pattern(&text.replace("[*]", ""));
    Pattern::parse(&text).ok().filter(|_| is_splat)
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

/// Reports constants that are no objects.
fn check_values(attribute: &Attribute, kind: OverrideKind, language: MockLanguage, diags: &mut Diagnostics) {
    let mut problems = Diagnostics::new();
    if !language.check(&attribute.expr, &mut problems) {
        let name = kind.argument();
        let article = if name == "outputs" { "an" } else { "a" };
        let detail = format!("{} blocks must specify {article} {name} attribute that is an object.", kind.block());
        diags.push(Diagnostic::error(format!("Invalid {name} attribute"), detail).at(attribute.range()));
    }
    diags.extend(problems);
}
