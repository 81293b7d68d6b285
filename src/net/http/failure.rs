//! Why there is no answer.

use std::fmt;

use url::Url;

pub(super) const TIMED_OUT: &str = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";

/// Why there is no answer.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    /// What was tried: `Get`, `Post`.
    pub(super) verb: String,
    /// Without secrets.
    pub(super) url: String,
    pub(super) why: String,
    pub attempts: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The command was asked to stop.
    Stopped,
    TimedOut,
    TooLarge,
    /// It may be there the next time.
    Unreachable,
    Other,
}

/// `Get "https://example.com/": why`
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} \"{}\": {}", self.verb, self.url, self.why)
    }
}

impl std::error::Error for Failure {}

/// The library's error in the words that people of the field search for.
pub(super) fn explain(url: &Url, error: &reqwest::Error) -> (FailureKind, String) {
    let (host, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    let mut dns = false;
    while let Some(e) = cause {
        dns |= e.to_string().starts_with("dns error");
        if let Some(io) = e.downcast_ref::<std::io::Error>() {
            if let Some(tls) = tls_error(io) {
                return (FailureKind::Other, tls_words(tls));
            }
            if io.kind() == std::io::ErrorKind::UnexpectedEof {
                return (FailureKind::Unreachable, "unexpected EOF".to_owned());
            }
            if io.kind() == std::io::ErrorKind::ConnectionRefused {
                return (FailureKind::Unreachable, format!("dial tcp {host}:{port}: connect: connection refused"));
            }
        }
        cause = e.source();
    }
    if dns {
        return (FailureKind::Unreachable, format!("dial tcp: lookup {host}: no such host"));
    }
    if error.is_timeout() {
        return (FailureKind::TimedOut, TIMED_OUT.to_owned());
    }
    let kind = if error.is_builder() { FailureKind::Other } else { FailureKind::Unreachable };
    (kind, innermost(error))
}

/// The library's error in the words that people of the field search for.
pub fn explanation(error: &reqwest::Error) -> String {
    error.url().map_or_else(|| innermost(error), |url| explain(url, error).1)
}

/// The error that others wrap, perhaps more than once: a custom error is no source of the one around it.
fn tls_error(error: &std::io::Error) -> Option<&rustls::Error> {
    let inner = error.get_ref()?;
    inner.downcast_ref().or_else(|| tls_error(inner.downcast_ref::<std::io::Error>()?))
}

fn tls_words(error: &rustls::Error) -> String {
    use rustls::CertificateError;
    match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "tls: failed to verify certificate: x509: certificate signed by unknown authority".to_owned()
        }
        rustls::Error::InvalidCertificate(CertificateError::Other(why)) if why.to_string() == "CaUsedAsEndEntity" => {
            "tls: failed to verify certificate: the host presents the certificate of an authority as its own; give the \
             host a certificate that the authority signed"
                .to_owned()
        }
        rustls::Error::InvalidCertificate(why) => format!("tls: failed to verify certificate: {why}"),
        other => format!("tls: {other}"),
    }
}

pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(next) = last.source() {
        last = next;
    }
    last.to_string()
}
