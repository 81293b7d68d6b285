//! The steps of nodes: a file per kind; each step is a function from its inputs to its result.
//!
//! When a step runs, its references are done. A step never decides the order, and never writes the slot of another one.

mod action;
mod call;
pub mod check;
pub mod condition;
mod deprecated;
pub mod ephemeral;
pub mod expansion;
pub mod imports;
mod local;
mod output;
mod provider;
pub mod resource;
pub mod variable;

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Kind};
use terrane_protocol::schema::ResourceMode;

use super::graph::Node;
use super::graph::walk::{End, Turn};
use super::run::{Run, Verb};
use crate::ids::NodeId;

/// Runs one node.
pub async fn run_node(run: Arc<Run>, id: NodeId, mut turn: Turn) -> End {
    if !run.schedule.is_active(id) {
        return End::Done;
    }
    if run.ports.stop.is_stopping() {
        return End::Failed;
    }
    if report_references(&run, id) == End::Failed {
        return End::Failed;
    }
    let mut diagnostics = match *run.schedule.graph.node(id) {
        Node::Variable { module, index } => variable::run(&run, module, index),
        Node::Local { module, index } => local::run(&run, module, index),
        Node::Output { module, index } => output::run(&run, module, index).await,
        Node::Call { module, index } => call::run(&run, module, index),
        Node::Close { .. } | Node::Gate => Diagnostics::new(),
        Node::Provider(provider) => provider::run(&run, id, provider).await,
        Node::Check { module, index } => check::run(&run, module, index),
        Node::Action(block) => action::run(&run, block).await,
        Node::Request(request) => action::request::run(&run, request).await,
        Node::CloseEphemeral(block) => ephemeral::close(&run, block).await,
        Node::Resource(block) => match run.verb {
            Verb::Validate => resource::validate::run(&run, block).await,
            _ if run.blocks.tree.resource(block).addr.mode == ResourceMode::Ephemeral => {
                ephemeral::run(&run, block, &mut turn).await
            }
            Verb::Plan { .. } | Verb::Import => return resource::plan::block::run(run, id, block, &mut turn).await,
            Verb::Apply { .. } => resource::expand::run(&run, block),
            Verb::Evaluate | Verb::PlanDestroy | Verb::ApplyDestroy => resource::expand::from_state(&run, block),
        },
        Node::Generate(generated) => return resource::import::generate::run(&run, id, generated).await,
        Node::Orphans(orphans) => return resource::plan::block::run_orphans(run, id, orphans, &mut turn).await,
        Node::Instance(task) => resource::apply::run(&run, task, &mut turn).await,
        Node::Destroy(task) => resource::apply::destroy::run(&run, task).await,
    };
    if let Some(needs) =
        run.schedule.needs.get(id.index()).filter(|needs| !needs.undeclared.is_empty() && is_evaluated(&run, id))
        && !diagnostics.has_errors()
    {
        diagnostics.extend(needs.undeclared.clone());
    }
    let end = if diagnostics.has_errors() { End::Failed } else { End::Done };
    run.report(id, diagnostics);
    end
}

/// Reports what is known of the references of a node's block before it runs. Failed: the node cannot run with them.
fn report_references(run: &Run, id: NodeId) -> End {
    let Some(needs) = run.schedule.needs.get(id.index()) else { return End::Done };
    if is_evaluated(run, id) {
        if needs.problems.has_errors() {
            return fail_by_references(run, id, &needs.problems);
        }
        if run.verb != Verb::Validate && needs.to_itself.has_errors() {
            return fail_by_references(run, id, &needs.to_itself);
        }
    }
    if run.verb == Verb::Validate {
        run.report(id, needs.warnings.clone());
    }
    if matches!(run.verb, Verb::Validate | Verb::Plan { .. } | Verb::Import) {
        run.report(id, needs.deprecated.clone());
    }
    if matches!(run.verb, Verb::Plan { .. } | Verb::Import) {
        run.report(id, needs.while_planning.clone());
    }
    End::Done
}

fn fail_by_references(run: &Run, id: NodeId, errors: &Diagnostics) -> End {
    let needs = &run.schedule.needs[id.index()];
    run.report(id, errors.iter().chain(needs.deprecated.iter()).chain(&needs.undeclared).cloned().collect());
    let is_of_import = errors.iter().any(|error| error.kind == Kind::ImportOfItself);
    if let (Node::Resource(block), Verb::Validate, false) = (*run.schedule.graph.node(id), run.verb, is_of_import) {
        let is_new = |d: &Diagnostic| !errors.iter().any(|m| (&m.summary, &m.detail) == (&d.summary, &d.detail));
        let of_imports = imports::validate(run, block, None);
        run.report(id, of_imports.into_iter().filter(is_new).collect());
    }
    if matches!((run.schedule.graph.node(id), run.verb), (Node::Action(_), Verb::Validate)) {
        // The resources that call it are still validated.
        return End::Done;
    }
    End::Failed
}

/// Whether the node's own expressions matter: where objects are what the state says, those of their blocks do not.
fn is_evaluated(run: &Run, id: NodeId) -> bool {
    if let Node::Action(_) = run.schedule.graph.node(id) {
        return action::is_evaluated(run);
    }
    let Node::Resource(block) = *run.schedule.graph.node(id) else { return true };
    match run.verb {
        Verb::Evaluate => false,
        Verb::Import => run.blocks.tree.resource(block).addr.mode != ResourceMode::Managed,
        _ => true,
    }
}
