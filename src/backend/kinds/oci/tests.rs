//! The backend against a stub of Object Storage.

use std::time::Duration;

use base::env::Environment;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use server::{BUCKET, FINGERPRINT, NAMESPACE, OciStub, TENANCY, USER};
use stub::{Answer, FAULTS, Stub};

use super::*;
use crate::conformance;
use crate::contract::Backend;
use crate::contract::{ErrorKind, LockInfo};
use crate::servers::stub;

use crate::servers::oci as server;

fn config(settings: &[(&str, &str)]) -> Value {
    let ty = Oci.schema().implied_type();
    let attributes = ty.object_type().unwrap().attributes.clone();
    Value::object(attributes.into_iter().map(|(name, ty)| {
        let set = settings.iter().rfind(|(set, _)| **set == *name);
        let value = set.map_or_else(|| Value::null(ty.clone()), |(_, text)| Value::string(*text));
        (name, value)
    }))
}

fn context(variables: &[(&str, &str)]) -> Context {
    Context::new(Environment::of(variables.iter().copied()), "/none")
}

async fn open_with(
    stub: &OciStub,
    more: &[(&str, &str)],
    variables: &[(&str, &str)],
) -> Result<Arc<dyn Backend>, String> {
    let address = stub.host_override();
    let mut all = vec![("bucket", BUCKET), ("namespace", NAMESPACE)];
    all.extend(more);
    let mut environment = vec![("CLIENT_HOST_OVERRIDES", &*address), ("OCI_region", "us-x-1"), ("HOME", "/none")];
    environment.extend(variables);
    let config = config(&all);
    let context = context(&environment);
    assert!(Oci.check(&config, &context).is_empty());
    let opened = Oci.open(&config, &context).await.map_err(|mut problems| problems.remove(0).summary);
    opened.map(Opened::into_states)
}

async fn open(stub: &OciStub, more: &[(&str, &str)]) -> Arc<dyn Backend> {
    let mut all = vec![("tenancy_ocid", TENANCY), ("user_ocid", USER), ("fingerprint", FINGERPRINT)];
    all.push(("private_key", &stub.key));
    all.extend(more);
    open_with(stub, &all, &[]).await.unwrap()
}

#[tokio::test]
async fn contract_of_backends() {
    for settings in [&[][..], &[("workspace_key_prefix", "p/q/"), ("key", "a b/ü")]] {
        let stub = OciStub::start();
        conformance::check(&*open(&stub, settings).await).await;
    }
}

#[tokio::test]
async fn objects_are_where_the_reference_has_them() {
    let stub = OciStub::start();
    let backend = open(&stub, &[("key", "n/s.tfstate")]).await;
    for workspace in ["default", "w"] {
        let store = backend.store(workspace).await.unwrap();
        let id = store.lock(&LockInfo::new("x")).await.unwrap();
        store.write(Arc::from(&b"{}"[..])).await.unwrap();
        let lock = stub.names().into_iter().find(|name| name.ends_with(".lock")).unwrap();
        let info = LockInfo::from_json(&stub.content(&lock)).unwrap();
        assert_eq!((info.id, format!("{}.lock", info.path)), (id.clone(), lock));
        store.unlock(&id).await.unwrap();
    }
    assert_eq!(stub.names(), ["n/s.tfstate", "tf-state-env/w/n/s.tfstate"]);
    // Other objects below the prefix are not workspaces, and are not deleted with one.
    for other in ["tf-state-env/x/other", "tf-state-env/w/n/s.tfstate2", "tf-state-env/w/n/s.tfstate.lock"] {
        stub.put_object(other, b"{}");
    }
    stub.set_page(1);
    assert_eq!(backend.workspaces().await.unwrap(), ["default", "w"]);
    backend.delete_workspace("w", false).await.unwrap();
    assert_eq!(stub.names(), ["n/s.tfstate", "tf-state-env/w/n/s.tfstate2", "tf-state-env/x/other"]);
    assert!(backend.delete_workspace("default", false).await.is_err());
}

