//! The apply of a run: confirmation, start, log.

use backend::hcp::{Flavor, Phase, Run};
use base::diag::Diagnostics;
use base::name::PROGRAM;
use model::plan::Mode;

use super::confirm::{Answer, Subject};
use super::plan::ONLY_BY_REPOSITORY;
use super::saved::Bookmark;
use super::{Ended, Operation, error};
use crate::interface::ask::Question;
use crate::interface::requests::OperationKind;

/// How the apply of a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// This command approves the plan.
    Here,
    /// The plan is approved: in advance, or in the web interface.
    Approved,
}

impl Operation<'_> {
    pub(super) async fn run_apply(&self) -> Result<(), Ended> {
        let bookmark = self.options.plan_file.as_deref().and_then(Bookmark::read);
        self.check_apply(bookmark.is_some())?;
        let (run, start) = match &bookmark {
            Some(bookmark) => (self.saved_run(bookmark).await?, Start::Here),
            None => match self.planned_run().await? {
                Some(planned) => planned,
                None => return Ok(()),
            },
        };
        if start == Start::Here {
            let done = self.hcp.act_on_run(&run.id, "apply").await;
            done.map_err(self.failed("Failed to approve the apply command"))?;
        }
        let is_asked = self.options.approver.is_some() && self.options.kind == OperationKind::Apply;
        if self.hcp.flavor == Flavor::Remote && (self.workspace.auto_apply || !is_asked) {
            self.say("", &[]);
        }
        if self.hcp.flavor == Flavor::Cloud {
            let stages = self.hcp.task_stages(&run.id).await.map_err(self.failed("Failed to retrieve run"))?;
            self.follow_stage(&stages, "pre_apply", "Pre-apply Tasks", &run.id).await?;
        }
        let run = self.wait(&run.id, Phase::Apply).await?;
        if let Some(apply) = &run.apply {
            self.show_log(Phase::Apply, apply).await?;
        }
        Ok(())
    }

    fn check_apply(&self, is_saved_cloud_plan: bool) -> Result<(), Ended> {
        if !self.workspace.can_queue_apply {
            return Err(error(
                "Insufficient rights to apply changes",
                "The provided credentials have insufficient rights to apply changes. In order to apply changes at least write \
                 permissions on the workspace are required.",
            ));
        }
        if self.workspace.has_repository {
            return Err(error("Apply not allowed for workspaces with a VCS connection", ONLY_BY_REPOSITORY));
        }
        let mut problems = Diagnostics::new();
        self.check_parallelism(&mut problems);
        self.check_unknown_there(&mut problems);
        match (self.hcp.flavor, self.options.plan_file.is_some()) {
            (Flavor::Cloud, true) if !is_saved_cloud_plan => problems.error(
                "Applying a saved local plan is not supported",
                format!(
                    "{} can apply a saved cloud plan, or create a new plan when configuration is present. It cannot apply a saved \
                     local plan.",
                    self.hcp.app_name
                ),
            ),
            (Flavor::Remote, true) => problems.error(
                "Applying a saved plan is currently not supported",
                "The \"remote\" backend currently requires configuration to be present and does not accept an existing saved plan as \
                 an argument at this time.",
            ),
            _ => {}
        }
        if self.hcp.flavor == Flavor::Remote {
            self.check_variables(&mut problems);
        }
        self.check_configuration(&mut problems);
        if problems.has_errors() { Err(problems.into()) } else { Ok(()) }
    }

    /// The run of a plan that was saved, if it may be applied.
    async fn saved_run(&self, bookmark: &Bookmark) -> Result<Run, Ended> {
        let app = self.hcp.app_name;
        if bookmark.hostname != self.hcp.hostname {
            let detail = format!(
                "The given saved plan refers to a run on {}, but the currently configured {app} instance is {}.",
                bookmark.hostname, self.hcp.hostname
            );
            return Err(error("Saved plan is for a different hostname", detail));
        }
        let run = self.read(&bookmark.run_id).await?;
        let url = self.run_url(&run.id);
        if run.workspace.as_ref() != Some(&self.workspace.id) {
            let detail = format!(
                "The given saved plan does not refer to a run in the current workspace ({}/{}), so it cannot currently be applied. \
                 For more details, view this run in a browser at:\n{url}",
                self.hcp.organization(),
                self.workspace.name
            );
            return Err(error("Saved plan is for a different workspace", detail));
        }
        if !run.is_confirmable {
            let (summary, reason) = unusable(&run.status, app);
            return Err(error(summary, format!("{reason} For more details, view this run in a browser at:\n{url}")));
        }
        let _ = self.started.set(run.id.clone());
        self.say(
            "[reset][yellow]Running apply in {}. Output will stream here. Pressing Ctrl-C\nwill stop streaming the logs, but will not \
             stop the apply running remotely.[reset]\n\nPreparing the remote apply...",
            &[app],
        );
        self.say_run_url(&run.id);
        Ok(run)
    }

    /// A run whose plan is to be applied. None: there is nothing to do.
    async fn planned_run(&self) -> Result<Option<(Run, Start)>, Ended> {
        let run = self.plan().await?;
        if !run.has_changes || run.has_failed() {
            return Ok(None);
        }
        let run = self.read(&run.id).await?;
        let is_approved = self.options.approver.is_none() || self.options.kind == OperationKind::Refresh;
        match self.hcp.flavor {
            Flavor::Cloud if is_approved => {
                // The run was created with its approval.
                self.say("", &[]);
                return Ok(Some((run, Start::Approved)));
            }
            Flavor::Remote if self.workspace.auto_apply => return Ok(Some((run, Start::Approved))),
            Flavor::Cloud | Flavor::Remote => {}
        }
        if !run.is_confirmable {
            return Ok(None);
        }
        if self.hcp.flavor == Flavor::Remote && run.can_apply == Some(false) {
            return Err(self.discard_unapproved(&run).await?);
        }
        if is_approved {
            return Ok(Some((run, Start::Here)));
        }
        if self.setup.ask.is_none() {
            return Err(error(
                "Cannot confirm apply due to -input=false. Please handle run confirmation in the UI.",
                "",
            ));
        }
        let start = match self.confirm(&self.question(), Subject::Approval, &run.id).await? {
            Answer::Here => Start::Here,
            Answer::Elsewhere => Start::Approved,
        };
        Ok(Some((run, start)))
    }

    /// Discards a run that the user may not approve. Returns the error for it.
    async fn discard_unapproved(&self, run: &Run) -> Result<Ended, Ended> {
        if run.is_discardable {
            let done = self.hcp.act_on_run(&run.id, "discard").await;
            done.map_err(self.failed("Failed to discard apply"))?;
        }
        let (host, organization) = (&self.hcp.hostname, self.hcp.organization());
        let detail = format!(
            "There are pending changes, but the provided credentials have insufficient rights to approve them. The run will be \
             discarded to prevent it from blocking the queue waiting for external approval. To queue a run that can be approved by \
             someone else, please use the 'Queue Plan' button in the web UI:\nhttps://{host}/app/{organization}/{}/runs",
            self.workspace.name
        );
        Ok(error("Insufficient rights to approve the pending changes", detail))
    }

    fn question(&self) -> Question {
        let workspace = &self.workspace.name;
        let (title, text) = match self.request.plan.scope.mode {
            Mode::Destroy => (
                format!("Do you really want to destroy all resources in workspace {workspace:?}?"),
                format!(
                    "{PROGRAM} will destroy all your managed infrastructure, as shown above.\nThere is no undo. Only 'yes' will be \
                     accepted to confirm."
                ),
            ),
            Mode::Normal | Mode::RefreshOnly => (
                format!("Do you want to perform these actions in workspace {workspace:?}?"),
                format!("{PROGRAM} will perform the actions described above.\nOnly 'yes' will be accepted to approve."),
            ),
        };
        Question { title, text, apart: true, ..Question::default() }
    }
}

