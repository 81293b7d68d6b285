//! The walk in the log: the vertices, their dependencies, and when each is visited.

use std::sync::Arc;

use base::log;
use base::log::Level;

use crate::execute::name;
use crate::graph::walk::{End, Turn};
use crate::ids::NodeId;
use crate::run::Run;
use crate::step::run_node;

/// The run's graph, with the vertices that each vertex waits for.
pub fn log_graph(run: &Run) {
    base::log!(Debug, "starting graph walk: {:?}, {} vertices", run.verb, run.schedule.graph.len());
    if !log::enabled(Level::Trace) {
        return;
    }
    for node in run.schedule.graph.ids() {
        let waits: Vec<String> = run.schedule.graph.dependencies(node).iter().map(|id| name(run, *id)).collect();
        base::log!(Trace, "vertex {:?}: waits for {waits:?}", name(run, node));
    }
}

/// Runs a node, and logs when it starts and how it ends.
pub async fn logged(run: Arc<Run>, node: NodeId, turn: Turn) -> End {
    if !log::enabled(Level::Trace) {
        return run_node(run, node, turn).await;
    }
    let name = name(&run, node);
    base::log!(Trace, "vertex {name:?}: starting visit");
    let end = run_node(run, node, turn).await;
    base::log!(Trace, "vertex {name:?}: visit ended: {end:?}");
    end
}
