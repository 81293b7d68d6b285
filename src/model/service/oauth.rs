//! How a host wants tokens to be asked for: the description of an OAuth client in the document of its services.

use std::fmt;

use serde_json::Value as Json;
use url::Url;

use super::HostServices;
use super::discovery::AddressError;

/// A client that may request tokens of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct OAuthClient {
    pub id: String,
    grants: Vec<String>,
    /// Where people agree. None only if no grant needs it.
    authorization: Option<Url>,
    /// Where tokens are given. None only if no grant needs it.
    token: Option<Url>,
    /// The lowest and the highest port on which an answer may come back, both included.
    pub ports: (u16, u16),
    pub scopes: Vec<String>,
}

/// Why there is no client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OAuthProblem {
    NotOffered,
    /// The host has other versions of the service.
    OtherVersion,
    Invalid(OAuthError),
}

/// What is wrong with the description of a client, for the service of an id. Messages have no full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OAuthError {
    NoObject(String),
    Grants(String),
    /// The property of this name is required.
    Missing {
        id: String,
        name: &'static str,
    },
    /// `purpose`: of the address.
    Address {
        purpose: &'static str,
        error: AddressError,
    },
    Ports {
        id: String,
        why: &'static str,
    },
    Scopes(String),
}

impl fmt::Display for OAuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OAuthError::NoObject(id) => {
                write!(f, "Service {id} must be declared with an object value in the service discovery document")
            }
            OAuthError::Grants(id) => write!(
                f,
                "Service {id} is defined with invalid grant_types property: must be an array of grant type strings"
            ),
            OAuthError::Missing { id, name } => {
                write!(f, "Service {id} definition is missing required property {name:?}")
            }
            OAuthError::Address { purpose, error } => write!(f, "Failed to parse {purpose} URL: {error}"),
            OAuthError::Ports { id, why } => write!(f, "Invalid \"ports\" definition for service {id}: {why}"),
            OAuthError::Scopes(id) => write!(f, "Invalid \"scopes\" for service {id}: all scopes must be strings"),
        }
    }
}

impl std::error::Error for OAuthError {}

/// How a token is got: by a code that comes back from the browser, with the addresses of both steps; or for a password, with
/// the address to send it to.
#[derive(Clone, Debug, PartialEq)]
pub enum Grant<'a> {
    Code { authorization: &'a Url, token: &'a Url },
    Password { token: &'a Url },
}

const CODE: &str = "authz_code";
const PASSWORD: &str = "password";
const LOWEST_PORT: u16 = 1024;

impl OAuthClient {
    /// The best of the ways that the host allows and we know; `with_password`: the user's password may be asked for.
    pub fn grant(&self, with_password: bool) -> Option<Grant<'_>> {
        let has = |grant: &str| self.grants.iter().any(|g| g == grant);
        match (&self.authorization, &self.token) {
            (Some(authorization), Some(token)) if has(CODE) => Some(Grant::Code { authorization, token }),
            (_, Some(token)) if has(PASSWORD) && with_password => Some(Grant::Password { token }),
            _ => None,
        }
    }
}

impl HostServices {
    /// The client that a service is described by; `id` is `login.v1`.
    pub fn oauth_client(&self, id: &str) -> Result<OAuthClient, OAuthProblem> {
        let Some(described) = self.described(id) else {
            return Err(if self.offers_some(id) { OAuthProblem::OtherVersion } else { OAuthProblem::NotOffered });
        };
        self.read_client(id, described).map_err(OAuthProblem::Invalid)
    }

    fn read_client(&self, id: &str, described: &Json) -> Result<OAuthClient, OAuthError> {
        let Json::Object(members) = described else {
            return Err(OAuthError::NoObject(id.to_owned()));
        };
        let grants: Vec<String> = match members.get("grant_types") {
            None => vec![CODE.to_owned()],
            Some(Json::Array(all)) => all.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
            Some(_) => return Err(OAuthError::Grants(id.to_owned())),
        };
        let missing = |name| OAuthError::Missing { id: id.to_owned(), name };
        let client = members.get("client").and_then(Json::as_str).ok_or_else(|| missing("client"))?;
        let needs_page = grants.iter().any(|g| g == CODE);
        let needs_token = needs_page || grants.iter().any(|g| g == PASSWORD);
        let address =
            |name: &'static str, purpose: &'static str, needed: bool| match members.get(name).and_then(Json::as_str) {
                Some(text) => self.absolute(text).map(Some).map_err(|error| OAuthError::Address { purpose, error }),
                None if needed => Err(missing(name)),
                None => Ok(None),
            };
        Ok(OAuthClient {
            id: client.to_owned(),
            authorization: address("authz", "authorization", needs_page)?,
            token: address("token", "token", needs_token)?,
            ports: ports(id, members.get("ports"))?,
            scopes: scopes(id, members.get("scopes"))?,
            grants,
        })
    }
}

