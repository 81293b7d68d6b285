//! The `remote` backend and the `cloud` block with local execution, against a stub of HCP Terraform: alone and beside the reference.

use std::path::PathBuf;

use super::counted::{Counted, other_directory};
use crate::support::hcp::{HcpStub, TOKEN};
use crate::support::{Project, Running, processes, program, reference};

const HOST: &str = "tfe.example.com";

fn settings(stub: &HcpStub, project: &mut Project) {
    let file = project.write("home/settings.tfrc", &stub.settings(HOST));
    project.set("TF_CLI_CONFIG_FILE", file);
}

fn project(stub: &HcpStub, block: &str, body: &str) -> Project {
    let inner = |workspaces: &str| {
        format!("hostname = \"{HOST}\"\n    organization = \"acme\"\n    workspaces {{\n      {workspaces}\n    }}")
    };
    let (kind, workspaces) = block.split_once(' ').unwrap();
    let block = match kind {
        "cloud" => format!("cloud {{\n    {}\n  }}", inner(workspaces)),
        _ => format!("backend \"remote\" {{\n    {}\n  }}", inner(workspaces)),
    };
    let mut project = Project::new(&format!("terraform {{\n  {block}\n}}\n{body}"));
    settings(stub, &mut project);
    project
}

const SMALL: &str = "variable \"x\" { default = 1 }\nresource \"terraform_data\" \"a\" {\n  input = var.x\n}\noutput \"x\" { value = terraform_data.a.output }\noutput \"s\" {\n  value = \"hush\"\n  sensitive = true\n}\n";

/// Runs the reference in a project; none: there is none.
fn them(terraform: &Option<PathBuf>, project: &Project, args: &[&str], expected: &[&str]) {
    if let Some(terraform) = terraform {
        project.finish(project.command(terraform, args)).expect(0, expected);
    }
}

#[test]
fn both_programs_work_on_workspaces_with_a_prefix() {
    let stub = HcpStub::start();
    let block = "remote prefix = \"app-\"";
    let (ours, theirs) = (project(&stub, block, SMALL), project(&stub, block, SMALL));
    ours.run(&["init", "-input=false"]).expect(1, &["No existing workspaces."]);
    ours.ok(&["workspace", "new", "one"]);
    ours.run(&["init"]).expect(0, &["Terrane has been successfully initialized!"]);
    ours.ok(&["apply", "-auto-approve"]);
    ours.ok(&["workspace", "new", "two"]);
    ours.ok(&["apply", "-auto-approve", "-var=x=5"]);
    assert_eq!(stub.names(), ["app-one", "app-two"]);
    let terraform = reference();
    theirs.write("work/.terraform/environment", "one");
    them(&terraform, &theirs, &["init"], &["Successfully configured the backend \"remote\"!"]);
    them(&terraform, &theirs, &["plan", "-detailed-exitcode"], &["No changes."]);
    them(&terraform, &theirs, &["apply", "-auto-approve", "-var=x=2"], &["0 added, 1 changed, 0 destroyed"]);
    them(&terraform, &theirs, &["workspace", "list"], &["* one two"]);
    ours.ok(&["workspace", "select", "one"]);
    if terraform.is_some() {
        ours.run(&["plan", "-detailed-exitcode", "-var=x=2"]).expect(0, &["No changes."]);
    }
    ours.ok(&["workspace", "select", "two"]);
    ours.ok(&["destroy", "-auto-approve"]);
    ours.ok(&["workspace", "select", "one"]);
    ours.ok(&["workspace", "delete", "two"]);
    ours.ok(&["destroy", "-auto-approve"]);
    assert_eq!(stub.names(), ["app-one"]);
}

