//! The scope of expressions that are evaluated before anything is installed or planned: sources and versions of module
//! calls, backend blocks, `for_each` of providers, constant variables.
//!
//! Owns which names have values there and the path by which they are reached. Never knows where values of root
//! variables come from: [`StaticInputs`] says.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::dialect::Dialect;
use base::files::slashed;
use base::source::{Range, SourceFile};
use lang::eval::{Resolved, Scope, evaluate, evaluate_to};
use lang::functions::{Function, Machine};
use lang::syntax::ast::{Expression, Traversal};
use lang::syntax::body::Body;
use terrane_value::{Marks, Type, Value, convert};

use crate::addr::parse::parse_reference;
use crate::addr::{self, Subject};
use crate::config::blocks::by_name::ByName;
use crate::config::blocks::locals::Local;
use crate::config::blocks::variable::Variable;
use crate::model_errors::{MISSING_VALUE, UNSUITABLE_FOR_VARIABLE, undeclared_local, undeclared_variable};
use crate::opentofu;

/// What is known of the world when a configuration is loaded.
pub trait StaticInputs: Send + Sync {
    /// The value given for a variable of the root module, not yet converted; None if there is none.
    fn variable(&self, variable: &Variable) -> (Option<Value>, Diagnostics);
    /// The values on the command line for variables that the root module does not declare. Only asked for where the values
    /// of the command line decide what the configuration is.
    fn undeclared(&self, _: &ByName<Variable>) -> Diagnostics {
        Diagnostics::new()
    }
    /// `terraform.workspace`
    fn workspace(&self) -> String;
    /// `path.cwd`
    fn working_dir(&self) -> String;
    /// Files, for the functions that read them.
    fn machine(&self) -> Option<&dyn Machine>;
}

/// No values from outside: no variable is set.
pub struct NoInputs;

impl StaticInputs for NoInputs {
    fn variable(&self, _: &Variable) -> (Option<Value>, Diagnostics) {
        (None, Diagnostics::new())
    }
    fn workspace(&self) -> String {
        "default".into()
    }
    fn working_dir(&self) -> String {
        ".".into()
    }
    fn machine(&self) -> Option<&dyn Machine> {
        None
    }
}

/// Values of variables that come before those from outside.
struct GivenFirst {
    values: ByName<Value>,
    outside: Arc<dyn StaticInputs>,
}

impl StaticInputs for GivenFirst {
    fn variable(&self, variable: &Variable) -> (Option<Value>, Diagnostics) {
        match self.values.get(&variable.name) {
            Some(value) => (Some(value.clone()), Diagnostics::new()),
            None => self.outside.variable(variable),
        }
    }
    fn workspace(&self) -> String {
        self.outside.workspace()
    }
    fn working_dir(&self) -> String {
        self.outside.working_dir()
    }
    fn machine(&self) -> Option<&dyn Machine> {
        self.outside.machine()
    }
}

/// What the static context of a module is made of.
pub struct StaticNames {
    pub path: addr::Module,
    pub dir: PathBuf,
    pub variables: ByName<Variable>,
    pub locals: ByName<Local>,
}

/// The names of one module that have values before anything is planned. Cheap to clone.
#[derive(Clone)]
pub struct StaticContext(Arc<StaticModule>);

struct StaticModule {
    names: StaticNames,
    root_dir: PathBuf,
    /// The module that calls this one, with the arguments of the call.
    caller: Option<(StaticContext, Body)>,
    inputs: Arc<dyn StaticInputs>,
    known: Mutex<HashMap<String, Value>>,
}

impl std::fmt::Debug for StaticContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StaticContext({})", self.0.names.path)
    }
}

/// A value that is only known during a run, where it is needed before.
pub const DYNAMIC: &str = "Dynamic value in static context";

/// References nested deeper than this are an error.
const MAX_DEPTH: usize = 128;

impl StaticContext {
    /// The context of a root module.
    pub fn root(names: StaticNames, inputs: Arc<dyn StaticInputs>) -> StaticContext {
        let root_dir = names.dir.clone();
        StaticContext::of(names, root_dir, None, inputs)
    }

