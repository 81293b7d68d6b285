//! Every function with random arguments: no panic, no hang, no result beyond all bounds.
//!
//! `TERRANE_TEST_FUZZ_SECONDS`, for tests only, makes the random part run for that long, instead of for a number of calls.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use base::dialect::Dialect;
use base::source::SourceFile;
use terrane_value::convert::convert;
use terrane_value::{Marks, Number, Refinement, Type, Value};

use super::tests::fixture;
use super::{CallContext, all};
use crate::eval::{evaluate, invoke};
use crate::syntax::parse_expression;

const CALLS: u64 = 5_000;
/// Of one call, unoptimised, on a busy machine.
const SLOW: Duration = Duration::from_secs(10);
const LONGEST_RESULT: usize = 300 << 20;

/// A small generator, the same numbers each time for the same seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }

    fn pick<'t, T: ?Sized>(&mut self, of: &[&'t T]) -> &'t T {
        of[self.below(of.len())]
    }
}

const TEXTS: [&str; 62] = [
    "",
    " ",
    "a",
    "abc",
    "a,b,c",
    "é",
    "e\u{301}",
    "👨‍👩‍👧",
    "\0",
    "\n",
    "a\r\nb",
    "\"",
    "'",
    "\\",
    "true",
    "null",
    "0",
    "-1",
    "1.5",
    "1e400",
    "1e-400",
    "0x1F",
    "%s",
    "%d%%%v",
    "%-+#010.5f",
    "%[3]*.[2]*[1]f",
    "%1000000000d",
    "%.999999999s",
    "(a+)+$",
    "([a-z]*)*",
    "(?P<n>a)|b",
    "[[:alpha:]]",
    "/(a|b)*/",
    "(((((",
    "a{1000}",
    "x**",
    "10.0.0.0/8",
    "fd00::/48",
    "::1",
    "255.255.255.255/32",
    "2024-02-29T23:59:59Z",
    "9999-12-31T23:59:59.999999999+14:00",
    "0000-01-01T00:00:00Z",
    "YYYY-MM-DD'T'hh:mm:ssZ",
    "-99999999h",
    "1h30m",
    "2540400h",
    "{\"a\":[1,{\"b\":null}]}",
    "[1,2",
    "- a\n- b: [1, 2]\n",
    "a: &x {b: *x}",
    "!!binary aGk=",
    "<<: {a: 1}",
    "a,b\n1,\"2",
    "aGVsbG8=",
    "H4sIAAAAAAAA/8pIzcnJBwAAAP//AQAA//+GphA2BQAAAA==",
    "UTF-16",
    "ISO-2022-JP",
    "**/*.txt",
    "{a,b}{c,d}[",
    "d/b.tpl",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
];

fn text(chance: &mut Chance) -> String {
    match chance.below(12) {
        0 => chance.pick(&TEXTS).repeat(1 + chance.below(200)),
        1 => (0..chance.below(30)).filter_map(|_| char::from_u32(chance.next() as u32 % 0x11_0000)).collect(),
        2 => format!("{}{}", chance.pick(&TEXTS), chance.pick(&TEXTS)),
        _ => chance.pick(&TEXTS).to_owned(),
    }
}

fn number(chance: &mut Chance) -> Number {
    const NUMBERS: [&str; 20] = [
        "0",
        "-0",
        "1",
        "-1",
        "2",
        "10",
        "0.5",
        "-1.5",
        "62",
        "1024",
        "1e6",
        "-1e6",
        "1e30",
        "1e-30",
        "1e400",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551616",
        "340282366920938463463374607431768211456",
        "0.1",
    ];
    match chance.below(8) {
        0 => Number::infinity(chance.below(2) == 0),
        1 => Number::from(chance.next() as i64),
        2 if chance.below(20) == 0 => Number::parse("1e5000").unwrap(),
        _ => Number::parse(chance.pick(&NUMBERS)).unwrap(),
    }
}

fn ty(chance: &mut Chance, depth: usize) -> Type {
    match chance.below(if depth == 0 { 4 } else { 9 }) {
        0 => Type::String,
        1 => Type::Number,
        2 => Type::Bool,
        3 => Type::Dynamic,
        4 => Type::list(ty(chance, depth - 1)),
        5 => Type::set(ty(chance, depth - 1)),
        6 => Type::map(ty(chance, depth - 1)),
        7 => Type::tuple((0..chance.below(3)).map(|_| Type::String)),
        _ => Type::object([("a", Type::String), ("b", Type::Number)]),
    }
}

