//! Checks that a new object agrees with the planned one.

use rustc_hash::FxHashMap;
use terrane_protocol::schema::{Block, NestedBlock, Nesting};
use terrane_value::convert::mismatch_message;
use terrane_value::ops::may_be;
use terrane_value::set::hash_key;
use terrane_value::text::go_quoted;
use terrane_value::{Path, PathStep, Type, Value};

use super::go_text::go_text;
use super::{Breach, attributes_key, part};

/// Where an actual object breaks the promise of the planned one: known parts must be the same, unknown parts may have
/// become anything of their type and within their refinements. Values may carry marks: what is sensitive is not shown.
pub fn object_compatible(schema: &Block, planned: &Value, actual: &Value) -> Vec<Breach> {
    let mut breaches = Vec::new();
    check_block(schema, planned, actual, &Path::new(), &mut breaches);
    breaches
}

/// The same for a value without a schema, of which nulls without a type must stay, too.
pub fn value_compatible(planned: &Value, actual: &Value, is_sensitive: bool) -> Vec<Breach> {
    let mut breaches = Vec::new();
    check_whole(planned, actual, &Path::new(), is_sensitive, &mut breaches);
    breaches.extend(replaced_nulls(planned, actual));
    breaches
}

/// Where a planned null without a type, which promises nothing, is not null any more.
pub fn replaced_nulls(planned: &Value, actual: &Value) -> Vec<Breach> {
    let mut found = Vec::new();
    find_replaced_nulls(&planned.unmark_deep().0, &actual.unmark_deep().0, &mut Path::new(), &mut found);
    found
}

fn find_replaced_nulls(planned: &Value, actual: &Value, path: &mut Path, found: &mut Vec<Breach>) {
    if planned.is_null() {
        if planned.ty().is_dynamic() && !actual.is_null() {
            found.push((path.clone(), "was null, but now is not".into()));
        }
        return;
    }
    if planned.ty().is_set() {
        return;
    }
    for (step, planned) in planned.children() {
        let actual = match &step {
            PathStep::Attr(name) => actual.get(name),
            PathStep::Index(key) => match (key.as_str(), key.as_i64()) {
                (Some(name), _) => actual.get(name),
                (_, Some(index)) => usize::try_from(index).ok().and_then(|index| actual.at(index)),
                _ => None,
            },
        };
        let Some(actual) = actual else { continue };
        path.push(step);
        find_replaced_nulls(planned, actual, path, found);
        path.pop();
    }
}

const HIDDEN: &str = "inconsistent values for sensitive attribute";

fn check_block(schema: &Block, planned: &Value, actual: &Value, path: &Path, out: &mut Vec<Breach>) {
    if planned.is_null() && !actual.is_null() {
        return out.push((path.clone(), "was absent, but now present".into()));
    }
    if actual.is_null() && !planned.is_null() {
        return out.push((path.clone(), "was present, but now absent".into()));
    }
    if planned.is_null() {
        return;
    }
    for (name, attribute) in &schema.attributes {
        let path = path.clone().attr(name.clone());
        check_whole(&part(planned, name), &part(actual, name), &path, attribute.sensitive, out);
    }
    for (name, nested) in &schema.blocks {
        check_nested(nested, &part(planned, name), &part(actual, name), &path.clone().attr(name.clone()), out);
    }
}

/// As [`check_value`], without values in the texts if a part is sensitive.
fn check_whole(planned: &Value, actual: &Value, path: &Path, is_sensitive: bool, out: &mut Vec<Breach>) {
    let mut breaches = Vec::new();
    let is_hidden = is_sensitive || planned.has_marks_deep() || actual.has_marks_deep();
    check_value(&planned.unmark_deep().0, &actual.unmark_deep().0, path, &mut breaches);
    if is_hidden && !breaches.is_empty() {
        out.push((path.clone(), HIDDEN.into()));
    } else {
        out.append(&mut breaches);
    }
}

