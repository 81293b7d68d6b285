//! All functions, and expressions over unknown and marked values, against answers recorded from the reference (1.11.4) by
//! `tests/record_functions.py`, in `recorded/`: an expression, then, indented, its value or its error. What names mean there
//! is in `recorded/names.txt`.
//!
//! Values are written with their types: `list(string)["a"]`, `map(number){"a" = 1}`, `[1, "a"]` for tuples,
//! `{"a" = 1}` for objects, `null(string)`, `unknown(string, not null, prefix "a")`, `sensitive(1)`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::files::{Files, Memory};
use base::moment::Moment;
use base::source::SourceFile;
use terrane_value::number::Number;
use terrane_value::{Marks, Type, Value};

use super::{Function, Machine, lookup, names};
use crate::eval::scope::{Constant, Resolved};
use crate::eval::{Scope, evaluate};
use crate::syntax::ast::{Traversal, TraversalStep};
use crate::syntax::parse_expression;

const NAMES: &str = include_str!("recorded/names.txt");

const RECORDED: [(&str, &str); 15] = [
    ("numeric", include_str!("recorded/numeric.txt")),
    ("string", include_str!("recorded/string.txt")),
    ("format", include_str!("recorded/format.txt")),
    ("collection", include_str!("recorded/collection.txt")),
    ("sequence", include_str!("recorded/sequence.txt")),
    ("sets", include_str!("recorded/sets.txt")),
    ("encoding", include_str!("recorded/encoding.txt")),
    ("yaml", include_str!("recorded/yaml.txt")),
    ("filesystem", include_str!("recorded/filesystem.txt")),
    ("time", include_str!("recorded/time.txt")),
    ("crypto", include_str!("recorded/crypto.txt")),
    ("network", include_str!("recorded/network.txt")),
    ("types", include_str!("recorded/types.txt")),
    ("template", include_str!("recorded/template.txt")),
    ("expressions", include_str!("recorded/expressions.txt")),
];

/// Not in the release that answers were recorded from, or not where they were.
pub(super) const NOT_RECORDED: [&str; 20] = [
    "assumeequal",
    "assumelistlength",
    "assumelistlengthmax",
    "assumelistlengthmin",
    "assumemaplength",
    "assumemaplengthmax",
    "assumemaplengthmin",
    "assumenotnull",
    "assumesetlength",
    "assumesetlengthmax",
    "assumesetlengthmin",
    "assumestringprefix",
    "base64gunzip",
    "cidrcontains",
    "convert",
    "urldecode",
    // No arguments, and unknown or different each time.
    "plantimestamp",
    "timestamp",
    "uuid",
    "bcrypt",
];

pub(super) struct Fixture {
    files: Memory,
}

impl Machine for Fixture {
    fn files(&self) -> &dyn Files {
        &self.files
    }

    fn base_dir(&self) -> &Path {
        Path::new("")
    }

    fn working_dir(&self) -> PathBuf {
        PathBuf::from("/module")
    }

    fn home_dir(&self) -> Option<PathBuf> {
        Some(PathBuf::from("/home/me"))
    }

    fn pure_only(&self) -> bool {
        true
    }

    fn now(&self) -> Moment {
        Moment::from_seconds(1_700_000_000)
    }

