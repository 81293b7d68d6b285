//! Why the DER of a certificate, a request or a public key is refused. Texts are those of Go's `crypto/x509`.

use std::fmt;

use terrane_value::text::go_quoted;

use super::keys::ec::PointError;
use super::uri::UriError;

/// What is wrong with a certificate, a request or a public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum X509Error {
    /// The DER of a part is not that of such a part.
    Malformed(&'static str),
    /// A part has a value that it may not have.
    Invalid(&'static str),
    /// A rule about several parts, or about what is allowed in one, is broken: the text of the error.
    Rule(&'static str),
    /// The DER of a request does not have the structure of one.
    Structure(&'static str),
    /// A time cannot be read.
    Time(&'static str),
    /// An extension is critical that must not be.
    Critical(&'static str),
    /// The object identifier of an extension that is there twice.
    DuplicateExtension(String),
    /// A value of a name is not a text: why.
    NameValue(String),
    /// An alternative name is an IP address of this many bytes.
    IpLength(usize),
    /// An alternative name is not a URI, or one without a valid host.
    Uri {
        text: String,
        why: Option<UriError>,
    },
    /// An alternative name has characters that names must not have.
    NotAscii(String),
    Point(PointError),
    /// No certificate is issued for a key of this type of Go's.
    UnsupportedKey(&'static str),
}

impl fmt::Display for X509Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            X509Error::Malformed(part) => write!(f, "x509: malformed {part}"),
            X509Error::Invalid(part) => write!(f, "x509: invalid {part}"),
            X509Error::Rule(sentence) => write!(f, "x509: {sentence}"),
            X509Error::Structure(why) => write!(f, "asn1: structure error: {why}"),
            X509Error::Time(why) => f.write_str(why),
            X509Error::Critical(extension) => write!(f, "x509: {extension} incorrectly marked critical"),
            X509Error::DuplicateExtension(oid) => {
                write!(f, "x509: certificate contains duplicate extension with OID \"{oid}\"")
            }
            X509Error::NameValue(why) => write!(f, "x509: invalid RDNSequence: invalid attribute value: {why}"),
            X509Error::IpLength(length) => write!(f, "x509: cannot parse IP address of length {length}"),
            X509Error::Uri { text, why: Some(why) } => {
                write!(f, "x509: cannot parse URI {}: {why}", go_quoted(text))
            }
            X509Error::Uri { text, why: None } => {
                write!(f, "x509: cannot parse URI {}: invalid domain", go_quoted(text))
            }
            X509Error::NotAscii(text) => {
                write!(f, "x509: {} cannot be encoded as an IA5String", go_quoted(text))
            }
            X509Error::Point(error) => error.fmt(f),
            X509Error::UnsupportedKey(go_type) => write!(f, "x509: unsupported public key type: {go_type}"),
        }
    }
}

impl std::error::Error for X509Error {}

impl From<PointError> for X509Error {
    fn from(error: PointError) -> X509Error {
        X509Error::Point(error)
    }
}
