//! Runs and files side by side, and what `test` does since Terraform 1.12.

use crate::support::Project;

use super::test_suite::{NODE, check, suite};

/// An object whose creation ends when that of another one has begun, and fails if that takes too long.
const MEETING: &str = r#"variable "own" {
  type = string
}

variable "other" {
  type = string
}

variable "patience" {
  type    = number
  default = 60
}

resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "touch ${var.own}; for i in $(seq ${var.patience * 50}); do test -e ${var.other} && exit 0; sleep 0.02; done; exit 1"
  }
}
"#;

fn run(name: &str, own: &str, other: &str, more: &str) -> String {
    format!("run \"{name}\" {{\n  {more}\n  variables {{\n    own   = \"{own}\"\n    other = \"{other}\"\n  }}\n}}\n")
}

fn forget_meeting(project: &Project) {
    for file in ["here", "there"] {
        let _ = std::fs::remove_file(project.path(&format!("work/{file}")));
    }
}

#[test]
fn parallel_runs_with_states_of_their_own_meet() {
    let file = |settings: &str| {
        format!(
            "{settings}{}{}",
            run("one", "here", "there", "state_key = \"one\""),
            run("two", "there", "here", "state_key = \"two\"")
        )
    };
    let parallel = file("test {\n  parallel = true\n}\n");
    let project = suite(MEETING, &[("a.tftest.hcl", &parallel)]);
    check_runs(&project, &["test"], &["one pass", "two pass"]);
    forget_meeting(&project);
    // One after the other, the first waits in vain, and the second is skipped.
    project.write("work/a.tftest.hcl", &file(""));
    check(&project, &["test", "-var=patience=1"], 1, &["a.tftest.hcl fail: one fail, two skip"]);
    forget_meeting(&project);
    project.write("work/a.tftest.hcl", &parallel);
    check(&project, &["test", "-run-parallelism=1", "-var=patience=1"], 1, &["a.tftest.hcl fail: one fail, two pass"]);
}

/// All runs of the one file pass, in any order.
fn check_runs(project: &Project, args: &[&str], runs: &[&str]) {
    let outcome = project.ok(args);
    for run in runs {
        let (name, word) = run.split_once(' ').unwrap();
        assert!(outcome.out.contains(&format!("  run \"{name}\"... {word}\n")), "{run}: {}", outcome.out);
    }
}

/// A run without `parallel` waits for all before it, and a reference for the run that it names.
#[test]
fn parallel_runs_wait_for_what_they_refer_to() {
    let main = "variable \"name\" {\n  type = string\n}\nresource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    \
                command = \"sleep ${var.name == \"slow\" ? 0.3 : 0}; echo ${var.name} >> order.log\"\n  }\n}\noutput \"name\" {\n  value = var.name\n}\n";
    let run = |name: &str, more: &str, value: &str| {
        format!("run \"{name}\" {{\n  state_key = \"{name}\"\n{more}  variables {{\n    name = {value}\n  }}\n}}\n")
    };
    let parallel = "  parallel = true\n";
    let file = [
        run("slow", parallel, "\"slow\""),
        run("refers", parallel, "\"${run.slow.name}-refers\""),
        run("waits", "", "\"waits\""),
        run("last", parallel, "\"last\""),
    ];
    let project = suite(main, &[("a.tftest.hcl", &file.concat())]);
    check(&project, &["test"], 0, &["a.tftest.hcl pass: slow pass, refers pass, waits pass, last pass"]);
    assert_eq!(project.read("work/order.log"), "slow\nslow-refers\nwaits\nlast\n");
}

/// Real suites meet in the account: files that touch something outside wait for each other.
#[test]
fn files_meet_on_request() {
    let files = [run("one", "here", "there", ""), run("two", "there", "here", "")];
    let project = suite(MEETING, &[("a.tftest.hcl", &files[0]), ("b.tftest.hcl", &files[1])]);
    let both = ["a.tftest.hcl pass: one pass", "b.tftest.hcl pass: two pass"];
    check(&project, &["test", "-parallel-files"], 0, &both);
    forget_meeting(&project);
    check(&project, &["test", "-var=patience=1"], 1, &["a.tftest.hcl fail: one fail", "b.tftest.hcl pass: two pass"]);
    forget_meeting(&project);
    let asked = "test {\n  extensions     = [\"terrane\"]\n  parallel_files = true\n}\n";
    project.write("work/a.tftest.hcl", &format!("{asked}{}", files[0]));
    project.write("work/b.tftest.hcl", &format!("{asked}{}", files[1]));
    check(&project, &["test"], 0, &both);
}

/// Output is that of one file after the other, in the order of their names.
#[test]
fn files_side_by_side_are_shown_in_order() {
    let names: Vec<String> = (0..12).map(|n| format!("f{n:02}.tftest.hcl")).collect();
    let run = "run \"x\" {\n  command = plan\n}\n\nrun \"y\" {\n  command = plan\n}\n";
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), run)).collect();
    let project = suite(NODE, &files);
    let expected: Vec<String> = names.iter().map(|name| format!("{name} pass: x pass, y pass")).collect();
    check(&project, &["test"], 0, &expected.iter().map(String::as_str).collect::<Vec<_>>());
}

fn newer(main: &str, file: &str) -> Project {
    let mut project = suite(main, &[("a.tftest.hcl", file)]);
    project.set("TERRANE_COMPATIBLE_VERSION", "1.17.2");
    project
}

