//! Which names are valid, and the references that are written as text of their own: traversals in quotes, provider
//! names, `depends_on`.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::source::{Range, SourceFile, Span};
use lang::syntax::ast::{
    Attribute, Block, Expr, ExprKind, Expression, Ident, IndexKey, Template, TemplateForm, TemplatePart, Traversal,
    TraversalStep,
};
use lang::syntax::parser;
use lang::syntax::syntax_errors::{not_a_list, not_a_reference};
use terrane_value::identifier::is_identifier;

use super::block::ProviderRef;
use crate::addr;
use crate::addr::provider::parse_part;
use crate::model_errors::INVALID_LOCAL_NAME;

/// The detail of every message about a bad identifier.
pub const BAD_IDENTIFIER: &str =
    "A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.";

/// Reports a label that is not an identifier.
pub fn check_label(block: &Block, label: usize, summary: &str, diags: &mut Diagnostics) {
    if !is_identifier(block.label(label)) {
        diags.push(Diagnostic::error(summary, BAD_IDENTIFIER).at(block.label_range(label)));
    }
}

/// "The block type name ... is reserved": `context` names the kind of block that it stands in.
pub fn reserved_block(block: &Block, context: &str) -> Diagnostic {
    Diagnostic::error(
        format!("Reserved block type name in {context} block"),
        format!("The block type name {:?} is reserved for use by {PROGRAM} in a future version.", &*block.kind.name),
    )
    .at(block.kind_range())
}

/// Reads a provider's local name in its normal form: lower case, letters, digits and dashes.
pub fn check_provider_name(name: &str, range: &Range) -> Option<Diagnostic> {
    let detail = match parse_part(name) {
        Ok(normal) if normal == name => return None,
        Ok(normal) => format!("Provider names must be normalized. Replace {name:?} with {normal:?} to fix this error."),
        Err(problem) => format!("{name} is an invalid provider local name: {problem}"),
    };
    Some(Diagnostic::error(INVALID_LOCAL_NAME, detail).at(range.clone()))
}

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
    let parse = |text: &str| parser::parse_traversal(SourceFile::new(expr.file.name(), text));
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

/// What stands where a provider configuration should be named.
pub const INVALID_PROVIDER_REFERENCE: &str = "Invalid provider configuration reference";

/// A reference to a provider configuration: `aws` or `aws.west`.
pub fn provider_ref(expr: &Expression, argument: &str, diags: &mut Diagnostics) -> Option<ProviderRef> {
    let native = native_expression(expr, &mut Diagnostics::new()).filter(|native| expr.is_json() && has_key(native));
    let expr = native.unwrap_or_else(|| unquote(expr, false, diags));
    let invalid = |detail: String, range: Range| Diagnostic::error(INVALID_PROVIDER_REFERENCE, detail).at(range);
    let (expr, key) = split_key(named_by_word(expr));
    let expr = named_by_word(expr);
    let usable = expr.as_traversal().filter(|t| t.steps.len() <= 1);
    let Some(traversal) = usable else {
        diags.push(invalid(
            format!(
                "The {argument} argument requires a provider type name, optionally followed by a period and then a \
                 configuration alias."
            ),
            expr.range(),
        ));
        return None;
    };
    let name = traversal.root.name.clone();
    let name_span = traversal.root.span;
    if let Some(problem) = check_provider_name(&name, &expr.range_of(name_span)) {
        diags.push(problem);
        return None;
    }
    let alias = match traversal.steps.first() {
        None => None,
        Some(TraversalStep::Attr { name, .. }) => Some(name.name.clone()),
        Some(other) => {
            diags.push(invalid(
                "Provider name must either stand alone or be followed by a period and then a configuration alias."
                    .into(),
                expr.range_of(other.span()),
            ));
            return None;
        }
    };
    let range = expr.range_of(name_span);
    Some(ProviderRef { addr: addr::LocalProviderConfig { local_name: name, alias }, key, range })
}

fn has_key(expr: &Expression) -> bool {
    split_key(named_by_word(expr.clone())).1.is_some()
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

/// `aws.west[key]` without its key, and the key. What has no alias has no key either.
fn split_key(expr: Expression) -> (Expression, Option<Expression>) {
    match expr.kind() {
        ExprKind::Index { collection, key, .. } => (expr.part(collection), Some(expr.part(key))),
        ExprKind::Variable(traversal) => match traversal.steps.as_slice() {
            [alias @ TraversalStep::Attr { .. }, TraversalStep::Index { key, span }] => {
                let steps = vec![alias.clone()];
                let shorter =
                    Traversal { root: traversal.root.clone(), steps, span: traversal.root.span.to(alias.span()) };
                let node = Expr::new(shorter.span, ExprKind::Variable(shorter));
                let key = match key {
                    IndexKey::Number(number) => ExprKind::Number(number.clone()),
                    IndexKey::String(text) => {
                        let parts = vec![TemplatePart::Literal { text: text.clone(), span: *span }];
                        ExprKind::Template(Template { parts, form: TemplateForm::Quoted })
                    }
                };
                let part = |node: Expr| Expression { file: expr.file.clone(), node: Arc::new(node) };
                (part(node), Some(part(Expr::new(*span, key))))
            }
            _ => (expr, None),
        },
        _ => (expr, None),
    }
}

/// The place of a traversal in the file of its expression.
pub fn traversal_range(traversal: &Traversal, file: &Arc<SourceFile>) -> Range {
    let last: Span = traversal.steps.last().map_or(traversal.root.span, TraversalStep::span);
    traversal.root.span.to(last).in_file(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provider_configurations_are_named() {
        let cases = [
            ("aws", "aws", false),
            ("aws.west", "aws.west", false),
            ("null", "null", false),
            ("null.west", "null.west", false),
            ("aws.west[\"k\"]", "aws.west", true),
            ("null.west[each.key]", "null.west", true),
        ];
        for (text, addr, has_key) in cases {
            let (expr, _) = parser::parse_expression(SourceFile::new("x.tf", text));
            let mut diags = Diagnostics::new();
            let found = provider_ref(&expr, "provider", &mut diags).unwrap();
            assert_eq!(
                (found.addr.to_string().as_str(), found.key.is_some(), diags.len()),
                (addr, has_key, 0),
                "{text}"
            );
        }
    }
}
