//! The encryption between us and a plugin: each side makes a certificate for this one connection, tells it to the
//! other through a private channel (environment, standard output), and accepts that certificate only.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, KeyIdMethod, KeyUsagePurpose,
    PKCS_ECDSA_P256_SHA256, PublicKeyData, SerialNumber, SignatureAlgorithm,
};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::Signer;
use rustls::{
    ClientConfig, DigitallySignedStruct, DistinguishedName, Error as RustlsError, ServerConfig, SignatureScheme,
};

use super::p521;

/// The length of a point of P-256 as certificates have it: uncompressed.
const POINT: usize = 65;

/// Whether the key in a certificate (DER) made a signature over a message: `(message, certificate, scheme, signature)`.
pub type VerifySignature = fn(&[u8], &[u8], SignatureScheme, &[u8]) -> bool;

/// The library of cryptography for TLS. The program and the library for providers have different ones.
#[derive(Clone)]
pub struct Crypto {
    pub provider: Arc<CryptoProvider>,
    /// Makes a key of the curve P-256, in PKCS#8; none if the system gives no random numbers.
    pub generate_key: fn() -> Option<Vec<u8>>,
}

/// Why there is no encryption.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TlsError {
    /// A certificate for this end cannot be made.
    Generate(String),
    /// What the client says is its certificate is none.
    ClientCertificate(String),
    /// The TLS library does not accept a certificate or its key.
    Setup(RustlsError),
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsError::Generate(text) => write!(f, "cannot make a certificate for the plugin: {text}"),
            TlsError::ClientCertificate(text) => write!(f, "cannot read the client's certificate: {text}"),
            TlsError::Setup(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TlsError {}

/// A certificate for one connection and its key: P-256, which every TLS library knows.
pub struct TlsIdentity {
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
    crypto: Arc<CryptoProvider>,
}

impl TlsIdentity {
    pub fn generate(crypto: Crypto) -> Result<TlsIdentity, TlsError> {
        let text = |error: &dyn fmt::Display| TlsError::Generate(error.to_string());
        let no_random_numbers = || text(&"the system gave no random numbers");
        let key = PrivatePkcs8KeyDer::from((crypto.generate_key)().ok_or_else(no_random_numbers)?);
        let signing = NewKey::load(&crypto.provider, &key).map_err(|error| text(&error))?;
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).map_err(|error| text(&error))?;
        params.distinguished_name.push(DnType::OrganizationName, "HashiCorp");
        params.distinguished_name.push(DnType::CommonName, "localhost");
        // Both ends put it in their list of authorities, so it must look like one.
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyEncipherment,
            KeyUsagePurpose::KeyAgreement,
            KeyUsagePurpose::KeyCertSign,
        ];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
        let mut identifier = [0; 20];
        crypto.provider.secure_random.fill(&mut identifier).map_err(|_| no_random_numbers())?;
        // A serial number is positive.
        identifier[0] &= 0x7f;
        params.serial_number = Some(SerialNumber::from_slice(&identifier));
        params.key_identifier_method = KeyIdMethod::PreSpecified(identifier.to_vec());
        let certificate = params.self_signed(&signing).map_err(|error| text(&error))?;
        Ok(TlsIdentity { certificate: certificate.der().clone(), key, crypto: crypto.provider })
    }

    /// The certificate in PEM.
    pub fn pem(&self) -> String {
        let mut text = "-----BEGIN CERTIFICATE-----\n".to_owned();
        let encoded = STANDARD.encode(&self.certificate);
        for line in encoded.as_bytes().chunks(64) {
            text.extend(line.iter().map(|byte| char::from(*byte)));
            text.push('\n');
        }
        text + "-----END CERTIFICATE-----\n"
    }

    pub fn der(&self) -> &[u8] {
        &self.certificate
    }

    /// For the side that connects, to a server that shows exactly `server` (DER). `other` verifies signatures that neither the TLS
    /// library nor this crate knows.
    pub fn client_config(&self, server: &[u8], other: Option<VerifySignature>) -> Result<Arc<ClientConfig>, TlsError> {
        let server = CertificateDer::from(server.to_vec());
        let pinned = Arc::new(Pinned { certificate: server, crypto: self.crypto.clone(), other });
        let mut config = ClientConfig::builder_with_provider(pinned.crypto.clone())
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Setup)?
            .dangerous()
            .with_custom_certificate_verifier(pinned)
            .with_client_auth_cert(vec![self.certificate.clone()], self.private_key())
            .map_err(TlsError::Setup)?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Arc::new(config))
    }

    /// For the side that listens, to a client that shows exactly `client` (PEM).
    pub fn server_config(&self, client: &str) -> Result<Arc<ServerConfig>, TlsError> {
        let client = CertificateDer::from_pem_slice(client.as_bytes())
            .map_err(|error| TlsError::ClientCertificate(error.to_string()))?;
        let pinned = Arc::new(Pinned { certificate: client, crypto: self.crypto.clone(), other: None });
        let mut config = ServerConfig::builder_with_provider(pinned.crypto.clone())
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Setup)?
            .with_client_cert_verifier(pinned)
            .with_single_cert(vec![self.certificate.clone()], self.private_key())
            .map_err(TlsError::Setup)?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Arc::new(config))
    }

    fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(self.key.clone_key())
    }
}

