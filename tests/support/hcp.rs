//! HCP Terraform, as far as its clients need it: workspaces with tags and projects, locks, versions of states.
//!
//! Runs are in `hcp_runs`. Stands alone with the stub server: the library's own tests use this file too.

use std::sync::{Arc, Mutex, MutexGuard};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::hcp_runs::Runs;
use super::stub::{Answer, Call, Stub};

pub const TOKEN: &str = "secret-token-of-a-test";
pub const ORGANIZATION: &str = "acme";
/// Lists have so many entries per page.
const PAGE: usize = 2;

pub struct HcpStub {
    pub stub: Stub,
    service: Arc<Mutex<Service>>,
}

/// What a test may change of the service.
pub struct Service {
    pub workspaces: Vec<Workspace>,
    pub projects: Vec<(String, String)>,
    pub versions: Vec<StateVersion>,
    /// What new workspaces have.
    pub execution_mode: String,
    pub terraform_version: String,
    /// Tags have values.
    pub tag_values: bool,
    /// States are uploaded apart.
    pub uploads: bool,
    /// Only locked workspaces get states.
    pub demands_locks: bool,
    /// The organisation may have runs.
    pub operations: bool,
    /// Seconds between snapshots.
    pub snapshot_interval: Option<u32>,
    pub runs: Runs,
    made: usize,
    port: u16,
}

#[derive(Clone, Debug, Default)]
pub struct Workspace {
    pub id: String,
    pub name: String,
    pub terraform_version: String,
    pub execution_mode: String,
    pub working_directory: String,
    pub project: Option<String>,
    pub tags: Vec<(String, String)>,
    pub locked: Option<String>,
    pub has_repository: bool,
    pub auto_apply: bool,
    pub structured: bool,
    pub may_not_apply: bool,
    pub may_not_plan: bool,
}

#[derive(Clone, Debug)]
pub struct StateVersion {
    pub id: String,
    pub workspace: String,
    pub serial: u64,
    pub lineage: String,
    pub md5: String,
    pub content: Option<Vec<u8>>,
    pub outputs: Value,
    pub run: Option<String>,
}

impl HcpStub {
    pub fn start() -> HcpStub {
        let service = Service {
            workspaces: Vec::new(),
            projects: vec![("prj-1".to_owned(), "Default Project".to_owned())],
            versions: Vec::new(),
            execution_mode: "local".to_owned(),
            terraform_version: "1.11.4".to_owned(),
            tag_values: true,
            uploads: true,
            demands_locks: true,
            operations: true,
            snapshot_interval: None,
            runs: Runs::default(),
            made: 0,
            port: 0,
        };
        let service = Arc::new(Mutex::new(service));
        let serving = service.clone();
        let stub = Stub::start(move |call| serving.lock().unwrap_or_else(|e| e.into_inner()).answer(call));
        let made = HcpStub { stub, service };
        made.service().port = made.stub.port;
        made
    }

    pub fn service(&self) -> MutexGuard<'_, Service> {
        self.service.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A CLI configuration file that knows the host and its token.
    pub fn settings(&self, host: &str) -> String {
        let url = self.stub.url();
        let services: String = ["tfe.v2", "tfe.v2.1", "tfe.v2.2", "state.v2"]
            .iter()
            .map(|id| format!("    \"{id}\" = \"{url}/api/v2/\"\n"))
            .collect();
        format!(
            "host \"{host}\" {{\n  services = {{\n{services}  }}\n}}\ncredentials \"{host}\" {{\n  token = \"{TOKEN}\"\n}}\n"
        )
    }

    /// The newest state of a workspace.
    pub fn state(&self, workspace: &str) -> Option<Value> {
        let service = self.service();
        let id = service.workspaces.iter().find(|one| one.name == workspace)?.id.clone();
        let content = service.current(&id)?.content.clone()?;
        Some(serde_json::from_slice(&content).unwrap())
    }

    /// The names of the workspaces, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.service().workspaces.iter().map(|one| one.name.clone()).collect();
        names.sort();
        names
    }
}

pub fn document(status: u16, data: Value) -> Answer {
    Answer::new(status, json!({ "data": data }).to_string()).with("Content-Type", "application/vnd.api+json")
}

pub fn refusal(status: u16, title: &str, detail: &str) -> Answer {
    let error = json!({"status": status.to_string(), "title": title, "detail": detail});
    Answer::new(status, json!({ "errors": [error] }).to_string()).with("Content-Type", "application/vnd.api+json")
}