#[tokio::test]
async fn states_are_encrypted_as_the_settings_say() {
    let hash = [("sse_customer_key", "a2V5"), ("sse_customer_key_sha256", "aGFzaA==")];
    let cases: [(&[(&str, &str)], &[(&str, &str)]); 2] = [
        (&[("kms_key_id", "ocid1.key")], &[("opc-sse-kms-key-id", "ocid1.key")]),
        (
            &hash,
            &[
                ("opc-sse-customer-algorithm", "AES256"),
                ("opc-sse-customer-key", "a2V5"),
                ("opc-sse-customer-key-sha256", "aGFzaA=="),
            ],
        ),
    ];
    for (settings, expected) in cases {
        let stub = OciStub::start();
        let store = open(&stub, settings).await.store("default").await.unwrap();
        store.write(Arc::from(&b"{}"[..])).await.unwrap();
        let headers = &stub.stub.calls()[0].headers;
        let found: Vec<_> = headers.iter().filter(|(name, _)| name.starts_with("opc-sse-")).collect();
        assert!(found.iter().map(|(name, value)| (name.as_str(), value.as_str())).eq(expected.iter().copied()));
        assert_eq!(headers["content-md5"], "mZFLkyvTelC5g8XnyQrpOw==");
        store.read().await.unwrap();
        let read = &stub.stub.calls()[1].headers;
        assert_eq!(read.contains_key("opc-sse-customer-key"), settings.len() == 2);
        assert!(!read.contains_key("opc-sse-kms-key-id"));
    }
}

/// A part has 1024 bytes in tests.
#[tokio::test]
async fn large_states_are_written_in_parts() {
    let stub = OciStub::start();
    let store = open(&stub, &[("key", "a/b")]).await.store("default").await.unwrap();
    let content: Vec<u8> = (0..2500_u32).map(|n| n as u8).collect();
    store.write(Arc::from(&*content)).await.unwrap();
    assert_eq!(stub.content("a/b"), content);
    let folder = "/n/ns/b/states/u";
    let part = format!("PUT {folder}/a/b");
    let expected = [format!("POST {folder}"), part.clone(), part.clone(), part, format!("POST {folder}/a/b")];
    assert_eq!(stub.stub.lines(), expected);
    // A part that is refused: the upload is removed, and the state is written in one.
    stub.stub.forget();
    stub.stub.fault(2, stub::Fault::Status(400));
    store.write(Arc::from(&content[1..])).await.unwrap();
    assert_eq!(stub.content("a/b"), content[1..]);
    let last: Vec<String> = stub.stub.lines().into_iter().rev().take(2).collect();
    assert_eq!(last, ["PUT /n/ns/b/states/o/a/b".to_owned(), format!("DELETE {folder}/a/b")]);
}

#[tokio::test]
async fn texts_of_errors() {
    let stub = OciStub::start();
    let store = open(&stub, &[]).await.store("default").await.unwrap();
    let info = LockInfo::new("x");
    let id = store.lock(&info).await.unwrap();
    // A request that is repeated finds its own lock.
    assert_eq!(store.lock(&info).await.unwrap(), id);
    let refused = store.lock(&LockInfo::new("y")).await.unwrap_err();
    assert_eq!(
        refused.reason,
        "Error returned by ObjectStorage Service. Http Status Code: 412. Error Code: IfNoneMatchFailed. Opc request id: R1. Message: The If-None-Match header is '*' but there is an existing entity"
    );
    assert_eq!(refused.holder.unwrap().path, "terraform.tfstate");
    let wrong = store.unlock("z").await.unwrap_err();
    let expected = format!("lock ID 'z' does not match the existing lock ID '{id}'\nLock Info:\n");
    assert!(wrong.text.starts_with(&expected), "{}", wrong.text);
    store.unlock(&id).await.unwrap();
    let gone = store.unlock(&id).await.unwrap_err();
    assert_eq!(gone.text, "Failed to retrieve lock information from OCI Object Storage: there is no lock");
    assert_eq!(gone.kind, ErrorKind::LockGone);
    let bucket = open(&stub, &[("bucket", "none")]).await.store("default").await.unwrap();
    let why = bucket.read().await.unwrap_err().text;
    assert!(why.starts_with("failed to access object 'terraform.tfstate' in bucket 'none': Error returned"), "{why}");
    assert!(why.contains("Error Code: BucketNotFound"), "{why}");
    let user = open(&stub, &[("user_ocid", "other")]).await;
    let why = user.workspaces().await.unwrap_err().text;
    assert!(why.contains("Http Status Code: 401. Error Code: NotAuthenticated"), "{why}");
}