fn check_nested(schema: &NestedBlock, planned: &Value, actual: &Value, path: &Path, out: &mut Vec<Breach>) {
    if schema.block.computed {
        if actual.is_null() && schema.nesting != Nesting::Single {
            return out.push((path.clone(), "null block value after apply".into()));
        }
        if !planned.is_known() {
            return check_whole(planned, actual, path, schema.block.has_sensitive(), out);
        }
    }
    match schema.nesting {
        Nesting::Single | Nesting::Group => {
            if !actual.is_null() || planned.is_known() {
                check_block(&schema.block, planned, actual, path, out);
            }
        }
        _ if !planned.is_known() || !actual.is_known() || planned.is_null() || actual.is_null() => {}
        Nesting::List => {
            let (before, after) = (planned.elements(), actual.elements());
            if before.len() != after.len() {
                let text = format!("block count changed from {} to {}", before.len(), after.len());
                return out.push((path.clone(), text));
            }
            for (i, (planned, actual)) in before.iter().zip(after).enumerate() {
                check_block(&schema.block, planned, actual, &path.clone().index_int(i), out);
            }
        }
        // The keys of an object are part of its type: each is compared, also if their numbers differ.
        Nesting::Map if planned.ty().is_map() && planned.len() != actual.len() => {
            let text = format!("block count changed from {} to {}", planned.len(), actual.len());
            out.push((path.clone(), text));
        }
        Nesting::Map => {
            let by_name = planned.ty().is_object();
            for (key, planned) in planned.entries() {
                let inner = match by_name {
                    true => path.clone().attr(key.clone()),
                    false => path.clone().index_str(key),
                };
                match actual.get(key) {
                    Some(actual) => check_block(&schema.block, planned, actual, &inner, out),
                    None => out.push((path.clone(), format!("block key {} has vanished", go_quoted(key)))),
                }
            }
            for key in actual.entries().keys().filter(|key| planned.get(key).is_none()) {
                out.push((path.clone(), format!("new block key {} has appeared", go_quoted(key))));
            }
        }
        Nesting::Set => {
            let before = out.len();
            correlate_sets(planned, actual, path, out, |planned, actual| {
                object_compatible(&schema.block, planned, actual).is_empty()
            });
            if (planned.has_marks() || actual.has_marks()) && out.len() > before {
                // Sets carry the marks of their elements.
                out.truncate(before);
                return out.push((path.clone(), HIDDEN.into()));
            }
            if planned.len() < actual.len() {
                let text = format!("block set length changed from {} to {}", planned.len(), actual.len());
                out.push((path.clone(), text));
            }
        }
    }
}

