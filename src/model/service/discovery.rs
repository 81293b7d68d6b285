//! What a host says that it offers: the document at `/.well-known/terraform.json`, or a `host` block that stands in for it.

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

/// The address of the document of a host.
pub fn document_url(host: &Host) -> Result<Url, String> {
    Url::parse(&format!("https://{host}{DOCUMENT}")).map_err(|e| format!("invalid hostname {host}: {e}"))
}

impl HostServices {
    /// `base` is where the document was found in the end.
    pub fn new(host: Host, base: Url, services: Option<serde_json::Map<String, Json>>) -> HostServices {
        HostServices { host, base, services }
    }

    /// `host "name" { services = { ... } }`, which replaces discovery.
    pub fn from_block(item: &Item) -> Result<HostServices, String> {
        let (given, body) = match (item.labels.first(), item.value.as_items()) {
            (Some(given), Some(body)) => (given, body),
            _ => return Err("a host block needs a hostname and a body".to_owned()),
        };
        let host = Host::parse(given).map_err(|_| format!("The host {given:?} block has an invalid hostname"))?;
        let services = body.iter().find(|i| i.key == "services").and_then(|i| i.value.as_items()).unwrap_or_default();
        let base = document_url(&host)?;
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
    pub(super) fn absolute(&self, text: &str) -> Result<Url, String> {
        let mut url = self.base.join(text).map_err(|e| e.to_string())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("unsupported scheme {}", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("embedded username/password information is not permitted".to_owned());
        }
        url.set_fragment(None);
        Ok(url)
    }

    /// The address of a service, which ends in a slash. The error is for people.
    pub fn url(&self, id: &str) -> Result<Url, String> {
        let service = id.split('.').next().unwrap_or(id);
        let Some(services) = &self.services else {
            return Err(format!("host does not provide a {service} service"));
        };
        let Some(text) = services.get(id).and_then(Json::as_str) else {
            let shown = self.host.for_display();
            let other = services.keys().any(|known| known.split('.').next() == Some(service));
            return Err(match other {
                true => {
                    let version = id.split_once('.').map_or("", |(_, version)| version);
                    format!("host {shown} does not support {service} version {version}")
                }
                false => format!("host {shown} does not provide a {service} service"),
            });
        };
        let mut url = self.absolute(text).map_err(|why| format!("Failed to parse service URL: {why}"))?;
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
            assert_eq!(got.as_ref().map(Url::as_str).map_err(String::as_str), expected, "{id}");
        }
        let none = HostServices::new(host, base, None);
        assert_eq!(none.url("modules.v1").unwrap_err(), "host does not provide a modules service");
    }

    #[test]
    fn a_block_replaces_the_document() {
        let text = "host \"example.com\" { services = { \"modules.v1\" = \"https://m.example/\" } }";
        let items = super::super::cli_file::parse(text).unwrap();
        let services = HostServices::from_block(&items[0]).unwrap();
        assert_eq!(services.url("modules.v1").unwrap().as_str(), "https://m.example/");
    }
}
