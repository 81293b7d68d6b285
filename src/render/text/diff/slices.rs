//! Pairing the elements of two sequences.

use std::collections::VecDeque;
use std::hash::Hash;

use base::dialect::Dialect;
use rustc_hash::{FxHashMap, FxHashSet};
use terrane_value::Value;

use super::change::{Change, Comparable};
use crate::opentofu;

/// Indices before and after of each pair, in the order in which they are shown.
pub(super) type Pairs = Vec<(Option<usize>, Option<usize>)>;

/// Pairs two lists. Lists of one length are compared index by index, unless every element of the first is found in the
/// second; others, and in some dialects all lists, by their longest common subsequence. Elements that stand opposite each
/// other between common elements are taken for changed versions of one another if `are_versions` says so. `key`: equal for
/// elements that are the same.
pub(super) fn pair_lists<'t, T, K: Hash + Eq>(
    dialect: Dialect,
    before: &'t [T],
    after: &'t [T],
    key: impl Fn(&'t T) -> K,
    are_versions: impl Fn(&T, &T) -> bool,
) -> Pairs {
    let (old, new) = numbered(before.iter().map(&key), after.iter().map(&key));
    if old.len() == new.len() && opentofu::pairs_lists_by_index(dialect) && !contains_all(&new, &old) {
        return pair_indices(old.len(), new.len());
    }
    let common = longest_common(&old, &new);
    let mut pairs = Pairs::new();
    let (mut b, mut a, mut c) = (0, 0, 0);
    while b < old.len() || a < new.len() || c < common.len() {
        while b < old.len() && common.get(c).is_none_or(|(i, _)| old[b] != old[*i]) {
            let opposite = after.get(a).is_some_and(|after| are_versions(&before[b], after))
                && common.get(c).is_none_or(|(_, j)| new[a] != new[*j]);
            pairs.push((Some(b), opposite.then_some(a)));
            b += 1;
            a += usize::from(opposite);
        }
        while a < new.len() && common.get(c).is_none_or(|(_, j)| new[a] != new[*j]) {
            pairs.push((None, Some(a)));
            a += 1;
        }
        if c < common.len() {
            pairs.push((Some(b), Some(a)));
            (b, a, c) = (b + 1, a + 1, c + 1);
        }
    }
    pairs
}

/// A number for each key of two lists; keys that are equal have the same number.
fn numbered<K: Hash + Eq>(before: impl Iterator<Item = K>, after: impl Iterator<Item = K>) -> (Vec<u32>, Vec<u32>) {
    let mut known: FxHashMap<K, u32> = FxHashMap::default();
    let mut number = |key| {
        let next = known.len() as u32;
        *known.entry(key).or_insert(next)
    };
    let before = before.map(&mut number).collect();
    (before, after.map(number).collect())
}

fn contains_all(list: &[u32], wanted: &[u32]) -> bool {
    let present: FxHashSet<&u32> = list.iter().collect();
    wanted.iter().all(|number| present.contains(number))
}

/// Texts that are taken for versions of one text.
pub(super) fn share_a_line(dialect: Dialect, before: &Value, after: &Value) -> bool {
    let (Some(before), Some(after)) = (before.as_str(), after.as_str()) else { return false };
    let is_multi_line = before.contains('\n') || after.contains('\n');
    let is_shared = |line: &str| after.split('\n').any(|other| other == line);
    opentofu::pairs_similar_texts(dialect) && is_multi_line && before.split('\n').any(is_shared)
}

pub(super) fn pair_indices(before: usize, after: usize) -> Pairs {
    (0..before.max(after)).map(|i| ((i < before).then_some(i), (i < after).then_some(i))).collect()
}

/// Pairs two sets: equal elements meet, the others stand alone.
#[allow(clippy::mutable_key_type, reason = "the cells of values only keep their types")]
pub(super) fn pair_sets(change: &Change<'_>) -> Pairs {
    let (before, after) = (change.before.elements(), change.after.elements());
    let mut places: FxHashMap<Comparable<'_>, VecDeque<usize>> = FxHashMap::default();
    for (j, element) in after.iter().enumerate().filter(|(_, element)| element.is_known()) {
        places.entry(Comparable(element)).or_default().push_back(j);
    }
    let mut taken = vec![false; after.len()];
    let mut pairs = Pairs::new();
    for (i, element) in before.iter().enumerate() {
        let found = places.get_mut(&Comparable(element)).and_then(VecDeque::pop_front);
        if let Some(j) = found {
            taken[j] = true;
        }
        pairs.push((Some(i), found));
    }
    pairs.extend(taken.iter().enumerate().filter(|(_, taken)| !**taken).map(|(j, _)| (None, Some(j))));
    pairs
}

