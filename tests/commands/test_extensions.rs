//! Words of test files that Terrane alone has.

use crate::support::Project;

use super::test_suite::{EXTENDED, NODE, check, suite};

const LIMITED: &str = r#"variable "name" {
  type    = string
  default = "lower"

  validation {
    condition     = var.name == lower(var.name)
    error_message = "Names are in lower case."
  }
}

resource "terraform_data" "a" {
  input = var.name

  lifecycle {
    precondition {
      condition     = var.name != "refused"
      error_message = "It is refused."
    }
  }
}
"#;

/// Runs `a.tftest.hcl` with the words of Terrane, and compares its result, `pass: x pass`, and what is said of it.
fn check_file(main: &str, file: &str, expected: &str, texts: &[&str]) {
    let project = suite(main, &[("a.tftest.hcl", &format!("{EXTENDED}{file}"))]);
    let code = i32::from(!expected.starts_with("pass"));
    check(&project, &["test"], code, &[&format!("a.tftest.hcl {expected}")]).expect(code, texts);
}

#[test]
fn words_of_terrane_need_the_extensions_argument() {
    let words = [
        "locals {\n  a = 1\n}\n",
        "run \"x\" {\n  for_each = toset([\"a\"])\n}\n",
        "run \"x\" {\n  isolated = true\n}\n",
        "run \"x\" {\n  assert_no_changes = true\n}\n",
        "run \"x\" {\n  expect_error {}\n}\n",
        "run \"x\" {\n  snapshot \"s\" {\n    value = output.size\n  }\n}\n",
        "test {\n  parallel_files = true\n}\n",
    ];
    for word in words {
        let project = suite(NODE, &[("a.tftest.hcl", word)]);
        let outcome = project.run(&["test"]);
        outcome.expect(1, &["Error: Unsupported"]);
        assert!(!outcome.out.contains("... pass"), "{word}{}", outcome.out);
    }
}

#[test]
fn expect_error_matches_the_texts_of_errors() {
    let run = |name: &str, patterns: &str| {
        format!(
            "run \"x\" {{\n  command = plan\n  variables {{\n    name = \"{name}\"\n  }}\n  expect_error {{\n    {patterns}\n  }}\n}}\n\
             run \"after\" {{\n  command = plan\n}}\n"
        )
    };
    let passes = "pass: x pass, after pass";
    let cases = [
        ("Upper", "summary = \"^Invalid value\"", passes),
        ("Upper", "message = \"lower case\"", passes),
        ("Upper", "summary = \"Invalid\"\n    message = \"lower case[.]\"", passes),
        ("Upper", "", passes),
        ("refused", "address = \"^terraform_data[.]a$\"", passes),
        ("refused", "summary = \"precondition\"", passes),
        ("lower", "", "fail: x fail, after skip"),
        ("Upper", "message = \"upper case\"", "fail: x fail, after skip"),
        // All patterns of a block belong to one error.
        ("Upper", "summary = \"^Invalid value\"\n    message = \"upper case\"", "fail: x fail, after skip"),
    ];
    for (name, patterns, expected) in cases {
        let texts: &[&str] = if expected == passes { &[] } else { &["Error: Missing expected error"] };
        check_file(LIMITED, &run(name, patterns), expected, texts);
    }
}

#[test]
fn expect_error_of_an_apply() {
    let main = "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"echo broken >&2; exit 4\"\n  }\n}\n";
    let run = |pattern: &str| format!("run \"x\" {{\n  expect_error {{\n    message = \"{pattern}\"\n  }}\n}}\n");
    check_file(main, &run("exit status 4"), "pass: x pass", &[]);
    check_file(main, &run("exit status 5"), "fail: x fail", &["Error: Missing expected error", "exit status 4"]);
}

