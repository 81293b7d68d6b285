//! Verification of servers, and the certificates that they send.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

use super::error::FetchError;

/// Certificates in DER, the server's own first.
pub type Chain = Vec<Vec<u8>>;

/// Keeps the chains of servers, and verifies them if it has a verifier.
#[derive(Debug)]
pub struct ChainRecorder {
    inner: Option<Arc<dyn ServerCertVerifier>>,
    provider: Arc<CryptoProvider>,
    chains: Mutex<Vec<(String, Chain)>>,
}

impl ChainRecorder {
    /// A recorder, and the configuration of connections that use it.
    pub fn new(verifies_chain: bool) -> Result<(Arc<ChainRecorder>, ClientConfig), FetchError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut inner: Option<Arc<dyn ServerCertVerifier>> = None;
        if verifies_chain {
            let system = rustls_platform_verifier::Verifier::new(provider.clone());
            inner = Some(Arc::new(system.map_err(|e| FetchError::Verifier(e.to_string()))?));
        }
        let recorder = Arc::new(ChainRecorder { inner, provider: provider.clone(), chains: Mutex::default() });
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .map_err(|error| FetchError::Client(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(recorder.clone())
            .with_no_client_auth();
        // A resumed session shows no certificates.
        config.resumption = Resumption::disabled();
        Ok((recorder, config))
    }

    /// What the server of this name or address sent last.
    pub fn chain_of(&self, host: &str) -> Option<Chain> {
        let chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        chains.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case(host)).map(|(_, chain)| chain.clone())
    }
}

impl ServerCertVerifier for ChainRecorder {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(inner) = &self.inner {
            inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)?;
        }
        let chain = std::iter::once(end_entity).chain(intermediates).map(|der| der.to_vec()).collect();
        let mut chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        chains.push((server_name.to_str().into_owned(), chain));
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match &self.inner {
            Some(inner) => inner.verify_tls12_signature(message, cert, signature),
            // The certificate may be one that only Go can read.
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match &self.inner {
            Some(inner) => inner.verify_tls13_signature(message, cert, signature),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
