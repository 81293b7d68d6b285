//! Server, trusted authorities and credentials: from kubeconfig files, from inside a cluster, from settings.
//!
//! Owns how files are merged and what overrides what. Never sends anything.

use std::fmt;
use std::path::{Path, PathBuf};

use base::env::{self, Environment};
use base::files::named;
use base::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::yaml;
use crate::contract::StoreError;

/// What a file or several say.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct KubeConfig {
    clusters: Vec<Named<ClusterEntry>>,
    users: Vec<Named<UserEntry>>,
    contexts: Vec<Named<ContextEntry>>,
    #[serde(deserialize_with = "or_default")]
    current_context: String,
}

/// An entry of a list. The files call its content by the list's singular.
#[derive(Clone, Deserialize)]
struct Named<T> {
    name: String,
    #[serde(alias = "cluster", alias = "user", alias = "context", default = "Option::default")]
    content: Option<T>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct ClusterEntry {
    server: String,
    tls_server_name: Option<String>,
    certificate_authority: Option<String>,
    certificate_authority_data: Option<String>,
    proxy_url: Option<String>,
}

/// Holds secrets, and so has no debug form.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct UserEntry {
    client_certificate: Option<String>,
    client_certificate_data: Option<String>,
    client_key: Option<String>,
    client_key_data: Option<String>,
    token: Option<String>,
    #[serde(rename = "tokenFile")]
    token_file: Option<String>,
    #[serde(rename = "as")]
    impersonate: Option<String>,
    as_uid: Option<String>,
    as_groups: Vec<String>,
    username: Option<String>,
    password: Option<String>,
    auth_provider: Option<serde_json::Value>,
    exec: Option<Exec>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ContextEntry {
    cluster: String,
    user: String,
}

/// A program that gives credentials.
#[derive(Clone, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub struct Exec {
    pub api_version: String,
    pub command: String,
    #[serde(deserialize_with = "or_default")]
    pub args: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub env: Vec<ExecVariable>,
    pub install_hint: Option<String>,
    pub provide_cluster_info: bool,
}

#[derive(Clone, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub struct ExecVariable {
    pub name: String,
    pub value: String,
}

fn or_default<'de, T: Default + Deserialize<'de>, D: serde::Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Arguments and variables may be secrets.
impl fmt::Debug for Exec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exec({:?})", self.command)
    }
}

impl fmt::Debug for KubeConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KubeConfig({:?})", self.current_context)
    }
}

/// A server and how to log in to it.
#[derive(Clone, Debug, Default)]
pub struct Access {
    pub server: String,
    /// Only the setting of the backend allows that: a token must not go to a server because of what a file contains.
    pub insecure: bool,
    /// PEM texts.
    pub authorities: Option<String>,
    pub certificate: Option<String>,
    pub key: Option<Secret>,
    pub proxy: Option<String>,
    pub token: Option<Secret>,
    /// A file whose token changes from time to time.
    pub token_file: Option<PathBuf>,
    pub login: Option<(String, Secret)>,
    pub exec: Option<Exec>,
    /// Where that program starts. Empty: in the folder of the process.
    pub folder: PathBuf,
    /// Headers to impersonate another user.
    pub impersonate: Vec<(&'static str, String)>,
}

/// Parts of the context that settings choose.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    pub context: Option<String>,
    pub user: Option<String>,
    pub cluster: Option<String>,
}

/// Where the service account of a pod is.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The access that every pod has.
pub fn in_cluster(environment: &Environment) -> Result<Access, StoreError> {
    let (Some(host), Some(port)) =
        (environment.non_empty(env::KUBERNETES_SERVICE_HOST), environment.non_empty(env::KUBERNETES_SERVICE_PORT))
    else {
        return Err("unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined".into());
    };
    let folder = Path::new(SERVICE_ACCOUNT);
    text(&folder.join("token"))?;
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    Ok(Access {
        server: format!("https://{host}:{port}"),
        authorities: text(&folder.join("ca.crt")).ok(),
        token_file: Some(folder.join("token")),
        ..Access::default()
    })
}

impl KubeConfig {
    /// Reads one file that must be there, or several of which the first that names something decides. None if there is none.
    pub fn read(paths: &[PathBuf]) -> Result<Option<KubeConfig>, StoreError> {
        let mut merged: Option<KubeConfig> = None;
        for path in paths {
            let content = match std::fs::read_to_string(path) {
                Ok(content) => content,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(named(error, "open", path).into()),
            };
            let config =
                parse::<KubeConfig>(&content).map_err(|why| format!("error loading config file {path:?}: {why}"))?;
            let config = config.resolved(path.parent().unwrap_or(Path::new("")));
            match &mut merged {
                Some(merged) => merged.merge(config),
                None => merged = Some(config),
            }
        }
        Ok(merged)
    }

    fn merge(&mut self, other: KubeConfig) {
        add(&mut self.clusters, other.clusters);
        add(&mut self.users, other.users);
        add(&mut self.contexts, other.contexts);
        if self.current_context.is_empty() {
            self.current_context = other.current_context;
        }
    }

