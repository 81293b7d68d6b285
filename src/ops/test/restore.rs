//! What becomes of the states of a file at its end: which are destroyed, which are kept, and which are brought back first. Pure.

use std::collections::BTreeMap;

use super::kept::Reason;
use crate::interface::testing::Cleanup;

/// The run that asks to keep a state: of several, the last that was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keeper {
    pub run: usize,
    /// Its apply came to an end without errors.
    pub is_whole: bool,
}

/// What is known of a state at the end of its file.
#[derive(Clone, Copy, Debug, Default)]
pub struct StateFacts {
    pub has_objects: bool,
    /// The run that wrote it last.
    pub last_run: Option<usize>,
    pub keeper: Option<Keeper>,
}

/// What is done with a state. The number is the position of the run whose configuration and values are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposal {
    /// There is nothing to do.
    Nothing,
    Destroy(usize),
    /// It stays as it is.
    Keep(usize, Reason),
    /// It is brought back to what a run made of it.
    Restore(usize),
}

/// What is done with a state after the runs of its file.
pub fn after_runs(facts: StateFacts) -> Disposal {
    match (facts.keeper, facts.last_run) {
        (Some(keeper), Some(last)) if last != keeper.run => Disposal::Restore(keeper.run),
        (Some(keeper), _) if facts.has_objects => {
            let reason = if keeper.is_whole { Reason::SkipCleanup } else { Reason::Error };
            Disposal::Keep(keeper.run, reason)
        }
        (None, Some(last)) if facts.has_objects => Disposal::Destroy(last),
        _ => Disposal::Nothing,
    }
}

/// What `test cleanup` does with a state that was kept for a reason. `last_run`: the run whose configuration destroys it; `keeper`: the
/// run of the file that asks to keep it.
pub fn in_cleanup(cleanup: Cleanup, reason: Reason, facts: StateFacts) -> Disposal {
    let keeper = facts.keeper.map(|keeper| keeper.run);
    match (cleanup.repair, reason, keeper, facts.last_run) {
        (true, Reason::SkipCleanup, Some(keeper), _) => Disposal::Restore(keeper),
        // No run of the file asks for it any more.
        (true, Reason::SkipCleanup, None, Some(last)) => Disposal::Keep(last, Reason::SkipCleanup),
        (_, Reason::SkipCleanup, Some(keeper), _) if facts.has_objects => Disposal::Destroy(keeper),
        (true, Reason::Dependency, ..) => Disposal::Nothing,
        (_, _, _, Some(last)) if facts.has_objects => Disposal::Destroy(last),
        _ => Disposal::Nothing,
    }
}

/// Why each state of a file is kept: as soon as objects of one are left, the others are kept for their outputs, which its cleanup may
/// need. `ended`: by state key, why it is kept, if it is.
pub fn reasons(ended: &BTreeMap<String, Option<Reason>>) -> BTreeMap<String, Option<Reason>> {
    let has_left = ended.values().any(|reason| matches!(reason, Some(Reason::SkipCleanup | Reason::Error)));
    let of_key = |(key, reason): (&String, &Option<Reason>)| {
        let is_needed = has_left && !matches!(reason, Some(Reason::SkipCleanup | Reason::Error));
        (key.clone(), if is_needed { Some(Reason::Dependency) } else { *reason }.filter(|_| has_left))
    };
    ended.iter().map(of_key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(has_objects: bool, last_run: Option<usize>, keeper: Option<(usize, bool)>) -> StateFacts {
        let keeper = keeper.map(|(run, is_whole)| Keeper { run, is_whole });
        StateFacts { has_objects, last_run, keeper }
    }

    #[test]
    fn kept_states_are_restored_if_later_runs_changed_them() {
        let cases = [
            (facts(true, Some(1), None), Disposal::Destroy(1)),
            (facts(false, Some(1), None), Disposal::Nothing),
            (facts(false, None, None), Disposal::Nothing),
            (facts(true, Some(1), Some((1, true))), Disposal::Keep(1, Reason::SkipCleanup)),
            (facts(true, Some(1), Some((1, false))), Disposal::Keep(1, Reason::Error)),
            (facts(false, Some(1), Some((1, true))), Disposal::Nothing),
            (facts(true, Some(2), Some((1, true))), Disposal::Restore(1)),
            (facts(false, Some(2), Some((1, true))), Disposal::Restore(1)),
        ];
        for (facts, expected) in cases {
            assert_eq!(after_runs(facts), expected, "{facts:?}");
        }
    }

    #[test]
    fn repair_destroys_only_what_errors_left() {
        use Reason::{Dependency, Error, SkipCleanup};
        let kept = facts(true, Some(2), Some((1, true)));
        let other = facts(true, Some(2), None);
        let cases = [
            (false, SkipCleanup, kept, Disposal::Destroy(1)),
            (false, SkipCleanup, other, Disposal::Destroy(2)),
            (false, Error, kept, Disposal::Destroy(2)),
            (false, Dependency, other, Disposal::Destroy(2)),
            (false, Error, facts(false, Some(2), None), Disposal::Nothing),
            (true, SkipCleanup, kept, Disposal::Restore(1)),
            (true, SkipCleanup, other, Disposal::Keep(2, SkipCleanup)),
            (true, Error, kept, Disposal::Destroy(2)),
            (true, Dependency, other, Disposal::Nothing),
        ];
        for (repair, reason, facts, expected) in cases {
            assert_eq!(in_cleanup(Cleanup { repair }, reason, facts), expected, "{repair} {reason:?} {facts:?}");
        }
    }

    #[test]
    fn other_states_are_kept_beside_one_that_is_left() {
        use Reason::{Dependency, Error, SkipCleanup};
        let cases = [
            (vec![None, None], vec![None, None]),
            (vec![Some(Error), None], vec![Some(Error), Some(Dependency)]),
            (vec![None, Some(SkipCleanup)], vec![Some(Dependency), Some(SkipCleanup)]),
            (vec![Some(Dependency), None], vec![None, None]),
        ];
        for (ended, expected) in cases {
            let named = |list: &[Option<Reason>]| -> BTreeMap<String, Option<Reason>> {
                list.iter().enumerate().map(|(index, reason)| (index.to_string(), *reason)).collect()
            };
            assert_eq!(reasons(&named(&ended)), named(&expected), "{ended:?}");
        }
    }
}
