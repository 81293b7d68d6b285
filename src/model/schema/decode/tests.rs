//! Bodies and the values they decode to, as the reference sends them to providers (recorded from release 1.11.4).

use std::sync::Arc;

use base::source::SourceFile;
use lang::eval::scope::{Constant, Resolved, Scope};
use lang::syntax::ast::Traversal;
use lang::syntax::parse_file;
use terrane_protocol::schema::{Attribute, AttributeShape, Block, NestedBlock, Nesting, ObjectShape};
use terrane_value::{Type, Value};

use super::{decode_body, references_in_body, sensitive_paths};

/// Knows `unknown` and nothing else.
struct Fixture;

impl Scope for Fixture {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        match traversal.root_name() {
            "unknown" => Resolved::value(Value::dynamic(), 0),
            _ => Constant.resolve(traversal, file),
        }
    }
}

/// `k` may be set, `oc` is optional and computed, `r` is required.
fn inner(required: bool) -> [(Arc<str>, Attribute); 3] {
    let of = |optional, computed, required| Attribute { optional, computed, required, ..Attribute::new(Type::String) };
    let last = if required { of(false, false, true) } else { of(true, false, false) };
    [("k".into(), of(true, false, false)), ("oc".into(), of(true, true, false)), ("r".into(), last)]
}

fn schema() -> Block {
    let objects = Type::object([("a", Type::String), ("b", Type::String)]);
    let plain = |ty: Type| Attribute { optional: true, ..Attribute::new(ty) };
    let required = |ty: Type| Attribute { required: true, ..Attribute::new(ty) };
    let nested = |nesting, needed| {
        let shape = ObjectShape { attributes: inner(needed).into(), nesting };
        Attribute { shape: AttributeShape::Nested(shape), ..plain(Type::Dynamic) }
    };
    let block = |nesting, needed| {
        let block = Block { attributes: inner(needed).into(), ..Block::default() };
        NestedBlock { block, nesting, min_items: 0, max_items: 0 }
    };
    Block {
        attributes: [
            ("li".into(), required(Type::list(objects.clone()))),
            ("se".into(), plain(Type::set(objects))),
            ("one".into(), nested(Nesting::Single, true)),
            ("many".into(), nested(Nesting::Map, false)),
        ]
        .into(),
        blocks: [
            ("single".into(), block(Nesting::Single, false)),
            ("group".into(), block(Nesting::Group, true)),
            ("list".into(), block(Nesting::List, false)),
        ]
        .into(),
        ..Block::default()
    }
}

fn parsed(text: &str) -> lang::syntax::body::Body {
    let (body, problems) = parse_file(SourceFile::new("t", text));
    assert!(problems.is_empty(), "{problems:?}");
    body
}

/// The attributes and blocks of the value that are more than absent.
fn decoded(text: &str) -> String {
    let (value, found) = decode_body(&parsed(text), &schema(), &Fixture);
    if found.has_errors() {
        return found.iter().map(|d| d.detail.clone()).collect::<Vec<_>>().join("; ");
    }
    let empty = schema().empty_value();
    assert_eq!(value.ty(), empty.ty(), "{text}");
    let parts = value.entries().iter().filter(|(name, part)| empty.get(name) != Some(*part));
    parts.map(|(name, part)| format!("{name} = {part:?}")).collect::<Vec<_>>().join("; ")
}

const UNKNOWN: &str = "unknown(string)";
const NULL: &str = "null(string)";

#[test]
fn bodies_decode_as_recorded() {
    let object = |a: &str, b: &str| format!("{{\"a\": {a}, \"b\": {b}}}");
    let inner = |k: &str, oc: &str, r: &str| format!("{{\"k\": {k}, \"oc\": {oc}, \"r\": {r}}}");
    let dynamic = |name: &str, each: &str, content: &str| {
        format!("dynamic \"{name}\" {{\n for_each = {each}\n content {{\n {content}\n }}\n}}")
    };
    let cases = [
        // An attribute of objects may be missing, required or not: it may also be written as blocks.
        (String::new(), String::new()),
        ("li = []".into(), "li = list[]".into()),
        ("li {\n a = 1\n}\nli {}".into(), format!("li = list[{}, {}]", object("\"1\"", NULL), object(NULL, NULL))),
        ("se {\n b = unknown\n}".into(), format!("se = set[{}]", object(NULL, UNKNOWN))),
        (dynamic("li", "[]", "a = 1"), String::new()),
        (
            dynamic("se", "[\"y\", \"x\"]", "a = se.value"),
            format!("se = set[{}, {}]", object("\"x\"", NULL), object("\"y\"", NULL)),
        ),
        // An unknown number of such blocks counts as one.
        (dynamic("li", "unknown", "a = 1"), format!("li = list[{}]", object(UNKNOWN, NULL))),
        // Inner attributes that need not be set are null.
        ("one = { r = \"x\" }".into(), format!("one = {}", inner(NULL, NULL, "\"x\""))),
        ("many = { m = {} }".into(), format!("many = map{{\"m\": {}}}", inner(NULL, NULL, NULL))),
        (
            "one = { k = \"x\" }".into(),
            "Inappropriate value for attribute \"one\": attribute \"r\" is required.".into(),
        ),
        // What is not written in a block of unknown number is null; a list of such blocks is unknown as a whole.
        (dynamic("single", "unknown", "k = single.value"), format!("single = {}", inner(UNKNOWN, NULL, NULL))),
        (dynamic("list", "unknown", "k = 1"), "list = unknown(list(object({k=string,oc=string,r=string})))".into()),
        // A group that is absent requires nothing.
        ("group {\n r = 1\n}".into(), format!("group = {}", inner(NULL, NULL, "\"1\""))),
        ("group {}".into(), "The argument \"r\" is required, but no definition was found.".into()),
    ];
    for (text, expected) in cases {
        assert_eq!(decoded(&text), expected, "{text}");
    }
}

