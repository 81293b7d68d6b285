//! `-watch`: after the suite, what a changed file affects is executed again, until the user interrupts.
//!
//! Files are looked at twice a second, which needs nothing of the operating system and works on every file system.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base::diag::Diagnostics;
use base::stop::Stop;
use model::config::Config;
use model::config::test_file::TestFile;

use super::isolation;
use super::select::{SelectedFiles, SelectedRuns};
use super::suite::{self, SuiteOutcome};
use crate::interface::testing::{SuiteReport, TestListener, TestRequest, Watch};
use crate::setup::Setup;

const PERIOD: Duration = Duration::from_millis(500);

/// Folders nested deeper than this are not looked at.
const MAX_DEPTH: usize = 8;

/// The endings of files that configurations, values and tests are written in.
const CONFIGURATION: [&str; 4] = ["tf", "tofu", "hcl", "tfvars"];

/// The endings of other files that configurations read.
const DATA: [&str; 6] = ["json", "tftpl", "tpl", "tmpl", "yaml", "yml"];

const TESTS: [&str; 4] = [".tftest.hcl", ".tftest.json", ".tofutest.hcl", ".tofutest.json"];

/// What a change affects.
#[derive(Clone, Debug)]
pub struct Affected {
    /// The names of test files; none: all.
    files: Option<BTreeSet<String>>,
    how: Watch,
}

/// Executes the suite, and again what changes affect, until the user interrupts. Returns the last report and what is left to be shown.
pub async fn repeat(
    setup: &Setup,
    request: &TestRequest,
    how: Watch,
    listener: &Arc<dyn TestListener>,
) -> (SuiteReport, Diagnostics) {
    let mut folders = vec![PathBuf::from(".")];
    let mut before = scan(&folders);
    let mut affected = None;
    let mut last = SuiteReport::default();
    loop {
        let SuiteOutcome { report, diagnostics, modules } =
            suite::execute(setup, request, listener, affected.as_ref()).await;
        if affected.is_none() || !report.files.is_empty() || diagnostics.has_errors() {
            last = report;
        }
        if setup.stop.is_stopping() {
            return (last, diagnostics);
        }
        listener.diagnostics(diagnostics);
        if !modules.is_empty() {
            folders = modules;
            folders.push(PathBuf::from("."));
        }
        before = after_suite(before, scan(&folders));
        listener.waiting();
        let Some(changed) = next_change(&folders, &mut before, &setup.stop).await else {
            return (last, Diagnostics::new());
        };
        affected = Some(Affected { files: test_files(&changed), how });
    }
}

/// Leaves of a selection what a change affects: with [`Watch::Harmless`], runs that touch nothing outside, with those that they need.
pub fn restrict(
    selected: SelectedFiles,
    files: &[TestFile],
    root: &Config,
    affected: &Affected,
    diagnostics: &mut Diagnostics,
) -> SelectedFiles {
    let mut left_out = Vec::new();
    let mut left = Vec::new();
    for (index, runs) in selected {
        let file = &files[index];
        if affected.files.as_ref().is_some_and(|names| !names.contains(&file.name)) {
            continue;
        }
        if affected.how == Watch::All {
            left.push((index, runs));
            continue;
        }
        let harmless = isolation::harmless_runs(file, root);
        let wanted: BTreeSet<usize> = match runs {
            SelectedRuns::All => (0..file.runs.len()).collect(),
            SelectedRuns::Some(runs) => runs,
        };
        if !wanted.is_subset(&harmless) {
            left_out.push(file.name.as_str());
        }
        if wanted.is_empty() {
            left.push((index, SelectedRuns::All));
        } else if !wanted.is_disjoint(&harmless) {
            left.push((index, SelectedRuns::Some(&wanted & &harmless)));
        }
    }
    if !left_out.is_empty() {
        let detail = format!(
            "Runs of these files may change something outside, so that they are executed again only with -watch=all: {}.",
            left_out.join(", ")
        );
        diagnostics.warning("Runs not executed again", detail);
    }
    left
}

/// The files that are looked at, with when they were changed and how long they are.
type FileTimes = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Waits until a file differs from what was seen before. Returns which do, or none if the user interrupts.
async fn next_change(folders: &[PathBuf], before: &mut FileTimes, stop: &Stop) -> Option<BTreeSet<PathBuf>> {
    loop {
        tokio::select! {
            () = stop.stopping() => return None,
            () = tokio::time::sleep(PERIOD) => {}
        }
        let now = scan(folders);
        let changed = differences(before, &now);
        if !changed.is_empty() {
            *before = now;
            return Some(changed);
        }
    }
}

