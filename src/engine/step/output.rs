//! Output values: of the root module they become part of plan and state.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use lang::eval::evaluate;
use lang::syntax::ast::Expression;
use model::addr::Subject;
use model::addr::parse::parse_reference;
use model::config::Output;
use model::plan::{Action, Change, OutputChange};
use model::state::OutputValue;
use model::version::at_least;
use terrane_value::{Marks, Type, Value, convert};

use super::condition::{Checked, ConditionKind, check};
use super::deprecated::outputs_within;
use crate::blocks::{Blocks, deprecated};
use crate::change::breach_text;
use crate::change::compatible::value_compatible;
use crate::coverage::PointKind;
use crate::engine_errors::{EPHEMERAL_VALUE, differs_from_plan};
use crate::ids::{ModuleId, ROOT};
use crate::opentofu;
use crate::run::module_scope::ModuleScope;
use crate::run::object::unknown_as_null;
use crate::run::{Run, Verb};

pub async fn run(run: &Run, module: ModuleId, index: u32) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let output = run.blocks.tree.output(module, index);
    if module == ROOT && output.ephemeral && !run.ports.doubles.allows_ephemeral_outputs {
        let detail = "Ephemeral outputs are not allowed in context of a root module";
        return Diagnostic::error("Ephemeral output not allowed", detail).at(output.range.clone()).into();
    }
    if module == ROOT {
        diagnostics.extend(deprecated::root_output(&run.blocks.tree, output));
    }
    let may_be_ephemeral = run.verb == Verb::Validate && names_ephemeral_output(&run.blocks, module, &output.value);
    for instance in run.results.module_instances(module) {
        let (scope, already) = (ModuleScope::new(run, instance), diagnostics.len());
        let of = Checked::in_module(&instance.addr, &format!("output.{}", output.name));
        let only_warns = run.is_lenient() && run.verb != Verb::Import;
        let found =
            check(&run.results, ConditionKind::OutputPrecondition, &output.preconditions, &scope, &of, only_warns);
        let failed = found.has_errors();
        diagnostics.extend(found);
        if failed {
            continue;
        }
        diagnostics.extend(outputs_within(run, instance, &output.value));
        let (value, found) = evaluate(&output.value, &scope);
        let failed = found.has_errors();
        diagnostics.extend(found);
        let value = if failed { value } else { diagnostics.take(converted(output, value)) };
        if let Some(coverage) = run.results.coverage.as_ref().filter(|_| !failed) {
            coverage.record_block(PointKind::Output, &output.range);
        }
        if !failed {
            check_marks(output, &value, module == ROOT, &mut diagnostics);
            if output.ephemeral && !at_least(12) && !value.marks().contains(Marks::EPHEMERAL) && !may_be_ephemeral {
                diagnostics.push(not_ephemeral(output));
            }
        }
        let value = value.mark(output.marks());
        if module == ROOT && !failed {
            diagnostics.extend(differs(run, output, &value));
        }
        if module == ROOT && !diagnostics.has_errors() && !matches!(run.verb, Verb::Validate | Verb::Evaluate) {
            diagnostics.extend(record(run, (index, output), &value).await);
        }
        let is_sound = !diagnostics.iter().skip(already).any(Diagnostic::is_error);
        if module != ROOT && is_sound && !output.ephemeral && run.is_plan() {
            run.results.changes().has_module_outputs = true;
        }
        let _ = instance.outputs[index as usize].set(value);
    }
    diagnostics
}

/// Whether an expression refers to a call of a module that has ephemeral outputs: `validate` knows nothing of their values.
fn names_ephemeral_output(blocks: &Blocks, module: ModuleId, expr: &Expression) -> bool {
    let calls = &blocks.tree.module(module).calls;
    expr.variables().into_iter().filter_map(|traversal| parse_reference(traversal, &expr.file).ok()).any(|reference| {
        let (Subject::Module(name) | Subject::ModuleInstance(name, _) | Subject::ModuleOutput(name, _, _)) =
            reference.subject
        else {
            return false;
        };
        let child = calls.get_index_of(&*name).and_then(|index| blocks.tree.child(module, index as u32));
        child.is_some_and(|child| blocks.tree.module(child).outputs.values().any(|output| output.ephemeral))
    })
}

fn not_ephemeral(output: &Output) -> Diagnostic {
    let detail =
        "This output value is declared as returning an ephemeral value, so it can only be set to an ephemeral value.";
    Diagnostic::error("Value not allowed in ephemeral output", detail).at(output.value.range())
}

/// The value as the output's type has it.
fn converted(output: &Output, value: Value) -> (Value, Diagnostics) {
    let Some((ty, defaults)) = &output.ty else { return (value, Diagnostics::new()) };
    let filled = match defaults {
        Some(defaults) if !value.is_null() => defaults.apply(&value),
        _ => value,
    };
    match convert::convert(&filled, ty) {
        Ok(value) => (value, Diagnostics::new()),
        Err(wrong) => {
            let path = if wrong.path.is_empty() { String::new() } else { format!("{}: ", wrong.path) };
            let detail =
                format!("The value expression does not match this output value's type constraint: {path}{wrong}.");
            let error = Diagnostic::error("Invalid output value", detail).at(output.value.range());
            (Value::unknown(ty.clone()), error.into())
        }
    }
}

