//! The line by which a plugin says where it listens and what it speaks: `1|6|unix|/tmp/plugin123|grpc|CERTIFICATE`.
//!
//! Owns its parsing, its writing, and the texts of everything that may be wrong with it, as users of the field know
//! them. Never knows processes or sockets.

use std::fmt;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// What a plugin looks for in its environment to know that it is run as one.
pub const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

/// The protocol versions that we speak, in the order in which a refusal lists them.
pub const VERSIONS: [u16; 2] = [5, 6];

/// The version of the handshake itself.
const CORE_VERSION: i64 = 1;

/// A field this long is a certificate; some old plugins put other things there.
const CERTIFICATE_MINIMUM: usize = 50;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// One of [`VERSIONS`].
    pub version: u16,
    pub address: Address,
    /// The server's certificate in DER; plain text is spoken without one.
    pub certificate: Option<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Unix(PathBuf),
    /// Host and port.
    Tcp(String),
}

/// Why a line is no handshake that we can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It does not look like a handshake at all: the program is probably no plugin, or not for this machine.
    Unrecognized(String),
    /// It is one, but not for us.
    Incompatible(String),
}

impl Handshake {
    pub fn parse(line: &str) -> Result<Handshake, Refusal> {
        let line = line.trim();
        let fields: Vec<&str> = line.split('|').collect();
        let [core, version, network, address, rest @ ..] = fields.as_slice() else {
            return Err(Refusal::Unrecognized(line.to_owned()));
        };
        check_core(core)?;
        let version = check_version(version)?;
        let address = match *network {
            "unix" => Address::Unix(PathBuf::from(address)),
            "tcp" => Address::Tcp((*address).to_owned()),
            other => return incompatible(format!("Unknown address type: {other}")),
        };
        match rest.first().copied().unwrap_or("netrpc") {
            "grpc" => {}
            other => return incompatible(format!("Unsupported plugin protocol {other:?}. Supported: [grpc]")),
        }
        let certificate = match rest.get(1) {
            Some(text) if text.len() > CERTIFICATE_MINIMUM => Some(decode_certificate(text)?),
            _ => None,
        };
        Ok(Handshake { version, address, certificate })
    }

    /// The line, without the end of it.
    pub fn line(&self) -> String {
        let (network, address) = match &self.address {
            Address::Unix(path) => ("unix", path.display().to_string()),
            Address::Tcp(address) => ("tcp", address.clone()),
        };
        let certificate = self.certificate.as_deref().map(|der| STANDARD_NO_PAD.encode(der)).unwrap_or_default();
        format!("{CORE_VERSION}|{}|{network}|{address}|grpc|{certificate}", self.version)
    }
}

fn check_core(field: &str) -> Result<(), Refusal> {
    match parse_number(field) {
        Ok(CORE_VERSION) => Ok(()),
        Ok(_) => incompatible(format!(
            "Incompatible core API version with plugin. Plugin version: {field}, Core version: {CORE_VERSION}\n\n\
             To fix this, the plugin usually only needs to be recompiled.\n\
             Please report this to the plugin author."
        )),
        Err(error) => incompatible(format!("Error parsing core protocol version: {error}")),
    }
}

fn check_version(field: &str) -> Result<u16, Refusal> {
    let version = match parse_number(field) {
        Ok(version) => version,
        Err(error) => return incompatible(format!("Error parsing protocol version {field:?}: {error}")),
    };
    match VERSIONS.iter().find(|known| i64::from(**known) == version) {
        Some(known) => Ok(*known),
        None => incompatible(format!(
            "Incompatible API version with plugin. Plugin version: {version}, Client versions: [{}]",
            VERSIONS.map(|version| version.to_string()).join(" ")
        )),
    }
}

/// A number, or what is wrong with it in the words of the reference.
fn parse_number(field: &str) -> Result<i64, String> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    field.parse::<i64>().map_err(|error| {
        let problem = match error.kind() {
            PosOverflow | NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("strconv.Atoi: parsing {field:?}: {problem}")
    })
}

