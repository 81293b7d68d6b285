//! What tests leave: the states of runs, why they stay, and how `test cleanup` destroys their objects.

use std::os::unix::fs::PermissionsExt;

use crate::support::Project;

use super::test_suite::{EXTENDED, check, suite};

/// An object that is created with a line in a file, and destroyed with one, if the file `allowed` is there.
const OBJECT: &str = r#"variable "name" {
  type    = string
  default = "one"
}

resource "terraform_data" "a" {
  input = var.name

  provisioner "local-exec" {
    command = "echo create ${self.input} >> order.log"
  }

  provisioner "local-exec" {
    when    = destroy
    command = "test -e allowed && echo destroy ${self.input} >> order.log"
  }
}

output "name" {
  value = terraform_data.a.output
}
"#;

const MANIFEST: &str = "work/.terraform/test/manifest.json";
const LEFT: &str = "left the following resources in state after executing a.tftest.hcl/x, and they need to be cleaned up manually: - \
                    terraform_data.a";
const KEPT: &str = "left the following resources in state after executing a.tftest.hcl/x because the skip_cleanup attribute was set: - \
                    terraform_data.a";

fn allow(project: &Project) {
    project.write("work/allowed", "");
}

/// The state files of tests, and their modes.
fn state_files(project: &Project) -> Vec<(String, u32)> {
    let Ok(folder) = std::fs::read_dir(project.path("work/.terraform/test")) else { return Vec::new() };
    let entry = |e: std::fs::DirEntry| {
        let mode = e.metadata().unwrap().permissions().mode() & 0o777;
        (e.file_name().to_string_lossy().into_owned(), mode)
    };
    folder.flatten().map(entry).filter(|(name, _)| name.ends_with(".tfstate")).collect()
}

#[test]
fn what_cannot_be_destroyed_is_named_and_kept() {
    let project =
        suite(OBJECT, &[("a.tftest.hcl", "run \"x\" {}\n"), ("b.tftest.hcl", "run \"y\" {\n  command = plan\n}\n")]);
    let fails = ["a.tftest.hcl fail: x pass", "b.tftest.hcl pass: y pass"];
    let outcome = check(&project, &["test"], 1, &fails);
    outcome.expect(1, &["Error: local-exec provisioner error", LEFT, "terrane test cleanup"]);
    let files = state_files(&project);
    assert!(matches!(files.as_slice(), [(_, 0o600)]), "{files:?}");
    // Where it is, is said.
    assert!(outcome.text().contains(&files[0].0), "{}", outcome.err);
    assert!(!project.exists("work/terraform.tfstate"));
    assert!(project.read(MANIFEST).contains("a.tftest.hcl"));

    // The file is not executed again before that; others are.
    let outcome = project.run(&["test"]);
    outcome.expect(1, &["Error: State manifest not empty"]);
    assert!(outcome.out.contains("a.tftest.hcl... fail\n"), "{}", outcome.out);
    assert!(outcome.out.contains("b.tftest.hcl... pass\n"), "{}", outcome.out);
    assert_eq!(project.read("work/order.log"), "create one\n");

    // A cleanup that leaves something fails.
    project.run(&["test", "cleanup"]).expect(1, &["terraform_data.a"]);
    assert!(project.exists(MANIFEST));
    allow(&project);
    project.run(&["test", "cleanup"]).expect(0, &["Success!"]);
    assert_eq!(project.read("work/order.log"), "create one\ndestroy one\n");
    assert!(!project.exists(MANIFEST) && state_files(&project).is_empty());
    check(&project, &["test"], 0, &["a.tftest.hcl pass: x pass", "b.tftest.hcl pass: y pass"]);
    project.run(&["test", "cleanup"]).expect(0, &["Success!"]);
}

#[test]
fn all_that_is_destroyed_leaves_no_file() {
    let project = suite(OBJECT, &[("a.tftest.hcl", "run \"x\" {}\n")]);
    allow(&project);
    check(&project, &["test"], 0, &["a.tftest.hcl pass: x pass"]);
    assert!(!project.exists(MANIFEST) && state_files(&project).is_empty());
    assert!(!project.exists("work/terraform.tfstate") && !project.exists("work/.terraform.lock.hcl"));
}

