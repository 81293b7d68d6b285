//! When an object is replaced, and how.
//!
//! A replacement destroys an object and creates another one at the same address. There are three reasons for it:
//!
//! 1. The object is tainted: its creation, or what had to follow it, failed. An update would rely on values that may be wrong, so
//!    the object is planned as if there were none, and the creation is joined with the old object afterwards.
//! 2. Something other than the provider asks for it ([`Forced`]): `-replace`, or a planned change of what `replace_triggered_by` names.
//! 3. The provider cannot update an attribute that changes. Providers name attributes whether or not they change, so only those
//!    count whose values differ without their marks ([`crate::change::replace`]): what only becomes sensitive is the same for the provider.
//!
//! Plans show one reason. Triggers come first, even for an object that is created; then that it is tainted, a request, and
//! the provider's own reason. Apply plans a replacement again as a forced one: it was decided, and approved.

use base::diag::Diagnostics;
use model::plan::{Action, ActionReason, ResourceChange};
use terrane_value::Value;

use super::triggers;
use crate::step::resource::Instance;

/// Why a replacement is asked for from outside of the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forced {
    No,
    ByRequest,
    ByTriggers,
}

impl Forced {
    /// What a plan finds out about an instance.
    pub fn of(instance: &Instance<'_>) -> (Forced, Diagnostics) {
        let (triggered, found) = triggers::is_triggered(instance);
        let forced = match (triggered, instance.run.replaced.contains(&instance.addr)) {
            (true, _) => Forced::ByTriggers,
            (_, true) => Forced::ByRequest,
            _ => Forced::No,
        };
        (forced, found)
    }
}

/// The rule for one instance.
pub struct Replacement<'i, 'r> {
    pub instance: &'i Instance<'r>,
    pub forced: Forced,
    /// In apply: the change that the plan promised.
    pub promised: Option<&'i ResourceChange>,
}

impl Replacement<'_, '_> {
    /// The action that brings `prior` to `planned`, and its reason. `prior`: the object without marks, null if there is none or
    /// it is tainted. `cannot_update`: the provider requires a replacement for something that changes.
    pub fn decide(&self, prior: &Value, planned: &Value, cannot_update: bool) -> (Action, ActionReason) {
        if prior.is_null() {
            return (Action::Create, ActionReason::None);
        }
        match self.forced {
            Forced::ByRequest => (self.kind(), ActionReason::ReplaceByRequest),
            Forced::ByTriggers => (self.kind(), ActionReason::ReplaceByTriggers),
            Forced::No if cannot_update => (self.kind(), ActionReason::ReplaceBecauseCannotUpdate),
            Forced::No => {
                let is_same = planned.same_storage(prior) || planned.is_wholly_known() && planned == prior;
                (if is_same { Action::NoOp } else { Action::Update }, ActionReason::None)
            }
        }
    }

    /// What the creation becomes that was planned in place of a tainted object.
    pub fn of_tainted(&self) -> (Action, ActionReason) {
        (self.kind(), ActionReason::ReplaceBecauseTainted)
    }

    /// The reason that the plan shows.
    pub fn reported_reason(&self, reason: ActionReason) -> ActionReason {
        if self.forced == Forced::ByTriggers { ActionReason::ReplaceByTriggers } else { reason }
    }

    /// The promised replacement of which only the creation is left: the old object is gone already.
    pub fn half_done(&self, action: Action) -> Option<&ResourceChange> {
        self.promised.filter(|promised| promised.action.is_replace() && action == Action::Create)
    }

    /// Which of the two goes first, and whether the old object is destroyed at all. Apply keeps to the order of the plan, in
    /// which other objects have their place.
    fn kind(&self) -> Action {
        if self.instance.keep() {
            return Action::CreateThenForget;
        }
        let creates_first = match self.promised {
            Some(promised) => promised.action.creates_first(),
            None => self.instance.create_before_destroy,
        };
        if creates_first { Action::CreateThenDelete } else { Action::DeleteThenCreate }
    }
}
