//! How plugins are launched: with which program, arguments and protection.
//!
//! Never knows which plugin is needed or when.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::dialect::Dialect;
use base::env::{self, Environment};
use plugin::process::{Children, Launch, START_TIMEOUT, Security};

use crate::setup::Setup;

/// The launches of one command, as its environment wants them.
pub struct Launcher {
    /// This program, which is also its own plugins.
    program: PathBuf,
    dialect: Dialect,
    tls: bool,
    start_timeout: Duration,
    data_stores: Arc<AtomicBool>,
    /// Where they start.
    folder: PathBuf,
    /// Every process that was started and has not ended.
    children: Children,
}

impl Launcher {
    pub fn new(setup: &Setup, children: Children) -> Launcher {
        let environment = &setup.environment;
        Launcher {
            program: std::env::current_exe().unwrap_or_else(|_| "terrane".into()),
            dialect: setup.dialect(),
            tls: environment.non_empty(env::TF_DISABLE_PLUGIN_TLS).is_none(),
            start_timeout: start_timeout(environment),
            data_stores: setup.data_stores.clone(),
            folder: setup.root.folder().to_path_buf(),
            children,
        }
    }

    /// A program on disk; `name` is what logs call it.
    pub fn package(&self, program: &Path, name: &str) -> Launch {
        Launch {
            command: program.to_path_buf(),
            args: Vec::new(),
            env: Vec::new(),
            security: if self.tls { Security::MutualTls } else { Security::None },
            start_timeout: self.start_timeout,
            folder: self.folder.clone(),
            log_name: name.into(),
            children: self.children.clone(),
        }
    }

    /// This program as one of its own plugins. `kind` is `provider` or `provisioner`.
    pub fn built_in(&self, kind: &str, name: &str) -> Launch {
        // Its messages name the program as ours do.
        let mut env = vec![(env::TERRANE_NAME.into(), self.dialect.command().into())];
        if self.data_stores.load(Ordering::Relaxed) {
            env.push((env::TERRANE_DATA_STORES.into(), "1".into()));
        }
        Launch {
            command: self.program.clone(),
            args: vec!["internal-plugin".into(), kind.into(), name.into()],
            env,
            security: Security::OwnProgram,
            start_timeout: self.start_timeout,
            folder: self.folder.clone(),
            log_name: name.into(),
            children: self.children.clone(),
        }
    }
}

/// How long a plugin may take to start; what is no number of seconds is as if it were not set.
fn start_timeout(environment: &Environment) -> Duration {
    let seconds = environment.non_empty(env::TERRANE_PLUGIN_START_TIMEOUT).and_then(|text| text.parse().ok());
    seconds.map_or(START_TIMEOUT, Duration::from_secs)
}
