//! The approval of a plan.

use backend::DEFAULT_WORKSPACE;
use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use model::plan::{Mode, Plan};

use crate::interface::ask::{NoAnswer, Question};
use crate::interface::listen::Listener;
use crate::interface::planning::Planned;
use crate::interface::requests::ApplyRequest;
use crate::setup::Setup;

/// Shows the plan and asks for approval, if there are changes and approval is required.
pub(super) async fn approve(
    setup: &Setup,
    request: &ApplyRequest,
    planned: &Planned,
    listener: &dyn Listener,
    diagnostics: &mut Diagnostics,
) -> Result<bool, Diagnostic> {
    listener.planned(planned);
    let Some(approver) = request.approver.as_ref().filter(|_| planned.plan.applyable) else { return Ok(true) };
    // Shown now, so that they can be considered.
    listener.diagnostics(std::mem::take(diagnostics));
    match approver.ask_to_approve(&question(&planned.plan, &setup.workdir.workspace), planned).await {
        Ok(answer) => Ok(answer == "yes"),
        Err(NoAnswer::Interrupted) => {
            Err(Diagnostic::error("error asking for approval: interrupted", "").with_tip("Nothing was changed."))
        }
        Err(NoAnswer::Failed(why)) => Err(Diagnostic::error(format!("error asking for approval: {why}"), "")
            .with_tip("There is no terminal to answer on. To apply without being asked, use -auto-approve.")),
    }
}

fn question(plan: &Plan, workspace: &str) -> Question {
    let in_workspace =
        if workspace == DEFAULT_WORKSPACE { String::new() } else { format!(" in workspace {workspace:?}") };
    let (title, text) = match plan.scope.mode {
        Mode::RefreshOnly if !plan.scope.requested_actions.is_empty() => (
            "Would you like to invoke the specified actions?".to_owned(),
            format!(
                "{PROGRAM} will invoke the actions described above, and any changes will be written to the state without modifying \
                 real infrastructure\nThere is no undo. Only 'yes' will be accepted to confirm."
            ),
        ),
        Mode::Destroy => (
            format!("Do you really want to destroy all resources{in_workspace}?"),
            format!(
                "{PROGRAM} will destroy all your managed infrastructure, as shown above.\n\
             There is no undo. Only 'yes' will be accepted to confirm."
            ),
        ),
        Mode::RefreshOnly => (
            match workspace {
                DEFAULT_WORKSPACE => {
                    format!("Would you like to update the {PROGRAM} state to reflect these detected changes?")
                }
                name => format!(
                    "Would you like to update the {PROGRAM} state for {name:?} to reflect these detected changes?"
                ),
            },
            format!(
                "{PROGRAM} will write these changes to the state without modifying any real infrastructure.\n\
             There is no undo. Only 'yes' will be accepted to confirm."
            ),
        ),
        Mode::Normal => (
            format!("Do you want to perform these actions{in_workspace}?"),
            format!("{PROGRAM} will perform the actions described above.\nOnly 'yes' will be accepted to approve."),
        ),
    };
    Question { title, text, apart: true, ..Question::default() }
}
