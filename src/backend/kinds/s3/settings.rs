//! The settings of the `s3` backend joined with what the environment gives.

use std::path::{Path as FilePath, PathBuf};
use std::time::Duration;

use base::env::{self, Environment};
use base::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use net::aws::regions::{self, Variant};
use net::aws::{self, Metadata, Role, WebIdentity};
use net::cloud::expanded;
use net::http::Settings as HttpSettings;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_value::{Path, Value, duration};

use crate::web;

/// Where the reference explains credentials: its error names the page.
const DOCUMENTATION: &str = "https://developer.hashicorp.com/terraform/language/backend/s3";

/// What a store needs to know.
#[derive(Clone, Debug)]
pub struct BucketSettings {
    pub bucket: String,
    pub key: String,
    pub region: String,
    pub workspace_key_prefix: String,
    pub use_lockfile: bool,
    pub table: Option<String>,
    pub encryption: Encryption,
    pub acl: Option<String>,
    pub skip_checksum: bool,
    /// With its scheme.
    pub endpoint: Option<String>,
    pub table_endpoint: Option<String>,
    pub path_style: bool,
    pub variant: Variant,
    pub allowed_accounts: Vec<String>,
    pub forbidden_accounts: Vec<String>,
    pub skip_validation: bool,
    pub skip_account: bool,
}

/// How S3 encrypts objects.
#[derive(Clone, Debug)]
pub enum Encryption {
    /// As the bucket is set up.
    Default,
    Aes256,
    Kms(String),
    /// The key and its MD5, both in base64.
    Customer(Secret, String),
}

/// The settings of a block that were read.
struct Reader<'a> {
    config: &'a Value,
    environment: &'a Environment,
    /// Where relative paths of settings start, as in [`crate::contract::settings::Settings`].
    folder: &'a FilePath,
}

impl<'a> Reader<'a> {
    fn get(&self, path: &str) -> Option<&'a Value> {
        let found = path.split('.').try_fold(self.config, |value, name| value.get(name));
        found.filter(|value| !value.is_null())
    }

    fn text(&self, path: &str) -> Option<String> {
        self.get(path).and_then(Value::as_str).map(str::to_owned)
    }

    fn filled(&self, path: &str) -> Option<String> {
        self.text(path).filter(|text| !text.is_empty())
    }

    /// The first of the settings that is there, else the first of the variables that is not empty.
    fn first(&self, paths: &[&str], variables: &[&str]) -> Option<String> {
        let set = paths.iter().find_map(|path| self.text(path));
        set.or_else(|| variables.iter().find_map(|name| self.environment.non_empty(name)).map(str::to_owned))
    }

    fn flag(&self, path: &str) -> bool {
        self.get(path).and_then(Value::as_bool) == Some(true)
    }

    fn flag_or_set(&self, path: &str, variable: &str) -> bool {
        let set = self.get(path).and_then(Value::as_bool);
        set.unwrap_or_else(|| self.environment.non_empty(variable).is_some())
    }

    fn texts(&self, path: &str) -> Vec<String> {
        let elements = self.get(path).map(Value::elements).unwrap_or_default();
        elements.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The files of a setting.
    fn files(&self, texts: &[String]) -> Vec<PathBuf> {
        texts.iter().map(|text| self.folder.join(expanded(text, self.environment))).collect()
    }

    /// The file that a variable names, which starts in the folder of the process.
    fn file_of(&self, variable: &str) -> Option<PathBuf> {
        self.environment.non_empty(variable).map(|text| expanded(text, self.environment).into())
    }

    fn endpoint(&self, path: &str, old: &str, variables: &[&str]) -> Option<String> {
        let found =
            self.first(&[path, old], variables).filter(|url| !url.is_empty()).or_else(|| self.common_endpoint());
        // Hosts alone were accepted once.
        found.map(|url| if url.contains("://") { url } else { format!("https://{url}") })
    }
}

impl Reader<'_> {
    /// The address of all services that have none of their own. As the SDK takes it: not if it is to ignore configured addresses.
    fn common_endpoint(&self) -> Option<String> {
        let is_ignored = self
            .environment
            .non_empty(env::AWS_IGNORE_CONFIGURED_ENDPOINT_URLS)
            .is_some_and(|text| text.eq_ignore_ascii_case("true"));
        self.environment.non_empty(env::AWS_ENDPOINT_URL).filter(|_| !is_ignored).map(str::to_owned)
    }
}

/// Everything that `open` works with.
pub struct All {
    pub store: BucketSettings,
    pub credentials: aws::AwsLogin,
    pub web: HttpSettings,
}

