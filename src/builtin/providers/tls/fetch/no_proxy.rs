//! `NO_PROXY`: hosts that are asked directly.

use std::net::IpAddr;

use url::{Host, Url};

/// The entries of the variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exceptions {
    entries: Vec<Exception>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Exception {
    All,
    Network {
        address: IpAddr,
        bits: u8,
    },
    Address {
        address: IpAddr,
        port: Option<u16>,
    },
    /// The name starts with a dot.
    Domain {
        name: String,
        has_itself: bool,
        port: Option<u16>,
    },
}

impl Exceptions {
    /// Names, addresses and networks, separated by commas. What is none of them is ignored.
    pub fn parse(text: &str) -> Exceptions {
        let entries = text.split(',').map(|entry| entry.trim().to_lowercase()).filter_map(|entry| parse_entry(&entry));
        Exceptions { entries: entries.collect() }
    }

    /// Whether the host of a URL is asked directly. This machine always is.
    pub fn has(&self, request: &Url) -> bool {
        let port = request.port_or_known_default();
        let address = match request.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::from(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::from(address)),
            Some(Host::Domain("localhost")) => return true,
            _ => None,
        };
        if address.is_some_and(|address| address.to_canonical().is_loopback()) {
            return true;
        }
        let host = request.host_str().unwrap_or_default();
        self.entries.iter().any(|entry| entry.matches(host, address, port))
    }
}

impl Exception {
    fn matches(&self, host: &str, address: Option<IpAddr>, port: Option<u16>) -> bool {
        let has_port = |own: &Option<u16>| own.is_none() || *own == port;
        match self {
            Exception::All => true,
            Exception::Network { address: network, bits } => {
                address.is_some_and(|address| prefix(address, *bits) == prefix(*network, *bits))
            }
            Exception::Address { address: own, port } => {
                address.is_some_and(|address| address.to_canonical() == *own) && has_port(port)
            }
            Exception::Domain { name, has_itself, port } => {
                let is_name = host.ends_with(name.as_str()) || (*has_itself && host == &name[1..]);
                address.is_none() && is_name && has_port(port)
            }
        }
    }
}

/// The kind of an address and its first bits.
fn prefix(address: IpAddr, bits: u8) -> (bool, u128) {
    let (is_v4, number) = match address.to_canonical() {
        IpAddr::V4(address) => (true, u128::from(u32::from(address)) << 96),
        IpAddr::V6(address) => (false, u128::from(address)),
    };
    (is_v4, number.checked_shr(128 - u32::from(bits)).unwrap_or(0))
}

fn parse_entry(entry: &str) -> Option<Exception> {
    if entry == "*" {
        return Some(Exception::All);
    }
    if let Some((address, bits)) = entry.split_once('/')
        && let (Ok(address), Ok(bits)) = (address.parse::<IpAddr>(), bits.parse::<u8>())
        && bits <= if address.is_ipv4() { 32 } else { 128 }
    {
        return Some(Exception::Network { address, bits });
    }
    let (host, port) = split_port(entry);
    if let Ok(address) = host.parse::<IpAddr>() {
        return Some(Exception::Address { address: address.to_canonical(), port });
    }
    let host = if host.starts_with("*.") { &host[1..] } else { host };
    let has_itself = !host.starts_with('.');
    let name = if has_itself { format!(".{host}") } else { host.to_owned() };
    (!host.is_empty()).then_some(Exception::Domain { name, has_itself, port })
}

/// A host without brackets, and its port. A text with more colons is an address.
fn split_port(entry: &str) -> (&str, Option<u16>) {
    let bracketed = entry.strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    let split = bracketed.or_else(|| entry.split_once(':').filter(|(_, port)| !port.contains(':')));
    match split {
        Some((host, port)) => (host, port.parse().ok()),
        None => (entry, None),
    }
}
