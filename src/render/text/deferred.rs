//! The deferred changes of a plan: which objects, and why.
//!
//! The reference has these texts, but its plan and apply never show them. They are shown, so that a plan without changes is not taken
//! for a complete one, unless the user wants no colours: then the text is that of the reference.

use model::plan::{DeferredReason, Plan};

use super::style::Style;
use crate::reasons;

/// The list, from the blank line before its note; empty without deferred changes, and where it is not shown.
pub fn list(plan: &Plan, style: &Style) -> String {
    if !is_shown(plan, style) {
        return String::new();
    }
    let note = "This is a partial plan, parts can only be known in the next plan / apply cycle.";
    let mut out = style.fill("\n[bold][cyan]Note:[reset][bold] {}[reset]\n", &[&note]);
    for deferred in &plan.deferred {
        let change = "\n[bold]  # {}[reset] was deferred\n  #[reset] ({})\n";
        out.push_str(&style.fill(change, &[&deferred.change.addr, &explanation(deferred.reason)]));
    }
    out
}

/// The heading of a plan whose changes are all deferred; none if there are other changes to speak of.
pub fn nothing_yet(plan: &Plan, style: &Style) -> Option<String> {
    let heading = "\n[reset][bold][green]No current changes.[reset][bold] This plan requires another plan to be applied \
                   first.[reset]\n";
    is_shown(plan, style).then(|| style.fill(heading, &[]))
}

fn is_shown(plan: &Plan, style: &Style) -> bool {
    !style.bare && !plan.deferred.is_empty()
}

fn explanation(reason: DeferredReason) -> String {
    match reason {
        DeferredReason::Unknown => "for an unknown reason".to_owned(),
        reason => format!("because {}", reasons::deferred(reason)),
    }
}
