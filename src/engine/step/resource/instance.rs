//! One resource instance with all that the steps of its pipeline need.

use std::sync::{Arc, OnceLock};

use base::diag::{Diagnostic, Diagnostics};
use base::telemetry::Description;
use lang::syntax::ast::Body;
use model::addr::{AbsProviderConfig, AbsResourceInstance};
use model::config::{Check, ProvisionerBlock, Resource};
use model::plan::DeferredReason;
use model::provider_diagnostics::about_body;
use model::schema::decode::decode_body;
use terrane_protocol::provider::{Provider, no_provider_meta};
use terrane_protocol::schema::Schema;
use terrane_value::Value;

use super::unknown_type::unknown_type;
use crate::blocks::references::{Gatherer, refers_to_itself};
use crate::change::write_only;
use crate::coverage::PointKind;
use crate::engine_errors::NOT_CONFIGURED;
use crate::graph::Task;
use crate::ids::{ProviderId, ResourceId};
use crate::mock::OverriddenResource;
use crate::pending_request::PendingRequest;
use crate::run::module_scope::ModuleScope;
use crate::run::results::{Each, ModuleSlots};
use crate::run::{Run, Verb};
use crate::testing::random_of;

/// A span with the instance that it is about.
pub fn with_instance(span: Description, addr: &AbsResourceInstance) -> Description {
    span.with("opentofu.resource_instance.address", addr.to_string())
        .with("opentofu.resource.type", addr.resource.resource.kind.to_string())
}

/// One resource instance with all that its steps need.
pub struct Instance<'r> {
    pub run: &'r Run,
    pub addr: AbsResourceInstance,
    /// The block; none for orphans of blocks that are gone.
    pub config: Option<&'r Resource>,
    pub block: Option<ResourceId>,
    /// The slots of its module instance; none where that is gone.
    pub module: Option<Arc<ModuleSlots>>,
    pub each: Each,
    pub provider: Arc<dyn Provider>,
    pub provider_addr: &'r AbsProviderConfig,
    pub schema: Arc<Schema>,
    pub create_before_destroy: bool,
    /// Why the provider deferred a request about the instance; the first reason counts.
    pub deferral: OnceLock<DeferredReason>,
}

