//! The `pg` backend against a real server: alone, beside the reference, and with everything that can go wrong.

use std::sync::Arc;
use std::time::Duration;

use super::counted::{Counted, other_directory};
use super::shared;
use crate::support::postgres::Postgres;
use crate::support::relay::{Break, Relay};
use crate::support::server::certified;
use crate::support::{Project, Running, processes, reference, wait_until};

fn main_file(address: &str, body: &str) -> String {
    format!("terraform {{\n  backend \"pg\" {{\n    conn_str = \"{address}\"\n  }}\n}}\n{body}")
}

/// A server, a database of this test, and a project that keeps its state there.
struct Setting {
    server: Arc<Postgres>,
    database: String,
}

impl Setting {
    fn new() -> Option<Setting> {
        let server = Postgres::shared()?;
        Some(Setting { database: server.database(), server })
    }

    fn address(&self) -> String {
        self.server.address(&self.database)
    }

    /// The server's address through a relay.
    fn through(&self, relay: &Relay) -> String {
        self.address().replace(&format!(":{}/", self.server.port), &format!(":{}/", relay.port))
    }

    fn project(&self, body: &str) -> Project {
        Project::new(&main_file(&self.address(), body))
    }

    fn run(&self, statement: &str) -> String {
        self.server.run(&self.database, statement)
    }
}

const SMALL: &str = r#"
variable "x" { default = 1 }
resource "terraform_data" "a" {
  count = 3
  input = "${terraform.workspace}-${var.x}"
}
output "x" { value = terraform_data.a[0].output }
"#;

#[test]
fn both_programs_work_on_the_same_states() {
    let (Some(setting), Some(terraform)) = (Setting::new(), reference()) else { return };
    let ours = setting.project(SMALL);
    let theirs = setting.project(SMALL);
    let them = |args: &[&str]| theirs.finish(theirs.command(&terraform, args));
    ours.ok(&["init"]);
    ours.ok(&["apply", "-auto-approve"]);
    them(&["init"]).expect(0, &["Successfully configured the backend \"pg\"!"]);
    them(&["plan", "-detailed-exitcode"]).expect(0, &["No changes."]);
    them(&["apply", "-auto-approve", "-var=x=2"]).expect(0, &["0 added, 3 changed, 0 destroyed"]);
    ours.run(&["plan", "-detailed-exitcode", "-var=x=2"]).expect(0, &["No changes."]);
    ours.ok(&["workspace", "new", "w"]);
    ours.ok(&["apply", "-auto-approve"]);
    them(&["workspace", "select", "w"]).expect(0, &["Switched to workspace \"w\"."]);
    them(&["output"]).expect(0, &["x = \"w-1\""]);
    them(&["workspace", "new", "v"]).expect(0, &[]);
    ours.run(&["workspace", "list"]).expect(0, &["default", "* w"]);
    ours.run(&["workspace", "select", "v"]).expect(0, &[]);
    ours.run(&["plan", "-detailed-exitcode"]).expect(2, &["3 to add"]);
    ours.ok(&["workspace", "select", "default"]);
    ours.ok(&["destroy", "-auto-approve"]);
    them(&["destroy", "-auto-approve"]).expect(0, &["0 destroyed"]);
    them(&["workspace", "select", "w"]).expect(0, &[]);
    them(&["destroy", "-auto-approve"]).expect(0, &["3 destroyed"]);
    ours.ok(&["workspace", "delete", "w"]);
    assert_eq!(setting.run("SELECT name FROM terraform_remote_state.states ORDER BY name"), "default\nv");
}

#[test]
fn locks_of_either_program_stop_the_other() {
    let Some(setting) = Setting::new() else { return };
    let slow = "resource \"terraform_data\" \"slow\" {\n  provisioner \"local-exec\" {\n    command = \"touch begun; while [ ! -e end ]; do sleep 0.05; done\"\n  }\n}\n";
    let (first, second) = (setting.project(slow), setting.project(slow));
    let mut programs = vec![crate::support::program().to_path_buf()];
    programs.extend(reference());
    for program in &programs {
        for project in [&first, &second] {
            project.finish(project.command(program, &["init"])).expect(0, &[]);
        }
        for other in &programs {
            let holding = Running::start(first.command(program, &["apply", "-auto-approve"]));
            wait_until("the run holds the lock", || first.exists("work/begun"));
            let refused = second.finish(second.command(other, &["plan"]));
            let reason = ["Error acquiring the state lock", "locked for workspace creation: default"];
            let reason = if refused.text().contains(reason[1]) {
                reason
            } else {
                [reason[0], "Workspace is already locked: default"]
            };
            refused.expect(1, &reason);
            first.write("work/end", "");
            assert_eq!(holding.finish().code, Some(0));
            first.finish(first.command(program, &["destroy", "-auto-approve"])).expect(0, &[]);
            for file in ["work/begun", "work/end"] {
                std::fs::remove_file(first.path(file)).unwrap();
            }
        }
    }
}

