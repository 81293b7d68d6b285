//! Provider configurations: evaluated, validated, and given to a process.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::SourceFile;
use base::telemetry::{self, Description, Detail};
use lang::eval::dynamic::Variable;
use lang::syntax::ast::Body;
use lang::syntax::body::BodySchema;
use model::addr::AbsProviderConfig;
use model::config::test_file::load::is_test_file;
use model::provider_diagnostics::about_body;
use model::schema::decode::{body_variables, decode_body};
use terrane_protocol::provider::{NO_SCHEMAS, ProviderDiagnostics, has_errors};
use terrane_protocol::schema::{Block, Schema, StaticSchemas};
use terrane_value::{Marks, Value};

use crate::blocks::Blocks;
use crate::blocks::references::Need;
use crate::engine_errors;
use crate::graph::Node;
use crate::ids::{NodeId, ProviderId, ROOT};
use crate::pending_request::PendingRequest;
use crate::policy;
use crate::ports::{Configuring, Ports};
use crate::run::module_scope::ModuleScope;
use crate::run::results::{Each, ModuleSlots};
use crate::run::{Run, Verb};
use crate::testing::{TestPlace, TestScope};

const INVALID_CONFIGURATION: &str = "Invalid provider configuration";

pub async fn run(run: &Run, node: NodeId, id: ProviderId) -> Diagnostics {
    let describe = || {
        let addr = &run.blocks.providers.configs.get(id).addr;
        let validates = run.verb == Verb::Validate;
        Description::new(if validates { "Validate provider configuration" } else { "Configure provider" })
            .with("opentofu.provider.source", addr.provider.to_string())
            .with("opentofu.provider_instance.address", addr.to_string())
    };
    telemetry::traced(Detail::Steps, describe, || run_config(run, node, id), Diagnostics::has_errors).await
}

async fn run_config(run: &Run, node: NodeId, id: ProviderId) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let config = run.blocks.providers.configs.get(id);
    if let Some(missing) = not_evaluated(run, node) {
        return engine_errors::configured_too_early(&config.addr.to_string(), &missing).into();
    }
    let block = run.blocks.providers.configs.block(&run.blocks.tree, id);
    let schema = match schema(&run.blocks, id) {
        Ok(schema) => schema,
        Err(error) => return error.into(),
    };
    let body = block.map(|b| b.body.clone());
    if run.verb == Verb::Validate && body.as_ref().is_some_and(is_empty) {
        // What is missing is found when the provider is configured.
        return diagnostics;
    }
    let value = match (&body, config.block) {
        (Some(body), Some((module, _))) => {
            // A module with provider blocks has one instance; where it has none, nothing uses the configuration.
            let Some(instance) = run.results.module_instances(module).first() else { return diagnostics };
            // Credentials in files may be renewed between plan and apply.
            if is_test_file(body.file()) {
                diagnostics.take(decode_test_block(run, body, &schema.block))
            } else {
                let scope = ModuleScope::new(run, instance).with_each(each_of(&run.blocks, id)).with_changing_files();
                diagnostics.take(decode_body(body, &schema.block, &scope))
            }
        }
        _ => {
            let Some(root) = run.results.module_instances(ROOT).first() else { return diagnostics };
            let (value, missing) =
                decode_body(&Body::empty(&SourceFile::new("", "")), &schema.block, &ModuleScope::new(run, root));
            if missing.has_errors() && run.verb == Verb::Validate {
                // A better error is reported when the provider is needed.
                return diagnostics;
            }
            if missing.has_errors() {
                diagnostics.push(requires_configuration(&run.blocks, id));
                return diagnostics;
            }
            value
        }
    };
    if diagnostics.has_errors() {
        return diagnostics;
    }
    if run.verb != Verb::Validate {
        diagnostics.extend(policy::at_apply::before_configuring(run, id, &value));
        if diagnostics.has_errors() {
            return diagnostics;
        }
    }
    let (bare, marks) = value.unmark_deep();
    let address = config.addr.to_string();
    if run.verb == Verb::Import && !bare.is_wholly_known() {
        diagnostics.push(not_known(&address).at_opt(block.map(|b| b.range.clone())));
        return diagnostics;
    }
    if run.verb == Verb::Validate {
        if let (Some(body), Some(_)) = (&body, block) {
            match validate(&run.ports, &config.addr, bare).await {
                Ok(found) => {
                    diagnostics.extend(about_body(found, Some(body), Some(&address)));
                }
                Err(errors) => diagnostics.extend(errors),
            }
        }
        return diagnostics;
    }
    diagnostics.extend(configure(run, id, bare, marks, body.as_ref()).await);
    diagnostics
}

/// The values of a block of a test file. An error in a name is the only one.
fn decode_test_block(run: &Run, body: &Body, schema: &Block) -> (Value, Diagnostics) {
    let scope = TestScope { names: &run.ports.doubles.names, place: TestPlace::Provider, host: &*run.ports.host };
    let mut problems = Diagnostics::new();
    for Variable { traversal, expr, .. } in body_variables(body, schema) {
        problems.extend(scope.check(&traversal, &expr.file));
    }
    if problems.has_errors() { (Value::dynamic(), problems) } else { decode_body(body, schema, &scope) }
}

