//! Logging in: which methods are tried, in which order, and what is said when none is left.

use std::path::Path;
use std::sync::Arc;

use russh::client::{AuthResult, Handle, Handler, KeyboardInteractiveAuthResponse};
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::{AgentClient, AgentStream};
use russh::keys::{Algorithm, HashAlg, PrivateKeyWithHashAlg, PublicKey};
use russh::{MethodKind, MethodSet};

use super::error::SshError;
use super::keys;
use super::settings::Hop;

/// The agent to ask, and the identity to try first.
#[derive(Clone, Copy)]
pub struct Agent<'a> {
    pub socket: &'a Path,
    pub identity: Option<&'a str>,
}

/// Logs in at `hop`. Methods in order: private key (with its certificate), password, keyboard-interactive, agent; each
/// kind once, and only if the server offers it, so with a private key the agent is not asked, as in the reference.
pub async fn log_in<H: Handler>(handle: &mut Handle<H>, hop: &Hop, agent: Option<Agent<'_>>) -> Result<(), SshError> {
    let mut attempted = vec!["none"];
    let mut offered = match handle.authenticate_none(&hop.user).await.map_err(SshError::library)? {
        AuthResult::Success => return Ok(()),
        AuthResult::Failure { remaining_methods, .. } => remaining_methods,
    };
    for method in methods(hop, agent) {
        let name = <&str>::from(&method.kind());
        if attempted.contains(&name) || !offered.contains(&method.kind()) {
            continue;
        }
        let Some(result) = attempt(handle, hop, method).await? else { continue };
        attempted.push(name);
        match result {
            AuthResult::Success => return Ok(()),
            AuthResult::Failure { remaining_methods, .. } => offered = remaining_methods,
        }
    }
    Err(SshError::NoMethod { attempted })
}

#[derive(Clone, Copy)]
enum Method<'a> {
    Key,
    Password,
    Keyboard,
    Agent(Agent<'a>),
}

impl Method<'_> {
    fn kind(&self) -> MethodKind {
        match self {
            Method::Key | Method::Agent(_) => MethodKind::PublicKey,
            Method::Password => MethodKind::Password,
            Method::Keyboard => MethodKind::KeyboardInteractive,
        }
    }
}

fn methods<'a>(hop: &Hop, agent: Option<Agent<'a>>) -> Vec<Method<'a>> {
    let mut list = Vec::new();
    if hop.private_key.is_some() {
        list.push(Method::Key);
    }
    if hop.password.is_some() {
        list.extend([Method::Password, Method::Keyboard]);
    }
    list.extend(agent.map(Method::Agent));
    list
}

/// None if there was nothing to offer.
async fn attempt<H: Handler>(
    handle: &mut Handle<H>,
    hop: &Hop,
    method: Method<'_>,
) -> Result<Option<AuthResult>, SshError> {
    match method {
        Method::Key => with_key(handle, hop).await.map(Some),
        Method::Password => {
            let Some(password) = &hop.password else { return Ok(None) };
            handle.authenticate_password(&hop.user, password.expose()).await.map(Some).map_err(SshError::library)
        }
        Method::Keyboard => keyboard_interactive(handle, hop).await.map(Some),
        Method::Agent(agent) => with_agent(handle, hop, agent).await,
    }
}

async fn with_key<H: Handler>(handle: &mut Handle<H>, hop: &Hop) -> Result<AuthResult, SshError> {
    let key = Arc::new(keys::private_key(hop.private_key.as_ref().map_or("", |key| key.expose()))?);
    if let Some(certificate) = &hop.certificate {
        let certificate = keys::certificate(certificate)?;
        return handle.authenticate_openssh_cert(&hop.user, key, certificate).await.map_err(SshError::library);
    }
    let hash = rsa_hash(handle, &key.algorithm()).await?;
    handle.authenticate_publickey(&hop.user, PrivateKeyWithHashAlg::new(key, hash)).await.map_err(SshError::library)
}

/// The signature hash for an RSA key: the server's best, SHA-256 if it does not say.
async fn rsa_hash<H: Handler>(handle: &Handle<H>, algorithm: &Algorithm) -> Result<Option<HashAlg>, SshError> {
    if !matches!(algorithm, Algorithm::Rsa { .. }) {
        return Ok(None);
    }
    Ok(handle.best_supported_rsa_hash().await.map_err(SshError::library)?.unwrap_or(Some(HashAlg::Sha256)))
}

