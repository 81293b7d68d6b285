//! The address of an import: names and keys, where keys may be expressions.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use lang::eval::describe::with_values;
use lang::eval::{Scope, evaluate};
use lang::syntax::ast::{Expr, ExprKind, Expression, IndexKey, TraversalStep};
use lang::syntax::syntax_errors::no_functions;
use lang::syntax::visit::each_child;
use model::addr::{AbsResourceInstance, InstanceKey, ModuleInstance, Resource};
use terrane_value::Value;

use crate::engine_errors::INVALID_IMPORT_TARGET;
use crate::opentofu;

/// One step of an address.
enum Step {
    Name(String),
    Key(InstanceKey),
}

/// The address that an expression without variable parts gives, for messages.
pub fn address_text(to: &Expression) -> String {
    let mut range = to.range();
    if to.is_json() {
        // Places in what a string holds count from its quote on.
        range.span.start += 1;
        range.span.end += 1;
    }
    range.text().split_whitespace().collect()
}

/// An address of a module instance as one of the root.
pub fn within(module: &ModuleInstance, addr: AbsResourceInstance) -> AbsResourceInstance {
    if module.is_root() {
        return addr;
    }
    let steps = addr.module.0.iter();
    let outer = steps.fold(module.clone(), |outer, step| outer.child(&step.name, step.key.clone()));
    AbsResourceInstance { module: outer, ..addr }
}

/// The address with its keys evaluated. None with errors, or where a key is unknown.
pub fn evaluated(to: &Expression, scope: &dyn Scope) -> (Option<AbsResourceInstance>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let steps = steps_of(to, scope, &mut diagnostics);
    let found = steps.filter(|_| !diagnostics.has_errors()).and_then(assemble);
    (found, diagnostics)
}

fn steps_of(expr: &Expression, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<Vec<Step>> {
    match expr.kind() {
        ExprKind::Variable(traversal) => {
            let mut steps = vec![Step::Name(traversal.root_name().to_string())];
            extend(&mut steps, &traversal.steps);
            Some(steps)
        }
        ExprKind::Index { collection, key, .. } => {
            let mut steps = steps_of(&expr.part(collection), scope, diagnostics)?;
            let key = expr.part(key);
            let may_call = opentofu::has_free_import_keys(key.file.dialect());
            if let Some(call) = first_call(&key.node).filter(|_| !may_call) {
                let call = Expression { file: key.file.clone(), node: call };
                diagnostics.push(with_values(no_functions(call.range()), &call, scope));
                return None;
            }
            let value = diagnostics.take(evaluate(&key, scope));
            steps.push(Step::Key(key_of(&key, &value, diagnostics)?));
            Some(steps)
        }
        ExprKind::RelativeTraversal { source, steps: more } => {
            let mut steps = steps_of(&expr.part(source), scope, diagnostics)?;
            extend(&mut steps, more);
            Some(steps)
        }
        _ => None,
    }
}

/// The first function call in an expression.
fn first_call(expr: &Arc<Expr>) -> Option<Arc<Expr>> {
    if matches!(expr.kind, ExprKind::Call(_)) {
        return Some(expr.clone());
    }
    let mut found = None;
    each_child(&expr.kind, &mut |child| {
        if found.is_none() {
            found = first_call(child);
        }
    });
    found
}

fn extend(steps: &mut Vec<Step>, more: &[TraversalStep]) {
    steps.extend(more.iter().filter_map(|step| match step {
        TraversalStep::Attr { name, .. } => Some(Step::Name(name.name.to_string())),
        TraversalStep::Index { key: IndexKey::Number(n), .. } => n.parse().ok().map(|n| Step::Key(InstanceKey::Int(n))),
        TraversalStep::Index { key: IndexKey::String(s), .. } => Some(Step::Key(InstanceKey::Str(s.clone()))),
        TraversalStep::Splat { .. } => None,
    }));
}

fn key_of(expr: &Expression, value: &Value, diagnostics: &mut Diagnostics) -> Option<InstanceKey> {
    let mut invalid = |detail: &str| {
        diagnostics.push(Diagnostic::error(INVALID_IMPORT_TARGET, detail).at(expr.range()));
        None
    };
    if value.is_sensitive() {
        return invalid("Import address index expressions must not be derived from sensitive values.");
    }
    if !value.is_known() {
        return None;
    }
    if value.is_null() {
        return invalid("Import address index expressions must not be null.");
    }
    match (value.as_i64(), value.as_arc_str()) {
        (Some(n), _) => Some(InstanceKey::Int(n)),
        (_, Some(text)) => Some(InstanceKey::Str(text)),
        _ => invalid("Import address index expressions must be either a string or an integer."),
    }
}

fn assemble(steps: Vec<Step>) -> Option<AbsResourceInstance> {
    let mut steps = steps.into_iter().peekable();
    let mut module = ModuleInstance::root();
    let name = |step: Option<Step>| match step {
        Some(Step::Name(name)) => Some(name),
        _ => None,
    };
    let mut first = name(steps.next())?;
    while first == "module" {
        let call = name(steps.next())?;
        let key = match steps.next_if(|step| matches!(step, Step::Key(_))) {
            Some(Step::Key(key)) => key,
            _ => InstanceKey::None,
        };
        module = module.child(&call, key);
        first = name(steps.next())?;
    }
    if first == "resource" {
        first = name(steps.next())?;
    }
    let resource = Resource::managed(&first, &name(steps.next())?);
    let key = match steps.next() {
        Some(Step::Key(key)) => key,
        _ => InstanceKey::None,
    };
    Some(resource.absolute(module).instance(key))
}
