//! Private keys from the texts of configurations.

use super::error::KeyError;
use super::{PrivateKey, openssh_read, private};
use crate::providers::failure::Failure;
use crate::providers::tls::pem;

/// A private key in PEM: PKCS#1, SEC1 or PKCS#8.
pub fn parse_pem(text: &str) -> Result<PrivateKey, KeyError> {
    let Some(block) = pem::decode(text) else {
        return Err(KeyError::NoPem(text.len()));
    };
    let key = match block.kind.as_str() {
        pem::RSA_KEY => private::from_pkcs1(&block.contents),
        pem::EC_KEY => private::from_sec1(&block.contents, None),
        pem::PKCS8_KEY => private::from_pkcs8(&block.contents),
        pem::PUBLIC_KEY | pem::CERTIFICATE | pem::CERTIFICATE_REQUEST => {
            return Err(KeyError::NotAKey(block.kind));
        }
        other => return Err(KeyError::UnknownPem(other.to_owned())),
    };
    key.map_err(|error| in_context(error, |why| KeyError::Pem { kind: block.kind, why }))
}

/// A private key that OpenSSH can read, without a passphrase: its own notation, or one of those of `parse_pem`.
pub fn parse_openssh(text: &str) -> Result<PrivateKey, KeyError> {
    let read = || {
        let block = pem::decode(text).ok_or(KeyError::OpenSsh("no key found"))?;
        let headers = block.headers.iter().rev();
        let process = headers.filter(|(key, _)| key == "Proc-Type").map(|(_, value)| value).next();
        if process.is_some_and(|value| value.contains("ENCRYPTED")) {
            return Err(openssh_read::PASSPHRASE);
        }
        match block.kind.as_str() {
            pem::RSA_KEY => private::from_pkcs1(&block.contents),
            pem::EC_KEY => private::from_sec1(&block.contents, None),
            pem::PKCS8_KEY => private::from_pkcs8(&block.contents),
            pem::OPENSSH_KEY => openssh_read::parse(&block.contents),
            "DSA PRIVATE KEY" => Err(openssh_read::dsa_error(&block.contents)),
            other => Err(KeyError::OpenSshKind(other.to_owned())),
        }
    };
    read().map_err(|error| in_context(error, KeyError::OpenSshKey))
}

/// Whose private key a text holds, which decides the summary of its errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// `private_key_pem` of requests and self-signed certificates.
    Subject,
    /// `ca_private_key_pem`.
    Authority,
    /// `private_key_pem` of a state of `tls_private_key` that is upgraded.
    OldState,
}

/// The private key of a resource.
pub fn parse_for_resource(text: &str, owner: Owner) -> Result<PrivateKey, Failure> {
    let summary = match owner {
        Owner::Subject => "Failed to parse private key PEM",
        Owner::Authority => "Failed to parse CA private key PEM",
        Owner::OldState => "Unable to parse key from PEM",
    };
    parse_pem(text).map_err(|detail| Failure::new(summary, detail))
}

/// The key of `data.tls_public_key`, from either of its arguments.
pub fn parse_for_public(pem: Option<&str>, openssh: Option<&str>) -> Result<PrivateKey, Failure> {
    let key = match (pem, openssh) {
        (Some(text), _) => parse_pem(text),
        (None, text) => parse_openssh(text.unwrap_or_default()),
    };
    key.map_err(|detail| Failure::new("Unable to parse private key", detail))
}

/// The error with what was read. That the provider cannot use a key is not an error of reading.
fn in_context(error: KeyError, context: impl FnOnce(Box<KeyError>) -> KeyError) -> KeyError {
    match error {
        KeyError::UnsupportedType(_) => error,
        other => context(Box::new(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::tls::golden::{cases, text};

    #[test]
    fn errors_of_resources_name_the_key() {
        let summary = |owner| parse_for_resource("x", owner).err().map(|failure| failure.summary).unwrap_or_default();
        assert_eq!(summary(Owner::Subject), "Failed to parse private key PEM");
        assert_eq!(summary(Owner::Authority), "Failed to parse CA private key PEM");
        assert_eq!(summary(Owner::OldState), "Unable to parse key from PEM");
        let failure = parse_for_public(Some("hello"), None).err().expect("failure");
        let detail = "failed to decode PEM block: decoded bytes 0, undecoded 5";
        assert_eq!(failure, Failure::new("Unable to parse private key", detail));
    }

    /// What Go says about a field that cannot be read is about its own structures: only the context is compared.
    fn comparable(error: &str) -> &str {
        let ends = ["asn1:", "ssh: unmarshal error", "ssh: short read"].map(|start| error.find(start));
        &error[..ends.into_iter().flatten().min().unwrap_or(error.len())]
    }

    #[test]
    fn keys_are_read_as_go_reads_them() {
        for case in cases("read.json") {
            let found = [parse_pem(text(&case, "text")), parse_openssh(text(&case, "text"))];
            for (found, expected) in found.into_iter().zip([&case["pem"], &case["openssh"]]) {
                let error = text(expected, "error");
                match found {
                    Ok(key) => {
                        assert_eq!(error, "", "{case}");
                        assert_eq!(key.algorithm().name(), text(expected, "algorithm"));
                        assert_eq!(key.public().id(), text(expected, "id"));
                    }
                    Err(found) => assert_eq!(comparable(&found.to_string()), comparable(error), "{found} {case}"),
                }
            }
        }
    }
}
