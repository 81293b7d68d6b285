//! The values of variables in a test: those of the run, of the file, and from outside, in this order.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::source::Range;
use engine::mock::TestNames;
use engine::ports::Host;
use engine::testing::{TestPlace, TestScope};
use engine::{GivenVariable, GivenVariables, Origin};
use lang::syntax::ast::Expression;
use model::addr::Subject;
use model::addr::parse::parse_test_reference;
use model::config::test_file::{TestFile, TestProvider, TestReferences, TestRun, expressions_in};
use model::config::{Config, Module, ProviderBlock};
use model::version::at_least;
use terrane_value::Value;

use crate::configuration::variables::{self, Collected};
use crate::setup::Setup;

/// Values that no test file gives.
pub struct OutsideValues {
    root: Collected,
    /// With the values files of the test folder, for the test files in it.
    folder: Collected,
    test_dir: String,
}

impl OutsideValues {
    pub fn collect(
        setup: &Setup,
        arguments: &[crate::interface::options::VariableArgument],
        test_dir: &str,
    ) -> (OutsideValues, Diagnostics) {
        let (root, mut diagnostics) = variables::collect(setup, arguments);
        let (folder, found) = variables::collect_in_folder(setup, test_dir, &root);
        diagnostics.extend(found);
        (OutsideValues { root, folder, test_dir: test_dir.to_owned() }, diagnostics)
    }

    fn of_file(&self, file: &TestFile) -> &Collected {
        let is_in_folder = Path::new(&file.name).parent() == Some(Path::new(&self.test_dir));
        if is_in_folder { &self.folder } else { &self.root }
    }

    /// Whether a variable has a value from outside for a file.
    pub fn has_value(&self, file: &TestFile, name: &str) -> bool {
        self.of_file(file).given_undeclared(name, true, &mut Diagnostics::new()).is_some()
    }

    /// The names of the variables that have a value from outside, if a run of the file or its `provider` blocks could use it. `root`: the
    /// module that runs without a `module` block test.
    pub fn names_used_by(&self, file: &TestFile, root: &Config) -> BTreeSet<String> {
        let mut names: BTreeSet<Arc<str>> = BTreeSet::new();
        for run in &file.runs {
            let module = &run.under_test.as_ref().unwrap_or(root).root;
            let mut needed = file.references_of(run);
            let elements = file.providers_of(run).into_iter().filter_map(TestProvider::for_each);
            needed.variables.extend(TestReferences::of(elements).variables);
            needed.variables.extend(module.variables.keys().filter(|name| !run.variables.contains_key(*name)).cloned());
            names.extend(file.completed(needed).variables);
        }
        // Before Terraform 1.13, the values of the file refer to those from outside only.
        let of_file = match at_least(13) {
            true => BTreeSet::new(),
            false => TestReferences::of(file.variables.values()).variables,
        };
        let is_used = |name: &Arc<str>| !file.variables.contains_key(name) || of_file.contains(name);
        let used = names.into_iter().filter(|name| is_used(name) && self.has_value(file, name));
        used.map(|name| name.to_string()).collect()
    }
}

/// The values for one run.
#[derive(Default)]
pub struct RunValues {
    /// Of the variables that its module declares.
    pub given: GivenVariables,
    /// Of the others that its assertions and snapshots refer to.
    pub extra: BTreeMap<Arc<str>, Value>,
    /// Of the file's local values that its assertions and snapshots refer to.
    pub locals: BTreeMap<Arc<str>, Value>,
}

/// Looks up the values of a file's variables for one run.
pub struct Lookup<'a> {
    pub file: &'a TestFile,
    pub outside: &'a OutsideValues,
    /// The module that the run tests: its declarations say how texts are read.
    pub module: &'a Module,
    pub runs: &'a BTreeMap<Arc<str>, Option<Value>>,
    pub host: &'a dyn Host,
    /// The element that the run is executed for, for its own expressions: `each.key` and `each.value`.
    pub each: Option<(Arc<str>, Value)>,
    /// The variables and local values of the file that are being evaluated, as they are referred to.
    pub open: RefCell<Vec<String>>,
}

