//! All functions against answers recorded from the reference's console (1.11.4), in `recorded.txt`: an expression, then,
//! indented, what it prints, with white space collapsed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Function, Machine, lookup, names};
use crate::base::files::{Files, Memory};
use crate::base::source::SourceFile;
use crate::lang::eval::scope::{Constant, Resolved};
use crate::lang::eval::{Scope, evaluate};
use crate::lang::syntax::ast::Traversal;
use crate::lang::syntax::parse_expression;
use crate::lang::value::text::go_quoted;
use crate::lang::value::{Type, Value};

struct Fixture {
    files: Memory,
}

impl Machine for Fixture {
    fn files(&self) -> &dyn Files {
        &self.files
    }

    fn base_dir(&self) -> &Path {
        Path::new("")
    }

    fn home_dir(&self) -> Option<PathBuf> {
        Some(PathBuf::from("/home/me"))
    }

    fn pure_only(&self) -> bool {
        true
    }

    fn now(&self) -> (i64, u32) {
        (1_700_000_000, 0)
    }

    fn plan_time(&self) -> Option<(i64, u32)> {
        Some((1_700_000_000, 0))
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

impl Scope for Fixture {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        Constant.resolve(traversal, file)
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

fn fixture() -> Fixture {
    let files = Memory::of([
        ("a.txt", &b"hello"[..]),
        ("bin", &[0xff, 0xfe]),
        ("d/x.txt", b"x\n"),
        ("d/sub/y.txt", b"y\n"),
        ("d/.hid", b""),
    ]);
    Fixture { files }
}

fn show(value: &Value, out: &mut String) {
    let (open, close) = match value.ty() {
        _ if value.is_sensitive() => return out.push_str("(sensitive value)"),
        _ if !value.is_known() => return out.push_str("(known after apply)"),
        Type::Dynamic => return out.push_str("null"),
        Type::List(_) if value.is_null() => return out.push_str("tolist(null)"),
        Type::Map(_) if value.is_null() => return out.push_str("tomap(null)"),
        ty if value.is_null() => return out.push_str(&format!("to{}(null)", ty.friendly_name())),
        Type::String => {
            let text = value.as_str().unwrap();
            let multi = text.contains('\n');
            return out.push_str(&if multi { format!("<<EOT\n{text}\nEOT") } else { go_quoted(text) });
        }
        Type::Number => return out.push_str(&value.as_number().unwrap().to_string()),
        Type::Bool => return out.push_str(&value.is_true().to_string()),
        Type::List(_) => ("tolist([", "])"),
        Type::Set(_) => ("toset([", "])"),
        Type::Tuple(_) => ("[", "]"),
        Type::Map(_) => ("tomap({", "})"),
        Type::Object(_) => ("{", "}"),
    };
    out.push_str(open);
    let edge = if value.is_empty() { "" } else { "\n" };
    for element in value.elements() {
        out.push('\n');
        show(element, out);
        out.push(',');
    }
    for (key, element) in value.entries() {
        out.push_str(&format!("\n{} = ", go_quoted(key)));
        show(element, out);
    }
    out.push_str(edge);
    out.push_str(close);
}

fn answer(source: &str, scope: &dyn Scope) -> String {
    let (expression, mut diagnostics) = parse_expression(SourceFile::new("<console-input>", source));
    let mut out = String::new();
    if !diagnostics.has_errors() {
        let (value, found) = evaluate(&expression, scope);
        diagnostics = found;
        show(&value, &mut out);
    }
    if diagnostics.has_errors() {
        out = diagnostics.iter().map(|d| format!("Error: {} {}", d.summary, d.detail)).collect();
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn answers_as_recorded() {
    let scope = fixture();
    let mut lines = include_str!("recorded.txt").lines();
    let mut wrong = Vec::new();
    while let (Some(expression), Some(expected)) = (lines.next(), lines.next()) {
        let got = answer(expression, &scope);
        if got != expected.trim_start() {
            wrong.push(format!("{expression}\n    got  {got}\n    want {}", expected.trim_start()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn impure_functions_wait_for_apply() {
    let scope = fixture();
    for call in ["timestamp()", "uuid()", "bcrypt(\"x\")"] {
        assert_eq!(answer(call, &scope), "(known after apply)");
    }
    assert_eq!(answer("plantimestamp()", &scope), "\"2023-11-14T22:13:20Z\"");
    assert_eq!(answer("core::upper(\"a\")", &scope), "\"A\"");
}

#[test]
fn unknown_arguments_give_typed_unknowns() {
    let scope = fixture();
    assert_eq!(answer("length(timestamp()) > -1", &scope), "true");
    assert_eq!(answer("startswith(format(\"ami-%s\", uuid()), \"x\")", &scope), "false");
    assert_eq!(answer("keys({ a = uuid() })", &scope), "[ \"a\", ]");
}
