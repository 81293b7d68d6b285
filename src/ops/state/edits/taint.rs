//! `taint` and `untaint`

use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use model::addr::{AbsResourceInstance, Pattern};
use model::state::{Instance, ObjectStatus, State};
use terrane_protocol::schema::ResourceMode;

use super::{EditRefusal, Edited, Editing, Locking, MoveEnd, check_configuration};
use crate::backends::read_state;
use crate::interface::listen::Listener;
use crate::interface::options::StateOptions;
use crate::setup::Setup;
use crate::state::instances::{sorted, unmatched};

/// What is to be said of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Taint,
    Untaint,
}

/// Whose objects a mark is for.
#[derive(Clone, Debug)]
pub enum Selector {
    Instance(AbsResourceInstance),
    /// Every managed instance that matches and has an object; for [`Mark::Untaint`] those that are tainted.
    Pattern(Pattern),
}

/// Which objects are to be marked how.
#[derive(Clone, Debug)]
pub struct Marking {
    pub selectors: Vec<Selector>,
    pub mark: Mark,
    /// A missing instance is a warning, not an error.
    pub allow_missing: bool,
    pub options: StateOptions,
}

/// What became of a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marked {
    Done(AbsResourceInstance),
    /// The instance is not there, which the caller allows; worth a warning.
    Missing(Diagnostic),
}

/// Says of instances' objects that they are to be replaced, or that they are not: of all, or of none if anything is wrong.
pub async fn mark(
    setup: &Setup,
    wanted: &Marking,
    listener: &dyn Listener,
) -> Result<Edited<Vec<Marked>>, EditRefusal> {
    let operation = match wanted.mark {
        Mark::Taint => "taint",
        Mark::Untaint => "untaint",
    };
    if wanted.mark == Mark::Taint {
        check_configuration(setup)?;
    }
    let (store, warnings) = read_state::open_to_change(setup, &wanted.options).await?;
    let StateOptions { lock, lock_timeout, ignore_remote_version, .. } = wanted.options;
    let locking = Locking { lock, lock_timeout, ignore_remote_version };
    let mut editing = Editing::of_store(setup, locking, store, operation, MoveEnd::Source, listener).await?;
    editing.warnings = warnings;
    let result = match set_all(&mut editing.state, wanted) {
        Ok(marked) if marked.iter().all(|one| matches!(one, Marked::Missing(_))) => Ok(marked),
        Ok(marked) => editing.save().await.map(|()| marked),
        Err(problems) => Err(problems.into()),
    };
    editing.done(result).await
}

fn set_all(state: &mut State, wanted: &Marking) -> Result<Vec<Marked>, Diagnostics> {
    let (mut marked, mut problems) = (Vec::new(), Diagnostics::new());
    for selector in &wanted.selectors {
        let addresses = match selector {
            Selector::Instance(addr) => vec![addr.clone()],
            Selector::Pattern(pattern) => match matching(state, pattern, wanted.mark) {
                found if !found.is_empty() => found,
                _ if wanted.allow_missing => {
                    let unmatched = unmatched(pattern);
                    marked.push(Marked::Missing(Diagnostic::warning(unmatched.summary, unmatched.detail)));
                    continue;
                }
                _ => {
                    problems.push(unmatched(pattern));
                    continue;
                }
            },
        };
        for addr in addresses {
            // Addresses may overlap.
            if marked.contains(&Marked::Done(addr.clone())) {
                continue;
            }
            match set(state, &addr, wanted.mark) {
                Ok(()) => marked.push(Marked::Done(addr)),
                Err(Unmarked::Missing(_)) if wanted.allow_missing => marked.push(Marked::Missing(allowed(&addr))),
                Err(Unmarked::Missing(problem) | Unmarked::Wrong(problem)) => problems.push(problem),
            }
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(marked) }
}

fn matching(state: &State, pattern: &Pattern, mark: Mark) -> Vec<AbsResourceInstance> {
    let is_wanted = |addr: &AbsResourceInstance, instance: &Instance| {
        let Some(object) = &instance.current else { return false };
        addr.mode() == ResourceMode::Managed
            && (mark == Mark::Taint || object.status == ObjectStatus::Tainted)
            && pattern.contains(addr)
    };
    let all = sorted(state).into_iter();
    all.filter(|(addr, instance)| is_wanted(addr, instance)).map(|(addr, _)| addr).collect()
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
        let detail = format!(
            "There is no resource instance in the state with the address {addr}. If the resource configuration has just been \
             added, you must run \"{COMMAND} apply\" once to create the corresponding instance(s) before they can be tainted."
        );
        return Err(Unmarked::Missing(missing(detail).with_tip(state.close_address(&addr.to_string()))));
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
