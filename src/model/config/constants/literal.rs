//! Values as expressions: what a setting that was given as a value looks like in a body.

use std::sync::Arc;

use base::source::{SourceFile, Span};
use lang::syntax::ast::{
    Attribute, Expr, ExprKind, Expression, Ident, ObjectItem, Template, TemplateForm, TemplatePart,
};
use lang::syntax::body::{Body, NativeBody};
use terrane_value::Value;

/// Settings that were given as values, as a body in a file of that name.
pub fn settings_of_values(name: &str, values: &[(Arc<str>, Value)]) -> Body {
    let file = SourceFile::new(name, "");
    let span = Span::default();
    let attribute = |(name, value): &(Arc<str>, Value)| Attribute {
        name: Ident { name: name.clone(), span },
        expr: Expression { file: file.clone(), node: literal_node(value, span) },
        equals: span,
        span,
    };
    let attributes = values.iter().map(attribute).collect();
    Body::native(NativeBody { file: file.clone(), attributes, blocks: Vec::new(), span, end: span })
}

/// A known value as an expression that stands where another stood.
pub fn literal(value: &Value, at: &Expression) -> Expression {
    let file: Arc<SourceFile> = at.file.clone();
    Expression { file, node: literal_node(value, at.node.span) }
}

fn literal_node(value: &Value, span: Span) -> Arc<Expr> {
    let text = |text: Arc<str>| {
        let parts = vec![TemplatePart::Literal { text, span }];
        ExprKind::Template(Template { parts, form: TemplateForm::Quoted })
    };
    let ty = value.ty();
    let kind = if value.is_null() {
        ExprKind::Null
    } else if let Some(b) = value.as_bool() {
        ExprKind::Bool(b)
    } else if let Some(number) = value.as_number() {
        ExprKind::Number(number.to_string().into())
    } else if let Some(string) = value.as_arc_str() {
        text(string)
    } else if ty.is_map() || ty.is_object() {
        let item = |(name, value): (&Arc<str>, &Value)| ObjectItem {
            key: Arc::new(Expr::new(span, text(name.clone()))),
            value: literal_node(value, span),
        };
        ExprKind::Object { items: value.entries().iter().map(item).collect(), open: span }
    } else {
        ExprKind::Tuple { elements: value.elements().iter().map(|e| literal_node(e, span)).collect(), open: span }
    };
    Arc::new(Expr::new(span, kind))
}