#[test]
fn a_forced_unlock_stops_the_run_and_loses_nothing() {
    let Some(setting) = Setting::new() else { return };
    let counted = Counted::new(6);
    let project = Project::new(&main_file(&setting.address(), &counted.body("sleep 0.4")));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve", "-var=many=0"]);
    let run = Running::start(project.command(crate::support::program(), &["apply", "-auto-approve", "-parallelism=1"]));
    counted.until_created(&project, 2);
    let other = other_directory(&project, &["main.tf", ".terraform"]);
    let refused = other.run(&["plan"]);
    let id = refused
        .text()
        .split("ID: ")
        .nth(1)
        .unwrap_or_else(|| panic!("{refused:?}"))
        .split(' ')
        .next()
        .unwrap()
        .to_owned();
    other.run(&["force-unlock", "-force", &id]).expect(0, &["successfully unlocked"]);
    let outcome = run.finish();
    outcome.expect(1, &["State lock lost", "terminating connection due to administrator command"]);
    counted.nothing_is_lost(&project);
}

#[test]
fn broken_connections_lose_nothing() {
    let Some(setting) = Setting::new() else { return };
    let relay = Relay::start(setting.server.port, Duration::ZERO);
    let counted = Counted::new(4);
    let main = main_file(&setting.through(&relay), &counted.body("true"));
    let turns = {
        let project = Project::new(&main);
        project.ok(&["init"]);
        relay.begin_count();
        project.ok(&["apply", "-auto-approve"]);
        let turns = relay.round_trips();
        setting.run("TRUNCATE terraform_remote_state.states");
        turns
    };
    assert!((4..20).contains(&turns), "{turns}");
    for (turn, how) in (0..turns).flat_map(|turn| [(turn, Break::Before), (turn, Break::After)]) {
        let project = Project::new(&main);
        project.ok(&["init"]);
        relay.break_at(turn, how);
        project.run(&["apply", "-auto-approve"]);
        assert!(relay.has_broken(), "turn {turn}, {how:?}");
        let uncertain = counted.nothing_is_lost(&project);
        assert_eq!(uncertain, 0, "turn {turn}, {how:?}");
        assert_eq!(counted.created(&project).len(), 4, "none was created twice: turn {turn}, {how:?}");
        setting.run("TRUNCATE terraform_remote_state.states");
    }
}

#[test]
fn a_server_that_crashes_loses_nothing() {
    let Some(server) = Postgres::start() else { return };
    let setting = Setting { database: server.database(), server: Arc::new(server) };
    let counted = Counted::new(8);
    let main = main_file(&setting.address(), &counted.body("sleep 0.1"));
    let mut failed = 0;
    for moment in 0..12 {
        let project = Project::new(&main);
        project.ok(&["init"]);
        let run =
            Running::start(project.command(crate::support::program(), &["apply", "-auto-approve", "-parallelism=2"]));
        counted.until_moment(&project, moment);
        setting.server.crash();
        failed += usize::from(run.finish().code != Some(0));
        setting.server.launch();
        assert_eq!(counted.nothing_is_lost(&project), 0, "{moment}");
        // A lost lock interrupts what is under way: at most two commands fail behind their last step, and their objects are replaced.
        let created = counted.created(&project).len();
        assert!((8..=10).contains(&created), "{created} created at moment {moment}");
        setting.run("TRUNCATE terraform_remote_state.states");
    }
    assert!(failed > 0, "no run needed the server after its crash");
}

#[test]
fn a_killed_program_loses_nothing() {
    let Some(setting) = Setting::new() else { return };
    let counted = Counted::new(8);
    let main = main_file(&setting.address(), &counted.body("sleep 0.1"));
    let mut killed = 0;
    for moment in 0..12 {
        let project = Project::new(&main);
        project.ok(&["init"]);
        let run =
            Running::start(project.command(crate::support::program(), &["apply", "-auto-approve", "-parallelism=2"]));
        counted.until_moment(&project, moment);
        processes::kill(run.child.id() as i32);
        killed += usize::from(run.finish().is_killed());
        processes::all_gone(project.mark());
        counted.nothing_is_lost(&project);
        setting.run("TRUNCATE terraform_remote_state.states");
    }
    assert!(killed >= 6, "only {killed} of 12 kills came before the end of the run");
}

