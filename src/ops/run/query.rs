//! `query`: lists the objects that exist, by the query files of the working directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use engine::{self, QueryInput, ValidateInput};
use model::config::policy_file::PolicySet;
use model::plan::{DEFAULT_PARALLELISM, ListResults};

use super::open::{self, NO_CONFIGURATION, OpenSession, OperationLock, sound};
use super::session::{CANCELED, Session};
use super::sink::NoSink;
use crate::configuration::variables::{self, Collected};
use crate::configuration::{generated_file, load};
use crate::interface::listen::Listener;
use crate::interface::options::{StateOptions, VariableArgument};
use crate::interface::requests::OperationKind;
use crate::plugins::outdated_schemas;
use crate::policies;
use crate::setup::Setup;

#[derive(Clone, Debug, Default)]
pub struct QueryRequest {
    pub variables: Vec<VariableArgument>,
    /// Where to write blocks that import the results: a new file.
    pub generate: Option<PathBuf>,
    /// Files and folders with policies for the results.
    pub policies: Vec<PathBuf>,
}

/// The results of lists, in the order of their blocks.
pub type ListedResults = Vec<Arc<ListResults>>;

pub(super) async fn run(
    setup: &Setup,
    request: &QueryRequest,
    listener: &Arc<dyn Listener>,
) -> (ListedResults, Diagnostics) {
    open::show_overrides(setup, &**listener);
    setup.restart.repeated(|| attempt(setup, request, listener)).await
}

async fn attempt(setup: &Setup, request: &QueryRequest, listener: &Arc<dyn Listener>) -> (ListedResults, Diagnostics) {
    let (policies, mut warnings) = policies::load::of_run(setup, &request.policies);
    if warnings.has_errors() {
        return (ListedResults::new(), warnings);
    }
    let opened = open_lists(setup, request, listener.clone()).await;
    let OpenSession { session, collected, mut diagnostics } = match opened {
        Ok(opened) => opened,
        Err(diagnostics) => {
            warnings.extend(diagnostics);
            return (ListedResults::new(), warnings);
        }
    };
    diagnostics.extend(warnings);
    let policies = Arc::new(policies);
    let results = diagnostics.take(lists(&session, &collected, request.generate.is_some(), policies).await);
    if let Some(path) = request.generate.as_ref().filter(|_| !setup.restart.get()) {
        diagnostics.extend(generated_file::write_imports(path, &results));
    }
    diagnostics.extend(session.end().await);
    (results, diagnostics)
}

/// Loads the configuration with its query files, and opens what it needs. The state is read without a lock: nothing changes it.
async fn open_lists(
    setup: &Setup,
    request: &QueryRequest,
    listener: Arc<dyn Listener>,
) -> Result<OpenSession, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let collected = sound(&mut diagnostics, variables::collect(setup, &request.variables))?;
    if !load::has_configuration(setup) {
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
    let loaded = load::config_with_queries(Path::new("."), &with_variables, &setup.root);
    let Some(loaded) = sound(&mut diagnostics, loaded)? else { return Err(diagnostics) };
    let options = StateOptions { lock: false, ..StateOptions::default() };
    let lock = OperationLock { operation: Some(OperationKind::Plan), options: &options };
    let (session, diagnostics) = open::open(setup, loaded, lock, listener, diagnostics).await?;
    Ok(OpenSession { session, collected, diagnostics })
}

/// Checks the configuration and runs its lists.
async fn lists(
    session: &Session,
    collected: &Collected,
    generate_config: bool,
    policies: Arc<PolicySet>,
) -> (ListedResults, Diagnostics) {
    let (variables, mut diagnostics) =
        variables::resolve(collected, &session.facts.config().root, &session.setup).await;
    if diagnostics.has_errors() {
        return (ListedResults::new(), diagnostics);
    }
    let ports = session.ports(session.listener.clone(), Arc::new(NoSink));
    let parallelism = DEFAULT_PARALLELISM;
    let facts = session.facts.clone();
    let state = session.state();
    let input = QueryInput { facts: facts.clone(), state, variables, generate_config, policies, parallelism };
    let work = async {
        let mut found = engine::validate(ValidateInput { facts, parallelism }, &ports).await;
        let results = match found.has_errors() {
            true => ListedResults::new(),
            false => found.take(engine::query(input, &ports).await),
        };
        (results, found)
    };
    let results = tokio::select! {
        done = work => diagnostics.take(done),
        () = session.setup.stop.killed() => {
            diagnostics.push(Diagnostic::error(CANCELED, ""));
            ListedResults::new()
        }
    };
    outdated_schemas::check(&session.setup, &session.factories, diagnostics.has_errors()).await;
    (results, diagnostics)
}
