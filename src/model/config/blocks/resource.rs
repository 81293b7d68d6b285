//! `resource` and `data` blocks.

use std::cell::RefCell;
use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use indexmap::IndexMap;
use lang::syntax::ast::{Block, Expression, Traversal};
use lang::syntax::body::{Body, BodySchema, Content};
use terrane_protocol::schema::ResourceMode;

use super::lifecycle::{self, Lifecycle};
use super::override_rule::{MISSING_RESOURCE, OverrideRule, missing_base};
use super::provisioner::{self, ProvisionerBlock, ProvisionerWhen};
use super::repetition::{self, Repetition};
use super::{labels, override_bodies, references, reserved_blocks};
use crate::addr;
use crate::addr::provider::parse_part;
use crate::config::providers::provider_ref::{self, ProviderRef};
use crate::config::providers::requirements::{RequiredProviders, imply, provider_for};
use crate::schema::decode::duplicate_block;

/// `resource`, `data`, `ephemeral` or `list "type" "name" {}`.
#[derive(Clone, Debug)]
pub struct Resource {
    pub addr: addr::Resource,
    pub count: Option<Expression>,
    pub for_each: Option<Expression>,
    /// As written in the block; none: by the type's name.
    pub provider_ref: Option<ProviderRef>,
    /// The provider that serves it, from the module's requirements.
    pub provider: addr::Provider,
    pub depends_on: Vec<Traversal>,
    pub lifecycle: Lifecycle,
    pub provisioners: Vec<ProvisionerBlock>,
    /// The connection that all provisioners of the block share.
    pub connection: Option<Body>,
    /// Of a `list` block.
    pub list: ListArguments,
    /// What is left for the provider's schema.
    pub body: Body,
    /// The block's header.
    pub range: Range,
    /// Where the type label stands.
    pub type_range: Range,
}

/// The resources of a module.
pub type Resources = IndexMap<addr::Resource, Resource>;

impl Resource {
    pub fn repetition(&self) -> Repetition<'_> {
        Repetition {
            count: self.count.as_ref(),
            for_each: self.for_each.as_ref(),
            enabled: self.lifecycle.enabled.as_ref(),
        }
    }

    /// The local provider configuration that it uses, as its module names it.
    pub fn local_provider_config(&self) -> addr::LocalProviderConfig {
        match &self.provider_ref {
            Some(reference) => reference.addr.clone(),
            None => addr::LocalProviderConfig { local_name: self.addr.implied_provider().into(), alias: None },
        }
    }
}

/// The arguments of a `list` block that other resource blocks do not have.
#[derive(Clone, Debug, Default)]
pub struct ListArguments {
    /// The most results.
    pub limit: Option<Expression>,
    /// Whether results contain the objects.
    pub include_resource: Option<Expression>,
}

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
    labels::check_label(block, 0, kind_summary, diags);
    labels::check_label(block, 1, name_summary, diags);
    let addr = addr::Resource { mode, kind: block.label(0).clone(), name: block.label(1).clone() };
    let instances = match mode {
        ResourceMode::Managed => "may be used to be explicit about the number of resources",
        ResourceMode::Data => "may be used to be explicit about the number of data sources",
        ResourceMode::Ephemeral | ResourceMode::List => {
            "may be used to be explicit about the number of ephemeral resources"
        }
    };
    let (count, for_each) = repetition::decode(&content, instances, diags);
    let provider_ref = content.attribute("provider").and_then(|a| provider_ref::decode(&a.expr, "provider", diags));
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
    resource.body = reserved_blocks::check(content, body, context, "resource-type-specific", diags);
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

/// The effect of a block in an override file.
pub const OVERRIDE: OverrideRule =
    OverrideRule { merge_bodies, allowed: without_conditions, ..OverrideRule::new(missing) };

/// The rule of `data` blocks, some of which stand in `check` blocks.
pub const DATA_OVERRIDE: OverrideRule = OverrideRule { missing_base: missing_data, ..OVERRIDE };

fn missing(over: &Block) -> Diagnostic {
    let subject = format!("{} resource named {:?}", over.label(0), &**over.label(1));
    missing_base(over, MISSING_RESOURCE, &subject, "a resource block defined")
}

fn missing_data(over: &Block) -> Diagnostic {
    let subject = format!("{} data resource named {:?}", over.label(0), &**over.label(1));
    missing_base(over, "Missing data resource to override", &subject, "a data block defined")
}

fn merge_bodies(base: Body, over: Body) -> Body {
    let (base, over) = override_bodies::one_repetition(base, over);
    override_bodies::merged_block("lifecycle", &base, &over, lifecycle::merged, lifecycle::without_base)
}

fn without_conditions(body: &Body, diags: &mut Diagnostics) -> Body {
    let found = RefCell::new(Diagnostics::new());
    let body = override_bodies::with_blocks(body, "lifecycle", |lifecycle| {
        override_bodies::refuse(&lifecycle.body, &["precondition", "postcondition"], &mut found.borrow_mut())
    });
    diags.extend(found.into_inner());
    body
}

/// Adds a resource to those of its module, with the provider that serves it. `in_check`: whether it belongs to a `check` block.
pub fn add(
    mut resource: Resource,
    in_check: bool,
    resources: &mut Resources,
    requirements: &mut RequiredProviders,
    diags: &mut Diagnostics,
) {
    if let Some(existing) = resources.get(&resource.addr) {
        let (kind, word) = match resource.addr.mode {
            ResourceMode::Managed => ("resource", "resource"),
            ResourceMode::Data => ("data", "data resource"),
            ResourceMode::Ephemeral => ("ephemeral", "ephemeral resource"),
            ResourceMode::List => ("list", "list"),
        };
        let names = if resource.addr.mode == ResourceMode::List { "List" } else { "Resource" };
        let detail = format!(
            "A {} {word} named {:?} was already declared at {}. {names} names must be unique per type in each module{}.",
            resource.addr.kind,
            &*resource.addr.name,
            existing.range,
            if in_check { ", including within check blocks" } else { "" }
        );
        let summary = format!("Duplicate {kind} {:?} configuration", &*resource.addr.kind);
        diags.push(Diagnostic::error(summary, detail).at(resource.range.clone()));
        return;
    }
    let local_name = resource.local_provider_config().local_name;
    if parse_part(&local_name).is_ok() {
        resource.provider = provider_for(requirements, &local_name);
        imply(requirements, &local_name, &resource.range);
    }
    resources.insert(resource.addr.clone(), resource);
}
