//! References to key providers in expressions.

use std::sync::Arc;

use base::diag::Diagnostic;
use base::source::SourceFile;
use lang::syntax::ast::{ExprKind, Expression, Traversal, TraversalStep};

/// The root name of keys.
pub const KEY_PROVIDER: &str = "key_provider";

/// The type and name of a key provider that a reference names, and nothing behind it.
pub fn key_provider_of(traversal: &Traversal) -> Option<(&str, &str)> {
    if traversal.root_name() != KEY_PROVIDER || traversal.steps.len() != 2 {
        return None;
    }
    Some((traversal.attr(0)?, traversal.attr(1)?))
}

/// What is wrong with a reference that does not name a key provider as it should.
pub fn malformed(traversal: &Traversal, file: &Arc<SourceFile>) -> Option<Diagnostic> {
    let is_key = traversal.root_name() == KEY_PROVIDER && traversal.steps.len() == 2;
    let is_attribute = |step: &TraversalStep| matches!(step, TraversalStep::Attr { .. });
    if !is_key || traversal.steps.iter().all(is_attribute) {
        return None;
    }
    let detail = "The key_provider symbol must be followed by two more attribute names specifying the type and name of the \
                  selected key provider.";
    Some(Diagnostic::error("Invalid Key Provider expression format", detail).at(traversal.span.in_file(file)))
}

/// A reference to a key provider in a string of JSON.
pub fn quoted_key(expr: &Expression) -> Option<&Traversal> {
    let ExprKind::JsonString(_) = expr.kind() else { return None };
    expr.as_traversal().filter(|reference| reference.root_name() == KEY_PROVIDER)
}

/// True for an expression that is nothing but a reference to a key provider.
pub fn is_bare_key(expr: &Expression) -> bool {
    expr.as_traversal().is_some_and(|reference| key_provider_of(reference).is_some())
}
