//! Subject alternative names: DNS names, IP addresses and URIs.

use std::net::IpAddr;

use terrane_value::text::go_quoted;

use crate::providers::failure::Failure;
use crate::providers::tls::der::read::Reader;
use crate::providers::tls::der::{tag, write};
use crate::providers::tls::uri::{Uri, UriError};
use crate::providers::tls::x509_error::X509Error;

/// The context tags of general names.
const EMAIL: u8 = 1;
const DNS: u8 = 2;
const URI: u8 = 6;
const IP: u8 = 7;

/// Names beside the subject. Their order in a certificate is that of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlternativeNames {
    dns: Vec<String>,
    /// Four or sixteen bytes each.
    ips: Vec<Vec<u8>>,
    uris: Vec<Uri>,
}

impl AlternativeNames {
    /// The names of a configuration: `dns_names`, `ip_addresses`, `uris`.
    pub fn new(dns: &[String], ips: &[String], uris: &[String]) -> Result<AlternativeNames, Failure> {
        let ips = ips.iter().map(|text| {
            ip_bytes(text)
                .ok_or_else(|| Failure::new("Invalid IP address", format!("Failed to parse {}", go_quoted(text))))
        });
        let ips = ips.collect::<Result<_, _>>()?;
        let uris = uris.iter().map(|text| {
            let error =
                |error: UriError| Failure::new("Invalid URI", format!("Failed to parse {}: {error}", go_quoted(text)));
            Uri::parse(text).map_err(error)
        });
        Ok(AlternativeNames { dns: dns.to_vec(), ips, uris: uris.collect::<Result<_, _>>()? })
    }

    pub fn is_empty(&self) -> bool {
        self.dns.is_empty() && self.ips.is_empty() && self.uris.is_empty()
    }

    /// The contents of the extension. The error is Go's.
    pub fn to_der(&self) -> Result<Vec<u8>, X509Error> {
        let mut names = Vec::new();
        for name in &self.dns {
            names.extend(write::element(tag::context(DNS), ia5(name)?.as_bytes()));
        }
        for ip in &self.ips {
            names.extend(write::element(tag::context(IP), ip));
        }
        for uri in &self.uris {
            names.extend(write::element(tag::context(URI), ia5(&uri.to_string())?.as_bytes()));
        }
        Ok(write::sequence(&[&names]))
    }

    /// Reads the contents of the extension. Names of other kinds are ignored. The error is Go's.
    pub fn from_der(der: &[u8]) -> Result<AlternativeNames, X509Error> {
        let mut names = Reader::new(der).sequence().ok_or(X509Error::Invalid("subject alternative names"))?;
        let mut out = AlternativeNames::default();
        while !names.is_empty() {
            let name = names.any().ok_or(X509Error::Invalid("subject alternative name"))?;
            let text = || String::from_utf8(name.contents.to_vec()).ok().filter(|text| text.is_ascii());
            match name.tag ^ 0x80 {
                EMAIL => drop(text().ok_or(X509Error::Rule("SAN rfc822Name is malformed"))?),
                DNS => out.dns.push(text().ok_or(X509Error::Rule("SAN dNSName is malformed"))?),
                URI => out
                    .uris
                    .push(read_uri(&text().ok_or(X509Error::Rule("SAN uniformResourceIdentifier is malformed"))?)?),
                IP if matches!(name.contents.len(), 4 | 16) => out.ips.push(shortest(name.contents.to_vec())),
                IP => return Err(X509Error::IpLength(name.contents.len())),
                _ => {}
            }
        }
        Ok(out)
    }
}

fn ia5(text: &str) -> Result<&str, X509Error> {
    if text.is_ascii() {
        return Ok(text);
    }
    Err(X509Error::NotAscii(text.to_owned()))
}

/// The bytes of an address; IPv4 inside of IPv6 becomes IPv4.
fn ip_bytes(text: &str) -> Option<Vec<u8>> {
    Some(match text.parse::<IpAddr>().ok()? {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => shortest(ip.octets().to_vec()),
    })
}

fn shortest(bytes: Vec<u8>) -> Vec<u8> {
    const MAPPED: &[u8] = &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
    bytes.strip_prefix(MAPPED).filter(|rest| rest.len() == 4).map(<[u8]>::to_vec).unwrap_or(bytes)
}

fn read_uri(text: &str) -> Result<Uri, X509Error> {
    let error = |why| X509Error::Uri { text: text.to_owned(), why };
    let uri = Uri::parse(text).map_err(|why| error(Some(why)))?;
    let is_valid = uri.host().is_empty() || is_domain(&uri.host());
    if is_valid { Ok(uri) } else { Err(error(None)) }
}

/// Whether Go accepts the host of a URI in a certificate.
fn is_domain(host: &str) -> bool {
    host.split('.').all(|label| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_graphic()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::tls::golden::{cases, hex, text};

    #[test]
    fn addresses_are_read_as_go_reads_them() {
        for case in cases("ip.json") {
            let names = AlternativeNames::new(&[], &[text(&case, "text").to_owned()], &[]);
            match names {
                Ok(names) => assert_eq!(hex(&names.ips[0]), text(&case, "is"), "{case}"),
                Err(failure) => {
                    assert_eq!(failure, Failure::new("Invalid IP address", text(&case, "error")), "{case}");
                }
            }
        }
    }

    #[test]
    fn names_survive_a_round_trip() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let uris = list(&["spiffe://a.b/c", "urn:x"]);
        let names = AlternativeNames::new(&list(&["a", "*.b"]), &list(&["1.2.3.4", "::1"]), &uris).expect("names");
        assert_eq!(AlternativeNames::from_der(&names.to_der().expect("DER")), Ok(names));
    }
}
