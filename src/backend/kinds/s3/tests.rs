//! The backend against moto, if it is there, and against answers that a test writes down.

use std::path::Path as FilePath;
use std::sync::Arc;

use base::env::Environment;
use clouds::Server;
use gotext::hex::hex;
use md5::{Digest, Md5};
use terrane_protocol::provider::Severity;

use super::*;
use crate::conformance;
use crate::contract::Backend;
use crate::contract::{ErrorKind, LockInfo};
use crate::servers::clouds;
use crate::servers::stub::{Answer, Stub};

fn context(variables: &[(&str, &str)]) -> Context {
    Context::new(Environment::of(variables.iter().copied()), "/none")
}

/// Settings of the schema's type: these, and null for the rest.
fn config(settings: &[(&str, Value)]) -> Value {
    object(&schema::schema().implied_type(), settings)
}

fn object(ty: &terrane_value::Type, settings: &[(&str, Value)]) -> Value {
    let attributes = ty.object_type().unwrap().attributes.iter();
    let value = |name: &str, ty: &terrane_value::Type| {
        let set = settings.iter().find(|(set, _)| *set == name).map(|(_, value)| value.clone());
        set.unwrap_or_else(|| Value::null(ty.clone()))
    };
    Value::object(attributes.map(|(name, ty)| (name.clone(), value(name, ty))))
}

fn nested(name: &str, settings: &[(&str, Value)]) -> Value {
    object(schema::schema().implied_type().attribute(name).unwrap(), settings)
}

fn text(text: &str) -> Value {
    Value::string(text)
}

fn minimal() -> Vec<(&'static str, Value)> {
    vec![("bucket", text("b")), ("key", text("k/x")), ("region", text("us-east-1"))]
}

/// Severity and summary of each complaint.
fn checked(settings: &[(&str, Value)], variables: &[(&str, &str)]) -> Vec<String> {
    let mut all = minimal();
    for (name, value) in settings {
        all.retain(|(set, _)| set != name);
        all.push((Box::leak(name.to_string().into_boxed_str()), value.clone()));
    }
    let found = S3.check(&config(&all), &context(variables));
    let kind = |severity| if severity == Severity::Error { "error" } else { "warning" };
    found.into_iter().map(|d| format!("{}: {}", kind(d.severity), d.summary)).collect()
}

#[test]
fn settings_are_checked() {
    let none: [&str; 0] = [];
    assert_eq!(checked(&[], &[]), none);
    assert_eq!(checked(&[("bucket", text(" "))], &[]), ["error: Invalid Value"]);
    assert_eq!(checked(&[("key", text("/a"))], &[]), ["error: Invalid Value"]);
    assert_eq!(checked(&[("key", text("a//b"))], &[]), ["error: Invalid Value"]);
    assert_eq!(checked(&[("region", text(""))], &[]), ["error: Missing region value"]);
    assert_eq!(checked(&[("region", text(""))], &[("AWS_DEFAULT_REGION", "x")]), none);
    assert_eq!(
        checked(&[("kms_key_id", text("alias/a")), ("sse_customer_key", text("x"))], &[]),
        ["error: Invalid Attribute Combination"]
    );
    assert_eq!(checked(&[("dynamodb_table", text("t"))], &[]), ["warning: Deprecated Parameter"]);
    let endpoints = nested("endpoints", &[("s3", text("http://x"))]);
    assert_eq!(
        checked(&[("endpoint", text("http://y")), ("endpoints", endpoints)], &[]),
        ["warning: Deprecated Parameter", "error: Conflicting Parameters"]
    );
    let role = nested("assume_role", &[("duration", text("1m"))]);
    assert_eq!(checked(&[("assume_role", role)], &[]), ["error: Missing Required Value", "error: Invalid Duration"]);
    let role = nested("assume_role_with_web_identity", &[("role_arn", text("arn:aws:iam::1:role/x"))]);
    assert_eq!(checked(&[("assume_role_with_web_identity", role)], &[]), ["error: Missing Required Value"]);
    assert_eq!(checked(&[], &[("AWS_S3_ENDPOINT", "http://x")]), ["warning: Deprecated Environment Variable"]);
    assert_eq!(checked(&[("http_proxy", text("http://x"))], &[]), ["warning: Missing HTTPS Proxy"]);
}

