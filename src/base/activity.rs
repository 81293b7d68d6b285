//! What a command waits for that has no events: plugins that start, schemas, locks, states.
//!
//! Owns the list of the running tasks of one command. Never knows who reads it, and holds no values.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// So many tasks are kept that have ended.
const KEPT: usize = 2000;

/// The running tasks of one command; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Activities {
    tasks: Arc<Mutex<Tasks>>,
}

#[derive(Debug, Default)]
struct Tasks {
    next: u64,
    /// In the order in which they began.
    running: Vec<(u64, Task)>,
    ended: Vec<EndedTask>,
}

/// A task: what it does, as `Starting hashicorp/aws`, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub text: String,
    pub began: Instant,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedTask {
    pub task: Task,
    pub ended: Instant,
}

/// A task that runs until this is dropped.
#[derive(Debug)]
pub struct ActiveTask {
    activities: Activities,
    id: u64,
}

impl Activities {
    /// Begins a task. The text has no secrets: it is shown as it is.
    #[must_use]
    pub fn begin(&self, text: impl Into<String>) -> ActiveTask {
        let task = Task { text: text.into(), began: Instant::now() };
        let mut tasks = self.tasks();
        tasks.next += 1;
        let id = tasks.next;
        tasks.running.push((id, task));
        ActiveTask { activities: self.clone(), id }
    }

    /// What runs now, the oldest first.
    pub fn running(&self) -> Vec<Task> {
        self.tasks().running.iter().map(|(_, task)| task.clone()).collect()
    }

    /// What has ended, in the order of the ends.
    pub fn ended(&self) -> Vec<EndedTask> {
        self.tasks().ended.clone()
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Drop for ActiveTask {
    fn drop(&mut self) {
        let mut tasks = self.activities.tasks();
        let Some(at) = tasks.running.iter().position(|(id, _)| *id == self.id) else { return };
        let (_, task) = tasks.running.remove(at);
        if tasks.ended.len() < KEPT {
            tasks.ended.push(EndedTask { task, ended: Instant::now() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_run_until_they_are_dropped() {
        let activities = Activities::default();
        let texts = || activities.running().into_iter().map(|task| task.text).collect::<Vec<_>>();
        let first = activities.begin("first");
        let second = activities.clone().begin("second");
        assert_eq!(texts(), ["first", "second"]);
        drop(first);
        assert_eq!(texts(), ["second"]);
        drop(second);
        let ended: Vec<String> = activities.ended().into_iter().map(|ended| ended.task.text).collect();
        assert_eq!((texts().len(), ended), (0, vec!["first".to_owned(), "second".to_owned()]));
    }
}
