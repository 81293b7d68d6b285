//! Reading a state together with the journal that an interrupted run may have left beside it.
//!
//! Replay is written to the store only under its lock; without the lock the journal is laid over the state in memory.
//! The journal is removed only after the user has seen what it says of unfinished changes: nothing else knows of them.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::files::named;
use base::name::COMMAND;
use base::process::ProcessId;
use encryption::{explained, is_sealed};
use model::addr::AbsResourceInstance;
use model::state::file::{self, StateFile};
use model::state::journal::{Header, Journal, OpenAction, Record, fingerprint};
use model::state::{State, StateMeta};
use model::version::compatible_version;

use super::journal_sealing::{self, Sealing};
use super::loaded::{Loaded, StateAccess, another_run};
use super::locking::lock_failed;
use super::session::StateSession;
use super::transfer::{self, FinishedMove};
use super::{STATE_NOT_SAVED, journal_writer};
use crate::contract::context::other_journals;
use crate::contract::{ErrorKind, StoreError};

/// Reads the state; an interrupted run's journal is replayed first. Under the lock, call [`finish_replay`] once the warnings
/// have been shown.
pub async fn load(store: &StateSession, access: StateAccess) -> Result<Loaded, Diagnostics> {
    let content = store.read().await.map_err(|e| unreadable(&e, access))?.unwrap_or_default();
    let FinishedMove { content, is_pending, warning } = transfer::finish_interrupted(store, access, content).await?;
    let file = file::read(&content).map_err(|problems| match access {
        _ if is_sealed(&content) => problems.into_iter().map(|problem| problem.of_kind(Kind::Encryption)).collect(),
        StateAccess::ReadOnly => problems,
        _ => lock_failed(&StoreError::new(file::problems_text(&problems))).into(),
    })?;
    let mut loaded =
        Loaded { file, fingerprint: fingerprint(&content), includes_journal: is_pending, ..Loaded::default() };
    loaded.warnings.extend(warning);
    drop(content);
    let path = store.facts().journal;
    if access == StateAccess::Locked {
        warn_of_others(&path, store, &mut loaded.warnings).await;
    }
    match read_journal(&path, store).await? {
        None => Ok(loaded),
        Some(None) if access == StateAccess::Locked => {
            journal_writer::remove(&path).map_err(io_error)?;
            Ok(loaded)
        }
        Some(None) => Ok(loaded),
        Some(Some(journal)) => replay(store, access, journal, loaded).await,
    }
}

const LOAD_FAILED: &str = "Failed to load state";

/// What reading under the lock finds is reported as the reference does: as a part of taking the lock. Problems of keys are not: no lock
/// has to do with them.
fn unreadable(error: &StoreError, access: StateAccess) -> Diagnostics {
    match (&error.kind, error.summary_and_detail()) {
        (ErrorKind::Explained(_), Some((summary, detail))) => return explained(summary, detail).into(),
        (ErrorKind::Sealed, _) => return explained(LOAD_FAILED, &error.text).into(),
        _ if access == StateAccess::ReadOnly || error.kind == ErrorKind::Damaged => {
            return Diagnostic::error(LOAD_FAILED, error.text.clone()).into();
        }
        _ => {}
    }
    match error.summary_and_detail() {
        Some((summary, detail)) => Diagnostic::error(summary, detail).into(),
        None => lock_failed(error).into(),
    }
}

/// The error of a state, or of the record of a backend, that cannot be read.
pub fn not_loaded(why: &str) -> Diagnostic {
    Diagnostic::error(format!("Failed to load state: {why}"), "")
}

/// None: no file. Some(None): a file in which nothing was recorded.
async fn read_journal(path: &Path, store: &StateSession) -> Result<Option<Option<Journal>>, Diagnostics> {
    match std::fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(io_error(named(e, "open", path))),
        Ok(content) => match Journal::read(&opened(path, content, store).await.map_err(io_error)?) {
            Ok(journal) => Ok(Some(journal)),
            Err(problems) => Err(problems
                .into_iter()
                .map(|mut d| {
                    d.detail.push_str(&format!("\n\nThe journal is {}. {ADVICE}", path.display()));
                    d
                })
                .collect()),
        },
    }
}

/// The lines of a journal, which may be encrypted.
async fn opened(path: &Path, content: Vec<u8>, store: &StateSession) -> io::Result<Vec<u8>> {
    let plain = journal_sealing::open(content, store.cipher()).await;
    plain.map_err(|why| io::Error::other(format!("The journal {} cannot be read: {why}", path.display())))
}

const ADVICE: &str =
    "Compare the real objects with the state, correct the state where they differ, and then remove that file.";

fn io_error(error: io::Error) -> Diagnostics {
    Diagnostic::error("Failed to read the state journal", error.to_string()).into()
}

