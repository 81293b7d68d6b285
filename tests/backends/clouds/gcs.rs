//! States in Google Cloud Storage, played by fake-gcs-server.

use super::{Store, life};
use crate::support::clouds::Server;
use crate::support::faulty::Way;

pub fn store() -> Option<Store> {
    let server = Server::google()?;
    let json = [("Content-Type", "application/json")];
    server.request("POST", "/storage/v1/b?project=p", &json, r#"{"name":"states"}"#);
    let block = |port: u16, name: &str| {
        format!(
            r#"backend "gcs" {{
    bucket                  = "states"
    prefix                  = "{name}"
    access_token            = "t"
    storage_custom_endpoint = "http://127.0.0.1:{port}/storage/v1/"
  }}"#
        )
    };
    Some(Store { way: Way::to(server.port), server, block, front: None })
}

#[test]
fn life_of_a_state() {
    life::whole(store());
}

#[test]
fn faults() {
    life::faults(store());
}

#[test]
fn kills() {
    life::kills(store());
}

/// Reading, locking and unlocking need one request each.
#[test]
fn a_plan_without_changes_needs_few_requests() {
    let Some(store) = store() else { return };
    let seen = life::requests_of_an_empty_plan(&store);
    assert_eq!(seen.len(), 3, "{seen:#?}");
}
