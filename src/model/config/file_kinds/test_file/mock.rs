//! `mock_provider` blocks, and the folders of mock data that they name.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::files::ConfigFiles;
use base::source::Range;
use lang::functions::Machine;
use lang::syntax::ast::{Attribute, Block, Expression};
use lang::syntax::body::BodySchema;
use terrane_value::Value;

use super::mock_value::{MockLanguage, ObjectNames, evaluate_mock_value};
use super::overriding::{self, Overrides, duplicate};
use crate::config::blocks::by_name::ByName;
use crate::config::blocks::labels;
use crate::config::constants::constant;
use crate::config::files::file_set;
use crate::config::providers::provider_block;

/// When made-up values stand in for computed ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideDuring {
    Plan,
    Apply,
}

/// `mock_provider "name" {}`.
#[derive(Clone, Debug)]
pub struct MockProvider {
    pub name: Arc<str>,
    pub name_range: Range,
    pub alias: Option<Arc<str>>,
    /// One mocked configuration per element, as in provider blocks.
    pub for_each: Option<Expression>,
    /// The elements, sorted by key; none: one configuration without a key. See [`super::TestFile::expand_providers`].
    pub instances: Option<Arc<[(Arc<str>, Value)]>>,
    /// A folder of `.tfmock.hcl` files, whose content `data` holds too once it is linked.
    pub source: Option<String>,
    pub data: MockData,
    pub during: Option<OverrideDuring>,
    pub range: Range,
}

/// What a mock makes up.
#[derive(Clone, Debug, Default)]
pub struct MockData {
    /// By type.
    pub resources: ByName<MockResource>,
    pub data_sources: ByName<MockResource>,
    pub overrides: Overrides,
}

/// `mock_resource "type" {}` and `mock_data "type" {}`.
#[derive(Clone, Debug)]
pub struct MockResource {
    /// Values for attributes that the configuration leaves to the provider; any value. See [`MockResource::evaluate`].
    pub defaults: Option<Expression>,
    /// The whole argument; without one, the block's header.
    pub defaults_range: Range,
    pub language: MockLanguage,
    pub during: Option<OverrideDuring>,
    /// The block's header.
    pub range: Range,
    pub type_range: Range,
}

impl MockResource {
    /// Its defaults for one object; none: the block gives none.
    pub fn evaluate(&self, object: &ObjectNames, machine: Option<&dyn Machine>) -> Option<(Value, Diagnostics)> {
        Some(evaluate_mock_value(self.defaults.as_ref()?, self.language, object, machine))
    }
}

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    let arguments = ["alias", "source", "override_during", "for_each"];
    data_blocks(arguments.into_iter().fold(BodySchema::new(), |schema, name| schema.attribute(name)))
});

static DATA: LazyLock<BodySchema> = LazyLock::new(|| data_blocks(BodySchema::new()));

static RESOURCE: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().attribute("defaults").attribute("override_during"));

fn data_blocks(schema: BodySchema) -> BodySchema {
    schema
        .block("mock_resource", &["type"])
        .block("mock_data", &["type"])
        .block("override_resource", &[])
        .block("override_data", &[])
}

/// None if the name cannot be a provider's local name.
pub fn decode(block: &Block, language: MockLanguage, diags: &mut Diagnostics) -> Option<MockProvider> {
    let content = diags.take(block.body.content(&SCHEMA));
    let name = block.label(0).clone();
    let mut data = MockData::default();
    let bad_name = labels::check_provider_name(&name, &block.header_range());
    if let Some(problem) = bad_name {
        diags.push(problem);
        return None;
    }
    let alias = content.attribute("alias").and_then(|a| provider_block::alias(a, diags));
    let for_each = content.attribute("for_each");
    if let Some(attribute) = for_each.filter(|_| alias.is_none()) {
        diags.push(provider_block::alias_required(attribute));
    }
    add_blocks(&content.blocks, language, &mut data, diags);
    let during = override_during(content.attribute("override_during"), diags);
    let source = content.attribute("source").and_then(|a| constant::string(a, diags));
    let for_each = for_each.map(|attribute| attribute.expr.clone());
    let (name_range, range) = (block.label_range(0), block.header_range());
    Some(MockProvider { name, name_range, alias, for_each, instances: None, source, data, during, range })
}

/// `override_during = plan`.
pub fn override_during(attribute: Option<&Attribute>, diags: &mut Diagnostics) -> Option<OverrideDuring> {
    let attribute = attribute?;
    match attribute.expr.as_keyword() {
        Some("plan") => Some(OverrideDuring::Plan),
        Some("apply") => Some(OverrideDuring::Apply),
        _ => {
            let detail = "The override_during attribute must be a value of plan or apply.";
            diags.push(Diagnostic::error("Invalid override_during value", detail).at(attribute.range()));
            None
        }
    }
}

