//! The coverage as lcov's tracefiles have it: blocks are functions, points with two sides are branches, and a line is hit if anything of
//! it was evaluated. Counts are 0 or 1: how often something is evaluated means nothing.

use std::fmt::Write;

use ops::interface::coverage::{CoverageCount, CoverageReport, CoveredPoint, FileCoverage};

use super::lines::{CoveredLine, line_count, lines_of};

/// The tracefile: a record for each file.
pub fn render(report: &CoverageReport) -> String {
    let mut out = String::new();
    report.files.iter().for_each(|file| write_record(&mut out, file));
    out
}

fn write_record(out: &mut String, file: &FileCoverage) {
    let _ = writeln!(out, "TN:\nSF:{}", file.name);
    let blocks: Vec<&CoveredPoint> = file.points.iter().filter(|point| !point.kind.is_branch()).collect();
    for block in &blocks {
        let _ = writeln!(out, "FN:{},{}", block.line, block.name);
    }
    for block in &blocks {
        let _ = writeln!(out, "FNDA:{},{}", u8::from(block.is_reached()), block.name);
    }
    let block_count: CoverageCount = blocks.iter().map(|block| block.count()).sum();
    let _ = writeln!(out, "FNF:{}\nFNH:{}", block_count.total, block_count.covered);
    let lines = lines_of(file);
    lines.iter().for_each(|line| write_branches(out, line));
    let branch_count: CoverageCount = lines.iter().map(CoveredLine::branch_count).sum();
    let _ = writeln!(out, "BRF:{}\nBRH:{}", branch_count.total, branch_count.covered);
    for line in &lines {
        let _ = writeln!(out, "DA:{},{}", line.number, u8::from(line.is_reached()));
    }
    let count = line_count(&lines);
    let _ = writeln!(out, "LF:{}\nLH:{}\nend_of_record", count.total, count.covered);
}

/// A line for each side; of a branch that was never evaluated, the count is a dash.
fn write_branches(out: &mut String, line: &CoveredLine<'_>) {
    for (index, point) in line.branches().enumerate() {
        for (side, (_, is_reached)) in point.sides().enumerate() {
            let taken = match (point.is_reached(), is_reached) {
                (false, _) => "-",
                (true, true) => "1",
                (true, false) => "0",
            };
            let _ = writeln!(out, "BRDA:{},{index},{side},{taken}", line.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample_coverage::sample;
    use super::*;

    #[test]
    fn records_have_blocks_branches_and_lines() {
        let expected = "\
TN:
SF:main.tf
FN:3,a.b
FN:9,a.c
FNDA:1,a.b
FNDA:0,a.c
FNF:2
FNH:1
BRDA:1,0,0,-
BRDA:1,0,1,-
BRDA:4,0,0,1
BRDA:4,0,1,0
BRDA:4,1,0,1
BRDA:4,1,1,0
BRDA:5,0,0,1
BRDA:5,0,1,1
BRF:8
BRH:4
DA:1,0
DA:3,1
DA:4,1
DA:5,1
DA:9,0
LF:5
LH:3
end_of_record
TN:
SF:sub/out.tf
FN:2,output.o
FNDA:1,output.o
FNF:1
FNH:1
BRF:0
BRH:0
DA:2,1
LF:1
LH:1
end_of_record
";
        assert_eq!(render(&sample()), expected);
    }
}
