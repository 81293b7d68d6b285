//! The address of a package, taken apart: method, URL, parameters.

use std::fmt;

use base::secret::redacted;
use model::config::module_source::split_method;

use super::FetchError;

/// `method::url?parameters`; the scheme is the method if none is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub method: String,
    /// Without parameters.
    pub url: String,
    /// Decoded, in the order in which they were written.
    pub parameters: Vec<(String, String)>,
}

impl Address {
    pub fn parse(text: &str) -> Result<Address, FetchError> {
        let (method, url) = split_method(text);
        let scheme = url.split_once(':').map(|(scheme, _)| scheme);
        let Some(method) = method.or(scheme) else {
            return Err(FetchError::new(format!("{:?} is not the address of a package", redacted(text))));
        };
        let (url, query) = url.split_once('?').unwrap_or((url, ""));
        let parameters = query.split('&').filter(|p| !p.is_empty()).map(|p| {
            let (name, value) = p.split_once('=').unwrap_or((p, ""));
            (decoded(name), decoded(value))
        });
        Ok(Address { method: method.to_ascii_lowercase(), url: url.to_owned(), parameters: parameters.collect() })
    }

    /// Takes a parameter out; None if it is not there or empty.
    pub fn take(&mut self, name: &str) -> Option<String> {
        let first = self.parameters.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
        self.parameters.retain(|(n, _)| n != name);
        first.filter(|value| !value.is_empty())
    }

    /// What follows `scheme://host`, decoded.
    pub fn path(&self) -> String {
        let rest = self.url.split_once("://").map_or("", |(_, rest)| rest);
        rest.find('/').map_or_else(String::new, |at| percent_decoded(&rest[at..], false))
    }

    /// For requests.
    pub fn to_url(&self) -> Result<url::Url, FetchError> {
        url::Url::parse(&self.to_string())
            .map_err(|e| FetchError::new(format!("parse {:?}: {e}", redacted(&self.to_string()))))
    }
}

/// The URL with its parameters sorted by name, without the method.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)?;
        let mut sorted: Vec<_> = self.parameters.iter().collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        for (i, (name, value)) in sorted.into_iter().enumerate() {
            write!(f, "{}{}={}", if i == 0 { '?' } else { '&' }, encoded(name), encoded(value))?;
        }
        Ok(())
    }
}

fn decoded(text: &str) -> String {
    percent_decoded(text, true)
}

/// `plus`: it stands for a space. Escapes that are none stay.
pub fn percent_decoded(text: &str, plus: bool) -> String {
    let mut out = Vec::with_capacity(text.len());
    let hex = |b: Option<&u8>| b.and_then(|b| (*b as char).to_digit(16));
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match (byte, hex(after.first()), hex(after.get(1))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            (b'+', _, _) if plus => out.push(b' '),
            _ => out.push(*byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b if b.is_ascii_alphanumeric() || b"-_.~".contains(&b) => out.push(b as char),
            b => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let mut address = Address::parse("git::https://h/a.git?ref=..%2Fx&depth=1&archive=").unwrap();
        assert_eq!((address.method.as_str(), address.path().as_str()), ("git", "/a.git"));
        assert_eq!(address.to_string(), "https://h/a.git?archive=&depth=1&ref=..%2Fx");
        assert_eq!((address.take("depth"), address.take("archive")), (Some("1".into()), None));
        assert_eq!(address.to_string(), "https://h/a.git?ref=..%2Fx");
        assert_eq!(Address::parse("file:///a%20b+c/100%").unwrap().path(), "/a b+c/100%");
        assert_eq!(Address::parse("C:\\foo").unwrap().method, "c");
    }
}
