//! Values of the root module's variables: from the environment, variable files, arguments and prompts.
//!
//! Owns the order of precedence; the model validates the values.

use std::collections::BTreeMap;
use std::path::Path;

use base::diag::{Diagnostic, Diagnostics};
use base::env;
use base::files::Files;
use base::name::PROGRAM;
use base::source::SourceFile;
use engine::{GivenVariable, GivenVariables, Origin};
use model::config::values_file::{self, GivenValue};
use model::config::{ByName, Module, Variable};
use model::plan::Plan;
use terrane_value::convert::convert;
use terrane_value::{Value, json};

use crate::interface::ask::{Ask, NoAnswer, Question};
use crate::interface::options::VariableArgument;
use crate::opentofu;
use crate::setup::Setup;
use crate::setup::root::Root;

const UNREADABLE_VALUES: &str = "Failed to read variables file";

/// A value as it was found; texts become values only once the variable's type is known.
#[derive(Clone, Debug)]
enum RawValue {
    Environment(String),
    Argument(String),
    File { value: GivenValue, on_command_line: bool },
}

/// Values by name, the later sources in place of the earlier.
#[derive(Clone, Debug, Default)]
pub struct Collected(BTreeMap<String, RawValue>);

/// Reads everything that does not need the configuration.
pub fn collect(setup: &Setup, arguments: &[VariableArgument]) -> (Collected, Diagnostics) {
    let mut found = Collected::default();
    let mut diagnostics = Diagnostics::new();
    for (name, text) in setup.environment.with_prefix(env::TF_VAR_) {
        found.0.insert(name.to_string(), RawValue::Environment(text.to_string()));
    }
    for path in automatic_files(&setup.root) {
        file(&setup.root, &path, false, &mut found, &mut diagnostics);
    }
    for argument in arguments {
        match argument {
            VariableArgument::File(path) => {
                if setup.root.exists(Path::new(path)) {
                    file(&setup.root, path, true, &mut found, &mut diagnostics);
                } else {
                    diagnostics.error(UNREADABLE_VALUES, format!("Given variables file {path} does not exist."));
                }
            }
            VariableArgument::Value(text) => match values_file::split_assignment(text) {
                Ok((name, value)) => {
                    found.0.insert(name.to_string(), RawValue::Argument(value.to_string()));
                }
                Err(problem) => diagnostics.push(problem),
            },
        }
    }
    (found, diagnostics)
}

/// What the values files of a folder of tests say, in the place of what was collected before.
pub fn collect_in_folder(setup: &Setup, folder: &str, before: &Collected) -> (Collected, Diagnostics) {
    let mut found = before.clone();
    let mut diagnostics = Diagnostics::new();
    for path in automatic_files_in(&setup.root, Path::new(folder)) {
        file(&setup.root, &path, false, &mut found, &mut diagnostics);
    }
    (found, diagnostics)
}

impl Collected {
    /// What was given for a variable of a module.
    pub fn given(&self, variable: &Variable, diagnostics: &mut Diagnostics) -> Option<GivenVariable> {
        self.0.get(&*variable.name).map(|found| of_raw(found, variable, diagnostics))
    }

    /// What was given for a name that no module declares: a text is an expression, or else itself if `or_text`.
    pub fn given_undeclared(&self, name: &str, or_text: bool, diagnostics: &mut Diagnostics) -> Option<Value> {
        let text = match self.0.get(name)? {
            RawValue::File { value, .. } => return Some(value.value.clone()),
            RawValue::Environment(text) | RawValue::Argument(text) => text,
        };
        let (value, found) = values_file::parse_expression_string(name, text);
        if found.has_errors() && or_text {
            return Some(Value::string(&**text));
        }
        diagnostics.extend(found);
        Some(value)
    }
}

/// The values files that are read without being named, in order.
fn automatic_files(root: &Root) -> Vec<String> {
    automatic_files_in(root, Path::new("."))
}

