//! Runs: what starts them, what becomes of them, and their logs.

use std::time::Duration;

use serde_json::{Map, Value as Json, json};

use super::Hcp;
use super::api::{ApiError, id, related, segment, text};
use super::workspaces::Workspace;

/// An uploaded configuration.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    pub id: String,
    pub upload_url: String,
    pub status: String,
}

/// What becomes of the plan of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Nothing.
    PlanAlone,
    /// It may be applied later.
    PlanToKeep,
    Apply,
}

/// What a run is asked for.
#[derive(Clone, Debug, Default)]
pub struct NewRun {
    pub configuration: String,
    pub workspace: String,
    pub refresh: bool,
    /// Its plan may be applied later.
    pub save_plan: bool,
    /// None: the service does not learn whether the plan is approved already.
    pub auto_apply: Option<bool>,
    pub destroy: bool,
    pub refresh_only: bool,
    pub targets: Vec<String>,
    pub replacements: Vec<String>,
    /// Names and values as expressions.
    pub variables: Vec<(String, String)>,
    pub generate_configuration: bool,
}

/// A run as it is now.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub id: String,
    pub status: String,
    pub has_changes: bool,
    pub is_destroy: bool,
    pub refresh_only: bool,
    pub is_cancelable: bool,
    pub is_confirmable: bool,
    pub is_discardable: bool,
    pub workspace: Option<String>,
    pub plan: Option<String>,
    pub apply: Option<String>,
    pub cost_estimate: Option<String>,
    pub policy_checks: Vec<String>,
    pub task_stages: Vec<TaskStage>,
}

impl Run {
    fn of_json(document: &Json) -> Run {
        let data = &document["data"];
        let attributes = &data["attributes"];
        let flag = |name: &str| attributes[name].as_bool().unwrap_or_default();
        let may = |name: &str| attributes["actions"][name].as_bool().unwrap_or_default();
        let relation = |name: &str| related(data, name).map(str::to_owned);
        let included = document["included"].as_array().map(Vec::as_slice).unwrap_or_default();
        let stages = included.iter().filter(|one| one["type"] == "task-stages").map(TaskStage::of_json);
        Run {
            id: id(data).to_owned(),
            status: text(data, "status").to_owned(),
            has_changes: flag("has-changes"),
            is_destroy: flag("is-destroy"),
            refresh_only: flag("refresh-only"),
            is_cancelable: may("is-cancelable"),
            is_confirmable: may("is-confirmable"),
            is_discardable: may("is-discardable"),
            workspace: relation("workspace"),
            plan: relation("plan"),
            apply: relation("apply"),
            cost_estimate: relation("cost-estimate"),
            policy_checks: related_all(data, "policy-checks"),
            task_stages: stages.collect(),
        }
    }

    /// It did not come to its end.
    pub fn has_failed(&self) -> bool {
        matches!(self.status.as_str(), "canceled" | "errored")
    }
}

fn related_all(resource: &Json, name: &str) -> Vec<String> {
    let all = resource["relationships"][name]["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().map(|one| id(one).to_owned()).collect()
}

/// Tasks of other services at one point of a run.
#[derive(Clone, Debug, Default)]
pub struct TaskStage {
    pub id: String,
    /// `pre_plan`, `post_plan`, `pre_apply`
    pub stage: String,
    pub status: String,
    pub results: Vec<TaskResult>,
}

#[derive(Clone, Debug, Default)]
pub struct TaskResult {
    pub name: String,
    pub status: String,
    pub message: String,
    pub url: String,
    /// `mandatory` or `advisory`
    pub enforcement: String,
}

impl TaskStage {
    fn of_json(resource: &Json) -> TaskStage {
        TaskStage {
            id: id(resource).to_owned(),
            stage: text(resource, "stage").to_owned(),
            status: text(resource, "status").to_owned(),
            results: Vec::new(),
        }
    }
}

/// What a plan is expected to cost.
#[derive(Clone, Debug, Default)]
pub struct CostEstimate {
    pub status: String,
    pub delta: String,
    pub proposed: String,
    pub matched: u64,
    pub resources: u64,
}

#[derive(Clone, Debug, Default)]
pub struct PolicyCheck {
    pub id: String,
    pub status: String,
    pub scope: String,
    pub may_override: bool,
}

/// What a log belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Plan,
    Apply,
}

