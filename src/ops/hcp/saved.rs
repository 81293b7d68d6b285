//! Plans that are kept there: the note in a file of where one is, and showing it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::missing;
use crate::backend::hcp::{ApiError, Hcp, Phase};
use crate::base::diag::{Diagnostic, Diagnostics};
use crate::ops::backends::{backend_of, read_state};
use crate::ops::interface::options::StateOptions;
use crate::ops::setup::Setup;

/// The content of a file that `plan -out` writes, as the reference does.
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

    /// None: the file holds something else.
    pub fn read(path: &Path) -> Option<Bookmark> {
        let content = std::fs::read(path).ok().filter(|content| content.first() == Some(&b'{'))?;
        let found: Bookmark = serde_json::from_slice(&content).ok()?;
        let is_ours =
            found.remote_plan_format == FORMAT && !found.hostname.is_empty() && found.run_id.starts_with("run-");
        is_ours.then_some(found)
    }
}

/// A saved plan with what its run has come to.
pub struct ShownRun {
    pub url: String,
    pub status: String,
    pub is_confirmable: bool,
    pub is_locked: bool,
    /// For people without secrets, in the service's own form; for programs as `show -json` of a plan.
    pub json: Vec<u8>,
}

/// The plan that a file notes. None: it notes none.
pub async fn show(setup: &Setup, path: &Path, redacted: bool) -> Result<Option<ShownRun>, Diagnostics> {
    let Some(bookmark) = Bookmark::read(path) else { return Ok(None) };
    let record = read_state::record(setup)?;
    let backend = backend_of(setup, record.as_ref(), &StateOptions::default()).await?;
    let failed = |why: String| Diagnostics::from(Diagnostic::error("Couldn't show cloud plan", why));
    let Some(hcp) = backend.hcp() else {
        return Err(failed(
            "can't show a saved cloud plan unless the current root module is connected to HCP Terraform".into(),
        ));
    };
    let name = &setup.workdir.workspace;
    let workspace = hcp.workspace(name).await.map_err(|e| failed(e.text))?;
    let Some(workspace) = workspace else { return Err(missing(hcp, name)) };
    let mut shown = plan(hcp, &bookmark, redacted).await.map_err(failed)?;
    shown.url =
        format!("https://{}/app/{}/{}/runs/{}", hcp.hostname, hcp.organization(), workspace.name, bookmark.run_id);
    shown.is_locked = workspace.locked;
    Ok(Some(shown))
}

async fn plan(hcp: &Hcp, bookmark: &Bookmark, redacted: bool) -> Result<ShownRun, String> {
    let (id, host) = (&bookmark.run_id, &bookmark.hostname);
    if *host != hcp.hostname {
        return Err(format!(
            "hostname for run ({host}) does not match the configured cloud integration ({})",
            hcp.hostname
        ));
    }
    let unread = |e: ApiError| match e.is_not_found() {
        true => format!(
            "couldn't read information for cloud run {id}; make sure you've run `terraform login` and that you have permission to view \
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
    let what = if redacted { "plan data" } else { "unredacted JSON plan data" };
    let rights = if redacted { "permission to view the run" } else { "admin permissions on the workspace" };
    let json = hcp.plan_json(plan, redacted).await.map_err(|e| match e.is_not_found() {
        true => format!(
            "couldn't read {what} for cloud run {id}; make sure you've run `terraform login` and that you have {rights}"
        ),
        false => format!("couldn't read plan data for cloud run {id}: {e}"),
    })?;
    let (is_confirmable, status) = (run.is_confirmable, run.status);
    Ok(ShownRun { url: String::new(), status, is_confirmable, is_locked: false, json })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_the_reference_s() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plan");
        let note = Bookmark::of_run("run-1", "tfe.example.com");
        let text = r#"{"remote_plan_format":1,"run_id":"run-1","hostname":"tfe.example.com"}"#;
        assert_eq!(String::from_utf8(note.to_bytes()).unwrap(), text);
        std::fs::write(&path, text).unwrap();
        assert_eq!(Bookmark::read(&path), Some(note));
        for other in ["{}", "PK", r#"{"remote_plan_format":2,"run_id":"run-1","hostname":"h"}"#] {
            std::fs::write(&path, other).unwrap();
            assert_eq!(Bookmark::read(&path), None, "{other}");
        }
    }
}