fn decode_certificate(text: &str) -> Result<Vec<u8>, Refusal> {
    let der = match STANDARD_NO_PAD.decode(text.trim_end_matches('=')) {
        Ok(der) => der,
        Err(error) => return incompatible(format!("error parsing server cert: {error}")),
    };
    // A certificate is a sequence whose length is that of the whole.
    if der.first() != Some(&0x30) {
        return incompatible("error parsing server cert: x509: malformed certificate".to_owned());
    }
    Ok(der)
}

fn incompatible<T>(message: String) -> Result<T, Refusal> {
    Err(Refusal::Incompatible(message))
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Unrecognized(line) => write!(f, "Unrecognized remote plugin message: {line}"),
            Refusal::Incompatible(message) => f.write_str(message),
        }
    }
}

/// What usually causes an unrecognized message; follows it.
pub const UNRECOGNIZED_CAUSES: &str = "This usually means
  the plugin was not compiled for this architecture,
  the plugin is missing dynamic-link libraries necessary to run,
  the plugin is not executable by this process due to file permissions, or
  the plugin failed to negotiate the initial go-plugin protocol handshake
";

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts as Terraform 1.11.4 gives them for a plugin that prints the line.
    #[test]
    fn refusals_read_as_users_know_them() {
        let cases = [
            ("", "Unrecognized remote plugin message: "),
            ("hello there\n", "Unrecognized remote plugin message: hello there"),
            ("1|6|unix", "Unrecognized remote plugin message: 1|6|unix"),
            (
                "2|6|unix|/tmp/x|grpc",
                "Incompatible core API version with plugin. Plugin version: 2, Core version: 1\n\nTo fix this, the plugin \
                 usually only needs to be recompiled.\nPlease report this to the plugin author.",
            ),
            (
                "x|6|unix|/tmp/x|grpc",
                "Error parsing core protocol version: strconv.Atoi: parsing \"x\": invalid syntax",
            ),
            ("1|4|unix|/tmp/x|grpc", "Incompatible API version with plugin. Plugin version: 4, Client versions: [5 6]"),
            (
                "1|y|unix|/tmp/x|grpc",
                "Error parsing protocol version \"y\": strconv.Atoi: parsing \"y\": invalid syntax",
            ),
            ("1|6|udp|/tmp/x|grpc", "Unknown address type: udp"),
            ("1|6|unix|/tmp/x", "Unsupported plugin protocol \"netrpc\". Supported: [grpc]"),
            ("1|6|unix|/tmp/x|http", "Unsupported plugin protocol \"http\". Supported: [grpc]"),
            (
                "1|6|unix|/tmp/x|grpc|AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                "error parsing server cert: x509: malformed certificate",
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(Handshake::parse(line).unwrap_err().to_string(), expected, "{line}");
        }
    }

    #[test]
    fn lines_that_plugins_print() {
        let check = |line: &str, version, address: Address, certificate: Option<Vec<u8>>| {
            assert_eq!(Handshake::parse(line), Ok(Handshake { version, address, certificate }), "{line}");
        };
        check("1|5|unix|/tmp/plugin1|grpc|", 5, Address::Unix("/tmp/plugin1".into()), None);
        check("1|6|tcp|127.0.0.1:1234|grpc\r\n", 6, Address::Tcp("127.0.0.1:1234".into()), None);
        check("1|6|unix|/a|grpc|short|true", 6, Address::Unix("/a".into()), None);
        let der = [&[0x30, 0x82][..], &[9; 70]].concat();
        let whole = Handshake { version: 6, address: Address::Unix("/b".into()), certificate: Some(der.clone()) };
        check(&format!("{}|true", whole.line()), 6, Address::Unix("/b".into()), Some(der));
    }
}
