//! Files with addresses for `-target-file` and `-exclude-file`: one in a line, with comments after `#`.

use std::path::Path;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::files::reason;
use base::source::{Range, SourceFile, Span};
use model::addr::{Target, command_line};

use crate::interface::options::PlanOptions;

/// Adds what the files have to the targets and excludes of the plan.
pub fn read(plan: &mut PlanOptions) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let (targets, excludes) = (std::mem::take(&mut plan.target_files), std::mem::take(&mut plan.exclude_files));
    plan.scope.targets.extend(targets.iter().flat_map(|path| file(path, &mut diagnostics)));
    plan.scope.excludes.extend(excludes.iter().flat_map(|path| file(path, &mut diagnostics)));
    diagnostics
}

fn file(path: &Path, diagnostics: &mut Diagnostics) -> Vec<Target> {
    match std::fs::read_to_string(path) {
        Ok(text) => addresses(&SourceFile::new(path.display().to_string(), text), diagnostics),
        Err(error) => {
            let detail = format!("The file {} cannot be read: {}.", path.display(), reason(&error));
            diagnostics.error("Failed to read a file of addresses", detail);
            Vec::new()
        }
    }
}

fn addresses(file: &Arc<SourceFile>, diagnostics: &mut Diagnostics) -> Vec<Target> {
    let mut found = Vec::new();
    for number in 1..=file.text().lines().count() {
        let line = file.line(number).trim_start_matches('\u{feff}');
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let end = file.line_start(number) + file.line(number).len();
        let start = end - line.len();
        match command_line::target(without_comment(line)) {
            Ok(target) => found.push(target),
            Err(problems) => diagnostics.extend(problems.into_iter().map(|problem| moved(problem, file, start))),
        }
    }
    found
}

/// The line before a `#` that is not part of a key in quotes.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '#' if !quoted => return line[..at].trim_end(),
            _ => {}
        }
    }
    line.trim_end()
}

/// What is wrong with the text of a line, at its place in the file.
fn moved(mut problem: Diagnostic, file: &Arc<SourceFile>, start: usize) -> Diagnostic {
    let range = problem.subject.take().map_or(Span::default(), |range: Range| range.span);
    let place = Span::new(start + range.start as usize, start + range.end as usize);
    problem.at(place.in_file(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_in_a_line() {
        let text = "# all of them\n\nmodule.m\r\n\u{feff}x.a[\"#1\"] # why\n  # indented\ny.*";
        let mut diagnostics = Diagnostics::new();
        let found = addresses(&SourceFile::new("t.txt", text), &mut diagnostics);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, ["module.m", "x.a[\"#1\"]", "y.*"]);
        assert!(!diagnostics.has_errors());
    }

    #[test]
    fn errors_name_their_place() {
        let mut diagnostics = Diagnostics::new();
        addresses(&SourceFile::new("t.txt", "x.a\nx.b.c.d\n"), &mut diagnostics);
        let places: Vec<String> =
            diagnostics.iter().map(|d| d.subject.as_ref().map_or(String::new(), ToString::to_string)).collect();
        assert_eq!(places, ["t.txt:2,1-8"]);
    }
}
