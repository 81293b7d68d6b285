//! Authentication for OCI registries: tokens, which other hosts issue with or without a password, and the
//! passwords that `docker login` and similar programs have stored.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use serde::Deserialize;
use url::Url;

use crate::base::http::{Client, FailureKind, Request};
use crate::base::secret::Secret;
use crate::model::service::repository_template::Repository;

use super::SourceError;

/// Shared by all repositories of a mirror.
#[derive(Default)]
pub struct Access {
    /// Files in which names and passwords are kept; the first that knows a repository counts.
    files: Vec<PathBuf>,
    known: Mutex<HashMap<String, RegistryLogin>>,
}

/// What is shown to a registry.
#[derive(Clone, Debug, Default)]
pub struct RegistryLogin {
    token: Option<Secret>,
    login: Option<(String, Secret)>,
    /// A password of the user's is behind it.
    of_user: bool,
}

impl RegistryLogin {
    pub fn show(&self, request: Request) -> Request {
        request.login(self.login.as_ref()).token(self.token.as_ref())
    }

    pub fn are_users(&self) -> bool {
        self.of_user
    }
}

/// `config.json` of Docker and its like.
#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    auths: HashMap<String, Auth>,
}

#[derive(Deserialize)]
struct Auth {
    #[serde(default)]
    auth: Option<String>,
}

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

impl Access {
    pub fn new(files: Vec<PathBuf>) -> Access {
        Access { files, known: Mutex::default() }
    }

    /// What the registry was content with before.
    pub fn known(&self, repository: &Repository) -> RegistryLogin {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&key(repository)).cloned().unwrap_or_default()
    }

    /// What to show after a registry has asked for something.
    pub async fn answer(
        &self,
        http: &Client,
        repository: &Repository,
        challenge: &str,
    ) -> Result<RegistryLogin, SourceError> {
        let login = self.login(repository);
        let of_user = login.is_some();
        let refused = || SourceError::Unauthorized { host: repository.registry.clone(), had_credentials: of_user };
        let (scheme, parameters) = challenge.split_once(' ').unwrap_or((challenge, ""));
        let shown = match scheme.to_ascii_lowercase().as_str() {
            "basic" if of_user => RegistryLogin { token: None, login, of_user },
            "bearer" => {
                let token = token(http, repository, &parameters_of(parameters), login).await?;
                RegistryLogin { token: Some(token.ok_or_else(refused)?), login: None, of_user }
            }
            _ => return Err(refused()),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key(repository), shown.clone());
        Ok(shown)
    }

    /// The name and password for a repository: those of the longest address that leads to it.
    fn login(&self, repository: &Repository) -> Option<(String, Secret)> {
        let address = key(repository);
        let leads =
            |kept: &str| address == kept || address.strip_prefix(kept).is_some_and(|rest| rest.starts_with('/'));
        for file in &self.files {
            let Some(config) = std::fs::read(file).ok().and_then(|text| serde_json::from_slice::<Config>(&text).ok())
            else {
                continue;
            };
            let mut fitting: Vec<(&str, &Auth)> =
                config.auths.iter().map(|(kept, auth)| (bare(kept), auth)).filter(|(kept, _)| leads(kept)).collect();
            fitting.sort_by_key(|(kept, _)| std::cmp::Reverse(kept.len()));
            if let Some(found) = fitting.into_iter().find_map(|(_, auth)| pair(auth)) {
                return Some(found);
            }
        }
        None
    }
}

fn key(repository: &Repository) -> String {
    format!("{}/{}", repository.registry, repository.name)
}

/// `https://registry.example/v1/` is an old way to write `registry.example`.
fn bare(kept: &str) -> &str {
    let without = kept.strip_prefix("https://").or_else(|| kept.strip_prefix("http://"));
    match without {
        Some(address) => address.split('/').next().unwrap_or(address),
        None => kept.trim_end_matches('/'),
    }
}

fn pair(auth: &Auth) -> Option<(String, Secret)> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(auth.auth.as_deref()?).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (name, password) = text.split_once(':')?;
    (!name.is_empty()).then(|| (name.to_owned(), Secret::new(password)))
}

/// `realm="https://auth.example/token",service="registry"`, by name.
fn parameters_of(text: &str) -> HashMap<String, String> {
    let mut found = HashMap::new();
    let mut rest = text.trim();
    while let Some((name, after)) = rest.split_once('=') {
        let (value, more) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(',').unwrap_or((after, "")),
        };
        found.insert(name.trim().to_ascii_lowercase(), value.to_owned());
        rest = more.trim_start_matches([',', ' ']);
    }
    found
}

/// Asks the host that gives tokens. None: it gives us none.
async fn token(
    http: &Client,
    repository: &Repository,
    challenge: &HashMap<String, String>,
    login: Option<(String, Secret)>,
) -> Result<Option<Secret>, SourceError> {
    let failed = |why: String| {
        SourceError::Failed(format!("failed to get a token for the OCI repository {}: {why}", key(repository)))
    };
    let realm = challenge.get("realm").map(String::as_str).unwrap_or_default();
    let url = Url::parse(realm).ok().filter(|url| url.scheme() == "https");
    let mut url = url.ok_or_else(|| failed(format!("{:?} is no https: URL", crate::base::secret::redacted(realm))))?;
    let pull = format!("repository:{}:pull", repository.name);
    {
        let mut query = url.query_pairs_mut();
        if let Some(service) = challenge.get("service") {
            query.append_pair("service", service);
        }
        query.append_pair("scope", challenge.get("scope").unwrap_or(&pull));
    }
    let answer = http.send(&Request::get(url).login(login.as_ref())).await.map_err(|e| match e.kind {
        FailureKind::Stopped => SourceError::Interrupted,
        _ => failed(e.to_string()),
    })?;
    match answer.status.as_u16() {
        200 => {
            let token: Token =
                serde_json::from_slice(&answer.body).map_err(|e| failed(format!("invalid answer: {e}")))?;
            Ok(token.token.or(token.access_token).filter(|token| !token.is_empty()).map(Secret::new))
        }
        401 | 403 => Ok(None),
        status => Err(failed(format!("server returned unsuccessful status {status}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_have_parameters() {
        let found = parameters_of("realm=\"https://a.example/token?x=y\", service=\"r\",scope=repository:x:pull");
        let get = |name: &str| found.get(name).map(String::as_str);
        assert_eq!(get("realm"), Some("https://a.example/token?x=y"));
        assert_eq!((get("service"), get("scope")), (Some("r"), Some("repository:x:pull")));
        assert!(parameters_of("nonsense").is_empty());
    }

    #[test]
    fn the_nearest_password_counts() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.json");
        let pair = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
        let text = serde_json::json!({"auths": {
            "a.example": {"auth": pair("host:1")},
            "a.example/team": {"auth": pair("team:2")},
            "https://b.example/v1/": {"auth": pair("old:3")},
            "c.example": {},
        }});
        std::fs::write(&file, text.to_string()).unwrap();
        let access = Access::new(vec![dir.path().join("none.json"), file]);
        for (registry, name, expected) in [
            ("a.example", "x/y", Some("host")),
            ("a.example", "team/y", Some("team")),
            ("a.example", "teams/y", Some("host")),
            ("b.example", "y", Some("old")),
            ("c.example", "y", None),
            ("d.example", "y", None),
        ] {
            let repository = Repository { registry: registry.into(), name: name.into() };
            let found = access.login(&repository);
            assert_eq!(found.map(|(name, _)| name).as_deref(), expected, "{registry}/{name}");
        }
    }
}