impl Phase {
    fn path(self) -> &'static str {
        match self {
            Phase::Plan => "plans",
            Phase::Apply => "applies",
        }
    }
}

/// A plan or an apply as it is now.
#[derive(Clone, Debug, Default)]
pub struct PhaseStatus {
    pub status: String,
    pub has_changes: bool,
    log: String,
}

impl PhaseStatus {
    fn is_over(&self) -> bool {
        matches!(self.status.as_str(), "canceled" | "errored" | "finished" | "unreachable")
    }
}

impl Hcp {
    /// Makes room for a configuration.
    pub async fn create_configuration(
        &self,
        workspace: &Workspace,
        purpose: Purpose,
    ) -> Result<Configuration, ApiError> {
        let attributes = json!({
            "auto-queue-runs": false,
            "speculative": purpose == Purpose::PlanAlone,
            "provisional": purpose == Purpose::PlanToKeep,
        });
        let body = json!({"data": {"type": "configuration-versions", "attributes": attributes}});
        let path = format!("workspaces/{}/configuration-versions", segment(&workspace.id));
        Ok(configuration(&self.api().post(&path, Some(&body)).await?))
    }

    pub async fn configuration(&self, id: &str) -> Result<Configuration, ApiError> {
        Ok(configuration(&self.api().get(&format!("configuration-versions/{}", segment(id)), &[]).await?))
    }

    pub async fn create_run(&self, new: &NewRun) -> Result<Run, ApiError> {
        let mut attributes = Map::new();
        let mut set = |name: &str, value: Json| attributes.insert(name.to_owned(), value);
        set("refresh", new.refresh.into());
        if let Some(auto_apply) = new.auto_apply {
            set("auto-apply", auto_apply.into());
            set("save-plan", new.save_plan.into());
            let one = |(key, value): &(String, String)| json!({"key": key, "value": value});
            set("variables", new.variables.iter().map(one).collect());
        }
        for (name, is_set) in [
            ("is-destroy", new.destroy),
            ("refresh-only", new.refresh_only),
            ("allow-config-generation", new.generate_configuration),
        ] {
            if is_set {
                set(name, true.into());
            }
        }
        for (name, addresses) in [("target-addrs", &new.targets), ("replace-addrs", &new.replacements)] {
            if !addresses.is_empty() {
                set(name, addresses.clone().into());
            }
        }
        let relationships = json!({
            "configuration-version": {"data": {"type": "configuration-versions", "id": new.configuration}},
            "workspace": {"data": {"type": "workspaces", "id": new.workspace}},
        });
        let body = json!({"data": {"type": "runs", "attributes": attributes, "relationships": relationships}});
        Ok(Run::of_json(&self.api().post("runs", Some(&body)).await?))
    }

    pub async fn run(&self, id: &str) -> Result<Run, ApiError> {
        Ok(Run::of_json(&self.api().get(&format!("runs/{}", segment(id)), &[]).await?))
    }

    /// A run with its stages of tasks, where the service knows of such.
    pub async fn run_with_stages(&self, id: &str) -> Result<Vec<TaskStage>, ApiError> {
        let path = format!("runs/{}", segment(id));
        match self.api().get(&path, &[("include", "task_stages")]).await {
            Ok(found) => Ok(Run::of_json(&found).task_stages),
            Err(e) if e.status == Some(400) && e.text.contains("Invalid include parameter") => Ok(Vec::new()),
            Err(e) => Err(e),
        }
    }

