//! Runs of the stub of HCP Terraform: configuration versions, plans, applies, logs and what comes between them.

use std::io::Read;

use serde_json::{Value, json};

use super::hcp::{Service, document, not_found, page, refusal};
use super::stub::{Answer, Call};

/// The runs of the service, and what the next ones are like.
pub struct Runs {
    pub all: Vec<Run>,
    /// Names of files, by configuration.
    pub slugs: Vec<(String, Vec<String>)>,
    /// What plans and applies say.
    pub plan_log: String,
    pub apply_log: String,
    pub has_changes: bool,
    /// Plans fail.
    pub fails: bool,
    /// Runs wait so many looks before they begin.
    pub waits: usize,
    /// The policy check of each run: its status, or none.
    pub policy: Option<String>,
    pub costs: bool,
    /// Stages of tasks, each with one task and its status.
    pub stages: Vec<(String, String)>,
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

impl Default for Runs {
    fn default() -> Runs {
        Runs {
            all: Vec::new(),
            slugs: Vec::new(),
            plan_log: "Terraform v1.11.4\non linux_amd64\nInitializing plugins and modules...\n\nPlan: 1 to add, 0 to change, 0 to destroy.\n".to_owned(),
            apply_log: "Terraform v1.11.4\non linux_amd64\nInitializing plugins and modules...\nnull_resource.a: Creating...\n\nApply complete! Resources: 1 added, 0 changed, 0 destroyed.\n".to_owned(),
            has_changes: true,
            fails: false,
            waits: 0,
            policy: None,
            costs: false,
            stages: Vec::new(),
        }
    }
}

fn body(call: &Call) -> Value {
    serde_json::from_slice(&call.body).unwrap_or_default()
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
        let to = (from + number("limit").min(40)).min(whole.len());
        Answer::new(200, whole[from..to].to_vec())
    }

    pub fn of_runs(&mut self, call: &Call, path: &[&str]) -> Answer {
        match (call.method.as_str(), path) {
            ("GET", ["configuration-versions", id]) => {
                let status = if self.runs.slugs.iter().any(|(other, _)| other == id) { "uploaded" } else { "pending" };
                document(200, json!({"id": id, "type": "configuration-versions", "attributes": {"status": status}}))
            }
            ("POST", ["runs"]) => self.create_run(&body(call)["data"]),
            (_, ["runs", id, rest @ ..]) => {
                let Some(at) = self.runs.all.iter().position(|one| one.id == *id) else { return not_found() };
                self.of_run(call, at, rest)
            }
            ("GET", ["plans", id]) => self.phase(id, "plans", if self.runs.fails { "errored" } else { "finished" }),
            ("GET", ["applies", id]) => self.phase(id, "applies", "finished"),
            ("GET", ["plans", _, "json-output-redacted" | "json-output"]) => {
                let changes = json!([{"address": "null_resource.a", "change": {"actions": ["create"]}}]);
                Answer::new(200, json!({"format_version": "1.2", "resource_changes": changes}).to_string())
            }
            ("GET", ["cost-estimates", id]) => {
                let attributes = json!({"status": "finished", "matched-resources-count": 1, "resources-count": 2,
                    "delta-monthly-cost": "25.48", "proposed-monthly-cost": "25.48", "prior-monthly-cost": "0.0"});
                document(200, json!({"id": id, "type": "cost-estimates", "attributes": attributes}))
            }
            ("GET", ["policy-checks", id]) => self.policy(id),
            ("GET", ["policy-checks", _, "output"]) => Answer::new(200, "Sentinel Result: false\n"),
            ("POST", ["policy-checks", id, "actions", "override"]) => {
                self.runs.policy = Some("overridden".to_owned());
                self.policy(id)
            }
            ("GET", ["task-stages", id]) => self.stage(id),
            _ => not_found(),
        }
    }

