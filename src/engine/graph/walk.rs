//! The walk: runs every node once all that it waits for is done, so many at a time; a failed node keeps those that
//! depend on it from running, nobody else.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::{Dag, NodeId};

/// How a node ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Done,
    /// Nothing that depends on it may run.
    Failed,
}

pub type NodeFuture = Pin<Box<dyn Future<Output = End> + Send>>;

/// The right to run: held while a step works, given back while it waits for another step.
pub struct Turn {
    turns: Arc<Semaphore>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Turn {
    pub async fn take(turns: &Arc<Semaphore>) -> Turn {
        Turn { turns: turns.clone(), permit: turns.clone().acquire_owned().await.ok() }
    }

    /// Gives the turn back before its owner ends.
    pub fn give_back(&mut self) {
        self.permit = None;
    }

    /// Waits without a turn.
    pub async fn pause<T>(&mut self, wait: impl Future<Output = T>) -> T {
        self.give_back();
        let result = wait.await;
        *self = Turn::take(&self.turns).await;
        result
    }
}

struct Progress {
    dependents: Vec<Vec<NodeId>>,
    waiting: Vec<AtomicU32>,
    blocked: Vec<AtomicBool>,
    remaining: AtomicUsize,
    ready: Mutex<VecDeque<NodeId>>,
    changed: Notify,
}

impl Progress {
    fn of<N>(graph: &Dag<N>) -> Progress {
        let waiting = (0..graph.len()).map(|n| AtomicU32::new(graph.dependencies(n as NodeId).len() as u32)).collect();
        let ready = (0..graph.len() as NodeId).filter(|n| graph.dependencies(*n).is_empty()).collect();
        Progress {
            dependents: graph.dependents(),
            waiting,
            blocked: (0..graph.len()).map(|_| AtomicBool::new(false)).collect(),
            remaining: AtomicUsize::new(graph.len()),
            ready: Mutex::new(ready),
            changed: Notify::new(),
        }
    }

    fn next(&self) -> Option<NodeId> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Counts a node as ended, and what it kept from running as ended with it.
    fn end(&self, node: NodeId, end: End) {
        let mut open = vec![(node, end)];
        while let Some((node, end)) = open.pop() {
            for dependent in &self.dependents[node as usize] {
                let i = *dependent as usize;
                if end == End::Failed {
                    self.blocked[i].store(true, Ordering::Release);
                }
                if self.waiting[i].fetch_sub(1, Ordering::AcqRel) == 1 {
                    if self.blocked[i].load(Ordering::Acquire) {
                        open.push((*dependent, End::Failed));
                    } else {
                        self.ready.lock().unwrap_or_else(PoisonError::into_inner).push_back(*dependent);
                    }
                }
            }
            self.remaining.fetch_sub(1, Ordering::AcqRel);
        }
        self.changed.notify_one();
    }
}

/// Ends its node even if the step panics.
struct Ending {
    progress: Arc<Progress>,
    node: NodeId,
    end: End,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.progress.end(self.node, self.end);
    }
}

/// Runs all nodes of a graph without cycles. `run` makes the future of a node once it may run; the turn that it is given
/// is one of `turns`.
pub async fn walk<N>(graph: &Dag<N>, turns: &Arc<Semaphore>, mut run: impl FnMut(NodeId, Turn) -> NodeFuture) {
    let progress = Arc::new(Progress::of(graph));
    loop {
        while let Some(node) = progress.next() {
            let turn = Turn::take(turns).await;
            let future = run(node, turn);
            let ending = Ending { progress: progress.clone(), node, end: End::Failed };
            tokio::spawn(async move {
                // The whole guard moves in, so that its drop comes with the task's end.
                let mut ending = ending;
                ending.end = future.await;
            });
        }
        if progress.remaining.load(Ordering::Acquire) == 0 {
            return;
        }
        progress.changed.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_failure_blocks_only_what_depends_on_it() {
        let mut graph = Dag::default();
        let ids: Vec<NodeId> = (0..5).map(|i| graph.add(i)).collect();
        graph.connect(ids[1], ids[0]);
        graph.connect(ids[2], ids[1]);
        graph.connect(ids[4], ids[3]);
        let ran = Arc::new(Mutex::new(Vec::new()));
        walk(&graph, &Arc::new(Semaphore::new(1)), |node, turn| {
            let ran = ran.clone();
            Box::pin(async move {
                let _turn = turn;
                ran.lock().unwrap().push(node);
                if node == 0 { End::Failed } else { End::Done }
            })
        })
        .await;
        let mut ran = ran.lock().unwrap().clone();
        ran.sort();
        assert_eq!(ran, [0, 3, 4]);
    }
}
