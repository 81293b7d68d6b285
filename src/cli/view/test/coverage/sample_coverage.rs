//! A report for tests of its formats.

use ops::interface::coverage::{CoverageKind, CoverageReport, CoveredPoint, FileCoverage};

/// Two files with points of all kinds but assertions of checks; two points begin in the same line.
pub fn sample() -> CoverageReport {
    let point = |kind, name: &str, (line, column): (usize, usize), reached: [bool; 2]| {
        let name = name.to_owned();
        CoveredPoint { kind, name, line, column, reached }
    };
    let main = vec![
        point(CoverageKind::Condition, "var.v", (1, 3), [false, false]),
        point(CoverageKind::Resource, "a.b", (3, 1), [true, false]),
        point(CoverageKind::Conditional, "a.b", (4, 11), [true, false]),
        point(CoverageKind::Repetition, "a.b", (4, 11), [true, false]),
        point(CoverageKind::Conditional, "a.b", (5, 8), [true, true]),
        point(CoverageKind::Resource, "a.c", (9, 1), [false, false]),
    ];
    let out = vec![point(CoverageKind::Output, "output.o", (2, 1), [true, false])];
    let file = |name: &str, points| FileCoverage { name: name.into(), points };
    CoverageReport { files: vec![file("main.tf", main), file("sub/out.tf", out)] }
}
