//! Which files and runs `test` executes.

use crate::support::Project;

use super::test_suite::{NODE, check, planning, suite};

/// Two files: the runs of the first have states of their own, those of the second share one.
fn two_files() -> Project {
    let own = format!(
        "{}{}{}",
        planning("one", "var.size == 1"),
        planning("two", "var.size == 1"),
        planning("three", "var.size == 1")
    );
    let shared = "run \"setup\" {}\n\nrun \"uses_it\" {\n  command = plan\n}\n\nrun \"refers\" {\n  command   = plan\n  state_key = \"other\"\n  \
                  variables {\n    size = run.setup.size\n  }\n}\n";
    suite(NODE, &[("a.tftest.hcl", &own), ("tests/b.tftest.hcl", shared)])
}

const ALL_OF_A: &str = "a.tftest.hcl pass: one pass, two pass, three pass";
const ALL_OF_B: &str = "tests/b.tftest.hcl pass: setup pass, uses_it pass, refers pass";
const TWO: &str = "a.tftest.hcl pass: one skip, two pass, three skip";

#[test]
fn filters_choose_files_and_runs() {
    let project = two_files();
    let cases: &[(&[&str], &[&str])] = &[
        (&[], &[ALL_OF_A, ALL_OF_B]),
        (&["-filter=a.tftest.hcl"], &[ALL_OF_A]),
        (&["-filter=./a.tftest.hcl"], &[ALL_OF_A]),
        (&["-filter=tests/b.tftest.hcl"], &[ALL_OF_B]),
        // Without its folder.
        (&["-filter=b.tftest.hcl"], &[ALL_OF_B]),
        (&["-filter=b.tftest.hcl", "-filter=a.tftest.hcl"], &[ALL_OF_A, ALL_OF_B]),
        (&["-filter=a.tftest.hcl:two"], &[TWO]),
        (&["-filter=a.tftest.hcl:t*"], &["a.tftest.hcl pass: one skip, two pass, three pass"]),
        (
            &["-filter=a.tftest.hcl:two", "-filter=a.tftest.hcl:one"],
            &["a.tftest.hcl pass: one pass, two pass, three skip"],
        ),
        (&["-filter=a.tftest.hcl:two", "-filter=a.tftest.hcl"], &[ALL_OF_A]),
        // The first line of a run, and one within it.
        (&["-filter=a.tftest.hcl:9"], &[TWO]),
        (&["-filter=a.tftest.hcl:12"], &[TWO]),
        (&["-filter=run:two"], &[TWO]),
        (&["-filter=run:t?o"], &[TWO]),
        (&["-filter=run:*"], &[ALL_OF_A, ALL_OF_B]),
    ];
    for (args, expected) in cases {
        check(&project, &[&["test"][..], *args].concat(), 0, expected);
    }
}

/// Earlier runs of the same state, and those that a run refers to.
#[test]
fn a_filtered_run_has_what_it_needs() {
    let project = two_files();
    let cases = [
        ("-filter=b.tftest.hcl:uses_it", "tests/b.tftest.hcl pass: setup pass, uses_it pass, refers skip"),
        ("-filter=run:refers", "tests/b.tftest.hcl pass: setup pass, uses_it skip, refers pass"),
    ];
    for (filter, expected) in cases {
        check(&project, &["test", filter], 0, &[expected]);
    }
}

