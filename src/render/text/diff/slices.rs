//! Pairing the elements of two sequences.

use super::change::{Change, same};
use crate::base::name;
use crate::lang::value::Value;

/// Indices before and after of each pair, in the order in which they are shown.
pub(super) type Pairs = Vec<(Option<usize>, Option<usize>)>;

/// Pairs two lists. Lists of one length are compared index by index, unless every element of the first is found in the
/// second; others, and all lists under OpenTofu's name, by their longest common subsequence. Elements that stand opposite each
/// other between common elements are taken for changed versions of one another if `are_versions` says so.
pub(super) fn pair_lists<T>(
    before: &[T],
    after: &[T],
    same: impl Fn(&T, &T) -> bool,
    are_versions: impl Fn(&T, &T) -> bool,
) -> Pairs {
    let reordered = || before.iter().all(|b| after.iter().any(|a| same(b, a)));
    if before.len() == after.len() && !name::is_opentofu() && !reordered() {
        return pair_indices(before.len(), after.len());
    }
    let common = longest_common(before, after, &same);
    let mut pairs = Pairs::new();
    let (mut b, mut a, mut c) = (0, 0, 0);
    while b < before.len() || a < after.len() || c < common.len() {
        while b < before.len() && common.get(c).is_none_or(|(i, _)| !same(&before[b], &before[*i])) {
            let opposite = after.get(a).is_some_and(|after| are_versions(&before[b], after))
                && common.get(c).is_none_or(|(_, j)| !same(&after[a], &after[*j]));
            pairs.push((Some(b), opposite.then_some(a)));
            b += 1;
            a += usize::from(opposite);
        }
        while a < after.len() && common.get(c).is_none_or(|(_, j)| !same(&after[a], &after[*j])) {
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

/// Texts that OpenTofu takes for versions of one text.
pub(super) fn share_a_line(before: &Value, after: &Value) -> bool {
    let (Some(before), Some(after)) = (before.as_str(), after.as_str()) else { return false };
    let is_multi_line = before.contains('\n') || after.contains('\n');
    let is_shared = |line: &str| after.split('\n').any(|other| other == line);
    name::is_opentofu() && is_multi_line && before.split('\n').any(is_shared)
}

pub(super) fn pair_indices(before: usize, after: usize) -> Pairs {
    (0..before.max(after)).map(|i| ((i < before).then_some(i), (i < after).then_some(i))).collect()
}

/// Pairs two sets: equal elements meet, the others stand alone.
pub(super) fn pair_sets(change: &Change<'_>) -> Pairs {
    let (before, after) = (change.before.elements(), change.after.elements());
    let mut taken = vec![false; after.len()];
    let mut pairs = Pairs::new();
    for (i, element) in before.iter().enumerate() {
        let meets = |j: &usize| !taken[*j] && after[*j].is_known() && same(element, &after[*j]);
        let found = (0..after.len()).find(meets);
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
fn longest_common<T>(before: &[T], after: &[T], same: impl Fn(&T, &T) -> bool) -> Vec<(usize, usize)> {
    let prefix = before.iter().zip(after).take_while(|(a, b)| same(a, b)).count();
    let (rest_b, rest_a) = (&before[prefix..], &after[prefix..]);
    let suffix = rest_b.iter().rev().zip(rest_a.iter().rev()).take_while(|(a, b)| same(a, b)).count();
    let (mid_b, mid_a) = (&rest_b[..rest_b.len() - suffix], &rest_a[..rest_a.len() - suffix]);
    let mut common: Vec<(usize, usize)> = (0..prefix).map(|i| (i, i)).collect();
    // A larger table would cost more than it is worth to a reader.
    if mid_b.len().saturating_mul(mid_a.len()) <= 4_000_000 {
        common.extend(table_walk(mid_b, mid_a, same).into_iter().map(|(b, a)| (prefix + b, prefix + a)));
    }
    common.extend((0..suffix).rev().map(|i| (before.len() - 1 - i, after.len() - 1 - i)));
    common
}

/// The longest common subsequence by dynamic programming. Of several, the one that a walk from the end of both finds which
/// goes back in `after` where either way is as long.
fn table_walk<T>(before: &[T], after: &[T], same: impl Fn(&T, &T) -> bool) -> Vec<(usize, usize)> {
    let width = after.len() + 1;
    let mut lengths = vec![0u32; (before.len() + 1) * width];
    let mut equal = vec![false; before.len() * after.len()];
    for (i, old) in before.iter().enumerate() {
        for (j, new) in after.iter().enumerate() {
            let is_equal = same(old, new);
            equal[i * after.len() + j] = is_equal;
            lengths[(i + 1) * width + j + 1] = match is_equal {
                true => lengths[i * width + j] + 1,
                false => lengths[i * width + j + 1].max(lengths[(i + 1) * width + j]),
            };
        }
    }
    let mut common = Vec::new();
    let (mut i, mut j) = (before.len(), after.len());
    while i > 0 && j > 0 {
        if equal[(i - 1) * after.len() + j - 1] {
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
            assert_eq!(pair_lists(&values(before), &values(after), same, |_, _| false), expected, "{before} {after}");
        }
        assert_eq!(
            pair_lists(&values("ab"), &values("c"), same, |_, _| true),
            vec![(Some(0), Some(0)), (Some(1), None)]
        );
    }
}
