//! The coverage for people: how much of each kind, how much of each file, and the lines that are not covered.

use std::fmt::Write;

use ops::interface::coverage::{CoverageCount, CoverageKind, CoverageReport, FileCoverage};

use super::lines::{CoveredLine, lines_of};

const FILE: &str = "File";

/// The table, with an empty line before it.
pub fn render(report: &CoverageReport) -> String {
    let kinds = CoverageKind::ALL.into_iter().map(|kind| (title(kind), report.count_of(kind)));
    let width = CoverageKind::ALL.into_iter().map(|kind| title(kind).len()).max().unwrap_or_default();
    let mut out = format!("\n{:<width$}  Covered  Total  Percent\n", "Coverage");
    kinds.for_each(|(title, count)| write_row(&mut out, title, width, count, ""));
    write_row(&mut out, "Total", width, report.total(), "");
    if report.files.is_empty() {
        return out;
    }
    let names = report.files.iter().map(|file| file.name.chars().count());
    let width = names.max().unwrap_or_default().max(FILE.len());
    let _ = writeln!(out, "\n{FILE:<width$}  Covered  Total  Percent  Lines not covered");
    report.files.iter().for_each(|file| write_row(&mut out, &file.name, width, file.count(), &missing_lines(file)));
    out
}

fn title(kind: CoverageKind) -> &'static str {
    match kind {
        CoverageKind::Resource => "Resources",
        CoverageKind::Output => "Outputs",
        CoverageKind::Conditional => "Conditionals (true, false)",
        CoverageKind::Repetition => "count, for_each, enabled (non-empty, empty)",
        CoverageKind::Condition => "Conditions (true, false)",
        CoverageKind::Assertion => "Assertions of checks (true, false)",
    }
}

fn write_row(out: &mut String, name: &str, width: usize, count: CoverageCount, rest: &str) {
    let percent = count.percent().map_or_else(|| "-".to_owned(), |percent| format!("{percent:.1}%"));
    let row = format!("{name:<width$}  {:>7}  {:>5}  {percent:>7}  {rest}", count.covered, count.total);
    let _ = writeln!(out, "{}", row.trim_end());
}

/// `3, 7 (false), 9 (empty)`: with the sides that were not reached where the line was evaluated.
fn missing_lines(file: &FileCoverage) -> String {
    lines_of(file).iter().filter_map(missing_line).collect::<Vec<_>>().join(", ")
}

fn missing_line(line: &CoveredLine<'_>) -> Option<String> {
    if line.points.iter().any(|point| !point.is_reached()) {
        return Some(line.number.to_string());
    }
    let mut missing: Vec<&str> = Vec::new();
    for (side, is_reached) in line.points.iter().flat_map(|point| point.sides()) {
        if !is_reached && !missing.contains(&side) {
            missing.push(side);
        }
    }
    (!missing.is_empty()).then(|| format!("{} ({})", line.number, missing.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::super::sample_coverage::sample;
    use super::*;

    #[test]
    fn the_table_lists_kinds_and_files() {
        let expected = "
Coverage                                     Covered  Total  Percent
Resources                                          1      2    50.0%
Outputs                                            1      1   100.0%
Conditionals (true, false)                         3      4    75.0%
count, for_each, enabled (non-empty, empty)        1      2    50.0%
Conditions (true, false)                           0      2     0.0%
Assertions of checks (true, false)                 0      0        -
Total                                              6     11    54.5%

File        Covered  Total  Percent  Lines not covered
main.tf           5     10    50.0%  1, 4 (false, empty), 9
sub/out.tf        1      1   100.0%
";
        assert_eq!(render(&sample()), expected);
        assert!(render(&CoverageReport::default()).ends_with("      0      0        -\n"));
    }
}
