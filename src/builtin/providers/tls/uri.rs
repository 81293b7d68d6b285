//! URLs as Go's `net/url` reads and writes them.
//!
//! Unlike the URLs of browsers they may be relative or opaque, and keep their own escapes wherever these are valid.

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv6Addr;

use terrane_value::text::go_quoted;

/// A parsed URL. Texts are bytes, because escapes may stand for any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uri {
    scheme: String,
    opaque: String,
    user: Option<User>,
    host: Vec<u8>,
    path: Escaped,
    /// `None` without a `?`.
    query: Option<String>,
    fragment: Escaped,
    /// The text has one slash after the scheme, and so no place for a host.
    omits_host: bool,
}

#[derive(Clone, PartialEq, Eq)]
struct User {
    name: Vec<u8>,
    password: Option<Vec<u8>>,
}

/// Both may be secrets.
impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("User")
    }
}

/// A part of a URL, with and without its escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Escaped {
    raw: String,
    bytes: Vec<u8>,
}

/// Where a character stands, which decides whether it is escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    User,
    Host,
    Zone,
    Path,
    Fragment,
}

/// Why a text is not a URL, as Go says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriError {
    text: String,
    problem: UriProblem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum UriProblem {
    ControlCharacter,
    /// The first segment of a path has a colon, as if it were a scheme.
    FirstSegment,
    NoScheme,
    UserInfo,
    IpLiteral,
    NoBracket,
    Host(String),
    Port(String),
    Escape(String),
    HostCharacter(char),
}

impl fmt::Display for UriError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parse {}: {}", go_quoted(&self.text), self.problem)
    }
}

impl std::error::Error for UriError {}

impl fmt::Display for UriProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UriProblem::ControlCharacter => f.write_str("net/url: invalid control character in URL"),
            UriProblem::FirstSegment => f.write_str("first path segment in URL cannot contain colon"),
            UriProblem::NoScheme => f.write_str("missing protocol scheme"),
            UriProblem::UserInfo => f.write_str("net/url: invalid userinfo"),
            UriProblem::IpLiteral => f.write_str("invalid IP-literal"),
            UriProblem::NoBracket => f.write_str("missing ']' in host"),
            UriProblem::Host(host) => write!(f, "invalid host: ParseAddr({}): unable to parse IP", go_quoted(host)),
            UriProblem::Port(port) => write!(f, "invalid port {} after host", go_quoted(port)),
            UriProblem::Escape(part) => write!(f, "invalid URL escape {}", go_quoted(part)),
            UriProblem::HostCharacter(c) => {
                write!(f, "invalid character {} in host name", go_quoted(&c.to_string()))
            }
        }
    }
}

impl Uri {
    /// Reads a URL or a part of one.
    pub fn parse(text: &str) -> Result<Uri, UriError> {
        let (before, fragment) = text.split_once('#').unwrap_or((text, ""));
        let error = |text: &str, problem| UriError { text: text.to_owned(), problem };
        let mut uri = parse_without_fragment(before).map_err(|e| error(before, e))?;
        let bytes = unescaped(fragment, Place::Fragment).map_err(|e| error(text, e))?;
        uri.fragment = Escaped { raw: fragment.to_owned(), bytes };
        Ok(uri)
    }

    /// In lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// With its port, without user name and password.
    pub fn host(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.host)
    }

    /// The digits of the port, if there are any.
    pub fn port(&self) -> Option<String> {
        let host = self.host();
        let after_address = host.rfind(']').map_or(&*host, |at| &host[at + 1..]);
        let (_, port) = after_address.rsplit_once(':')?;
        Some(port.to_owned()).filter(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// The same with a port behind the host.
    pub fn with_port(mut self, port: u16) -> Uri {
        self.host.extend_from_slice(format!(":{port}").as_bytes());
        self
    }
}

fn parse_without_fragment(text: &str) -> Result<Uri, UriProblem> {
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(UriProblem::ControlCharacter);
    }
    let (scheme, rest) = split_scheme(text)?;
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query.to_owned())),
        None => (rest, None),
    };
    let mut uri = Uri { scheme: scheme.to_ascii_lowercase(), query, ..Uri::default() };
    if text == "*" {
        uri.path = Escaped { raw: "*".to_owned(), bytes: b"*".to_vec() };
        return Ok(uri);
    }
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            uri.opaque = rest.to_owned();
            return Ok(uri);
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err(UriProblem::FirstSegment);
        }
    }
    let has_authority = !scheme.is_empty() || !rest.starts_with("///");
    let path = match rest.strip_prefix("//").filter(|_| has_authority) {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            (uri.user, uri.host) = parse_authority(&uri.scheme, authority)?;
            path
        }
        None => {
            uri.omits_host = !scheme.is_empty();
            rest
        }
    };
    uri.path = Escaped { raw: path.to_owned(), bytes: unescaped(path, Place::Path)? };
    Ok(uri)
}