pub fn not_found() -> Answer {
    refusal(404, "not found", "")
}

fn body(call: &Call) -> Value {
    serde_json::from_slice(&call.body).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Service {
    pub fn new_id(&mut self, kind: &str) -> String {
        self.made += 1;
        format!("{kind}-{}", self.made)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn workspace(&mut self, name: &str) -> &mut Workspace {
        if !self.workspaces.iter().any(|one| one.name == name) {
            let workspace = Workspace {
                id: self.new_id("ws"),
                name: name.to_owned(),
                terraform_version: self.terraform_version.clone(),
                execution_mode: self.execution_mode.clone(),
                project: self.projects.first().map(|(id, _)| id.clone()),
                ..Workspace::default()
            };
            self.workspaces.push(workspace);
        }
        self.workspaces.iter_mut().find(|one| one.name == name).unwrap()
    }

    fn answer(&mut self, call: &Call) -> Answer {
        let path: Vec<&str> = call.path.trim_matches('/').split('/').collect();
        let bearer = call.headers.get("authorization").map(String::as_str);
        match path[..] {
            ["uploads", "state", id] if bearer.is_none() => return self.take_state(id, &call.body),
            ["uploads", "json", _] if bearer.is_none() => return Answer::new(200, ""),
            ["uploads", "slug", id] if bearer.is_none() => return self.take_slug(id, &call.body),
            ["downloads", "state", id] => {
                let found = self.versions.iter().find(|one| one.id == id).and_then(|one| one.content.clone());
                return found.map_or_else(not_found, |content| Answer::new(200, content));
            }
            ["logs", id] => return self.log(id, call),
            ["api", "v2", ..] if bearer == Some(&format!("Bearer {TOKEN}")) => {}
            _ => return refusal(401, "unauthorized", ""),
        }
        let is = |method: &str| call.method == method;
        match path[2..] {
            ["ping"] => Answer::new(204, "")
                .with("TFP-API-Version", "2.6")
                .with("TFP-AppName", "HCP Terraform")
                .with("X-RateLimit-Limit", 1000),
            ["organizations", ORGANIZATION, ref rest @ ..] => self.of_organization(call, rest),
            ["workspaces", id, ref rest @ ..] => {
                let found = self.workspaces.iter().position(|one| one.id == id);
                found.map_or_else(not_found, |at| self.of_workspace(at, call, rest))
            }
            ["state-versions"] if is("GET") => self.versions_of(call),
            ["state-versions", id] if is("GET") => match self.versions.iter().find(|one| one.id == id) {
                Some(found) => document(200, self.version_json(found)),
                None => not_found(),
            },
            ["state-version-outputs", id] => self.output(id),
            ref rest => self.of_runs(call, rest),
        }
    }

    fn of_organization(&mut self, call: &Call, path: &[&str]) -> Answer {
        match (call.method.as_str(), path) {
            ("GET", ["entitlement-set"]) => {
                let attributes = json!({"operations": self.operations, "state-storage": true, "cost-estimation": true});
                document(200, json!({"id": "org-1", "type": "entitlement-sets", "attributes": attributes}))
            }
            ("GET", ["workspaces"]) => {
                let found: Vec<Value> = self.found(call).iter().map(|one| self.workspace_json(one)).collect();
                page(call, &found)
            }
            ("POST", ["workspaces"]) => self.create(&body(call)["data"]),
            ("GET", ["projects"]) => {
                let wanted = call.parameter("filter[names]").unwrap_or_default();
                let found: Vec<Value> = self.projects.iter().filter(|(_, name)| name == wanted).map(project).collect();
                page(call, &found)
            }
            ("POST", ["projects"]) => {
                let made = (self.new_id("prj"), text(&body(call)["data"]["attributes"]["name"]));
                self.projects.push(made.clone());
                document(201, project(&made))
            }
            (_, ["workspaces", name, rest @ ..]) => {
                let Some(at) = self.workspaces.iter().position(|one| one.name == *name) else { return not_found() };
                match (call.method.as_str(), rest) {
                    ("GET", []) => document(200, self.workspace_json(&self.workspaces[at])),
                    ("DELETE", []) => self.remove(at),
                    ("POST", ["actions", "safe-delete"]) => self.remove_safely(at),
                    _ => not_found(),
                }
            }
            ("GET", ["runs", "queue"]) => self.queue(call),
            ("GET", ["capacity"]) => document(
                200,
                json!({"id": "1", "type": "organization-capacity", "attributes": {"pending": 0, "running": 1}}),
            ),
            _ => not_found(),
        }
    }

    fn found(&self, call: &Call) -> Vec<Workspace> {
        let name = call.parameter("search[name]").unwrap_or_default();
        let keys = call.parameter("search[tags]").unwrap_or_default();
        let has_keys = |one: &&Workspace| {
            keys.split(',').filter(|key| !key.is_empty()).all(|key| one.tags.iter().any(|(other, _)| other == key))
        };
        let has_values = |one: &&Workspace| {
            (0..10).all(|i| match call.parameter(&format!("filter[tagged][{i}][key]")) {
                Some(key) => {
                    let value = call.parameter(&format!("filter[tagged][{i}][value]")).unwrap_or_default();
                    one.tags.iter().any(|tag| tag.0 == key && tag.1 == value)
                }
                None => true,
            })
        };
        let project = call.parameter("filter[project][id]");
        let all = self.workspaces.iter().filter(|one| one.name.contains(name)).filter(has_keys).filter(has_values);
        all.filter(|one| project.is_none_or(|id| one.project.as_deref() == Some(id))).cloned().collect()
    }

    fn create(&mut self, data: &Value) -> Answer {
        let name = text(&data["attributes"]["name"]);
        if self.workspaces.iter().any(|one| one.name == name) {
            return refusal(422, "invalid attribute", "Name has already been taken");
        }
        let relations = &data["relationships"];
        let tags = |relation: &str, key: &str| -> Vec<(String, String)> {
            let all = relations[relation]["data"].as_array().cloned().unwrap_or_default();
            all.iter().map(|tag| (text(&tag["attributes"][key]), text(&tag["attributes"]["value"]))).collect()
        };
        let tags = [tags("tags", "name"), tags("tag-bindings", "key")].concat();
        let project = relations["project"]["data"]["id"].as_str().map(str::to_owned);
        let version = data["attributes"]["terraform-version"].as_str().map(str::to_owned);
        let workspace = self.workspace(&name);
        workspace.tags = tags;
        workspace.project = project.or(workspace.project.take());
        workspace.terraform_version = version.unwrap_or_else(|| workspace.terraform_version.clone());
        let made = workspace.clone();
        document(201, self.workspace_json(&made))
    }

    fn remove(&mut self, at: usize) -> Answer {
        self.workspaces.remove(at);
        Answer::new(204, "")
    }

    fn remove_safely(&mut self, at: usize) -> Answer {
        let state = self.current(&self.workspaces[at].id).and_then(|one| one.content.clone());
        let state: Value = serde_json::from_slice(&state.unwrap_or_default()).unwrap_or_default();
        if state["resources"].as_array().is_some_and(|all| !all.is_empty()) {
            return refusal(409, "conflict", "workspace is managing resources");
        }
        self.remove(at)
    }

    fn of_workspace(&mut self, at: usize, call: &Call, path: &[&str]) -> Answer {
        let id = self.workspaces[at].id.clone();
        match (call.method.as_str(), path) {
            ("GET", []) => document(200, self.workspace_json(&self.workspaces[at])),
            ("PATCH", []) => {
                if let Some(version) = body(call)["data"]["attributes"]["terraform-version"].as_str() {
                    self.workspaces[at].terraform_version = version.to_owned();
                }
                document(200, self.workspace_json(&self.workspaces[at]))
            }
            (_, ["tag-bindings"]) if !self.tag_values => not_found(),
            ("GET", ["tag-bindings"]) => {
                let all: Vec<Value> = self.workspaces[at].tags.iter().map(binding).collect();
                page(call, &all)
            }
            ("PATCH", ["tag-bindings"]) => self.add_tags(at, call, "key"),
            ("POST", ["relationships", "tags"]) => self.add_tags(at, call, "name"),
            ("POST", ["actions", action]) => self.lock_action(at, action, call),
            ("GET", ["current-state-version"]) => match self.current(&id) {
                Some(found) => {
                    let answer = document(200, self.version_json(found));
                    self.with_interval(answer)
                }
                None => not_found(),
            },
            ("GET", ["current-state-version-outputs"]) => self.outputs(&id),
            ("POST", ["state-versions"]) => self.new_version(&id, &body(call)["data"]),
            _ => self.runs_of_workspace(at, call, path),
        }
    }

    fn add_tags(&mut self, at: usize, call: &Call, key: &str) -> Answer {
        let tags = body(call)["data"].as_array().cloned().unwrap_or_default();
        for tag in tags {
            let (name, value) = (text(&tag["attributes"][key]), text(&tag["attributes"]["value"]));
            self.workspaces[at].tags.retain(|(other, _)| *other != name);
            self.workspaces[at].tags.push((name, value));
        }
        let all: Vec<Value> = self.workspaces[at].tags.iter().map(binding).collect();
        page(call, &all)
    }

    fn lock_action(&mut self, at: usize, action: &str, call: &Call) -> Answer {
        let workspace = &mut self.workspaces[at];
        match (action, &workspace.locked) {
            ("lock", None) => workspace.locked = Some(text(&body(call)["reason"])),
            ("lock", Some(_)) => return refusal(409, "conflict", "Workspace is already locked"),
            ("unlock" | "force-unlock", Some(_)) => workspace.locked = None,
            ("unlock" | "force-unlock", None) => return refusal(409, "conflict", "Workspace is already unlocked"),
            _ => return not_found(),
        }
        document(200, self.workspace_json(&self.workspaces[at]))
    }

    pub fn current(&self, workspace: &str) -> Option<&StateVersion> {
        self.versions.iter().rev().find(|one| one.workspace == workspace && one.content.is_some())
    }

    fn new_version(&mut self, workspace: &str, data: &Value) -> Answer {
        let attributes = &data["attributes"];
        let (serial, lineage) = (attributes["serial"].as_u64().unwrap_or(0), text(&attributes["lineage"]));
        let inline = attributes["state"].as_str().and_then(|state| STANDARD.decode(state).ok());
        if !self.uploads && inline.is_none() {
            return refusal(422, "param is missing or the value is empty: state", "");
        }
        if self.demands_locks && self.workspaces.iter().any(|one| one.id == workspace && one.locked.is_none()) {
            return refusal(409, "conflict", "The workspace must be locked");
        }
        if let Some(old) = self.current(workspace).filter(|_| attributes["force"] != true) {
            if !old.lineage.is_empty() && old.lineage != lineage {
                return refusal(409, "conflict", "lineage does not match");
            }
            if old.serial >= serial && serial > 0 && old.md5 != text(&attributes["md5"]) {
                return refusal(409, "conflict", "serial is not newer");
            }
        }
        let outputs = STANDARD.decode(text(&attributes["json-state-outputs"])).unwrap_or_default();
        let made = StateVersion {
            id: self.new_id("sv"),
            workspace: workspace.to_owned(),
            serial,
            lineage,
            md5: text(&attributes["md5"]),
            content: inline,
            outputs: serde_json::from_slice(&outputs).unwrap_or_default(),
            run: data["relationships"]["run"]["data"]["id"].as_str().map(str::to_owned),
        };
        self.versions.push(made.clone());
        let answer = document(201, self.version_json(&made));
        self.with_interval(answer)
    }

    fn take_state(&mut self, id: &str, content: &[u8]) -> Answer {
        use md5::Digest;
        let Some(found) = self.versions.iter_mut().find(|one| one.id == id) else { return not_found() };
        let digest: String = md5::Md5::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        if digest != found.md5 {
            return refusal(400, "checksum does not match", "");
        }
        found.content = Some(content.to_vec());
        Answer::new(200, "")
    }

    fn with_interval(&self, answer: Answer) -> Answer {
        match self.snapshot_interval {
            Some(seconds) => answer.with("X-Terraform-Snapshot-Interval", seconds),
            None => answer,
        }
    }

    /// The newest first. The times are made up: a second apart.
    fn versions_of(&self, call: &Call) -> Answer {
        let name = call.parameter("filter[workspace][name]").unwrap_or_default();
        let workspace = self.workspaces.iter().find(|one| one.name == name);
        if call.parameter("filter[organization][name]") != Some(ORGANIZATION) {
            return not_found();
        }
        let all = self.versions.iter().filter(|one| workspace.is_some_and(|found| found.id == one.workspace));
        let all: Vec<Value> = all.rev().map(|one| self.version_json(one)).collect();
        let size = call.parameter("page[size]").and_then(|size| size.parse().ok()).unwrap_or(20);
        page_of_all(&all[..all.len().min(size)])
    }

    fn version_json(&self, version: &StateVersion) -> Value {
        let id = &version.id;
        let upload = version.content.is_none().then(|| self.url(&format!("/uploads/state/{id}")));
        json!({"id": id, "type": "state-versions", "attributes": {
            "serial": version.serial,
            "created-at": format!("2026-01-02T03:{:02}:00.000Z", version.serial % 60),
            "status": if version.content.is_some() { "finalized" } else { "pending" },
            "hosted-state-download-url": self.url(&format!("/downloads/state/{id}")),
            "hosted-state-upload-url": upload,
            "hosted-json-state-upload-url": self.url(&format!("/uploads/json/{id}")),
        }})
    }

    fn outputs(&self, workspace: &str) -> Answer {
        let Some(version) = self.current(workspace) else { return not_found() };
        let all = version.outputs.as_object().cloned().unwrap_or_default();
        let one = |(name, output): (&String, &Value)| output_json(&version.id, name, output, true);
        page_of_all(&all.iter().map(one).collect::<Vec<_>>())
    }

    fn output(&self, id: &str) -> Answer {
        let found = id.rsplit_once('.').and_then(|(version, name)| {
            let version = self.versions.iter().find(|one| format!("wsout-{}", one.id) == version)?;
            Some(output_json(&version.id, name, version.outputs.get(name)?, false))
        });
        found.map_or_else(not_found, |found| document(200, found))
    }

    pub fn workspace_json(&self, workspace: &Workspace) -> Value {
        let repository = workspace.has_repository.then(|| json!({"identifier": "acme/repository"}));
        json!({
            "id": workspace.id,
            "type": "workspaces",
            "attributes": {
                "name": workspace.name,
                "terraform-version": workspace.terraform_version,
                "execution-mode": workspace.execution_mode,
                "operations": workspace.execution_mode == "remote",
                "working-directory": workspace.working_directory,
                "vcs-repo": repository,
                "auto-apply": workspace.auto_apply,
                "structured-run-output-enabled": workspace.structured,
                "locked": workspace.locked.is_some(),
                "locked-reason": workspace.locked.clone().unwrap_or_default(),
                "tag-names": workspace.tags.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(),
                "permissions": {
                    "can-queue-run": !workspace.may_not_plan,
                    "can-queue-apply": !workspace.may_not_apply,
                    "can-queue-destroy": true,
                    "can-lock": true,
                    "can-unlock": true,
                    "can-force-delete": true,
                },
            },
            "relationships": {
                "project": {"data": {"type": "projects", "id": workspace.project}},
                "current-run": {"data": self.runs.older.last().map(|(id, _)| json!({"type": "runs", "id": id}))},
            },
        })
    }
}

fn output_json(version: &str, name: &str, output: &Value, hide: bool) -> Value {
    let sensitive = output["sensitive"] == true;
    let value = if sensitive && hide { Value::Null } else { output["value"].clone() };
    json!({"id": format!("wsout-{version}.{name}"), "type": "state-version-outputs", "attributes": {
        "name": name,
        "sensitive": sensitive,
        "type": "string",
        "value": value,
        "detailed-type": output["type"],
    }})
}

fn project((id, name): &(String, String)) -> Value {
    json!({"id": id, "type": "projects", "attributes": {"name": name}})
}

fn binding((key, value): &(String, String)) -> Value {
    json!({"id": format!("tb-{key}"), "type": "tag-bindings", "attributes": {"key": key, "value": value}})
}

fn page_of_all(all: &[Value]) -> Answer {
    page_at(all, 1, all.len().max(1))
}

/// The page of a list that a request asks for.
pub fn page(call: &Call, all: &[Value]) -> Answer {
    page_at(all, call.parameter("page[number]").and_then(|number| number.parse().ok()).unwrap_or(1), PAGE)
}

fn page_at(all: &[Value], number: usize, size: usize) -> Answer {
    let last = all.len().div_ceil(size).max(1);
    let items: Vec<&Value> = all.iter().skip((number - 1) * size).take(size).collect();
    let next = (number < last).then_some(number + 1);
    let pagination = json!({
        "current-page": number,
        "next-page": next,
        "prev-page": null,
        "total-pages": last,
        "total-count": all.len(),
    });
    Answer::new(200, json!({"data": items, "meta": {"pagination": pagination}}).to_string())
        .with("Content-Type", "application/vnd.api+json")
}
