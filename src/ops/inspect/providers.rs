//! `providers`: the required providers of each module.

use std::path::Path;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use model::addr;
use model::config::test_file::{TestFile, TestRun};
use model::config::{Module, RootFiles};
use model::deps::Requirements;

use crate::backends::read_state;
use crate::configuration::load;
use crate::interface::options::StateOptions;
use crate::run::open::NO_CONFIGURATION;
use crate::setup::Setup;

/// A module with what it requires itself: providers with their constraints as text. Or a test file, or one of its runs.
pub struct ModuleProviders {
    pub name: String,
    pub providers: Vec<(addr::Provider, String)>,
    pub children: Vec<ModuleProviders>,
}

/// What the configuration's modules need, and what the state needs.
pub struct Tree {
    pub root: ModuleProviders,
    pub state: Vec<addr::Provider>,
}

/// `test_dir`: the folder of the tests, whose runs may test modules of their own.
pub async fn tree(setup: &Setup, test_dir: &str) -> Result<(Tree, Diagnostics), Diagnostics> {
    if !load::has_something_to_install(setup, Some(test_dir)) {
        let here = setup.root.dir();
        let detail = format!("The directory {} contains no {PROGRAM} configuration files.", here.display());
        return Err(Diagnostic::error(NO_CONFIGURATION, detail).into());
    }
    let (loaded, mut diagnostics) =
        load::any_config_with_tests(RootFiles::Configuration, Path::new("."), Some(test_dir), setup);
    let Some(loaded) = loaded.filter(|_| !diagnostics.has_errors()) else { return Err(diagnostics) };
    let (opened, state) = read_state::current(setup, &StateOptions::default()).await?;
    diagnostics.extend(opened.warnings);
    let state = state.file.map(|file| Requirements::of_state(&file.state)).unwrap_or_default();
    let mut state: Vec<addr::Provider> = state.0.into_keys().collect();
    state.sort_by_key(ToString::to_string);
    let mut root = needs(&loaded.config.root, String::new());
    let mut tests: Vec<ModuleProviders> = loaded.tests.iter().map(tested).collect();
    tests.sort_by(|a, b| a.name.cmp(&b.name));
    root.children.splice(0..0, tests);
    Ok((Tree { root, state }, diagnostics))
}

/// A test file requires nothing itself, but the modules that its runs test do.
fn tested(file: &TestFile) -> ModuleProviders {
    let name = file.name.strip_suffix(".tftest.hcl").unwrap_or(&file.name).replace(['/', '\\'], ".");
    let of_run = |run: &TestRun| {
        let config = run.module.as_ref().and(run.under_test.as_ref())?;
        Some(needs(&config.root, format!("run.{}", run.name)))
    };
    let mut children: Vec<ModuleProviders> = file.runs.iter().filter_map(of_run).collect();
    children.sort_by(|a, b| a.name.cmp(&b.name));
    ModuleProviders { name: format!("test.{name}"), providers: Vec::new(), children }
}

fn needs(module: &Module, name: String) -> ModuleProviders {
    let (own, _) = Requirements::of_module(module);
    let mut providers: Vec<_> = own.0.into_iter().map(|(provider, c)| (provider, c.to_string())).collect();
    providers.sort_by_key(|(provider, _)| provider.to_string());
    let children = module.children.iter().map(|(name, child)| needs(child, format!("module.{name}"))).collect();
    ModuleProviders { name, providers, children }
}
