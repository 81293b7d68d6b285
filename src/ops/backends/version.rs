//! The version of the language that a workspace of HCP Terraform is for: states of another version could make it unusable.

use crate::backend::Backend;
use crate::backend::hcp::{ApiError, Flavor, Hcp, Workspace};
use crate::backend::store::DEFAULT_WORKSPACE;
use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::name::PROGRAM;
use crate::model::deps::{Constraints, Version};
use crate::model::version::language_version;

/// Checks the workspace in use before its state is changed by hand. Gives warnings; with `ignore` there are no errors.
pub async fn check(backend: &dyn Backend, workspace: &str, ignore: bool) -> Result<Diagnostics, Diagnostics> {
    let Some(hcp) = backend.hcp() else { return Ok(Diagnostics::new()) };
    let found = match hcp.workspace(workspace).await {
        Ok(Some(found)) => found,
        // One that is made now is for this version.
        Ok(None) => return Ok(Diagnostics::new()),
        Err(e) => {
            return Err(unread(&e).into());
        }
    };
    match problem(hcp, &found, language_version(), ignore) {
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
pub async fn check_destination(backend: &dyn Backend, names: Option<&[String]>) -> Result<Diagnostics, Diagnostics> {
    let mut warnings = Diagnostics::new();
    let Some(hcp) = backend.hcp() else { return Ok(warnings) };
    let names = names.unwrap_or_default();
    for name in names {
        warnings.extend(check(backend, name, false).await?);
    }
    if names.is_empty() && hcp.flavor == Flavor::Remote {
        warnings.extend(check(backend, DEFAULT_WORKSPACE, false).await?);
    }
    Ok(warnings)
}

/// What is wrong with the version of a workspace.
fn problem(hcp: &Hcp, workspace: &Workspace, local: &str, ignore: bool) -> Option<Diagnostic> {
    if workspace.terraform_version == "latest" || workspace.runs_locally() {
        return None;
    }
    let place = format!("{}/{}", hcp.organization(), workspace.name);
    match hcp.flavor {
        Flavor::Remote => remote_problem(&workspace.terraform_version, &place, local, ignore),
        Flavor::Cloud => cloud_problem(&workspace.terraform_version, &place, local, ignore),
    }
}

fn advice() -> String {
    format!(
        "If you're sure you want to upgrade the state, you can force {PROGRAM} to continue using the -ignore-remote-version flag. \
         This may result in an unusable workspace."
    )
}

fn mismatch(summary: String, detail: String, ignore: bool) -> Diagnostic {
    if ignore { Diagnostic::warning(summary, detail) } else { Diagnostic::error(summary, detail) }
}

fn minor(version: &Version) -> (u64, u64) {
    (version.segment(0), version.segment(1))
}

/// Versions of `remote` workspaces are exact.
fn remote_problem(theirs: &str, place: &str, local: &str, ignore: bool) -> Option<Diagnostic> {
    let (Ok(remote), Ok(ours)) = (Version::parse(theirs), Version::parse(local)) else {
        let detail = format!("Invalid {PROGRAM} version: Malformed version: {theirs}");
        return Some(Diagnostic::error(UNREAD, detail));
    };
    // Formats of states change with the minor version; from 0.14 to 1.2 they did not.
    let early = |version: &Version| (0, 14) <= minor(version) && minor(version) < (1, 3);
    let fits = match (0, 14) <= minor(&remote) {
        true => minor(&remote) == minor(&ours) || (early(&remote) && early(&ours)),
        false => remote == ours,
    };
    if fits {
        return None;
    }
    let advice = if ignore { String::new() } else { format!(" {}", advice()) };
    let detail = format!(
        "The local {PROGRAM} version ({local}) does not match the configured version for remote workspace {place} ({theirs}).{advice}"
    );
    Some(mismatch(format!("{PROGRAM} version mismatch"), detail, ignore))
}

/// Versions of `cloud` workspaces may be constraints.
fn cloud_problem(theirs: &str, place: &str, local: &str, ignore: bool) -> Option<Diagnostic> {
    let judge = |message: String| {
        let detail = if ignore { message } else { format!("{message}\n\n{}", advice()) };
        Some(mismatch(format!("Incompatible {PROGRAM} version"), detail, ignore))
    };
    let written = match Version::parse(theirs) {
        Ok(remote) if !remote.is_prerelease() => match minor(&remote) {
            early if ((0, 14)..(1, 3)).contains(&early) => ">= 0.14.0, < 1.3.0".to_owned(),
            late if late >= (1, 3) => format!("~> {}.{}.0", late.0, late.1),
            _ => theirs.to_owned(),
        },
        _ => theirs.to_owned(),
    };
    let (Ok(constraints), Ok(ours)) = (Constraints::parse(&written), Version::parse(local)) else {
        return judge(format!(
            "The remote workspace specified an invalid {PROGRAM} version or constraint ({theirs}), and it isn't possible to \
             determine whether the local {PROGRAM} version ({local}) is compatible."
        ));
    };
    if constraints.matches(&ours) {
        return None;
    }
    judge(format!(
        "The local {PROGRAM} version ({local}) does not meet the version requirements for remote workspace {place} ({written})."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_one_minor_release_fit() {
        let cases = [
            ("1.11.0", true, true),
            ("1.11.9", true, true),
            ("1.10.5", false, false),
            ("0.13.1", false, false),
            ("1.2.0", false, false),
            ("~> 1.11.0", false, true),
            ("~> 1", false, true),
            ("~> 0", false, true),
            (">= 1.0.0", false, true),
            ("nonsense", false, false),
        ];
        for (theirs, remote, cloud) in cases {
            assert_eq!(remote_problem(theirs, "o/w", "1.11.4", false).is_none(), remote, "remote {theirs}");
            assert_eq!(cloud_problem(theirs, "o/w", "1.11.4", false).is_none(), cloud, "cloud {theirs}");
        }
        assert!(remote_problem("1.1.0", "o/w", "1.2.9", false).is_none());
        let ignored = cloud_problem("1.10.0", "o/w", "1.11.4", true).unwrap();
        let detail = "The local Terrane version (1.11.4) does not meet the version requirements for remote workspace o/w (~> 1.10.0).";
        assert_eq!((ignored.is_error(), ignored.detail.as_str()), (false, detail));
    }
}