fn split_scheme(text: &str) -> Result<(&str, &str), UriProblem> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err(UriProblem::NoScheme),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn parse_authority(scheme: &str, authority: &str) -> Result<(Option<User>, Vec<u8>), UriProblem> {
    let Some((user, host)) = authority.rsplit_once('@') else { return Ok((None, parse_host(scheme, authority)?)) };
    let host = parse_host(scheme, host)?;
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !user.chars().all(is_allowed) {
        return Err(UriProblem::UserInfo);
    }
    let (name, password) = match user.split_once(':') {
        Some((name, password)) => (name, Some(password)),
        None => (user, None),
    };
    let name = unescaped(name, Place::User)?;
    let password = password.map(|password| unescaped(password, Place::User)).transpose()?;
    Ok((Some(User { name, password }), host))
}

fn parse_host(scheme: &str, host: &str) -> Result<Vec<u8>, UriProblem> {
    match host.rfind('[') {
        Some(0) => return parse_bracketed_host(host),
        Some(_) => return Err(UriProblem::IpLiteral),
        None => {}
    }
    // Lists of hosts with ports are allowed in other schemes, such as those of databases.
    let is_strict = matches!(scheme, "http" | "https");
    let colon = if is_strict { host.find(':') } else { host.rfind(':') };
    check_port(colon.map_or("", |at| &host[at..]))?;
    unescaped(host, Place::Host)
}

/// An IPv6 address, perhaps with a zone behind `%25`, and a port.
fn parse_bracketed_host(host: &str) -> Result<Vec<u8>, UriProblem> {
    let end = host.rfind(']').ok_or(UriProblem::NoBracket)?;
    let (inner, port) = (&host[1..end], &host[end + 1..]);
    check_port(port)?;
    let (address, zone) = inner.split_at(inner.find("%25").unwrap_or(inner.len()));
    let address = unescaped(address, Place::Host)?;
    let zone = unescaped(zone, Place::Zone)?;
    let text = String::from_utf8_lossy(&address);
    if text.parse::<Ipv6Addr>().is_err() || zone == b"%" {
        let is_v4 = text.parse::<std::net::Ipv4Addr>().is_ok() && zone.is_empty();
        return Err(if is_v4 { UriProblem::IpLiteral } else { invalid_address(&address, &zone) });
    }
    Ok([b"[", &address[..], &zone, b"]", port.as_bytes()].concat())
}

fn invalid_address(address: &[u8], zone: &[u8]) -> UriProblem {
    UriProblem::Host(String::from_utf8_lossy(&[address, zone].concat()).into_owned())
}

fn check_port(text: &str) -> Result<(), UriProblem> {
    let is_valid = text.strip_prefix(':').map_or(text.is_empty(), |port| port.bytes().all(|b| b.is_ascii_digit()));
    if is_valid { Ok(()) } else { Err(UriProblem::Port(text.to_owned())) }
}

/// Whether a byte must be escaped in this place.
fn must_escape(byte: u8, place: Place) -> bool {
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        return false;
    }
    let allowed: &[u8] = match place {
        Place::Host | Place::Zone => b"!$&'()*+,;=:[]<>\"",
        Place::User => b"$&+,;=",
        Place::Path => b"$&+,/:;=@",
        Place::Fragment => b"$&+,/:;=?@!()*",
    };
    !allowed.contains(&byte)
}

