//! Running a provider as a program: what `main` of a provider calls.

use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use terrane_protocol::handshake::Address;
use terrane_protocol::schema::{Block, ProviderSchemas, ResourceMode, SchemaError};
use terrane_protocol::serve::{self as plugin, Caller, Plugin, ServeError};
use terrane_protocol::tls::Crypto;

use super::error::Error;
use super::mux::mux;
use super::provider::Provider;
use super::server::{Served, server};

/// The ports of go-plugin, where the host names none.
const TCP_PORTS: (u16, u16) = (10_000, 25_000);

/// How a provider is served.
///
/// ```no_run
/// # use terrane_sdk::{Context, Error, Provider, Types, Values};
/// # struct Todo;
/// # impl Provider for Todo {
/// #     type Config = ();
/// #     type Data = ();
/// #     async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> { Ok(()) }
/// #     fn types(&self, _: &mut Types<()>) {}
/// # }
/// fn main() -> std::process::ExitCode {
///     terrane_sdk::Serve::new("registry.terraform.io/acme/todo").run(Todo)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Serve {
    address: String,
    protocol: u16,
    tcp: bool,
}

impl Serve {
    /// `address`: the source address, with the host: "registry.terraform.io/acme/todo".
    ///
    /// ```
    /// # use terrane_sdk::Serve;
    /// let serve = Serve::new("registry.terraform.io/acme/todo");
    /// ```
    pub fn new(address: impl Into<String>) -> Serve {
        Serve { address: address.into(), protocol: 6, tcp: false }
    }

    /// The preferred protocol version: 5 or 6, by default 6. Hosts that speak only the other one are served by that.
    ///
    /// ```
    /// # use terrane_sdk::Serve;
    /// let serve = Serve::new("registry.terraform.io/acme/todo").protocol(5);
    /// ```
    #[must_use]
    pub fn protocol(mut self, version: u16) -> Serve {
        self.protocol = version;
        self
    }

    /// Listens on a TCP port of this machine instead of a Unix socket.
    ///
    /// ```
    /// # use terrane_sdk::Serve;
    /// let serve = Serve::new("registry.terraform.io/acme/todo").tcp();
    /// ```
    #[must_use]
    pub fn tcp(mut self) -> Serve {
        self.tcp = true;
        self
    }

    /// Writes the events of this crate to the log as those of the provider. The crates in which the provider and its types are defined
    /// need not be named; those of all other crates are in the log only at the level "trace", and without values.
    ///
    /// ```
    /// # use terrane_sdk::Serve;
    /// let serve = Serve::new("registry.terraform.io/acme/todo").log_crate("acme-client");
    /// ```
    #[must_use]
    pub fn log_crate(self, name: &str) -> Serve {
        super::log::add_crate(name);
        self
    }

    /// Serves the host that started this process until it is done. With `-debug`, serves any host until it is
    /// interrupted, and prints the variable by which hosts find it. Returns the exit code for `main`.
    ///
    /// With `-debug` there is no TLS, because the variable has no place for a certificate. The socket is in a folder that only this
    /// user may enter; on Windows it is a TCP port, to which every process of the machine can connect.
    ///
    /// ```no_run
    /// # use std::process::ExitCode;
    /// # use terrane_sdk::{Provider, Serve};
    /// fn serve(provider: impl Provider) -> ExitCode {
    ///     Serve::new("registry.terraform.io/acme/todo").run(provider)
    /// }
    /// ```
    pub fn run<P: Provider>(&self, provider: P) -> ExitCode {
        self.run_all(vec![server(provider)])
    }

    /// As [`Serve::run`], with several providers as one: see [`super::mux`].
    ///
    /// ```no_run
    /// # use std::process::ExitCode;
    /// # use terrane_sdk::{Provider, Serve, server};
    /// fn serve(notes: impl Provider, users: impl Provider) -> ExitCode {
    ///     Serve::new("registry.terraform.io/acme/todo").run_all(vec![server(notes), server(users)])
    /// }
    /// ```
    pub fn run_all(&self, providers: Vec<Served>) -> ExitCode {
        let debug = std::env::args().skip(1).any(|argument| matches!(&*argument, "-debug" | "--debug"));
        let caller = Caller::from_environment(variable);
        let version = caller.as_ref().map_or(self.protocol, |caller| caller.version(self.protocol));
        let result = self.prepare(providers, version).and_then(|provider| {
            super::log::start(variable, &self.address);
            match (caller, debug) {
                (_, true) => self.run_for_developer(provider),
                (Some(caller), false) => self.run_for_host(provider, caller),
                (None, false) => Err(StartError::ByHand(self.address.clone())),
            }
        });
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "{error}");
                ExitCode::FAILURE
            }
        }
    }

    /// Checks what would confuse hosts later. `version`: the protocol that the host speaks.
    fn prepare(&self, providers: Vec<Served>, version: u16) -> Result<Served, StartError> {
        if self.address.split('/').filter(|part| !part.is_empty()).count() != 3 {
            return Err(StartError::Address(self.address.clone()));
        }
        block_on(async {
            let provider = mux(providers).await.map_err(StartError::Provider)?;
            if version == 5 {
                let schemas = provider.schemas().await.map_err(|_| ProtocolError::NoSchemas);
                schemas.and_then(|schemas| check_protocol_5(&*schemas)).map_err(StartError::Protocol)?;
            }
            Ok(provider)
        })
    }

    fn run_for_host(&self, provider: Served, mut caller: Caller) -> Result<(), StartError> {
        if self.tcp {
            let port = |name: &str, other| variable(name).and_then(|text| text.parse().ok()).unwrap_or(other);
            let first = port("PLUGIN_MIN_PORT", TCP_PORTS.0);
            caller.tcp_ports = Some(first..=port("PLUGIN_MAX_PORT", TCP_PORTS.1));
        }
        let serving = plugin::serve(Plugin::Provider(provider), self.protocol, caller, crypto(), |line| {
            let mut out = std::io::stdout().lock();
            writeln!(out, "{line}").and_then(|()| out.flush())
        });
        block_on(async { serving.await.map_err(StartError::Serve) })
    }

    fn run_for_developer(&self, provider: Served) -> Result<(), StartError> {
        block_on(async {
            let interrupt = async {
                // Without a handler for the signal the process just ends.
                if tokio::signal::ctrl_c().await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            plugin::serve_for_developer(|| provider.clone(), self.protocol, interrupt, |address| {
                let entry = reattach_entry(self.protocol, address);
                let variable = serde_json::json!({ self.address.as_str(): entry });
                let mut out = std::io::stdout().lock();
                let written = writeln!(
                    out,
                    "Provider started. To attach Terraform, OpenTofu or Terrane, set the environment variable:\n\n\t\
                     TF_REATTACH_PROVIDERS='{variable}'\n"
                );
                written.and_then(|()| out.flush())
            })
            .await
            .map_err(StartError::Serve)
        })
    }
}

