//! Tests of the log of providers.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use terrane_logging::Level;
use terrane_protocol::provider_server::ProviderServer;
use terrane_protocol::wire::v6::V6;
use tracing::Instrument as _;

use super::subscriber::ProviderLog;
use super::{LOG, Log};
use crate::{Context, DataSource, Error, Provider, Types, Values, server};

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The log of the process, for one test at a time, because the functions of the module write to it.
struct Logging {
    buffer: Buffer,
    log: Arc<Log>,
    _one: MutexGuard<'static, ()>,
}

impl Logging {
    fn start() -> Logging {
        static ONE: Mutex<()> = Mutex::new(());
        static BUFFER: Mutex<Option<Buffer>> = Mutex::new(None);
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = BUFFER.lock().unwrap().get_or_insert_default().clone();
        let out = Box::new(buffer.clone());
        let log = LOG.get_or_init(|| Arc::new(Log::new(Level::Trace, "todo", out))).clone();
        *super::RULES.write().unwrap() = super::Rules::new();
        buffer.0.lock().unwrap().clear();
        Logging { buffer, log, _one: one }
    }

    /// The lines that some work writes.
    fn of(&self, work: impl FnOnce()) -> Vec<Value> {
        self.of_level(self.log.clone(), work)
    }

    fn of_level(&self, log: Arc<Log>, work: impl FnOnce()) -> Vec<Value> {
        tracing::subscriber::with_default(ProviderLog(log), work);
        let bytes = std::mem::take(&mut *self.buffer.0.lock().unwrap());
        String::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A line without its time.
fn untimed(mut line: Value) -> Value {
    assert!(line["@timestamp"].is_string());
    line.as_object_mut().unwrap().remove("@timestamp");
    line
}

#[test]
fn lines_have_the_fields_of_the_spans_around_them() {
    let logging = Logging::start();
    let lines = logging.of(|| {
        let outer = tracing::debug_span!("outer", call = "a", id = 1, late = tracing::field::Empty).entered();
        outer.record("late", true);
        let inner = tracing::info_span!("inner", id = 2).entered();
        tracing::info!(count = 3, "created {}", "x");
        super::warn("retried", &[("id", "7")]);
        drop(inner);
        tracing::debug!("left");
        tracing::error!(parent: None, "alone");
        drop(outer);
        super::trace("outside", &[]);
    });
    let expected = [
        r#"{"@level":"info","@message":"created x","@module":"provider.todo","call":"a","count":3,"id":2,"late":true}"#,
        r#"{"@level":"warn","@message":"retried","@module":"provider.todo","call":"a","id":"7","late":true}"#,
        r#"{"@level":"debug","@message":"left","@module":"provider.todo","call":"a","id":1,"late":true}"#,
        r#"{"@level":"error","@message":"alone","@module":"provider.todo"}"#,
        r#"{"@level":"trace","@message":"outside","@module":"provider.todo"}"#,
    ];
    let expected: Vec<Value> = expected.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.into_iter().map(untimed).collect::<Vec<_>>(), expected);
}

#[test]
fn spans_close_with_their_last_handle() {
    let logging = Logging::start();
    logging.of(|| {
        let outer = tracing::info_span!("outer", id = 1);
        let inner = outer.in_scope(|| tracing::info_span!("inner"));
        let id = inner.id().unwrap().into_u64();
        drop(outer);
        assert_eq!(logging.log.spans.fields(Some(id))["id"], 1, "children keep their parents");
        drop(inner.clone());
        assert!(logging.log.spans.metadata(id).is_some());
        drop(inner);
        assert!(logging.log.spans.metadata(id).is_none());
        assert_eq!(super::spans::current(), None);
    });
}

#[test]
fn secrets_of_the_process_are_masked() {
    let logging = Logging::start();
    let lines = logging.of(|| {
        super::process()
            .mask_fields(["password"])
            .mask_texts(["hunter2"])
            .omit_fields(["body"])
            .omit_messages(["polling"]);
        tracing::info!(password = 12, url = "https://me:hunter2@h", list = ?["hunter2"], "is hunter2");
        super::info("is hunter2", &[("password", "x"), ("note", "no hunter2")]);
        tracing::info!(body = "x", "sent");
        tracing::info!("polling again");
        let span = tracing::info_span!("call", token = "hunter2", body = "x");
        span.in_scope(|| tracing::info!("omitted for the span's field"));
    });
    let text = lines.iter().map(ToString::to_string).collect::<String>();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(!text.contains("hunter2"), "{text}");
    assert_eq!((&lines[0]["password"], &lines[0]["url"]), (&"***".into(), &"https://me:***@h".into()));
    assert_eq!((&lines[1]["@message"], &lines[1]["password"]), (&"is ***".into(), &"***".into()));
}

#[test]
fn secrets_of_a_call_are_masked_until_it_ends() {
    let logging = Logging::start();
    let lines = logging.of(|| {
        let call = tracing::info_span!("call");
        let other = tracing::info_span!("other");
        call.in_scope(|| {
            tracing::info_span!("inner").in_scope(|| super::call().mask_texts(["hunter2"]).mask_fields(["name"]));
            tracing::info!(name = "a", "hunter2 here");
        });
        other.in_scope(|| tracing::info!(name = "a", "hunter2 there"));
        drop(call);
        tracing::info!(name = "a", "hunter2 later");
    });
    let messages: Vec<_> = lines.iter().map(|line| (&line["@message"], &line["name"])).collect();
    let expected: [(Value, Value); 3] =
        [("*** here".into(), "***".into()), ("*** there".into(), "a".into()), ("hunter2 later".into(), "a".into())];
    assert_eq!(messages, expected.each_ref().map(|(message, name)| (message, name)));
}

#[test]
fn rules_of_the_process_and_of_a_call_hold_together() {
    let logging = Logging::start();
    let lines = logging.of(|| {
        super::process().mask_texts(["acme"]);
        let _call = tracing::info_span!("call").entered();
        // What makes the texts may log.
        let texts = std::iter::once("postgres://acme:hunter2@db").inspect(|_| tracing::info!("made"));
        super::call().mask_texts(texts).omit_messages(["by acme"]);
        tracing::info!("at postgres://acme:hunter2@db");
        tracing::info!("by acme");
    });
    let messages: Vec<_> = lines.iter().map(|line| &line["@message"]).collect();
    assert_eq!(messages, ["made", "at ***"]);
}

#[test]
fn without_a_call_masks_hold_for_the_process_and_nothing_is_omitted() {
    let logging = Logging::start();
    let lines = logging.of(|| {
        super::call().mask_texts(["two\nlines\"quoted"]).omit_messages(["is"]);
        tracing::info!(list = ?["two\nlines\"quoted"], "is two\nlines\"quoted");
    });
    assert_eq!((&lines[0]["@message"], &lines[0]["list"]), (&"is ***".into(), &"[\"***\"]".into()));
}

#[test]
fn libraries_log_at_trace_level_only_and_without_values() {
    let logging = Logging::start();
    let work = || {
        let _span = tracing::info_span!(target: "h2::client", "connection", authorization = "Basic YTpi").entered();
        tracing::error!(target: "h2::client", len = 9, headers = "authorization: Basic YTpi", "sending to {}", "me:pw@h");
        tracing::error!(target: "h2::client", "authorization: {}", "Basic YTpi");
        tracing::debug!("own");
        super::debug("own too", &[]);
    };
    let lines = logging.of(work);
    let library = r#"{"@level":"trace","@message":"sending to me","@module":"provider.todo.h2::client","len":9}"#;
    assert_eq!(untimed(lines[0].clone()), serde_json::from_str::<Value>(library).unwrap());
    assert_eq!(lines.len(), 3);
    let debug = Arc::new(Log::new(Level::Debug, "todo", Box::new(logging.buffer.clone())));
    let lines = logging.of_level(debug, work);
    assert!(lines.iter().all(|line| line["@module"] == "provider.todo") && lines.len() == 2, "{lines:?}");
}

#[test]
fn the_crates_of_the_types_are_no_libraries() {
    struct Other;
    super::add_crate_of(&Other);
    super::add_crate("acme-client");
    assert!(super::is_own("terrane_sdk::log::tests") && super::is_own("acme_client::http"));
    assert!(!super::is_own("h2::client") && !super::is_own("acme_client2"));
}

struct Todo;
struct Clock;

impl Provider for Todo {
    type Config = ();
    type Data = ();
    async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types.data_source("todo_clock", Clock);
    }
}

