//! What names mean where an expression stands.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::{Range, SourceFile};
use terrane_value::Value;

use crate::functions::{Function, Machine};
use crate::syntax::ast::Traversal;
use crate::syntax::syntax_errors::no_variables;

/// Gives meaning to the names of an expression. The evaluator asks once per traversal.
pub trait Scope: Sync {
    /// The value of the longest prefix of the traversal that the scope itself gives meaning to.
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved;

    /// False where strings of JSON syntax are plain text: no scope at all in the reference's terms.
    fn templates(&self) -> bool {
        true
    }

    /// Whether errors in names hide all other errors of the body that they stand in.
    fn names_first(&self) -> bool {
        false
    }

    /// Whether references in blocks that `dynamic` blocks generate may be invalid for any values.
    fn checks_generated(&self) -> bool {
        false
    }

    /// What is wrong with a reference in a generated block, whatever the values are.
    fn check_generated(&self, _traversal: &Traversal, _file: &Arc<SourceFile>) -> Diagnostics {
        Diagnostics::new()
    }

    /// The function that a call names.
    fn function(&self, _name: &str) -> Option<&dyn Function> {
        None
    }

    /// All functions, sorted, for "did you mean".
    fn function_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Why there is no such function in a namespace that the scope knows.
    fn missing_function(&self, _namespace: &str, _name: &str) -> Option<String> {
        None
    }

    /// The errors about a function that no program has in this scope, by its whole name; none if the usual error fits.
    fn refuse_function(&self, _name: &str, _place: &Range) -> Option<Vec<Diagnostic>> {
        None
    }

    /// Files, time and chance, for the functions that need them; none where expressions must be pure.
    fn machine(&self) -> Option<&dyn Machine> {
        None
    }

    /// What hears how expressions are decided; none where nothing is recorded.
    fn recorder(&self) -> Option<&dyn EvaluationRecorder> {
        None
    }
}

/// Hears how the expressions of a configuration are decided, for the coverage of its tests. Learns no values.
pub trait EvaluationRecorder: Sync {
    /// A conditional or an `if` directive has given one of its results: that of a condition that holds or does not hold. For the `if`
    /// clause of a `for`, whose place is its `clause_span`: it has kept elements, or left some out.
    fn record_branch(&self, conditional: Range, holds: bool);

    /// A block is repeated by an expression: at least once, or not at all.
    fn record_repetition(&self, by: Range, is_empty: bool);
}

/// An answer: a value, and how many steps behind the root it already accounts for; the evaluator applies the others.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub value: Value,
    pub consumed: usize,
    /// With errors, the value is unknown and no further steps are applied.
    pub diagnostics: Diagnostics,
}

impl Resolved {
    pub fn value(value: Value, consumed: usize) -> Resolved {
        Resolved { value, consumed, diagnostics: Diagnostics::new() }
    }

    pub fn error(diagnostics: impl Into<Diagnostics>) -> Resolved {
        Resolved { value: Value::dynamic(), consumed: usize::MAX, diagnostics: diagnostics.into() }
    }
}

/// Names bound by the language itself (iterators of `dynamic` blocks) in front of another scope.
pub struct Bindings<'s> {
    pub names: &'s BTreeMap<Arc<str>, Value>,
    pub outer: &'s dyn Scope,
}

impl Scope for Bindings<'_> {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        match self.names.get(&traversal.root.name) {
            Some(value) => Resolved::value(value.clone(), 0),
            None => self.outer.resolve(traversal, file),
        }
    }

    fn templates(&self) -> bool {
        self.outer.templates()
    }

    fn names_first(&self) -> bool {
        self.outer.names_first()
    }

    fn checks_generated(&self) -> bool {
        self.outer.checks_generated()
    }

    fn check_generated(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Diagnostics {
        self.outer.check_generated(traversal, file)
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        self.outer.function(name)
    }

    fn function_names(&self) -> Vec<String> {
        self.outer.function_names()
    }

    fn missing_function(&self, namespace: &str, name: &str) -> Option<String> {
        self.outer.missing_function(namespace, name)
    }

    fn refuse_function(&self, name: &str, place: &Range) -> Option<Vec<Diagnostic>> {
        self.outer.refuse_function(name, place)
    }

    fn machine(&self) -> Option<&dyn Machine> {
        self.outer.machine()
    }

    fn recorder(&self) -> Option<&dyn EvaluationRecorder> {
        self.outer.recorder()
    }
}

/// Where neither names nor functions mean anything.
pub struct Constant;

impl Scope for Constant {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        Resolved::error(no_variables().at(traversal.root.span.in_file(file)))
    }

    fn templates(&self) -> bool {
        false
    }
}
