//! AWS's security token service: roles, and who we are.

use std::fmt;

use bytes::Bytes;
use gotext::hex::hex;
use http::Request;
use reqsign_aws_v4::{Credential, RequestSigner};
use reqsign_core::{Context, SignRequest};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::{AwsLogin, Role, ServiceError, regions, unanswered};

const VERSION: &str = "2011-06-15";

/// Roles are for an hour unless they say otherwise.
const DURATION: u64 = 3600;
/// The shortest that the service gives.
const WEB_IDENTITY_DURATION: u64 = 900;

/// Why the service gave nothing, as the SDK of the reference words it.
#[derive(Debug)]
pub enum StsError {
    Unanswered {
        operation: String,
        why: String,
    },
    /// The answer is never shown: it holds credentials.
    Unreadable {
        operation: String,
    },
    Refused(ServiceError),
    /// The end of the credentials is not a time.
    Expiry,
}

impl fmt::Display for StsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StsError::Unanswered { operation, why } => f.write_str(&unanswered(operation, why)),
            StsError::Unreadable { operation } => write!(f, "operation error {operation}, the answer cannot be read"),
            StsError::Refused(error) => error.fmt(f),
            StsError::Expiry => f.write_str("the credentials expire at no time that can be read"),
        }
    }
}

/// The account and user of credentials.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Identity {
    pub account: String,
    pub arn: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct IdentityResponse {
    get_caller_identity_result: Identity,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RoleResponse {
    #[serde(alias = "AssumeRoleWithWebIdentityResult")]
    assume_role_result: RoleResult,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RoleResult {
    credentials: RoleCredentials,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RoleCredentials {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    expiration: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ErrorResponse {
    error: ErrorBody,
    #[serde(default)]
    request_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ErrorBody {
    code: String,
    #[serde(default)]
    message: String,
}

/// Requests the account and user of the credentials.
pub async fn caller_identity(settings: &AwsLogin, context: &Context, keys: &Credential) -> Result<Identity, StsError> {
    let fields = [("Action", "GetCallerIdentity".to_owned()), ("Version", VERSION.to_owned())];
    let response: IdentityResponse = call(settings, context, Some(keys), &fields).await?;
    Ok(response.get_caller_identity_result)
}

/// Exchanges credentials for those of a role.
pub async fn assume_role(
    settings: &AwsLogin,
    context: &Context,
    keys: &Credential,
    role: &Role,
) -> Result<Credential, StsError> {
    let mut fields = role_fields("AssumeRole", role, DURATION);
    fields.extend(role.external_id.iter().map(|id| ("ExternalId".to_owned(), id.clone())));
    fields.extend(role.source_identity.iter().map(|id| ("SourceIdentity".to_owned(), id.clone())));
    for (i, (key, value)) in role.tags.iter().enumerate() {
        fields.push((format!("Tags.member.{}.Key", i + 1), key.clone()));
        fields.push((format!("Tags.member.{}.Value", i + 1), value.clone()));
    }
    let transitive = role.transitive_tag_keys.iter().enumerate();
    fields.extend(transitive.map(|(i, key)| (format!("TransitiveTagKeys.member.{}", i + 1), key.clone())));
    credentials(call(settings, context, Some(keys), &fields).await?)
}

/// Exchanges a token of an identity provider for the credentials of a role. Needs no credentials.
pub async fn assume_role_with_token(
    settings: &AwsLogin,
    context: &Context,
    role: &Role,
    token: &str,
) -> Result<Credential, StsError> {
    let mut fields = role_fields("AssumeRoleWithWebIdentity", role, WEB_IDENTITY_DURATION);
    if role.duration.is_none() {
        fields.retain(|(name, _)| name != "DurationSeconds");
    }
    fields.push(("WebIdentityToken".to_owned(), token.trim().to_owned()));
    credentials(call(settings, context, None, &fields).await?)
}

fn role_fields(action: &str, role: &Role, duration: u64) -> Vec<(String, String)> {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let session = role.session_name.clone().unwrap_or_else(session_name);
    let seconds = role.duration.map_or(duration, |duration| duration.as_secs());
    let mut fields = vec![
        pair("Action", action),
        pair("Version", VERSION),
        pair("RoleArn", &role.arn),
        pair("RoleSessionName", &session),
        pair("DurationSeconds", &seconds.to_string()),
    ];
    fields.extend(role.policy.iter().map(|policy| pair("Policy", policy)));
    let arns = role.policy_arns.iter().enumerate();
    fields.extend(arns.map(|(i, arn)| (format!("PolicyArns.member.{}.arn", i + 1), arn.clone())));
    fields
}

/// The default session name, in the form of the SDKs.
fn session_name() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!("aws-go-sdk-{}", now.map_or(0, |now| now.as_nanos()))
}

fn credentials(response: RoleResponse) -> Result<Credential, StsError> {
    let keys = response.assume_role_result.credentials;
    let expires = keys.expiration.parse().map_err(|_| StsError::Expiry)?;
    Ok(Credential {
        access_key_id: keys.access_key_id,
        secret_access_key: keys.secret_access_key,
        session_token: Some(keys.session_token),
        expires_in: Some(expires),
    })
}

/// Sends a form: its fields may be secrets, which the query of an address would show to proxies.
async fn call<T: DeserializeOwned>(
    settings: &AwsLogin,
    context: &Context,
    keys: Option<&Credential>,
    fields: &[(impl AsRef<str>, String)],
) -> Result<T, StsError> {
    let operation = format!("STS: {}", fields.first().map_or("", |(_, action)| action));
    let failed = |why: &dyn fmt::Display| StsError::Unanswered { operation: operation.clone(), why: why.to_string() };
    let region = settings.sts_region.as_ref().unwrap_or(&settings.region);
    let url = match &settings.sts_endpoint {
        Some(url) => format!("{}/", url.trim_end_matches('/')),
        None => format!("https://{}/", regions::host("sts", region, settings.variant)),
    };
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = Request::post(url)
        .header("content-type", "application/x-www-form-urlencoded")
        .header("x-amz-content-sha256", hex(&Sha256::digest(&body)))
        .body(Bytes::from(body))
        .map_err(|e| failed(&e))?;
    let (mut head, body) = request.into_parts();
    if keys.is_some() {
        RequestSigner::new("sts", region).sign_request(context, &mut head, keys, None).await.map_err(|e| failed(&e))?;
    }
    let response = context.http_send(Request::from_parts(head, body)).await.map_err(|e| failed(&e))?;
    let text = String::from_utf8_lossy(response.body());
    if response.status().is_success() {
        return quick_xml::de::from_str(&text).map_err(|_| StsError::Unreadable { operation });
    }
    let status = response.status().as_u16();
    let header = response.headers().get("x-amzn-requestid").and_then(|id| id.to_str().ok()).unwrap_or_default();
    let error = match quick_xml::de::from_str::<ErrorResponse>(&text) {
        Ok(ErrorResponse { error, request_id }) => ServiceError {
            operation,
            status,
            request_id: if request_id.is_empty() { header.to_owned() } else { request_id },
            host_id: None,
            code: error.code,
            message: error.message,
        },
        Err(_) => ServiceError {
            operation,
            status,
            request_id: header.to_owned(),
            host_id: None,
            code: "UnknownError".into(),
            message: "UnknownError".into(),
        },
    };
    Err(StsError::Refused(error))
}