#[test]
fn both_programs_work_on_the_workspace_of_a_cloud_block() {
    let stub = HcpStub::start();
    let block = "cloud name = \"prod\"";
    let (ours, theirs) = (project(&stub, block, SMALL), project(&stub, block, SMALL));
    let first = ours.ok(&["init"]);
    first.expect(0, &["Initializing HCP Terraform...", "HCP Terraform has been successfully initialized!"]);
    ours.ok(&["apply", "-auto-approve"]);
    let terraform = reference();
    them(&terraform, &theirs, &["init"], &["HCP Terraform has been successfully initialized!"]);
    them(&terraform, &theirs, &["plan", "-detailed-exitcode"], &["No changes."]);
    them(&terraform, &theirs, &["output"], &["s = <sensitive>", "x = 1"]);
    them(&terraform, &theirs, &["apply", "-auto-approve", "-var=x=2"], &["0 added, 1 changed, 0 destroyed"]);
    if let Some(terraform) = &terraform {
        ours.run(&["plan", "-detailed-exitcode", "-var=x=2"]).expect(0, &["No changes."]);
        for name in ["terraform.tfstate", "environment"] {
            let of = |project: &Project| project.read(&format!("work/.terraform/{name}"));
            assert_eq!(of(&ours), of(&theirs), "{name}");
        }
        for args in [&["workspace", "list"][..], &["workspace", "new", "x"], &["state", "list"], &["output"]] {
            let (a, b) = (ours.run(args), theirs.finish(theirs.command(terraform, args)));
            assert_eq!((a.code, a.out), (b.code, b.out), "{args:?}");
        }
    }
    ours.ok(&["destroy", "-auto-approve"]);
    assert!(!ours.read("work/.terraform/terraform.tfstate").contains(TOKEN));
}

#[test]
fn a_cloud_block_with_tags_asks_for_its_first_workspace() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud tags = [\"app\"]", SMALL);
    project.run(&["init", "-input=false"]).expect(1, &["No existing workspaces."]);
    let answered = |answers: &str, args: &[&str]| {
        let mut command = project.command(program(), args);
        command.stdin(std::fs::File::open(project.write("tmp/answers", answers)).unwrap());
        project.finish(command)
    };
    answered("prod\n", &["init"])
        .expect(0, &["No workspaces found.", "There are no workspaces with the configured tags (app)"]);
    project.ok(&["apply", "-auto-approve"]);
    assert_eq!(stub.service().workspace("prod").tags, [("app".to_owned(), String::new())]);
    project.ok(&["workspace", "new", "test"]);
    project.run(&["workspace", "list"]).expect(0, &["prod * test"]);
    project.ok(&["workspace", "select", "prod"]);
    project.ok(&["workspace", "delete", "test"]);
    project.ok(&["destroy", "-auto-approve"]);
}

#[test]
fn states_move_to_and_from_a_cloud_block() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud name = \"prod\"", SMALL);
    let with_block = project.read("work/main.tf");
    project.write("work/main.tf", SMALL);
    project.ok(&["apply", "-auto-approve"]);
    project.write("work/main.tf", &with_block);
    project.run(&["init", "-migrate-state"]).expect(1, &["Invalid command-line option", "-migrate-state option"]);
    project.run(&["init", "-reconfigure"]).expect(1, &["-reconfigure option is unsupported when migrating"]);
    project.run(&["plan"]).expect(1, &["HCP Terraform or Terraform Enterprise initialization required"]);
    project.run(&["init", "-input=false"]).expect(1, &["Can't ask approval for state migration"]);
    let answered = |args: &[&str]| {
        let mut command = project.command(program(), args);
        command.stdin(std::fs::File::open(project.write("tmp/answers", "yes\nyes\n")).unwrap());
        project.finish(command)
    };
    answered(&["init"]).expect(0, &["Do you wish to proceed?", "Should Terrane migrate your existing state?"]);
    assert_eq!(stub.state("prod").unwrap()["resources"][0]["name"], "a");
    project.run(&["plan", "-detailed-exitcode"]).expect(0, &["No changes."]);
    project.write("work/main.tf", SMALL);
    answered(&["init"]).expect(0, &["Migrating from HCP Terraform or Terraform Enterprise to local state."]);
    project.run(&["plan", "-detailed-exitcode"]).expect(0, &["No changes."]);
    assert!(project.exists("work/terraform.tfstate"));
}

