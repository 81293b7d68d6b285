//! Authentication for OCI registries: passwords, and tokens, which other hosts issue with or without a password.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use base::secret::Secret;
use model::service::oci_credentials::OciLogin;
use model::service::oci_repository::Repository;
use net::http::{Answer, Client, FailureKind, Request};
use serde::Deserialize;
use url::Url;

use super::{Logins, OciError};

/// What the registries of a command accept; shared by all requests.
#[derive(Default)]
pub struct Access {
    logins: Logins,
    known: Mutex<HashMap<Repository, RegistryLogin>>,
}

/// What is shown to a registry.
#[derive(Clone, Debug, Default)]
pub struct RegistryLogin {
    token: Option<Secret>,
    login: Option<(String, Secret)>,
    /// The user has credentials for it.
    of_user: bool,
    /// The token is the one of the settings, which may have expired.
    renewable: bool,
}

impl RegistryLogin {
    pub fn show(&self, request: Request) -> Request {
        request.login(self.login.as_ref()).token(self.token.as_ref())
    }

    pub fn are_users(&self) -> bool {
        self.of_user
    }

    /// If the registry refuses it, another one may be accepted.
    pub fn is_renewable(&self) -> bool {
        self.renewable
    }
}

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

/// The host that issues tokens for a repository, and what it is asked for.
struct TokenService<'a> {
    repository: &'a Repository,
    realm: Url,
    service: Option<String>,
    scope: String,
}

impl Access {
    pub fn new(logins: Logins) -> Access {
        Access { logins, known: Mutex::default() }
    }

    /// What the registry accepted before.
    pub fn known(&self, repository: &Repository) -> RegistryLogin {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(repository).cloned().unwrap_or_default()
    }

    /// What to show after a registry has refused something with a challenge. Passwords and refresh tokens go to the registry that
    /// they are for, and to the token service that it names.
    pub async fn answer(
        &self,
        http: &Client,
        repository: &Repository,
        challenge: &str,
        refused: &RegistryLogin,
    ) -> Result<RegistryLogin, OciError> {
        let login = self.logins.of(repository, http.stop()).await?;
        let of_user = login.is_some();
        let unauthorized = || OciError::Unauthorized { host: repository.registry.clone(), had_credentials: of_user };
        let with_token = |token: Option<Secret>| match token {
            Some(_) => Ok(RegistryLogin { token, of_user, ..RegistryLogin::default() }),
            None => Err(unauthorized()),
        };
        let (scheme, parameters) = challenge.split_once(' ').unwrap_or((challenge, ""));
        let service = || TokenService::new(repository, &parameters_of(parameters));
        let shown = match (scheme.to_ascii_lowercase().as_str(), login) {
            ("basic", Some(OciLogin::Password { username, password })) => {
                RegistryLogin { login: Some((username, password)), of_user, ..RegistryLogin::default() }
            }
            ("bearer", None) => with_token(service()?.issue(http, None).await?)?,
            ("bearer", Some(OciLogin::Password { username, password })) => {
                with_token(service()?.issue(http, Some((username, password))).await?)?
            }
            ("bearer", Some(OciLogin::Tokens { access: Some(access), .. })) if !refused.renewable => {
                RegistryLogin { renewable: true, ..with_token(Some(access))? }
            }
            ("bearer", Some(OciLogin::Tokens { refresh, .. })) => {
                with_token(service()?.exchange(http, &refresh).await?)?
            }
            _ => return Err(unauthorized()),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(repository.clone(), shown.clone());
        Ok(shown)
    }
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

impl<'a> TokenService<'a> {
    fn new(repository: &'a Repository, challenge: &HashMap<String, String>) -> Result<TokenService<'a>, OciError> {
        let realm = challenge.get("realm").map(String::as_str).unwrap_or_default();
        let url = Url::parse(realm).ok().filter(|url| url.scheme() == "https");
        let realm =
            url.ok_or_else(|| failed(repository, &format!("{:?} is no https: URL", base::secret::redacted(realm))))?;
        let pull = || format!("repository:{}:pull", repository.name);
        let scope = challenge.get("scope").cloned().unwrap_or_else(pull);
        Ok(TokenService { repository, realm, service: challenge.get("service").cloned(), scope })
    }

    /// A token for a login, or an anonymous one. None: the host issues none.
    async fn issue(&self, http: &Client, login: Option<(String, Secret)>) -> Result<Option<Secret>, OciError> {
        let mut url = self.realm.clone();
        {
            let mut query = url.query_pairs_mut();
            if let Some(service) = &self.service {
                query.append_pair("service", service);
            }
            query.append_pair("scope", &self.scope);
        }
        self.token(http, Request::get(url).login(login.as_ref())).await
    }

    /// The token that the host gives for a refresh token.
    async fn exchange(&self, http: &Client, refresh: &Secret) -> Result<Option<Secret>, OciError> {
        let service = self.service.as_deref().unwrap_or(&self.repository.registry);
        let fields = [
            ("grant_type", "refresh_token"),
            ("service", service),
            ("client_id", base::name::TERRANE),
            ("scope", &self.scope),
            ("refresh_token", refresh.reveal()),
        ];
        self.token(http, Request::form(self.realm.clone(), &fields)).await
    }

    async fn token(&self, http: &Client, request: Request) -> Result<Option<Secret>, OciError> {
        let answer: Answer = http.send(&request).await.map_err(|e| match e.kind {
            FailureKind::Stopped => OciError::Interrupted,
            _ => failed(self.repository, &e.to_string()),
        })?;
        match answer.status.as_u16() {
            200 => {
                // An error of the decoder could show a part of the token.
                let token: Token = serde_json::from_slice(&answer.body)
                    .map_err(|_| failed(self.repository, "the answer is not a JSON document with a token"))?;
                let given = |token: &String| !token.is_empty();
                Ok(token.token.filter(given).or(token.access_token.filter(given)).map(Secret::new))
            }
            400 | 401 | 403 => Ok(None),
            status => Err(failed(self.repository, &format!("server returned unsuccessful status {status}"))),
        }
    }
}

fn failed(repository: &Repository, why: &str) -> OciError {
    OciError::Failed(format!("failed to get a token for the OCI repository {repository}: {why}"))
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
    fn tokens_come_from_https_only() {
        let repository = Repository::new("a.example", "x").unwrap();
        let service = |text: &str| TokenService::new(&repository, &parameters_of(text)).map(|service| service.scope);
        assert_eq!(service("realm=\"https://b.example/\""), Ok("repository:x:pull".to_owned()));
        for bad in ["realm=\"http://b.example/\"", "realm=\"file:///x\"", ""] {
            assert!(matches!(service(bad), Err(OciError::Failed(why)) if why.contains("is no https: URL")), "{bad}");
        }
    }
}
