//! The walk in the log: the vertices, their dependencies, and when each is visited.

use std::sync::Arc;

use crate::base::log;
use crate::base::log::Level;
use crate::engine::execute::name;
use crate::engine::graph::NodeId;
use crate::engine::graph::walk::{End, Turn};
use crate::engine::run::Run;
use crate::engine::step::run_node;

/// The run's graph, with the vertices that each vertex waits for.
pub fn log_graph(run: &Run) {
    crate::log!(Debug, "starting graph walk: {:?}, {} vertices", run.verb, run.schedule.graph.len());
    if !log::enabled(Level::Trace) {
        return;
    }
    for node in 0..run.schedule.graph.len() as NodeId {
        let waits: Vec<String> = run.schedule.graph.dependencies(node).iter().map(|id| name(run, *id)).collect();
        crate::log!(Trace, "vertex {:?}: waits for {waits:?}", name(run, node));
    }
}

/// Runs a node, and logs when it starts and how it ends.
pub async fn logged(run: Arc<Run>, node: NodeId, turn: Turn) -> End {
    if !log::enabled(Level::Trace) {
        return run_node(run, node, turn).await;
    }
    let name = name(&run, node);
    crate::log!(Trace, "vertex {name:?}: starting visit");
    let end = run_node(run, node, turn).await;
    crate::log!(Trace, "vertex {name:?}: visit ended: {end:?}");
    end
}
