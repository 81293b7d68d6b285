//! Workspaces of an organisation: reading, listing, making, tagging, removing.

use http::Method;
use model::version::compatible_version;
use serde_json::{Value as Json, json};

use super::api::{Api, ApiError, id, related, segment, text};

/// A workspace as the service describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    pub id: String,
    pub name: String,
    /// A version, a constraint, or `latest`.
    pub terraform_version: String,
    /// `remote`, `local` or `agent`.
    pub execution_mode: String,
    /// The folder of the repository that runs happen in.
    pub working_directory: String,
    /// A change of the repository starts runs.
    pub has_repository: bool,
    pub can_queue_run: bool,
    pub can_queue_apply: bool,
    pub can_queue_destroy: bool,
    pub auto_apply: bool,
    /// The logs of runs are JSON messages, one per line.
    pub structured_output: bool,
    pub locked: bool,
    /// The ID of the run that is at work or waits for a decision.
    pub current_run: Option<String>,
    /// What the one that locked it gave as a reason.
    pub locked_reason: String,
    pub tags: Vec<String>,
    /// None: the service does not know safe deletion.
    pub can_force_delete: Option<bool>,
}

impl Workspace {
    pub fn of_json(resource: &Json) -> Workspace {
        let attributes = &resource["attributes"];
        let flag = |name: &str| attributes[name].as_bool().unwrap_or_default();
        let permission = |name: &str| attributes["permissions"][name].as_bool();
        let tags = attributes["tag-names"].as_array().map(Vec::as_slice).unwrap_or_default();
        Workspace {
            id: id(resource).to_owned(),
            name: text(resource, "name").to_owned(),
            terraform_version: text(resource, "terraform-version").to_owned(),
            execution_mode: text(resource, "execution-mode").to_owned(),
            working_directory: text(resource, "working-directory").to_owned(),
            has_repository: !attributes["vcs-repo"].is_null(),
            can_queue_run: permission("can-queue-run").unwrap_or_default(),
            can_queue_apply: permission("can-queue-apply").unwrap_or_default(),
            can_queue_destroy: permission("can-queue-destroy").unwrap_or_default(),
            auto_apply: flag("auto-apply"),
            structured_output: flag("structured-run-output-enabled"),
            locked: flag("locked"),
            current_run: related(resource, "current-run").map(str::to_owned),
            locked_reason: text(resource, "locked-reason").to_owned(),
            tags: tags.iter().filter_map(|tag| Some(tag.as_str()?.to_owned())).collect(),
            can_force_delete: permission("can-force-delete"),
        }
    }

    /// Operations run on the machine of the user.
    pub fn runs_locally(&self) -> bool {
        self.execution_mode == "local"
    }
}

/// A tag; those with an empty value are names alone.
pub type Tag = (String, String);

/// The workspaces of an organisation.
#[derive(Clone)]
pub struct Workspaces {
    pub api: Api,
    pub organization: String,
}

/// Which workspaces are listed.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Part of their names.
    pub name: Option<String>,
    pub tags: Vec<Tag>,
    /// Tags are compared with their values.
    pub with_values: bool,
    /// The ID of a project.
    pub project: Option<String>,
}

impl Workspaces {
    fn path(&self, name: &str) -> String {
        format!("{}/{}", self.all(), segment(name))
    }

    fn all(&self) -> String {
        format!("organizations/{}/workspaces", segment(&self.organization))
    }

