//! Upgrading: the provider converts a stored object to its current schema.

use base::diag::{Diagnostic, Diagnostics};
use model::state::{Attributes, Object};
use terrane_protocol::provider::{RawState, UpgradeRequest, has_errors};
use terrane_protocol::schema::{ResourceMode, Schema};
use terrane_value::json;
use terrane_value::surplus::without_surplus;
use terrane_value::text::text_bytes;

use super::identity;
use crate::change::write_only;
use crate::engine_errors::INVALID_OBJECT;
use crate::run::object::{Stored, decode, mark, nonconforming, with_value};
use crate::step::resource::Instance;

const INVALID_UPGRADE: &str = "Invalid resource state upgrade";

/// The object as a value of the current schema; its value is null if the provider returns null. None with errors.
pub async fn upgrade(instance: &Instance<'_>, object: &Object) -> (Option<Stored>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let (addr, schema) = (&instance.addr, &instance.schema);
    if object.schema_version > schema.version {
        diagnostics.push(instance.newer_version());
        return (None, diagnostics);
    }
    let stripped = current_without_surplus(object, schema);
    let object = stripped.as_ref().unwrap_or(object);
    let raw = match &object.attributes {
        Attributes::Json(text) if addr.mode() == ResourceMode::Managed => RawState::Json(text_bytes(text.clone())),
        Attributes::Flat(entries) => RawState::Flat(entries.to_vec()),
        // Known since earlier in this run. The reference keeps no values between its walks, so that providers are used to
        // being asked again. Built-in providers return such values unchanged.
        Attributes::Value { value, ty } if needs_provider(instance, object) => match json::to_json(value, ty) {
            Ok(text) => RawState::Json(text.into_bytes().into()),
            Err(error) => {
                return (None, Diagnostic::error(INVALID_OBJECT, error.to_string()).about(addr.to_string()).into());
            }
        },
        _ => {
            return match decode(object, schema) {
                Ok(stored) => (Some(stored), diagnostics),
                Err(error) => (None, error.about(addr.to_string()).into()),
            };
        }
    };
    let request = UpgradeRequest { kind: addr.kind().into(), version: object.schema_version, raw };
    let answer = instance.provider.upgrade_resource_state(request);
    let (value, found) = instance.answered("UpgradeResourceState", answer).await;
    let failed = has_errors(&found);
    diagnostics.extend(instance.about(found));
    if failed {
        return (None, diagnostics);
    }
    let unknown = || (!value.is_wholly_known()).then(|| "The returned state contains unknown values".to_owned());
    if let Some(wrong) = nonconforming(&value, schema.implied_type()).or_else(unknown) {
        diagnostics.push(Diagnostic::error(
            INVALID_UPGRADE,
            format!(
                "The {} provider upgraded the state for {addr} from a previous version, but produced an invalid result: \
                 {wrong}.",
                addr.resource.resource.implied_provider()
            ),
        ));
        return (None, diagnostics);
    }
    let provider = addr.resource.resource.implied_provider();
    let written = write_only::errors(&schema.block, &value, addr, INVALID_UPGRADE, &|attribute| {
        format!(
            "While attempting to upgrade state of resource {addr}, the provider {provider:?} returned a value for the \
             write-only attribute {attribute}."
        )
    });
    if written.has_errors() {
        diagnostics.extend(written);
        return (None, diagnostics);
    }
    // An object that is as it was known takes no memory a second time.
    let value = match &object.attributes {
        Attributes::Value { value: known, .. } if *known == value => known.clone(),
        _ => value,
    };
    let mut stored = with_value(object, mark(&value, &object.sensitive, &schema.block));
    if let Some(identity) = stored.identity.take() {
        match identity::upgraded(instance, identity).await {
            Ok(identity) => stored.identity = Some(identity),
            Err(found) => {
                diagnostics.extend(found);
                return (None, diagnostics);
            }
        }
    }
    (Some(stored), diagnostics)
}

/// Whether the provider is asked about an object whose value is known: built-in providers return values of the current schema as they are.
fn needs_provider(instance: &Instance<'_>, object: &Object) -> bool {
    let is_current = object.schema_version == instance.schema.version;
    instance.addr.mode() == ResourceMode::Managed && !(is_current && instance.provider_addr.provider.is_builtin())
}

/// The object without attributes that the provider has removed, if it is of the current version: the provider is not asked
/// what becomes of them. None if there are none.
fn current_without_surplus(object: &Object, schema: &Schema) -> Option<Object> {
    let Attributes::Json(text) = &object.attributes else { return None };
    let stripped =
        (object.schema_version == schema.version).then(|| without_surplus(text, schema.implied_type()))??;
    Some(Object { attributes: Attributes::Json(stripped.into()), ..object.clone() })
}
