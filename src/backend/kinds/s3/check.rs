//! What is wrong with settings of the `s3` backend, as far as they and the environment show it; in the reference's words and order.

use base::env::{self, Environment};
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_value::{Path, Value};

use super::values::{self, Checks};

pub fn check(config: &Value, environment: &Environment) -> Vec<ProviderDiagnostic> {
    let mut checks = Checks::new(config);
    place(&mut checks, environment);
    checks.conflict(&["kms_key_id", "sse_customer_key"]);
    checks.text("kms_key_id", &[values::kms_key]);
    checks.text("workspace_key_prefix", &[values::no_outer_slash]);
    role(&mut checks, "assume_role");
    role(&mut checks, "assume_role_with_web_identity");
    checks.conflict(&["shared_credentials_file", "shared_credentials_files"]);
    checks.deprecated("shared_credentials_file", "shared_credentials_files");
    checks.deprecated("dynamodb_table", "use_lockfile");
    endpoints(&mut checks);
    checks.text("ec2_metadata_service_endpoint", &[values::whole_url]);
    checks.conflict(&["force_path_style", "use_path_style"]);
    checks.deprecated("force_path_style", "use_path_style");
    checks.text("retry_mode", &[values::retry_mode]);
    checks.text("ec2_metadata_service_endpoint_mode", &[values::endpoint_mode]);
    checks.conflict(&["allowed_account_ids", "forbidden_account_ids"]);
    if !checks.has_errors() {
        surroundings(&mut checks, environment);
    }
    checks.found
}

fn place(checks: &mut Checks, environment: &Environment) {
    checks.required("bucket", &[values::not_empty]);
    checks.required("key", &[values::not_empty, values::no_outer_slash, values::no_double_slash]);
    let set = [env::AWS_REGION, env::AWS_DEFAULT_REGION].iter().any(|name| environment.non_empty(name).is_some());
    if !set && checks.get("region").is_none_or(str::is_empty) && !checks.is_unknown("region") {
        let detail =
            r#"The "region" attribute or the "AWS_REGION" or "AWS_DEFAULT_REGION" environment variables must be set."#;
        checks.error("Missing region value", detail, Path::new().attr("region"));
    }
}

const ENDPOINTS: [(&str, &str); 4] =
    [("dynamodb_endpoint", "dynamodb"), ("endpoint", "s3"), ("iam_endpoint", "iam"), ("sts_endpoint", "sts")];

fn endpoints(checks: &mut Checks) {
    let config = checks.config;
    let inner = config.get("endpoints").filter(|value| !value.is_null());
    for (old, new) in ENDPOINTS {
        let is_set = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
        if !is_set(config.get(old)) {
            continue;
        }
        checks.deprecated(old, &format!("endpoints.{new}"));
        if is_set(inner.and_then(|inner| inner.get(new))) {
            let detail = format!("The parameters \"{old}\" and \"endpoints.{new}\" cannot be configured together.");
            checks.error("Conflicting Parameters", detail, Path::new());
        }
    }
    for name in ["dynamodb", "iam", "s3", "sts"] {
        checks.inner("endpoints", name, false, &[values::url]);
    }
    checks.inner("endpoints", "sso", false, &[values::whole_url]);
    for (old, _) in ENDPOINTS {
        checks.text(old, &[values::url]);
    }
}

fn role(checks: &mut Checks, name: &str) {
    let Some(value) = checks.config.get(name).filter(|value| !value.is_null()) else { return };
    if name == "assume_role_with_web_identity" {
        checks.exactly_one(name, value, ["web_identity_token", "web_identity_token_file"]);
        for token in ["web_identity_token", "web_identity_token_file"] {
            checks.inner(name, token, false, &[|text| values::length(text, 4, 20000)]);
        }
    }
    checks.inner(name, "role_arn", true, &[values::not_empty, values::role_arn]);
    checks.inner(name, "duration", false, &[values::session_duration]);
    checks.inner(name, "external_id", false, &[|text| values::length(text, 2, 1224), values::external_id]);
    checks.inner(name, "policy", false, &[values::not_empty, values::policy]);
    let arns = value.get("policy_arns").map(Value::elements).unwrap_or_default();
    for arn in arns {
        if let Some(Err(problem)) = arn.as_str().map(values::policy_arn) {
            checks.found.push(problem.at(Path::new().attr(name).attr("policy_arns").index(arn.clone())));
        }
    }
    for session in ["session_name", "source_identity"] {
        checks.inner(name, session, false, &[|text| values::length(text, 2, 64), values::session_name]);
    }
}

/// Warnings about the environment, and settings that it makes worth a warning.
fn surroundings(checks: &mut Checks, environment: &Environment) {
    let renamed = [
        (env::AWS_DYNAMODB_ENDPOINT, env::AWS_ENDPOINT_URL_DYNAMODB),
        (env::AWS_IAM_ENDPOINT, env::AWS_ENDPOINT_URL_IAM),
        (env::AWS_METADATA_URL, env::AWS_EC2_METADATA_SERVICE_ENDPOINT),
        (env::AWS_S3_ENDPOINT, env::AWS_ENDPOINT_URL_S3),
        (env::AWS_STS_ENDPOINT, env::AWS_ENDPOINT_URL_STS),
    ];
    for (old, new) in renamed {
        if environment.non_empty(old).is_some() {
            let detail = format!(
                "The environment variable \"{old}\" is deprecated. Use environment variable \"{new}\" instead."
            );
            checks.warning("Deprecated Environment Variable", detail, Path::new());
        }
    }
    let has = |name: &str| environment.non_empty(name).is_some();
    if let Some(proxy) = checks.get("http_proxy").filter(|proxy| !proxy.is_empty())
        && checks.config.get("https_proxy").is_none_or(Value::is_null)
        && !has(env::HTTPS_PROXY)
        && !has(env::https_proxy)
    {
        let detail = format!(
            "An HTTP proxy was set but no HTTPS proxy was. Using HTTP proxy {proxy:?} for HTTPS requests. This behavior may change in future versions.\n\nTo specify no proxy for HTTPS, set the HTTPS to an empty string."
        );
        checks.warning("Missing HTTPS Proxy", detail, Path::new());
    }
}
