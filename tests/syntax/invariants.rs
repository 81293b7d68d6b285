//! Invariants for any text: tokens cover it, spans are inside it and nested, all diagnostics can be rendered.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use base::diag::Diagnostics;
use base::source::{SourceFile, Span};
use lang::eval::{Resolved, Scope, evaluate};
use lang::functions::{self, Function};
use lang::syntax::ast::{Expr, ExprKind, Expression, Traversal};
use lang::syntax::body::Body;
use lang::syntax::lexer::{Start, scan};
use lang::syntax::token::TokenKind;
use lang::syntax::visit::each_child;
use lang::syntax::{parse_expression, parse_file, parse_template, parse_traversal, parse_traversal_pattern};
use render::json::diagnostic::diagnostic_json;
use render::text::diagnostic::render_one;
use render::text::style::Style;
use terrane_value::{Type, Value};

/// Reads a text in every way there is, and evaluates what it holds. Panics if something does not hold.
pub fn check(text: &str) {
    tokens_cover(text, Start::Normal);
    tokens_cover(text, Start::Template);
    let file = SourceFile::new("t.tf", text);
    let (body, said) = parse_file(file.clone());
    show(&said);
    check_body(&body, text);
    for parse in [parse_expression, parse_template] {
        let (expression, said) = parse(file.clone());
        show(&said);
        check_expression(&expression, text);
    }
    for parse in [parse_traversal, parse_traversal_pattern] {
        let (traversal, said) = parse(file.clone());
        show(&said);
        assert!(traversal.is_some() || said.has_errors());
        traversal.iter().for_each(|t| within(t.span, whole(text), text));
    }
}

fn whole(text: &str) -> Span {
    Span::new(0, text.len())
}

fn tokens_cover(text: &str, start: Start) {
    let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let tokens = scan(text, start);
    for token in &tokens {
        let (from, to) = (token.start as usize, token.end as usize);
        let between = text.get(at..from).unwrap_or_else(|| panic!("{token:?} begins within a character or another"));
        assert!(between.chars().all(|c| c == ' ' || c == '\t'), "{between:?} before {token:?}");
        assert!(text.get(from..to).is_some() && (to > from || token.kind == TokenKind::End), "{token:?}");
        at = to;
    }
    assert_eq!((at, tokens.last().map(|t| t.kind)), (text.len(), Some(TokenKind::End)));
}

fn within(span: Span, outer: Span, text: &str) {
    assert!(span.start <= span.end && outer.start <= span.start && span.end <= outer.end, "{span:?} in {outer:?}");
    assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?} cuts a character");
}

fn check_body(body: &Body, text: &str) {
    within(body.range().span, whole(text), text);
    for attribute in body.attributes() {
        within(attribute.span, whole(text), text);
        within(attribute.name.span, attribute.span, text);
        within(attribute.equals, attribute.span, text);
        check_expression(&attribute.expr, text);
    }
    for block in body.blocks() {
        let range = block.range().span;
        within(range, whole(text), text);
        block.labels.iter().for_each(|label| within(label.span, whole(text), text));
        check_body(&block.body, text);
    }
}

fn check_expression(expression: &Expression, text: &str) {
    check_node(&expression.node, whole(text), text);
    within(expression.node.start_span(), whole(text), text);
    expression.variables().iter().for_each(|t| within(t.span, whole(text), text));
    expression.functions().iter().for_each(|c| within(c.name_span, whole(text), text));
    let (value, said) = evaluate(expression, &*SCOPE);
    show(&said);
    assert!(value.is_known() || !value.is_null());
}

fn check_node(node: &Expr, outer: Span, text: &str) {
    within(node.span, outer, text);
    // What a splat does with each element is behind the element, which stands at the splat's marker.
    let inner = if let ExprKind::Splat { .. } = node.kind { outer } else { node.span };
    each_child(&node.kind, &mut |child| {
        let item = matches!(child.kind, ExprKind::SplatItem);
        check_node(child, if item { outer } else { inner }, text)
    });
}

/// Shows diagnostics to people and programs.
fn show(said: &Diagnostics) {
    for diagnostic in said.iter().take(20) {
        for range in diagnostic.subject.iter().chain(&diagnostic.context) {
            within(range.span, whole(range.file.text()), range.file.text());
        }
        assert!(render_one(diagnostic, &Style::plain()).contains(&diagnostic.summary));
        serde_json::to_string(&diagnostic_json(diagnostic)).unwrap();
    }
}

/// A few variables of every kind, and the functions.
struct Variables(BTreeMap<&'static str, Value>);

static SCOPE: LazyLock<Variables> = LazyLock::new(|| {
    let text = Value::string("te\u{301}xt");
    let list = Value::tuple(vec![Value::number(1u64), text.clone(), Value::bool(true)]);
    let object = BTreeMap::from([(Arc::from("a"), text.clone()), (Arc::from("b"), list.clone())]);
    Variables(BTreeMap::from([
        ("s", text),
        ("l", list),
        ("o", Value::object(object)),
        ("n", Value::null(Type::String)),
        ("u", Value::unknown(Type::String)),
        ("d", Value::dynamic()),
        ("p", Value::string("secret").mark(terrane_value::Marks::SENSITIVE)),
    ]))
});

impl Scope for Variables {
    fn resolve(&self, traversal: &Traversal, _: &Arc<SourceFile>) -> Resolved {
        match traversal.attr(0).filter(|_| traversal.root_name() == "var").and_then(|name| self.0.get(name)) {
            Some(value) => Resolved::value(value.clone(), 1),
            None => Resolved::value(Value::dynamic(), traversal.steps.len()),
        }
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        // Slow on purpose.
        functions::lookup(name).filter(|_| name != "bcrypt").map(|f| f as &dyn Function)
    }
}
