//! States in S3, played by moto.

use std::time::{Duration, Instant};

use super::{Store, life};
use crate::support::clouds::Server;
use crate::support::faulty::Way;
use crate::support::relay::Relay;
use crate::support::{Project, program, reference};

fn block(port: u16, name: &str, locks: &str) -> String {
    let url = format!("http://127.0.0.1:{port}");
    format!(
        r#"backend "s3" {{
    bucket         = "states"
    key            = "{name}/terraform.tfstate"
    region         = "us-east-1"
    access_key     = "a"
    secret_key     = "s"
    use_path_style = true
    max_retries    = 2
    {locks}
    skip_requesting_account_id = true
    endpoints = {{ s3 = "{url}", dynamodb = "{url}", sts = "{url}", iam = "{url}" }}
  }}"#
    )
}

fn store(block: fn(u16, &str) -> String) -> Option<Store> {
    let server = Server::moto()?;
    server.make_bucket("states");
    Some(Store { way: Way::to(server.port), server, block, front: None })
}

pub fn with_file() -> Option<Store> {
    store(|port, name| block(port, name, "use_lockfile   = true"))
}

pub fn with_table() -> Option<Store> {
    store(|port, name| block(port, name, "dynamodb_table = \"locks\""))
}

#[test]
fn life_with_a_lock_file() {
    life::whole(with_file());
}

#[test]
fn life_with_a_lock_table() {
    life::whole(with_table());
}

#[test]
fn init_alone_warns_about_a_lock_table() {
    let Some(store) = with_table() else { return };
    let block = (store.block)(store.server.port, "deprecated");
    let project = store.project(&format!("terraform {{\n  {block}\n}}\noutput \"o\" {{\n  value = 1\n}}\n"));
    assert!(project.ok(&["init"]).text().contains("Deprecated Parameter"));
    let commands: [&[&str]; 7] = [
        &["plan"],
        &["apply", "-auto-approve"],
        &["show"],
        &["state", "pull"],
        &["state", "list"],
        &["console"],
        &["graph"],
    ];
    for args in commands {
        let text = project.ok(args).text();
        assert!(!text.contains("Deprecated"), "{args:?}\n{text}");
    }
    assert_eq!(project.ok(&["output"]).out, "o = 1\n");
}

#[test]
fn faults_with_a_lock_file() {
    life::faults(with_file());
}

#[test]
fn faults_with_a_lock_table() {
    life::faults(with_table());
}

#[test]
fn kills() {
    life::kills(with_file());
}

/// Also between the upload of a state and the record of its checksum.
#[test]
fn kills_with_a_lock_table() {
    life::kills(with_table());
}

/// Reading, locking and unlocking need one, one and two requests. STS is asked once besides.
#[test]
fn a_plan_without_changes_needs_few_requests() {
    let Some(store) = with_file() else { return };
    let seen = life::requests_of_an_empty_plan(&store);
    assert_eq!(seen.len(), 5, "{seen:#?}");
}

/// Prints round trips and times of a plan without changes over a slow network, beside the reference.
#[test]
#[ignore = "a measurement"]
fn measure_a_plan_over_a_slow_network() {
    let (Some(store), Some(terraform)) = (with_file(), reference()) else { return };
    let relay = Relay::start(store.server.port, Duration::from_millis(50));
    let body =
        "resource \"terraform_data\" \"a\" {\n  count = 1000\n  input = \"a value of some length ${count.index}\"\n}\n";
    let project = Project::new(&format!("terraform {{\n  {}\n}}\n{body}", (store.block)(relay.port, "slow")));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    for (name, program) in [("ours", program()), ("reference", &*terraform)] {
        project.finish(project.command(program, &["init", "-reconfigure"])).expect(0, &[]);
        for _ in 0..3 {
            relay.begin_count();
            let start = Instant::now();
            project.finish(project.command(program, &["plan", "-detailed-exitcode"])).expect(0, &["No changes."]);
            println!("{name}: {} round trips, {:.2} s", relay.round_trips(), start.elapsed().as_secs_f64());
        }
    }
}