    /// The context of a module that this one calls. `arguments`: of the call.
    pub fn child(&self, arguments: &Body, names: StaticNames) -> StaticContext {
        let caller = Some((self.clone(), arguments.clone()));
        StaticContext::of(names, self.0.root_dir.clone(), caller, self.0.inputs.clone())
    }

    fn of(
        names: StaticNames,
        root_dir: PathBuf,
        caller: Option<(StaticContext, Body)>,
        inputs: Arc<dyn StaticInputs>,
    ) -> StaticContext {
        StaticContext(Arc::new(StaticModule { names, root_dir, caller, inputs, known: Mutex::default() }))
    }

    /// The context of the same module as a root whose variables have these values, before those from outside.
    pub fn with_values(&self, values: ByName<Value>) -> StaticContext {
        let StaticNames { path, dir, variables, locals } = &self.0.names;
        let names =
            StaticNames { path: path.clone(), dir: dir.clone(), variables: variables.clone(), locals: locals.clone() };
        StaticContext::root(names, Arc::new(GivenFirst { values, outside: self.0.inputs.clone() }))
    }

    /// The value of an expression. `target` is what needs it: `module.x.source`.
    pub fn value(&self, target: &str, expr: &Expression) -> (Value, Diagnostics) {
        evaluate(expr, &StaticScope { of: self, way: vec![self.within(target)] })
    }

    /// The names as `target` sees them.
    pub fn scope(&self, target: &str) -> impl Scope {
        StaticScope { of: self, way: vec![self.within(target)] }
    }

    /// Whether a variable or a local value is declared.
    pub fn declares(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Variable(name) => self.0.names.variables.contains_key(name),
            Subject::Local(name) => self.0.names.locals.contains_key(name),
            _ => false,
        }
    }

    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.0.names.variables.get(name)
    }

    /// The expression of a local value.
    pub fn local(&self, name: &str) -> Option<&Expression> {
        self.0.names.locals.get(name).map(|local| &local.expr)
    }

    /// Files, for the functions that read them.
    pub fn machine(&self) -> Option<&dyn Machine> {
        self.0.inputs.machine()
    }

    /// A text that can be written down; none with errors, or where it is null.
    pub fn text(&self, target: &str, expr: &Expression) -> (Option<String>, Diagnostics) {
        let scope = StaticScope { of: self, way: vec![self.within(target)] };
        let (value, mut diags) = evaluate_to(expr, &Type::String, &scope);
        if diags.has_errors() {
            return (None, diags);
        }
        if let Some(problem) = unusable(&value, &scope.way[0], expr) {
            diags.push(problem);
            return (None, diags);
        }
        (value.as_str().map(str::to_owned), diags)
    }

    /// Checks the constant variables of the module: each must have a value by now.
    pub fn check_constants(&self) -> Diagnostics {
        let mut diags = Diagnostics::new();
        let constants: Vec<&Variable> = self.0.names.variables.values().filter(|variable| variable.is_const).collect();
        if !constants.is_empty() && self.0.caller.is_none() {
            diags.extend(self.0.inputs.undeclared(&self.0.names.variables));
        }
        constants.into_iter().for_each(|variable| diags.extend(self.check_constant(variable)));
        diags
    }

    fn check_constant(&self, variable: &Variable) -> Diagnostics {
        let scope = StaticScope { of: self, way: vec![self.within(&format!("var.{}", variable.name))] };
        let value = match scope.variable(variable) {
            Ok(value) => value,
            Err(problems) => return problems,
        };
        if value.is_wholly_known() {
            return Diagnostics::new();
        }
        let detail = format!(
            "The variable {} is declared as constant, but the value that it is given is only known once everything is planned.",
            scope.way[0]
        );
        Diagnostic::error("Value of a constant variable is not known", detail).at(variable.range.clone()).into()
    }

    fn within(&self, name: &str) -> String {
        if self.0.names.path.is_root() { name.to_owned() } else { format!("{}.{name}", self.0.names.path) }
    }
}