    fn plan_time(&self) -> Option<Moment> {
        Some(self.now())
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

impl Scope for Fixture {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        let attribute = |i: usize| match traversal.steps.get(i) {
            Some(TraversalStep::Attr { name, .. }) => &*name.name,
            _ => "",
        };
        match (traversal.root_name(), attribute(0), attribute(1)) {
            ("terraform_data", "u", "id") => Resolved::value(Value::unknown_not_null(Type::String), 2),
            ("terraform_data", "u", "output") => Resolved::value(Value::dynamic(), 2),
            ("var", "eph", _) => Resolved::value(Value::string("e").mark(Marks::EPHEMERAL), 1),
            ("local", name, _) => {
                let line = NAMES.lines().find_map(|l| l.split_once(" = ").filter(|(n, _)| *n == name));
                let (_, source) = line.unwrap_or_else(|| panic!("no such name: {name}"));
                Resolved::value(value_of(source, self).expect("a valid name"), 1)
            }
            _ => Constant.resolve(traversal, file),
        }
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        lookup(name)
    }

    fn function_names(&self) -> Vec<String> {
        names().into_iter().map(Into::into).collect()
    }

    fn machine(&self) -> Option<&dyn Machine> {
        Some(self)
    }
}

pub(super) fn fixture() -> Fixture {
    let files = Memory::of([
        ("a.txt", &b"hello"[..]),
        ("bin", &[0xff, 0xfe]),
        ("d/x.txt", b"x\n"),
        ("d/sub/y.txt", b"y\n"),
        ("d/.hid", b""),
        ("d/b.tpl", b"Hi ${name}!"),
        ("t/list.tpl", b"%{ for x in xs ~}\n- ${x}\n%{ endfor ~}\n"),
        ("t/bad.tpl", b"${"),
        ("t/self.tpl", b"${templatefile(\"t/self.tpl\", {})}"),
        ("t/fn.tpl", b"${upper(s)}-${length(xs)}"),
        ("t/err.tpl", b"${tonumber(s)}"),
        ("t/list", b"${xs}"),
        ("t/str.tpl", b"${templatestring(s, {})}"),
        ("empty", b""),
        ("utf8.txt", "h\u{e9}llo \u{4e16}".as_bytes()),
        ("nfd.txt", b"e\xcc\x81"),
    ]);
    Fixture { files }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' | '\x7f' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

fn type_text(ty: &Type) -> String {
    let of = |kind: &str, t: &Type| format!("{kind}({})", type_text(t));
    match ty {
        Type::Dynamic => "any".into(),
        Type::String => "string".into(),
        Type::Number => "number".into(),
        Type::Bool => "bool".into(),
        Type::List(t) => of("list", t),
        Type::Set(t) => of("set", t),
        Type::Map(t) => of("map", t),
        Type::Tuple(types) => format!("tuple([{}])", types.iter().map(type_text).collect::<Vec<_>>().join(", ")),
        Type::Object(object) => {
            let all = object.attributes.iter().map(|(k, t)| format!("{} = {}", quoted(k), type_text(t)));
            format!("object({{{}}})", all.collect::<Vec<_>>().join(", "))
        }
    }
}

fn unknown_text(value: &Value) -> String {
    let facts = value.refinement().cloned().unwrap_or_default();
    if value.ty().is_dynamic() {
        return "unknown".into();
    }
    let mut parts = vec![type_text(value.ty())];
    if facts.not_null {
        parts.push("not null".into());
    }
    parts.extend(facts.string_prefix.map(|p| format!("prefix {}", quoted(&p))));
    parts.extend(facts.number_min.map(|(n, inclusive)| format!("{} {n}", if inclusive { ">=" } else { ">" })));
    parts.extend(facts.number_max.map(|(n, inclusive)| format!("{} {n}", if inclusive { "<=" } else { "<" })));
    parts.extend((facts.length_min > 0).then(|| format!("length >= {}", facts.length_min)));
    parts.extend(facts.length_max.map(|n| format!("length <= {n}")));
    format!("unknown({})", parts.join(", "))
}

fn show(value: &Value) -> String {
    let (bare, marks) = value.unmark();
    if marks.contains(Marks::EPHEMERAL) {
        return format!("ephemeral({})", show(&bare.mark(marks.without(Marks::EPHEMERAL))));
    }
    if marks.contains(Marks::SENSITIVE) {
        return format!("sensitive({})", show(&bare));
    }
    let elements = || value.elements().iter().map(show).collect::<Vec<_>>().join(", ");
    let entries = || {
        let all = value.entries().iter().map(|(k, v)| format!("{} = {}", quoted(k), show(v)));
        all.collect::<Vec<_>>().join(", ")
    };
    match value.ty() {
        _ if !value.is_known() => unknown_text(value),
        Type::Dynamic => "null".into(),
        ty if value.is_null() => format!("null({})", type_text(ty)),
        Type::String => quoted(value.as_str().unwrap()),
        // The wire form that answers come in has no negative zero.
        // MessagePack, by which they were recorded, has all digits of a machine integer.
        Type::Number => match value.as_number().and_then(Number::as_i64) {
            Some(number) => number.to_string(),
            None => match value.as_number().unwrap().to_string().as_str() {
                "-0" => "0".to_owned(),
                text => text.trim_start_matches('+').to_owned(),
            },
        },
        Type::Bool => value.is_true().to_string(),
        ty @ (Type::List(_) | Type::Set(_)) => format!("{}[{}]", type_text(ty), elements()),
        Type::Tuple(_) => format!("[{}]", elements()),
        ty @ Type::Map(_) => format!("{}{{{}}}", type_text(ty), entries()),
        Type::Object(_) => format!("{{{}}}", entries()),
    }
}

/// A place in the case itself, by one word: where a case stood when it was recorded does not matter.
fn without_places(text: &str) -> String {
    const FILE: &str = "case.tf:";
    let mut parts = text.split(FILE);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("PLACE");
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ',' && c != '-').unwrap_or(part.len());
        out.push_str(&part[end..]);
    }
    out
}

