//! The parser on whole texts: trees, recovery, ranges and messages.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::super::ast::*;
use super::*;

/// A compact rendering of a tree, for comparison.
fn show(expr: &Expr) -> String {
    let list = |items: &[Arc<Expr>]| items.iter().map(|e| show(e)).collect::<Vec<_>>().join(" ");
    match &expr.kind {
        ExprKind::Number(n) => n.to_string(),
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::Null => "null".into(),
        ExprKind::Variable(t) => t.to_string(),
        ExprKind::RelativeTraversal { source, steps } => {
            steps.iter().fold(format!("<{}>", show(source)), |s, step| s + &step.to_string())
        }
        ExprKind::Template(t) => {
            let mut out = String::from("\"");
            for part in &t.parts {
                match part {
                    TemplatePart::Literal { text, .. } => out += &text.escape_debug().to_string(),
                    TemplatePart::Interpolation(e) => write!(out, "${{{}}}", show(e)).unwrap(),
                    TemplatePart::Directive(e) => write!(out, "%{{{}}}", show(e)).unwrap(),
                }
            }
            out + "\""
        }
        ExprKind::TemplateJoin(e) => format!("join {}", show(e)),
        ExprKind::Index { collection, key, .. } => format!("(index {} {})", show(collection), show(key)),
        ExprKind::Splat { source, each, full, .. } => {
            format!("({} {} {})", if *full { "[*]" } else { ".*" }, show(source), show(each))
        }
        ExprKind::SplatItem => "@".into(),
        ExprKind::JsonString(_) | ExprKind::JsonObject { .. } => "json".into(),
        ExprKind::Call(c) => format!("({} {}{})", c.name, list(&c.args), if c.expand_final { "..." } else { "" }),
        ExprKind::Conditional { condition, then, otherwise } => {
            format!("(? {} {} {})", show(condition), show(then), show(otherwise))
        }
        ExprKind::Binary { op, left, right, .. } => format!("({op:?} {} {})", show(left), show(right)),
        ExprKind::Unary { op, operand, .. } => format!("({op:?} {})", show(operand)),
        ExprKind::Tuple { elements, .. } => format!("[{}]", list(elements)),
        ExprKind::Object { items, .. } => {
            let items: Vec<_> = items.iter().map(|i| format!("{}={}", show(&i.key), show(&i.value))).collect();
            format!("{{{}}}", items.join(" "))
        }
        ExprKind::For(f) => {
            let key = f.key.as_ref().map_or(String::new(), |k| format!("{} => ", show(k)));
            let condition = f.condition.as_ref().map_or(String::new(), |c| format!(" if {}", show(c)));
            let name = f.key_var.as_ref().map_or(String::new(), |k| format!("{} ", k.name));
            let dots = if f.grouping { "..." } else { "" };
            format!(
                "(for {name}{} {}: {key}{}{dots}{condition})",
                f.value_var.name,
                show(&f.collection),
                show(&f.value)
            )
        }
        ExprKind::Parens(e) => format!("({})", show(e)),
        ExprKind::Error => "!".into(),
    }
}

fn check_expression(text: &str, expected: &str) {
    let (expr, diagnostics) = parse_expression(SourceFile::new("t", text));
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    assert_eq!(show(&expr.node), expected, "{text}");
    assert_eq!(expr.range().text().trim(), text.trim(), "range of {text}");
}

#[test]
fn expressions() {
    check_expression("1 + 2 * 3 - 4", "(Subtract (Add 1 (Multiply 2 3)) 4)");
    check_expression("a || b && c == d != e", "(Or a (And b (NotEqual (Equal c d) e)))");
    check_expression("-a + !b", "(Add (Negate a) (Not b))");
    check_expression("a ? b : c ? d : e", "(? a b (? c d e))");
    check_expression("var.x[0][\"k\"].y.1.z", "var.x[0][\"k\"].y[1].z");
    check_expression("a[b.c].d", "<(index a b.c)>.d");
    check_expression("a.*.b.0.c[1]", "<(.* a <@>.b[0].c)>[1]");
    check_expression("a[*].b[0][c]", "([*] a (index <@>.b[0] c))");
    check_expression("a.b[*].c[*].d", "([*] a.b ([*] <@>.c <@>.d))");
    check_expression("ns::a::f(x, [1,\n2,], y...)", "(ns::a::f x [1 2] y...)");
    check_expression("{ a = 1, \"b\": 2\n (c) = 3\n}", "{a=1 \"b\"=2 (c)=3}");
    check_expression("[for x in xs : x if x > 1]", "(for x xs: x if (Greater x 1))");
    check_expression("{\n for k, v in xs : k => v... \n}", "(for k v xs: k => v...)");
    check_expression("f(x).y[0]", "<(f x)>.y[0]");
}

