//! Knows which changes take long, and says so every ten seconds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::engine::event::Event;
use crate::model::addr::AbsResourceInstance;
use crate::model::plan::Action;
use crate::model::state::DeposedKey;

const PERIOD: Duration = Duration::from_secs(10);

type Key = (AbsResourceInstance, Option<DeposedKey>);

/// A change that is being made.
#[derive(Clone)]
pub struct Running {
    pub addr: AbsResourceInstance,
    pub deposed: Option<DeposedKey>,
    pub action: Action,
    pub id: Option<(String, String)>,
    started: Instant,
    told: u32,
}

#[derive(Default)]
pub struct Ticker {
    running: Arc<Mutex<HashMap<Key, Running>>>,
    /// The task that looks at the clock; started with the first change.
    task: Mutex<Option<tokio::task::JoinHandle<()>>>,
}

impl Ticker {
    /// Takes note of an event; `tell` is called for what has been going on for ten seconds, twenty and so on.
    pub fn hear(&self, event: &Event, tell: impl Fn(&Running, Duration) + Send + 'static) {
        match event {
            Event::ApplyStarted { addr, deposed, action, id } => {
                let running = Running {
                    addr: addr.clone(),
                    deposed: deposed.clone(),
                    action: *action,
                    id: id.clone(),
                    started: Instant::now(),
                    told: 0,
                };
                lock(&self.running).insert((addr.clone(), deposed.clone()), running);
                self.start(tell);
            }
            Event::ApplyFinished { addr, deposed, .. } => {
                lock(&self.running).remove(&(addr.clone(), deposed.clone()));
            }
            _ => {}
        }
    }

    fn start(&self, tell: impl Fn(&Running, Duration) + Send + 'static) {
        let mut task = lock(&self.task);
        if task.is_some() || tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        let running = self.running.clone();
        *task = Some(tokio::spawn(async move {
            loop {
                tokio::time::sleep(next(&running)).await;
                for (change, elapsed) in due(&running) {
                    tell(&change, elapsed);
                }
            }
        }));
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        if let Some(task) = lock(&self.task).take() {
            task.abort();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// Until something is due; nothing can be due sooner than a period after it began.
fn next(running: &Mutex<HashMap<Key, Running>>) -> Duration {
    let now = Instant::now();
    let due = lock(running).values().map(|r| (r.started + PERIOD * (r.told + 1)).saturating_duration_since(now)).min();
    due.unwrap_or(PERIOD).min(PERIOD)
}

fn due(running: &Mutex<HashMap<Key, Running>>) -> Vec<(Running, Duration)> {
    let now = Instant::now();
    let mut found = Vec::new();
    for change in lock(running).values_mut() {
        if now.duration_since(change.started) >= PERIOD * (change.told + 1) {
            change.told += 1;
            found.push((change.clone(), PERIOD * change.told));
        }
    }
    found
}
