//! `console`: evaluates expressions, one at a time, with the configuration and the state or a plan.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::name::PROGRAM;
use base::source::SourceFile;
use engine::{self, EvaluateInput, Evaluation, Facts, Names, PlanInput};
use lang::functions::type_of::{Typed, typed};
use lang::syntax::parse_expression;
use model::addr::ModuleInstance;
use model::config::Config;
use model::deps::Requirements;
use model::plan::{DEFAULT_PARALLELISM, PlanScope};
use render::text::snippet::CONSOLE_INPUT;
use render::text::value::console_text;
use terrane_value::identifier::is_identifier;

use crate::backends;
use crate::backends::held::{self, HeldAccess, HeldState};
use crate::configuration::load;
use crate::configuration::variables::{self, Collected};
use crate::interface::options::{StateOptions, VariableArgument};
use crate::plugins::factories::Factories;
use crate::plugins::packages::ProviderOrigins;
use crate::plugins::{outdated_schemas, packages};
use crate::run::open::NO_OPERATION;
use crate::run::session::quiet_ports;
use crate::setup::Setup;

#[derive(Clone, Debug)]
pub struct ConsoleRequest {
    pub state: StateOptions,
    pub variables: Vec<VariableArgument>,
    /// Plan first, and take the values of the plan.
    pub plan: bool,
    /// The module instance whose names expressions see.
    pub scope: ModuleInstance,
}

/// What is open while expressions are evaluated: the state's lock and the providers.
pub struct ConsoleSession {
    dialect: Dialect,
    evaluation: Evaluation,
    factories: Arc<Factories>,
    /// None once it is given back.
    held: Mutex<Option<HeldState>>,
    /// Gathered when first asked for.
    names: OnceLock<Names>,
}

/// What a line comes to.
pub enum ConsoleAnswer {
    Exit,
    /// Without a line ending; empty for an empty line. Warnings are not shown, as in the reference.
    Text(String),
    Failed(Diagnostics),
}

/// Prepares the evaluation of expressions. With a session, the diagnostics are errors in the configuration's
/// values; expressions that do not need those can still be evaluated.
pub async fn open(setup: &Setup, request: &ConsoleRequest) -> (Option<ConsoleSession>, Diagnostics) {
    setup.restart.repeated(|| attempt(setup, request)).await
}

async fn attempt(setup: &Setup, request: &ConsoleRequest) -> (Option<ConsoleSession>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let collected = diagnostics.take(variables::collect(setup, &request.variables));
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let loaded =
        diagnostics.take(load::any_config(Path::new("."), &setup.with_variables(&request.variables), &setup.root));
    let Some(config) = loaded.filter(|_| !diagnostics.has_errors()).map(|l| l.config) else {
        return (None, diagnostics);
    };
    let held = match hold(setup, request, &config, &mut diagnostics).await {
        Ok(held) => held,
        Err(problems) => return (None, joined(diagnostics, problems)),
    };
    let started = start_evaluation(setup, request, config, collected, held.as_ref(), &mut diagnostics).await;
    let Some((evaluation, factories)) = started else {
        if let Some(held) = held {
            diagnostics.extend(held.release().await);
        }
        return (None, diagnostics);
    };
    let session = ConsoleSession {
        dialect: setup.dialect(),
        evaluation,
        factories,
        held: Mutex::new(held),
        names: OnceLock::new(),
    };
    (Some(session), diagnostics)
}

/// Whether expressions can refer to the state or providers. If not, a session holds
/// no lock.
pub fn is_configured(setup: &Setup) -> bool {
    load::has_configuration(setup)
}

fn joined(mut diagnostics: Diagnostics, more: Diagnostics) -> Diagnostics {
    diagnostics.extend(more);
    diagnostics
}

