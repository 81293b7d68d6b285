//! A cipher for one thing that is kept: the method to write with, and all that may have been written with.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use lang::syntax::syntax_errors::not_a_reference;
use model::config::{self, EncryptionTarget, UNENCRYPTED};

use super::error::{Attempt, SealError, Unrecognised};
use super::method::{Method, MethodError};
use super::origin;
use super::payload::{self, Meta, PayloadError, VERSION};
use super::setup::Setup;

/// Seals states or plans, and opens them.
#[derive(Debug)]
pub struct Cipher {
    /// What messages call what is sealed: `state`, `plan`, `remote.default`.
    title: String,
    subject: Subject,
    /// The first one writes.
    methods: Vec<config::EncryptionMethod>,
    writer: Method,
    meta: Meta,
    setup: Arc<Setup>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    State,
    Plan,
}

/// How a sealed state is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Indented and with a line ending, as state files are.
    Indented,
    /// Without any space, as in stores, backups and plans.
    Compact,
}

/// What was kept, as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    pub plain: Vec<u8>,
    /// It was not written with the method to write with: what is written next should be, even if nothing else changed.
    pub outdated: bool,
}

impl Cipher {
    /// The cipher for states of a target. None with errors.
    pub(super) async fn of_state(
        title: &str,
        target: &EncryptionTarget,
        setup: &Arc<Setup>,
    ) -> (Option<Arc<Cipher>>, Diagnostics) {
        Cipher::of(title, Subject::State, target, setup).await
    }

    /// The cipher for plans.
    pub(super) async fn of_plan(target: &EncryptionTarget, setup: &Arc<Setup>) -> (Option<Arc<Cipher>>, Diagnostics) {
        Cipher::of("plan", Subject::Plan, target, setup).await
    }

    async fn of(
        title: &str,
        subject: Subject,
        target: &EncryptionTarget,
        setup: &Arc<Setup>,
    ) -> (Option<Arc<Cipher>>, Diagnostics) {
        let (methods, mut diags) = methods(target, setup);
        let Some(first) = methods.first().filter(|_| !diags.has_errors()) else { return (None, diags) };
        let made = diags.take(setup.to_encrypt(first).await);
        let cipher = made.map(|(writer, meta)| {
            Arc::new(Cipher { title: title.to_owned(), subject, methods, writer, meta, setup: setup.clone() })
        });
        (cipher, diags)
    }

    /// What is to be kept in place of `plain`.
    pub async fn seal(&self, plain: &[u8], layout: Layout) -> Result<Vec<u8>, SealError> {
        if self.writer.is_unencrypted() {
            return Ok(plain.to_vec());
        }
        let outside = match self.subject {
            Subject::State => Some(payload::outside(plain)?),
            Subject::Plan => None,
        };
        let sealed = self.writer.seal(plain).await.map_err(|why| self.not_sealed(why))?;
        Ok(payload::write(outside.as_ref(), &self.meta, &sealed, layout == Layout::Indented))
    }

    /// True if what is written stays as it is.
    pub fn writes_plain(&self) -> bool {
        self.writer.is_unencrypted()
    }

    /// True if sealing starts no program.
    pub fn is_quick(&self) -> bool {
        !matches!(self.writer, Method::External { .. })
    }

    /// What was kept as `sealed`.
    pub async fn open(&self, sealed: Vec<u8>) -> Result<Opened, SealError> {
        let payload = match payload::read(&sealed) {
            Ok(payload) if !payload.version.is_empty() => payload,
            other => return self.plain(sealed, other.err()),
        };
        if payload.version != VERSION {
            return Err(SealError::Version(payload.version));
        }
        let outside = match self.subject {
            Subject::State => Some(payload::outside(&sealed)?),
            Subject::Plan => None,
        };
        drop(sealed);
        let (plain, outdated) = self.decrypt(payload).await?;
        if let Some(outside) = outside {
            check_outside(&outside, &plain)?;
        }
        Ok(Opened { plain, outdated })
    }

    async fn decrypt(&self, payload: payload::Payload) -> Result<(Vec<u8>, bool), SealError> {
        let mut kept = Meta::new();
        let mut attempts = Vec::new();
        for (i, method) in self.methods.iter().enumerate().filter(|(_, method)| !is_unencrypted(method)) {
            let made = self.setup.to_decrypt(method, &payload.meta, &mut kept).await;
            match made.map_err(SealError::Configuration)?.open(&payload.data).await {
                Ok(plain) => return Ok((plain, i > 0)),
                Err(why) => {
                    let (title, origin) = (self.title.clone(), origin::of_method(method, &self.setup.config));
                    attempts.push(Attempt { title, origin, why });
                }
            }
        }
        Err(SealError::wrong_key(self.setup.dialect(), &self.described(), &attempts))
    }

    fn not_sealed(&self, why: MethodError) -> SealError {
        SealError::NotSealed { title: self.title.clone(), why }
    }

