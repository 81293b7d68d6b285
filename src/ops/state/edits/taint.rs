//! `taint` and `untaint`

use super::{Editing, Locking, Refusal, Which, check_configuration};
use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::name::COMMAND;
use crate::model::addr::AbsResourceInstance;
use crate::model::state::{ObjectStatus, State};
use crate::ops::backends::read_state;
use crate::ops::interface::listen::Listener;
use crate::ops::interface::options::StateOptions;
use crate::ops::setup::Setup;

/// What is to be said of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Taint,
    Untaint,
}

/// What became of a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marked {
    Done,
    /// The instance is not there, which the caller allows; worth a warning.
    Missing(Diagnostic),
}

/// Says of an instance's object that it is to be replaced, or that it is not.
pub async fn mark(
    setup: &Setup,
    addr: &AbsResourceInstance,
    mark: Mark,
    allow_missing: bool,
    options: &StateOptions,
    listener: &dyn Listener,
) -> Result<Marked, Refusal> {
    let operation = match mark {
        Mark::Taint => "taint",
        Mark::Untaint => "untaint",
    };
    if mark == Mark::Taint {
        check_configuration(setup)?;
    }
    let store = read_state::open_to_change(setup, options, listener).await?;
    let StateOptions { lock, lock_timeout, ignore_remote_version, .. } = *options;
    let locking = Locking { lock, lock_timeout, ignore_remote_version };
    let mut editing = Editing::of_store(setup, locking, store, operation, Which::Source, listener).await?;
    let result = match set(&mut editing.state, addr, mark) {
        Ok(()) => editing.save().await.map(|()| Marked::Done),
        Err(Unmarked::Missing(_)) if allow_missing => Ok(Marked::Missing(allowed(addr))),
        Err(Unmarked::Missing(problem) | Unmarked::Wrong(problem)) => Err(Diagnostics::from(problem).into()),
    };
    editing.done(result).await
}

/// Why an object was not marked.
enum Unmarked {
    Missing(Diagnostic),
    Wrong(Diagnostic),
}

fn set(state: &mut State, addr: &AbsResourceInstance, mark: Mark) -> Result<(), Unmarked> {
    let missing = |detail: String| Diagnostic::error(MISSING, detail);
    if state.is_empty() {
        return Err(Unmarked::Missing(missing(NOTHING.into())));
    }
    let provider = state.resources.get(&addr.containing_resource()).map(|resource| resource.provider.clone());
    let Some(provider) = provider.filter(|_| state.instance(addr).is_some()) else {
        return Err(Unmarked::Missing(missing(format!(
            "There is no resource instance in the state with the address {addr}. If the resource configuration has just been \
             added, you must run \"{COMMAND} apply\" once to create the corresponding instance(s) before they can be tainted."
        ))));
    };
    let Some(object) = &mut state.instance_mut(addr, &provider).current else {
        return Err(Unmarked::Wrong(missing(format!(
            "Resource instance {addr} is currently part-way through a create_before_destroy replacement action. Run \
             \"{COMMAND} apply\" to complete its replacement before tainting it."
        ))));
    };
    if mark == Mark::Untaint && object.status != ObjectStatus::Tainted {
        return Err(Unmarked::Wrong(Diagnostic::error(
            "Resource instance is not tainted",
            format!("Resource instance {addr} is not currently tainted, and so it cannot be untainted."),
        )));
    }
    object.status = match mark {
        Mark::Taint => ObjectStatus::Tainted,
        Mark::Untaint => ObjectStatus::Ready,
    };
    Ok(())
}

fn allowed(addr: &AbsResourceInstance) -> Diagnostic {
    let detail =
        format!("Resource instance {addr} was not found, but this is not an error because -allow-missing was set.");
    Diagnostic::warning(MISSING, detail)
}

const MISSING: &str = "No such resource instance";
const NOTHING: &str = "The state currently contains no resource instances whatsoever. This may occur if the configuration has \
                       never been applied or if it has recently been destroyed.";
