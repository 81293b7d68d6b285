//! Which files and runs of a suite are executed: filters, what failed the last time, and shards. Pure.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use base::suggest;
use gotext::glob::{Pattern, Syntax};
use model::config::test_file::{TestFile, TestRun};
use model::version::at_least;

use crate::interface::testing::TestSelection;

/// The runs of one file that are executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectedRuns {
    All,
    /// By position. Runs that they need are executed too.
    Some(BTreeSet<usize>),
}

/// A run that did not pass, or a file that failed without its runs.
pub type FailedRun = (String, Option<Arc<str>>);

/// The files that are executed, by their position, each with its runs.
pub type SelectedFiles = Vec<(usize, SelectedRuns)>;

/// Applies a selection to the files, which are sorted by name. `failed`: the files and runs that did not pass the last time, if only they
/// are wanted; none: there was no last time, or it does not matter. Also returns the filters that name nothing.
pub fn select(
    files: &[TestFile],
    selection: &TestSelection,
    failed: Option<&[FailedRun]>,
) -> (SelectedFiles, Vec<String>) {
    let mut selected: SelectedFiles = Vec::new();
    let mut unknown = Vec::new();
    if selection.filters.is_empty() {
        selected = (0..files.len()).map(|index| (index, SelectedRuns::All)).collect();
    }
    for filter in &selection.filters {
        let found = matches(files, filter);
        if found.is_empty() {
            unknown.push(filter.clone());
        }
        found.into_iter().for_each(|(file, runs)| add(&mut selected, file, runs));
    }
    if let Some(failed) = failed {
        selected.retain_mut(|(file, runs)| keep_failed(&files[*file], runs, failed));
    }
    selected.sort_by_key(|(file, _)| *file);
    if let Some((part, parts)) = selection.shard {
        let mut position = 0;
        selected.retain(|_| {
            position += 1;
            (position - 1) % parts.max(1) == part.saturating_sub(1)
        });
    }
    (selected, unknown)
}

fn add(selected: &mut SelectedFiles, file: usize, runs: SelectedRuns) {
    match selected.iter_mut().find(|(known, _)| *known == file) {
        None => selected.push((file, runs)),
        Some((_, known)) => match (known, runs) {
            (SelectedRuns::Some(known), SelectedRuns::Some(more)) => known.extend(more),
            (known, SelectedRuns::All) => *known = SelectedRuns::All,
            (SelectedRuns::All, _) => {}
        },
    }
}

/// Leaves the runs that did not pass the last time. False: none did.
fn keep_failed(file: &TestFile, runs: &mut SelectedRuns, failed: &[FailedRun]) -> bool {
    let of_file: Vec<&Option<Arc<str>>> =
        failed.iter().filter(|(name, _)| *name == file.name).map(|(_, run)| run).collect();
    if of_file.iter().any(|run| run.is_none()) {
        return true;
    }
    let is_failed = |index: &usize| of_file.iter().any(|run| run.as_ref() == Some(&file.runs[*index].name));
    let left: BTreeSet<usize> = match runs {
        SelectedRuns::All => (0..file.runs.len()).filter(is_failed).collect(),
        SelectedRuns::Some(known) => known.iter().copied().filter(|index| is_failed(index)).collect(),
    };
    let any = !left.is_empty();
    *runs = SelectedRuns::Some(left);
    any
}

