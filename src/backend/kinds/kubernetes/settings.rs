//! The settings of the `kubernetes` backend, and the access to a cluster that they and files describe.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::env;
use base::secret::Secret;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting};
use terrane_value::{Type, Value};

use super::kubeconfig::{self, Access, Choice, Exec, ExecVariable, KubeConfig};
use crate::contract::StoreError;
use crate::contract::schema::{block, optional};
use crate::contract::settings::{Settings, failure};

const TEXTS: [(&str, &str, &str); 14] = [
    ("namespace", env::KUBE_NAMESPACE, "Namespace to store the secret in."),
    ("host", env::KUBE_HOST, "The hostname (in form of URI) of Kubernetes master."),
    (
        "username",
        env::KUBE_USER,
        "The username to use for HTTP basic authentication when accessing the Kubernetes master endpoint.",
    ),
    (
        "password",
        env::KUBE_PASSWORD,
        "The password to use for HTTP basic authentication when accessing the Kubernetes master endpoint.",
    ),
    ("client_certificate", env::KUBE_CLIENT_CERT_DATA, "PEM-encoded client certificate for TLS authentication."),
    ("client_key", env::KUBE_CLIENT_KEY_DATA, "PEM-encoded client certificate key for TLS authentication."),
    (
        "cluster_ca_certificate",
        env::KUBE_CLUSTER_CA_CERT_DATA,
        "PEM-encoded root certificates bundle for TLS authentication.",
    ),
    (
        "config_path",
        env::KUBE_CONFIG_PATH,
        "Path to the kube config file. Can be set with KUBE_CONFIG_PATH environment variable.",
    ),
    ("config_context", env::KUBE_CTX, ""),
    ("config_context_auth_info", env::KUBE_CTX_AUTH_INFO, ""),
    ("config_context_cluster", env::KUBE_CTX_CLUSTER, ""),
    ("token", env::KUBE_TOKEN, "Token to authentifcate a service account."),
    ("proxy_url", env::KUBE_PROXY_URL, "URL to the proxy to be used for all API requests"),
    (
        "secret_suffix",
        "",
        "Suffix used when creating the secret. The secret will be named in the format: `tfstate-{workspace}-{secret_suffix}`. Note that the backend may append its own numeric index to the secret name when chunking large state files into multiple secrets. In this case, there will be multiple secrets named in the format: `tfstate-{workspace}-{secret_suffix}-{index}`.",
    ),
];

const FLAGS: [(&str, &str, &str); 3] = [
    ("in_cluster_config", env::KUBE_IN_CLUSTER_CONFIG, "Used to authenticate to the cluster from inside a pod."),
    ("load_config_file", env::KUBE_LOAD_CONFIG_FILE, "Load local kubeconfig."),
    ("insecure", env::KUBE_INSECURE, "Whether server should be accessed without verifying the TLS certificate."),
];

/// The settings of a block.
pub fn schema() -> Block {
    let required = |ty| Attribute { required: true, ..Attribute::new(ty) };
    let text = |(name, _, doc): &(&'static str, &str, &str)| {
        let is_required = *name == "secret_suffix";
        (*name, Attribute { required: is_required, optional: !is_required, ..optional(Type::String, doc) })
    };
    let others = [
        ("labels", optional(Type::map(Type::String), "Map of additional labels to be applied to the secret.")),
        (
            "config_paths",
            optional(
                Type::list(Type::String),
                "A list of paths to kube config files. Can be set with KUBE_CONFIG_PATHS environment variable.",
            ),
        ),
    ];
    let flags = FLAGS.iter().map(|(name, _, doc)| (*name, optional(Type::Bool, doc)));
    let mut schema = block(&TEXTS.iter().map(text).chain(flags).chain(others).collect::<Vec<_>>());
    let exec = block(&[
        ("api_version", required(Type::String)),
        ("command", required(Type::String)),
        ("env", optional(Type::map(Type::String), "")),
        ("args", optional(Type::list(Type::String), "")),
    ]);
    let exec = NestedBlock { block: exec, nesting: Nesting::Single, min_items: 0, max_items: 0 };
    schema.blocks.insert("exec".into(), exec);
    schema
}

/// True for a suffix that could be taken for the number of a part.
pub fn has_number_at_end(suffix: &str) -> bool {
    suffix.rsplit_once('-').is_some_and(|(_, end)| !end.is_empty() && end.bytes().all(|b| b.is_ascii_digit()))
}

/// The entries of a map of strings; null for an empty one.
pub fn pairs(value: Option<&Value>) -> BTreeMap<String, String> {
    let entries = value.filter(|value| !value.is_null()).into_iter().flat_map(|value| value.entries());
    entries.map(|(key, value)| (key.to_string(), value.as_str().unwrap_or_default().to_owned())).collect()
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let elements = value.filter(|value| !value.is_null()).into_iter().flat_map(|value| value.elements());
    elements.map(|value| value.as_str().unwrap_or_default().to_owned()).collect()
}