pub(super) fn value_of(source: &str, scope: &dyn Scope) -> Result<Value, String> {
    let (expression, diagnostics) = parse_expression(SourceFile::new("case.tf", source));
    let (value, diagnostics) =
        if diagnostics.has_errors() { (Value::dynamic(), diagnostics) } else { evaluate(&expression, scope) };
    if !diagnostics.has_errors() {
        return Ok(value);
    }
    let all: Vec<String> =
        diagnostics.iter().filter(|d| d.is_error()).map(|d| format!("{}: {}", d.summary, d.detail)).collect();
    Err(without_places(&all.join(" | ").replace('\n', "\\n")).replace("Terrane", "Terraform"))
}

fn answer(source: &str, scope: &dyn Scope) -> String {
    match value_of(source, scope) {
        Ok(value) if value.deep_marks().contains(Marks::EPHEMERAL) => {
            let why = "Invalid use of ephemeral value: Ephemeral values are not valid for \"input\", because it is not a write-only attribute and must be persisted to state.";
            format!("error: {why}")
        }
        Ok(value) => show(&value),
        Err(message) => format!("error: {message}"),
    }
}

fn cases(recorded: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut lines = recorded.lines();
    std::iter::from_fn(move || Some((lines.next()?, lines.next()?.trim_start())))
}

/// The answers were recorded on Linux; on Windows, paths have backslashes.
fn is_about_paths_on_windows(expression: &str) -> bool {
    cfg!(windows) && ["basename(", "dirname(", "fileset(", "pathexpand("].iter().any(|name| expression.contains(name))
}

