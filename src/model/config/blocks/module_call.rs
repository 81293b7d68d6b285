//! `module` blocks: calls of other modules.

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::name::PROGRAM;
use base::source::Range;
use lang::syntax::ast::{Attribute, Block, ExprKind, Expression, Traversal};
use lang::syntax::body::{Body, BodySchema, Content};

use super::by_name::{Duplicate, Named};
use super::override_bodies::{self, argument};
use super::override_rule::{OverrideRule, missing_base};
use super::repetition::{self, Repetition};
use super::{labels, references, reserved_blocks};
use crate::config::constants::{constant, version_constraint};
use crate::config::module_source::{self, INVALID_REGISTRY_SOURCE, INVALID_SOURCE, ModuleSource, SourceError};
use crate::config::providers::provider_ref::{self, ProviderPassing};
use crate::model_errors::INVALID_VERSION_CONSTRAINT;

/// `module "name" {}`.
#[derive(Clone, Debug)]
pub struct ModuleCall {
    pub name: Arc<str>,
    /// The source as written, and where.
    pub source: String,
    pub source_range: Range,
    pub version: Option<(String, Range)>,
    /// Source and version, if they are expressions, until they are evaluated: before, neither of the above means anything.
    pub unevaluated: Option<UnevaluatedSource>,
    pub count: Option<Expression>,
    pub for_each: Option<Expression>,
    /// `lifecycle { enabled = ... }`
    pub enabled: Option<Expression>,
    pub depends_on: Vec<Traversal>,
    pub providers: Vec<ProviderPassing>,
    /// What is deprecated inside is not this caller's concern.
    pub ignore_nested_deprecations: bool,
    /// What is left: the child's input variables.
    pub body: Body,
    pub range: Range,
}

/// Arguments of a module call that are expressions and decide what is installed.
#[derive(Clone, Debug)]
pub struct UnevaluatedSource {
    pub source: Attribute,
    pub version: Option<Attribute>,
}

impl ModuleCall {
    pub fn repetition(&self) -> Repetition<'_> {
        Repetition { count: self.count.as_ref(), for_each: self.for_each.as_ref(), enabled: self.enabled.as_ref() }
    }
}

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .required("source")
        .attribute("version")
        .attribute("count")
        .attribute("for_each")
        .attribute("depends_on")
        .attribute("providers")
        .block("_", &[])
        .block("lifecycle", &[])
        .block("locals", &[])
        .block("provider", &["type"])
});

/// True for names that mean something in a module block itself, so that no variable may have them.
pub fn is_reserved_name(name: &str) -> bool {
    SCHEMA.attributes.iter().any(|a| &*a.name == name) || SCHEMA.blocks.iter().any(|b| &*b.kind == name)
}

/// None if there is no usable source.
pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<ModuleCall> {
    let (content, rest, problems) = block.body.partial_content(&SCHEMA);
    let lacks_source = content.attribute("source").is_none();
    let is_about_source = |found: &Diagnostic| found.subject.as_ref() == Some(&block.body.missing_item_range());
    diags.extend(problems.into_iter().map(|found| match lacks_source && is_about_source(&found) {
        true => found.of_kind(Kind::MissingSource),
        false => found,
    }));
    labels::check_label(block, 0, "Invalid module instance name", diags);
    let unevaluated = unevaluated_source(&content);
    let (source, version) = match &unevaluated {
        Some(_) => (Some(String::new()), None),
        None => {
            let version = content.attribute("version");
            let has_version = version.is_some_and(|a| !matches!(a.expr.kind(), ExprKind::Null));
            let version = version.and_then(|a| version_constraint::decode(a, diags));
            (content.attribute("source").and_then(|a| decode_source(a, has_version, diags)), version)
        }
    };
    let instances = "should be used to be explicit about the number of module instances";
    let (count, for_each) = repetition::decode(&content, instances, diags);
    let enabled = decode_lifecycle(&content, diags);
    let depends_on = content.attribute("depends_on").map(|a| references::depends_on(a, diags)).unwrap_or_default();
    let providers = content.attribute("providers").map(|a| provider_ref::decode_passings(a, diags)).unwrap_or_default();
    let body = reserved_blocks::check(&content, rest, "module", "module input variables", diags);
    let source_range = content.attribute("source")?.expr.range();
    Some(ModuleCall {
        name: block.label(0).clone(),
        source: source?,
        source_range,
        version,
        unevaluated,
        count,
        for_each,
        enabled,
        depends_on,
        providers,
        ignore_nested_deprecations: false,
        body,
        range: block.header_range(),
    })
}

/// Source and version, if one of them has to be evaluated.
fn unevaluated_source(content: &Content) -> Option<UnevaluatedSource> {
    let source = content.attribute("source")?;
    let version = content.attribute("version");
    let constant = |a: &Attribute| constant::is_constant(&a.expr);
    if constant(source) && version.is_none_or(constant) {
        return None;
    }
    Some(UnevaluatedSource { source: source.clone(), version: version.cloned() })
}

fn decode_source(attribute: &Attribute, has_version: bool, diags: &mut Diagnostics) -> Option<String> {
    let source = constant::string(attribute, diags)?;
    check_source(source, attribute, has_version, diags)
}