fn automatic_files_in(root: &Root, folder: &Path) -> Vec<String> {
    const FIRST: [&str; 2] = ["terraform.tfvars", "terraform.tfvars.json"];
    let path = |name: &str| match folder == Path::new(".") {
        true => name.to_string(),
        false => folder.join(name).to_string_lossy().into_owned(),
    };
    let first = FIRST.iter().map(|name| path(name));
    let mut files: Vec<String> = first.filter(|name| root.is_file(Path::new(name))).collect();
    let entries = root.list(folder).unwrap_or_default();
    let is_auto = |name: &str| name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json");
    files.extend(entries.into_iter().filter(|e| !e.is_dir && is_auto(&e.name)).map(|e| path(&e.name)));
    files
}

fn file(root: &Root, path: &str, on_command_line: bool, found: &mut Collected, diagnostics: &mut Diagnostics) {
    let source = match root.read_to_string(Path::new(path)) {
        Ok(text) => SourceFile::new(path, text),
        Err(e) => {
            diagnostics.error(UNREADABLE_VALUES, format!("Error while reading {path}: {e}."));
            return;
        }
    };
    for (name, value) in diagnostics.take(values_file::parse_file(source)) {
        found.0.insert(name.to_string(), RawValue::File { value, on_command_line });
    }
}

/// The values for the variables of a root module. Asks for required and missing ones, if input is allowed.
pub async fn resolve(collected: &Collected, root: &Module, setup: &Setup) -> (GivenVariables, Diagnostics) {
    let (mut given, mut diagnostics) = given(collected, root);
    for variable in missing(root, &given) {
        let answer = match setup.encryption.answer(&variable.name) {
            Some(text) => Ok(Some(text)),
            None => ask(variable, setup.ask.as_deref()).await,
        };
        match answer {
            Ok(Some(text)) => {
                let value = diagnostics.take(values_file::parse_string(&variable.name, &text, Some(variable)));
                given.insert(variable.name.clone(), GivenVariable { value, origin: Origin::Prompt });
            }
            Ok(None) => diagnostics.push(values_file::required_but_missing(variable)),
            Err(problem) => {
                diagnostics.push(problem);
                return (given, diagnostics);
            }
        }
    }
    (given, diagnostics)
}

/// As `resolve`, with unknown values for what is required and missing.
pub fn resolve_or_unknown(collected: &Collected, root: &Module) -> (GivenVariables, Diagnostics) {
    let (mut given, diagnostics) = given(collected, root);
    for variable in missing(root, &given) {
        let value = Value::unknown(variable.ty.clone());
        given.insert(variable.name.clone(), GivenVariable { value, origin: Origin::Prompt });
    }
    (given, diagnostics)
}

/// The variables that are required and have no value, by name.
fn missing<'r>(root: &'r Module, given: &GivenVariables) -> Vec<&'r Variable> {
    let mut missing: Vec<&Variable> =
        root.variables.values().filter(|v| v.default.is_none() && !given.contains_key(&v.name)).collect();
    missing.sort_by(|a, b| a.name.cmp(&b.name));
    missing
}

/// What was given for the variables of a root module.
fn given(collected: &Collected, root: &Module) -> (GivenVariables, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut given = GivenVariables::new();
    let mut undeclared = Undeclared { declared: &root.variables, found: Vec::new() };
    for (name, found) in &collected.0 {
        match root.variables.get(name.as_str()) {
            None => undeclared.note(name, found, &mut diagnostics),
            Some(variable) => {
                let value = of_raw(found, variable, &mut diagnostics);
                given.insert(variable.name.clone(), value);
            }
        }
    }
    diagnostics.extend(undeclared.warnings());
    (given, diagnostics)
}

/// Values in files for variables that the root module does not declare.
struct Undeclared<'a> {
    declared: &'a ByName<Variable>,
    found: Vec<(&'a str, &'a GivenValue)>,
}

impl<'a> Undeclared<'a> {
    fn note(&mut self, name: &'a str, found: &'a RawValue, diagnostics: &mut Diagnostics) {
        match found {
            RawValue::Environment(_) => {}
            RawValue::Argument(_) => {
                diagnostics.push(values_file::undeclared_on_command_line(name, self.declared));
            }
            RawValue::File { value, .. } => self.found.push((name, value)),
        }
    }

