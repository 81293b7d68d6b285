//! `providers`: who needs which provider.

use crate::ops::operation::NO_CONFIGURATION;
use std::path::Path;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::files::Disk;
use crate::model::addr;
use crate::model::config::Module;
use crate::model::deps::Requirements;

use super::options::StateOptions;
use super::setup::Setup;
use super::{load, read_state};

/// A module with what it requires itself: providers with their constraints as text.
pub struct Needs {
    pub name: String,
    pub providers: Vec<(addr::Provider, String)>,
    pub children: Vec<Needs>,
}

/// What the configuration's modules need, and what the state needs.
pub struct Tree {
    pub root: Needs,
    pub state: Vec<addr::Provider>,
}

pub async fn tree(setup: &Setup) -> Result<(Tree, Diagnostics), Diagnostics> {
    if !load::has_configuration() {
        let here = std::env::current_dir().unwrap_or_default();
        let detail = format!("The directory {} contains no Terrane configuration files.", here.display());
        return Err(Diagnostic::error(NO_CONFIGURATION, detail).into());
    }
    let (loaded, diagnostics) = load::config(Path::new("."), setup, &Disk);
    let Some(loaded) = loaded.filter(|_| !diagnostics.has_errors()) else { return Err(diagnostics) };
    let (_, state) = read_state::current(setup, &StateOptions::default()).await?;
    let state = state.file.map(|file| Requirements::of_state(&file.state)).unwrap_or_default();
    let mut state: Vec<addr::Provider> = state.0.into_keys().collect();
    state.sort_by_key(ToString::to_string);
    Ok((Tree { root: needs(&loaded.config.root, String::new()), state }, diagnostics))
}

fn needs(module: &Module, name: String) -> Needs {
    let (own, _) = Requirements::of_module(module);
    let mut providers: Vec<_> = own.0.into_iter().map(|(provider, c)| (provider, c.to_string())).collect();
    providers.sort_by_key(|(provider, _)| provider.to_string());
    let children = module.children.iter().map(|(name, child)| needs(child, format!("module.{name}"))).collect();
    Needs { name, providers, children }
}