/// What is not expected ends the run with an error, as the same error does without `expect_error`.
#[test]
fn expect_error_sees_errors_before_the_plan() {
    let invalid = "resource \"terraform_data\" \"a\" {\n  unknown = 1\n}\n";
    let required = "variable \"name\" {\n  type = string\n}\n";
    let run = |command: &str, pattern: &str| {
        format!(
            "run \"x\" {{\n  command = {command}\n  expect_error {{\n    summary = \"{pattern}\"\n  }}\n}}\n\
             run \"after\" {{\n  command = plan\n  expect_error {{}}\n}}\n"
        )
    };
    for command in ["plan", "apply"] {
        for (main, pattern) in [(invalid, "^Unsupported argument$"), (required, "^No value for required variable$")] {
            check_file(main, &run(command, pattern), "pass: x pass, after pass", &[]);
            let texts = ["Error: Missing expected error"];
            check_file(main, &run(command, "^Another error$"), "fail: x fail, after skip", &texts);
        }
    }
}

#[test]
fn expected_errors_that_prevent_assertions_are_reported() {
    const WARNING: &str = "Warning: Assertions were not evaluated";
    let run = |command: &str, blocks: &str| {
        format!(
            "run \"x\" {{\n  command = {command}\n  variables {{\n    name = \"Upper\"\n  }}\n  expect_error {{}}\n{blocks}}}\n"
        )
    };
    let blocks = "  assert {\n    condition     = var.name == \"never\"\n    error_message = \"never\"\n  }\n  \
                  snapshot \"name\" {\n    value = var.name\n  }\n";
    let invalid = LIMITED.replace("input = var.name", "unknown = var.name");
    for (command, main) in [("plan", invalid.as_str()), ("apply", LIMITED)] {
        let texts = [WARNING, "2 of its assert and snapshot blocks were not evaluated."];
        check_file(main, &run(command, blocks), "pass: x pass", &texts);
        let project = suite(main, &[("a.tftest.hcl", &format!("{EXTENDED}{}", run(command, "")))]);
        let outcome = check(&project, &["test"], 0, &["a.tftest.hcl pass: x pass"]);
        assert!(!outcome.text().contains(WARNING), "{}", outcome.text());
    }
}

/// The values that a failed plan or apply leaves are not those that assertions are about.
#[test]
fn assertions_are_not_judged_by_values_of_a_failed_step() {
    const WARNING: &str = "Warning: Assertions were not evaluated";
    const BLOCKS: &str = "  assert {\n    condition     = output.name == \"never\"\n    error_message = \"never\"\n  }\n  \
                          snapshot \"name\" {\n    value = output.name\n  }\n";
    let main = format!(
        "{LIMITED}resource \"terraform_data\" \"b\" {{\n  provisioner \"local-exec\" {{\n    command = \"exit 4\"\n  }}\n}}\n\
         check \"name\" {{\n  assert {{\n    condition     = var.name != \"checked\"\n    error_message = \"It is checked.\"\n  }}\n}}\n\
         output \"name\" {{\n  value = var.name\n}}\n"
    );
    let run = |command: &str, name: &str, expected: &str| {
        format!(
            "{EXTENDED}run \"x\" {{\n  command = {command}\n  variables {{\n    name = \"{name}\"\n  }}\n{expected}{BLOCKS}}}\n"
        )
    };
    let error = |message: &str| format!("  expect_error {{\n    message = \"{message}\"\n  }}\n");
    for (command, name, message) in [("apply", "lower", "exit status 4"), ("plan", "refused", "It is refused")] {
        let project = suite(&main, &[("a.tftest.hcl", &run(command, name, &error(message)))]);
        let outcome = check(&project, &["test"], 0, &["a.tftest.hcl pass: x pass"]);
        outcome.expect(0, &[WARNING, "2 of its assert and snapshot blocks were not evaluated."]);
        assert!(!project.exists("work/__snapshots__"));
    }
    // Nor does a second plan say anything.
    let expected = error("exit status 4") + "  assert_no_changes = true\n";
    let project = suite(&main, &[("a.tftest.hcl", &run("apply", "lower", &expected))]);
    check(&project, &["test"], 0, &["a.tftest.hcl pass: x pass"]).expect(0, &[WARNING]);
    // A failed check block ends nothing: all values are complete.
    for expected in [error("It is checked"), "  expect_failures = [check.name]\n".to_owned()] {
        let project = suite(&main, &[("a.tftest.hcl", &run("plan", "checked", &expected))]);
        let outcome = check(&project, &["test"], 1, &["a.tftest.hcl fail: x fail"]);
        outcome.expect(1, &["Error: Test assertion failed"]);
        assert!(!outcome.text().contains(WARNING), "{}", outcome.text());
    }
}