impl<'r> Instance<'r> {
    /// The instance, or why its provider cannot serve it.
    pub fn new(
        run: &'r Run,
        addr: AbsResourceInstance,
        block: Option<ResourceId>,
        provider: ProviderId,
        module: Option<Arc<ModuleSlots>>,
        each: Each,
    ) -> Result<Instance<'r>, Diagnostic> {
        let provider_addr = &run.blocks.providers.configs.get(provider).addr;
        let schema = run.blocks.schemas.kind(&provider_addr.provider, addr.mode(), addr.kind());
        let Some(schema) = schema else {
            return Err(match block {
                Some(block) => unknown_type(&run.blocks, run.blocks.tree.resource(block)),
                None => unsupported(&addr, provider_addr),
            });
        };
        let Some(running) = run.results.provider(provider) else {
            return Err(not_configured(&addr, provider_addr));
        };
        let running = as_overridden(run, &addr, provider_addr, &schema, running);
        let create_before_destroy =
            block.and_then(|b| run.blocks.order.create_before_destroy.get(&b).copied()).unwrap_or(false);
        Ok(Instance {
            run,
            addr,
            config: block.map(|block| run.blocks.tree.resource(block)),
            block,
            module,
            each,
            provider: running,
            provider_addr,
            schema,
            create_before_destroy,
            deferral: OnceLock::new(),
        })
    }

    /// The instance that a task of apply changes.
    pub fn of_task(
        run: &'r Run,
        task: &Task,
        module: Option<Arc<ModuleSlots>>,
        each: Each,
    ) -> Result<Instance<'r>, Diagnostic> {
        let change = &task.change;
        match task.provider {
            Some(provider) => Instance::new(run, change.addr.clone(), task.block, provider, module, each),
            None => Err(not_configured(&change.addr, &change.provider)),
        }
    }

    /// Waits for the provider's answer to a request about this instance; `request` is its name in the plugin protocol.
    pub async fn answered<T>(&self, request: &'static str, answer: impl Future<Output = T>) -> T {
        let request = PendingRequest { name: request, provider: &self.provider_addr.provider, subject: &self.addr };
        request.answered(&self.run.ports, answer).await
    }

    /// True for an object that is left alone where it would be destroyed, by its block.
    pub fn keep(&self) -> bool {
        self.config.is_some_and(|config| config.lifecycle.keep)
    }

    /// The error of a `destroy` argument that OpenTofu reports only when it plans.
    pub fn check_destroy_argument(&self) -> Diagnostics {
        let range = self.config.and_then(|config| config.lifecycle.invalid_destroy.clone());
        let detail = "The lifecycle destroy expression must be a boolean constant.";
        range
            .map(|range| Diagnostic::error("Invalid lifecycle destroy expression", detail).at(range))
            .into_iter()
            .collect()
    }

    /// The names that the block's expressions see; none where the module instance is gone.
    pub fn scope(&self) -> Option<ModuleScope<'_>> {
        Some(ModuleScope::new(self.run, self.module.as_ref()?).with_each(self.each.clone()))
    }

    /// The configuration as a value, marks and unknowns included.
    pub fn evaluate(&self) -> (Value, Diagnostics) {
        if let Some(mistake) = self.refers_to_itself() {
            return (self.null(), mistake.into());
        }
        match (self.config, self.scope()) {
            (Some(config), Some(scope)) => {
                if let Some(coverage) = &self.run.results.coverage {
                    coverage.record_block(PointKind::Resource, &config.range);
                }
                decode_body(&config.body, &self.schema.block, &scope)
            }
            _ => (Value::null(self.schema.implied_type().clone()), Diagnostics::new()),
        }
    }

    /// The body names this very instance by its key.
    fn refers_to_itself(&self) -> Option<Diagnostic> {
        let (config, block) = (self.config?, self.block?);
        if self.run.own_keys(block).is_empty() {
            return None;
        }
        let mut gatherer = Gatherer::new(&self.run.blocks.tree, &self.run.blocks.schemas, block.module);
        gatherer.own = Some(config.addr.clone());
        gatherer.body(&config.body, &self.schema.block);
        let (_, range) = gatherer.own_keys.iter().find(|(key, _)| key == self.addr.key())?;
        Some(refers_to_itself(&self.addr.to_string(), range))
    }

    /// What the provider said, at the places of the configuration.
    pub fn about(&self, found: terrane_protocol::provider::ProviderDiagnostics) -> Diagnostics {
        if found.is_empty() {
            return Diagnostics::new();
        }
        let address = self.addr.to_string();
        about_body(found, self.config.map(|c| &c.body), Some(&address))
    }

    /// The provisioners that the block declares, or the `removed` block in its place, with the connection that they share.
    pub fn provisioners(&self) -> (&'r [ProvisionerBlock], Option<&'r Body>) {
        let removed = || self.run.blocks.removed.find(&self.addr.config());
        match (self.config, self.config.is_none().then(removed).flatten()) {
            (Some(config), _) => (&config.provisioners, config.connection.as_ref()),
            (None, Some(removed)) => (&removed.provisioners, removed.connection.as_ref()),
            (None, None) => (&[], None),
        }
    }

    /// The `provider_meta` of the module, for the provider.
    pub fn provider_meta(&self) -> (Value, Diagnostics) {
        let (none, fine) = (no_provider_meta(), Diagnostics::new());
        let Some(module) = &self.module else { return (none, fine) };
        let metas = &self.run.blocks.tree.module(module.id).provider_metas;
        if metas.is_empty() {
            return (none, fine);
        }
        let local = self.run.blocks.tree.module(module.id).local_name_of(&self.provider_addr.provider);
        let schema = self
            .run
            .blocks
            .schemas
            .provider(&self.provider_addr.provider)
            .and_then(|s| s.provider_meta().ok().flatten());
        match (metas.get(&local), schema, self.scope()) {
            (Some(body), Some(schema), Some(scope)) => {
                let (value, found) = decode_body(body, &schema.block, &scope);
                (value.unmark_deep().0, found)
            }
            _ => (none, fine),
        }
    }

    /// The check block that a data source stands in.
    pub fn check_around(&self) -> Option<&'r Check> {
        self.block.and_then(|block| self.run.blocks.tree.check_around(block))
    }

    pub fn null(&self) -> Value {
        Value::null(self.schema.implied_type().clone())
    }

    /// Errors for the write-only attributes to which a provider gave a value; `when`: at which step ("during planning").
    pub fn check_write_only(&self, summary: &str, value: &Value, when: &str) -> Diagnostics {
        let provider = self.provider_addr.to_string();
        write_only::errors(&self.schema.block, value, &self.addr, summary, &|attribute| {
            format!("Provider {provider:?} returned a value for the write-only attribute {attribute} {when}.")
        })
    }

    /// The error of an object, or of its identity, with a newer version than that of the provider's schema.
    pub fn newer_version(&self) -> Diagnostic {
        let (addr, provider) = (&self.addr, self.addr.resource.resource.implied_provider());
        let detail = format!(
            "The current state of {addr} was created by a newer provider version than is currently selected. Upgrade the \
             {provider} provider to work with this state."
        );
        Diagnostic::error("Resource instance managed by newer provider version", detail)
    }

    /// An error that is the provider's fault.
    pub fn bug(&self, summary: &str, what: String) -> Diagnostic {
        Diagnostic::error(
            summary,
            format!(
                "{what}\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker."
            ),
        )
    }
}

/// The provider as the instance sees it: of one that a test overrides, it makes up the object.
fn as_overridden(
    run: &Run,
    addr: &AbsResourceInstance,
    provider: &AbsProviderConfig,
    schema: &Arc<Schema>,
    running: Arc<dyn Provider>,
) -> Arc<dyn Provider> {
    let overrides = &run.ports.doubles.overrides;
    match overrides.resource(addr, provider) {
        Some(given) if run.verb != Verb::Validate => {
            let random = random_of(run.ports.host.clone());
            let resource = OverriddenResource::new(running, schema.clone(), given.clone(), random);
            Arc::new(resource.with_key(addr.key().clone()))
        }
        _ => running,
    }
}

fn unsupported(addr: &AbsResourceInstance, provider: &AbsProviderConfig) -> Diagnostic {
    let detail =
        format!("The provider {} does not support resource type {:?}.", provider.provider.for_display(), addr.kind());
    Diagnostic::error("Invalid resource type", detail).about(addr.to_string())
}

fn not_configured(addr: &AbsResourceInstance, provider: &AbsProviderConfig) -> Diagnostic {
    let detail = format!("The provider configuration {provider} is not available.");
    Diagnostic::error(NOT_CONFIGURED, detail).about(addr.to_string())
}
