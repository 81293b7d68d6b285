//! Runs of the stub of HCP Terraform: configuration versions, plans, applies, logs, tasks, policies and costs.

use std::io::Read;

use serde_json::{Value, json};

use super::hcp::{Service, document, not_found, page, refusal};
use super::stub::{Answer, Call};

/// The runs of the service, and the results of the next ones.
pub struct Runs {
    pub all: Vec<Run>,
    /// Names of files, by configuration.
    pub slugs: Vec<(String, Vec<String>)>,
    /// The logs of plans and applies.
    pub plan_log: String,
    pub apply_log: String,
    /// The description of plans, and whether it has generated configuration.
    pub plan_json: String,
    pub generates: bool,
    pub has_changes: bool,
    /// Plans fail.
    pub fails: bool,
    /// Runs stay pending for so many requests.
    pub waits: usize,
    /// Older runs of the workspace: IDs and statuses, newest first. The last one is the current run.
    pub older: Vec<(String, String)>,
    /// The position of runs in the queue of the organization.
    pub position: i64,
    /// Warnings of new runs.
    pub warnings: Vec<String>,
    /// The status of policy checks. None: there are none.
    pub policy: Option<String>,
    /// The status of cost estimates. None: there are none.
    pub costs: Option<String>,
    pub stages: Vec<Stage>,
}

/// A stage of tasks.
#[derive(Clone, Debug)]
pub struct Stage {
    /// `pre_plan`, `post_plan` or `pre_apply`.
    pub stage: String,
    pub status: String,
    /// The status of its task. None: it has no task.
    pub task: Option<String>,
    /// The status of its policy evaluation. None: it has none.
    pub evaluation: Option<String>,
}

impl Stage {
    pub fn with_task(stage: &str, status: &str) -> Stage {
        Stage { stage: stage.to_owned(), status: status.to_owned(), task: Some(status.to_owned()), evaluation: None }
    }

    pub fn with_policies(stage: &str, status: &str, evaluation: &str) -> Stage {
        let evaluation = Some(evaluation.to_owned());
        Stage { stage: stage.to_owned(), status: status.to_owned(), task: None, evaluation }
    }
}

#[derive(Clone, Debug)]
pub struct Run {
    pub id: String,
    pub workspace: String,
    pub attributes: Value,
    pub status: String,
    pub looks: usize,
    pub configuration: String,
}

const HEAD: &str = "Terraform v1.11.4\non linux_amd64\nInitializing plugins and modules...\n";

impl Default for Runs {
    fn default() -> Runs {
        Runs {
            all: Vec::new(),
            slugs: Vec::new(),
            plan_log: format!("{HEAD}\nPlan: 1 to add, 0 to change, 0 to destroy.\n"),
            apply_log: format!(
                "{HEAD}terraform_data.a: Creating...\n\nApply complete! Resources: 1 added, 0 changed, 0 destroyed.\n"
            ),
            plan_json: include_str!("../backends/runs/plan.json").to_owned(),
            generates: false,
            has_changes: true,
            fails: false,
            waits: 0,
            older: Vec::new(),
            position: 0,
            warnings: Vec::new(),
            policy: None,
            costs: None,
            stages: Vec::new(),
        }
    }
}

impl Runs {
    /// Logs are messages in the format of `-json`.
    pub fn structured(&mut self) {
        self.plan_log = include_str!("../backends/runs/plan.jsonl").to_owned();
        self.apply_log = include_str!("../backends/runs/apply.jsonl").to_owned();
    }
}

fn body(call: &Call) -> Value {
    serde_json::from_slice(&call.body).unwrap_or_default()
}

fn reference(kind: &str, id: &str) -> Value {
    json!({"type": kind, "id": id})
}

fn resource(kind: &str, id: &str, attributes: Value) -> Value {
    json!({"id": id, "type": kind, "attributes": attributes})
}

fn with_included(data: Value, included: Vec<Value>) -> Answer {
    let body = json!({"data": data, "included": included});
    Answer::new(200, body.to_string()).with("Content-Type", "application/vnd.api+json")
}