/// Index pairs of a longest common subsequence. Equal ends are cut off first, so that the table is small where little
/// changed.
fn longest_common(before: &[u32], after: &[u32]) -> Vec<(usize, usize)> {
    let prefix = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (rest_b, rest_a) = (&before[prefix..], &after[prefix..]);
    let suffix = rest_b.iter().rev().zip(rest_a.iter().rev()).take_while(|(a, b)| a == b).count();
    let (mid_b, mid_a) = (&rest_b[..rest_b.len() - suffix], &rest_a[..rest_a.len() - suffix]);
    let mut common: Vec<(usize, usize)> = (0..prefix).map(|i| (i, i)).collect();
    // A larger table would cost more than it is worth to a reader.
    if mid_b.len().saturating_mul(mid_a.len()) <= 4_000_000 {
        common.extend(table_walk(mid_b, mid_a).into_iter().map(|(b, a)| (prefix + b, prefix + a)));
    }
    common.extend((0..suffix).rev().map(|i| (before.len() - 1 - i, after.len() - 1 - i)));
    common
}

/// The longest common subsequence by dynamic programming. Of several, the one that a walk from the end of both finds which
/// goes back in `after` where either way is as long.
fn table_walk(before: &[u32], after: &[u32]) -> Vec<(usize, usize)> {
    let width = after.len() + 1;
    let mut lengths = vec![0u32; (before.len() + 1) * width];
    for (i, old) in before.iter().enumerate() {
        for (j, new) in after.iter().enumerate() {
            lengths[(i + 1) * width + j + 1] = match old == new {
                true => lengths[i * width + j] + 1,
                false => lengths[i * width + j + 1].max(lengths[(i + 1) * width + j]),
            };
        }
    }
    let mut common = Vec::new();
    let (mut i, mut j) = (before.len(), after.len());
    while i > 0 && j > 0 {
        if before[i - 1] == after[j - 1] {
            (i, j) = (i - 1, j - 1);
            common.push((i, j));
        } else if lengths[(i - 1) * width + j] > lengths[i * width + j - 1] {
            i -= 1;
        } else {
            j -= 1;
        }
    }
    common.reverse();
    common
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::hash::Hasher;

    use super::*;

    #[test]
    fn pairs_by_index_or_by_longest_common_subsequence() {
        let values = |text: &str| text.chars().map(|c| Value::string(c.to_string())).collect::<Vec<_>>();
        let cases = [
            ("abc", "ac", vec![(Some(0), Some(0)), (Some(1), None), (Some(2), Some(1))]),
            ("ab", "xab", vec![(None, Some(0)), (Some(0), Some(1)), (Some(1), Some(2))]),
            ("a", "b", vec![(Some(0), Some(0))]),
            ("abc", "axc", vec![(Some(0), Some(0)), (Some(1), Some(1)), (Some(2), Some(2))]),
            ("ab", "ba", vec![(Some(0), None), (Some(1), Some(0)), (None, Some(1))]),
        ];
        for (before, after, expected) in cases {
            assert_eq!(
                pair_lists(Dialect::default(), &values(before), &values(after), Comparable, |_, _| false),
                expected,
                "{before} {after}"
            );
        }
        assert_eq!(
            pair_lists(Dialect::default(), &values("ab"), &values("c"), Comparable, |_, _| true),
            vec![(Some(0), Some(0)), (Some(1), None)]
        );
    }

    /// A number that counts how often it is compared.
    struct Counted<'c>(usize, &'c Cell<usize>);

    impl PartialEq for Counted<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.1.set(self.1.get() + 1);
            self.0 == other.0
        }
    }

    impl Eq for Counted<'_> {}

    impl Hash for Counted<'_> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    #[test]
    fn elements_are_not_compared_with_every_other() {
        let n = 1000;
        let before: Vec<usize> = (0..n).collect();
        let same = before.clone();
        let reordered: Vec<usize> = (0..n).rev().collect();
        let other: Vec<usize> = (n..2 * n).collect();
        for after in [&same, &reordered, &other] {
            let compared = Cell::new(0);
            pair_lists(Dialect::default(), &before, after, |element| Counted(*element, &compared), |_, _| false);
            assert!(compared.get() <= 2 * n, "{}", compared.get());
        }
    }

    #[test]
    fn equal_elements_of_sets_meet_once() {
        let set = |texts: &[&str]| Value::tuple(texts.iter().map(Value::string).collect());
        let (before, after) = (set(&["a", "b", "b"]), set(&["b", "c", "a"]));
        let pairs = pair_sets(&Change::root(&before, &after, &[], Dialect::default()));
        assert_eq!(pairs, [(Some(0), Some(2)), (Some(1), Some(0)), (Some(2), None), (None, Some(1))]);
    }
}
