//! The state while it is being changed: every change goes to the journal at once, snapshots go to the store when they
//! cost little, and at the end.
//!
//! Owns serial and lineage of what is written. Keeps the state as the pieces of its file, so that a change costs the
//! instance that changed.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use base::atomic;
use base::diag::{Diagnostic, Diagnostics};
use base::process::ProcessId;
use encryption::Layout;
use model::addr::{AbsProviderConfig, AbsResourceInstance};
use model::state::file::{Rendered, StateChange, problems_text};
use model::state::journal::{ActionPhase, Header, Record, fingerprint};
use model::state::{CheckResult, DeposedKey, Instance, OutputValue, State, StateMeta};
use model::version::compatible_version;

use super::journal_sealing::Sealing;
use super::journal_writer::{Durable, JournalWriter};
use super::loaded::{Loaded, another_run};
use super::session::StateSession;
use crate::contract::StoreError;

/// A snapshot may take at most this part of the time that passed since the last one.
const SHARE: u32 = 20;

/// Bytes that a run may write for snapshots before the last one: so many at once, and the state's size as often as this
/// time passes. A long run keeps the file current, a short one does not write a large state more than once.
const FREE_BYTES: u64 = 64 * 1024;
const REWRITE_PERIOD: Duration = Duration::from_secs(30);

/// The state of one run, from the first change to the last snapshot. Clones share it.
#[derive(Clone)]
pub struct JournaledState {
    store: Arc<StateSession>,
    inner: Arc<Mutex<RunState>>,
    /// Held while a snapshot is being written: there is never more than one.
    writing: Arc<tokio::sync::Mutex<Timing>>,
}

/// An object: the current one of an instance, or a deposed one.
pub type ObjectAddress = (AbsResourceInstance, Option<DeposedKey>);

struct RunState {
    /// Of the snapshot in the store.
    meta: StateMeta,
    base: String,
    stored: Option<Rendered>,
    now: Rendered,
    journal: Option<JournalWriter>,
    /// Something was recorded since the last snapshot.
    dirty: bool,
    /// A snapshot failed: what the store holds is not known.
    unsure: bool,
    /// Objects whose change was started and not finished.
    open: BTreeSet<ObjectAddress>,
    /// How many actions are due or running.
    open_actions: usize,
    /// The run is over: nothing may be started any more, and no snapshot is written.
    closed: bool,
}

/// A state to be written.
struct Snapshot {
    content: Arc<[u8]>,
    fingerprint: String,
    meta: StateMeta,
    rendered: Rendered,
    /// Its record in the journal, which has to be durable first.
    recorded: Option<Durable>,
}

struct Timing {
    begun: Instant,
    written: u64,
    last: Instant,
    /// What the last snapshot took; an estimate before the first one.
    cost: Duration,
}

/// What kept a run from ending well.
#[derive(Debug)]
pub enum FinishError {
    /// The store refused the last snapshot, which is to be kept elsewhere. The journal is still there.
    Refused { reason: String, snapshot: Arc<[u8]> },
    /// The final state cannot be written as a file. The store has what was recorded until then.
    NotRendered(String),
    /// Everything is saved, but the journal could not be removed.
    JournalLeft(String),
}

impl JournaledState {
    /// A run that starts from the state as it was loaded, under the store's lock unless the user wants none.
    pub fn new(store: Arc<StateSession>, loaded: &Loaded) -> Result<JournaledState, Diagnostics> {
        loaded.refuse_pending_journal(&store)?;
        let (meta, stored) = match &loaded.file {
            Some(file) => {
                let rendered = Rendered::of(&file.state)?;
                store.keep_stored(&file.meta, || rendered.to_bytes(&file.meta));
                (file.meta.clone(), Some(rendered))
            }
            None => {
                let meta =
                    StateMeta { terraform_version: compatible_version().into(), serial: 0, lineage: String::new() };
                (meta, None)
            }
        };
        let now = match &stored {
            Some(rendered) => rendered.clone(),
            None => Rendered::of(&State::default())?,
        };
        let base = loaded.fingerprint.clone();
        let (journal, open) = (None, BTreeSet::new());
        let inner = RunState {
            meta,
            base,
            stored,
            now,
            journal,
            dirty: false,
            unsure: false,
            open,
            open_actions: 0,
            closed: false,
        };
        let now_time = Instant::now();
        let timing = Timing { begun: now_time, written: 0, last: now_time, cost: Duration::ZERO };
        let (inner, writing) = (Arc::new(Mutex::new(inner)), Arc::new(tokio::sync::Mutex::new(timing)));
        Ok(JournaledState { store, inner, writing })
    }

