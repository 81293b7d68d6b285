//! `state restore`: an earlier snapshot in place of the state.

use std::collections::BTreeMap;
use std::path::PathBuf;

use backend::StateSession;
use backend::durable::replace::replace_state;
use base::diag::{Diagnostic, Diagnostics};
use base::name::{COMMAND, PROGRAM};
use model::addr::AbsResourceInstance;
use model::state::file::{self, StateFile, problems_text};
use model::state::{Instance, State, StateMeta};

use super::edits::{EditOptions, EditRefusal, Edited, Editing, Locking, check_configuration};
use super::snapshots::{Candidate, NOT_LISTED, Snapshot, of_machine, of_store, unreadable};
use crate::interface::ask::{NoAnswer, Question};
use crate::interface::listen::Listener;
use crate::setup::Setup;

/// Which snapshot takes the place of the state.
#[derive(Clone, Debug)]
pub struct Restore {
    pub serial: u64,
    /// Also a snapshot of another lineage.
    pub force: bool,
    /// Only say what would change.
    pub dry_run: bool,
    /// Do not ask.
    pub auto_approve: bool,
    pub locking: Locking,
    /// Where to keep the previous state; none: beside it, under a name with the time.
    pub backup: Option<PathBuf>,
}

/// How a snapshot differs from the state now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// In the snapshot only, in both with different objects, in the state only.
    pub added: Vec<AbsResourceInstance>,
    pub changed: Vec<AbsResourceInstance>,
    pub removed: Vec<AbsResourceInstance>,
    pub outputs_differ: bool,
}

impl Difference {
    pub fn is_empty(&self) -> bool {
        *self == Difference::default()
    }

    fn between(now: &State, then: &State) -> Difference {
        let index = |state: &State| -> BTreeMap<AbsResourceInstance, Instance> {
            state.instances().map(|(addr, _, instance)| (addr, instance.clone())).collect()
        };
        let (now_all, then_all) = (index(now), index(then));
        let mut found = Difference { outputs_differ: now.outputs != then.outputs, ..Difference::default() };
        for (addr, instance) in &then_all {
            match now_all.get(addr) {
                None => found.added.push(addr.clone()),
                Some(other) if other != instance => found.changed.push(addr.clone()),
                Some(_) => {}
            }
        }
        found.removed = now_all.into_keys().filter(|addr| !then_all.contains_key(addr)).collect();
        found
    }
}

/// What became of a restoration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    /// The new serial.
    Done(u64),
    WouldDo,
    /// The state is what the snapshot is.
    Same,
    Refused,
}

/// Writes a kept snapshot in place of the state, as the next one of its history, once that was approved. `planned` hears what that
/// changes before the question.
pub async fn restore(
    setup: &Setup,
    wanted: &Restore,
    listener: &dyn Listener,
    planned: impl Fn(&Difference),
) -> Result<Edited<Restored>, EditRefusal> {
    check_configuration(setup)?;
    let options = EditOptions { locking: wanted.locking, state: None, backup: wanted.backup.clone() };
    let editing = Editing::open_any(setup, &options, "state-restore", listener).await?;
    let result = replace(setup, wanted, &editing, planned).await;
    editing.done(result).await
}

async fn replace(
    setup: &Setup,
    wanted: &Restore,
    editing: &Editing,
    planned: impl Fn(&Difference),
) -> Result<Restored, EditRefusal> {
    let (store, loaded) = (editing.store(), editing.loaded());
    let current = loaded.file.as_ref();
    let candidate = chosen(store, wanted, current.map(|file| &file.meta)).await?;
    let snapshot = read(store, &candidate).await?;
    let nothing = State::default();
    let difference = Difference::between(current.map_or(&nothing, |file| &file.state), &snapshot.state);
    if difference.is_empty() && current.is_some() {
        return Ok(Restored::Same);
    }
    planned(&difference);
    if wanted.dry_run {
        return Ok(Restored::WouldDo);
    }
    if !wanted.auto_approve && !approve(setup).await? {
        return Ok(Restored::Refused);
    }
    // The next serial of the history that goes on; being written counts it up where there is a state.
    let meta = match current {
        Some(file) => file.meta.clone(),
        None => StateMeta { serial: snapshot.meta.serial + 1, ..snapshot.meta },
    };
    let serial = if current.is_some() { meta.serial + 1 } else { meta.serial };
    let file = StateFile { meta, state: snapshot.state };
    replace_state(store, loaded, file, true).await.map_err(|error| EditRefusal::NotSaved(error.text))?;
    Ok(Restored::Done(serial))
}