/// The address, if it is one; an error is reported where it stands.
pub fn check_source(
    source: String,
    attribute: &Attribute,
    has_version: bool,
    diags: &mut Diagnostics,
) -> Option<String> {
    let problem = match has_version {
        true => module_source::parse_registry(&source).err(),
        false => module_source::parse(&source).err(),
    };
    let diagnostic = match problem {
        None => return Some(source),
        Some(SourceError::MaybeRelative) => {
            let (package, _) = module_source::split_folder(&source);
            let (_, package) = module_source::split_method(&package);
            Diagnostic::error(
                INVALID_SOURCE,
                format!(
                    "{PROGRAM} failed to determine your intended installation method for remote module package \
                     {package:?}.\n\nIf you intended this as a path relative to the current module, use \"./{package}\" \
                     instead. The \"./\" prefix indicates that the address is a relative filesystem path."
                ),
            )
        }
        Some(SourceError::Invalid(e)) if has_version => Diagnostic::error(
            INVALID_REGISTRY_SOURCE,
            format!(
                "Failed to parse module registry address: {e}.\n\n{PROGRAM} assumed that you intended a module registry \
                 source address because you also set the argument \"version\", which applies only to registry modules."
            ),
        ),
        Some(SourceError::Invalid(e)) => {
            Diagnostic::error(INVALID_SOURCE, format!("Failed to parse module source address: {e}."))
        }
    };
    diags.push(diagnostic.at(attribute.expr.range()));
    None
}

static NEWER: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute("ignore_nested_deprecations"));

/// Reads the arguments of the block itself that are newer than modules with variables of the same name: such a variable
/// comes first. `is_variable`: whether the called module has a variable of the name.
pub fn take_newer_arguments(call: &mut ModuleCall, is_variable: impl Fn(&str) -> bool, diags: &mut Diagnostics) {
    if is_variable("ignore_nested_deprecations") {
        return;
    }
    let (content, rest, _) = call.body.partial_content(&NEWER);
    if let Some(attribute) = content.attribute("ignore_nested_deprecations") {
        call.ignore_nested_deprecations = constant::bool(attribute, diags).unwrap_or(false);
        call.body = rest;
    }
}

static LIFECYCLE: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute("enabled"));

/// The condition of a call: `enabled` of its `lifecycle` block.
fn decode_lifecycle(content: &Content, diags: &mut Diagnostics) -> Option<Expression> {
    let mut first: Option<&Block> = None;
    let mut enabled = None;
    for block in content.blocks_of("lifecycle") {
        if let Some(first) = first {
            let detail = format!("This module call already has a lifecycle block at {}.", first.header_range());
            diags.push(Diagnostic::error("Duplicate lifecycle block", detail).at(block.header_range()));
            continue;
        }
        first = Some(block);
        enabled = diags.take(block.body.content(&LIFECYCLE)).attribute("enabled").map(|a| a.expr.clone());
    }
    enabled
}

impl Named for ModuleCall {
    const DUPLICATE: Duplicate = Duplicate {
        summary: "Duplicate module call",
        what: "A module call",
        verb: "defined",
        rule: "Module calls must have unique names within a module.",
    };

    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn range(&self) -> &Range {
        &self.range
    }
}

/// The effect of a block in an override file.
pub const OVERRIDE: OverrideRule =
    OverrideRule { merge_bodies, required: Some("source"), check_merged: check_version, ..OverrideRule::new(missing) };

fn missing(over: &Block) -> Diagnostic {
    let subject = format!("module call named {:?}", &**over.label(0));
    missing_base(over, "Missing module call to override", &subject, "a module call that was defined")
}

/// An override that passes no provider configurations leaves those of the base.
fn merge_bodies(base: Body, over: Body) -> Body {
    let (base, over) = override_bodies::one_repetition(base, over);
    let providers = argument(&over, "providers");
    let passes_nothing = providers.is_some_and(|a| a.expr.as_static_map().is_some_and(|map| map.is_empty()));
    Body::merged(base, if passes_nothing { override_bodies::without(&over, "providers") } else { over })
}

/// A call whose source comes from one block and whose version from another.
fn check_version(base: &Block, over: &Block, diags: &mut Diagnostics) {
    let has = |name: &str| argument(&over.body, name).is_some();
    let version = argument(&base.body, "version").filter(|version| !override_bodies::is_null(version));
    let source = argument(&base.body, "source").and_then(|source| source.expr.as_literal_string());
    let (Some(_), Some(source), true) = (version, source, has("source") || has("version")) else { return };
    let why = match module_source::parse(&source) {
        Ok(ModuleSource::Registry(_)) | Err(_) => return,
        Ok(ModuleSource::Local(_)) => "it has a relative local path",
        Ok(ModuleSource::Remote(_)) => "it doesn't come from a module registry",
    };
    let range = base.header_range();
    let detail = format!(
        "Cannot apply a version constraint to module {:?} (at {}:{}) because {why}.",
        base.label(0),
        range.filename(),
        range.start().line
    );
    let error = Diagnostic::error(INVALID_VERSION_CONSTRAINT, detail).at(range);
    if !diags.iter().any(|known| known.repeats(&error)) {
        diags.push(error);
    }
}