#[test]
fn answers_as_recorded() {
    let scope = fixture();
    let mut wrong = Vec::new();
    let mut count = 0;
    for (expression, expected) in RECORDED.iter().flat_map(|(_, recorded)| cases(recorded)) {
        count += 1;
        let got = answer(expression, &scope);
        let is_other = takes_null(expression, expected)
            || is_outside_of_prefix(expression)
            || hides_ephemeral(expression, &got, expected)
            || is_about_paths_on_windows(expression);
        if got != expected && !is_other {
            wrong.push(format!("{expression}\n    got  {got}\n    want {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{} of {count} wrong", wrong.join("\n"), wrong.len());
}

/// A null of no type has no unknown result any more, as from Terraform 1.15 on.
fn takes_null(expression: &str, expected: &str) -> bool {
    let has_no_type = expression.contains("null") || expression.contains("local.ud");
    expression.starts_with("format") && has_no_type && expected == "unknown"
}

/// Of numbers above 64 bits, the reference looks at the low bits only, and gives an address outside of the prefix.
fn is_outside_of_prefix(expression: &str) -> bool {
    expression == "cidrhost(\"fd00::/64\", 18446744073709551616)"
}

/// The reference quotes ephemeral arguments in errors.
fn hides_ephemeral(expression: &str, got: &str, expected: &str) -> bool {
    let quoted = "\"e\"";
    expression.contains("var.eph") && expected.contains(quoted) && got.starts_with("error: ") && !got.contains(quoted)
}

#[test]
fn secret_arguments_are_not_quoted() {
    let scope = fixture();
    let cases = [
        ("tonumber(var.eph)", "cannot convert this ephemeral string to number"),
        ("tobool(var.eph)", "cannot convert this ephemeral string to bool"),
        ("tobool(sensitive(var.eph))", "cannot convert this sensitive string to bool"),
        ("convert(var.eph, number)", "a number is required"),
        ("parseint(var.eph, 10)", "cannot parse (ephemeral value) as a base 10 integer"),
        ("parseint(sensitive(\"nope\"), 10)", "cannot parse (sensitive value) as a base 10 integer"),
        ("rsadecrypt(var.eph, \"key\")", "failed to decode input (ephemeral value): cipher text"),
        ("base64decode(var.eph)", "failed to decode base64 data (ephemeral value)"),
        ("textdecodebase64(\"aABpAA==\", sensitive(\"nope\"))", "(sensitive value) is not a supported IANA encoding"),
        ("timeadd(sensitive(\"nope\"), \"1h\")", "cannot use (sensitive value) as year"),
        ("formatdate(var.eph, \"2024-01-02T03:04:05Z\")", "invalid date format verb (ephemeral value)"),
        ("lookup({ a = 1 }, sensitive(\"nope\"))", "the given object has no attribute (sensitive value)"),
        ("lookup(tomap({ a = 1 }), var.eph)", "lookup failed to find key (ephemeral value)"),
        ("file(var.eph)", "no file exists at (ephemeral value)"),
        ("{ for n in [1, 2] : sensitive(\"nope\") => n }", "produced the key (sensitive value) in this"),
        ("{ for n in [1, 2] : var.eph => n }", "produced the key (ephemeral value) in this"),
    ];
    for (expression, expected) in cases {
        let got = answer(expression, &scope);
        assert!(got.contains(expected), "{expression}: {got}");
        assert!(!got.contains("nope") && !got.contains("\"e\""), "{expression}: {got}");
    }
}

#[test]
fn nulls_of_no_type_are_formatted() {
    let (scope, null) = (fixture(), "null value cannot be formatted");
    let cases = [
        ("format(\"%v\", null)", "\"null\""),
        ("format(\"%s\", null)", null),
        ("formatlist(\"%d\", [1], null)", "too many arguments"),
    ];
    for (expression, expected) in cases {
        let got = answer(expression, &scope);
        assert!(got.contains(expected), "{expression}: {got}");
    }
}

/// Conversions and unifications of random values: `conversion_differs` says what must be equal.
#[test]
fn conversions_as_recorded() {
    compare_conversions(include_str!("recorded/conversions.txt"));
}

/// As `conversions_as_recorded`, for a file that `tests/random_conversions.py` is the first half of.
#[test]
#[ignore = "needs a file of answers"]
fn answers_of_a_file() {
    let path = std::env::var("TERRANE_TEST_ANSWERS").expect("TERRANE_TEST_ANSWERS names a file");
    compare_conversions(&std::fs::read_to_string(path).expect("a readable file"));
}

fn compare_conversions(recorded: &str) {
    let scope = fixture();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (expression, expected) in cases(recorded) {
        count += 1;
        let got = answer(expression, &scope);
        if conversion_differs(expression, &got, expected) {
            wrong.push(format!("{expression}\n    got  {got}\n    want {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{} of {count} wrong", wrong.join("\n"), wrong.len());
}

/// Values must be equal, and errors be errors. These answers of the reference are not ours: it drops the mark of nulls that it
/// converts, and it takes all elements of a map as unknown if a default is a null of no type.
fn conversion_differs(expression: &str, got: &str, expected: &str) -> bool {
    let without_marks = |text: &str| text.replace("sensitive(", "").replace(')', "");
    let unknown_for_known = expected.contains("unknown") && !expression.contains("local.u");
    let is_same = got == expected
        || unknown_for_known
        || got.starts_with("error: ") && expected.starts_with("error: ")
        || got.contains("sensitive(") && without_marks(got) == without_marks(expected);
    !is_same
}

/// Every function has at least this many cases that are about it.
#[test]
fn every_function_is_recorded() {
    const LEAST: usize = 15;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (expression, _) in RECORDED.iter().flat_map(|(_, recorded)| cases(recorded)) {
        let called: BTreeSet<&str> = expression
            .match_indices('(')
            .map(|(at, _)| {
                let before = &expression[..at];
                &before[before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |i| i + 1)..]
            })
            .collect();
        called.into_iter().for_each(|name| *counts.entry(name).or_default() += 1);
    }
    let few: Vec<String> = names()
        .into_iter()
        .filter(|name| !NOT_RECORDED.contains(name))
        .filter(|name| counts.get(name).copied().unwrap_or(0) < LEAST)
        .map(|name| format!("{name}: {}", counts.get(name).copied().unwrap_or(0)))
        .collect();
    assert!(few.is_empty(), "too few recorded cases: {few:?}");
}

#[test]
fn signatures_as_recorded() {
    let shown = |p: &super::Param, dots: &str| {
        format!("{}{dots}: {}{}", p.name, type_text(&p.ty), if p.allow_null { "?" } else { "" })
    };
    let of = |f: &super::Builtin| {
        let signature = f.signature();
        let plain = signature.params.iter().map(|p| shown(p, ""));
        let all: Vec<String> = plain.chain(signature.variadic.iter().map(|p| shown(p, "..."))).collect();
        format!("{}({}) -> {}", signature.name, all.join(", "), type_text(f.documented_type()))
    };
    let ours: BTreeSet<String> = super::all().map(of).collect();
    let missing: Vec<&str> = include_str!("recorded/signatures.txt").lines().filter(|l| !ours.contains(*l)).collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn newer_functions() {
    let scope = fixture();
    let fails = |why: &str| format!("error: Invalid function argument: Invalid value for {why}.");
    let cases = [
        ("convert(\"true\", bool)", "true".to_owned()),
        ("core::convert([1, \"a\"], list(string))", "list(string)[\"1\", \"a\"]".to_owned()),
        ("convert({}, object({ name = optional(string, \"x\") }))", "{\"name\" = \"x\"}".to_owned()),
        ("convert(sensitive(\"1\"), number)", "sensitive(1)".to_owned()),
        ("convert(local.us, number)", "unknown(number, not null)".to_owned()),
        ("convert(\"x\", number)", fails("\"value\" parameter: a number is required")),
        ("base64gunzip(base64gzip(\"héllo\"))", "\"héllo\"".to_owned()),
        ("base64gunzip(sensitive(base64gzip(\"x\")))", "sensitive(\"x\")".to_owned()),
        ("urldecode(\"Hello+World%21\")", "\"Hello World!\"".to_owned()),
        ("urldecode(\"%E2%98%83\")", "\"\u{2603}\"".to_owned()),
        ("cidrcontains(\"192.168.2.0/20\", \"192.168.2.1\")", "true".to_owned()),
        ("cidrcontains(\"192.168.2.0/20\", \"192.126.2.0/18\")", "false".to_owned()),
        ("cidrcontains(\"192.168.2.0/24\", \"192.168.0.0/16\")", "false".to_owned()),
        ("cidrcontains(\"fe80::/48\", \"fe80::1\")", "true".to_owned()),
        ("cidrcontains(\"::ffff:10.0.0.0/104\", \"10.2.3.4\")", "true".to_owned()),
        ("cidrcontains(\"10.0.0.0/8\", \"::ffff:11.2.3.4\")", "false".to_owned()),
        ("assumenotnull(local.ust)", "unknown(string, not null)".to_owned()),
        ("assumenotnull(tostring(null))", fails("\"value\" parameter: assumption was not upheld")),
        ("assumestringprefix(local.us, \"foo-\")", "unknown(string, not null, prefix \"foo-\")".to_owned()),
        ("assumestringprefix(local.us, \"foo\")", "unknown(string, not null, prefix \"fo\")".to_owned()),
        ("assumestringprefix(\"bar\", \"foo\")", fails("\"value\" parameter: assumption was not upheld")),
        ("assumelistlength(local.ul, 1, 1)", "list(string)[unknown(string)]".to_owned()),
        ("assumelistlengthmin(local.ul, 2)", "unknown(list(string), not null, length >= 2)".to_owned()),
        ("assumesetlengthmax([1, 2], 1)", fails("\"value\" parameter: assumption was not upheld")),
        ("assumemaplengthmax({ a = 1 }, 1)", "map(number){\"a\" = 1}".to_owned()),
        ("assumeequal(local.us, \"x\")", "\"x\"".to_owned()),
        (
            "assumeequal(\"y\", \"x\")",
            fails("\"actual_value\" parameter: the actual value does not match the assumed value"),
        ),
    ];
    for (expression, expected) in cases {
        assert_eq!(answer(expression, &scope), expected, "{expression}");
    }
}

/// The reference takes such a value for one that is no list, and it drops the mark where another is unknown.
#[test]
fn flatten_keeps_the_marks_of_what_may_be_a_list() {
    let scope = fixture();
    assert_eq!(answer("flatten([sensitive(local.ud), 1])", &scope), "sensitive(unknown)");
    assert_eq!(answer("flatten([[sensitive(local.ud)], local.ud])", &scope), "sensitive(unknown)");
    assert_eq!(answer("flatten([local.ud])", &scope), "unknown");
}

#[test]
fn impure_functions_wait_for_apply() {
    let scope = fixture();
    for call in ["timestamp()", "uuid()", "bcrypt(\"x\")"] {
        assert_eq!(answer(call, &scope), "unknown(string, not null)");
    }
    assert_eq!(answer("plantimestamp()", &scope), "\"2023-11-14T22:13:20Z\"");
    assert_eq!(answer("core::upper(\"a\")", &scope), "\"A\"");
}
