//! Amazon Web Services: credentials and signed requests.
//!
//! Owns the order of the sources of credentials, and the calls to STS. Signatures and most sources of credentials
//! are `reqsign`'s. Never knows the purpose of requests.

pub mod credentials;
pub mod profiles;
pub mod regions;
pub mod sources;
pub mod sts;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use base::secret::Secret;

/// Settings for the search of credentials. Missing ones come from the environment or from profiles.
#[derive(Clone, Debug, Default)]
pub struct AwsLogin {
    pub access_key: Option<String>,
    pub secret_key: Option<Secret>,
    pub token: Option<Secret>,
    pub profile: Option<String>,
    /// Files instead of `~/.aws/config`, without `~` and variables.
    pub config_files: Vec<PathBuf>,
    /// Files instead of `~/.aws/credentials`, without `~` and variables.
    pub credentials_files: Vec<PathBuf>,
    pub region: String,
    pub variant: regions::Variant,
    /// With its scheme.
    pub sts_endpoint: Option<String>,
    pub sts_region: Option<String>,
    /// With its scheme.
    pub sso_endpoint: Option<String>,
    pub metadata: Metadata,
    pub role: Option<Role>,
    pub web_identity: Option<WebIdentity>,
    /// Where users read about credentials, for the error that there are none.
    pub documentation: &'static str,
}

/// The service that a machine of EC2 has for its own role.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// None: the environment decides.
    pub disabled: Option<bool>,
    pub endpoint: Option<String>,
    pub ipv6: bool,
}

/// A role that credentials are exchanged for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    pub arn: String,
    pub session_name: Option<String>,
    pub duration: Option<Duration>,
    pub external_id: Option<String>,
    pub policy: Option<String>,
    pub policy_arns: Vec<String>,
    pub source_identity: Option<String>,
    pub tags: Vec<(String, String)>,
    pub transitive_tag_keys: Vec<String>,
}

/// A role that is assumed with a token of an identity provider. The role's external id, source identity and tags do not
/// apply.
#[derive(Clone, Debug, Default)]
pub struct WebIdentity {
    pub role: Role,
    pub token: Option<Secret>,
    /// Without `~` and variables.
    pub token_file: Option<PathBuf>,
}

/// Why there are no credentials, in the reference's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub summary: String,
    /// May be empty.
    pub detail: String,
}

impl Problem {
    pub fn new(summary: impl Into<String>, detail: impl Into<String>) -> Problem {
        Problem { summary: summary.into(), detail: detail.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.summary)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail.trim_end()) }
    }
}

/// Errors of S3, DynamoDB and STS that the SDK knows.
const MODELLED: [&str; 12] = [
    "NoSuchBucket",
    "NoSuchKey",
    "ConditionalCheckFailedException",
    "ExpiredTokenException",
    "IDPCommunicationError",
    "IDPRejectedClaim",
    "InternalServerError",
    "InvalidIdentityToken",
    "MalformedPolicyDocument",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ResourceNotFoundException",
];

/// How the SDK of the reference words a service's answer that is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceError {
    /// `S3: PutObject`
    pub operation: String,
    pub status: u16,
    pub request_id: String,
    /// S3 only.
    pub host_id: Option<String>,
    /// `NoSuchBucket`
    pub code: String,
    pub message: String,
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "operation error {}, https response error StatusCode: {}, RequestID: {}",
            self.operation, self.status, self.request_id
        )?;
        if let Some(id) = &self.host_id {
            write!(f, ", HostID: {id}")?;
        }
        // Errors that the SDK has a type for are worded in another way.
        match MODELLED.contains(&self.code.as_str()) {
            true if self.host_id.is_some() => write!(f, ", {}: ", self.code),
            true => write!(f, ", {}: {}", self.code, self.message),
            false => write!(f, ", api error {}: {}", self.code, self.message),
        }
    }
}

/// A request that had no answer, as the SDK of the reference words it.
pub fn unanswered(operation: &str, why: &dyn fmt::Display) -> String {
    format!("operation error {operation}, https response error StatusCode: 0, RequestID: , request send failed, {why}")
}