#[test]
fn locks_of_either_program_stop_the_other_and_are_released_by_force() {
    let stub = HcpStub::start();
    let counted = Counted::new(4);
    let mut programs = vec![program().to_path_buf()];
    programs.extend(reference());
    let block = "cloud name = \"prod\"";
    for holder in &programs {
        let first = project(&stub, block, &counted.body("sleep 0.5"));
        first.finish(first.command(holder, &["init"])).expect(0, &[]);
        let run = Running::start(first.command(holder, &["apply", "-auto-approve", "-parallelism=1"]));
        counted.until_created(&first, 1);
        for other in &programs {
            let second = project(&stub, block, &counted.body("true"));
            second.finish(second.command(other, &["init"])).expect(0, &[]);
            let refused = second.finish(second.command(other, &["plan"]));
            refused.expect(1, &["Error acquiring the state lock", "workspace already locked (lock ID: \"acme/prod\")"]);
        }
        assert_eq!(run.finish().code, Some(0));
        let last = other_directory(&first, &["main.tf", ".terraform"]);
        let mut last = last;
        settings(&stub, &mut last);
        last.finish(last.command(holder, &["destroy", "-auto-approve"])).expect(0, &[]);
    }
    stub.service().workspace("prod").locked = Some("Locked by Terraform".to_owned());
    let project = project(&stub, block, "");
    project.ok(&["init"]);
    project.run(&["force-unlock", "-force", "acme/other"]).expect(1, &["does not match existing lock ID"]);
    project.run(&["force-unlock", "-force", "acme/prod"]).expect(0, &["successfully unlocked"]);
}

#[test]
fn killed_runs_lose_nothing() {
    let stub = HcpStub::start();
    let counted = Counted::new(4);
    let mut killed = 0;
    for moment in 0..4 {
        let project = project(&stub, "remote name = \"prod\"", &counted.body("sleep 0.1"));
        project.ok(&["init"]);
        let run = Running::start(project.command(program(), &["apply", "-auto-approve", "-parallelism=2"]));
        counted.until_moment(&project, 2 * moment);
        processes::kill(run.child.id() as i32);
        killed += usize::from(run.finish().is_killed());
        processes::all_gone(project.mark());
        stub.service().workspace("prod").locked = None;
        counted.nothing_is_lost(&project);
        project.ok(&["destroy", "-auto-approve"]);
    }
    assert!(killed >= 2, "only {killed} of 4 kills came before the end of the run");
}

#[test]
fn workspaces_of_other_versions_are_left_alone_unless_that_is_ignored() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud name = \"prod\"", SMALL);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    {
        let mut service = stub.service();
        let workspace = service.workspace("prod");
        workspace.terraform_version = "1.9.0".to_owned();
        workspace.execution_mode = "remote".to_owned();
    }
    let taint = ["taint", "terraform_data.a"];
    project.run(&taint).expect(1, &["Incompatible Terrane version", "acme/prod (~> 1.9.0)", "-ignore-remote-version"]);
    project.run(&["state", "list"]).expect(0, &["terraform_data.a"]);
    project.run(&["taint", "-ignore-remote-version", "terraform_data.a"]).expect(0, &["marked as tainted"]);
    project.run(&["state", "rm", "terraform_data.a"]).expect(1, &["Incompatible Terrane version"]);
    project.run(&["state", "rm", "-ignore-remote-version", "terraform_data.a"]).expect(0, &["Warning"]);
}

#[test]
fn outputs_are_read_by_other_configurations() {
    let stub = HcpStub::start();
    let source = project(&stub, "remote name = \"prod\"", SMALL);
    source.ok(&["init"]);
    source.ok(&["apply", "-auto-approve"]);
    let mut reader = Project::new(&format!(
        "data \"terraform_remote_state\" \"p\" {{\n  backend = \"remote\"\n  config = {{\n    hostname = \"{HOST}\"\n    organization = \"acme\"\n    \
         workspaces = {{ name = \"prod\" }}\n  }}\n}}\noutput \"x\" {{ value = data.terraform_remote_state.p.outputs.x }}\n"
    ));
    settings(&stub, &mut reader);
    reader.ok(&["apply", "-auto-approve"]).expect(0, &["x = 1"]);
}