/// What counts as seen after a suite: changes of the configuration during it affect the next one, but data may be what its runs wrote.
fn after_suite(before: FileTimes, now: FileTimes) -> FileTimes {
    let is_configuration = |path: &Path| has_ending(path, &CONFIGURATION);
    let known: BTreeSet<PathBuf> = before.keys().filter_map(|path| path.parent().map(Path::to_path_buf)).collect();
    // Of folders that were not looked at before, nothing is known.
    let is_known = |path: &Path| path.parent().is_some_and(|folder| known.contains(folder));
    let old = before.iter().filter(|(path, _)| is_configuration(path)).map(|(path, seen)| (path.clone(), *seen));
    let new = now.into_iter().filter(|(path, _)| !is_configuration(path) || !is_known(path));
    old.chain(new).collect()
}

fn differences(before: &FileTimes, now: &FileTimes) -> BTreeSet<PathBuf> {
    let changed = now.iter().filter(|(path, seen)| before.get(*path) != Some(*seen)).map(|(path, _)| path);
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    changed.chain(gone).cloned().collect()
}

/// The names of the test files, if nothing else was changed.
fn test_files(changed: &BTreeSet<PathBuf>) -> Option<BTreeSet<String>> {
    let name = |path: &PathBuf| {
        let name = path.to_string_lossy().into_owned();
        TESTS.iter().any(|ending| name.ends_with(ending)).then_some(name)
    };
    changed.iter().map(name).collect()
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| endings.contains(&ending))
}

/// The files below folders that a suite may read. Hidden ones and recorded snapshots are left out.
fn scan(folders: &[PathBuf]) -> FileTimes {
    let mut seen = FileTimes::new();
    folders.iter().for_each(|folder| scan_folder(folder, MAX_DEPTH, &mut seen));
    seen
}

fn scan_folder(folder: &Path, depth: usize, seen: &mut FileTimes) {
    // A folder that cannot be read may come back.
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_left_out = name.to_string_lossy().starts_with('.') || name == "__snapshots__" || name == "node_modules";
        let path = if folder == Path::new(".") { PathBuf::from(&name) } else { folder.join(&name) };
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if is_left_out {
            continue;
        }
        if metadata.is_dir() && depth > 0 {
            scan_folder(&path, depth - 1, seen);
        } else if metadata.is_file() && (has_ending(&path, &CONFIGURATION) || has_ending(&path, &DATA)) {
            seen.insert(path, (metadata.modified().ok(), metadata.len()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(files: &[(&str, u64)]) -> FileTimes {
        files.iter().map(|(name, length)| (PathBuf::from(name), (None, *length))).collect()
    }

    fn paths(names: &[&str]) -> BTreeSet<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn changed_new_and_removed_files_are_noticed() {
        let before = seen(&[("a.tf", 1), ("b.tf", 1), ("c.tf", 1)]);
        let now = seen(&[("a.tf", 1), ("b.tf", 2), ("d.tf", 1)]);
        assert_eq!(differences(&before, &now), paths(&["b.tf", "c.tf", "d.tf"]));
        assert!(differences(&now, &now).is_empty());
    }

    #[test]
    fn test_files_affect_only_themselves() {
        let names =
            |names: &[&str]| test_files(&paths(names)).map(|names| names.into_iter().collect::<Vec<_>>().join(" "));
        assert_eq!(
            names(&["tests/a.tftest.hcl", "b.tofutest.json"]).as_deref(),
            Some("b.tofutest.json tests/a.tftest.hcl")
        );
        assert_eq!(names(&["tests/a.tftest.hcl", "main.tf"]), None);
        assert_eq!(names(&["tests/terraform.tfvars"]), None);
    }

    #[test]
    fn data_that_a_suite_wrote_is_no_change() {
        let before = seen(&[("a.tf", 1), ("x.json", 1)]);
        let now = seen(&[("a.tf", 2), ("x.json", 2), ("y.yaml", 1), ("new.tf", 1), ("other/main.tf", 1)]);
        let baseline = after_suite(before, now.clone());
        assert_eq!(differences(&baseline, &now), paths(&["a.tf", "new.tf"]));
    }

    #[test]
    fn folders_are_looked_at_with_what_is_below_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_path_buf();
        for name in
            ["main.tf", "x.txt", ".hidden.tf", "m/a.tofu", "m/t.tftpl", ".terraform/m.tf", "tests/__snapshots__/a.json"]
        {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let seen = scan(&[root.clone(), root.join("gone")]);
        let names: Vec<&Path> = seen.keys().map(|path| path.strip_prefix(&root).unwrap()).collect();
        assert_eq!(names, [Path::new("m/a.tofu"), Path::new("m/t.tftpl"), Path::new("main.tf")]);
    }
}
