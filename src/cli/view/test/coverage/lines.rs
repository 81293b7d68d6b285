//! The lines of a file that have something to cover.

use ops::interface::coverage::{CoverageCount, CoveredPoint, FileCoverage};

/// A line with the points that begin in it.
pub struct CoveredLine<'a> {
    pub number: usize,
    pub points: Vec<&'a CoveredPoint>,
}

impl<'a> CoveredLine<'a> {
    /// True if anything of the line was evaluated.
    pub fn is_reached(&self) -> bool {
        self.points.iter().any(|point| point.is_reached())
    }

    /// The points that have two sides.
    pub fn branches(&self) -> impl Iterator<Item = &'a CoveredPoint> {
        self.points.iter().copied().filter(|point| point.kind.is_branch())
    }

    /// How many sides of its branches were reached.
    pub fn branch_count(&self) -> CoverageCount {
        self.branches().map(CoveredPoint::count).sum()
    }
}

/// The lines in their order.
pub fn lines_of(file: &FileCoverage) -> Vec<CoveredLine<'_>> {
    let mut lines: Vec<CoveredLine<'_>> = Vec::new();
    for point in &file.points {
        match lines.last_mut().filter(|line| line.number == point.line) {
            Some(line) => line.points.push(point),
            None => lines.push(CoveredLine { number: point.line, points: vec![point] }),
        }
    }
    lines
}

/// How many of the lines were reached.
pub fn line_count(lines: &[CoveredLine<'_>]) -> CoverageCount {
    CoverageCount { covered: lines.iter().filter(|line| line.is_reached()).count(), total: lines.len() }
}