/// Since 1.12; before, it is an error, and later runs are skipped.
#[test]
fn a_missing_failure_is_a_failure() {
    let file = "run \"x\" {\n  command         = plan\n  expect_failures = [terraform_data.node]\n}\n\nrun \"y\" {\n  command = plan\n}\n";
    let applies = file.replacen("  command         = plan\n", "", 1);
    check(&newer(NODE, &applies), &["test"], 1, &["a.tftest.hcl fail: x fail, y pass"])
        .expect(1, &["Error: Missing expected failure"]);
    check(&newer(NODE, file), &["test"], 1, &["a.tftest.hcl fail: x fail, y skip"]);
    check(&suite(NODE, &[("a.tftest.hcl", file)]), &["test"], 1, &["a.tftest.hcl fail: x fail, y skip"]);
}

/// Since 1.13.
#[test]
fn variables_of_a_file_refer_to_runs_and_to_each_other() {
    let file = "variables {\n  size = var.next + 1\n  next = run.first.size\n}\n\nrun \"first\" {\n  state_key = \"first\"\n  variables {\n    size = 4\n  }\n}\n\n\
                run \"second\" {\n  command = plan\n  assert {\n    condition     = var.size == 5\n    error_message = \"It is ${var.size}.\"\n  }\n}\n";
    check(&newer(NODE, file), &["test"], 0, &["a.tftest.hcl pass: first pass, second pass"]);
    let cycle = "variables {\n  size = var.next\n  next = var.size\n}\n\nrun \"x\" {\n  command = plan\n}\n";
    let outcome = newer(NODE, cycle).run(&["test"]);
    outcome.expect(1, &["a.tftest.hcl... fail"]);
    assert!(!outcome.out.contains("... pass"), "{}", outcome.out);
}

/// Since 1.13: values come from outside, or are the default.
#[test]
fn variable_blocks_declare_values_from_outside() {
    let file = "variable \"wanted\" {\n  type    = number\n  default = 3\n}\n\nrun \"x\" {\n  command = plan\n  variables {\n    size = var.wanted\n  }\n  \
                assert {\n    condition     = var.size == 3\n    error_message = \"It is ${var.size}.\"\n  }\n}\n";
    let mut project = newer(NODE, file);
    check(&project, &["test"], 0, &["a.tftest.hcl pass: x pass"]);
    check(&project, &["test", "-var=wanted=4"], 1, &["a.tftest.hcl fail: x fail"]).expect(1, &["It is 4."]);
    project.set("TF_VAR_wanted", "5");
    check(&project, &["test"], 1, &["a.tftest.hcl fail: x fail"]).expect(1, &["It is 5."]);
    check(&project, &["test", "-var=wanted=3"], 0, &["a.tftest.hcl pass: x pass"]);
    let wrong = "Unsuitable value for var.wanted set using -var=\"wanted=...\": a number is required.";
    check(&project, &["test", "-var=wanted=x"], 1, &["a.tftest.hcl fail: x skip"]).expect(1, &[wrong]);
    let project = newer(NODE, &file.replace("  default = 3\n", ""));
    let missing = "The variable \"wanted\" is required, but is not set.";
    check(&project, &["test"], 1, &["a.tftest.hcl fail: x skip"]).expect(1, &[missing]);
    let project = newer(NODE, "variables {\n  a = var.b\n  b = var.a\n}\n\nrun \"x\" {}\n");
    let cycle = "Cycle in values of a test file";
    check(&project, &["test"], 1, &["a.tftest.hcl fail: x skip"]).expect(1, &[cycle]);
}

/// Since 1.15: functions in the values of mocks; never references.
#[test]
fn values_of_mocks_are_expressions() {
    let file = |id: &str| {
        format!(
            "mock_provider \"terraform\" {{\n  mock_resource \"terraform_data\" {{\n    defaults = {{\n      id = {id}\n    }}\n  }}\n}}\n\n\
             run \"x\" {{\n  assert {{\n    condition     = output.id == \"MADE-UP\"\n    error_message = \"It is ${{output.id}}.\"\n  }}\n}}\n"
        )
    };
    check(&newer(NODE, &file("upper(\"made-up\")")), &["test"], 0, &["a.tftest.hcl pass: x pass"]);
    for (id, project) in [
        ("a reference", newer(NODE, &file("var.size"))),
        ("a function before", suite(NODE, &[("a.tftest.hcl", &file("upper(\"made-up\")"))])),
    ] {
        let outcome = project.run(&["test"]);
        assert_eq!(outcome.code, Some(1), "{id}: {}{}", outcome.out, outcome.err);
    }
}

/// Every instance of a resource in every instance of a module, as in OpenTofu 1.13.
#[test]
fn overrides_of_all_instances() {
    let main = "module \"m\" {\n  source = \"./m\"\n  count  = 2\n}\noutput \"ids\" {\n  value = module.m[*].id\n}\n";
    let below = "resource \"terraform_data\" \"a\" {}\noutput \"id\" {\n  value = terraform_data.a.id\n}\n";
    let file = "override_resource {\n  target = module.m[*].terraform_data.a\n  values = {\n    id = \"all\"\n  }\n}\n\n\
                override_resource {\n  target = module.m[1].terraform_data.a\n  values = {\n    id = \"one\"\n  }\n}\n\n\
                run \"x\" {\n  assert {\n    condition     = output.ids == [\"all\", \"one\"]\n    error_message = join(\" \", output.ids)\n  }\n}\n";
    let project = newer(main, file);
    project.write("work/m/main.tf", below);
    project.ok(&["init"]);
    check(&project, &["test"], 0, &["a.tftest.hcl pass: x pass"]);
}
