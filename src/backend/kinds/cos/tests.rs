//! The backend against a stub of COS and the services beside it.

use std::time::Duration;

use base::env::Environment;
use server::{BUCKET, CosStub, SECRET_ID, SECRET_KEY};
use stub::FAULTS;

use super::*;
use crate::conformance;
use crate::contract::Backend;
use crate::contract::{ErrorKind, LockInfo};
use crate::servers::stub;

use crate::servers::cos as server;

const TAG: &str = "tencentcloud-terraform-lock";

fn context(variables: &[(&str, &str)]) -> Context {
    Context::new(Environment::of(variables.iter().copied()), "/none")
}

fn config(settings: &[(&str, Value)]) -> Value {
    let ty = Cos.schema().implied_type();
    let attributes = ty.object_type().unwrap().attributes.clone();
    Value::object(attributes.into_iter().map(|(name, ty)| {
        let set = settings.iter().rfind(|(set, _)| **set == *name);
        let value = set.map_or_else(|| Value::null(ty.clone()), |(_, value)| value.clone());
        (name, value)
    }))
}

/// The stub takes the place of the service's host names.
async fn open(stub: &CosStub, prefix: &str, key: &str, secret: &str) -> CosBackend {
    let values = [
        ("bucket", Value::string(BUCKET)),
        ("region", Value::string("r")),
        ("secret_id", Value::string(SECRET_ID)),
        ("secret_key", Value::string(secret)),
    ];
    let (config, context) = (config(&values), context(&[]));
    let settings = Settings::of(&config, &context);
    let mut place = place(&settings).await.unwrap();
    assert_eq!(place.objects.base, format!("https://{BUCKET}.cos.r.myqcloud.com"));
    place.objects.base = stub.stub.url();
    place.api.address = stub.stub.url();
    CosBackend { place: Arc::new(place), prefix: prefix.into(), key: key.into(), context }
}

#[tokio::test]
async fn contract_of_backends() {
    for (prefix, key) in [("", "terraform.tfstate"), ("p/q/", "a b/ü.tfstate")] {
        let stub = CosStub::start();
        conformance::check(&open(&stub, prefix, key, SECRET_KEY).await).await;
        assert!(stub.tags().is_empty(), "{:?}", stub.tags());
    }
}

#[tokio::test]
async fn objects_are_where_the_reference_has_them() {
    let stub = CosStub::start();
    let backend = open(&stub, "p", "x.tfstate", SECRET_KEY).await;
    let store = backend.open_store("w", &crate::contract::FirstState::default()).await.unwrap();
    let id = store.lock(&LockInfo::new("x")).await.unwrap();
    assert_eq!(stub.keys(), ["p/w/x.tfstate", "p/w/x.tfstate.tflock"]);
    store.write(Arc::from(&b"{}"[..])).await.unwrap();
    let put = stub.stub.calls().into_iter().rfind(|call| call.method == "PUT").unwrap();
    let header = |name: &str| put.headers.get(name).map(String::as_str);
    assert_eq!(header("x-cos-meta-md5"), Some("99914b932bd37a50b983c5e7c90ae93b"));
    assert_eq!((header("x-cos-acl"), header("x-cos-server-side-encryption")), (Some("private"), Some("AES256")));
    store.unlock(&id).await.unwrap();
    for other in ["p/x.tfstate", "p/v/other.tfstate", "p/y", "pp/z/x.tfstate"] {
        stub.put_object(other, b"", "");
    }
    stub.set_page(1);
    assert_eq!(backend.workspaces().await.unwrap(), ["default", "w"]);
    backend.delete_workspace("w", false).await.unwrap();
    assert_eq!(backend.workspaces().await.unwrap(), ["default"]);
}

#[tokio::test]
async fn texts_of_errors() {
    let stub = CosStub::start();
    let backend = open(&stub, "", "x", SECRET_KEY).await;
    let store = backend.open_store("default", &crate::contract::FirstState::default()).await.unwrap();
    let id = store.lock(&LockInfo::new("x")).await.unwrap();
    let refused = store.lock(&LockInfo::new("y")).await.unwrap_err();
    assert_eq!((refused.reason.as_str(), refused.busy), ("lock file x.tflock exists", true));
    let holder = refused.holder.unwrap();
    assert_eq!((holder.path.as_str(), &holder.id), ("x.tflock", &id));
    let wrong = store.unlock("z").await.unwrap_err();
    assert!(wrong.text.starts_with(&format!("lock id mismatch, {id} != z\nLock Info:\n")), "{}", wrong.text);
    store.unlock(&id).await.unwrap();
    let gone = store.unlock(&id).await.unwrap_err();
    assert_eq!((gone.kind, gone.text.as_str()), (ErrorKind::LockGone, "lock file x.tflock not exists"));
    stub.put_object("x", b"{}", "short");
    assert_eq!(store.read().await.unwrap_err().text, "failed to open file at x: checksum short invalid");
    let other = "0".repeat(32);
    stub.put_object("x", b"{}", &other);
    let expected = format!("failed to open file at x: checksum mismatch, 99914b932bd37a50b983c5e7c90ae93b != {other}");
    assert_eq!(store.read().await.unwrap_err().text, expected);
    let refused = backend.delete_workspace("default", false).await.unwrap_err().text;
    assert_eq!(refused, "default state is not allow to delete");
    let wrong = open(&stub, "", "x", "wrong")
        .await
        .open_store("default", &crate::contract::FirstState::default())
        .await
        .unwrap();
    let why = wrong.read().await.unwrap_err().text;
    assert!(why.contains(": 403 SignatureDoesNotMatch(Message: "), "{why}");
    let why = wrong.lock(&LockInfo::new("x")).await.unwrap_err().reason;
    let expected =
        "[TencentCloudSDKError] Code=AuthFailure.SignatureFailure, Message=The signature is incorrect., RequestId=R2";
    assert!(why.contains(expected), "{why}");
}

