//! Request headers, and the form of response headers in the state.

use std::collections::BTreeMap;
use std::fmt;

use hyper::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, RANGE, TRAILER,
    TRANSFER_ENCODING, USER_AGENT,
};

/// Headers that are computed from the body. Configured values are ignored.
const OF_THE_MESSAGE: [HeaderName; 3] = [CONTENT_LENGTH, TRANSFER_ENCODING, TRAILER];

/// A configured header that cannot be sent, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderError {
    Name(String),
    /// The value of the header of this name.
    Value(String),
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Name(name) => write!(f, "net/http: invalid header field name {name:?}"),
            HeaderError::Value(name) => write!(f, "net/http: invalid header field value for {name:?}"),
        }
    }
}

impl std::error::Error for HeaderError {}

/// Parses the configured headers.
pub fn configured(headers: &BTreeMap<String, String>) -> Result<HeaderMap, HeaderError> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| HeaderError::Name(name.clone()))?;
        let value = HeaderValue::from_bytes(value.trim().as_bytes());
        let value = value.map_err(|_| HeaderError::Value(name.clone()))?;
        map.insert(key, value);
    }
    Ok(map)
}

/// The headers of one request: those of the hop and the client's defaults.
pub struct Outgoing {
    pub headers: HeaderMap,
    /// The client requested compression, so it must decompress the response.
    pub accepts_gzip: bool,
}

/// Builds the headers of a request. `host` is the default of `Host`; `length` is the size of the body in bytes.
pub fn outgoing(hop: &HeaderMap, method: &str, host: &HeaderValue, length: usize) -> Outgoing {
    let mut headers = hop.clone();
    for name in OF_THE_MESSAGE {
        headers.remove(name);
    }
    if !headers.contains_key(HOST) {
        headers.insert(HOST, host.clone());
    }
    if length > 0 || method == "POST" {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    match headers.get(USER_AGENT) {
        None => drop(headers.insert(USER_AGENT, HeaderValue::from_static("Go-http-client/1.1"))),
        // An empty one sends none.
        Some(value) if value.is_empty() => drop(headers.remove(USER_AGENT)),
        Some(_) => {}
    }
    let accepts_gzip = !headers.contains_key(ACCEPT_ENCODING) && !headers.contains_key(RANGE) && method != "HEAD";
    if accepts_gzip {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Outgoing { headers, accepts_gzip }
}

/// Adds the credentials of a URL unless `Authorization` is configured.
pub fn authorize(headers: &mut HeaderMap, authorization: Option<String>) {
    if let Some(value) = authorization.and_then(|text| HeaderValue::from_str(&text).ok())
        && !headers.contains_key(AUTHORIZATION)
    {
        headers.insert(AUTHORIZATION, value);
    }
}

/// Response headers by canonical name, without those of the transfer encoding. Repeated headers are joined.
pub fn response_headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let is_chunked = headers.contains_key(TRANSFER_ENCODING);
    let mut map: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers {
        let is_hidden = name == TRANSFER_ENCODING || name == TRAILER || (name == CONTENT_LENGTH && is_chunked);
        if is_hidden {
            continue;
        }
        let value = String::from_utf8_lossy(value.as_bytes());
        map.entry(canonical(name.as_str()))
            .and_modify(|all| {
                all.push_str(", ");
                all.push_str(&value);
            })
            .or_insert_with(|| value.to_string());
    }
    map
}

/// The canonical name: a capital letter at the beginning and after each dash.
fn canonical(name: &str) -> String {
    let mut starts_word = true;
    let spelled = name.chars().map(|c| {
        let c = if starts_word { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        starts_word = c == '-';
        c
    });
    spelled.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        map
    }

    #[test]
    fn client_adds_its_own_headers() {
        let host = HeaderValue::from_static("h:1");
        let names = |headers: &HeaderMap| {
            response_headers(headers).into_iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>()
        };
        let agent = "User-Agent=Go-http-client/1.1";
        let get = outgoing(&HeaderMap::new(), "GET", &host, 0);
        assert_eq!(names(&get.headers), ["Accept-Encoding=gzip", "Host=h:1", agent]);
        assert!(get.accepts_gzip);
        let head = outgoing(&HeaderMap::new(), "HEAD", &host, 0);
        assert_eq!(names(&head.headers), ["Host=h:1", agent]);
        assert!(!head.accepts_gzip);
        let post = outgoing(&map(&[("content-length", "9"), ("user-agent", ""), ("range", "x")]), "POST", &host, 0);
        assert_eq!(names(&post.headers), ["Content-Length=0", "Host=h:1", "Range=x"]);
        let other = outgoing(&map(&[("host", "o"), ("accept-encoding", "br"), ("user-agent", "b/1")]), "GET", &host, 3);
        assert_eq!(names(&other.headers), ["Accept-Encoding=br", "Content-Length=3", "Host=o", "User-Agent=b/1"]);
    }

    #[test]
    fn response_headers_are_joined_and_spelled() {
        let headers = map(&[
            ("x-multi", "one"),
            ("x-multi", "two"),
            ("etag", "e"),
            ("www-authenticate", ""),
            ("content-length", "3"),
            ("transfer-encoding", "chunked"),
        ]);
        let found: Vec<(String, String)> = response_headers(&headers).into_iter().collect();
        let expected = [("Etag", "e"), ("Www-Authenticate", ""), ("X-Multi", "one, two")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn invalid_headers_are_errors() {
        for (name, value) in [("a b", "v"), ("", "v"), ("a", "v\r\nb: w")] {
            let headers = BTreeMap::from([(name.to_owned(), value.to_owned())]);
            assert!(configured(&headers).is_err(), "{name:?} {value:?}");
        }
    }
}