/// The settings of a block, with their variables.
pub struct ClusterSettings<'a>(pub Settings<'a>);

impl<'a> ClusterSettings<'a> {
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let variable = TEXTS.iter().find(|(other, ..)| *other == name).map_or("", |(_, variable, _)| *variable);
        self.0.text(name, &[variable])
    }

    fn flag(&self, name: &str) -> Result<bool, ProviderDiagnostic> {
        let variable = FLAGS.iter().find(|(other, ..)| *other == name).map_or("", |(_, variable, _)| *variable);
        Ok(self.0.flag(name, &[variable])?.unwrap_or(false))
    }

    /// Settings are above those of files.
    pub fn access(&self) -> Result<Access, ProviderDiagnostic> {
        let environment = self.0.environment;
        self.flag("load_config_file")?;
        let mut access = match self.flag("in_cluster_config")? {
            true => kubeconfig::in_cluster(environment).map_err(failure)?,
            false => self
                .of_files()
                .map_err(|why| failure(format!("Failed to initialize kubernetes configuration: {why}")))?,
        };
        if let Some(host) = self.text("host") {
            access.server = host.to_owned();
        }
        access.folder = self.0.folder.to_owned();
        access.insecure = self.flag("insecure")?;
        let owned = |name: &str| self.text(name).map(str::to_owned);
        access.authorities = owned("cluster_ca_certificate").or(access.authorities);
        access.certificate = owned("client_certificate").or(access.certificate);
        access.key = owned("client_key").map(Secret::new).or(access.key);
        access.proxy = owned("proxy_url").or(access.proxy);
        access.token = owned("token").map(Secret::new).or(access.token);
        if self.text("username").is_some() || self.text("password").is_some() {
            let (name, password) = access.login.take().unwrap_or((String::new(), Secret::new("")));
            let password = owned("password").map_or(password, Secret::new);
            access.login = Some((owned("username").unwrap_or(name), password));
        }
        Ok(access)
    }

    fn of_files(&self) -> Result<Access, StoreError> {
        let environment = self.0.environment;
        let set = |name: &str| self.text(name).map(str::to_owned);
        let choice = Choice {
            context: set("config_context"),
            user: set("config_context_auth_info"),
            cluster: set("config_context_cluster"),
        };
        let paths = self.paths();
        let config = KubeConfig::read(&paths)?;
        let host = self.text("host").or(environment.non_empty(env::KUBERNETES_MASTER));
        let mut access = match (config, host) {
            (Some(config), _) => config.access(&choice)?,
            (None, Some(host)) => Access { server: host.to_owned(), ..Access::default() },
            (None, None) if paths.is_empty() => match kubeconfig::in_cluster(environment) {
                Ok(access) => access,
                Err(_) => return Err(NO_CONFIGURATION.into()),
            },
            (None, None) => return Err(kubeconfig::text(&paths[0]).err().unwrap_or_else(|| StoreError::new(""))),
        };
        if let Some(exec) = self.exec() {
            access.exec = Some(exec);
        }
        Ok(access)
    }

    fn paths(&self) -> Vec<PathBuf> {
        let environment = self.0.environment;
        let listed = strings(self.0.config.get("config_paths"));
        let split = |list| std::env::split_paths(list).map(|path| path.to_string_lossy().into_owned()).collect();
        let (texts, folder) = match (self.text("config_path"), environment.non_empty(env::KUBE_CONFIG_PATHS)) {
            (Some(path), _) => (vec![path.to_owned()], self.0.folder_of("config_path")),
            (None, _) if !listed.is_empty() => (listed, self.0.folder),
            (None, Some(list)) => (split(list), Path::new("")),
            (None, None) => (Vec::new(), Path::new("")),
        };
        let home = environment.home_dir().unwrap_or_default();
        let home = home.to_string_lossy();
        texts
            .iter()
            .map(|path| folder.join(path.strip_prefix('~').map_or(path.clone(), |rest| format!("{home}{rest}"))))
            .collect()
    }

    fn exec(&self) -> Option<Exec> {
        let block = self.0.config.get("exec").filter(|block| !block.is_null())?;
        let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let env = pairs(block.get("env")).into_iter().map(|(name, value)| ExecVariable { name, value });
        // A name alone is looked up on the PATH.
        let command = text("command");
        let command = match command.contains('/') {
            true => self.0.folder.join(command).to_string_lossy().into_owned(),
            false => command,
        };
        Some(Exec {
            api_version: text("api_version"),
            command,
            args: strings(block.get("args")),
            env: env.collect(),
            ..Exec::default()
        })
    }
}

const NO_CONFIGURATION: &str =
    "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable";