/// Answers every question with the password.
async fn keyboard_interactive<H: Handler>(handle: &mut Handle<H>, hop: &Hop) -> Result<AuthResult, SshError> {
    let password = hop.password.as_ref().map_or("", |password| password.expose());
    let mut response =
        handle.authenticate_keyboard_interactive_start(&hop.user, None).await.map_err(SshError::library)?;
    loop {
        match response {
            KeyboardInteractiveAuthResponse::Success => return Ok(AuthResult::Success),
            KeyboardInteractiveAuthResponse::Failure { remaining_methods, partial_success } => {
                return Ok(AuthResult::Failure { remaining_methods, partial_success });
            }
            KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } => {
                let answers = prompts.iter().map(|_| password.to_owned()).collect();
                response =
                    handle.authenticate_keyboard_interactive_respond(answers).await.map_err(SshError::library)?;
            }
        }
    }
}

async fn with_agent<H: Handler>(
    handle: &mut Handle<H>,
    hop: &Hop,
    agent: Agent<'_>,
) -> Result<Option<AuthResult>, SshError> {
    #[cfg(unix)]
    {
        let mut client = AgentClient::connect_uds(agent.socket)
            .await
            .map_err(|error| agent_error("Error connecting to SSH_AUTH_SOCK", &error))?;
        try_identities(handle, hop, &mut client, agent.identity).await
    }
    #[cfg(not(unix))]
    {
        let mut client = AgentClient::connect_named_pipe(agent.socket)
            .await
            .map_err(|error| agent_error("Error connecting to the SSH agent", &error))?;
        try_identities(handle, hop, &mut client, agent.identity).await
    }
}

async fn try_identities<H: Handler, S>(
    handle: &mut Handle<H>,
    hop: &Hop,
    client: &mut AgentClient<S>,
    wanted: Option<&str>,
) -> Result<Option<AuthResult>, SshError>
where
    S: AgentStream + Unpin + Send,
{
    let mut identities =
        client.request_identities().await.map_err(|error| agent_error("failed to list the agent's keys", &error))?;
    if let Some(wanted) = wanted {
        let key = identity_key(wanted);
        // Stable: the others keep the agent's order.
        identities.sort_by_key(|identity| !is_wanted(identity, wanted, key.as_ref()));
    }
    let mut last = AuthResult::Failure { remaining_methods: MethodSet::empty(), partial_success: false };
    for identity in identities {
        let result = match identity {
            AgentIdentity::PublicKey { key, .. } => {
                let hash = rsa_hash(handle, &key.algorithm()).await?;
                handle.authenticate_publickey_with(&hop.user, key, hash, client).await
            }
            AgentIdentity::Certificate { certificate, .. } => {
                let hash = rsa_hash(handle, &certificate.algorithm()).await?;
                handle.authenticate_certificate_with(&hop.user, certificate, hash, client).await
            }
        };
        match result {
            Ok(AuthResult::Success) => return Ok(Some(AuthResult::Success)),
            Ok(failure) => last = failure,
            // One key that the agent will not sign with does not rule out the next.
            Err(_) if !handle.is_closed() => {}
            Err(error) => return Err(SshError::Protocol(error.to_string())),
        }
    }
    Ok(Some(last))
}

/// The key that `agent_identity` names: itself a public key, or a file, with or without `.pub`.
fn identity_key(wanted: &str) -> Option<PublicKey> {
    let parse = |text: &str| PublicKey::from_openssh(text.trim()).ok();
    parse(wanted).or_else(|| {
        [wanted.to_owned(), format!("{wanted}.pub")].iter().find_map(|path| parse(&std::fs::read_to_string(path).ok()?))
    })
}

fn is_wanted(identity: &AgentIdentity, wanted: &str, key: Option<&PublicKey>) -> bool {
    match key {
        Some(key) => identity.public_key().key_data() == key.key_data(),
        None => identity.comment() == wanted || Path::new(identity.comment()).file_name().is_some_and(|n| n == wanted),
    }
}

fn agent_error(purpose: &'static str, error: &dyn std::fmt::Display) -> SshError {
    SshError::Agent { purpose, why: error.to_string() }
}
