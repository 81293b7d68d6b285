//! The order in which the changes of a destroy are reported: dependents before what they depend on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Mode, Plan, ResourceChange};
use crate::addr::ConfigResource;

impl Plan {
    /// The changes in the order of reports that have one message for each: in a destroy, objects come before those that they
    /// depend on by the state; others are sorted by address.
    pub fn reported_changes(&self) -> Vec<&ResourceChange> {
        if self.scope.mode != Mode::Destroy {
            return self.changes.iter().collect();
        }
        let dependencies = |change: &ResourceChange| -> Arc<[ConfigResource]> {
            let instance = self.prior_state.instance(&change.addr);
            let object = instance.and_then(|instance| match &change.deposed {
                Some(key) => instance.deposed.get(key),
                None => instance.current.as_ref(),
            });
            object.map_or_else(Default::default, |object| object.dependencies.clone())
        };
        let items: Vec<_> = self.changes.iter().map(|change| (change.addr.config(), dependencies(change))).collect();
        dependents_first(&items).into_iter().map(|i| &self.changes[i]).collect()
    }
}

/// The indices of items, each a name with the names that it depends on, so that dependents come first. Items that do not
/// depend on each other keep their order; those of a cycle come last.
fn dependents_first<K: Ord>(items: &[(K, Arc<[K]>)]) -> Vec<usize> {
    let mut groups: BTreeMap<&K, (Vec<usize>, BTreeSet<&K>)> = BTreeMap::new();
    for (i, (name, dependencies)) in items.iter().enumerate() {
        let (members, needed) = groups.entry(name).or_default();
        members.push(i);
        needed.extend(dependencies.iter().filter(|needed| *needed != name));
    }
    let mut dependents: BTreeMap<&K, usize> = BTreeMap::new();
    for needed in groups.values().flat_map(|(_, needed)| needed) {
        *dependents.entry(needed).or_default() += 1;
    }
    let first = |name: &K| groups.get(name).map(|(members, _)| members[0]);
    let mut ready: BTreeSet<usize> =
        groups.keys().filter(|name| !dependents.contains_key(*name)).filter_map(|name| first(name)).collect();
    let mut order = Vec::new();
    while let Some(next) = ready.pop_first() {
        let Some((members, needed)) = groups.get(&items[next].0) else { continue };
        order.extend(members);
        for needed in needed {
            let left = dependents.entry(needed).or_default();
            *left = left.saturating_sub(1);
            if *left == 0 {
                ready.extend(first(needed));
            }
        }
    }
    let placed: BTreeSet<usize> = order.iter().copied().collect();
    order.extend((0..items.len()).filter(|i| !placed.contains(i)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(items: &[(&str, &[&str])], expected: &[usize]) {
        let items: Vec<(&str, Arc<[&str]>)> = items.iter().map(|(name, needed)| (*name, Arc::from(*needed))).collect();
        assert_eq!(dependents_first(&items), expected, "{items:?}");
    }

    #[test]
    fn dependents_come_before_what_they_depend_on() {
        check(&[("a", &[]), ("b", &["a"]), ("c", &["a", "b"])], &[2, 1, 0]);
        check(&[("a", &[]), ("b", &[]), ("c", &[])], &[0, 1, 2]);
        check(&[("a", &[]), ("b", &["c", "gone"]), ("c", &[]), ("c", &["c"])], &[0, 1, 2, 3]);
        check(&[("a", &["b"]), ("b", &["a"]), ("c", &[])], &[2, 0, 1]);
    }
}