    fn inner(&self) -> MutexGuard<'_, RunState> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Lineage and serial of the snapshot in the store.
    pub fn meta(&self) -> StateMeta {
        self.inner().meta.clone()
    }

    /// Opens the journal. `state` is what apply starts from: the stored state as refresh and moves made it.
    pub async fn begin(&self, state: &State) -> Result<(), Diagnostics> {
        let stored = self.inner().stored.clone();
        let now = Rendered::sharing(state, stored.as_ref().unwrap_or(&Rendered::default()))?;
        drop(stored);
        let sealing = Sealing::new(self.store.cipher()).await;
        let sealing = sealing.map_err(|error| journal_failed(&error))?;
        let durable = {
            let mut inner = self.inner();
            if inner.meta.lineage.is_empty() && inner.stored.is_none() {
                inner.meta.lineage = uuid::Uuid::new_v4().to_string();
            }
            inner.open_journal(&self.store.facts().journal, sealing)?;
            let pieces = match &inner.stored {
                Some(stored) => now.changes_since(stored),
                None => now.changes_since(&Rendered::default()),
            };
            inner.now = now;
            inner.dirty = !pieces.is_empty();
            (!pieces.is_empty()).then(|| inner.append(&Record::Prior(pieces))).flatten()
        };
        wait(durable).await
    }

    /// Durable before the object is touched.
    pub async fn started(&self, addr: &AbsResourceInstance, deposed: Option<&DeposedKey>) -> Result<(), Diagnostics> {
        let record = Record::Started { addr: addr.clone(), deposed: deposed.cloned() };
        let durable = {
            let mut inner = self.inner();
            if inner.closed {
                return Err(abandoned());
            }
            inner.open.insert((addr.clone(), deposed.cloned()));
            inner.append(&record)
        };
        wait(durable).await
    }

    /// The whole instance as it is now; without objects: it is gone. Durable when this completes.
    pub async fn finished(
        &self,
        addr: &AbsResourceInstance,
        provider: &AbsProviderConfig,
        instance: &Instance,
    ) -> Result<(), Diagnostics> {
        let durable = {
            let mut inner = self.inner();
            inner.now.set_instance(addr, provider, instance)?;
            inner.dirty = true;
            inner.open.retain(|(open, _)| open != addr);
            let piece = match inner.now.instance_entry(addr) {
                Some(text) => StateChange::Instance(addr.clone(), text),
                None => StateChange::GoneInstance(addr.clone()),
            };
            inner.append(&Record::Changed(piece))
        };
        wait(durable).await?;
        self.snapshot_if_due().await
    }

    /// How far actions are that a change invokes. Durable when this completes.
    pub async fn actions(
        &self,
        caller: &AbsResourceInstance,
        actions: &[String],
        phase: ActionPhase,
    ) -> Result<(), Diagnostics> {
        let mut durable = None;
        {
            let mut inner = self.inner();
            for action in actions {
                match phase {
                    ActionPhase::Due => inner.open_actions += 1,
                    ActionPhase::Running => {}
                    ActionPhase::Done => inner.open_actions = inner.open_actions.saturating_sub(1),
                }
                let record = Record::Action { caller: caller.clone(), action: action.clone(), phase };
                durable = inner.append(&record);
            }
        }
        // Records are written in their order.
        wait(durable).await
    }

    /// A root output as it is now; none: it is gone.
    pub async fn output(&self, name: &str, value: Option<&OutputValue>) -> Result<(), Diagnostics> {
        let durable = {
            let mut inner = self.inner();
            inner.now.set_output(name, value)?;
            inner.dirty = true;
            let piece = match inner.now.output_entry(name) {
                Some(text) => StateChange::Output(name.into(), text),
                None => StateChange::GoneOutput(name.into()),
            };
            inner.append(&Record::Changed(piece))
        };
        wait(durable).await
    }

    /// Results of checks; they are found anew by every run, so they wait for the snapshot.
    pub fn checks(&self, checks: Option<&[CheckResult]>) {
        self.inner().now.set_checks(checks);
    }

    /// A plugin's process, so that the next run can tell whether it outlived this one.
    pub fn plugin(&self, name: &str, process: ProcessId) {
        // Not awaited: it is durable together with the next awaited record.
        drop(self.inner().append(&Record::Plugin { name: name.into(), process }));
    }