/// The state, locked. None without configuration: then nothing in it has a name.
async fn hold(
    setup: &Setup,
    request: &ConsoleRequest,
    config: &Config,
    warnings: &mut Diagnostics,
) -> Result<Option<HeldState>, Diagnostics> {
    let mut opened = backends::open::open(setup, config.root.backend.as_ref(), &request.state).await?;
    warnings.extend(std::mem::take(&mut opened.warnings));
    if !is_configured(setup) {
        return Ok(None);
    }
    held::hold(&opened.store, NO_OPERATION, &request.state, setup, HeldAccess::Read).await.map(Some)
}

/// Evaluates the configuration. None with errors that leave nothing to ask.
async fn start_evaluation(
    setup: &Setup,
    request: &ConsoleRequest,
    config: Arc<Config>,
    collected: Collected,
    held: Option<&HeldState>,
    diagnostics: &mut Diagnostics,
) -> Option<(Evaluation, Arc<Factories>)> {
    let state = held.and_then(|held| held.loaded.file.as_ref()).map(|file| file.state.clone()).unwrap_or_default();
    let requirements = diagnostics.take(Requirements::of_config(&config));
    if diagnostics.has_errors() {
        return None;
    }
    let found = match held.is_some() {
        true => packages::resolve(setup, &requirements).await,
        false => Ok(ProviderOrigins::default()),
    };
    let found = match found {
        Ok(found) => found,
        Err(problems) => {
            diagnostics.extend(problems);
            return None;
        }
    };
    diagnostics.extend(found.warnings);
    let variables = diagnostics.take(variables::resolve_or_unknown(&collected, &config.root));
    if diagnostics.has_errors() {
        return None;
    }
    let factories = Factories::new(setup, found.origins, found.provisioner_programs);
    let ports = quiet_ports(setup, &factories);
    let module = request.scope.clone();
    let (evaluation, problems) = if request.plan {
        factories.start_early(requirements.0.keys().cloned());
        let input = PlanInput { facts: Facts::of(config), state, variables, scope: PlanScope::default() };
        engine::evaluate_plan(input, &module, &ports).await
    } else {
        let input = EvaluateInput {
            facts: Facts::of(config),
            state,
            variables,
            module: module.clone(),
            parallelism: DEFAULT_PARALLELISM,
        };
        engine::evaluate(input, &ports).await
    };
    diagnostics.extend(problems);
    outdated_schemas::check(setup, &factories, diagnostics.has_errors()).await;
    match evaluation.filter(|_| !setup.restart.get()) {
        Some(evaluation) => Some((evaluation, factories)),
        None => {
            if !diagnostics.has_errors() {
                diagnostics.push(no_such_module(&module));
            }
            factories.shutdown().await;
            None
        }
    }
}

fn no_such_module(module: &ModuleInstance) -> Diagnostic {
    let detail = format!(
        "The module address {:?} does not have an evaluation scope. This usually indicates that the module or the specific \
         module instance provided does not exist.",
        module.to_string()
    );
    Diagnostic::error("Failed to retrieve evaluation scope after graph walk", detail)
}

impl ConsoleSession {
    /// The warnings about the state, once.
    pub fn take_warnings(&self) -> Diagnostics {
        let mut held = self.held.lock().unwrap_or_else(|e| e.into_inner());
        held.as_mut().map(|held| std::mem::take(&mut held.loaded.warnings)).unwrap_or_default()
    }

    /// What a line, or several that belong together, comes to.
    pub fn answer(&self, text: &str) -> ConsoleAnswer {
        match text.trim() {
            "" => ConsoleAnswer::Text(String::new()),
            "exit" => ConsoleAnswer::Exit,
            "help" => ConsoleAnswer::Text(help().to_string()),
            _ => self.value(text),
        }
    }

