//! The engine's `Host`: files, clock, randomness, paths.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use base::files::Files;
use base::moment::Moment;
use engine::ports::Host;
use rand::RngCore;

use super::Setup;
use super::root::Root;

/// The real machine.
pub struct Machine {
    root: Root,
    original_dir: PathBuf,
    home: Option<PathBuf>,
    workspace: String,
}

impl Machine {
    pub fn new(setup: &Setup) -> Machine {
        Machine {
            root: setup.root.clone(),
            original_dir: setup.original_dir.clone(),
            home: setup.environment.home_dir(),
            workspace: setup.workdir.workspace.clone(),
        }
    }
}

#[async_trait]
impl Host for Machine {
    fn files(&self) -> &dyn Files {
        &self.root
    }

    fn now(&self) -> Moment {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment { seconds: i64::try_from(now.as_secs()).unwrap_or(i64::MAX), nanos: now.subsec_nanos() }
    }

    async fn wait_until(&self, moment: Moment) {
        let since_epoch = Duration::new(u64::try_from(moment.seconds).unwrap_or(0), moment.nanos);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        tokio::time::sleep(since_epoch.saturating_sub(now)).await;
    }

    fn random(&self, bytes: &mut [u8]) {
        rand::rng().fill_bytes(bytes);
    }

    fn original_working_dir(&self) -> String {
        self.original_dir.to_string_lossy().into_owned()
    }

    fn working_dir(&self) -> PathBuf {
        self.root.dir()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        self.home.clone()
    }

    fn workspace(&self) -> String {
        self.workspace.clone()
    }
}
