//! Expressions evaluated in a module instance after a run, for the console: one at a time, with one function
//! more and one less than in the configuration.

use std::sync::Arc;

use base::diag::Diagnostics;
use base::source::SourceFile;
use lang::eval::{Resolved, Scope, evaluate};
use lang::functions::type_of::TYPE_OF;
use lang::functions::{Function, Machine};
use lang::syntax::ast::{Expression, Traversal};
use model::addr::ModuleInstance;
use terrane_value::Value;

use crate::blocks::references::Gatherer;
use crate::run::Run;
use crate::run::module_scope::ModuleScope;
use crate::run::results::ModuleSlots;

/// A run that is over, seen from one of its module instances.
pub struct Evaluation {
    pub(super) run: Arc<Run>,
    pub(super) module: Arc<ModuleSlots>,
}

/// The names that expressions can use, for completion. Sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// `var.a`, `local.b`, `module.c.out`, `data.d.e`: whole references.
    pub references: Vec<String>,
    pub functions: Vec<String>,
}

impl Evaluation {
    /// None if there is no such module instance.
    pub fn of(run: Arc<Run>, module: &ModuleInstance) -> Option<Evaluation> {
        let module = run.results.find_module(&run.blocks.tree, module)?;
        Some(Evaluation { run, module })
    }

    /// The value of an expression; unknown where an error prevents one.
    pub fn evaluate(&self, expr: &Expression) -> (Value, Diagnostics) {
        let mut gatherer = Gatherer::new(&self.run.blocks.tree, &self.run.blocks.schemas, self.module.id);
        gatherer.expression(expr);
        let problems = gatherer.needs.problems;
        if problems.has_errors() {
            return (Value::dynamic(), problems);
        }
        evaluate(expr, &ConsoleScope(ModuleScope::new(&self.run, &self.module).with_changing_files()))
    }

    pub fn names(&self) -> Names {
        let module = self.run.blocks.tree.module(self.module.id);
        let mut references: Vec<String> = ["path.cwd", "path.module", "path.root", "terraform.workspace"]
            .map(String::from)
            .into_iter()
            .chain(module.variables.keys().map(|name| format!("var.{name}")))
            .chain(module.locals.keys().map(|name| format!("local.{name}")))
            .collect();
        references.extend(module.resources.keys().map(ToString::to_string));
        for (index, (name, call)) in module.calls.iter().enumerate() {
            references.push(format!("module.{name}"));
            let repeats = call.count.is_some() || call.for_each.is_some();
            if let Some(child) = self.run.blocks.tree.child(self.module.id, index as u32).filter(|_| !repeats) {
                let outputs = self.run.blocks.tree.module(child).outputs.keys();
                references.extend(outputs.map(|output| format!("module.{name}.{output}")));
            }
        }
        references.sort();
        let functions = ConsoleScope(ModuleScope::new(&self.run, &self.module)).function_names();
        Names { references, functions }
    }
}

/// A module's scope with the console's functions.
struct ConsoleScope<'r>(ModuleScope<'r>);

const ONLY_HERE: &str = "type";
const NOT_HERE: &str = "plantimestamp";

impl Scope for ConsoleScope<'_> {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        self.0.resolve(traversal, file)
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        match name.strip_prefix("core::").unwrap_or(name) {
            ONLY_HERE => Some(&*TYPE_OF),
            NOT_HERE => None,
            _ => self.0.function(name),
        }
    }

    fn function_names(&self) -> Vec<String> {
        let mut names = self.0.function_names();
        names.retain(|name| name != NOT_HERE);
        names.push(ONLY_HERE.to_string());
        names.sort();
        names
    }

    fn missing_function(&self, namespace: &str, name: &str) -> Option<String> {
        self.0.missing_function(namespace, name)
    }

    fn machine(&self) -> Option<&dyn Machine> {
        self.0.machine()
    }
}