/// Reads checked settings.
pub fn read(config: &Value, environment: &Environment, folder: &FilePath) -> Result<All, Vec<ProviderDiagnostic>> {
    let reader = Reader { config, environment, folder };
    let region = region(&reader)?;
    let variant = Variant {
        fips: reader.flag_or_set("use_fips_endpoint", env::AWS_USE_FIPS_ENDPOINT),
        dual_stack: reader.flag_or_set("use_dualstack_endpoint", env::AWS_USE_DUALSTACK_ENDPOINT),
    };
    let s3 = [env::AWS_ENDPOINT_URL_S3, env::AWS_S3_ENDPOINT];
    let dynamodb = [env::AWS_ENDPOINT_URL_DYNAMODB, env::AWS_DYNAMODB_ENDPOINT];
    let store = BucketSettings {
        bucket: reader.text("bucket").unwrap_or_default(),
        key: reader.text("key").unwrap_or_default(),
        region: region.clone(),
        workspace_key_prefix: reader.text("workspace_key_prefix").unwrap_or_else(|| "env:".into()),
        use_lockfile: reader.flag("use_lockfile"),
        table: reader.filled("dynamodb_table"),
        encryption: encryption(&reader)?,
        acl: reader.filled("acl"),
        skip_checksum: reader.flag("skip_s3_checksum"),
        endpoint: reader.endpoint("endpoints.s3", "endpoint", &s3),
        table_endpoint: reader.endpoint("endpoints.dynamodb", "dynamodb_endpoint", &dynamodb),
        path_style: reader.flag("force_path_style") || reader.flag("use_path_style"),
        variant,
        allowed_accounts: reader.texts("allowed_account_ids"),
        forbidden_accounts: reader.texts("forbidden_account_ids"),
        skip_validation: reader.flag("skip_credentials_validation"),
        skip_account: reader.flag("skip_requesting_account_id"),
    };
    if store.bucket.starts_with("arn:") {
        let detail = "This version takes names of buckets only: ARNs of access points are not supported.";
        return Err(vec![ProviderDiagnostic::error("Invalid Value", detail).at(Path::new().attr("bucket"))]);
    }
    let credentials = credentials(&reader, region, variant);
    Ok(All { store, credentials, web: web(&reader)? })
}

fn region(reader: &Reader) -> Result<String, Vec<ProviderDiagnostic>> {
    let Some(region) = reader.filled("region") else {
        let of_environment = [env::AWS_REGION, env::AWS_DEFAULT_REGION];
        return Ok(reader.first(&[], &of_environment).unwrap_or_default());
    };
    match reader.flag("skip_region_validation") || regions::is_known(&region) {
        true => Ok(region),
        false => {
            let detail = format!("Invalid AWS Region: {region}");
            let path = Path::new().attr("region");
            Err(vec![ProviderDiagnostic::error("Invalid region value", detail).at(path)])
        }
    }
}

fn encryption(reader: &Reader) -> Result<Encryption, Vec<ProviderDiagnostic>> {
    let variable = reader.environment.non_empty(env::AWS_SSE_CUSTOMER_KEY);
    let mut found = Vec::new();
    if reader.get("kms_key_id").is_some() && variable.is_some() {
        found.push(ProviderDiagnostic::error(
            "Invalid encryption configuration",
            "Only one of \"kms_key_id\" and the environment variable \"AWS_SSE_CUSTOMER_KEY\" can be set.\n\nThe \"kms_key_id\" is used for encryption with KMS-Managed Keys (SSE-KMS)\nwhile \"AWS_SSE_CUSTOMER_KEY\" is used for encryption with customer-managed keys (SSE-C).\nPlease choose one or the other.",
        ));
    }
    let (key, name) = match reader.text("sse_customer_key") {
        Some(key) => (Some(key), "sse_customer_key".to_owned()),
        None => (variable.map(str::to_owned), "The environment variable \"AWS_SSE_CUSTOMER_KEY\"".to_owned()),
    };
    let is_setting = reader.get("sse_customer_key").is_some();
    let mut wrong = |why: String| {
        let summary = if is_setting { "sse_customer_key" } else { "AWS_SSE_CUSTOMER_KEY" };
        let error = ProviderDiagnostic::error(format!("Invalid {summary} value"), format!("{name} {why}"));
        found.push(if is_setting { error.at(Path::new().attr("sse_customer_key")) } else { error });
    };
    let mut customer = None;
    if let Some(key) = key {
        match (key.len(), STANDARD.decode(&key)) {
            (44, Ok(bytes)) => customer = Some((key, STANDARD.encode(Md5::digest(&bytes)))),
            (44, Err(e)) => wrong(format!("must be base64 encoded: {e}")),
            _ => wrong("must be 44 characters in length".into()),
        }
    }
    if !found.is_empty() {
        return Err(found);
    }
    Ok(match (reader.flag("encrypt"), reader.filled("kms_key_id"), customer) {
        (false, ..) => Encryption::Default,
        (true, Some(key), _) => Encryption::Kms(key),
        (true, None, Some((key, md5))) => Encryption::Customer(Secret::new(key), md5),
        (true, None, None) => Encryption::Aes256,
    })
}