    pub async fn task_stage(&self, stage: &str) -> Result<TaskStage, ApiError> {
        let path = format!("task-stages/{}", segment(stage));
        let found = self.api().get(&path, &[("include", "task_results")]).await?;
        let mut stage = TaskStage::of_json(&found["data"]);
        let included = found["included"].as_array().map(Vec::as_slice).unwrap_or_default();
        let result = |one: &Json| TaskResult {
            name: text(one, "task-name").to_owned(),
            status: text(one, "status").to_owned(),
            message: text(one, "message").to_owned(),
            url: text(one, "url").to_owned(),
            enforcement: text(one, "workspace-task-enforcement-level").to_owned(),
        };
        stage.results = included.iter().filter(|one| one["type"] == "task-results").map(result).collect();
        Ok(stage)
    }

    /// `apply`, `cancel` or `discard`.
    pub async fn act_on_run(&self, id: &str, action: &str) -> Result<(), ApiError> {
        let path = format!("runs/{}/actions/{action}", segment(id));
        self.api().post(&path, Some(&json!({}))).await.map(drop)
    }

    /// What the service says of a run's circumstances.
    pub async fn run_warnings(&self, id: &str) -> Result<Vec<String>, ApiError> {
        let found = match self.api().get(&format!("runs/{}/run-events", segment(id)), &[]).await {
            Ok(found) => found,
            Err(e) if e.is_not_found() => return Ok(Vec::new()),
            Err(e) => return Err(e),
        };
        let events = found["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        let actions = ["changed_policy_enforcements", "changed_task_enforcements", "ignored_policy_sets"];
        let told = events.iter().filter(|one| actions.contains(&text(one, "action")));
        Ok(told.map(|one| text(one, "description").to_owned()).filter(|text| !text.is_empty()).collect())
    }

    pub async fn phase(&self, phase: Phase, id: &str) -> Result<PhaseStatus, ApiError> {
        let found = self.api().get(&format!("{}/{}", phase.path(), segment(id)), &[]).await?;
        let data = &found["data"];
        Ok(PhaseStatus {
            status: text(data, "status").to_owned(),
            has_changes: data["attributes"]["has-changes"].as_bool().unwrap_or_default(),
            log: text(data, "log-read-url").to_owned(),
        })
    }

    /// Streams the log of a plan or an apply, line by line, until it is over.
    pub async fn follow_log(&self, phase: Phase, id: &str, mut line: impl FnMut(&str) + Send) -> Result<(), ApiError> {
        let mut status = self.phase(phase, id).await?;
        let mut log = Log::default();
        let mut idle = 0u32;
        loop {
            let address = format!("{}{}limit={LOG_PIECE}&offset={}", status.log, joint(&status.log), log.offset);
            let piece = self.api().download(&address).await?;
            let is_empty = piece.is_empty();
            log.take(&piece, &mut line);
            if log.ended {
                break;
            }
            if !is_empty {
                idle = 0;
                continue;
            }
            idle += 1;
            // A log without marks ends with the phase; one with marks that stopped growing may have been cut off.
            if idle > 1 {
                status = self.phase(phase, id).await?;
                if status.is_over() {
                    break;
                }
            }
            let pause = 500.0 * 2f64.powf(f64::from(idle.min(10)) / 5.0);
            tokio::time::sleep(Duration::from_millis(pause.min(2000.0) as u64)).await;
        }
        log.finish(&mut line);
        Ok(())
    }

    pub async fn cost_estimate(&self, id: &str) -> Result<CostEstimate, ApiError> {
        let found = self.api().get(&format!("cost-estimates/{}", segment(id)), &[]).await?;
        let data = &found["data"];
        let count = |name: &str| data["attributes"][name].as_u64().unwrap_or_default();
        Ok(CostEstimate {
            status: text(data, "status").to_owned(),
            delta: text(data, "delta-monthly-cost").to_owned(),
            proposed: text(data, "proposed-monthly-cost").to_owned(),
            matched: count("matched-resources-count"),
            resources: count("resources-count"),
        })
    }

    pub async fn policy_check(&self, id: &str) -> Result<PolicyCheck, ApiError> {
        let found = self.api().get(&format!("policy-checks/{}", segment(id)), &[]).await?;
        let attributes = &found["data"]["attributes"];
        let may = |part: &str, name: &str| attributes[part][name].as_bool().unwrap_or_default();
        Ok(PolicyCheck {
            id: id.to_owned(),
            status: text(&found["data"], "status").to_owned(),
            scope: text(&found["data"], "scope").to_owned(),
            may_override: may("actions", "is-overridable") && may("permissions", "can-override"),
        })
    }

    /// What a policy check had to say.
    pub async fn policy_output(&self, id: &str) -> Result<String, ApiError> {
        let output = self.api().download(&format!("policy-checks/{}/output", segment(id))).await?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    pub async fn override_policy(&self, id: &str) -> Result<(), ApiError> {
        self.api().post(&format!("policy-checks/{}/actions/override", segment(id)), None).await.map(drop)
    }

    pub async fn override_stage(&self, id: &str) -> Result<(), ApiError> {
        self.api().post(&format!("task-stages/{}/actions/override", segment(id)), Some(&json!({}))).await.map(drop)
    }

    /// A plan as JSON: for people, without secrets; or for programs.
    pub async fn plan_json(&self, plan: &str, redacted: bool) -> Result<Vec<u8>, ApiError> {
        let what = if redacted { "json-output-redacted" } else { "json-output" };
        self.api().download(&format!("plans/{}/{what}", segment(plan))).await
    }
}

fn configuration(document: &Json) -> Configuration {
    let data = &document["data"];
    Configuration {
        id: id(data).to_owned(),
        upload_url: text(data, "upload-url").to_owned(),
        status: text(data, "status").to_owned(),
    }
}

/// So much of a log is asked for at once.
const LOG_PIECE: usize = 65536;

fn joint(address: &str) -> char {
    if address.contains('?') { '&' } else { '?' }
}

/// A log as far as it was read.
#[derive(Default)]
struct Log {
    offset: usize,
    /// It began with a mark, so it ends with one.
    marked: bool,
    ended: bool,
    /// The line that is not complete.
    rest: Vec<u8>,
}

const START_OF_TEXT: u8 = 2;
const END_OF_TEXT: u8 = 3;

impl Log {
    fn take(&mut self, piece: &[u8], line: &mut impl FnMut(&str)) {
        let mut text = piece;
        if self.offset == 0 && text.first() == Some(&START_OF_TEXT) {
            self.marked = true;
            text = &text[1..];
        }
        if self.marked && text.last() == Some(&END_OF_TEXT) {
            self.ended = true;
            text = &text[..text.len() - 1];
        }
        self.offset += piece.len();
        self.rest.extend_from_slice(text);
        while let Some(at) = self.rest.iter().position(|byte| *byte == b'\n') {
            let whole: Vec<u8> = self.rest.drain(..=at).collect();
            line(String::from_utf8_lossy(&whole).trim_end_matches(['\n', '\r']));
        }
    }

    fn finish(&mut self, line: &mut impl FnMut(&str)) {
        if !self.rest.is_empty() {
            line(&String::from_utf8_lossy(&self.rest));
            self.rest.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_come_in_pieces_between_marks() {
        let (mut log, mut lines) = (Log::default(), Vec::new());
        let mut line = |text: &str| lines.push(text.to_owned());
        for piece in ["\u{2}one\r\ntw", "o\n", "thr", "ee\u{3}"] {
            assert!(!log.ended);
            log.take(piece.as_bytes(), &mut line);
        }
        log.finish(&mut line);
        assert!(log.ended);
        assert_eq!((lines, log.offset), (vec!["one".to_owned(), "two".into(), "three".into()], 16));
        let (mut log, mut lines) = (Log::default(), Vec::new());
        log.take(b"plain\n", &mut |text: &str| lines.push(text.to_owned()));
        assert_eq!((lines, log.ended), (vec!["plain".to_owned()], false));
    }
}
