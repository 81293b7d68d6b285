//! Host names of services: what people write, and the one form in which they are compared, asked and stored.

use std::fmt;
use std::sync::Arc;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

/// A service's host name with its port, unless that is 443. Equal names are equal values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host(Arc<str>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostError {
    /// One label is already encoded; people write the letters themselves.
    Punycode,
    Invalid,
}

impl Host {
    /// Reads a name as people write it: any case, letters of any script, an optional port.
    pub fn parse(given: &str) -> Result<Host, HostError> {
        let encoded = |label: &str| label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"));
        if given.split(['.', ':']).any(encoded) {
            return Err(HostError::Punycode);
        }
        Host::parse_any(given)
    }

    /// As [`Host::parse`], with encoded labels welcome: for variables and files that other programs write.
    pub fn parse_any(given: &str) -> Result<Host, HostError> {
        let (name, port) = match given.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (given, None),
        };
        let ascii = Uts46::new()
            .to_ascii(name.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast, DnsLength::Verify)
            .map_err(|_| HostError::Invalid)?;
        let port = match port {
            None => None,
            Some(text) if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) => {
                return Err(HostError::Invalid);
            }
            Some(text) => Some(text.parse::<u16>().map_err(|_| HostError::Invalid)?).filter(|port| *port != 443),
        };
        Ok(Host(match port {
            Some(port) => format!("{ascii}:{port}").into(),
            None => ascii.into_owned().into(),
        }))
    }

    /// ASCII, lower case: for requests, files and comparing.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// In the letters that people know it by.
    pub fn for_display(&self) -> String {
        let (name, port) = match self.0.split_once(':') {
            Some((name, port)) => (name, format!(":{port}")),
            None => (&*self.0, String::new()),
        };
        let (unicode, ok) = Uts46::new().to_unicode(name.as_bytes(), AsciiDenyList::STD3, Hyphens::Allow);
        match ok {
            Ok(()) => format!("{unicode}{port}"),
            Err(_) => self.0.to_string(),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        let cases = [
            ("example.com", "example.com", "example.com"),
            ("EXAMPLE.com:0443", "example.com", "example.com"),
            ("Испытание.com", "xn--80akhbyknj4f.com", "испытание.com"),
            ("localhost:8443", "localhost:8443", "localhost:8443"),
            ("127.0.0.1:8443", "127.0.0.1:8443", "127.0.0.1:8443"),
        ];
        for (given, ascii, shown) in cases {
            let host = Host::parse(given).unwrap();
            assert_eq!((host.as_str(), host.for_display().as_str()), (ascii, shown), "{given}");
        }
        for bad in ["", "ex..com", "-ex.com", "ex_a.com", "a b.com", "x.com:", "x.com:99999", "[::1]:8443", "x.com:+1"]
        {
            assert_eq!(Host::parse(bad), Err(HostError::Invalid), "{bad:?}");
        }
        assert_eq!(Host::parse("xn--80akhbyknj4f.com"), Err(HostError::Punycode));
        assert_eq!(Host::parse_any("xn--80akhbyknj4f.com").unwrap().for_display(), "испытание.com");
    }
}
