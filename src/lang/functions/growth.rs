//! Every function with input that grows: four times the input must not take far more than four times the work.
//!
//! Arguments of the calls in `recorded/calls.txt` grow, each alone and all together, in several shapes; `STRUCTURED` has input
//! that must be well-formed to be read as a whole. Work is the CPU time of the thread, the least of some runs, so that what
//! else the machine does has no part in it.

use std::time::Duration;

use base::dialect::Dialect;
use terrane_value::convert::convert;
use terrane_value::{Type, Value};

use super::tests::{NOT_RECORDED, fixture, value_of};
use super::{CallContext, Function, lookup, names};
use crate::eval::invoke;

/// Bytes of a text, and elements of a collection. What grows with the square takes longer than `UNNOTICED` at that size.
const BYTES: usize = 1 << 14;
const ELEMENTS: usize = 1 << 12;
const UNNOTICED: Duration = Duration::from_millis(10);
/// Four times the input takes four times the work, or a little more with the logarithm. With the square it would be 16.
const MOST: f64 = 10.0;

/// What texts are repetitions of.
const TEXTS: [&str; 25] = [
    "a",
    "a,",
    "a\n",
    "\n",
    "\"",
    "\"\"",
    "a\"",
    "\\",
    "é",
    "e\u{301}",
    "👨\u{200d}",
    " ",
    "1",
    "0.",
    "${",
    "$",
    "%{",
    "%",
    "[",
    "(",
    "{",
    "a: ",
    "- ",
    "/",
    "../",
];

/// Functions whose work is the product of the sizes of their arguments: these grow alone.
const PRODUCTS: [&str; 5] = ["regex", "regexall", "replace", "setproduct", "fileset"];

/// Functions, and texts of about a number of pieces that they read as a whole.
const STRUCTURED: [(&str, fn(usize) -> Vec<Value>); 28] = [
    ("csvdecode", |n| texts([format!("{}\n{}", numbered(n, "c", ","), numbered(n, "", ","))])),
    ("csvdecode", |n| texts([format!("a,b\n{}", "1,2\n".repeat(n))])),
    ("csvdecode", |n| texts([format!("a\n\"{}\"", "\"\"".repeat(n))])),
    ("csvdecode", |n| texts([format!("a\n\"{}\"", "x\n".repeat(n))])),
    ("csvdecode", |n| texts([format!("a\n{}\"", "\"x\"\n".repeat(n))])),
    ("jsondecode", |n| texts([format!("[{}]", numbered(n, "1", ","))])),
    ("jsondecode", |n| {
        texts([format!("{{{}}}", (0..n).map(|i| format!("\"k{i}\":{i}")).collect::<Vec<_>>().join(","))])
    }),
    ("jsondecode", |n| texts([format!("\"{}\"", "\\u00e9\\n".repeat(n))])),
    ("jsondecode", |n| texts(["9".repeat(n)])),
    ("yamldecode", |n| texts([numbered(n, "- x", "\n")])),
    ("yamldecode", |n| texts([(0..n).map(|i| format!("k{i}: {i}\n")).collect()])),
    ("yamldecode", |n| texts([format!("[{}]", numbered(n, "x", ", "))])),
    ("yamldecode", |n| texts([format!("a: |\n{}", "  x\n".repeat(n))])),
    ("yamldecode", |n| texts([format!("a: \"{}\"", "x\\n\\\n  ".repeat(n))])),
    ("yamldecode", |n| texts([format!("a: &a x\nb:\n{}", "- *a\n".repeat(n))])),
    ("yamldecode", |n| texts([(0..n).map(|i| format!("- &a{i} x\n")).collect()])),
    ("yamldecode", |n| texts([format!("a: &a {{x: 1}}\nb:\n{}", "- {<<: *a, y: 2}\n".repeat(n))])),
    ("templatestring", |n| vec![Value::string("x${name}".repeat(n)), name()]),
    ("templatestring", |n| vec![Value::string("%{ if true }x%{ endif }\n".repeat(n)), name()]),
    ("regex", |n| texts([numbered(n, "x", "|"), "x1".into()])),
    ("regex", |n| texts([format!("({})", numbered(n / 8, "x", ")|(")), "x1".into()])),
    ("regexall", |n| texts(["[a-z]+|(b)".into(), "ab 1".repeat(n)])),
    ("replace", |n| texts(["ab 1".repeat(n), "/(a)b/".into(), "$1-".into()])),
    ("format", |n| [texts(["%s".repeat(n)]), texts(vec!["x".to_owned(); n])].concat()),
    ("formatdate", |n| texts(["YYYY-MM-DD'T'".repeat(n), "2024-01-02T03:04:05Z".into()])),
    ("timeadd", |n| texts(["2024-01-02T03:04:05Z".into(), "1h1m1s".repeat(n)])),
    ("base64gzip", |n| texts(["ab 1".repeat(n)])),
    ("urldecode", |n| texts(["%C3%A9+".repeat(n)])),
];

fn numbered(n: usize, prefix: &str, separator: &str) -> String {
    (0..n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(separator)
}

fn texts(texts: impl IntoIterator<Item = String>) -> Vec<Value> {
    texts.into_iter().map(Value::string).collect()
}

fn name() -> Value {
    Value::object([("name", Value::string("x"))])
}

/// How an argument grows.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Text(&'static str),
    Elements(fn(usize) -> Value),
}