    /// Writes a snapshot if it will take under a twentieth of the time since the last one.
    pub async fn snapshot_if_due(&self) -> Result<(), Diagnostics> {
        let Ok(mut timing) = self.writing.clone().try_lock_owned() else { return Ok(()) };
        if !self.is_due(&mut timing) {
            return Ok(());
        }
        let state = self.clone();
        // A separate task: when a step is aborted, the write goes on, and the last snapshot waits for its end.
        let written = tokio::spawn(async move { state.write_snapshot(&mut timing).await });
        let _ = written.await;
        Ok(())
    }

    fn is_due(&self, timing: &mut Timing) -> bool {
        let passed = timing.last.elapsed();
        if passed < timing.cost * SHARE || passed < self.store.facts().snapshot_pause || self.inner().closed {
            return false;
        }
        let size = self.inner().now.size() as u64;
        if timing.cost.is_zero() {
            // Before the first one: guess, so that a large state is not written for its first instance.
            timing.cost = Duration::from_millis(5) + Duration::from_nanos(20 * size);
        }
        passed >= timing.cost * SHARE && timing.written + size <= timing.allowed(size)
    }

    async fn write_snapshot(&self, timing: &mut Timing) {
        let started = Instant::now();
        let Some(snapshot) = self.inner().snapshot() else { return };
        timing.written += snapshot.content.len() as u64;
        if let Err(reason) = self.store(snapshot).await {
            // The journal has it all; the last snapshot is the one that must succeed.
            tracing::warn!("state snapshot not written: {reason}");
            let mut inner = self.inner();
            (inner.dirty, inner.unsure) = (true, true);
        }
        timing.last = Instant::now();
        timing.cost = started.elapsed();
    }

    /// Writes a snapshot once its record is durable.
    async fn store(&self, snapshot: Snapshot) -> Result<(), StoreError> {
        wait(snapshot.recorded).await.map_err(|problems| StoreError::new(problems_text(&problems)))?;
        self.store.write(snapshot.content).await?;
        let mut inner = self.inner();
        inner.meta = snapshot.meta;
        inner.base = snapshot.fingerprint;
        inner.stored = Some(snapshot.rendered);
        Ok(())
    }

    /// True if the journal is what is kept when the store refuses the state.
    pub fn keeps_journal(&self) -> bool {
        !self.store.facts().keeps_files
    }

    /// Ends the run: writes the last snapshot, if the store does not have it, and removes the journal, unless changes are
    /// open: their objects are returned, and the next run names them. `state` is the final state where the caller has it;
    /// otherwise what was recorded is what is written. After an error the journal may still be there: call
    /// [`Self::forget_journal_unless_open`] once the snapshot is safe elsewhere.
    pub async fn finish(&self, state: Option<&State>) -> Result<Vec<ObjectAddress>, FinishError> {
        let _timing = self.writing.lock().await;
        let recorded = self.inner().now.clone();
        let rendered = state.map(|state| Rendered::sharing(state, &recorded)).transpose();
        drop(recorded);
        let (needed, not_rendered) = {
            let mut inner = self.inner();
            inner.closed = true;
            if state.is_some() {
                // The run came to its end: its errors name the actions that it did not invoke.
                inner.open_actions = 0;
            }
            let not_rendered = match rendered {
                Ok(Some(rendered)) => {
                    inner.now = rendered;
                    None
                }
                Ok(None) => None,
                // What was recorded could be rendered, piece by piece.
                Err(problems) => Some(problems_text(&problems)),
            };
            let same = inner.stored.as_ref() == Some(&inner.now);
            let is_wanted = !same || inner.unsure || self.store.facts().writes_elsewhere;
            // A file that says the same in another form is brought to this one, as the reference does.
            let needed = inner.next_snapshot(|print, base| is_wanted || print != base);
            (needed, not_rendered)
        };
        if let Some(snapshot) = needed {
            // A journal that cannot be written must not keep the snapshot from being.
            let _ = wait(snapshot.recorded).await;
            if let Err(error) = self.store.write(snapshot.content.clone()).await {
                return Err(FinishError::Refused { reason: error.text, snapshot: snapshot.content });
            }
            let mut inner = self.inner();
            (inner.meta, inner.base) = (snapshot.meta, snapshot.fingerprint);
            inner.stored = Some(inner.now.clone());
            (inner.dirty, inner.unsure) = (false, false);
        }
        let open: Vec<ObjectAddress> = self.inner().open.iter().cloned().collect();
        let removed = self.forget_journal_unless_open();
        match (not_rendered, removed) {
            (Some(reason), _) => Err(FinishError::NotRendered(reason)),
            (None, Err(error)) => Err(FinishError::JournalLeft(error.to_string())),
            (None, Ok(())) => Ok(open),
        }
    }

