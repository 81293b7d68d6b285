//! What names mean in an encryption configuration: variables and locals as before anything is planned, and keys.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::source::{Range, SourceFile};
use lang::eval::{Resolved, Scope, evaluate};
use lang::functions::{Function, Machine};
use lang::syntax::ast::{Expression, Traversal};
use model::addr::Subject;
use model::addr::parse::parse_reference;
use model::config::StaticContext;
use terrane_value::Value;

use super::needs::missing_in;
use super::opentofu;
use super::reference::key_provider_of;

/// The names that something of the configuration, `subject`, may use.
pub struct KeyScope<'s> {
    pub early: &'s StaticContext,
    pub subject: &'s str,
    /// Where the configuration is declared.
    pub declared: Option<Range>,
    /// The value of `key_provider`.
    pub keys: Value,
}

impl KeyScope<'_> {
    /// The value of an expression, as OpenTofu reports what is wrong with it: names first.
    pub fn value(&self, expr: &Expression) -> (Value, Diagnostics) {
        let mut problems = Diagnostics::new();
        for traversal in expr.variables() {
            if key_provider_of(traversal).is_none() {
                problems.extend(self.too_early(traversal, &expr.file));
            }
        }
        if problems.has_errors() {
            return (Value::dynamic(), problems);
        }
        let (value, found) = evaluate(expr, self);
        (value, found.into_iter().map(|problem| self.reworded(problem, expr)).collect())
    }

    /// Why a reference means nothing before anything is planned.
    fn too_early(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Option<Diagnostic> {
        let reference = match parse_reference(traversal, file) {
            Ok(reference) => reference,
            Err(problem) => return Some(problem),
        };
        let subject = &reference.subject;
        let problem =
            |summary: &str, detail: String| Some(Diagnostic::error(summary, detail).at(reference.range.clone()));
        match subject {
            Subject::Variable(_) if !self.early.declares(subject) => {
                problem("Undefined variable", format!("Undefined variable {subject}"))
            }
            Subject::Local(_) if !self.early.declares(subject) => {
                problem("Undefined local", format!("Undefined local {subject}"))
            }
            Subject::Variable(_) | Subject::Local(_) | Subject::Path(_) | Subject::Terraform(_) => None,
            _ => problem(
                model::config::DYNAMIC,
                format!("Unable to use {subject} in static context, which is required by {}", self.subject),
            ),
        }
    }

    /// The error for a missing value names the variable and what needs it.
    fn reworded(&self, problem: Diagnostic, expr: &Expression) -> Diagnostic {
        let missing = missing_in(expr, self.early).filter(|_| problem.kind == Kind::MissingValue);
        let Some(name) = missing.map(|variable| &variable.name) else { return problem };
        let advice = format!(
            "Set it with the environment variable TF_VAR_{name}, in a file of values (*.tfvars, -var-file), or with -var."
        );
        if opentofu::has_errors_of_opentofu(expr.file.dialect()) {
            let detail = format!("{} depends on var.{name} which is not available. {advice}", self.subject);
            return Diagnostic::error("Unable to compute static value", detail).at_opt(self.declared.clone());
        }
        let subject = self.subject.trim_start_matches("encryption.");
        let detail = format!("{subject} needs var.{name}, which has no value. {advice}");
        Diagnostic::error("No value for the encryption key", detail).at(expr.range())
    }
}

impl Scope for KeyScope<'_> {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        match key_provider_of(traversal) {
            Some(_) => Resolved::value(self.keys.clone(), 0),
            None => self.early.scope(self.subject).resolve(traversal, file),
        }
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        lang::functions::lookup(name).map(|f| f as &dyn Function)
    }

    fn function_names(&self) -> Vec<String> {
        lang::functions::names().into_iter().map(str::to_string).collect()
    }

    fn machine(&self) -> Option<&dyn Machine> {
        self.early.machine()
    }
}
