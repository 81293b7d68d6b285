//! Objects whose move changes their type or provider: the new provider converts them.
//!
//! Owns the call that converts them. Never decides which objects move.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use bytes::Bytes;
use model::addr::{self, AbsProviderConfig, AbsResourceInstance};
use model::config::Resource;
use model::state::{Attributes, Object, State};
use terrane_protocol::provider::{MoveRequest, ProviderDiagnostic, ProviderDiagnostics, Severity, has_errors};
use terrane_protocol::schema::Schema;
use terrane_value::text::text_bytes;
use terrane_value::{Value, json};

use crate::blocks::provider_configs;
use crate::blocks::schemas::Schemas;
use crate::blocks::tree::Tree;
use crate::change::write_only;
use crate::ids::ModuleId;
use crate::pending_request::PendingRequest;
use crate::ports::Ports;
use crate::run::object::nonconforming;

const INVALID_MOVED_OBJECT: &str = "Provider returned invalid value";

/// What an object was before a `moved` block gave it its address.
#[derive(Clone, Debug)]
pub struct MoveOrigin {
    pub kind: Arc<str>,
    pub provider: addr::Provider,
    /// The block.
    pub range: Range,
}

/// By the address that an object has now.
pub type Origins = BTreeMap<AbsResourceInstance, MoveOrigin>;

/// Lets the providers of new addresses convert the objects that were of another type or provider. Objects whose new address
/// is not in the configuration stay as they are.
pub async fn convert(
    tree: &Tree,
    schemas: &Schemas,
    state: &mut State,
    origins: Origins,
    ports: &Ports,
) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for (addr, origin) in &origins {
        let Some(block) = tree.find_resource(&addr.config()) else { continue };
        let resource = tree.resource(block);
        if *origin.kind == *addr.kind() && origin.provider == resource.provider {
            continue;
        }
        let Some(schema) = schemas.resource(&resource.provider, &resource.addr) else { continue };
        let Some(object) = state.instance(addr).and_then(|instance| instance.current.clone()) else { continue };
        let moved = Crossing { addr, origin, provider: &resource.provider, object: &object, schema: &schema };
        match moved.converted(schemas, ports).await {
            Ok((object, warnings)) => {
                diagnostics.extend(warnings);
                replace(tree, block.module, resource, state, addr, object);
            }
            Err(problems) => diagnostics.extend(problems),
        }
    }
    diagnostics
}

/// An object whose new address is of another type or provider.
struct Crossing<'a> {
    addr: &'a AbsResourceInstance,
    origin: &'a MoveOrigin,
    /// Of the new address.
    provider: &'a addr::Provider,
    object: &'a Object,
    schema: &'a Schema,
}