#[tokio::test]
async fn faults_on_the_way_are_survived() {
    let trials = FAULTS.into_iter().flat_map(|fault| (0..5).map(move |after| (fault, after)));
    let trials = trials.map(|(fault, after)| async move {
        let stub = OciStub::start();
        let store = open(&stub, &[]).await.store("default").await.unwrap();
        stub.stub.fault(after, fault);
        let id = store.lock(&LockInfo::new("x")).await.unwrap();
        store.write(Arc::from(&b"{}"[..])).await.unwrap();
        assert!(store.read().await.unwrap().is_some());
        assert_eq!(store.unlock(&id).await, Ok(()), "{fault:?} {after}");
    });
    let all = futures_util::future::join_all(trials);
    tokio::time::timeout(Duration::from_secs(60), all).await.unwrap();
}

#[tokio::test]
async fn keys_come_from_settings_variables_profiles_and_principals() {
    let stub = OciStub::start();
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().to_str().unwrap().to_owned();
    let path = |name: &str| format!("{home}/{name}");
    std::fs::create_dir(path(".oci")).unwrap();
    std::fs::write(path("key.pem"), &stub.key).unwrap();
    std::fs::write(path("token"), "T1\n").unwrap();
    let profiles = format!(
        "[DEFAULT]\ntenancy={TENANCY}\nuser={USER}\nfingerprint={FINGERPRINT}\nkey_file=~/key.pem\nregion=us-y-1\n[session]\nkey_file={home}/key.pem\nsecurity_token_file={home}/token\n"
    );
    std::fs::write(path(".oci/config"), profiles).unwrap();
    let lists = async |settings: &[(&str, &str)], variables: &[(&str, &str)]| {
        let mut all = vec![("HOME", home.as_str())];
        all.extend(variables);
        open_with(&stub, settings, &all).await?.workspaces().await.map_err(|e| e.text)
    };
    let key_file = path("key.pem");
    let ocids = [("OCI_tenancy_ocid", TENANCY), ("user_ocid", USER), ("OCI_fingerprint", FINGERPRINT)];
    let variables = [&ocids[..], &[("OCI_private_key_path", &key_file)]].concat();
    lists(&[], &[]).await.unwrap();
    lists(&[], &variables).await.unwrap();
    lists(&[("private_key_path", "~/key.pem")], &ocids).await.unwrap();
    let none = lists(&[("config_file_profile", "none")], &[]).await.unwrap_err();
    assert!(none.starts_with("configuration file did not contain profile: none"), "{none}");
    let session = [("auth", "securitytoken"), ("config_file_profile", "session")];
    assert!(lists(&session, &[]).await.unwrap_err().contains("NotAuthenticated"));
    stub.set_key_id("ST$T1");
    lists(&session, &[]).await.unwrap();
    let principal = [
        ("OCI_RESOURCE_PRINCIPAL_VERSION", "2.2"),
        ("OCI_RESOURCE_PRINCIPAL_RPST", "T1"),
        ("OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM", &key_file),
    ];
    lists(&[("auth", "ResourcePrincipal")], &principal).await.unwrap();
    let old = [("OCI_RESOURCE_PRINCIPAL_VERSION", "1.1")];
    let why = lists(&[("auth", "ResourcePrincipal")], &old).await.unwrap_err();
    assert_eq!(why, "can not create resource principal, version \"1.1\" is not supported, only \"2.2\"");
    let without = open_with(&stub, &[], &[]).await.err().unwrap();
    assert!(without.starts_with("did not find a proper configuration for the API key"), "{without}");
}

