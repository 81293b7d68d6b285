//! Plugins that are scripts: how they start, fail to start, and end.

use super::*;
use crate::client::Callee;

fn shell(script: &str, security: Security) -> Launch {
    Launch {
        command: "/bin/sh".into(),
        args: vec!["-c".to_owned(), script.to_owned()],
        env: Vec::new(),
        security,
        start_timeout: std::time::Duration::from_millis(1500),
        folder: Default::default(),
        log_name: "t".to_owned(),
        children: Children::default(),
    }
}

#[tokio::test]
async fn plugins_that_do_not_start_say_why() {
    let check = async |script: &str, expected: &str| {
        let error = start_provider(&shell(script, Security::None), "x", None).await.err().unwrap().to_string();
        assert!(error.contains(expected), "{script}: {error}");
    };
    check(
        "exit 3",
        "Unrecognized remote plugin message: \nFailed to read any lines from plugin's stdout\nThis usually",
    )
    .await;
    check("echo oops >&2", "\nThe plugin wrote to its standard error:\n  oops\n").await;
    check("echo hello; sleep 9", "Unrecognized remote plugin message: hello\nThis usually means\n  the plugin was not")
        .await;
    check("sleep 9", "timeout while waiting for plugin to start").await;
    check("sleep 9 & exit 1", "plugin exited before we could connect").await;
    check(
        "echo '1|4|unix|/x|grpc'; sleep 9",
        "Incompatible API version with plugin. Plugin version: 4, Client versions: [5 6]",
    )
    .await;
    check("echo '1|6|unix|/nonexistent/socket|grpc'; sleep 9", "/nonexistent/socket: no such file or directory").await;
    let missing = Launch { command: "/nonexistent/program".into(), ..shell("", Security::None) };
    let error = start_provider(&missing, "x", None).await.err().unwrap();
    assert_eq!(error.to_string(), "fork/exec /nonexistent/program: no such file or directory");
}

#[tokio::test]
async fn a_plugin_that_dies_leaves_its_panic() {
    // The plugin is a shell in place of a socket that is served here: it ends on request, with a panic.
    let caller = Caller { versions: vec![6], ..Caller::default() };
    let handshake = listen(Plugin::Provider(Arc::new(Thing)), 6, caller).await;
    let flag = tempfile::NamedTempFile::new().unwrap();
    let script = format!(
        "echo '{}'; while [ -e {} ]; do sleep 0.05; done; echo 'panic: oh no' >&2; echo 'goroutine 1' >&2; exit 2",
        handshake.line(),
        flag.path().display()
    );
    let mut launch = shell(&script, Security::None);
    launch.start_timeout = START_TIMEOUT;
    let process = start_provider(&launch, "example.com/t/t", None).await.unwrap();
    let provider = process.provider();
    provider.schemas().await.unwrap();
    drop(flag);
    let callee = Callee { package: "plugin6", kind: "GRPCProvider", call: "ReadResource", name: "example.com/t/t" };
    let status = tonic::Status::unavailable("gone");
    let started = process.process();
    let failure = callee.failure(status.clone(), &started).await;
    assert_eq!(failure.summary, "Plugin did not respond");
    for part in [
        "failed to respond to the plugin6.(*GRPCProvider).ReadResource call. The plugin logs may contain more details.",
        "example.com/t/t",
        "Stack trace from the sh plugin:\n\npanic: oh no\ngoroutine 1\n\nError: The sh plugin crashed!\n",
    ] {
        assert!(failure.detail.contains(part), "{}", failure.detail);
    }
    let second = callee.failure(status, &started).await;
    assert!(second.detail.ends_with("The sh process has ended: exit status 2."), "{}", second.detail);
}

#[tokio::test]
async fn a_process_ends_after_its_schemas_are_cached() {
    let caller = Caller { versions: vec![6], ..Caller::default() };
    let handshake = listen(Plugin::Provider(Arc::new(Thing)), 6, caller).await;
    let Address::Unix(socket) = &handshake.address else { panic!("{handshake:?}") };
    // The socket goes when the provider here is asked to end; so does the process that stands for it.
    let script = format!("echo '{}'; while [ -e {} ]; do sleep 0.02; done", handshake.line(), socket.display());
    let mut launch = shell(&script, Security::None);
    launch.start_timeout = START_TIMEOUT;
    let folder = tempfile::tempdir().unwrap();
    let cache = SchemaCache::new(folder.path().join("schemas"), "");
    let key = "h1:test".to_owned();
    let process = start_provider(&launch, "x", Some((cache.clone(), key.clone()))).await.unwrap();
    process.provider().schemas().await.unwrap();
    process.shutdown().await;
    assert!(cache.schemas(&key).is_some());
}
