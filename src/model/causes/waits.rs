//! What has to be done before a change, as an apply orders them.
//!
//! Owns the order of two objects of which one depends on the other. Never knows why they change.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use base::source::Range;
use terrane_protocol::schema::ResourceMode;

use super::Wait;
use super::index::{Index, IndexedChange};
use super::leads::{Need, needs_of_object};
use crate::addr::ConfigResource;
use crate::plan::Action;

/// When an object is destroyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Destruction {
    /// Before what it depends on changes.
    First,
    /// After what depends on it has changed.
    Last,
}

/// What is done with an object.
#[derive(Clone, Copy)]
struct Work {
    creates: bool,
    destruction: Option<Destruction>,
}

impl Work {
    fn of(index: &Index<'_>, found: &IndexedChange<'_>) -> Work {
        let change = found.change;
        let destruction = match change.action {
            Action::CreateThenDelete => Some(Destruction::Last),
            Action::DeleteThenCreate => Some(Destruction::First),
            Action::Delete if change.deposed.is_some() || index.is_created_before_destroyed(found) => {
                Some(Destruction::Last)
            }
            Action::Delete => Some(Destruction::First),
            _ => None,
        };
        Work {
            creates: !matches!(change.action, Action::NoOp | Action::Delete | Action::Forget),
            destruction: destruction.filter(|_| change.addr.mode() == ResourceMode::Managed),
        }
    }

    /// Whether it waits for work on an object that it depends on, in addition to what references say.
    fn waits_for_used(self, used: Work) -> Option<Order> {
        let is_gone = self.destruction == Some(Destruction::Last) && !self.creates;
        match () {
            () if self.creates && used.destruction == Some(Destruction::First) => Some(Order::AfterDestruction),
            () if is_gone && used.creates => Some(Order::AfterChange),
            () => None,
        }
    }

    /// Whether it waits for work on an object that depends on it.
    fn waits_for_user(self, user: Work) -> Option<Order> {
        let is_gone = self.destruction == Some(Destruction::Last) && !self.creates;
        match (self.destruction, user.destruction) {
            (Some(_), Some(_)) => Some(Order::AfterDestruction),
            (None, Some(Destruction::First)) if self.creates => Some(Order::AfterDestruction),
            _ if is_gone && user.creates => Some(Order::AfterChange),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    AfterChange,
    AfterDestruction,
}

/// What has to be done before: what the block refers to, and what the dependencies in the state ask for.
pub fn waits(index: &Index<'_>, found: &IndexedChange<'_>) -> Vec<Wait> {
    let (addr, work) = (&found.change.addr, Work::of(index, found));
    let needs = if work.creates && found.is_pending() { needs_of_object(index, found) } else { Vec::new() };
    let mut waits = Vec::new();
    for need in needs.iter().filter(|need| need.object.is_pending()) {
        let of = need.object;
        waits.push(Wait {
            addr: of.change.addr.clone(),
            change: of.summary(),
            is_destruction: false,
            place: Some(need.place.clone()),
        });
    }
    if found.deferred.is_some() {
        return waits;
    }
    let (block, used) = (addr.config(), used_blocks(index, found, &needs));
    let named: BTreeSet<_> =
        needs.iter().filter(|need| need.object.is_pending()).map(|need| &need.object.change.addr).collect();
    for other in index.all() {
        let module = &other.change.addr.module;
        // Instances of one module do not depend on each other.
        let is_beside = module.module() != addr.module.module() || *module == addr.module;
        if other.deferred.is_some() || !is_beside || other.change.addr == *addr || named.contains(&other.change.addr) {
            continue;
        }
        let place = used.get(&other.change.addr.config());
        let after_used = place.and_then(|_| work.waits_for_used(Work::of(index, &other)));
        let is_user = index.dependencies_in_state(&other).contains(&block);
        let after_user = Some(()).filter(|()| is_user).and_then(|()| work.waits_for_user(Work::of(index, &other)));
        if let Some(order) = after_used.or(after_user) {
            waits.push(Wait {
                addr: other.change.addr.clone(),
                change: other.summary(),
                is_destruction: order == Order::AfterDestruction,
                place: place.cloned().flatten(),
            });
        }
    }
    waits
}

/// The blocks that an object depends on, and the references to them: as the state says; for an object that is not there yet, as
/// the configuration says.
fn used_blocks(
    index: &Index<'_>,
    found: &IndexedChange<'_>,
    needs: &[Need<'_>],
) -> BTreeMap<ConfigResource, Option<Range>> {
    let mut used: BTreeMap<ConfigResource, Option<Range>> = BTreeMap::new();
    for need in needs {
        used.entry(need.object.change.addr.config()).or_insert_with(|| Some(need.place.clone()));
    }
    if index.is_in_state(found) {
        for block in index.dependencies_in_state(found) {
            used.entry(block.clone()).or_default();
        }
        return used;
    }
    let mut open: Vec<IndexedChange<'_>> = needs.iter().map(|need| need.object).collect();
    while let Some(next) = open.pop() {
        for need in needs_of_object(index, &next) {
            if let Entry::Vacant(free) = used.entry(need.object.change.addr.config()) {
                free.insert(None);
                open.push(need.object);
            }
        }
    }
    used
}
