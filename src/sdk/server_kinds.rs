//! The calls of list resources, actions and identities.

use terrane_protocol::provider::{
    Identity, InvokeActionRequest, ListRequest, ListSink, PlanActionRequest, PlanActionResponse, ProviderDiagnostics,
    ValidateListRequest,
};
use terrane_value::Value;

use super::action::Progress;
use super::error::Error;
use super::list::Results;
use super::panic::guarded;
use super::provider::Provider;
use super::server::{ACTION, RESOURCE, Server, diagnostics, find, identity_message};

const LIST: &str = "List Resource";

impl<P: Provider> Server<P> {
    pub(super) async fn validate_list(&self, request: ValidateListRequest) -> ProviderDiagnostics {
        let mut found = Vec::new();
        let checks = async {
            find(&self.types().lists, LIST, &request.kind)?.validate(request.config, &mut found);
            Ok(())
        };
        let error = self.run("ValidateListResourceConfig", checks).await.err();
        found.extend(error.into_iter().flat_map(|error| error.diagnostics));
        found
    }

    pub(super) async fn list(&self, request: ListRequest, sink: &dyn ListSink) -> ProviderDiagnostics {
        let mut context = self.context(&[], Value::null_dynamic());
        let listed = self.run("ListResource", async {
            let list = find(&self.types().lists, LIST, &request.kind)?;
            let identity = find(&self.types().resources, RESOURCE, &request.kind)?.identity_schema();
            let mut results = Results { sink, identity, left: request.limit };
            list.list(&mut context, request, &mut results).await
        });
        let error = listed.await.err();
        diagnostics(context, error)
    }

    pub(super) async fn validate_action(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        let mut found = Vec::new();
        let checks = async {
            find(&self.types().actions, ACTION, kind)?.validate(config, &mut found);
            Ok(())
        };
        let error = self.run("ValidateActionConfig", checks).await.err();
        found.extend(error.into_iter().flat_map(|error| error.diagnostics));
        found
    }

    pub(super) async fn plan_one_action(&self, request: PlanActionRequest) -> PlanActionResponse {
        let mut context = self.context(&[], Value::null_dynamic());
        context.deferral_allowed = request.client.deferral_allowed;
        let planned = self.run("PlanAction", async {
            find(&self.types().actions, ACTION, &request.kind)?.plan(&mut context, request.config).await
        });
        let error = planned.await.err();
        PlanActionResponse { deferred: context.deferred, diagnostics: diagnostics(context, error) }
    }

    pub(super) async fn invoke(&self, request: InvokeActionRequest) -> ProviderDiagnostics {
        let mut context = self.context(&[], Value::null_dynamic());
        let progress = Progress { output: request.progress };
        // Never dropped in the middle: an action changes things.
        let invoked = guarded("InvokeAction", async {
            find(&self.types().actions, ACTION, &request.kind)?.invoke(&mut context, request.config, &progress).await
        });
        let error = invoked.await.err();
        diagnostics(context, error)
    }

    pub(super) async fn upgrade_identity(
        &self,
        kind: &str,
        stored: Identity,
    ) -> (Option<Identity>, ProviderDiagnostics) {
        let mut context = self.context(&[], Value::null_dynamic());
        let upgraded = self.run("UpgradeResourceIdentity", async {
            let resource = find(&self.types().resources, RESOURCE, kind)?;
            let Some(schema) = resource.identity_schema() else {
                let detail = format!("The resource type {kind:?} has no identity.");
                return Err(Error::new("Unable to Upgrade Resource Identity", detail));
            };
            if schema.version == stored.schema_version {
                return Ok(Some(stored));
            }
            let value = resource.upgrade_identity(&mut context, stored.schema_version, &stored.json).await?;
            Ok(identity_message(Some(schema), Some(&value)))
        });
        match upgraded.await {
            Ok(identity) => (identity, diagnostics(context, None)),
            Err(error) => (None, diagnostics(context, Some(error))),
        }
    }
}
