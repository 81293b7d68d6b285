//! The names in a policy.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::diag::{Diagnostic, Diagnostics};
use base::files::Files;
use base::moment::Moment;
use base::name::TERRANE;
use base::source::{Range, SourceFile};
use base::suggest;
use lang::eval::{Resolved, Scope, evaluate};
use lang::functions::{Function, Machine};
use lang::syntax::ast::{Expression, Traversal, TraversalStep};
use model::config::policy_file::{Policy, SetFile};
use model::model_errors::{did_you_mean, undeclared_local, unknown_name};
use terrane_value::Value;

use super::functions::{self, PolicyFunctions};
use super::target::PolicyTarget;
use crate::engine_errors::cycle;
use crate::ports::Host;

/// The names that have a meaning in policies.
const ROOTS: [&str; 5] = ["attrs", "input", "local", "meta", "prior_attrs"];

/// How many local values may need each other in a row.
const MAX_DEPTH: usize = 100;

/// The scope of a policy, for one target.
pub struct PolicyScope<'a> {
    pub file: &'a SetFile,
    pub policy: &'a Policy,
    pub target: &'a PolicyTarget,
    pub functions: &'a PolicyFunctions<'a>,
    pub host: &'a dyn Host,
    /// Local values of the file that are the same for all targets.
    pub shared: &'a SharedLocals,
    /// Those of the policy and of the file, as far as they were asked for.
    locals: Mutex<BTreeMap<(Owner, Arc<str>), Local>>,
    /// How many local values are being evaluated, each for the one before it.
    depth: AtomicUsize,
    /// What is wrong with local values: they may be used in several expressions.
    problems: Mutex<Diagnostics>,
}

/// Which block a local value is defined in. Those of a policy hide those of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    File,
    Policy,
}

enum Local {
    Running,
    Done(Value),
}

/// The local values of a file that do not depend on a target. They are evaluated once.
pub struct SharedLocals {
    names: BTreeSet<Arc<str>>,
    values: Mutex<BTreeMap<Arc<str>, Value>>,
}

impl SharedLocals {
    /// Finds out which local values of a file do not refer to a target, neither themselves nor by other local values.
    pub fn of(locals: &BTreeMap<Arc<str>, Expression>) -> SharedLocals {
        let mut names: BTreeSet<Arc<str>> = locals.keys().cloned().collect();
        // The local values that refer to a local value.
        let mut users: BTreeMap<&str, Vec<&Arc<str>>> = BTreeMap::new();
        let mut dependent = Vec::new();
        for (name, expr) in locals {
            for traversal in expr.variables() {
                match (traversal.root_name(), traversal.attr(0)) {
                    ("input", _) => {}
                    ("local", Some(other)) if locals.contains_key(other) => {
                        users.entry(other).or_default().push(name);
                    }
                    _ => dependent.push(name),
                }
            }
        }
        while let Some(name) = dependent.pop() {
            if names.remove(name) {
                dependent.extend(users.remove(&**name).unwrap_or_default());
            }
        }
        SharedLocals { names, values: Mutex::default() }
    }
}

#[cfg(test)]
impl SharedLocals {
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> PolicyScope<'a> {
    pub fn new(
        file: &'a SetFile,
        policy: &'a Policy,
        target: &'a PolicyTarget,
        functions: &'a PolicyFunctions<'a>,
        host: &'a dyn Host,
        shared: &'a SharedLocals,
    ) -> PolicyScope<'a> {
        let (locals, depth, problems) = (Mutex::default(), AtomicUsize::new(0), Mutex::default());
        PolicyScope { file, policy, target, functions, host, shared, locals, depth, problems }
    }

    /// What is wrong with the local values that were used since the last question.
    pub fn take_problems(&self) -> Diagnostics {
        std::mem::take(&mut *lock(&self.problems))
    }

    /// `is_of_file`: the reference stands in a local value of the file, which does not see those of the policy.
    fn value_of(
        &self,
        traversal: &Traversal,
        file: &Arc<SourceFile>,
        is_of_file: bool,
    ) -> Result<(Value, usize), Diagnostic> {
        let range = traversal.root.span.in_file(file);
        let whole = traversal.span.in_file(file);
        match traversal.root_name() {
            "attrs" => Ok((self.target.attrs.clone(), 0)),
            "prior_attrs" => Ok((self.target.prior_attrs.clone().unwrap_or_else(Value::null_dynamic), 0)),
            "meta" => Ok((self.target.meta.clone(), 0)),
            "input" => {
                let name = first_name(traversal, &whole)?;
                match self.file.inputs.get(name) {
                    Some(value) => Ok((value.clone(), 1)),
                    None => Err(undeclared_input(name, self.file.inputs.keys(), &whole)),
                }
            }
            "local" => Ok((self.local(first_name(traversal, &whole)?, is_of_file, &whole)?, 1)),
            other => Err(unknown_name(other, ROOTS, range)),
        }
    }

    fn local(&self, name: &Arc<str>, is_of_file: bool, range: &Range) -> Result<Value, Diagnostic> {
        let own = self.policy.locals.get(name).filter(|_| !is_of_file);
        let (owner, expr) = match (own, self.file.file.locals.get(name)) {
            (Some(expr), _) => (Owner::Policy, expr),
            (None, Some(expr)) => (Owner::File, expr),
            (None, None) => {
                let declared = self.policy.locals.keys().filter(|_| !is_of_file).chain(self.file.file.locals.keys());
                return Err(undeclared_local(name, declared, range));
            }
        };
        let is_shared = owner == Owner::File && self.shared.names.contains(name);
        if is_shared && let Some(value) = lock(&self.shared.values).get(name) {
            return Ok(value.clone());
        }
        let key = (owner, name.clone());
        {
            let mut locals = lock(&self.locals);
            match locals.get(&key) {
                Some(Local::Done(value)) => return Ok(value.clone()),
                Some(Local::Running) => return Err(cycle(&[format!("local.{name}")]).at(range.clone())),
                None => drop(locals.insert(key.clone(), Local::Running)),
            }
        }
        let (value, found) = match (self.depth.fetch_add(1, Ordering::Relaxed) < MAX_DEPTH, owner) {
            (false, _) => (Value::dynamic(), too_deep(name).at(range.clone()).into()),
            (true, Owner::Policy) => evaluate(expr, self),
            (true, Owner::File) => evaluate(expr, &FileScope(self)),
        };
        self.depth.fetch_sub(1, Ordering::Relaxed);
        let failed = found.has_errors();
        lock(&self.problems).extend(found);
        let value = if failed { Value::dynamic() } else { value };
        // What was evaluated with a failed one says nothing to the next target.
        if is_shared && !lock(&self.problems).has_errors() {
            lock(&self.shared.values).insert(name.clone(), value.clone());
        }
        lock(&self.locals).insert(key, Local::Done(value.clone()));
        Ok(value)
    }
}