/// What the block refers to and what has no value, not even an unknown one: a provider that is configured without it could serve
/// another account than the one meant.
fn not_evaluated(run: &Run, node: NodeId) -> Option<String> {
    if run.verb == Verb::Validate {
        return None;
    }
    let needs = run.schedule.needs.get(node.index())?;
    let missing = needs.on.iter().find_map(|need| {
        let (module, node) = match *need {
            Need::Variable(module, index) => (module, Node::Variable { module, index }),
            Need::Local(module, index) => (module, Node::Local { module, index }),
            Need::Output(module, index) => (module, Node::Output { module, index }),
            Need::Resource(id, _) => (id.module, Node::Resource(id)),
            Need::Module(module) => (module, Node::Close { module }),
            Need::Action(..) => return None,
        };
        let has_value = |slots: &Arc<ModuleSlots>| match node {
            Node::Variable { index, .. } => slots.variables[index as usize].get().is_some(),
            Node::Local { index, .. } => slots.locals[index as usize].get().is_some(),
            Node::Output { index, .. } => slots.outputs[index as usize].get().is_some(),
            Node::Resource(id) => slots.resources[id.index()].get().is_some(),
            _ => slots.outputs.iter().all(|output| output.get().is_some()),
        };
        (!run.results.module_instances(module).iter().all(has_value)).then_some(node)
    })?;
    Some(missing.name(&run.blocks.tree, &|_| String::new()))
}

/// True for a block that configures nothing: the provider's own defaults count.
fn is_empty(body: &Body) -> bool {
    body.content(&BodySchema::new()).1.is_empty()
}

/// What `each` means in one instance of a configuration with `for_each`.
fn each_of(blocks: &Blocks, id: ProviderId) -> Each {
    let instances = blocks.providers.configs.block(&blocks.tree, id).and_then(|block| block.instances.as_ref());
    let key = blocks.providers.configs.get(id).addr.key.as_ref();
    let found = instances.zip(key).and_then(|(all, key)| all.iter().find(|(k, _)| k == key));
    found.map_or(Each::None, |(key, value)| Each::Entry(key.clone(), value.clone()))
}

async fn configure(run: &Run, id: ProviderId, config: Value, marks: Marks, body: Option<&Body>) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let addr = &run.blocks.providers.configs.get(id).addr;
    let address = addr.to_string();
    match validate(&run.ports, addr, config.clone()).await {
        Ok(found) => {
            let failed = has_errors(&found);
            diagnostics.extend(about_body(found, body, Some(&address)));
            if failed {
                if body.is_none() {
                    diagnostics.push(requires_configuration(&run.blocks, id));
                }
                return diagnostics;
            }
        }
        Err(errors) => {
            diagnostics.extend(errors);
            return diagnostics;
        }
    }
    let reusable = !marks.contains(Marks::EPHEMERAL);
    let how = Configuring { reusable, deferral_allowed: run.is_apply() || run.inputs.scope.deferral_allowed };
    let request = PendingRequest { name: "ConfigureProvider", provider: &addr.provider, subject: addr };
    match request.answered(&run.ports, run.ports.providers.configured(addr, config, how)).await {
        Ok((provider, found)) => {
            let failed = has_errors(&found);
            diagnostics.extend(about_body(found, body, Some(&address)));
            if failed && body.is_none() {
                diagnostics.push(requires_configuration(&run.blocks, id));
            }
            if !failed {
                run.results.set_provider(id, provider);
            }
        }
        Err(errors) => diagnostics.extend(errors),
    }
    diagnostics
}

/// What the provider reports about its configuration.
async fn validate(ports: &Ports, addr: &AbsProviderConfig, config: Value) -> Result<ProviderDiagnostics, Diagnostics> {
    let answer = async {
        let provider = ports.providers.unconfigured(&addr.provider).await?;
        Ok(provider.validate_provider_config(config).await.1)
    };
    let request = PendingRequest { name: "ValidateProviderConfig", provider: &addr.provider, subject: addr };
    request.answered(ports, answer).await
}

fn schema(blocks: &Blocks, id: ProviderId) -> Result<Arc<Schema>, Diagnostic> {
    let provider = &blocks.providers.configs.get(id).addr.provider;
    match blocks.schemas.provider(provider) {
        Some(schemas) => {
            schemas.provider().map_err(|error| Diagnostic::error(NO_SCHEMAS, format!("Provider {provider}: {error}")))
        }
        None => Ok(StaticSchemas::default().provider),
    }
}

/// The error of a configuration that the import command cannot use: it applies nothing, so the values stay unknown.
fn not_known(address: &str) -> Diagnostic {
    let detail = format!("The configuration for {address} depends on values that cannot be determined until apply.");
    Diagnostic::error(INVALID_CONFIGURATION, detail)
}

fn requires_configuration(blocks: &Blocks, id: ProviderId) -> Diagnostic {
    let provider = &blocks.providers.configs.get(id).addr.provider;
    Diagnostic::error(
        INVALID_CONFIGURATION,
        format!(
            "Provider \"{provider}\" requires explicit configuration. Add a provider block to the root module and configure \
             the provider's required arguments as described in the provider documentation.\n"
        ),
    )
}
