//! Data keys of AWS KMS.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base::env::{self, Environment};
use base::secret::Secret;
use bytes::Bytes;
use gotext::hex::hex;
use http::Request;
use lang::syntax::body::BodySchema;
use net::aws::credentials::{self, Provided as ProvidedCredentials};
use net::aws::regions::{self, Variant};
use net::aws::{self, Metadata as MachineMetadata, Role, WebIdentity, sts};
use net::cloud::expanded;
use reqsign_aws_v4::Credential;
use reqsign_core::Signer;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use terrane_value::duration;

use super::{BuildError, KeyProvider, Kind, Need, ProvideError, Provided, base64_bytes, kept, stored};
use crate::key::{Key, Keys};
use crate::payload::from_base64;
use crate::services::{HttpClient, HttpSettings, Services};
use crate::settings::Settings;

pub struct AwsKms;

const DOCUMENTATION: &str = "https://opentofu.org/docs/language/state/encryption/#aws-kms";

#[rustfmt::skip]
const OPTIONAL: &[&str] = &[
    "access_key", "max_retries", "profile", "region", "secret_key", "skip_credentials_validation", "skip_requesting_account_id",
    "sts_region", "token", "http_proxy", "https_proxy", "no_proxy", "insecure", "use_dualstack_endpoint", "use_fips_endpoint",
    "custom_ca_bundle", "ec2_metadata_service_endpoint", "ec2_metadata_service_endpoint_mode", "skip_metadata_api_check",
    "shared_credentials_files", "shared_config_files", "allowed_account_ids", "forbidden_account_ids", "retry_mode",
    "encryption_context",
];

const ROLE: &[&str] =
    &["duration", "external_id", "policy", "policy_arns", "session_name", "tags", "transitive_tag_keys"];
const WEB_ROLE: &[&str] =
    &["role_arn", "duration", "policy", "policy_arns", "session_name", "web_identity_token", "web_identity_token_file"];

fn optional(schema: BodySchema, names: &[&str]) -> BodySchema {
    names.iter().fold(schema, |schema, name| schema.attribute(name))
}

#[async_trait]
impl Kind for AwsKms {
    fn name(&self) -> &'static str {
        "aws_kms"
    }

    fn schema(&self) -> BodySchema {
        optional(BodySchema::new().required("kms_key_id").required("key_spec"), OPTIONAL)
            .block("endpoints", &[])
            .block("assume_role", &[])
            .block("assume_role_with_web_identity", &[])
    }

    fn block_schema(&self, kind: &str) -> BodySchema {
        match kind {
            "endpoints" => optional(BodySchema::new(), &["iam", "sts"]),
            "assume_role" => optional(BodySchema::new().required("role_arn"), ROLE),
            _ => optional(BodySchema::new(), WEB_ROLE),
        }
    }

    async fn build(
        &self,
        settings: &mut Settings,
        _: Option<Keys>,
        services: &Services,
    ) -> Result<Box<dyn KeyProvider>, BuildError> {
        let (key_id, spec) = (settings.text("kms_key_id"), settings.text("key_spec"));
        if key_id.is_empty() {
            return Err(BuildError::setting("no kms_key_id provided"));
        }
        match spec.as_str() {
            "AES_256" | "AES_128" => {}
            "" => return Err(BuildError::setting("no key_spec provided")),
            spec => {
                let why = format!("invalid key_spec {spec}, expected one of [AES_256 AES_128]");
                return Err(BuildError::Setting(why));
            }
        }
        let encryption_context = settings.pairs("encryption_context").into_iter().collect();
        let environment = &services.environment;
        let asked = credential_settings(settings, services)?;
        let (allowed, forbidden) = (settings.texts("allowed_account_ids"), settings.texts("forbidden_account_ids"));
        if !allowed.is_empty() && !forbidden.is_empty() {
            return Err(BuildError::setting(
                "conflicting config attributes: only allowed_account_ids or forbidden_account_ids can be specified, not both",
            ));
        }
        let client = services.http.client(&http_settings(settings, services).await?)?;
        let context = client.context();
        let wrong =
            |why: String| BuildError::Credentials(format!("errors were encountered in aws kms configuration\n{why}"));
        let found = credentials::find(&asked, environment, &context).await;
        let found = found.map_err(|problem| wrong(format!("{} : {}", problem.summary, problem.detail)))?;
        let restricted = !allowed.is_empty() || !forbidden.is_empty();
        if restricted || settings.flag("skip_credentials_validation") != Some(true) {
            check_account(&asked, &context, &found, &allowed, &forbidden).await.map_err(wrong)?;
        }
        let provided = ProvidedCredentials::new(&asked, environment, found);
        let signer = Signer::new(context, provided, credentials::request_signer("kms", &asked.region));
        let endpoint = [env::AWS_ENDPOINT_URL_KMS, env::AWS_ENDPOINT_URL]
            .iter()
            .find_map(|name| environment.non_empty(name))
            .map(str::to_owned)
            .unwrap_or_else(|| format!("https://{}", regions::host("kms", &asked.region, asked.variant)));
        Ok(Box::new(AwsKmsProvider { client, signer, endpoint, key_id, spec, encryption_context }))
    }
}

