//! The plan of a run: checks, upload, start, log.

use std::path::Path;
use std::time::Duration;

use backend::hcp::{Flavor, NewRun, Phase, Purpose, Run};
use base::diag::Diagnostics;
use base::name::{COMMAND, PROGRAM};
use base::{atomic, env};
use engine::Origin;
use model::plan::{DEFAULT_PARALLELISM, Mode, PlanScope, Refresh};

use super::expression::expression;
use super::saved::Bookmark;
use super::{Ended, Operation, error, slug};
use crate::configuration::{generated_file, load, variables};
use crate::interface::options::VariableArgument;
use crate::interface::requests::OperationKind;

/// The pause between two looks at an uploaded configuration, and how many looks there are.
const UPLOAD_LOOKS: (Duration, u32) = (Duration::from_millis(500), 60);

pub(super) const ONLY_BY_REPOSITORY: &str = "A workspace that is connected to a VCS requires the VCS-driven workflow to ensure that \
                                             the VCS remains the single source of truth.";

impl Operation<'_> {
    pub(super) async fn run_plan(&self) -> Result<(), Ended> {
        if !self.workspace.can_queue_run {
            return Err(error(
                "Insufficient rights to generate a plan",
                "The provided credentials have insufficient rights to generate a plan. In order to generate plans, at least plan \
                 permissions on the workspace are required.",
            ));
        }
        let is_cloud = self.hcp.flavor == Flavor::Cloud;
        if is_cloud && self.workspace.has_repository && self.options.out.is_some() {
            return Err(error("Saved plans not allowed for workspaces with a VCS connection", ONLY_BY_REPOSITORY));
        }
        let mut problems = Diagnostics::new();
        self.check_parallelism(&mut problems);
        self.check_unknown_there(&mut problems);
        if !is_cloud {
            self.check_remote_options(&mut problems);
        }
        self.check_configuration(&mut problems);
        if is_cloud && self.options.generate.as_ref().is_some_and(|path| path.exists()) {
            problems.push(generated_file::exists());
        }
        if problems.has_errors() {
            return Err(problems.into());
        }
        let run = self.plan().await?;
        if let Some(out) = &self.options.out {
            let bookmark = Bookmark::of_run(&run.id, &self.hcp.hostname);
            let written = atomic::write(out, &bookmark.to_bytes());
            written.map_err(|e| error(format!("Failed to write the plan file: {e}"), ""))?;
        }
        Ok(())
    }

    /// Options that the service does not have.
    pub(super) fn check_unknown_there(&self, problems: &mut Diagnostics) {
        if self.request.plan.scope.refresh == Refresh::Changed {
            problems.error(
                "Minimal refresh mode is currently not supported",
                "The service that runs this operation does not support the -minimal-refresh option.",
            );
        }
        if self.request.plan.scope.deferral_allowed {
            problems.error(
                "Deferred changes are currently not supported",
                "The service that runs this operation does not support the -allow-deferral option.",
            );
        }
        if !self.request.plan.scope.requested_actions.is_empty() {
            problems.error(
                "Invoking actions is not supported",
                "This program cannot ask the service that runs this operation to invoke an action. Invoke it with another backend.",
            );
        }
        if !self.request.plan.policies.is_empty() {
            problems.error(
                "Policies of this machine are not supported",
                "The service that runs this operation makes and applies the plan itself, so the policies of -policies would have no effect. \
                 Use policy sets of the service, or another backend.",
            );
        }
        if !self.request.plan.deny.is_empty() {
            problems.error(
                "Denying changes is not supported",
                "The service that runs this operation makes and applies the plan itself, so the rules of -deny and TERRANE_DENY would have \
                 no effect. Unset TERRANE_DENY, or use another backend.",
            );
        }
        if !self.request.plan.scope.excludes.is_empty() {
            problems.error(
                "Excluding resources is not supported",
                "The service that runs this operation does not support the -exclude option.",
            );
        }
    }

    pub(super) fn check_parallelism(&self, problems: &mut Diagnostics) {
        if self.request.plan.scope.parallelism == DEFAULT_PARALLELISM {
            return;
        }
        let who = match self.hcp.flavor {
            Flavor::Cloud => self.hcp.app_name,
            Flavor::Remote => "The \"remote\" backend",
        };
        problems.error(
            "Custom parallelism values are currently not supported",
            format!("{who} does not support setting a custom parallelism value at this time."),
        );
    }

    /// Options that only a `cloud` block supports.
    fn check_remote_options(&self, problems: &mut Diagnostics) {
        if self.options.out.is_some() {
            problems.error(
                "Saving a generated plan is currently not supported",
                "The \"remote\" backend does not support saving the generated execution plan locally at this time.",
            );
        }
        if self.options.generate.is_some() {
            problems.error(
                "Generating configuration is not currently supported",
                "The \"remote\" backend does not currently support generating resource configuration as part of a plan.",
            );
        }
        self.check_variables(problems);
    }

    pub(super) fn check_variables(&self, problems: &mut Diagnostics) {
        if !self.request.variables.is_empty() {
            let (host, organization) = (&self.hcp.hostname, self.hcp.organization());
            problems.error(
                "Run variables are currently not supported",
                format!(
                    "The \"remote\" backend does not support setting run variables at this time. Currently the only to way to pass \
                     variables to the remote backend is by creating a '*.auto.tfvars' variables file. This file will automatically be \
                     loaded by the \"remote\" backend when the workspace is configured to use {PROGRAM} v0.10.0 or \
                     later.\n\nAdditionally you can also set variables on the workspace in the web \
                     UI:\nhttps://{host}/app/{organization}/{}/variables",
                    self.workspace.name
                ),
            );
        }
    }

    pub(super) fn check_configuration(&self, problems: &mut Diagnostics) {
        if load::has_configuration(self.setup) || self.request.plan.scope.mode == Mode::Destroy {
            return;
        }
        let advice = match self.options.kind {
            OperationKind::Plan => format!(
                "Plan requires configuration to be present. Planning without a configuration would mark everything for destruction, \
                 which is normally not what is desired. If you would like to destroy everything, please run plan with the \
                 \"-destroy\" flag or create a single empty configuration file. Otherwise, please create a {PROGRAM} configuration \
                 file in the path being executed and try again."
            ),
            OperationKind::Apply | OperationKind::Refresh => format!(
                "Apply requires configuration to be present. Applying without a configuration would mark everything for destruction, \
                 which is normally not what is desired. If you would like to destroy everything, please run '{COMMAND} destroy' which \
                 does not require any configuration files."
            ),
        };
        problems.error("No configuration files found", advice);
    }

    /// Uploads the configuration, starts a run and follows it until its plan is checked.
    pub(super) async fn plan(&self) -> Result<Run, Ended> {
        self.say_header();
        let configuration = self.upload().await?;
        let new = self.new_run(configuration)?;
        let run = self.hcp.create_run(&new).await.map_err(self.failed("Failed to create run"))?;
        let _ = self.started.set(run.id.clone());
        self.say_run_url(&run.id);
        let is_cloud = self.hcp.flavor == Flavor::Cloud;
        let mut stages = Vec::new();
        if is_cloud {
            let warnings =
                self.hcp.run_warnings(&run.id).await.map_err(self.failed("Failed to retrieve run events"))?;
            for text in warnings {
                self.say("[reset][yellow]Warning:[reset] {}\n", &[&text]);
            }
            stages = self.hcp.task_stages(&run.id).await.map_err(self.failed("Failed to retrieve run"))?;
            self.follow_stage(&stages, "pre_plan", "Pre-plan Tasks", &run.id).await?;
        }
        let run = self.wait(&run.id, Phase::Plan).await?;
        if let Some(plan) = &run.plan {
            self.show_log(Phase::Plan, plan).await?;
            if is_cloud {
                self.show_plan(&run.id, plan).await?;
            }
        }
        let run = self.read(&run.id).await?;
        if is_cloud {
            self.follow_stage(&stages, "post_plan", "Post-plan Tasks", &run.id).await?;
        } else {
            let stages = self.hcp.task_stages(&run.id).await.map_err(self.failed("Failed to retrieve run"))?;
            self.await_stage(&stages, "post_plan").await?;
        }
        if let Some(estimate) = &run.cost_estimate {
            self.show_costs(&run, estimate).await?;
        }
        if !run.policy_checks.is_empty() {
            self.check_policies(&run).await?;
        }
        Ok(run)
    }

    pub(super) fn say_run_url(&self, run: &str) {
        let url = self.run_url(run);
        self.say("[reset][yellow]To view this run in a browser, visit:[reset]\n[reset][yellow]{}[reset]\n", &[&url]);
    }

    fn say_header(&self) {
        let place = match self.hcp.flavor {
            Flavor::Cloud => self.hcp.app_name,
            Flavor::Remote => "the remote backend",
        };
        let template = match self.options.kind {
            OperationKind::Plan => {
                "[reset][yellow]Running plan in {}. Output will stream here. Pressing Ctrl-C\nwill stop streaming the logs, but will \
                 not stop the plan running remotely.[reset]\n\nPreparing the remote plan...\n"
            }
            OperationKind::Apply | OperationKind::Refresh => {
                "[reset][yellow]Running apply in {}. Output will stream here. Pressing Ctrl-C\nwill cancel the remote apply if it's \
                 still pending. If the apply started it\nwill stop streaming the logs, but will not stop the apply running \
                 remotely.[reset]\n\nPreparing the remote apply...\n"
            }
        };
        self.say(template, &[place]);
    }

    /// Uploads the configuration. Returns its ID once the service has it.
    async fn upload(&self) -> Result<String, Ended> {
        let purpose = match (self.options.kind, &self.options.out) {
            (OperationKind::Plan, None) => Purpose::PlanOnly,
            (OperationKind::Plan, Some(_)) => Purpose::SavedPlan,
            (OperationKind::Apply | OperationKind::Refresh, _) => Purpose::Apply,
        };
        let created = self.hcp.create_configuration(&self.workspace, purpose).await;
        let created = created.map_err(self.failed("Failed to create configuration version"))?;
        let archive = self.archive().map_err(|e| error(format!("Failed to upload configuration files: {e}"), ""))?;
        let uploaded = self.hcp.api().upload(&created.upload_url, archive).await;
        uploaded.map_err(self.failed("Failed to upload configuration files"))?;
        for _ in 0..UPLOAD_LOOKS.1 {
            tokio::time::sleep(UPLOAD_LOOKS.0).await;
            let now = self.hcp.configuration(&created.id).await;
            if now.map_err(self.failed("Failed to retrieve configuration version"))?.status == "uploaded" {
                return Ok(created.id);
            }
        }
        Err(error("Failed to upload configuration files: operation timed out", ""))
    }

    /// Packs the working directory, or the folder above it in which the workspace's own working directory is.
    fn archive(&self) -> std::io::Result<Vec<u8>> {
        let below = self.workspace.working_directory.trim_matches('/');
        if !load::has_configuration(self.setup) {
            return slug::pack_nothing(below);
        }
        let here = env::working_dir()?;
        let root = if here.ends_with(Path::new(below)) {
            let levels = Path::new(below).components().count();
            here.ancestors().nth(levels).unwrap_or(&here).to_path_buf()
        } else {
            here.clone()
        };
        if !below.is_empty() && root.file_name().is_none_or(|name| name != below) {
            let root = root.display().to_string();
            let template = format!(
                "The remote workspace is configured to work with configuration at\n{{}} relative to the target \
                 repository.\n\n{PROGRAM} will upload the contents of the following directory,\nexcluding files or directories as \
                 defined by a .terraformignore file\nat {{}}/.terraformignore (if it is present),\nin order to capture the filesystem \
                 context the remote workspace expects:\n    {{}}\n"
            );
            self.say(&template, &[below, &root, &root]);
        }
        slug::pack(&root)
    }

    fn new_run(&self, configuration: String) -> Result<NewRun, Ended> {
        // What the service has no field for, `check_unknown_there` and `check_parallelism` refuse.
        let PlanScope {
            mode,
            refresh,
            targets,
            force_replace,
            excludes: _,
            requested_actions: _,
            deferral_allowed: _,
            generate_config: _,
            policies: _,
            parallelism: _,
        } = &self.request.plan.scope;
        let is_cloud = self.hcp.flavor == Flavor::Cloud;
        let is_approved = self.options.approver.is_none() && self.applies();
        Ok(NewRun {
            configuration,
            workspace: self.workspace.id.clone(),
            refresh: *refresh == Refresh::All,
            save_plan: self.options.out.is_some(),
            auto_apply: is_cloud.then_some(is_approved),
            destroy: *mode == Mode::Destroy,
            refresh_only: *mode == Mode::RefreshOnly,
            targets: targets.iter().map(ToString::to_string).collect(),
            replacements: force_replace.iter().map(ToString::to_string).collect(),
            variables: if is_cloud { self.variables()? } else { Vec::new() },
            generate_configuration: self.options.generate.is_some(),
        })
    }

    /// The values that the service does not have: those of the command line and of the environment.
    fn variables(&self) -> Result<Vec<(String, String)>, Ended> {
        if !load::has_configuration(self.setup) {
            return Ok(Vec::new());
        }
        let mut problems = Diagnostics::new();
        let collected = problems.take(variables::collect(self.setup, &self.request.variables));
        let (root, found) = load::root_module(&self.setup.with_variables(&self.request.variables));
        problems.extend(found);
        let Some(root) = root.filter(|_| !problems.has_errors()) else { return Err(problems.into()) };
        let given = problems.take(variables::resolve_or_unknown(&collected, &root));
        if problems.has_errors() {
            return Err(problems.into());
        }
        let named = |argument: &VariableArgument| match argument {
            VariableArgument::File(path) => Some(path.clone()),
            VariableArgument::Value(_) => None,
        };
        let named: Vec<String> = self.request.variables.iter().filter_map(named).collect();
        let is_local = |origin: &Origin| match origin {
            Origin::Argument | Origin::Environment => true,
            Origin::File(range) => named.iter().any(|file| range.filename() == file),
            Origin::Prompt | Origin::Other => false,
        };
        let local = given.iter().filter(|(_, variable)| is_local(&variable.origin) && variable.value.is_wholly_known());
        Ok(local.map(|(name, variable)| (name.to_string(), expression(&variable.value))).collect())
    }
}
