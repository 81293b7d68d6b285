//! The order of runs within a file, which of them are skipped, and the order in which their states are destroyed. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::interface::testing::TestStatus;

/// What the order depends on.
#[derive(Clone, Debug, Default)]
pub struct OrderedRun {
    pub state_key: String,
    pub is_parallel: bool,
    /// Earlier runs that it refers to, also through variables of the file and provider blocks.
    pub references: BTreeSet<usize>,
}

/// The runs that each run waits for: every earlier one, unless both may run beside others and have different states; and those that it
/// refers to.
pub fn predecessors(runs: &[OrderedRun]) -> Vec<BTreeSet<usize>> {
    let of_run = |(index, run): (usize, &OrderedRun)| {
        let waits_for = |(other, earlier): (usize, &OrderedRun)| {
            let is_beside = run.is_parallel && earlier.is_parallel && run.state_key != earlier.state_key;
            (!is_beside || run.references.contains(&other)).then_some(other)
        };
        runs[..index].iter().enumerate().filter_map(waits_for).collect()
    };
    runs.iter().enumerate().map(of_run).collect()
}

/// Selected runs with those that they need: what they refer to, and the earlier runs of the same state.
pub fn with_needed(runs: &[OrderedRun], selected: BTreeSet<usize>) -> BTreeSet<usize> {
    let mut all = selected;
    for index in (0..runs.len()).rev() {
        if all.contains(&index) {
            let same_state = (0..index).filter(|earlier| runs[*earlier].state_key == runs[index].state_key);
            let needed: Vec<usize> = same_state.chain(runs[index].references.iter().copied()).collect();
            all.extend(needed);
        }
    }
    all
}

/// Whether a run is executed, by the status of those that it waits for.
pub fn is_ready<'a>(predecessors: impl IntoIterator<Item = &'a TestStatus>) -> bool {
    predecessors.into_iter().all(|status| matches!(status, TestStatus::Pass | TestStatus::Fail))
}

/// A state to be destroyed, and the states that are destroyed before it: those whose runs may use its objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeardownStep {
    pub key: String,
    pub after: BTreeSet<String>,
}

/// The states in an order in which they can be destroyed: a state goes before those that its last run waited for, or would use the
/// objects of. Of states that need each other, the one with the later last run goes first. `last`: by key, the run that counts as its
/// last one.
pub fn teardown(runs: &[OrderedRun], last: &BTreeMap<String, usize>) -> Vec<TeardownStep> {
    let waits = transitive(predecessors(runs));
    let mut keys: Vec<(&String, usize)> = last.iter().map(|(key, index)| (key, *index)).collect();
    keys.sort_by_key(|(_, index)| std::cmp::Reverse(*index));
    let mut after: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (key, index) in &keys {
        let needed: BTreeSet<&String> = waits[*index].iter().map(|earlier| &runs[*earlier].state_key).collect();
        for other in needed.into_iter().filter(|other| other != key && last.contains_key(*other)) {
            if !goes_after(&after, key, other) {
                after.entry(other.clone()).or_default().insert((*key).clone());
            }
        }
    }
    sorted(keys.into_iter().map(|(key, _)| key.clone()).collect(), after)
}

/// Whether a state follows another one, directly or not.
fn goes_after(after: &BTreeMap<String, BTreeSet<String>>, key: &str, other: &str) -> bool {
    let follows = |earlier: &String| earlier == other || goes_after(after, earlier, other);
    after.get(key).is_some_and(|before| before.iter().any(follows))
}

/// With the runs that those wait for.
fn transitive(mut waits: Vec<BTreeSet<usize>>) -> Vec<BTreeSet<usize>> {
    for index in 0..waits.len() {
        let more: BTreeSet<usize> = waits[index].iter().flat_map(|earlier| waits[*earlier].clone()).collect();
        waits[index].extend(more);
    }
    waits
}

