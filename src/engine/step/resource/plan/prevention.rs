//! `prevent_destroy`: whether the configuration forbids a planned destruction.

use base::diag::{Diagnostic, Diagnostics};
use lang::eval::evaluate;
use lang::syntax::ast::Expression;
use model::config::PreventDestroy;
use model::plan::ResourceChange;
use terrane_value::{Type, convert};

use crate::opentofu;
use crate::run::module_scope::ModuleScope;
use crate::step::resource::Instance;

/// The error of a planned destruction that the configuration forbids.
pub fn check_prevent_destroy(instance: &Instance<'_>, change: &ResourceChange) -> Diagnostics {
    let Some(config) = instance.config.filter(|_| !instance.run.ports.doubles.overrides_prevention) else {
        return Diagnostics::new();
    };
    let is_destroyed = change.action.destroys();
    let is_prevented = match &config.lifecycle.prevent_destroy {
        PreventDestroy::No => Ok(false),
        PreventDestroy::Yes => Ok(is_destroyed),
        PreventDestroy::If(expr) if opentofu::checks_prevention_in_plan(instance.run.dialect()) => {
            of_opentofu::prevents(instance, is_destroyed, expr)
        }
        PreventDestroy::If(_) if !is_destroyed => Ok(false),
        PreventDestroy::If(expr) => prevents(instance, expr),
    };
    match is_prevented {
        Ok(true) => {}
        Ok(false) => return Diagnostics::new(),
        Err(errors) => return errors,
    }
    let addr = &instance.addr;
    let (summary, detail) = match opentofu::suggests_exclusion(instance.run.dialect()) {
        false => (
            "Instance cannot be destroyed",
            format!(
                "Resource {addr} has lifecycle.prevent_destroy set, but the plan calls for this resource to be destroyed. To avoid \
                 this error and continue with the plan, either disable lifecycle.prevent_destroy or reduce the scope of the plan \
                 using the -target option."
            ),
        ),
        true => (
            "Resource instance cannot be destroyed",
            format!(
                "Resource instance {addr} has prevent_destroy set, but the plan calls for it to be destroyed.\n\nTo proceed, either \
                 disable prevent_destroy for this resource or exclude instances of this resource from this round using:\n    \
                 -exclude=\"{}\"",
                addr.containing_resource()
            ),
        ),
    };
    Diagnostic::error(summary, detail).at(config.range.clone()).into()
}

/// The value of a `prevent_destroy` that is an expression; none while it is unknown.
pub fn prevention(expr: &Expression, scope: &ModuleScope<'_>) -> Result<Option<bool>, Diagnostics> {
    let (value, found) = evaluate(expr, scope);
    if found.has_errors() {
        return Err(found);
    }
    let value = convert::convert(&value, &Type::Bool).map_err(|e| {
        let detail = format!("The \"prevent_destroy\" value is unsuitable: {e}.");
        Diagnostic::error(INVALID_PREVENTION, detail).at(expr.range())
    })?;
    Ok(if value.is_null() { Some(false) } else { value.as_bool() })
}

const INVALID_PREVENTION: &str = "Invalid prevent_destroy argument";

fn prevents(instance: &Instance<'_>, expr: &Expression) -> Result<bool, Diagnostics> {
    let Some(module) = &instance.module else { return Ok(false) };
    let invalid = |detail: String| Diagnostic::error(INVALID_PREVENTION, detail).at(expr.range());
    prevention(expr, &ModuleScope::new(instance.run, module))?.ok_or_else(|| {
        let detail = format!(
            "The plan calls for {} to be destroyed, but whether \"prevent_destroy\" forbids that depends on values that \
             cannot be determined until apply.",
            instance.addr
        );
        invalid(detail).into()
    })
}

/// The rules of OpenTofu: the expression of every planned change is evaluated, but a value is only needed for a destruction.
mod of_opentofu {
    use base::diag::{Diagnostic, Diagnostics};
    use base::name::PROGRAM;
    use lang::eval::evaluate;
    use lang::syntax::ast::Expression;
    use model::addr::Subject;
    use model::addr::parse::parse_reference;
    use terrane_value::{Marks, Type, Value, convert};

    use crate::blocks::references::Gatherer;
    use crate::run::module_scope::ModuleScope;
    use crate::step::resource::Instance;

    pub fn prevents(instance: &Instance<'_>, is_destroyed: bool, expr: &Expression) -> Result<bool, Diagnostics> {
        let Some(module) = &instance.module else { return Ok(false) };
        checked(references_to_instances(expr))?;
        let blocks = &instance.run.blocks;
        let mut gatherer = Gatherer::new(&blocks.tree, &blocks.schemas, module.id);
        gatherer.expression(expr);
        checked(gatherer.needs.problems)?;
        checked(gatherer.needs.undeclared.into())?;
        let (value, found) = evaluate(expr, &ModuleScope::new(instance.run, module));
        checked(found)?;
        let invalid = |detail: String| -> Diagnostics {
            let detail = format!("Resource instance {} {detail}", instance.addr);
            Diagnostic::error("Invalid value for prevent_destroy", detail).at(expr.range()).into()
        };
        let value = convert::convert(&value, &Type::Bool)
            .map_err(|e| invalid(format!("has an invalid value for its prevent_destroy argument: {e}.")))?;
        let (value, marks) = value.unmark();
        if marks.contains(Marks::SENSITIVE) {
            return Err(invalid(format!(
                "has a sensitive value for its prevent_destroy argument, which is invalid because it would cause {PROGRAM} to \
                 disclose the sensitive value by whether deletion is blocked.\n\nIf you know this value is not sensitive in \
                 practice, consider using the nonsensitive function to declare that."
            )));
        }
        if marks.contains(Marks::EPHEMERAL) {
            return Err(invalid(EPHEMERAL.into()));
        }
        if !is_destroyed {
            return Ok(false);
        }
        outcome(instance, &value).map_err(invalid)
    }

    const EPHEMERAL: &str = "has an ephemeral value for its prevent_destroy argument, which is invalid because the decision for \
        whether it's okay to destroy instances of this resource instance must stay consistent between plan and apply.";

    fn checked(found: Diagnostics) -> Result<(), Diagnostics> {
        if found.has_errors() { Err(found) } else { Ok(()) }
    }

    fn outcome(instance: &Instance<'_>, value: &Value) -> Result<bool, String> {
        if value.is_null() {
            let detail =
                "has prevent_destroy set to null. When making a dynamic decision to allow destroy, use false instead.";
            return Err(detail.into());
        }
        value.as_bool().ok_or_else(|| {
            format!(
                "has a prevent_destroy argument but its value will not be known until the apply step, so {PROGRAM} can't predict \
                 whether destroying this is acceptable.\n\nTo proceed, exclude instances of this resource from this round \
                 using:\n    -exclude=\"{}\"",
                instance.addr.containing_resource()
            )
        })
    }

    /// What instances without a block have no values for.
    fn references_to_instances(expr: &Expression) -> Diagnostics {
        let references = expr.variables().into_iter().filter_map(|found| parse_reference(found, &expr.file).ok());
        let of_instances =
            references.filter(|reference| matches!(reference.subject, Subject::Each(_) | Subject::Count(_)));
        let error = |subject: &Subject| {
            format!(
                "A prevent_destroy argument cannot refer to {subject}, because {PROGRAM} needs to evaluate this argument for \
                 instances that have already been removed from the configuration and so whose per-instance data is no longer \
                 available."
            )
        };
        of_instances
            .map(|reference| {
                Diagnostic::error("Invalid reference in prevent_destroy", error(&reference.subject)).at(reference.range)
            })
            .collect()
    }
}
