//! Function calls: arguments to parameters, what unknowns, nulls and marks do to a call, and the functions that take
//! expressions instead of values.

use std::borrow::Cow;

use base::diag::{Diagnostic, FunctionCall};
use base::source::Span;
use base::suggest;
use terrane_value::convert::convert;
use terrane_value::{Marks, Type, Value};

use super::env::Env;
use super::expression::Evaluator;
use crate::functions::consistency::confirm;
use crate::functions::redaction::{placeholder, without_secrets};
use crate::functions::{CallContext, Function, FunctionError, Param, Signature};
use crate::syntax::ast::{Call, Expr};
use crate::syntax::syntax_errors::{FUNCTIONS_MEAN_NOTHING, NO_FUNCTIONS};

const TOO_MANY: &str = "Too many function arguments";

const INVALID_ARGUMENT: &str = "Invalid function argument";

/// A call, its expression and what it calls.
pub(super) type Site<'s> = (&'s Expr, &'s Call, &'s Signature);

/// An argument: its value and the expression that it came from.
struct Argument<'e> {
    expr: &'e Expr,
    /// Where a message about it points to.
    at: Span,
    /// Present for elements of an expanded argument.
    value: Option<Value>,
}

impl Evaluator<'_> {
    pub(super) fn call(&mut self, expr: &Expr, call: &Call, env: Env<'_>) -> Value {
        let base = call.name.strip_prefix("core::").unwrap_or(&call.name);
        let scope = self.scope;
        let Some(function) = scope.function(base) else { return self.unknown_function(expr, call, env) };
        let signature = function.signature();
        match base {
            "try" => return self.try_call(expr, call, signature, env),
            "can" => return self.can_call(expr, call, signature, env),
            "convert" => return self.convert_call(expr, call, signature, env),
            _ => {}
        }
        let Some(args) = self.arguments(expr, call, signature, env) else { return Value::dynamic() };
        if !self.check_count(expr, call, signature, &args, env) {
            return Value::dynamic();
        }
        let then = self.now();
        let mut values = Vec::with_capacity(args.len());
        for (i, argument) in args.iter().enumerate() {
            let Some(param) = param(signature, i) else { continue };
            let value = match (&argument.value, base, i) {
                (Some(value), ..) => value.clone(),
                (None, "templatestring", 0) => {
                    match self.template_argument((expr, call, signature), argument.expr, env) {
                        Some(value) => value,
                        None => continue,
                    }
                }
                _ => self.eval(argument.expr, env),
            };
            match convert(&value, &param.ty) {
                Ok(value) => values.push(value),
                Err(error) => self.bad_argument((expr, call, signature), i, argument, &error.to_string(), env),
            }
        }
        if self.failed_since(then) {
            return Value::dynamic();
        }
        match invoke(function, values, &CallContext { scope, dialect: self.file.dialect() }) {
            Ok(value) => value,
            Err(error) => {
                self.failed_call(expr, call, signature, &args, &error, env);
                Value::dynamic()
            }
        }
    }

    /// The arguments, with an expanded last one as separate arguments. None after an error.
    fn arguments<'e>(
        &mut self,
        expr: &Expr,
        call: &'e Call,
        signature: &Signature,
        env: Env<'_>,
    ) -> Option<Vec<Argument<'e>>> {
        let plain = |expr: &'e Expr| Argument { expr, at: expr.start_span(), value: None };
        let Some((last, first)) = call.args.split_last().filter(|_| call.expand_final) else {
            return Some(call.args.iter().map(|arg| plain(arg)).collect());
        };
        let then = self.now();
        let value = self.eval(last, env);
        if self.failed_since(then) {
            return None;
        }
        let sequence = matches!(value.ty(), Type::Tuple(_) | Type::List(_) | Type::Set(_));
        if !sequence && !value.ty().is_dynamic() {
            let detail = "The expanding argument (indicated by ...) must be of a tuple, list, or set type.";
            self.bad_expansion(expr, call, signature, last, detail, env);
            return None;
        }
        if value.is_null() {
            let detail = "The expanding argument (indicated by ...) must not be null.";
            self.bad_expansion(expr, call, signature, last, detail, env);
            return None;
        }
        if !value.is_known() {
            return None;
        }
        let marks = value.marks();
        let spread =
            value.elements().iter().map(|v| Argument { expr: last, at: last.span, value: Some(v.clone().mark(marks)) });
        Some(first.iter().map(|arg| plain(arg)).chain(spread).collect())
    }

    #[cold]
    fn bad_expansion(
        &mut self,
        expr: &Expr,
        call: &Call,
        signature: &Signature,
        last: &Expr,
        detail: &str,
        env: Env<'_>,
    ) {
        let diagnostic = Diagnostic::error("Invalid expanding argument value", detail).at(self.range(last.span));
        self.report_call(diagnostic, expr, call, signature, last, env);
    }

    fn check_count(
        &mut self,
        expr: &Expr,
        call: &Call,
        signature: &Signature,
        args: &[Argument<'_>],
        env: Env<'_>,
    ) -> bool {
        let (given, wanted) = (args.len(), signature.params.len());
        if given < wanted {
            let least = if signature.variadic.is_some() { " at least" } else { "" };
            let detail = format!(
                "Function {:?} expects{least} {wanted} argument(s). Missing value for {:?}.",
                call.name, signature.params[given].name
            );
            self.too_few(expr, call, signature, detail, env);
            return false;
        }
        if given > wanted && signature.variadic.is_none() {
            let detail = format!("Function {:?} expects only {wanted} argument(s).", call.name);
            let at = self.range(args[wanted].at);
            let diagnostic = Diagnostic::error(TOO_MANY, detail).at(at);
            self.report_call(diagnostic, expr, call, signature, expr, env);
            return false;
        }
        true
    }

    #[cold]
    fn too_few(&mut self, expr: &Expr, call: &Call, signature: &Signature, detail: String, env: Env<'_>) {
        let diagnostic = Diagnostic::error("Not enough function arguments", detail).at(self.range(call.close));
        self.report_call(diagnostic, expr, call, signature, expr, env);
    }

    #[cold]
    fn bad_argument(
        &mut self,
        (expr, call, signature): Site<'_>,
        i: usize,
        argument: &Argument<'_>,
        reason: &str,
        env: Env<'_>,
    ) {
        let name = param(signature, i).map_or("", |p| &p.name);
        let detail = format!("Invalid value for {name:?} parameter: {reason}.");
        let diagnostic = Diagnostic::error(INVALID_ARGUMENT, detail).at(self.range(argument.at));
        self.report_call(diagnostic, expr, call, signature, argument.expr, env);
    }

    #[cold]
    fn failed_call(
        &mut self,
        expr: &Expr,
        call: &Call,
        signature: &Signature,
        args: &[Argument<'_>],
        error: &FunctionError,
        env: Env<'_>,
    ) {
        let found = error.argument.and_then(|i| param(signature, i).map(|p| (i, p, args.get(i))));
        match found {
            Some((i, _, Some(argument))) => {
                self.bad_argument((expr, call, signature), i, argument, &error.message, env)
            }
            Some((_, param, None)) => {
                let detail = format!("Invalid value for {:?} parameter: {}.", param.name, error.message);
                let mut diagnostic = Diagnostic::error(INVALID_ARGUMENT, detail).at(self.range(expr.span));
                diagnostic.function_call = Some(Box::new(called(call, signature, env)));
                self.report(diagnostic, None, expr, env);
            }
            None => self.failed_as_a_whole(expr, call, signature, &error.message, env),
        }
    }

    /// As `bad_argument`, for an argument that stands in the call as it is.
    #[cold]
    pub(super) fn bad_value(&mut self, site: Site<'_>, i: usize, arg: &Expr, reason: &str, env: Env<'_>) {
        self.bad_argument(site, i, &Argument { expr: arg, at: arg.start_span(), value: None }, reason, env);
    }

    /// For functions that look at the expressions of their arguments.
    #[cold]
    pub(super) fn wrong_count(&mut self, expr: &Expr, call: &Call, signature: &Signature, env: Env<'_>) -> Value {
        let args: Vec<Argument<'_>> =
            call.args.iter().map(|arg| Argument { expr: arg, at: arg.start_span(), value: None }).collect();
        self.check_count(expr, call, signature, &args, env);
        Value::dynamic()
    }

    #[cold]
    pub(super) fn failed_as_a_whole(
        &mut self,
        expr: &Expr,
        call: &Call,
        signature: &Signature,
        message: &str,
        env: Env<'_>,
    ) {
        let detail = format!("Call to function {:?} failed: {message}.", call.name);
        let diagnostic =
            Diagnostic::error("Error in function call", detail).at(self.range(call.name_span.to(call.open)));
        self.report_call(diagnostic, expr, call, signature, expr, env);
    }

    #[cold]
    fn report_call(
        &mut self,
        mut diagnostic: Diagnostic,
        expr: &Expr,
        call: &Call,
        signature: &Signature,
        about: &Expr,
        env: Env<'_>,
    ) {
        diagnostic.function_call = Some(Box::new(called(call, signature, env)));
        self.report(diagnostic, Some(expr.span), about, env);
    }

    #[cold]
    fn unknown_function(&mut self, expr: &Expr, call: &Call, env: Env<'_>) -> Value {
        let names = self.scope.function_names();
        if names.is_empty() {
            self.error(NO_FUNCTIONS, FUNCTIONS_MEAN_NOTHING, expr, None, env);
            return Value::dynamic();
        }
        if let Some(errors) = self.scope.refuse_function(&call.name, &self.range(call.name_span)) {
            errors.into_iter().for_each(|error| self.report(error, Some(expr.span), expr, env));
            return Value::dynamic();
        }
        // Where a construct binds names, the reference looks for similar functions among its own: there are none.
        let known = if env.is_some() { &[][..] } else { &names };
        let (summary, mut detail) = unknown_function_text(&call.name, known);
        if env.is_none()
            && let Some(reason) =
                call.name.rsplit_once("::").and_then(|(space, name)| self.scope.missing_function(space, name))
        {
            detail = reason;
        }
        let diagnostic = Diagnostic::error(summary, detail).at(self.range(call.name_span));
        self.report(diagnostic, Some(expr.span), expr, env);
        Value::dynamic()
    }

    /// The value of an argument that may fail.
    fn guarded(&mut self, arg: &Expr, env: Env<'_>) -> Value {
        self.guards += 1;
        let value = self.eval(arg, env);
        self.guards -= 1;
        value
    }

    /// `try(a, b, ...)`: the first that has a value.
    fn try_call(&mut self, expr: &Expr, call: &Call, signature: &Signature, env: Env<'_>) -> Value {
        if call.args.is_empty() {
            self.failed_as_a_whole(expr, call, signature, "at least one argument is required", env);
            return Value::dynamic();
        }
        let start = self.now().values;
        for arg in &call.args {
            let then = self.now();
            let value = self.guarded(arg, env);
            if self.failed_since(then) {
                continue;
            }
            self.diagnostics.truncate(start);
            // What is unknown now may turn out to be an error later, and then another argument counts.
            return if value.is_wholly_known() { value } else { Value::dynamic() };
        }
        let failures = self.diagnostics.split_off(start);
        let mut message = String::from("no expression succeeded:\n");
        for failure in &failures {
            let at = failure.subject.as_ref().map_or_else(String::new, |range| format!(" (at {range})"));
            message.push_str(&format!("- {}{at}\n  {}\n", failure.summary, failure.detail));
        }
        message.push_str("\nAt least one expression must produce a successful result");
        self.failed_as_a_whole(expr, call, signature, &message, env);
        Value::dynamic()
    }

    /// `can(a)`: whether it has a value.
    fn can_call(&mut self, expr: &Expr, call: &Call, signature: &Signature, env: Env<'_>) -> Value {
        let [arg] = call.args.as_slice() else {
            if call.args.is_empty() {
                let detail =
                    format!("Function {:?} expects 1 argument(s). Missing value for \"expression\".", call.name);
                self.too_few(expr, call, signature, detail, env);
            } else {
                let detail = format!("Function {:?} expects only 1 argument(s).", call.name);
                let diagnostic = Diagnostic::error(TOO_MANY, detail).at(self.range(call.args[1].start_span()));
                self.report_call(diagnostic, expr, call, signature, expr, env);
            }
            return Value::dynamic();
        };
        let then = self.now();
        let value = self.guarded(arg, env);
        let failed = self.failed_since(then);
        self.diagnostics.truncate(then.values);
        match (failed, value.is_wholly_known()) {
            (true, _) => Value::bool(false),
            (false, true) => Value::bool(true),
            (false, false) => Value::unknown(Type::Bool),
        }
    }

    /// The first argument of `templatestring`: a string that comes from elsewhere.
    fn template_argument(&mut self, site: Site<'_>, arg: &Expr, env: Env<'_>) -> Option<Value> {
        let complaint: Cow<'static, str> = match literal_template(arg) {
            Some(complaint) => complaint.into(),
            None => {
                let then = self.now();
                let value = self.eval(arg, env);
                if !self.failed_since(then) {
                    if !value.is_known() {
                        return Some(Value::unknown(Type::String).mark(value.marks()));
                    }
                    match convert(&value, &Type::String) {
                        Ok(value) => return Some(value),
                        Err(_) => "invalid template value: a string is required".into(),
                    }
                } else {
                    let failures = self.diagnostics.split_off(then.values);
                    let first = failures.iter().find(|d| d.is_error())?;
                    let at = first.subject.as_ref().map_or_else(String::new, |range| format!("{range}: "));
                    let more = match failures.len() {
                        1 => String::new(),
                        n => format!(", and {} other diagnostic(s)", n - 1),
                    };
                    format!("invalid template expression: {at}{}; {}{more}", first.summary, first.detail).into()
                }
            }
        };
        let argument = Argument { expr: arg, at: arg.start_span(), value: None };
        self.bad_argument(site, 0, &argument, &complaint, env);
        None
    }
}

