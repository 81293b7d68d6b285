//! Attributes of object expressions that the conversion to a type drops: OpenTofu warns about them.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use lang::eval::evaluate;
use lang::syntax::ast::{Expr, ExprKind, Expression, ObjectItem};
use terrane_value::{Type, convert};

use super::constant::NoNames;
use crate::model_errors::did_you_mean;

/// The warnings about the default of a variable.
pub fn in_default(expr: &Expression, ty: &Type) -> Diagnostics {
    warnings(expr, ty, |path| match path {
        "" => "The object type for this variable".to_owned(),
        path => format!("The object type for {path}"),
    })
}

/// The warnings about the argument of a module for a variable.
pub fn in_argument(expr: &Expression, variable: &str, ty: &Type) -> Diagnostics {
    warnings(expr, ty, |path| match path {
        "" => format!("The object type for input variable {variable:?}"),
        path => format!("The object type for input variable {variable:?} nested value {path}"),
    })
}

/// `noun`: names the type at a path such as `.a["k"][0]`, which is empty for the whole value.
fn warnings(expr: &Expression, ty: &Type, noun: impl Fn(&str) -> String) -> Diagnostics {
    let mut finder = Finder { expr, found: Vec::new() };
    finder.visit(&expr.node, ty, "");
    let warning = |ignored: Ignored| {
        let Ignored { path, name, key, object, ty } = ignored;
        let known = ty.object_type().into_iter().flat_map(|object| object.attributes.keys());
        let suggestion = did_you_mean(&name, known).replace("Did you mean ", "Did you mean to set attribute ");
        let suggestion = suggestion.strip_suffix('?').map_or_else(String::new, |text| format!("{text} instead?"));
        let detail = format!(
            "{} does not include an attribute named {name:?}, so this definition is unused.{suggestion}",
            noun(&path)
        );
        Diagnostic::warning("Object attribute is ignored", detail)
            .at(expr.range_of(key.span))
            .within(expr.range_of(object.span))
    };
    finder.found.into_iter().map(warning).collect()
}

/// An item of an object expression without an attribute in the type.
struct Ignored {
    /// Of the object.
    path: String,
    name: String,
    key: Arc<Expr>,
    object: Arc<Expr>,
    ty: Type,
}

struct Finder<'e> {
    expr: &'e Expression,
    found: Vec<Ignored>,
}

impl Finder<'_> {
    fn visit(&mut self, expr: &Arc<Expr>, ty: &Type, path: &str) {
        match (&expr.kind, ty) {
            (ExprKind::Object { items, .. }, Type::Object(_)) => {
                for item in items {
                    self.visit_attribute(expr, item, ty, path);
                }
            }
            (ExprKind::Object { items, .. }, Type::Map(element)) => {
                for item in items {
                    if let Some(name) = self.name_of(&item.key) {
                        self.visit(&item.value, element, &format!("{path}[{name:?}]"));
                    }
                }
            }
            (ExprKind::For(each), Type::Map(element)) if each.key.is_some() => {
                self.visit(&each.value, element, &format!("{path}[...]"));
            }
            (ExprKind::For(each), Type::List(element) | Type::Set(element)) if each.key.is_none() => {
                self.visit(&each.value, element, &format!("{path}[...]"));
            }
            (ExprKind::Tuple { elements, .. }, Type::List(element) | Type::Set(element)) => {
                for (i, value) in elements.iter().enumerate() {
                    self.visit(value, element, &format!("{path}[{i}]"));
                }
            }
            (ExprKind::Tuple { elements, .. }, Type::Tuple(types)) if elements.len() == types.len() => {
                for (i, (value, element)) in elements.iter().zip(types.iter()).enumerate() {
                    self.visit(value, element, &format!("{path}[{i}]"));
                }
            }
            _ => {}
        }
    }

    fn visit_attribute(&mut self, object: &Arc<Expr>, item: &ObjectItem, ty: &Type, path: &str) {
        let Some(name) = self.name_of(&item.key) else { return };
        match ty.attribute(&name) {
            Some(attribute) => self.visit(&item.value, attribute, &format!("{path}.{name}")),
            None => self.found.push(Ignored {
                path: path.to_owned(),
                name,
                key: item.key.clone(),
                object: object.clone(),
                ty: ty.clone(),
            }),
        }
    }

    /// A key that needs no values.
    fn name_of(&self, key: &Arc<Expr>) -> Option<String> {
        if let ExprKind::Variable(traversal) = &key.kind
            && traversal.steps.is_empty()
        {
            return Some(traversal.root_name().to_owned());
        }
        let key = Expression { node: key.clone(), ..self.expr.clone() };
        let (value, problems) = evaluate(&key, &NoNames);
        let text = convert::convert(&value, &Type::String).ok().filter(|_| !problems.has_errors())?;
        text.as_str().map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use base::source::SourceFile;
    use lang::syntax::parser::parse_expression;

    use super::*;

    fn check(text: &str, ty: &Type, expected: &[&str]) {
        let (expr, problems) = parse_expression(SourceFile::new("main.tf", text));
        assert!(!problems.has_errors(), "{text}");
        let found = in_argument(&expr, "v", ty);
        let details: Vec<&str> = found.iter().map(|warning| &*warning.detail).collect();
        assert_eq!(details, expected, "{text}");
    }

    #[test]
    fn attributes_that_no_type_has_are_found_at_any_depth() {
        let object = Type::object([("size", Type::Number)]);
        let ignored = |place: &str, name: &str| {
            format!(
                "The object type for input variable \"v\"{place} does not include an attribute named {name:?}, so this definition is \
                 unused."
            )
        };
        check("{ size = 1, other = 2 }", &object, &[&ignored("", "other")]);
        let misspelt = ignored("", "sise") + " Did you mean to set attribute \"size\" instead?";
        check("{ \"sise\" = 1 }", &object, &[&misspelt]);
        check("[{ other = 1 }]", &Type::list(object.clone()), &[&ignored(" nested value [0]", "other")]);
        check("{ k = { other = 1 } }", &Type::map(object.clone()), &[&ignored(" nested value [\"k\"]", "other")]);
        check(
            "[for x in [1] : { other = x }]",
            &Type::set(object.clone()),
            &[&ignored(" nested value [...]", "other")],
        );
        check("{ (var.k) = 1 }", &object, &[]);
        check("var.x", &object, &[]);
        check("{ other = 1 }", &Type::Dynamic, &[]);
    }
}
