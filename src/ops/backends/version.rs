//! The version of the language that a workspace of HCP Terraform is for: states of another version could make it unusable.

use std::sync::Arc;

use backend::hcp::{ApiError, Flavor, Hcp, Workspace};
use backend::{DEFAULT_WORKSPACE, OpenBackend};
use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use model::deps::{Constraints, Version};
use model::version::{self, compatible_version};

use crate::interface::options::StateOptions;

/// What happens if the versions do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMismatch {
    Refuse,
    Warn,
}

impl OnMismatch {
    /// As the options of a command say.
    pub fn of(options: &StateOptions) -> OnMismatch {
        if options.ignore_remote_version { OnMismatch::Warn } else { OnMismatch::Refuse }
    }

    /// The message, with the advice how to ignore the versions in an error.
    fn report(self, summary: String, message: String, between: &str) -> Diagnostic {
        match self {
            OnMismatch::Warn => Diagnostic::warning(summary, message),
            OnMismatch::Refuse => Diagnostic::error(summary, format!("{message}{between}{}", advice())),
        }
    }
}

/// Checks the workspace in use before its state is changed by hand. Gives warnings.
pub async fn check(backend: &OpenBackend, workspace: &str, mismatch: OnMismatch) -> Result<Diagnostics, Diagnostics> {
    let Some(hcp) = backend.hcp() else { return Ok(Diagnostics::new()) };
    let found = match hcp.workspace(workspace).await {
        Ok(Some(found)) => found,
        // One that is made now is for this version.
        Ok(None) => return Ok(Diagnostics::new()),
        Err(e) => {
            return Err(unread(&e).into());
        }
    };
    match problem(hcp, &found, mismatch) {
        None => Ok(Diagnostics::new()),
        Some(problem) if problem.is_error() => Err(problem.into()),
        Some(problem) => Ok(problem.into()),
    }
}

/// The summary where nothing is known of a workspace.
const UNREAD: &str = "Error looking up workspace";

fn unread(error: &ApiError) -> Diagnostic {
    Diagnostic::error(UNREAD, format!("Workspace read failed: {error}"))
}

/// Checks all workspaces that states may be copied to. `names`: none if the backend has no workspaces.
pub async fn check_destination(backend: &OpenBackend, names: Option<&[String]>) -> Result<Diagnostics, Diagnostics> {
    let mut warnings = Diagnostics::new();
    let Some(hcp) = backend.hcp() else { return Ok(warnings) };
    let names = names.unwrap_or_default();
    for name in names {
        warnings.extend(check(backend, name, OnMismatch::Refuse).await?);
    }
    if names.is_empty() && hcp.flavor == Flavor::Remote {
        warnings.extend(check(backend, DEFAULT_WORKSPACE, OnMismatch::Refuse).await?);
    }
    Ok(warnings)
}

/// What is wrong with the version of a workspace: no release meets it and the pins of the configuration. Otherwise it is one of them
/// from now on.
fn problem(hcp: &Hcp, workspace: &Workspace, mismatch: OnMismatch) -> Option<Diagnostic> {
    if workspace.terraform_version == "latest" || workspace.runs_locally() {
        return None;
    }
    let place = format!("{}/{}", hcp.organization(), workspace.name);
    let Some(required) = required(hcp.flavor, &workspace.terraform_version) else {
        return Some(unreadable(hcp.flavor, &workspace.terraform_version, mismatch));
    };
    let constraints = required.constraints.clone();
    let fits = move |version: &str| Version::parse(version).is_ok_and(|version| constraints.matches(&version));
    if version::narrow(Arc::new(fits)) {
        return None;
    }
    Some(unmet(hcp.flavor, &workspace.terraform_version, &required, &place, mismatch))
}

fn advice() -> String {
    format!(
        "If you're sure you want to upgrade the state, you can force {PROGRAM} to continue using the -ignore-remote-version flag. \
         This may result in an unusable workspace."
    )
}

fn minor(version: &Version) -> (u64, u64) {
    (version.segment(0), version.segment(1))
}

