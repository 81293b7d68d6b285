//! `query`: lists the objects that exist, by the query files of the working directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::files::Disk;
use base::name::PROGRAM;
use engine::{self, QueryInput, ValidateInput};
use model::plan::{DEFAULT_PARALLELISM, ListResults};

use super::generated_file;
use super::operation::{self, CANCELED, Locking, NO_CONFIGURATION, OperationRequest, Session};
use super::sink::NoSink;
use crate::configuration::{load, variables};
use crate::interface::listen::Listener;
use crate::interface::options::{StateOptions, VariableArgument};
use crate::plugins::cached_schemas;
use crate::setup::Setup;

#[derive(Clone, Debug, Default)]
pub struct QueryRequest {
    pub variables: Vec<VariableArgument>,
    /// Where to write blocks that import the results: a new file.
    pub generate: Option<PathBuf>,
}

/// Results of lists, in the order of their blocks.
pub type Results = Vec<Arc<ListResults>>;

/// Runs the lists. Each one is shown through the listener when it is complete; the results of those that succeeded are given
/// back.
pub async fn run(setup: &Setup, request: &QueryRequest, listener: Arc<dyn Listener>) -> (Results, Diagnostics) {
    operation::show_overrides(setup, &*listener);
    loop {
        let results = attempt(setup, request, listener.clone()).await;
        if !setup.restart.take() {
            return results;
        }
    }
}

async fn attempt(setup: &Setup, request: &QueryRequest, listener: Arc<dyn Listener>) -> (Results, Diagnostics) {
    let (session, mut diagnostics) = match open(setup, request, listener).await {
        Ok(opened) => opened,
        Err(diagnostics) => return (Results::new(), diagnostics),
    };
    let results = diagnostics.take(lists(&session, request.generate.is_some()).await);
    if let Some(path) = request.generate.as_ref().filter(|_| !setup.restart.get()) {
        diagnostics.extend(generated_file::write_imports(path, &results));
    }
    diagnostics.extend(session.end().await);
    (results, diagnostics)
}

/// Loads the configuration with its query files, and opens what it needs. The state is read without a lock: nothing changes it.
async fn open(
    setup: &Setup,
    request: &QueryRequest,
    listener: Arc<dyn Listener>,
) -> Result<(Session, Diagnostics), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let collected = operation::sound(&mut diagnostics, variables::collect(setup, &request.variables))?;
    if !load::has_configuration() {
        let detail = format!(
            "Query requires a query configuration to be present. Create a {PROGRAM} query configuration file (.tfquery.hcl \
             file) and try again."
        );
        return Err(Diagnostic::error(NO_CONFIGURATION, detail).into());
    }
    if request.generate.as_ref().is_some_and(|path| path.exists()) {
        return Err(generated_file::exists().into());
    }
    let with_variables = setup.with_variables(&request.variables);
    let loaded = load::config_with_queries(Path::new("."), &with_variables, &Disk);
    let Some(loaded) = operation::sound(&mut diagnostics, loaded)? else { return Err(diagnostics) };
    let options = StateOptions { lock: false, ..StateOptions::default() };
    let locking = Locking { operation: operation::PLAN, options: &options };
    operation::open(setup, loaded, collected, locking, listener, diagnostics).await
}

/// The request of the operation, for what asks for one.
pub fn operation_request(request: &QueryRequest) -> OperationRequest {
    OperationRequest { variables: request.variables.clone(), ..OperationRequest::default() }
}

/// Checks the configuration and runs its lists.
async fn lists(session: &Session, generate_config: bool) -> (Results, Diagnostics) {
    let (variables, mut diagnostics) =
        variables::resolve(&session.collected, &session.config.root, &session.setup).await;
    if diagnostics.has_errors() {
        return (Results::new(), diagnostics);
    }
    let ports = session.ports(session.listener.clone(), Arc::new(NoSink));
    let parallelism = DEFAULT_PARALLELISM;
    let config = session.config.clone();
    let input = QueryInput { config: config.clone(), state: session.state(), variables, generate_config, parallelism };
    let work = async {
        let mut found = engine::validate(ValidateInput { config, parallelism }, &ports).await;
        let results = match found.has_errors() {
            true => Results::new(),
            false => found.take(engine::query(input, &ports).await),
        };
        (results, found)
    };
    let results = tokio::select! {
        done = work => diagnostics.take(done),
        () = session.setup.stop.killed() => {
            diagnostics.push(Diagnostic::error(CANCELED, ""));
            Results::new()
        }
    };
    cached_schemas::check(&session.setup, &session.factories, diagnostics.has_errors()).await;
    (results, diagnostics)
}