#[test]
fn what_is_wrong_with_a_block_is_said_as_the_reference_says_it() {
    let stub = HcpStub::start();
    let blocks = [
        "backend \"remote\" {}",
        "backend \"remote\" {\n    organization = \"acme\"\n    workspaces {\n      name = \"a\"\n      prefix = \"b\"\n    }\n  }",
        "cloud {\n    organization = \"acme\"\n    workspaces {\n      name = \"a\"\n      tags = [\"b\"]\n    }\n  }",
        "cloud {\n    hostname = \"tfe.example.com\"\n    organization = \"nobody\"\n    workspaces {\n      name = \"a\"\n    }\n  }",
        "cloud {\n    hostname = \"tfe.example.com\"\n    organization = \"acme\"\n    workspaces {\n      tags = [\"none\"]\n    }\n  }",
    ];
    let Some(terraform) = reference() else { return };
    for block in blocks {
        let mut project = Project::new(&format!("terraform {{\n  {block}\n}}\n"));
        settings(&stub, &mut project);
        let options: [&[&str]; 5] = [
            &["init", "-no-color", "-input=false"],
            &["init", "-no-color", "-input=false", "-reconfigure"],
            &["init", "-no-color", "-input=false", "-migrate-state"],
            &["init", "-no-color", "-input=false", "-backend-config=x=y"],
            &["plan", "-no-color"],
        ];
        for args in options {
            let theirs = project.finish(project.command(&terraform, args));
            let mut command = project.command(program(), args);
            command.env("TERRANE_NAME", "terraform");
            let ours = project.finish(command);
            assert_eq!((ours.code, ours.text()), (theirs.code, theirs.text()), "{block} {args:?}");
        }
    }
}

/// The version of a workspace is one more constraint on the release that a run is compatible with.
#[test]
fn versions_of_workspaces_count_with_the_pins() {
    let cases = [
        ("1.5.0", "", Some("1.5.7")),
        ("1.5.0", ">= 1.4", Some("1.5.7")),
        ("1.5.0", ">= 1.9", None),
        ("1.11.2", "~> 1.11", Some("1.11.4")),
        ("1.11.2", "~> 1.5.0", None),
        ("1.17.1", "", Some("1.17.2")),
        ("1.17.1", "< 1.17", None),
        ("1.99.0", "", None),
        ("latest", "~> 1.5.0", Some("1.5.7")),
    ];
    for block in ["cloud name = \"prod\"", "remote name = \"prod\""] {
        for (version, pin, expected) in cases {
            let stub = HcpStub::start();
            let mut project = project(&stub, block, SMALL);
            project.any_release();
            project.ok(&["init"]);
            project.ok(&["apply", "-auto-approve"]);
            let workspace = || stub.service().workspace("prod").clone();
            assert_eq!(workspace().terraform_version, "1.17.2", "{block}: a workspace that is made");
            stub.service().workspace("prod").terraform_version = version.to_owned();
            stub.service().workspace("prod").execution_mode = "remote".to_owned();
            if !pin.is_empty() {
                project.write("work/pin.tf", &format!("terraform {{\n  required_version = {pin:?}\n}}\n"));
            }
            let run = project.run(&["state", "mv", "terraform_data.a", "terraform_data.b"]);
            let written = || stub.state("prod").unwrap()["terraform_version"].as_str().unwrap().to_owned();
            match expected {
                Some(release) => {
                    assert_eq!(run.code, Some(0), "{block} {version} {pin}: {}{}", run.out, run.err);
                    assert_eq!(written(), release, "{block} {version} {pin}");
                }
                None => {
                    run.expect(1, &["remote workspace acme/prod"]);
                    project.ok(&["state", "mv", "-ignore-remote-version", "terraform_data.a", "terraform_data.b"]);
                }
            }
        }
    }
    let stub = HcpStub::start();
    for (block, name) in [("cloud name = \"new\"", "new"), ("remote prefix = \"app-\"", "app-new")] {
        let mut project = project(&stub, block, "terraform {\n  required_version = \"~> 1.9.0\"\n}\n");
        project.any_release();
        project.run(&["init", "-input=false"]);
        if name != "new" {
            project.ok(&["workspace", "new", "new"]);
        }
        assert_eq!(stub.service().workspace(name).terraform_version, "1.9.8", "{block}");
    }
}