    /// What is sealed, as sentences name it.
    fn described(&self) -> String {
        match self.title.as_str() {
            "state" | "plan" => format!("the {}", self.title),
            remote => format!("the state of {remote}"),
        }
    }

    /// The error where something is not encrypted that has to be.
    fn unexpectedly_plain(&self) -> SealError {
        let block = match self.title.as_str() {
            "remote.default" => "default".to_owned(),
            title => match title.strip_prefix("remote.remote_state_datasource.") {
                Some(name) => format!("remote_state_data_source {name:?}"),
                None => title.to_owned(),
            },
        };
        SealError::not_encrypted(self.setup.dialect(), &self.described(), &block)
    }

    /// What is no payload may be kept as it was, if that is configured.
    fn plain(&self, content: Vec<u8>, unread: Option<PayloadError>) -> Result<Opened, SealError> {
        self.recognise(&content).map_err(|why| SealError::Content { unread, why })?;
        if !self.methods.iter().any(is_unencrypted) {
            return Err(self.unexpectedly_plain());
        }
        let outdated = !self.methods.first().is_some_and(is_unencrypted);
        Ok(Opened { plain: content, outdated })
    }

    /// Whether something that is not encrypted is of the right kind.
    fn recognise(&self, content: &[u8]) -> Result<(), Unrecognised> {
        match self.subject {
            Subject::State => match payload::written_by(content).map_err(Unrecognised::Json)?.is_empty() {
                true => Err(Unrecognised::NotAState),
                false => Ok(()),
            },
            Subject::Plan if content.starts_with(b"PK") => Ok(()),
            Subject::Plan => {
                let start = [content.first(), content.get(1)].map(|byte| char::from(byte.copied().unwrap_or(0)));
                Err(Unrecognised::NotAPlan { start })
            }
        }
    }

    /// Whether something that is kept beside a state may be plain, as the state itself may.
    pub fn check_plain(&self) -> Result<(), SealError> {
        if self.methods.iter().any(is_unencrypted) { Ok(()) } else { Err(self.unexpectedly_plain()) }
    }

    /// Bytes of any kind, sealed as states are.
    pub async fn seal_bytes(&self, plain: &[u8]) -> Result<Vec<u8>, SealError> {
        let sealed = self.writer.seal(plain).await.map_err(|why| self.not_sealed(why))?;
        Ok(payload::write(None, &self.meta, &sealed, false))
    }

    /// What [`Self::seal_bytes`] sealed.
    pub async fn open_bytes(&self, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let payload = payload::read(sealed)?;
        self.decrypt(payload).await.map(|(plain, _)| plain)
    }
}

fn is_unencrypted(method: &config::EncryptionMethod) -> bool {
    &*method.kind == UNENCRYPTED
}

/// What stands outside must be what stands inside, so that it cannot be changed without the key.
fn check_outside(outside: &payload::Outside, plain: &[u8]) -> Result<(), SealError> {
    let inside = payload::outside(plain)?;
    if let (Some(outer), Some(inner)) = (outside.serial, inside.serial)
        && outer != inner
    {
        return Err(SealError::Outside { field: "serial", outer: outer.to_string(), inner: inner.to_string() });
    }
    let (outer, inner) = (&outside.lineage, &inside.lineage);
    if !outer.is_empty() && outer != inner {
        return Err(SealError::Outside { field: "linage", outer: outer.clone(), inner: inner.clone() });
    }
    Ok(())
}

/// The methods of a target and its fallbacks.
fn methods(target: &EncryptionTarget, setup: &Setup) -> (Vec<config::EncryptionMethod>, Diagnostics) {
    let (mut methods, mut diags) = (Vec::new(), Diagnostics::new());
    for link in target.chain() {
        if link.method.as_ref().and_then(|expr| expr.as_traversal()).is_none() {
            diags.push(not_a_reference(link.place.clone()));
            continue;
        }
        let Some((kind, name)) = link.method_name() else {
            let detail = "Expected method of form method.<type>.<name>";
            diags.push(Diagnostic::error("Invalid encryption method identifier", detail).at(link.place.clone()));
            break;
        };
        match setup.config.method(kind, name) {
            Some(method) => methods.push(method.clone()),
            None => {
                let detail = format!("There is no method {kind:?} {name:?} block declared in the encryption block.");
                let tip = setup.config.close_method(kind, name);
                diags.push(
                    Diagnostic::error("Reference to undeclared encryption method", detail)
                        .at(link.place.clone())
                        .with_tip(tip),
                );
            }
        }
    }
    if target.enforced && methods.iter().any(is_unencrypted) {
        let detail = "Unable to use unencrypted method since the enforced flag is set.";
        diags.push(Diagnostic::error("Unencrypted method is forbidden", detail).at_opt(setup.config.range.clone()));
    }
    (methods, diags)
}

#[cfg(test)]
#[path = "cipher_tests.rs"]
mod tests;
