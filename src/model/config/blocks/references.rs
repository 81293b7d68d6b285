//! Which names are valid, and the references that are written as text of their own: traversals in quotes, provider
//! names, `depends_on`.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::source::{Range, SourceFile, Span};
use lang::syntax::ast::{Attribute, Expr, ExprKind, Expression, Ident, Traversal, TraversalStep};
use lang::syntax::parser;
use lang::syntax::syntax_errors::{not_a_list, not_a_reference};

/// An expression that should be a reference; the old form in quotes is taken with a warning.
pub fn unquote(expr: &Expression, want_keyword: bool, diags: &mut Diagnostics) -> Expression {
    let ExprKind::Template(template) = expr.kind() else { return expr.clone() };
    let Some(text) = template.as_literal() else { return expr.clone() };
    let traversal = quoted_traversal(expr, &text, diags);
    let (summary, plural, singular) = match want_keyword {
        true => ("Quoted keywords are deprecated", "keywords are", "keyword"),
        false => ("Quoted references are deprecated", "references are", "reference"),
    };
    diags.push(
        Diagnostic::warning(
            summary,
            format!(
                "In this context, {plural} expected literally rather than in quotes. Terraform 0.11 and earlier required \
                 quotes, but quoted {plural} now deprecated and will be removed in a future version of {PROGRAM}. \
                 Remove the quotes surrounding this {singular} to silence this warning."
            ),
        )
        .at(expr.range()),
    );
    let Some(traversal) = traversal else { return expr.clone() };
    let node = Expr::new(expr.node.span, ExprKind::Variable(traversal));
    Expression { file: expr.file.clone(), node: Arc::new(node) }
}

/// An argument that is a reference with keys that may be expressions: in JSON the string that holds it, read as native
/// syntax.
pub fn native_reference(attribute: &Attribute, diags: &mut Diagnostics) -> Option<Attribute> {
    let expr = native_expression(&attribute.expr, diags)?;
    Some(Attribute { expr, ..attribute.clone() })
}

/// What [`native_reference`] makes of an expression.
pub fn native_expression(expr: &Expression, diags: &mut Diagnostics) -> Option<Expression> {
    if !expr.is_json() {
        return Some(expr.clone());
    }
    let ExprKind::JsonString(text) = expr.kind() else {
        let detail = "A single reference string is required.";
        diags.push(Diagnostic::error("Invalid reference expression", detail).at(expr.range()));
        return None;
    };
    let (native, problems) = text.native(&expr.file);
    let usable = !problems.has_errors();
    diags.extend(problems);
    usable.then_some(native)
}

/// The traversal in a quoted text; what stands before the first error in it still counts.
fn quoted_traversal(expr: &Expression, text: &str, diags: &mut Diagnostics) -> Option<Traversal> {
    let inner = expr.node.span.start as usize + 1;
    let part = Span::new(inner, inner + text.len());
    let trim = |before: &str| before.trim_end_matches(|c: char| !c.is_alphanumeric() && !"_-]".contains(c)).len();
    let broken_at =
        |problems: &Diagnostics| problems.iter().find_map(|p| Some(p.subject.as_ref()?.span.start as usize));
    if part.in_file(&expr.file).text() == text {
        let (traversal, problems) = parser::parse_traversal_in(&expr.file, part);
        let before = broken_at(&problems).and_then(|at| expr.file.text().get(inner..at));
        diags.extend(problems);
        let good = before.map(|before| Span::new(inner, inner + trim(before)));
        return traversal.or_else(|| parser::parse_traversal_in(&expr.file, good?).0);
    }
    // With escapes, places in the text are not quite those in the file.
    let padded = format!("{}{text}", " ".repeat(inner));
    let parse =
        |text: &str| parser::parse_traversal(SourceFile::written_in(expr.file.dialect(), expr.file.name(), text));
    let (traversal, problems) = parse(&padded);
    let before = broken_at(&problems).and_then(|at| padded.get(..at));
    for mut problem in problems {
        problem.subject = problem.subject.map(|r| r.span.in_file(&expr.file));
        problem.context = problem.context.map(|r| r.span.in_file(&expr.file));
        diags.push(problem);
    }
    traversal.or_else(|| parse(&padded[..trim(before?)]).0)
}

/// The elements of a list that must be written out; anything else is reported.
pub fn static_list(expr: &Expression, diags: &mut Diagnostics) -> Vec<Expression> {
    expr.as_static_list().unwrap_or_else(|| {
        diags.push(not_a_list(crate::config::constants::constant::start_range(expr)));
        Vec::new()
    })
}

/// A reference and nothing else; anything else is reported.
pub fn static_traversal(expr: &Expression, diags: &mut Diagnostics) -> Option<Traversal> {
    let found = expr.as_traversal().cloned();
    if found.is_none() {
        diags.push(not_a_reference(expr.range()));
    }
    found
}

/// The references of `depends_on`.
pub fn depends_on(attribute: &Attribute, diags: &mut Diagnostics) -> Vec<Traversal> {
    let items = static_list(&attribute.expr, diags);
    let mut found = Vec::new();
    for item in items {
        let item = unquote(&item, false, diags);
        let Some(traversal) = static_traversal(&item, diags) else { continue };
        if traversal.root_name() == "action" {
            let detail = "The depends_on attribute cannot reference action blocks directly. You must reference a resource or data \
                          source instead.";
            diags.push(Diagnostic::error("Invalid depends_on Action Reference", detail).at(item.range()));
            continue;
        }
        found.push(traversal);
    }
    found
}

/// `null.west` as a reference to a provider: names come before the words of the language here.
pub fn named_by_word(expr: Expression) -> Expression {
    let word = |node: &Expr| match node.kind {
        ExprKind::Null => Some("null"),
        ExprKind::Bool(true) => Some("true"),
        ExprKind::Bool(false) => Some("false"),
        _ => None,
    };
    let (name, span, steps) = match expr.kind() {
        ExprKind::RelativeTraversal { source, steps } => (word(source), source.span, steps.clone()),
        _ => (word(&expr.node), expr.node.span, Vec::new()),
    };
    let Some(name) = name else { return expr };
    let root = Ident { name: name.into(), span };
    let traversal = Traversal { root, steps, span: expr.node.span };
    let node = Expr::new(expr.node.span, ExprKind::Variable(traversal));
    Expression { file: expr.file.clone(), node: Arc::new(node) }
}

/// The place of a traversal in the file of its expression.
pub fn traversal_range(traversal: &Traversal, file: &Arc<SourceFile>) -> Range {
    let last: Span = traversal.steps.last().map_or(traversal.root.span, TraversalStep::span);
    traversal.root.span.to(last).in_file(file)
}