async fn replay(
    store: &StateSession,
    access: StateAccess,
    journal: Journal,
    mut loaded: Loaded,
) -> Result<Loaded, Diagnostics> {
    let path = store.facts().journal;
    let Some(position) = position(&journal, &loaded) else {
        return Err(foreign_base(&journal, &path).into());
    };
    let alive = journal.header.process.is_alive();
    if alive && access != StateAccess::Locked {
        // The run goes on: what it has done so far is what the state is.
        lay_over(&journal, position, &mut loaded)?;
        return Ok(loaded);
    }
    if alive && journal.header.process != ProcessId::current() {
        // The store has no locks, or the run does without: what is not finished must not be taken from it.
        return Err(another_run(&path).into());
    }
    let changes = lay_over(&journal, position, &mut loaded)?;
    warn(&journal, access, position, changes, &mut loaded.warnings);
    if access == StateAccess::Locked {
        if changes > 0 {
            persist(store, &path, &mut loaded).await?;
        }
        (loaded.includes_journal, loaded.replayed) = (false, true);
    }
    Ok(loaded)
}

/// The index of the first record that the state does not have. None: the state is neither the base of the journal nor what
/// the journal made of it.
fn position(journal: &Journal, loaded: &Loaded) -> Option<usize> {
    journal.position(&loaded.fingerprint).or_else(|| {
        // The last snapshot of the run was written by other means, as with `state push` from elsewhere.
        let file = loaded.file.as_ref()?;
        journal.is_contained_in(&file.meta.lineage, &file.state).then_some(journal.records.len())
    })
}

/// Removes a journal that was replayed.
pub fn finish_replay(store: &StateSession, loaded: &mut Loaded) -> Result<(), Diagnostics> {
    if std::mem::take(&mut loaded.replayed) {
        // A run that was not interrupted would have left this state.
        if let Some(backups) = store.facts().backups {
            backups.restart();
        }
        journal_writer::remove(&store.facts().journal).map_err(io_error)?;
    }
    Ok(())
}

/// Writes what an interrupted run had done to a state that was read without the lock, by a command that is to write it
/// without. A journal whose run goes on is left alone: that is an error. Call [`finish_replay`] once the warnings have been shown.
pub async fn take_up(store: &StateSession, loaded: &mut Loaded) -> Result<(), Diagnostics> {
    if !loaded.includes_journal {
        return Ok(());
    }
    let path = store.facts().journal;
    let still_running = || Diagnostics::from(another_run(&path));
    let journal = read_journal(&path, store).await?.flatten().ok_or_else(still_running)?;
    let position = position(&journal, loaded).ok_or_else(still_running)?;
    if journal.header.process.is_alive() {
        return Err(still_running());
    }
    // It has ended, so that this is all that was laid over the state.
    let changes = journal.replay(position, &mut State::default())?;
    if changes > 0 {
        persist(store, &path, loaded).await?;
        warn_of_recovery(&journal, position, &mut loaded.warnings);
    }
    (loaded.includes_journal, loaded.replayed) = (false, true);
    Ok(())
}

fn lay_over(journal: &Journal, position: usize, loaded: &mut Loaded) -> Result<usize, Diagnostics> {
    let mut file = loaded.file.take().unwrap_or_else(|| StateFile {
        meta: StateMeta { terraform_version: compatible_version().into(), serial: 0, lineage: String::new() },
        state: State::default(),
    });
    let Header { lineage, .. } = &journal.header;
    if file.meta.lineage.is_empty() {
        file.meta.lineage.clone_from(lineage);
    }
    let changes = journal.replay(position, &mut file.state)?;
    if changes > 0 || !loaded.fingerprint.is_empty() {
        loaded.file = Some(file);
    }
    loaded.includes_journal = true;
    Ok(changes)
}

/// Writes what was replayed, so that it is the new base.
async fn persist(store: &StateSession, journal: &Path, loaded: &mut Loaded) -> Result<(), Diagnostics> {
    let Some(file) = &mut loaded.file else { return Ok(()) };
    file.meta.serial += 1;
    let snapshot: Arc<[u8]> = file::write(&file.meta, &file.state)?.into();
    let record = Record::Snapshot { fingerprint: fingerprint(&snapshot), serial: file.meta.serial };
    append(journal, &record.encode(), store).await.map_err(io_error)?;
    store.write(snapshot.clone()).await.map_err(|e| {
        let detail = format!(
            "An earlier run was interrupted, and what it had done could not be written to the state: {e}.\n\nIt is still in its journal, {}, and the next command will try again.",
            journal.display(),
        );
        Diagnostics::from(Diagnostic::error(STATE_NOT_SAVED, detail))
    })?;
    loaded.fingerprint = fingerprint(&snapshot);
    Ok(())
}

/// Adds a record to a journal of a finished run, and removes an incomplete record at its end.
async fn append(path: &Path, record: &[u8], store: &StateSession) -> io::Result<()> {
    let content = opened(path, std::fs::read(path).map_err(|e| named(e, "open", path))?, store).await?;
    let whole = content.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let mut content = content[..whole].to_vec();
    // A damaged last line that is whole would make what follows unreadable.
    if let Ok(Some(Journal { torn: true, .. })) = Journal::read(&content) {
        let end = content[..content.len() - 1].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        content.truncate(end);
    }
    content.extend_from_slice(record);
    if let Some(mut sealing) = Sealing::new(store.cipher()).await? {
        content = sealing.journal(&content)?;
    }
    base::atomic::write_private(path, &content)
}

