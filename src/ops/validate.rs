//! `validate`: the configuration checked for itself and against its providers' schemas.

use crate::model::mistakes::UNREADABLE_MODULE;
use crate::ops::operation::CANCELED;
use std::path::Path;
use std::sync::Arc;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::files::Disk;
use crate::engine::ports::Ports;
use crate::engine::{self, ValidateInput};
use crate::model::deps::Requirements;

use super::host::Machine;
use super::listen::Deaf;
use super::provider_factories::Factories;
use super::setup::Setup;
use super::sink::NoSink;
use super::{load, packages};

/// Everything there is to say about the configuration in a folder.
pub async fn run(setup: &Setup, path: &str) -> Diagnostics {
    let dir = Path::new(path);
    if path != "." && !dir.is_dir() {
        return Diagnostic::error(
            UNREADABLE_MODULE,
            format!("Module directory {path} does not exist or cannot be read."),
        )
        .into();
    }
    let (loaded, mut diagnostics) = load::config(dir, setup, &Disk);
    let Some(config) = loaded.filter(|_| !diagnostics.has_errors()).map(|l| l.config) else { return diagnostics };
    let requirements = diagnostics.take(Requirements::of_config(&config));
    if diagnostics.has_errors() {
        return diagnostics;
    }
    let found = match packages::available(setup, &requirements).await {
        Ok(found) => found,
        Err(problems) => {
            diagnostics.extend(problems);
            return diagnostics;
        }
    };
    diagnostics.extend(found.warnings);
    let factories = Factories::new(setup, found.origins, found.provisioner_programs);
    factories.start_early(requirements.0.keys().cloned());
    let ports = Ports {
        providers: factories.clone(),
        observer: Arc::new(Deaf),
        sink: Arc::new(NoSink),
        host: Arc::new(Machine::new(setup)),
        stop: setup.stop.clone(),
    };
    tokio::select! {
        found = engine::validate(ValidateInput { config, parallelism: 10 }, &ports) => diagnostics.extend(found),
        () = setup.stop.killed() => diagnostics.push(Diagnostic::error(CANCELED, "")),
    }
    factories.shutdown().await;
    diagnostics
}
