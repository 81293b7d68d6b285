//! The entries of a map or an object: in the order of their names, without room for more.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::{FusedIterator, Map};
use std::ops::Index;
use std::slice::Iter;
use std::sync::Arc;

use super::Value;

type Entry = (Arc<str>, Value);

/// Names with their values, ordered by name. Immutable; [`Entries::to_map`] is a copy that can be changed.
#[derive(Default, PartialEq)]
pub struct Entries(Box<[Entry]>);

impl Entries {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.0.binary_search_by(|(other, _)| (**other).cmp(name)).ok()
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.position(name).map(|at| &self.0[at].1)
    }

    /// As [`Entries::get`], with the name as it is stored here.
    pub fn get_key_value(&self, name: &str) -> Option<(&Arc<str>, &Value)> {
        self.position(name).map(|at| split_entry(&self.0[at]))
    }

    pub fn contains_key(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    pub fn iter(&self) -> Map<Iter<'_, Entry>, fn(&Entry) -> (&Arc<str>, &Value)> {
        self.0.iter().map(split_entry)
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Arc<str>> + ExactSizeIterator + FusedIterator + Clone {
        self.0.iter().map(|(name, _)| name)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator + FusedIterator + Clone {
        self.0.iter().map(|(_, value)| value)
    }

    pub fn to_map(&self) -> BTreeMap<Arc<str>, Value> {
        self.0.iter().cloned().collect()
    }
}

fn split_entry((name, value): &Entry) -> (&Arc<str>, &Value) {
    (name, value)
}

impl From<BTreeMap<Arc<str>, Value>> for Entries {
    fn from(map: BTreeMap<Arc<str>, Value>) -> Entries {
        Entries(map.into_iter().collect())
    }
}

/// Of entries with the same name, the last one counts.
impl FromIterator<Entry> for Entries {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Entries {
        let mut entries: Vec<Entry> = entries.into_iter().collect();
        if !entries.is_sorted_by(|(a, _), (b, _)| a < b) {
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            entries.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    std::mem::swap(later, earlier);
                }
                same
            });
        }
        Entries(entries.into_boxed_slice())
    }
}

impl<'e> IntoIterator for &'e Entries {
    type Item = (&'e Arc<str>, &'e Value);
    type IntoIter = Map<Iter<'e, Entry>, fn(&Entry) -> (&Arc<str>, &Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Index<&str> for Entries {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        self.get(name).unwrap_or_else(|| panic!("no entry {name:?}"))
    }
}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(list: &[(&str, i64)]) -> Entries {
        list.iter().map(|(name, number)| (Arc::from(*name), Value::int(*number))).collect()
    }

    #[test]
    fn entries_are_ordered_and_the_last_of_a_name_counts() {
        let cases: [(&[(&str, i64)], &[(&str, i64)]); 5] = [
            (&[], &[]),
            (&[("b", 1), ("a", 2)], &[("a", 2), ("b", 1)]),
            (&[("a", 1), ("a", 2), ("a", 3)], &[("a", 3)]),
            (&[("b", 1), ("a", 2), ("b", 3), ("a", 4), ("c", 5)], &[("a", 4), ("b", 3), ("c", 5)]),
            (&[("a", 1), ("b", 2), ("b", 3)], &[("a", 1), ("b", 3)]),
        ];
        for (given, expected) in cases {
            let found = entries(given);
            let found: Vec<(&str, &Value)> = found.iter().map(|(name, value)| (&**name, value)).collect();
            let expected: Vec<(&str, Value)> = expected.iter().map(|(name, n)| (*name, Value::int(*n))).collect();
            assert_eq!(found, expected.iter().map(|(name, value)| (*name, value)).collect::<Vec<_>>(), "{given:?}");
        }
    }

    #[test]
    fn entries_are_found_by_name() {
        let found = entries(&[("b", 1), ("a", 2), ("d", 3)]);
        assert_eq!(found.get("a"), Some(&Value::int(2)));
        assert_eq!(found.get("d"), Some(&Value::int(3)));
        assert_eq!((found.get("c"), found.get(""), found.contains_key("b")), (None, None, true));
        assert_eq!(found.to_map().into_keys().collect::<Vec<_>>(), ["a".into(), "b".into(), "d".into()]);
    }

    /// Large configurations hold millions of values.
    #[test]
    fn a_value_is_small() {
        assert!(size_of::<Value>() <= 32, "{}", size_of::<Value>());
    }
}
