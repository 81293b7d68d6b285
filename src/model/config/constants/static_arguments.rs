//! The parts of a module that are evaluated before anything is installed: see [`super::static_context`].

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::source::{Range, SourceFile, Span};
use lang::syntax::ast::{
    Attribute, Expr, ExprKind, Expression, Ident, ObjectItem, Template, TemplateForm, TemplatePart,
};
use lang::syntax::body::{Body, NativeBody};
use terrane_value::{Marks, Type, Value};

use super::constant;
use super::static_context::{self, Early};
use crate::config::blocks::module_call;
use crate::config::module::Module;
use crate::config::providers::requirements;

/// Evaluates sources and versions of calls, instances of providers and constant variables. Calls that are of no use are left as they are written.
pub fn evaluate_early(module: &mut Module, early: Early, diags: &mut Diagnostics) {
    let mut found = Diagnostics::new();
    evaluate(module, &early, &mut found);
    let mut missing = Vec::new();
    for problem in found {
        // A variable without a value is missed once, however much depends on it.
        if problem.kind == Kind::MissingValue {
            if missing.contains(&problem.subject) {
                continue;
            }
            missing.push(problem.subject.clone());
        }
        diags.push(problem);
    }
    module.early = Some(early);
}

fn evaluate(module: &mut Module, early: &Early, diags: &mut Diagnostics) {
    diags.extend(early.check_constants());
    requirements::evaluate_requirements(module, early, diags);
    for call in module.calls.values_mut() {
        let written = call.early.clone();
        if !module_call::evaluate_source(call, early, diags) {
            call.early = written;
        }
    }
    for block in module.providers.values_mut() {
        if let Some(expr) = &block.for_each {
            let alias = block.alias.as_deref().unwrap_or_default();
            let target = format!("provider.{}.{alias}.for_each", block.name);
            block.instances = Some(diags.take(instances(&target, expr, early)).into());
        }
    }
}

type Elements = Vec<(Arc<str>, Value)>;

/// The elements of a provider's `for_each`, sorted by key.
fn instances(target: &str, expr: &Expression, early: &Early) -> (Elements, Diagnostics) {
    let (value, mut diags) = early.value(target, expr);
    if diags.has_errors() {
        return (Vec::new(), diags);
    }
    let mut invalid = |detail: String| {
        diags.push(Diagnostic::error("Invalid provider for_each argument", detail).at(expr.range()));
    };
    // Elements may be secret, keys not: addresses show them.
    let (bare, marks) = value.unmark();
    let ty = bare.ty();
    let mut elements = Vec::new();
    if marks.intersects(Marks::SENSITIVE | Marks::EPHEMERAL) {
        invalid(format!(
            "The value of {target} is sensitive or ephemeral, so that its keys must not become part of addresses."
        ));
    } else if !bare.is_known() || ty.is_set() && !bare.is_wholly_known() {
        invalid(format!("The keys of {target} must be known before anything is planned."));
    } else if bare.is_null() {
        invalid(format!("The value of {target} is null. A map, or set of strings is allowed."));
    } else if ty.is_map() || ty.is_object() {
        elements.extend(bare.entries().iter().map(|(key, value)| (key.clone(), value.clone())));
    } else if ty.is_set() && (bare.elements().is_empty() || ty.element_type().is_some_and(|e| *e == Type::String)) {
        elements.extend(bare.elements().iter().filter_map(|member| Some((member.as_arc_str()?, member.clone()))));
    } else {
        invalid(format!("The value of {target} is a {}. A map, or set of strings is allowed.", ty.friendly_name()));
    }
    elements.sort_by(|a, b| a.0.cmp(&b.0));
    (elements, diags)
}

/// Puts values in place of the arguments of the backend, and of its provider, that are more than constants.
pub fn settle_backend(module: &mut Module, early: &Early, diags: &mut Diagnostics) {
    let Some(backend) = &mut module.backend else { return };
    backend.body = settle_settings(&backend.body, &backend.kind, &backend.range, early, diags);
    if let Some(provider) = &mut backend.store {
        provider.body = settle_settings(&provider.body, &backend.kind, &backend.range, early, diags);
    }
}

/// The settings of a backend of a kind with values in place of all that is more than a constant. `place`: where the block
/// stands.
pub fn settle_settings(body: &Body, kind: &str, place: &Range, early: &Early, diags: &mut Diagnostics) -> Body {
    body.with_expressions(&mut |within, attribute| {
        if constant::is_constant(&attribute.expr) {
            return None;
        }
        let path: String = within.iter().map(|kind| format!("{kind}.")).collect();
        let target = format!("backend.{kind}.{path}{}", attribute.name.name);
        let (value, found) = early.value(&target, &attribute.expr);
        let failed = found.has_errors();
        diags.extend(found);
        if failed {
            return None;
        }
        let problem = secret(&value, place).or_else(|| static_context::unusable(&value, &target, &attribute.expr));
        let Some(problem) = problem else { return Some(literal(&value, &attribute.expr)) };
        if !diags.iter().any(|before| *before == problem) {
            diags.push(problem);
        }
        None
    })
}

/// Why a value must not be a setting of a backend.
fn secret(value: &Value, place: &Range) -> Option<Diagnostic> {
    let marks = value.deep_marks();
    let what = match () {
        () if marks.contains(Marks::SENSITIVE) => "sensitive",
        () if marks.contains(Marks::EPHEMERAL) => "ephemeral",
        () => return None,
    };
    let detail = format!(
        "The backend configuration is stored in .terraform/terraform.tfstate as well as plan files. It is recommended to instead \
         supply {what} credentials via backend specific environment variables"
    );
    Some(Diagnostic::error(format!("Backend config contains {what} values"), detail).at(place.clone()))
}

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
fn literal(value: &Value, at: &Expression) -> Expression {
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
