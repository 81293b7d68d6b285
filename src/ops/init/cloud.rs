//! The part of `init` that only `cloud` blocks have: which changes are none of a backend, and what is asked for.

use backend::hcp::Hcp;
use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;

use super::interface::{InitEvent, InitRequest};
use crate::backends::open::CLOUD;
use crate::interface::ask::Question;

/// How a change of settings concerns `cloud` blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Into,
    OutOf,
    /// There was a block, or nothing at all, and there is a block.
    Within,
    /// No block is concerned.
    None,
}

impl Change {
    /// `old` and `new` are kinds of backends; `local_states`: there are states in files, without any backend.
    pub fn of(old: Option<&str>, new: Option<&str>, local_states: bool) -> Change {
        match (old == Some(CLOUD), new == Some(CLOUD)) {
            (true, true) => Change::Within,
            (false, true) if old.is_none() && !local_states => Change::Within,
            (false, true) => Change::Into,
            (true, false) => Change::OutOf,
            (false, false) => Change::None,
        }
    }

    /// Options that are for backends only.
    pub fn check_options(self, request: &InitRequest) -> Result<(), Diagnostics> {
        let migrates = matches!(self, Change::Into | Change::OutOf);
        let mut found = Diagnostics::new();
        if self == Change::None {
            return Ok(());
        }
        if request.reconfigure {
            found.error(
                INVALID_OPTION,
                match migrates {
                    true => {
                        "The -reconfigure option is unsupported when migrating to HCP Terraform, because activating HCP Terraform \
                         involves some additional steps."
                    }
                    false => {
                        "The -reconfigure option is for in-place reconfiguration of state backends only, and is not needed when \
                         changing HCP Terraform settings.\n\nWhen using HCP Terraform, initialization automatically activates any \
                         new Cloud configuration settings."
                    }
                },
            );
        }
        if request.migrate_state {
            let name = if request.force_copy { "-force-copy" } else { "-migrate-state" };
            let why = match migrates {
                true => "HCP Terraform migrations have additional steps, configured by interactive prompts.",
                false => {
                    "State storage is handled automatically by HCP Terraform and so the state storage location is not configurable."
                }
            };
            found.error(
                INVALID_OPTION,
                format!(
                    "The {name} option is for migration between state backends only, and is not applicable when using HCP \
                     Terraform.\n\n{why}"
                ),
            );
        }
        if found.has_errors() { Err(found) } else { Ok(()) }
    }

    /// What people hear of the change from one kind to another; none: what they hear of other backends.
    pub fn event(self, old: &str, new: &str) -> Option<InitEvent> {
        match self {
            Change::Within => Some(InitEvent::CloudChanged),
            Change::Into => Some(InitEvent::ToCloud(old.to_owned())),
            Change::OutOf => Some(InitEvent::FromCloud(Some(new.to_owned()))),
            Change::None => None,
        }
    }
}

const INVALID_OPTION: &str = "Invalid command-line option";

/// Settings of the command line are for `backend` blocks.
pub fn no_backend_config() -> Diagnostic {
    Diagnostic::error(
        INVALID_OPTION,
        "The -backend-config=... command line option is only for state backends, and is not applicable to HCP Terraform-based \
         configurations.\n\nTo change the set of workspaces associated with this configuration, edit the Cloud configuration block \
         in the root module.",
    )
}

/// The question for the first workspace of a configuration.
pub fn first_workspace(hcp: &Hcp) -> Question {
    Question {
        title: "No workspaces found.".to_owned(),
        text: format!(
            "\nThere are no workspaces with the configured tags ({})\nin your HCP Terraform organization. To finish initializing, \
             {PROGRAM} needs at\nleast one workspace available.\n\n{PROGRAM} can create a properly tagged workspace for you now. \
             Please enter a\nname to create a new HCP Terraform workspace.\n",
            hcp.mapping.shown_tags()
        ),
        apart: true,
        ..Question::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_concern_cloud_blocks() {
        let cases = [
            (None, Some("cloud"), false, Change::Within),
            (None, Some("cloud"), true, Change::Into),
            (Some("cloud"), Some("cloud"), false, Change::Within),
            (Some("s3"), Some("cloud"), false, Change::Into),
            (Some("cloud"), None, false, Change::OutOf),
            (Some("cloud"), Some("s3"), false, Change::OutOf),
            (Some("s3"), None, true, Change::None),
        ];
        for (old, new, local, expected) in cases {
            assert_eq!(Change::of(old, new, local), expected, "{old:?} {new:?}");
        }
    }
}