    fn value(&self, text: &str) -> ConsoleAnswer {
        let (expression, mut diagnostics) = parse_expression(SourceFile::written_in(self.dialect, CONSOLE_INPUT, text));
        if diagnostics.has_errors() {
            return ConsoleAnswer::Failed(diagnostics);
        }
        let value = diagnostics.take(self.evaluation.evaluate(&expression));
        if diagnostics.has_errors() {
            return ConsoleAnswer::Failed(diagnostics);
        }
        match typed(&value) {
            Typed::No => ConsoleAnswer::Text(console_text(&value)),
            Typed::Text(text) => ConsoleAnswer::Text(text),
            Typed::Part => {
                diagnostics.error(
                    "Invalid use of type function",
                    "The console-only \"type\" function cannot be used as part of an expression.",
                );
                ConsoleAnswer::Failed(diagnostics)
            }
        }
    }

    /// What the word before a place in a line may become: where it starts, and the candidates for it.
    pub fn complete(&self, line: &str, at: usize) -> (usize, Vec<String>) {
        let before = line.get(..at).unwrap_or(line);
        let start =
            before.rfind(|c| !is_word(c)).map_or(0, |i| i + before[i..].chars().next().map_or(1, char::len_utf8));
        let word = &before[start..];
        let mut found = matching(self.names.get_or_init(|| self.evaluation.names()), word);
        if let (true, Some((object, part))) = (found.is_empty(), word.rsplit_once('.')) {
            let of = |name: &String| name.starts_with(part) && is_identifier(name);
            found = self.attributes(object).into_iter().filter(of).map(|name| format!("{object}.{name}")).collect();
        }
        (start, found)
    }

    /// The attributes of what a reference gives.
    fn attributes(&self, reference: &str) -> Vec<String> {
        let (expression, problems) = parse_expression(SourceFile::written_in(self.dialect, CONSOLE_INPUT, reference));
        if problems.has_errors() {
            return Vec::new();
        }
        let (value, _) = self.evaluation.evaluate(&expression);
        match value.ty().object_type() {
            Some(object) => object.attributes.keys().map(ToString::to_string).collect(),
            None => value.entries().keys().map(ToString::to_string).collect(),
        }
    }

    /// Ends the providers and gives the lock back.
    pub async fn end(&self) -> Diagnostics {
        self.factories.shutdown().await;
        let held = self.held.lock().unwrap_or_else(|e| e.into_inner()).take();
        match held {
            Some(held) => held.release().await,
            None => Diagnostics::new(),
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '[' | ']' | '"')
}

/// The names that begin so; references are offered a step at a time.
fn matching(names: &Names, word: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let references = names.references.iter().filter(|name| name.starts_with(word));
    for name in references {
        let end = name[word.len()..].find('.').map_or(name.len(), |dot| word.len() + dot + 1);
        if found.last().is_none_or(|last| last != &name[..end]) {
            found.push(name[..end].to_string());
        }
    }
    found.extend(names.functions.iter().filter(|name| name.starts_with(word)).map(|name| format!("{name}(")));
    found
}

fn help() -> String {
    format!(
        "\
The {PROGRAM} console allows you to experiment with {PROGRAM} interpolations.
You may access resources in the state (if you have one) just as you would
from a configuration. For example: \"aws_instance.foo.id\" would evaluate
to the ID of \"aws_instance.foo\" if it exists in your state.

Type in the interpolation to test and hit <enter> to see the result.

To exit the console, type \"exit\" and hit <enter>, or use Control-C or
Control-D."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_completed_a_step_at_a_time() {
        let texts = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        let names = Names {
            references: texts(&["local.a", "local.b", "module.m", "module.m.x"]),
            functions: texts(&["log", "lower"]),
        };
        let cases: [(&str, &[&str]); 5] = [
            ("lo", &["local.", "log(", "lower("]),
            ("local.", &["local.a", "local.b"]),
            ("module.", &["module.m", "module.m."]),
            ("module.m.", &["module.m.x"]),
            ("nope", &[]),
        ];
        for (word, expected) in cases {
            assert_eq!(matching(&names, word), expected, "{word}");
        }
    }
}
