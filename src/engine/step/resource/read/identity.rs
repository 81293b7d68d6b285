//! Identities of objects: stored ones are brought to the current schema, so that requests can contain them.

use base::diag::{Diagnostic, Diagnostics};
use model::provider_diagnostics::about_body;
use terrane_protocol::provider::{Identity, IdentitySchema, has_errors};

use crate::step::resource::Instance;

/// The request in the plugin protocol.
pub const IDENTITY_SCHEMAS: &str = "GetResourceIdentitySchemas";

/// The schema of identities of the instance's type. None: the type has none.
pub async fn schema(instance: &Instance<'_>) -> Result<Option<IdentitySchema>, Diagnostics> {
    let asked = instance.provider.identity_schema(instance.addr.kind());
    let found = instance.answered(IDENTITY_SCHEMAS, asked).await;
    found.map_err(|errors| about_body(errors, None, Some(&instance.addr.to_string())))
}

/// A stored identity in the form of the current schema.
pub async fn upgraded(instance: &Instance<'_>, stored: Identity) -> Result<Identity, Diagnostics> {
    let schema = schema(instance).await?.unwrap_or_default();
    if stored.schema_version > schema.version {
        return Err(instance.newer_version().into());
    }
    if stored.schema_version < schema.version {
        let asked = instance.provider.upgrade_resource_identity(instance.addr.kind(), stored);
        let (upgraded, found) = instance.answered("UpgradeResourceIdentity", asked).await;
        let failed = has_errors(&found);
        let found = instance.about(found);
        return match upgraded.filter(|_| !failed) {
            Some(upgraded) => Ok(upgraded),
            None => Err(found),
        };
    }
    // A type without identities any more: nothing reads what is stored.
    if schema.attributes.is_empty() {
        return Ok(stored);
    }
    match stored.to_value(&schema) {
        Ok(_) => Ok(stored),
        Err(why) => {
            let summary = format!(
                "failed to decode identity: {why}. This is most likely a bug in the Provider, providers must not change the \
                 identity schema without updating the identity schema version"
            );
            Err(Diagnostic::error(summary, "").into())
        }
    }
}
