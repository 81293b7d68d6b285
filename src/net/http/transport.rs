//! Connections: trusted authorities, our own certificate, and proxies.

use base::env::{self, Environment};
use base::secret::Secret;
use reqwest::tls::{Certificate, Identity};
use reqwest::{ClientBuilder, NoProxy, Proxy};
use url::{Host, Url};

use super::failure::innermost;

/// This machine, and the hosts of machines in a cloud, which are on this machine's own link.
const NEVER_BY_PROXY: &str = "localhost,127.0.0.0/8,169.254.0.0/16,::1";

/// PEM texts and other settings that decide which servers are trusted.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// Certificates of authorities, in place of the system's.
    pub authorities: Option<String>,
    /// Certificates of authorities, added to those of the system.
    pub more_authorities: Option<String>,
    /// The client's certificate chain and its key.
    pub identity: Option<(String, Secret)>,
    pub skip_verification: bool,
}

impl Tls {
    /// An error says which text is at fault, never what it holds.
    pub(super) fn apply(&self, mut builder: ClientBuilder) -> Result<ClientBuilder, String> {
        if let Some(pem) = &self.authorities {
            builder = builder.tls_certs_only(certificates(pem)?);
        }
        if let Some(pem) = &self.more_authorities {
            builder = builder.tls_certs_merge(certificates(pem)?);
        }
        if let Some((chain, key)) = &self.identity {
            let pem = format!("{chain}\n{}\n", key.reveal());
            let identity = Identity::from_pem(pem.as_bytes());
            let identity = identity.map_err(|e| format!("cannot load client certificate: {}", innermost(&e)))?;
            builder = builder.identity(identity);
        }
        Ok(builder.tls_danger_accept_invalid_certs(self.skip_verification))
    }
}

fn certificates(pem: &str) -> Result<Vec<Certificate>, String> {
    let read = Certificate::from_pem_bundle(pem.as_bytes()).unwrap_or_default();
    if read.is_empty() { Err("failed to append certs".to_owned()) } else { Ok(read) }
}

/// Addresses of proxies; requests to this machine itself use none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies {
    pub http: Option<String>,
    pub https: Option<String>,
    /// Hosts that are asked directly, separated by commas.
    pub except: String,
}

impl Proxies {
    pub fn of(environment: &Environment) -> Proxies {
        let either = |upper: &str, lower: &str| {
            let text = environment.non_empty(upper).or_else(|| environment.non_empty(lower));
            text.map(str::to_owned)
        };
        let all = either(env::ALL_PROXY, env::all_proxy);
        Proxies {
            http: either(env::HTTP_PROXY, env::http_proxy).or_else(|| all.clone()),
            https: either(env::HTTPS_PROXY, env::https_proxy).or(all),
            except: either(env::NO_PROXY, env::no_proxy).unwrap_or_default(),
        }
    }

    pub(super) fn apply(&self, builder: ClientBuilder) -> Result<ClientBuilder, String> {
        let except = || NoProxy::from_string(&format!("{NEVER_BY_PROXY},{}", self.except));
        let both = [(&self.http, Proxy::http as fn(String) -> _), (&self.https, Proxy::https)];
        let mut set = both.into_iter().filter_map(|(address, make)| Some((address.as_ref()?, make)));
        set.try_fold(builder.no_proxy(), |builder, (address, make)| {
            // Without a scheme it is one of HTTP.
            let address = if address.contains("://") { address.clone() } else { format!("http://{address}") };
            let made = make(address).map_err(|_| "the address of a proxy is invalid".to_owned())?;
            Ok(builder.proxy(made.no_proxy(except())))
        })
    }
}

/// Whether an address is on this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// An address without user name, password, query and fragment.
pub fn without_secrets(url: &Url) -> String {
    let mut url = url.clone();
    // These fail only for addresses without a host, which have neither.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}
