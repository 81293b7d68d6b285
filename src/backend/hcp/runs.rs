//! Runs: uploaded configurations, plans and applies on the machines of the service.

use serde_json::{Map, Value as Json, json};

use super::Hcp;
use super::api::{ApiError, elements, id, related, segment, text};
use super::workspaces::Workspace;

/// An uploaded configuration.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    pub id: String,
    /// A secret: the address is the permission to upload.
    pub upload_url: String,
    pub status: String,
}

/// How the plan of a configuration is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It is only shown.
    PlanOnly,
    /// It is saved and may be applied later.
    SavedPlan,
    Apply,
}

/// The options of a new run.
#[derive(Clone, Debug, Default)]
pub struct NewRun {
    /// The ID of the configuration.
    pub configuration: String,
    /// The ID of the workspace.
    pub workspace: String,
    pub refresh: bool,
    /// The plan may be applied later.
    pub save_plan: bool,
    /// None: the workspace decides.
    pub auto_apply: Option<bool>,
    pub destroy: bool,
    pub refresh_only: bool,
    pub targets: Vec<String>,
    pub replacements: Vec<String>,
    /// Names, and values as expressions of the language.
    pub variables: Vec<(String, String)>,
    pub generate_configuration: bool,
}

/// A run at the time of the request.
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
    /// False: the user may not approve it. None: an old service that does not report it.
    pub can_apply: Option<bool>,
    /// IDs of what belongs to it.
    pub workspace: Option<String>,
    pub plan: Option<String>,
    pub apply: Option<String>,
    pub cost_estimate: Option<String>,
    pub policy_checks: Vec<String>,
}

impl Run {
    fn of_json(data: &Json) -> Run {
        let attributes = &data["attributes"];
        let flag = |name: &str| attributes[name].as_bool().unwrap_or_default();
        let may = |name: &str| attributes["actions"][name].as_bool().unwrap_or_default();
        let relation = |name: &str| related(data, name).map(str::to_owned);
        let checks = elements(&data["relationships"]["policy-checks"]["data"]);
        Run {
            id: id(data).to_owned(),
            status: text(data, "status").to_owned(),
            has_changes: flag("has-changes"),
            is_destroy: flag("is-destroy"),
            refresh_only: flag("refresh-only"),
            is_cancelable: may("is-cancelable"),
            is_confirmable: may("is-confirmable"),
            is_discardable: may("is-discardable"),
            can_apply: attributes["permissions"]["can-apply"].as_bool(),
            workspace: relation("workspace"),
            plan: relation("plan"),
            apply: relation("apply"),
            cost_estimate: relation("cost-estimate"),
            policy_checks: checks.iter().map(|check| id(check).to_owned()).collect(),
        }
    }

    /// It was canceled, or ended with an error.
    pub fn has_failed(&self) -> bool {
        matches!(self.status.as_str(), "canceled" | "errored")
    }
}

/// A phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Plan,
    Apply,
}

/// A plan or an apply at the time of the request.
#[derive(Clone, Debug, Default)]
pub struct PhaseStatus {
    pub status: String,
    pub has_changes: bool,
    pub has_generated_configuration: bool,
    /// A secret: the address is the permission to read the log.
    pub(super) log_url: String,
}

impl PhaseStatus {
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.status.as_str(), "canceled" | "errored" | "finished" | "unreachable")
    }
}

impl Hcp {
    /// Creates a configuration, without content.
    pub async fn create_configuration(
        &self,
        workspace: &Workspace,
        purpose: Purpose,
    ) -> Result<Configuration, ApiError> {
        let attributes = json!({
            "auto-queue-runs": false,
            "speculative": purpose == Purpose::PlanOnly,
            "provisional": purpose == Purpose::SavedPlan,
        });
        let body = json!({"data": {"type": "configuration-versions", "attributes": attributes}});
        let path = format!("workspaces/{}/configuration-versions", segment(&workspace.id));
        Ok(configuration(&self.api().post(&path, Some(&body)).await?))
    }

    pub async fn configuration(&self, id: &str) -> Result<Configuration, ApiError> {
        Ok(configuration(&self.api().get(&format!("configuration-versions/{}", segment(id)), &[]).await?))
    }

    pub async fn create_run(&self, new: &NewRun) -> Result<Run, ApiError> {
        Ok(Run::of_json(&self.api().post("runs", Some(&new_run(new))).await?["data"]))
    }

