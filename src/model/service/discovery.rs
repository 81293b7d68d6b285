//! What a host says that it offers: the document at `/.well-known/terraform.json`, or a `host` block that stands in for it.

use std::fmt;

use serde_json::Value as Json;
use url::Url;

use super::cli_file::{Item, Node};
use super::host::Host;

/// Where a host's document is.
pub const DOCUMENT: &str = "/.well-known/terraform.json";

/// The services of a host by their id, `modules.v1`, and the address that theirs are relative to.
#[derive(Clone, Debug)]
pub struct HostServices {
    host: Host,
    base: Url,
    /// None: the host offers nothing, not even a document.
    services: Option<serde_json::Map<String, Json>>,
}

/// A host whose name is no part of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostAddressError {
    host: Host,
    error: url::ParseError,
}

impl fmt::Display for HostAddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid hostname {}: {}", self.host, self.error)
    }
}

impl std::error::Error for HostAddressError {}

/// Why a `host` block cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostBlockError {
    Incomplete,
    Hostname(String),
    Address(HostAddressError),
}

impl fmt::Display for HostBlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostBlockError::Incomplete => f.write_str("a host block needs a hostname and a body"),
            HostBlockError::Hostname(given) => write!(f, "The host {given:?} block has an invalid hostname"),
            HostBlockError::Address(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for HostBlockError {}

/// Why an address in a document cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressError {
    Url(url::ParseError),
    Scheme(String),
    Credentials,
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddressError::Url(error) => error.fmt(f),
            AddressError::Scheme(scheme) => write!(f, "unsupported scheme {scheme}"),
            AddressError::Credentials => f.write_str("embedded username/password information is not permitted"),
        }
    }
}

impl std::error::Error for AddressError {}

/// Why a host has no address for a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceError {
    /// The host offers nothing.
    NoServices {
        service: String,
    },
    NotOffered {
        host: String,
        service: String,
    },
    OtherVersion {
        host: String,
        service: String,
        version: String,
    },
    Address(AddressError),
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServiceError::NoServices { service } => write!(f, "host does not provide a {service} service"),
            ServiceError::NotOffered { host, service } => {
                write!(f, "host {host} does not provide a {service} service")
            }
            ServiceError::OtherVersion { host, service, version } => {
                write!(f, "host {host} does not support {service} version {version}")
            }
            ServiceError::Address(why) => write!(f, "Failed to parse service URL: {why}"),
        }
    }
}

impl std::error::Error for ServiceError {}

/// The address of the document of a host.
pub fn document_url(host: &Host) -> Result<Url, HostAddressError> {
    Url::parse(&format!("https://{host}{DOCUMENT}")).map_err(|error| HostAddressError { host: host.clone(), error })
}

impl HostServices {
    /// `base` is where the document was found in the end.
    pub fn new(host: Host, base: Url, services: Option<serde_json::Map<String, Json>>) -> HostServices {
        HostServices { host, base, services }
    }

    /// `host "name" { services = { ... } }`, which replaces discovery.
    pub fn from_block(item: &Item) -> Result<HostServices, HostBlockError> {
        let (given, body) = match (item.labels.first(), item.value.as_items()) {
            (Some(given), Some(body)) => (given, body),
            _ => return Err(HostBlockError::Incomplete),
        };
        let host = Host::parse(given).map_err(|_| HostBlockError::Hostname(given.clone()))?;
        let services = body.iter().find(|i| i.key == "services").and_then(|i| i.value.as_items()).unwrap_or_default();
        let base = document_url(&host).map_err(HostBlockError::Address)?;
        let services = services.iter().map(|i| (i.key.clone(), json(&i.value))).collect();
        Ok(HostServices { host, base, services: Some(services) })
    }

    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Whether the host offers the service in any version; `id` is `providers.v1`.
    pub fn offers_some(&self, id: &str) -> bool {
        let service = id.split('.').next().unwrap_or(id);
        self.services.as_ref().is_some_and(|all| all.keys().any(|known| known.split('.').next() == Some(service)))
    }