/// The newest snapshot of the serial, of the lineage of the state if it has one. The store is only asked for what this machine lacks.
async fn chosen(store: &StateSession, wanted: &Restore, current: Option<&StateMeta>) -> Result<Candidate, Diagnostics> {
    let lineage = current.map(|meta| meta.lineage.as_str()).filter(|lineage| !lineage.is_empty());
    let is_of_lineage = |one: &Candidate| lineage.is_none_or(|lineage| lineage == one.snapshot.lineage);
    let is_wanted = |one: &Candidate| one.snapshot.serial == wanted.serial;
    let mut found: Vec<Candidate> = of_machine(store, current)?.into_iter().filter(is_wanted).collect();
    let mut unread = None;
    if !found.iter().any(is_of_lineage) {
        let stored = of_store(store, current).await.map_err(|why| Diagnostic::error(NOT_LISTED, why))?;
        unread = stored.unread_text();
        found.extend(stored.candidates.into_iter().filter(is_wanted));
    }
    if let Some(of_lineage) = found.iter().find(|one| is_of_lineage(one)) {
        return Ok(of_lineage.clone());
    }
    match found.into_iter().next() {
        Some(other) if wanted.force => Ok(other),
        Some(other) => Err(other_lineage(&other.snapshot, lineage.unwrap_or_default()).into()),
        None => {
            let place =
                if store.facts().versions.is_some() { "on this machine or by the store" } else { "on this machine" };
            let mut detail = format!(
                "No snapshot with the serial {} is kept {place}. To see which are, use \"{COMMAND} state history\".",
                wanted.serial
            );
            if let Some(unread) = unread {
                detail = format!("{detail}\n\n{unread}");
            }
            Err(Diagnostic::error("No such snapshot", detail).into())
        }
    }
}

fn other_lineage(snapshot: &Snapshot, lineage: &str) -> Diagnostic {
    Diagnostic::error(
        "Snapshot of another state",
        format!(
            "The snapshot with the serial {} has the lineage {:?}, the state has the lineage {lineage:?}: they were created \
             separately. To replace the state all the same, use -force.",
            snapshot.serial, snapshot.lineage
        ),
    )
}

async fn read(store: &StateSession, candidate: &Candidate) -> Result<StateFile, Diagnostics> {
    let content = candidate.content(store).await.map_err(unreadable)?;
    let read = file::read(&content).map_err(|problems| unreadable(problems_text(&problems)))?;
    read.ok_or_else(|| unreadable(format!("{} holds no state", candidate.place)))
}

async fn approve(setup: &Setup) -> Result<bool, EditRefusal> {
    let question = Question {
        title: "Do you want to replace the state by this snapshot?".into(),
        text: format!(
            "{PROGRAM} will write the snapshot as the next one of the state. No infrastructure is\nchanged. Only 'yes' will be \
             accepted to confirm."
        ),
        apart: true,
        ..Question::default()
    };
    let answer = match &setup.ask {
        Some(ask) => ask.ask(&question).await,
        None => Err(NoAnswer::Failed("input is disabled".into())),
    };
    match answer {
        Ok(answer) => Ok(answer == "yes"),
        Err(NoAnswer::Interrupted) => Err(EditRefusal::NoAnswer("interrupted".into())),
        Err(NoAnswer::Failed(reason)) => Err(EditRefusal::NoAnswer(reason)),
    }
}
