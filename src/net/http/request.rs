//! Requests and answers.

use std::fmt;

use base::limits::Limit;
use base::secret::Secret;
use bytes::Bytes;
use reqwest::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
};
use reqwest::{Method, StatusCode};
use url::Url;

use super::transport::{is_loopback, without_secrets};

/// What to send; it may be sent several times. Headers whose values are marked as sensitive are for this very host, and for none
/// that it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    body: Option<Body>,
    /// False: the first failure counts.
    pub retry: bool,
    /// False: an answer that leads elsewhere is the answer.
    follow: bool,
    /// The address beyond its host is a secret, for it is a permission.
    secret_address: bool,
    /// Redirects to plain HTTP are errors.
    secure: bool,
    /// The largest answer; none: that of the client.
    pub answer_limit: Option<Limit>,
}

/// May be a secret.
#[derive(Clone, PartialEq, Eq)]
struct Body(Bytes);

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0.len())
    }
}

impl Request {
    pub fn new(method: Method, url: Url) -> Request {
        Request {
            method,
            url,
            headers: HeaderMap::new(),
            body: None,
            retry: true,
            follow: true,
            secret_address: false,
            secure: false,
            answer_limit: None,
        }
    }

    pub fn get(url: Url) -> Request {
        Request::new(Method::GET, url)
    }

    /// The fields of a form, sent once and to this host alone. Any of them may be a secret.
    pub fn form(url: Url, fields: &[(&str, &str)]) -> Request {
        let encoded = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = Request::new(Method::POST, url).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        Request { follow: false, ..request.body(encoded).once() }
    }

    /// A value that headers cannot have is left out.
    pub fn header(mut self, name: HeaderName, value: &str) -> Request {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// A header that no log shows and no other host gets.
    pub fn secret_header(mut self, name: HeaderName, value: &Secret) -> Request {
        if let Ok(mut value) = HeaderValue::from_str(value.reveal()) {
            value.set_sensitive(true);
            self.headers.insert(name, value);
        }
        self
    }

    /// Name and password, for basic authentication.
    pub fn login(self, login: Option<&(String, Secret)>) -> Request {
        use base64::Engine;
        let Some((name, password)) = login else { return self };
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("{name}:{}", password.reveal()));
        self.secret_header(AUTHORIZATION, &Secret::new(format!("Basic {pair}")))
    }

    /// A bearer token, in place of a login.
    pub fn token(self, token: Option<&Secret>) -> Request {
        let Some(token) = token else { return self };
        self.secret_header(AUTHORIZATION, &Secret::new(format!("Bearer {}", token.reveal())))
    }

    pub fn body(mut self, body: impl Into<Bytes>) -> Request {
        self.body = Some(Body(body.into()));
        self
    }

    pub fn once(mut self) -> Request {
        self.retry = false;
        self
    }

    /// Errors and logs show only the host of the address.
    pub fn with_secret_address(mut self) -> Request {
        self.secret_address = true;
        self
    }

    /// Redirects to plain HTTP are errors, unless this request itself is plain HTTP and the redirect leads to this machine.
    pub fn secure_only(mut self) -> Request {
        self.secure = true;
        self
    }

    /// Whether a redirect may lead to this address.
    pub(super) fn may_lead_to(&self, next: &Url) -> bool {
        !self.secure || next.scheme() == "https" || (self.url.scheme() == "http" && is_loopback(next))
    }

    /// The address for errors and logs, without its query.
    pub fn display_url(&self) -> String {
        if !self.secret_address {
            return without_secrets(&self.url);
        }
        format!("{}/...", self.url.origin().ascii_serialization())
    }

    pub(super) fn has_secret_address(&self) -> bool {
        self.secret_address
    }

    pub(super) fn body_bytes(&self) -> Option<Bytes> {
        self.body.as_ref().map(|body| body.0.clone())
    }

    /// `Get`, `Post`
    pub(super) fn verb(&self) -> String {
        let method = self.method.as_str();
        format!("{}{}", &method[..1], method[1..].to_ascii_lowercase())
    }

    /// Whether to follow an answer of this status.
    pub(super) fn follows(&self, status: StatusCode) -> bool {
        self.follow && matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
    }

    /// This request as an answer of the status leads it elsewhere: `next` is where, `sent` what was answered.
    pub(super) fn redirected(&self, sent: &Request, status: StatusCode, next: Url) -> Request {
        let same_host =
            next.host() == self.url.host() && next.port_or_known_default() == self.url.port_or_known_default();
        let trusted = same_host && (next.scheme() == "https" || self.url.scheme() == "http");
        let mut request = Request { url: next, headers: self.headers.clone(), ..sent.clone() };
        if !trusted {
            let sensitive = self.headers.iter().filter(|(_, value)| value.is_sensitive()).map(|(name, _)| name);
            sensitive.for_each(|name| drop(request.headers.remove(name)));
        }
        let changes_method = matches!(status.as_u16(), 301..=303) && sent.method != Method::HEAD;
        if changes_method || sent.body.is_none() {
            [CONTENT_TYPE, CONTENT_LENGTH, TRANSFER_ENCODING]
                .iter()
                .for_each(|name| drop(request.headers.remove(name)));
        }
        if changes_method {
            request.method = Method::GET;
            request.body = None;
        }
        request
    }
}

/// An answer with any status: the last one, if earlier ones were worth a retry.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Where it came from, after redirects.
    pub url: Url,
    /// Empty for downloads: their bytes went elsewhere.
    pub body: Vec<u8>,
    /// How often was asked.
    pub attempts: u32,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The server has trouble, and may be well the next time: 429, or 5xx but 501.
    pub fn is_trouble(&self) -> bool {
        self.status == StatusCode::TOO_MANY_REQUESTS
            || (self.status.is_server_error() && self.status != StatusCode::NOT_IMPLEMENTED)
    }
}
