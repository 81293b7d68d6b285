//! States in Azure's blob storage, played by Azurite behind a proxy: both programs know the service by its own name, over TLS.

use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{Front, Store, life};
use crate::support::clouds::{AZURE_KEY, Server};
use crate::support::faulty::Way;
use crate::support::proxy::Proxy;

const CONTAINER: &str = "states";

pub fn store() -> Option<Store> {
    let server = Server::azure()?;
    make_container(&server);
    let (way, authority) = Way::secure(server.port);
    let block = |_: u16, name: &str| {
        format!(
            r#"backend "azurerm" {{
    storage_account_name = "account"
    container_name       = "{CONTAINER}"
    key                  = "{name}.tfstate"
    access_key           = "{AZURE_KEY}"
  }}"#
        )
    };
    let front = Front { authority, proxy: Proxy::start(way.port) };
    Some(Store { way, server, block, front: Some(front) })
}

/// Signed as the service requires.
fn make_container(server: &Server) {
    let date = jiff::Timestamp::now().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let version = "2021-12-02";
    let lines = "\n".repeat(12);
    let text =
        format!("PUT{lines}x-ms-date:{date}\nx-ms-version:{version}\n/account/account/{CONTAINER}\nrestype:container");
    let key = Key::new(HMAC_SHA256, &STANDARD.decode(AZURE_KEY).unwrap());
    let signature = format!("SharedKey account:{}", STANDARD.encode(sign(&key, text.as_bytes())));
    let headers = [("x-ms-date", &*date), ("x-ms-version", version), ("Authorization", &*signature)];
    let made = server.request("PUT", &format!("/account/{CONTAINER}?restype=container"), &headers, "");
    assert_eq!(made.0, 201, "{}", made.1);
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
