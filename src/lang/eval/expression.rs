//! The evaluator: dispatch over the kinds of expressions, literals, constructors, operators and conditionals.
//!
//! Evaluation goes on after an error, with an unknown value in its place, so that one run finds them all.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::{Range, SourceFile, Span};
use rustc_hash::FxHashSet;
use terrane_value::convert::convert;
use terrane_value::ops::OperationError;
use terrane_value::{Marks, Number, Type, Value};

use super::describe;
use super::env::{Env, bound, item};
use super::scope::{Constant, Scope};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Expression, ObjectItem, Traversal, UnaryOp};
use crate::syntax::visit::is_literal_key;

const OPERATION_FAILED: &str = "Operation failed";

/// The value of an expression; unknown where an error prevents one.
pub fn evaluate(expression: &Expression, scope: &dyn Scope) -> (Value, Diagnostics) {
    let mut evaluator = Evaluator::new(scope, &expression.file);
    let value = evaluator.eval(&expression.node, None);
    evaluator.report_branches();
    evaluator.finish(value)
}

/// The value that an expression has where neither names nor functions mean anything; unknown if it needs one of them. The
/// errors are those of values: names in parts that are not needed have none.
pub fn constant(expression: &Expression) -> (Value, Diagnostics) {
    let mut evaluator = Evaluator::new(&Constant, &expression.file);
    // As in `can`: the right side of `&&` always counts.
    evaluator.guards = 1;
    let value = evaluator.eval(&expression.node, None);
    (value, evaluator.diagnostics.into())
}

/// The value of an expression, converted to a type; unknown of that type where an error prevents one.
pub fn evaluate_to(expression: &Expression, ty: &Type, scope: &dyn Scope) -> (Value, Diagnostics) {
    let (value, mut diagnostics) = evaluate(expression, scope);
    if diagnostics.has_errors() {
        return (Value::unknown(ty.clone()), diagnostics);
    }
    match convert(&value, ty) {
        Ok(value) => (value, diagnostics),
        Err(error) => {
            let path = if error.path.is_empty() { String::new() } else { format!("{}: ", error.path) };
            let detail = format!("Invalid expression value: {path}{error}.");
            let diagnostic = Diagnostic::error("Incorrect value type", detail).at(expression.range());
            diagnostics.push(describe::with_values(diagnostic, expression, scope));
            (Value::unknown(ty.clone()), diagnostics)
        }
    }
}

pub(super) struct Evaluator<'a> {
    pub scope: &'a dyn Scope,
    pub file: &'a Arc<SourceFile>,
    pub diagnostics: Vec<Diagnostic>,
    /// What the scope said about names. Unlike the diagnostics of values, these stay even where they come from a branch
    /// that is not taken.
    pub names: Vec<Diagnostic>,
    /// Where those are.
    places: FxHashSet<Span>,
    /// How many calls of `try` and `can` there are around what is evaluated.
    pub guards: usize,
    /// The conditionals whose results are used so far, and whether their conditions hold; the clauses of `for` expressions, and whether
    /// they kept an element or left one out. Empty where nothing is recorded.
    pub branches: Vec<(Span, bool)>,
}

/// How many diagnostics there were at some moment.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub values: usize,
    names: usize,
}

