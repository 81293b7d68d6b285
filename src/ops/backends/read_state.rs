//! Reading the state without its lock, for commands that only look.

use std::sync::Arc;

use crate::backend::{Access, Backend, Loaded, StateStore};
use crate::base::diag::Diagnostics;
use crate::model::config::{self, Module};

use super::open::{self, Opened};
use super::record::BackendRecord;
use super::version;
use crate::ops::configuration::load;
use crate::ops::interface::listen::Listener;
use crate::ops::interface::options::StateOptions;
use crate::ops::setup::Setup;

/// The current state of the working directory's workspace.
pub async fn current(setup: &Setup, options: &StateOptions) -> Result<(Opened, Loaded), Diagnostics> {
    let opened = open(setup, options).await?;
    let loaded = crate::backend::load(&*opened.store, Access::ReadOnly).await?;
    Ok((opened, loaded))
}

/// The backend that the root module asks for, without a look at its workspaces.
pub async fn backend(setup: &Setup) -> Result<Arc<dyn Backend>, Diagnostics> {
    open::backend_of(setup, record(setup)?.as_ref(), &StateOptions::default()).await
}

/// The record of the backend in use. None: the local one with its defaults.
pub fn record(setup: &Setup) -> Result<Option<BackendRecord>, Diagnostics> {
    let module = backend_module(setup)?;
    open::in_use(setup, block_of(&module))
}

/// The backend that the root module asks for. Only as much of the configuration is read as that needs.
pub async fn open(setup: &Setup, options: &StateOptions) -> Result<Opened, Diagnostics> {
    let module = backend_module(setup)?;
    open::open(setup, block_of(&module), options).await
}

/// The store of a state that is to be changed by hand. Warnings about the workspace's version are shown.
pub async fn open_to_change(
    setup: &Setup,
    options: &StateOptions,
    listener: &dyn Listener,
) -> Result<Arc<dyn StateStore>, Diagnostics> {
    let opened = open(setup, options).await?;
    let workspace = &setup.workdir.workspace;
    let warnings = version::check(&*opened.backend, workspace, options.ignore_remote_version).await?;
    if !warnings.is_empty() {
        listener.diagnostics(warnings);
    }
    Ok(opened.store)
}

fn backend_module(setup: &Setup) -> Result<Option<Module>, Diagnostics> {
    let (module, diagnostics) = load::backend_module(setup);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(module) }
}

fn block_of(module: &Option<Module>) -> Option<&config::Backend> {
    module.as_ref().and_then(|module| module.backend.as_ref())
}
