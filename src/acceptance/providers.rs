//! The providers of a test: their addresses, and serving them in this process.

use std::sync::{Arc, mpsc};
use std::{fmt, io};

use serde_json::{Map, Value as Json};
use terrane_protocol::handshake::Address;
use terrane_protocol::serve::{ServeError, serve_for_developer};
use terrane_sdk::__host::{ProtocolError, Stop, check_protocol_5, reattach_entry};
use terrane_sdk::Served;

use super::error::Error;
use super::settings::Settings;

/// A provider that the test serves.
#[derive(Clone)]
pub(super) struct LocalProvider {
    /// TYPE, NAMESPACE/TYPE or HOST/NAMESPACE/TYPE.
    pub address: String,
    /// Makes the provider for a connection of a host.
    pub make: Arc<dyn Fn() -> Served + Send + Sync>,
}

/// A provider that the program installs.
#[derive(Clone, Debug)]
pub(super) struct ExternalProvider {
    pub name: String,
    pub source: String,
    /// A version constraint; empty: any version.
    pub version: String,
}

/// Providers that are being served. Serving ends when this is dropped.
pub(super) struct Serving {
    /// The value of TF_REATTACH_PROVIDERS.
    pub variable: String,
    runtime: Option<tokio::runtime::Runtime>,
    stop: Stop,
    /// Has no senders left once all sockets are removed.
    ended: mpsc::Receiver<()>,
}

/// The source address of a provider: its parts, and what the settings add.
struct SourceAddress {
    host: Option<String>,
    namespace: String,
    name: String,
}

impl SourceAddress {
    fn parse(address: &str, settings: &Settings) -> Result<SourceAddress, Error> {
        let parts: Vec<&str> = address.split('/').collect();
        let default_host = settings.provider_host();
        let (host, namespace, name) = match *parts {
            [name] => (default_host, settings.provider_namespace(), name),
            [namespace, name] => (default_host, namespace, name),
            [host, namespace, name] => (Some(host), namespace, name),
            _ => ("".into(), "", ""),
        };
        if namespace.is_empty() || name.is_empty() || host == Some("") {
            return Err(Error::new(format!("{address:?} is not a source address: write NAMESPACE/TYPE.")));
        }
        Ok(SourceAddress { host: host.map(str::to_owned), namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// As `required_providers` has it.
    fn text(&self) -> String {
        let host = self.host.iter().map(|host| format!("{host}/"));
        format!("{}{}/{}", host.collect::<String>(), self.namespace, self.name)
    }

    /// With a host: several if each program has its own default.
    fn full_addresses(&self) -> Vec<String> {
        let hosts = match &self.host {
            Some(host) => vec![host.as_str()],
            None => vec!["registry.terraform.io", "registry.opentofu.org"],
        };
        hosts.into_iter().map(|host| format!("{host}/{}/{}", self.namespace, self.name)).collect()
    }
}

/// A `terraform` block that names the sources of all providers.
pub(super) fn required_providers(
    local: &[LocalProvider],
    external: &[ExternalProvider],
    settings: &Settings,
) -> Result<String, Error> {
    let mut text = String::from("terraform {\n  required_providers {\n");
    for provider in local {
        let source = SourceAddress::parse(&provider.address, settings)?;
        text += &format!("    {} = {{\n      source = {:?}\n    }}\n", source.name, source.text());
    }
    for ExternalProvider { name, source, version } in external {
        let version = if version.is_empty() { String::new() } else { format!("\n      version = {version:?}") };
        text += &format!("    {name} = {{\n      source = {source:?}{version}\n    }}\n");
    }
    Ok(text + "  }\n}\n")
}

impl Serving {
    /// Serves providers until the end of the test, each on a separate socket.
    pub fn start(providers: &[LocalProvider], protocol: u16, settings: &Settings) -> Result<Serving, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::new(format!("cannot start: {error}")))?;
        let (running, ended) = mpsc::channel();
        let mut serving = Serving { variable: String::new(), runtime: Some(runtime), stop: Stop::new(), ended };
        let mut entries = Map::new();
        for provider in providers {
            let source = SourceAddress::parse(&provider.address, settings)?;
            let addresses = source.full_addresses();
            settings.start_log(&addresses[0]);
            let socket = serving.serve(provider.clone(), protocol, running.clone());
            let socket = socket.map_err(|error| Error::new(format!("cannot serve {}: {error}", source.text())))?;
            let entry = reattach_entry(protocol, &socket);
            entries.extend(addresses.into_iter().map(|address| (address, entry.clone())));
        }
        serving.variable = Json::Object(entries).to_string();
        Ok(serving)
    }

    /// `running` is dropped when the socket is removed.
    fn serve(&self, provider: LocalProvider, protocol: u16, running: mpsc::Sender<()>) -> Result<Address, NotServed> {
        let Some(runtime) = &self.runtime else { return Err(NotServed::Over) };
        let stop = self.stop.clone();
        let (send, receive) = mpsc::channel();
        runtime.spawn(async move {
            let _running = running;
            let tell = |address: &Address| {
                send.send(Ok(address.clone())).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
            };
            let result = match check_schemas(&provider, protocol).await {
                Ok(()) => serve_for_developer(|| (provider.make)(), protocol, stop.stopping(), tell)
                    .await
                    .map_err(NotServed::Serve),
                Err(error) => Err(NotServed::Protocol(error)),
            };
            if let Err(error) = result {
                let _ = send.send(Err(error));
            }
        });
        receive.recv().unwrap_or(Err(NotServed::Panicked))
    }
}

/// Why a provider is not served.
enum NotServed {
    Over,
    Panicked,
    Protocol(ProtocolError),
    Serve(ServeError),
}

impl fmt::Display for NotServed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotServed::Over => f.write_str("the test is over"),
            NotServed::Panicked => f.write_str("the provider panicked"),
            NotServed::Protocol(error) => error.fmt(f),
            NotServed::Serve(error) => error.fmt(f),
        }
    }
}