impl<'a> Evaluator<'a> {
    pub fn new(scope: &'a dyn Scope, file: &'a Arc<SourceFile>) -> Evaluator<'a> {
        Evaluator {
            scope,
            file,
            diagnostics: Vec::new(),
            names: Vec::new(),
            places: FxHashSet::default(),
            guards: 0,
            branches: Vec::new(),
        }
    }

    fn report_branches(&self) {
        if self.branches.is_empty() {
            return;
        }
        if let Some(recorder) = self.scope.recorder() {
            self.branches.iter().for_each(|(span, holds)| recorder.record_branch(self.range(*span), *holds));
        }
    }

    fn finish(self, value: Value) -> (Value, Diagnostics) {
        if self.names.is_empty() {
            return (value, self.diagnostics.into());
        }
        let names = Diagnostics::from(self.names);
        if names.has_errors() {
            return (Value::dynamic(), names);
        }
        (value, names.into_iter().chain(self.diagnostics).collect())
    }

    pub fn range(&self, span: Span) -> Range {
        span.in_file(self.file)
    }

    pub fn now(&self) -> Moment {
        Moment { values: self.diagnostics.len(), names: self.names.len() }
    }

    /// True if an error was found since then.
    pub fn failed_since(&self, then: Moment) -> bool {
        let new = |all: &[Diagnostic], from: usize| all.get(from..).is_some_and(|d| d.iter().any(Diagnostic::is_error));
        new(&self.diagnostics, then.values) || new(&self.names, then.names)
    }

    /// Reports an error in `part`, with the values of the names in it.
    #[cold]
    pub fn error(
        &mut self,
        summary: &str,
        detail: impl Into<String>,
        part: &Expr,
        context: Option<Span>,
        env: Env<'_>,
    ) {
        let diagnostic = Diagnostic::error(summary, detail).at(self.range(part.span));
        self.report(diagnostic, context, part, env);
    }

    #[cold]
    pub fn report(&mut self, mut diagnostic: Diagnostic, context: Option<Span>, about: &Expr, env: Env<'_>) {
        diagnostic.context = context.map(|c| self.range(c));
        diagnostic.values = describe::values_in(about, self.scope, self.file, env);
        self.diagnostics.push(diagnostic);
    }

    pub fn eval(&mut self, expr: &Expr, env: Env<'_>) -> Value {
        match &expr.kind {
            ExprKind::Variable(traversal) => self.variable(expr, traversal, env),
            ExprKind::Template(template) => self.template(expr, template, env),
            ExprKind::Number(text) => Number::parse(text).map_or_else(|| Value::unknown(Type::Number), Value::number),
            ExprKind::Bool(b) => Value::bool(*b),
            ExprKind::Null => Value::null_dynamic(),
            ExprKind::Call(call) => self.call(expr, call, env),
            ExprKind::RelativeTraversal { source, steps } => {
                let value = self.eval(source, env);
                self.apply_steps(value, steps, expr, env)
            }
            ExprKind::Index { collection, key, brackets } => {
                let collection = self.eval(collection, env);
                let key = self.eval(key, env);
                self.index(&collection, &key, *brackets, expr, env)
            }
            ExprKind::Splat { source, each, marker, .. } => self.splat(source, each, *marker, env),
            ExprKind::SplatItem => item(env).cloned().unwrap_or_else(Value::dynamic),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.conditional(expr, [condition, then, otherwise], env)
            }
            ExprKind::Binary { .. } => self.chain(expr, env),
            ExprKind::Unary { op, operand, .. } => self.unary(expr, *op, operand, env),
            ExprKind::Tuple { elements, .. } => Value::tuple(elements.iter().map(|e| self.eval(e, env)).collect()),
            ExprKind::Object { items, .. } => self.object(items, env),
            ExprKind::For(f) => self.for_expression(expr, f, env),
            ExprKind::TemplateJoin(tuple) => self.template_join(expr, tuple, env),
            ExprKind::JsonString(string) => self.json_string(string, env),
            ExprKind::JsonObject { items, .. } => self.json_object(expr, items, env),
            ExprKind::Parens(inner) => self.eval(inner, env),
            ExprKind::Error => Value::dynamic(),
        }
    }

    fn variable(&mut self, expr: &Expr, traversal: &Traversal, env: Env<'_>) -> Value {
        if let Some(value) = bound(env, traversal.root_name()) {
            return self.apply_steps(value.clone(), &traversal.steps, expr, env);
        }
        let resolved = self.scope.resolve(traversal, self.file);
        if !resolved.diagnostics.is_empty() {
            let failed = resolved.diagnostics.has_errors();
            for diagnostic in resolved.diagnostics {
                let place = diagnostic.subject.as_ref().map_or(Span::default(), |s| s.span);
                if self.places.insert(place) || !self.names.contains(&diagnostic) {
                    self.names.push(diagnostic);
                }
            }
            if failed {
                return Value::dynamic();
            }
        }
        match traversal.steps.get(resolved.consumed..) {
            None | Some([]) => resolved.value,
            Some(rest) => self.apply_steps(resolved.value, rest, expr, env),
        }
    }

    fn object(&mut self, items: &[ObjectItem], env: Env<'_>) -> Value {
        let mut attributes = BTreeMap::new();
        let mut marks = Marks::NONE;
        let mut known = true;
        for item in items {
            let then = self.now();
            let key = self.object_key(&item.key, env);
            let failed = self.failed_since(then);
            let value = self.eval(&item.value, env);
            if failed {
                known = false;
                continue;
            }
            if key.is_null() {
                let diagnostic = Diagnostic::error("Null value as key", "Can't use a null value as a key.")
                    .at(self.range(item.value.span));
                self.report(diagnostic, None, &item.key, env);
                known = false;
                continue;
            }
            let (key, key_marks) = key.unmark();
            marks |= key_marks;
            match convert(&key, &Type::String) {
                Ok(key) => match key.as_arc_str() {
                    Some(key) => {
                        attributes.insert(key, value);
                    }
                    None => known = false,
                },
                Err(error) => {
                    let detail = format!("Can't use this value as a key: {error}.");
                    self.error("Incorrect key type", detail, &item.key, None, env);
                    known = false;
                }
            }
        }
        if known { Value::object(attributes).mark(marks) } else { Value::dynamic() }
    }

    fn object_key(&mut self, key: &Expr, env: Env<'_>) -> Value {
        match &key.kind {
            ExprKind::Variable(traversal) if traversal.steps.is_empty() => {
                Value::shared_string(traversal.root.name.clone())
            }
            ExprKind::Variable(traversal) => {
                let resolved = self.scope.resolve(traversal, self.file);
                self.names.extend(resolved.diagnostics.into_iter().filter(Diagnostic::is_error));
                let detail = "If this expression is intended to be a reference, wrap it in parentheses. If it's instead intended as a literal name containing periods, wrap it in quotes to create a string literal.";
                let diagnostic = Diagnostic::error("Ambiguous attribute key", detail).at(self.range(key.span));
                self.diagnostics.push(diagnostic);
                Value::dynamic()
            }
            ExprKind::Bool(b) => Value::string(if *b { "true" } else { "false" }),
            ExprKind::Null => Value::string("null"),
            _ => {
                debug_assert!(!is_literal_key(key));
                self.eval(key, env)
            }
        }
    }

    /// Operators in a row, from the first on: a loop, since rows can be far longer than the stack is deep.
    fn chain(&mut self, expr: &Expr, env: Env<'_>) -> Value {
        let (operators, first) = expr.chain();
        let then = self.now();
        let mut value = self.eval(first, env);
        for expr in operators.into_iter().rev() {
            if let ExprKind::Binary { op, left, right, .. } = &expr.kind {
                value = self.binary(expr, *op, (left, value), right, then, env);
            }
        }
        value
    }

    /// One operator; `left` comes with its value, which was evaluated since `then`.
    fn binary(
        &mut self,
        expr: &Expr,
        op: BinaryOp,
        (left, given_left): (&Expr, Value),
        right: &Expr,
        then: Moment,
        env: Env<'_>,
    ) -> Value {
        let (operand, result) = operator_types(op);
        let (sound, before) = (!self.failed_since(then), self.now());
        let given_right = self.eval(right, env);
        let right_sound = !self.failed_since(before);
        let converted_left = self.operand(&given_left, &operand, "left", left, expr.span, env);
        let converted_right = self.operand(&given_right, &operand, "right", right, expr.span, env);
        if let (Some(left), Some(right)) = (&converted_left, &converted_right)
            && self.names.len() == then.names
            && let Some((value, by)) = decided(op, (left, sound), (right, right_sound))
        {
            match by {
                Side::Left => self.diagnostics.truncate(before.values),
                Side::Right => drop(self.diagnostics.drain(then.values..before.values)),
            }
            return value.mark(left.marks() | right.marks());
        }
        if self.failed_since(then) {
            let marks = match (&converted_left, &converted_right) {
                (Some(left), Some(right)) => left.marks() | right.marks(),
                _ => Marks::NONE,
            };
            return Value::unknown(result).mark(marks);
        }
        let (Some(left), Some(right)) = (converted_left, converted_right) else { return Value::unknown(result) };
        let outcome = match op {
            BinaryOp::Equal => Ok(left.equals(&right)),
            BinaryOp::NotEqual => Ok(left.not_equals(&right)),
            BinaryOp::Or => left.or(&right),
            BinaryOp::And => left.and(&right),
            BinaryOp::Greater => left.greater_than(&right),
            BinaryOp::GreaterEqual => left.greater_than_or_equal(&right),
            BinaryOp::Less => left.less_than(&right),
            BinaryOp::LessEqual => left.less_than_or_equal(&right),
            BinaryOp::Add => left.add(&right),
            BinaryOp::Subtract => left.subtract(&right),
            BinaryOp::Multiply => left.multiply(&right),
            BinaryOp::Divide => left.divide(&right),
            BinaryOp::Modulo => left.modulo(&right),
        };
        outcome.unwrap_or_else(|error| {
            let reason = match (error, op) {
                (OperationError::NotANumber, BinaryOp::Add) => "can't compute sum of opposing infinities".to_string(),
                (OperationError::NotANumber, BinaryOp::Subtract) => "can't subtract infinity from itself".to_string(),
                (OperationError::NotANumber, BinaryOp::Multiply) => "can't multiply zero by infinity".to_string(),
                (OperationError::NotANumber, BinaryOp::Divide) => {
                    "can't divide zero by zero or infinity by infinity".to_string()
                }
                (OperationError::NotANumber, BinaryOp::Modulo) => "can't use modulo with zero and infinity".to_string(),
                _ => error.to_string(),
            };
            self.error(OPERATION_FAILED, format!("Error during operation: {reason}."), expr, None, env);
            Value::unknown(result)
        })
    }

    fn operand(
        &mut self,
        value: &Value,
        want: &Type,
        side: &str,
        part: &Expr,
        context: Span,
        env: Env<'_>,
    ) -> Option<Value> {
        if want.is_dynamic() || value.ty() == want {
            return Some(value.clone());
        }
        match convert(value, want) {
            Ok(value) => Some(value),
            Err(error) => {
                let detail = format!("Unsuitable value for {side} operand: {error}.");
                self.error("Invalid operand", detail, part, Some(context), env);
                None
            }
        }
    }

    fn unary(&mut self, expr: &Expr, op: UnaryOp, operand: &Expr, env: Env<'_>) -> Value {
        let ty = if op == UnaryOp::Not { Type::Bool } else { Type::Number };
        let then = self.now();
        let given = self.eval(operand, env);
        let value = self.operand(&given, &ty, "unary", operand, expr.span, env);
        let Some(value) = value.filter(|_| !self.failed_since(then)) else { return Value::unknown(ty) };
        let outcome = if op == UnaryOp::Not { value.not() } else { value.negate() };
        outcome.unwrap_or_else(|error| {
            self.error(OPERATION_FAILED, format!("Error during operation: {error}."), expr, None, env);
            Value::unknown(ty)
        })
    }
}

