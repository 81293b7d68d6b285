//! The settings of the `s3` backend, as version 1.11.4 of the reference has them.

use std::collections::BTreeMap;
use std::sync::Arc;

use terrane_protocol::schema::{Attribute, AttributeShape, Block, Nesting, ObjectShape};
use terrane_value::Type;

use crate::contract::schema::{block, optional};

pub fn schema() -> Block {
    let mut all = place();
    all.extend(authentication());
    all.extend(network());
    all.extend([("assume_role", nested(role())), ("assume_role_with_web_identity", nested(web_identity()))]);
    all.push(("endpoints", nested(endpoints())));
    block(&all)
}

type Attributes = Vec<(&'static str, Attribute)>;

fn text(name: &'static str, description: &str) -> (&'static str, Attribute) {
    (name, optional(Type::String, description))
}

fn flag(name: &'static str, description: &str) -> (&'static str, Attribute) {
    (name, optional(Type::Bool, description))
}

fn texts(name: &'static str, description: &str) -> (&'static str, Attribute) {
    (name, optional(Type::set(Type::String), description))
}

fn required(name: &'static str, description: &str) -> (&'static str, Attribute) {
    let attribute = Attribute { optional: false, required: true, ..optional(Type::String, description) };
    (name, attribute)
}

fn deprecated((name, attribute): (&'static str, Attribute)) -> (&'static str, Attribute) {
    (name, Attribute { deprecated: true, ..attribute })
}

fn nested(attributes: Attributes) -> Attribute {
    let attributes: BTreeMap<Arc<str>, Attribute> = attributes.into_iter().map(|(n, a)| (n.into(), a)).collect();
    let shape = AttributeShape::Nested(ObjectShape { attributes, nesting: Nesting::Single });
    Attribute { shape, optional: true, ..Attribute::new(Type::String) }
}

fn place() -> Attributes {
    let customer_key = optional(Type::String, "Base64 of a key that states are encrypted with on the server (SSE-C).");
    vec![
        required("bucket", "The name of the S3 bucket"),
        required("key", "The path to the state file inside the bucket"),
        text("region", "The region of the bucket and of the DynamoDB table."),
        text("workspace_key_prefix", "What the keys of workspaces other than the default one begin with (\"env:\")."),
        flag("use_lockfile", "Lock with an object beside the state."),
        deprecated(text(
            "dynamodb_table",
            "Lock with an item of this DynamoDB table, which also keeps the state's checksum.",
        )),
        flag("encrypt", "Encrypt states on the server."),
        text("acl", "A canned ACL for objects that are written."),
        text("kms_key_id", "The KMS key that states are encrypted with on the server."),
        ("sse_customer_key", Attribute { sensitive: true, ..customer_key }),
        flag("skip_s3_checksum", "Upload without a checksum, for stores that know none."),
    ]
}

fn authentication() -> Attributes {
    vec![
        text("access_key", "The access key."),
        text("secret_key", "The secret of the access key."),
        text("token", "The session token of the access key."),
        text("profile", "A profile of the shared configuration files."),
        texts("shared_config_files", "Files instead of ~/.aws/config."),
        deprecated(text("shared_credentials_file", "A file instead of ~/.aws/credentials.")),
        texts("shared_credentials_files", "Files instead of ~/.aws/credentials."),
        texts("allowed_account_ids", "The only accounts that credentials may belong to."),
        texts("forbidden_account_ids", "Accounts that credentials must not belong to."),
        flag("skip_credentials_validation", "Do not request the account of the credentials from STS."),
        flag("skip_requesting_account_id", "Do not ask for the account."),
        flag("skip_metadata_api_check", "Do not ask the machine's metadata service for credentials."),
        flag("skip_region_validation", "Accept regions that are not known."),
        text("ec2_metadata_service_endpoint", "Where the machine's metadata service is."),
        text("ec2_metadata_service_endpoint_mode", "How the machine's metadata service is reached: IPv4 or IPv6."),
        text("sts_region", "The region of STS."),
    ]
}

fn network() -> Attributes {
    let retries = optional(Type::Number, "How often a request is sent at most (5).");
    vec![
        deprecated(text("endpoint", "Where S3 is.")),
        deprecated(text("dynamodb_endpoint", "Where DynamoDB is.")),
        deprecated(text("iam_endpoint", "Where IAM is.")),
        deprecated(text("sts_endpoint", "Where STS is.")),
        deprecated(flag("force_path_style", "Have the bucket in the path of addresses, not in the host.")),
        flag("use_path_style", "Have the bucket in the path of addresses, not in the host."),
        flag("use_fips_endpoint", "Use hosts that conform to FIPS."),
        flag("use_dualstack_endpoint", "Use hosts that have addresses of IPv6 too."),
        ("max_retries", retries),
        text("retry_mode", "How failed requests are retried: standard or adaptive."),
        text("custom_ca_bundle", "A file with certificates of authorities."),
        text("http_proxy", "The proxy for requests over HTTP."),
        text("https_proxy", "The proxy for requests over HTTPS."),
        text("no_proxy", "Hosts that no proxy leads to, separated by commas."),
        flag("insecure", "Do not verify the certificates of servers."),
    ]
}

fn endpoints() -> Attributes {
    vec![
        deprecated(text("dynamodb", "Where DynamoDB is.")),
        text("iam", "Where IAM is."),
        text("s3", "Where S3 is."),
        text("sso", "Where IAM Identity Center is."),
        text("sts", "Where STS is."),
    ]
}

/// What both kinds of roles have.
fn any_role() -> Attributes {
    vec![
        required("role_arn", "The role."),
        text("duration", "How long the role's credentials are for: 15 minutes to 12 hours."),
        text("policy", "A policy in JSON that narrows down the role's permissions."),
        texts("policy_arns", "Policies that narrow down the role's permissions."),
        text("session_name", "What the use of the role is called in AWS's records."),
    ]
}

fn role() -> Attributes {
    let mut all = any_role();
    all.extend([
        text("external_id", "The external ID that the role asks for."),
        text("source_identity", "Who uses the role, for AWS's records."),
        ("tags", optional(Type::map(Type::String), "Tags of the session.")),
        texts("transitive_tag_keys", "Tags that sessions begun by this one have too."),
    ]);
    all
}

fn web_identity() -> Attributes {
    let mut all = any_role();
    all.extend([
        text("web_identity_token", "The token of an identity provider."),
        text("web_identity_token_file", "A file with the token of an identity provider."),
    ]);
    all
}
