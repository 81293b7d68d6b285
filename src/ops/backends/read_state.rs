//! Reading the state without its lock, for commands that do not change it.

use std::sync::Arc;

use backend::{Loaded, OpenBackend, StateAccess, StateSession};
use base::diag::Diagnostics;
use model::config::{self, Module};

use super::open::{self, BackendInUse};
use super::record::BackendRecord;
use super::version::{self, OnMismatch};
use crate::configuration::load;
use crate::interface::options::StateOptions;
use crate::setup::Setup;

/// The current state of the working directory's workspace. What is to be said of the backend's settings is in the first.
pub async fn current(setup: &Setup, options: &StateOptions) -> Result<(BackendInUse, Loaded), Diagnostics> {
    let opened = open(setup, options).await?;
    let loaded = backend::load(&opened.store, StateAccess::ReadOnly).await?;
    Ok((opened, loaded))
}

/// The backend that the root module asks for, without a look at its workspaces.
pub async fn backend(setup: &Setup) -> Result<Arc<OpenBackend>, Diagnostics> {
    setup.workdir.check_override()?;
    open::backend_of(setup, record(setup).await?.as_ref(), &StateOptions::default()).await
}

/// The record of the backend in use. None: the local one with its defaults.
pub async fn record(setup: &Setup) -> Result<Option<BackendRecord>, Diagnostics> {
    let module = backend_module(setup)?;
    open::in_use(setup, block_of(&module)).await
}

/// The backend that the root module asks for. Only as much of the configuration is read as that needs.
pub async fn open(setup: &Setup, options: &StateOptions) -> Result<BackendInUse, Diagnostics> {
    let module = backend_module(setup)?;
    open::open(setup, block_of(&module), options).await
}

/// The store of a state that is to be changed manually, with the warnings about the backend's settings and the workspace's version.
pub async fn open_to_change(
    setup: &Setup,
    options: &StateOptions,
) -> Result<(Arc<StateSession>, Diagnostics), Diagnostics> {
    let BackendInUse { backend, store, mut warnings } = open(setup, options).await?;
    warnings.extend(version::check(&backend, &setup.workdir.workspace, OnMismatch::of(options)).await?);
    Ok((store, warnings))
}

fn backend_module(setup: &Setup) -> Result<Option<Module>, Diagnostics> {
    let (module, diagnostics) = load::backend_module(setup);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(module) }
}

fn block_of(module: &Option<Module>) -> Option<&config::Backend> {
    module.as_ref().and_then(|module| module.backend.as_ref())
}