impl Service {
    pub fn take_slug(&mut self, id: &str, content: &[u8]) -> Answer {
        let mut plain = Vec::new();
        if flate2::read::GzDecoder::new(content).read_to_end(&mut plain).is_err() {
            return refusal(400, "not an archive", "");
        }
        let mut archive = tar::Archive::new(&plain[..]);
        let names = archive.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().display().to_string());
        let names = names.collect();
        self.runs.slugs.push((id.to_owned(), names));
        Answer::new(200, "")
    }

    /// A piece of the log of a plan or an apply, between marks.
    pub fn log(&mut self, id: &str, call: &Call) -> Answer {
        let text = if id.starts_with("plan-") { &self.runs.plan_log } else { &self.runs.apply_log };
        let whole = format!("\u{2}{text}\u{3}").into_bytes();
        let number = |name: &str| call.parameter(name).and_then(|text| text.parse().ok()).unwrap_or(0usize);
        let from = number("offset").min(whole.len());
        // Small pieces, so that lines are cut.
        let piece = (whole.len() / 9).max(40);
        let to = (from + number("limit").min(piece)).min(whole.len());
        Answer::new(200, whole[from..to].to_vec())
    }

    pub fn of_runs(&mut self, call: &Call, path: &[&str]) -> Answer {
        match (call.method.as_str(), path) {
            ("GET", ["configuration-versions", id]) => {
                let status = if self.runs.slugs.iter().any(|(other, _)| other == id) { "uploaded" } else { "pending" };
                document(200, resource("configuration-versions", id, json!({"status": status})))
            }
            ("POST", ["runs"]) => self.create_run(&body(call)["data"]),
            (_, ["runs", id, rest @ ..]) => {
                if let Some((id, status)) = self.runs.older.iter().find(|(other, _)| other == id) {
                    return document(200, resource("runs", id, json!({"status": status})));
                }
                let Some(at) = self.runs.all.iter().position(|one| one.id == *id) else { return not_found() };
                self.of_run(call, at, rest)
            }
            ("GET", ["plans", id]) => document(200, self.phase(id, "plans")),
            ("GET", ["applies", id]) => document(200, self.phase(id, "applies")),
            ("GET", ["plans", _, "json-output-redacted" | "json-output"]) => {
                Answer::new(200, self.runs.plan_json.clone())
            }
            ("GET", ["cost-estimates", id]) => {
                let attributes = json!({"status": self.runs.costs, "matched-resources-count": 1, "resources-count": 2,
                    "delta-monthly-cost": "-25.48", "proposed-monthly-cost": "25.48", "prior-monthly-cost": "0.0"});
                document(200, resource("cost-estimates", id, attributes))
            }
            ("GET", ["policy-checks", id]) => self.policy(id),
            ("GET", ["policy-checks", _, "output"]) => {
                Answer::new(200, "Sentinel Result: false\n\n1 policies evaluated.\n")
            }
            ("POST", ["policy-checks", id, "actions", "override"]) => {
                self.runs.policy = Some("overridden".to_owned());
                self.policy(id)
            }
            ("GET", ["task-stages", id]) => self.stage(id),
            ("POST", ["task-stages", id, "actions", "override"]) => {
                let Some(at) = id.strip_prefix("ts-").and_then(|at| at.parse::<usize>().ok()) else {
                    return not_found();
                };
                self.runs.stages[at].status = "passed".to_owned();
                self.stage(id)
            }
            ("GET", ["policy-evaluations", _, "policy-set-outcomes"]) => page(call, &[policy_set()]),
            _ => not_found(),
        }
    }

    pub fn runs_of_workspace(&mut self, at: usize, call: &Call, path: &[&str]) -> Answer {
        match (call.method.as_str(), path) {
            ("POST", ["configuration-versions"]) => {
                let id = self.new_id("cv");
                let upload = self.url(&format!("/uploads/slug/{id}"));
                let attributes = json!({"status": "pending", "upload-url": upload});
                document(201, resource("configuration-versions", &id, attributes))
            }
            ("GET", ["runs"]) => {
                let id = self.workspaces[at].id.clone();
                let own = (0..self.runs.all.len()).rev().filter(|i| self.runs.all[*i].workspace == id);
                let own = own.map(|i| self.run_json(i)).take(1);
                let older = self.runs.older.iter().map(|(id, status)| resource("runs", id, json!({"status": status})));
                page(call, &own.chain(older).collect::<Vec<_>>())
            }
            _ => not_found(),
        }
    }

    /// The queue of the organization: the newest run.
    pub fn queue(&self, call: &Call) -> Answer {
        let last = self.runs.all.last().filter(|_| self.runs.position > 0);
        let queued = last.map(|run| resource("runs", &run.id, json!({"position-in-queue": self.runs.position})));
        page(call, &queued.into_iter().collect::<Vec<_>>())
    }

    fn create_run(&mut self, data: &Value) -> Answer {
        let related = |name: &str| data["relationships"][name]["data"]["id"].as_str().unwrap_or_default().to_owned();
        let run = Run {
            id: self.new_id("run"),
            workspace: related("workspace"),
            configuration: related("configuration-version"),
            attributes: data["attributes"].clone(),
            status: "pending".to_owned(),
            looks: 0,
        };
        self.runs.all.push(run);
        document(201, self.run_json(self.runs.all.len() - 1))
    }

    fn of_run(&mut self, call: &Call, at: usize, path: &[&str]) -> Answer {
        match (call.method.as_str(), path) {
            ("GET", []) => {
                let include = call.parameter("include").unwrap_or_default().to_owned();
                self.advance(at);
                let mut included = Vec::new();
                if include.contains("task_stages") {
                    included.extend((0..self.runs.stages.len()).map(|i| self.stage_json(i)));
                }
                if include.contains("workspace") {
                    let id = self.runs.all[at].workspace.clone();
                    let workspace = self.workspaces.iter().find(|one| one.id == id).unwrap();
                    included.push(self.workspace_json(workspace));
                    included.push(self.phase(&format!("plan-{}", self.runs.all[at].id), "plans"));
                }
                with_included(self.run_json(at), included)
            }
            ("GET", ["run-events"]) => {
                let event = |(i, text): (usize, &String)| {
                    let attributes = json!({"action": "changed_policy_enforcements", "description": text});
                    resource("run-events", &format!("re-{i}"), attributes)
                };
                let all: Vec<Value> = self.runs.warnings.iter().enumerate().map(event).collect();
                page(call, &all)
            }
            ("POST", ["actions", action]) => {
                let status = match *action {
                    "apply" => "applying",
                    "cancel" => "canceled",
                    "discard" => "discarded",
                    _ => return not_found(),
                };
                self.runs.all[at].status = status.to_owned();
                Answer::new(202, "")
            }
            _ => not_found(),
        }
    }

    /// Each request brings a run on.
    fn advance(&mut self, at: usize) {
        let (waits, fails, has_changes) = (self.runs.waits, self.runs.fails, self.runs.has_changes);
        let run = &mut self.runs.all[at];
        run.looks += 1;
        if run.status == "pending" && run.looks > waits + 1 {
            run.status = match (fails, has_changes) {
                (true, _) => "errored",
                (false, false) => "planned_and_finished",
                (false, true) if run.attributes["auto-apply"] == true => "applying",
                (false, true) if self.runs.policy.as_deref() == Some("soft_failed") => "policy_override",
                (false, true) if run.attributes["save-plan"] == true => "planned_and_saved",
                (false, true) => "planned",
            }
            .to_owned();
        } else if run.status == "applying" && run.looks > waits + 6 {
            run.status = "applied".to_owned();
        }
    }

    fn run_json(&self, at: usize) -> Value {
        let run = &self.runs.all[at];
        let is = |statuses: &[&str]| statuses.contains(&run.status.as_str());
        let check = self.runs.policy.as_ref().map(|_| reference("policy-checks", &format!("polchk-{}", run.id)));
        let costs = self.runs.costs.as_ref().map(|_| reference("cost-estimates", &format!("ce-{}", run.id)));
        let stages = (0..self.runs.stages.len()).map(|i| reference("task-stages", &format!("ts-{i}")));
        let mut found = resource(
            "runs",
            &run.id,
            json!({
                "status": run.status,
                "has-changes": self.runs.has_changes,
                "is-destroy": run.attributes["is-destroy"] == true,
                "refresh-only": run.attributes["refresh-only"] == true,
                "actions": {
                    "is-cancelable": is(&["pending", "planning", "applying"]),
                    "is-confirmable": is(&["planned", "planned_and_saved", "policy_override"]),
                    "is-discardable": is(&["planned", "planned_and_saved", "policy_override", "pending"]),
                },
                "permissions": {"can-apply": true},
            }),
        );
        found["relationships"] = json!({
            "workspace": {"data": reference("workspaces", &run.workspace)},
            "configuration-version": {"data": reference("configuration-versions", &run.configuration)},
            "plan": {"data": reference("plans", &format!("plan-{}", run.id))},
            "apply": {"data": reference("applies", &format!("apply-{}", run.id))},
            "cost-estimate": {"data": costs},
            "policy-checks": {"data": check.into_iter().collect::<Vec<_>>()},
            "task-stages": {"data": stages.collect::<Vec<_>>()},
        });
        found
    }

    fn phase(&self, id: &str, kind: &str) -> Value {
        let status = if kind == "plans" && self.runs.fails { "errored" } else { "finished" };
        let attributes = json!({
            "status": status,
            "has-changes": self.runs.has_changes,
            "generated-configuration": self.runs.generates,
            "log-read-url": self.url(&format!("/logs/{id}")),
        });
        resource(kind, id, attributes)
    }

    fn policy(&self, id: &str) -> Answer {
        let attributes = json!({
            "status": self.runs.policy,
            "scope": "organization",
            "actions": {"is-overridable": true},
            "permissions": {"can-override": true},
            "result": {},
        });
        document(200, resource("policy-checks", id, attributes))
    }

    fn stage(&self, id: &str) -> Answer {
        let Some(at) = id.strip_prefix("ts-").and_then(|at| at.parse::<usize>().ok()) else { return not_found() };
        let stage = &self.runs.stages[at];
        let mut included = Vec::new();
        if let Some(status) = &stage.task {
            included.push(resource(
                "task-results",
                &format!("taskrs-{at}"),
                json!({
                "task-name": "scanner", "status": status, "message": "looked at all", "url": "https://example.com/task",
                "workspace-task-enforcement-level": "mandatory"}),
            ));
        }
        if let Some(status) = &stage.evaluation {
            let (passed, failed) = if status == "passed" { (2, 0) } else { (1, 1) };
            included.push(resource(
                "policy-evaluations",
                &format!("poleval-{at}"),
                json!({
                "status": status, "policy-kind": "opa", "result-count": {
                    "advisory-failed": 0, "mandatory-failed": failed, "passed": passed, "errored": 0}}),
            ));
        }
        with_included(self.stage_json(at), included)
    }

    fn stage_json(&self, at: usize) -> Value {
        let stage = &self.runs.stages[at];
        let tasks = stage.task.iter().map(|_| reference("task-results", &format!("taskrs-{at}")));
        let evaluations = stage.evaluation.iter().map(|_| reference("policy-evaluations", &format!("poleval-{at}")));
        let attributes = json!({"stage": stage.stage, "status": stage.status});
        let mut found = resource("task-stages", &format!("ts-{at}"), attributes);
        found["relationships"] = json!({
            "task-results": {"data": tasks.collect::<Vec<_>>()},
            "policy-evaluations": {"data": evaluations.collect::<Vec<_>>()},
        });
        found
    }
}

fn policy_set() -> Value {
    let outcomes = json!([
        {"policy_name": "names", "status": "passed", "description": "Names are short.", "enforcement_level": "mandatory"},
        {"policy_name": "tags", "status": "failed", "description": "", "enforcement_level": "mandatory"},
        {"policy_name": "sizes", "status": "failed", "description": "", "enforcement_level": "advisory"},
    ]);
    resource("policy-set-outcomes", "psout-1", json!({"policy-set-name": "basics", "outcomes": outcomes}))
}