fn value(chance: &mut Chance, depth: usize) -> Value {
    let made = match chance.below(if depth == 0 { 6 } else { 12 }) {
        0 | 1 => Value::string(text(chance)),
        2 => Value::number(number(chance)),
        3 => Value::bool(chance.below(2) == 0),
        4 => Value::null(ty(chance, 2)),
        5 => {
            let facts = match chance.below(4) {
                0 => Refinement::default(),
                1 => Refinement::not_null(),
                2 => Refinement::not_null().with_length(chance.below(3) as u64, Some(3)),
                _ => Refinement::not_null().with_prefix("ab"),
            };
            let ty = ty(chance, 2);
            match (&ty, &facts.string_prefix, facts.length_max) {
                (Type::String, _, None) => Value::unknown_refined(ty, facts),
                (t, None, _) if t.is_collection() => Value::unknown_refined(ty, facts),
                _ => Value::unknown(ty),
            }
        }
        kind => {
            let elements: Vec<Value> = (0..chance.below(5)).map(|_| value(chance, depth - 1)).collect();
            let keyed = || ["a", "b", "", "é", "name"].into_iter().zip(elements.iter().cloned());
            let tuple = Value::tuple(elements.clone());
            match kind {
                6 => tuple,
                7 => convert(&tuple, &Type::list(Type::Dynamic)).unwrap_or(tuple),
                8 => convert(&tuple, &Type::set(Type::Dynamic)).unwrap_or(tuple),
                9 => Value::object(keyed()),
                10 => Value::tuple(std::iter::repeat_n(elements, 40).flatten().collect()),
                _ => {
                    let object = Value::object(keyed());
                    convert(&object, &Type::map(Type::Dynamic)).unwrap_or(object)
                }
            }
        }
    };
    match chance.below(12) {
        0 => made.mark(Marks::SENSITIVE),
        1 => made.mark(Marks::EPHEMERAL),
        _ => made,
    }
}

/// Calls a random function; gives its name and whether it succeeded.
fn call(chance: &mut Chance, scope: &dyn crate::eval::Scope) -> bool {
    let functions: Vec<_> = all().collect();
    let function = functions[chance.below(functions.len())];
    let signature = crate::functions::Function::signature(function);
    let count = signature.params.len() + signature.variadic.as_ref().map_or(0, |_| chance.below(4));
    let mut args = Vec::with_capacity(count);
    for i in 0..count {
        let Some(param) = signature.params.get(i).or(signature.variadic.as_ref()) else { continue };
        // Some tries, or most calls would fail for their types alone.
        let fitting = (0..8).find_map(|_| convert(&value(chance, 3), &param.ty).ok());
        args.push(fitting.unwrap_or_else(|| Value::unknown(param.ty.clone())));
    }
    let shown = || format!("{}({:.2000})", signature.name, format!("{args:?}"));
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        invoke(function, args.clone(), &CallContext { scope, dialect: Dialect::default() })
    }));
    let took = start.elapsed();
    assert!(took < SLOW, "{took:?}: {}", shown());
    match outcome {
        Ok(Ok(value)) => {
            assert!(value.as_str().map_or(value.len(), str::len) < LONGEST_RESULT, "{}", shown());
            true
        }
        Ok(Err(_)) => false,
        Err(_) => panic!("a panic in {}", shown()),
    }
}

#[test]
fn random_arguments() {
    let scope = fixture();
    let seconds = std::env::var("TERRANE_TEST_FUZZ_SECONDS").ok().and_then(|s| s.parse::<u64>().ok());
    let seed = seconds.map_or(0, |_| Instant::now().elapsed().as_nanos() as u64 ^ std::process::id() as u64);
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15 ^ seed);
    let start = Instant::now();
    let (mut calls, mut succeeded) = (0u64, 0u64);
    while seconds.map_or(calls < CALLS, |s| start.elapsed() < Duration::from_secs(s)) {
        succeeded += u64::from(call(&mut chance, &scope));
        calls += 1;
    }
    assert!(succeeded * 20 > calls, "only {succeeded} of {calls} calls had a result: the arguments are too wild");
    if seconds.is_some() {
        #[allow(clippy::print_stderr)] // the count is what a long run is for
        {
            eprintln!("{calls} calls, {succeeded} with a result");
        }
    }
}