impl Lookup<'_> {
    /// The values for a run. `warn`: also of values that nothing declares.
    pub fn of_run(&self, run: &TestRun, warn: bool) -> (RunValues, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let mut values = RunValues::default();
        let TestReferences { variables: mut referenced, locals, .. } = names_after_run(run);
        if at_least(13) {
            referenced.extend(TestReferences::of(run.variables.values()).variables);
        }
        let is_relevant = |name: &Arc<str>| self.module.variables.contains_key(name) || referenced.contains(name);
        for (name, expr) in &run.variables {
            let value = diagnostics.take(self.evaluate(expr, TestPlace::Run));
            if is_relevant(name) {
                self.keep(&mut values, name, GivenVariable { value, origin: Origin::File(expr.range()) });
            } else if warn {
                let detail = format!(
                    "The module under test does not declare a variable named {name:?}, but it is declared in run block {:?}.",
                    &*run.name
                );
                let warning = Diagnostic::warning("Value for undeclared variable", detail).at(expr.range());
                diagnostics.push(warning);
            }
        }
        for name in self.module.variables.keys().chain(&referenced) {
            if values.given.contains_key(name) || values.extra.contains_key(name) {
                continue;
            }
            if let Some(found) = self.value_of(name, &mut diagnostics) {
                self.keep(&mut values, name, found);
            }
        }
        for (name, range) in last_references(run) {
            let is_known = run.variables.contains_key(&name) || self.module.variables.contains_key(&name);
            if !is_known && self.is_undefined(&name) && values.extra.contains_key(&name) {
                diagnostics.push(referenced_without_definition(&name, range));
            }
        }
        values.locals = self.locals(&locals, &mut diagnostics);
        for variable in self.module.variables.values() {
            if variable.default.is_none() && !values.given.contains_key(&variable.name) {
                let detail = format!(
                    "The module under test for run block {:?} has a required variable {:?} with no set value. Use a -var or -var-file \
                     command line argument or add this variable into a \"variables\" block within the test file or run block.",
                    &*run.name, &*variable.name
                );
                let missing = Diagnostic::error("No value for required variable", detail).at(variable.range.clone());
                diagnostics.push(missing);
            }
        }
        (values, diagnostics)
    }

    fn keep(&self, values: &mut RunValues, name: &Arc<str>, given: GivenVariable) {
        if self.module.variables.contains_key(name) {
            values.given.insert(name.clone(), given);
        } else {
            values.extra.insert(name.clone(), given.value);
        }
    }

    /// What is wrong with the values of the file that a run needs, and with the file's `provider` blocks that it uses. Since Terraform
    /// 1.13 this belongs to the file.
    pub fn check_file(&self, run: &TestRun, providers: &[&ProviderBlock]) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        if !at_least(13) {
            return diagnostics;
        }
        let mut needed = run.references(providers);
        let declared = self.module.variables.keys().filter(|name| !run.variables.contains_key(*name));
        needed.variables.extend(declared.cloned());
        needed.variables.extend(self.file.cyclic_variables());
        for name in self.file.completed(needed).variables {
            if let Some(expr) = self.file.variables.get(&name) {
                diagnostics.extend_new(self.file_variable(&name, expr).1);
            } else if self.file.definitions.contains_key(&name) {
                let mut found = Diagnostics::new();
                self.value_of(&name, &mut found);
                diagnostics.extend_new(found);
            }
        }
        for expr in providers.iter().flat_map(|block| expressions_in(&block.body)) {
            diagnostics.extend_new(self.check_names(&expr));
        }
        diagnostics
    }

    /// What is wrong with the variables and runs that an expression of a `provider` block refers to.
    fn check_names(&self, expr: &Expression) -> Diagnostics {
        let place = TestPlace::Provider;
        let (names, mut diagnostics) = self.names_in(expr, place, None);
        let scope = TestScope { names: &names, place, host: self.host };
        for traversal in expr.variables() {
            let subject = parse_test_reference(traversal, &expr.file).map(|reference| reference.subject);
            if matches!(subject, Ok(Subject::Run(_) | Subject::Variable(_))) {
                diagnostics.extend(scope.check(traversal, &expr.file));
            }
        }
        diagnostics
    }

    /// The names that `provider` blocks of the file see. Variables with errors are left out: a block that refers to one has an error.
    pub fn names_for_providers(&self) -> TestNames {
        let all = self.file.variables.keys().chain(self.file.definitions.keys()).chain(self.module.variables.keys());
        let mut variables = BTreeMap::new();
        for name in all {
            let mut found = Diagnostics::new();
            let value = self.value_of(name, &mut found);
            if let Some(value) = value.filter(|_| !found.has_errors()) {
                variables.insert(name.clone(), value.value);
            }
        }
        let local = |(name, expr): (&Arc<str>, &Expression)| {
            let (value, found) = self.local(name, expr);
            (!found.has_errors()).then(|| (name.clone(), value))
        };
        let locals = self.file.locals.iter().filter_map(local).collect();
        TestNames { runs: self.runs.clone(), variables, locals, ..TestNames::default() }
    }

    /// The local values of the file among some names. What the file does not have may be one of the module.
    fn locals<'n>(
        &self,
        names: impl IntoIterator<Item = &'n Arc<str>>,
        diagnostics: &mut Diagnostics,
    ) -> BTreeMap<Arc<str>, Value> {
        let known = names.into_iter().filter_map(|name| Some((name, self.file.locals.get(name)?)));
        known.map(|(name, expr)| (name.clone(), diagnostics.take(self.local(name, expr)))).collect()
    }

    /// A local value of the file. It is not evaluated for an element of `for_each`, even if a run with elements refers to it.
    fn local(&self, name: &str, expr: &Expression) -> (Value, Diagnostics) {
        self.unless_open(format!("local.{name}"), expr, || self.evaluate_for(expr, TestPlace::Run, None))
    }

    /// Evaluates a value of the file, unless it is what is being evaluated.
    fn unless_open(
        &self,
        name: String,
        expr: &Expression,
        evaluate: impl FnOnce() -> (Value, Diagnostics),
    ) -> (Value, Diagnostics) {
        if self.open.borrow().contains(&name) {
            let detail = format!(
                "The values of these names of the file refer to each other: {}.",
                self.open.borrow().join(", ")
            );
            return (
                Value::dynamic(),
                Diagnostic::error("Cycle in values of a test file", detail).at(expr.range()).into(),
            );
        }
        self.open.borrow_mut().push(name);
        let evaluated = evaluate();
        self.open.borrow_mut().pop();
        evaluated
    }

    /// Evaluates an expression of the test file. Variables and local values that it refers to are evaluated first.
    pub fn evaluate(&self, expr: &Expression, place: TestPlace) -> (Value, Diagnostics) {
        self.evaluate_for(expr, place, self.each.clone())
    }

    fn evaluate_for(
        &self,
        expr: &Expression,
        place: TestPlace,
        each: Option<(Arc<str>, Value)>,
    ) -> (Value, Diagnostics) {
        let (names, mut diagnostics) = self.names_in(expr, place, each);
        if diagnostics.has_errors() && place == TestPlace::File {
            return (Value::dynamic(), diagnostics);
        }
        let value = diagnostics.take(TestScope { names: &names, place, host: self.host }.evaluate(expr));
        (if diagnostics.has_errors() { Value::dynamic() } else { value }, diagnostics)
    }

    /// The names that an expression refers to, with their values. What has no value is left out.
    fn names_in(
        &self,
        expr: &Expression,
        place: TestPlace,
        each: Option<(Arc<str>, Value)>,
    ) -> (TestNames, Diagnostics) {
        let mut names = TestNames { runs: self.runs.clone(), each, ..TestNames::default() };
        let mut diagnostics = Diagnostics::new();
        let referenced = TestReferences::of([expr]);
        names.locals = self.locals(&referenced.locals, &mut diagnostics);
        for name in referenced.variables {
            let found = match place {
                TestPlace::File if !at_least(13) => self.outside_value(&name, &mut diagnostics),
                _ => self.value_of(&name, &mut diagnostics),
            };
            if let Some(found) = found {
                names.variables.insert(name, found.value);
            }
        }
        for (name, range) in variable_references(expr) {
            if self.is_undefined(&name) && names.variables.contains_key(&name) {
                diagnostics.push(referenced_without_definition(&name, range));
            }
        }
        (names, diagnostics)
    }

    /// Whether the file neither gives a value to a variable nor defines it. References to it are deprecated since Terraform 1.13.
    fn is_undefined(&self, name: &Arc<str>) -> bool {
        at_least(13) && !self.file.variables.contains_key(name) && !self.file.definitions.contains_key(name)
    }

    fn file_variable(&self, name: &str, expr: &Expression) -> (Value, Diagnostics) {
        self.unless_open(format!("var.{name}"), expr, || self.evaluate_for(expr, TestPlace::File, None))
    }

    /// A variable of the file or from outside; none: it has no value.
    fn value_of(&self, name: &Arc<str>, diagnostics: &mut Diagnostics) -> Option<GivenVariable> {
        if let Some(expr) = self.file.variables.get(name) {
            let (value, found) = self.file_variable(name, expr);
            // Since Terraform 1.13 its warnings belong to the file.
            if found.has_errors() || !at_least(13) {
                diagnostics.extend(found);
            }
            return Some(GivenVariable { value, origin: Origin::File(expr.range()) });
        }
        if let Some(defined) = self.file.definitions.get(name) {
            let given = self.outside.of_file(self.file).given(defined, diagnostics);
            let own = Origin::File(defined.range.clone());
            let origin = given.as_ref().map_or(own, |given| given.origin.clone());
            let (value, found) = engine::test_file_value(defined, given);
            diagnostics.extend_new(found);
            return Some(GivenVariable { value, origin });
        }
        self.outside_value(name, diagnostics)
    }

    fn outside_value(&self, name: &Arc<str>, diagnostics: &mut Diagnostics) -> Option<GivenVariable> {
        let collected = self.outside.of_file(self.file);
        match self.module.variables.get(name) {
            Some(variable) => collected.given(variable, diagnostics),
            None => {
                let value = collected.given_undeclared(name, at_least(13), diagnostics)?;
                Some(GivenVariable { value, origin: Origin::Other })
            }
        }
    }
}

