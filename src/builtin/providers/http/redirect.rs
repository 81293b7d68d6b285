//! Redirects: where to, with which method, body and headers. The rules are those of Go's client.

use std::fmt;

use hyper::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, REFERER};
use url::Url;

use super::address::{as_written, redacted};

/// The maximum number of requests in a redirect chain.
pub const MOST: usize = 10;

/// Headers that are sent to the first host and its subdomains only.
const SENSITIVE: [HeaderName; 6] = [
    AUTHORIZATION,
    COOKIE,
    HeaderName::from_static("cookie2"),
    hyper::header::WWW_AUTHENTICATE,
    hyper::header::PROXY_AUTHORIZATION,
    hyper::header::PROXY_AUTHENTICATE,
];

/// Headers that describe a body.
const OF_THE_BODY: [HeaderName; 4] = [
    hyper::header::CONTENT_ENCODING,
    hyper::header::CONTENT_LANGUAGE,
    hyper::header::CONTENT_LOCATION,
    hyper::header::CONTENT_TYPE,
];

/// Why a redirect cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectError {
    Location { location: String, why: String },
    Scheme(String),
}

impl fmt::Display for RedirectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RedirectError::Location { location, why } => {
                write!(f, "failed to parse Location header {location:?}: {why}")
            }
            RedirectError::Scheme(scheme) => write!(f, "unsupported protocol scheme {scheme:?}"),
        }
    }
}

impl std::error::Error for RedirectError {}

/// One request of a redirect chain.
#[derive(Clone, Debug)]
pub struct ChainRequest {
    pub url: Url,
    /// The URL as messages show it.
    pub shown_url: String,
    pub method: String,
    pub headers: HeaderMap,
    pub has_body: bool,
    /// A hop to another host removed the sensitive headers. They stay removed.
    is_stripped: bool,
}

impl ChainRequest {
    /// `text` is the URL as it is configured.
    pub fn first(text: &str, url: Url, method: &str, headers: HeaderMap) -> ChainRequest {
        let shown_url = as_written(text, &url);
        ChainRequest { url, shown_url, method: method.to_owned(), headers, has_body: true, is_stripped: false }
    }