/// Why a provider does not run. Its text is for the developer.
#[derive(Debug)]
enum StartError {
    /// It is not a source address.
    Address(String),
    /// The provider's types contradict each other.
    Provider(Error),
    Protocol(ProtocolError),
    Serve(ServeError),
    /// No host has started the process of the provider with this address.
    ByHand(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Address(address) => {
                write!(f, "{address:?} is not a source address: write HOST/NAMESPACE/TYPE.")
            }
            StartError::Provider(error) => error.fmt(f),
            StartError::Protocol(error) => error.fmt(f),
            StartError::Serve(error) => error.fmt(f),
            StartError::ByHand(address) => write!(
                f,
                "This is a plugin: Terraform, OpenTofu and Terrane start it when a configuration needs the provider {address}.\n\n\
                 To run it by hand for development, give the flag -debug."
            ),
        }
    }
}

/// Why a provider cannot be used with protocol 5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    NoSchemas,
    Schema(SchemaError),
    /// This type has nested attributes.
    NestedAttributes(String),
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProtocolError::NoSchemas => f.write_str("the provider has no schemas"),
            ProtocolError::Schema(error) => error.fmt(f),
            ProtocolError::NestedAttributes(name) => write!(
                f,
                "The host speaks protocol version 5, but {name} has nested attributes, which only version 6 has."
            ),
        }
    }
}

/// Fails if a type has nested attributes: protocol 5 has none.
pub fn check_protocol_5(schemas: &dyn ProviderSchemas) -> Result<(), ProtocolError> {
    fn has_nested(block: &Block) -> bool {
        block.attributes.values().any(|attribute| attribute.nested().is_some())
            || block.blocks.values().any(|nested| has_nested(&nested.block))
    }
    let mut refused = None;
    for mode in [ResourceMode::Managed, ResourceMode::Data, ResourceMode::Ephemeral] {
        let checked = schemas.for_each(mode, &mut |name, schema| {
            if has_nested(&schema.block) && refused.is_none() {
                refused = Some(ProtocolError::NestedAttributes(name.to_owned()));
            }
        });
        checked.map_err(ProtocolError::Schema)?;
    }
    refused.map_or(Ok(()), Err)
}

/// How hosts reach a provider that runs: the value of its source address in TF_REATTACH_PROVIDERS.
pub fn reattach_entry(protocol: u16, address: &Address) -> serde_json::Value {
    let (network, text) = match address {
        Address::Unix(path) => ("unix", path.display().to_string()),
        Address::Tcp(text) => ("tcp", text.clone()),
    };
    serde_json::json!({
        "Protocol": "grpc",
        "ProtocolVersion": protocol,
        "Pid": std::process::id(),
        "Test": true,
        "Addr": { "Network": network, "String": text },
    })
}

fn crypto() -> Crypto {
    Crypto {
        provider: Arc::new(rustls::crypto::ring::default_provider()),
        generate_key: || {
            let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new());
            key.map(|key| key.as_ref().to_vec()).ok()
        },
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

fn block_on<T>(serving: impl Future<Output = Result<T, StartError>>) -> Result<T, StartError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| StartError::Serve(ServeError::Start(error)))?;
    let result = runtime.block_on(serving);
    // Remaining background work is abandoned.
    runtime.shutdown_background();
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_what_hosts_read() {
        let entry = reattach_entry(6, &Address::Unix("/run/todo".into()));
        assert_eq!(entry["Protocol"], "grpc");
        assert_eq!(entry["ProtocolVersion"], 6);
        assert_eq!(entry["Addr"], serde_json::json!({ "Network": "unix", "String": "/run/todo" }));
    }
}