#[test]
fn assert_no_changes_plans_again() {
    let run = "run \"x\" {\n  assert_no_changes = true\n}\n";
    check_file(NODE, run, "pass: x pass", &[]);
    let changing = "resource \"terraform_data\" \"a\" {\n  input = timestamp()\n}\n";
    check_file(changing, run, "fail: x fail", &["- terraform_data.a"]);
    let planned = "run \"x\" {\n  command           = plan\n  assert_no_changes = true\n}\n";
    let project = suite(NODE, &[("a.tftest.hcl", &format!("{EXTENDED}{planned}"))]);
    project.run(&["test"]).expect(1, &["Error: Invalid assert_no_changes argument"]);
}

/// The object says when it is destroyed.
#[test]
fn isolated_runs_begin_and_end_with_an_empty_state() {
    let main = "variable \"name\" {\n  default = \"shared\"\n}\nresource \"terraform_data\" \"a\" {\n  input = var.name\n  \
                provisioner \"local-exec\" {\n    command = \"echo create ${self.input} >> order.log\"\n  }\n  \
                provisioner \"local-exec\" {\n    when    = destroy\n    command = \"echo destroy ${self.input} >> order.log\"\n  }\n}\n";
    let run = |name: &str, isolated: &str| {
        format!("run \"{name}\" {{\n  {isolated}\n  variables {{\n    name = \"{name}\"\n  }}\n}}\n")
    };
    let file = format!(
        "{EXTENDED}run \"shared\" {{}}\n{}{}run \"again\" {{}}\n",
        run("one", "isolated = true"),
        run("two", "isolated = true")
    );
    let project = suite(main, &[("a.tftest.hcl", &file)]);
    check(&project, &["test"], 0, &["a.tftest.hcl pass: shared pass, one pass, two pass, again pass"]);
    let order = "create shared\ncreate one\ndestroy one\ncreate two\ndestroy two\ndestroy shared\n";
    assert_eq!(project.read("work/order.log"), order);
}

/// The state stays for the cleanup.
#[test]
fn a_failed_destroy_of_an_isolated_run_is_reported_once() {
    let main = "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    when    = destroy\n    \
                command = \"echo destroy >> order.log; test -e allowed\"\n  }\n}\n";
    let file = format!("{EXTENDED}run \"x\" {{\n  isolated = true\n}}\n");
    let project = suite(main, &[("a.tftest.hcl", &file)]);
    let outcome = check(&project, &["test"], 1, &["a.tftest.hcl fail: x fail"]);
    assert_eq!(outcome.text().matches("Error: local-exec provisioner error").count(), 1, "{}", outcome.text());
    assert_eq!(outcome.text().matches("left the following resources").count(), 1, "{}", outcome.text());
    assert_eq!(project.read("work/order.log"), "destroy\n");
    project.run(&["test"]).expect(1, &["Error: State manifest not empty"]);
    project.write("work/allowed", "");
    project.run(&["test", "cleanup"]).expect(0, &["Success!"]);
    assert_eq!(project.read("work/order.log"), "destroy\ndestroy\n");
    assert!(!project.exists("work/.terraform/test/manifest.json"));
}

#[test]
fn a_run_with_for_each_is_executed_for_each_element() {
    let file = "locals {\n  sizes = { small = 1, large = 9 }\n}\n\
                run \"sized\" {\n  for_each = local.sizes\n  variables {\n    size = each.value\n  }\n  assert {\n    \
                condition     = output.size == each.value && each.key != \"large\"\n    error_message = \"It is ${each.key}.\"\n  }\n}\n";
    let results = r#"fail: sized[\"large\"] fail, sized[\"small\"] pass"#;
    check_file(NODE, file, results, &["It is large."]);
    let project = suite(NODE, &[("a.tftest.hcl", &format!("{EXTENDED}{file}"))]);
    project.run(&["test", "-junit-xml=report.xml"]);
    let report = project.read("work/report.xml");
    assert!(report.contains("<testcase name=\"sized[&#34;small&#34;]\" classname=\"a.tftest.hcl\""), "{report}");
}