/// Which releases a workspace can be used with.
#[derive(Clone, Debug)]
struct Required {
    constraints: Constraints,
    written: String,
}

/// None: the version of the workspace has no meaning. Formats of states change with the minor version; from 0.14 to 1.2 they did not.
/// Versions of `remote` workspaces are exact, those of `cloud` workspaces may be constraints.
fn required(flavor: Flavor, theirs: &str) -> Option<Required> {
    let exact = Version::parse(theirs).ok();
    if flavor == Flavor::Remote && exact.is_none() {
        return None;
    }
    let written = match exact.filter(|version| flavor == Flavor::Remote || !version.is_prerelease()) {
        Some(version) => match minor(&version) {
            early if ((0, 14)..(1, 3)).contains(&early) => ">= 0.14.0, < 1.3.0".to_owned(),
            late if late >= (1, 3) => format!("~> {}.{}.0", late.0, late.1),
            _ => theirs.to_owned(),
        },
        None => theirs.to_owned(),
    };
    let constraints = Constraints::parse(&written).ok()?;
    Some(Required { constraints, written })
}

fn unreadable(flavor: Flavor, theirs: &str, mismatch: OnMismatch) -> Diagnostic {
    let local = compatible_version();
    match flavor {
        Flavor::Remote => Diagnostic::error(UNREAD, format!("Invalid {PROGRAM} version: Malformed version: {theirs}")),
        Flavor::Cloud => incompatible(
            format!(
                "The remote workspace specified an invalid {PROGRAM} version or constraint ({theirs}), and it isn't possible to \
                 determine whether the local {PROGRAM} version ({local}) is compatible."
            ),
            mismatch,
        ),
    }
}

fn incompatible(message: String, mismatch: OnMismatch) -> Diagnostic {
    mismatch.report(format!("Incompatible {PROGRAM} version"), message, "\n\n")
}

/// The local version is not one that the workspace requires.
fn unmet(flavor: Flavor, theirs: &str, required: &Required, place: &str, mismatch: OnMismatch) -> Diagnostic {
    let local = compatible_version();
    match flavor {
        Flavor::Remote => {
            let message = format!(
                "The local {PROGRAM} version ({local}) does not match the configured version for remote workspace {place} \
                 ({theirs})."
            );
            mismatch.report(format!("{PROGRAM} version mismatch"), message, " ")
        }
        Flavor::Cloud => incompatible(
            format!(
                "The local {PROGRAM} version ({local}) does not meet the version requirements for remote workspace {place} ({}).",
                required.written
            ),
            mismatch,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_one_minor_release_fit() {
        let cases = [
            ("1.11.0", "1.11.4", true, true),
            ("1.11.9", "1.11.4", true, true),
            ("1.10.5", "1.11.4", false, false),
            ("0.13.1", "1.11.4", false, false),
            ("1.2.0", "1.11.4", false, false),
            ("1.1.0", "1.2.9", true, true),
            ("~> 1.11.0", "1.11.4", false, true),
            ("~> 1", "1.11.4", false, true),
            ("~> 0", "1.11.4", false, true),
            (">= 1.0.0", "1.11.4", false, true),
            ("nonsense", "1.11.4", false, false),
        ];
        for (theirs, local, remote, cloud) in cases {
            let local = Version::parse(local).unwrap();
            let fits = |flavor| required(flavor, theirs).is_some_and(|required| required.constraints.matches(&local));
            assert_eq!((fits(Flavor::Remote), fits(Flavor::Cloud)), (remote, cloud), "{theirs}");
        }
        let required = required(Flavor::Cloud, "1.10.0").unwrap();
        let ignored = unmet(Flavor::Cloud, "1.10.0", &required, "o/w", OnMismatch::Warn);
        let detail = format!(
            "The local Terrane version ({}) does not meet the version requirements for remote workspace o/w (~> 1.10.0).",
            compatible_version()
        );
        assert_eq!((ignored.is_error(), ignored.detail), (false, detail));
    }
}