fn ports(id: &str, given: Option<&Json>) -> Result<(u16, u16), OAuthError> {
    let invalid = |why| OAuthError::Ports { id: id.to_owned(), why };
    let Some(given) = given.and_then(Json::as_array) else { return Ok((LOWEST_PORT, u16::MAX)) };
    let [low, high] = given.as_slice() else { return Err(invalid("must be a two-element array")) };
    let port = |value: &Json| {
        let whole = value.as_f64().filter(|n| n.fract() == 0.0 && *n >= f64::from(LOWEST_PORT));
        // A number within the bounds that were just checked.
        let port = whole.filter(|n| *n <= f64::from(u16::MAX)).map(|n| n as u16);
        port.ok_or_else(|| invalid("both ports must be whole numbers between 1024 and 65535"))
    };
    let (low, high) = (port(low)?, port(high)?);
    if high < low { Err(invalid("minimum port cannot be greater than maximum port")) } else { Ok((low, high)) }
}

fn scopes(id: &str, given: Option<&Json>) -> Result<Vec<String>, OAuthError> {
    let Some(given) = given.and_then(Json::as_array) else { return Ok(Vec::new()) };
    let text = |scope: &Json| scope.as_str().map(str::to_owned);
    let texts: Option<Vec<String>> = given.iter().map(text).collect();
    texts.ok_or_else(|| OAuthError::Scopes(id.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::Host;

    fn read(service: &str) -> Result<OAuthClient, OAuthProblem> {
        let base = Url::parse("https://h.example/x/terraform.json").unwrap();
        let services = serde_json::from_str(&format!("{{\"login.v1\": {service}}}")).unwrap();
        HostServices::new(Host::parse("h.example").unwrap(), base, Some(services)).oauth_client("login.v1")
    }

    #[test]
    fn descriptions() {
        let client =
            read(r#"{"client": "c", "authz": "/a?x=1", "token": "t", "ports": [2000, 2000], "scopes": ["s"]}"#);
        let client = client.unwrap();
        assert_eq!((client.id.as_str(), client.ports, client.scopes.len()), ("c", (2000, 2000), 1));
        let Some(Grant::Code { authorization, token }) = client.grant(true) else { panic!("{client:?}") };
        assert_eq!((authorization.as_str(), token.as_str()), ("https://h.example/a?x=1", "https://h.example/x/t"));
        let client = read(r#"{"client": "c", "token": "t", "grant_types": ["x", "password"]}"#).unwrap();
        assert_eq!((client.grant(false), client.ports), (None, (1024, 65535)));
        assert!(matches!(client.grant(true), Some(Grant::Password { .. })));
        assert_eq!(read(r#"{"client": "c", "grant_types": []}"#).unwrap().grant(true), None);
    }

    #[test]
    fn invalid_settings_are_errors() {
        let cases = [
            ("\"/x\"", "must be declared with an object value in the service discovery document"),
            ("{}", "missing required property \"client\""),
            (r#"{"client": "c"}"#, "missing required property \"authz\""),
            (r#"{"client": "c", "authz": "/a"}"#, "missing required property \"token\""),
            (r#"{"client": "c", "grant_types": "x"}"#, "invalid grant_types property"),
            (r#"{"client": "c", "authz": "ftp://x/"}"#, "authorization URL: unsupported scheme ftp"),
            (r#"{"client": "c", "authz": "/a", "token": "https://u:p@x/"}"#, "token URL: embedded username/password"),
            (r#"{"client": "c", "authz": "/a", "token": "/t", "ports": [1]}"#, "two-element array"),
            (r#"{"client": "c", "authz": "/a", "token": "/t", "ports": [1, 2]}"#, "whole numbers between"),
            (r#"{"client": "c", "authz": "/a", "token": "/t", "ports": [2000, 70000]}"#, "whole numbers between"),
            (r#"{"client": "c", "authz": "/a", "token": "/t", "ports": [2000.5, 3000]}"#, "whole numbers between"),
            (r#"{"client": "c", "authz": "/a", "token": "/t", "ports": [3000, 2000]}"#, "cannot be greater"),
            (r#"{"client": "c", "authz": "/a", "token": "/t", "scopes": [1]}"#, "all scopes must be strings"),
        ];
        for (service, expected) in cases {
            let Err(OAuthProblem::Invalid(why)) = read(service) else { panic!("{service}") };
            assert!(why.to_string().contains(expected), "{why}");
        }
        let base = Url::parse("https://h.example/").unwrap();
        let services = serde_json::from_str("{\"login.v2\": {}}").unwrap();
        let host = Host::parse("h.example").unwrap();
        let other = HostServices::new(host.clone(), base.clone(), Some(services));
        assert_eq!(other.oauth_client("login.v1"), Err(OAuthProblem::OtherVersion));
        assert_eq!(HostServices::new(host, base, None).oauth_client("login.v1"), Err(OAuthProblem::NotOffered));
    }
}
