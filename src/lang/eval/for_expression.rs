//! `for` expressions: a tuple or an object with an item for each element of a collection.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use terrane_value::convert::convert;
use terrane_value::{Marks, Type, Value};

use super::env::{Bound, Env, Frame};
use super::expression::Evaluator;
use crate::functions::redaction::placeholder;
use crate::syntax::ast::{Expr, ForExpr};

const INVALID_CONDITION: &str = "Invalid 'for' condition";
const INVALID_KEY: &str = "Invalid object key";

/// What an iteration came to.
enum Step {
    Keep,
    Skip,
    /// The result as a whole cannot be known.
    Unknown,
}

/// A `for` in progress.
struct Progress {
    marks: Marks,
    known: bool,
    /// An element was kept.
    keeps: bool,
    /// The condition left an element out.
    skips: bool,
    tuple: Vec<Value>,
    object: BTreeMap<Arc<str>, Value>,
    groups: BTreeMap<Arc<str>, Vec<Value>>,
}

impl Progress {
    fn new(marks: Marks) -> Progress {
        Progress {
            marks,
            known: true,
            keeps: false,
            skips: false,
            tuple: Vec::new(),
            object: BTreeMap::new(),
            groups: BTreeMap::new(),
        }
    }
}

impl Evaluator<'_> {
    pub(super) fn for_expression(&mut self, expr: &Expr, f: &ForExpr, env: Env<'_>) -> Value {
        let collection = self.eval(&f.collection, env);
        if collection.is_null() {
            let detail = "A null value cannot be used as the collection in a 'for' expression.";
            self.error("Iteration over null value", detail, &f.collection, Some(expr.span), env);
            return Value::dynamic();
        }
        if collection.ty().is_dynamic() {
            return Value::dynamic();
        }
        let (collection, marks) = collection.unmark();
        if collection.ty().is_primitive() {
            let detail = format!(
                "A value of type {} cannot be used as the collection in a 'for' expression.",
                collection.ty().friendly_name()
            );
            self.error("Iteration over non-iterable value", detail, &f.collection, Some(expr.span), env);
            return Value::dynamic();
        }
        let Some(condition_marks) = self.condition_marks(expr, f, env) else { return Value::dynamic() };
        if !collection.is_known() {
            return Value::dynamic().mark(marks | condition_marks);
        }
        let mut progress = Progress::new(marks);
        let is_set = collection.ty().is_set();
        for (i, value) in collection.elements().iter().enumerate() {
            let key = match (&f.key_var, is_set) {
                (None, _) => None,
                (Some(_), true) => Some(value.clone()),
                (Some(_), false) => Some(Value::int(i as i64)),
            };
            self.iterate(expr, f, key.as_ref(), value, &mut progress, env);
        }
        for (key, value) in collection.entries() {
            let key = f.key_var.as_ref().map(|_| Value::shared_string(key.clone()));
            self.iterate(expr, f, key.as_ref(), value, &mut progress, env);
        }
        self.record_clause(f, &progress);
        let result = match (progress.known, &f.key) {
            (false, _) => Value::dynamic(),
            (true, None) => Value::tuple(progress.tuple),
            (true, Some(_)) if f.grouping => {
                Value::object(progress.groups.into_iter().map(|(key, values)| (key, Value::tuple(values))))
            }
            (true, Some(_)) => Value::object(progress.object),
        };
        result.mark(progress.marks)
    }

    /// Evaluates the condition once with unknown variables, so that an error that every element has is reported once.
    /// Returns the marks of its value; none if there are errors.
    fn condition_marks(&mut self, expr: &Expr, f: &ForExpr, env: Env<'_>) -> Option<Marks> {
        let Some(condition) = &f.condition else { return Some(Marks::NONE) };
        let (then, first_branch) = (self.now(), self.branches.len());
        let unknown = Value::dynamic();
        let key = f.key_var.as_ref().map(|name| (name.as_str(), &unknown));
        let frame = Frame { bound: Bound::Names { key, value: (f.value_var.as_str(), &unknown) }, outer: env };
        let result = self.eval(condition, Some(&frame));
        // There may be no element for which it is evaluated.
        self.branches.truncate(first_branch);
        if result.is_null() {
            let detail = "The value of the 'if' clause must not be null.";
            self.error("Condition is null", detail, condition, Some(expr.span), env);
            return None;
        }
        if let Err(error) = convert(&result, &Type::Bool) {
            let detail = format!("The 'if' clause value is invalid: {error}.");
            self.error(INVALID_CONDITION, detail, condition, Some(expr.span), env);
            return None;
        }
        (!self.failed_since(then)).then(|| result.marks())
    }

    fn iterate(
        &mut self,
        expr: &Expr,
        f: &ForExpr,
        key: Option<&Value>,
        value: &Value,
        progress: &mut Progress,
        env: Env<'_>,
    ) {
        let key = f.key_var.as_ref().zip(key).map(|(name, key)| (name.as_str(), key));
        let frame = Frame { bound: Bound::Names { key, value: (f.value_var.as_str(), value) }, outer: env };
        let inner = Some(&frame);
        match self.include(expr, f, progress, inner) {
            Step::Keep => progress.keeps = true,
            Step::Skip => {
                progress.skips = true;
                return;
            }
            Step::Unknown => {
                progress.known = false;
                return;
            }
        }
        let Some(key_expr) = &f.key else {
            let item = self.eval(&f.value, inner);
            progress.tuple.push(item);
            return;
        };
        let Some(key) = self.item_key(expr, key_expr, progress, inner) else {
            progress.known = false;
            return;
        };
        let item = self.eval(&f.value, inner);
        if f.grouping {
            progress.groups.entry(key).or_default().push(item);
            return;
        }
        match progress.object.entry(key) {
            Entry::Vacant(place) => drop(place.insert(item)),
            Entry::Occupied(taken) => {
                let shown = placeholder(progress.marks).map_or_else(|| format!("{:?}", taken.key()), str::to_owned);
                let detail = format!(
                    "Two different items produced the key {shown} in this 'for' expression. If duplicates are expected, use the ellipsis \
                     (...) after the value expression to enable grouping by key."
                );
                self.error("Duplicate object key", detail, key_expr, Some(expr.span), inner);
            }
        }
    }

    /// Records whether the clause kept elements, and whether it left some out. Those for which it is unknown are neither.
    fn record_clause(&mut self, f: &ForExpr, progress: &Progress) {
        let Some(clause) = f.clause_span() else { return };
        if self.scope.recorder().is_some() {
            self.branches.extend(progress.keeps.then_some((clause, true)));
            self.branches.extend(progress.skips.then_some((clause, false)));
        }
    }

    /// Whether the condition holds. Once something is unknown, errors may be its consequence and are not reported.
    fn include(&mut self, expr: &Expr, f: &ForExpr, progress: &mut Progress, env: Env<'_>) -> Step {
        let Some(condition) = &f.condition else { return Step::Keep };
        let given = self.eval(condition, env);
        if given.is_null() {
            if progress.known {
                let detail = "The value of the 'if' clause must not be null.";
                self.error(INVALID_CONDITION, detail, condition, Some(expr.span), env);
            }
            return Step::Unknown;
        }
        let include = match convert(&given, &Type::Bool) {
            Ok(include) => include,
            Err(error) => {
                if progress.known {
                    let detail = format!("The 'if' clause value is invalid: {error}.");
                    self.error(INVALID_CONDITION, detail, condition, Some(expr.span), env);
                }
                return Step::Unknown;
            }
        };
        progress.marks |= include.marks();
        match include.as_bool() {
            None => Step::Unknown,
            Some(true) => Step::Keep,
            Some(false) => Step::Skip,
        }
    }

    fn item_key(&mut self, expr: &Expr, key_expr: &Expr, progress: &mut Progress, env: Env<'_>) -> Option<Arc<str>> {
        let given = self.eval(key_expr, env);
        if given.is_null() {
            if progress.known {
                let detail = "Key expression in 'for' expression must not produce a null value.";
                self.error(INVALID_KEY, detail, key_expr, Some(expr.span), env);
            }
            return None;
        }
        progress.marks |= given.marks();
        if !given.is_known() {
            return None;
        }
        match convert(&given, &Type::String) {
            Ok(key) => {
                progress.marks |= key.marks();
                key.as_arc_str()
            }
            Err(error) => {
                if progress.known {
                    let detail = format!("The key expression produced an invalid result: {error}.");
                    self.error(INVALID_KEY, detail, key_expr, Some(expr.span), env);
                }
                None
            }
        }
    }
}
