//! Every environment variable that the program reads, declared once, with what it does.
//!
//! Owns access to the environment: commands take one [`Environment`] at the start and hand it down, tests make their
//! own. Never interprets values.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A variable that the program reads.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// The name; one that ends in an underscore is a prefix.
    pub name: &'static str,
    pub doc: &'static str,
}

macro_rules! variables {
    ($($(#[doc = $doc:literal])+ $name:ident $(= $text:literal)?;)+) => {
        $($(#[doc = $doc])+ #[allow(non_upper_case_globals)] pub const $name: &str = variables!(@name $name $($text)?);)+

        /// All of them, for the documentation.
        pub const ALL: &[Variable] = &[$(Variable { name: $name, doc: concat!($($doc, "\n"),+) }),+];
    };
    (@name $name:ident) => { stringify!($name) };
    (@name $name:ident $text:literal) => { $text };
}

variables! {
    /// The name to go by in texts: `terrane`, `terraform` or `tofu`, above the name that the program was started by.
    TERRANE_NAME;
    /// Log level of everything: TRACE, DEBUG, INFO, WARN, ERROR, OFF; or JSON for TRACE as lines of JSON.
    TF_LOG;
    /// Log level of the program itself, above TF_LOG.
    TF_LOG_CORE;
    /// Log level of all plugins, above TF_LOG.
    TF_LOG_PROVIDER;
    /// Log level of one plugin (name in capitals, `-` as `_`), above TF_LOG_PROVIDER.
    TF_LOG_PROVIDER_ = "TF_LOG_PROVIDER_";
    /// A file to append the log to, instead of standard error. Does not switch logging on.
    TF_LOG_PATH;
    /// Value of the input variable that the rest of the name says.
    TF_VAR_ = "TF_VAR_";
    /// Whether to ask for missing input: `0` or `false` means no.
    TF_INPUT;
    /// The workspace to use, above the one selected.
    TF_WORKSPACE;
    /// The host of HCP Terraform or Terraform Enterprise, where the `cloud` block does not say it (app.terraform.io).
    TF_CLOUD_HOSTNAME;
    /// The organization, where the `cloud` block does not say it.
    TF_CLOUD_ORGANIZATION;
    /// The project, where the `cloud` block does not say it.
    TF_CLOUD_PROJECT;
    /// If it is set, operations run here, also those of workspaces whose runs are remote.
    TF_FORCE_LOCAL_BACKEND;
    /// The run of HCP Terraform that this process carries out; states are stored as its results.
    TFE_RUN_ID;
    /// What is encrypted and how: the inside of an `encryption` block, in native syntax or JSON, laid over the configuration's.
    TF_ENCRYPTION;
    /// The server of OpenBao that encryption keys come from (https://127.0.0.1:8200).
    BAO_ADDR;
    /// See BAO_ADDR, which is above it.
    VAULT_ADDR;
    /// The token for BAO_ADDR.
    BAO_TOKEN;
    /// See BAO_TOKEN, which is above it.
    VAULT_TOKEN;
    /// The namespace of OpenBao.
    BAO_NAMESPACE;
    /// See BAO_NAMESPACE, which is above it.
    VAULT_NAMESPACE;
    /// A file with the certificate of the authority that OpenBao's certificate is checked by.
    BAO_CACERT;
    /// See BAO_CACERT, which is above it.
    VAULT_CACERT;
    /// `true`: OpenBao's certificate is not checked.
    BAO_SKIP_VERIFY;
    /// See BAO_SKIP_VERIFY, which is above it.
    VAULT_SKIP_VERIFY;
    /// Where AWS KMS is asked for keys, with its scheme.
    AWS_ENDPOINT_URL_KMS;
    /// The address of AWS services without a more specific variable, with its scheme.
    AWS_ENDPOINT_URL;
    /// Where to keep what belongs to a working directory, instead of `.terraform`.
    TF_DATA_DIR;
    /// Any value: leave out advice on what to run next.
    TF_IN_AUTOMATION;
    /// The CLI configuration file to read instead of `~/.terraformrc`.
    TF_CLI_CONFIG_FILE;
    /// The older name of TF_CLI_CONFIG_FILE.
    TERRAFORM_CONFIG;
    /// Arguments to insert after the command's name, in every command.
    TF_CLI_ARGS;
    /// Arguments to insert in the command that the rest of the name says.
    TF_CLI_ARGS_ = "TF_CLI_ARGS_";
    /// The folder of the plugin cache, which all working directories share.
    TF_PLUGIN_CACHE_DIR;
    /// Accept packages from the plugin cache that the lock file has no checksum for.
    TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE;
    /// JSON that says how to reach plugin processes which run already.
    TF_REATTACH_PROVIDERS;
    /// Any value: talk to plugins without TLS.
    TF_DISABLE_PLUGIN_TLS;
    /// Token of the host that the rest of the name says: `_` for a dot, `__` for a dash.
    TF_TOKEN_ = "TF_TOKEN_";
    /// How often failed registry requests are retried (1).
    TF_REGISTRY_DISCOVERY_RETRY;
    /// How long a registry may take to answer, in seconds (10); a download may pause three times as long.
    TF_REGISTRY_CLIENT_TIMEOUT;
    /// More to say in the `User-Agent` of requests.
    TF_APPEND_USER_AGENT;
    /// The signer that installed providers must have: `signed` (any key that the registry lists), `partner`, `official`.
    TERRANE_REQUIRE_SIGNATURES;
    /// Any value but `0` and `false`: keys that sign providers count only until they expire.
    TERRANE_REFUSE_EXPIRED_KEYS;
    /// OpenTofu's name for TERRANE_REFUSE_EXPIRED_KEYS: `true`.
    OPENTOFU_ENFORCE_GPG_EXPIRATION;
    /// Checksums of modules: `off` neither checks nor records any, `verify` records none.
    TERRANE_MODULE_CHECKSUMS;
    /// How large a module's package may be when unpacked, in MiB (2048).
    TERRANE_MODULE_SIZE_LIMIT;
    /// How large a provider's package may be when unpacked, in MiB (4096).
    TERRANE_PROVIDER_SIZE_LIMIT;
    /// The file with logins of hosts that modules are downloaded from, instead of `~/.netrc`.
    NETRC;
    /// The program and options that git uses for SSH; a source's `sshkey` is added to it.
    GIT_SSH_COMMAND;
    /// A token for modules and states in Google Cloud Storage.
    GOOGLE_OAUTH_ACCESS_TOKEN;
    /// A host that stands in for Google Cloud Storage, with its scheme.
    STORAGE_EMULATOR_HOST;
    /// A key of the storage account of the backend "azurerm".
    ARM_ACCESS_KEY;
    /// A shared access signature for the backend "azurerm".
    ARM_SAS_TOKEN;
    /// `true`: the backend "azurerm" asks for blobs with a token of Microsoft Entra ID.
    ARM_USE_AZUREAD;
    /// Azure's cloud: `public`, `usgovernment` or `china`.
    ARM_ENVIRONMENT;
    /// A host that says where the services of Azure's cloud are.
    ARM_METADATA_HOSTNAME;
    /// The same as ARM_METADATA_HOSTNAME, which is above it.
    ARM_METADATA_HOST;
    /// The subscription of the storage account.
    ARM_SUBSCRIPTION_ID;
    /// `true`: the storage account's address is asked for.
    ARM_USE_DNS_ZONE_ENDPOINT;
    /// `true`: the backend "azurerm" keeps a snapshot of the blob before each change.
    ARM_SNAPSHOT;
    /// The tenant of Microsoft Entra ID.
    ARM_TENANT_ID;
    /// The client of Microsoft Entra ID.
    ARM_CLIENT_ID;
    /// A file with the client's ID.
    ARM_CLIENT_ID_FILE_PATH;
    /// The client's secret.
    ARM_CLIENT_SECRET;
    /// A file with the client's secret.
    ARM_CLIENT_SECRET_FILE_PATH;
    /// Not supported: an error where it would count.
    ARM_CLIENT_CERTIFICATE;
    /// See ARM_CLIENT_CERTIFICATE.
    ARM_CLIENT_CERTIFICATE_PATH;
    /// `true`: authenticate with a token of another identity provider.
    ARM_USE_OIDC;
    /// The token of another identity provider.
    ARM_OIDC_TOKEN;
    /// A file with the token of another identity provider.
    ARM_OIDC_TOKEN_FILE_PATH;
    /// Where a token of another identity provider is requested.
    ARM_OIDC_REQUEST_URL;
    /// The same as ARM_OIDC_REQUEST_URL, in GitHub's actions.
    ACTIONS_ID_TOKEN_REQUEST_URL;
    /// The same as ARM_OIDC_REQUEST_URL, in Azure's pipelines.
    SYSTEM_OIDCREQUESTURI;
    /// What the request for a token carries.
    ARM_OIDC_REQUEST_TOKEN;
    /// The same as ARM_OIDC_REQUEST_TOKEN, in GitHub's actions.
    ACTIONS_ID_TOKEN_REQUEST_TOKEN;
    /// The same as ARM_OIDC_REQUEST_TOKEN, in Azure's pipelines.
    SYSTEM_ACCESSTOKEN;
    /// The service connection of an Azure pipeline.
    ARM_ADO_PIPELINE_SERVICE_CONNECTION_ID;
    /// The same as ARM_ADO_PIPELINE_SERVICE_CONNECTION_ID, which is above it.
    ARM_OIDC_AZURE_SERVICE_CONNECTION_ID;
    /// `true`: authenticate as the machine's managed identity.
    ARM_USE_MSI;
    /// Where managed identities get tokens.
    ARM_MSI_ENDPOINT;
    /// `false`: do not authenticate with the az program.
    ARM_USE_CLI;
    /// `true`: authenticate with what AKS gives to a pod.
    ARM_USE_AKS_WORKLOAD_IDENTITY;
    /// The client's ID that AKS gives to a pod.
    AZURE_CLIENT_ID;
    /// The tenant's ID that AKS gives to a pod.
    AZURE_TENANT_ID;
    /// The file with the token that AKS gives to a pod.
    AZURE_FEDERATED_TOKEN_FILE;
    /// JSON of an account for the backend "gcs", or the path of a file with it.
    GOOGLE_BACKEND_CREDENTIALS;
    /// The same as GOOGLE_BACKEND_CREDENTIALS, which is above it.
    GOOGLE_CREDENTIALS;
    /// The path of a file with Google's Application Default Credentials.
    GOOGLE_APPLICATION_CREDENTIALS;
    /// The host of the metadata service of a machine in Google Cloud.
    GCE_METADATA_HOST;
    /// A service account that the backend "gcs" acts as.
    GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT;
    /// The same as GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT, which is above it.
    GOOGLE_IMPERSONATE_SERVICE_ACCOUNT;
    /// Base64 of the key that the backend "gcs" encrypts states with, or the path of a file with it.
    GOOGLE_ENCRYPTION_KEY;
    /// The Cloud KMS key that the backend "gcs" encrypts states with.
    GOOGLE_KMS_ENCRYPTION_KEY;
    /// Where the backend "gcs" finds the storage service, with its scheme.
    GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT;
    /// The same as GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT, which is above it.
    GOOGLE_STORAGE_CUSTOM_ENDPOINT;
    /// The AWS access key: for modules and states in S3; with its secret and perhaps a session's token.
    AWS_ACCESS_KEY_ID;
    /// See AWS_ACCESS_KEY_ID.
    AWS_SECRET_ACCESS_KEY;
    /// See AWS_ACCESS_KEY_ID.
    AWS_SESSION_TOKEN;
    /// An older name of AWS_ACCESS_KEY_ID.
    AWS_ACCESS_KEY;
    /// An older name of AWS_SECRET_ACCESS_KEY.
    AWS_SECRET_KEY;
    /// The profile whose AWS credentials count.
    AWS_PROFILE;
    /// An older name of AWS_PROFILE.
    AWS_DEFAULT_PROFILE;
    /// The file with the keys of profiles, instead of `~/.aws/credentials`.
    AWS_SHARED_CREDENTIALS_FILE;
    /// The file with further settings of profiles, instead of `~/.aws/config`.
    AWS_CONFIG_FILE;
    /// The same, for the backend "s3", above AWS_CONFIG_FILE.
    AWS_SHARED_CONFIG_FILE;
    /// The region of the backend "s3", and of modules in S3 whose address names none.
    AWS_REGION;
    /// The older name of AWS_REGION.
    AWS_DEFAULT_REGION;
    /// The AWS role to assume with the token of AWS_WEB_IDENTITY_TOKEN_FILE.
    AWS_ROLE_ARN;
    /// A file with the token for AWS_ROLE_ARN.
    AWS_WEB_IDENTITY_TOKEN_FILE;
    /// What the use of AWS_ROLE_ARN is called in AWS's records.
    AWS_ROLE_SESSION_NAME;
    /// Where the backend "s3" finds S3, with its scheme.
    AWS_ENDPOINT_URL_S3;
    /// The older name of AWS_ENDPOINT_URL_S3.
    AWS_S3_ENDPOINT;
    /// Where the backend "s3" finds DynamoDB, with its scheme.
    AWS_ENDPOINT_URL_DYNAMODB;
    /// The older name of AWS_ENDPOINT_URL_DYNAMODB.
    AWS_DYNAMODB_ENDPOINT;
    /// Where the keys of AWS roles are asked for, with its scheme.
    AWS_ENDPOINT_URL_STS;
    /// The older name of AWS_ENDPOINT_URL_STS.
    AWS_STS_ENDPOINT;
    /// Where the backend "s3" finds IAM, with its scheme.
    AWS_ENDPOINT_URL_IAM;
    /// The older name of AWS_ENDPOINT_URL_IAM.
    AWS_IAM_ENDPOINT;
    /// Where the keys of sessions of IAM Identity Center are asked for, with its scheme.
    AWS_ENDPOINT_URL_SSO;
    /// Base64: the key that the backend "s3" encrypts states with, as its setting sse_customer_key.
    AWS_SSE_CUSTOMER_KEY;
    /// A file with certificates of authorities for requests to AWS.
    AWS_CA_BUNDLE;
    /// Any value: the backend "s3" uses hosts that conform to FIPS.
    AWS_USE_FIPS_ENDPOINT;
    /// Any value: the backend "s3" uses hosts that have addresses of IPv6 too.
    AWS_USE_DUALSTACK_ENDPOINT;
    /// `true`: the machine's host is not asked for keys.
    AWS_EC2_METADATA_DISABLED;
    /// Where the machine's host is asked for keys, with its scheme.
    AWS_EC2_METADATA_SERVICE_ENDPOINT;
    /// `IPv4` or `IPv6`: how the machine's host is asked for keys.
    AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE;
    /// The older name of AWS_EC2_METADATA_SERVICE_ENDPOINT.
    AWS_METADATA_URL;
    /// Where a container asks for its keys: a path of the host that containers know.
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
    /// Where a container asks for its keys: a whole address.
    AWS_CONTAINER_CREDENTIALS_FULL_URI;
    /// What a container shows when it asks.
    AWS_CONTAINER_AUTHORIZATION_TOKEN;
    /// A file with what a container shows when it asks.
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
    /// Backend `http`: `address`.
    TF_HTTP_ADDRESS;
    /// Backend `http`: `update_method`.
    TF_HTTP_UPDATE_METHOD;
    /// Backend `http`: `lock_address`.
    TF_HTTP_LOCK_ADDRESS;
    /// Backend `http`: `lock_method`.
    TF_HTTP_LOCK_METHOD;
    /// Backend `http`: `unlock_address`.
    TF_HTTP_UNLOCK_ADDRESS;
    /// Backend `http`: `unlock_method`.
    TF_HTTP_UNLOCK_METHOD;
    /// Backend `http`: `username`.
    TF_HTTP_USERNAME;
    /// Backend `http`: `password`.
    TF_HTTP_PASSWORD;
    /// Backend `http`: `retry_max`.
    TF_HTTP_RETRY_MAX;
    /// Backend `http`: `retry_wait_min`.
    TF_HTTP_RETRY_WAIT_MIN;
    /// Backend `http`: `retry_wait_max`.
    TF_HTTP_RETRY_WAIT_MAX;
    /// Backend `http`: `client_ca_certificate_pem`.
    TF_HTTP_CLIENT_CA_CERTIFICATE_PEM;
    /// Backend `http`: `client_certificate_pem`.
    TF_HTTP_CLIENT_CERTIFICATE_PEM;
    /// Backend `http`: `client_private_key_pem`.
    TF_HTTP_CLIENT_PRIVATE_KEY_PEM;
    /// The proxy for requests over HTTP.
    HTTP_PROXY;
    /// The same as HTTP_PROXY, which is above it.
    http_proxy;
    /// The proxy for requests over HTTPS.
    HTTPS_PROXY;
    /// The same as HTTPS_PROXY, which is above it.
    https_proxy;
    /// The proxy for requests without a more specific proxy.
    ALL_PROXY;
    /// The same as ALL_PROXY, which is above it.
    all_proxy;
    /// Hosts, domains and networks that no proxy leads to, separated by commas.
    NO_PROXY;
    /// The same as NO_PROXY, which is above it.
    no_proxy;
    /// The `pg` backend's connection string, where its block has none.
    PG_CONN_STR;
    /// The `pg` backend's schema, where its block names none.
    PG_SCHEMA_NAME;
    /// `true`: the `pg` backend does not create its schema.
    PG_SKIP_SCHEMA_CREATION;
    /// `true`: the `pg` backend does not create its table.
    PG_SKIP_TABLE_CREATION;
    /// `true`: the `pg` backend does not create its index.
    PG_SKIP_INDEX_CREATION;
    /// For the `pg` backend, as all variables that begin so: the server's host, where the connection string has none.
    PGHOST;
    /// The address of PGHOST.
    PGHOSTADDR;
    /// The server's port (5432).
    PGPORT;
    /// The database (the name of the user).
    PGDATABASE;
    /// The user (that of the system).
    PGUSER;
    /// The user's password.
    PGPASSWORD;
    /// The file with passwords, instead of `~/.pgpass`.
    PGPASSFILE;
    /// Options for the server's process.
    PGOPTIONS;
    /// The name that the server lists connections under.
    PGAPPNAME;
    /// Whether to use TLS, and what to verify: `disable`, `allow`, `prefer`, `require`, `verify-ca` or `verify-full`.
    PGSSLMODE;
    /// `direct`: TLS begins without a request for it.
    PGSSLNEGOTIATION;
    /// The file with the client's certificate, instead of `~/.postgresql/postgresql.crt`.
    PGSSLCERT;
    /// The file with the key of PGSSLCERT, instead of `~/.postgresql/postgresql.key`.
    PGSSLKEY;
    /// The file with the authorities to trust, instead of the system's.
    PGSSLROOTCERT;
    /// The lowest version of TLS: `TLSv1.2` or `TLSv1.3`.
    PGSSLMINPROTOCOLVERSION;
    /// Whether authentication is bound to the TLS connection: `disable`, `prefer` or `require`.
    PGCHANNELBINDING;
    /// What a server must allow to be used: `any`, `read-write` or `read-only`.
    PGTARGETSESSIONATTRS;
    /// `random`: several hosts are tried in random order.
    PGLOADBALANCEHOSTS;
    /// How long connecting may take, in seconds (30); 0 for as long as it takes.
    PGCONNECT_TIMEOUT;
    /// Must be `UTF8`.
    PGCLIENTENCODING;
    /// The server's setting `datestyle`.
    PGDATESTYLE;
    /// The server's setting `timezone`.
    PGTZ;
    /// The server's setting `geqo`.
    PGGEQO;
    /// Not supported: an error, like the seven that follow.
    PGSERVICE;
    /// See PGSERVICE.
    PGSERVICEFILE;
    /// See PGSERVICE.
    PGREALM;
    /// See PGSERVICE.
    PGREQUIRESSL;
    /// See PGSERVICE.
    PGSSLCRL;
    /// See PGSERVICE.
    PGREQUIREPEER;
    /// See PGSERVICE.
    PGKRBSRVNAME;
    /// See PGSERVICE.
    PGGSSLIB;
    /// Consul's agent, for the `consul` backend: host and port, perhaps with a scheme (127.0.0.1:8500).
    CONSUL_HTTP_ADDR;
    /// The token for Consul.
    CONSUL_HTTP_TOKEN;
    /// A file with the token for Consul, above all other tokens.
    CONSUL_HTTP_TOKEN_FILE;
    /// Name and password for Consul, separated by a colon.
    CONSUL_HTTP_AUTH;
    /// `true`: Consul's agent is reached over TLS.
    CONSUL_HTTP_SSL;
    /// `false`: the certificate of Consul's agent is not verified.
    CONSUL_HTTP_SSL_VERIFY;
    /// A file with the authorities to trust for Consul.
    CONSUL_CACERT;
    /// A folder with files of authorities to trust for Consul.
    CONSUL_CAPATH;
    /// A file with the certificate to show to Consul.
    CONSUL_CLIENT_CERT;
    /// A file with the key of CONSUL_CLIENT_CERT.
    CONSUL_CLIENT_KEY;
    /// Not supported: an error.
    CONSUL_TLS_SERVER_NAME;
    /// Consul's namespace.
    CONSUL_NAMESPACE;
    /// Consul's partition.
    CONSUL_PARTITION;
    /// The kubeconfig file, for the `kubernetes` backend as all variables that begin so.
    KUBE_CONFIG_PATH;
    /// Several kubeconfig files, separated as in PATH.
    KUBE_CONFIG_PATHS;
    /// The context of the kubeconfig file.
    KUBE_CTX;
    /// The user of the kubeconfig file, in place of the context's.
    KUBE_CTX_AUTH_INFO;
    /// The cluster of the kubeconfig file, in place of the context's.
    KUBE_CTX_CLUSTER;
    /// The namespace (default).
    KUBE_NAMESPACE;
    /// The address of the API server.
    KUBE_HOST;
    /// The name for basic authentication.
    KUBE_USER;
    /// The password for basic authentication.
    KUBE_PASSWORD;
    /// The token to log in with.
    KUBE_TOKEN;
    /// `true`: the server's certificate is not verified.
    KUBE_INSECURE;
    /// The client's certificate, as PEM.
    KUBE_CLIENT_CERT_DATA;
    /// The key of KUBE_CLIENT_CERT_DATA, as PEM.
    KUBE_CLIENT_KEY_DATA;
    /// The authorities to trust, as PEM.
    KUBE_CLUSTER_CA_CERT_DATA;
    /// The proxy on the way to the server.
    KUBE_PROXY_URL;
    /// `true`: log in as the pod that the program runs in.
    KUBE_IN_CLUSTER_CONFIG;
    /// Accepted and ignored, as Terraform does.
    KUBE_LOAD_CONFIG_FILE;
    /// The address of the API server where nothing else names one.
    KUBERNETES_MASTER;
    /// The host of the API server, as pods see it.
    KUBERNETES_SERVICE_HOST;
    /// The port of KUBERNETES_SERVICE_HOST.
    KUBERNETES_SERVICE_PORT;
    /// Accepted and ignored: nothing here phones home.
    CHECKPOINT_DISABLE;
    /// Any value: apply never reuses a provider process that plan has configured.
    TERRANE_NO_PROVIDER_REUSE;
    /// `off`: provider schemas are neither taken from the cache nor kept in it.
    TERRANE_SCHEMA_CACHE;
    /// How many snapshots of each workspace's state are kept for `state history` (20). `0`: none.
    TERRANE_STATE_HISTORY;
    /// How long a plugin may take to start, in seconds (60).
    TERRANE_PLUGIN_START_TIMEOUT;
    /// Any value: no colours (https://no-color.org).
    NO_COLOR;
    /// The user's home folder.
    HOME;
    /// The user's settings folder on Windows.
    APPDATA;
    /// The user's home folder on Windows.
    USERPROFILE;
    /// Where users keep data.
    XDG_DATA_HOME;
    /// Where systems keep data for everybody, separated by colons.
    XDG_DATA_DIRS;
    /// Where users keep what belongs to a session: passwords for OCI registries in `containers/auth.json`.
    XDG_RUNTIME_DIR;
    /// Where programs keep their settings, instead of `~/.config`: for `-install-autocomplete`.
    XDG_CONFIG_HOME;
    /// A command line, set by a shell that wants to complete it.
    COMP_LINE;
    /// The place of the cursor in COMP_LINE, in bytes.
    COMP_POINT;
    /// The shell that wants candidates, where they take another form than for bash: `zsh`, `fish` or `powershell`.
    COMP_SHELL;
    /// The folder whose `config.json` has passwords for OCI registries, instead of `~/.docker`.
    DOCKER_CONFIG;
    /// Folders with programs.
    PATH;
    /// The user's name on Windows.
    USERNAME;
    /// Where the SSH agent listens.
    SSH_AUTH_SOCK;
    /// The plugin handshake's proof that a host started this process.
    TF_PLUGIN_MAGIC_COOKIE;
    /// Lowest port for a plugin to listen on, where there are no Unix sockets.
    PLUGIN_MIN_PORT;
    /// Highest port for a plugin to listen on.
    PLUGIN_MAX_PORT;
    /// Protocol versions that the host of a plugin speaks.
    PLUGIN_PROTOCOL_VERSIONS;
    /// Where a plugin makes its socket.
    PLUGIN_UNIX_SOCKET_DIR;
    /// The group that may use a plugin's socket.
    PLUGIN_UNIX_SOCKET_GROUP;
    /// The certificate that the host of a plugin presents.
    PLUGIN_CLIENT_CERT;
    /// The number of the process that started a built-in plugin: only it may connect.
    TERRANE_PLUGIN_PEER;
    /// Whether the host of a plugin multiplexes its connections.
    PLUGIN_MULTIPLEX_GRPC;
}

/// The variables of one command: the process's own, or a test's.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: Arc<BTreeMap<String, String>>,
}

impl Environment {
    /// The process's environment as it is now; what is not UTF-8 has its odd bytes replaced.
    pub fn process() -> Environment {
        let pairs = std::env::vars_os();
        Environment::of(pairs.map(|(k, v)| (k.to_string_lossy().into_owned(), v.to_string_lossy().into_owned())))
    }

    pub fn of(pairs: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>) -> Environment {
        Environment { variables: Arc::new(pairs.into_iter().map(|(k, v)| (k.into(), v.into())).collect()) }
    }

    /// The value as set, which may be empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The value unless it is empty or not set.
    pub fn non_empty(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Variables whose name begins so, as (rest of the name, value), sorted.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let from = self.variables.range(prefix.to_string()..);
        from.map_while(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }

    /// All of them, sorted: what a child process gets.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_give_the_rest_of_the_name() {
        let env = Environment::of([("TF_VAR_b", "2"), ("TF_VAR_a", "1"), ("TF_VAS", "x"), ("TF_LOG", "")]);
        let found: Vec<_> = env.with_prefix(TF_VAR_).collect();
        assert_eq!(found, [("a", "1"), ("b", "2")]);
        assert_eq!((env.get(TF_LOG), env.non_empty(TF_LOG)), (Some(""), None));
    }

    #[test]
    fn every_variable_is_declared_once() {
        let names: std::collections::BTreeSet<_> = ALL.iter().map(|v| v.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|v| v.doc.trim().ends_with(['.', ')'])));
    }
}
