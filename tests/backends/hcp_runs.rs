//! Operations that run on HCP Terraform, against a stub of it. Screens are compared with those of the reference, which are in `runs`:
//! `TERRANE_TEST_RECORD=1` records them.

use std::path::Path;

use crate::support::hcp::{HcpStub, TOKEN};
use crate::support::hcp_runs::Stage;
use crate::support::{Outcome, Project, Running, program, reference};

const HOST: &str = "tfe.example.com";

const MAIN: &str = "variable \"x\" { default = 1 }\nresource \"terraform_data\" \"a\" { input = var.x }\n";

fn project_with(stub: &HcpStub, kind: &str, body: &str) -> Project {
    stub.service().execution_mode = "remote".to_owned();
    let open = if kind == "cloud" { "cloud" } else { "backend \"remote\"" };
    let block = format!(
        "{open} {{\n    hostname = \"{HOST}\"\n    organization = \"acme\"\n    workspaces {{\n      name = \"prod\"\n    }}\n  }}"
    );
    let mut project = Project::new(&format!("terraform {{\n  {block}\n}}\n{body}"));
    let file = project.write("home/settings.tfrc", &stub.settings(HOST));
    project.set("TF_CLI_CONFIG_FILE", file);
    project.ok(&["init"]);
    project
}

fn project(stub: &HcpStub, kind: &str) -> Project {
    project_with(stub, kind, MAIN)
}

fn play(project: &Project, program: &Path, answers: &str, args: &[&str]) -> Outcome {
    let mut command = project.command(program, args);
    command.env("TERRANE_NAME", "terraform");
    command.stdin(std::fs::File::open(project.write("tmp/answers", answers)).unwrap());
    project.finish(command)
}

/// The screen, without what differs from run to run.
fn screen(project: &Project, args: &[&str], outcome: &Outcome) -> String {
    let mut text = format!("$ {}\n{}", args.join(" "), outcome.out);
    if !outcome.err.is_empty() {
        text.push_str(&format!("--- stderr\n{}", outcome.err));
    }
    let work = project.work();
    let parent = work.parent().unwrap();
    let (parent, resolved) = (parent.display().to_string(), parent.canonicalize().unwrap().display().to_string());
    text = text.replace(&resolved, "PROJECT").replace(&parent, "PROJECT");
    let lines = text.lines().map(|line| {
        let line = match line.find("/runs/run-") {
            Some(at) => format!("{}/runs/RUN", &line[..at]),
            None => line.to_owned(),
        };
        match line.rsplit_once('(') {
            Some((before, "0s elapsed)" | "4s elapsed)" | "5s elapsed)" | "6s elapsed)")) => {
                format!("{before}(SOME elapsed)")
            }
            _ => line,
        }
    });
    format!("{}\n--- exit {:?}\n\n", lines.collect::<Vec<_>>().join("\n"), outcome.code)
}

/// Commands with their answers.
type Steps<'s> = &'s [(&'s [&'s str], &'s str)];

/// Plays commands and compares the screens with those of the reference. `prepare` sets the service before each command.
fn check(name: &str, stub: &HcpStub, project: &Project, steps: Steps<'_>, prepare: impl Fn(&HcpStub, usize)) {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/backends/runs/{name}.txt"));
    let records = std::env::var_os("TERRANE_TEST_RECORD").is_some();
    let player = if records { reference().expect("recording needs terraform") } else { program().to_owned() };
    let mut screens = String::new();
    for (at, (args, answers)) in steps.iter().enumerate() {
        prepare(stub, at);
        let args: Vec<&str> = args.iter().copied().chain(["-no-color"]).collect();
        // Paths come last.
        let (paths, flags): (Vec<&str>, Vec<&str>) = args.iter().skip(1).partition(|arg| !arg.starts_with('-'));
        let ordered: Vec<&str> = [args[0]].into_iter().chain(flags).chain(paths).collect();
        let outcome = play(project, &player, answers, &ordered);
        let shown = screen(project, &ordered, &outcome);
        assert!(!shown.contains(TOKEN));
        screens.push_str(&shown);
    }
    if records {
        std::fs::write(recorded, screens).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&recorded).unwrap_or_default();
    assert!(screens == expected, "{name}\n=== expected\n{expected}\n=== found\n{screens}");
}

fn as_it_is(_: &HcpStub, _: usize) {}

#[test]
fn plans_and_applies_of_a_cloud_block() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    project.write("work/.terraformignore", "*.secret\n");
    project.write("work/a.secret", "x");
    let steps: Steps<'_> = &[
        (&["plan"], ""),
        (&["plan", "-detailed-exitcode"], ""),
        (&["apply"], "yes\n"),
        (&["apply"], "no\n"),
        (&["apply", "-input=false"], ""),
        (&["apply", "-auto-approve"], ""),
        (&["destroy"], "yes\n"),
        (&["destroy"], "no\n"),
        (&["apply", "-refresh-only"], "yes\n"),
        (&["refresh"], ""),
        (&["plan", "-parallelism=3"], ""),
        (&["apply", "-parallelism=3"], ""),
    ];
    check("cloud", &stub, &project, steps, as_it_is);
    let service = stub.service();
    assert!(service.runs.slugs.iter().all(|(_, names)| names.contains(&"main.tf".to_owned())));
    assert!(!service.runs.slugs.iter().any(|(_, names)| names.contains(&"a.secret".to_owned())));
}