/// Pipelines of the other programs pass lists of changed files.
#[test]
fn an_unknown_filter_is_an_error_under_the_own_name() {
    let cases = ["nope.tftest.hcl", "a.tftest.hcl:nope", "a.tftest.hcl:0", "run:nope", "tests/a.tftest.hcl"];
    let mut project = two_files();
    for filter in cases {
        let filter = format!("-filter={filter}");
        let outcome = check(&project, &["test", &filter], 1, &[]);
        outcome.expect(1, &["Error: Unknown test filter", &filter]);
        // Nothing is executed if one of several is unknown.
        check(&project, &["test", "-filter=a.tftest.hcl", &filter], 1, &[]);
    }
    project.set("TERRANE_NAME", "terraform");
    check(&project, &["test", "-filter=nope.tftest.hcl"], 0, &[]).expect(0, &["Success! 0 passed, 0 failed."]);
    check(&project, &["test", "-filter=nope.tftest.hcl", "-filter=a.tftest.hcl"], 0, &[ALL_OF_A]);
    project.set("TERRANE_COMPATIBLE_VERSION", "1.17.2");
    let warning = ["Warning: Unknown test file", "The specified test file, nope.tftest.hcl, could not be found."];
    check(&project, &["test", "-filter=nope.tftest.hcl", "-filter=a.tftest.hcl"], 0, &[ALL_OF_A]).expect(0, &warning);
    project.set("TERRANE_NAME", "tofu");
    project.set("TERRANE_COMPATIBLE_VERSION", "1.13.2");
    project.run(&["test", "-filter=nope.tftest.hcl"]).expect(0, &[]);
}

#[test]
fn last_failed_executes_what_did_not_pass() {
    let runs = |second: &str| format!("{}{}", planning("first", "var.size == 1"), planning("second", second));
    let project =
        suite(NODE, &[("a.tftest.hcl", &runs("var.size == 2")), ("b.tftest.hcl", &planning("other", "var.size == 1"))]);
    let others = "b.tftest.hcl pass: other pass";
    check(&project, &["test"], 1, &["a.tftest.hcl fail: first pass, second fail", others]);
    check(&project, &["test", "-last-failed"], 1, &["a.tftest.hcl fail: first skip, second fail"]);
    // The result of a file that is not executed stays.
    check(&project, &["test", "-filter=b.tftest.hcl"], 0, &[others]);
    project.write("work/a.tftest.hcl", &runs("var.size == 1"));
    check(&project, &["test", "-last-failed"], 0, &["a.tftest.hcl pass: first skip, second pass"]);
    check(&project, &["test", "-last-failed"], 0, &[]);
    check(&project, &["test"], 0, &["a.tftest.hcl pass: first pass, second pass", others]);
    check(&project, &["test", "-last-failed"], 0, &[]);
}

#[test]
fn shards_are_parts_of_the_files() {
    let names = ["a", "b", "c", "d", "e"].map(|name| format!("{name}.tftest.hcl"));
    let run = planning("x", "var.size == 1");
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), run.as_str())).collect();
    let project = suite(NODE, &files);
    for parts in [1, 2, 3, 6] {
        let mut executed: Vec<String> = Vec::new();
        for part in 1..=parts {
            let outcome = project.run(&["test", &format!("-shard={part}/{parts}")]);
            outcome.expect(0, &["Success!"]);
            let lines = outcome.out.lines().filter_map(|line| line.strip_suffix("... pass"));
            let of_part: Vec<String> = lines.filter(|line| !line.starts_with("  ")).map(str::to_owned).collect();
            assert!(of_part.len().abs_diff(5 / parts) <= 1, "{part}/{parts}: {of_part:?}");
            executed.extend(of_part);
        }
        executed.sort();
        assert_eq!(executed, names, "{parts}");
    }
    for shard in ["0/2", "3/2", "1", "x/y"] {
        project.run(&["test", &format!("-shard={shard}")]).expect(1, &["for flag -shard: parse error"]);
    }
}

#[test]
fn a_file_with_errors_does_not_stop_the_others() {
    let good = planning("good", "var.size == 1");
    let files = [("a.tftest.hcl", "run \"bad\" {\n"), ("b.tftest.hcl", &*good), ("c.tftest.hcl", "colour = 1\n")];
    let project = suite(NODE, &files);
    let outcome = project.run(&["test", "-junit-xml=report.xml"]);
    outcome.expect(1, &["Error: Unclosed configuration block", "Error: Unsupported argument"]);
    for line in
        ["a.tftest.hcl... fail\n", "  run \"good\"... pass\n", "b.tftest.hcl... pass\n", "c.tftest.hcl... fail\n"]
    {
        assert!(outcome.out.contains(line), "{line}{}", outcome.out);
    }
    let report = project.read("work/report.xml");
    let of_file = "<testsuite name=\"c.tftest.hcl\" tests=\"1\" skipped=\"0\" failures=\"0\" errors=\"1\">";
    for part in [of_file, "Error: Unsupported argument", "<testsuite name=\"a.tftest.hcl\""] {
        assert!(report.contains(part), "{part}\n{report}");
    }
    let events = project.run(&["test", "-json"]).out;
    let is_error =
        |line: &&str| line.contains("\"@testfile\":\"a.tftest.hcl\"") && line.contains("Unclosed configuration block");
    assert_eq!(events.lines().filter(is_error).count(), 1, "{events}");
}

