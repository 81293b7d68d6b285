//! Assertions of tests, judged by the values of a run that is over.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Kind, TestAssertion};
use base::name::PROGRAM;
use base::source::{Range, SourceFile};
use base::suggest;
use lang::eval::describe::{Causes, indented_json, with_causes, with_values, with_whole_values};
use lang::eval::{Resolved, Scope, evaluate};
use lang::functions::{Function, Machine};
use lang::syntax::ast::{ExprKind, Expression, Traversal};
use model::addr::parse::parse_test_reference;
use model::addr::{Resource, Subject};
use model::config::Condition;
use model::version::at_least;
use terrane_protocol::schema::ResourceMode;
use terrane_value::{Type, Value, convert};

use super::evaluation::Evaluation;
use crate::blocks::references::Gatherer;
use crate::engine_errors::uninitialized_reference;
use crate::mock::TestNames;
use crate::run::module_scope::{ModuleScope, output_value};
use crate::step::condition::error_message;
use crate::step::variable::root_value;

/// How an assertion came out. Of two, the larger counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Pass,
    /// It is false.
    Fail,
    /// It cannot be judged.
    Error,
}

const INVALID_RUN: &str = "Invalid condition run";

/// The root of the names of a plan, in files with extensions.
const PLAN: &str = "plan";

impl Evaluation {
    /// Judges an assertion. It sees the names of the module, the outputs of earlier runs, variables of the test file that the module
    /// does not declare, and the plan if the file has extensions. `verbose`: since Terraform 1.12, the error of a false one shows the
    /// operands in whole.
    pub fn judge(&self, rule: &Condition, names: &TestNames, verbose: bool) -> (Verdict, Diagnostics) {
        let scope = AssertScope { evaluation: self, module: self.module_scope(), names };
        let mut diagnostics = Diagnostics::new();
        let exprs = [&rule.condition, &rule.error_message];
        exprs.iter().for_each(|expr| diagnostics.extend(ephemeral_resources(expr)));
        let mut problems = Diagnostics::new();
        exprs.iter().for_each(|expr| problems.extend(scope.problems(expr)));
        let is_invalid = problems.has_errors();
        diagnostics.extend(problems);
        if is_invalid {
            return (Verdict::Error, diagnostics);
        }
        let message = error_message(rule, &scope, &mut diagnostics);
        let (value, found) = evaluate(&rule.condition, &scope);
        for problem in found {
            if !diagnostics.iter().any(|known| *known == problem) {
                diagnostics.push(problem);
            }
        }
        if diagnostics.has_errors() {
            return (Verdict::Error, diagnostics);
        }
        let about = |summary: &str, detail: String| {
            let problem = Diagnostic::error(summary, detail).at(rule.condition.range());
            with_values(problem, &rule.condition, &scope)
        };
        let value = match truth(&value) {
            Ok(value) => value,
            Err((summary, detail)) => {
                diagnostics.push(about(summary, detail));
                return (Verdict::Error, diagnostics);
            }
        };
        if value {
            return (Verdict::Pass, diagnostics);
        }
        diagnostics.push(failed(&rule.condition, message.unwrap_or_default(), &scope, verbose));
        (Verdict::Fail, diagnostics)
    }

    /// The value of an expression of a test file, with the names that assertions see. Unknown with errors.
    pub fn value_in_test(&self, expr: &Expression, names: &TestNames) -> (Value, Diagnostics) {
        let scope = AssertScope { evaluation: self, module: self.module_scope(), names };
        let mut problems = ephemeral_resources(expr);
        problems.extend(scope.problems(expr));
        if problems.has_errors() { (Value::dynamic(), problems) } else { evaluate(expr, &scope) }
    }

    /// The outputs of the module, as later runs see them: an object. Null where an output has no value.
    pub fn outputs(&self) -> Value {
        let declared = self.run.blocks.tree.module(self.module.id).outputs.keys().enumerate();
        Value::object(declared.map(|(index, name)| {
            let value = self.module.outputs[index].get().cloned();
            (name.clone(), value.map_or_else(Value::null_dynamic, of_output))
        }))
    }

    fn module_scope(&self) -> ModuleScope<'_> {
        ModuleScope::new(&self.run, &self.module).with_changing_files()
    }
}

/// The error of a false condition. Since Terraform 1.12, it has the operands of a comparison.
fn failed(condition: &Expression, message: String, scope: &dyn Scope, verbose: bool) -> Diagnostic {
    let error =
        Diagnostic::error("Test assertion failed", message).of_kind(Kind::FailedAssertion).at(condition.range());
    if !at_least(12) {
        return with_causes(error, condition, scope, Causes { ephemeral: true, ..Causes::default() });
    }
    let error = with_whole_values(error, condition, scope);
    match operands(condition, scope, verbose) {
        Some(operands) => error.with_test_assertion(operands),
        None => error,
    }
}