fn escaped(bytes: &[u8], place: Place) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        if must_escape(*byte, place) {
            out.push_str(&format!("%{byte:02X}"));
        } else {
            out.push(char::from(*byte));
        }
    }
    out
}

fn unescaped(text: &str, place: Place) -> Result<Vec<u8>, UriProblem> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    let invalid = |part: &[u8]| UriProblem::Escape(String::from_utf8_lossy(part).into_owned());
    while let Some(&byte) = bytes.get(at) {
        if byte != b'%' {
            if matches!(place, Place::Host | Place::Zone) && byte.is_ascii() && must_escape(byte, place) {
                return Err(UriProblem::HostCharacter(char::from(byte)));
            }
            out.push(byte);
            at += 1;
            continue;
        }
        let rest = &bytes[at..bytes.len().min(at + 3)];
        let digit = |at: usize| rest.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let (Some(high), Some(low)) = (digit(1), digit(2)) else { return Err(invalid(rest)) };
        let value = (high * 16 + low) as u8;
        let is_allowed = match place {
            // Escapes in hosts are for characters outside of ASCII.
            Place::Host => high >= 8 || rest == b"%25",
            Place::Zone => rest == b"%25" || value == b' ' || !must_escape(value, Place::Host),
            _ => true,
        };
        if !is_allowed {
            return Err(invalid(rest));
        }
        out.push(value);
        at += 3;
    }
    Ok(out)
}

impl Escaped {
    /// The text that it was written with, if that is valid, or else with all that needs escapes escaped.
    fn text(&self, place: Place) -> String {
        let is_valid = |byte: u8| b"!$&'()*+,;=:@[]%".contains(&byte) || !must_escape(byte, place);
        if self.raw.bytes().all(is_valid) { self.raw.clone() } else { escaped(&self.bytes, place) }
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if self.opaque.is_empty() {
            self.write_hierarchy(f)?
        } else {
            f.write_str(&self.opaque)?
        }
        if let Some(query) = &self.query {
            write!(f, "?{query}")?;
        }
        if !self.fragment.bytes.is_empty() {
            write!(f, "#{}", self.fragment.text(Place::Fragment))?;
        }
        Ok(())
    }
}

impl Uri {
    fn write_hierarchy(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.bytes == b"*" { "*".to_owned() } else { self.path.text(Place::Path) };
        let has_host = !self.host.is_empty() || self.user.is_some();
        if has_host || (!self.scheme.is_empty() && !self.omits_host && !path.is_empty()) {
            f.write_str("//")?;
        }
        if let Some(user) = &self.user {
            f.write_str(&escaped(&user.name, Place::User))?;
            if let Some(password) = &user.password {
                write!(f, ":{}", escaped(password, Place::User))?;
            }
            f.write_str("@")?;
        }
        f.write_str(&escaped(&self.host, Place::Host))?;
        // A colon in the first segment would end a scheme.
        let begins = self.scheme.is_empty() && !has_host;
        if begins && path.split('/').next().is_some_and(|segment| segment.contains(':')) {
            f.write_str("./")?;
        }
        f.write_str(&path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::tls::golden::{cases, text};

    #[test]
    fn urls_are_read_and_written_as_in_go() {
        for case in cases("uri.json") {
            match Uri::parse(text(&case, "text")) {
                Ok(uri) => {
                    assert_eq!(text(&case, "error"), "", "{case}");
                    assert_eq!((uri.to_string(), &*uri.host()), (text(&case, "is").to_owned(), text(&case, "host")));
                }
                Err(error) => {
                    let error = error.to_string();
                    let expected = text(&case, "error");
                    // Go says more about why an address is none.
                    let end = expected.find("ParseAddr(").unwrap_or(expected.len());
                    assert_eq!(error[..end.min(error.len())], expected[..end], "{case}");
                }
            }
        }
    }

    #[test]
    fn ports_are_found() {
        let cases = [
            ("tls://h", None),
            ("tls://h:1", Some("1")),
            ("tls://h:", None),
            ("tls://[::1]", None),
            ("tls://[::1]:22", Some("22")),
        ];
        for (text, port) in cases {
            assert_eq!(Uri::parse(text).expect("URL").port().as_deref(), port, "{text}");
        }
    }
}