/// One of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// What a logical operation with an operand that is unknown, null or without a value comes to, if the other one decides it or may do
/// so yet, and the side whose diagnostics count: as from Terraform 1.12 on. Operands come with whether they have a value. A name that
/// means nothing is always an error.
fn decided(
    op: BinaryOp,
    (left, left_sound): (&Value, bool),
    (right, right_sound): (&Value, bool),
) -> Option<(Value, Side)> {
    let decisive = match op {
        BinaryOp::Or => true,
        BinaryOp::And => false,
        _ => return None,
    };
    let decides = |value: &Value, sound: bool| sound && value.as_bool() == Some(decisive);
    let is_open = |value: &Value, sound: bool| !sound || !value.is_known();
    let unknown = || Value::unknown_not_null(Type::Bool);
    if decides(left, left_sound) {
        Some((Value::bool(decisive), Side::Left))
    } else if decides(right, right_sound) {
        Some((Value::bool(decisive), Side::Right))
    } else if left_sound && !left.is_known() && (is_open(right, right_sound) || right.is_null()) {
        Some((unknown(), Side::Left))
    } else if right_sound && !right.is_known() && left_sound && left.is_null() {
        Some((unknown(), Side::Right))
    } else {
        None
    }
}

/// The types of the operands and of the result.
fn operator_types(op: BinaryOp) -> (Type, Type) {
    match op {
        BinaryOp::Or | BinaryOp::And => (Type::Bool, Type::Bool),
        BinaryOp::Equal | BinaryOp::NotEqual => (Type::Dynamic, Type::Bool),
        BinaryOp::Greater | BinaryOp::GreaterEqual | BinaryOp::Less | BinaryOp::LessEqual => (Type::Number, Type::Bool),
        _ => (Type::Number, Type::Number),
    }
}
