//! A lock that has to be looked after while it is held, and how those who hold it learn that it is lost.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::contract::{ErrorKind, StoreError};

/// A lock. The task that keeps it ends with the last clone.
#[derive(Clone)]
pub struct WatchedLock {
    pub id: String,
    loss: Loss,
    _keeper: Arc<Keeper>,
}

/// Where the loss of a lock is reported.
#[derive(Clone)]
pub struct Loss(Arc<watch::Sender<Option<String>>>);

struct Keeper(AbortHandle);

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl WatchedLock {
    /// `keep` runs until it gives the reason why the lock is lost.
    pub fn new(id: String, keep: impl Future<Output = String> + Send + 'static) -> WatchedLock {
        let loss = Loss(Arc::new(watch::Sender::new(None)));
        let reported = loss.clone();
        let task = tokio::spawn(async move {
            let why = keep.await;
            reported.report(why);
        });
        WatchedLock { id, loss, _keeper: Arc::new(Keeper(task.abort_handle())) }
    }

    /// An error if the lock is known to be lost.
    pub fn check(&self) -> Result<(), StoreError> {
        self.loss.0.borrow().as_ref().map_or(Ok(()), |why| Err(lost(why)))
    }

    /// Reports that the lock turned out to be lost.
    pub fn report(&self, why: impl Into<String>) -> StoreError {
        let why = why.into();
        let error = lost(&why);
        self.loss.report(why);
        error
    }
}

impl Loss {
    fn report(&self, why: String) {
        self.0.send_if_modified(|known| {
            let is_news = known.is_none();
            if is_news {
                *known = Some(why);
            }
            is_news
        });
    }
}

/// The lock of one store, if it holds one.
pub struct LockSlot(watch::Sender<Option<WatchedLock>>);

impl Default for LockSlot {
    fn default() -> LockSlot {
        LockSlot(watch::Sender::new(None))
    }
}

impl LockSlot {
    pub fn get(&self) -> Option<WatchedLock> {
        self.0.borrow().clone()
    }

    pub fn put(&self, held: WatchedLock) {
        self.0.send_replace(Some(held));
    }

    pub fn clear(&self) {
        self.0.send_replace(None);
    }

    /// The lock, which must have this id. None if there is no lock.
    pub fn of_id(&self, id: &str) -> Result<Option<WatchedLock>, StoreError> {
        let Some(held) = self.get() else { return Ok(None) };
        if held.id == id { Ok(Some(held)) } else { Err(StoreError::lock_mismatch(id, &held.id)) }
    }

    /// Completes when a lock in this slot is lost.
    pub async fn lost(&self) -> StoreError {
        let mut changes = self.0.subscribe();
        loop {
            let loss = changes.borrow_and_update().as_ref().map(|held| held.loss.clone());
            let known = async {
                match &loss {
                    Some(loss) => loss.0.subscribe().wait_for(Option::is_some).await.ok().and_then(|why| why.clone()),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                Some(why) = known => return lost(&why),
                Ok(()) = changes.changed() => {}
                else => std::future::pending().await,
            }
        }
    }
}

fn lost(why: &str) -> StoreError {
    StoreError { kind: ErrorKind::LockGone, text: format!("the state lock was lost: {why}") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn losses_are_reported_to_waiters_and_writers() {
        let slot: LockSlot = LockSlot::default();
        let (lose, lost_because) = tokio::sync::oneshot::channel::<String>();
        let waiting = async { tokio::time::timeout(Duration::from_secs(5), slot.lost()).await.unwrap() };
        let losing = async {
            tokio::task::yield_now().await;
            slot.put(WatchedLock::new("a".into(), std::future::pending()));
            slot.clear();
            slot.put(WatchedLock::new("b".into(), async { lost_because.await.unwrap() }));
            assert!(slot.get().unwrap().check().is_ok());
            lose.send("gone".into()).unwrap();
        };
        let (error, ()) = tokio::join!(waiting, losing);
        assert_eq!((&error.kind, error.text.as_str()), (&ErrorKind::LockGone, "the state lock was lost: gone"));
        assert_eq!(slot.get().unwrap().check().unwrap_err(), error);
        assert_eq!(slot.of_id("x").err().unwrap().text, "lock ID \"x\" does not match existing lock ID \"b\"");
    }

    #[tokio::test]
    async fn released_locks_are_not_kept() {
        let slot: LockSlot = LockSlot::default();
        let alive = Arc::new(());
        let kept = alive.clone();
        slot.put(WatchedLock::new("a".into(), async move {
            let _kept = kept;
            std::future::pending().await
        }));
        tokio::task::yield_now().await;
        slot.clear();
        tokio::time::timeout(Duration::from_secs(5), async {
            while Arc::strong_count(&alive) > 1 {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
    }
}
