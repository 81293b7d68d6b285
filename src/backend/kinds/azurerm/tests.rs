//! The backend against Azurite, if it is there.

use base::env::Environment;
use clouds::{AZURE_KEY, Server};
use net::cloud;
use reqsign_azure_storage::{Credential, RequestSigner, StaticCredentialProvider};
use reqsign_core::Signer;

use super::*;
use crate::conformance;
use crate::contract::Backend;
use crate::contract::{ErrorKind, LockInfo};
use crate::servers::clouds;

fn context(variables: &[(&str, &str)]) -> Context {
    Context::new(Environment::of(variables.iter().copied()), "/none")
}

fn blobs(server: &Server, container: &str) -> Blobs {
    let client = Client::build(web::settings(&Environment::default())).unwrap();
    let surroundings = cloud::client_context(&Environment::default(), &client);
    let key = StaticCredentialProvider::new_shared_key("account", AZURE_KEY);
    Blobs {
        client,
        signer: Signer::<Credential>::new(surroundings, key, RequestSigner::new()),
        base: format!("{}/account", server.url()),
        container: container.into(),
    }
}

async fn open(server: &Server, container: &str, snapshot: bool) -> AzureBackend {
    let blobs = blobs(server, container);
    blobs.create_container().await.unwrap();
    AzureBackend { blobs: Arc::new(blobs), key: "a b/x.tfstate".into(), snapshot, context: context(&[]) }
}

#[tokio::test]
async fn contract_of_backends() {
    let Some(server) = Server::azure() else { return };
    conformance::check(&open(&server, "states", false).await).await;
}

/// Before each state is written, a snapshot keeps the one before. The first one is the empty blob that the lock needed.
#[tokio::test]
async fn snapshots_of_a_blob() {
    let Some(server) = Server::azure() else { return };
    conformance::check_versions(&open(&server, "states", true).await, "default", &[2, 1]).await;
}

#[tokio::test]
async fn texts_of_errors() {
    let Some(server) = Server::azure() else { return };
    let backend = open(&server, "states", true).await;
    let (mine, yours) = (
        backend.open_store("default", &crate::contract::FirstState::default()).await.unwrap(),
        backend.open_store("default", &crate::contract::FirstState::default()).await.unwrap(),
    );
    let info = LockInfo::new("x");
    mine.lock(&info).await.unwrap();
    let refused = yours.lock(&LockInfo::new("y")).await.unwrap_err();
    assert_eq!((refused.reason.as_str(), refused.busy), ("state blob is already locked", true));
    assert_eq!(refused.holder.unwrap().path, "states/a b/x.tfstate");
    // Writes without the lease fail.
    assert!(yours.write(Arc::from(&b"{}"[..])).await.unwrap_err().text.contains("LeaseIdMissing"));
    mine.write(Arc::from(&b"{}"[..])).await.unwrap();
    let wrong = yours.unlock("z").await.unwrap_err();
    assert!(wrong.text.starts_with("lock id \"z\" does not match existing lock\nLock Info:\n"), "{}", wrong.text);
    // By force, from another process.
    yours.unlock(&info.id).await.unwrap();
    assert_eq!(yours.unlock(&info.id).await.unwrap_err().kind, ErrorKind::LockGone);
    assert!(mine.write(Arc::from(&b"{ }"[..])).await.is_err());
}

#[tokio::test]
async fn settings_that_lack_something() {
    let opened = |settings: Vec<(&'static str, Value)>, variables: Vec<(&'static str, &'static str)>| async move {
        let ty = AzureRm.schema().implied_type();
        let attributes = ty.object_type().unwrap().attributes.clone();
        let config = Value::object(attributes.into_iter().map(|(name, ty)| {
            let set = settings.iter().find(|(set, _)| **set == *name);
            let value = set.map_or_else(|| Value::null(ty.clone()), |(_, value)| value.clone());
            (name, value)
        }));
        let result = AzureRm.open(&config, &context(&variables)).await;
        result.map(|_| ()).map_err(|mut problems| problems.remove(0).summary)
    };
    let text = Value::string;
    let one_of = "One of `access_key`, `sas_token`, `use_azuread_auth` and `resource_group_name` must be specifieid";
    assert_eq!(opened(vec![], vec![]).await, Err(one_of.to_owned()));
    assert_eq!(opened(vec![], vec![("ARM_ACCESS_KEY", "a2V5")]).await, Ok(()));
    assert_eq!(opened(vec![("sas_token", text("?sv=1"))], vec![]).await, Ok(()));
    let mars = opened(vec![("environment", text("mars"))], vec![]).await;
    assert_eq!(mars, Err("no environment was found with the name \"mars\"".to_owned()));
    let token = ("use_azuread_auth", Value::bool(true));
    let certificate = opened(vec![token, ("client_certificate", text("x"))], vec![]).await.unwrap_err();
    assert!(certificate.starts_with("could not decode client certificate data: "), "{certificate}");
    let token = ("use_azuread_auth", Value::bool(true));
    let file = ("client_certificate_path", text("../../tests/fixtures/keys/aes.pfx"));
    let wrong = opened(vec![token.clone(), file.clone()], vec![]).await.unwrap_err();
    assert!(wrong.starts_with("could not decode PKCS#12 archive: "), "{wrong}");
    // The certificate is read; without a tenant and a client it is no login.
    let settings = vec![token, file, ("use_cli", Value::bool(false))];
    let incomplete = opened(settings, vec![("ARM_CLIENT_CERTIFICATE_PASSWORD", "pw")]).await.unwrap_err();
    assert!(incomplete.ends_with("no authentication method is enabled and complete"), "{incomplete}");
}
