//! TLS settings: trusted certificates and the client certificate.

use std::sync::Arc;

use net::certificates::{AnyServer, Forgiving};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, Error, RootCertStore};

use crate::providers::failure::Failure;

/// The arguments about TLS; all texts are PEM.
#[derive(Clone, Debug, Default)]
pub struct TlsSettings {
    /// `ca_cert_pem`: trusted certificates, which replace the system's.
    pub authorities: Option<String>,
    /// `client_cert_pem` and `client_key_pem`.
    pub identity: Option<(String, String)>,
    pub insecure: bool,
}

impl TlsSettings {
    /// Builds the TLS configuration, with HTTP/2 in ALPN.
    pub fn config(&self) -> Result<ClientConfig, Failure> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = self.verifier(&provider)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| tls_failure(&error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match &self.identity {
            Some((chain, key)) => {
                let (chain, key) = key_pair(chain, key).map_err(|error| key_failure(&error))?;
                builder.with_client_auth_cert(chain, key).map_err(|error| key_failure(&error.to_string()))?
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }

    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, Failure> {
        let authorities = self.authorities.as_deref().map(certificates).transpose()?;
        if self.insecure {
            return Ok(Arc::new(AnyServer(provider.clone())));
        }
        let Some(trusted) = authorities else {
            let system = rustls_platform_verifier::Verifier::new(provider.clone());
            return Ok(Arc::new(system.map_err(|error| tls_failure(&error.to_string()))?));
        };
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(trusted.iter().cloned());
        let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone()).build();
        let chain = chain.map_err(|error| tls_failure(&error.to_string()))?;
        Ok(trusting(trusted, chain))
    }
}

fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes()).filter_map(Result::ok).collect();
    if found.is_empty() || RootCertStore::empty().add_parsable_certificates(found.iter().cloned()).0 == 0 {
        let problem = "Can't add the CA certificate to certificate pool. Only PEM encoded certificates are supported.";
        return Err(tls_failure(problem));
    }
    Ok(found)
}

fn key_pair(chain: &str, key: &str) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), String> {
    let chain = CertificateDer::pem_slice_iter(chain.as_bytes()).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| format!("tls: failed to find any PEM data in certificate input: {error}"))?;
    if chain.is_empty() {
        return Err("tls: failed to find any PEM data in certificate input".to_owned());
    }
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes());
    Ok((chain, key.map_err(|error| format!("tls: failed to find any PEM data in key input: {error}"))?))
}

fn tls_failure(problem: &str) -> Failure {
    Failure::new("Error configuring TLS client", format!("Error tls: {problem}"))
}

fn key_failure(problem: &str) -> Failure {
    let detail = format!("error creating x509 key pair from provided pem blocks\n\nError: {problem}");
    Failure::new("error creating x509 key pair", detail)
}

/// Trusts the given certificates both as authorities and as server certificates. Accepts a trusted self-signed server
/// certificate that is marked as an authority, as Go does; `webpki` rejects it after checking its validity period.
fn trusting(trusted: Vec<CertificateDer<'static>>, chain: Arc<dyn ServerCertVerifier>) -> Arc<dyn ServerCertVerifier> {
    let forgive = move |error: Error, end_entity: &CertificateDer<'_>, name: &ServerName<'_>| {
        let is_trusted = || trusted.iter().any(|own| own.as_ref() == end_entity.as_ref());
        match error {
            Error::InvalidCertificate(CertificateError::Other(_)) if is_trusted() => {
                rustls::client::verify_server_name(&ParsedCertificate::try_from(end_entity)?, name)
            }
            other => Err(other),
        }
    };
    Arc::new(Forgiving { inner: chain, forgive })
}
