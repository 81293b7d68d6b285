//! Validating a resource block: once for all its instances, with unknown values for everything that depends on a run.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::source::Range;
use base::telemetry::{self, Description, Detail};
use lang::eval::{evaluate, evaluate_to};
use lang::syntax::body::{Body, BodySchema};
use model::config::{IgnoreChanges, PreventDestroy, ProvisionerBlock, Resource};
use model::model_errors::did_you_mean;
use model::provider_diagnostics::about_body;
use model::schema::decode::decode_body;
use terrane_protocol::provider::{ClientCapabilities, ProviderDiagnostics, ValidateListRequest};
use terrane_protocol::schema::{Block, ResourceMode, Schema};
use terrane_value::{Type, Value};

use super::apply::provision::missing_host;
use super::apply::winrm;
use super::ephemeral_use;
use super::list::arguments::{self, Arguments};
use super::plan::ignore::path_of;
use super::plan::prevention::prevention;
use super::plan::triggers;
use super::unknown_type::unknown_type;
use crate::blocks::connection::connection_schema;
use crate::change::Shape;
use crate::ids::ResourceId;
use crate::opentofu;
use crate::pending_request::PendingRequest;
use crate::ports::Ports;
use crate::run::Run;
use crate::run::module_scope::ModuleScope;
use crate::run::results::{Each, ModuleSlots};
use crate::step::expansion::{Unknown, expand};
use crate::step::{action, imports};

pub async fn run(run: &Run, block: ResourceId) -> Diagnostics {
    let describe = || {
        let addr = run.blocks.tree.resource(block).addr.to_string();
        Description::new("Validate resource configuration").with("opentofu.resource.address", addr)
    };
    let work = || validate_block(run, block);
    telemetry::traced(Detail::Steps, describe, work, Diagnostics::has_errors).await
}

async fn validate_block(run: &Run, block: ResourceId) -> Diagnostics {
    let config = run.blocks.tree.resource(block);
    let mut diagnostics = Diagnostics::new();
    let Some(schema) = run.blocks.schemas.resource(&config.provider, &config.addr) else {
        if run.blocks.schemas.provider(&config.provider).is_some() {
            diagnostics.push(unknown_type(&run.blocks, config));
        }
        return diagnostics;
    };
    let Some(instance) = run.results.module_instances(block.module).first() else { return diagnostics };
    let scope = ModuleScope::new(run, instance);
    let _ = diagnostics.take(expand(config.repetition(), &scope, Unknown::Skipped));
    if let Some(key) = config.provider_ref.as_ref().and_then(|reference| reference.key.as_ref()) {
        let _ = diagnostics.take(evaluate_to(key, &Type::String, &block_scope(run, instance, config)));
    }
    let is_later = opentofu::checks_prevention_in_plan(run.dialect());
    if let (PreventDestroy::If(expr), false) = (&config.lifecycle.prevent_destroy, is_later) {
        diagnostics.extend(prevention(expr, &scope).err().unwrap_or_default());
    }
    let value = diagnostics.take(decode_body(&config.body, &schema.block, &block_scope(run, instance, config)));
    conditions(run, instance, config, &mut diagnostics);
    let is_sound = !diagnostics.has_errors();
    let identity = diagnostics.take(imports::identity_type(run, block).await);
    diagnostics.extend(imports::validate(run, block, identity.as_ref()));
    if !is_sound {
        return diagnostics;
    }
    if let IgnoreChanges::Paths(paths) = &config.lifecycle.ignore_changes {
        paths.iter().for_each(|path| check_ignored(&schema.block, path, config, &mut diagnostics));
    }
    if opentofu::validates_triggers(run.dialect()) {
        diagnostics.extend(triggers::check(run, block.module, config));
    }
    if !matches!(config.addr.mode, ResourceMode::Ephemeral | ResourceMode::List) {
        let address = config.addr.in_module(run.blocks.tree.module(block.module).path.clone()).to_string();
        diagnostics.extend(ephemeral_use::check(&value, &schema.block, Some(&config.body), &address));
    }
    let address = config.addr.in_module(run.blocks.tree.module(block.module).path.clone()).to_string();
    let mut bare = value.unmark_deep().0;
    let mut list = None;
    if config.addr.mode == ResourceMode::List {
        let Some(arguments) = diagnostics.take(arguments::evaluated(&config.list, &scope, true)) else {
            return diagnostics;
        };
        bare = arguments::settings(&bare, &schema);
        list = Some(arguments);
    }
    match by_provider(&run.ports, config, &schema.block, bare, list, &address).await {
        Ok(found) => diagnostics.extend(about_body(found, Some(&config.body), Some(&address))),
        Err(errors) => diagnostics.extend(errors),
    }
    provisioners(run, instance, config, &schema, &mut diagnostics).await;
    diagnostics.extend(action::validate::triggers(run, instance, config, block_each(config)).await);
    diagnostics
}