/// Steps in an order in which each stands behind those that it waits for; otherwise in the order of `keys`.
fn sorted(keys: Vec<String>, mut after: BTreeMap<String, BTreeSet<String>>) -> Vec<TeardownStep> {
    let mut steps: Vec<TeardownStep> = Vec::with_capacity(keys.len());
    let mut waiting = keys;
    while !waiting.is_empty() {
        let is_ready = |key: &String| {
            after.get(key).is_none_or(|before| before.iter().all(|other| steps.iter().any(|step| step.key == *other)))
        };
        let next = waiting.iter().position(is_ready).unwrap_or(0);
        let key = waiting.remove(next);
        let before = after.remove(&key).unwrap_or_default();
        steps.push(TeardownStep { key, after: before });
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(key: &str, is_parallel: bool, references: &[usize]) -> OrderedRun {
        OrderedRun { state_key: key.into(), is_parallel, references: references.iter().copied().collect() }
    }

    #[test]
    fn runs_wait_for_earlier_ones_unless_both_are_parallel() {
        let cases: [(&str, Vec<OrderedRun>, Vec<Vec<usize>>); 4] = [
            ("one after the other", vec![run("", false, &[]), run("", false, &[])], vec![vec![], vec![0]]),
            ("different states", vec![run("a", true, &[]), run("b", true, &[])], vec![vec![], vec![]]),
            ("the same state", vec![run("a", true, &[]), run("a", true, &[])], vec![vec![], vec![0]]),
            (
                "a barrier and a reference",
                vec![run("a", true, &[]), run("b", true, &[0]), run("c", false, &[]), run("d", true, &[])],
                vec![vec![], vec![0], vec![0, 1], vec![2]],
            ),
        ];
        for (name, runs, expected) in cases {
            let found: Vec<Vec<usize>> = predecessors(&runs).into_iter().map(|set| set.into_iter().collect()).collect();
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn a_run_is_skipped_after_an_error_and_not_after_a_failure() {
        use TestStatus::*;
        assert!(is_ready([&Pass, &Fail]));
        assert!(!is_ready([&Pass, &Error]));
        assert!(!is_ready([&Skip]));
    }

    #[test]
    fn states_are_destroyed_before_those_that_they_need() {
        let none: &[usize] = &[];
        type Case<'a> = (&'a str, Vec<OrderedRun>, Vec<(&'a str, &'a str)>);
        let cases: Vec<Case<'_>> = vec![
            (
                "the reverse of the order of execution",
                vec![run("", false, none), run("setup", false, none), run("", false, none)],
                vec![("", ""), ("setup", "")],
            ),
            ("states beside each other", vec![run("a", true, none), run("b", true, none)], vec![("b", ""), ("a", "")]),
            (
                "a state that is needed, and written again by a run that needs nothing",
                vec![run("net", true, none), run("app", true, &[0]), run("net", true, none)],
                vec![("app", ""), ("net", "app")],
            ),
            (
                "a state that others need, which need each other",
                vec![
                    run("b", true, none),
                    run("a", false, none),
                    run("c", true, none),
                    run("b", true, none),
                    run("d", true, &[0]),
                ],
                vec![("d", ""), ("c", ""), ("b", "c d"), ("a", "b c d")],
            ),
            (
                "three in a row",
                vec![run("a", false, none), run("b", false, none), run("c", false, none)],
                vec![("c", ""), ("b", "c"), ("a", "b c")],
            ),
        ];
        for (name, runs, expected) in cases {
            let mut last = BTreeMap::new();
            for (index, run) in runs.iter().enumerate() {
                last.insert(run.state_key.clone(), index);
            }
            let steps = teardown(&runs, &last);
            let shown: Vec<(String, String)> = steps
                .iter()
                .map(|step| (step.key.clone(), step.after.iter().cloned().collect::<Vec<_>>().join(" ")))
                .collect();
            let expected: Vec<(String, String)> =
                expected.into_iter().map(|(key, after)| (key.to_owned(), after.to_owned())).collect();
            assert_eq!(shown, expected, "{name}");
        }
    }
}