#[test]
fn skip_cleanup_keeps_the_state_until_the_cleanup() {
    let file = "run \"x\" {\n  skip_cleanup = true\n}\n\nrun \"y\" {\n  state_key = \"other\"\n  variables {\n    name = \"two\"\n  }\n}\n";
    let project = suite(OBJECT, &[("a.tftest.hcl", file)]);
    allow(&project);
    let outcome = check(&project, &["test"], 0, &["a.tftest.hcl pass: x pass, y pass"]);
    outcome.expect(0, &[KEPT]);
    // Where it is, is said once, at the end of the file.
    let (_, end) = outcome.out.split_once("\nThe kept state is in:\n  - .terraform/test/").unwrap_or_default();
    assert!(end.contains("    terrane test cleanup\na.tftest.hcl... pass\n"), "{}", outcome.out);
    assert_eq!(outcome.text().matches("terrane test cleanup").count(), 1, "{}", outcome.out);
    assert!(project.read("work/order.log").starts_with("create one\ncreate two\n"));
    assert!(!project.read("work/order.log").contains("destroy one"));
    assert!(project.read(MANIFEST).contains("\"skip_cleanup\""));
    project.run(&["test"]).expect(1, &["Error: State manifest not empty"]);
    project.run(&["test", "cleanup"]).expect(0, &["Success!"]);
    let order = project.read("work/order.log");
    assert!(order.contains("destroy one\n") && order.contains("destroy two\n"), "{order}");
    assert!(!project.exists(MANIFEST) && state_files(&project).is_empty());
}

/// What later runs changed is brought back.
#[test]
fn skip_cleanup_restores_the_state_of_its_run() {
    let file =
        "run \"x\" {\n  skip_cleanup = true\n}\n\nrun \"changes\" {\n  variables {\n    name = \"two\"\n  }\n}\n";
    let project = suite(OBJECT, &[("a.tftest.hcl", file)]);
    allow(&project);
    check(&project, &["test"], 0, &["a.tftest.hcl pass: x pass, changes pass"]).expect(0, &[KEPT]);
    project.run(&["test", "cleanup"]).expect(0, &["Success!"]);
    assert_eq!(project.read("work/order.log"), "create one\ndestroy one\n");
}

#[test]
fn skip_cleanup_of_the_file_is_the_default_of_its_runs() {
    let file = "test {\n  skip_cleanup = true\n}\n\nrun \"x\" {}\n\nrun \"y\" {\n  state_key    = \"other\"\n  skip_cleanup = false\n  \
                variables {\n    name = \"two\"\n  }\n}\n";
    let project = suite(OBJECT, &[("a.tftest.hcl", file)]);
    allow(&project);
    check(&project, &["test"], 0, &["a.tftest.hcl pass: x pass, y pass"]).expect(0, &[KEPT]);
    assert!(!project.read("work/order.log").contains("destroy one"));
    project.run(&["test", "cleanup"]).expect(0, &["Success!"]);
    assert!(project.read("work/order.log").contains("destroy one"));
}

/// `-repair` destroys what an error left, and leaves what `skip_cleanup` keeps.
#[test]
fn a_repair_leaves_what_is_kept_on_purpose() {
    let project = suite(
        OBJECT,
        &[
            ("a.tftest.hcl", "run \"x\" {\n  skip_cleanup = true\n}\n"),
            ("b.tftest.hcl", "run \"y\" {\n  variables {\n    name = \"two\"\n  }\n}\n"),
        ],
    );
    project.run(&["test"]).expect(1, &[KEPT]);
    allow(&project);
    project.run(&["test", "cleanup", "-repair"]).expect(0, &[]);
    let order = project.read("work/order.log");
    assert!(order.contains("destroy two\n") && !order.contains("destroy one\n"), "{order}");
    let manifest = project.read(MANIFEST);
    assert!(manifest.contains("a.tftest.hcl") && !manifest.contains("b.tftest.hcl"), "{manifest}");
    project.run(&["test", "-repair"]).expect(1, &["The -repair flag is only valid for the 'test cleanup' command."]);
}

