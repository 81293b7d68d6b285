//! The walk in the log: the vertices, their dependencies, and when each is visited.

use std::sync::Arc;

use tracing::Level;

use crate::execute::name;
use crate::graph::walk::{End, Turn};
use crate::ids::NodeId;
use crate::run::Run;
use crate::step::run_node;

/// The run's graph, with the vertices that each vertex waits for.
pub fn log_graph(run: &Run) {
    tracing::debug!("starting graph walk: {:?}, {} vertices", run.verb, run.schedule.graph.len());
    if !tracing::enabled!(Level::TRACE) {
        return;
    }
    for node in run.schedule.graph.ids() {
        let waits: Vec<String> = run.schedule.graph.dependencies(node).iter().map(|id| name(run, *id)).collect();
        tracing::trace!("vertex {:?}: waits for {waits:?}", name(run, node));
    }
}

/// Runs a node, and logs when it starts and how it ends.
pub async fn logged(run: Arc<Run>, node: NodeId, turn: Turn) -> End {
    if !tracing::enabled!(Level::TRACE) {
        return run_node(run, node, turn).await;
    }
    let name = name(&run, node);
    tracing::trace!("vertex {name:?}: starting visit");
    let end = run_node(run, node, turn).await;
    tracing::trace!("vertex {name:?}: visit ended: {end:?}");
    end
}