#[test]
fn twenty_runs_at_once_take_turns() {
    let Some(setting) = Setting::new() else { return };
    shared::twenty_runs_take_turns(|body| setting.project(body));
}

/// Whom each mode trusts, beside the reference.
#[test]
fn connections_are_encrypted_and_certificates_verified() {
    let (authority, certificate, key) = certified();
    let Some(server) = Postgres::with_tls(&certificate.pem(), &key.serialize_pem()) else { return };
    let database = server.database();
    let (stranger, _, _) = certified();
    let modes = [
        ("127.0.0.1", "require", None, Ok(())),
        ("127.0.0.1", "verify-ca", Some(&authority), Ok(())),
        ("127.0.0.1", "verify-full", Some(&authority), Ok(())),
        ("127.0.0.1", "verify-full", Some(&stranger), Err("certificate")),
        ("127.0.0.1", "verify-ca", Some(&stranger), Err("certificate")),
        // The certificate is not this host's.
        ("other.example", "verify-full", Some(&authority), Err("certificate")),
        ("other.example", "verify-ca", Some(&authority), Ok(())),
    ];
    for (number, (host, mode, root, expected)) in modes.into_iter().enumerate() {
        let project = Project::new("");
        let mut address = format!("postgres://postgres@{host}:{}/{database}?sslmode={mode}", server.port);
        if let Some(root) = root {
            address.push_str(&format!("&sslrootcert={}", project.write("root.pem", root).display()));
        }
        if host != "127.0.0.1" {
            address.push_str("&hostaddr=127.0.0.1");
        }
        let text =
            main_file(&address, SMALL).replace("conn_str", &format!("schema_name = \"s{number}\"\n    conn_str"));
        project.write("work/main.tf", &text);
        let outcome = project.run(&["init"]);
        match expected {
            Ok(()) => {
                outcome.expect(0, &[]);
                project.ok(&["apply", "-auto-approve"]);
            }
            Err(why) => outcome.expect(1, &[why]),
        }
        let Some(terraform) = reference().filter(|_| host == "127.0.0.1") else { continue };
        let theirs = project.finish(project.command(&terraform, &["init"]));
        assert_eq!(theirs.code == Some(0), expected.is_ok(), "{mode}\n{}{}", theirs.out, theirs.err);
        if expected.is_ok() {
            project.finish(project.command(&terraform, &["plan", "-detailed-exitcode"])).expect(0, &["No changes."]);
        }
    }
}

/// How often the server is asked by a plan without changes: what the state itself takes, and two more.
#[test]
fn a_plan_without_changes_sends_few_queries() {
    let Some(setting) = Setting::new() else { return };
    let relay = Relay::start(setting.server.port, Duration::ZERO);
    let project = Project::new(&main_file(&setting.through(&relay), SMALL));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    let turns = |args: &[&str]| {
        relay.begin_count();
        project.ok(args);
        relay.round_trips()
    };
    // Connecting, and whether the table is there; lock, read, unlock.
    let plan = turns(&["plan"]);
    assert!(plan <= 5, "{plan}");
    let unlocked = turns(&["plan", "-lock=false"]);
    assert!(unlocked <= 3, "{unlocked}");
    project.ok(&["workspace", "new", "w"]);
    let named = turns(&["plan"]);
    assert!(named <= 6, "{named}");
}

/// Prints round trips and times of a plan without changes over a slow network, beside the reference.
#[test]
#[ignore = "a measurement"]
fn measure_a_plan_over_a_slow_network() {
    let (Some(setting), Some(terraform)) = (Setting::new(), reference()) else { return };
    let relay = Relay::start(setting.server.port, Duration::from_millis(50));
    let body =
        "resource \"terraform_data\" \"a\" {\n  count = 1000\n  input = \"a value of some length ${count.index}\"\n}\n";
    let project = Project::new(&main_file(&setting.through(&relay), body));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    for (name, program) in [("ours", crate::support::program()), ("reference", &*terraform)] {
        project.finish(project.command(program, &["init", "-reconfigure"])).expect(0, &[]);
        for _ in 0..3 {
            relay.begin_count();
            let start = std::time::Instant::now();
            project.finish(project.command(program, &["plan", "-detailed-exitcode"])).expect(0, &["No changes."]);
            println!("{name}: {} round trips, {:.2} s", relay.round_trips(), start.elapsed().as_secs_f64());
        }
    }
}
