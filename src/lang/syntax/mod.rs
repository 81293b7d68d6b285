//! Text to tree and back: always a tree plus a list of errors. Knows no values.

pub mod ast;
pub mod body;
mod body_json;
pub mod fmt;
pub mod json;
pub mod lexer;
pub mod parser;
pub mod quote;
pub mod syntax_errors;
pub mod token;
pub mod unfinished;
pub mod visit;

pub use ast::{Attribute, Block, Expr, ExprKind, Expression, Ident, Label, Traversal, TraversalStep};
pub use body::{AttributeSchema, BlockSchema, Body, BodySchema, Content};
pub use parser::{parse_expression, parse_file, parse_template, parse_traversal, parse_traversal_pattern};