const ELEMENT_SHAPES: [fn(usize) -> Value; 7] = [
    |i| Value::string(format!("s{i}")),
    |_| Value::string("same"),
    |i| Value::int(i as i64),
    |i| if i % 2 == 0 { Value::int(i as i64) } else { Value::string(format!("s{i}")) },
    |i| Value::tuple(vec![Value::string(format!("s{i}"))]),
    |i| Value::object([("a", Value::int(i as i64))]),
    |i| if i % 2 == 0 { Value::null_dynamic() } else { Value::bool(true) },
];

impl Shape {
    fn all(value: &Value) -> Vec<Shape> {
        match value.ty() {
            Type::String => TEXTS.iter().map(|text| Shape::Text(text)).collect(),
            Type::Tuple(_) | Type::Object(_) => {
                ELEMENT_SHAPES.iter().map(|element| Shape::Elements(*element)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The value with its size divided by `part`.
    fn grown(self, value: &Value, part: usize) -> Value {
        match (self, value.ty()) {
            (Shape::Text(text), Type::String) => Value::string(text.repeat(BYTES / part / text.len())),
            (Shape::Elements(element), Type::Tuple(_)) => Value::tuple((0..ELEMENTS / part).map(element).collect()),
            (Shape::Elements(element), Type::Object(_)) => {
                Value::object((0..ELEMENTS / part).map(|i| (format!("k{i}"), element(i))))
            }
            _ => value.clone(),
        }
    }
}

/// The recorded calls: a name and arguments.
fn calls() -> Vec<(&'static str, Vec<Value>)> {
    let scope = fixture();
    let lines = include_str!("recorded/calls.txt").lines();
    let parse = |line: &'static str| {
        let mut fields = line.split(" | ");
        let name = fields.next().unwrap_or_default();
        (name, fields.map(|source| value_of(source, &scope).expect("a valid argument")).collect())
    };
    lines.map(parse).collect()
}

/// CPU time that the thread has used.
fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the structure that it is given, and to nothing else.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(done, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The least work of some calls; nothing if the arguments do not fit the parameters.
fn work(function: &dyn Function, args: &[Value], runs: usize) -> Option<Duration> {
    let signature = function.signature();
    let scope = fixture();
    let convert_all = || -> Option<Vec<Value>> {
        let param = |i: usize| signature.params.get(i).or(signature.variadic.as_ref());
        args.iter().enumerate().map(|(i, arg)| convert(arg, &param(i)?.ty).ok()).collect()
    };
    convert_all()?;
    let once = || {
        let start = thread_time();
        drop(invoke(function, convert_all()?, &CallContext { scope: &scope, dialect: Dialect::default() }));
        Some(thread_time() - start)
    };
    (0..runs).filter_map(|_| once()).min()
}

/// A complaint, if the work for `args(1)` is more than `MOST` times that for `args(4)`, which is a quarter of it.
fn check(name: &str, shape: &str, args: impl Fn(usize) -> Vec<Value>) -> Option<String> {
    let function = lookup(name).expect("a known function");
    if work(function, &args(1), 1)? < UNNOTICED {
        return None;
    }
    let whole = work(function, &args(1), 3).filter(|least| *least >= UNNOTICED)?;
    let quarter = work(function, &args(4), 5)?;
    let factor = whole.as_secs_f64() / quarter.as_secs_f64();
    (factor > MOST).then(|| format!("{name} ({shape}): {quarter:?} -> {whole:?}, {factor:.1} times"))
}

#[test]
#[ignore = "compares times, and takes a minute"]
fn work_grows_with_the_input() {
    let mut bad = Vec::new();
    for (name, args) in calls() {
        for (i, arg) in args.iter().enumerate() {
            for shape in Shape::all(arg) {
                let grown = |part: usize| {
                    let mut args = args.clone();
                    args[i] = shape.grown(arg, part);
                    args
                };
                bad.extend(check(name, &format!("argument {i}, {shape:?}"), grown));
                let all = |part: usize| args.iter().map(|arg| shape.grown(arg, part)).collect();
                if i == 0 && args.len() > 1 && !PRODUCTS.contains(&name) {
                    bad.extend(check(name, &format!("all arguments, {shape:?}"), all));
                }
            }
        }
        let variadic = lookup(name).is_some_and(|f| f.signature().variadic.is_some());
        if let Some(last) = args.last().filter(|_| variadic) {
            let many = |part: usize| {
                let more = std::iter::repeat_n(last.clone(), ELEMENTS / part);
                args.iter().cloned().chain(more).collect()
            };
            bad.extend(check(name, "many arguments", many));
        }
    }
    for (i, (name, args)) in STRUCTURED.iter().enumerate() {
        bad.extend(check(name, &format!("structured {i}"), |part| args(ELEMENTS / part)));
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn every_function_is_called() {
    let called: Vec<&str> = calls().into_iter().map(|(name, _)| name).collect();
    let missing: Vec<&str> = names()
        .into_iter()
        .filter(|name| !called.contains(name) && !NOT_RECORDED.contains(name))
        .filter(|name| STRUCTURED.iter().all(|(structured, _)| structured != name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
