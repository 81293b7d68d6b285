//! Splats: an expression evaluated for each element of a sequence, or for a value that is no sequence as if it were alone
//! in one.

use std::sync::Arc;

use base::source::Span;
use terrane_value::{Refinement, Type, Value};

use super::env::{Bound, Env, Frame};
use super::expression::Evaluator;
use crate::syntax::ast::Expr;

impl Evaluator<'_> {
    pub(super) fn splat(&mut self, source: &Arc<Expr>, each: &Arc<Expr>, marker: Span, env: Env<'_>) -> Value {
        let then = self.now();
        let (value, marks) = self.eval(source, env).unmark();
        if self.failed_since(then) {
            return Value::dynamic();
        }
        let is_sequence = matches!(value.ty(), Type::List(_) | Type::Set(_) | Type::Tuple(_));
        if value.is_null() {
            if !is_sequence {
                return Value::empty_tuple().mark(marks);
            }
            let detail = "Splat expressions (with the * symbol) cannot be applied to null sequences.";
            self.error("Splat of null value", detail, source, Some(source.span.to(marker)), env);
            return Value::dynamic();
        }
        if value.ty().is_dynamic() {
            return Value::dynamic().mark(marks);
        }
        let result = match (is_sequence, value.is_known()) {
            (true, true) => self.splat_known(&value, each, env),
            (true, false) => self.splat_unknown(&value, each, env),
            (false, _) => {
                let lone = self.for_item(each, &value, env);
                if self.failed_since(then) {
                    Value::unknown(Type::tuple([lone.ty().clone()]))
                } else if value.is_definitely_not_null() {
                    Value::tuple(vec![lone])
                } else {
                    // The result is empty if this turns out to be null.
                    Value::dynamic()
                }
            }
        };
        result.mark(marks)
    }

    fn for_item(&mut self, each: &Expr, item: &Value, env: Env<'_>) -> Value {
        self.eval(each, Some(&Frame { bound: Bound::Item(item), outer: env }))
    }

    fn splat_known(&mut self, source: &Value, each: &Expr, env: Env<'_>) -> Value {
        let then = self.now();
        let items: Vec<Value> = source.elements().iter().map(|item| self.for_item(each, item, env)).collect();
        if self.failed_since(then) {
            let mark = self.now().values;
            let ty = self.splat_type(source.ty(), each, env);
            self.diagnostics.truncate(mark);
            return Value::unknown(ty);
        }
        if source.ty().is_tuple() {
            return Value::tuple(items);
        }
        match items.first().map(|first| first.ty().clone()) {
            None => match self.splat_type(source.ty(), each, env) {
                Type::List(element) => Value::list((*element).clone(), items),
                _ => Value::tuple(items),
            },
            Some(ty) if items.iter().all(|item| *item.ty() == ty) => Value::list(ty, items),
            Some(_) => Value::tuple(items),
        }
    }

    fn splat_unknown(&mut self, source: &Value, each: &Expr, env: Env<'_>) -> Value {
        let ty = self.splat_type(source.ty(), each, env);
        let mut facts = Refinement::not_null();
        if let (Some(known), true) = (source.refinement(), ty.is_list() && source.ty().is_collection()) {
            facts = facts.with_length(known.length_min, known.length_max);
        }
        Value::unknown_refined(ty, facts)
    }

    /// The type of the result for a source of this type, found with unknown elements.
    fn splat_type(&mut self, source: &Type, each: &Expr, env: Env<'_>) -> Type {
        let first_branch = self.branches.len();
        let mut of = |element: &Type| self.for_item(each, &Value::unknown(element.clone()), env).ty().clone();
        let ty = match source {
            Type::List(element) | Type::Set(element) => Type::list(of(element)),
            Type::Tuple(elements) => Type::tuple(elements.iter().map(&mut of).collect::<Vec<_>>()),
            _ => Type::Dynamic,
        };
        self.branches.truncate(first_branch);
        ty
    }
}