    /// Keeps a snapshot that the store refused: `errored.tfstate`, encrypted if the store's content is. Nothing is written if
    /// it cannot be encrypted.
    pub async fn write_errored_state(&self, path: &Path, snapshot: &[u8]) -> io::Result<()> {
        let Some(cipher) = self.store.cipher() else { return atomic::write_private(path, snapshot) };
        let sealed = cipher.seal(snapshot, Layout::Indented).await;
        atomic::write_private(path, &sealed.map_err(|error| io::Error::other(error.to_string()))?)
    }

    /// Removes the journal of a run whose state is safe elsewhere, unless changes or actions are open: only the journal knows
    /// those.
    pub fn forget_journal_unless_open(&self) -> io::Result<()> {
        let is_open = {
            let inner = self.inner();
            !inner.open.is_empty() || inner.open_actions > 0
        };
        if is_open { Ok(()) } else { self.forget_journal() }
    }

    /// Ends the journal and removes it.
    fn forget_journal(&self) -> io::Result<()> {
        match self.inner().journal.take() {
            Some(journal) => journal.remove(),
            None => Ok(()),
        }
    }
}

impl Timing {
    fn allowed(&self, size: u64) -> u64 {
        let rewrites = self.begun.elapsed().as_secs_f64() / REWRITE_PERIOD.as_secs_f64();
        FREE_BYTES + (size as f64 * rewrites) as u64
    }
}

impl RunState {
    fn open_journal(&mut self, path: &Path, sealing: Option<Sealing>) -> Result<(), Diagnostics> {
        if self.journal.is_some() {
            return Ok(());
        }
        let header = Header {
            lineage: self.meta.lineage.clone(),
            serial: self.meta.serial,
            base: self.base.clone(),
            process: ProcessId::current(),
        };
        if let Err(e) = std::fs::create_dir_all(atomic::directory_of(path)) {
            tracing::warn!("no folder for the state journal: {e}");
        }
        match JournalWriter::create(path, &header.encode(), sealing) {
            Ok(journal) => self.journal = Some(journal),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(another_run(path).into()),
            Err(e) => return Err(journal_failed(&e)),
        }
        Ok(())
    }

    fn append(&self, record: &Record) -> Option<Durable> {
        self.journal.as_ref().map(|journal| journal.append(record.encode()))
    }

    /// The next snapshot if anything changed since the last one.
    fn snapshot(&mut self) -> Option<Snapshot> {
        if std::mem::take(&mut self.dirty) { self.next_snapshot(|_, _| true) } else { None }
    }

    /// The state as it is now, with its record in the journal: what is recorded before that is in it, what is recorded
    /// later is not. None if it is not wanted, to judge by its fingerprint and that of the snapshot in the store.
    fn next_snapshot(&mut self, is_wanted: impl FnOnce(&str, &str) -> bool) -> Option<Snapshot> {
        let mut meta = self.meta.clone();
        meta.terraform_version = self.now.version(&meta);
        if self.stored.as_ref() != Some(&self.now) || self.unsure {
            meta.serial += 1;
        }
        // A state that was written without a lineage keeps none.
        if meta.lineage.is_empty() && self.stored.is_none() {
            meta.lineage = uuid::Uuid::new_v4().to_string();
            self.meta.lineage.clone_from(&meta.lineage);
        }
        let content = self.now.to_bytes(&meta);
        let fingerprint = fingerprint(&content);
        if !is_wanted(&fingerprint, &self.base) {
            return None;
        }
        let recorded = self.append(&Record::Snapshot { fingerprint: fingerprint.clone(), serial: meta.serial });
        Some(Snapshot { content, fingerprint, meta, rendered: self.now.clone(), recorded })
    }
}

async fn wait(durable: Option<Durable>) -> Result<(), Diagnostics> {
    match durable {
        Some(durable) => durable.wait().await.map_err(|e| journal_failed(&e)),
        None => Ok(()),
    }
}

fn journal_failed(error: &io::Error) -> Diagnostics {
    Diagnostic::error(
        "Failed to record a change of the state",
        format!("The journal of this run cannot be written: {error}.\n\nNothing further is started, so that nothing is lost."),
    )
    .into()
}

fn abandoned() -> Diagnostics {
    Diagnostic::error("Run abandoned", "The run was interrupted, so that this object was not changed.").into()
}

#[cfg(test)]
#[path = "journaled_tests.rs"]
mod tests;
