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

#[test]
fn an_empty_store_has_no_workspaces() {
    let project = project("dir = \"st\"");
    let missing = ["Workspace \"w\" has not been created yet", "use the command `terrane workspace new w`"];
    project.write("work/.terraform/environment", "w");
    project.run(&["init"]).expect(1, &missing);
    project.write("work/.terraform/environment", "default");
    project.ok(&["init"]);
    project.run(&["workspace", "list"]).expect(0, &["cannot find any existing workspaces."]);
    project.ok(&["workspace", "new", "w"]);
    project.run(&["workspace", "select", "default"]).expect(1, &["Workspace \"default\" doesn't exist."]);
    project.ok(&["workspace", "new", "default"]);
    project.run(&["workspace", "list"]).expect(0, &["* default w"]);
    project.ok(&["workspace", "select", "w"]);
    project.run(&["workspace", "delete", "default"]).expect(1, &["Cannot delete the default workspace"]);
}

#[test]
fn a_lock_file_of_the_command_line_is_trusted() {
    let project = project("dir = \"st\"");
    let flag = "-state-provider-lock-file=d/.terraform.lock.hcl";
    project.write("work/d/.terraform.lock.hcl", "");
    let missing = "not described in dependency lock file supplied via -state-provider-lock-file flag";
    project
        .run(&["init", "-input=false", flag])
        .expect(1, &[missing, "could not find the state store provider \"files\""]);
    let lock = "provider \"registry.terraform.io/example/files\" {\n  version = \"1.0.0\"\n}\n";
    project.write("work/d/.terraform.lock.hcl", lock);
    let approved = "The state store provider was approved automatically.";
    let warned = "Incomplete lock file information for providers";
    project.run(&["init", "-input=false", flag]).expect(0, &[approved, warned]);
    let json = project.ok(&["init", "-json"]).out;
    assert!(json.lines().next().is_some_and(|line| line.contains("\"ui\":\"1.3\"")), "{json}");
}

#[test]
fn the_provider_is_installed_before_a_conflict_is_reported() {
    let project = project("dir = \"st\"");
    project.write("work/other.tf", "terraform {\n  cloud {}\n}\n");
    let conflict = "Conflicting 'cloud' and 'state_store' configuration blocks are present";
    let begun =
        ["Installing provider example/files", "Initializing HCP Terraform...", conflict, "backend alias to target"];
    project.run(&["init"]).expect(1, &begun);
    project.write("work/other.tf", "terraform {\n  backend \"local\" {}\n}\n");
    let conflict = "Conflicting 'state_store' and 'backend' configuration blocks are present";
    project.run(&["init"]).expect(1, &["Initializing the state store", conflict, "on other.tf line 2"]);
}

#[test]
fn a_failed_migration_says_that_the_source_is_unchanged() {
    let project = project("dir = \"new\"\n    fail = \"write\"");
    let state = "{\"version\":4,\"serial\":3,\"lineage\":\"l\",\"outputs\":{\"o\":{\"value\":\"v\",\"type\":\"string\"}},\"resources\":[]}";
    project.write("work/old.tfstate", state);
    project.write("work/m.tfmigrate.hcl", "from {\n  backend \"local\" {\n    path = \"old.tfstate\"\n  }\n}\n");
    let copied = "State migration failed: Error copying state from the previous \"local\" backend";
    let failed = "Failed to migrate state from backend \"local\" to state store \"files_store\" (example/files 1.0.0).";
    let unchanged = "does not modify the source state";
    project.run(&["state", "migrate", "-input=false", "-force-copy"]).expect(1, &[copied, failed, unchanged]);
    project.write("work/main.tf", &main_with(&store("dir = \"new\"")));
    let created = "has created a lock file .terraform.lock.hcl";
    let warned = "Incomplete lock file information for providers";
    project
        .run(&["state", "migrate", "-input=false", "-force-copy"])
        .expect(0, &[created, warned, "Finished migrating"]);
}