/// What one filter names. A path that exists is a path; then a file name without its folder, `FILE:RUN`, `FILE:LINE` and `run:GLOB`.
fn matches(files: &[TestFile], filter: &str) -> Vec<(usize, SelectedRuns)> {
    let whole = files_named(files, filter);
    if !whole.is_empty() {
        return whole.into_iter().map(|file| (file, SelectedRuns::All)).collect();
    }
    if let Some(pattern) = filter.strip_prefix("run:") {
        let of_file = |(index, file): (usize, &TestFile)| {
            let runs = runs_where(file, |run| is_named(run, pattern));
            (!runs.is_empty()).then_some((index, SelectedRuns::Some(runs)))
        };
        return files.iter().enumerate().filter_map(of_file).collect();
    }
    let Some((name, part)) = filter.rsplit_once(':') else { return Vec::new() };
    let of_file = |index: usize| {
        let file = &files[index];
        if file.runs.is_empty() {
            // It cannot be read: what is wrong with it is shown.
            return Some((index, SelectedRuns::All));
        }
        let mut runs = runs_where(file, |run| is_named(run, part));
        if runs.is_empty()
            && let Ok(line) = part.parse::<usize>()
        {
            runs = runs_at_line(file, line);
        }
        (!runs.is_empty()).then_some((index, SelectedRuns::Some(runs)))
    };
    files_named(files, name).into_iter().filter_map(of_file).collect()
}

fn files_named(files: &[TestFile], name: &str) -> Vec<usize> {
    let name = name.strip_prefix("./").unwrap_or(name);
    let where_ = |is: &dyn Fn(&str) -> bool| -> Vec<usize> {
        files.iter().enumerate().filter(|(_, file)| is(&file.name)).map(|(index, _)| index).collect()
    };
    let exact = where_(&|known| known == name);
    if !exact.is_empty() || name.contains('/') {
        return exact;
    }
    where_(&|known| known.rsplit('/').next() == Some(name))
}

fn runs_where(file: &TestFile, is: impl Fn(&TestRun) -> bool) -> BTreeSet<usize> {
    file.runs.iter().enumerate().filter(|(_, run)| is(run)).map(|(index, _)| index).collect()
}

/// The runs of the block that has that line: the last that begins at or before it.
fn runs_at_line(file: &TestFile, line: usize) -> BTreeSet<usize> {
    let start = |run: &TestRun| run.range.start().line;
    let first = file.runs.iter().map(start).filter(|first| *first <= line).max();
    runs_where(file, |run| Some(start(run)) == first)
}

/// Whether a name or a pattern means a run. The name of a block with `for_each` means all of its runs.
fn is_named(run: &TestRun, pattern: &str) -> bool {
    *pattern == *run.name || glob_matches(pattern, &run.name) || glob_matches(pattern, run.block_name())
}

fn glob_matches(pattern: &str, name: &str) -> bool {
    Pattern::parse(pattern, Syntax::Doublestar1).is_ok_and(|pattern| pattern.matches(name))
}

/// The warnings about filters that name no file, as the reference has them.
pub fn unknown_files(unknown: &[String]) -> Diagnostics {
    let one = |filter: &String| {
        let detail = format!("The specified test file, {filter}, could not be found.");
        Diagnostic::warning("Unknown test file", detail)
    };
    unknown.iter().filter(|_| at_least(16)).map(one).collect()
}