fn check_value(planned: &Value, actual: &Value, path: &Path, out: &mut Vec<Breach>) {
    let mut breach = |text: String| out.push((path.clone(), text));
    // A null of no type promises nothing either, as in the reference.
    if planned.ty().is_dynamic() {
        return;
    }
    if !conforms(actual.ty(), planned.ty()) {
        return breach(format!("wrong final value type: {}", mismatch_message(actual.ty(), planned.ty())));
    }
    if !planned.is_known() {
        if !may_be(planned, actual) {
            breach(format!(
                "final value {} does not conform to planning placeholder {}",
                go_text(actual),
                go_text(planned)
            ));
        }
        return;
    }
    match (planned.is_null(), actual.is_null()) {
        (true, true) => return,
        (false, true) => return breach(format!("was {}, but now null", go_text(planned))),
        (true, false) => return breach(format!("was null, but now {}", go_text(actual))),
        (false, false) => {}
    }
    if !actual.is_known() {
        return breach("was known, but now unknown".into());
    }
    match planned.ty() {
        Type::List(_) | Type::Tuple(_) => {
            for (i, planned) in planned.elements().iter().enumerate() {
                match actual.at(i) {
                    Some(actual) => check_value(planned, actual, &path.clone().index_int(i), out),
                    None => out.push((path.clone(), format!("element {i} has vanished"))),
                }
            }
            for i in planned.len()..actual.len() {
                out.push((path.clone(), format!("new element {i} has appeared")));
            }
        }
        Type::Map(_) => {
            for (key, planned) in planned.entries() {
                match actual.get(key) {
                    Some(actual) => check_value(planned, actual, &path.clone().index_str(key), out),
                    None => out.push((path.clone(), format!("element {} has vanished", go_quoted(key)))),
                }
            }
            for key in actual.entries().keys().filter(|key| planned.get(key).is_none()) {
                out.push((path.clone(), format!("new element {} has appeared", go_quoted(key))));
            }
        }
        Type::Object(_) => {
            for (name, planned) in planned.entries() {
                check_value(planned, &part(actual, name), &path.clone().attr(name.clone()), out);
            }
        }
        Type::Set(_) => {
            correlate_sets(planned, actual, path, out, |planned, actual| {
                let mut inner = Vec::new();
                check_value(planned, actual, path, &mut inner);
                inner.is_empty()
            });
            if planned.len() < actual.len() {
                out.push((path.clone(), format!("length changed from {} to {}", planned.len(), actual.len())));
            }
        }
        _ if planned != actual => breach(format!("was {}, but now {}", go_text(planned), go_text(actual))),
        _ => {}
    }
}

/// True if a value of the type may stand where `wanted` was promised (dynamic parts take anything).
fn conforms(given: &Type, wanted: &Type) -> bool {
    match (given, wanted) {
        (_, Type::Dynamic) => true,
        (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Map(a), Type::Map(b)) => conforms(a, b),
        (Type::Tuple(a), Type::Tuple(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| conforms(a, b)),
        (Type::Object(a), Type::Object(b)) => {
            a.attributes.len() == b.attributes.len()
                && a.attributes.iter().zip(&b.attributes).all(|((n, a), (m, b))| n == m && conforms(a, b))
        }
        (a, b) => a == b,
    }
}

/// Checks that each element of one set has a counterpart in the other, both ways.
pub(super) fn correlate_sets(
    planned: &Value,
    actual: &Value,
    path: &Path,
    out: &mut Vec<Breach>,
    agree: impl Fn(&Value, &Value) -> bool,
) {
    if planned == actual {
        return;
    }
    let names = known_names(planned);
    let (of_planned, of_actual) = (Counterparts::new(planned, &names), Counterparts::new(actual, &names));
    let before = out.len();
    // Sets are mostly nearly equal: elements found in the other set as they are need no search.
    for element in planned.elements().iter().filter(|e| !of_actual.contain(e)) {
        if !of_actual.of(element).any(|other| agree(element, other)) {
            let text =
                format!("planned set element {} does not correlate with any element in actual", go_text(element));
            out.push((path.clone(), text));
        }
    }
    if out.len() > before {
        // Seen from the other side, the same elements would be reported again.
        return;
    }
    for element in actual.elements().iter().filter(|e| !of_planned.contain(e)) {
        if !of_planned.of(element).any(|other| agree(other, element)) {
            let text = format!("actual set element {} does not correlate with any element in plan", go_text(element));
            out.push((path.clone(), text));
        }
    }
}

/// The attributes that are known primitives in all elements of a planned set: a counterpart has the same.
fn known_names(planned: &Value) -> Vec<&str> {
    let elements = planned.elements();
    let is_known = |name: &str| {
        let parts = elements.iter().map(|element| element.get(name));
        parts.into_iter().all(|part| part.is_some_and(|part| part.is_known() && part.ty().is_primitive()))
    };
    let names = elements.first().into_iter().flat_map(|first| first.entries().keys());
    names.map(|name| &**name).filter(|name| is_known(name)).collect()
}

/// The elements of a set, to be found by their counterparts in another one.
struct Counterparts<'v> {
    names: &'v [&'v str],
    by_names: FxHashMap<String, Vec<&'v Value>>,
    by_value: FxHashMap<String, Vec<&'v Value>>,
}