#[test]
fn blocks_in_place_of_attributes_are_searched_for_references() {
    let text = "li {\n a = one.thing\n}\ndynamic \"se\" {\n for_each = two.things\n content {\n a = \"${se.key}-${three.id}\"\n }\n}";
    let found = references_in_body(&parsed(text), &schema());
    let mut names: Vec<String> = found.iter().map(|(traversal, _)| traversal.root_name().to_string()).collect();
    names.sort();
    assert_eq!(names, ["one", "three", "two"]);
}

#[test]
fn sensitive_paths_end_at_null_and_unknown_objects() {
    let secret = Attribute { sensitive: true, optional: true, ..Attribute::new(Type::String) };
    let shape = |nesting, attribute: Attribute| {
        AttributeShape::Nested(ObjectShape { attributes: [("s".into(), attribute)].into(), nesting })
    };
    let of = |shape: AttributeShape| Attribute { shape, ..secret.clone() };
    let open = |shape: AttributeShape| Attribute { sensitive: false, ..of(shape) };
    let schema = Block {
        attributes: [
            ("list".into(), open(shape(Nesting::List, secret.clone()))),
            // Sensitive itself, with a sensitive attribute, in which there is another.
            ("deep".into(), of(shape(Nesting::Single, of(shape(Nesting::Single, secret.clone()))))),
        ]
        .into(),
        ..Block::default()
    };
    let ty = schema.implied_type();
    let part = |name: &str| ty.attribute(name).cloned().unwrap();
    let leaf = || Value::object([("s", Value::string("x"))]);
    let element = leaf().ty().clone();
    let absent = || Value::null(part("deep"));
    let cases = [
        (Value::null(part("list")), absent(), vec![".deep"]),
        (Value::unknown(part("list")), Value::unknown(part("deep")), vec![".deep"]),
        (Value::list(element.clone(), vec![leaf(), Value::null(element)]), absent(), vec![".deep", ".list[0].s"]),
        (Value::null(part("list")), Value::object([("s", leaf())]), vec![".deep", ".deep.s"]),
    ];
    for (list, deep, expected) in cases {
        let value = Value::object([("deep", deep), ("list", list)]);
        let found: Vec<String> = sensitive_paths(&schema, &value).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "{value:?}");
    }
}

/// As `Fixture`, where some names mean nothing.
struct Checking;

impl Scope for Checking {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        Fixture.resolve(traversal, file)
    }

    fn checks_generated(&self) -> bool {
        true
    }
}

#[test]
fn names_that_nested_blocks_are_generated_from_are_checked_without_elements() {
    let leaf = NestedBlock { block: Block::default(), nesting: Nesting::List, min_items: 0, max_items: 0 };
    let outer = Block { blocks: [("inner".into(), leaf)].into(), ..Block::default() };
    let outer = NestedBlock { block: outer, nesting: Nesting::List, min_items: 0, max_items: 0 };
    let schema = Block { blocks: [("outer".into(), outer)].into(), ..Block::default() };
    let errors = |outer: &str, inner: &str| {
        let inner = format!("dynamic \"inner\" {{\n for_each = {inner}\n content {{}}\n}}");
        let text = format!("dynamic \"outer\" {{\n for_each = {outer}\n content {{\n{inner}\n}}\n}}");
        decode_body(&parsed(&text), &schema, &Checking).1.len()
    };
    let cases =
        [("[]", "each.value", 1), ("[]", "[each.key, each.value]", 2), ("[]", "outer.value", 0), ("[]", "unknown", 0)];
    for (outer, inner, expected) in cases {
        assert_eq!(errors(outer, inner), expected, "{outer} {inner}");
    }
}

#[test]
fn superfluous_blocks_are_errors_where_they_stand() {
    let block = |nesting, max_items| NestedBlock { block: Block::default(), nesting, min_items: 0, max_items };
    let blocks = [("one".into(), block(Nesting::Single, 0)), ("some".into(), block(Nesting::List, 1))];
    let schema = Block { blocks: blocks.into(), ..Block::default() };
    let single = "Duplicate one block: Only one block of type \"one\" is allowed. Previous definition was at t:";
    let cases = [
        ("one {}\none {}", format!("{single}1,1-4. @2")),
        ("one {}\ndynamic \"one\" {\n for_each = [1]\n content {}\n}", format!("{single}1,1-4. @2")),
        ("dynamic \"one\" {\n for_each = [1, 2]\n content {}\n}", format!("{single}1,1-14. @1")),
        ("some {}\n\nsome {}\nsome {}", "Too many some blocks: No more than 1 \"some\" blocks are allowed @3".into()),
    ];
    for (text, expected) in cases {
        let (_, found) = decode_body(&parsed(text), &schema, &Fixture);
        let shown: Vec<String> = found
            .iter()
            .map(|d| format!("{}: {} @{}", d.summary, d.detail, d.subject.as_ref().unwrap().start().line))
            .collect();
        assert_eq!(shown, [expected], "{text}");
    }
}