/// The errors about filters that name nothing.
pub fn unknown_filters(files: &[TestFile], unknown: &[String]) -> Diagnostics {
    let one = |filter: &String| {
        let names = files.iter().map(|file| file.name.as_str());
        let detail = format!(
            "No test file and no run matches -filter={filter}. A filter is the path of a file as \"{COMMAND} test\" shows it, FILE:RUN, \
             FILE:LINE, or run:NAME, where NAME may have * and ?."
        );
        Diagnostic::error("Unknown test filter", detail).with_tip(suggest::question(filter, names))
    };
    unknown.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use base::files::Memory;
    use model::config::test_file::load::read_each;

    use super::*;

    fn files() -> Vec<TestFile> {
        let runs = |names: &[&str]| names.iter().map(|name| format!("run {name:?} {{\n}}\n")).collect::<String>();
        let texts = [
            ("a.tftest.hcl", runs(&["one", "two", "three"])),
            ("b.tftest.hcl", runs(&["two"])),
            ("c.tftest.hcl", "run {".to_owned()),
            ("tests/b.tftest.hcl", runs(&["four"])),
        ];
        let memory = Memory::of(texts.iter().map(|(name, text)| (*name, text.as_str())));
        let mut files: Vec<TestFile> =
            read_each(Path::new("."), "tests", &memory).0.into_iter().map(|(file, _)| file).collect();
        files.sort_by(|a, b| a.name.cmp(&b.name));
        let by_key = files[1].runs[0].clone();
        files[1].runs.extend(["x", "y"].map(|key| by_key.for_element(key.into(), terrane_value::Value::string(key))));
        files
    }

    /// The selected files and runs as `FILE:POSITION,POSITION`, and the unknown filters.
    fn selected(selection: &TestSelection, failed: Option<&[FailedRun]>) -> (String, Vec<String>) {
        let files = files();
        let (selected, unknown) = select(&files, selection, failed);
        let name = |(index, runs): (usize, SelectedRuns)| match runs {
            SelectedRuns::All => files[index].name.replace(".tftest.hcl", ""),
            SelectedRuns::Some(runs) => {
                let runs: Vec<String> = runs.iter().map(ToString::to_string).collect();
                format!("{}:{}", files[index].name.replace(".tftest.hcl", ""), runs.join(","))
            }
        };
        (selected.into_iter().map(name).collect::<Vec<_>>().join(" "), unknown)
    }

    #[test]
    fn filters_name_files_and_runs() {
        let cases: [(&[&str], &str, &[&str]); 14] = [
            (&[], "a b c tests/b", &[]),
            (&["a.tftest.hcl"], "a", &[]),
            (&["./a.tftest.hcl"], "a", &[]),
            // A path that exists is a path, not a name in any folder.
            (&["b.tftest.hcl"], "b", &[]),
            (&["tests/b.tftest.hcl"], "tests/b", &[]),
            (&["a.tftest.hcl:two"], "a:1", &[]),
            (&["a.tftest.hcl:t*"], "a:1,2", &[]),
            (&["a.tftest.hcl:4"], "a:1", &[]),
            (&["run:two"], "a:1 b:0,1,2", &[]),
            (&["b.tftest.hcl:two[\"x\"]"], "b:1", &[]),
            (&["a.tftest.hcl:one", "a.tftest.hcl:three"], "a:0,2", &[]),
            (&["a.tftest.hcl:one", "a.tftest.hcl"], "a", &[]),
            (&["c.tftest.hcl:any"], "c", &[]),
            (
                &["gone.tftest.hcl", "run:gone", "a.tftest.hcl:gone"],
                "",
                &["gone.tftest.hcl", "run:gone", "a.tftest.hcl:gone"],
            ),
        ];
        for (filters, expected, unknown) in cases {
            let filters = filters.iter().map(ToString::to_string).collect();
            let selection = TestSelection { filters, ..TestSelection::default() };
            let (found, not_found) = selected(&selection, None);
            assert_eq!(
                (found.as_str(), not_found),
                (expected, unknown.iter().map(ToString::to_string).collect()),
                "{selection:?}"
            );
        }
    }

    #[test]
    fn failed_runs_and_shards_are_parts_of_the_selection() {
        let failed: &[FailedRun] = &[("a.tftest.hcl".into(), Some("two".into())), ("c.tftest.hcl".into(), None)];
        let all = TestSelection { last_failed: true, ..TestSelection::default() };
        assert_eq!(selected(&all, Some(failed)).0, "a:1 c");
        assert_eq!(selected(&all, Some(&[])).0, "");
        assert_eq!(selected(&all, None).0, "a b c tests/b");
        let shard = |part, parts| {
            let selection = TestSelection { shard: Some((part, parts)), ..TestSelection::default() };
            selected(&selection, None).0
        };
        assert_eq!([shard(1, 3), shard(2, 3), shard(3, 3)], ["a tests/b", "b", "c"]);
        assert_eq!(shard(5, 5), "");
    }
}
