//! Why a private key cannot be made, read or used. Texts are those of Go's libraries, and of the provider around them.

use std::fmt;

use terrane_value::text::go_quoted;

/// What is wrong with a private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// The operating system gives no random numbers.
    NoRandomNumbers,
    /// A library for cryptography failed: what it says.
    Library(String),
    /// So few bits can be broken.
    TooFewBits(i64),
    TooManyBits(i64),
    /// A rule about the numbers of an RSA key is broken: which.
    Rsa(&'static str),
    /// The scalar of an ECDSA key is zero.
    ZeroScalar,
    /// The scalar of an ECDSA key is not less than the order of its curve.
    LargeScalar,
    Ed25519,
    /// A rule about keys in PKCS#1, SEC1 or PKCS#8 is broken: which.
    X509(&'static str),
    /// The key is in another notation, for which Go has this function.
    OtherNotation(&'static str),
    /// It has the form of no notation.
    NotDer,
    /// It does not have the form of SEC1.
    NotSec1,
    Sec1Version(i64),
    /// The key within PKCS#8 is wrong. `kind`: "RSA" or "EC".
    Embedded {
        kind: &'static str,
        why: Box<KeyError>,
    },
    /// The algorithm that PKCS#8 names.
    UnknownAlgorithm(String),
    /// A key of this curve has parameters, which it must not have.
    Parameters(&'static str),
    /// What PKCS#8 has for a key of this curve is not one.
    NotAKeyOf(&'static str),
    Ed25519Length(usize),
    X25519Length,
    /// Go reads the key into this type, which the provider cannot use. It is not an error of reading.
    UnsupportedType(&'static str),
    /// A rule of OpenSSH's notation is broken: which.
    OpenSsh(&'static str),
    OpenSshCurve(String),
    /// The kind of a PEM that is not one of OpenSSH's.
    OpenSshKind(String),
    /// A text of this many bytes has no PEM in it.
    NoPem(usize),
    /// The PEM is of this kind, which is not a key.
    NotAKey(String),
    UnknownPem(String),
    /// The key in a PEM of this kind is wrong.
    Pem {
        kind: String,
        why: Box<KeyError>,
    },
    /// A key in OpenSSH's notation is wrong.
    OpenSshKey(Box<KeyError>),
}

const NOT_DER: &str = "asn1: structure error: the key is not the DER of its kind";

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::NoRandomNumbers => f.write_str("the operating system gives no random numbers"),
            KeyError::Library(why) => f.write_str(why),
            KeyError::TooFewBits(bits) => {
                let page = "https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size";
                write!(f, "crypto/rsa: {bits}-bit keys are insecure (see {page})")
            }
            KeyError::TooManyBits(bits) => write!(f, "crypto/rsa: {bits}-bit keys are too large"),
            KeyError::Rsa(rule) => write!(f, "crypto/rsa: {rule}"),
            KeyError::ZeroScalar => f.write_str("ecdsa: private key is zero"),
            KeyError::LargeScalar => f.write_str("input overflows the modulus"),
            KeyError::Ed25519 => f.write_str("invalid Ed25519 private key"),
            KeyError::X509(rule) => write!(f, "x509: {rule}"),
            KeyError::OtherNotation(function) => {
                write!(f, "x509: failed to parse private key (use {function} instead for this key format)")
            }
            KeyError::NotDer => f.write_str(NOT_DER),
            KeyError::NotSec1 => write!(f, "x509: failed to parse EC private key: {NOT_DER}"),
            KeyError::Sec1Version(version) => write!(f, "x509: unknown EC private key version {version}"),
            KeyError::Embedded { kind, why } => {
                write!(f, "x509: failed to parse {kind} private key embedded in PKCS#8: {why}")
            }
            KeyError::UnknownAlgorithm(oid) => {
                write!(f, "x509: PKCS#8 wrapping contained private key with unknown algorithm: {oid}")
            }
            KeyError::Parameters(name) => write!(f, "x509: invalid {name} private key parameters"),
            KeyError::NotAKeyOf(name) => write!(f, "x509: invalid {name} private key: {NOT_DER}"),
            KeyError::Ed25519Length(length) => write!(f, "x509: invalid Ed25519 private key length: {length}"),
            KeyError::X25519Length => f.write_str("crypto/ecdh: invalid private key size"),
            KeyError::UnsupportedType(go_type) => write!(
                f,
                "failed to determine key algorithm for private key of type {go_type}: unsupported private key type: {go_type}"
            ),
            KeyError::OpenSsh(rule) => write!(f, "ssh: {rule}"),
            KeyError::OpenSshCurve(name) => write!(f, "ssh: unhandled elliptic curve: {name}"),
            KeyError::OpenSshKind(kind) => write!(f, "ssh: unsupported key type {}", go_quoted(kind)),
            KeyError::NoPem(length) => write!(f, "failed to decode PEM block: decoded bytes 0, undecoded {length}"),
            KeyError::NotAKey(kind) => write!(f, "unable to determine parser for PEM preamble: {kind}"),
            KeyError::UnknownPem(kind) => write!(f, "unsupported PEM preamble/type: {kind}"),
            KeyError::Pem { kind, why } => {
                write!(f, "failed to parse private key given PEM preamble '{kind}': {why}")
            }
            KeyError::OpenSshKey(why) => write!(f, "failed to parse openssh private key: {why}"),
        }
    }
}

impl std::error::Error for KeyError {}
