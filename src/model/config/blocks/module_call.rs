//! `module` blocks: calls of other modules.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::name::PROGRAM;
use lang::syntax::ast::{Attribute, Block, ExprKind, Expression};
use lang::syntax::body::{Body, BodySchema, Content};
use lang::syntax::syntax_errors::INVALID_EXPRESSION;

use super::block::{EarlyArguments, ModuleCall, ProviderPassing};
use super::references;
use crate::config::constants::constant;
use crate::config::constants::static_context::Early;
use crate::config::module::Module;
use crate::config::module_source::{self, INVALID_REGISTRY_SOURCE, INVALID_SOURCE, SourceError};
use crate::config::providers::requirements;
use crate::model_errors::duplicate_count_and_for_each;

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
    references::check_label(block, 0, "Invalid module instance name", diags);
    let early = early_arguments(&content);
    let (source, version) = match &early {
        Some(_) => (Some(String::new()), None),
        None => {
            let version = content.attribute("version");
            let has_version = version.is_some_and(|a| !matches!(a.expr.kind(), ExprKind::Null));
            let version = version.and_then(|a| requirements::constraint_text(a, diags));
            (content.attribute("source").and_then(|a| decode_source(a, has_version, diags)), version)
        }
    };
    let instances = "should be used to be explicit about the number of module instances";
    let (count, for_each) = repetition(&content, instances, diags);
    let enabled = decode_lifecycle(&content, diags);
    let depends_on = content.attribute("depends_on").map(|a| references::depends_on(a, diags)).unwrap_or_default();
    let providers = content.attribute("providers").map(|a| decode_providers(a, diags)).unwrap_or_default();
    let body = check_blocks(&content, rest, "module", "module input variables", diags);
    let source_range = content.attribute("source")?.expr.range();
    Some(ModuleCall {
        name: block.label(0).clone(),
        source: source?,
        source_range,
        version,
        early,
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
fn early_arguments(content: &Content) -> Option<EarlyArguments> {
    let source = content.attribute("source")?;
    let version = content.attribute("version");
    let constant = |a: &Attribute| constant::is_constant(&a.expr);
    if constant(source) && version.is_none_or(constant) {
        return None;
    }
    Some(EarlyArguments { source: source.clone(), version: version.cloned() })
}

/// Evaluates source and version. False: they are of no use, which is reported.
pub fn evaluate_source(call: &mut ModuleCall, early: &Early, diags: &mut Diagnostics) -> bool {
    let Some(arguments) = call.early.take() else { return true };
    let target = |argument: &str| format!("module.{}.{argument}", call.name);
    let mut found = Diagnostics::new();
    let version = arguments.version.as_ref().and_then(|version| {
        let text = found.take(early.text(&target("version"), &version.expr))?;
        requirements::check_constraint(text, version, &mut found)
    });
    let source = found.take(early.text(&target("source"), &arguments.source.expr));
    let failed = found.has_errors();
    if source.is_none() && !failed {
        let detail = format!("The value of {} is null. A source address is required.", target("source"));
        let error = Diagnostic::error(INVALID_SOURCE, detail);
        found.push(error.at(arguments.source.expr.range()));
    }
    let source = source.filter(|_| !failed);
    let source = source.and_then(|text| check_source(text, &arguments.source, version.is_some(), &mut found));
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

/// `count` and `for_each`; only one of them and of the argument `enabled` in the block `lifecycle` may be set. `instances` is what
/// there would be too many of.
pub fn repetition(
    content: &Content,
    instances: &str,
    diags: &mut Diagnostics,
) -> (Option<Expression>, Option<Expression>) {
    let (count, for_each) = (content.attribute("count"), content.attribute("for_each"));
    let enabled =
        content.blocks_of("lifecycle").find_map(|block| block.body.content(&LIFECYCLE).0.attribute("enabled").cloned());
    match (count, for_each, &enabled) {
        (Some(_), Some(for_each), None) => diags.push(
            duplicate_count_and_for_each("used to be explicit about the number of resources to be created.")
                .at(for_each.name_range()),
        ),
        (None, None, _) | (_, _, None) => {}
        (_, _, Some(enabled)) => {
            let names = match (count, for_each) {
                (Some(_), Some(_)) => "\"count\", \"enabled\", and \"for_each\"",
                (Some(_), None) => "\"count\" and \"enabled\"",
                _ => "\"enabled\" and \"for_each\"",
            };
            let ranges = [count, for_each].into_iter().flatten().map(|attribute| attribute.name_range());
            let range = ranges.fold(enabled.name_range(), |range, other| range.to(&other));
            diags.push(
                Diagnostic::error(
                    format!("Invalid combination of {names}"),
                    format!("The {names} meta-arguments are mutually-exclusive. Only one {instances} to be created.",),
                )
                .at(range),
            );
        }
    }
    (count.map(|a| a.expr.clone()), for_each.map(|a| a.expr.clone()))
}

static NEWER: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute("ignore_nested_deprecations"));

/// Reads the arguments of the block itself that are newer than modules with variables of the same name: such a variable
/// comes first.
pub fn take_newer_arguments(call: &mut ModuleCall, child: &Module, diags: &mut Diagnostics) {
    if child.variables.contains_key("ignore_nested_deprecations") {
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

/// Reports reserved blocks. Comes back with the body and what its escaping block `_` adds to it: arguments that have the
/// names of meta-arguments and are none.
pub fn check_blocks(content: &Content, body: Body, context: &str, escaped: &str, diags: &mut Diagnostics) -> Body {
    let mut escaping: Option<&Block> = None;
    for block in &content.blocks {
        match (block.kind.as_str(), escaping) {
            ("_", Some(first)) => diags.push(
                Diagnostic::error(
                    "Duplicate escaping block",
                    format!(
                        "The special block type \"_\" can be used to force particular arguments to be interpreted as \
                         {escaped} rather than as meta-arguments, but each {context} block can have only one such \
                         block. The first escaping block was at {}.",
                        first.header_range()
                    ),
                )
                .at(block.header_range()),
            ),
            ("_", None) => escaping = Some(block),
            ("lifecycle" | "connection" | "provisioner", _) if context == "resource" || context == "data" => {}
            ("connection", _) if context == "provisioner" => {}
            ("lifecycle", _) if context == "module" => {}
            _ => diags.push(references::reserved_block(block, context)),
        }
    }
    match escaping {
        Some(block) => Body::joined(body, block.body.clone()),
        None => body,
    }
}

pub fn decode_providers(attribute: &Attribute, diags: &mut Diagnostics) -> Vec<ProviderPassing> {
    let Some(pairs) = attribute.expr.as_static_map() else {
        diags.push(
            Diagnostic::error(INVALID_EXPRESSION, "A static map expression is required.")
                .at(constant::start_range(&attribute.expr)),
        );
        return Vec::new();
    };
    let mut passings: Vec<ProviderPassing> = Vec::with_capacity(pairs.len());
    let mut written = Vec::with_capacity(pairs.len());
    for (key, value) in pairs {
        let in_child = references::provider_ref(&key, "providers", diags);
        let in_parent = references::provider_ref(&value, "providers", diags);
        let (Some(in_child), Some(in_parent)) = (in_child, in_parent) else { continue };
        if let Some(key) = &in_child.key {
            let detail = "A module expects whole provider configurations: an instance key may stand only on the right side, with \
                          the configuration that is passed.";
            diags.push(Diagnostic::error(references::INVALID_PROVIDER_REFERENCE, detail).at(key.range()));
            continue;
        }
        if let Some(previous) = passings.iter().position(|p| p.in_child.addr == in_child.addr) {
            diags.push(
                Diagnostic::error(
                    "Duplicate provider address",
                    format!(
                        "A provider configuration was already passed to {} at {}. Each child provider configuration \
                         can be assigned only once.",
                        in_child.addr, written[previous]
                    ),
                )
                .at(value.range()),
            );
            continue;
        }
        passings.push(ProviderPassing { in_child, in_parent });
        written.push(key.range().to(&value.range()));
    }
    passings
}