#[test]
fn templates() {
    check_expression(r#""a${b}c$${d}%%{e}$f\n\u00e9""#, r#""a${b}c${d}%{e}$f\né""#);
    check_expression(r#""${a}""#, r#""${a}""#);
    check_expression(r#""x  ${~ a ~}  y""#, r#""x${a}y""#);
    check_expression(r#""%{ if a }b%{ else }c%{ endif }""#, r#""%{(? a "b" "c")}""#);
    check_expression(r#""%{ for k, v in m }${k}%{ endfor }""#, r#""%{join (for k v m: "${k}")}""#);
    check_expression("<<EOT\n  a\n b ${c}\nEOT\n", r#""  a\n b ${c}\n""#);
    check_expression("<<-EOT\n    a\n\n      b ${c}\n    EOT\n", r#""a\n\n  b ${c}\n""#);
    check_expression("<<EOT\na\r\nEOT\r\n", r#""a\r\n""#);
    check_expression("<<-EOT\n  %{ if x ~}\n  y\n  %{ endif ~}\n  EOT\n", r#""%{(? x "  y\n" "")}""#);
}

/// Summary, subject (and context, if any) of each error.
fn errors(text: &str) -> String {
    let (_, diagnostics) = parse_file(SourceFile::new("t", text));
    let shown = diagnostics.iter().map(|d| {
        let range = |r: &base::source::Range| format!("{:?}", r).replace("t:", "");
        let context = d.context.as_ref().map_or(String::new(), |c| format!(" in {}", range(c)));
        format!("{} @{}{context}", d.summary, d.subject.as_ref().map_or("?".into(), range))
    });
    shown.collect::<Vec<_>>().join("; ")
}

#[test]
fn all_errors_are_reported() {
    let cases = [
        ("a = \n", "Invalid expression @1,5-2,1"),
        ("a = 1 b = 2\nc = 1\nc = 2\n", "Missing newline after argument @1,7-8 in 1,1-8; Attribute redefined @3,1-2"),
        ("a = 1,\n", "Unexpected comma after argument @1,6-7 in 1,1-7"),
        ("x {\n", "Unclosed configuration block @1,3-4"),
        ("x { a = 1, b = 2 }\n", "Invalid single-argument block definition @1,10-11"),
        ("\"a\" = 1\n", "Invalid argument name @1,1-2"),
        ("a\n", "Argument or block definition required @1,1-2"),
        ("a = 'x'\n", "Invalid character @1,5-6; Invalid expression @1,5-6"),
        ("a = \"x\n", "Invalid multi-line string @1,7-2,1; Unterminated template string @1,7-2,1 in 1,6-2,1"),
        ("a = x | y\n", "Unsupported operator @1,7-8; Missing newline after argument @1,7-8 in 1,1-8"),
        ("a = { b 1 }\n", "Missing key/value separator @1,9-10 in 1,5-10"),
        ("a = [1 2]\n", "Missing item separator @1,8-9 in 1,5-9"),
        ("a = f(1 2)\n", "Missing argument separator @1,9-10 in 1,5-10"),
        ("a = 1.2.3\n", "Invalid number literal @1,5-10"),
        ("a = \"\\q\"\n", "Invalid escape sequence @1,6-8"),
        ("a = \"${b\"\n", "Invalid multi-line string @1,10-2,1; Unclosed template interpolation sequence @1,6-8"),
        ("a = x.\n", "Invalid attribute name @1,7-2,1"),
        ("a = x ? 1\n", "Missing false expression in conditional @1,10-2,1 in 1,5-2,1"),
    ];
    for (text, expected) in cases {
        assert_eq!(errors(text), expected, "{text:?}");
    }
}

#[test]
fn bodies_have_blocks_and_ranges() {
    let file = SourceFile::new("t", "resource \"a\" b {\n  x = 1 # c\n  y { z = 2 }\n}\n");
    let (body, diagnostics) = parse_file(file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let block = body.blocks()[0];
    assert_eq!(block.labels.iter().map(|l| &*l.text).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(block.header_range().text(), "resource \"a\" b");
    assert_eq!(format!("{:?}", block.body.missing_item_range()), "t:1,16-16");
    assert_eq!(block.body.attributes()[0].range().text(), "x = 1");
    assert_eq!(block.body.blocks()[0].body.attributes()[0].range().text(), "z = 2");
}

#[test]
fn nesting_is_limited() {
    // Unoptimised frames are large.
    let deep = std::thread::Builder::new().stack_size(16 << 20).spawn(check_nesting).unwrap();
    deep.join().unwrap();
}

fn check_nesting() {
    let many = 20_000;
    for (open, close) in [("(", ")"), ("[", "]"), ("{a=", "}"), ("-", ""), ("f(", ")"), ("\"${", "}\""), ("a?b:", "")] {
        let text = format!("a = {}1{}\n", open.repeat(many), close.repeat(many));
        let (_, diagnostics) = parse_file(SourceFile::new("t", text));
        assert_eq!(diagnostics.iter().next().map(|d| d.summary.as_str()), Some("Nesting too deep"), "{open}");
    }
    for chain in ["[b]", "[*]"] {
        let text = format!("a = x{}\n", chain.repeat(many));
        let (_, diagnostics) = parse_file(SourceFile::new("t", text));
        assert_eq!(diagnostics.iter().next().map(|d| d.summary.as_str()), Some("Nesting too deep"), "{chain}");
    }
    let blocks = format!("{}{}", "b {\n".repeat(many), "}\n".repeat(many));
    assert!(parse_file(SourceFile::new("t", blocks)).1.has_errors());
}

/// Walks everything that has a span.
fn check_ranges(text: &str) {
    let file = SourceFile::new("t", text);
    let len = text.len() as u32;
    let check = |span: Span| assert!(span.start <= span.end && span.end <= len, "{span:?} of {len} in {text:?}");
    fn expr(e: &Expr, check: &dyn Fn(Span)) {
        check(e.span);
        super::super::visit::each_child(&e.kind, &mut |child| expr(child, check));
    }
    fn body(b: &Body, check: &dyn Fn(Span)) {
        check(b.range().span);
        b.attributes().iter().for_each(|a| {
            check(a.span);
            expr(&a.expr.node, check);
        });
        b.blocks().iter().for_each(|b| {
            check(b.range().span);
            body(&b.body, check);
        });
    }
    let (tree, diagnostics) = parse_file(file.clone());
    body(&tree, &check);
    diagnostics.iter().flat_map(|d| d.subject.iter().chain(&d.context)).for_each(|r| check(r.span));
    expr(&parse_expression(file.clone()).0.node, &check);
    expr(&parse_template(file.clone()).0.node, &check);
    let _ = parse_traversal_pattern(file);
}

const SEED: &str = "locals {\n  a = [for k, v in var.m : \"${k}-%{ if v }x%{ else }y%{ endif }\" if v != null]\n  b = <<-EOT\n    hi ${upper(a.b[0].*.c)}\n    EOT\n  c = { x = 1, \"y\" = -2.5e3 ? a[*].b : f(x...) }\n}\n";

proptest! {
    #[test]
    fn any_text_parses(text in "(\\PC|\n){0,60}") {
        check_ranges(&text);
    }

    #[test]
    fn token_soup_parses(words in prop::collection::vec(prop::sample::select(vec![
        "a", "for ", "in ", "if ", "{", "}", "[", "]", "(", ")", "\"", "${", "%{", "~}", "=", ":", "?", ",", ".", "*", "\n",
        "<<E\n", "E\n", "1", "...", "=>", "::", "#", "/*", "*/", "else", "endif", "endfor", "\\", "-", "é", " ", "\r",
    ]), 0..40)) {
        check_ranges(&words.concat());
    }

    #[test]
    fn damaged_configuration_parses(cut in 0..SEED.len(), drop in 0usize..12, insert in "[\\[\\](){}\"$%~=,.\n]{0,3}") {
        let mut text = SEED.to_string();
        text.replace_range(cut..(cut + drop).min(SEED.len()), &insert);
        check_ranges(&text);
    }
}
