//! Running a provider as a program: what `main` of a provider calls.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use super::provider::Provider;
use super::server::Server;
use crate::base::env::Environment;
use crate::model::provider::Provider as ProviderInterface;
use crate::plugin::handshake::Address;
use crate::plugin::serve::{self as plugin, Caller, Plugin};

/// The ports of go-plugin, where the host names none.
const TCP_PORTS: (u16, u16) = (10_000, 25_000);

/// How a provider is served.
///
/// ```no_run
/// # use terrane::sdk::{Context, Error, Provider, Types, Values};
/// # struct Todo;
/// # impl Provider for Todo {
/// #     type Config = ();
/// #     type Data = ();
/// #     async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> { Ok(()) }
/// #     fn types(&self, _: &mut Types<()>) {}
/// # }
/// fn main() -> std::process::ExitCode {
///     terrane::sdk::Serve::new("registry.terraform.io/acme/todo").run(Todo)
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
    pub fn new(address: impl Into<String>) -> Serve {
        Serve { address: address.into(), protocol: 6, tcp: false }
    }

    /// The preferred protocol version: 5 or 6, by default 6. Hosts that speak only the other one are served by that.
    #[must_use]
    pub fn protocol(mut self, version: u16) -> Serve {
        self.protocol = version;
        self
    }

    /// Listens on a TCP port of this machine instead of a Unix socket.
    #[must_use]
    pub fn tcp(mut self) -> Serve {
        self.tcp = true;
        self
    }

    /// Serves the host that started this process until it is done. With `-debug`, serves any host until it is
    /// interrupted, and prints the variable by which hosts find it. Returns the exit code for `main`.
    pub fn run<P: Provider>(&self, provider: P) -> ExitCode {
        let debug = std::env::args().skip(1).any(|argument| matches!(&*argument, "-debug" | "--debug"));
        let result = self.prepare(Server::new(provider)).and_then(|provider| {
            let environment = Environment::process();
            super::log::start(&environment, &self.address);
            match (Caller::from_environment(&environment), debug) {
                (_, true) => self.run_for_developer(provider),
                (Some(caller), false) => self.run_for_host(provider, caller, &environment),
                (None, false) => Err(self.usage()),
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

    /// Checks what would confuse hosts later.
    fn prepare<P: Provider>(&self, server: Server<P>) -> Result<Arc<dyn ProviderInterface>, String> {
        if self.address.split('/').filter(|part| !part.is_empty()).count() != 3 {
            return Err(format!("{:?} is not a source address: write HOST/NAMESPACE/TYPE.", self.address));
        }
        Ok(Arc::new(server))
    }

    fn usage(&self) -> String {
        format!(
            "This is a plugin: Terraform, OpenTofu and Terrane start it when a configuration needs the provider {}.\n\n\
             To run it by hand for development, give the flag -debug.",
            self.address
        )
    }

    fn run_for_host(
        &self,
        provider: Arc<dyn ProviderInterface>,
        mut caller: Caller,
        environment: &Environment,
    ) -> Result<(), String> {
        if self.tcp {
            let port = |name: &str, other| environment.get(name).and_then(|text| text.parse().ok()).unwrap_or(other);
            let first = port(crate::base::env::PLUGIN_MIN_PORT, TCP_PORTS.0);
            caller.tcp_ports = Some(first..=port(crate::base::env::PLUGIN_MAX_PORT, TCP_PORTS.1));
        }
        let serving = plugin::serve(Plugin::Provider(provider), self.protocol, caller, |line| {
            let mut out = std::io::stdout().lock();
            let written = writeln!(out, "{line}").and_then(|()| out.flush());
            written.map_err(|error| format!("cannot write the handshake: {error}"))
        });
        block_on(serving)
    }

    fn run_for_developer(&self, provider: Arc<dyn ProviderInterface>) -> Result<(), String> {
        block_on(async {
            let interrupt = async {
                // Without a handler for the signal the process just ends.
                if tokio::signal::ctrl_c().await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            plugin::serve_for_developer(provider, self.protocol, interrupt, |address| {
                let variable = reattach_variable(&self.address, self.protocol, address);
                let mut out = std::io::stdout().lock();
                let written = writeln!(
                    out,
                    "Provider started. To attach Terraform, OpenTofu or Terrane, set the environment variable:\n\n\t\
                     TF_REATTACH_PROVIDERS='{variable}'\n"
                );
                written.and_then(|()| out.flush()).map_err(|error| format!("cannot print: {error}"))
            })
            .await
        })
    }
}

/// The JSON text by which hosts find a provider that runs.
fn reattach_variable(source: &str, protocol: u16, address: &Address) -> String {
    let (network, text) = match address {
        Address::Unix(path) => ("unix", path.display().to_string()),
        Address::Tcp(text) => ("tcp", text.clone()),
    };
    let entry = serde_json::json!({
        "Protocol": "grpc",
        "ProtocolVersion": protocol,
        "Pid": std::process::id(),
        "Test": true,
        "Addr": { "Network": network, "String": text },
    });
    serde_json::json!({ source: entry }).to_string()
}

fn block_on(serving: impl Future<Output = Result<(), String>>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
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
        let text = reattach_variable("registry.terraform.io/acme/todo", 6, &Address::Unix("/run/todo".into()));
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let entry = &json["registry.terraform.io/acme/todo"];
        assert_eq!(entry["Protocol"], "grpc");
        assert_eq!(entry["ProtocolVersion"], 6);
        assert_eq!(entry["Addr"], serde_json::json!({ "Network": "unix", "String": "/run/todo" }));
    }
}