/// A `backend` of a run keeps its state there, from one suite to the next.
#[test]
fn a_backend_of_a_run_keeps_its_state() {
    let file = "run \"x\" {\n  backend \"local\" {\n    path = \"kept/x.tfstate\"\n  }\n}\n\nrun \"plans\" {\n  command = plan\n  assert {\n    \
                condition     = terraform_data.a.id == run.x.id\n    error_message = \"Another object.\"\n  }\n}\n";
    let main = format!("{OBJECT}output \"id\" {{\n  value = terraform_data.a.id\n}}\n");
    let project = suite(&main, &[("a.tftest.hcl", file)]);
    for _ in 0..2 {
        let outcome = check(&project, &["test"], 0, &["a.tftest.hcl pass: x pass, plans pass"]);
        // A cleanup leaves it there.
        assert!(!outcome.text().contains("test cleanup"), "{}", outcome.out);
        // The second suite finds the object.
        assert_eq!(project.read("work/order.log"), "create one\n");
        assert!(project.read("work/kept/x.tfstate").contains("\"terraform_data\""));
    }
    let wrong = "run \"x\" {\n  skip_cleanup = false\n  backend \"local\" {}\n}\n";
    project.write("work/a.tftest.hcl", wrong);
    let outcome = project.run(&["test"]);
    assert_eq!(outcome.code, Some(1), "{}{}", outcome.out, outcome.err);
}

const IN_BACKEND: &str = "run \"x\" {\n  backend \"local\" {\n    path = \"kept/x.tfstate\"\n  }\n}\n";

/// The next test continues with the objects. Terraform destroys them.
#[test]
fn a_cleanup_names_what_stays_in_backends_unless_called_as_terraform() {
    let mut project = suite(OBJECT, &[("a.tftest.hcl", IN_BACKEND)]);
    project.run(&["test", "cleanup"]).expect(0, &["Success!"]);
    check(&project, &["test"], 0, &["a.tftest.hcl pass: x pass"]);
    let stays = format!("{KEPT} Their state is in the backend of the run. The next test continues with it.");
    for args in [&["test", "cleanup"][..], &["test", "cleanup", "-repair"]] {
        project.run(args).expect(0, &[stays.as_str(), "Success!"]);
    }
    project
        .run(&["test", "cleanup", "-json"])
        .expect(0, &["\"skipped_resources\":[{\"instance\":\"terraform_data.a\"}]"]);
    project.set("TERRANE_NAME", "terraform");
    project.run(&["test", "cleanup", "-repair"]).expect(0, &[KEPT, "Success!"]);
    project
        .run(&["test", "cleanup"])
        .expect(1, &[LEFT, "kept/x.tfstate. To destroy them, run: terraform test cleanup"]);
    assert_eq!(project.read("work/order.log"), "create one\n");
    allow(&project);
    project.run(&["test", "cleanup"]).expect(0, &["Success!"]);
    assert_eq!(project.read("work/order.log"), "create one\ndestroy one\n");
    assert!(!project.read("work/kept/x.tfstate").contains("\"terraform_data\""));
}

/// Nothing is to be destroyed there.
#[test]
fn a_backend_that_cannot_be_read_does_not_fail_a_cleanup() {
    let project = suite(OBJECT, &[("a.tftest.hcl", IN_BACKEND)]);
    project.write("work/kept/x.tfstate", "no state");
    let outcome = project.run(&["test", "cleanup"]);
    outcome.expect(0, &["Warning: ", "Success!"]);
    assert!(!outcome.text().contains("Error: "), "{}{}", outcome.out, outcome.err);
}

#[test]
fn a_state_from_before_the_backend_is_cleaned_up() {
    let project = suite(OBJECT, &[("a.tftest.hcl", "run \"x\" {\n  skip_cleanup = true\n}\n")]);
    allow(&project);
    check(&project, &["test"], 0, &["a.tftest.hcl pass: x pass"]);
    project.write("work/a.tftest.hcl", IN_BACKEND);
    project.run(&["test", "cleanup"]).expect(0, &["Success!"]);
    assert_eq!(project.read("work/order.log"), "create one\ndestroy one\n");
    assert!(!project.exists(MANIFEST) && state_files(&project).is_empty());
}