/// The name under which plugins are spoken to.
pub fn server_name() -> ServerName<'static> {
    ServerName::try_from("localhost").unwrap_or(ServerName::IpAddress(std::net::Ipv4Addr::LOCALHOST.into()))
}

/// Accepts one certificate, byte for byte. Whether the other end has its key is still checked.
#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    crypto: Arc<CryptoProvider>,
    other: Option<VerifySignature>,
}

impl Pinned {
    /// What the other end may sign with.
    fn schemes(&self) -> Vec<SignatureScheme> {
        let mut schemes = self.crypto.signature_verification_algorithms.supported_schemes();
        schemes.extend(p521::ALGORITHMS.supported_schemes());
        schemes
    }

    /// Signatures of keys that the TLS library does not know: P-521, which most plugins and hosts have, and others.
    fn verify_other(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Option<HandshakeSignatureValid> {
        if signature.scheme == SignatureScheme::ECDSA_NISTP521_SHA512 {
            return verify_tls13_signature(message, certificate, signature, &p521::ALGORITHMS).ok();
        }
        let verify = self.other?;
        verify(message, certificate, signature.scheme, signature.signature()).then(HandshakeSignatureValid::assertion)
    }

    fn check(&self, shown: &CertificateDer<'_>) -> Result<(), RustlsError> {
        if *shown == self.certificate {
            Ok(())
        } else {
            Err(RustlsError::General("the certificate is not the one that was announced".to_owned()))
        }
    }
}

/// A P-256 key that signs its own certificate.
struct NewKey {
    signer: Box<dyn Signer>,
    /// The point as a certificate has it.
    public: Vec<u8>,
}

impl NewKey {
    fn load(provider: &CryptoProvider, key: &PrivatePkcs8KeyDer<'static>) -> Result<NewKey, RustlsError> {
        let key = provider.key_provider.load_private_key(PrivateKeyDer::Pkcs8(key.clone_key()))?;
        let public = key.public_key().map(|info| info.as_ref().to_vec());
        let signer = key.choose_scheme(&[SignatureScheme::ECDSA_NISTP256_SHA256]);
        match (signer, public.as_deref().and_then(<[u8]>::last_chunk::<POINT>)) {
            (Some(signer), Some(point)) => Ok(NewKey { signer, public: point.to_vec() }),
            _ => Err(RustlsError::General("the key is not one of the curve P-256".to_owned())),
        }
    }
}

impl PublicKeyData for NewKey {
    fn der_bytes(&self) -> &[u8] {
        &self.public
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

impl rcgen::SigningKey for NewKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        self.signer.sign(message).map_err(|_| rcgen::Error::RemoteKeyError)
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, RustlsError> {
        self.check(end_entity).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        let algorithms = &self.crypto.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
            .or_else(|error| self.verify_other(message, certificate, signature).ok_or(error))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        let algorithms = &self.crypto.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
            .or_else(|error| self.verify_other(message, certificate, signature).ok_or(error))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, RustlsError> {
        self.check(end_entity).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        let algorithms = &self.crypto.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
            .or_else(|error| self.verify_other(message, certificate, signature).ok_or(error))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        let algorithms = &self.crypto.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
            .or_else(|error| self.verify_other(message, certificate, signature).ok_or(error))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}

#[cfg(test)]
mod tests {
    use rcgen::KeyPair;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio_rustls::{TlsAcceptor, TlsConnector};

    use super::*;

    fn crypto() -> Crypto {
        Crypto {
            provider: Arc::new(rustls::crypto::aws_lc_rs::default_provider()),
            generate_key: || KeyPair::generate().map(|key| key.serialize_der()).ok(),
        }
    }

    /// True if a client that expects `expected` and shows `shown` gets a word through to `server`, who expects `client`.
    async fn talk(server: &TlsIdentity, expected: &TlsIdentity, client: &TlsIdentity, shown: &TlsIdentity) -> bool {
        let server = server.server_config(&client.pem()).unwrap();
        word_gets_through(server, shown.client_config(expected.der(), None).unwrap()).await
    }

    async fn word_gets_through(server: Arc<ServerConfig>, client: Arc<ClientConfig>) -> bool {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (acceptor, connector) = (TlsAcceptor::from(server), TlsConnector::from(client));
        let served = tokio::spawn(async move {
            let mut stream = acceptor.accept(far).await.ok()?;
            let mut word = [0; 4];
            stream.read_exact(&mut word).await.ok()?;
            Some(word == *b"word")
        });
        if let Ok(mut stream) = connector.connect(server_name(), near).await {
            let _ = stream.write_all(b"word").await;
            // Waits for the server to end, which may still have something to send.
            let _ = stream.read(&mut [0]).await;
        }
        served.await.unwrap() == Some(true)
    }

    #[tokio::test]
    async fn only_the_announced_certificates_are_accepted() {
        let (server, client, other) = (
            TlsIdentity::generate(crypto()).unwrap(),
            TlsIdentity::generate(crypto()).unwrap(),
            TlsIdentity::generate(crypto()).unwrap(),
        );
        assert!(talk(&server, &server, &client, &client).await);
        assert!(!talk(&server, &other, &client, &client).await, "another server");
        assert!(!talk(&server, &server, &client, &other).await, "another client");
    }
    /// The key and the certificate (DER) of a program written in Go.
    fn p521() -> (KeyPair, CertificateDer<'static>) {
        let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P521_SHA512).unwrap();
        let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
        (key, certificate.der().clone())
    }

    #[tokio::test]
    async fn the_other_end_may_have_a_p521_key() {
        let provider = crypto().provider;
        let versions: [&[&rustls::SupportedProtocolVersion]; 2] =
            [&[&rustls::version::TLS12], &[&rustls::version::TLS13]];
        for version in versions {
            let (own, (key, certificate)) = (TlsIdentity::generate(crypto()).unwrap(), p521());
            let private_key = || PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
            let pinned =
                || Arc::new(Pinned { certificate: own.certificate.clone(), crypto: provider.clone(), other: None });
            let server = ServerConfig::builder_with_provider(provider.clone())
                .with_protocol_versions(version)
                .unwrap()
                .with_client_cert_verifier(pinned())
                .with_single_cert(vec![certificate.clone()], private_key())
                .unwrap();
            let client = own.client_config(&certificate, None).unwrap();
            assert!(word_gets_through(Arc::new(server), client).await, "as a plugin");

            let client = ClientConfig::builder_with_provider(provider.clone())
                .with_protocol_versions(version)
                .unwrap()
                .dangerous()
                .with_custom_certificate_verifier(pinned())
                .with_client_auth_cert(vec![certificate.clone()], private_key())
                .unwrap();
            let pem = format!(
                "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
                base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &certificate)
            );
            let server = own.server_config(&pem).unwrap();
            assert!(word_gets_through(server, Arc::new(client)).await, "as a host");
        }
    }
}
