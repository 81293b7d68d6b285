//! Native syntax to tree. Every function returns a tree, complete or not, and every mistake it met.

use std::sync::Arc;

use super::ast::{Expr, ExprKind, Expression, Traversal};
use super::body::Body;
use crate::base::diag::Diagnostics;
use crate::base::source::{SourceFile, Span};

/// A whole configuration file.
pub fn parse_file(file: Arc<SourceFile>) -> (Body, Diagnostics) {
    (Body::empty(&file), Diagnostics::new())
}

/// A file that holds one expression and nothing else.
pub fn parse_expression(file: Arc<SourceFile>) -> (Expression, Diagnostics) {
    (Expression { file, node: Arc::new(Expr { span: Span::default(), kind: ExprKind::Error }) }, Diagnostics::new())
}

/// A file that is a template, as `templatefile` reads it.
pub fn parse_template(file: Arc<SourceFile>) -> (Expression, Diagnostics) {
    parse_expression(file)
}

/// A file that holds one traversal: `aws_instance.a[0].id`.
pub fn parse_traversal(file: Arc<SourceFile>) -> (Option<Traversal>, Diagnostics) {
    let _ = file;
    (None, Diagnostics::new())
}