#[test]
fn plans_and_applies_of_the_remote_backend() {
    let stub = HcpStub::start();
    let project = project(&stub, "remote");
    let steps: Steps<'_> = &[
        (&["plan"], ""),
        (&["apply"], "yes\n"),
        (&["apply"], "no\n"),
        (&["apply", "-auto-approve"], ""),
        (&["destroy"], "yes\n"),
        (&["apply"], ""),
        (&["plan", "-out=x"], ""),
        (&["plan", "-var=x=1"], ""),
        (&["plan", "-parallelism=3"], ""),
        (&["refresh"], ""),
    ];
    check("remote", &stub, &project, steps, |stub, at| stub.service().workspace("prod").auto_apply = at == 5);
}

#[test]
fn runs_without_changes_and_failed_runs() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    let steps: Steps<'_> = &[
        (&["plan", "-detailed-exitcode"], ""),
        (&["apply"], ""),
        (&["plan"], ""),
        (&["apply", "-auto-approve"], ""),
        (&["plan"], ""),
    ];
    check("results", &stub, &project, steps, |stub, at| {
        let runs = &mut stub.service().runs;
        runs.has_changes = at > 1;
        runs.fails = at == 2 || at == 3;
        runs.warnings = if at == 4 { vec!["policies changed".to_owned()] } else { Vec::new() };
    });
}

#[test]
fn structured_logs_and_plans() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    stub.service().workspace("prod").structured = true;
    stub.service().runs.structured();
    let steps: Steps<'_> = &[
        (&["plan"], ""),
        (&["apply", "-auto-approve"], ""),
        (&["plan", "-destroy"], ""),
        (&["plan", "-refresh-only"], ""),
        (&["plan"], ""),
    ];
    check("structured", &stub, &project, steps, |stub, at| stub.service().runs.fails = at == 4);
}

#[test]
fn saved_plans_are_shown_and_applied() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    let steps: Steps<'_> = &[
        (&["plan", "-out=later"], ""),
        (&["show", "later"], ""),
        (&["show", "-json", "later"], ""),
        (&["apply", "later"], ""),
        (&["apply", "later"], ""),
        (&["show", "later"], ""),
    ];
    check("saved", &stub, &project, steps, as_it_is);
    let note: serde_json::Value = serde_json::from_str(&project.read("work/later")).unwrap();
    assert_eq!(note["hostname"], HOST);
    project.write("work/local", "PK");
    project.run(&["apply", "local"]).expect(1, &["Applying a saved local plan is not supported"]);
}

#[test]
fn generated_configuration_is_written() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    let mut plan: serde_json::Value = serde_json::from_str(&stub.service().runs.plan_json).unwrap();
    plan["resource_changes"][0]["change"]["generated_config"] = "resource \"terraform_data\" \"i\" {\n}".into();
    plan["resource_changes"][0]["change"]["importing"] = serde_json::json!({"id": "i-1"});
    stub.service().runs.plan_json = plan.to_string();
    stub.service().runs.generates = true;
    let steps: Steps<'_> =
        &[(&["plan", "-generate-config-out=made.tf"], ""), (&["plan", "-generate-config-out=made.tf"], "")];
    check("generated", &stub, &project, steps, as_it_is);
    assert!(project.read("work/made.tf").contains("resource \"terraform_data\" \"i\" {"));
}

#[test]
fn costs_and_policy_checks() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    let steps: Steps<'_> = &[
        (&["plan"], ""),
        (&["apply"], "yes\n"),
        (&["plan"], ""),
        (&["plan"], ""),
        (&["apply"], "no\n"),
        (&["apply", "-input=false"], ""),
        (&["apply"], "override\n"),
        (&["plan"], ""),
        (&["plan"], ""),
    ];
    check("checks", &stub, &project, steps, |stub, at| {
        let runs = &mut stub.service().runs;
        let (costs, policy) = match at {
            0 => ("finished", ""),
            1 => ("finished", "passed"),
            2 => ("errored", "hard_failed"),
            3 => ("skipped_due_to_targeting", "soft_failed"),
            4..=6 => ("", "soft_failed"),
            7 => ("", "errored"),
            _ => ("canceled", ""),
        };
        let status = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        (runs.costs, runs.policy) = (status(costs), status(policy));
    });
}

