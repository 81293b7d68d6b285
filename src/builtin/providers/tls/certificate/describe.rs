//! The `certificates` of `data.tls_certificate`, and its identifier.

use num_bigint::BigUint;
use sha1::{Digest, Sha1};
use terrane_value::text::go_quoted;

use super::read::{Certificate, parse_one};
use crate::providers::failure::Failure;
use crate::providers::tls::keys::error::KeyError;
use crate::providers::tls::keys::public::id_of;
use crate::providers::tls::pem;
use crate::providers::tls::x509_error::X509Error;

/// An element of `certificates`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    pub signature_algorithm: String,
    pub public_key_algorithm: String,
    pub serial_number: String,
    pub is_ca: bool,
    pub max_path_length: i64,
    pub version: i64,
    pub issuer: String,
    pub subject: String,
    pub not_before: String,
    pub not_after: String,
    pub sha1_fingerprint: String,
    pub cert_pem: String,
}

impl From<&Certificate> for Description {
    fn from(certificate: &Certificate) -> Description {
        let fingerprint = Sha1::digest(&certificate.der);
        Description {
            signature_algorithm: certificate.signature_algorithm.to_owned(),
            public_key_algorithm: certificate.public_key_algorithm.to_owned(),
            serial_number: BigUint::from_bytes_be(&certificate.serial).to_string(),
            is_ca: certificate.is_ca,
            max_path_length: certificate.max_path_length,
            version: certificate.version,
            issuer: certificate.issuer.to_string(),
            subject: certificate.subject.to_string(),
            not_before: certificate.not_before.rfc3339(),
            not_after: certificate.not_after.rfc3339(),
            sha1_fingerprint: fingerprint.iter().map(|byte| format!("{byte:02x}")).collect(),
            cert_pem: pem::encode(pem::CERTIFICATE, &certificate.der),
        }
    }
}

impl Description {
    /// The fields in braces, as Go prints a structure of the provider's values.
    fn printed(&self) -> String {
        let fields = [
            go_quoted(&self.signature_algorithm),
            go_quoted(&self.public_key_algorithm),
            go_quoted(&self.serial_number),
            self.is_ca.to_string(),
            self.max_path_length.to_string(),
            self.version.to_string(),
            go_quoted(&self.issuer),
            go_quoted(&self.subject),
            go_quoted(&self.not_before),
            go_quoted(&self.not_after),
            go_quoted(&self.sha1_fingerprint),
            go_quoted(&self.cert_pem),
        ];
        format!("{{{}}}", fields.join(" "))
    }
}

/// The `id` of the data source.
pub fn id(certificates: &[Description]) -> String {
    let printed: Vec<_> = certificates.iter().map(Description::printed).collect();
    id_of(format!("[{}]", printed.join(" ")).as_bytes())
}

/// The certificate in `content`. The provider attaches the first error to the attribute.
pub fn describe_content(content: &str) -> Result<Description, Failure> {
    let Some(block) = pem::decode(content) else {
        return Err(Failure::new("Failed to decoded PEM", "Value is not a valid PEM encoding of a certificate"));
    };
    match block.kind.as_str() {
        pem::CERTIFICATE => {}
        kind @ (pem::PUBLIC_KEY | pem::PKCS8_KEY | pem::RSA_KEY | pem::EC_KEY | pem::CERTIFICATE_REQUEST) => {
            let detail = format!("Certificate PEM should be \"CERTIFICATE\", got {}", go_quoted(kind));
            return Err(Failure::new("Unexpected PEM preamble", detail));
        }
        kind => return Err(Failure::new("Failed to identify PEM preamble", KeyError::UnknownPem(kind.to_owned()))),
    }
    let certificate = parse_one(&block.contents).map_err(|error| Failure::new("Unable to parse certificate", error))?;
    Ok(Description::from(&certificate))
}

/// The certificates of a server, which sends its own first: the list begins with the root.
pub fn describe_chain(chain: &[Vec<u8>]) -> Result<Vec<Description>, X509Error> {
    let described = chain.iter().rev().map(|der| parse_one(der).map(|certificate| Description::from(&certificate)));
    described.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::providers::tls::golden::{cases, text};

    #[test]
    fn certificates_are_described_as_go_describes_them() {
        // Name constraints are not checked.
        let is_checked = |case: &Value| !text(case, "error").contains("NameConstraints");
        for case in cases("descriptions.json").into_iter().filter(is_checked) {
            let described = describe_content(text(&case, "text"));
            let error = described.as_ref().err().map(|failure| failure.detail.as_str()).unwrap_or_default();
            assert_eq!(error, text(&case, "error"), "{case}");
            let Ok(described) = described else { continue };
            let field = |name: &str| text(&case, name).to_owned();
            let expected = Description {
                signature_algorithm: field("signature_algorithm"),
                public_key_algorithm: field("public_key_algorithm"),
                serial_number: field("serial_number"),
                is_ca: case["is_ca"] == true,
                max_path_length: case["max_path_length"].as_i64().expect("number"),
                version: case["version"].as_i64().expect("number"),
                issuer: field("issuer"),
                subject: field("subject"),
                not_before: field("not_before"),
                not_after: field("not_after"),
                sha1_fingerprint: field("sha1_fingerprint"),
                cert_pem: field("cert_pem"),
            };
            assert_eq!(described, expected, "{case}");
            assert_eq!(id(&[described]), text(&case, "id"));
        }
    }
}