impl Crossing<'_> {
    async fn converted(&self, schemas: &Schemas, ports: &Ports) -> Result<(Object, Diagnostics), Diagnostics> {
        let provider = self.provider;
        if !schemas.provider(provider).is_some_and(|of| of.capabilities().move_resource_state) {
            let shown = provider.to_string();
            return Err(self.at(
                "Unsupported `moved` across resource types",
                format!(
                    "The provider {shown:?} does not support moved operations across resource types and providers."
                ),
            ));
        }
        let request = self.request()?;
        let waiting = PendingRequest { name: "MoveResourceState", provider, subject: self.addr };
        let answer = async {
            let provider = ports.providers.unconfigured(provider).await?;
            Ok::<_, Diagnostics>(provider.move_resource_state(request).await)
        };
        let response = waiting.answered(ports, answer).await?;
        let failed = has_errors(&response.diagnostics);
        let warnings = to_diagnostics(response.diagnostics);
        if failed {
            return Err(warnings);
        }
        self.check(&response.state)?;
        // As text, which the provider upgrades like any stored object.
        let ty = self.schema.implied_type();
        let attributes = match json::to_json(&response.state, ty) {
            Ok(text) => Attributes::Json(text.into()),
            Err(_) => Attributes::Value { value: response.state, ty: ty.clone() },
        };
        let sensitive = Arc::from([]);
        let (schema_version, private) = (self.schema.version, response.private);
        let object = Object { schema_version, attributes, private, sensitive, identity: None, ..self.object.clone() };
        Ok((object, warnings))
    }

    fn at(&self, summary: &str, detail: String) -> Diagnostics {
        Diagnostic::error(summary, detail).at(self.origin.range.clone()).into()
    }

    fn request(&self) -> Result<MoveRequest, Diagnostics> {
        let (addr, origin, object) = (self.addr, self.origin, self.object);
        let source_state: Bytes = match &object.attributes {
            Attributes::Json(text) => text_bytes(text.clone()),
            Attributes::Value { value, ty } => json::to_json(value, ty).unwrap_or_default().into(),
            Attributes::Flat(_) => {
                let from = &origin.kind;
                return Err(self.at(
                    "Object of an old format cannot change its type",
                    format!(
                        "The object of {addr} was stored by a version of Terraform before 0.12, so that only the provider of \
                         {from} can read it. Apply the configuration once without the moved block."
                    ),
                ));
            }
        };
        Ok(MoveRequest {
            source_provider: origin.provider.to_string(),
            source_kind: origin.kind.clone(),
            source_version: object.schema_version,
            source_state,
            source_identity: None,
            source_private: object.private.clone(),
            target_kind: addr.kind().into(),
        })
    }

    /// Whether what the provider made of the object can be kept.
    fn check(&self, state: &Value) -> Result<(), Diagnostics> {
        let (addr, provider) = (self.addr, self.provider);
        if state.is_null() {
            return Err(self.at(
                INVALID_MOVED_OBJECT,
                format!(
                    "The provider returned an invalid value during an across type move operation to {addr}. This is a bug in the \
                     relevant provider; Please report it."
                ),
            ));
        }
        if let Some(wrong) = invalid(state, self.schema) {
            return Err(self.at(
                INVALID_MOVED_OBJECT,
                format!(
                    "The provider provider[{:?}] returned an invalid value during an across type move operation: {wrong}. This is \
                     a bug in the relevant provider; Please report it.",
                    provider.to_string()
                ),
            ));
        }
        let config = AbsProviderConfig::root(provider.clone()).to_string();
        let written = write_only::errors(&self.schema.block, state, addr, INVALID_MOVED_OBJECT, &|attribute| {
            format!(
                "The provider {config:?} returned a value for the write-only attribute {attribute} during an across type move \
                 operation to {addr}."
            )
        });
        if written.has_errors() { Err(written) } else { Ok(()) }
    }
}

/// Why a moved object cannot be kept.
fn invalid(state: &Value, schema: &Schema) -> Option<String> {
    let unknown = || (!state.is_wholly_known()).then(|| "The returned state contains unknown values".to_owned());
    nonconforming(state, schema.implied_type()).or_else(unknown)
}

/// What a provider says of an object that no block describes yet.
fn to_diagnostics(found: ProviderDiagnostics) -> Diagnostics {
    let diagnostic = |said: ProviderDiagnostic| match said.severity {
        Severity::Error => Diagnostic::error(said.summary, said.detail),
        Severity::Warning => Diagnostic::warning(said.summary, said.detail),
    };
    found.into_iter().map(diagnostic).collect()
}

fn replace(
    tree: &Tree,
    module: ModuleId,
    resource: &Resource,
    state: &mut State,
    addr: &AbsResourceInstance,
    object: Object,
) {
    let alias = resource.provider_ref.as_ref().and_then(|reference| reference.addr.alias.as_deref());
    let provider = provider_configs::resolve(tree, module, &resource.provider, alias);
    let Some(of_state) = state.resources.get_mut(&addr.containing_resource()).map(Arc::make_mut) else { return };
    if let Some(provider) = provider {
        of_state.hand_over(provider);
    }
    if let Some(instance) = of_state.instances.get_mut(addr.key()) {
        Arc::make_mut(instance).current = Some(object);
    }
}
