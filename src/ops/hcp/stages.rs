//! Stages of a run: tasks of other services, and evaluations of policies.

use std::time::Instant;

use backend::hcp::{PolicyEvaluation, TaskResult, TaskStage};
use render::words::whole_seconds;

use super::confirm::Answer;
use super::{Ended, Operation, RULE, backoff, error};

/// The shortest and the longest pause between two looks at a stage, in milliseconds.
const PAUSES: (f64, f64) = (4000.0, 12000.0);

/// What was shown of a stage.
struct Progress {
    started: Instant,
    /// The stage has parts of the kind, and their results were not shown yet.
    tasks_open: bool,
    evaluations_open: bool,
    evaluations_titled: bool,
}

impl Operation<'_> {
    /// Follows a stage to its end, if the run has it.
    pub(super) async fn follow_stage(
        &self,
        stages: &[TaskStage],
        stage: &str,
        title: &str,
        run: &str,
    ) -> Result<(), Ended> {
        let Some(found) = stages.iter().find(|one| one.stage == stage) else { return Ok(()) };
        self.say("\n[bold]{}:\n", &[title]);
        let first = self.read_stage(&found.id).await?;
        let mut progress = Progress {
            started: Instant::now(),
            tasks_open: !first.results.is_empty(),
            evaluations_open: !first.evaluations.is_empty(),
            evaluations_titled: false,
        };
        for turn in 0.. {
            tokio::time::sleep(backoff(turn, PAUSES.0, PAUSES.1)).await;
            let now = self.read_stage(&found.id).await?;
            let is_pending = match now.status.as_str() {
                "pending" => continue,
                "unreachable" => return Ok(()),
                "running" | "passed" | "canceled" | "errored" | "failed" | "awaiting_override" => {
                    self.show_stage(&now, &mut progress).await?
                }
                other => return Err(error(format!("Invalid Task stage status: {other} "), "")),
            };
            match now.status.as_str() {
                "running" => {}
                "awaiting_override" if is_pending => {}
                "awaiting_override" => {
                    let goes_on = self.override_stage(&now.id, run).await?;
                    self.say(RULE, &[]);
                    if !goes_on {
                        return Ok(());
                    }
                }
                _ if is_pending => self.say(RULE, &[]),
                "passed" => return Ok(()),
                other => return Err(error(format!("Task Stage {other}."), "")),
            }
        }
        Ok(())
    }

    /// As `follow_stage`, without output: what the `remote` backend does.
    pub(super) async fn await_stage(&self, stages: &[TaskStage], stage: &str) -> Result<(), Ended> {
        let Some(found) = stages.iter().find(|one| one.stage == stage) else { return Ok(()) };
        for turn in 0.. {
            tokio::time::sleep(backoff(turn, PAUSES.0, PAUSES.1)).await;
            let now = self.read_stage(&found.id).await?;
            let id = &now.id;
            match now.status.as_str() {
                "pending" | "running" => {}
                "passed" | "unreachable" => return Ok(()),
                "canceled" | "errored" | "failed" => {
                    return Err(error(format!("Task Stage '{id}': {}.", now.status), ""));
                }
                "awaiting_override" => return Err(error(format!("Task Stage '{id}' awaiting override."), "")),
                other => return Err(error(format!("Task stage '{id}' has invalid status: {other}"), "")),
            }
        }
        Ok(())
    }

    async fn read_stage(&self, id: &str) -> Result<TaskStage, Ended> {
        self.hcp.task_stage(id).await.map_err(self.failed("Failed to retrieve task stage"))
    }

    /// Shows what is new. True: results are still to come.
    async fn show_stage(&self, stage: &TaskStage, progress: &mut Progress) -> Result<bool, Ended> {
        if progress.tasks_open {
            let count = |statuses: &[&str]| {
                stage.results.iter().filter(|task| statuses.contains(&task.status.as_str())).count()
            };
            let (pending, passed) = (count(&["running", "pending"]), count(&["passed"]));
            if count(&["unreachable"]) > 0 {
                self.say("Skipping task results.", &[]);
                self.say_end();
            } else if pending > 0 {
                let failed = stage.results.len() - pending - passed;
                let text = format!("{pending} tasks still pending, {passed} passed, {failed} failed ... ");
                self.say_elapsed(&text, progress);
                return Ok(true);
            } else {
                self.show_tasks(&stage.results, progress);
                progress.tasks_open = false;
            }
        }
        if !progress.evaluations_open {
            return Ok(false);
        }
        if !std::mem::replace(&mut progress.evaluations_titled, true) {
            self.say("{}\n", &[RULE]);
            self.say("[bold]Policy Evaluations\n", &[]);
        }
        let is = |statuses: &[&str]| stage.evaluations.iter().any(|one| statuses.contains(&one.status.as_str()));
        if is(&["unreachable"]) {
            self.say("Skipping policy evaluation.", &[]);
            self.say_end();
        } else if is(&["running", "pending", "queued"]) {
            self.say_elapsed("Evaluating ... ", progress);
            return Ok(true);
        } else {
            for evaluation in &stage.evaluations {
                self.show_evaluation(evaluation).await?;
            }
            progress.evaluations_open = false;
        }
        Ok(false)
    }

    fn say_elapsed(&self, text: &str, progress: &Progress) {
        let elapsed = whole_seconds(progress.started.elapsed().as_secs());
        self.say("{}[dim]({} elapsed)", &[text, &elapsed]);
    }

    fn say_end(&self) {
        self.say("\n{}\n", &[RULE]);
    }

    fn show_tasks(&self, tasks: &[TaskResult], progress: &Progress) {
        let passed = tasks.iter().filter(|task| task.status == "passed").count();
        let failed = tasks.len() - passed;
        let text = format!("All tasks completed! {passed} passed, {failed} failed");
        self.say_elapsed(&format!("{text:50}"), progress);
        self.say("", &[]);
        for task in tasks {
            let status = capitalized(&task.status);
            if task.status == "passed" {
                self.say("[reset]│ {} ⸺   [green]{}", &[&task.name, &status]);
            } else {
                let level = capitalized(&task.enforcement);
                self.say("[reset]│ {} ⸺   [red]{} ({})", &[&task.name, &status, &level]);
            }
            for (label, text) in [("", &task.message), ("Details: ", &task.url)] {
                if !text.is_empty() {
                    self.say("[reset]│ [dim]{}{}", &[label, text]);
                }
            }
            self.say("[reset]│ ", &[]);
        }
        let mandatory = tasks.iter().filter(|task| task.status != "passed" && task.enforcement == "mandatory");
        let mandatory: Vec<&str> = mandatory.map(|task| task.name.as_str()).collect();
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
        self.say_end();
    }

    async fn show_evaluation(&self, evaluation: &PolicyEvaluation) -> Result<(), Ended> {
        let kind = if evaluation.kind == "opa" { "OPA" } else { "Sentinel" };
        self.say("--------------------------------\n", &[]);
        self.say("[bold]{} Policy Evaluation\n", &[kind]);
        if evaluation.status == "passed" {
            let note = if evaluation.advisory_failed > 0 { " (with advisory)" } else { "" };
            self.say("[bold]→→ Overall Result: [green]PASSED{}", &[note]);
            self.say(
                "[dim] This result means that all {} policies passed and the protected behavior is allowed",
                &[kind],
            );
        } else {
            self.say("[bold]→→ Overall Result: [red]FAILED", &[]);
            self.say(
                "[dim] This result means that one or more {} policies failed. More than likely, this was due to the discovery of \
                 violations by the main rule and other sub rules",
                &[kind],
            );
        }
        self.say("{} policies evaluated\n", &[&evaluation.total.to_string()]);
        let sets = self.hcp.policy_outcomes(&evaluation.id).await;
        let sets = sets.map_err(self.failed("Failed to retrieve policy set outcomes"))?;
        for (at, set) in sets.iter().enumerate() {
            let (number, count) = ((at + 1).to_string(), set.outcomes.len().to_string());
            self.say("→ Policy set {}: [bold]{} ({})", &[&number, &set.name, &count]);
            for outcome in &set.outcomes {
                self.say("  ↳ Policy name: [bold]{}", &[&outcome.name]);
                match (outcome.status.as_str(), outcome.enforcement.as_str()) {
                    ("passed", _) => self.say("     | [green][bold]✓ Passed", &[]),
                    ("failed", "advisory") => self.say("     | [blue][bold]Ⓘ Advisory", &[]),
                    ("failed", _) => self.say("     | [red][bold]× Failed", &[]),
                    _ => {}
                }
                let description = match outcome.description.as_str() {
                    "" => "No description available",
                    description => description,
                };
                self.say("     | [dim]{}", &[description]);
            }
        }
        Ok(())
    }

    /// Asks to override failed policies. True: the stage goes on.
    async fn override_stage(&self, stage: &str, run: &str) -> Result<bool, Ended> {
        self.say("--------------------------------\n", &[]);
        self.say("→→ [bold]Override", &[]);
        let url = format!("\nTo view this run in a browser, visit:\n{}\n", self.run_url(run));
        let asked = self.ask_to_override("Do you want to override the failed policies?", run).await;
        match asked.map_err(|ended| not_overridden(ended, &url))? {
            Answer::Here => {
                let done = self.hcp.override_stage(stage).await;
                done.map_err(self.failed(&format!("Failed to override policy check.\n{url}")))?;
                Ok(true)
            }
            Answer::Elsewhere => {
                self.say("The run needs to be manually overridden or discarded.\n{}\n", &[&url]);
                Ok(false)
            }
        }
    }
}

/// The error for policies that were not overridden. `url` says where the run is.
pub(super) fn not_overridden(ended: Ended, url: &str) -> Ended {
    match ended {
        Ended::Failed(problems) => {
            let why: Vec<String> = problems.iter().map(|problem| problem.summary.clone()).collect();
            error(format!("Failed to override: {}\n{url}\n", why.join("\n")), "")
        }
        other => other,
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
