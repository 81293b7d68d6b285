//! What happens between a plan and its apply: tasks of other services, costs, policies.

use std::time::Duration;

use super::{Ended, Operation, RULE, Verb, error, pause};
use crate::backend::hcp::{PolicyCheck, Run, TaskResult, TaskStage};
use crate::base::diag::Diagnostic;
use crate::ops::interface::ask::{NoAnswer, Question};

/// The shorter and the longer pause between two looks at tasks.
const TASK_PAUSES: (Duration, Duration) = (Duration::from_secs(4), Duration::from_secs(12));

/// How an answer came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// At the terminal.
    Given,
    /// In the web interface, meanwhile.
    Elsewhere,
}

impl Operation<'_> {
    /// Follows the tasks of a stage, if there are any.
    pub(super) async fn follow_stage(
        &self,
        stages: &[TaskStage],
        stage: &str,
        title: &str,
        run: &str,
    ) -> Result<(), Ended> {
        let Some(found) = stages.iter().find(|one| one.stage == stage) else { return Ok(()) };
        self.say("\n[bold]{}:\n", &[title]);
        let mut length = TASK_PAUSES.0;
        loop {
            tokio::time::sleep(length).await;
            length = TASK_PAUSES.1.min(length + length / 4);
            let now = self.hcp.task_stage(&found.id).await.map_err(self.failed("Failed to retrieve task stage"))?;
            match now.status.as_str() {
                "pending" | "running" => {
                    let count = |status: &str| now.results.iter().filter(|task| task.status == status).count();
                    let (passed, waiting) = (count("passed"), count("pending") + count("running"));
                    let failed = now.results.len() - passed - waiting;
                    if waiting > 0 && now.status == "running" {
                        let text = format!("{waiting} tasks still pending, {passed} passed, {failed} failed ... ");
                        self.say("{}", &[&text]);
                    }
                }
                "passed" => {
                    self.show_tasks(&now.results);
                    return Ok(());
                }
                "unreachable" => return Ok(()),
                "awaiting_override" => {
                    self.show_tasks(&now.results);
                    return self.override_stage(&now.id, run).await;
                }
                other => {
                    self.show_tasks(&now.results);
                    return Err(error(format!("Task Stage {other}."), ""));
                }
            }
        }
    }

    fn show_tasks(&self, tasks: &[TaskResult]) {
        if tasks.is_empty() {
            return;
        }
        let passed = tasks.iter().filter(|task| task.status == "passed").count();
        let failed = tasks.len() - passed;
        let (passed_text, failed_text) = (passed.to_string(), failed.to_string());
        self.say("All tasks completed! {} passed, {} failed\n", &[&passed_text, &failed_text]);
        let mut mandatory = Vec::new();
        for task in tasks {
            let status = capitalized(&task.status);
            if task.status == "passed" {
                self.say("[reset]│ {} ⸺   [green]{}", &[&task.name, &status]);
            } else {
                let level = capitalized(&task.enforcement);
                self.say("[reset]│ {} ⸺   [red]{} ({})", &[&task.name, &status, &level]);
                if task.enforcement == "mandatory" {
                    mandatory.push(task.name.as_str());
                }
            }
            for (label, text) in [("", &task.message), ("Details: ", &task.url)] {
                if !text.is_empty() {
                    self.say("[reset]│ [dim]{}{}", &[label, text]);
                }
            }
            self.say("[reset]│ ", &[]);
        }
        let overall = match (&mandatory[..], failed) {
            ([], 0) => "[green]Passed",
            ([], _) => "[green]Passed with advisory failures",
            ([one], _) => {
                let template = "[reset][bold][red]Error: [reset][bold]the run failed because the run task, {}, is required to succeed";
                self.say(template, &[one]);
                "[red]Failed"
            }
            (many, _) => {
                let count = many.len().to_string();
                let template = "[reset][bold][red]Error:[reset][bold]the run failed because {} mandatory tasks are required to succeed";
                self.say(template, &[&count]);
                "[red]Failed"
            }
        };
        self.say("[reset]│ ", &[]);
        self.say(&format!("[reset]│ [bold]Overall Result: {overall}"), &[]);
        self.say(RULE, &[]);
    }

    async fn override_stage(&self, stage: &str, run: &str) -> Result<(), Ended> {
        self.say("--------------------------------\n", &[]);
        self.say("→→ [bold]Override", &[]);
        let asked = self.ask_for("override", "Do you want to override the failed policies?", run).await?;
        if asked == Answer::Given {
            let done = self.hcp.override_stage(stage).await;
            done.map_err(self.failed("Failed to override policy check."))?;
        }
        Ok(())
    }

    pub(super) async fn show_costs(&self, run: &Run, estimate: &str) -> Result<(), Ended> {
        for turn in 0.. {
            tokio::time::sleep(pause(turn)).await;
            let now = self.hcp.cost_estimate(estimate).await;
            let now = now.map_err(self.failed("Failed to retrieve cost estimate"))?;
            if now.status != "finished" && run.has_failed() {
                return Ok(());
            }
            if turn == 0 {
                self.rule();
            }
            match now.status.as_str() {
                "finished" => {
                    let (sign, delta) = match now.delta.strip_prefix('-') {
                        Some(delta) => ("-", delta),
                        None => ("+", now.delta.as_str()),
                    };
                    let (matched, all) = (now.matched.to_string(), now.resources.to_string());
                    self.say("[bold]Cost Estimation:\n", &[]);
                    self.say("Resources: {} of {} estimated", &[&matched, &all]);
                    self.say("           ${}/mo {}${}", &[&now.proposed, sign, delta]);
                    if run.policy_checks.is_empty() && run.has_changes && self.options.verb == Verb::Apply {
                        self.say(RULE.trim_end_matches('\n'), &[]);
                    }
                    return Ok(());
                }
                "pending" | "queued" => {
                    if turn == 0 {
                        self.say("[bold]Cost Estimation:\n", &[]);
                        self.say("Waiting for cost estimate to complete...\n", &[]);
                    }
                }
                "skipped_due_to_targeting" => {
                    self.say("[bold]Cost Estimation:\n", &[]);
                    self.say("Not available for this plan, because it was created with the -target option.", &[]);
                    self.say(RULE.trim_end_matches('\n'), &[]);
                    return Ok(());
                }
                "errored" => {
                    self.say("Cost Estimation errored.\n", &[]);
                    self.say(RULE.trim_end_matches('\n'), &[]);
                    return Ok(());
                }
                "canceled" => return Err(error("Cost Estimation canceled.", "")),
                other => return Err(error(format!("Unknown or unexpected cost estimate state: {other}"), "")),
            }
        }
        Ok(())
    }

    pub(super) async fn check_policies(&self, run: &Run) -> Result<(), Ended> {
        self.rule();
        for (i, id) in run.policy_checks.iter().enumerate() {
            let Some(check) = self.finished_check(run, id).await? else { continue };
            let name = match check.scope.as_str() {
                "organization" => "Organization Policy Check".to_owned(),
                "workspace" => "Workspace Policy Check".to_owned(),
                other => format!("Unknown policy check ({other})"),
            };
            self.say("[bold]{}:\n", &[&name]);
            let output = self.hcp.policy_output(id).await;
            let output = output.map_err(self.failed("Failed to retrieve policy check logs"))?;
            for line in output.lines() {
                self.say("{}", &[line]);
            }
            match check.status.as_str() {
                "passed" => {
                    let is_last = i + 1 == run.policy_checks.len();
                    if !is_last || (run.has_changes && self.options.verb == Verb::Apply) {
                        self.say(RULE.trim_end_matches('\n'), &[]);
                    }
                }
                "errored" => return Err(error(format!("{name} errored."), "")),
                "hard_failed" => return Err(error(format!("{name} hard failed."), "")),
                "soft_failed" => self.override_policy(run, &check, &name).await?,
                "overridden" => {}
                other => return Err(error(format!("Unknown or unexpected policy state: {other}"), "")),
            }
        }
        Ok(())
    }

    /// A policy check that is done; none: it will never be.
    async fn finished_check(&self, run: &Run, id: &str) -> Result<Option<PolicyCheck>, Ended> {
        for turn in 0.. {
            let now = self.hcp.policy_check(id).await.map_err(self.failed("Failed to retrieve policy check"))?;
            match now.status.as_str() {
                "pending" | "queued" | "unreachable" if run.has_failed() => return Ok(None),
                "pending" | "queued" => tokio::time::sleep(pause(turn)).await,
                _ => return Ok(Some(now)),
            }
        }
        Ok(None)
    }

    async fn override_policy(&self, run: &Run, check: &PolicyCheck, name: &str) -> Result<(), Ended> {
        let where_to_look = format!("\nTo view this run in the browser, visit:\n{}\n", self.run_url(&run.id));
        if self.options.verb == Verb::Plan || !check.may_override {
            return Err(error(format!("{name} soft failed.\n{where_to_look}"), ""));
        }
        let answer = match &self.options.approver {
            None => Answer::Given,
            Some(_) if self.setup.ask.is_none() => {
                return Err(error(
                    "Cannot override soft failed policy checks when -input=false. Please open the run in the UI to override.",
                    "",
                ));
            }
            Some(_) => {
                self.ask_for("override", "Do you want to override the soft failed policy check?", &run.id).await?
            }
        };
        if answer == Answer::Given {
            let done = self.hcp.override_policy(&check.id).await;
            done.map_err(self.failed(&format!("Failed to override policy check.\n{where_to_look}")))?;
        } else {
            self.say("The run needs to be manually overridden or discarded.\n{}\n", &[&self.run_url(&run.id)]);
        }
        self.say(RULE.trim(), &[]);
        Ok(())
    }

    /// Asks for a word, while a user may decide in the web interface. Any other word discards the run.
    pub(super) async fn ask_for(&self, word: &str, title: &str, run: &str) -> Result<Answer, Ended> {
        let text = format!("Only '{word}' will be accepted to {word}.");
        let question = Question { title: title.to_owned(), text, apart: true, ..Question::default() };
        self.confirm(&question, word, run).await
    }

    pub(super) async fn confirm(&self, question: &Question, word: &str, run: &str) -> Result<Answer, Ended> {
        let Some(somebody) = self.options.approver.clone().or_else(|| self.setup.ask.clone()) else {
            return Err(error(format!("Error asking {word}: input is disabled"), ""));
        };
        let answer = tokio::select! {
            answer = somebody.ask(question) => answer,
            decided = self.decided_elsewhere(word, run) => return decided,
        };
        match answer {
            Ok(answer) if answer == word => Ok(Answer::Given),
            Ok(_) => {
                let now = self.read(run).await?;
                if now.is_discardable {
                    let what = if self.is_destroy() { "Failed to discard destroy" } else { "Failed to discard apply" };
                    self.hcp.act_on_run(run, "discard").await.map_err(self.failed(what))?;
                }
                Err(self.discarded())
            }
            Err(NoAnswer::Interrupted) => Err(Ended::Stopped),
            Err(NoAnswer::Failed(why)) => Err(error(format!("Error asking {word}: {why}"), "")),
        }
    }

    /// Ends when the run is decided on in the web interface.
    async fn decided_elsewhere(&self, word: &str, run: &str) -> Result<Answer, Ended> {
        loop {
            tokio::time::sleep(Duration::from_secs(3)).await;
            let now = self.read(run).await?;
            let is_open = match word {
                "override" => matches!(now.status.as_str(), "policy_override" | "post_plan_awaiting_decision"),
                _ => now.is_confirmable,
            };
            if is_open {
                continue;
            }
            if now.status == "discarded" {
                self.say("[reset][yellow]{}[reset]", &["discarded using the UI or API"]);
                return Err(self.discarded());
            }
            let what = if word == "override" { "overridden" } else { "approved" };
            self.say("[reset][yellow]{} using the UI or API[reset]", &[what]);
            return Ok(Answer::Elsewhere);
        }
    }

    pub(super) fn is_destroy(&self) -> bool {
        self.request.plan.mode == crate::model::plan::Mode::Destroy
    }

    fn discarded(&self) -> Ended {
        let text = if self.is_destroy() { "Destroy discarded." } else { "Apply discarded." };
        Diagnostic::error(text, "").into()
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