/// A machine's certificate is exchanged for a token that signs requests with a key of the session.
#[tokio::test]
async fn machines_get_tokens_for_their_certificates() {
    let leaf = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap();
    let mut parameters = rcgen::CertificateParams::default();
    parameters.distinguished_name.push(rcgen::DnType::OrganizationalUnitName, "opc-tenant:ocid1.tenancy.t");
    let certificate = parameters.self_signed(&leaf).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let files = [
        ("ip_cert.pem", certificate.pem()),
        ("ip_key.pem", leaf.serialize_pem()),
        ("intermediate.pem", certificate.pem()),
    ];
    for (name, content) in files {
        std::fs::write(dir.path().join(name), content).unwrap();
    }
    let payload = URL_SAFE_NO_PAD.encode(r#"{"exp":4070908800}"#);
    let token = format!("h.{payload}.s");
    let given = serde_json::json!({ "token": token }).to_string();
    let issuer = Stub::start(move |_| Answer::new(200, given.clone()));
    let client = Client::build(web::settings(&Environment::default())).unwrap();
    let mut federation =
        principal::Federation::new(&client, "us-x-1", principal::Certificates::Files(dir.path().to_owned()));
    federation.set_address(&issuer.url());
    let session = federation.session().await.unwrap();
    assert_eq!(session.identity.key_id, format!("ST${token}"));
    assert!(session.is_valid());
    let call = issuer.calls().remove(0);
    let body: serde_json::Value = serde_json::from_slice(&call.body).unwrap();
    assert_eq!(body["certificate"], STANDARD.encode(certificate.der()));
    assert_eq!(body["publicKey"], STANDARD.encode(session.identity.key.public_der().unwrap()));
    let authorization = &call.headers["authorization"];
    assert!(authorization.contains("keyId=\"ocid1.tenancy.t/fed-x509/"), "{authorization}");
    let signed = "headers=\"date (request-target) content-length content-type x-content-sha256\"";
    assert!(authorization.contains(signed), "{authorization}");
}

#[test]
fn settings_are_checked() {
    let place = [("bucket", "b"), ("namespace", "n")];
    let checked = |settings: &[(&str, &str)], variables: &[(&str, &str)]| {
        let found = Oci.check(&config(settings), &context(variables));
        found.into_iter().map(|problem| format!("{}: {}", problem.summary, problem.detail)).collect::<Vec<_>>()
    };
    assert!(checked(&place, &[]).is_empty());
    let with = |more: &[(&'static str, &'static str)]| [&place[..], more].concat();
    let cases: [(&[(&'static str, &'static str)], &str); 8] = [
        (&[("bucket", "a.b")], "Invalid Value: The bucket name can only include"),
        (&[("namespace", "")], "Missing Required Value: The attribute \"namespace\" is required"),
        (&[("key", "a//b")], "Invalid Value: The value must not start or end with \"/\""),
        (&[("workspace_key_prefix", "/a")], "Invalid Value: The value must not start  with \"/\""),
        (&[("auth", "x")], "Invalid authentication method: auth must be one of 'ApiKey' or"),
        (&[("auth", "InstancePrincipal")], "Missing region attribute required: The attribute \"region\" is required"),
        (&[("sse_customer_key", "k")], "Invalid Attribute Combination:   sse_customer_key and its SHA both required."),
        (&[("private_key", "k"), ("private_key_path", "p")], "Invalid Attribute Combination: Only one of private_key,"),
    ];
    for (more, expected) in cases {
        let found = checked(&with(more), &[]);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
    }
    let found = checked(
        &with(&[("auth", "SecurityToken")]),
        &[("OCI_region", "r"), ("OCI_kms_key_id", "k"), ("sse_customer_key", "s")],
    );
    assert_eq!(found.len(), 3, "{found:?}");
}