    /// The place is in the text; the reference does not show it.
    fn warnings(self) -> impl Iterator<Item = Diagnostic> {
        let placed = values_file::undeclared_in_files(self.found, self.declared);
        placed.into_iter().map(|problem| Diagnostic { subject: None, ..problem })
    }
}

/// The errors about values on the command line for variables that are not declared.
pub fn undeclared_arguments(setup: &Setup, declared: &ByName<Variable>) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    if opentofu::ignores_undeclared_arguments(setup.dialect()) {
        return diagnostics;
    }
    for argument in &*setup.variables {
        let VariableArgument::Value(text) = argument else { continue };
        if let Some((name, _)) = values_file::split_assignment(text).ok().filter(|(n, _)| !declared.contains_key(*n)) {
            diagnostics.push(values_file::undeclared_on_command_line(name, declared));
        }
    }
    diagnostics
}

fn of_raw(found: &RawValue, variable: &Variable, diagnostics: &mut Diagnostics) -> GivenVariable {
    match found {
        RawValue::Environment(text) => {
            let value = diagnostics.take(values_file::parse_string(&variable.name, text, Some(variable)));
            GivenVariable { value, origin: Origin::Environment }
        }
        RawValue::Argument(text) => {
            let value = diagnostics.take(values_file::parse_string(&variable.name, text, Some(variable)));
            GivenVariable { value, origin: Origin::Argument }
        }
        RawValue::File { value, .. } => {
            GivenVariable { value: value.value.clone(), origin: Origin::File(value.range.clone()) }
        }
    }
}

/// What was given for one variable, not yet converted to its type.
pub fn value_of(collected: &Collected, variable: &Variable, diagnostics: &mut Diagnostics) -> Option<Value> {
    let found = collected.0.get(&*variable.name)?;
    Some(of_raw(found, variable, diagnostics).value)
}

/// The value of one variable that was asked for because a key needs it.
pub fn answer(variable: &Variable, setup: &Setup, diagnostics: &mut Diagnostics) -> Option<Value> {
    let text = setup.encryption.answer(&variable.name)?;
    Some(diagnostics.take(values_file::parse_string(&variable.name, &text, Some(variable))))
}

/// The answer for one variable; None at the end of the input, or if questions are not allowed.
pub async fn ask(variable: &Variable, asker: Option<&dyn Ask>) -> Result<Option<String>, Diagnostic> {
    let Some(asker) = asker else { return Ok(None) };
    let question = Question {
        title: format!("var.{}", variable.name),
        text: variable.description.clone().unwrap_or_default(),
        secret: variable.sensitive,
        ..Question::default()
    };
    match asker.ask(&question).await {
        Ok(text) => Ok(Some(text)),
        Err(NoAnswer::Failed(_)) => Ok(None),
        Err(NoAnswer::Interrupted) => Err(Diagnostic::error(
            "Operation cancelled",
            format!("{PROGRAM} was interrupted while it waited for an answer."),
        )),
    }
}

/// The values for applying a saved plan: its own, and those given now for ephemeral variables, which it does not hold.
/// Others may be given again only as they were.
pub fn with_plan(collected: &Collected, root: &Module, plan: &Plan) -> (GivenVariables, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let planned = plan.variables.iter().map(|(name, value)| (name.clone(), value.clone()));
    let mut given: GivenVariables =
        planned.map(|(name, value)| (name, GivenVariable { value, origin: Origin::Other })).collect();
    let mut undeclared = Undeclared { declared: &root.variables, found: Vec::new() };
    for (name, found) in &collected.0 {
        let Some(variable) = root.variables.get(name.as_str()) else {
            undeclared.note(name, found, &mut diagnostics);
            continue;
        };
        let now = of_raw(found, variable, &mut diagnostics);
        if variable.ephemeral {
            match (plan.ephemeral_variables.contains(&variable.name), now.value.is_null()) {
                (true, false) => drop(given.insert(variable.name.clone(), now)),
                (true, true) => diagnostics.push(null_at_apply(variable)),
                (false, _) => diagnostics.push(set_too_late(variable, found)),
            }
            continue;
        }
        let Some(before) = plan.variables.get(name.as_str()) else {
            diagnostics.extend(not_planned(variable, found));
            continue;
        };
        let same = convert(&now.value, before.ty()).is_ok_and(|now| now.unmark_deep().0 == before.unmark_deep().0);
        if !same {
            diagnostics.extend(changed(variable, before, &now.value, found));
        }
    }
    diagnostics.extend(undeclared.warnings());
    (given, diagnostics)
}

