//! The values of an import block: an address and an ID per element of its `for_each`.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use lang::eval::describe::{Causes, with_causes};
use lang::eval::{Scope, evaluate, evaluate_to};
use lang::syntax::ast::Expression;
use model::addr::{AbsResourceInstance, InstanceKey};
use model::config::{Import, ImportBy};
use terrane_value::{Type, Value};

use crate::blocks::imports::{ImportStatement, Named, address, is_static, not_static};
use crate::engine_errors::{INVALID_FOR_EACH, INVALID_IMPORT_ID, INVALID_IMPORT_IDENTITY, INVALID_IMPORT_TARGET};
use crate::ids::ResourceId;
use crate::opentofu;
use crate::run::Run;
use crate::run::module_scope::ModuleScope;
use crate::run::results::{Each, ModuleSlots};
use crate::step::expansion::Unknown;

/// What an import is evaluated with.
#[derive(Clone, Copy)]
pub struct ImportContext<'t> {
    /// The type of identities; none: they are not converted.
    pub identity: Option<&'t Type>,
    /// What becomes of unknown values: in validate, they are left out.
    pub unknown: Unknown,
}

/// The instances that a block imports in all instances of its module, with what names their objects.
pub fn expand(
    run: &Run,
    statement: &ImportStatement,
    block: Option<ResourceId>,
    known: ImportContext<'_>,
) -> (Vec<(AbsResourceInstance, Named)>, Diagnostics) {
    let (mut found, mut diagnostics) = (Vec::new(), Diagnostics::new());
    if !is_static(&statement.import) {
        diagnostics.extend(not_static(&statement.import.to));
        return (found, diagnostics);
    }
    for module in run.results.module_instances(statement.module) {
        found.extend(diagnostics.take(expand_in(run, module, &statement.import, block, known)));
        if diagnostics.has_errors() {
            break;
        }
    }
    (found, diagnostics)
}

