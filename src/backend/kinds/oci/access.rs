//! What signs requests: an API key, a session token of a profile, or the identity of the machine or function that runs the program.

use std::path::PathBuf;

use base::env;
use net::http::Client;
use net::rsa_key::RsaKey;
use tokio::sync::Mutex;

use super::principal::{Certificates, Federation, Session};
use super::profile::Profile;
use super::region;
use super::settings::{AUTH_METHODS, Auth, expanded, text_or_variable, variable};
use super::sign::Identity;
use crate::contract::StoreError;
use crate::contract::settings::Settings;

const VERSION: &str = "2.2";

/// The source of identities.
pub struct Access {
    source: KeySource,
    session: Mutex<Option<Session>>,
}

enum KeySource {
    Fixed(Identity),
    /// Files that another program renews.
    Token {
        token: Source,
        key: Source,
        password: String,
    },
    Federation(Federation),
}

/// A text, or the file that has it.
enum Source {
    Text(String),
    File(PathBuf),
}

impl Source {
    /// Values of these variables are files if they begin with a slash.
    fn of_variable(settings: &Settings<'_>, name: &str) -> Result<Source, StoreError> {
        let text = settings.environment.non_empty(name);
        let text = text
            .ok_or_else(|| format!("can not create resource principal, environment variable: {name}, not present"))?;
        Ok(if PathBuf::from(text).is_absolute() { Source::File(text.into()) } else { Source::Text(text.to_owned()) })
    }

    fn read(&self) -> Result<String, StoreError> {
        match self {
            Source::Text(text) => Ok(text.clone()),
            Source::File(path) => {
                std::fs::read_to_string(path).map_err(|e| format!("open {}: {e}", path.display()).into())
            }
        }
    }
}

impl Access {
    /// The access that the settings select, and the region: that of the settings, the variables of a resource principal, or the profile.
    pub fn find(settings: &Settings<'_>, client: &Client) -> Result<(Access, String), StoreError> {
        let auth = text_or_variable(settings, "auth").unwrap_or("ApiKey");
        let auth = Auth::parse(auth).ok_or(AUTH_METHODS)?;
        let profile = Profile::of(settings)?;
        let own_region = text_or_variable(settings, "region").map(str::to_owned);
        let of_profile = || Some(profile.region.clone()).filter(|region| !region.is_empty());
        let region = match auth {
            Auth::ResourcePrincipal => own_region
                .or_else(|| settings.environment.non_empty(env::OCI_RESOURCE_PRINCIPAL_REGION).map(str::to_owned)),
            _ => own_region,
        };
        let region = region.or_else(of_profile);
        let region = region.ok_or("the region is not known: set region, or OCI_region, or that of the profile")?;
        let region = region::name(&region).to_owned();
        let source = match auth {
            Auth::ApiKey => KeySource::Fixed(api_key(settings, &profile)?),
            Auth::SecurityToken => session_token(settings, profile)?,
            Auth::ResourcePrincipal => resource_principal(settings)?,
            Auth::InstancePrincipal => {
                KeySource::Federation(Federation::new(client, &region, Certificates::of_machine()))
            }
            Auth::InstancePrincipalWithCerts => {
                let folder = variable(settings, "test_certificates_location").unwrap_or(".");
                KeySource::Federation(Federation::new(client, &region, Certificates::Files(folder.into())))
            }
            Auth::OkeWorkloadIdentity => return Err(AUTH_METHODS.into()),
        };
        Ok((Access { source, session: Mutex::default() }, region))
    }

    /// The identity for the next request. Tokens are read again, or renewed before they expire.
    pub async fn identity(&self) -> Result<Identity, StoreError> {
        match &self.source {
            KeySource::Fixed(identity) => Ok(identity.clone()),
            KeySource::Token { token, key, password } => {
                let key = RsaKey::from_pem(&key.read()?, password)?;
                Ok(Identity { key_id: format!("ST${}", token.read()?.trim()), key })
            }
            KeySource::Federation(federation) => {
                let mut session = self.session.lock().await;
                match &*session {
                    Some(session) if session.is_valid() => Ok(session.identity.clone()),
                    _ => {
                        let renewed = federation.session().await?;
                        Ok(session.insert(renewed).identity.clone())
                    }
                }
            }
        }
    }
}

/// The key and its owner: each whole from the settings, or else from the profile.
fn api_key(settings: &Settings<'_>, profile: &Profile) -> Result<Identity, StoreError> {
    let own = ["tenancy_ocid", "user_ocid", "fingerprint"].map(|name| text_or_variable(settings, name));
    let own = own.into_iter().collect::<Option<Vec<_>>>().map(|parts| parts.join("/"));
    let key_id = own.or_else(|| profile.key_id()).ok_or(
        "did not find a proper configuration for the API key: set tenancy_ocid, user_ocid and fingerprint, or use a profile of ~/.oci/config that has them",
    )?;
    let password = text_or_variable(settings, "private_key_password");
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path);
        text.map_err(|e| format!("can not read private key from: '{}', Error: {e}", path.display()))
    };
    let (text, password) = match (
        text_or_variable(settings, "private_key"),
        text_or_variable(settings, "private_key_path"),
    ) {
        (Some(text), _) => (text.replace("\\n", "\n"), password.unwrap_or_default()),
        (None, Some(path)) => {
            let path = settings.folder_of("private_key_path").join(expanded(path, settings));
            (read(path)?, password.unwrap_or_default())
        }
        (None, None) if !profile.key_file.is_empty() => {
            let password = password.unwrap_or(&profile.password);
            (read(expanded(&profile.key_file, settings))?, password)
        }
        (None, None) => {
            return Err("did not find a proper configuration for private key: set private_key or private_key_path, or use a profile of ~/.oci/config that has key_file".into());
        }
    };
    Ok(Identity { key_id, key: RsaKey::from_pem(&text, password)? })
}

fn session_token(settings: &Settings<'_>, profile: Profile) -> Result<KeySource, StoreError> {
    if profile.token_file.is_empty() || profile.key_file.is_empty() {
        return Err("could not create security token based auth config provider: the profile needs security_token_file and key_file".into());
    }
    let file = |path: &str| Source::File(expanded(path, settings));
    let password = text_or_variable(settings, "private_key_password").unwrap_or(&profile.password).to_owned();
    Ok(KeySource::Token { token: file(&profile.token_file), key: file(&profile.key_file), password })
}

fn resource_principal(settings: &Settings<'_>) -> Result<KeySource, StoreError> {
    let environment = settings.environment;
    let version = environment.non_empty(env::OCI_RESOURCE_PRINCIPAL_VERSION).ok_or_else(|| {
        format!(
            "can not create resource principal, environment variable: {}, must be present",
            env::OCI_RESOURCE_PRINCIPAL_VERSION
        )
    })?;
    if version != VERSION {
        return Err(format!(
            "can not create resource principal, version {version:?} is not supported, only {VERSION:?}"
        )
        .into());
    }
    let password = match environment.non_empty(env::OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM_PASSPHRASE) {
        Some(_) => Source::of_variable(settings, env::OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM_PASSPHRASE)?.read()?,
        None => String::new(),
    };
    Ok(KeySource::Token {
        token: Source::of_variable(settings, env::OCI_RESOURCE_PRINCIPAL_RPST)?,
        key: Source::of_variable(settings, env::OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM)?,
        password: password.trim().to_owned(),
    })
}