#[test]
fn addresses_in_plan_options_have_constant_keys() {
    let main = "resource \"terraform_data\" \"a\" {\n  for_each = toset([\"k\"])\n}\n";
    for (argument, address, error) in [
        ("target", "terraform_data.a[each.key]", "indexing with constant keys"),
        ("replace", "terraform_data.a[each.key]", "indexing with constant keys"),
        ("target", "each.value", "The keyword \"each\" is reserved"),
    ] {
        let file = format!(
            "{EXTENDED}run \"x\" {{\n  for_each = toset([\"k\"])\n  plan_options {{\n    {argument} = [{address}]\n  }}\n}}\n"
        );
        let project = suite(main, &[("a.tftest.hcl", &file)]);
        let line = format!("on a.tftest.hcl line 7, in run \"x\": 7: {argument} = [{address}]");
        project.run(&["test"]).expect(1, &[error, &line]);
    }
}

#[test]
fn locals_are_names_within_the_file() {
    let file = "locals {\n  size  = local.start + 1\n  start = 4\n}\nvariables {\n  size = local.size\n}\n\
                run \"x\" {\n  command = plan\n  assert {\n    condition     = var.size == 5\n    \
                error_message = \"It is ${var.size}.\"\n  }\n}\n";
    check_file(NODE, file, "pass: x pass", &[]);
}

#[test]
fn failures_of_child_modules_can_be_expected() {
    let main = "variable \"name\" {\n  default = \"lower\"\n}\nmodule \"below\" {\n  source = \"./below\"\n  name   = var.name\n}\n";
    let run = |name: &str, expected: &str| {
        format!(
            "{EXTENDED}run \"x\" {{\n  command         = plan\n  expect_failures = [{expected}]\n  variables {{\n    name = \"{name}\"\n  }}\n}}\n"
        )
    };
    let cases = [
        ("Upper", "module.below.var.name", "pass: x pass"),
        ("refused", "module.below.terraform_data.a", "pass: x pass"),
        ("lower", "module.below.var.name", "fail: x fail"),
        ("refused", "module.below.var.name", "fail: x fail"),
    ];
    for (name, expected_failure, expected) in cases {
        let project = suite(main, &[("below/main.tf", LIMITED), ("a.tftest.hcl", &run(name, expected_failure))]);
        project.ok(&["init"]);
        let code = i32::from(!expected.starts_with("pass"));
        check(&project, &["test"], code, &[&format!("a.tftest.hcl {expected}")]);
    }
}

#[test]
fn assertions_see_the_plan() {
    let file = "run \"creates\" {\n  assert {\n    condition     = [for r in plan.resources : r.address] == [\"terraform_data.node\"]\n    \
                error_message = \"never\"\n  }\n  assert {\n    condition     = alltrue([for r in plan.resources : contains(r.change.actions, \"create\")])\n    \
                error_message = \"never\"\n  }\n}\n\
                run \"replaces_nothing\" {\n  command = plan\n  variables {\n    size = 2\n  }\n  assert {\n    \
                condition     = !anytrue([for r in plan.resources : contains(r.change.actions, \"delete\")])\n    error_message = \"never\"\n  }\n  \
                assert {\n    condition     = contains(plan.outputs.size.actions, \"create\")\n    error_message = \"It is no new output.\"\n  }\n}\n";
    check_file(NODE, file, "fail: creates pass, replaces_nothing fail", &["It is no new output."]);
}

#[test]
fn values_of_mocks_see_their_object() {
    let main = "resource \"terraform_data\" \"a\" {\n  for_each = toset([\"x\", \"y\"])\n  input    = \"in ${each.key}\"\n}\n\
                output \"ids\" {\n  value = [for a in terraform_data.a : a.id]\n}\n";
    let file = "mock_provider \"terraform\" {\n  mock_resource \"terraform_data\" {\n    defaults = {\n      \
                id = upper(self.input)\n    }\n  }\n}\n\
                run \"x\" {\n  assert {\n    condition     = join(\", \", output.ids) == \"IN X, IN Y\"\n    \
                error_message = join(\", \", output.ids)\n  }\n}\n";
    check_file(main, file, "pass: x pass", &[]);
}

