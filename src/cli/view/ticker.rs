//! Knows which changes, reads of data sources and operations on ephemeral objects take long, and reports them every ten seconds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use engine::event::{Event, ObjectLabel};
use model::addr::AbsResourceInstance;
use model::plan::Action;
use model::state::DeposedKey;
use render::words::Operation;

const PERIOD: Duration = Duration::from_secs(10);

type Key = (AbsResourceInstance, Option<DeposedKey>);

/// A change that is being made.
#[derive(Clone)]
pub struct Running {
    pub addr: AbsResourceInstance,
    pub operation: Operation,
    pub label: Option<ObjectLabel>,
    started: Instant,
    reports: u32,
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
            Event::ApplyStarted { addr, deposed, action, label } => {
                self.begin((addr.clone(), deposed.clone()), Operation::Change(*action), label.clone());
                self.start(tell);
            }
            Event::ReadStarted { addr } => {
                self.begin((addr.clone(), None), Operation::Change(Action::Read), None);
                self.start(tell);
            }
            Event::EphemeralStarted { addr, verb } => {
                self.begin((addr.clone(), None), Operation::Ephemeral(*verb), None);
                self.start(tell);
            }
            Event::ApplyFinished { addr, deposed, .. } => {
                lock(&self.running).remove(&(addr.clone(), deposed.clone()));
            }
            Event::ReadFinished { addr, .. } | Event::EphemeralFinished { addr, .. } => {
                lock(&self.running).remove(&(addr.clone(), None));
            }
            _ => {}
        }
    }

    fn begin(&self, key: Key, operation: Operation, label: Option<ObjectLabel>) {
        let addr = key.0.clone();
        let running = Running { addr, operation, label, started: Instant::now(), reports: 0 };
        lock(&self.running).insert(key, running);
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
                for (change, elapsed) in due(&running, Instant::now()) {
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
    let due =
        lock(running).values().map(|r| (r.started + PERIOD * (r.reports + 1)).saturating_duration_since(now)).min();
    due.unwrap_or(PERIOD).min(PERIOD)
}

fn due(running: &Mutex<HashMap<Key, Running>>, now: Instant) -> Vec<(Running, Duration)> {
    let mut found = Vec::new();
    for change in lock(running).values_mut() {
        if now.duration_since(change.started) >= PERIOD * (change.reports + 1) {
            change.reports += 1;
            found.push((change.clone(), PERIOD * change.reports));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use engine::event::EphemeralVerb;
    use model::addr::parse::parse_abs_instance;

    use super::*;

    #[test]
    fn long_operations_are_reported_every_ten_seconds() {
        let addr = |text: &str| parse_abs_instance(text).unwrap();
        let (read, made) = (addr("data.test_thing.a"), addr("test_thing.b"));
        let ticker = Ticker::default();
        ticker.hear(&Event::ReadStarted { addr: read.clone() }, |_, _| {});
        let create = Event::ApplyStarted { addr: made, deposed: None, action: Action::Create, label: None };
        ticker.hear(&create, |_, _| {});
        let (opened, verb) = (addr("ephemeral.test_thing.c"), EphemeralVerb::Open);
        ticker.hear(&Event::EphemeralStarted { addr: opened.clone(), verb }, |_, _| {});
        let start = Instant::now();
        let told = |seconds| {
            let told = due(&ticker.running, start + Duration::from_secs(seconds));
            let texts =
                told.iter().map(|(it, elapsed)| format!("{} {:?} {}", it.addr, it.operation, elapsed.as_secs()));
            let mut texts: Vec<String> = texts.collect();
            texts.sort();
            texts
        };
        assert!(told(9).is_empty());
        assert_eq!(
            told(10),
            [
                "data.test_thing.a Change(Read) 10",
                "ephemeral.test_thing.c Ephemeral(Open) 10",
                "test_thing.b Change(Create) 10"
            ]
        );
        assert!(told(19).is_empty());
        ticker.hear(
            &Event::ReadFinished { addr: read, label: None, elapsed: Duration::from_secs(19), failed: false },
            |_, _| {},
        );
        ticker.hear(
            &Event::EphemeralFinished { addr: opened, verb, elapsed: Duration::from_secs(19), failed: false },
            |_, _| {},
        );
        assert_eq!(told(20), ["test_thing.b Change(Create) 20"]);
    }
}