/// Why an expression is no reference to a template from elsewhere.
fn literal_template(arg: &Expr) -> Option<&'static str> {
    use crate::syntax::ast::ExprKind;
    match &arg.kind {
        ExprKind::Template(template) if template.as_wrapped().is_some() => Some(
            "invalid template expression: templatestring is only for rendering templates retrieved dynamically from elsewhere; to treat the inner expression as template syntax, write the reference expression directly without any template interpolation syntax",
        ),
        ExprKind::Template(template) if template.as_literal().is_some() => Some(
            "invalid template expression: templatestring is only for rendering templates retrieved dynamically from elsewhere, and so does not support providing a literal template; consider using a template string expression instead",
        ),
        ExprKind::Template(_) => Some(
            "invalid template expression: templatestring is only for rendering templates retrieved dynamically from elsewhere; to render an inline template, consider using a plain template string expression",
        ),
        ExprKind::Variable(_) => None,
        ExprKind::RelativeTraversal { source: inner, .. }
        | ExprKind::Index { collection: inner, .. }
        | ExprKind::Splat { source: inner, .. }
            if refers(inner) =>
        {
            None
        }
        _ => Some(
            "invalid template expression: must be a direct reference to a single string from elsewhere, containing valid Terraform template syntax",
        ),
    }
}