fn warn(journal: &Journal, access: StateAccess, from: usize, changes: usize, warnings: &mut Diagnostics) {
    let open = journal.in_flight();
    if !open.is_empty() {
        let names: Vec<String> = open
            .iter()
            .map(|(addr, deposed)| match deposed {
                None => format!("  - {addr}"),
                Some(key) => format!("  - {addr} (deposed object {key})"),
            })
            .collect();
        warnings.warning(
            "Changes of an interrupted run are uncertain",
            format!(
                "An earlier run ended while these objects were being changed, so the state may not contain the results:\n\n{}\n\nObjects that were being created may exist without being in the state. Check them, and import those that exist.",
                names.join("\n"),
            ),
        );
    }
    let actions = journal.open_actions();
    if !actions.is_empty() {
        warnings.push(open_actions(&actions));
    }
    if changes > 0 && access == StateAccess::Locked {
        warn_of_recovery(journal, from, warnings);
    } else if changes > 0 {
        tracing::info!("{changes} changes of an interrupted run are shown on top of the state");
    }
    let alive: Vec<String> = journal
        .plugins()
        .filter(|(_, p)| p.is_alive())
        .map(|(name, p)| format!("  - {name} (process {})", p.number))
        .collect();
    if !alive.is_empty() {
        warnings.warning(
            "Plugin processes of an interrupted run are still alive",
            format!(
                "An earlier run ended without its plugins, which may still be changing objects:\n\n{}\n\nIt is safer to wait until they have ended.",
                alive.join("\n"),
            ),
        );
    }
}

/// Nothing else knows of them: the changes that invoke them are done.
fn open_actions(actions: &[OpenAction]) -> Diagnostic {
    let named = |action: &OpenAction| {
        let note = if action.running { " (was running)" } else { "" };
        format!("  - {}, called from {}{note}", action.action, action.caller)
    };
    let names: Vec<String> = actions.iter().map(named).collect();
    Diagnostic::warning(
        "Actions of an interrupted run were not completed",
        format!(
            "An earlier run ended before these actions were invoked, or while they were running:\n\n{}\n\nThe changes that trigger \
             them are done, so the next plan does not include them. Use \"{COMMAND} apply -invoke=ADDRESS\" to invoke them.",
            names.join("\n"),
        ),
    )
}

/// Interrupted runs with other settings of the backend have left journals that belong to the states of those.
async fn warn_of_others(path: &Path, store: &StateSession, warnings: &mut Diagnostics) {
    for other in other_journals(path) {
        match read_journal(&other, store).await {
            Ok(None | Some(None)) => continue,
            Ok(Some(Some(journal))) if journal.header.process.is_alive() => continue,
            _ => {}
        }
        warnings.warning(
            "An interrupted run left changes of another state",
            format!(
                "An earlier run in this directory changed a state at another place and was interrupted. What it had done is in \
                 its journal, {}, and is written to that state by the next command that changes it, with the settings of the \
                 backend that the run had. Remove the file if that state is of no use any more.",
                other.display()
            ),
        );
    }
}

fn warn_of_recovery(journal: &Journal, from: usize, warnings: &mut Diagnostics) {
    warnings.warning(
        "Changes of an interrupted run were recovered",
        format!(
            "An earlier run ended before it could write the state. Its changes of these resource instances have been written to \
             the state now, from its journal:\n\n{}\n\nNothing else needs to be done.",
            listed(journal.recorded(from)),
        ),
    );
}

/// The first addresses, a line each, and how many more there are.
fn listed(addresses: BTreeSet<AbsResourceInstance>) -> String {
    const MOST: usize = 20;
    let mut lines: Vec<String> = addresses.iter().take(MOST).map(|addr| format!("  - {addr}")).collect();
    match addresses.len() {
        0 => lines.push("  (none: only outputs or check results)".into()),
        count if count > MOST => lines.push(format!("  (and {} more)", count - MOST)),
        _ => {}
    }
    lines.join("\n")
}

fn foreign_base(journal: &Journal, path: &Path) -> Diagnostic {
    let names: Vec<String> = journal.instances().iter().map(|addr| format!("  - {addr}")).collect();
    let what = if names.is_empty() { "  (none)".to_string() } else { names.join("\n") };
    Diagnostic::error(
        "State changed since an interrupted run",
        format!(
            "An earlier run was interrupted and left a journal of what it had done, but the state has been written by another program since (it is no longer the one with serial {} that the run started from). Nothing was replayed. The journal speaks of these resource instances:\n\n{what}\n\nThe journal is {}. {ADVICE}",
            journal.header.serial,
            path.display(),
        ),
    )
}
