//! Failed TLS handshakes in the words of Go's `crypto/tls`, for the messages that users know.

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};

/// Why a handshake failed; none for errors without a text of their own in Go.
pub fn handshake_text(error: &Error) -> Option<String> {
    match error {
        Error::InvalidCertificate(cause) => {
            Some(format!("tls: failed to verify certificate: {}", certificate_text(cause)))
        }
        Error::AlertReceived(alert) => Some(format!("remote error: tls: {}", alert_text(*alert))),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            Some("tls: first record does not look like a TLS handshake".to_owned())
        }
        _ => None,
    }
}

fn certificate_text(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => "x509: certificate signed by unknown authority".to_owned(),
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => "x509: certificate has expired or is not yet valid".to_owned(),
        // An authority that is a server's own certificate and not trusted.
        CertificateError::Other(cause) if cause.to_string() == "CaUsedAsEndEntity" => {
            "x509: certificate signed by unknown authority".to_owned()
        }
        other => format!("x509: {other}"),
    }
}

fn alert_text(alert: AlertDescription) -> String {
    let text = match alert {
        AlertDescription::HandshakeFailure => "handshake failure",
        AlertDescription::BadCertificate => "bad certificate",
        AlertDescription::UnsupportedCertificate => "unsupported certificate",
        AlertDescription::CertificateRevoked => "revoked certificate",
        AlertDescription::CertificateExpired => "expired certificate",
        AlertDescription::CertificateUnknown => "unknown certificate",
        AlertDescription::UnknownCA => "unknown certificate authority",
        AlertDescription::AccessDenied => "access denied",
        AlertDescription::ProtocolVersion => "protocol version not supported",
        AlertDescription::InternalError => "internal error",
        AlertDescription::UnrecognisedName => "unrecognized name",
        AlertDescription::CertificateRequired => "certificate required",
        other => return format!("{other:?}"),
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_read_as_in_go() {
        for (error, expected) in [
            (Error::AlertReceived(AlertDescription::CertificateRequired), "remote error: tls: certificate required"),
            (
                Error::InvalidCertificate(CertificateError::Expired),
                "tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
            ),
            (
                Error::InvalidCertificate(CertificateError::UnknownIssuer),
                "tls: failed to verify certificate: x509: certificate signed by unknown authority",
            ),
        ] {
            assert_eq!(handshake_text(&error).as_deref(), Some(expected));
        }
        assert_eq!(handshake_text(&Error::DecryptError), None);
    }
}