    pub fn runs_of_workspace(&mut self, at: usize, call: &Call, path: &[&str]) -> Answer {
        match (call.method.as_str(), path) {
            ("POST", ["configuration-versions"]) => {
                let id = self.new_id("cv");
                let upload = self.url(&format!("/uploads/slug/{id}"));
                let attributes = json!({"status": "pending", "upload-url": upload});
                document(201, json!({"id": id, "type": "configuration-versions", "attributes": attributes}))
            }
            ("GET", ["runs"]) => {
                let id = self.workspaces[at].id.clone();
                let all: Vec<Value> = (0..self.runs.all.len())
                    .filter(|i| self.runs.all[*i].workspace == id)
                    .map(|i| self.run_json(i))
                    .collect();
                page(call, &all)
            }
            _ => not_found(),
        }
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
                self.advance(at);
                let included: Vec<Value> = (0..self.runs.stages.len()).map(|i| self.stage_json(i)).collect();
                let body = json!({"data": self.run_json(at), "included": included});
                Answer::new(200, body.to_string()).with("Content-Type", "application/vnd.api+json")
            }
            ("GET", ["run-events"]) => page(call, &[]),
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

    /// Each look brings a run on.
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
        let checks: Vec<Value> = self
            .runs
            .policy
            .iter()
            .map(|_| json!({"type": "policy-checks", "id": format!("polchk-{}", run.id)}))
            .collect();
        let costs = self.runs.costs.then(|| json!({"type": "cost-estimates", "id": format!("ce-{}", run.id)}));
        json!({"id": run.id, "type": "runs", "attributes": {
            "status": run.status,
            "has-changes": self.runs.has_changes,
            "is-destroy": run.attributes["is-destroy"] == true,
            "refresh-only": run.attributes["refresh-only"] == true,
            "actions": {
                "is-cancelable": is(&["pending", "planning", "applying"]),
                "is-confirmable": is(&["planned", "policy_override"]),
                "is-discardable": is(&["planned", "policy_override", "pending"]),
            },
            "permissions": {"can-apply": true},
        }, "relationships": {
            "workspace": {"data": {"type": "workspaces", "id": run.workspace}},
            "configuration-version": {"data": {"type": "configuration-versions", "id": run.configuration}},
            "plan": {"data": {"type": "plans", "id": format!("plan-{}", run.id)}},
            "apply": {"data": {"type": "applies", "id": format!("apply-{}", run.id)}},
            "cost-estimate": {"data": costs},
            "policy-checks": {"data": checks},
            "task-stages": {"data": (0..self.runs.stages.len()).map(|i| json!({"type": "task-stages", "id": format!("ts-{i}")})).collect::<Vec<_>>()},
        }})
    }

    fn phase(&self, id: &str, kind: &str, status: &str) -> Answer {
        let attributes = json!({
            "status": status,
            "has-changes": self.runs.has_changes,
            "log-read-url": self.url(&format!("/logs/{id}")),
        });
        document(200, json!({"id": id, "type": kind, "attributes": attributes}))
    }

    fn policy(&self, id: &str) -> Answer {
        let attributes = json!({
            "status": self.runs.policy,
            "scope": "organization",
            "actions": {"is-overridable": true},
            "permissions": {"can-override": true},
            "result": {},
        });
        document(200, json!({"id": id, "type": "policy-checks", "attributes": attributes}))
    }

    fn stage(&self, id: &str) -> Answer {
        let Some(at) = id.strip_prefix("ts-").and_then(|at| at.parse::<usize>().ok()) else { return not_found() };
        let status = &self.runs.stages[at].1;
        let result = json!({"id": format!("taskrs-{at}"), "type": "task-results", "attributes": {
            "task-name": "scanner", "status": status, "message": "looked at all", "url": "https://example.com/task",
            "workspace-task-enforcement-level": "mandatory"}});
        let body = json!({"data": self.stage_json(at), "included": [result]});
        Answer::new(200, body.to_string()).with("Content-Type", "application/vnd.api+json")
    }

    fn stage_json(&self, at: usize) -> Value {
        let (stage, status) = &self.runs.stages[at];
        let results = json!([{"type": "task-results", "id": format!("taskrs-{at}")}]);
        json!({"id": format!("ts-{at}"), "type": "task-stages", "attributes": {"stage": stage, "status": status},
            "relationships": {"task-results": {"data": results}, "policy-evaluations": {"data": []}}})
    }
}
