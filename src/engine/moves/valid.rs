//! Checks that `moved` blocks agree with each other and with the instances that a walk found.
//!
//! This needs a walk, because only then are the instances known.

use std::collections::BTreeMap;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::Expression;
use model::addr::{ModuleInstance, ModuleStep, Resource};
use model::config::MoveEndpoint;

use super::order::in_order;
use super::statements::{MoveStatement, declared, end_key, start};
use crate::blocks::Blocks;
use crate::ids::ResourceId;
use crate::run::Run;
use crate::run::results::{Expansion, ModuleSlots};

/// Returns the errors of all statements. A cycle is reported only where nothing else is wrong.
pub(crate) fn validate(run: &Run) -> Diagnostics {
    let statements = declared(&run.blocks.config);
    let mut check =
        MoveCheck { run, by_from: BTreeMap::new(), by_to: BTreeMap::new(), diagnostics: Diagnostics::new() };
    for statement in &statements {
        let Some(module) = run.blocks.tree.find(&statement.module) else { continue };
        for instance in run.results.module_instances(module) {
            check.statement(statement, instance);
        }
    }
    let mut diagnostics = check.diagnostics;
    if !diagnostics.has_errors()
        && let Err(cycle) = in_order(statements)
    {
        diagnostics.push(cycle);
    }
    diagnostics
}

struct MoveCheck<'a> {
    run: &'a Run,
    /// By kind and address of the source: where it was declared to move, and the destination.
    by_from: BTreeMap<(&'static str, String), (Range, String)>,
    /// By kind and address of the destination: where it was declared, and the source.
    by_to: BTreeMap<(&'static str, String), (Range, String)>,
    diagnostics: Diagnostics,
}

impl MoveCheck<'_> {
    fn error(&mut self, statement: &MoveStatement, summary: &'static str, detail: String) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(statement.range.clone()));
    }

    /// Checks a statement in one instance of the module that declares it.
    fn statement(&mut self, statement: &MoveStatement, module: &ModuleSlots) {
        let (from, to) = (text(&module.addr, &statement.from), text(&module.addr, &statement.to));
        if from == to {
            let detail = format!(
                "This statement declares a move from {from} to the same address, which is the same as not declaring this \
                 move at all."
            );
            return self.error(statement, "Redundant move statement", detail);
        }
        let (noun, short) = nouns(statement);
        if let Some(block) = still_declared(self.run, statement, module) {
            let place = block.map_or_else(String::new, |range| format!(" at {}", start(&range)));
            let detail = format!(
                "This statement declares a move from {from}, but that {noun} is still declared{place}.\n\nChange your \
                 configuration so that this {short} will be declared as {to} instead."
            );
            self.error(statement, "Moved object still exists", detail);
        }
        // A whole resource or call and its instance without a key are written alike.
        let other = self.by_from.entry((noun, from.clone())).or_insert_with(|| (statement.range.clone(), to.clone()));
        if other.1 != to {
            let detail = format!(
                "A statement at {} declared that {from} moved to {}, but this statement instead declares that it moved to \
                 {to}.\n\nEach {noun} can move to only one destination {short}.",
                start(&other.0),
                other.1
            );
            self.error(statement, AMBIGUOUS, detail);
        }
        let other = self.by_to.entry((noun, to.clone())).or_insert_with(|| (statement.range.clone(), from.clone()));
        if other.1 != from {
            let detail = format!(
                "A statement at {} declared that {} moved to {to}, but this statement instead declares that {from} moved \
                 there.\n\nEach {noun} can have moved from only one source {short}.",
                start(&other.0),
                other.1
            );
            self.error(statement, AMBIGUOUS, detail);
        }
    }
}

const AMBIGUOUS: &str = "Ambiguous move statements";

fn text(module: &ModuleInstance, end: &MoveEndpoint) -> String {
    if module.is_root() { end.to_string() } else { format!("{module}.{end}") }
}

/// What a statement moves, in full and in short.
fn nouns(statement: &MoveStatement) -> (&'static str, &'static str) {
    match (&statement.from.resource, statement.whole) {
        (Some(_), true) => ("resource", "resource"),
        (Some(_), false) => ("resource instance", "instance"),
        (None, true) => ("module call", "call"),
        (None, false) => ("module instance", "instance"),
    }
}

/// Returns where the source of a move is declared, if it still exists: a whole resource or module by its block, one instance
/// by what gives its key. Observed: a resource without a block that is imported exists too.
fn still_declared(run: &Run, statement: &MoveStatement, module: &ModuleSlots) -> Option<Option<Range>> {
    let steps = &statement.from.module.0;
    let Some((resource, _)) = &statement.from.resource else {
        let (last, before) = steps.split_last()?;
        return within(run, module, before, &mut |slots| called(&run.blocks, statement, slots, last)).map(Some);
    };
    within(run, module, steps, &mut |slots| {
        let declared = declares(&run.blocks, statement, slots, resource).map(Some);
        declared.or_else(|| is_imported(run, statement, slots, resource).then_some(None))
    })
}

/// Calls `f` with the module instance that the steps lead to, if it exists.
fn within<T>(
    run: &Run,
    module: &ModuleSlots,
    steps: &[ModuleStep],
    f: &mut dyn FnMut(&ModuleSlots) -> Option<T>,
) -> Option<T> {
    let Some((step, rest)) = steps.split_first() else { return f(module) };
    let call = run.blocks.tree.module(module.id).calls.get_index_of(&step.name)?;
    let slots = module.calls[call].get()?;
    let next = slots.instances.get(slots.expansion.index_of(&step.key)?)?;
    within(run, next, rest, f)
}

fn declares(blocks: &Blocks, statement: &MoveStatement, module: &ModuleSlots, resource: &Resource) -> Option<Range> {
    let index = blocks.tree.module(module.id).resources.get_index_of(resource)?;
    let slots = module.resources[index].get()?;
    let block = blocks.tree.resource(ResourceId::new(module.id, index));
    present(statement, &slots.expansion, [&block.count, &block.for_each], &block.range)
}

/// Observed: what `-target` leaves out is not imported.
fn is_imported(run: &Run, statement: &MoveStatement, module: &ModuleSlots, resource: &Resource) -> bool {
    let addr = resource.in_module(module.addr.module());
    let (targets, excludes) = (&run.inputs.scope.targets, &run.inputs.scope.excludes);
    let is_kept = targets.is_empty() || targets.iter().any(|target| target.touches(&addr));
    let is_left_out = excludes.iter().any(|target| target.contains_block(&addr));
    is_kept
        && !is_left_out
        && end_key(&statement.from).is_none()
        && run.blocks.imports.stand_for(&addr, &run.blocks.tree)
}

fn called(blocks: &Blocks, statement: &MoveStatement, module: &ModuleSlots, step: &ModuleStep) -> Option<Range> {
    let index = blocks.tree.module(module.id).calls.get_index_of(&step.name)?;
    let slots = module.calls[index].get()?;
    let call = blocks.tree.call(module.id, index as u32);
    present(statement, &slots.expansion, [&call.count, &call.for_each], &call.range)
}

fn present(
    statement: &MoveStatement,
    expansion: &Expansion,
    repetition: [&Option<Expression>; 2],
    block: &Range,
) -> Option<Range> {
    if statement.whole {
        return Some(block.clone());
    }
    expansion.index_of(&end_key(&statement.from))?;
    let given = repetition.into_iter().flatten().next();
    Some(given.map_or_else(|| block.clone(), Expression::range))
}