    pub async fn run(&self, id: &str) -> Result<Run, ApiError> {
        Ok(Run::of_json(&self.api().get(&format!("runs/{}", segment(id)), &[]).await?["data"]))
    }

    /// The runs of a workspace that were created before a run, newest first, back to the current run.
    pub async fn runs_before(
        &self,
        workspace: &Workspace,
        run: &str,
        current: Option<&str>,
    ) -> Result<Vec<Run>, ApiError> {
        let path = format!("workspaces/{}/runs", segment(&workspace.id));
        let (mut before, mut is_found, mut page) = (Vec::new(), false, 1u64);
        loop {
            let document = self.api().get(&path, &[("page[number]", &page.to_string())]).await?;
            for found in elements(&document["data"]) {
                if is_found {
                    before.push(Run::of_json(found));
                }
                is_found |= id(found) == run;
                if is_found && current == Some(id(found)) {
                    return Ok(before);
                }
            }
            match document["meta"]["pagination"]["next-page"].as_u64() {
                Some(next) if next > page => page = next,
                _ => return Ok(before),
            }
        }
    }

    /// The position of a run in the queue of the organization; 0: it is not in the queue.
    pub async fn queue_position(&self, run: &str) -> Result<i64, ApiError> {
        let found =
            self.api().pages(&format!("organizations/{}/runs/queue", segment(self.organization())), &[]).await?;
        let position = found.iter().find(|queued| id(queued) == run).map(|queued| &queued["attributes"]);
        Ok(position.and_then(|attributes| attributes["position-in-queue"].as_i64()).unwrap_or_default())
    }

    /// How many runs of the organization are at work.
    pub async fn running(&self) -> Result<i64, ApiError> {
        let found = self.api().get(&format!("organizations/{}/capacity", segment(self.organization())), &[]).await?;
        Ok(found["data"]["attributes"]["running"].as_i64().unwrap_or_default())
    }

    /// `apply`, `cancel` or `discard`.
    pub async fn act_on_run(&self, id: &str, action: &str) -> Result<(), ApiError> {
        let path = format!("runs/{}/actions/{action}", segment(id));
        self.api().post(&path, Some(&json!({}))).await.map(drop)
    }

    /// Warnings about the options of a run.
    pub async fn run_warnings(&self, id: &str) -> Result<Vec<String>, ApiError> {
        let found = match self.api().get(&format!("runs/{}/run-events", segment(id)), &[]).await {
            Ok(found) => found,
            Err(e) if e.is_not_found() => return Ok(Vec::new()),
            Err(e) => return Err(e),
        };
        let actions = ["changed_policy_enforcements", "changed_task_enforcements", "ignored_policy_sets"];
        let warnings = elements(&found["data"]).iter().filter(|event| actions.contains(&text(event, "action")));
        Ok(warnings.map(|event| text(event, "description").to_owned()).filter(|text| !text.is_empty()).collect())
    }

    pub async fn phase(&self, phase: Phase, id: &str) -> Result<PhaseStatus, ApiError> {
        let kind = if phase == Phase::Plan { "plans" } else { "applies" };
        let found = self.api().get(&format!("{kind}/{}", segment(id)), &[]).await?;
        let data = &found["data"];
        let flag = |name: &str| data["attributes"][name].as_bool().unwrap_or_default();
        Ok(PhaseStatus {
            status: text(data, "status").to_owned(),
            has_changes: flag("has-changes"),
            has_generated_configuration: flag("generated-configuration"),
            log_url: text(data, "log-read-url").to_owned(),
        })
    }

    /// A plan as JSON: without secrets and with schemas (`redacted`), or as `show -json` prints it.
    pub async fn plan_json(&self, plan: &str, redacted: bool) -> Result<Vec<u8>, ApiError> {
        let output = if redacted { "json-output-redacted" } else { "json-output" };
        self.api().download(&format!("plans/{}/{output}", segment(plan))).await
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

/// The document that asks for a run. Options at their defaults are left out, as old services do not know all of them.
fn new_run(new: &NewRun) -> Json {
    let mut attributes = Map::new();
    let mut set = |name: &str, value: Json| attributes.insert(name.to_owned(), value);
    set("refresh", new.refresh.into());
    if let Some(auto_apply) = new.auto_apply {
        set("auto-apply", auto_apply.into());
        set("save-plan", new.save_plan.into());
        let variable = |(key, value): &(String, String)| json!({"key": key, "value": value});
        set("variables", new.variables.iter().map(variable).collect());
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
    json!({"data": {"type": "runs", "attributes": attributes, "relationships": relationships}})
}
