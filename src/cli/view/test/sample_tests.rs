//! Suites for tests.

use std::sync::Arc;
use std::time::Duration;

use base::diag::{Diagnostic, Diagnostics, ExpressionValue, Kind};
use base::moment::Moment;
use base::source::{SourceFile, Span};
use model::addr::parse::parse_abs_instance;
use ops::interface::testing::{
    FileReport, LeftObject, RunReport, RunTiming, SkipReason, SuiteReport, TeardownReport, TestStatus,
};

/// 2026-11-29T02:29:41Z
const START: i64 = 1_795_919_381;

pub fn run(name: &str, status: TestStatus) -> RunReport {
    RunReport {
        name: name.into(),
        index: 0,
        assertions: 2,
        status,
        diagnostics: Diagnostics::new(),
        timing: None,
        verbose: None,
        skip_reason: None,
    }
}

pub fn file(name: &str, status: TestStatus, runs: Vec<RunReport>) -> FileReport {
    FileReport { name: name.into(), status, diagnostics: Diagnostics::new(), runs }
}

/// A file with a run for each result.
pub fn mixed() -> SuiteReport {
    let timed = |name, status, index, millis| RunReport {
        index,
        timing: Some(RunTiming {
            start: Moment::from_seconds(START + index as i64),
            duration: Duration::from_millis(millis),
        }),
        ..run(name, status)
    };
    let mut two = timed("two", TestStatus::Fail, 1, 250);
    two.diagnostics = vec![assertion(), second_assertion()].into();
    let mut three = timed("three", TestStatus::Error, 2, 10);
    three.diagnostics = vec![
        Diagnostic::warning("Value for undeclared variable", "D."),
        Diagnostic::error(
            "Reference to undeclared output value",
            "An output value with the name \"nope\" has not been declared.",
        ),
    ]
    .into();
    let four = RunReport { index: 3, skip_reason: Some(SkipReason::EarlierError), ..run("four", TestStatus::Skip) };
    let runs = vec![timed("one", TestStatus::Pass, 0, 1500), two, three, four];
    let files = vec![file("main.tftest.hcl", TestStatus::Error, runs)];
    SuiteReport { status: TestStatus::Error, files, is_cleanup: false, coverage: None }
}

/// A false assertion at a place in the test file.
pub fn assertion() -> Diagnostic {
    let text = "run \"two\" {\n  condition = output.n == 2\n}\n";
    let start = text.find("output.n == 2").unwrap();
    let range = Span::new(start, start + 13).in_file(&SourceFile::new("main.tftest.hcl", text));
    let detail = "It is <not> so & ]]> a text that goes beyond the eightieth column of any terminal.";
    let mut diagnostic = Diagnostic::error("Test assertion failed", detail).of_kind(Kind::FailedAssertion).at(range);
    diagnostic.values.push(ExpressionValue { traversal: "output.n".into(), statement: "is 1".into() });
    diagnostic
}

fn second_assertion() -> Diagnostic {
    Diagnostic::error("Test assertion failed", "Second.").of_kind(Kind::FailedAssertion)
}

/// What an object is left of, after a failed destroy.
pub fn left_over(is_wanted: bool) -> TeardownReport {
    let diagnostics = match is_wanted {
        true => Diagnostics::new(),
        false => Diagnostic::error("Destroy failed", "D.").into(),
    };
    TeardownReport {
        file: "main.tftest.hcl".into(),
        run: Some(Arc::from("one")),
        diagnostics,
        left: vec![LeftObject { addr: parse_abs_instance("terraform_data.t[0]").unwrap(), deposed: None }],
        is_wanted,
        kept: (!is_wanted).then(|| ".terraform/test/abcdefgh.tfstate".into()),
        stays_in_backend: false,
    }
}
