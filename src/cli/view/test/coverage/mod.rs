//! The coverage of a suite: a table for people, and the formats JSON, lcov and Cobertura for programs. Never counts: that is the matter
//! of the tests' runner.

mod cobertura;
pub mod json;
mod lcov;
mod lines;
#[cfg(test)]
mod sample_coverage;
mod table;

use ops::interface::coverage::CoverageReport;

use crate::args::test::CoverageFormat;

/// The report in a format. `time`: when the suite ended, in milliseconds since the epoch.
pub fn render(report: &CoverageReport, format: CoverageFormat, time: i64) -> String {
    match format {
        CoverageFormat::Table => table::render(report),
        CoverageFormat::Json => format!("{:#}\n", json::document(report)),
        CoverageFormat::Lcov => lcov::render(report),
        CoverageFormat::Cobertura => cobertura::render(report, time),
    }
}
