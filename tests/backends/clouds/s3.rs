//! States in S3, played by moto.

use super::{Store, life};
use crate::support::clouds::Server;
use crate::support::faulty::Way;

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
    Some(Store { way: Way::to(server.port), server, block })
}

fn with_file() -> Option<Store> {
    store(|port, name| block(port, name, "use_lockfile   = true"))
}

fn with_table() -> Option<Store> {
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

/// Reading, locking and unlocking need one, one and two requests. STS is asked once besides.
#[test]
fn a_plan_without_changes_needs_few_requests() {
    let Some(store) = with_file() else { return };
    let seen = life::requests_of_an_empty_plan(&store);
    assert_eq!(seen.len(), 5, "{seen:#?}");
}