#[test]
fn policy_checks_of_the_remote_backend() {
    let stub = HcpStub::start();
    let project = project(&stub, "remote");
    let steps: Steps<'_> = &[(&["plan"], ""), (&["apply"], "override\n"), (&["plan"], "")];
    check("remote_checks", &stub, &project, steps, |stub, at| {
        let runs = &mut stub.service().runs;
        runs.costs = Some("finished".to_owned());
        runs.policy = Some(["passed", "soft_failed", "passed"][at].to_owned());
        runs.stages = if at == 2 { vec![Stage::with_task("post_plan", "failed")] } else { Vec::new() };
    });
}

/// The reference reads all of a pipe for the first question.
#[test]
fn an_override_and_an_approval_are_two_answers() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    stub.service().runs.policy = Some("soft_failed".to_owned());
    play(&project, program(), "override\nyes\n", &["apply"])
        .expect(0, &["Only 'override' will be accepted to override.", "Apply complete!"]);
}

#[test]
fn tasks_and_policy_evaluations() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    let steps: Steps<'_> = &[
        (&["plan"], ""),
        (&["plan"], ""),
        (&["apply", "-auto-approve"], ""),
        (&["plan"], ""),
        (&["apply"], "override\n"),
    ];
    check("stages", &stub, &project, steps, |stub, at| {
        let stage = match at {
            0 => Stage::with_task("post_plan", "passed"),
            1 => Stage::with_task("pre_plan", "failed"),
            2 => Stage::with_task("pre_apply", "passed"),
            3 => Stage::with_policies("post_plan", "passed", "passed"),
            _ => Stage::with_policies("post_plan", "awaiting_override", "failed"),
        };
        stub.service().runs.stages = vec![stage];
    });
}

#[test]
fn runs_that_wait_say_why() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    let steps: Steps<'_> = &[(&["plan"], ""), (&["plan"], ""), (&["plan"], ""), (&["plan"], "")];
    check("waiting", &stub, &project, steps, |stub, at| {
        let mut service = stub.service();
        service.runs.waits = 1;
        let older = |ids: &[(&str, &str)]| ids.iter().map(|(id, s)| ((*id).to_owned(), (*s).to_owned())).collect();
        service.runs.older = match at {
            1 => older(&[("run-old3", "pending"), ("run-old2", "applied"), ("run-old1", "applying")]),
            2 => older(&[("run-old1", "pending")]),
            _ => Vec::new(),
        };
        service.runs.position = if at == 3 { 5 } else { 0 };
        service.workspace("prod").locked = (at == 2).then(|| "by hand".to_owned());
    });
}

#[test]
fn workspaces_with_a_working_directory_get_the_folder_above() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    stub.service().workspace("prod").working_directory = "work".to_owned();
    project.write("other/x.tf", "");
    check("working_directory", &stub, &project, &[(&["plan"], "")], as_it_is);
    let slugs = stub.service().runs.slugs.clone();
    let (_, names) = slugs.last().unwrap();
    assert!(["work/main.tf", "other/x.tf"].iter().all(|name| names.contains(&(*name).to_owned())), "{names:?}");
}

#[test]
fn workspaces_that_the_user_may_not_use() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    let steps: Steps<'_> =
        &[(&["plan", "-out=x"], ""), (&["apply"], ""), (&["apply"], ""), (&["plan"], ""), (&["plan"], "")];
    check("refused", &stub, &project, steps, |stub, at| {
        let mut service = stub.service();
        let workspace = service.workspace("prod");
        workspace.has_repository = at < 2;
        workspace.may_not_apply = at == 2;
        workspace.may_not_plan = at == 3;
        if at == 4 {
            service.workspaces.clear();
        }
    });
}