/// An error of a whole module is one of each file.
#[test]
fn a_configuration_with_errors_fails_every_file() {
    let run = planning("x", "var.size == 1");
    let project = suite(
        NODE,
        &[("a.tftest.hcl", &run), ("b.tftest.hcl", &run), ("wrong.tf", "resource \"terraform_data\" {}\n")],
    );
    let outcome = project.run(&["test"]);
    outcome.expect(1, &["Missing name for resource"]);
    assert!(!outcome.out.contains("... pass"), "{}", outcome.out);
}

#[test]
fn the_name_decides_on_test_files_of_opentofu() {
    let run = planning("x", "var.size == 1");
    let files = ["a.tftest.hcl", "a.tofutest.hcl", "b.tofutest.hcl"].map(|name| (name, run.as_str()));
    let mut project = suite(NODE, &files);
    let cases: [(&str, &[&str]); 3] = [
        ("", &["a.tftest.hcl", "b.tofutest.hcl"]),
        ("terraform", &["a.tftest.hcl"]),
        ("tofu", &["a.tofutest.hcl", "b.tofutest.hcl"]),
    ];
    for (name, expected) in cases {
        project.set("TERRANE_NAME", name);
        let outcome = project.ok(&["test"]);
        for (file, _) in files {
            let line = format!("{file}... pass\n");
            assert_eq!(outcome.out.contains(&line), expected.contains(&file), "{name:?}: {file}\n{}", outcome.out);
        }
    }
}

#[test]
fn folders_below_that_of_the_tests_are_searched_on_request() {
    let run = planning("x", "var.size == 1");
    let files = [
        ("tests/a.tftest.hcl", &*run),
        ("tests/below/b.tftest.hcl", &*run),
        ("tests/module/main.tf", ""),
        ("tests/module/c.tftest.hcl", &*run),
    ];
    let project = suite(NODE, &files);
    let first = "tests/a.tftest.hcl pass: x pass";
    check(&project, &["test"], 0, &[first]);
    check(&project, &["test", "-recursive"], 0, &[first, "tests/below/b.tftest.hcl pass: x pass"]);
}

#[test]
fn runs_in_a_cloud_are_refused_before_anything_is_executed() {
    let project = two_files();
    let outcome = check(&project, &["test", "-cloud-run=app.terraform.io/o/m/aws"], 1, &[]);
    outcome.expect(1, &["the -cloud-run option is not supported", "Nothing was run."]);
    assert!(!outcome.out.contains("in progress"), "{}", outcome.out);
}

#[test]
fn opentofu_does_not_warn_of_deprecated_variables_that_runs_set() {
    let main = "variable \"v\" {\n  type       = string\n  default    = \"d\"\n  deprecated = \"not this\"\n}\n";
    let run = "run \"x\" {\n  command = plan\n  variables {\n    v = \"set\"\n  }\n}\n";
    let mut project = suite(main, &[("a.tftest.hcl", run)]);
    project.any_release();
    for (name, args, warns) in [
        ("tofu", &["test"][..], false),
        ("tofu", &["plan", "-var=v=set"], true),
        ("terraform", &["test"], true),
        ("terraform", &["plan", "-var=v=set"], true),
    ] {
        project.set("TERRANE_NAME", name);
        let outcome = project.run(args);
        assert_eq!(
            (outcome.code, outcome.text().contains("not this")),
            (Some(0), warns),
            "{name} {args:?}: {}",
            outcome.text()
        );
    }
}
