//! The common inputs of operations: settings, the working directory, hosts, the platform. Never knows a configuration.

pub(crate) mod built_in;
pub mod compatible;
mod encryption;
pub(crate) mod host;
pub mod network;
mod restart;
pub mod root;
pub mod services;
pub mod settings;
pub mod store_processes;
pub mod user_data;
pub mod workdir;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::activity::Activities;
use base::diag::Diagnostics;
use base::dialect::Dialect;
use base::env::Environment;
use base::stop::Stop;

pub use self::encryption::{CommandEncryption, DeclaredEncryption};
pub use self::restart::Restart;

use self::root::Root;
use self::settings::Settings;
use self::store_processes::StoreProcesses;
use self::workdir::WorkDir;
use crate::interface::ask::Ask;
use crate::interface::options::VariableArgument;

/// The surroundings of one command; cheap to clone.
#[derive(Clone)]
pub struct Setup {
    pub environment: Environment,
    pub settings: Arc<Settings>,
    pub root: Root,
    pub workdir: WorkDir,
    /// The working directory before `-chdir`.
    pub original_dir: PathBuf,
    pub stop: Stop,
    /// None: no questions are allowed.
    pub ask: Option<Arc<dyn Ask>>,
    /// Values of root variables that were given as arguments: some decide what is loaded.
    pub variables: Arc<[VariableArgument]>,
    /// Set by an attempt at the command that used outdated schemas.
    pub restart: Arc<Restart>,
    /// The encryption of states and plans.
    pub encryption: Arc<CommandEncryption>,
    /// The processes that serve state stores.
    pub stores: Arc<StoreProcesses>,
    /// Set once a configuration was loaded that has a block `store` of `terraform_data`: only then there is such a block, and
    /// objects without it look as those of the reference.
    pub data_stores: Arc<AtomicBool>,
    /// What the command waits for.
    pub activities: Activities,
}

impl Setup {
    pub fn dialect(&self) -> Dialect {
        self.environment.dialect()
    }

    /// Errors are about the working directory; errors in the settings were reported when those were read.
    pub fn new(
        environment: &Environment,
        settings: Settings,
        original_dir: PathBuf,
        stop: Stop,
        ask: Option<Arc<dyn Ask>>,
    ) -> Result<Setup, Diagnostics> {
        let root = Root::here(environment.dialect());
        let workdir = WorkDir::open(&root, environment)?;
        compatible::note_wish(environment)?;
        Ok(Setup {
            environment: environment.clone(),
            settings: Arc::new(settings),
            root,
            workdir,
            original_dir,
            stop,
            ask,
            variables: Arc::default(),
            restart: Arc::default(),
            encryption: Arc::default(),
            stores: Arc::default(),
            data_stores: Arc::default(),
            activities: Activities::default(),
        })
    }

    /// The surroundings of the same command in another root folder, whose encryption is its own.
    pub fn in_root(&self, root: Root) -> Result<Setup, Diagnostics> {
        let workdir = WorkDir::open(&root, &self.environment)?;
        Ok(Setup { root, workdir, encryption: Arc::default(), ..self.clone() })
    }

    /// As it is, with arguments that give values to root variables.
    pub fn with_variables(&self, variables: &[VariableArgument]) -> Setup {
        Setup { variables: variables.into(), ..self.clone() }
    }
}