/// What the provider reports about a configuration without marks.
async fn by_provider(
    ports: &Ports,
    config: &Resource,
    schema: &Block,
    bare: Value,
    list: Option<Arguments>,
    address: &str,
) -> Result<ProviderDiagnostics, Diagnostics> {
    let name = match config.addr.mode {
        ResourceMode::Managed => "ValidateResourceConfig",
        ResourceMode::Data => "ValidateDataResourceConfig",
        ResourceMode::Ephemeral => "ValidateEphemeralResourceConfig",
        ResourceMode::List => "ValidateListResourceConfig",
    };
    let answer = async {
        let (provider, kind) = (ports.providers.unconfigured(&config.provider).await?, &config.addr.kind);
        Ok(match config.addr.mode {
            ResourceMode::Managed => {
                provider.validate_resource_config(kind, bare, ClientCapabilities::of_resource(false, schema)).await
            }
            ResourceMode::Data => provider.validate_data_config(kind, bare).await,
            ResourceMode::Ephemeral => provider.validate_ephemeral_config(kind, bare).await,
            ResourceMode::List => {
                let (limit, include_object) = list
                    .map_or((Value::null(Type::Number), Value::null(Type::Bool)), |list| (list.limit, list.include));
                let kind = kind.clone();
                provider.validate_list_config(ValidateListRequest { kind, config: bare, include_object, limit }).await
            }
        })
    };
    PendingRequest { name, provider: &config.provider, subject: &address }.answered(ports, answer).await
}

/// Errors in conditions that do not depend on their results.
fn conditions(run: &Run, instance: &Arc<ModuleSlots>, config: &Resource, diagnostics: &mut Diagnostics) {
    let (before, after) = (&config.lifecycle.preconditions, &config.lifecycle.postconditions);
    for (conditions, has_self) in [(before, false), (after, true)] {
        if conditions.is_empty() {
            continue;
        }
        let mut scope = block_scope(run, instance, config);
        scope.self_value = has_self.then(Value::dynamic);
        for expr in conditions.iter().flat_map(|c| [&c.condition, &c.error_message]) {
            diagnostics.extend(evaluate(expr, &scope).1);
        }
    }
}

fn block_scope<'r>(run: &'r Run, instance: &'r Arc<ModuleSlots>, config: &Resource) -> ModuleScope<'r> {
    ModuleScope::new(run, instance).with_each(block_each(config))
}

fn block_each(config: &Resource) -> Each {
    match (&config.count, &config.for_each) {
        (Some(_), _) => Each::UnknownIndex,
        (_, Some(_)) => Each::UnknownEntry,
        _ => Each::None,
    }
}

async fn provisioners(
    run: &Run,
    instance: &Arc<ModuleSlots>,
    config: &Resource,
    schema: &Arc<Schema>,
    diagnostics: &mut Diagnostics,
) {
    let this = Value::unknown(schema.implied_type().clone());
    for block in &config.provisioners {
        let Some(shape) = run.blocks.schemas.provisioner(&block.kind) else { continue };
        let scope = block_scope(run, instance, config).with_self(this.clone());
        let value = diagnostics.take(decode_body(&block.body, &shape.block, &scope));
        if let Some(connection) = &block.connection {
            let _ = diagnostics.take(decode_body(connection, connection_schema(), &scope));
        }
        let bare = value.unmark_deep().0;
        match run.ports.providers.provisioner(&block.kind).await {
            Ok(provisioner) => {
                let found = provisioner.validate(bare).await;
                diagnostics.extend(about_body(found, Some(&block.body), None));
            }
            Err(errors) => diagnostics.extend(errors),
        }
    }
    let hostless = config.provisioners.iter().filter_map(|block| hostless(config.connection.as_ref(), block));
    // All provisioners share the connection that lacks it.
    if let Some(place) = hostless.into_iter().next() {
        diagnostics.push(missing_host(place));
    }
    if let (Some(connection), false) = (&config.connection, config.provisioners.is_empty()) {
        let scope = block_scope(run, instance, config).with_self(this);
        let _ = diagnostics.take(decode_body(connection, connection_schema(), &scope));
    }
    if !diagnostics.has_errors() {
        let scope = block_scope(run, instance, config);
        let connections = config.provisioners.iter().map(|block| block.connection.as_ref());
        diagnostics.extend(connections.filter_map(|own| winrm::warning(config.connection.as_ref(), own, &scope)));
    }
}

/// Where a provisioner has a connection without a host.
fn hostless(shared: Option<&Body>, block: &ProvisionerBlock) -> Option<Range> {
    let probe = BodySchema::new().attribute("host");
    let bodies = || [block.connection.as_ref(), shared].into_iter().flatten();
    let has_host = bodies().any(|body| body.partial_content(&probe).0.attribute("host").is_some());
    bodies().next().filter(|_| !has_host).map(Body::missing_item_range)
}

fn check_ignored(
    schema: &Block,
    path: &lang::syntax::ast::Traversal,
    config: &Resource,
    diagnostics: &mut Diagnostics,
) {
    let range = path.span.in_file(&config.range.file);
    let name = &path.root.name;
    if !schema.attributes.contains_key(name) && !schema.blocks.contains_key(name) {
        let hint = did_you_mean(name, schema.attributes.keys().chain(schema.blocks.keys()));
        let detail = format!("This object has no argument, nested block, or exported attribute named {name:?}.{hint}");
        diagnostics.push(Diagnostic::error("Unsupported attribute", detail).at(range));
        return;
    }
    if Shape::Block(schema).attribute_at(&path_of(path)).is_some_and(|a| a.computed && !a.optional) {
        let detail = format!(
            "Adding an attribute name to ignore_changes tells {PROGRAM} to ignore future changes to the argument in \
             configuration after the object has been created, retaining the value originally configured.\n\nThe attribute \
             {path} is decided by the provider alone and therefore there can be no configured value to compare with. \
             Including this attribute in ignore_changes has no effect. Remove the attribute from ignore_changes to quiet \
             this warning."
        );
        diagnostics.push(Diagnostic::warning("Redundant ignore_changes element", detail).at(config.type_range.clone()));
    }
}
