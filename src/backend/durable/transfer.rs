//! Objects that go from one state to another: both states are written, or neither, also if the program is killed meanwhile.
//!
//! Under the locks of both states, each new snapshot is first made durable in a file beside the journal of its state (`.move`): the
//! one that takes, then the one that gives. The second file decides: from then on the move is done, and the next command that locks either
//! state writes the snapshot that is not written yet. A file of the one that takes without its partner is nothing. The
//! giving one's file goes last, so that its absence says either that nothing was decided or that all is done.
//!
//! A file is a line of JSON (`MoveHeader`) and the snapshot, sealed where states are.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::atomic;
use base::diag::{Diagnostic, Diagnostics};
use base::files::named;
use base::name::COMMAND;
use model::state::file::{Rendered, problems_text};
use model::state::journal::fingerprint;
use model::state::{State, StateMeta};
use serde::{Deserialize, Serialize};

use super::STATE_NOT_SAVED;
use super::loaded::{Loaded, StateAccess};
use super::session::StateSession;

const FORMAT: u32 = 1;

/// One of the two states, locked.
pub struct Side<'a> {
    pub store: &'a StateSession,
    pub loaded: &'a Loaded,
    /// As it is to be.
    pub state: &'a State,
}

/// Why a move was not made.
#[derive(Debug)]
pub enum TransferError {
    /// Neither state was written.
    Nothing(String),
    /// The move is decided, but a state is not written yet: the next command that locks it does that.
    Unfinished(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MoveRole {
    Gives,
    Takes,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct MoveHeader {
    format: u32,
    role: MoveRole,
    /// The file of the other state.
    partner: PathBuf,
    /// Fingerprints of the snapshot that is replaced, and of the one that replaces it.
    base: String,
    new: String,
    sealed: bool,
    /// The snapshot is written: only the partner is waited for.
    done: bool,
}

/// Makes both states what they are to be.
pub async fn transfer(gives: Side<'_>, takes: Side<'_>) -> Result<(), TransferError> {
    let nothing = TransferError::Nothing;
    for side in [&gives, &takes] {
        side.loaded.refuse_pending_journal(side.store).map_err(|p| nothing(problems_text(&p)))?;
    }
    let (giving, taking) = (snapshot(&gives).map_err(nothing)?, snapshot(&takes).map_err(nothing)?);
    let (giving_path, taking_path) = (place(gives.store), place(takes.store));
    for path in [&giving_path, &taking_path] {
        refuse_unfinished(path).map_err(nothing)?;
    }
    let partner = std::path::absolute(&giving_path).map_err(|e| nothing(e.to_string()))?;
    keep(&takes, MoveRole::Takes, &partner, &taking).await.map_err(|e| nothing(e.to_string()))?;
    let partner = std::path::absolute(&taking_path).map_err(|e| nothing(e.to_string()))?;
    if let Err(error) = keep(&gives, MoveRole::Gives, &partner, &giving).await {
        return Err(taken_back(&giving_path, &taking_path, error.to_string()));
    }
    if let Err(error) = takes.store.write(taking.clone()).await {
        // What failed may have been done.
        let now = takes.store.read().await.map(|content| fingerprint(&content.unwrap_or_default()));
        if now.as_ref() != Ok(&takes.loaded.fingerprint) {
            return Err(TransferError::Unfinished(error.text));
        }
        return Err(taken_back(&giving_path, &taking_path, error.text));
    }
    gives.store.write(giving).await.map_err(|error| TransferError::Unfinished(error.text))?;
    forget(&taking_path);
    forget(&giving_path);
    Ok(())
}

/// A move that was decided has its file until the other state is written, which another move must not replace.
fn refuse_unfinished(path: &Path) -> Result<(), String> {
    let Ok(file) = std::fs::read(path) else { return Ok(()) };
    let (header, _) = parse(&file).map_err(|why| format!("{}: {why}", path.display()))?;
    if header.role == MoveRole::Takes || is_gone(&header.partner) {
        return Ok(());
    }
    Err(format!(
        "an earlier move gave objects of the same state to another one, which is not written yet. To complete it, run a command that \
         locks the state of {}, such as \"{COMMAND} plan\". If that directory is of no use any more, remove the file {}",
        header.partner.parent().unwrap_or(Path::new(".")).display(),
        path.display()
    ))
}

/// The error of a move that failed before it was done. The file that decides goes first; if it stays, so does the move.
fn taken_back(giving: &Path, taking: &Path, why: String) -> TransferError {
    forget(giving);
    if giving.exists() {
        return TransferError::Unfinished(why);
    }
    forget(taking);
    TransferError::Nothing(why)
}

/// The next snapshot of a state.
fn snapshot(side: &Side<'_>) -> Result<Arc<[u8]>, String> {
    let rendered = Rendered::of(side.state).map_err(|problems| problems_text(&problems))?;
    let mut meta = match &side.loaded.file {
        Some(file) => {
            let before = Rendered::of(&file.state).map_err(|problems| problems_text(&problems))?;
            side.store.keep_stored(&file.meta, || before.to_bytes(&file.meta));
            file.meta.clone()
        }
        None => StateMeta { lineage: uuid::Uuid::new_v4().to_string(), ..StateMeta::default() },
    };
    meta.serial += 1;
    meta.terraform_version = rendered.version(&meta);
    Ok(rendered.to_bytes(&meta))
}

/// Where a state's part of a move is kept.
fn place(store: &StateSession) -> PathBuf {
    store.facts().journal.with_extension("move")
}

async fn keep(side: &Side<'_>, role: MoveRole, partner: &Path, snapshot: &[u8]) -> io::Result<()> {
    let cipher = side.store.cipher().filter(|cipher| !cipher.writes_plain());
    let content = match cipher {
        Some(cipher) => cipher.seal_bytes(snapshot).await.map_err(|e| io::Error::other(e.to_string()))?,
        None => snapshot.to_vec(),
    };
    let header = MoveHeader {
        format: FORMAT,
        role,
        partner: partner.to_path_buf(),
        base: side.loaded.fingerprint.clone(),
        new: fingerprint(snapshot),
        sealed: cipher.is_some(),
        done: false,
    };
    write(&place(side.store), &header, &content)
}

fn write(path: &Path, header: &MoveHeader, content: &[u8]) -> io::Result<()> {
    let folder = atomic::directory_of(path);
    std::fs::create_dir_all(folder).map_err(|e| named(e, "mkdir", folder))?;
    let mut file = serde_json::to_vec(header)?;
    file.push(b'\n');
    file.extend_from_slice(content);
    atomic::write_private(path, &file)
}

fn forget(path: &Path) {
    if let Err(e) = remove(path) {
        tracing::warn!("{e}");
    }
}

/// Removes a file durably: whether the giving one's is there says what became of the move.
fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(named(e, "remove", path)),
        Ok(()) => atomic::sync_directory(atomic::directory_of(path)),
    }
}

/// A state as it is read, where a move may be unfinished.
pub struct FinishedMove {
    /// What the store holds, or will hold.
    pub content: Vec<u8>,
    /// The store does not hold it yet.
    pub is_pending: bool,
    pub warning: Option<Diagnostic>,
}

/// What the store holds once an unfinished move is done: under the lock it is written.
pub async fn finish_interrupted(
    store: &StateSession,
    access: StateAccess,
    content: Vec<u8>,
) -> Result<FinishedMove, Diagnostics> {
    let path = place(store);
    let file = match std::fs::read(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(unchanged(content)),
        other => other.map_err(|e| unreadable(&path, &named(e, "open", &path).to_string()))?,
    };
    let (header, kept) = parse(&file).map_err(|why| unreadable(&path, &why))?;
    let now = fingerprint(&content);
    let is_decided = match header.role {
        MoveRole::Gives => true,
        MoveRole::Takes if !atomic::directory_of(&header.partner).is_dir() => {
            let why = format!("the folder of the other state's part, {}, is not there", header.partner.display());
            return Err(unreadable(&path, &why));
        }
        MoveRole::Takes => header.partner.exists() && gives_to(&header.partner, &path),
    };
    if !is_decided || header.done || now == header.new {
        if access == StateAccess::Locked {
            close(&path, &header).map_err(|e| unreadable(&path, &e.to_string()))?;
        }
        return Ok(unchanged(content));
    }
    if now != header.base {
        return Err(conflict(&path).into());
    }
    let snapshot = opened(&header, kept, store).await.map_err(|why| unreadable(&path, &why))?;
    if fingerprint(&snapshot) != header.new {
        return Err(unreadable(&path, "it is damaged"));
    }
    if access != StateAccess::Locked {
        return Ok(FinishedMove { content: snapshot, is_pending: true, warning: None });
    }
    store.write(snapshot.clone().into()).await.map_err(|e| {
        let detail = format!("An earlier move of objects between two states was interrupted, and this state could not be written: {e}.\n\nThe next command tries again.");
        Diagnostics::from(Diagnostic::error(STATE_NOT_SAVED, detail))
    })?;
    if let Some(backups) = store.facts().backups {
        backups.restart();
    }
    close(&path, &header).map_err(|e| unreadable(&path, &e.to_string()))?;
    Ok(FinishedMove { content: snapshot, is_pending: false, warning: Some(completed(&header)) })
}

fn unchanged(content: Vec<u8>) -> FinishedMove {
    FinishedMove { content, is_pending: false, warning: None }
}

/// Whether the file of a state that gives is about the state whose file is `taking`: it may have moved on to another move.
fn gives_to(giving: &Path, taking: &Path) -> bool {
    // What cannot be read counts: objects in two states are better than objects in none.
    let Some((header, _)) = std::fs::read(giving).ok().and_then(|file| parse(&file).ok()) else { return true };
    let folders = [header.partner.as_path(), taking].map(|path| atomic::directory_of(path).canonicalize());
    let is_same = match folders {
        [Ok(one), Ok(other)] => one == other && header.partner.file_name() == taking.file_name(),
        _ => true,
    };
    header.role == MoveRole::Gives && is_same
}

/// Whether a partner's file is not there. Without its folder this is unknown.
fn is_gone(partner: &Path) -> bool {
    !partner.exists() && atomic::directory_of(partner).is_dir()
}

/// What is done needs no file any more, unless the partner needs to know that it was decided.
fn close(path: &Path, header: &MoveHeader) -> io::Result<()> {
    match header.role == MoveRole::Gives && !is_gone(&header.partner) {
        true if header.done => Ok(()),
        true => write(path, &MoveHeader { done: true, ..header.clone() }, &[]),
        false => remove(path),
    }
}

fn parse(file: &[u8]) -> Result<(MoveHeader, Vec<u8>), String> {
    let end = file.iter().position(|byte| *byte == b'\n').map_or(file.len(), |at| at + 1);
    let header: MoveHeader = serde_json::from_slice(&file[..end]).map_err(|e| e.to_string())?;
    match header.format {
        FORMAT => Ok((header, file[end..].to_vec())),
        other => Err(format!("the format {other} is not known")),
    }
}

async fn opened(header: &MoveHeader, content: Vec<u8>, store: &StateSession) -> Result<Vec<u8>, String> {
    match (store.cipher(), header.sealed) {
        (Some(cipher), true) => cipher.open_bytes(&content).await.map_err(|e| e.to_string()),
        (None, true) => Err("it is encrypted and can not be read without an encryption configuration".into()),
        (Some(cipher), false) => cipher.check_plain().map(|()| content).map_err(|e| e.to_string()),
        (None, false) => Ok(content),
    }
}

fn completed(header: &MoveHeader) -> Diagnostic {
    let (what, other) = match header.role {
        MoveRole::Gives => ("gave objects to another state", "taken by"),
        MoveRole::Takes => ("took objects from another state", "given by"),
    };
    Diagnostic::warning(
        "An interrupted move between two states was completed",
        format!(
            "An earlier \"{COMMAND} state mv\" that {what} ended before this state was written. It has been written now. The \
             objects were {other} the state of {}.",
            header.partner.parent().unwrap_or(Path::new(".")).display()
        ),
    )
}

const ADVICE: &str =
    "Compare both states with the real objects, correct them where they differ, and then remove that file.";

fn conflict(path: &Path) -> Diagnostic {
    Diagnostic::error(
        "State changed since an interrupted move",
        format!(
            "A move of objects between this state and another one was interrupted before this state was written, and another \
             program has written it since. The move is kept in {}. {ADVICE}",
            path.display()
        ),
    )
}

fn unreadable(path: &Path, why: &str) -> Diagnostics {
    Diagnostic::error(
        "Failed to complete an interrupted move",
        format!(
            "The file {} says that objects were moved between this state and another one: {why}. {ADVICE}",
            path.display()
        ),
    )
    .into()
}

#[cfg(test)]
#[path = "transfer_tests.rs"]
mod tests;
