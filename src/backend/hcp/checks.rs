//! The checks of a run beside its plan: tasks of other services, policies, cost estimates.

use serde_json::{Value as Json, json};

use super::Hcp;
use super::api::{ApiError, elements, id, segment, text};

/// The tasks and policy evaluations at one point of a run.
#[derive(Clone, Debug, Default)]
pub struct TaskStage {
    pub id: String,
    /// `pre_plan`, `post_plan` or `pre_apply`.
    pub stage: String,
    pub status: String,
    pub results: Vec<TaskResult>,
    pub evaluations: Vec<PolicyEvaluation>,
}

#[derive(Clone, Debug, Default)]
pub struct TaskResult {
    pub name: String,
    pub status: String,
    pub message: String,
    pub url: String,
    /// `mandatory` or `advisory`.
    pub enforcement: String,
}

/// The evaluation of the policies of one kind.
#[derive(Clone, Debug, Default)]
pub struct PolicyEvaluation {
    pub id: String,
    pub status: String,
    /// `opa` or `sentinel`.
    pub kind: String,
    pub advisory_failed: u64,
    /// Policies of any result.
    pub total: u64,
}

/// The results of one set of policies.
#[derive(Clone, Debug, Default)]
pub struct PolicySetOutcome {
    pub name: String,
    pub outcomes: Vec<PolicyOutcome>,
}

#[derive(Clone, Debug, Default)]
pub struct PolicyOutcome {
    pub name: String,
    pub status: String,
    pub description: String,
    /// `mandatory` or `advisory`.
    pub enforcement: String,
}

/// The estimated costs of a plan, in dollars.
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
    /// `organization` or `workspace`.
    pub scope: String,
    pub may_override: bool,
}

impl TaskStage {
    fn of_json(resource: &Json) -> TaskStage {
        TaskStage {
            id: id(resource).to_owned(),
            stage: text(resource, "stage").to_owned(),
            status: text(resource, "status").to_owned(),
            ..TaskStage::default()
        }
    }
}

impl TaskResult {
    fn of_json(resource: &Json) -> TaskResult {
        TaskResult {
            name: text(resource, "task-name").to_owned(),
            status: text(resource, "status").to_owned(),
            message: text(resource, "message").to_owned(),
            url: text(resource, "url").to_owned(),
            enforcement: text(resource, "workspace-task-enforcement-level").to_owned(),
        }
    }
}

impl PolicyEvaluation {
    fn of_json(resource: &Json) -> PolicyEvaluation {
        let counts = &resource["attributes"]["result-count"];
        let count = |name: &str| counts[name].as_u64().unwrap_or_default();
        PolicyEvaluation {
            id: id(resource).to_owned(),
            status: text(resource, "status").to_owned(),
            kind: text(resource, "policy-kind").to_owned(),
            advisory_failed: count("advisory-failed"),
            total: ["advisory-failed", "mandatory-failed", "errored", "passed"].into_iter().map(count).sum(),
        }
    }
}

impl PolicySetOutcome {
    fn of_json(resource: &Json) -> PolicySetOutcome {
        let outcome = |found: &Json| {
            let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
            PolicyOutcome {
                name: text("policy_name"),
                status: text("status"),
                description: text("description"),
                enforcement: text("enforcement_level"),
            }
        };
        PolicySetOutcome {
            name: text(resource, "policy-set-name").to_owned(),
            outcomes: elements(&resource["attributes"]["outcomes"]).iter().map(outcome).collect(),
        }
    }
}

impl Hcp {
    /// The stages of a run, without results; none if the service is too old for them.
    pub async fn task_stages(&self, run: &str) -> Result<Vec<TaskStage>, ApiError> {
        let path = format!("runs/{}", segment(run));
        match self.api().get(&path, &[("include", "task_stages")]).await {
            Ok(found) => {
                let included = elements(&found["included"]).iter();
                Ok(included.filter(|one| one["type"] == "task-stages").map(TaskStage::of_json).collect())
            }
            Err(e) if e.status == Some(400) && e.text.contains("Invalid include parameter") => Ok(Vec::new()),
            Err(e) => Err(e),
        }
    }

    pub async fn task_stage(&self, stage: &str) -> Result<TaskStage, ApiError> {
        let path = format!("task-stages/{}", segment(stage));
        let found = self.api().get(&path, &[("include", "task_results,policy_evaluations")]).await?;
        let included = |kind: &'static str| elements(&found["included"]).iter().filter(move |one| one["type"] == kind);
        Ok(TaskStage {
            results: included("task-results").map(TaskResult::of_json).collect(),
            evaluations: included("policy-evaluations").map(PolicyEvaluation::of_json).collect(),
            ..TaskStage::of_json(&found["data"])
        })
    }

    pub async fn override_stage(&self, stage: &str) -> Result<(), ApiError> {
        let path = format!("task-stages/{}/actions/override", segment(stage));
        self.api().post(&path, Some(&json!({}))).await.map(drop)
    }

    /// The results of a policy evaluation, by policy set.
    pub async fn policy_outcomes(&self, evaluation: &str) -> Result<Vec<PolicySetOutcome>, ApiError> {
        let path = format!("policy-evaluations/{}/policy-set-outcomes", segment(evaluation));
        Ok(elements(&self.api().get(&path, &[]).await?["data"]).iter().map(PolicySetOutcome::of_json).collect())
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
        let data = &found["data"];
        let may = |part: &str, name: &str| data["attributes"][part][name].as_bool().unwrap_or_default();
        Ok(PolicyCheck {
            id: id.to_owned(),
            status: text(data, "status").to_owned(),
            scope: text(data, "scope").to_owned(),
            may_override: may("actions", "is-overridable") && may("permissions", "can-override"),
        })
    }

    /// The log of a policy check.
    pub async fn policy_output(&self, id: &str) -> Result<String, ApiError> {
        let output = self.api().download(&format!("policy-checks/{}/output", segment(id))).await?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    pub async fn override_policy(&self, id: &str) -> Result<(), ApiError> {
        self.api().post(&format!("policy-checks/{}/actions/override", segment(id)), None).await.map(drop)
    }
}