    /// None: there is no workspace of the name.
    pub async fn read(&self, name: &str) -> Result<Option<Workspace>, ApiError> {
        match self.api.get(&self.path(name), &[]).await {
            Ok(found) => Ok(Some(Workspace::of_json(&found["data"]))),
            Err(e) if e.is_not_found() => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// The names, sorted.
    pub async fn names(&self, filter: &Filter) -> Result<Vec<String>, ApiError> {
        let mut query: Vec<(String, String)> = Vec::new();
        query.extend(filter.name.clone().map(|name| ("search[name]".to_owned(), name)));
        if !filter.tags.is_empty() {
            let keys: Vec<&str> = filter.tags.iter().map(|(key, _)| key.as_str()).collect();
            query.push(("search[tags]".to_owned(), keys.join(",")));
        }
        for (i, (key, value)) in filter.tags.iter().enumerate().filter(|_| filter.with_values) {
            query.push((format!("filter[tagged][{i}][key]"), key.clone()));
            query.push((format!("filter[tagged][{i}][value]"), value.clone()));
        }
        query.extend(filter.project.clone().map(|id| ("filter[project][id]".to_owned(), id)));
        let found = self.api.pages(&self.all(), &query).await?;
        let mut names: Vec<String> = found.iter().map(|one| text(one, "name").to_owned()).collect();
        names.sort();
        Ok(names)
    }

    /// The ID of a project.
    pub async fn project(&self, name: &str) -> Result<Option<String>, ApiError> {
        let path = format!("organizations/{}/projects", segment(&self.organization));
        let found = self.api.pages(&path, &[("filter[names]".to_owned(), name.to_owned())]).await?;
        Ok(found.iter().find(|one| text(one, "name") == name).map(|one| id(one).to_owned()))
    }

    /// Makes a project; gives its ID.
    pub async fn create_project(&self, name: &str) -> Result<String, ApiError> {
        let body = json!({"data": {"type": "projects", "attributes": {"name": name}}});
        let path = format!("organizations/{}/projects", segment(&self.organization));
        let made = self.api.post(&path, Some(&body)).await?;
        Ok(id(&made["data"]).to_owned())
    }

    /// Makes a workspace. `attributes` are those besides its name; `tags` with a value make key-value tags of all.
    pub async fn create(&self, name: &str, more: &New) -> Result<Workspace, ApiError> {
        let mut attributes = json!({"name": name});
        if let Some(version) = more.version {
            attributes["terraform-version"] = version.into();
        }
        let mut data = json!({"type": "workspaces", "attributes": attributes});
        if let Some(project) = &more.project {
            data["relationships"]["project"] = json!({"data": {"type": "projects", "id": project}});
        }
        if !more.tags.is_empty() {
            let (name, tags) = match more.with_values {
                true => ("tag-bindings", bindings(&more.tags)),
                false => ("tags", plain_tags(&more.tags)),
            };
            data["relationships"][name] = json!({ "data": tags });
        }
        let made = self.api.post(&self.all(), Some(&json!({ "data": data }))).await?;
        Ok(Workspace::of_json(&made["data"]))
    }

    /// Gives a workspace this program's version of the language, if the service has it.
    pub async fn use_our_version(&self, workspace: &Workspace) -> Result<(), ApiError> {
        let attributes = json!({"terraform-version": compatible_version()});
        let body = json!({"data": {"type": "workspaces", "attributes": attributes}});
        let path = format!("workspaces/{}", segment(&workspace.id));
        self.api.send(Method::PATCH, &path, Some(&body)).await.map(drop)
    }

    /// The tags of a workspace with their values. None: the service does not know values.
    pub async fn tag_values(&self, workspace: &Workspace) -> Result<Option<Vec<Tag>>, ApiError> {
        let found = match self.api.pages(&format!("workspaces/{}/tag-bindings", segment(&workspace.id)), &[]).await {
            Ok(found) => found,
            Err(e) if e.is_not_found() => return Ok(None),
            Err(e) => return Err(e),
        };
        let tag = |one: &Json| (text(one, "key").to_owned(), text(one, "value").to_owned());
        Ok(Some(found.iter().map(tag).collect()))
    }

    /// Adds tags to a workspace.
    pub async fn add_tags(&self, workspace: &Workspace, tags: &[Tag], with_values: bool) -> Result<(), ApiError> {
        let id = segment(&workspace.id);
        let (method, path, tags) = match with_values {
            true => (Method::PATCH, format!("workspaces/{id}/tag-bindings"), bindings(tags)),
            false => (Method::POST, format!("workspaces/{id}/relationships/tags"), plain_tags(tags)),
        };
        self.api.send(method, &path, Some(&json!({ "data": tags }))).await.map(drop)
    }

    /// Removes a workspace; one that does not exist is removed. `safely`: only if it manages nothing.
    pub async fn delete(&self, name: &str, safely: bool) -> Result<(), ApiError> {
        let path = self.path(name);
        let done = match safely {
            true => self.api.post(&format!("{path}/actions/safe-delete"), None).await,
            false => self.api.send(Method::DELETE, &path, None).await,
        };
        match done {
            Err(e) if !e.is_not_found() => Err(e),
            _ => Ok(()),
        }
    }
}

/// What a new workspace has.
#[derive(Clone, Debug, Default)]
pub struct New {
    pub version: Option<&'static str>,
    /// The ID of its project.
    pub project: Option<String>,
    pub tags: Vec<Tag>,
    pub with_values: bool,
}

fn bindings(tags: &[Tag]) -> Json {
    let one = |(key, value): &Tag| match value.is_empty() {
        true => json!({"type": "tag-bindings", "attributes": {"key": key}}),
        false => json!({"type": "tag-bindings", "attributes": {"key": key, "value": value}}),
    };
    tags.iter().map(one).collect()
}

fn plain_tags(tags: &[Tag]) -> Json {
    tags.iter().map(|(name, _)| json!({"type": "tags", "attributes": {"name": name}})).collect()
}