/// The operands of a condition that is a binary operation. An operand with an error is unknown: `&&` and `||` do not always need both.
fn operands(condition: &Expression, scope: &dyn Scope, verbose: bool) -> Option<TestAssertion> {
    let ExprKind::Binary { left, right, .. } = condition.kind() else { return None };
    let [(lhs, _), (rhs, _)] = [left, right].map(|operand| evaluate(&condition.part(operand), scope));
    let warning = if lhs.ty() == rhs.ty() { "" } else { "LHS and RHS values are of different types" };
    Some(TestAssertion {
        lhs: indented_json(&lhs),
        rhs: indented_json(&rhs),
        warning: warning.to_owned(),
        show_verbose: verbose,
    })
}

/// What a condition comes to; else what is wrong with its value.
fn truth(value: &Value) -> Result<bool, (&'static str, String)> {
    if value.is_null() {
        let detail = "Condition expression must return either true or false, not null.";
        return Err((INVALID_RUN, detail.into()));
    }
    if !value.is_known() {
        let detail = "Condition expression could not be evaluated at this time. This means you have executed a `run` block with \
                      `command = plan` and one of the values your condition depended on is not known until after the plan has been \
                      applied. Either remove this value from your condition, or execute an `apply` command from this `run` block. \
                      Alternatively, if there is an override for this value, you can make it available during the plan phase by \
                      setting `override_during = plan` in the `override_` block.";
        return Err(("Unknown condition value", detail.into()));
    }
    match convert::convert(value, &Type::Bool) {
        Ok(value) => Ok(value.unmark().0.as_bool().unwrap_or(false)),
        Err(error) => Err((INVALID_RUN, format!("Invalid condition run value: {}.", error.message))),
    }
}

/// Ephemeral resources are closed when a run is over.
fn ephemeral_resources(expr: &Expression) -> Diagnostics {
    let mut found = Diagnostics::new();
    for traversal in expr.variables() {
        let Ok(reference) = parse_test_reference(traversal, &expr.file) else { continue };
        let mode = match &reference.subject {
            Subject::Resource(resource) => resource.mode,
            Subject::ResourceInstance(instance) => instance.resource.mode,
            _ => continue,
        };
        if mode == ResourceMode::Ephemeral {
            let detail = "Ephemeral resources are closed when the test is finished, and are not available within the test context \
                          for assertions.";
            found.push(Diagnostic::error("Ephemeral resources cannot be asserted", detail).at(reference.range.clone()));
            found.push(expired(&reference.subject, reference.range));
        }
    }
    found
}

/// The value of an output as tests see it: before Terraform 1.14, the type of an unknown one is not known either.
fn of_output(value: Value) -> Value {
    if value.is_known() || at_least(14) { value } else { Value::dynamic().mark(value.marks()) }
}

/// The error of a value of an ephemeral resource: all of them are closed.
fn expired(subject: &Subject, range: Range) -> Diagnostic {
    let detail = format!(
        "The remote object for {subject} is no longer available due to a renewal error, so {PROGRAM} cannot evaluate this expression."
    );
    Diagnostic::error("Ephemeral resource instance has expired", detail).at(range)
}

/// The error of a name that has no value, although it is declared.
fn uninitialized(kind: &str, name: &str) -> Diagnostic {
    let detail = format!(
        "The {kind} {name} was not processed by the most recent operation, this likely means the previous operation either failed or was \
         incomplete due to targeting."
    );
    uninitialized_reference(kind, detail)
}

/// The names of a module and, above them, those of a test file.
struct AssertScope<'a> {
    evaluation: &'a Evaluation,
    module: ModuleScope<'a>,
    names: &'a TestNames,
}

