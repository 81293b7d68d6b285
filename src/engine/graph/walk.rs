//! The walk: runs every node when its dependencies are done, with limited parallelism. If a node fails, the nodes that
//! depend on it do not run.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, JoinSet};

use super::Dag;
use crate::ids::NodeId;

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

/// What a walk leaves behind.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WalkEnd {
    /// Nodes that did not end with [`End::Done`], sorted: they failed, panicked, or never ran.
    pub unfinished: Vec<NodeId>,
    /// Nodes whose step panicked.
    pub panicked: Vec<(NodeId, Panic)>,
}

struct Progress {
    dependents: Vec<Vec<NodeId>>,
    waiting: Vec<u32>,
    blocked: Vec<bool>,
    done: Vec<bool>,
    ready: VecDeque<NodeId>,
}

impl Progress {
    fn of<N>(graph: &Dag<N>) -> Progress {
        let nodes = || graph.ids();
        Progress {
            dependents: graph.dependents(),
            waiting: nodes().map(|n| graph.dependencies(n).len() as u32).collect(),
            blocked: vec![false; graph.len()],
            done: vec![false; graph.len()],
            ready: nodes().filter(|n| graph.dependencies(*n).is_empty()).collect(),
        }
    }

    /// Records the end of a node and of those that it keeps from running.
    fn end(&mut self, node: NodeId, end: End, ended: &mut impl FnMut(NodeId, End)) {
        let mut open = vec![(node, end)];
        while let Some((node, end)) = open.pop() {
            self.done[node.index()] = end == End::Done;
            ended(node, end);
            for dependent in &self.dependents[node.index()] {
                let i = dependent.index();
                self.blocked[i] |= end == End::Failed;
                self.waiting[i] -= 1;
                match (self.waiting[i], self.blocked[i]) {
                    (0, true) => open.push((*dependent, End::Failed)),
                    (0, false) => self.ready.push_back(*dependent),
                    _ => {}
                }
            }
        }
    }

    fn unfinished(&self) -> Vec<NodeId> {
        (0..self.done.len()).filter(|n| !self.done[*n]).map(NodeId::new).collect()
    }
}

/// Runs all nodes. `run` makes the future of a node once it may run; the turn that it is given is one of `turns`.
/// `ended` is called for each node, also for those that never ran because of a failed one. Nodes on cycles never run and
/// never end. Dropping the walk aborts the steps that still run.
pub async fn walk<N>(
    graph: &Dag<N>,
    turns: &Arc<Semaphore>,
    mut run: impl FnMut(NodeId, Turn) -> NodeFuture,
    mut ended: impl FnMut(NodeId, End),
) -> WalkEnd {
    let mut progress = Progress::of(graph);
    let mut running = JoinSet::new();
    let mut panicked = Vec::new();
    let mut note_end = |progress: &mut Progress, joined: Result<(NodeId, Result<End, Panic>), JoinError>| {
        // Otherwise the runtime ends: the node stays unfinished.
        let Ok((node, result)) = joined else { return };
        let end = result.unwrap_or_else(|panic| {
            panicked.push((node, panic));
            End::Failed
        });
        progress.end(node, end, &mut ended);
    };
    loop {
        while let Some(node) = progress.ready.pop_front() {
            let step = run(node, Turn::take(turns).await);
            running.spawn(async move { (node, catch_panic(step).await) });
            // Steps that ended are not kept until the last one was started.
            while let Some(joined) = running.try_join_next() {
                note_end(&mut progress, joined);
            }
        }
        match running.join_next().await {
            None => break,
            Some(joined) => note_end(&mut progress, joined),
        }
    }
    WalkEnd { unfinished: progress.unfinished(), panicked }
}

/// A step that panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// What the panic says.
    pub text: String,
}

/// The result of a future, or its panic.
pub async fn catch_panic<T>(work: impl Future<Output = T>) -> Result<T, Panic> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Panic { text: text.unwrap_or_else(|| "no message".to_string()) }
    })
}

#[cfg(test)]
mod tests;
