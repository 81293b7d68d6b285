//! The elements of `actions` in a trigger: which instance of an action they name.

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::eval::steps::INVALID_INDEX;
use lang::eval::{Scope, evaluate};
use lang::syntax::ast::{ExprKind, Expression};
use model::addr::parse::parse_reference;
use model::addr::{ActionInstance, InstanceKey, Subject};
use model::config::{Action, ActionCall};

/// A key, as far as it is known.
pub enum Key {
    Known(InstanceKey),
    /// In validate: that of some instance of the caller.
    Unknown,
}

/// The key that a call gives. The scope has the caller's `count` and `each`.
pub fn key(call: &ActionCall, scope: &dyn Scope) -> Result<Key, Diagnostics> {
    key_of(&call.expr, scope)
}

fn key_of(expr: &Expression, scope: &dyn Scope) -> Result<Key, Diagnostics> {
    match expr.kind() {
        ExprKind::Variable(traversal) => match parse_reference(traversal, &expr.file) {
            Ok(reference) => match reference.subject {
                Subject::Action(instance) if reference.remaining.is_empty() => Ok(Key::Known(instance.key)),
                _ => Err(invalid(expr).into()),
            },
            Err(problem) => Err(problem.into()),
        },
        ExprKind::Index { key, .. } => {
            let (value, found) = evaluate(&expr.part(key), scope);
            if found.has_errors() {
                return Err(found);
            }
            if !value.is_known() {
                return Ok(Key::Unknown);
            }
            let (value, _) = value.unmark_deep();
            match (value.as_i64(), value.as_arc_str()) {
                (Some(n), _) => Ok(Key::Known(InstanceKey::Int(n))),
                (_, Some(text)) => Ok(Key::Known(InstanceKey::Str(text))),
                _ => Err(invalid(expr).into()),
            }
        }
        _ => Err(invalid(expr).into()),
    }
}

fn invalid(expr: &Expression) -> Diagnostic {
    let detail = "An element of \"actions\" must be a reference to an action. Its key may be count.index, each.key, or a literal \
                  key.";
    Diagnostic::error("Invalid action reference", detail).at(expr.range())
}

/// Why a key cannot be one of the action's.
pub fn check_key(action: &Action, key: &Key, range: &Range) -> Option<Diagnostic> {
    let detail = match (action.count.is_some(), action.for_each.is_some(), key) {
        (true, _, Key::Known(InstanceKey::None)) => return Some(missing("count", "an integer", range)),
        (true, _, Key::Known(InstanceKey::Str(_))) => {
            format!("Invalid string key {} for action with count", key_text(key))
        }
        (_, true, Key::Known(InstanceKey::None)) => return Some(missing("for_each", "a string", range)),
        (_, true, Key::Known(InstanceKey::Int(n))) => format!("Invalid key {n} for action with for_each"),
        (false, false, Key::Known(InstanceKey::Int(_) | InstanceKey::Str(_)) | Key::Unknown) => {
            format!("Unexpanded action referenced with instance key {}", key_text(key))
        }
        (true, _, Key::Known(InstanceKey::Int(_)) | Key::Unknown)
        | (_, true, Key::Known(InstanceKey::Str(_)) | Key::Unknown)
        | (false, false, Key::Known(InstanceKey::None))
        // No expression has this key.
        | (_, _, Key::Known(InstanceKey::Wildcard)) => return None,
    };
    Some(Diagnostic::error(INVALID_INDEX, detail).at(range.clone()))
}

fn missing(argument: &str, kind: &str, range: &Range) -> Diagnostic {
    let detail = format!("An action with {argument} must be referenced via {kind} key");
    Diagnostic::error("Missing index", detail).at(range.clone())
}

fn key_text(key: &Key) -> String {
    match key {
        Key::Known(InstanceKey::Int(n)) => n.to_string(),
        Key::Known(key) => key.to_string(),
        Key::Unknown => "*".into(),
    }
}

/// The instance that a call names in one instance of its resource.
pub fn instance(call: &ActionCall, action: &Action, scope: &dyn Scope) -> Result<ActionInstance, Diagnostics> {
    let key = key(call, scope)?;
    if let Some(wrong) = check_key(action, &key, &call.expr.range()) {
        return Err(wrong.into());
    }
    match key {
        Key::Known(key) => Ok(call.action.instance(key)),
        Key::Unknown => Err(invalid(&call.expr).into()),
    }
}