/// A value for a variable that had none when the plan was made, and so has its default.
fn not_planned(variable: &Variable, found: &RawValue) -> Option<Diagnostic> {
    let name = &variable.name;
    match found {
        RawValue::Environment(_) => None,
        RawValue::Argument(_) => Some(Diagnostic::error(
            UNCHANGEABLE,
            format!(
                "The variable {name} cannot be set using the -var option when applying a saved plan file, because it was not set when the \
                 plan was created: the plan is for its default value. To use another value, create a new plan."
            ),
        )),
        RawValue::File { value, .. } => Some(Diagnostic::warning(
            "Value not used by a saved plan",
            format!(
                "The variable {name} has a value in file {:?}, but was not set when the plan was created: the plan is for its default \
                 value. To use another value, create a new plan.",
                value.range.filename()
            ),
        )),
    }
}

const UNCHANGEABLE: &str = "Can't change variable when applying a saved plan";

const IGNORED: &str = "Ignoring variable when applying a saved plan";

/// Another value than the plan's. Those of automatic files were not given for this run.
fn changed(variable: &Variable, before: &Value, now: &Value, found: &RawValue) -> Option<Diagnostic> {
    let shown = |value: &Value| match variable.sensitive {
        true => "(sensitive value)".to_string(),
        false => json::to_simple_json(value).unwrap_or_default(),
    };
    let text = |change: &str, how: &str| {
        format!(
            "The variable {} cannot be {change} when applying a saved plan file, because a saved plan includes the variable values that \
             were set when it was created. The saved plan specifies {} as the value whereas during apply the value {} was {how}. To \
             declare an ephemeral variable which is not saved in the plan file, use ephemeral = true.",
            variable.name,
            shown(before),
            shown(now),
        )
    };
    let refused = "set using the -var and -var-file options";
    match found {
        RawValue::File { on_command_line: false, .. } => None,
        // Spelt as in the reference.
        RawValue::Environment(_) => {
            Some(Diagnostic::warning(IGNORED, text("overriden", "set by an environment variable")))
        }
        RawValue::Argument(_) => Some(Diagnostic::error(UNCHANGEABLE, text(refused, "set by a CLI argument"))),
        RawValue::File { on_command_line: true, value } => {
            let how = "set by a .tfvars file passed through -var-file argument";
            Some(placed(Diagnostic::error(UNCHANGEABLE, text(refused, how)), variable, value))
        }
    }
}

/// A value for an ephemeral variable that had none when the plan was made.
fn set_too_late(variable: &Variable, found: &RawValue) -> Diagnostic {
    let problem = Diagnostic::error(
        "Ephemeral variable was not set during planning",
        format!(
            "The ephemeral input variable {:?} was not set during the planning phase, and so must remain unset during the apply phase.",
            &*variable.name
        ),
    );
    match found {
        RawValue::File { value, .. } => placed(problem, variable, value),
        RawValue::Environment(_) | RawValue::Argument(_) => problem,
    }
}

/// Null for an ephemeral variable that had a value when the plan was made.
fn null_at_apply(variable: &Variable) -> Diagnostic {
    Diagnostic::error(
        "Ephemeral variable must be set for apply",
        format!(
            "The ephemeral input variable {:?} was set during the planning phase, and so must be set again during the apply phase.",
            &*variable.name
        ),
    )
}

/// The problem at a line of a values file. A line with a secret is named, not shown.
fn placed(problem: Diagnostic, variable: &Variable, value: &GivenValue) -> Diagnostic {
    if !variable.sensitive && !variable.ephemeral {
        return problem.at(value.range.clone());
    }
    let (file, line) = (value.range.filename(), value.range.start().line);
    Diagnostic { detail: format!("{}\n\nThe value is in file {file:?}, line {line}.", problem.detail), ..problem }
}
