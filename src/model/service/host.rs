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
        if given.split(['.', ':']).any(is_encoded) {
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

    /// What is wrong with a name that [`Host::parse`] does not take, for people.
    pub fn problem(given: &str) -> String {
        let (name, port) = given.split_once(':').map_or((given, None), |(name, port)| (name, Some(port)));
        if let Some(port) = port {
            let digits = Some(port).filter(|port| port.bytes().all(|b| b.is_ascii_digit()));
            match digits.map_or(Err(()), |port| port.parse::<u64>().map_err(drop)) {
                Err(()) => return "port portion contains non-digit characters".to_owned(),
                Ok(65_536..) => return "port number is greater than 65535".to_owned(),
                Ok(_) => {}
            }
        }
        if name.is_empty() {
            return "empty string is not a valid hostname".to_owned();
        }
        for label in name.split('.') {
            if label.is_empty() {
                return "hostname contains empty label (two consecutive periods)".to_owned();
            }
            if is_encoded(label) {
                return format!(
                    "hostname label {label:?} specified in punycode format; service hostnames must be given in unicode"
                );
            }
        }
        let odd = |c: &char| c.is_ascii() && !c.is_ascii_alphanumeric() && !matches!(c, '-' | '.');
        match name.chars().find(odd) {
            Some(c) => format!("idna: disallowed rune U+{:04X}", u32::from(c)),
            None => {
                let sound = |label: &&str| Host::parse_any(label).is_ok();
                let label = name.split('.').find(|label| !sound(label)).unwrap_or(name);
                format!("idna: invalid label {label:?}")
            }
        }
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

fn is_encoded(label: &str) -> bool {
    label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"))
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
        let cases = [
            ("", "empty string is not a valid hostname"),
            ("a:", "port portion contains non-digit characters"),
            ("a_b:99999", "port number is greater than 65535"),
            ("a..b", "hostname contains empty label (two consecutive periods)"),
            ("a_b.com", "idna: disallowed rune U+005F"),
            ("a.b-.com", "idna: invalid label \"b-\""),
            (
                "xn--a.com",
                "hostname label \"xn--a\" specified in punycode format; service hostnames must be given in unicode",
            ),
        ];
        for (given, why) in cases {
            assert!(Host::parse(given).is_err());
            assert_eq!(Host::problem(given), why);
        }
        assert_eq!(Host::parse("xn--80akhbyknj4f.com"), Err(HostError::Punycode));
        assert_eq!(Host::parse_any("xn--80akhbyknj4f.com").unwrap().for_display(), "испытание.com");
    }
}
