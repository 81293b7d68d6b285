//! One instance of an action, and its configuration for a caller.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::source::Range;
use model::addr::{AbsActionInstance, Provider as ProviderAddr};
use model::config::Action;
use model::plan::DeferredReason;
use model::provider_diagnostics::about_body;
use model::schema::decode::decode_body;
use terrane_protocol::provider::{
    ClientCapabilities, PlanActionRequest, Provider, ProviderDiagnostic, ProviderDiagnostics, has_errors,
};
use terrane_protocol::schema::Schema;
use terrane_value::Value;

use crate::ids::ActionId;
use crate::pending_request::PendingRequest;
use crate::run::Run;
use crate::run::module_scope::ModuleScope;
use crate::run::results::{Each, ModuleSlots};
use crate::step::resource::ephemeral_use;

pub struct ActionInstance<'r> {
    pub run: &'r Run,
    pub addr: AbsActionInstance,
    pub config: &'r Action,
    pub schema: Arc<Schema>,
    module: Arc<ModuleSlots>,
    each: Each,
}

impl<'r> ActionInstance<'r> {
    /// The instance; `place` is where it is named. The error: there is no such instance.
    pub fn find(
        run: &'r Run,
        block: ActionId,
        addr: AbsActionInstance,
        place: Option<Range>,
    ) -> Result<ActionInstance<'r>, Diagnostic> {
        let config = run.blocks.tree.action(block);
        let schema = run.blocks.schemas.action(&config.provider, &config.addr.kind);
        let Some(schema) = schema else { return Err(unknown_type(config)) };
        let found = run.results.find_module(&run.blocks.tree, &addr.module).and_then(|module| {
            let expansion = module.actions[block.index()].get()?;
            let each = expansion.each(expansion.index_of(&addr.action.key)?);
            Some((module, each))
        });
        match found {
            Some((module, each)) => Ok(ActionInstance { run, addr, config, schema, module, each }),
            None => {
                let block = crate::build::actions::config_addr(&run.blocks.tree, block.module, config);
                let detail = format!("The address {addr} does not identify an instance of {block}");
                let error = Diagnostic::error("Reference to non-existent action instance", detail);
                Err(error.at_opt(place))
            }
        }
    }

    /// The configuration with its marks; null if there is no `config` block. `caller`: the object that invokes the action.
    /// `address`: whose configuration messages say that it is.
    pub fn evaluate(&self, caller: Option<Value>, address: &str) -> (Value, Diagnostics) {
        let Some(body) = &self.config.config else {
            return (Value::null(self.schema.implied_type().clone()), Diagnostics::new());
        };
        let mut scope = ModuleScope::new(self.run, &self.module).with_each(self.each.clone());
        scope.self_value = caller;
        let (value, mut diagnostics) = decode_body(body, &self.schema.block, &scope);
        if !diagnostics.has_errors() {
            diagnostics.extend(ephemeral_use::check(&value, &self.schema.block, Some(body), address));
        }
        (value, diagnostics)
    }

    /// What the provider says of an invocation to come. `config` may be unknown in parts; `address` is for messages.
    pub async fn ask_for_plan(&self, provider: &Arc<dyn Provider>, config: &Value, address: &str) -> PlanAnswer {
        let request = PlanActionRequest {
            kind: self.config.addr.kind.clone(),
            config: config.unmark_deep().0,
            client: ClientCapabilities::of_engine(self.run.inputs.scope.deferral_allowed),
        };
        let waiting = PendingRequest { name: "PlanAction", provider: self.provider(), subject: &self.addr };
        let answer = waiting.answered(&self.run.ports, provider.plan_action(request)).await;
        let failed = has_errors(&answer.diagnostics);
        PlanAnswer {
            diagnostics: about_action(answer.diagnostics, self.config, address),
            deferred: answer.deferred.filter(|_| !failed).map(DeferredReason::from),
        }
    }

    pub fn provider(&self) -> &'r ProviderAddr {
        &self.config.provider
    }
}

/// What a provider said of an invocation.
pub struct PlanAnswer {
    pub diagnostics: Diagnostics,
    pub deferred: Option<DeferredReason>,
}

/// What a provider says of an action: at the attribute of its configuration that it names, otherwise at the action.
pub fn about_action(found: ProviderDiagnostics, action: &Action, address: &str) -> Diagnostics {
    let about = |found: ProviderDiagnostic| {
        let body = action.message_body(found.attribute.is_some());
        about_body(vec![found], Some(body), Some(address))
    };
    found.into_iter().flat_map(about).collect()
}

/// A provider without such an action.
pub fn unknown_type(action: &Action) -> Diagnostic {
    let (kind, provider) = (&action.addr.kind, action.provider.for_display());
    let detail = format!(
        "The provider {provider} does not support action type {kind:?}. Check the name, or use a version of the provider that has \
         this action; {PROGRAM} found none of that name in the provider's schema."
    );
    Diagnostic::error("Invalid action type", detail).at(action.range.clone())
}
