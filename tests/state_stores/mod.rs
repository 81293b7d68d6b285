//! States in a store that a provider implements, from end to end.

mod provider;

use crate::support::{Project, platform, processes};

const PROGRAM: &str = "terraform-provider-files_v1.0.0";

fn main_with(store: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    files = {{\n      source  = \"example/files\"\n      version = \"1.0.0\"\n    }}\n  }}\n\
         {store}}}\nresource \"terraform_data\" \"t\" {{\n  input = \"x\"\n}}\n"
    )
}

fn store(settings: &str) -> String {
    format!("  state_store \"files_store\" {{\n    provider \"files\" {{}}\n    {settings}\n  }}\n")
}

/// A project with that store, whose provider is installed from a folder.
fn project(settings: &str) -> Project {
    let mut project = Project::new(&main_with(&store(settings)));
    let folder = format!("mirror/registry.terraform.io/example/files/1.0.0/{}", platform());
    provider::install(&project, &format!("{folder}/{PROGRAM}"));
    let mirror = project.path("mirror").display().to_string();
    let settings = format!("provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n");
    let settings = project.write("settings.tfrc", &settings);
    project.set("TF_CLI_CONFIG_FILE", settings);
    project
}

#[test]
fn a_store_keeps_the_states_of_all_workspaces() {
    let project = project("dir = \"st\"");
    let lock = "Inconsistent dependency lock file";
    project.run(&["plan"]).expect(1, &[lock, "missing from the lock file despite being present"]);
    let began = "Installing provider example/files (1.0.0) for state store \"files_store\"...";
    project
        .run(&["init"])
        .expect(0, &[began, "Initializing the state store \"files_store\"...", "successfully initialized"]);
    let record = project.read("work/.terraform/terraform.tfstate");
    for wanted in ["\"state_store\"", "\"type\": \"files_store\"", "\"managed_by_terraform\"", "\"dir\": \"st\""] {
        assert!(record.contains(wanted), "no {wanted} in {record}");
    }
    project.ok(&["plan", "-out=p"]);
    project.ok(&["apply", "p"]);
    assert!(project.exists("work/st/default.state") && !project.exists("work/terraform.tfstate"));
    assert!(!project.exists("work/st/default.lock"), "the lock is released");
    project.run(&["state", "list"]).expect(0, &["terraform_data.t"]);
    project.ok(&["workspace", "new", "other"]);
    assert!(project.exists("work/st/other.state"));
    assert_eq!(project.ok(&["state", "list"]).out, "");
    project.run(&["workspace", "list"]).expect(0, &["default * other"]);
    project.ok(&["workspace", "select", "default"]);
    project.ok(&["workspace", "delete", "other"]);
    project.run(&["destroy", "-auto-approve"]).expect(0, &["Destroy complete! Resources: 1 destroyed."]);
    processes::all_gone(project.mark());
}

#[test]
fn a_state_that_the_store_has_locked_stays_as_it_is() {
    let project = project("dir = \"st\"");
    project.ok(&["init"]);
    project.write("work/st/default.lock", "theirs");
    let refused = ["Error acquiring the state lock", "State is locked: The store was asked to fail."];
    project.run(&["apply", "-auto-approve"]).expect(1, &refused);
    assert!(!project.exists("work/st/default.state"));
    project.run(&["force-unlock", "-force", "mine"]).expect(1, &["Cannot unlock: The store was asked to fail."]);
    project.ok(&["force-unlock", "-force", "theirs"]);
    project.ok(&["apply", "-auto-approve"]);
    processes::all_gone(project.mark());
}

#[test]
fn the_provider_ends_however_the_store_fails() {
    for (call, summary, at_init) in [
        ("validate", "Invalid state store", true),
        ("configure", "State store failed", true),
        ("read", "State read failed", true),
        ("write", "State write failed", false),
    ] {
        let project = project(&format!("dir = \"st\"\n    fail = \"{call}\""));
        if at_init {
            project.run(&["init"]).expect(1, &[summary, "The store was asked to fail."]);
        } else {
            project.ok(&["init"]);
            project.run(&["apply", "-auto-approve"]).expect(1, &[summary, "errored.tfstate"]);
            assert!(project.read("work/errored.tfstate").contains("terraform_data"), "the state is not lost");
        }
        processes::all_gone(project.mark());
    }
    let project = project("dir = \"st\"\n    fail = \"warn\"");
    project.run(&["init"]).expect(0, &["Odd state store", "successfully initialized"]);
}

#[test]
fn another_store_needs_a_decision() {
    let project = project("dir = \"st\"");
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    let change = |text: &str| project.write("work/main.tf", &main_with(text));
    let changed = "Reason: State store \"files_store\" (example/files) configuration changed";
    change(&store("dir = \"st2\""));
    for command in [&["init", "-migrate-state"][..], &["plan"], &["state", "list"]] {
        project.run(command).expect(1, &["State store initialization required", changed]);
    }
    project.ok(&["init", "-reconfigure"]);
    project.run(&["state", "list"]).expect(1, &["No state file was found!"]);
    change("");
    project.run(&["plan"]).expect(1, &["Reason: Unsetting the previously set state store \"files_store\""]);
    change("  backend \"local\" {}\n");
    let left = "Reason: Migrating from state store \"files_store\" to backend \"local\"";
    project.run(&["init"]).expect(1, &[left]);
    project.ok(&["init", "-reconfigure"]);
    change(&store("dir = \"st\""));
    let entered = "Migrating from backend \"local\" to state store \"files_store\" in provider files";
    project.run(&["init"]).expect(1, &["Backend initialization required", entered]);
    project.run(&["init", "-reconfigure"]).expect(0, &[]);
    project.run(&["state", "list"]).expect(0, &["terraform_data.t"]);
}

#[test]
fn states_move_between_stores_and_backends() {
    let project = project("dir = \"st\"");
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.ok(&["workspace", "new", "other"]);
    project.ok(&["apply", "-auto-approve"]);
    let from_store = "state_store_provider {\n  files = {\n    source = \"example/files\"\n  }\n}\nfrom {\n  state_store \"files_store\" \
                      {\n    provider \"files\" {}\n    dir = \"st\"\n  }\n}\n";
    project.write("work/m.tfmigrate.hcl", from_store);
    project.write("work/main.tf", &main_with("  backend \"local\" {\n    path = \"new.tfstate\"\n  }\n"));
    let moved = "Finished migrating state from state store \"files_store\" (example/files 1.0.0) to backend \"local\".";
    project.run(&["state", "migrate", "-force-copy"]).expect(0, &["Installing providers...", moved]);
    assert!(project.read("work/new.tfstate").contains("terraform_data"));
    assert!(project.exists("work/terraform.tfstate.d/other/terraform.tfstate"));
    project.write("work/m.tfmigrate.hcl", "from {\n  backend \"local\" {\n    path = \"new.tfstate\"\n  }\n}\n");
    project.write("work/main.tf", &main_with(&store("dir = \"st3\"")));
    let moved = "Finished migrating state from backend \"local\" to state store \"files_store\" (example/files 1.0.0).";
    project.run(&["state", "migrate", "-force-copy"]).expect(0, &[moved]);
    assert!(project.exists("work/st3/default.state") && project.exists("work/st3/other.state"));
    project.ok(&["workspace", "select", "default"]);
    project.run(&["state", "list"]).expect(0, &["terraform_data.t"]);
    processes::all_gone(project.mark());
}

#[test]
fn local_states_go_to_the_first_store() {
    let project = project("dir = \"st\"");
    project.write("work/main.tf", &main_with(""));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.write("work/main.tf", &main_with(&store("dir = \"st\"")));
    let first = "Reason: Initial configuration of a state store \"files_store\" in provider files";
    project.run(&["plan"]).expect(1, &["please run \"terrane init\"", first]);
    project.ok(&["init", "-force-copy"]);
    assert!(project.read("work/st/default.state").contains("terraform_data"));
    assert_eq!(project.read("work/terraform.tfstate"), "");
    project.run(&["plan"]).expect(0, &["No changes."]);
    processes::all_gone(project.mark());
}
