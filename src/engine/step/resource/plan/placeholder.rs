//! Planning the placeholder that stands for the instances of a block while they are not known.

use base::diag::Diagnostics;
use model::plan::{Action, ActionReason, DeferredReason};
use terrane_protocol::schema::ResourceMode;
use terrane_value::{Marks, Value};

use super::change;
use crate::run::Verb;
use crate::step::resource::Instance;
use crate::step::resource::read::data;
use crate::step::resource::record::new_change;

/// Plans the placeholder of a resource whose instances are not known, to find errors early. Returns what references see.
pub async fn plan(instance: &Instance<'_>) -> (Option<Value>, Diagnostics) {
    let run = instance.run;
    if run.plans_nothing() || !matches!(run.verb, Verb::Plan { pre_destroy: false, .. }) {
        run.results.changes().has_deferrals = true;
        return (None, Diagnostics::new());
    }
    let mut diagnostics = Diagnostics::new();
    let config = diagnostics.take(instance.evaluate());
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let mut change = new_change(instance, Action::Create, instance.null(), instance.null());
    match instance.addr.mode() {
        ResourceMode::Managed => {
            let planned = diagnostics.take(change::placeholder(instance, &config).await);
            let Some(planned) = planned else { return (None, diagnostics) };
            change.change.after = planned;
        }
        _ => {
            change.action = Action::Read;
            change.reason = ActionReason::ReadBecauseConfigUnknown;
            change.change.after = data::planned_object(instance, &without_ephemeral(&config));
        }
    }
    let value = change.change.after.clone();
    run.results.changes().defer(change, DeferredReason::InstanceCountUnknown);
    (Some(value), diagnostics)
}

fn without_ephemeral(config: &Value) -> Value {
    let (bare, marks) = config.unmark_deep_with_paths();
    let kept: Vec<_> = marks.into_iter().filter(|(_, marks)| !marks.contains(Marks::EPHEMERAL)).collect();
    bare.mark_at_paths(&kept)
}