fn too_deep(name: &str) -> Diagnostic {
    let detail = format!(
        "More than {MAX_DEPTH} local values need each other in a row, and local.{name} is the next one. Write what they do with fewer."
    );
    Diagnostic::error("Local values are nested too deeply", detail)
}

/// The name behind the first dot.
fn first_name<'t>(traversal: &'t Traversal, range: &Range) -> Result<&'t Arc<str>, Diagnostic> {
    match traversal.steps.first() {
        Some(TraversalStep::Attr { name, .. }) => Ok(&name.name),
        _ => {
            let root = traversal.root_name();
            let detail = format!("The name {root:?} must be followed by a dot and the name of one of its values.");
            Err(Diagnostic::error("Invalid reference in a policy", detail).at(range.clone()))
        }
    }
}

fn undeclared_input<'n>(name: &str, declared: impl IntoIterator<Item = &'n Arc<str>>, range: &Range) -> Diagnostic {
    let hint = did_you_mean(name, declared);
    let detail = format!("The file declares no input {name:?}.{hint}");
    Diagnostic::error("Reference to undeclared policy input", detail).at(range.clone())
}

/// The scope of a local value of the file.
struct FileScope<'s, 'a>(&'s PolicyScope<'a>);

fn resolved(found: Result<(Value, usize), Diagnostic>) -> Resolved {
    match found {
        Ok((value, consumed)) => Resolved::value(value, consumed),
        Err(error) => Resolved::error(error),
    }
}

/// The errors about functions of plugins, and about unknown names with `core::`.
fn refuse_function(name: &str, place: &Range) -> Option<Vec<Diagnostic>> {
    let (summary, detail) = if name.starts_with("plugin::") {
        let detail = format!("{TERRANE} does not run policy plugins, so the function {name:?} does not exist.");
        ("Call of a policy plugin", detail)
    } else {
        let names = functions::names();
        let close = suggest::name(name.strip_prefix("core::")?, names.iter().map(String::as_str));
        let hint = close.map_or_else(String::new, |close| format!(" Did you mean \"core::{close}\"?"));
        ("Call to unknown function", format!("There is no function named {name:?}.{hint}"))
    };
    Some(vec![Diagnostic::error(summary, detail).at(place.clone())])
}

impl Scope for PolicyScope<'_> {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        resolved(self.value_of(traversal, file, false))
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        self.functions.find(name)
    }

    fn function_names(&self) -> Vec<String> {
        functions::names()
    }

    fn refuse_function(&self, name: &str, place: &Range) -> Option<Vec<Diagnostic>> {
        refuse_function(name, place)
    }

    fn machine(&self) -> Option<&dyn Machine> {
        Some(self)
    }
}

impl Scope for FileScope<'_, '_> {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        resolved(self.0.value_of(traversal, file, true))
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        self.0.functions.find(name)
    }

    fn function_names(&self) -> Vec<String> {
        functions::names()
    }

    fn refuse_function(&self, name: &str, place: &Range) -> Option<Vec<Diagnostic>> {
        refuse_function(name, place)
    }

    fn machine(&self) -> Option<&dyn Machine> {
        Some(self.0)
    }
}

impl Machine for PolicyScope<'_> {
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