/// Why a value cannot be used where it becomes part of what is installed or written down.
pub fn unusable(value: &Value, target: &str, expr: &Expression) -> Option<Diagnostic> {
    let marks = value.deep_marks();
    let (summary, why) = if marks.contains(Marks::SENSITIVE) {
        ("Sensitive value in static context", "is derived from a sensitive value, which would be written down in clear")
    } else if marks.contains(Marks::EPHEMERAL) {
        ("Ephemeral value in static context", "is derived from an ephemeral value, which must not be written down")
    } else if !value.is_wholly_known() {
        (DYNAMIC, "depends on what is only known during a run")
    } else {
        return None;
    };
    if let Some(what) = module_argument(target, expr.file.dialect()) {
        let detail = match summary {
            DYNAMIC => "Only literal values and const variables can be evaluated during init.".to_owned(),
            _ => format!("The module {what} cannot be derived from a sensitive or ephemeral value."),
        };
        return Some(Diagnostic::error(format!("Unknown module {what}"), detail).at(expr.range()));
    }
    let detail =
        format!("The value of {target} {why}. It is needed before anything is planned, so that this is not possible.");
    Some(Diagnostic::error(summary, detail).at(expr.range()))
}

/// The argument of a module call that is needed early, if messages name it.
fn module_argument(target: &str, dialect: Dialect) -> Option<&'static str> {
    let (owner, argument) = target.rsplit_once('.')?;
    let is_call = opentofu::names_module_arguments(dialect) && owner.rsplit('.').nth(1) == Some("module");
    ["source", "version"].into_iter().find(|known| is_call && argument == *known)
}

/// The names of a module as something that needs them sees them; `way` leads from it to the expression that is read.
struct StaticScope<'e> {
    of: &'e StaticContext,
    way: Vec<String>,
}

