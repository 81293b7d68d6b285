//! What a list block says: its settings for the provider, and the arguments of the language.

use base::diag::{Diagnostic, Diagnostics};
use lang::eval::evaluate_to;
use lang::syntax::ast::Expression;
use model::addr::parse::NO_WHOLE_NUMBER;
use model::config::ListArguments;
use model::schema::list_block::CONFIG;
use terrane_protocol::schema::{Block, Schema};
use terrane_value::{Type, Value};

use crate::run::module_scope::ModuleScope;
use crate::step::resource::Instance;

/// The shape of the settings; none: there are none.
pub fn settings_block(schema: &Schema) -> Option<&Block> {
    schema.block.blocks.get(CONFIG).map(|nested| &nested.block)
}

/// The settings in the value of a block, without marks; without a `config` block nothing is set.
pub fn settings(block: &Value, schema: &Schema) -> Value {
    match (block.get(CONFIG), settings_block(schema)) {
        (Some(config), Some(schema)) if config.is_null() => schema.empty_value(),
        (Some(config), _) => config.clone(),
        (None, Some(schema)) => Value::unknown(schema.implied_type()),
        (None, None) => Value::dynamic(),
    }
}

/// `limit` and `include_resource` without marks; null if they are not set.
pub struct Arguments {
    pub limit: Value,
    pub include: Value,
}

/// The arguments of an instance. None with errors.
pub fn arguments(instance: &Instance<'_>) -> (Option<Arguments>, Diagnostics) {
    match (instance.config, &instance.module) {
        (Some(config), Some(module)) => evaluated(&config.list, &ModuleScope::new(instance.run, module), false),
        _ => (None, Diagnostics::new()),
    }
}

/// The arguments of a block. None with errors.
pub fn evaluated(
    list: &ListArguments,
    scope: &ModuleScope<'_>,
    allow_unknown: bool,
) -> (Option<Arguments>, Diagnostics) {
    let one = |name: &str, expr: &Option<Expression>, ty: Type| match expr {
        Some(expr) => argument(name, expr, ty, scope, allow_unknown),
        None => (Some(Value::null(ty)), Diagnostics::new()),
    };
    let (limit, mut diagnostics) = one("limit", &list.limit, Type::Number);
    if let (Some(expr), Some(limit)) = (&list.limit, &limit) {
        diagnostics.extend(check_limit(expr, limit));
    }
    // As in the peer, the other argument is looked at only if this one is sound.
    let Some(limit) = limit.filter(|_| !diagnostics.has_errors()) else { return (None, diagnostics) };
    let include = diagnostics.take(one("include_resource", &list.include_resource, Type::Bool));
    (include.map(|include| Arguments { limit, include }), diagnostics)
}

fn argument(
    name: &str,
    expr: &Expression,
    ty: Type,
    scope: &ModuleScope<'_>,
    allow_unknown: bool,
) -> (Option<Value>, Diagnostics) {
    let (value, mut diagnostics) = evaluate_to(expr, &ty, scope);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let value = value.unmark_deep().0;
    let kind = ty.friendly_name();
    let wrong = match (value.is_null(), value.is_known()) {
        (true, _) => format!("is null. A {kind} is required."),
        (_, false) if !allow_unknown => format!("is unknown. A known {kind} is required."),
        _ => return (Some(value), diagnostics),
    };
    let detail = format!("The given {name:?} argument value {wrong}");
    diagnostics.push(Diagnostic::error(format!("Invalid {name:?} argument"), detail).at(expr.range()));
    (None, diagnostics)
}

fn check_limit(expr: &Expression, limit: &Value) -> Option<Diagnostic> {
    limit.as_number()?;
    let unsuitable = |why: &str| format!("The given \"limit\" argument value is unsuitable: {why}");
    let (summary, detail) = match limit.as_i64() {
        None => ("Invalid \"limit\" argument", unsuitable(NO_WHOLE_NUMBER)),
        Some(..0) => ("Invalid limit argument", unsuitable("must be greater than or equal to zero.")),
        Some(_) => return None,
    };
    Some(Diagnostic::error(summary, detail).at(expr.range()))
}
