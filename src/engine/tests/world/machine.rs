//! The machine of the world: its files and its clock, which stands still.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use base::files::Files;
use base::moment::Moment;

use super::World;
use crate::ports::Host;

pub(super) struct Machine(pub(super) Arc<World>);
#[async_trait]
impl Host for Machine {
    fn files(&self) -> &dyn Files {
        &*self.0.files
    }
    fn now(&self) -> Moment {
        Moment::from_seconds(*self.0.clock.borrow())
    }
    /// The clock stands still, unless a request hangs: then it moves to the time that is waited for.
    async fn wait_until(&self, moment: Moment) {
        let until = moment.seconds.min(self.0.hangs_until());
        self.0.clock.send_if_modified(|now| {
            let moves = until > *now;
            *now = until.max(*now);
            moves
        });
        if moment.seconds > self.now().seconds {
            std::future::pending().await
        }
    }
    fn random(&self, bytes: &mut [u8]) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let n = NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        bytes.iter_mut().rev().zip(n.iter().rev()).for_each(|(b, n)| *b = *n);
    }
    fn original_working_dir(&self) -> String {
        "/cwd".into()
    }
    fn working_dir(&self) -> std::path::PathBuf {
        "/cwd".into()
    }
    fn home_dir(&self) -> Option<std::path::PathBuf> {
        None
    }
    fn workspace(&self) -> String {
        "default".into()
    }
}
