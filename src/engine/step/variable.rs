//! Input variables: the given value or the default, converted to the variable's type, and checked by its rules.

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::eval::evaluate;
use model::config::Variable;
use model::config::test_file::load::is_test_file;
use model::model_errors::UNSUITABLE_FOR_VARIABLE;
use terrane_value::{Marks, Value, convert};

use super::condition::{Checked, check_variable};
use crate::blocks::deprecated;
use crate::engine_errors::EPHEMERAL_VALUE;
use crate::ids::{ModuleId, ROOT};
use crate::input::{GivenVariable, Origin};
use crate::policy;
use crate::run::module_scope::ModuleScope;
use crate::run::results::Each;
use crate::run::{Run, Verb};

/// A value for a variable and where it comes from.
struct Given {
    value: Option<Value>,
    origin: Origin,
}

pub fn run(run: &Run, module: ModuleId, index: u32) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let variable = run.blocks.tree.variable(module, index);
    if module == ROOT {
        let value = match run.verb {
            Verb::Validate => Value::unknown(variable.ty.clone()),
            _ => {
                let given = run.inputs.variables.get(&variable.name);
                if let Some(given) = given
                    && matches!(run.verb, Verb::Plan { .. } | Verb::Import)
                {
                    let of_test = matches!(&given.origin, Origin::File(range) if is_test_file(&range.file));
                    diagnostics.extend(deprecated::root_variable(&run.blocks.tree, variable, of_test));
                }
                let given = Given {
                    value: given.map(|g| g.value.clone()),
                    origin: given.map_or(Origin::Other, |g| g.origin.clone()),
                };
                diagnostics.take(prepare(variable, &format!("var.{}", variable.name), given))
            }
        };
        let range = match run.inputs.variables.get(&variable.name).map(|given| &given.origin) {
            Some(Origin::File(range)) => range.clone(),
            _ => variable.range.clone(),
        };
        publish(run, module, index, vec![(value, range)], &mut diagnostics);
        return diagnostics;
    }
    let Some((parent, call)) = run.blocks.tree.parent(module) else { return diagnostics };
    let arguments = run.blocks.tree.call(parent, call).body.just_attributes().0;
    let argument = arguments.get(&variable.name);
    let mut values = Vec::new();
    for outer in run.results.module_instances(parent) {
        let Some(slots) = outer.calls[call as usize].get() else { continue };
        for instance in slots.instances.iter().filter(|instance| !instance.is_overridden) {
            let given = argument.map(|argument| {
                let each = if run.verb == Verb::Validate { Each::Unknown } else { instance.each.clone() };
                let scope = ModuleScope::new(run, outer).with_each(each);
                diagnostics.take(evaluate(&argument.expr, &scope))
            });
            let range = argument.map_or_else(|| variable.range.clone(), |a| a.expr.range());
            let name = format!("{}.var.{}", instance.addr, variable.name);
            if !variable.ephemeral && given.as_ref().is_some_and(|v| v.deep_marks().contains(Marks::EPHEMERAL)) {
                let detail = "This input variable is not declared as accepting a ephemeral values, so it cannot be set to a \
                              result derived from an ephemeral value.";
                diagnostics.push(Diagnostic::error(EPHEMERAL_VALUE, detail).at(range.clone()));
            }
            let given = Given { value: given, origin: Origin::File(range.clone()) };
            let value = diagnostics.take(prepare(variable, &name, given));
            values.push((value, range));
        }
    }
    publish(run, module, index, values, &mut diagnostics);
    diagnostics.extend(policy::at_apply::with_variables(run, module));
    diagnostics
}

/// The value of a variable of the root module, without its rules; none: it has an error.
pub fn root_value(run: &Run, variable: &Variable) -> Option<Value> {
    let given = run.inputs.variables.get(&variable.name).map(|given| given.value.clone());
    let given = Given { value: given, origin: Origin::Other };
    let (value, found) = prepare(variable, &format!("var.{}", variable.name), given);
    (!found.has_errors()).then(|| value.mark(variable.marks()))
}