async fn check_account(
    settings: &aws::AwsLogin,
    context: &reqsign_core::Context,
    keys: &Credential,
    allowed: &[String],
    forbidden: &[String],
) -> Result<(), String> {
    let identity = sts::caller_identity(settings, context, keys)
        .await
        .map_err(|why| format!("validating provider credentials : retrieving caller identity from STS: {why}"))?;
    let account = identity.account;
    match forbidden.contains(&account) || !allowed.is_empty() && !allowed.contains(&account) {
        true => Err(format!("Invalid account ID : AWS account ID not allowed: {account}")),
        false => Ok(()),
    }
}

/// A text or the first of the variables that is not empty.
fn given(text: String, environment: &Environment, variables: &[&str]) -> Option<String> {
    let of_environment = || variables.iter().find_map(|name| environment.non_empty(name)).map(str::to_owned);
    Some(text).filter(|text| !text.is_empty()).or_else(of_environment)
}

/// The file that a setting names, or else a variable, with `~` and variables replaced.
fn file(services: &Services, setting: &str, variable: &str) -> Option<PathBuf> {
    let given = |text: &str| expanded(text, &services.environment);
    match setting {
        "" => services.environment.non_empty(variable).map(|path| given(path).into()),
        path => Some(services.folder.join(given(path))),
    }
}

fn credential_settings(settings: &mut Settings, services: &Services) -> Result<aws::AwsLogin, BuildError> {
    let environment = &services.environment;
    let region = given(settings.text("region"), environment, &[env::AWS_REGION, env::AWS_DEFAULT_REGION]);
    let region = region.ok_or(BuildError::setting(
        "the \"region\" attribute or the \"AWS_REGION\" or \"AWS_DEFAULT_REGION\" environment variables must be set.",
    ))?;
    let blocks: Vec<_> = settings.blocks.iter().filter(|(kind, _)| kind == "endpoints").collect();
    if blocks.len() > 1 {
        return Err(BuildError::setting("expected single aws_kms endpoints block, multiple provided"));
    }
    let mut sts = String::new();
    let (mut role, mut web_identity) = (None, None);
    for (kind, block) in &mut settings.blocks {
        match kind.as_str() {
            "endpoints" => sts = block.text("sts"),
            "assume_role" => role = Some(read_role(block)?),
            _ => web_identity = Some(read_web_identity(block, services)?),
        }
    }
    if !sts.is_empty() && !sts.contains("://") {
        sts = format!("https://{sts}");
    }
    let files = |texts: Vec<String>, variable: &str| match texts.is_empty() {
        true => file(services, "", variable).into_iter().collect(),
        false => texts.iter().filter_map(|text| file(services, text, variable)).collect(),
    };
    let filled = |text: String| Some(text).filter(|text| !text.is_empty());
    Ok(aws::AwsLogin {
        access_key: filled(settings.text("access_key")),
        secret_key: filled(settings.text("secret_key")).map(Secret::new),
        token: filled(settings.text("token")).map(Secret::new),
        profile: filled(settings.text("profile")),
        config_files: files(settings.texts("shared_config_files"), env::AWS_SHARED_CONFIG_FILE),
        credentials_files: files(settings.texts("shared_credentials_files"), env::AWS_SHARED_CREDENTIALS_FILE),
        region,
        variant: Variant {
            fips: settings.flag("use_fips_endpoint") == Some(true),
            dual_stack: settings.flag("use_dualstack_endpoint") == Some(true),
        },
        sts_endpoint: given(sts, environment, &[env::AWS_ENDPOINT_URL_STS]),
        sts_region: filled(settings.text("sts_region")),
        sso_endpoint: None,
        metadata: MachineMetadata {
            disabled: settings.flag("skip_metadata_api_check"),
            endpoint: given(
                settings.text("ec2_metadata_service_endpoint"),
                environment,
                &[env::AWS_EC2_METADATA_SERVICE_ENDPOINT],
            ),
            ipv6: settings.text("ec2_metadata_service_endpoint_mode") == "IPv6",
        },
        role,
        web_identity,
        documentation: DOCUMENTATION,
    })
}

