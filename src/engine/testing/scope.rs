//! The scope of expressions in a test file, outside of assertions: earlier runs, variables and local values of the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::files::Files;
use base::moment::Moment;
use base::name::PROGRAM;
use base::source::{Range, SourceFile};
use lang::eval::steps::apply_step;
use lang::eval::{Resolved, Scope, evaluate};
use lang::functions::{self, Function, Machine};
use lang::syntax::ast::{Expression, Traversal};
use model::addr::parse::parse_test_reference;
use model::addr::{Reference, Subject};
use model::version::at_least;
use terrane_value::Value;

use crate::mock::TestNames;
use crate::ports::Host;

/// Where an expression of a test file stands; messages speak of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestPlace {
    /// The `variables` block of a run.
    Run,
    /// A `provider` block.
    Provider,
    /// The `variables` block of the file.
    File,
}

/// A scope of names in a test file.
pub struct TestScope<'a> {
    pub names: &'a TestNames,
    pub place: TestPlace,
    pub host: &'a dyn Host,
}

impl TestScope<'_> {
    /// The value of an expression. An error in one of its names keeps it from being evaluated.
    pub fn evaluate(&self, expr: &Expression) -> (Value, Diagnostics) {
        let mut problems = Diagnostics::new();
        for traversal in expr.variables() {
            problems.extend(self.check(traversal, &expr.file));
        }
        if problems.has_errors() { (Value::dynamic(), problems) } else { evaluate(expr, self) }
    }

    /// What is wrong with a name.
    pub fn check(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Option<Diagnostic> {
        self.value_of(traversal, file).err()
    }

    fn value_of(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Result<(Value, usize), Diagnostic> {
        let reference = parse_test_reference(traversal, file)?;
        let steps = traversal.steps.len() - reference.remaining.len();
        let value = match &reference.subject {
            Subject::Run(name) => {
                self.run(name, &reference, Range { file: file.clone(), span: traversal.span }.text())?
            }
            Subject::Variable(name) => match self.names.variables.get(name) {
                Some(value) => value.clone(),
                None => return Err(self.unavailable_variable(name, &reference.range)),
            },
            subject => {
                if let Some(value) = self.names.of_file(subject) {
                    return Ok((value, steps));
                }
                let detail = if at_least(13) {
                    format!("You can only reference run blocks and variables from within {PROGRAM} Test files.")
                } else {
                    self.place.only_these().to_owned()
                };
                return Err(Diagnostic::error(INVALID_REFERENCE, detail).at(reference.range));
            }
        };
        Ok((value, steps))
    }

    /// The outputs of a run. `written`: all of the reference as it stands in the file.
    fn run(&self, name: &Arc<str>, reference: &Reference, written: &str) -> Result<Value, Diagnostic> {
        if self.place == TestPlace::File && !at_least(13) {
            let detail = "You can not reference run blocks from within the file variables block.";
            return Err(Diagnostic::error(INVALID_REFERENCE, detail).at(reference.range.clone()));
        }
        let (value, missing) = match self.names.runs.get(name) {
            Some(Some(value)) => (value, None),
            Some(None) => (&Value::dynamic(), Some(("unavailable", "has not executed yet."))),
            None => (&Value::dynamic(), Some(("unknown", "does not exist within this test file."))),
        };
        if let Some((kind, what)) = missing {
            let mut detail = format!("The run block {name:?} {what}");
            if !at_least(13) {
                detail = format!("{detail} {}", self.place.order_of_runs());
            }
            let summary = format!("Reference to {kind} run block");
            return Err(Diagnostic::error(summary, detail).at(reference.range.clone()));
        }
        if !is_known_behind(value, reference) {
            return Err(unknown_value(name, reference, written));
        }
        Ok(value.clone())
    }

    fn unavailable_variable(&self, name: &str, range: &Range) -> Diagnostic {
        let detail = match self.place {
            _ if at_least(13) => format!("The input variable {name:?} does not exist within this test file."),
            TestPlace::Run => format!(
                "The input variable {name:?} is not available to the current run block. You can only reference variables defined \
                 at the file or global levels."
            ),
            TestPlace::Provider => format!(
                "The input variable {name:?} is not available to the current provider configuration. You can only reference \
                 variables defined at the file or global levels."
            ),
            TestPlace::File => format!(
                "The input variable {name:?} is not available to the current context. You can only reference global variables."
            ),
        };
        Diagnostic::error("Reference to unavailable variable", detail).at(range.clone())
    }
}

const INVALID_REFERENCE: &str = "Invalid reference";

impl TestPlace {
    fn only_these(self) -> &'static str {
        match self {
            TestPlace::Run => {
                "You can only reference earlier run blocks, file level, and global variables while defining variables from inside \
                 a run block."
            }
            TestPlace::Provider => {
                "You can only reference run blocks, file level, and global variables while defining variables from inside provider \
                 configurations."
            }
            TestPlace::File => "You can only reference global variables within the test file variables block.",
        }
    }

    fn order_of_runs(self) -> &'static str {
        match self {
            TestPlace::Provider => {
                "You can only reference run blocks that are in the same test file and will execute before the provider is required."
            }
            TestPlace::Run | TestPlace::File => {
                "You can only reference run blocks that are in the same test file and will execute before the current run block."
            }
        }
    }
}

/// Whether the part of a run's outputs that a reference names is wholly known. What it names wrongly is reported elsewhere.
fn is_known_behind(outputs: &Value, reference: &Reference) -> bool {
    let mut value = outputs.clone();
    for step in &reference.remaining {
        match apply_step(&value, step) {
            Ok(next) => value = next,
            Err(_) => return true,
        }
    }
    value.is_wholly_known()
}

fn unknown_value(run: &str, reference: &Reference, written: &str) -> Diagnostic {
    let detail = format!(
        "The value for {written} is unknown. Run block {run:?} is executing a \"plan\" operation, and the specified output value is \
         only known after apply."
    );
    Diagnostic::error("Reference to unknown value", detail).at(reference.range.clone())
}

impl Scope for TestScope<'_> {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        match self.value_of(traversal, file) {
            Ok((value, consumed)) => Resolved::value(value, consumed),
            Err(error) => Resolved::error(error),
        }
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        functions::lookup(name).map(|found| found as &dyn Function)
    }

    fn function_names(&self) -> Vec<String> {
        functions::names().into_iter().map(str::to_string).collect()
    }

    fn machine(&self) -> Option<&dyn Machine> {
        Some(self)
    }
}

impl Machine for TestScope<'_> {
    fn files(&self) -> &dyn Files {
        self.host.files()
    }

    fn base_dir(&self) -> &Path {
        Path::new(".")
    }

    fn working_dir(&self) -> PathBuf {
        self.host.working_dir()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        self.host.home_dir()
    }

    fn pure_only(&self) -> bool {
        false
    }

    fn now(&self) -> Moment {
        self.host.now()
    }

    fn plan_time(&self) -> Option<Moment> {
        None
    }

    fn random(&self, bytes: &mut [u8]) {
        self.host.random(bytes);
    }
}