fn check_marks(output: &Output, value: &Value, is_root: bool, diagnostics: &mut Diagnostics) {
    let marks = value.deep_marks();
    if is_root && marks.contains(Marks::SENSITIVE) && !output.sensitive {
        let detail = format!(
            "To reduce the risk of accidentally exporting sensitive data that was intended to be only internal, \
                      {PROGRAM} requires that any root module output containing sensitive data be explicitly marked as \
                      sensitive, to confirm your intent.\n\nIf you do intend to export this data, annotate the output \
                      value as sensitive by adding the following argument:\n    sensitive = true"
        );
        let error = Diagnostic::error("Output refers to sensitive values", detail);
        diagnostics.push(error.at(output.range.clone()));
        // One error at a time, as in the reference.
        return;
    }
    let explains = opentofu::explains_ephemeral_outputs(output.range.dialect());
    if marks.contains(Marks::EPHEMERAL) && !output.ephemeral && explains {
        let detail = "The value that was generated for the output is ephemeral, but it is not configured to allow one.";
        diagnostics.push(Diagnostic::error("Output does not allow ephemeral value", detail).at(output.value.range()));
    } else if marks.contains(Marks::EPHEMERAL) && !output.ephemeral {
        let detail = "This output value is not declared as returning an ephemeral value, so it cannot be set to a result \
                      derived from an ephemeral value.";
        diagnostics.push(Diagnostic::error(EPHEMERAL_VALUE, detail).at(output.value.range()));
    }
}

/// In apply: errors if files changed and the value is not what the plan said.
fn differs(run: &Run, output: &Output, value: &Value) -> Diagnostics {
    if !run.is_apply() || !run.results.have_files_changed() {
        return Diagnostics::new();
    }
    let Some(planned) = run.inputs.planned_outputs.get(&output.name) else { return Diagnostics::new() };
    let what = format!("Output {:?}", output.name);
    let breaches = value_compatible(planned, value, output.sensitive);
    breaches
        .iter()
        .map(|breach| differs_from_plan(&what, &breach_text(breach, None)).at(output.value.range()))
        .collect()
}

/// Notes the change of a root output, and its value in the state. Nothing is kept of an ephemeral one, which only tests allow. In
/// apply, a value of deferred objects is null: they do not exist.
async fn record(run: &Run, (index, output): (u32, &Output), value: &Value) -> Diagnostics {
    let (bare, _) = value.unmark_deep();
    let is_deferred = run.blocks.order.deferred_outputs.contains(&index);
    let stored = (!output.ephemeral && !bare.is_null()).then(|| OutputValue {
        deprecated: deprecation(output),
        ..OutputValue::new(
            if is_deferred { Value::null(bare.ty().clone()) } else { unknown_as_null(&bare) },
            output.sensitive,
        )
    });
    {
        if run.is_plan() && !output.ephemeral {
            let before = run.prior.state.outputs.get(&output.name);
            run.results.changes().outputs.push(change(output, before, &bare));
        }
        // What a plan does not know yet leaves the state as it was.
        let settled = !run.is_plan() || bare.is_wholly_known();
        match &stored {
            Some(_) if !settled => {}
            Some(stored) => drop(run.results.states().current.outputs.insert(output.name.clone(), stored.clone())),
            None => drop(run.results.states().current.outputs.remove(&output.name)),
        }
    }
    if !run.is_apply() {
        return Diagnostics::new();
    }
    match run.ports.sink.output(&output.name, stored.as_ref()).await {
        Ok(()) => Diagnostics::new(),
        Err(errors) => errors,
    }
}

/// The message of a deprecated output, if the state holds it.
fn deprecation(output: &Output) -> Option<Arc<str>> {
    let deprecation = output.deprecated.as_ref().filter(|deprecation| !deprecation.message.is_empty());
    let is_stored = model::opentofu::stores_deprecations(output.range.dialect());
    deprecation.filter(|_| is_stored).map(|deprecation| deprecation.message.clone())
}

fn change(output: &Output, before: Option<&OutputValue>, after: &Value) -> OutputChange {
    let was_sensitive = before.is_some_and(|b| b.sensitive);
    let is_new = before.is_none();
    let is_deprecated_as_before = before.and_then(|b| b.deprecated.clone()) == deprecation(output);
    let before = before.map_or_else(|| Value::null(Type::Dynamic), |b| b.value.clone());
    let same = after.is_wholly_known()
        && after.equals(&before).is_true()
        && output.sensitive == was_sensitive
        && is_deprecated_as_before;
    let action = match () {
        () if after.is_null() && before.is_null() => Action::NoOp,
        () if is_new => Action::Create,
        () if same => Action::NoOp,
        () => Action::Update,
    };
    OutputChange {
        name: output.name.clone(),
        action,
        change: Change { before, after: after.clone() },
        sensitive: was_sensitive || output.sensitive,
    }
}