#[test]
fn snapshots_are_written_on_request_and_compared() {
    let file = |value: &str| {
        format!(
            "{EXTENDED}run \"x\" {{\n  snapshot \"all\" {{\n    value = {{ size = {value}, id = output.id }}\n  }}\n}}\n"
        )
    };
    let mocked = |value: &str| {
        format!(
            "{}override_resource {{\n  target = terraform_data.node\n  values = {{\n    id = \"made-up\"\n  }}\n}}\n",
            file(value)
        )
    };
    let mut project = suite(NODE, &[("tests/a.tftest.hcl", &mocked("var.size"))]);
    let kept = |project: &Project| {
        let folder = std::fs::read_dir(project.path("work/tests/__snapshots__")).unwrap();
        let files: Vec<String> = folder.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        assert!(matches!(files.as_slice(), [one] if one.ends_with(".snap.json")), "{files:?}");
        project.read(&format!("work/tests/__snapshots__/{}", files[0]))
    };
    // In CI, nothing is written.
    project.set("CI", "true");
    project.run(&["test"]);
    assert!(!project.exists("work/tests/__snapshots__"));
    project.forget("CI");
    check(&project, &["test", "-update-snapshots"], 0, &["tests/a.tftest.hcl pass: x pass"]);
    let written = kept(&project);
    assert!(written.contains("made-up"), "{written}");
    check(&project, &["test"], 0, &["tests/a.tftest.hcl pass: x pass"]);
    project.write("work/tests/a.tftest.hcl", &mocked("var.size + 1"));
    check(&project, &["test"], 1, &["tests/a.tftest.hcl fail: x fail"]);
    assert_eq!(kept(&project), written);
    check(&project, &["test", "-update-snapshots"], 0, &["tests/a.tftest.hcl pass: x pass"]);
    assert_ne!(kept(&project), written);
}

/// What is wrong elsewhere in a run may be wrong in its snapshots.
#[test]
fn snapshots_of_failed_runs_are_not_recorded() {
    const FILE: &str = "work/__snapshots__/a.tftest.hcl.snap.json";
    let file = |condition: &str, second: &str| {
        format!(
            "{EXTENDED}run \"x\" {{\n  command = plan\n  assert {{\n    condition     = {condition}\n    error_message = \"never\"\n  }}\n  \
             snapshot \"one\" {{\n    value = var.size\n  }}\n{second}}}\n\
             run \"y\" {{\n  command = plan\n  snapshot \"size\" {{\n    value = var.size\n  }}\n}}\n"
        )
    };
    let project = suite(NODE, &[("a.tftest.hcl", &file("var.size == 0", ""))]);
    check(&project, &["test"], 1, &["a.tftest.hcl fail: x fail, y pass"]);
    let recorded = |project: &Project| {
        let written: serde_json::Value = serde_json::from_str(&project.read(FILE)).unwrap();
        written["runs"].to_string()
    };
    assert_eq!(recorded(&project), r#"{"y":{"size":1}}"#);
    check(&project, &["test", "-update-snapshots", "-var=size=2"], 1, &["a.tftest.hcl fail: x fail, y pass"]);
    assert_eq!(recorded(&project), r#"{"y":{"size":2}}"#);
    project.write("work/a.tftest.hcl", &file("var.size > 0", ""));
    check(&project, &["test", "-var=size=2"], 0, &["a.tftest.hcl pass: x pass, y pass"]);
    let whole = r#"{"x":{"one":2},"y":{"size":2}}"#;
    assert_eq!(recorded(&project), whole);
    // Another snapshot of the run is new, one differs.
    let second = "  snapshot \"two\" {\n    value = \"new\"\n  }\n";
    project.write("work/a.tftest.hcl", &file("var.size > 0", second));
    check(&project, &["test", "-var=size=3"], 1, &["a.tftest.hcl fail: x fail, y fail"]);
    assert_eq!(recorded(&project), whole);
}