fn read_role(block: &mut Settings) -> Result<Role, BuildError> {
    let filled = |text: String| Some(text).filter(|text| !text.is_empty());
    let duration = match filled(block.text("duration")) {
        None => None,
        Some(text) => Some(session_duration(&text)?),
    };
    Ok(Role {
        arn: block.text("role_arn"),
        session_name: filled(block.text("session_name")),
        duration,
        external_id: filled(block.text("external_id")),
        policy: filled(block.text("policy")),
        policy_arns: block.texts("policy_arns"),
        source_identity: None,
        tags: block.pairs("tags"),
        transitive_tag_keys: block.texts("transitive_tag_keys"),
    })
}

fn session_duration(text: &str) -> Result<Duration, BuildError> {
    let parsed = duration::parse(text).map_err(|_| {
        BuildError::Setting(format!("invalid assume_role duration {text:?}: time: invalid duration {text:?}"))
    })?;
    let (least, most) = (Duration::from_secs(15 * 60), Duration::from_secs(12 * 60 * 60));
    if !(least..=most).contains(&parsed) {
        let why = format!("assume_role duration must be between 15m0s and 12h0m0s, had {text}");
        return Err(BuildError::Setting(why));
    }
    Ok(parsed)
}

fn read_web_identity(block: &mut Settings, services: &Services) -> Result<WebIdentity, BuildError> {
    let environment = &services.environment;
    let (token, token_file) = (block.text("web_identity_token"), block.text("web_identity_token_file"));
    if !token.is_empty() && !token_file.is_empty() {
        return Err(BuildError::setting(
            "conflicting config attributes: only web_identity_token or web_identity_token_file can be specified, not both",
        ));
    }
    let mut role = read_role(block)?;
    role.arn = given(role.arn, environment, &[env::AWS_ROLE_ARN]).unwrap_or_default();
    role.session_name = role.session_name.or_else(|| given(String::new(), environment, &[env::AWS_ROLE_SESSION_NAME]));
    Ok(WebIdentity {
        role,
        token: Some(token).filter(|token| !token.is_empty()).map(Secret::new),
        token_file: file(services, &token_file, env::AWS_WEB_IDENTITY_TOKEN_FILE),
    })
}

async fn http_settings(settings: &mut Settings, services: &Services) -> Result<HttpSettings, BuildError> {
    let attempts = settings.number("max_retries").filter(|count| *count != 0).unwrap_or(5);
    let filled = |text: String| Some(text).filter(|text| !text.is_empty());
    let mut http = HttpSettings {
        retries: Some(u32::try_from(attempts - 1).unwrap_or(0)),
        authorities: None,
        skip_verification: settings.flag("insecure") == Some(true),
        http_proxy: filled(settings.text("http_proxy")),
        https_proxy: filled(settings.text("https_proxy")),
        no_proxy: filled(settings.text("no_proxy")),
    };
    if let Some(path) = file(services, &settings.text("custom_ca_bundle"), env::AWS_CA_BUNDLE) {
        let read = tokio::fs::read_to_string(&path).await;
        let failed = |e: std::io::Error| BuildError::File {
            purpose: "reading custom CA bundle",
            path: path.display().to_string(),
            why: e.to_string(),
        };
        http.authorities = Some(read.map_err(failed)?);
    }
    Ok(http)
}

