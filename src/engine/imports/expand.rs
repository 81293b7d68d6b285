//! What an import block comes to: an address and an id per element of its `for_each`.

use crate::engine::mistakes::INVALID_FOR_EACH;
use crate::engine::mistakes::INVALID_IMPORT_ID;
use crate::engine::mistakes::INVALID_IMPORT_TARGET;
use crate::lang::syntax::mistakes::not_a_reference;
use crate::model::addr::parse::INSTANCE_REQUIRED;
use crate::model::addr::parse::INVALID_ADDRESS;
use std::sync::Arc;

use super::address;
use crate::base::diag::{Diagnostic, Diagnostics};
use crate::engine::results::Each;
use crate::engine::run::Run;
use crate::engine::scope::ModuleScope;
use crate::engine::tree::ModuleId;
use crate::lang::eval::describe::{Causes, with_causes};
use crate::lang::eval::{Scope, evaluate, evaluate_to};
use crate::lang::syntax::ast::{ExprKind, Expression};
use crate::lang::value::{Type, Value};
use crate::model::addr::{AbsResourceInstance, InstanceKey};
use crate::model::config::Import;

/// The instances that a block imports, with their ids. `lenient`: unknown values are left out, not refused.
pub fn expand(
    run: &Run,
    import: &Import,
    block: Option<(ModuleId, u32)>,
    lenient: bool,
) -> (Vec<(AbsResourceInstance, Arc<str>)>, Diagnostics) {
    let (mut found, mut diagnostics) = (Vec::new(), Diagnostics::new());
    let scope = || ModuleScope::new(run, &run.results.root);
    if !is_static(import) {
        diagnostics.extend(not_static(&import.to));
        return (found, diagnostics);
    }
    let elements = match &import.for_each {
        None => vec![Each::None],
        Some(for_each) => diagnostics.take(elements(for_each, &scope(), lenient)),
    };
    for each in elements {
        // While keys are not known, validate does not look at what is made of them.
        if lenient && matches!(each, Each::UnknownEntry) {
            continue;
        }
        let scope = scope().with_each(each);
        let addr = diagnostics.take(address::evaluated(&import.to, &scope));
        let id = diagnostics.take(id_of(import, &scope, lenient));
        let Some(addr) = addr else { continue };
        if let Some((module, index)) = block {
            let config = run.tree.resource(module, index);
            let wrong = match addr.key() {
                InstanceKey::None if config.count.is_some() => Some("The target resource is using count."),
                InstanceKey::None if config.for_each.is_some() => Some("The target resource is using for_each."),
                InstanceKey::Int(_) if config.count.is_none() => Some("The target resource does not use count."),
                InstanceKey::Str(_) if config.for_each.is_none() => Some("The target resource does not use for_each."),
                _ => None,
            };
            if let Some(wrong) = wrong {
                let error = Diagnostic::error(INVALID_IMPORT_TARGET, wrong);
                diagnostics.push(error.at(import.to.range()));
                continue;
            }
        }
        found.extend(id.map(|id| (addr, id)));
    }
    (found, diagnostics)
}

/// Keys that are expressions need a `for_each`.
pub fn is_static(import: &Import) -> bool {
    import.for_each.is_some() || matches!(import.to.kind(), ExprKind::Variable(_))
}

pub fn not_static(to: &Expression) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    diagnostics.error(INVALID_ADDRESS, INSTANCE_REQUIRED);
    diagnostics.push(not_a_reference(to.range()));
    diagnostics
}

fn elements(for_each: &Expression, scope: &dyn Scope, lenient: bool) -> (Vec<Each>, Diagnostics) {
    let (value, mut diagnostics) = evaluate(for_each, scope);
    if diagnostics.has_errors() {
        return (Vec::new(), diagnostics);
    }
    let (bare, marks) = value.unmark();
    let ty = bare.ty();
    let invalid = |detail: &str, causes| {
        let error = Diagnostic::error(INVALID_FOR_EACH, detail).at(for_each.range());
        with_causes(error, for_each, scope, causes)
    };
    if !bare.is_wholly_known() {
        if !lenient {
            let detail = "The \"for_each\" expression includes values derived from other resource attributes that cannot be \
                          determined until apply, and so Terrane cannot determine the full set of values that might be used \
                          to import this resource.";
            diagnostics.push(invalid(detail, Causes { unknown: true, ..Causes::default() }));
            return (Vec::new(), diagnostics);
        }
        return (vec![Each::Pair(Value::dynamic(), Value::dynamic())], diagnostics);
    }
    let pair = |key: Value, value: &Value| Each::Pair(key, value.clone().mark(marks));
    let all = match () {
        () if bare.is_null() => Some(Vec::new()),
        () if ty.is_map() || ty.is_object() => {
            Some(bare.entries().iter().map(|(key, v)| pair(Value::shared_string(key.clone()), v)).collect())
        }
        () if ty.is_set() => Some(bare.elements().iter().map(|v| pair(v.clone(), v)).collect()),
        () if ty.is_list() || ty.is_tuple() => {
            Some(bare.elements().iter().enumerate().map(|(i, v)| pair(Value::int(i as i64), v)).collect())
        }
        () => None,
    };
    match all {
        Some(all) => (all, diagnostics),
        None => {
            let error = Diagnostic::error(INVALID_FOR_EACH, "The \"for_each\" expression must be a collection.");
            diagnostics.push(error.at(for_each.range()));
            (Vec::new(), diagnostics)
        }
    }
}

/// The id of one element; none while it is unknown, or with errors.
pub fn id_of(import: &Import, scope: &dyn Scope, lenient: bool) -> (Option<Arc<str>>, Diagnostics) {
    let (value, mut diagnostics) = evaluate_to(&import.id, &Type::String, scope);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let mut invalid = |detail: &str| {
        diagnostics.push(Diagnostic::error(INVALID_IMPORT_ID, detail).at(import.id.range()));
    };
    match value.as_arc_str() {
        _ if value.is_null() => invalid("The import ID cannot be null."),
        None if lenient => {}
        None => invalid(
            "The import block \"id\" argument depends on resource attributes that cannot be determined until apply, so \
             Terrane cannot plan to import this resource.",
        ),
        Some(id) if id.is_empty() => {
            invalid("The import ID value evaluates to an empty string, please provide a non-empty value.");
        }
        Some(id) => return (Some(id), diagnostics),
    }
    (None, diagnostics)
}
