//! The coverage as JSON. The format is Terrane's own: `format_version` gets a new minor version when members are added, and a new
//! major version when their meaning changes.

use ops::interface::coverage::{CoverageCount, CoverageKind, CoverageReport, CoveredPoint, FileCoverage};
use serde_json::{Map, Value as Json, json};

const FORMAT_VERSION: &str = "1.0";

/// The document: counts of everything, of each kind and each file, and all points with their sides.
pub fn document(report: &CoverageReport) -> Json {
    let of_kind = |kind| (kind_name(kind).to_owned(), count(report.count_of(kind)));
    let kinds: Map<String, Json> = CoverageKind::ALL.into_iter().map(of_kind).collect();
    let files: Vec<Json> = report.files.iter().map(file).collect();
    json!({ "format_version": FORMAT_VERSION, "total": count(report.total()), "kinds": kinds, "files": files })
}

/// The total as a line.
pub fn line(report: &CoverageReport) -> String {
    let total = report.total();
    let percent = total.percent().map_or_else(String::new, |percent| format!("{percent:.1}%, "));
    format!("Coverage: {percent}{} of {}", total.covered, total.total)
}

fn kind_name(kind: CoverageKind) -> &'static str {
    match kind {
        CoverageKind::Resource => "resource",
        CoverageKind::Output => "output",
        CoverageKind::Conditional => "conditional",
        CoverageKind::Repetition => "repetition",
        CoverageKind::Condition => "condition",
        CoverageKind::Assertion => "assertion",
    }
}

fn count(count: CoverageCount) -> Json {
    json!({ "covered": count.covered, "total": count.total, "percent": count.percent() })
}

fn file(file: &FileCoverage) -> Json {
    let points: Vec<Json> = file.points.iter().map(point).collect();
    json!({ "path": file.name, "count": count(file.count()), "points": points })
}

fn point(point: &CoveredPoint) -> Json {
    let reached: Map<String, Json> =
        point.sides().map(|(side, is_reached)| (side.to_owned(), is_reached.into())).collect();
    json!({
        "kind": kind_name(point.kind),
        "address": point.name,
        "line": point.line,
        "column": point.column,
        "reached": reached,
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample_coverage::sample;
    use super::*;

    #[test]
    fn the_document_has_counts_and_points() {
        let document = document(&sample());
        assert_eq!(document["total"], json!({ "covered": 6, "total": 11, "percent": 54.5 }));
        assert_eq!(document["kinds"]["assertion"], json!({ "covered": 0, "total": 0, "percent": null }));
        assert_eq!(document["files"][1]["path"], "sub/out.tf");
        assert_eq!(line(&sample()), "Coverage: 54.5%, 6 of 11");
        assert_eq!(line(&CoverageReport::default()), "Coverage: 0 of 0");
        let expected = r#"{
  "kind": "repetition",
  "address": "a.b",
  "line": 4,
  "column": 11,
  "reached": {
    "non-empty": true,
    "empty": false
  }
}"#;
        assert_eq!(format!("{:#}", document["files"][0]["points"][3]), expected);
    }
}