/// Adds what the files of the folder hold that the block names.
pub fn add_shared_data(
    mock: &mut MockProvider,
    language: MockLanguage,
    files: &dyn ConfigFiles,
    diags: &mut Diagnostics,
) {
    let Some(dir) = &mock.source else { return };
    match read_dir(dir, language, files, diags) {
        Some(shared) => merge(&mut mock.data, shared),
        None => {
            let detail = format!("Mock data directory {dir} does not exist or cannot be read.");
            diags.push(Diagnostic::error("Failed to read mock data directory", detail).at(mock.range.clone()));
        }
    }
}

fn add_blocks(blocks: &[Block], language: MockLanguage, data: &mut MockData, diags: &mut Diagnostics) {
    for block in blocks {
        let known = match block.kind.as_str() {
            "mock_resource" => &mut data.resources,
            "mock_data" => &mut data.data_sources,
            _ => {
                overriding::add(block, language, &mut data.overrides, diags);
                continue;
            }
        };
        if let Some(first) = known.get(block.label(0)) {
            let kind = block.kind.as_str();
            let detail = format!("A {kind} block for {} has already been defined at {}.", block.label(0), first.range);
            diags.push(duplicate(block, detail).at(block.label_range(0)));
            continue;
        }
        known.insert(block.label(0).clone(), decode_resource(block, language, diags));
    }
}

fn decode_resource(block: &Block, language: MockLanguage, diags: &mut Diagnostics) -> MockResource {
    let content = diags.take(block.body.content(&RESOURCE));
    let defaults = content.attribute("defaults");
    if let Some(attribute) = defaults {
        language.check(&attribute.expr, diags);
    }
    let range = block.header_range();
    MockResource {
        defaults: defaults.map(|attribute| attribute.expr.clone()),
        defaults_range: defaults.map_or_else(|| range.clone(), Attribute::range),
        language,
        during: override_during(content.attribute("override_during"), diags),
        range,
        type_range: block.label_range(0),
    }
}

/// What the files of a folder hold together; none if there is no such folder.
fn read_dir(dir: &str, language: MockLanguage, files: &dyn ConfigFiles, diags: &mut Diagnostics) -> Option<MockData> {
    let dir = Path::new(dir);
    let mut all = MockData::default();
    for entry in files.list(dir).ok()? {
        let name = &entry.name;
        if entry.is_dir || name.starts_with('.') || !(name.ends_with(".tfmock.hcl") || name.ends_with(".tfmock.json")) {
            continue;
        }
        let path = dir.strip_prefix(".").unwrap_or(dir).join(name);
        let Some(body) = file_set::load(&path, files, diags) else { continue };
        let mut data = MockData::default();
        add_blocks(&diags.take(body.content(&DATA)).blocks, language, &mut data, diags);
        data.overrides.values_mut().for_each(|o| o.inline = false);
        join(&mut all, data, diags);
    }
    Some(all)
}

/// Adds what another file of the same folder holds; twice the same is reported.
fn join(all: &mut MockData, new: MockData, diags: &mut Diagnostics) {
    let mut add = |known: &mut ByName<MockResource>, new: ByName<MockResource>, kind: &str| {
        for (name, resource) in new {
            if let Some(first) = known.get(&name) {
                let detail = format!("A {kind} {name:?} block already exists at {}.", first.range);
                diags.push(Diagnostic::error("Duplicate mock resource block", detail).at(resource.type_range));
                continue;
            }
            known.insert(name, resource);
        }
    };
    add(&mut all.resources, new.resources, "mock_resource");
    add(&mut all.data_sources, new.data_sources, "mock_data");
    for (target, one) in new.overrides {
        if let Some(first) = all.overrides.get(&target) {
            let detail = format!("An override block for {target} already exists at {}.", first.range);
            diags.push(Diagnostic::error("Duplicate override block", detail).at(one.range));
            continue;
        }
        all.overrides.insert(target, one);
    }
}

/// Adds shared mock data; what the block itself says comes first.
fn merge(own: &mut MockData, shared: MockData) {
    let take = |own: &mut ByName<MockResource>, shared: ByName<MockResource>| {
        for (name, resource) in shared {
            own.entry(Arc::clone(&name)).or_insert(resource);
        }
    };
    take(&mut own.resources, shared.resources);
    take(&mut own.data_sources, shared.data_sources);
    for (target, one) in shared.overrides {
        own.overrides.entry(target).or_insert(one);
    }
}