impl StaticScope<'_> {
    fn further<'s>(&self, of: &'s StaticContext, name: String) -> StaticScope<'s> {
        let way = self.way.iter().cloned().chain([name]).collect();
        StaticScope { of, way }
    }

    fn subject(&self, subject: &Subject, what: &str, range: &Range) -> Result<Value, Diagnostics> {
        let module = &self.of.0;
        match subject {
            Subject::Variable(name) => {
                let Some(variable) = module.names.variables.get(name) else {
                    return Err(undeclared_variable(name, module.names.variables.keys(), range).into());
                };
                self.cached(&self.of.within(what), range, |way| way.variable(variable))
            }
            Subject::Local(name) => {
                let Some(local) = module.names.locals.get(name) else {
                    return Err(undeclared_local(name, module.names.locals.keys(), range).into());
                };
                self.cached(&self.of.within(what), range, |way| {
                    let (value, found) = evaluate(&local.expr, way);
                    if found.has_errors() { Err(found) } else { Ok(value) }
                })
            }
            Subject::Path(name) if &**name == "module" => Ok(folder(&module.names.dir)),
            Subject::Path(name) if &**name == "root" => Ok(folder(&module.root_dir)),
            Subject::Path(name) if &**name == "cwd" => {
                Ok(Value::string(slashed(Path::new(&module.inputs.working_dir()))))
            }
            Subject::Terraform(name) if &**name == "workspace" => Ok(Value::string(module.inputs.workspace())),
            _ => Err(self.too_early(what, range).into()),
        }
    }

    /// The value of a name of this module, found out once.
    fn cached(
        &self,
        name: &str,
        range: &Range,
        find: impl FnOnce(&StaticScope<'_>) -> Result<Value, Diagnostics>,
    ) -> Result<Value, Diagnostics> {
        if let Some(value) = self.known().get(name) {
            return Ok(value.clone());
        }
        let way = self.further(self.of, name.to_owned());
        if self.way.iter().any(|before| before == name) {
            let detail = format!("The value of {name} depends on itself: {}.", way.path_text());
            return Err(Diagnostic::error("Circular reference", detail).at(range.clone()).into());
        }
        if way.way.len() > MAX_DEPTH {
            let detail = format!("The value of {} is reached over more than {MAX_DEPTH} references.", self.way[0]);
            return Err(Diagnostic::error("Too many references", detail).at(range.clone()).into());
        }
        let value = find(&way)?;
        self.known().insert(name.to_owned(), value.clone());
        Ok(value)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Value>> {
        self.of.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value that a variable of the module is going to have.
    fn variable(&self, variable: &Variable) -> Result<Value, Diagnostics> {
        let module = &self.of.0;
        let mut place = variable.range.clone();
        let (given, found) = match &module.caller {
            None => module.inputs.variable(variable),
            Some((caller, arguments)) => match arguments.just_attributes().0.get(&variable.name) {
                Some(argument) => {
                    place = argument.expr.range();
                    let way = StaticScope { of: caller, way: self.way.clone() };
                    let (value, found) = evaluate(&argument.expr, &way);
                    (Some(value), found)
                }
                None => (None, Diagnostics::new()),
            },
        };
        if found.has_errors() {
            return Err(found);
        }
        let Some(value) = given.or_else(|| variable.default.clone()) else { return Err(self.missing(variable).into()) };
        let filled = match &variable.type_defaults {
            Some(defaults) if !value.is_null() => defaults.apply(&value),
            _ => value,
        };
        let converted = convert::convert(&filled, &variable.ty).map_err(|wrong| {
            let detail = format!("The given value is not suitable for {}: {wrong}.", self.shown_last());
            Diagnostic::error(UNSUITABLE_FOR_VARIABLE, detail).at(place)
        })?;
        let value = match &variable.default {
            Some(default) if converted.is_null() && !variable.nullable => default.clone(),
            _ => converted,
        };
        let mut marks = Marks::NONE;
        if variable.sensitive {
            marks |= Marks::SENSITIVE;
        }
        if variable.ephemeral {
            marks |= Marks::EPHEMERAL;
        }
        Ok(value.mark(marks))
    }

    fn missing(&self, variable: &Variable) -> Diagnostic {
        let name = &*variable.name;
        let (what, needed) = match self.way.as_slice() {
            [_] => ("root module input variable", String::new()),
            [target, ..] => {
                let way = self.path_text();
                (
                    "variable",
                    format!(
                        " The value of {target} depends on it ({way}), which is needed before anything is planned."
                    ),
                )
            }
            [] => ("variable", String::new()),
        };
        let detail = format!(
            "The {what} {name:?} is not set, and has no default value.{needed} Use a -var or -var-file command line argument to \
             provide a value for this variable."
        );
        Diagnostic::error(MISSING_VALUE, detail).of_kind(Kind::MissingValue).at(variable.range.clone())
    }

    /// A name whose value is only found out during a run.
    fn too_early(&self, what: &str, range: &Range) -> Diagnostic {
        let way = self.further(self.of, self.of.within(what));
        if let (Some(argument), [_]) = (module_argument(&self.way[0], range.dialect()), self.way.as_slice()) {
            let detail = format!("The module {argument} can only reference constant input variables and local values.");
            return Diagnostic::error(format!("Invalid module {argument}"), detail).at(range.clone());
        }
        let detail = format!(
            "The value of {} is needed before anything is planned, so that it can depend on input variables, local values, path.* \
             and terraform.workspace only. It refers to {what}: {}.",
            self.way[0],
            way.path_text()
        );
        Diagnostic::error(DYNAMIC, detail).at(range.clone())
    }

    fn path_text(&self) -> String {
        self.way.join(" -> ")
    }

    fn shown_last(&self) -> &str {
        self.way.last().map_or("", String::as_str)
    }
}

fn folder(path: &Path) -> Value {
    let text = slashed(path);
    Value::string(if text.is_empty() { ".".to_owned() } else { text })
}

impl Scope for StaticScope<'_> {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        let reference = match parse_reference(traversal, file) {
            Ok(reference) => reference,
            Err(error) => return Resolved::error(error),
        };
        let used = traversal.steps.len() - reference.remaining.len();
        let what = Traversal { steps: traversal.steps[..used].to_vec(), ..traversal.clone() }.to_string();
        match self.subject(&reference.subject, &what, &reference.range) {
            Ok(value) => Resolved::value(value, used),
            Err(problems) => Resolved::error(problems),
        }
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        lang::functions::lookup(name).map(|f| f as &dyn Function)
    }

    fn function_names(&self) -> Vec<String> {
        lang::functions::names().into_iter().map(str::to_string).collect()
    }

    fn missing_function(&self, namespace: &str, _: &str) -> Option<String> {
        let is_provider = namespace.starts_with("provider::");
        is_provider.then(|| "Functions of providers cannot be called before providers are installed.".to_owned())
    }

    fn machine(&self) -> Option<&dyn Machine> {
        self.of.0.inputs.machine()
    }
}