    /// Returns the request that a redirect asks for, or `None` if the response is final. `first` is the first request.
    pub fn next(
        &self,
        first: &ChainRequest,
        status: u16,
        response: &HeaderMap,
    ) -> Result<Option<ChainRequest>, RedirectError> {
        let keeps_method = match status {
            301..=303 => false,
            307 | 308 => true,
            _ => return Ok(None),
        };
        let Some(location) = response.get(LOCATION).filter(|value| !value.is_empty()) else { return Ok(None) };
        let location = String::from_utf8_lossy(location.as_bytes());
        let url = self.url.join(&location).map_err(|error| RedirectError::Location {
            location: location.clone().into_owned(),
            why: error.to_string(),
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(RedirectError::Scheme(url.scheme().to_owned()));
        }
        let method = match self.method.as_str() {
            method if keeps_method || matches!(method, "GET" | "HEAD") => method,
            _ => "GET",
        };
        let has_body = self.has_body && keeps_method;
        let is_stripped = self.is_stripped || !is_same_site(&first.url, &url);
        let mut headers = first.headers.clone();
        let without_body = OF_THE_BODY.iter().filter(|_| !has_body);
        for name in SENSITIVE.iter().filter(|_| is_stripped).chain(without_body) {
            headers.remove(name);
        }
        // A header for another host than the URL's is for this server only.
        let is_relative = Url::parse(&location).is_err();
        match self.headers.get(HOST).filter(|_| is_relative) {
            Some(host) => drop(headers.insert(HOST, host.clone())),
            None => drop(headers.remove(HOST)),
        }
        set_referer(&mut headers, &self.url, &url);
        let shown_url = redacted(&url);
        Ok(Some(ChainRequest { url, shown_url, method: method.to_owned(), headers, has_body, is_stripped }))
    }
}

/// Sets `Referer` unless it is configured. An `https` URL is not disclosed to an `http` server.
fn set_referer(headers: &mut HeaderMap, from: &Url, to: &Url) {
    if headers.get(REFERER).is_some_and(|value| !value.is_empty())
        || (from.scheme() == "https" && to.scheme() == "http")
    {
        return;
    }
    let mut from = from.clone();
    // URLs of these schemes have a host, so that this does not fail.
    let _ = from.set_username("");
    let _ = from.set_password(None);
    if let Ok(value) = HeaderValue::from_str(from.as_str()) {
        headers.insert(REFERER, value);
    }
}

/// Returns whether sensitive headers may be sent to a URL: its host is the first one or a subdomain of it.
fn is_same_site(first: &Url, other: &Url) -> bool {
    let (Some(first), Some(other)) = (first.host_str(), other.host_str()) else { return false };
    if first == other {
        return true;
    }
    // A part of an IP address is no domain.
    let is_ip = other.starts_with('[') || other.parse::<std::net::IpAddr>().is_ok();
    !is_ip && other.strip_suffix(first).is_some_and(|rest| rest.ends_with('.'))
}

/// The error for a redirect chain that is too long.
pub fn too_many() -> String {
    format!("stopped after {MOST} redirects")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn first(url: &str, method: &str) -> ChainRequest {
        let sent = [("authorization", "a"), ("content-type", "c"), ("x-k", "1"), ("host", "virtual")];
        ChainRequest::first(url, Url::parse(url).unwrap(), method, headers(&sent))
    }

    #[test]
    fn methods_follow_the_status() {
        for (status, method, expected) in [
            (301, "POST", Some(("GET", false))),
            (302, "HEAD", Some(("HEAD", false))),
            (303, "GET", Some(("GET", false))),
            (307, "POST", Some(("POST", true))),
            (308, "GET", Some(("GET", true))),
            (300, "GET", None),
            (304, "GET", None),
            (200, "GET", None),
        ] {
            let hop = first("http://h/a", method);
            let next = hop.next(&hop, status, &headers(&[("location", "/b")])).unwrap();
            assert_eq!(next.as_ref().map(|next| (next.method.as_str(), next.has_body)), expected, "{status} {method}");
        }
        let hop = first("http://h/a", "GET");
        assert!(hop.next(&hop, 302, &HeaderMap::new()).unwrap().is_none());
        assert!(hop.next(&hop, 302, &headers(&[("location", "http://[/")])).is_err());
        assert!(hop.next(&hop, 302, &headers(&[("location", "ftp://h/")])).is_err());
    }

    #[test]
    fn headers_follow_the_destination() {
        let cases = [
            ("http://h/a", "/b", "authorization content-type host referer x-k"),
            ("http://h/a", "http://h:81/b", "authorization content-type referer x-k"),
            ("http://h/a", "http://sub.h/b", "authorization content-type referer x-k"),
            ("http://h/a", "http://other/b", "content-type referer x-k"),
            ("http://h/a", "http://otherh/b", "content-type referer x-k"),
            ("https://h/a", "http://h/b", "authorization content-type x-k"),
        ];
        for (from, location, expected) in cases {
            let hop = first(from, "POST");
            let next = hop.next(&hop, 307, &headers(&[("location", location)])).unwrap().unwrap();
            let mut names: Vec<&str> = next.headers.keys().map(HeaderName::as_str).collect();
            names.sort_unstable();
            assert_eq!(names.join(" "), expected, "{location}");
        }
    }

    #[test]
    fn lost_headers_and_bodies_do_not_come_back() {
        let start = first("http://h/a", "POST");
        let away = start.next(&start, 307, &headers(&[("location", "http://other/b")])).unwrap().unwrap();
        let back = away.next(&start, 302, &headers(&[("location", "http://h/c")])).unwrap().unwrap();
        let last = back.next(&start, 307, &headers(&[("location", "/d")])).unwrap().unwrap();
        assert!(!last.headers.contains_key(AUTHORIZATION));
        assert!(away.has_body && !back.has_body && !last.has_body);
        assert!(!last.headers.contains_key("content-type"));
        assert_eq!(last.headers[REFERER], "http://h/c");
    }

    #[test]
    fn referer_has_no_credentials() {
        let url = "http://u:p@h/a?q";
        let start = ChainRequest::first(url, Url::parse(url).unwrap(), "GET", HeaderMap::new());
        let next = start.next(&start, 302, &headers(&[("location", "/b")])).unwrap().unwrap();
        assert_eq!(next.headers[REFERER], "http://h/a?q");
    }
}
