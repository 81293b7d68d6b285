//! The order of a set's elements.
//!
//! Owns the order that sets iterate in, which is visible in every output: strings by bytes, numbers by value, false
//! before true, all else by a text that the reference hashes elements with. Unknown elements come after the known ones,
//! nulls last. Observed on cty 1.16.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use super::{Type, Value};

/// Sorts elements of one type, unmarked, and drops duplicates. Unknown elements equal nothing, so they all stay.
pub(super) fn sort_elements(ty: &Type, elements: &mut Vec<Value>) {
    if elements.len() < 2 {
        return;
    }
    if ty.is_primitive() {
        elements.sort_by(primitive_order);
        elements.dedup_by(|b, a| b.is_known() && a == b);
        return;
    }
    let mut keyed: Vec<(u8, String, Value)> = elements
        .drain(..)
        .map(|v| {
            let mut key = String::new();
            write_hash(&v, Digits::Ten, &mut key);
            (rank(&v), key, v)
        })
        .collect();
    keyed.sort_by(|a, b| (a.0, a.1.as_bytes()).cmp(&(b.0, b.1.as_bytes())));
    let mut last: Option<(u8, String)> = None;
    let mut run = Run::default();
    for (rank, key, value) in keyed {
        if last.as_ref().is_none_or(|(last_rank, last_key)| (*last_rank, last_key) != (rank, &key)) {
            run = Run { start: elements.len(), by_digits: FxHashMap::default() };
            last = Some((rank, key));
        }
        if value.is_wholly_known() && run.contains(elements, &value) {
            continue;
        }
        elements.push(value);
    }
}

/// The elements with one key. Equal elements have equal keys, but not the reverse: numbers are cut to ten digits.
#[derive(Default)]
struct Run {
    start: usize,
    /// Positions in the run by texts with all digits, once there are several elements.
    by_digits: FxHashMap<String, Vec<usize>>,
}

impl Run {
    /// Whether the element is in the run, which is then about to get it.
    fn contains(&mut self, elements: &[Value], element: &Value) -> bool {
        if self.start == elements.len() {
            return false;
        }
        if self.by_digits.is_empty() {
            self.by_digits.entry(digits_key(&elements[self.start])).or_default().push(self.start);
        }
        let alike = self.by_digits.entry(digits_key(element)).or_default();
        let found = alike.iter().any(|at| elements[*at] == *element);
        if !found {
            alike.push(elements.len());
        }
        found
    }
}

/// 0: known, 1: unknown, 2: null.
fn rank(value: &Value) -> u8 {
    if !value.is_known() {
        1
    } else if value.is_null() {
        2
    } else {
        0
    }
}

fn primitive_order(a: &Value, b: &Value) -> Ordering {
    rank(a).cmp(&rank(b)).then_with(|| match (a.as_str(), b.as_str()) {
        (Some(a), Some(b)) => a.cmp(b),
        _ => match (a.as_number(), b.as_number()) {
            (Some(a), Some(b)) => a.total_cmp(b),
            _ => a.as_bool().cmp(&b.as_bool()),
        },
    })
}

/// The order of two elements of one set.
pub fn element_order(a: &Value, b: &Value) -> Ordering {
    if a.ty().is_primitive() && b.ty().is_primitive() {
        return primitive_order(a, b);
    }
    let (mut x, mut y) = (String::new(), String::new());
    write_hash(a, Digits::Ten, &mut x);
    write_hash(b, Digits::Ten, &mut y);
    rank(a).cmp(&rank(b)).then_with(|| x.cmp(&y))
}

/// As [`hash_key`], with all digits of numbers.
fn digits_key(value: &Value) -> String {
    let mut key = String::new();
    write_hash(value, Digits::All, &mut key);
    key
}

/// How many digits of a number are in a text.
#[derive(Clone, Copy)]
enum Digits {
    Ten,
    All,
}

/// A text that equal values of one type share, and that (but for numbers of many digits) others do not have.
pub fn hash_key(value: &Value) -> String {
    let mut key = String::new();
    write_hash(value, Digits::Ten, &mut key);
    key
}

fn write_hash(value: &Value, digits: Digits, out: &mut String) {
    if !value.is_known() {
        out.push('?');
    } else if value.is_null() {
        out.push('~');
    } else if let Some(text) = value.as_str() {
        super::text::write_go_quoted(text, out);
    } else if let Some(n) = value.as_number() {
        match digits {
            Digits::Ten => out.push_str(&n.to_general_text(10)),
            Digits::All => out.push_str(&n.to_string()),
        }
    } else if let Some(b) = value.as_bool() {
        out.push(if b { 'T' } else { 'F' });
    } else {
        write_compound_hash(value, digits, out);
    }
}

fn write_compound_hash(value: &Value, digits: Digits, out: &mut String) {
    match value.ty() {
        Type::List(_) | Type::Set(_) => {
            out.push('[');
            for element in value.elements() {
                write_hash(element, digits, out);
                out.push(';');
            }
            out.push(']');
        }
        Type::Tuple(_) => {
            out.push('<');
            for element in value.elements() {
                write_hash(element, digits, out);
                out.push(';');
            }
            out.push('>');
        }
        Type::Map(_) => {
            out.push('{');
            for (key, element) in value.entries() {
                super::text::write_go_quoted(key, out);
                out.push(':');
                write_hash(element, digits, out);
                out.push(';');
            }
            out.push('}');
        }
        _ => {
            out.push('<');
            for element in value.entries().values() {
                write_hash(element, digits, out);
                out.push(';');
            }
            out.push('>');
        }
    }
}
