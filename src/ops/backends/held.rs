//! A state that a command holds: read, and locked until the command gives it back.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use backend::durable::locking;
use backend::{Loaded, LockInfo, StateAccess, StateSession, StoreError};
use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::stop::Stop;

use crate::interface::listen::Listener;
use crate::interface::options::StateOptions;
use crate::setup::Setup;

/// A state that was read, under its lock if there is one.
pub struct HeldState {
    pub store: Arc<StateSession>,
    pub loaded: Loaded,
    lock: Option<String>,
    lost: OnceLock<StoreError>,
}

/// What a command does with a state that it holds.
#[derive(Clone, Copy)]
pub enum HeldAccess<'a> {
    /// Changes it. What an interrupted run left open is shown here before its journal is removed.
    Change(&'a dyn Listener),
    /// Only reads it. An interrupted run's journal is kept, because its warnings cannot be shown before it is removed.
    Read,
}

impl<'a> HeldAccess<'a> {
    fn listener(self) -> Option<&'a dyn Listener> {
        match self {
            HeldAccess::Change(listener) => Some(listener),
            HeldAccess::Read => None,
        }
    }
}

/// Locks the state for an operation, unless the options disable it, and reads it.
pub async fn hold(
    store: &Arc<StateSession>,
    operation: &str,
    options: &StateOptions,
    setup: &Setup,
    access: HeldAccess<'_>,
) -> Result<HeldState, Diagnostics> {
    let store = store.clone();
    let lock = if options.lock {
        tracing::trace!("backend/local: requesting state lock for workspace {:?}", setup.workdir.workspace);
        let info = LockInfo::new(operation);
        let mut wait = None;
        let waiting = |holder: Option<LockInfo>| {
            wait = Some(setup.activities.begin(waiting_text(holder.as_ref())));
            access.listener().into_iter().for_each(Listener::waiting_for_lock);
        };
        let taken = store.acquire(&info, options.lock_timeout, &setup.stop, waiting).await;
        drop(wait);
        let is_of_process = store.facts().locks_are_of_processes;
        Some(taken.map_err(|e| Diagnostics::from(locking::not_locked(&e, is_of_process)))?)
    } else {
        None
    };
    let of_backend = match (&lock, access) {
        (None, _) => StateAccess::ReadOnly,
        (Some(_), HeldAccess::Read) => StateAccess::LockedToRead,
        (Some(_), HeldAccess::Change(_)) => StateAccess::Locked,
    };
    let reading = setup.activities.begin("Reading the state");
    let loaded = backend::load(&store, of_backend).await;
    drop(reading);
    match loaded.and_then(|loaded| report_replay(loaded, &store, access)) {
        Ok(loaded) => {
            match &loaded.file {
                Some(file) => tracing::debug!(
                    "state read: serial {}, {} resources, lineage {}",
                    file.meta.serial,
                    file.state.resources.len(),
                    file.meta.lineage
                ),
                None => tracing::debug!("state read: there is none yet"),
            }
            Ok(HeldState { store, loaded, lock, lost: OnceLock::new() })
        }
        Err(mut diagnostics) => {
            let held = HeldState { store, loaded: Loaded::default(), lock, lost: OnceLock::new() };
            diagnostics.extend(held.release().await);
            Err(diagnostics)
        }
    }
}

/// What a command does that waits for a lock.
fn waiting_text(holder: Option<&LockInfo>) -> String {
    match holder.filter(|holder| !holder.id.is_empty()) {
        Some(holder) => format!("Waiting for the state lock of {}", locking::holder_text(holder)),
        None => "Waiting for the state lock".to_owned(),
    }
}

/// Shows what an interrupted run left open before the journal, which alone knows it, is removed.
fn report_replay(mut loaded: Loaded, store: &StateSession, access: HeldAccess<'_>) -> Result<Loaded, Diagnostics> {
    if let Some(listener) = access.listener().filter(|_| loaded.replayed) {
        listener.diagnostics(std::mem::take(&mut loaded.warnings));
        backend::finish_replay(store, &mut loaded)?;
    }
    Ok(loaded)
}

impl HeldState {
    /// To be called before the state is written: what an interrupted run had done is written first, where that was not
    /// done under the lock.
    pub async fn take_up_journal(&mut self, listener: &dyn Listener) -> Result<(), Diagnostics> {
        if !self.loaded.includes_journal {
            return Ok(());
        }
        let taken = backend::take_up(&self.store, &mut self.loaded).await;
        listener.diagnostics(std::mem::take(&mut self.loaded.warnings));
        taken?;
        backend::finish_replay(&self.store, &mut self.loaded)
    }

    /// Stops a command whose lock is lost. Never completes.
    pub async fn stop_if_lock_is_lost(&self, stop: &Stop) -> Infallible {
        if self.lock.is_some() {
            let error = self.store.lock_lost().await;
            tracing::error!("{error}");
            let _ = self.lost.set(error);
            stop.stop();
        }
        std::future::pending().await
    }

    /// What to report if the lock was lost while objects were changed.
    pub fn lock_loss(&self) -> Option<Diagnostic> {
        self.lock_loss_with(&format!(
            "{PROGRAM} therefore started no further changes and did not write the state; the changes that were made are kept on \
             this machine."
        ))
    }

    /// What to report if the lock was lost before anything was changed.
    pub fn lock_loss_while_planning(&self) -> Option<Diagnostic> {
        self.lock_loss_with("A plan that is made from the state as it was may not fit any more. Nothing was changed.")
    }

    fn lock_loss_with(&self, consequence: &str) -> Option<Diagnostic> {
        let error = self.lost.get()?;
        let detail =
            format!("Error message: {error}\n\nAnother process may have locked the state since. {consequence}");
        Some(Diagnostic::error("State lock lost", detail))
    }

    /// Gives the lock back.
    pub async fn release(self) -> Diagnostics {
        let Some(id) = self.lock else { return Diagnostics::new() };
        tracing::trace!("backend/local: releasing state lock {id}");
        match self.store.unlock(&id).await {
            Ok(()) => Diagnostics::new(),
            Err(_) if self.lost.get().is_some() => Diagnostics::new(),
            Err(e) => locking::unlock_failed(&e).into(),
        }
    }
}