fn expand_in(
    run: &Run,
    module: &Arc<ModuleSlots>,
    import: &Import,
    block: Option<ResourceId>,
    known: ImportContext<'_>,
) -> (Vec<(AbsResourceInstance, Named)>, Diagnostics) {
    let (mut found, mut diagnostics) = (Vec::new(), Diagnostics::new());
    let scope = || ModuleScope::new(run, module);
    let has_free_keys = opentofu::has_free_import_keys(run.dialect());
    let elements = match &import.for_each {
        None => vec![Each::None],
        Some(for_each) => match diagnostics.take(elements(for_each, &scope(), known.unknown)) {
            Some(elements) => elements,
            None if known.unknown == Unknown::Deferred && !diagnostics.has_errors() => {
                return (block.map_or_else(Vec::new, |block| all_instances(run, block)), diagnostics);
            }
            None => return (found, diagnostics),
        },
    };
    for each in elements {
        let scope = scope().with_each(each);
        if has_free_keys && known.unknown == Unknown::Skipped {
            let _ = diagnostics.take(named(import, &scope, known));
            continue;
        }
        let addr = diagnostics.take(address::evaluated(&import.to, &scope));
        // What is wrong with one element is most often wrong with all.
        if diagnostics.has_errors() {
            break;
        }
        let named = diagnostics.take(named(import, &scope, known));
        if diagnostics.has_errors() {
            break;
        }
        let Some(addr) = addr.map(|addr| address::within(&module.addr, addr)) else {
            if known.unknown == Unknown::Refused && opentofu::requires_known_import_keys(run.dialect()) {
                diagnostics.push(unknown_key(import));
                break;
            }
            continue;
        };
        if let (Some(block), false) = (block, has_free_keys) {
            let config = run.blocks.tree.resource(block);
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
        found.extend(named.map(|named| (addr, named)));
    }
    (found, diagnostics)
}

/// The error of an address whose key is not known. Terraform leaves such imports out, and creates the object a second time.
fn unknown_key(import: &Import) -> Diagnostic {
    let detail = "Import block contained a resource address using an index that will only be known after apply. Please ensure to \
                  use expressions that are known at plan time for the index of an import target address";
    Diagnostic::error("Import block 'to' address contains an invalid key", detail).at(import.to.range())
}

/// Any instance of a block may be among the elements that are not known yet, so the import of each is deferred.
fn all_instances(run: &Run, block: ResourceId) -> Vec<(AbsResourceInstance, Named)> {
    let config = run.blocks.tree.resource(block);
    let instances = run.results.module_instances(block.module).iter().filter_map(|module| {
        let slots = module.resources[block.index()].get()?;
        let resource = config.addr.absolute(module.addr.clone());
        Some((0..slots.instances.len()).map(move |i| (resource.instance(slots.expansion.key(i)), Named::Unknown)))
    });
    instances.flatten().collect()
}

/// The elements of a `for_each`; none while they are unknown, or with errors.
fn elements(for_each: &Expression, scope: &dyn Scope, unknown: Unknown) -> (Option<Vec<Each>>, Diagnostics) {
    let (value, mut diagnostics) = evaluate(for_each, scope);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let (bare, marks) = value.unmark();
    let ty = bare.ty();
    let invalid = |detail: &str, causes| {
        let error = Diagnostic::error(INVALID_FOR_EACH, detail).at(for_each.range());
        with_causes(error, for_each, scope, causes)
    };
    if !bare.is_wholly_known() {
        if unknown == Unknown::Refused {
            let detail = format!(
                "The \"for_each\" expression includes values derived from other resource attributes that cannot be \
                          determined until apply, and so {PROGRAM} cannot determine the full set of values that might be used \
                          to import this resource."
            );
            diagnostics.push(invalid(&detail, Causes { unknown: true, ..Causes::default() }));
            return (None, diagnostics);
        }
        // Until all of it is known, validate does not look at what is made of it.
        return (None, diagnostics);
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
        all @ Some(_) => (all, diagnostics),
        None => {
            let error = Diagnostic::error(INVALID_FOR_EACH, "The \"for_each\" expression must be a collection.");
            diagnostics.push(error.at(for_each.range()));
            (None, diagnostics)
        }
    }
}

/// What names the object of one element; none while it is unknown, or with errors.
pub fn named(import: &Import, scope: &dyn Scope, known: ImportContext<'_>) -> (Option<Named>, Diagnostics) {
    match &import.by {
        ImportBy::Id(expr) => id_of(expr, scope, known.unknown),
        ImportBy::Identity(expr) => identity_of(expr, scope, known),
    }
}

fn identity_of(expr: &Expression, scope: &dyn Scope, known: ImportContext<'_>) -> (Option<Named>, Diagnostics) {
    let (value, mut diagnostics) = match known.identity {
        Some(ty) => evaluate_to(expr, ty, scope),
        None => evaluate(expr, scope),
    };
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let mut invalid = |detail: &str| {
        diagnostics.push(Diagnostic::error(INVALID_IMPORT_IDENTITY, detail).at(expr.range()));
    };
    if value.is_null() {
        invalid("The import identity cannot be null.");
    } else if value.is_wholly_known() {
        return (Some(Named::Identity(value)), diagnostics);
    } else if known.unknown == Unknown::Deferred {
        return (Some(Named::Unknown), diagnostics);
    } else if known.unknown == Unknown::Refused {
        invalid(&format!(
            "The import block \"identity\" argument depends on resource attributes that cannot be determined until apply, so \
             {PROGRAM} cannot plan to import this resource."
        ));
    }
    (None, diagnostics)
}

fn id_of(id: &Expression, scope: &dyn Scope, unknown: Unknown) -> (Option<Named>, Diagnostics) {
    let (value, mut diagnostics) = evaluate_to(id, &Type::String, scope);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let mut invalid = |detail: &str| {
        diagnostics.push(Diagnostic::error(INVALID_IMPORT_ID, detail).at(id.range()));
    };
    match value.as_arc_str() {
        _ if value.is_null() => invalid("The import ID cannot be null."),
        None if unknown == Unknown::Skipped => {}
        None if unknown == Unknown::Deferred => return (Some(Named::Unknown), diagnostics),
        None => invalid(&format!(
            "The import block \"id\" argument depends on resource attributes that cannot be determined until apply, so \
             {PROGRAM} cannot plan to import this resource."
        )),
        Some(id) if id.is_empty() => {
            invalid("The import ID value evaluates to an empty string, please provide a non-empty value.");
        }
        Some(id) => return (Some(Named::Id(id)), diagnostics),
    }
    (None, diagnostics)
}
