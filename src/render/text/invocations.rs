//! The actions of a plan for people: those that a change invokes, and those that were asked for.

use std::fmt::Write;
use std::sync::Arc;

use model::addr::AbsResourceInstance;
use model::plan::{ActionInvocation, Plan, ResourceChange};
use rustc_hash::FxHashMap;
use terrane_value::Value;

use super::diff::{self, Drawing};
use super::style::Style;
use crate::plan_filter::PlanFilter;
use crate::schemas::{ActionLookup, with_schema_marks};

/// The actions of a plan that changes of objects invoke, by the instances.
pub type ByResource<'p> = FxHashMap<&'p AbsResourceInstance, Vec<&'p Arc<ActionInvocation>>>;

pub fn by_resource(plan: &Plan) -> ByResource<'_> {
    let mut found = ByResource::default();
    for invocation in &plan.invocations {
        if let Some(trigger) = invocation.lifecycle() {
            found.entry(&trigger.resource).or_default().push(invocation);
        }
    }
    found
}

/// What follows the lines of a change: its actions, each kind in its order; empty if there are none.
pub fn of_change(
    invocations: &ByResource<'_>,
    change: &ResourceChange,
    actions: &ActionLookup<'_>,
    style: &Style,
) -> String {
    let mut out = String::new();
    let Some(invoked) = invocations.get(&change.addr).filter(|_| change.deposed.is_none()) else { return out };
    for (is_before, when) in [(true, "before"), (false, "after")] {
        let is_due = |invocation: &&&Arc<ActionInvocation>| {
            invocation.lifecycle().is_some_and(|trigger| trigger.event.is_before() == is_before)
        };
        let mut due: Vec<&Arc<ActionInvocation>> = invoked.iter().filter(is_due).copied().collect();
        if due.is_empty() {
            continue;
        }
        due.sort_by_key(|invocation| invocation.order());
        let heading = "\n\n    [bold]# Actions to be invoked {} this change in order:[reset]\n";
        out.push_str(&style.fill(heading, &[&when]));
        due.iter().for_each(|invocation| write_invocation(&mut out, invocation, actions, style));
    }
    out
}

/// The actions that were asked for, behind the summary; empty if there are none.
pub fn requested(plan: &Plan, filter: &PlanFilter, actions: &ActionLookup<'_>, style: &Style) -> String {
    let is_shown = |invocation: &&Arc<ActionInvocation>| invocation.is_request() && filter.shows_request(invocation);
    let invocations = plan.invocations.iter().filter(is_shown);
    let blocks: Vec<String> = invocations
        .map(|invocation| {
            let mut block = style.fill("  [bold]# {}[reset] will be invoked", &[&invocation.addr]);
            if let Some(caller) = invocation.caller() {
                let _ = write!(block, " (called from {caller})");
            }
            block.push('\n');
            write_invocation(&mut block, invocation, actions, style);
            block
        })
        .collect();
    match blocks.is_empty() {
        true => String::new(),
        false => {
            let program = base::name::PROGRAM;
            format!("\n{program} will invoke the following action(s):\n\n{}\n", blocks.join("\n"))
        }
    }
}

/// How many of the actions that were asked for a filter hides.
pub fn hidden_requests(plan: &Plan, filter: &PlanFilter) -> usize {
    let requests = plan.invocations.iter().filter(|invocation| invocation.is_request());
    requests.filter(|invocation| !filter.shows_request(invocation)).count()
}

/// How many actions a plan invokes, behind the other counts.
pub fn count(plan: &Plan) -> String {
    match plan.invocations.len() {
        0 => String::new(),
        count => format!(" Actions: {count} to invoke."),
    }
}

fn write_invocation(out: &mut String, invocation: &ActionInvocation, actions: &ActionLookup<'_>, style: &Style) {
    let action = &invocation.addr.action.action;
    let _ = writeln!(out, "    # {}\n    action {:?} {:?} {{", invocation.addr, &*action.kind, &*action.name);
    if let Some(schema) = actions(&invocation.provider.provider, &action.kind) {
        let after = with_schema_marks(&invocation.config, &schema.block);
        let diff = diff::block_diff(&schema.block, &known(&after), &after, &[], None, style.dialect);
        let drawing = Drawing { show_unchanged: true, hide_symbols: true, ..Drawing::new(style) };
        let _ = writeln!(out, "        config {}", diff::draw_with(&diff, 2, &drawing));
    }
    out.push_str("    }\n");
}

/// The value with null in place of what is unknown.
fn known(value: &Value) -> Value {
    let known = value.transform::<()>(&mut |_, part| {
        Ok(if part.is_known() { part } else { Value::null(part.ty().clone()).mark(part.marks()) })
    });
    // The transformation cannot fail.
    known.unwrap_or_else(|()| value.clone())
}
