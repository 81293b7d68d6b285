//! The coverage of a suite: what its runs evaluated, beside what there is in the modules that they test.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use engine::coverage::{Coverage, CoveragePoint, PointKind, points_of};
use model::config::module_source::{is_local, join_local};
use model::config::test_file::{TestFile, TestRun};
use model::config::{Config, Module};

use crate::interface::coverage::{CoverageKind, CoverageReport, CoveredPoint, FileCoverage};
use crate::interface::testing::TestRequest;

/// What the runs record in; none unless coverage is asked for.
pub fn recorder(request: &TestRequest) -> Option<Arc<Coverage>> {
    request.coverage.then(Arc::default)
}

/// The coverage of the root module, of the modules that runs test instead of it, and of the local modules that these call. Left out
/// are modules of other packages, which have their own tests, and those in the folder of test files, which only help tests.
pub fn report(coverage: &Coverage, root: &Config, tests: &[TestFile], test_dir: &str) -> CoverageReport {
    let mut modules = own_modules(&root.root);
    let tested = tests.iter().flat_map(|file| &file.runs).filter_map(|run| module_under_test(run, test_dir));
    modules.extend(tested.flat_map(own_modules));
    let mut files: BTreeMap<String, BTreeMap<PointPlace, CoveredPoint>> = BTreeMap::new();
    for module in modules {
        for point in points_of(module) {
            let reached = coverage.reached(&point);
            let points = files.entry(point.range.filename().to_owned()).or_default();
            points.insert(PointPlace::of(&point), point_of_report(&point, reached));
        }
    }
    let files = files.into_iter().map(|(name, points)| FileCoverage { name, points: points.into_values().collect() });
    CoverageReport { files: files.collect() }
}

/// The module that a run tests in place of the root module, unless it belongs to another package or to the tests.
fn module_under_test<'a>(run: &'a TestRun, test_dir: &str) -> Option<&'a Arc<Module>> {
    let (call, config) = (run.module.as_ref()?, run.under_test.as_ref()?);
    let root = Path::new(".");
    let is_of_tests = join_local(root, &call.source).starts_with(join_local(root, test_dir));
    (is_local(&call.source) && !is_of_tests).then_some(&config.root)
}

/// A module with those that it calls from the same package.
fn own_modules(module: &Arc<Module>) -> Vec<&Module> {
    let mut all = vec![&**module];
    let mut next = 0;
    while let Some(module) = all.get(next).copied() {
        let is_own = |name: &str| module.calls.get(name).is_some_and(|call| is_local(&call.source));
        all.extend(module.children.iter().filter(|(name, _)| is_own(name)).map(|(_, child)| &**child));
        next += 1;
    }
    all
}

/// Where a point is within its file: what sorts points, and what makes one of those that several modules have.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PointPlace {
    start: u32,
    end: u32,
    kind: PointKind,
}

impl PointPlace {
    fn of(point: &CoveragePoint) -> PointPlace {
        let span = point.range.span;
        PointPlace { start: span.start, end: span.end, kind: point.kind }
    }
}

fn point_of_report(point: &CoveragePoint, reached: [bool; 2]) -> CoveredPoint {
    let start = point.range.start();
    let kind = match point.kind {
        PointKind::Resource => CoverageKind::Resource,
        PointKind::Output => CoverageKind::Output,
        PointKind::Conditional => CoverageKind::Conditional,
        PointKind::Repetition => CoverageKind::Repetition,
        PointKind::Condition => CoverageKind::Condition,
        PointKind::Assertion => CoverageKind::Assertion,
    };
    CoveredPoint { kind, name: point.name.clone(), line: start.line, column: start.column, reached }
}

#[cfg(test)]
mod tests {
    use base::dialect::Dialect;
    use base::files::{Memory, WrittenIn};
    use model::config::{ModuleRequest, ModuleSite, NoInputs, load};

    use super::*;

    const OUTPUT: &str = "output \"o\" {\n  value = 1\n}\n";

    fn config() -> Config {
        let calls = "module \"a\" {\n  source = \"./a\"\n}\nmodule \"b\" {\n  source = \"x/y/z\"\n}\n";
        let main = format!("{calls}{OUTPUT}");
        let memory = Memory::of([("main.tf", main.as_str()), ("a/main.tf", OUTPUT), ("x/y/z/main.tf", OUTPUT)]);
        let resolver = |request: &ModuleRequest<'_>| {
            let dir = request.parent_dir.join(request.call.source.trim_start_matches("./"));
            Ok(ModuleSite { dir, version: None, unreadable: None })
        };
        let files = WrittenIn(Dialect::default(), memory);
        let (config, found) = load(Path::new(""), &files, &resolver, Arc::new(NoInputs));
        assert!(!found.has_errors(), "{found:?}");
        config.unwrap()
    }

    #[test]
    fn modules_of_other_packages_are_left_out() {
        let (config, coverage) = (config(), Coverage::default());
        coverage.record_block(PointKind::Output, &config.root.outputs["o"].range);
        let report = report(&coverage, &config, &[], "tests");
        let names: Vec<&str> = report.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a/main.tf", "main.tf"]);
        assert_eq!(report.total().percent(), Some(50.0));
        assert_eq!((report.files[1].points[0].line, report.files[1].points[0].reached), (7, [true, false]));
    }
}