/// The value of the tag that guards the lock of the state `x`.
fn guard() -> String {
    gotext::hex::hex(&<md5::Md5 as md5::Digest>::digest(format!("{BUCKET}:x.tflock")))
}

/// A process that was killed while it made a lock leaves the tag that guards it.
#[tokio::test]
async fn a_tag_that_is_left_is_removed_by_force() {
    let stub = CosStub::start();
    let store = open(&stub, "", "x", SECRET_KEY)
        .await
        .open_store("default", &crate::contract::FirstState::default())
        .await
        .unwrap();
    let guard = guard();
    stub.add_tag(TAG, &guard);
    let refused = store.lock(&LockInfo::new("x")).await.unwrap_err();
    assert!(refused.busy && refused.reason.contains("ResourceInUse.TagDuplicate"), "{}", refused.reason);
    assert!(refused.reason.contains(&format!("force-unlock {guard}")), "{}", refused.reason);
    assert_eq!(stub.tags().len(), 1);
    store.unlock(&guard).await.unwrap();
    assert!(stub.tags().is_empty());
    store.lock(&LockInfo::new("x")).await.unwrap();
}

/// A lock may be refused, and is taken at the next attempt, or when the tag was removed as the error says.
#[tokio::test]
async fn faults_on_the_way_are_survived() {
    let trials = FAULTS.into_iter().flat_map(|fault| (0..8).map(move |after| (fault, after)));
    let trials = trials.map(|(fault, after)| async move {
        let stub = CosStub::start();
        let store = open(&stub, "", "x", SECRET_KEY)
            .await
            .open_store("default", &crate::contract::FirstState::default())
            .await
            .unwrap();
        let guard = guard();
        stub.stub.fault(after, fault);
        let id = match store.lock(&LockInfo::new("x")).await {
            Ok(id) => id,
            // The request for the tag had no answer.
            Err(refused) if refused.reason.contains(&format!("force-unlock {guard}")) => {
                store.unlock(&guard).await.unwrap();
                store.lock(&LockInfo::new("x")).await.unwrap()
            }
            Err(_) => store.lock(&LockInfo::new("x")).await.unwrap(),
        };
        store.write(Arc::from(&b"{}"[..])).await.unwrap();
        assert!(store.read().await.unwrap().is_some());
        assert_eq!(store.unlock(&id).await, Ok(()), "{fault:?} {after}");
        assert_eq!((stub.keys().len(), stub.tags().len()), (1, 0), "{fault:?} {after}");
    });
    let all = futures_util::future::join_all(trials);
    tokio::time::timeout(Duration::from_secs(30), all).await.unwrap();
}

#[tokio::test]
async fn roles_are_assumed_with_the_keys_of_a_profile() {
    let folder = tempfile::tempdir().unwrap();
    let profile = format!(
        r#"{{"secretId":"{SECRET_ID}","secretKey":" {SECRET_KEY}\n","role-arn":"no","role-session-name":"no"}}"#
    );
    std::fs::write(folder.path().join("p.credential"), profile).unwrap();
    let variables = [
        ("TENCENTCLOUD_SHARED_CREDENTIALS_DIR", folder.path().to_str().unwrap()),
        ("TENCENTCLOUD_ASSUME_ROLE_ARN", "qcs::r"),
        ("TENCENTCLOUD_ASSUME_ROLE_SESSION_NAME", "me"),
        ("TENCENTCLOUD_ASSUME_ROLE_EXTERNAL_ID", "x"),
    ];
    let stub = CosStub::start();
    let config = config(&[("bucket", Value::string(BUCKET)), ("profile", Value::string("p"))]);
    let context = context(&variables);
    let settings = Settings::of(&config, &context);
    let client = Client::build(web::settings(&context.environment)).unwrap();
    let api = Api { client: client.clone(), address: stub.stub.url(), region: "r".into() };
    let surroundings = cloud::client_context(&context.environment, &client);
    let keys = Keys::new(Access::read(&settings).unwrap(), api, surroundings);
    for _ in 0..2 {
        assert_eq!(keys.get().await.unwrap().security_token.as_deref(), Some("of-the-role"));
    }
    let calls = stub.stub.calls();
    assert_eq!(calls.len(), 1, "keys are requested once");
    let input: serde_json::Value = serde_json::from_slice(&calls[0].body).unwrap();
    let expected = serde_json::json!({
        "RoleArn": "qcs::r", "RoleSessionName": "me", "DurationSeconds": 7200, "ExternalId": "x",
    });
    assert_eq!(input, expected);
}

#[test]
fn addresses_inside_of_the_cloud() {
    assert_eq!(internal("http://cos-internal.r.tencentcos.cn", "b").unwrap(), "http://b.cos-internal.r.tencentcos.cn");
    for wrong in ["http://x", "https://cos-internal.r.tencentcos.cn/", "https://cos-internal.a.b.tencentcos.cn"] {
        let expected = format!("Invalid URL: {wrong} must be: http(s)://cos-internal.{{Region}}.tencentcos.cn");
        assert_eq!(internal(wrong, "b").unwrap_err().text, expected);
    }
}