#[test]
fn runs_get_the_options_of_the_command() {
    let stub = HcpStub::start();
    let body = format!("{MAIN}variable \"o\" {{\n  type = object({{ a = list(string) }})\n  default = null\n}}\n");
    let project = project_with(&stub, "cloud", &body);
    let args = ["-var=x=2", "-var=o={a=[\"$${b}\"]}", "-target=terraform_data.a", "-replace=terraform_data.a"];
    let players = [Some(program().to_owned()), reference()];
    for player in players.into_iter().flatten() {
        play(&project, &player, "", &[&["plan", "-refresh=false", "-destroy"], &args[..]].concat()).expect(0, &[]);
        let run = stub.service().runs.all.last().unwrap().attributes.clone();
        assert_eq!((&run["is-destroy"], &run["refresh"]), (&true.into(), &false.into()));
        assert_eq!((&run["auto-apply"], &run["save-plan"]), (&false.into(), &false.into()));
        let addresses = serde_json::json!(["terraform_data.a"]);
        assert_eq!((&run["target-addrs"], &run["replace-addrs"]), (&addresses, &addresses));
        let mut variables: Vec<(String, String)> = run["variables"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["key"].as_str().unwrap().to_owned(), one["value"].as_str().unwrap().to_owned()))
            .collect();
        variables.sort();
        let without_blanks: Vec<(String, String)> = variables
            .into_iter()
            .map(|(name, value)| (name, value.replace(['\n', ' '], "").replace("\"a\"=", "a=")))
            .collect();
        let expected = [("o", "{a=[\"$${b}\"]}"), ("x", "\"2\"")];
        assert_eq!(without_blanks, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}

#[test]
fn programs_get_messages() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    stub.service().workspace("prod").structured = true;
    stub.service().runs.structured();
    let outcome = project.ok(&["plan", "-json"]);
    for line in outcome.out.lines() {
        let message: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(message["@message"].is_string(), "{line}");
    }
    assert!(outcome.out.contains("\"type\":\"planned_change\""), "{}", outcome.out);
}

#[test]
fn secrets_are_in_no_log() {
    let stub = HcpStub::start();
    let mut project = project(&stub, "cloud");
    project.set("TF_LOG", "trace");
    let outcome = project.ok(&["plan"]);
    let log = format!("{}{}", outcome.out, outcome.err);
    for secret in [TOKEN, "/uploads/slug", "/logs/plan"] {
        assert!(!log.contains(secret), "{secret}\n{log}");
    }
}

#[cfg(unix)]
fn interrupted(args: &[&str], answers: &str) -> (HcpStub, Outcome) {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    stub.service().runs.waits = 1000;
    let mut command = project.command(program(), args);
    command.stdin(std::fs::File::open(project.write("tmp/answers", answers)).unwrap());
    let mut run = Running::start(command);
    run.until(|out| out.contains("Waiting for the plan to start..."));
    // SAFETY: the call touches no memory.
    unsafe { libc::kill(run.child.id() as i32, libc::SIGINT) };
    let outcome = run.finish();
    (stub, outcome)
}

#[cfg(unix)]
#[test]
fn an_interrupt_cancels_a_run_that_is_approved() {
    let (stub, outcome) = interrupted(&["apply", "-auto-approve"], "");
    outcome.expect(1, &["The remote operation was successfully cancelled."]);
    assert_eq!(stub.service().runs.all.last().unwrap().status, "canceled");
}

#[cfg(unix)]
#[test]
fn an_interrupt_asks_whether_to_cancel_other_applies() {
    let (stub, outcome) = interrupted(&["apply"], "yes\n");
    outcome.expect(1, &["Do you want to cancel the remote operation?", "was successfully cancelled."]);
    assert_eq!(stub.service().runs.all.last().unwrap().status, "canceled");
    let (stub, outcome) = interrupted(&["apply"], "no\n");
    outcome.expect(1, &["The remote operation was not cancelled."]);
    assert_eq!(stub.service().runs.all.last().unwrap().status, "pending");
}

#[cfg(unix)]
#[test]
fn a_plan_goes_on_after_an_interrupt() {
    let (stub, outcome) = interrupted(&["plan"], "");
    outcome.expect(1, &["Interrupt received."]);
    assert!(!outcome.text().contains("cancel the remote operation"));
    assert_eq!(stub.service().runs.all.last().unwrap().status, "pending");
}

#[test]
fn runs_that_wait_too_long_are_cancelled() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    stub.service().runs.waits = 1000;
    let outcome = project.run(&["plan", "-lock-timeout=1s"]);
    outcome.expect(1, &["Lock timeout exceeded", "The remote operation was successfully cancelled."]);
    assert_eq!(stub.service().runs.all.last().unwrap().status, "canceled");
}

#[test]
fn workspaces_with_local_execution_plan_here() {
    let stub = HcpStub::start();
    let project = project(&stub, "cloud");
    stub.service().workspace("prod").execution_mode = "local".to_owned();
    project.ok(&["apply", "-auto-approve"]);
    assert!(stub.service().runs.all.is_empty());
    assert!(stub.state("prod").is_some());
}
