//! The settings of the `gcs` backend: their schema, what is wrong with some, and keys and credentials.

use base::env;
use base::secret::Secret;
use net::google::{self, path_or_contents};
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::{Attribute, Block};
use terrane_value::{Type, Value};

use crate::contract::StoreError;
use crate::contract::schema::{block, optional};
use crate::contract::settings::{Settings, failure};

const SCOPE: &str = "https://www.googleapis.com/auth/devstorage.read_write";
pub const BOTH_KEYS: &str = "can't set both encryption_key and kms_encryption_key";

/// The settings of a block.
pub fn schema() -> Block {
    let text = |description: &str| optional(Type::String, description);
    let bucket = text("The name of the Google Cloud Storage bucket");
    block(&[
        ("bucket", Attribute { optional: false, required: true, ..bucket }),
        ("prefix", text("The folder in the bucket.")),
        ("credentials", text("JSON of an account, or the path of a file with it.")),
        ("access_token", text("An OAuth 2.0 token.")),
        ("impersonate_service_account", text("A service account to act as.")),
        (
            "impersonate_service_account_delegates",
            optional(Type::list(Type::String), "Accounts that lead to the service account to act as."),
        ),
        ("encryption_key", text("Base64 of the key that states are encrypted with, or the path of a file with it.")),
        ("kms_encryption_key", text("The Cloud KMS key that states are encrypted with.")),
        ("storage_custom_endpoint", text("Where the storage service is.")),
    ])
}

/// What is wrong with settings, as far as they alone show it.
pub fn check(settings: &Settings<'_>) -> Vec<ProviderDiagnostic> {
    let set = |name: &str| settings.config.get(name).is_some_and(|value| !value.is_null());
    let both = (set("encryption_key") && set("kms_encryption_key"))
        || (customer_key(settings).is_some() && kms_key(settings).is_some());
    if both { vec![failure(BOTH_KEYS)] } else { Vec::new() }
}

pub fn customer_key<'a>(settings: &Settings<'a>) -> Option<&'a str> {
    settings.text("encryption_key", &[env::GOOGLE_ENCRYPTION_KEY])
}

pub fn kms_key<'a>(settings: &Settings<'a>) -> Option<&'a str> {
    settings.text("kms_encryption_key", &[env::GOOGLE_KMS_ENCRYPTION_KEY])
}

pub fn credentials(settings: &Settings) -> Result<google::GoogleLogin, StoreError> {
    let token = settings.text("access_token", &[env::GOOGLE_OAUTH_ACCESS_TOKEN]);
    let variables = [env::GOOGLE_BACKEND_CREDENTIALS, env::GOOGLE_CREDENTIALS];
    let json = settings.text("credentials", &variables).filter(|_| token.is_none()).map(|text| {
        let json = path_or_contents(text, settings.folder_of("credentials"), settings.environment)
            .map_err(|e| format!("Error loading credentials: {e}"))?;
        match serde_json::from_str::<serde::de::IgnoredAny>(&json) {
            Ok(_) => Ok(Secret::new(json)),
            Err(_) => Err("the string provided in credentials is neither valid json nor a valid file path".to_owned()),
        }
    });
    let account = [env::GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT, env::GOOGLE_IMPERSONATE_SERVICE_ACCOUNT];
    let delegates =
        settings.config.get("impersonate_service_account_delegates").map(Value::elements).unwrap_or_default();
    let delegates: Option<Vec<String>> = delegates.iter().map(|value| value.as_str().map(str::to_owned)).collect();
    let delegates = delegates.ok_or("impersonate_service_account_delegates elements must not be null")?;
    Ok(google::GoogleLogin {
        access_token: token.map(Secret::new),
        credentials: json.transpose()?,
        impersonate: settings.text("impersonate_service_account", &account).map(|name| (name.to_owned(), delegates)),
        scope: SCOPE,
    })
}
