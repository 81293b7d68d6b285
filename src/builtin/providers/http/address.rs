//! URLs as Go reads them, where that differs from the `url` crate.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use url::{Position, Url};

/// The reason why a URL cannot be requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressError {
    /// The text is not a URL.
    Malformed(String),
    /// The scheme is not supported, or there is no host.
    Unsupported(String),
}

/// Parses the URL of a request.
pub fn parse(text: &str) -> Result<Url, AddressError> {
    let malformed = |reason: String| AddressError::Malformed(reason);
    let unsupported = |scheme: &str| AddressError::Unsupported(format!("unsupported protocol scheme {scheme:?}"));
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(malformed("net/url: invalid control character in URL".to_owned()));
    }
    let (before_fragment, fragment) = text.split_once('#').unwrap_or((text, ""));
    let path = before_fragment.split('?').next().unwrap_or_default();
    // The query is sent as it is.
    for part in [path, fragment] {
        if let Some(escape) = invalid_escape(part) {
            return Err(malformed(format!("invalid URL escape {escape:?}")));
        }
    }
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(url::ParseError::RelativeUrlWithoutBase) => return Err(unsupported("")),
        Err(error) => return Err(malformed(error.to_string())),
    };
    if !matches!(url.scheme(), "http" | "https") {
        return Err(unsupported(url.scheme()));
    }
    // The crate takes the first part of the path for a missing host.
    let after_scheme = path.split_once(':').map_or("", |(_, rest)| rest);
    if !after_scheme.starts_with("//") || after_scheme.starts_with("///") || after_scheme == "//" {
        return Err(AddressError::Unsupported("http: no Host in request URL".to_owned()));
    }
    Ok(url)
}

/// Returns the first percent sign that is not followed by two hexadecimal digits, with the next two characters.
fn invalid_escape(text: &str) -> Option<String> {
    text.match_indices('%').find_map(|(at, _)| {
        let found: String = text[at..].chars().take(3).collect();
        let is_valid = found.len() == 3 && found[1..].bytes().all(|byte| byte.is_ascii_hexdigit());
        (!is_valid).then_some(found)
    })
}

/// The form of a URL for messages, with the password masked.
pub fn redacted(url: &Url) -> String {
    without_password(url).to_string()
}

/// As [`redacted`], without the path `/` if the text of the URL has no path.
pub fn as_written(text: &str, url: &Url) -> String {
    let url = without_password(url);
    let rest = text.split_once("://").map_or("", |(_, rest)| rest);
    let has_path = rest.find(['/', '?', '#']).is_some_and(|at| rest[at..].starts_with('/'));
    if has_path { url.to_string() } else { format!("{}{}", &url[..Position::BeforePath], &url[Position::AfterPath..]) }
}

fn without_password(url: &Url) -> Url {
    let mut url = url.clone();
    if url.password().is_some() {
        // A URL with a password has a host, so that this does not fail.
        let _ = url.set_password(Some("xxxxx"));
    }
    url
}

/// The value of `Authorization` for the user name and password of a URL.
pub fn authorization(url: &Url) -> Option<String> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut credentials = unescape(url.username());
    credentials.push(b':');
    credentials.extend(unescape(url.password().unwrap_or_default()));
    Some(format!("Basic {}", STANDARD.encode(credentials)))
}

fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_need_a_scheme_a_host_and_valid_escapes() {
        let malformed = |reason: &str| Some(AddressError::Malformed(reason.to_owned()));
        let unsupported = |reason: &str| Some(AddressError::Unsupported(reason.to_owned()));
        let cases = [
            ("http://host/a%20b?q=%zz", None),
            ("https://host", None),
            ("HTTP://host:81/#a", None),
            ("http://host/%%zz", malformed("invalid URL escape \"%%z\"")),
            ("http://host/%2", malformed("invalid URL escape \"%2\"")),
            ("http://host/#%2", malformed("invalid URL escape \"%2\"")),
            ("http://host/%é", malformed("invalid URL escape \"%é\"")),
            ("http://host/\n", malformed("net/url: invalid control character in URL")),
            ("http://host:port/", malformed("invalid port number")),
            ("host/x", unsupported("unsupported protocol scheme \"\"")),
            ("ftp://host/x", unsupported("unsupported protocol scheme \"ftp\"")),
            ("http:///x", unsupported("http: no Host in request URL")),
            ("http:x", unsupported("http: no Host in request URL")),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).err(), expected, "{text}");
        }
    }

    #[test]
    fn credentials_are_sent_but_not_shown() {
        let url = Url::parse("http://us%65r:p%40ss@host/").unwrap();
        assert_eq!(authorization(&url), Some(format!("Basic {}", STANDARD.encode("user:p@ss"))));
        assert_eq!(redacted(&url), "http://us%65r:xxxxx@host/");
        let plain = Url::parse("http://host/").unwrap();
        assert_eq!((authorization(&plain), redacted(&plain)), (None, "http://host/".to_owned()));
        for text in ["http://host", "http://host/", "http://host?a=/", "http://host/?a", "http://u:xxxxx@host/p"] {
            assert_eq!(as_written(text, &Url::parse(text).unwrap()), text);
        }
    }
}