    /// Whether the host offers the service in this version.
    pub fn offers(&self, id: &str) -> bool {
        self.services.as_ref().is_some_and(|all| all.get(id).is_some_and(Json::is_string))
    }

    /// The value of a service in the document, of any type.
    pub(super) fn described(&self, id: &str) -> Option<&Json> {
        self.services.as_ref()?.get(id)
    }

    /// An address of the document.
    pub(super) fn absolute(&self, text: &str) -> Result<Url, AddressError> {
        let mut url = self.base.join(text).map_err(AddressError::Url)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(AddressError::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Credentials);
        }
        url.set_fragment(None);
        Ok(url)
    }

    /// The address of a service, which ends in a slash.
    pub fn url(&self, id: &str) -> Result<Url, ServiceError> {
        let (service, version) = id.split_once('.').unwrap_or((id, ""));
        let service = service.to_owned();
        let Some(services) = &self.services else { return Err(ServiceError::NoServices { service }) };
        let Some(text) = services.get(id).and_then(Json::as_str) else {
            let host = self.host.for_display();
            let other = services.keys().any(|known| known.split('.').next() == Some(service.as_str()));
            return Err(match other {
                true => ServiceError::OtherVersion { host, service, version: version.to_owned() },
                false => ServiceError::NotOffered { host, service },
            });
        };
        let mut url = self.absolute(text).map_err(ServiceError::Address)?;
        if !url.path().ends_with('/') {
            let path = format!("{}/", url.path());
            url.set_path(&path);
        }
        Ok(url)
    }
}

fn json(node: &Node) -> Json {
    match node {
        Node::String(text) => text.clone().into(),
        Node::Bool(b) => (*b).into(),
        Node::Number(text) => text.parse::<i64>().map_or(Json::Null, Json::from),
        Node::List(nodes) => nodes.iter().map(json).collect(),
        Node::Items(items) => Json::Object(items.iter().map(|i| (i.key.clone(), json(&i.value))).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services() {
        let host = Host::parse("example.com").unwrap();
        let base = Url::parse("https://other.example.com/x/terraform.json").unwrap();
        let text = r#"{"modules.v1": "./m", "providers.v1": "https://p.example/v1/", "tfe.v2": "/api", "state.v2": "ftp://x/",
                       "motd.v1": "https://u:p@x/", "login.v1": {}}"#;
        let services = serde_json::from_str(text).unwrap();
        let services = HostServices::new(host.clone(), base.clone(), services);
        let cases = [
            ("modules.v1", Ok("https://other.example.com/x/m/")),
            ("providers.v1", Ok("https://p.example/v1/")),
            ("tfe.v2", Ok("https://other.example.com/api/")),
            ("modules.v2", Err("host example.com does not support modules version v2")),
            ("nope.v1", Err("host example.com does not provide a nope service")),
            ("state.v2", Err("Failed to parse service URL: unsupported scheme ftp")),
            ("motd.v1", Err("Failed to parse service URL: embedded username/password information is not permitted")),
        ];
        for (id, expected) in cases {
            let got = services.url(id);
            let got = got.as_ref().map(Url::as_str).map_err(ToString::to_string);
            assert_eq!(got, expected.map_err(str::to_owned), "{id}");
        }
        let none = HostServices::new(host, base, None);
        assert_eq!(none.url("modules.v1").unwrap_err().to_string(), "host does not provide a modules service");
    }

    #[test]
    fn a_block_replaces_the_document() {
        let text = "host \"example.com\" { services = { \"modules.v1\" = \"https://m.example/\" } }";
        let items = super::super::cli_file::parse(text).unwrap();
        let services = HostServices::from_block(&items[0]).unwrap();
        assert_eq!(services.url("modules.v1").unwrap().as_str(), "https://m.example/");
    }
}