/// The names in what a run evaluates once it is over: its assertions and snapshots.
fn names_after_run(run: &TestRun) -> TestReferences {
    let asserts = run.asserts.iter().flat_map(|assert| [&assert.condition, &assert.error_message]);
    TestReferences::of(asserts.chain(run.snapshots.iter().map(|snapshot| &snapshot.value)))
}

/// The variables that an expression refers to, in their order.
fn variable_references(expr: &Expression) -> Vec<(Arc<str>, Range)> {
    let references = expr.variables().into_iter().filter_map(|traversal| {
        let reference = parse_test_reference(traversal, &expr.file).ok()?;
        match reference.subject {
            Subject::Variable(name) => Some((name, reference.range)),
            _ => None,
        }
    });
    references.collect()
}

/// The last place of each variable that a run refers to: in its assertions and snapshots, then in its variables.
fn last_references(run: &TestRun) -> BTreeMap<Arc<str>, Range> {
    let asserts = run.asserts.iter().flat_map(|assert| [&assert.condition, &assert.error_message]);
    let all = asserts.chain(run.snapshots.iter().map(|snapshot| &snapshot.value)).chain(run.variables.values());
    all.flat_map(variable_references).collect()
}

fn referenced_without_definition(name: &str, range: Range) -> Diagnostic {
    let detail = format!(
        "Variable {name:?} was referenced without providing a definition. Referencing undefined variables within {PROGRAM} Test files is \
         deprecated, please add a `variable` block into the relevant test file to provide a definition for the variable. This will become \
         required in future versions of {PROGRAM}."
    );
    Diagnostic::warning("Variable referenced without definition", detail).at(range)
}

#[cfg(test)]
mod tests {
    use base::source::SourceFile;
    use lang::syntax::parse_expression;

    use super::*;

    #[test]
    fn variables_are_found_in_the_order_of_their_references() {
        let cases = [
            ("1", ""),
            ("var.b + var.a.x", "b a"),
            ("\"${run.r.o} ${var.a} ${var.a}\"", "a a"),
            ("[for v in var.list : v + local.l]", "list"),
        ];
        for (text, expected) in cases {
            let (expr, found) = parse_expression(SourceFile::new("a.tftest.hcl", text));
            assert!(found.is_empty(), "{text}");
            let names: Vec<String> = variable_references(&expr).into_iter().map(|(name, _)| name.to_string()).collect();
            assert_eq!(names.join(" "), expected, "{text}");
        }
    }
}
