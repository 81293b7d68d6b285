//! `providers mirror`: writes the archives of all required providers to a folder, which is a filesystem mirror or, behind a web server, a network mirror.

use std::collections::BTreeSet;
use std::path::PathBuf;

use base::diag::Diagnostics;
use install::event::MirrorEvent;
use install::providers::mirror::{MirrorInput, mirror};
use install::source::demanding::Demanding;
use install::source::registry::Registry;
use install::verify;
use model::deps::Lock;

use super::lock::{chosen_platforms, required};
use crate::plugins::packages;
use crate::setup::Setup;
use crate::setup::network::Network;

#[derive(Clone, Debug, Default)]
pub struct MirrorRequest {
    pub target: PathBuf,
    /// None: this machine's.
    pub platforms: Vec<String>,
    /// Take the versions of the lock file.
    pub lock_file: bool,
}

/// Fills the folder, always from the providers' own registries.
pub async fn run(setup: &Setup, request: &MirrorRequest, tell: &mut (dyn FnMut(MirrorEvent) + Send)) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let platforms = diagnostics.take(chosen_platforms(&request.platforms));
    if diagnostics.has_errors() {
        return diagnostics;
    }
    let requirements = diagnostics.take(required(setup));
    let lock = match request.lock_file {
        true => diagnostics.take(packages::lock_file(&setup.root)),
        false => Lock::default(),
    };
    if !lock.is_empty() && !diagnostics.has_errors() {
        diagnostics.extend(verify::check_lock(&requirements, &lock, &BTreeSet::new()));
    }
    if diagnostics.has_errors() {
        return diagnostics;
    }
    let network = Network::new(setup);
    let source = Demanding { source: Registry::new(network.hosts.clone()), demand: setup.settings.signatures };
    let input = MirrorInput {
        requirements: &requirements,
        lock: &lock,
        source: &source,
        http: &network.hosts.http,
        platforms: &platforms,
        target: &request.target,
    };
    diagnostics.extend(mirror(&input, tell).await);
    diagnostics
}
