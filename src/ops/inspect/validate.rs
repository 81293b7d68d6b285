//! `validate`: checks the configuration, also with the schemas of its providers.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use engine::ports::Observer;
use engine::{self, Facts, ValidateInput};
use model::config::module_source::{self, ModuleSource};
use model::config::{Config, RootFiles, check_versions};
use model::deps::Requirements;
use model::lint::{self, Selection};
use model::model_errors::UNREADABLE_MODULE;
use model::plan::DEFAULT_PARALLELISM;
use model::version::at_least;

use crate::backends::settings;
use crate::configuration::load;
use crate::plugins::factories::Factories;
use crate::plugins::{outdated_schemas, packages};
use crate::run::session::{CANCELED, watched_ports};
use crate::setup::Setup;

/// What of a configuration is looked at.
pub struct ValidateRequest {
    pub path: String,
    /// The folder of test files; none: they are not looked at.
    pub test_dir: Option<String>,
    /// Query files too.
    pub queries: bool,
    /// What the linter checks in the root module.
    pub lint: Selection,
}

/// Everything there is to say about the configuration in a folder.
pub async fn run(setup: &Setup, request: &ValidateRequest, observer: &Arc<dyn Observer>) -> Diagnostics {
    let mut diagnostics: Diagnostics = lint::experimental(&request.lint).into_iter().collect();
    diagnostics.extend(setup.restart.repeated(|| attempt(setup, request, observer)).await);
    diagnostics.extend(packages::overrides_warning(setup));
    diagnostics
}

async fn attempt(setup: &Setup, request: &ValidateRequest, observer: &Arc<dyn Observer>) -> Diagnostics {
    let path = &request.path;
    let dir = Path::new(path);
    if path != "." && !dir.is_dir() {
        return Diagnostic::error(
            UNREADABLE_MODULE,
            format!("Module directory {path} does not exist or cannot be read."),
        )
        .into();
    }
    let which = if request.queries { RootFiles::WithQueries } else { RootFiles::Configuration };
    let (loaded, mut diagnostics) = load::any_config_with_tests(which, dir, request.test_dir.as_deref(), setup);
    let Some(loaded) = loaded.filter(|_| !diagnostics.has_errors()) else { return diagnostics };
    if let Err(problems) = setup.workdir.check_workspace() {
        diagnostics.extend(problems);
        return diagnostics;
    }
    diagnostics.extend(one(setup, loaded.config.clone(), &request.lint, observer).await);
    let backend = loaded.config.root.backend.as_ref().filter(|block| !block.is_cloud_block && block.store.is_none());
    if let Some(backend) = backend.filter(|_| at_least(15)) {
        diagnostics.extend(settings::kind_of(backend).err().unwrap_or_default());
    }
    let mut done = BTreeSet::new();
    for file in &loaded.tests {
        diagnostics.extend(file.check_portability());
        diagnostics.extend(file.check(&loaded.config));
        for run in &file.runs {
            if at_least(12) {
                diagnostics.extend(file.missing_providers(run));
            }
            let Some(config) = &run.under_test else {
                diagnostics.extend(run.check(&loaded.config));
                continue;
            };
            // Modules from elsewhere are their authors' business.
            let call = run
                .module
                .as_ref()
                .filter(|call| matches!(module_source::parse(&call.source), Ok(ModuleSource::Local(_))));
            if call.is_some_and(|call| done.insert(call.source.clone())) {
                diagnostics.extend(one(setup, Arc::new(config.clone()), &Selection::default(), observer).await);
            }
            diagnostics.extend(run.check(config));
        }
    }
    diagnostics
}

/// One tree of modules.
async fn one(setup: &Setup, config: Arc<Config>, selection: &Selection, observer: &Arc<dyn Observer>) -> Diagnostics {
    let (requirements, mut diagnostics) = Requirements::of_config(&config);
    if diagnostics.has_errors() {
        return diagnostics;
    }
    let found = match packages::intact(setup, &requirements) {
        Ok(found) => found,
        Err(problems) => {
            diagnostics.extend(problems);
            return diagnostics;
        }
    };
    let versions = check_versions(&config);
    if versions.has_errors() {
        diagnostics.extend(found.missing(&requirements));
        diagnostics.extend(versions);
        return diagnostics;
    }
    diagnostics.extend(versions);
    diagnostics.extend(found.warnings);
    diagnostics.extend(lint::check(&config.root, selection));
    let factories = Factories::new(setup, found.origins, found.provisioner_programs);
    factories.start_early(requirements.0.keys().cloned());
    let ports = watched_ports(setup, &factories, observer.clone());
    let input = ValidateInput { facts: Facts::of(config), parallelism: DEFAULT_PARALLELISM };
    tokio::select! {
        found = engine::validate(input, &ports) => diagnostics.extend(found),
        () = setup.stop.killed() => diagnostics.push(Diagnostic::error(CANCELED, "")),
    }
    outdated_schemas::check(setup, &factories, diagnostics.has_errors()).await;
    factories.shutdown().await;
    diagnostics
}