/// Whether an expression begins with a name.
fn refers(expr: &Expr) -> bool {
    use crate::syntax::ast::ExprKind;
    match &expr.kind {
        ExprKind::Variable(_) => true,
        ExprKind::RelativeTraversal { source: inner, .. }
        | ExprKind::Index { collection: inner, .. }
        | ExprKind::Splat { source: inner, .. } => refers(inner),
        _ => false,
    }
}

fn param(signature: &Signature, i: usize) -> Option<&Param> {
    signature.params.get(i).or(signature.variadic.as_ref())
}

/// The call for the message. Where a construct binds names, the reference does not find the function's signature.
fn called(call: &Call, signature: &Signature, env: Env<'_>) -> FunctionCall {
    if env.is_some() {
        return FunctionCall { name: call.name.to_string(), signature: String::new(), document: None };
    }
    let base = call.name.rsplit("::").next().unwrap_or(&call.name);
    let text = signature.text();
    let document = signature.returns.as_ref().map(|result| Box::new(signature.document(result)));
    let signature = text.split_once('(').map_or_else(|| text.clone(), |(_, params)| format!("{base}({params}"));
    FunctionCall { name: call.name.to_string(), signature, document }
}

/// Summary and detail for a name that no function has.
fn unknown_function_text(name: &str, names: &[String]) -> (&'static str, String) {
    let Some((namespace, function)) = name.rsplit_once("::") else {
        let hint = match suggest::name(name, names.iter().map(String::as_str)) {
            Some(other) => format!(" Did you mean {other:?}?"),
            None => String::new(),
        };
        return ("Call to unknown function", format!("There is no function named {name:?}.{hint}"));
    };
    let mut parts = namespace.split("::");
    let (first, provider) = (parts.next().unwrap_or(""), parts.next());
    let detail = match (first, provider) {
        ("provider", None | Some("")) => {
            "The function call must include the provider name after the \"provider::\" prefix.".to_string()
        }
        ("provider", Some(provider)) => format!(
            "There is no function named {name:?}. Ensure that provider name {provider:?} is declared in this module's required_providers block, and that this provider offers a function named {function:?}."
        ),
        _ => format!(
            "The function namespace {first:?} is not valid. Provider function calls must use the \"provider::\" namespace prefix."
        ),
    };
    ("Unknown provider function", detail)
}

