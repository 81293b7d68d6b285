//! Operations that run on HCP Terraform, against a stub of it: alone, and with the screens of the reference.

use std::path::Path;

use crate::support::hcp::{HcpStub, TOKEN};
use crate::support::{Outcome, Project, Running, program, reference};

const HOST: &str = "tfe.example.com";

fn project(stub: &HcpStub, kind: &str) -> Project {
    stub.service().execution_mode = "remote".to_owned();
    let open = if kind == "cloud" { "cloud" } else { "backend \"remote\"" };
    let block = format!(
        "{open} {{\n    hostname = \"{HOST}\"\n    organization = \"acme\"\n    workspaces {{\n      name = \"prod\"\n    }}\n  }}"
    );
    let mut project = Project::new(&format!(
        "terraform {{\n  {block}\n}}\nvariable \"x\" {{ default = 1 }}\nresource \"terraform_data\" \"a\" {{ input = var.x }}\n"
    ));
    let file = project.write("home/settings.tfrc", &stub.settings(HOST));
    project.set("TF_CLI_CONFIG_FILE", file);
    project.write("work/.terraformignore", "*.secret\n");
    project.write("work/a.secret", "x");
    project.ok(&["init"]);
    project
}

fn answered(project: &Project, program: &Path, answers: &str, args: &[&str]) -> Outcome {
    let mut command = project.command(program, args);
    command.env("TERRANE_NAME", "terraform");
    command.stdin(std::fs::File::open(project.write("tmp/answers", answers)).unwrap());
    project.finish(command)
}

/// The screen without what differs from run to run.
fn screen(outcome: &Outcome) -> (Option<i32>, String) {
    let text = format!("{}{}", outcome.out, outcome.err);
    let lines = text.lines().map(|line| match line.split_once("/runs/run-") {
        Some((before, _)) => format!("{before}/runs/RUN"),
        None => line.to_owned(),
    });
    (outcome.code, lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn plans_and_applies_run_there_with_the_screens_of_the_reference() {
    for kind in ["cloud", "remote"] {
        let stub = HcpStub::start();
        let project = project(&stub, kind);
        let cases: [(&[&str], &str, i32); 6] = [
            (&["plan"], "", 0),
            (&["plan", "-detailed-exitcode"], "", 2),
            (&["apply"], "yes\n", 0),
            (&["apply"], "no\n", 1),
            (&["apply", "-auto-approve"], "", 0),
            (&["plan", "-parallelism=3"], "", 1),
        ];
        for (args, answers, code) in cases {
            let ours = screen(&answered(&project, program(), answers, args));
            assert_eq!(ours.0, Some(code), "{kind} {args:?}\n{}", ours.1);
            assert!(!ours.1.contains(TOKEN));
            if let Some(terraform) = reference() {
                let theirs = screen(&answered(&project, &terraform, answers, args));
                assert_eq!(ours, theirs, "{kind} {args:?}");
            }
        }
        let service = stub.service();
        assert!(service.runs.slugs.iter().all(|(_, names)| names.contains(&"main.tf".to_owned())));
        assert!(!service.runs.slugs.iter().any(|(_, names)| names.contains(&"a.secret".to_owned())));
    }
}

#[test]
fn runs_get_the_options_of_the_command() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    project.ok(&["plan", "-var=x=2", "-target=terraform_data.a", "-refresh=false", "-destroy"]);
    let run = stub.service().runs.all.last().unwrap().attributes.clone();
    assert_eq!(run["is-destroy"], true);
    assert_eq!(run["refresh"], false);
    assert_eq!(run["auto-apply"], false);
    assert_eq!(run["target-addrs"], serde_json::json!(["terraform_data.a"]));
    assert_eq!(run["variables"], serde_json::json!([{"key": "x", "value": "2"}]));
}

#[test]
fn saved_plans_are_shown_and_applied() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    project.ok(&["plan", "-out=later"]);
    let note: serde_json::Value = serde_json::from_str(&project.read("work/later")).unwrap();
    assert_eq!(note["hostname"], HOST);
    project.run(&["show", "later"]).expect(0, &["null_resource.a: create", "Run status: planned (confirmable)"]);
    project.run(&["show", "-json", "later"]).expect(0, &["\"format_version\":\"1.2\""]);
    project.run(&["apply", "later"]).expect(0, &["Running apply in HCP Terraform.", "Apply complete!"]);
    project.run(&["apply", "later"]).expect(1, &["Saved plan is already"]);
    project.write("work/local", "PK");
    project.run(&["apply", "local"]).expect(1, &["Applying a saved local plan is not supported"]);
}

#[test]
fn costs_policies_and_tasks_are_shown() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    {
        let mut service = stub.service();
        service.runs.costs = true;
        service.runs.policy = Some("passed".to_owned());
        service.runs.stages = vec![("post_plan".to_owned(), "passed".to_owned())];
    }
    let shown = [
        "Post-plan Tasks:",
        "scanner ⸺ Passed",
        "Resources: 1 of 2 estimated",
        "$25.48/mo +$25.48",
        "Organization Policy Check:",
    ];
    project.run(&["plan"]).expect(0, &shown);
    stub.service().runs.stages = vec![("pre_plan".to_owned(), "failed".to_owned())];
    project.run(&["plan"]).expect(1, &["Failed (Mandatory)", "Task Stage failed."]);
    stub.service().runs.stages.clear();
    stub.service().runs.policy = Some("hard_failed".to_owned());
    project.run(&["plan"]).expect(1, &["Organization Policy Check hard failed."]);
    stub.service().runs.policy = Some("soft_failed".to_owned());
    project.run(&["plan"]).expect(1, &["Organization Policy Check soft failed."]);
    answered(&project, program(), "override\nyes\n", &["apply"])
        .expect(0, &["Only 'override' will be accepted", "Apply complete!"]);
}

#[test]
fn failed_runs_end_in_failure() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    stub.service().runs.fails = true;
    assert_eq!(project.run(&["plan"]).code, Some(1));
    assert_eq!(project.run(&["apply", "-auto-approve"]).code, Some(1));
}

#[test]
fn an_interrupt_cancels_a_run_that_is_approved() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    stub.service().runs.waits = 1000;
    let mut run = Running::start(project.command(program(), &["apply", "-auto-approve"]));
    run.until(|out| out.contains("Waiting for the plan to start..."));
    // SAFETY: the call touches no memory.
    unsafe { libc::kill(run.child.id() as i32, libc::SIGINT) };
    run.finish().expect(1, &["The remote operation was successfully cancelled."]);
    assert_eq!(stub.service().runs.all.last().unwrap().status, "canceled");
}

#[test]
fn what_runs_cannot_have_is_refused() {
    let stub = HcpStub::start();
    let project = project(&stub, "remote");
    project.run(&["plan", "-out=x"]).expect(1, &["Saving a generated plan is currently not supported"]);
    project.run(&["plan", "-var=x=1"]).expect(1, &["Run variables are currently not supported"]);
    project.run(&["refresh"]).expect(1, &["The \"refresh\" operation is not supported"]);
    stub.service().workspace("prod").has_repository = true;
    project.run(&["apply"]).expect(1, &["Apply not allowed for workspaces with a VCS connection"]);
    stub.service().workspace("prod").may_not_apply = true;
    project.run(&["apply"]).expect(1, &["Insufficient rights to apply changes"]);
}