#[test]
fn settings_are_read_once_they_are_checked() {
    let read = |more: &[(&'static str, Value)], variables: &[(&str, &str)]| {
        let mut all = minimal();
        all.extend(more.iter().cloned());
        settings::read(&config(&all), &Environment::of(variables.iter().copied()), FilePath::new(""))
    };
    let summary = |more: &[(&'static str, Value)], variables: &[(&str, &str)]| {
        read(more, variables).err().unwrap().remove(0).summary
    };
    let wrong = [("bucket", text("b")), ("key", text("k")), ("region", text("mars-1"))];
    let errors = settings::read(&config(&wrong), &Environment::default(), FilePath::new("")).err().unwrap();
    assert_eq!(errors[0].detail, "Invalid AWS Region: mars-1");
    assert_eq!(summary(&[("sse_customer_key", text("x"))], &[]), "Invalid sse_customer_key value");
    assert_eq!(summary(&[], &[("AWS_SSE_CUSTOMER_KEY", "x")]), "Invalid AWS_SSE_CUSTOMER_KEY value");
    let both = summary(&[("kms_key_id", text("alias/x"))], &[("AWS_SSE_CUSTOMER_KEY", &"A".repeat(44))]);
    assert_eq!(both, "Invalid encryption configuration");
    let all = read(&[], &[("AWS_ENDPOINT_URL_S3", "http://x/"), ("AWS_USE_FIPS_ENDPOINT", "no")]).unwrap();
    assert_eq!((all.store.endpoint.as_deref(), all.store.variant.fips), (Some("http://x/"), true));
    assert_eq!(all.web.retries, 4);
}

#[test]
fn files_of_settings_start_in_the_folder_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ca.pem"), "authorities").unwrap();
    let set = Value::set(terrane_value::Type::String, vec![text("a"), text("~/b"), text("/c")]);
    let web = [("role_arn", text("arn:x")), ("web_identity_token_file", text("token"))];
    let mut given = minimal();
    given.push(("shared_config_files", set));
    given.push(("custom_ca_bundle", text("ca.pem")));
    given.push(("assume_role_with_web_identity", nested("assume_role_with_web_identity", &web)));
    let variables = Environment::of([("HOME", "/home"), ("AWS_SHARED_CREDENTIALS_FILE", "d")]);
    let all = settings::read(&config(&given), &variables, folder.path()).unwrap();
    let mut files = all.credentials.config_files;
    files.sort();
    let mut expected = vec![folder.path().join("a"), "/home/b".into(), "/c".into()];
    expected.sort();
    assert_eq!(files, expected);
    assert_eq!(all.credentials.web_identity.unwrap().token_file, Some(folder.path().join("token")));
    assert_eq!(all.web.tls.authorities.as_deref(), Some("authorities"));
    // The folder of the process has the files of its variables.
    assert_eq!(all.credentials.credentials_files, [FilePath::new("d")]);
}

#[test]
fn endpoints_of_the_environment_have_an_order() {
    let cases: &[(&[(&str, &str)], [Option<&str>; 3])] = &[
        (&[], [None; 3]),
        (&[("AWS_ENDPOINT_URL", "http://all")], [Some("http://all"); 3]),
        (
            &[
                ("AWS_ENDPOINT_URL", "http://all"),
                ("AWS_ENDPOINT_URL_S3", "http://s3"),
                ("AWS_STS_ENDPOINT", "http://sts"),
            ],
            [Some("http://s3"), Some("http://all"), Some("http://sts")],
        ),
        (
            &[
                ("AWS_ENDPOINT_URL", "http://all"),
                ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"),
                ("AWS_ENDPOINT_URL_DYNAMODB", "http://table"),
            ],
            [None, Some("http://table"), None],
        ),
    ];
    for (variables, expected) in cases {
        let given = [("bucket", text("b")), ("key", text("k")), ("region", text("us-east-1"))];
        let all =
            settings::read(&config(&given), &Environment::of(variables.iter().copied()), FilePath::new("")).unwrap();
        let found = [&all.store.endpoint, &all.store.table_endpoint, &all.credentials.sts_endpoint];
        assert_eq!(found.map(Option::as_deref), *expected, "{variables:?}");
    }
}

async fn open(server: &Server, more: &[(&'static str, Value)]) -> Result<Arc<dyn Backend>, Vec<ProviderDiagnostic>> {
    open_at(&server.url(), more).await
}

async fn open_at(url: &str, more: &[(&'static str, Value)]) -> Result<Arc<dyn Backend>, Vec<ProviderDiagnostic>> {
    let mut all = vec![
        ("bucket", text("states")),
        ("key", text("a/b.tfstate")),
        ("region", text("us-east-1")),
        ("access_key", text("a")),
        ("secret_key", text("s")),
        ("use_path_style", Value::bool(true)),
    ];
    all.retain(|(name, _)| more.iter().all(|(set, _)| set != name));
    all.extend(more.iter().cloned());
    let endpoints: Vec<_> = ["s3", "dynamodb", "sts"].iter().map(|name| (*name, text(url))).collect();
    all.push(("endpoints", nested("endpoints", &endpoints)));
    let config = config(&all);
    assert_eq!(S3.check(&config, &context(&[])).into_iter().filter(|d| d.severity == Severity::Error).count(), 0);
    S3.open(&config, &context(&[])).await.map(Opened::into_states)
}

#[tokio::test]
async fn contract_with_each_kind_of_lock() {
    let Some(server) = Server::moto() else { return };
    let (file, table) = (("use_lockfile", Value::bool(true)), ("dynamodb_table", text("locks")));
    for (i, locks) in [vec![file.clone()], vec![table.clone()], vec![file, table]].into_iter().enumerate() {
        server.make_bucket("states");
        let mut settings = locks;
        settings.extend([
            ("key", text(&format!("a b/{i}+.tfstate"))),
            ("workspace_key_prefix", text("w/s")),
            ("encrypt", Value::bool(true)),
        ]);
        let backend = open(&server, &settings).await.unwrap();
        conformance::check(&*backend).await;
    }
}

#[tokio::test]
async fn versions_of_an_object() {
    let Some(server) = Server::moto() else { return };
    server.make_bucket("states");
    let backend = open(&server, &[]).await.unwrap();
    conformance::check_versions(&*backend, "default", &[3]).await;
    server.keep_versions("states");
    let backend = open(&server, &[("key", text("a b+c/x")), ("use_lockfile", Value::bool(true))]).await.unwrap();
    conformance::check_versions(&*backend, "default", &[3, 2, 1]).await;
}

/// A lock that is released before its holder can be read may be free the next time; other refusals are final.
#[tokio::test]
async fn locks_are_taken_if_the_error_says_so() {
    let cases = [
        (412, "PreconditionFailed", true),
        (409, "ConditionalRequestConflict", true),
        (409, "OperationAborted", true),
        (409, "InvalidBucketState", false),
        (409, "Conflict", true),
        (412, "AnotherNameOfAnotherStore", true),
        (403, "AccessDenied", false),
    ];
    for (status, code, taken) in cases {
        let stub = Stub::start(move |call| match call.method.as_str() {
            "PUT" => Answer::new(status, format!("<Error><Code>{code}</Code><Message>m</Message></Error>")),
            _ => Answer::new(404, "<Error><Code>NoSuchKey</Code><Message>m</Message></Error>"),
        });
        let settings = ["skip_credentials_validation", "skip_requesting_account_id", "use_lockfile"];
        let backend = open_at(&stub.url(), &settings.map(|name| (name, Value::bool(true)))).await.unwrap();
        let refused = backend.store("default").await.unwrap().lock(&LockInfo::new("x")).await.unwrap_err();
        assert!(refused.busy == taken && refused.reason.contains(code), "{status} {code}: {}", refused.reason);
    }
}

/// Without any lock that is set up, locking does nothing.
#[tokio::test]
async fn without_locks() {
    let Some(server) = Server::moto() else { return };
    server.make_bucket("states");
    let backend = open(&server, &[]).await.unwrap();
    let store = backend.store("default").await.unwrap();
    assert_eq!(store.lock(&LockInfo::new("x")).await.unwrap(), "");
    assert_eq!(store.lock(&LockInfo::new("x")).await.unwrap(), "");
    store.unlock("").await.unwrap();
    assert_eq!(backend.workspaces().await.unwrap(), ["default"]);
}

#[tokio::test]
async fn texts_of_errors() {
    let Some(server) = Server::moto() else { return };
    let backend = open(&server, &[("use_lockfile", Value::bool(true))]).await.unwrap();
    let why = backend.workspaces().await.unwrap_err().text;
    let begin = "S3 bucket \"states\" does not exist.\n\nThe referenced S3 bucket must have been previously created.";
    let end = ", NoSuchBucket: \n";
    assert!(why.starts_with(begin) && why.ends_with(end), "{why}");
    let store = backend.store("default").await.unwrap();
    assert!(store.read().await.unwrap_err().text.starts_with(begin));
    server.make_bucket("states");
    let taken = LockInfo::new("x");
    store.lock(&taken).await.unwrap();
    let refused = store.lock(&LockInfo::new("y")).await.unwrap_err();
    let reason = ", api error PreconditionFailed: At least one of the pre-conditions you specified did not hold";
    assert!(
        refused.busy
            && refused
                .reason
                .starts_with("operation error S3: PutObject, https response error StatusCode: 412, RequestID: ")
    );
    assert!(refused.reason.ends_with(reason), "{}", refused.reason);
    assert_eq!(refused.holder.unwrap().path, "states/a/b.tfstate");
    // A request that is repeated finds its own lock.
    assert_eq!(store.lock(&taken).await.unwrap(), taken.id);
    let wrong = store.unlock("other").await.unwrap_err();
    let expected = format!("lock ID 'other' does not match the existing lock ID '{}'\nLock Info:\n", taken.id);
    assert!(wrong.text.starts_with(&expected) && wrong.kind == ErrorKind::LockGone, "{}", wrong.text);
    store.unlock(&taken.id).await.unwrap();
    assert_eq!(store.unlock(&taken.id).await.unwrap_err().kind, ErrorKind::LockGone);

    let backend = open(&server, &[("dynamodb_table", text("locks"))]).await.unwrap();
    let store = backend.store("default").await.unwrap();
    store.lock(&taken).await.unwrap();
    let refused = store.lock(&LockInfo::new("y")).await.unwrap_err();
    let reason = ", ConditionalCheckFailedException: The conditional request failed";
    assert!(refused.reason.ends_with(reason), "{}", refused.reason);
    let wrong = store.unlock("other").await.unwrap_err().text;
    assert!(
        wrong.starts_with(&format!("lock ID \"other\" does not match existing lock ({:?})\nLock Info:\n", taken.id)),
        "{wrong}"
    );
}

/// A state that does not match the checksum in the table is not believed.
#[tokio::test]
async fn checksums_of_the_table() {
    let Some(server) = Server::moto() else { return };
    server.make_bucket("states");
    let with_table = open(&server, &[("dynamodb_table", text("locks"))]).await.unwrap();
    let without = open(&server, &[]).await.unwrap();
    let store = with_table.store("default").await.unwrap();
    store.write(Arc::from(&b"{}"[..])).await.unwrap();
    assert_eq!(store.read().await.unwrap().unwrap(), b"{}");
    without.store("default").await.unwrap().write(Arc::from(&b"{ }"[..])).await.unwrap();
    let why = store.read().await.unwrap_err().text;
    assert!(why.starts_with("state data in S3 does not have the expected content.\n"), "{why}");
    assert!(why.contains("Stored checksum:     99914b932bd37a50b983c5e7c90ae93b\n"), "{why}");

    // What a process has uploaded that ended before it recorded the checksum.
    let item = r#"{"TableName":"locks","Item":{"LockID":{"S":"states/a/b.tfstate-md5"},"Digest":{"S":"99914b932bd37a50b983c5e7c90ae93b"},"PendingDigest":{"S":"DIGEST"}}}"#;
    let item = item.replace("DIGEST", &hex(&Md5::digest(b"{ }")));
    assert_eq!(server.amazon("dynamodb", "POST", "/", "DynamoDB_20120810.PutItem", &item).0, 200);
    assert_eq!(store.read().await.unwrap().unwrap(), b"{ }");
    store.write(Arc::from(&b"{}"[..])).await.unwrap();
    without.store("default").await.unwrap().write(Arc::from(&b"{ }"[..])).await.unwrap();
    assert!(store.read().await.is_err(), "what was being uploaded is forgotten");
}

#[tokio::test]
async fn accounts_that_are_not_allowed() {
    let Some(server) = Server::moto() else { return };
    let ids = |ids: &[&str]| Value::set(terrane_value::Type::String, ids.iter().map(|id| text(id)).collect());
    let refused = |result: Result<Arc<dyn Backend>, Vec<ProviderDiagnostic>>| result.err().unwrap().remove(0);
    let error = refused(open(&server, &[("allowed_account_ids", ids(&["1"]))]).await);
    assert_eq!(
        (error.summary.as_str(), error.detail.as_str()),
        ("Invalid account ID", "AWS account ID not allowed: 123456789012")
    );
    refused(open(&server, &[("forbidden_account_ids", ids(&["123456789012"]))]).await);
    open(&server, &[("allowed_account_ids", ids(&["1", "123456789012"]))]).await.unwrap();
}
