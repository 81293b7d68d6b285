//! `mock_provider` blocks, and the folders of mock data that they name.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::files::ConfigFiles;
use lang::syntax::ast::Block;
use lang::syntax::body::BodySchema;

use super::{MockData, MockProvider, MockResource, duplicate, override_during, overriding};
use crate::config::blocks::by_name::ByName;
use crate::config::blocks::labels;
use crate::config::constants::constant;
use crate::config::files::file_set;
use crate::config::providers::provider_block;

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    data_blocks(BodySchema::new().attribute("alias").attribute("source").attribute("override_during"))
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
pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<MockProvider> {
    let content = diags.take(block.body.content(&SCHEMA));
    let name = block.label(0).clone();
    let mut data = MockData::default();
    let bad_name = labels::check_provider_name(&name, &block.header_range());
    if let Some(problem) = bad_name {
        diags.push(problem);
        return None;
    }
    let alias = content.attribute("alias").and_then(|a| provider_block::alias(a, diags));
    add_blocks(&content.blocks, &mut data, diags);
    let during = override_during(content.attribute("override_during"), diags);
    let source = content.attribute("source").and_then(|a| constant::string(a, diags));
    let name_range = block.label_range(0);
    Some(MockProvider { name, name_range, alias, source, data, during, range: block.header_range() })
}

/// Adds what the files of the folder hold that the block names.
pub fn add_shared_data(mock: &mut MockProvider, files: &dyn ConfigFiles, diags: &mut Diagnostics) {
    let Some(dir) = &mock.source else { return };
    match read_dir(dir, files, diags) {
        Some(shared) => merge(&mut mock.data, shared),
        None => {
            let detail = format!("Mock data directory {dir} does not exist or cannot be read.");
            diags.push(Diagnostic::error("Failed to read mock data directory", detail).at(mock.range.clone()));
        }
    }
}

fn add_blocks(blocks: &[Block], data: &mut MockData, diags: &mut Diagnostics) {
    for block in blocks {
        let known = match block.kind.as_str() {
            "mock_resource" => &mut data.resources,
            "mock_data" => &mut data.data_sources,
            _ => {
                overriding::add(block, &mut data.overrides, diags);
                continue;
            }
        };
        if let Some(first) = known.get(block.label(0)) {
            let kind = block.kind.as_str();
            let detail = format!("A {kind} block for {} has already been defined at {}.", block.label(0), first.range);
            diags.push(duplicate(block, detail).at(block.label_range(0)));
            continue;
        }
        known.insert(block.label(0).clone(), decode_resource(block, diags));
    }
}

fn decode_resource(block: &Block, diags: &mut Diagnostics) -> MockResource {
    let content = diags.take(block.body.content(&RESOURCE));
    MockResource {
        defaults: content.attribute("defaults").map(|a| diags.take(constant::value(&a.expr))),
        during: override_during(content.attribute("override_during"), diags),
        range: block.header_range(),
        type_range: block.label_range(0),
    }
}

/// What the files of a folder hold together; none if there is no such folder.
fn read_dir(dir: &str, files: &dyn ConfigFiles, diags: &mut Diagnostics) -> Option<MockData> {
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
        add_blocks(&diags.take(body.content(&DATA)).blocks, &mut data, diags);
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