fn credentials(reader: &Reader, region: String, variant: Variant) -> aws::AwsLogin {
    let metadata = [env::AWS_EC2_METADATA_SERVICE_ENDPOINT, env::AWS_METADATA_URL];
    let files = |name: &str, variable: &str| match reader.texts(name) {
        files if files.is_empty() => reader.file_of(variable).into_iter().collect(),
        files => reader.files(&files),
    };
    let mut credentials_files = files("shared_credentials_files", env::AWS_SHARED_CREDENTIALS_FILE);
    if let Some(file) = reader.text("shared_credentials_file") {
        credentials_files = reader.files(&[file]);
    }
    aws::AwsLogin {
        access_key: reader.filled("access_key"),
        secret_key: reader.filled("secret_key").map(Secret::new),
        token: reader.filled("token").map(Secret::new),
        profile: reader.filled("profile"),
        config_files: files("shared_config_files", env::AWS_SHARED_CONFIG_FILE),
        credentials_files,
        region,
        variant,
        sts_endpoint: reader.endpoint(
            "endpoints.sts",
            "sts_endpoint",
            &[env::AWS_ENDPOINT_URL_STS, env::AWS_STS_ENDPOINT],
        ),
        sts_region: reader.filled("sts_region"),
        sso_endpoint: reader.text("endpoints.sso"),
        metadata: Metadata {
            disabled: reader.get("skip_metadata_api_check").and_then(Value::as_bool),
            endpoint: reader.first(&["ec2_metadata_service_endpoint"], &metadata).filter(|url| !url.is_empty()),
            ipv6: reader.text("ec2_metadata_service_endpoint_mode").as_deref() == Some("IPv6"),
        },
        role: reader.get("assume_role").map(|_| role(reader, "assume_role")),
        web_identity: reader.get("assume_role_with_web_identity").map(|_| {
            let name = "assume_role_with_web_identity";
            WebIdentity {
                role: role(reader, name),
                token: reader.text(&format!("{name}.web_identity_token")).map(Secret::new),
                token_file: reader
                    .text(&format!("{name}.web_identity_token_file"))
                    .and_then(|file| reader.files(&[file]).pop()),
            }
        }),
        documentation: DOCUMENTATION,
    }
}

fn role(reader: &Reader, name: &str) -> Role {
    let text = |inner: &str| reader.filled(&format!("{name}.{inner}"));
    let texts = |inner: &str| reader.texts(&format!("{name}.{inner}"));
    let tags = reader.get(&format!("{name}.tags")).map(Value::entries);
    let tags =
        tags.into_iter().flatten().filter_map(|(key, value)| Some((key.to_string(), value.as_str()?.to_owned())));
    Role {
        arn: text("role_arn").unwrap_or_default(),
        session_name: text("session_name"),
        duration: text("duration").and_then(|text| duration::parse(&text).ok()),
        external_id: text("external_id"),
        policy: text("policy").map(|policy| policy.trim().to_owned()),
        policy_arns: texts("policy_arns"),
        source_identity: text("source_identity"),
        tags: tags.collect(),
        transitive_tag_keys: texts("transitive_tag_keys"),
    }
}

fn web(reader: &Reader) -> Result<HttpSettings, Vec<ProviderDiagnostic>> {
    let mut settings = web::settings(reader.environment);
    let attempts = reader.get("max_retries").and_then(Value::as_i64).unwrap_or(5);
    // As the SDK takes it: how often a request is sent at most, and 0 for its own default.
    settings.retries = if attempts == 0 { 2 } else { u32::try_from(attempts - 1).unwrap_or(0) };
    settings.pauses = Duration::from_millis(500)..=Duration::from_secs(20);
    settings.tls.skip_verification = reader.flag("insecure");
    let bundle = match reader.text("custom_ca_bundle") {
        Some(path) => Some(path).filter(|path| !path.is_empty()).and_then(|path| reader.files(&[path]).pop()),
        None => reader.file_of(env::AWS_CA_BUNDLE),
    };
    if let Some(path) = bundle {
        let failed = |why: String| vec![ProviderDiagnostic::error(format!("reading custom CA bundle: {why}"), "")];
        let pem = std::fs::read_to_string(&path).map_err(|e| failed(format!("open {}: {e}", path.display())))?;
        settings.tls.authorities = Some(pem);
    }
    if let Some(proxy) = reader.text("http_proxy") {
        settings.proxies.https =
            settings.proxies.https.or_else(|| Some(proxy.clone()).filter(|proxy| !proxy.is_empty()));
        settings.proxies.http = Some(proxy).filter(|proxy| !proxy.is_empty());
    }
    if let Some(proxy) = reader.text("https_proxy") {
        settings.proxies.https = Some(proxy).filter(|proxy| !proxy.is_empty());
    }
    if let Some(except) = reader.filled("no_proxy") {
        settings.proxies.except = except;
    }
    Ok(settings)
}