/// Calls a function with arguments of the right number and types: deals with nulls, unknowns and marks on its behalf.
pub fn invoke(
    function: &dyn Function,
    mut args: Vec<Value>,
    context: &CallContext<'_>,
) -> Result<Value, FunctionError> {
    let signature = function.signature();
    let mut marks = Marks::NONE;
    let mut secrets = Vec::new();
    let (mut dynamic, mut unknown) = (false, false);
    for (i, arg) in args.iter_mut().enumerate() {
        let Some(param) = param(signature, i) else { continue };
        // An argument of unknown type decides before those behind it are looked at.
        if arg.is_null() && !param.allow_null && !dynamic {
            return Err(FunctionError::argument(i, "argument must not be null"));
        }
        if !param.allow_marked && arg.has_marks_deep() {
            let (bare, found) = arg.unmark_deep();
            *arg = bare;
            marks |= found;
            if placeholder(found).is_some() {
                secrets.push((i, found));
            }
        }
        dynamic |= arg.ty().is_dynamic() && !param.allow_dynamic;
        unknown |= !arg.is_known() && !param.allow_unknown;
    }
    if dynamic {
        return Ok(Value::dynamic().mark(marks));
    }
    // Messages may quote an argument, of which the function does not know that it is a secret.
    let shown = |error: FunctionError| match secrets.is_empty() {
        true => error,
        false => without_secrets(error, &secrets.iter().map(|(i, marks)| (&args[*i], *marks)).collect::<Vec<_>>()),
    };
    let result = if unknown {
        Value::unknown(function.return_type(&args).map_err(shown)?)
    } else {
        let result = function.call(&args, context).map_err(shown);
        let is_secret = placeholder(args.iter().fold(marks, |all, arg| all | arg.marks())).is_some();
        confirm(function.reads(), function.identity(), (&args, is_secret), result.as_ref().ok(), context)?;
        result?
    };
    let result = if function.never_null() && !result.ty().is_dynamic() { result.refine_not_null() } else { result };
    Ok(result.mark(marks))
}
