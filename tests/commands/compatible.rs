//! The release that a run is compatible with: how it is chosen, and where it stands.

use serde_json::Value as Json;

use crate::support::{Outcome, Project, program, reference};

const NEWEST: &str = "1.17.2";

fn pinned(pin: &str) -> Project {
    let mut project = Project::new(&format!("terraform {{\n  required_version = {pin:?}\n}}\n"));
    project.any_release();
    project
}

/// The version in the first line of `version`.
fn shown(project: &Project) -> String {
    let out = project.ok(&["version"]).out;
    out.trim_start_matches(|c: char| !c.is_ascii_digit()).split([' ', '\n']).next().unwrap_or_default().to_owned()
}

fn refused(outcome: &Outcome, texts: &[&str]) {
    let flat = outcome.err.replace(['\n', '│', '╷', '╵'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(outcome.code, Some(1), "{flat}");
    texts.iter().for_each(|text| assert!(flat.contains(text), "{text}\n{flat}"));
}

/// The pins of public modules, each with the newest release that meets it, as another program judged: `none` if there is none, `error`
/// if it is no constraint for a program.
#[test]
fn pins_of_public_modules() {
    let table = include_str!("../fixtures/pins.txt");
    let project = pinned("");
    for line in table.lines() {
        let (pin, expected) = line.split_once('\t').unwrap();
        project.write("work/main.tf", &format!("terraform {{\n  required_version = {pin:?}\n}}\n"));
        let init = project.run(&["init"]);
        match expected {
            "none" | "error" => assert_eq!(init.code, Some(1), "{pin}: {}{}", init.out, init.err),
            release => {
                assert_eq!(init.code, Some(0), "{pin}: {}{}", init.out, init.err);
                assert!(init.err.is_empty(), "{pin}: {}", init.err);
                assert_eq!(shown(&project), release, "{pin}");
            }
        }
    }
}

#[test]
fn pins_of_all_modules_count_together() {
    let mut project = pinned(">= 1.0");
    let main = |pin: &str| {
        format!("terraform {{\n  required_version = {pin:?}\n}}\nmodule \"m\" {{\n  source = \"./m\"\n}}\n")
    };
    let called = "terraform {\n  required_version = \"~> 1.5.0\"\n}\nresource \"terraform_data\" \"a\" {}\n";
    project.write("work/main.tf", &main(">= 1.0"));
    project.write("work/m/main.tf", called);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    assert!(project.read("work/terraform.tfstate").contains("\"terraform_version\": \"1.5.7\""));

    project.write("work/main.tf", &main(">= 1.9"));
    let places = "Module module.m (from ./m) requires Terraform \"~> 1.5.0\", and this configuration requires \">= 1.9\" \
                  (main.tf:2,3-30): no release of Terraform 1.0 to 1.17.2 meets both.";
    for command in ["init", "plan", "validate"] {
        refused(&project.run(&[command]), &["Unsupported Terrane Core version", places]);
    }
    project.set("TERRANE_COMPATIBLE_VERSION", "1.10.5");
    let theirs = "Module module.m (from ./m) does not support Terrane version 1.10.5. To proceed, either choose another supported Terrane \
                  version";
    refused(&project.run(&["plan"]), &[theirs]);
}

#[test]
fn later_releases() {
    let mut project = pinned("~> 1.18.0");
    let complete = format!(
        "This configuration requires Terraform \"~> 1.18.0\", and the language of Terrane {} is complete until Terraform {NEWEST}.",
        env!("CARGO_PKG_VERSION")
    );
    refused(&project.run(&["init"]), &[&complete]);
    let warning = format!(">= 1.17.9 asks for a later patch of Terraform than {NEWEST}");
    project.write("work/main.tf", "terraform {\n  required_version = \">= 1.17.9\"\n}\n");
    project.ok(&["init"]);
    project.ok(&["validate"]).expect(0, &["Warning: Later than Terraform 1.17.2"]);
    assert!(project.ok(&["plan"]).text().contains(&warning[..40]));
    assert_eq!(shown(&project), NEWEST);
    project.set("TERRANE_COMPATIBLE_VERSION", "1.17.9");
    project.ok(&["plan"]).expect(0, &["Warning: Later than Terraform 1.17.2"]);
}

#[test]
fn wishes_count_more_than_pins() {
    let mut project = pinned(">= 1.4");
    project.write(".terraform-version", "1.6.0\n");
    assert_eq!(shown(&project), "1.6.0");
    project.ok(&["plan"]);
    project.set("TERRANE_COMPATIBLE_VERSION", "~> 1.3.0");
    assert_eq!(shown(&project), "1.3.10");
    refused(&project.run(&["plan"]), &["This configuration does not support Terrane version 1.3.10. To proceed"]);
    project.set("TERRANE_COMPATIBLE_VERSION", "new");
    let invalid =
        "TERRANE_COMPATIBLE_VERSION has the value \"new\", which is neither a version, such as 1.5.7, nor a constraint";
    refused(&project.run(&["plan"]), &["Error: Invalid compatible version", invalid]);
    project.ok(&["version"]);
    project.any_release();
    project.write(".terraform-version", "0.15.5\n");
    let file = "/.terraform-version has the value \"0.15.5\", which no release of Terraform 1.0 to 1.17.2 meets.";
    refused(&project.run(&["plan"]), &[file]);
    project.write(".terraform-version", "latest\n");
    assert_eq!(shown(&project), NEWEST);
    project.set("TERRANE_NAME", "tofu");
    project.write(".opentofu-version", "1.8.1\n");
    assert_eq!(shown(&project), "1.8.1");
}

/// The documents that name a version.
#[test]
fn all_documents_name_the_same_release() {
    let mut project = pinned("~> 1.9.0");
    let config = "terraform {\n  required_version = \"~> 1.9.0\"\n  backend \"local\" {}\n}\nresource \"terraform_data\" \"a\" {}\n";
    project.write("work/main.tf", config);
    let parsed = |text: &str| serde_json::from_str::<Json>(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    project.ok(&["init"]);
    assert_eq!(parsed(&project.read("work/.terraform/terraform.tfstate"))["terraform_version"], "1.9.8");
    let stream = project.ok(&["apply", "-auto-approve", "-json"]).out;
    assert_eq!(parsed(stream.lines().next().unwrap())["terraform"], "1.9.8");
    assert_eq!(parsed(&project.read("work/terraform.tfstate"))["terraform_version"], "1.9.8");
    project.ok(&["plan", "-out=p"]);
    assert_eq!(parsed(&project.ok(&["show", "-json", "p"]).out)["terraform_version"], "1.9.8");
    assert_eq!(parsed(&project.ok(&["show", "-json"]).out)["terraform_version"], "1.9.8");
    let version = parsed(&project.ok(&["version", "-json"]).out);
    assert_eq!((&version["terraform_version"], &version["format_version"]), (&"1.9.8".into(), &Json::Null));
    project.set("TERRANE_COMPATIBLE_VERSION", "1.17.0");
    let version = project.ok(&["version", "-json"]).out;
    assert!(
        version.starts_with("{\n  \"format_version\": \"1.0\",\n  \"terraform_version\": \"1.17.0\",\n"),
        "{version}"
    );
}

fn written_by(project: &Project) -> String {
    let state: Json = serde_json::from_str(&project.read("work/terraform.tfstate")).unwrap();
    state["terraform_version"].as_str().unwrap().to_owned()
}

/// Teams that run several programs are not locked out by one of them.
#[test]
fn a_state_keeps_its_version_while_the_pins_allow_it() {
    let mut project = Project::new("");
    let config = |pin: &str, input: u8| {
        format!(
            "terraform {{\n  required_version = {pin:?}\n}}\nresource \"terraform_data\" \"a\" {{\n  input = {input}\n}}\n"
        )
    };
    let apply = |project: &Project, pin: &str, input: u8| {
        project.write("work/main.tf", &config(pin, input));
        project.ok(&["apply", "-auto-approve"]);
        written_by(project)
    };
    project.any_release();
    assert_eq!(apply(&project, "~> 1.6.0", 1), "1.6.6");
    assert_eq!(apply(&project, ">= 1.0", 2), "1.6.6");
    assert_eq!(apply(&project, ">= 1.7", 3), NEWEST);
    assert_eq!(apply(&project, "< 1.5", 4), "1.4.7");
    project.ok(&["state", "mv", "terraform_data.a", "terraform_data.b"]);
    assert_eq!(written_by(&project), "1.4.7");
    // Releases before 1.16 would not find a place for it.
    let store = "resource \"terraform_data\" \"b\" {\n  store {\n    input = 1\n  }\n}\n";
    project.write("work/main.tf", store);
    project.ok(&["apply", "-auto-approve"]);
    assert_eq!(written_by(&project), NEWEST);
}

/// Both programs change one state in turns.
#[test]
fn states_of_five_releases_are_the_reference_s_too() {
    let Some(terraform) = reference() else { return };
    for release in ["1.1.9", "1.5.7", "1.11.4", "1.14.9", NEWEST] {
        let mut project = Project::new("resource \"terraform_data\" \"a\" {\n  input = { a = [1, \"x\"] }\n}\n");
        project.set("TERRANE_COMPATIBLE_VERSION", release);
        project.ok(&["apply", "-auto-approve"]);
        assert_eq!(written_by(&project), release);
        let theirs = |args: &[&str]| {
            let run = project.finish(project.command(&terraform, args));
            assert_eq!(run.code, Some(0), "{release}: {}{}", run.out, run.err);
            run.out
        };
        theirs(&["init"]);
        assert!(theirs(&["plan", "-no-color"]).contains("No changes."));
        let before = project.read("work/terraform.tfstate");
        project.write("work/main.tf", "resource \"terraform_data\" \"a\" {\n  input = 2\n}\n");
        theirs(&["apply", "-auto-approve"]);
        assert_eq!(written_by(&project), "1.11.4");
        assert_ne!(project.read("work/terraform.tfstate"), before);
        let mut command = project.command(program(), &["apply", "-auto-approve"]);
        command.env("TERRANE_COMPATIBLE_VERSION", "");
        let run = project.finish(command);
        assert!(run.text().contains("No changes."), "{}", run.text());
        project.write("work/main.tf", "resource \"terraform_data\" \"a\" {\n  input = 3\n}\n");
        let mut command = project.command(program(), &["apply", "-auto-approve"]);
        command.env("TERRANE_COMPATIBLE_VERSION", "");
        project.finish(command);
        assert_eq!(written_by(&project), "1.11.4", "a state of the reference keeps its version");
        assert!(theirs(&["plan", "-no-color"]).contains("No changes."));
    }
}

/// What newer releases answer differently; `TERRANE_COMPATIBLE_VERSION` is the one switch.
#[test]
fn newer_answers_follow_the_release() {
    let mut project = Project::new("resource \"terraform_data\" \"a\" {}\n");
    for (release, is_newer) in [("1.11.4", false), (NEWEST, true)] {
        project.set("TERRANE_COMPATIBLE_VERSION", release);
        let init = project.ok(&["init"]).out;
        assert_eq!(init.contains("Initializing the backend...\n\nInitializing provider"), is_newer, "{init}");
        let stream = project.ok(&["plan", "-json"]).out;
        assert_eq!(stream.contains("\"ui\":\"1.3\""), is_newer, "{stream}");
        assert_eq!(stream.contains("\"action_invocation\":0"), is_newer, "{stream}");
        let unknown = project.run(&["state", "list", "-nope"]);
        assert_eq!(unknown.text().contains("Usage: terrane"), !is_newer, "{}", unknown.text());
    }
    project.write("work/backend.tf", "terraform {\n  backend \"nope\" {}\n}\n");
    project.run(&["validate"]).expect(1, &["Unsupported backend type"]);
}

#[test]
fn requirements_of_providers_may_be_values() {
    let mut project = Project::new(
        "variable \"range\" {\n  const   = true\n  default = \"~> 3.1\"\n}\nlocals {\n  own = \"terraform.io/builtin/random\"\n}\n\
         terraform {\n  required_providers {\n    random = { source = local.own }\n    null = {\n      source = \"example.com/x/null\"\n      \
         version = var.range\n    }\n  }\n}\nresource \"random_pet\" \"a\" {}\n",
    );
    project
        .run(&["providers"])
        .expect(0, &["provider[terraform.io/builtin/random]", "provider[example.com/x/null] ~> 3.1"]);
    let main = project.read("work/main.tf");
    project.write(
        "work/main.tf",
        &main.replace("    null = {\n      source = \"example.com/x/null\"\n      version = var.range\n    }\n", ""),
    );
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.write("work/main.tf", &main.replace("~> 3.1", "about 3"));
    project.run(&["validate"]).expect(1, &["does not use correct version constraint syntax"]);
    project.set("TERRANE_NAME", "tofu");
    project.run(&["validate"]).expect(1, &["Source must be specified as a string."]);
}

/// A misspelt address would plan nothing and look like success.
#[test]
fn addresses_that_nothing_has_are_reported() {
    let project = Project::new("resource \"terraform_data\" \"web\" {}\nresource \"terraform_data\" \"db\" {}\n");
    let warned = "Address matches nothing";
    let hint = "The address of -target=terraform_data.wbe is neither in the configuration nor in the state";
    let plan = project.ok(&["plan", "-target=terraform_data.wbe"]);
    plan.expect(0, &[warned, hint, "Did you mean \"terraform_data.web\"?"]);
    project.ok(&["plan", "-replace=terraform_data.dbb"]).expect(0, &[warned, "-replace=terraform_data.dbb"]);
    project
        .ok(&["plan", "-replace=terraform_data.db[0]"])
        .expect(0, &[warned, "-replace=terraform_data.db[0]", "Did you mean \"terraform_data.db\"?"]);
    project.ok(&["plan", "-exclude=module.m"]).expect(0, &[warned, "-exclude=module.m"]);
    project.ok(&["apply", "-auto-approve"]);
    project.write("work/main.tf", "resource \"terraform_data\" \"web\" {}\n");
    for option in ["-target=terraform_data.db", "-target=terraform_data.web", "-replace=terraform_data.web"] {
        let plan = project.ok(&["plan", option]).text();
        assert!(!plan.contains(warned), "{option}: {plan}");
    }
}