    /// With paths that are relative to the file's folder made absolute.
    fn resolved(mut self, folder: &Path) -> KubeConfig {
        let resolve = |path: &mut Option<String>| {
            if let Some(relative) = path.as_deref().filter(|path| !path.is_empty() && Path::new(path).is_relative()) {
                *path = Some(folder.join(relative).to_string_lossy().into_owned());
            }
        };
        for cluster in self.clusters.iter_mut().filter_map(|named| named.content.as_mut()) {
            resolve(&mut cluster.certificate_authority);
        }
        for user in self.users.iter_mut().filter_map(|named| named.content.as_mut()) {
            resolve(&mut user.client_certificate);
            resolve(&mut user.client_key);
            resolve(&mut user.token_file);
            // A name without a folder is looked for on PATH.
            if let Some(exec) = user.exec.as_mut().filter(|exec| exec.command.contains('/')) {
                let mut command = Some(std::mem::take(&mut exec.command));
                resolve(&mut command);
                exec.command = command.unwrap_or_default();
            }
        }
        self
    }

    /// What the chosen context gives access to.
    pub fn access(&self, choice: &Choice) -> Result<Access, StoreError> {
        let name = choice.context.as_deref().unwrap_or(&self.current_context);
        let context = match find(&self.contexts, name) {
            Some(context) => context,
            None if name.is_empty() => ContextEntry::default(),
            None => return Err(format!("context {name:?} does not exist").into()),
        };
        let user_name = choice.user.as_deref().unwrap_or(&context.user);
        let user = match find(&self.users, user_name) {
            Some(user) => user,
            None if user_name.is_empty() => UserEntry::default(),
            None => return Err(format!("auth info {user_name:?} does not exist").into()),
        };
        let cluster_name = choice.cluster.as_deref().unwrap_or(&context.cluster);
        let cluster = match find(&self.clusters, cluster_name) {
            Some(cluster) => cluster,
            None if cluster_name.is_empty() => ClusterEntry::default(),
            None => return Err(format!("cluster {cluster_name:?} does not exist").into()),
        };
        if cluster.tls_server_name.is_some_and(|name| !name.is_empty()) {
            return Err("tls-server-name is not supported".into());
        }
        let mut access = Access {
            authorities: data_or_file(&cluster.certificate_authority_data, &cluster.certificate_authority)?,
            proxy: cluster.proxy_url.filter(|url| !url.is_empty()),
            server: cluster.server,
            ..Access::default()
        };
        // Credentials are not sent in the clear.
        if access.server.starts_with("https://") || !access.server.contains("://") {
            user.log_in(&mut access)?;
        }
        Ok(access)
    }
}

impl UserEntry {
    fn log_in(self, access: &mut Access) -> Result<(), StoreError> {
        if let Some(provider) = self.auth_provider {
            let name = provider.get("name").and_then(|name| name.as_str()).unwrap_or_default().to_owned();
            return Err(format!("no Auth Provider found for name {name:?}").into());
        }
        access.certificate = data_or_file(&self.client_certificate_data, &self.client_certificate)?;
        access.key = data_or_file(&self.client_key_data, &self.client_key)?.map(Secret::new);
        access.token = self.token.filter(|token| !token.is_empty()).map(Secret::new);
        access.token_file = self.token_file.filter(|path| !path.is_empty()).map(PathBuf::from);
        access.login = self.username.map(|name| (name, Secret::new(self.password.unwrap_or_default())));
        access.exec = self.exec;
        let user = self.impersonate.map(|name| ("impersonate-user", name));
        let id = self.as_uid.map(|id| ("impersonate-uid", id));
        let groups = self.as_groups.into_iter().map(|group| ("impersonate-group", group));
        access.impersonate = user.into_iter().chain(id).chain(groups).collect();
        Ok(())
    }
}

fn add<T>(entries: &mut Vec<Named<T>>, others: Vec<Named<T>>) {
    for other in others {
        if entries.iter().all(|entry| entry.name != other.name) {
            entries.push(other);
        }
    }
}

fn find<T: Clone + Default>(entries: &[Named<T>], name: &str) -> Option<T> {
    let entry = entries.iter().find(|entry| entry.name == name)?;
    Some(entry.content.clone().unwrap_or_default())
}

/// A text of a file, or what is encoded in the configuration itself.
fn data_or_file(data: &Option<String>, path: &Option<String>) -> Result<Option<String>, StoreError> {
    if let Some(data) = data.as_deref().filter(|data| !data.is_empty()) {
        let bytes = STANDARD.decode(data.split_whitespace().collect::<String>());
        let text_of = |bytes| String::from_utf8(bytes).ok();
        return bytes.ok().and_then(text_of).map(Some).ok_or_else(|| "certificate data is not valid base64".into());
    }
    path.as_deref().filter(|path| !path.is_empty()).map(|path| text(Path::new(path))).transpose()
}

/// The text of a file.
pub fn text(path: &Path) -> Result<String, StoreError> {
    std::fs::read_to_string(path).map_err(|error| named(error, "open", path).into())
}

fn parse<T: DeserializeOwned + Default>(text: &str) -> Result<T, StoreError> {
    match yaml::read(text)? {
        serde_json::Value::Null => Ok(T::default()),
        // The library's errors may show values.
        value => serde_json::from_value(value).map_err(|_| "not a kubeconfig file".into()),
    }
}

#[cfg(test)]
#[path = "kubeconfig_tests.rs"]
mod tests;
