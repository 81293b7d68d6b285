//! `resource` and `data` blocks.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use lang::syntax::ast::Block;
use lang::syntax::body::{BodySchema, Content};
use terrane_protocol::schema::ResourceMode;

use super::block::{ProvisionerWhen, Resource};
use super::{lifecycle, module_call, provisioner, references};
use crate::addr;
use crate::schema::decode::duplicate_block;

static MANAGED: LazyLock<BodySchema> =
    LazyLock::new(|| common().block("locals", &[]).block("connection", &[]).block("provisioner", &["type"]));
static DATA: LazyLock<BodySchema> = LazyLock::new(|| common().block("locals", &[]));

fn common() -> BodySchema {
    BodySchema::new()
        .attribute("count")
        .attribute("for_each")
        .attribute("provider")
        .attribute("depends_on")
        .block("lifecycle", &[])
        .block("_", &[])
}

/// A `resource` block.
pub fn decode_managed(block: &Block, diags: &mut Diagnostics) -> Resource {
    decode(block, ResourceMode::Managed, diags)
}

/// A block of any mode. The provider is filled in when the whole module is known.
pub fn decode(block: &Block, mode: ResourceMode, diags: &mut Diagnostics) -> Resource {
    let managed = mode == ResourceMode::Managed;
    let (content, rest, problems) = block.body.partial_content(if managed { &MANAGED } else { &DATA });
    diags.extend(problems);
    let (kind_summary, name_summary) = match mode {
        ResourceMode::Managed => ("Invalid resource type name", "Invalid resource name"),
        ResourceMode::Data => ("Invalid data source name", "Invalid data resource name"),
        ResourceMode::Ephemeral | ResourceMode::List => {
            ("Invalid ephemeral resource type", "Invalid ephemeral resource name")
        }
    };
    references::check_label(block, 0, kind_summary, diags);
    references::check_label(block, 1, name_summary, diags);
    let addr = addr::Resource { mode, kind: block.label(0).clone(), name: block.label(1).clone() };
    let instances = match mode {
        ResourceMode::Managed => "may be used to be explicit about the number of resources",
        ResourceMode::Data => "may be used to be explicit about the number of data sources",
        ResourceMode::Ephemeral | ResourceMode::List => {
            "may be used to be explicit about the number of ephemeral resources"
        }
    };
    let (count, for_each) = module_call::repetition(&content, instances, diags);
    let provider_ref = content.attribute("provider").and_then(|a| references::provider_ref(&a.expr, "provider", diags));
    let depends_on = content.attribute("depends_on").map(|a| references::depends_on(a, diags)).unwrap_or_default();
    let mut resource = Resource {
        provider: addr::Provider::default_for(addr.implied_provider()),
        addr,
        count,
        for_each,
        provider_ref,
        depends_on,
        lifecycle: Default::default(),
        provisioners: Vec::new(),
        connection: None,
        list: Default::default(),
        body: rest,
        range: block.header_range(),
        type_range: block.label_range(0),
    };
    decode_blocks(&content, &mut resource, diags);
    resource
}

fn decode_blocks(content: &Content, resource: &mut Resource, diags: &mut Diagnostics) {
    if let Some(block) = only_one(content, "lifecycle", diags) {
        resource.lifecycle = lifecycle::decode(block, &resource.addr, diags);
    }
    if let Some(block) = only_one(content, "connection", diags) {
        resource.connection = Some(block.body.clone());
    }
    for block in content.blocks_of("provisioner") {
        resource.provisioners.extend(provisioner::decode(block, diags));
    }
    let context = if resource.addr.mode == ResourceMode::Managed { "resource" } else { "data" };
    let body = resource.body.clone();
    resource.body = module_call::check_blocks(content, body, context, "resource-type-specific", diags);
    if let Some(connection) = &resource.connection
        && resource.provisioners.iter().any(|p| p.when == ProvisionerWhen::Destroy)
    {
        provisioner::check_only_self(connection, diags);
    }
}

fn only_one<'a>(content: &'a Content, kind: &'a str, diags: &mut Diagnostics) -> Option<&'a Block> {
    let mut blocks = content.blocks_of(kind);
    let first = blocks.next()?;
    for block in blocks {
        diags.push(
            Diagnostic::error(
                duplicate_block(kind),
                format!("This resource already has a {kind} block at {}.", first.header_range()),
            )
            .at(block.header_range()),
        );
    }
    Some(first)
}
