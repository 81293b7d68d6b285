//! The settings of the `oci` backend, as version 1.12 of the reference has them, and what is wrong with some.

use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::{Attribute, Block};
use terrane_value::{Path, Type};

use super::settings::{AUTH_METHODS, Auth, DEFAULT_KEY, DEFAULT_PREFIX, text_or_variable};
use crate::contract::schema::{block, optional};
use crate::contract::settings::Settings;

const OPTIONAL: [(&str, &str); 15] = [
    ("auth", "How requests are authenticated: ApiKey, InstancePrincipal, ResourcePrincipal and others."),
    ("config_file_profile", "The profile in the OCI configuration file."),
    ("fingerprint", "The fingerprint of the user's API key."),
    ("key", "The name of the state in the bucket."),
    ("kms_key_id", "The OCID of the key that encrypts the state."),
    ("private_key", "The API key, as PEM."),
    ("private_key_password", "The password of the API key."),
    ("private_key_path", "The file with the API key."),
    ("region", "The region of the bucket."),
    ("sse_customer_algorithm", "The algorithm of sse_customer_key: AES256."),
    ("sse_customer_key", "A base64-encoded key of 256 bits that encrypts the state."),
    ("sse_customer_key_sha256", "The base64-encoded SHA-256 hash of sse_customer_key."),
    ("tenancy_ocid", "The OCID of the tenancy."),
    ("user_ocid", "The OCID of the user."),
    ("workspace_key_prefix", "The prefix of the states of other workspaces than the default one."),
];

pub fn schema() -> Block {
    let text = |description: &str| optional(Type::String, description);
    let required = |description: &str| Attribute { optional: false, required: true, ..text(description) };
    let secret = |name: &str| matches!(name, "private_key" | "private_key_password" | "sse_customer_key");
    let texts = OPTIONAL.iter().map(|(name, doc)| (*name, Attribute { sensitive: secret(name), ..text(doc) }));
    let others =
        [("bucket", required("The name of the bucket.")), ("namespace", required("The namespace of Object Storage."))];
    block(&texts.chain(others).collect::<Vec<_>>())
}

fn invalid(summary: &str, detail: impl Into<String>, attribute: &str) -> ProviderDiagnostic {
    ProviderDiagnostic::error(summary, detail).at(Path::default().attr(attribute))
}

/// What the reference says about settings that are wrong. It skips the combinations if `auth` is `ApiKey`.
pub fn check(settings: &Settings<'_>) -> Vec<ProviderDiagnostic> {
    let mut found = Vec::new();
    for name in ["bucket", "namespace"] {
        match settings.text(name, &[]) {
            None => found.push(missing(name)),
            Some(bucket) if name == "bucket" && !is_bucket_name(bucket) => found.push(invalid(
                "Invalid Value",
                "The bucket name can only include alphanumeric characters, underscores (_), and hyphens (-).",
                name,
            )),
            Some(_) => {}
        }
    }
    let value = |name: &str, default| text_or_variable(settings, name).unwrap_or(default);
    let key = value("key", DEFAULT_KEY);
    if key.starts_with('/') || key.ends_with('/') || key.contains("//") {
        let detail = "The value must not start or end with \"/\" and also not contain consecutive \"/\"";
        found.push(invalid("Invalid Value", detail, "key"));
    }
    let prefix = value("workspace_key_prefix", DEFAULT_PREFIX);
    if prefix.starts_with('/') || prefix.contains("//") {
        let detail = "The value must not start  with \"/\" and also not contain consecutive \"/\"";
        found.push(invalid("Invalid Value", detail, "workspace_key_prefix"));
    }
    if let Some(auth) = text_or_variable(settings, "auth") {
        check_auth(auth, settings, &mut found);
    }
    check_combinations(settings, &mut found);
    found
}

fn missing(name: &str) -> ProviderDiagnostic {
    let detail = format!(
        "The attribute {name:?} is required by the backend.\n\nRefer to the backend documentation for additional information which attributes are required."
    );
    invalid("Missing Required Value", detail, name)
}

fn is_bucket_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn check_auth(text: &str, settings: &Settings<'_>, found: &mut Vec<ProviderDiagnostic>) {
    let needs = |name: &str| {
        let detail = format!("The attribute {name:?} is required by the backend for {text} authentication.\n\n");
        invalid(&format!("Missing {name} attribute required"), detail, name)
    };
    match Auth::parse(text) {
        Some(Auth::ApiKey) => {}
        // The reference's own check refuses this one too.
        None | Some(Auth::OkeWorkloadIdentity) => {
            found.push(invalid("Invalid authentication method", AUTH_METHODS, "auth"));
        }
        Some(auth) => {
            if text_or_variable(settings, "region").is_none() {
                found.push(needs("region"));
            }
            if auth == Auth::SecurityToken && text_or_variable(settings, "config_file_profile").is_none() {
                found.push(needs("config_file_profile"));
            }
        }
    }
}

fn check_combinations(settings: &Settings<'_>, found: &mut Vec<ProviderDiagnostic>) {
    const COMBINATION: &str = "Invalid Attribute Combination";
    let is_set = |name: &str| text_or_variable(settings, name).is_some();
    if is_set("sse_customer_key") && !is_set("sse_customer_key_sha256") {
        let detail = "  sse_customer_key and its SHA both required.";
        found.push(invalid(COMBINATION, detail, "sse_customer_key_sha256"));
    }
    if is_set("sse_customer_key") && is_set("kms_key_id") {
        let detail = "Only one of kms_key_id, sse_customer_key can be set.";
        found.push(invalid(COMBINATION, detail, "kms_key_id"));
    }
    if is_set("private_key") && is_set("private_key_path") {
        let detail = "Only one of private_key, private_key_path can be set.";
        found.push(invalid(COMBINATION, detail, "private_key_path"));
    }
}