impl DataSource for Clock {
    type Data = ();
    type Model = ();
    async fn read(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> {
        let task = async { tracing::info!("read in a task") };
        let _ = tokio::spawn(task.in_current_span()).await;
        super::info("read", &[("hour", "7")]);
        Ok(())
    }
}

#[test]
fn lines_of_a_call_have_its_name_and_its_type() {
    let logging = Logging::start();
    let lines = logging.of(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let provider = ProviderServer::<V6>::new(server(Todo));
            // The name of the type, and an empty object of MessagePack.
            let request = b"\x0a\x0atodo_clock\x12\x03\x0a\x01\x80";
            let path = "/tfplugin6.Provider/ReadDataSource";
            assert!(provider.answer(path, request.as_slice().into()).await.unwrap().is_ok());
        });
    });
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in &lines {
        assert_eq!((&line["tf_rpc"], &line["tf_data_source_type"]), (&"ReadDataSource".into(), &"todo_clock".into()));
        assert_eq!((line["tf_req_id"].as_str().unwrap().len(), line.get("tf_resource_type")), (16, None));
    }
    assert_eq!((&lines[1]["hour"], &lines[0]["tf_req_id"]), (&"7".into(), &lines[1]["tf_req_id"]));
    assert!(logging.of(|| super::info("after", &[]))[0].get("tf_rpc").is_none());
}
