//! `console`: expressions, one at a time, by the configuration and the state or a plan.

use std::path::Path;
use std::sync::Arc;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::files::Disk;
use crate::base::source::SourceFile;
use crate::engine::ports::{Observer, Ports};
use crate::engine::{self, EvaluateInput, Evaluation, Names, PlanInput};
use crate::lang::functions::type_of::{Typed, typed};
use crate::lang::syntax::parse_expression;
use crate::model::addr::ModuleInstance;
use crate::model::config::Config;
use crate::model::deps::Requirements;
use crate::model::plan::Mode;
use crate::render::text::snippet::CONSOLE_INPUT;
use crate::render::text::value::console_text;

use super::host::Machine;
use super::listen::Deaf;
use super::open_backend::{self, Held};
use super::options::{StateOptions, VariableArgument};
use super::provider_factories::Factories;
use super::setup::Setup;
use super::sink::NoSink;
use super::variables::{self, Collected};
use super::{load, packages};

/// The reference starts no operation for a console, but takes the lock all the same.
const OPERATION: &str = "OperationTypeInvalid";

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
pub struct Session {
    evaluation: Evaluation,
    factories: Arc<Factories>,
    held: Held,
}

/// What a line comes to.
pub enum Answer {
    Exit,
    /// Without a line ending; empty for an empty line.
    Text(String, Diagnostics),
    Failed(Diagnostics),
}

/// Makes everything ready for expressions. With a session, the diagnostics are what is wrong with the configuration's
/// values; expressions that do not need those can be evaluated all the same.
pub async fn open(setup: &Setup, request: &ConsoleRequest) -> (Option<Session>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let collected = diagnostics.take(variables::collect(setup, &request.variables));
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let loaded = diagnostics.take(load::config(Path::new("."), &setup.workdir, &Disk));
    let Some(config) = loaded.filter(|_| !diagnostics.has_errors()).map(|l| l.config) else {
        return (None, diagnostics);
    };
    let held = match hold(setup, request, &config).await {
        Ok(held) => held,
        Err(problems) => return (None, joined(diagnostics, problems)),
    };
    match begin(setup, request, config, collected, &held, &mut diagnostics).await {
        Some((evaluation, factories)) => (Some(Session { evaluation, factories, held }), diagnostics),
        None => {
            diagnostics.extend(held.release().await);
            (None, diagnostics)
        }
    }
}

fn joined(mut diagnostics: Diagnostics, more: Diagnostics) -> Diagnostics {
    diagnostics.extend(more);
    diagnostics
}

async fn hold(setup: &Setup, request: &ConsoleRequest, config: &Config) -> Result<Held, Diagnostics> {
    let opened = open_backend::open(setup, config.root.backend.as_ref(), &request.state).await?;
    open_backend::hold(&opened, OPERATION, &request.state, setup, &Deaf).await
}

/// Evaluates the configuration. None with errors that leave nothing to ask.
async fn begin(
    setup: &Setup,
    request: &ConsoleRequest,
    config: Arc<Config>,
    collected: Collected,
    held: &Held,
    diagnostics: &mut Diagnostics,
) -> Option<(Evaluation, Arc<Factories>)> {
    diagnostics.extend(held.loaded.warnings.iter().cloned());
    let state = held.loaded.file.as_ref().map(|file| file.state.clone()).unwrap_or_default();
    let requirements = diagnostics.take(Requirements::of_config(&config));
    if diagnostics.has_errors() {
        return None;
    }
    let found = match packages::resolve(setup, &requirements).await {
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
    let observer: Arc<dyn Observer> = Arc::new(Deaf);
    let ports = Ports {
        providers: factories.clone(),
        observer,
        sink: Arc::new(NoSink),
        host: Arc::new(Machine::new(setup)),
        stop: setup.stop.clone(),
    };
    let module = request.scope.clone();
    let (evaluation, problems) = if request.plan {
        factories.start_early(requirements.0.keys().cloned());
        let input = PlanInput {
            config,
            state,
            variables,
            mode: Mode::Normal,
            targets: Vec::new(),
            force_replace: Vec::new(),
            refresh: true,
            generate_config: false,
            parallelism: 10,
        };
        engine::evaluate_plan(input, &module, &ports).await
    } else {
        let input = EvaluateInput { config, state, variables, module: module.clone(), parallelism: 10 };
        engine::evaluate(input, &ports).await
    };
    diagnostics.extend(problems);
    match evaluation {
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
        "The configuration has no module instance {module}. The scope must be the address of one, with its instance keys."
    );
    Diagnostic::error("Invalid scope", detail)
}

impl Session {
    /// What a line, or several that belong together, comes to.
    pub fn answer(&self, text: &str) -> Answer {
        match text.trim() {
            "" => Answer::Text(String::new(), Diagnostics::new()),
            "exit" => Answer::Exit,
            "help" => Answer::Text(HELP.to_string(), Diagnostics::new()),
            _ => self.value(text),
        }
    }

    fn value(&self, text: &str) -> Answer {
        let (expression, mut diagnostics) = parse_expression(SourceFile::new(CONSOLE_INPUT, text));
        if diagnostics.has_errors() {
            return Answer::Failed(diagnostics);
        }
        let value = diagnostics.take(self.evaluation.evaluate(&expression));
        if diagnostics.has_errors() {
            return Answer::Failed(diagnostics);
        }
        match typed(&value) {
            Typed::No => Answer::Text(console_text(&value), diagnostics),
            Typed::Text(text) => Answer::Text(text, diagnostics),
            Typed::Part => {
                diagnostics.error(
                    "Invalid use of type function",
                    "The console-only \"type\" function cannot be used as part of an expression.",
                );
                Answer::Failed(diagnostics)
            }
        }
    }

    pub fn names(&self) -> Names {
        self.evaluation.names()
    }

    /// Ends the providers and gives the lock back.
    pub async fn end(self) -> Diagnostics {
        self.factories.shutdown().await;
        self.held.release().await
    }
}

const HELP: &str = "\
The Terrane console allows you to experiment with Terrane interpolations.
You may access resources in the state (if you have one) just as you would
from a configuration. For example: \"aws_instance.foo.id\" would evaluate
to the ID of \"aws_instance.foo\" if it exists in your state.

Type in the interpolation to test and hit <enter> to see the result.

To exit the console, type \"exit\" and hit <enter>, or use Control-C or
Control-D.";