/// Why a saved plan of a run of this status cannot be applied.
fn unusable(status: &str, app: &str) -> (&'static str, String) {
    let (summary, reason) = match status {
        "applied" => (
            "Saved plan is already applied",
            "The given plan file was already successfully applied, and cannot be applied again.",
        ),
        "applying" | "apply_queued" | "confirmed" => (
            "Saved plan is already confirmed",
            "The given plan file is already being applied, and cannot be applied again.",
        ),
        "canceled" => {
            let reason =
                "The given plan file can no longer be applied because the run was canceled via the APP UI or API.";
            ("Saved plan is canceled", reason)
        }
        "discarded" => (
            "Saved plan is discarded",
            "The given plan file can no longer be applied; either another run was applied first, or a user discarded it via the APP UI \
             or API.",
        ),
        "errored" => (
            "Saved plan is errored",
            "The given plan file refers to a plan that had errors and did not complete successfully. It cannot be applied.",
        ),
        "planned_and_finished" => {
            ("Saved plan has no changes", "The given plan file contains no changes, so it cannot be applied.")
        }
        "policy_override" => (
            "Saved plan requires policy override",
            "The given plan file has soft policy failures, and cannot be applied until a user with appropriate permissions overrides \
             the policy check.",
        ),
        _ => (
            "Saved plan cannot be applied",
            "APP cannot apply the given plan file. This may mean the plan and checks have not yet completed, or may indicate another \
             problem.",
        ),
    };
    (summary, reason.replace("APP", app))
}
