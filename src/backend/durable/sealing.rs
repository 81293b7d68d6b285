//! What stores hold where states are encrypted: plain inside of this program, sealed outside of it.

use std::sync::Arc;

use encryption::{Cipher, Layout, Opened, Outside, SealError, is_sealed, outside};
use model::state::file;

use crate::contract::facts::BackupContent;
use crate::contract::{ErrorKind, Explanation, FirstState, StoreError};

/// The first state of a workspace, encrypted unless a key would take long to derive.
pub async fn first_state(cipher: Option<&Cipher>) -> Result<FirstState, StoreError> {
    let plain = FirstState::default();
    match cipher.filter(|cipher| cipher.is_quick()) {
        Some(cipher) => Ok(FirstState::of(cipher.seal(&plain.content()?, Layout::Compact).await?)),
        None => Ok(plain),
    }
}

/// No state without anything in it is larger.
const SMALL: usize = 4096;

/// What a store holds, decrypted.
pub async fn opened(cipher: &Cipher, content: Vec<u8>) -> Result<Opened, SealError> {
    match content.len() < SMALL && is_empty_state(&content) {
        true => Ok(Opened { plain: content, outdated: !cipher.writes_plain() }),
        false => cipher.open(content).await,
    }
}

/// True for a state without anything in it. One that is not encrypted is as good as none: who can put it there could remove
/// the state as well.
fn is_empty_state(content: &[u8]) -> bool {
    // An encrypted state may have further fields outside, which make it look like one.
    let read = file::read(content).ok().flatten().filter(|_| !is_sealed(content));
    read.is_some_and(|file| file.state.resources.is_empty() && file.state.outputs.is_empty())
}

/// Backups are sealed anew, as a plain state may have been stored, or one sealed by a method that is about to go.
pub fn backups(cipher: Arc<Cipher>) -> BackupContent {
    let runtime = tokio::runtime::Handle::try_current();
    Arc::new(move |old, new| {
        let Ok(runtime) = &runtime else { return Ok(Some(old)) };
        let work = async {
            let opened = cipher.open(old).await?;
            // The same state in another form: nothing is lost.
            let is_same = |old: Outside| old.serial.is_some() && Ok(old) == outside(new);
            if outside(&opened.plain).is_ok_and(is_same) {
                return Ok(None);
            }
            cipher.seal(&opened.plain, Layout::Compact).await.map(Some)
        };
        runtime.block_on(work).map_err(|error: SealError| StoreError::new(error.to_string()))
    })
}

impl From<SealError> for StoreError {
    fn from(error: SealError) -> StoreError {
        let Some((summary, detail)) = error.summary_and_detail() else {
            return StoreError { kind: ErrorKind::Sealed, text: error.to_string() };
        };
        let text = match &error {
            SealError::Configuration(_) => format!("{summary}: {detail}"),
            _ => error.to_string(),
        };
        let explanation = Explanation { summary: summary.to_owned(), detail: detail.to_owned() };
        StoreError { kind: ErrorKind::Explained(explanation), text }
    }
}
