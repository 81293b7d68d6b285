//! The coverage of a configuration by its tests: what reports of it say. Has names and places, never values.

use std::iter::Sum;
use std::ops::Add;

/// What of a configuration a test can cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoverageKind {
    /// A block of an object that was evaluated.
    Resource,
    Output,
    /// A conditional expression, an `if` directive of a template, or the `if` clause of a `for`.
    Conditional,
    /// `count`, `for_each` or `enabled`.
    Repetition,
    /// A validation, a precondition or a postcondition.
    Condition,
    /// An assertion of a check block.
    Assertion,
}

impl CoverageKind {
    /// All kinds, in the order of reports.
    pub const ALL: [CoverageKind; 6] = [
        CoverageKind::Resource,
        CoverageKind::Output,
        CoverageKind::Conditional,
        CoverageKind::Repetition,
        CoverageKind::Condition,
        CoverageKind::Assertion,
    ];

    /// The names of the sides that a test can reach: one if it is only evaluated, otherwise two.
    pub fn sides(self) -> &'static [&'static str] {
        match self {
            CoverageKind::Resource | CoverageKind::Output => &["evaluated"],
            CoverageKind::Conditional | CoverageKind::Condition | CoverageKind::Assertion => &["true", "false"],
            CoverageKind::Repetition => &["non-empty", "empty"],
        }
    }

    /// True if it has two sides.
    pub fn is_branch(self) -> bool {
        self.sides().len() == 2
    }
}

/// A place in a configuration, and which of its sides the tests reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredPoint {
    pub kind: CoverageKind,
    /// The block that it stands in, as its module names it.
    pub name: String,
    /// Counted from 1, as the column.
    pub line: usize,
    pub column: usize,
    /// By the position of the side in [`CoverageKind::sides`].
    pub reached: [bool; 2],
}

impl CoveredPoint {
    /// The sides with their names.
    pub fn sides(&self) -> impl Iterator<Item = (&'static str, bool)> {
        self.kind.sides().iter().copied().zip(self.reached)
    }

    /// True if a test reached any side.
    pub fn is_reached(&self) -> bool {
        self.sides().any(|(_, is_reached)| is_reached)
    }

    /// How many of its sides were reached.
    pub fn count(&self) -> CoverageCount {
        let covered = self.sides().filter(|(_, is_reached)| *is_reached).count();
        CoverageCount { covered, total: self.kind.sides().len() }
    }
}

/// How many sides there are, and how many of them were reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoverageCount {
    pub covered: usize,
    pub total: usize,
}

impl CoverageCount {
    /// With one decimal, rounded down: 100 only if nothing is missing. None if there is nothing to cover.
    pub fn percent(self) -> Option<f64> {
        let tenths = (self.covered * 1000).checked_div(self.total)?;
        Some(tenths as f64 / 10.0)
    }
}

impl Add for CoverageCount {
    type Output = CoverageCount;

    fn add(self, other: CoverageCount) -> CoverageCount {
        CoverageCount { covered: self.covered + other.covered, total: self.total + other.total }
    }
}

impl Sum for CoverageCount {
    fn sum<I: Iterator<Item = CoverageCount>>(counts: I) -> CoverageCount {
        counts.fold(CoverageCount::default(), Add::add)
    }
}

/// The points of a file in the order of their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCoverage {
    /// Its path relative to the root module.
    pub name: String,
    pub points: Vec<CoveredPoint>,
}

impl FileCoverage {
    pub fn count(&self) -> CoverageCount {
        self.points.iter().map(CoveredPoint::count).sum()
    }
}

/// The coverage by all runs of a suite. Files are in the order of their names; files without points are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoverageReport {
    pub files: Vec<FileCoverage>,
}

impl CoverageReport {
    /// How much of everything is covered.
    pub fn total(&self) -> CoverageCount {
        self.files.iter().map(FileCoverage::count).sum()
    }

    /// How much of the points of a kind is covered.
    pub fn count_of(&self, kind: CoverageKind) -> CoverageCount {
        let points = self.files.iter().flat_map(|file| &file.points);
        points.filter(|point| point.kind == kind).map(CoveredPoint::count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_rounded_down() {
        let cases = [((0, 0), None), ((0, 3), Some(0.0)), ((2, 3), Some(66.6)), ((1999, 2000), Some(99.9))];
        for ((covered, total), expected) in cases.into_iter().chain([((7, 7), Some(100.0))]) {
            assert_eq!(CoverageCount { covered, total }.percent(), expected, "{covered} of {total}");
        }
    }

    #[test]
    fn points_without_a_condition_have_one_side() {
        let point = |kind, reached| CoveredPoint { kind, name: "n".into(), line: 1, column: 1, reached };
        let count = |kind, reached| {
            let CoverageCount { covered, total } = point(kind, reached).count();
            (covered, total)
        };
        assert_eq!(count(CoverageKind::Output, [true, false]), (1, 1));
        assert_eq!(count(CoverageKind::Conditional, [false, true]), (1, 2));
        assert_eq!(count(CoverageKind::Repetition, [true, true]), (2, 2));
    }
}