#[test]
fn a_cleanup_after_the_file_is_gone_says_so() {
    let project = suite(OBJECT, &[("a.tftest.hcl", "run \"x\" {}\n")]);
    project.run(&["test"]).expect(1, &[LEFT]);
    allow(&project);
    std::fs::rename(project.path("work/a.tftest.hcl"), project.path("work/b.tftest.hcl")).unwrap();
    project.run(&["test", "cleanup"]).expect(1, &["States of a.tftest.hcl are kept"]);
    assert!(project.exists(MANIFEST));
    std::fs::rename(project.path("work/b.tftest.hcl"), project.path("work/a.tftest.hcl")).unwrap();
    project.write("work/a.tftest.hcl", "run \"other\" {\n  state_key = \"other\"\n}\n");
    project.run(&["test", "cleanup"]).expect(1, &["Orphaned state"]);
    assert!(project.exists(MANIFEST));
    project.write("work/a.tftest.hcl", "run \"x\" {}\n");
    project.run(&["test", "cleanup"]).expect(0, &["Success!"]);
    assert!(!project.exists(MANIFEST));
}

#[test]
fn states_of_tests_are_encrypted_as_those_of_the_project() {
    let encryption = "terraform {\n  encryption {\n    key_provider \"pbkdf2\" \"k\" {\n      passphrase = \"a passphrase of some length\"\n    }\n    \
                      method \"aes_gcm\" \"m\" {\n      keys = key_provider.pbkdf2.k\n    }\n    state {\n      method = method.aes_gcm.m\n    }\n  }\n}\n";
    let run = "run \"x\" {\n  variables {\n    name = \"marker\"\n  }\n}\n";
    let project = suite(&format!("{encryption}{OBJECT}"), &[("a.tftest.hcl", run)]);
    project.run(&["test"]).expect(1, &[LEFT]);
    let files = state_files(&project);
    let state = project.read(&format!("work/.terraform/test/{}", files[0].0));
    assert!(state.contains("\"encrypted_data\"") && !state.contains("marker"), "{state}");
    allow(&project);
    project.run(&["test", "cleanup"]).expect(0, &["Success!"]);
}

/// Not by the path of another workspace, nor by a link to the state.
#[test]
fn a_run_never_has_the_state_of_the_project() {
    let file = |path: &str| format!("run \"x\" {{\n  backend \"local\" {{\n    path = {path:?}\n  }}\n}}\n");
    let project = suite(OBJECT, &[("a.tftest.hcl", &file("terraform.tfstate.d/prod/terraform.tfstate"))]);
    allow(&project);
    project.run(&["apply", "-auto-approve"]).expect(0, &[]);
    project.run(&["workspace", "new", "prod"]).expect(0, &[]);
    project.run(&["apply", "-auto-approve", "-var", "name=prod"]).expect(0, &[]);
    project.run(&["workspace", "select", "default"]).expect(0, &[]);
    std::os::unix::fs::symlink("terraform.tfstate", project.path("work/link.tfstate")).unwrap();
    let before = project.read("work/order.log");
    for path in ["terraform.tfstate.d/prod/terraform.tfstate", "link.tfstate", "terraform.tfstate"] {
        project.write("work/a.tftest.hcl", &file(path));
        project.run(&["test"]).expect(1, &["Error: Test state in the place of the project's state"]);
    }
    assert_eq!(project.read("work/order.log"), before);
}

