//! Why a plan does what it does to an object: the chain of causes, what the object waits for, and what a change of it reaches.
//!
//! Everything is derived from the plan and the configuration; where these do not say it, nothing is said. Names and places only:
//! values, which may be secrets, are compared and never given out.
//!
//! Owns the causes. Never knows how they are shown.

mod chain;
mod dependents;
mod index;
mod leads;
mod waits;

use base::source::Range;

pub use dependents::{Dependent, dependents};
use index::Index;

use crate::addr::AbsResourceInstance;
use crate::config::Config;
use crate::plan::{Action, ActionReason, DeferredReason, Plan};
use crate::state::DeposedKey;

/// Why a plan does what it does to one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    pub addr: AbsResourceInstance,
    pub deposed: Option<DeposedKey>,
    pub change: ChangeSummary,
    /// The header of its block, if the configuration has one.
    pub place: Option<Range>,
    pub causes: Vec<Cause>,
    pub waits: Vec<Wait>,
}

/// What a plan does to an object, without the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeSummary {
    pub action: Action,
    pub reason: ActionReason,
    /// Why a later plan decides; None: this one does.
    pub deferred: Option<DeferredReason>,
}

/// A fact, where it is written, and the causes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    pub fact: Fact,
    pub place: Option<Range>,
    pub because: Vec<Cause>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// The state has no object at the address.
    NoObject,
    /// Refreshing found no object any more.
    DeletedOutside,
    /// Refreshing found other values.
    ChangedOutside,
    Imported,
    MovedFrom(AbsResourceInstance),
    /// It is left over from a replacement.
    Deposed,
    Tainted,
    /// `-replace`
    Requested,
    /// The plan destroys everything.
    DestroyMode,
    /// What the plan says of a deletion, of an object that is forgotten, or of a read.
    Reason(ActionReason),
    Deferred(DeferredReason),
    /// An attribute, or the blocks of a type: `forces` a replacement; `is_known`: not only after apply.
    Attribute {
        name: String,
        forces: bool,
        is_known: bool,
    },
    /// The configuration gives an attribute another value than the object has.
    Differs,
    /// The configuration does not set an attribute.
    ByProvider,
    /// A reference to a value of the configuration, such as `local.x`.
    Reference(String),
    /// A value from outside of the configuration, such as `var.x`.
    Given(String),
    /// `replace_triggered_by`
    Trigger,
    /// `depends_on` names it.
    DependsOn,
    /// Another object, and what is planned for it.
    Object {
        addr: AbsResourceInstance,
        change: ChangeSummary,
        /// The part of it that is referred to; empty: the whole object.
        path: String,
        /// The part is not known before apply.
        is_unknown: bool,
        /// Its causes follow. False: they stand elsewhere, or the chain is long.
        is_explained: bool,
    },
}

/// An object that has to be done before.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    pub addr: AbsResourceInstance,
    pub change: ChangeSummary,
    /// Its destruction alone has to be done before.
    pub is_destruction: bool,
    /// The reference to it.
    pub place: Option<Range>,
}

/// Explains all objects that the plan has at an address: the current one, deposed ones. Without any, the one that the plan moves
/// from there; nothing if there is none either.
pub fn explain(plan: &Plan, config: &Config, addr: &AbsResourceInstance) -> Vec<Explanation> {
    let index = Index::of(plan, config);
    let mut found = index.at(addr);
    if found.is_empty() {
        found = index.all().filter(|found| found.change.previous_addr == *addr).collect();
    }
    found.into_iter().map(|found| chain::explanation(&index, found)).collect()
}

/// The addresses of all objects of a plan, in its order; deferred ones last.
pub fn addresses(plan: &Plan) -> Vec<AbsResourceInstance> {
    let deferred = plan.deferred.iter().map(|deferred| &deferred.change);
    plan.changes.iter().chain(deferred).map(|change| change.addr.clone()).collect()
}

#[cfg(test)]
mod tests;