/// Inputs that would take all memory, all time or the whole stack, if they were taken at their word.
#[test]
fn excess_ends_in_an_error_or_soon() {
    let scope = fixture();
    let nest = |open: &str, n: usize| open.repeat(n);
    let deep = 10_000;
    let source = |function: &str, text: &str| format!("{function}({})", terrane_value::text::go_quoted(text));
    let inputs = [
        "range(0, 1e9)".to_owned(),
        "range(1e1000000)".to_owned(),
        "format(\"%1000000000d\", 1)".to_owned(),
        format!("format({:?}, 1)", "%[1]999999d".repeat(1000)),
        "indent(1e12, \"a\\nb\")".to_owned(),
        format!("replace({:?}, \"a\", {:?})", "a".repeat(100_000), "b".repeat(100_000)),
        format!("replace({:?}, \"/a/\", {:?})", "a".repeat(100_000), "b".repeat(100_000)),
        "pow(10, 1e9)".to_owned(),
        "tostring(1e100000)".to_owned(),
        format!("parseint({:?}, 10)", "9".repeat(100_000)),
        format!("parseint({:?}, 62)", "z".repeat(100_000)),
        "setproduct(range(1000), range(1000), range(1000), range(1000))".to_owned(),
        "chunklist(range(1000), 1e18)".to_owned(),
        "timeadd(\"2024-01-01T00:00:00Z\", \"9223372036854775807ns\")".to_owned(),
        "cidrsubnet(\"::/0\", 128, 1e300)".to_owned(),
        "cidrsubnet(\"10.0.0.0/8\", 9223372036854775807, 0)".to_owned(),
        "cidrhost(\"::/0\", -1e300)".to_owned(),
        "substr(\"abc\", -9223372036854775807, -9223372036854775807)".to_owned(),
        format!("fileset(\".\", {:?})", "{a,b}".repeat(40)),
        format!("fileset(\".\", {:?})", "*a".repeat(200)),
        format!("fileset(\".\", {:?})", "**/".repeat(2000)),
        format!("fileset(\".\", {:?})", "d/../".repeat(2000)),
        format!("regex(\"(a+)+$\", {:?})", format!("{}b", "a".repeat(5000))),
        format!("regex({:?}, \"a\")", "a{1000}".repeat(50)),
        "regex(\"(((a{100}){100}){100}){100}\", \"a\")".to_owned(),
        source("jsondecode", &nest("[", deep)),
        source("jsondecode", &nest("{\"a\":", deep)),
        source("yamldecode", &nest("[", deep)),
        source("yamldecode", &nest("{a: ", deep)),
        source("yamldecode", &nest("- ", deep)),
        source("yamldecode", &nest("? ", deep)),
        source("yamldecode", "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]"),
        source("csvdecode", &nest("\"", deep)),
        format!("regex({:?}, \"a\")", nest("(", deep)),
        format!("regex({:?}, \"a\")", format!("{}a{}", nest("(", deep), nest(")", deep))),
        format!("regex({:?}, \"a\")", nest("[", deep)),
        format!("formatdate({:?}, \"2024-01-01T00:00:00Z\")", nest("'", deep)),
        format!("templatefile(\"d/b.tpl\", {{ name = {:?} }})", "x".repeat(1 << 20)),
        format!("title({:?})", "é ".repeat(1 << 18)),
        format!("strrev({:?})", "e\u{301}".repeat(1 << 16)),
    ];
    for input in inputs {
        let start = Instant::now();
        let (expression, _) = parse_expression(SourceFile::new("case.tf", input.as_str()));
        let (value, diagnostics) = evaluate(&expression, &scope);
        let took = start.elapsed();
        let shown: String = input.chars().take(80).collect();
        assert!(took < SLOW, "{took:?}: {shown}");
        assert!(diagnostics.has_errors() || value.as_str().map_or(0, str::len) < LONGEST_RESULT, "{shown}");
    }
}