/// What a test has created is not destroyed below it, nor is its state shared.
#[test]
fn states_of_a_file_belong_to_one_process() {
    let file = "run \"x\" {\n}\n\nrun \"waits\" {\n  variables {\n    name = \"wait\"\n  }\n}\n";
    let main = OBJECT.replace(
        "echo create",
        "touch begun; test ${self.input} = one || until test -e go; do sleep 0.02; done; echo create",
    );
    let project = suite(
        &main.replace("input = var.name\n", "input            = var.name\n  triggers_replace = var.name\n"),
        &[("a.tftest.hcl", file)],
    );
    allow(&project);
    let mut first =
        project.command(crate::support::program(), &["test"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    crate::support::wait_until("the first run is over", || {
        project.exists("work/.terraform/test/manifest.json") && project.exists("work/begun")
    });
    project.run(&["test"]).expect(1, &["a.tftest.hcl"]);
    project.run(&["test", "cleanup"]).expect(1, &["Error: Test file in use"]);
    project.write("work/go", "");
    assert!(first.wait().unwrap().success());
    assert!(!project.exists(MANIFEST));
    let names: Vec<_> = std::fs::read_dir(project.path("work/.terraform/test"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.file_name())
        .collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().ends_with(".lock")), "{names:?}");
}

/// The variables of the manifest, as it has them of `a.tftest.hcl`.
fn recorded_variables(project: &Project) -> String {
    let manifest: serde_json::Value = serde_json::from_str(&project.read(MANIFEST)).unwrap();
    let names = manifest["files"]["a.tftest.hcl"]["variables"].as_array().cloned().unwrap_or_default();
    names.iter().map(|name| name.as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_cleanup_needs_the_variables_of_the_test() {
    const MISSING: &str = "Error: Missing values of variables for the cleanup";
    let mut project = suite(OBJECT, &[("a.tftest.hcl", "run \"x\" {}\n")]);
    project.set("TF_VAR_unused", "three");
    project.run(&["test", "-var=name=two"]).expect(1, &[LEFT]);
    assert_eq!(recorded_variables(&project), "name");
    assert!(!project.read(MANIFEST).contains("two"), "{}", project.read(MANIFEST));
    allow(&project);
    for args in [&["test", "cleanup"][..], &["test", "cleanup", "-repair"], &["test", "cleanup", "-var=unused=two"]] {
        project.run(args).expect(1, &[MISSING, "now: - name With other values", "-var or -var-file", "TF_VAR_NAME"]);
        assert_eq!(project.read("work/order.log"), "create two\n");
        assert_eq!(state_files(&project).len(), 1);
    }
    project.write("work/a.auto.tfvars", "name = \"two\"\n");
    project.run(&["test", "cleanup"]).expect(0, &["Success!"]);
    assert_eq!(project.read("work/order.log"), "create two\ndestroy two\n");
    assert!(!project.exists(MANIFEST));
}

#[test]
fn a_cleanup_reads_manifests_without_variables() {
    let project = suite(OBJECT, &[("a.tftest.hcl", "run \"x\" {}\n")]);
    project.run(&["test", "-var=name=two"]).expect(1, &[LEFT]);
    let mut manifest: serde_json::Value = serde_json::from_str(&project.read(MANIFEST)).unwrap();
    manifest["files"]["a.tftest.hcl"].as_object_mut().unwrap().remove("variables").unwrap();
    project.write(MANIFEST, &manifest.to_string());
    allow(&project);
    project.run(&["test", "cleanup"]).expect(0, &["Success!"]);
}

/// Those that the file gives a value are not from outside.
#[test]
fn variables_that_a_file_could_use_are_recorded() {
    let named = "run \"x\" {\n  variables {\n    name = \"own\"\n  }\n}\n";
    let repeated = named.replace("\n  variables", "\n  for_each = toset([tostring(var.team)])\n  variables");
    let cases = [
        ("run \"x\" {}\n".to_owned(), "name"),
        (named.to_owned(), ""),
        ("variables {\n  name = \"own\"\n}\nrun \"x\" {}\n".to_owned(), ""),
        ("variables {\n  name = var.team\n}\nvariable \"team\" {}\nrun \"x\" {}\n".to_owned(), "team"),
        (format!("{EXTENDED}{repeated}"), "team"),
    ];
    for (file, expected) in cases {
        let mut project = suite(OBJECT, &[("a.tftest.hcl", &file)]);
        ["name", "team", "other"].iter().for_each(|name| project.set(&format!("TF_VAR_{name}"), "7"));
        let outcome = project.run(&["test"]);
        outcome.expect(1, &["left the following resources in state"]);
        assert_eq!(recorded_variables(&project), expected, "{file}{}", outcome.out);
        allow(&project);
        project.run(&["test", "cleanup"]).expect(0, &["Success!"]);
    }
}
