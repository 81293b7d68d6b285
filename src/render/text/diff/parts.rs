//! What comparing by a schema and comparing by values have in common: elements, keys, what is hidden.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::plan::Action;

use super::change::Change;
use super::slices::Pairs;
use super::{Diff, Kind};

pub(super) fn elements<'p>(change: &Change<'p>, pairs: Pairs, mut one: impl FnMut(Change<'p>) -> Diff) -> Vec<Diff> {
    pairs.into_iter().map(|(b, a)| one(change.element(b, a, false))).collect()
}

pub(super) fn keys(change: &Change<'_>) -> BTreeSet<Arc<str>> {
    change.before.entries().keys().chain(change.after.entries().keys()).cloned().collect()
}

/// The difference of a change that is sensitive on either side; `again` compares what is hidden.
pub(super) fn sensitive<'p>(change: &Change<'p>, again: impl FnOnce(Change<'p>) -> Diff) -> Option<Diff> {
    let (before, after) = change.sensitive();
    if !before && !after {
        return None;
    }
    let inner = again(change.without_sensitive());
    let absent = change.both_nil() && !change.before_explicit && !change.after_explicit;
    let changed_marks = inner.action == Action::NoOp && before != after && !absent;
    let action = if changed_marks { Action::Update } else { inner.action };
    let kind = Kind::Sensitive { inner: Box::new(inner), before, after };
    Some(Diff { kind, action, replace: change.replaces() })
}