impl AssertScope<'_> {
    /// What is wrong with the names in an expression. Their values do not matter.
    fn problems(&self, expr: &Expression) -> Diagnostics {
        let run = &self.evaluation.run;
        let mut gatherer = Gatherer::new(&run.blocks.tree, &run.blocks.schemas, self.evaluation.module.id);
        let mut problems = Diagnostics::new();
        for traversal in expr.variables() {
            match self.of_test(traversal, &expr.file) {
                Some(Ok(_)) => {}
                Some(Err(problem)) => problems.push(problem),
                None => {
                    gatherer.traversal(traversal, &expr.file);
                    problems.extend(self.uninitialized(traversal, &expr.file));
                }
            }
        }
        problems.extend(gatherer.needs.problems);
        problems
    }

    /// The error of a name of the module that the plan or the apply did not evaluate, because of its targets or after an expected
    /// failure. Since Terraform 1.14.
    fn uninitialized(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Option<Diagnostic> {
        let (run, slots) = (&self.evaluation.run, &self.evaluation.module);
        if !at_least(14) || run.inputs.scope.deferral_allowed {
            return None;
        }
        let reference = parse_test_reference(traversal, file).ok()?;
        let declared = run.blocks.tree.module(slots.id);
        let (is_set, kind, named) = match &reference.subject {
            Subject::Variable(name) => {
                let index = declared.variables.get_index_of(name)?;
                (slots.variables[index].get().is_some(), "variable", format!("var.{name}"))
            }
            Subject::Local(name) => {
                let index = declared.locals.get_index_of(name)?;
                (slots.locals[index].get().is_some(), "local value", format!("local.{name}"))
            }
            Subject::Resource(resource) => self.resource_slot(resource)?,
            Subject::ResourceInstance(instance) => self.resource_slot(&instance.resource)?,
            _ => return None,
        };
        (!is_set).then(|| uninitialized(kind, &named).at(reference.range.clone()))
    }

    fn resource_slot(&self, resource: &Resource) -> Option<(bool, &'static str, String)> {
        let slots = &self.evaluation.module;
        let index = self.evaluation.run.blocks.tree.module(slots.id).resources.get_index_of(resource)?;
        Some((slots.resources[index].get().is_some(), "resource", resource.to_string()))
    }

    /// The value of a variable that a failed plan did not come to, because of a rule of another one: it has a value nevertheless, since
    /// Terraform 1.14.
    fn unchecked_variable(&self, name: &Arc<str>) -> Option<Value> {
        let (run, slots) = (&self.evaluation.run, &self.evaluation.module);
        let scope = &run.inputs.scope;
        if !at_least(14) || run.is_apply() || !scope.targets.is_empty() || !scope.excludes.is_empty() {
            return None;
        }
        let declared = &run.blocks.tree.module(slots.id).variables;
        let index = declared.get_index_of(name)?;
        match slots.variables[index].get() {
            Some(_) => None,
            None => root_value(run, &declared[index]),
        }
    }

    /// The value of a name that only tests know, and how many steps it takes; none: it is one of the module.
    fn of_test(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Option<Result<(Value, usize), Diagnostic>> {
        if let Some(plan) = self.names.plan.as_ref().filter(|_| traversal.root_name() == PLAN) {
            return Some(Ok((plan.clone(), 0)));
        }
        let reference = parse_test_reference(traversal, file).ok()?;
        let steps = traversal.steps.len() - reference.remaining.len();
        let value = match &reference.subject {
            Subject::Run(name) => match outputs_of_run(&self.names.runs, name, &reference.range) {
                Ok(value) => value,
                Err(problem) => return Some(Err(problem)),
            },
            Subject::Variable(name) => match self.names.variables.get(name) {
                Some(value) => value.clone(),
                None => self.unchecked_variable(name)?,
            },
            Subject::Output(name) => {
                let declared = &self.evaluation.run.blocks.tree.module(self.evaluation.module.id).outputs;
                match declared.get_index_of(name) {
                    Some(index) => of_output(output_value(&self.evaluation.module, index)),
                    None => {
                        let detail = format!("An output value with the name {name:?} has not been declared.");
                        let problem = Diagnostic::error("Reference to undeclared output value", detail);
                        return Some(Err(problem.at(reference.range)));
                    }
                }
            }
            subject => self.names.of_file(subject)?,
        };
        Some(Ok((value, steps)))
    }
}

fn outputs_of_run(runs: &BTreeMap<Arc<str>, Option<Value>>, name: &str, range: &Range) -> Result<Value, Diagnostic> {
    match runs.get(name) {
        Some(Some(value)) => Ok(value.clone()),
        Some(None) => {
            let detail =
                format!("The run {name:?} block has not yet been evaluated, so its results are not available here.");
            Err(Diagnostic::error("Reference to unevaluated run block", detail).at(range.clone()))
        }
        None => {
            let hint = suggest::name(name, runs.keys().map(|known| &**known))
                .map_or_else(String::new, |found| format!(" Did you mean {found:?}?"));
            let detail = format!("There is no run {name:?} declared in this test suite.{hint}");
            Err(Diagnostic::error("Reference to undeclared run block", detail).at(range.clone()))
        }
    }
}

impl Scope for AssertScope<'_> {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        match self.of_test(traversal, file) {
            Some(Ok((value, consumed))) => Resolved::value(value, consumed),
            Some(Err(problem)) => Resolved::error(problem),
            None => self.module.resolve(traversal, file),
        }
    }

    fn names_first(&self) -> bool {
        self.module.names_first()
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        self.module.function(name)
    }

    fn function_names(&self) -> Vec<String> {
        self.module.function_names()
    }

    fn missing_function(&self, namespace: &str, name: &str) -> Option<String> {
        self.module.missing_function(namespace, name)
    }

    fn machine(&self) -> Option<&dyn Machine> {
        self.module.machine()
    }
}
