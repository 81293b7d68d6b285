//! The errors where `init` must run first, because the configuration asks for another place of the states than is recorded.

use base::diag::{Diagnostic, Diagnostics};
use base::name::{COMMAND, PROGRAM};
use base::source::Range;
use model::version::at_least;

/// The error for a backend that `init` has not recorded, or has recorded otherwise. `joint` is between the parts of the summary.
pub(super) fn backend(joint: &str, reason: &str) -> Diagnostics {
    let joint = if at_least(15) { ", " } else { joint };
    Diagnostic::error(
        format!("Backend initialization required{joint}please run \"{COMMAND} init\""),
        format!(
            "Reason: {reason}\n\nThe \"backend\" is the interface that {PROGRAM} uses to store state,\nperform operations, etc. If \
             this message is showing up, it means that the\n{PROGRAM} configuration you're using is using a custom configuration \
             for\nthe {PROGRAM} backend.\n\nChanges to backend configurations require reinitialization. This allows\n{PROGRAM} to set \
             up the new configuration, copy existing state, etc. Please run\n\"{COMMAND} init\" with either the \"-reconfigure\" or \
             \"-migrate-state\" flags to\nuse the current configuration.\n\nIf the change reason above is incorrect, please verify \
             your configuration\nhasn't changed and try again. At this point, no changes to your existing\nconfiguration or state \
             have been made.",
        ),
    )
    .into()
}

/// The error for a state store in the configuration where a backend is recorded.
pub(super) fn to_state_store(reason: &str) -> Diagnostics {
    Diagnostic::error(
        format!(
            "Backend initialization required, please run \"{COMMAND} state migrate\" or \"{COMMAND} init -reconfigure\""
        ),
        format!(
            "Reason: {reason}\n\nThe \"backend\" is the interface that {PROGRAM} uses to store state,\nperform operations, etc. If \
             this message is showing up, it means that the\n{PROGRAM} configuration you're using is using a custom configuration \
             for\nthe {PROGRAM} backend.\n\nChanges to backend configurations require reinitialization. This allows\n{PROGRAM} to set \
             up the new configuration, copy existing state, etc. Please run\n\"{COMMAND} state migrate\" to migrate existing state \
             to the new state store,\nor run \"{COMMAND} init -reconfigure\" to use the current configuration \
             without\nmigrating existing state.\n\nIf the change reason above is incorrect, please verify your \
             configuration\nhasn't changed and try again. At this point, no changes to your existing\nconfiguration or state \
             have been made.",
        ),
    )
    .into()
}

/// The same for a `cloud` block.
pub(super) fn cloud(reason: &str) -> Diagnostics {
    Diagnostic::error(
        format!("HCP Terraform or Terraform Enterprise initialization required: please run \"{COMMAND} init\""),
        format!(
            "Reason: {reason}.\n\nChanges to the HCP Terraform configuration block require reinitialization, to discover any changes \
             to the available workspaces.\n\nTo re-initialize, run:\n  {COMMAND} init\n\n{PROGRAM} has not yet made changes to your \
             existing configuration or state."
        ),
    )
    .into()
}

/// The error for a state store that `init` has not recorded, or has recorded otherwise. `migrate`: there may be states to move.
pub(super) fn state_store(reason: &str, migrate: bool, place: Option<&Range>) -> Diagnostics {
    let how = match migrate {
        true => format!("\"{COMMAND} state migrate\" or \"{COMMAND} init -reconfigure\""),
        false => format!("\"{COMMAND} init\""),
    };
    let detail = format!(
        "Reason: {reason}\n\nA \"state store\" is an interface that {PROGRAM} uses to store state.\nChanges to state store \
         configurations require reinitialization, and a\ndecision whether to migrate any existing state or not.\n\nIf you want to \
         migrate existing state using the current configuration,\nplease run \"{COMMAND} state migrate\".\n\nIf you don't want to \
         migrate existing state and just reconfigure how state is\nstored using the current configuration, please run \
         \"{COMMAND} init -reconfigure\".\n\nIf the change reason above is incorrect, please verify your configuration\nhasn't \
         changed and try again. At this point, no changes to your existing\nconfiguration or state have been made."
    );
    let problem = Diagnostic::error(format!("State store initialization required, please run {how}"), detail);
    problem.at_opt(place.cloned()).into()
}