/// The value of a variable that a test file declares, without its rules. With an error it is unknown.
pub fn test_file_value(variable: &Variable, given: Option<GivenVariable>) -> (Value, Diagnostics) {
    let (value, origin) = given.map_or((None, Origin::Other), |given| (Some(given.value), given.origin));
    let (value, found) = prepare(variable, &format!("var.{}", variable.name), Given { value, origin });
    (value.mark(variable.marks()), found)
}

/// Writes the slots of all module instances, then checks the rules of each: they may refer to the variable itself.
/// `values`: per module instance, with the place that the value comes from. With an error in any, no rule is checked.
fn publish(run: &Run, module: ModuleId, index: u32, values: Vec<(Value, Range)>, diagnostics: &mut Diagnostics) {
    let variable = run.blocks.tree.variable(module, index);
    let instances = run.results.module_instances(module);
    let mark = |(value, range): (Value, Range)| (value.mark(variable.marks()), range);
    let values: Vec<(Value, Range)> = values.into_iter().map(mark).collect();
    for (instance, (value, _)) in instances.iter().zip(&values) {
        let _ = instance.variables[index as usize].set(value.clone());
    }
    if diagnostics.has_errors() {
        return;
    }
    for (instance, (value, range)) in instances.iter().zip(values) {
        let scope =
            ModuleScope::new(run, instance).with_each(Each::None).checking_variable(variable.name.clone(), value);
        let of = Checked::in_module(&instance.addr, &format!("var.{}", variable.name));
        for rule in &variable.validations {
            diagnostics.extend(check_variable(&run.results, rule, &scope, &of, &range));
        }
    }
}

/// The final value of a variable: with defaults of optional attributes, converted, and never null where that is not
/// allowed.
fn prepare(variable: &Variable, name: &str, given: Given) -> (Value, Diagnostics) {
    let unknown = || Value::unknown(variable.ty.clone());
    let error = |summary: &str, detail: String, range: Range| {
        (unknown(), Diagnostics::from(Diagnostic::error(summary, detail).at(range)))
    };
    let value = match given.value.or_else(|| variable.default.clone()) {
        Some(value) => value,
        None => {
            let detail = format!("The variable {:?} is required, but is not set.", variable.name);
            return error("Required variable not set", detail, variable.range.clone());
        }
    };
    let value = match &variable.type_defaults {
        Some(defaults) if !value.is_null() => defaults.apply(&value),
        _ => value,
    };
    let outside = match &given.origin {
        Origin::Argument => Some(format!("set using -var=\"{}=...\"", variable.name)),
        Origin::Environment => Some(format!("set using the TF_VAR_{} environment variable", variable.name)),
        Origin::Prompt => Some("set using an interactive prompt".to_string()),
        Origin::Other => Some("set from outside of the configuration".to_string()),
        Origin::File(_) => None,
    };
    let place = match &given.origin {
        Origin::File(range) => range.clone(),
        _ => variable.range.clone(),
    };
    let converted = match convert::convert(&value, &variable.ty) {
        Ok(converted) => converted,
        Err(wrong) => {
            let message = wrong.to_string();
            let (detail, range) = match outside {
                Some(outside) => (format!("Unsuitable value for {name} {outside}: {message}."), variable.range.clone()),
                None if variable.sensitive => (
                    format!(
                        "The given value is not suitable for {name}, which is sensitive: {message}. Invalid value defined \
                         at {place}."
                    ),
                    variable.range.clone(),
                ),
                None => (
                    format!("The given value is not suitable for {name} declared at {}: {message}.", variable.range),
                    place,
                ),
            };
            return error(UNSUITABLE_FOR_VARIABLE, detail, range);
        }
    };
    if !converted.is_null() || variable.nullable {
        return (converted, Diagnostics::new());
    }
    if let Some(default) = &variable.default {
        return (default.clone(), Diagnostics::new());
    }
    let (detail, range) = match outside {
        Some(outside) => (
            format!("Unsuitable value for {name} {outside}: required variable may not be set to null."),
            variable.range.clone(),
        ),
        None => (
            format!(
                "The given value is not suitable for {name} defined at {}: required variable may not be set to null.",
                variable.range
            ),
            place,
        ),
    };
    error("Required variable not set", detail, range)
}
