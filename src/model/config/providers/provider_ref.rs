//! References to provider configurations: the `provider` argument of blocks, and the `providers` argument of module calls.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::{
    Attribute, Expr, ExprKind, Expression, IndexKey, Template, TemplateForm, TemplatePart, Traversal, TraversalStep,
};
use lang::syntax::syntax_errors::INVALID_EXPRESSION;

use crate::addr;
use crate::config::blocks::labels::check_provider_name;
use crate::config::blocks::references::{named_by_word, native_expression, unquote};
use crate::config::constants::constant;

/// A reference to a provider configuration as written: `aws` or `aws.west`.
#[derive(Clone, Debug)]
pub struct ProviderRef {
    pub addr: addr::LocalProviderConfig,
    /// Which instance, of a configuration with `for_each`.
    pub key: Option<Expression>,
    pub range: Range,
}

/// One entry of a module call's `providers`.
#[derive(Clone, Debug)]
pub struct ProviderPassing {
    pub in_child: ProviderRef,
    pub in_parent: ProviderRef,
}

/// What stands where a provider configuration should be named.
pub const INVALID_PROVIDER_REFERENCE: &str = "Invalid provider configuration reference";

/// A reference to a provider configuration: `aws` or `aws.west`.
pub fn decode(expr: &Expression, argument: &str, diags: &mut Diagnostics) -> Option<ProviderRef> {
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

/// The `providers` argument of a module call.
pub fn decode_passings(attribute: &Attribute, diags: &mut Diagnostics) -> Vec<ProviderPassing> {
    let Some(pairs) = attribute.expr.as_static_map() else {
        diags.push(
            Diagnostic::error(INVALID_EXPRESSION, "A static map expression is required.")
                .at(constant::start_range(&attribute.expr)),
        );
        return Vec::new();
    };
    let mut passings: Vec<ProviderPassing> = Vec::with_capacity(pairs.len());
    let mut written = Vec::with_capacity(pairs.len());
    for (key, value) in pairs {
        let in_child = decode(&key, "providers", diags);
        let in_parent = decode(&value, "providers", diags);
        let (Some(in_child), Some(in_parent)) = (in_child, in_parent) else { continue };
        if let Some(key) = &in_child.key {
            let detail = "A module expects whole provider configurations: an instance key may stand only on the right side, with \
                          the configuration that is passed.";
            diags.push(Diagnostic::error(INVALID_PROVIDER_REFERENCE, detail).at(key.range()));
            continue;
        }
        if let Some(previous) = passings.iter().position(|p| p.in_child.addr == in_child.addr) {
            diags.push(
                Diagnostic::error(
                    "Duplicate provider address",
                    format!(
                        "A provider configuration was already passed to {} at {}. Each child provider configuration \
                         can be assigned only once.",
                        in_child.addr, written[previous]
                    ),
                )
                .at(value.range()),
            );
            continue;
        }
        passings.push(ProviderPassing { in_child, in_parent });
        written.push(key.range().to(&value.range()));
    }
    passings
}

#[cfg(test)]
mod tests {
    use base::source::SourceFile;
    use lang::syntax::parser;

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
            let found = decode(&expr, "provider", &mut diags).unwrap();
            assert_eq!(
                (found.addr.to_string().as_str(), found.key.is_some(), diags.len()),
                (addr, has_key, 0),
                "{text}"
            );
        }
    }
}
