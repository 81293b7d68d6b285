//! Work grows with the text, not with its square.
//!
//! Each text is so long that the square would take minutes; what is linear takes a moment even on a busy machine.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use base::diag::Diagnostics;
use base::source::SourceFile;
use lang::eval::evaluate;
use lang::eval::scope::Constant;
use lang::syntax::body::BodySchema;
use lang::syntax::{parse_expression, parse_file, parse_template, parse_traversal};
use render::json::diagnostic::diagnostic_json;
use render::text::diagnostic::render_one;
use render::text::style::Style;

const MANY: usize = 20_000;
const PATIENCE: Duration = Duration::from_secs(20);

fn numbered(piece: impl Fn(usize) -> String) -> String {
    (0..MANY).map(piece).collect()
}

/// Texts that invite looking at everything again for each part.
fn shapes() -> Vec<(&'static str, String)> {
    let all = |piece: &str| piece.repeat(MANY);
    vec![
        ("unclosed strings", all("a = \"b\n")),
        ("one unclosed string", format!("a = \"{}", all("x \n"))),
        ("unclosed templates", all("\"${a ")),
        ("unclosed heredocs", all("a = <<EOT\n")),
        ("heredocs with other markers", numbered(|i| format!("a = <<E{i}\n"))),
        ("a heredoc of lines", format!("a = <<EOT\n{}", all("EO T\n"))),
        ("an indented heredoc", format!("a = <<-EOT\n{}  EOT\n", all("    x ${1}\n"))),
        ("dollars", format!("a = \"{}\"", all("$"))),
        ("percents in a heredoc", format!("a = <<E\n{}\nE\n", all("%"))),
        ("escapes", format!("a = \"{}\"", all("\\n$${"))),
        ("bad escapes", format!("a = \"{}\"", all("\\q"))),
        ("unclosed comments", all("/* ")),
        ("comments", all("/**/")),
        ("comment lines", all("#\n")),
        ("comments in brackets", format!("a = [{}]", all("#\n"))),
        ("open brackets", format!("a = {}", all("["))),
        ("open braces", all("{")),
        ("open blocks", all("b {\n")),
        ("closing braces", all("}\n")),
        ("mixed brackets", format!("a = {}", all("[({"))),
        ("dots", format!("a = x{}", all("."))),
        ("minuses", format!("a = {}1", all("-"))),
        ("invalid characters", all("@\n")),
        ("invalid characters in a line", "@".repeat(3_000)),
        ("words", all("a ")),
        ("bad items", all("= 1\n")),
        ("attributes without newline", all("a = 1 ")),
        ("attributes", numbered(|i| format!("a{i} = {i}\n"))),
        ("the same attribute", all("a = 1\n")),
        ("blocks", numbered(|i| format!("b \"l{i}\" {{\n}}\n"))),
        ("unterminated blocks", all("b \"l\n")),
        ("elements", format!("a = [{}]", numbered(|i| format!("{i},")))),
        ("items", format!("a = {{{}}}", numbered(|i| format!("a{i} = {i}\n")))),
        ("elements without commas", format!("a = [{}]", all("1 "))),
        ("arguments", format!("a = f({})", all("1,"))),
        ("steps", format!("a = x{}", all(".a[0]"))),
        ("operators", format!("a = 1{}", all("+1"))),
        ("failing operators", format!("a = 1{}", all("+\"x\""))),
        ("scopes of a function", format!("a = f{}()", all("::f"))),
        ("spaced scopes of a function", format!("a = f{}()", all(" ::f"))),
        ("unknown names", format!("a = [{}]", numbered(|i| format!("x{i},")))),
        ("unknown functions", format!("a = [{}]", numbered(|i| format!("f{i}(),")))),
        ("literals", format!("a = \"{}\"", all("${1}"))),
        ("directives", format!("a = \"{}\"", all("%{if true}x%{else}y%{endif}"))),
        ("open directives", format!("a = \"{}\"", all("%{if true}"))),
        ("ends of directives", format!("a = \"{}\"", all("%{endif}"))),
        ("trimmed markers", format!("a = \"{}\"", all("${~ 1 ~}   "))),
        ("blanks before a trim", format!("a = \"{}\"", all("  \\n ${~1}"))),
        ("combining characters", format!("a = \"{}\" \"{}\"", all("e\u{301}"), all("\u{e9}"))),
    ]
}

/// Reads, evaluates and shows a text in every way.
fn whole_way(text: &str) {
    let (body, said) = parse_file(SourceFile::new("t.tf", text));
    show(&said);
    let schema = BodySchema::new().attribute("aa").block("bb", &["name"]);
    show(&body.content(&schema).1);
    for attribute in body.attributes() {
        attribute.expr.variables();
        attribute.expr.functions();
        show(&evaluate(&attribute.expr, &Constant).1);
    }
    for parse in [parse_expression, parse_template] {
        let (expression, said) = parse(SourceFile::new("t.tf", text));
        show(&said);
        show(&evaluate(&expression, &Constant).1);
    }
    show(&parse_traversal(SourceFile::new("t.tf", text)).1);
}

/// All of them, unless each shows a line that is nearly the whole text: that is what it is.
fn show(said: &Diagnostics) {
    let subject = said.iter().find_map(|d| d.subject.as_ref());
    let long_lines = subject.is_some_and(|s| s.file.text().lines().any(|line| line.len() > 1000));
    for diagnostic in said.iter().take(if long_lines { 20 } else { usize::MAX }) {
        assert!(!render_one(diagnostic, &Style::plain()).is_empty());
        serde_json::to_string(&diagnostic_json(diagnostic)).unwrap();
    }
}

#[test]
fn nothing_grows_with_the_square() {
    let only = std::env::var("TERRANE_TEST_SHAPE").ok();
    let mut slow = String::new();
    for (name, text) in shapes().into_iter().filter(|(name, _)| only.as_ref().is_none_or(|only| name == only)) {
        let begin = Instant::now();
        // Unoptimised frames are large.
        let stack = if cfg!(debug_assertions) { 16 << 20 } else { 2 << 20 };
        let work = std::thread::Builder::new().stack_size(stack).spawn(move || whole_way(&text)).unwrap();
        while !work.is_finished() && begin.elapsed() < PATIENCE {
            std::thread::yield_now();
            std::thread::park_timeout(Duration::from_millis(2));
        }
        let took = begin.elapsed();
        if !work.is_finished() || took > PATIENCE {
            writeln!(slow, "{name}: more than {PATIENCE:?}").unwrap();
        } else {
            work.join().unwrap_or_else(|_| panic!("{name}"));
            if only.is_some() || took > Duration::from_secs(3) {
                println!("{name}: {took:?}");
            }
        }
    }
    assert!(slow.is_empty(), "{slow}");
}
