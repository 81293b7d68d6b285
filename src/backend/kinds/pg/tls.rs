//! TLS of connections to PostgreSQL: `sslmode` and the settings for certificates.
//!
//! Owns the meaning of those settings. Never opens a connection.

use std::path::Path;
use std::sync::Arc;

use base::env::Environment;
use base::files::named;
use net::certificates::{AnyServer, Forgiving};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{CertificateError, ClientConfig, Error, RootCertStore};
use tokio_postgres::config::SslMode;

use super::conn_str::{Parameters, SYSTEM_ROOTS, is_private};
use crate::contract::StoreError;

/// How much of a server's certificate is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verification {
    /// Any certificate is accepted.
    None,
    /// A trusted authority signed it.
    Authority,
    /// It is also the host's.
    Full,
}

/// What a connection is encrypted with, and whether it must be.
pub fn configure(parameters: &Parameters, environment: &Environment) -> Result<(SslMode, ClientConfig), StoreError> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let roots = parameters.get("sslrootcert").filter(|roots| *roots != SYSTEM_ROOTS);
    let is_inline = parameters.get("sslinline") == Some("true");
    let (mode, verification) = match parameters.get("sslmode").unwrap_or("require") {
        "disable" => (SslMode::Disable, Verification::None),
        "allow" | "prefer" => (SslMode::Prefer, Verification::None),
        // A file of authorities is used if it is there, as libpq does for the sake of old settings.
        "require" => match roots.is_some_and(|path| is_inline || Path::new(path).exists()) {
            true => (SslMode::Require, Verification::Authority),
            false => (SslMode::Require, Verification::None),
        },
        "verify-ca" => (SslMode::Require, Verification::Authority),
        "verify-full" => (SslMode::Require, Verification::Full),
        mode => {
            return Err(format!(
                "pq: unsupported sslmode {mode:?}; only \"require\" (default), \"verify-full\", \"verify-ca\", \"prefer\", \"allow\", and \"disable\" supported"
            ).into());
        }
    };
    let roots = || authorities(roots.map(|roots| (roots, is_inline)), &provider);
    let verifier: Arc<dyn ServerCertVerifier> = match verification {
        Verification::None => Arc::new(AnyServer(provider.clone())),
        Verification::Authority => Arc::new(Forgiving { inner: roots()?, forgive: forgive_name }),
        Verification::Full => roots()?,
    };
    let versions: &[_] = match parameters.get("ssl_min_protocol_version") {
        Some("TLSv1.3") => &[&rustls::version::TLS13],
        _ => &[&rustls::version::TLS13, &rustls::version::TLS12],
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .map_err(|e| e.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match identity(parameters, is_inline, environment)? {
        Some((chain, key)) => builder
            .with_client_auth_cert(chain, key)
            .map_err(|e| format!("pq: the client's certificate and key cannot be used: {e}"))?,
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok((mode, config))
}

/// Accepts the certificate of another host. The name is what a verifier looks at last.
fn forgive_name(error: Error, _: &CertificateDer<'_>, _: &ServerName<'_>) -> Result<(), Error> {
    match error {
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => Ok(()),
        other => Err(other),
    }
}

/// Trusts the authorities of a text or a file, or else those of the system.
fn authorities(
    roots: Option<(&str, bool)>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, StoreError> {
    let Some((roots, is_inline)) = roots else {
        let system = rustls_platform_verifier::Verifier::new(provider.clone());
        return Ok(Arc::new(system.map_err(|e| format!("pq: the system's certificates cannot be read: {e}"))?));
    };
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(CertificateDer::pem_slice_iter(&pem(roots, is_inline)?).filter_map(Result::ok));
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone()).build();
    Ok(verifier.map_err(|_| "pq: couldn't parse pem in sslrootcert")?)
}

/// The client's certificates and key, if it has any.
#[allow(clippy::type_complexity)]
fn identity(
    parameters: &Parameters,
    is_inline: bool,
    environment: &Environment,
) -> Result<Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>, StoreError> {
    if parameters.get("sslpassword").is_some() {
        return Err("pq: encrypted keys are not supported: sslpassword must not be set".into());
    }
    let own = |name: &str| environment.home_dir().map(|home| home.join(".postgresql").join(name));
    let text = |key: &str, default: &str| {
        parameters.get(key).map(str::to_owned).or_else(|| own(default).map(|path| path.to_string_lossy().into_owned()))
    };
    let Some(certificate) = text("sslcert", "postgresql.crt") else { return Ok(None) };
    if !is_inline && !Path::new(&certificate).exists() {
        return Ok(None);
    }
    let key = text("sslkey", "postgresql.key").unwrap_or_default();
    if !is_inline && Path::new(&key).exists() && !is_private(Path::new(&key)) {
        return Err("pq: Private key file has group or world access. Permissions should be u=rw (0600) or less".into());
    }
    let chain = CertificateDer::pem_slice_iter(&pem(&certificate, is_inline)?).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|e| format!("pq: cannot read sslcert: {e}"))?;
    let key =
        PrivateKeyDer::from_pem_slice(&pem(&key, is_inline)?).map_err(|e| format!("pq: cannot read sslkey: {e}"))?;
    Ok(Some((chain, key)))
}

fn pem(text: &str, is_inline: bool) -> Result<Vec<u8>, StoreError> {
    if is_inline {
        return Ok(text.as_bytes().to_vec());
    }
    std::fs::read(text).map_err(|e| named(e, "open", Path::new(text)).into())
}
