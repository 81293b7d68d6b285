//! Saved plans of the service: the bookmark file that refers to one, and showing it.

use std::path::Path;

use backend::hcp::{ApiError, Hcp, Phase, Run};
use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use model::plan::Mode;
use model::plan::document::{self, DescribedPlan};
use serde::{Deserialize, Serialize};

use super::log::unreadable;
use super::missing;
use crate::backends::open::backend_of;
use crate::backends::read_state;
use crate::interface::options::StateOptions;
use crate::setup::Setup;

/// The content of the file that `plan -out` writes, in the format of the reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bookmark {
    remote_plan_format: u32,
    pub run_id: String,
    pub hostname: String,
}

const FORMAT: u32 = 1;

impl Bookmark {
    pub fn of_run(run: &str, hostname: &str) -> Bookmark {
        Bookmark { remote_plan_format: FORMAT, run_id: run.to_owned(), hostname: hostname.to_owned() }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// None: the file is no bookmark.
    pub fn read(path: &Path) -> Option<Bookmark> {
        let content = std::fs::read(path).ok().filter(|content| content.first() == Some(&b'{'))?;
        let found: Bookmark = serde_json::from_slice(&content).ok()?;
        let is_valid =
            found.remote_plan_format == FORMAT && !found.hostname.is_empty() && found.run_id.starts_with("run-");
        is_valid.then_some(found)
    }
}

/// A saved plan and the status of its run.
pub struct ShownRun {
    pub url: String,
    pub status: String,
    pub is_confirmable: bool,
    pub is_locked: bool,
    pub plan: RunPlan,
}

/// The plan of a run.
pub enum RunPlan {
    /// For people, without secrets.
    Described(Box<DescribedPlan>),
    /// For programs, as `show -json` prints a plan.
    Json(Vec<u8>),
}

/// The saved plan that a bookmark file refers to. None: the file is no bookmark.
pub async fn show(setup: &Setup, path: &Path, json: bool) -> Result<Option<ShownRun>, Diagnostics> {
    let Some(bookmark) = Bookmark::read(path) else { return Ok(None) };
    let record = read_state::record(setup).await?;
    let backend = backend_of(setup, record.as_ref(), &StateOptions::default()).await?;
    let failed = |why: String| {
        Diagnostics::from(Diagnostic::error("Couldn't show cloud plan", format!("Plan read error: {why}")))
    };
    let Some(hcp) = backend.hcp() else {
        return Err(failed(
            "can't show a saved cloud plan unless the current root module is connected to HCP Terraform".into(),
        ));
    };
    let name = &setup.workdir.workspace;
    let workspace = hcp.workspace(name).await.map_err(|e| failed(e.text))?;
    let Some(workspace) = workspace else { return Err(missing(hcp, name)) };
    let (run, plan) = read(hcp, &bookmark, json).await.map_err(failed)?;
    let organization = hcp.organization();
    Ok(Some(ShownRun {
        url: format!("https://{}/app/{organization}/{}/runs/{}", hcp.hostname, workspace.name, run.id),
        status: run.status,
        is_confirmable: run.is_confirmable,
        is_locked: workspace.locked,
        plan,
    }))
}

async fn read(hcp: &Hcp, bookmark: &Bookmark, json: bool) -> Result<(Run, RunPlan), String> {
    let (id, host) = (&bookmark.run_id, &bookmark.hostname);
    if *host != hcp.hostname {
        return Err(format!(
            "hostname for run ({host}) does not match the configured cloud integration ({})",
            hcp.hostname
        ));
    }
    let unread = |e: ApiError| match e.is_not_found() {
        true => format!(
            "couldn't read information for cloud run {id}; make sure you've run `{COMMAND} login` and that you have permission to view \
             the run"
        ),
        false => format!("couldn't read information for cloud run {id}: {e}"),
    };
    let run = hcp.run(id).await.map_err(unread)?;
    let Some(plan) = &run.plan else { return Err(format!("the cloud run {id} has no plan")) };
    let status = hcp.phase(Phase::Plan, plan).await.map_err(unread)?.status;
    if !matches!(status.as_str(), "finished" | "errored") {
        return Err(format!("can't display a cloud plan that is currently {status}"));
    }
    let (what, rights) = match json {
        true => ("unredacted JSON plan data", "admin permissions on the workspace"),
        false => ("plan data", "permission to view the run"),
    };
    let content = hcp.plan_json(plan, !json).await.map_err(|e| match e.is_not_found() {
        true => format!(
            "couldn't read {what} for cloud run {id}; make sure you've run `{COMMAND} login` and that you have {rights}"
        ),
        false => format!("couldn't read plan data for cloud run {id}: {e}"),
    })?;
    if json {
        return Ok((run, RunPlan::Json(content)));
    }
    let mut described = document::read(&content).map_err(|why| format!("{} ({why})", unreadable(hcp.app_name)))?;
    described.plan.errored = status == "errored";
    described.plan.scope.mode = match (run.is_destroy, run.refresh_only) {
        (true, _) => Mode::Destroy,
        (false, true) => Mode::RefreshOnly,
        (false, false) => Mode::Normal,
    };
    Ok((run, RunPlan::Described(Box::new(described))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bookmarks_have_the_format_of_the_reference() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plan");
        let bookmark = Bookmark::of_run("run-1", "tfe.example.com");
        let text = r#"{"remote_plan_format":1,"run_id":"run-1","hostname":"tfe.example.com"}"#;
        assert_eq!(String::from_utf8(bookmark.to_bytes()).unwrap(), text);
        std::fs::write(&path, text).unwrap();
        assert_eq!(Bookmark::read(&path), Some(bookmark));
        for other in ["{}", "PK", r#"{"remote_plan_format":2,"run_id":"run-1","hostname":"h"}"#] {
            std::fs::write(&path, other).unwrap();
            assert_eq!(Bookmark::read(&path), None, "{other}");
        }
    }
}
