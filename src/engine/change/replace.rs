//! The changed paths among those for which a provider requires replacement.

use rustc_hash::FxHashSet;
use terrane_protocol::schema::Block;
use terrane_value::{Path, PathStep, Value};

use super::Shape;

/// The paths among `requires_replace` whose values differ between prior and planned object. An unknown planned value
/// counts as a change. The second list holds paths that lead to a value in neither object: a bug of the provider.
/// Values of write-only attributes are in neither object, so the provider alone knows whether they changed.
pub fn changed_paths(
    requires_replace: &[Path],
    (prior, planned): (&Value, &Value),
    schema: &Block,
) -> (Vec<Path>, Vec<Path>) {
    let is_write_only = |path: &Path| Shape::Block(schema).attribute_at(path).is_some_and(|found| found.write_only);
    let (mut changed, mut invalid) = (Vec::new(), Vec::new());
    let mut known: FxHashSet<String> = FxHashSet::default();
    for path in requires_replace {
        let differs = match (at(prior, path), at(planned, path)) {
            // Nulls of different types are equal.
            (Some(before), Some(after)) if before.is_null() && after.is_null() => is_write_only(path),
            (Some(before), Some(after)) => !after.is_wholly_known() || before != after,
            // What is missing in one of them counts as unknown.
            (Some(_), None) | (None, Some(_)) => true,
            (None, None) => {
                invalid.push(path.clone());
                continue;
            }
        };
        if differs && (known.insert(path.to_string()) || !changed.contains(path)) {
            changed.push(path.clone());
        }
    }
    changed.sort_by_key(position);
    (changed, invalid)
}

/// The position of a path in a set of the reference (`cty.PathSet`), which JSON output shows: by the CRC-64 (ISO) of the names
/// of its attributes, as a signed number.
fn position(path: &Path) -> i64 {
    let mut crc = 0u64;
    for step in path.steps() {
        let name = match step {
            PathStep::Attr(name) => name.as_bytes(),
            PathStep::Index(_) => b"#",
        };
        crc = name.iter().fold(!crc, |crc, byte| {
            (0..8)
                .fold(crc ^ u64::from(*byte), |crc, _| (crc >> 1) ^ (0xd800_0000_0000_0000 & (crc & 1).wrapping_neg()))
        });
        crc = !crc;
    }
    crc as i64
}

/// The value at a path; unknown within an unknown value, none where there is nothing.
fn at(value: &Value, path: &Path) -> Option<Value> {
    let mut value = value;
    for step in path.steps() {
        if !value.is_known() {
            return Some(Value::dynamic());
        }
        let key = match step {
            PathStep::Attr(name) => Some(name.clone()),
            PathStep::Index(key) => key.as_arc_str(),
        };
        value = match (step, key) {
            _ if value.is_null() || value.ty().is_set() => return None,
            (_, Some(key)) => value.get(&key)?,
            (PathStep::Index(key), None) => value.at(usize::try_from(key.as_i64()?).ok()?)?,
            (PathStep::Attr(_), None) => return None,
        };
    }
    Some(value.clone())
}

#[cfg(test)]
mod tests {
    use terrane_protocol::schema::{Attribute, NestedBlock, Nesting};
    use terrane_value::Type;

    use super::*;

    #[test]
    fn only_changed_paths_count() {
        let object = |a: &str, b: Value| Value::object([("a", Value::string(a)), ("b", b)]);
        let (a, b, c) = (Path::new().attr("a"), Path::new().attr("b"), Path::new().attr("c"));
        let prior = object("x", Value::string("y"));
        let planned = object("x", Value::unknown(Type::String));
        assert_eq!(
            changed_paths(&[a, b.clone(), c.clone()], (&prior, &planned), &Block::default()),
            (vec![b], vec![c])
        );
    }

    /// Observed: plan JSON of `local_file`.
    #[test]
    fn changed_paths_are_in_the_order_of_the_reference() {
        let object = |text: &str| Value::object([("content", Value::string(text)), ("filename", Value::string(text))]);
        let (content, filename) = (Path::new().attr("content"), Path::new().attr("filename"));
        let (changed, _) =
            changed_paths(&[content.clone(), filename.clone()], (&object("a"), &object("b")), &Block::default());
        assert_eq!(changed, [filename, content]);
    }

    #[test]
    fn a_write_only_attribute_counts_without_values() {
        let attribute = |write_only| Attribute { write_only, ..Attribute::new(Type::String) };
        let inner = Block { attributes: [("w".into(), attribute(true))].into(), ..Block::default() };
        let nested = NestedBlock { block: inner, nesting: Nesting::Single, min_items: 0, max_items: 0 };
        let schema = Block {
            attributes: [("a".into(), attribute(false))].into(),
            blocks: [("b".into(), nested)].into(),
            ..Block::default()
        };
        let null = || Value::null(Type::String);
        let object = Value::object([("a", null()), ("b", Value::object([("w", null())]))]);
        let (plain, secret) = (Path::new().attr("a"), Path::new().attr("b").attr("w"));
        let (changed, _) = changed_paths(&[plain, secret.clone()], (&object, &object), &schema);
        assert_eq!(changed, [secret]);
    }

    #[test]
    fn nulls_of_different_types_are_equal() {
        let object = |value: Value| Value::object([("a", value)]);
        let (dynamic, text) = (object(Value::null_dynamic()), object(Value::null(Type::String)));
        assert_eq!(changed_paths(&[Path::new().attr("a")], (&dynamic, &text), &Block::default()), (vec![], vec![]));
        let (none, path) = (Value::null(text.ty().clone()), Path::new().attr("a"));
        assert_eq!(changed_paths(std::slice::from_ref(&path), (&none, &text), &Block::default()), (vec![path], vec![]));
    }

    /// Each row: a path, and whether it counts, or is invalid.
    #[test]
    fn paths_into_collections() {
        let texts = |t: &[&str]| Value::list(Type::String, t.iter().map(Value::string).collect());
        let map = |t: &[(&'static str, &str)]| Value::map(Type::String, t.iter().map(|(k, v)| (*k, Value::string(v))));
        let object = |list: &[&str], of: &[(&'static str, &str)], unknown: Value| {
            let set = Value::set(Type::String, vec![Value::string("s")]);
            Value::object([
                ("l", texts(list)),
                ("m", map(of)),
                ("s", set),
                ("u", unknown),
                ("n", Value::null(Type::String)),
            ])
        };
        let prior = object(&["a", "b"], &[("k", "v")], texts(&["x"]));
        let planned = object(&["a", "c", "d"], &[("k", "v"), ("new", "v")], Value::unknown(Type::list(Type::String)));
        let path = |name: &str| Path::new().attr(name);
        let (changed, same, invalid) = (Some(true), Some(false), None);
        let cases = [
            (path("l").index_int(0), same),
            (path("l").index_int(1), changed),
            (path("l").index_int(2), changed),
            (path("l").index_int(5), invalid),
            (path("m").index_str("k"), same),
            (path("m").index_str("new"), changed),
            (path("m").index_str("none"), invalid),
            (path("m").attr("k"), same),
            (path("s").index_int(0), invalid),
            (path("u").index_int(3), changed),
            (path("n"), same),
            (path("n").attr("x"), invalid),
            (path("l").attr("x"), invalid),
        ];
        for (path, expected) in cases {
            let (changed, invalid) = changed_paths(std::slice::from_ref(&path), (&prior, &planned), &Block::default());
            let found = if invalid.is_empty() { Some(!changed.is_empty()) } else { None };
            assert_eq!(found, expected, "{path}");
        }
    }
}