/// Fails if hosts of protocol 5 cannot use the provider.
async fn check_schemas(provider: &LocalProvider, protocol: u16) -> Result<(), ProtocolError> {
    if protocol != 5 {
        return Ok(());
    }
    let schemas = (provider.make)().schemas().await.map_err(|_| ProtocolError::NoSchemas)?;
    check_protocol_5(&*schemas)
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.stop();
        // Until the sockets are gone.
        let _ = self.ended.recv();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use terrane_sdk::server;

    use super::*;
    use crate::Echo;

    fn provider(address: &str) -> LocalProvider {
        LocalProvider { address: address.to_owned(), make: Arc::new(|| server(Echo)) }
    }

    #[test]
    fn settings_complete_addresses() {
        let none = Settings::of(&[]);
        let both = Settings::of(&[("TF_ACC_PROVIDER_HOST", "acme.example"), ("TF_ACC_PROVIDER_NAMESPACE", "acme")]);
        let cases = [
            (&none, "todo", "hashicorp/todo"),
            (&none, "example/todo", "example/todo"),
            (&none, "host.example/a/todo", "host.example/a/todo"),
            (&both, "todo", "acme.example/acme/todo"),
            (&both, "example/todo", "acme.example/example/todo"),
            (&both, "host.example/a/todo", "host.example/a/todo"),
        ];
        for (settings, address, expected) in cases {
            assert_eq!(SourceAddress::parse(address, settings).unwrap().text(), expected, "{address}");
        }
        for wrong in ["", "a/", "a/b/c/d", "/b/c"] {
            assert!(SourceAddress::parse(wrong, &none).is_err(), "{wrong}");
        }
    }

    #[test]
    fn required_providers_name_all_sources() {
        let random =
            ExternalProvider { name: "random".into(), source: "hashicorp/random".into(), version: "3.0".into() };
        let text = required_providers(&[provider("example/todo")], &[random], &Settings::of(&[])).unwrap();
        assert!(text.contains("    todo = {\n      source = \"example/todo\"\n    }\n"), "{text}");
        assert!(text.contains("      source = \"hashicorp/random\"\n      version = \"3.0\"\n"), "{text}");
    }

    #[test]
    fn served_providers_have_sockets_until_the_end() {
        let serving = Serving::start(&[provider("echo"), provider("example/echo")], 6, &Settings::of(&[])).unwrap();
        let variable: Json = serde_json::from_str(&serving.variable).unwrap();
        let socket = |address: &str| variable[address]["Addr"]["String"].as_str().unwrap().to_owned();
        let default = socket("registry.terraform.io/hashicorp/echo");
        assert_eq!(socket("registry.opentofu.org/hashicorp/echo"), default);
        assert_ne!(socket("registry.terraform.io/example/echo"), default);
        assert!(std::path::Path::new(&default).exists());
        drop(serving);
        assert!(!std::path::Path::new(&default).exists());
    }
}
