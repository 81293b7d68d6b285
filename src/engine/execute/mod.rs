//! Walking the graph of a run to its end.
//!
//! Owns the invariant that a walk that did not finish every node returns an error, so that an
//! incomplete plan never looks like a complete one, whether after a stop, a panic or a failure.

mod visits;

use std::convert::Infallible;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use model::plan::Refresh;
use terrane_protocol::schema::ResourceMode;

use super::engine_errors;
use super::graph::Node;
use super::graph::walk::{End, WalkEnd, walk};
use super::run::{Run, Verb};
use super::step::{ephemeral, resource};
use crate::event::{Event, Phase};
use crate::graph::cycles;
use crate::ids::NodeId;
use crate::ports::Ports;

/// How many unfinished nodes an error lists.
const LISTED: usize = 10;

/// Walks the graph; returns all diagnostics of the run.
pub async fn execute(run: Arc<Run>) -> (Arc<Run>, Diagnostics) {
    let ended = |node, end| {
        if end == End::Failed {
            release_waiters(&run, node);
        }
    };
    visits::log_graph(&run);
    if let Some(phase) = phase(&run) {
        run.ports.observer.event(Event::Phase(phase));
    }
    let walking = walk(
        &run.schedule.graph,
        &run.schedule.turns,
        |node, turn| Box::pin(visits::logged(run.clone(), node, turn)),
        ended,
    );
    let end = tokio::select! {
        end = walking => end,
        never = forward_stop(&run.ports) => match never {},
    };
    for (node, panic) in &end.panicked {
        run.report(*node, engine_errors::panicked(&name(&run, *node), &panic.text).into());
    }
    let left_open = ephemeral::close_rest(&run).await;
    run.report(NodeId::AFTER_ALL, left_open);
    // Each step that an interrupt cut short reports it; once is enough.
    let mut diagnostics: Diagnostics =
        run.take_diagnostics().into_iter().filter(|d| !engine_errors::is_halted(d)).collect();
    diagnostics.extend(incomplete(&run, &end, diagnostics.has_errors()));
    (run, diagnostics)
}

/// The part of the command that the walk is; none where values are only evaluated.
fn phase(run: &Run) -> Option<Phase> {
    Some(match run.verb {
        Verb::Validate => Phase::Validate,
        Verb::Plan { .. } if run.inputs.query.is_some() => Phase::Query,
        Verb::Plan { .. } => Phase::Plan { objects: refreshed_objects(run) },
        // What exists was refreshed before.
        Verb::PlanDestroy => Phase::Plan { objects: None },
        Verb::Apply { .. } | Verb::ApplyDestroy => Phase::Apply,
        Verb::Import => Phase::Import,
        Verb::Evaluate => return None,
    })
}

/// How many stored objects the walk refreshes, if it is all of them.
fn refreshed_objects(run: &Run) -> Option<usize> {
    let scope = &run.inputs.scope;
    if scope.refresh != Refresh::All || !scope.is_whole() {
        return None;
    }
    let managed = run.prior.state.resources.iter().filter(|(addr, _)| addr.resource.mode == ResourceMode::Managed);
    let instances = managed.flat_map(|(_, resource)| resource.instances.values());
    Some(instances.map(|instance| usize::from(instance.current.is_some()) + instance.deposed.len()).sum())
}

/// Asks the plugins to stop as soon as the run is asked to.
async fn forward_stop(ports: &Ports) -> Infallible {
    ports.stop.stopping().await;
    ports.providers.stop().await;
    std::future::pending().await
}

/// Steps that wait for the value of an instance must not wait for one that never comes.
fn release_waiters(run: &Run, node: NodeId) {
    if let Node::Instance(task) = *run.schedule.graph.node(node) {
        resource::apply::publish_no_value(run, task);
    }
}

/// The error about a walk that was cut short, unless other errors explain it.
fn incomplete(run: &Run, end: &WalkEnd, has_errors: bool) -> Option<Diagnostic> {
    if run.ports.stop.is_stopping() {
        return Some(engine_errors::halted());
    }
    if has_errors || end.unfinished.is_empty() {
        return None;
    }
    let names = end.unfinished.iter().take(LISTED).map(|node| name(run, *node));
    Some(engine_errors::unfinished(&names.collect::<Vec<_>>(), end.unfinished.len().saturating_sub(LISTED)))
}

/// The name of a node in messages.
pub fn name(run: &Run, node: NodeId) -> String {
    let names = cycles::NodeNames {
        tree: &run.blocks.tree,
        providers: &run.blocks.providers.configs,
        orphans: &run.schedule.orphans,
        tasks: &run.schedule.tasks,
        requests: &run.schedule.requests,
    };
    names.of(*run.schedule.graph.node(node)).unwrap_or_else(|| "a barrier of the graph".to_string())
}