impl<'v> Counterparts<'v> {
    fn new(set: &'v Value, names: &'v [&'v str]) -> Counterparts<'v> {
        let mut all = Counterparts { names, by_names: FxHashMap::default(), by_value: FxHashMap::default() };
        for element in set.elements() {
            all.by_names.entry(attributes_key(element, names)).or_default().push(element);
            all.by_value.entry(hash_key(element)).or_default().push(element);
        }
        all
    }

    fn contain(&self, element: &Value) -> bool {
        self.by_value.get(&hash_key(element)).is_some_and(|others| others.contains(&element))
    }

    /// Those that may agree with an element of the other set.
    fn of(&self, element: &Value) -> impl Iterator<Item = &'v Value> {
        self.by_names.get(&attributes_key(element, self.names)).into_iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use terrane_protocol::schema::Attribute;

    use super::*;

    fn check(planned: Value, actual: Value, expected: &[&str]) {
        let schema = Block { attributes: [("a".into(), Attribute::new(Type::Dynamic))].into(), ..Block::default() };
        let object = |v: Value| Value::object([("a", v)]);
        let breaches = object_compatible(&schema, &object(planned), &object(actual));
        let texts: Vec<String> = breaches.iter().map(|(path, text)| format!("{path}: {text}")).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn known_parts_must_stay() {
        check(Value::string("x"), Value::string("x"), &[]);
        check(Value::string("x"), Value::string("y"), &[r#".a: was cty.StringVal("x"), but now cty.StringVal("y")"#]);
        check(Value::unknown(Type::String), Value::string("y"), &[]);
        check(Value::unknown(Type::String), Value::int(1), &[".a: wrong final value type: string required"]);
        check(Value::null(Type::String), Value::string("y"), &[r#".a: was null, but now cty.StringVal("y")"#]);
        check(Value::string("x"), Value::null(Type::String), &[r#".a: was cty.StringVal("x"), but now null"#]);
        check(Value::dynamic(), Value::int(1), &[]);
        check(Value::null_dynamic(), Value::int(1), &[]);
        check(
            Value::list(Type::String, vec![Value::string("x")]),
            Value::list(Type::String, vec![Value::string("x"), Value::string("y")]),
            &[".a: new element 1 has appeared"],
        );
    }

    /// As the reference words them.
    #[test]
    fn wrong_types_name_what_is_wrong_in_them() {
        let object = |parts: &[(&'static str, Value)]| Value::object(parts.iter().cloned());
        let (one, text) = (|| Value::int(1), || Value::string("1"));
        let cases = [
            (object(&[("x", text()), ("y", text())]), object(&[("x", text())]), "attribute \"y\" is required"),
            (object(&[("x", text())]), object(&[("x", one())]), "incorrect object attributes"),
            (object(&[("x", one())]), object(&[("x", text())]), "attribute \"x\": number required"),
            (
                object(&[("a", one()), ("b", text())]),
                object(&[("a", text()), ("b", Value::strings(["1"]))]),
                "attribute \"b\": string required",
            ),
            (
                object(&[("x", object(&[("y", one())]))]),
                object(&[("x", object(&[("y", text())]))]),
                "attribute \"x\": attribute \"y\": number required",
            ),
            (
                Value::list(Type::Number, vec![one()]),
                Value::strings(["1"]),
                "incorrect list element type: number required",
            ),
            (Value::tuple(vec![text(), one()]), Value::tuple(vec![text()]), "tuple required"),
            (object(&[("x", one())]), text(), "object required"),
        ];
        for (planned, actual, expected) in cases {
            check(planned, actual, &[&format!(".a: wrong final value type: {expected}")]);
        }
    }

    #[test]
    fn nulls_without_a_type_bind_values_without_a_schema() {
        let object = |v: Value| Value::object([("a", v)]);
        let cases = [
            (Value::null_dynamic(), Value::int(1), Some("")),
            (object(Value::null_dynamic()), object(Value::int(1)), Some(".a")),
            (Value::null_dynamic(), Value::null(Type::String), None),
            (Value::dynamic(), Value::int(1), None),
        ];
        for (planned, actual, expected) in cases {
            let found = value_compatible(&planned, &actual, false);
            let paths: Vec<String> = found.iter().map(|(path, _)| path.to_string()).collect();
            assert_eq!(paths, Vec::from_iter(expected), "{planned:?}");
        }
    }

    #[test]
    fn unknown_computed_blocks_may_become_any_blocks() {
        let attribute = Attribute { computed: true, ..Attribute::new(Type::String) };
        let block = Block { attributes: [("a".into(), attribute)].into(), computed: true, ..Block::default() };
        let ty = block.implied_type();
        let nested = NestedBlock { block, nesting: Nesting::List, min_items: 0, max_items: 0 };
        let schema = Block { blocks: [("b".into(), nested)].into(), ..Block::default() };
        let of = |value: Value| Value::object([("b", value)]);
        let list = |text: &str| Value::list(ty.clone(), vec![Value::object([("a", Value::string(text))])]);
        let (null, unknown) = (|| Value::null(Type::list(ty.clone())), || Value::unknown(Type::list(ty.clone())));
        let cases = [
            (unknown(), list("x"), None),
            (unknown(), null(), Some("null block value after apply")),
            (list("x"), list("y"), Some(r#"was cty.StringVal("x"), but now cty.StringVal("y")"#)),
        ];
        for (planned, actual, expected) in cases {
            let found = object_compatible(&schema, &of(planned), &of(actual));
            let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(texts, Vec::from_iter(expected));
        }
    }

    #[test]
    fn sensitive_values_are_not_shown() {
        use terrane_value::Marks;
        let secret = || Value::string("x").mark(Marks::SENSITIVE);
        check(secret(), Value::string("y"), &[".a: inconsistent values for sensitive attribute"]);
        check(secret(), Value::string("x"), &[]);
        let list = Value::list(Type::String, vec![secret()]);
        let changed = Value::list(Type::String, vec![Value::string("y")]);
        check(list, changed, &[".a: inconsistent values for sensitive attribute"]);
    }

    /// Objects whose ids are not known are found by the rest of them.
    #[test]
    fn elements_of_large_sets_are_not_compared_with_every_other() {
        let n = 200;
        let ty = Type::object([("id", Type::String), ("name", Type::String)]);
        let set = |id: fn(i64) -> Value| {
            let object = |i| Value::object([("id", id(i)), ("name", Value::string(format!("n{i}")))]);
            Value::set(ty.clone(), (0..n).map(object).collect())
        };
        let (planned, actual) =
            (set(|_| Value::unknown(Type::String)), set(|i| Value::string(format!("id-{}", i * 7 % 200))));
        let (calls, mut breaches) = (std::cell::Cell::new(0), Vec::new());
        correlate_sets(&planned, &actual, &Path::new(), &mut breaches, |planned, actual| {
            calls.set(calls.get() + 1);
            planned.get("name") == actual.get("name")
        });
        assert!(breaches.is_empty() && calls.get() <= 2 * n, "{breaches:?} {}", calls.get());
    }

    #[test]
    fn set_elements_correlate_through_unknowns() {
        let set = |elements: Vec<Value>| Value::set(Type::String, elements);
        check(
            set(vec![Value::unknown(Type::String), Value::string("x")]),
            set(vec![Value::string("y"), Value::string("x")]),
            &[],
        );
        check(
            set(vec![Value::string("x")]),
            set(vec![Value::string("y")]),
            &[r#".a: planned set element cty.StringVal("x") does not correlate with any element in actual"#],
        );
    }
}
