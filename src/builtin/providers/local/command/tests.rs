//! The data source, the ephemeral resource and the action run small shell programs.

use std::sync::{Arc, Mutex};

use terrane_protocol::provider::{ClientCapabilities, InvokeActionRequest, Output, PlanActionRequest};
use terrane_sdk::{self, Type, Value};

use super::super::Local;
use crate::providers::tester::{Tester, text};

fn script(tester: &Tester, script: &str, allow: bool) -> Value {
    tester.object([
        ("command", Value::string("sh")),
        ("arguments", Value::strings(["-c", script])),
        ("stdin", Value::string("in")),
        ("allow_non_zero_exit_code", Value::bool(allow)),
    ])
}

#[tokio::test]
async fn programs_run() {
    let source = Tester::data_source(Local, "local_command").await;
    let read = source.read(script(&source, "cat; exit 3", true)).await.unwrap();
    assert_eq!((read.get("exit_code"), text(&read, "stdout")), (Some(&Value::int(3)), "in"));
    assert_eq!(read.get("stderr"), Some(&Value::null(Type::String)));
    let ephemeral = Tester::ephemeral(Local, "local_command").await;
    let opened = ephemeral.open(script(&ephemeral, "cat; printf '\\342\\202' >&2", false)).await.unwrap();
    assert_eq!((text(&opened, "stdout"), text(&opened, "stderr")), ("in", "\u{fffd}\u{fffd}"));
    let killed = source.read(script(&source, "kill -9 $$", true)).await.unwrap();
    assert_eq!(killed.get("exit_code"), Some(&Value::int(-1)));
}

#[tokio::test]
async fn failures_name_their_kind() {
    let source = Tester::data_source(Local, "local_command").await;
    let ephemeral = Tester::ephemeral(Local, "local_command").await;
    let missing = |tester: &Tester| tester.object([("command", Value::string("no-such-program-here"))]);
    let found = [
        source.read(script(&source, "echo no >&2; exit 3", false)).await.unwrap_err(),
        ephemeral.open(script(&ephemeral, "kill -9 $$", false)).await.unwrap_err(),
        source.read(missing(&source)).await.unwrap_err(),
        ephemeral.open(missing(&ephemeral)).await.unwrap_err(),
    ];
    let lookup = "Error: exec: \"no-such-program-here\": executable file not found in $PATH";
    for (error, (summary, start, end)) in found.iter().zip([
        ("Command Execution Failed", "The data source executed", "Command Error: no\n\nState: exit status 3"),
        ("Command Execution Failed", "The ephemeral resource executed", "State: signal: killed"),
        ("Command Lookup Failed", "The data source received", lookup),
        ("Command Lookup Failed", "The ephemeral resource received", lookup),
    ]) {
        assert_eq!(error.summary, summary);
        assert!(error.detail.starts_with(start) && error.detail.ends_with(end), "{}", error.detail);
    }
}

#[tokio::test]
async fn a_folder_that_does_not_exist_is_named() {
    let source = Tester::data_source(Local, "local_command").await;
    let folder = Value::string("/nonexistent/folder");
    let config = source.object([("command", Value::string("sh")), ("working_directory", folder)]);
    let error = source.read(config).await.unwrap_err();
    assert!(error.detail.ends_with("State: chdir /nonexistent/folder: no such file or directory"));
}

/// The action, its plan and its run; returns what it showed.
async fn act(attributes: [(&str, Value); 3]) -> (usize, usize, String) {
    let provider = terrane_sdk::server(Local);
    let null = [("stdin", Value::null(Type::String)), ("working_directory", Value::null(Type::String))];
    let config = Value::object(attributes.into_iter().chain(null));
    let client = ClientCapabilities::default();
    let request = PlanActionRequest { kind: "local_command".into(), config: config.clone(), client };
    let planned = provider.plan_action(request).await.diagnostics;
    let shown = Arc::new(Mutex::new(String::new()));
    let sink = shown.clone();
    let progress: Output = Arc::new(move |text| sink.lock().expect("not poisoned").push_str(text));
    let request = InvokeActionRequest { kind: "local_command".into(), config, client, progress };
    let invoked = provider.invoke_action(request).await;
    let shown = shown.lock().expect("not poisoned").clone();
    (planned.len(), invoked.len(), shown)
}

#[tokio::test]
async fn the_action_shows_the_output() {
    let call = |command: &str, script: &str| {
        let environment = Value::map(Type::String, [("LOCAL_COMMAND_TEST", Value::string("v"))]);
        [
            ("command", Value::string(command)),
            ("arguments", Value::strings(["-c", script])),
            ("environment", environment),
        ]
    };
    assert_eq!(act(call("sh", "printf $LOCAL_COMMAND_TEST")).await, (0, 0, "\n\nv\n".to_owned()));
    assert_eq!(act(call("sh", "exit 3")).await, (0, 1, String::new()));
    assert_eq!(act(call("no-such-program-here", "")).await, (1, 1, String::new()));
}
