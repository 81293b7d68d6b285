//! Providers that run already, started by their developers: the value of TF_REATTACH_PROVIDERS.

use std::collections::BTreeMap;
use std::fmt;

use terrane_protocol::handshake::{Address, VERSIONS};

/// A provider to connect to instead of starting one. It speaks without TLS and is not ours to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reattach {
    pub version: u16,
    pub pid: u32,
    pub address: Address,
}

/// Why the variable cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReattachError {
    /// It is not JSON of this form.
    Json(String),
    /// A provider listens at an address of another kind than sockets and ports.
    Network {
        name: String,
        network: String,
    },
    /// A provider speaks something else than gRPC.
    Protocol {
        name: String,
        protocol: String,
    },
    Version {
        name: String,
        version: u16,
    },
}

impl fmt::Display for ReattachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReattachError::Json(why) => write!(f, "Invalid format for TF_REATTACH_PROVIDERS: {why}"),
            ReattachError::Network { name, network } => write!(f, "Unknown address type {network:?} for {name}"),
            ReattachError::Protocol { name, protocol } => {
                write!(f, "Unsupported plugin protocol {protocol:?} for {name}. Supported: [grpc]")
            }
            ReattachError::Version { name, version } => {
                write!(f, "invalid protocol version {version} for reattach provider {name}")
            }
        }
    }
}

impl std::error::Error for ReattachError {}

/// Reads the variable: an object of source addresses (as written there) and where their providers listen.
pub fn parse(text: &str) -> Result<BTreeMap<String, Reattach>, ReattachError> {
    if text.is_empty() {
        return Ok(BTreeMap::new());
    }
    let entries: BTreeMap<String, ReattachEntry> =
        serde_json::from_str(text).map_err(|error| ReattachError::Json(error.to_string()))?;
    entries.into_iter().map(|(name, entry)| Ok((name.clone(), entry.resolve(&name)?))).collect()
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ReattachEntry {
    protocol: String,
    #[serde(default)]
    protocol_version: u16,
    #[serde(default)]
    pid: u32,
    addr: ReattachAddress,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ReattachAddress {
    network: String,
    string: String,
}

impl ReattachEntry {
    fn resolve(self, name: &str) -> Result<Reattach, ReattachError> {
        let name = || name.to_owned();
        let address = match self.addr.network.as_str() {
            "unix" => Address::Unix(self.addr.string.into()),
            "tcp" => Address::Tcp(self.addr.string),
            other => return Err(ReattachError::Network { name: name(), network: other.to_owned() }),
        };
        if self.protocol != "grpc" {
            return Err(ReattachError::Protocol { name: name(), protocol: self.protocol });
        }
        // Plugins from before there was a choice do not say.
        let version = if self.protocol_version == 0 { 5 } else { self.protocol_version };
        if !VERSIONS.contains(&version) {
            return Err(ReattachError::Version { name: name(), version });
        }
        Ok(Reattach { version, pid: self.pid, address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_variable() {
        let entry = |version: &str, network: &str| {
            format!(
                r#"{{"hashicorp/x":{{"Protocol":"grpc",{version}"Pid":7,"Test":true,"Addr":{{"Network":"{network}","String":"/s"}}}}}}"#
            )
        };
        let one = |version| Reattach { version, pid: 7, address: Address::Unix("/s".into()) };
        let parsed =
            |text: &str| parse(text).map(|map| map.get("hashicorp/x").cloned()).map_err(|error| error.to_string());
        assert_eq!(parsed(&entry("\"ProtocolVersion\":6,", "unix")), Ok(Some(one(6))));
        assert_eq!(parsed(&entry("", "unix")), Ok(Some(one(5))));
        assert_eq!(parsed(""), Ok(None));
        assert!(parsed(&entry("\"ProtocolVersion\":9,", "unix")).unwrap_err().contains("invalid protocol version 9"));
        assert!(parsed(&entry("", "udp")).unwrap_err().contains("udp"));
        assert!(parsed("nonsense").unwrap_err().starts_with("Invalid format"));
    }
}