struct AwsKmsProvider {
    client: Arc<dyn HttpClient>,
    signer: Signer<Credential>,
    endpoint: String,
    key_id: String,
    spec: String,
    /// Authenticated with the keys; stored beside them, as OpenTofu 1.13 does.
    encryption_context: BTreeMap<String, String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct AwsKmsMetadata {
    #[serde(with = "base64_bytes")]
    ciphertext_blob: Vec<u8>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    encryption_context: BTreeMap<String, String>,
}

/// Errors that the SDK has a type for are reported in another way.
const MODELLED: [&str; 11] = [
    "NotFoundException",
    "DisabledException",
    "DependencyTimeoutException",
    "InvalidKeyUsageException",
    "KeyUnavailableException",
    "InvalidGrantTokenException",
    "KMSInternalException",
    "KMSInvalidStateException",
    "DryRunOperationException",
    "IncorrectKeyException",
    "InvalidCiphertextException",
];

impl AwsKmsProvider {
    async fn call(&self, operation: &str, question: &Json) -> Result<Json, String> {
        let failed = |why: String| format!("operation error KMS: {operation}, {why}");
        let body = Bytes::from(question.to_string());
        let request = Request::post(format!("{}/", self.endpoint.trim_end_matches('/')))
            .header("content-type", "application/x-amz-json-1.1")
            .header("x-amz-target", format!("TrentService.{operation}"))
            .header("x-amz-content-sha256", hex(&Sha256::digest(&body)))
            .body(body)
            .map_err(|e| failed(e.to_string()))?;
        let (mut head, body) = request.into_parts();
        self.signer.sign(&mut head, None).await.map_err(|e| failed(e.to_string()))?;
        let answer = self.client.send(Request::from_parts(head, body)).await;
        let answer = answer.map_err(|why| failed(why.to_string()))?;
        let said: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
        if (200..300).contains(&answer.status) {
            return Ok(said);
        }
        let id = answer.headers.get("x-amzn-requestid").and_then(|id| id.to_str().ok()).unwrap_or_default();
        let code = said["__type"].as_str().unwrap_or_default().rsplit('#').next().unwrap_or_default().to_owned();
        let message = said["message"].as_str().or(said["Message"].as_str()).filter(|text| !text.is_empty());
        let api = if MODELLED.contains(&code.as_str()) { "" } else { "api error " };
        Err(failed(format!(
            "https response error StatusCode: {}, RequestID: {id}, {api}{code}: {}",
            answer.status,
            message.unwrap_or("UnknownError")
        )))
    }
}

/// A request with an encryption context; an empty one is left out.
fn in_context(mut question: Json, context: &BTreeMap<String, String>) -> Json {
    if !context.is_empty() {
        question["EncryptionContext"] = json!(context);
    }
    question
}

fn field(answer: &Json, name: &str) -> Result<Vec<u8>, String> {
    from_base64(answer[name].as_str().unwrap_or_default()).map_err(|why| why.to_string())
}

#[async_trait]
impl KeyProvider for AwsKmsProvider {
    async fn provide(&self, metadata: Option<&[u8]>, need: Need) -> Result<Provided, ProvideError> {
        let old: AwsKmsMetadata = stored(metadata)?;
        let mut provided = Provided { keys: Keys::default(), metadata: Vec::new() };
        if need == Need::Both {
            let failed = |why: String| ProvideError::Service(format!("failed to generate key: {why}"));
            let encryption_context = self.encryption_context.clone();
            let question = in_context(json!({ "KeyId": self.key_id, "KeySpec": self.spec }), &encryption_context);
            let answer = self.call("GenerateDataKey", &question).await.map_err(failed)?;
            let ciphertext_blob = field(&answer, "CiphertextBlob").map_err(failed)?;
            provided.keys.encryption = Some(Key::new(field(&answer, "Plaintext").map_err(failed)?));
            let stored = AwsKmsMetadata { ciphertext_blob, encryption_context };
            provided.metadata = kept(&stored)?;
        }
        if !old.ciphertext_blob.is_empty() {
            use base64::Engine;
            let blob = base64::engine::general_purpose::STANDARD.encode(&old.ciphertext_blob);
            let question = json!({ "KeyId": self.key_id, "CiphertextBlob": blob });
            let question = in_context(question, &old.encryption_context);
            let answer = self.call("Decrypt", &question).await;
            let answer = answer.map_err(|why| ProvideError::Service(format!(": {why}")))?;
            let key = field(&answer, "Plaintext").map_err(ProvideError::Service)?;
            provided.keys.decryption = Some(Key::new(key));
        }
        Ok(provided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encryption_contexts_are_sent_and_stored_unless_they_are_empty() {
        let context = BTreeMap::from([("a".to_owned(), "b".to_owned())]);
        assert_eq!(in_context(json!({}), &BTreeMap::new()), json!({}));
        assert_eq!(in_context(json!({}), &context), json!({ "EncryptionContext": { "a": "b" } }));
        let stored = |encryption_context| {
            serde_json::to_string(&AwsKmsMetadata { ciphertext_blob: b"a".to_vec(), encryption_context }).unwrap()
        };
        assert_eq!(stored(BTreeMap::new()), r#"{"ciphertext_blob":"YQ=="}"#);
        assert_eq!(stored(context), r#"{"ciphertext_blob":"YQ==","encryption_context":{"a":"b"}}"#);
    }
}
