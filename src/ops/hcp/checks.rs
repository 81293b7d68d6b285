//! Cost estimates and policy checks, between a plan and its apply.

use std::time::{Duration, Instant};

use backend::hcp::{CostEstimate, Flavor, PolicyCheck, Run};
use render::words::whole_seconds;

use super::confirm::Answer;
use super::stages::not_overridden;
use super::{Ended, Operation, RULE, error, pause};

/// The pause between two looks at a policy check.
const LOOKS: Duration = Duration::from_millis(500);

impl Operation<'_> {
    fn rule(&self) {
        self.say("\n{}\n", &[RULE]);
    }

    /// A rule with nothing after it.
    fn last_rule(&self) {
        self.say("\n{}", &[RULE]);
    }

    fn heading(&self, text: &str) {
        match self.hcp.flavor {
            Flavor::Cloud => self.say("[bold]{}:\n", &[text]),
            Flavor::Remote => self.say("{}:\n", &[text]),
        }
    }

    pub(super) async fn show_costs(&self, run: &Run, estimate: &str) -> Result<(), Ended> {
        let name = match self.hcp.flavor {
            Flavor::Cloud => "Cost Estimation",
            Flavor::Remote => "Cost estimation",
        };
        let started = Instant::now();
        let mut told = started;
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
                    self.heading(name);
                    self.show_estimate(run, &now);
                    return Ok(());
                }
                "pending" | "queued" => {
                    if turn > 0 && told.elapsed() <= Duration::from_secs(30) {
                        continue;
                    }
                    told = Instant::now();
                    let whole = started.elapsed().as_secs() / 30 * 30;
                    let elapsed =
                        if turn == 0 { String::new() } else { format!(" ({} elapsed)", whole_seconds(whole)) };
                    self.heading(name);
                    self.say("Waiting for cost estimate to complete...{}\n", &[&elapsed]);
                }
                "skipped_due_to_targeting" => {
                    self.heading(name);
                    self.say("Not available for this plan, because it was created with the -target option.", &[]);
                    self.last_rule();
                    return Ok(());
                }
                "errored" => {
                    self.say("{} errored.\n", &[name]);
                    self.last_rule();
                    return Ok(());
                }
                "canceled" => return Err(error(format!("{name} canceled."), "")),
                other => return Err(error(format!("Unknown or unexpected cost estimate state: {other}"), "")),
            }
        }
        Ok(())
    }

    fn show_estimate(&self, run: &Run, estimate: &CostEstimate) {
        let (sign, delta) = match estimate.delta.strip_prefix('-') {
            Some(delta) => ("-", delta),
            None => ("+", estimate.delta.as_str()),
        };
        let (matched, all) = (estimate.matched.to_string(), estimate.resources.to_string());
        self.say("Resources: {} of {} estimated", &[&matched, &all]);
        self.say("           ${}/mo {}${}", &[&estimate.proposed, sign, delta]);
        if run.policy_checks.is_empty() && run.has_changes && self.applies() {
            self.last_rule();
        }
    }

    pub(super) async fn check_policies(&self, run: &Run) -> Result<(), Ended> {
        self.rule();
        for (at, id) in run.policy_checks.iter().enumerate() {
            let Some(check) = self.finished_check(run, id).await? else { continue };
            let word = if self.hcp.flavor == Flavor::Cloud { "Policy Check" } else { "policy check" };
            let name = match check.scope.as_str() {
                "organization" => format!("Organization {word}"),
                "workspace" => format!("Workspace {word}"),
                other => format!("Unknown policy check ({other})"),
            };
            self.heading(&name);
            let output = self.hcp.policy_output(id).await;
            let output = output.map_err(self.failed("Failed to retrieve policy check logs"))?;
            for line in output.lines() {
                self.say("{}", &[line]);
            }
            match check.status.as_str() {
                "passed" => {
                    let is_last = at + 1 == run.policy_checks.len();
                    if !is_last || (run.has_changes && self.applies()) {
                        self.last_rule();
                    }
                }
                "errored" => return Err(error(format!("{name} errored."), "")),
                "hard_failed" => return Err(error(format!("{name} hard failed."), "")),
                "soft_failed" => self.override_policy(run, &check, &name).await?,
                other => return Err(error(format!("Unknown or unexpected policy state: {other}"), "")),
            }
        }
        Ok(())
    }

    /// A policy check that has ended. None: the run failed before it.
    async fn finished_check(&self, run: &Run, id: &str) -> Result<Option<PolicyCheck>, Ended> {
        loop {
            let now = self.hcp.policy_check(id).await.map_err(self.failed("Failed to retrieve policy check"))?;
            match now.status.as_str() {
                "pending" | "queued" | "unreachable" if run.has_failed() => return Ok(None),
                "pending" | "queued" => tokio::time::sleep(LOOKS).await,
                _ => return Ok(Some(now)),
            }
        }
    }

    async fn override_policy(&self, run: &Run, check: &PolicyCheck, name: &str) -> Result<(), Ended> {
        let article = if self.hcp.flavor == Flavor::Cloud { "the" } else { "a" };
        let url = format!("\nTo view this run in {article} browser, visit:\n{}\n", self.run_url(&run.id));
        if !self.applies() || !check.may_override {
            return Err(error(format!("{name} soft failed.\n{url}"), ""));
        }
        let answer = match &self.options.approver {
            None => Answer::Here,
            Some(_) if self.setup.ask.is_none() => {
                return Err(error(
                    "Cannot override soft failed policy checks when -input=false. Please open the run in the UI to override.",
                    "",
                ));
            }
            Some(_) => {
                let asked =
                    self.ask_to_override("Do you want to override the soft failed policy check?", &run.id).await;
                asked.map_err(|ended| not_overridden(ended, &url))?
            }
        };
        if answer == Answer::Here {
            let done = self.hcp.override_policy(&check.id).await;
            done.map_err(self.failed(&format!("Failed to override policy check.\n{url}")))?;
        } else {
            let url = self.run_url(&run.id);
            let template = "The run needs to be manually overridden or discarded.\n\nTo view this run in a browser, visit:\n{}\n\n";
            self.say(template, &[&url]);
        }
        self.say(RULE, &[]);
        Ok(())
    }
}
