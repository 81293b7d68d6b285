//! Traces of OpenTelemetry: spans of the command, its phases, resources and calls of providers, exported if the environment
//! asks for it.
//!
//! Owns the one recorder of the process. While nothing is recorded, a span costs one relaxed load: its description is not made.
//! A span holds names, addresses and numbers, never a value of a variable or attribute, an argument of the command or a message.

use std::future::Future;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use opentelemetry::trace::{FutureExt, SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use super::dialect::Dialect;
use super::opentofu;

/// How long the end of a command waits for the export.
const PATIENCE: Duration = Duration::from_secs(2);

/// What has a span; each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// The command and the parts of `init`.
    Command = 1,
    /// Phases of an operation, provider configurations and resources.
    Steps,
    /// Calls of providers.
    Calls,
}

/// A span before it starts. Attributes are names and addresses, never values.
#[derive(Clone, Debug)]
pub struct Description {
    pub name: &'static str,
    pub attributes: Vec<KeyValue>,
    pub kind: SpanKind,
}

impl Description {
    pub fn new(name: &'static str) -> Description {
        Description { name, attributes: Vec::new(), kind: SpanKind::Internal }
    }

    /// A request to another process.
    pub fn call(name: &'static str) -> Description {
        Description { kind: SpanKind::Client, ..Description::new(name) }
    }

    pub fn with(mut self, key: &'static str, value: impl Into<opentelemetry::Value>) -> Description {
        self.attributes.push(KeyValue::new(key, value));
        self
    }
}

/// The [`Detail`] that is recorded; 0: nothing is.
static DETAIL: AtomicU8 = AtomicU8::new(0);
static TRACER: OnceLock<SdkTracer> = OnceLock::new();
/// The parent of spans of tasks that have none of their own: the running phase, or the command.
static PARENT: Mutex<Option<Context>> = Mutex::new(None);

/// Whether spans of this detail are recorded.
#[inline]
pub fn is_recorded(detail: Detail) -> bool {
    DETAIL.load(Ordering::Relaxed) >= detail as u8
}

/// The span of the command. If it is dropped before its end, as by a panic, it counts as failed.
pub struct Recording(Option<Recorded>);

struct Recorded {
    provider: SdkTracerProvider,
    span: RunningSpan,
    ended: bool,
}

/// What spans are recorded with.
pub struct Recorder {
    pub provider: SdkTracerProvider,
    pub tracer: SdkTracer,
    pub detail: Detail,
    /// The span of another process that the command belongs to.
    pub parent: Context,
}

/// Starts recording. None: nothing is recorded.
pub fn record(recorder: Option<Recorder>, dialect: Dialect) -> Recording {
    let Some(Recorder { provider, tracer, detail, parent }) = recorder else { return Recording(None) };
    let _ = TRACER.set(tracer);
    let span = RunningSpan::start_in(&parent, Description::new(dialect.command()));
    set_parent(span.as_ref().map(|span| span.0.clone()));
    DETAIL.store(detail as u8, Ordering::Relaxed);
    tracing::debug!("telemetry: traces are exported: {detail:?}");
    Recording(span.map(|span| Recorded { provider, span, ended: false }))
}

/// Names the span of the command: "state list". OpenTofu's has the name of the program.
pub fn name_command(dialect: Dialect, command: &'static str) {
    if !is_recorded(Detail::Command) {
        return;
    }
    if let Some(context) = parent() {
        if opentofu::names_span_by_command(dialect) {
            context.span().update_name(format!("{} {command}", dialect.command()));
        }
        context.span().set_attribute(KeyValue::new("terrane.command", command));
    }
}

impl Recording {
    /// Ends the span of the command and waits for the export, two seconds at most.
    pub fn end(mut self, exit_code: u8) {
        if let Some(recorded) = &mut self.0 {
            recorded.end(Some(exit_code));
        }
    }
}

impl Recorded {
    /// Without an exit code: the command panicked.
    fn end(&mut self, exit_code: Option<u8>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        DETAIL.store(0, Ordering::Relaxed);
        set_parent(None);
        if let Some(code) = exit_code {
            self.span.0.span().set_attribute(KeyValue::new("process.exit.code", i64::from(code)));
        }
        // `plan -detailed-exitcode` reports changes by 2.
        if exit_code.is_none_or(|code| !matches!(code, 0 | 2)) {
            self.span.fail();
        }
        self.span.0.span().end();
        if let Err(why) = self.provider.shutdown_with_timeout(PATIENCE) {
            tracing::warn!("telemetry: traces may be incomplete: {why}");
        }
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        self.end(None);
    }
}

/// A running span; it ends when this is dropped.
struct RunningSpan(Context);

impl RunningSpan {
    /// Starts a span in that of the current task.
    fn start(description: Description) -> Option<RunningSpan> {
        RunningSpan::start_in(&current()?, description)
    }

    fn start_in(parent: &Context, description: Description) -> Option<RunningSpan> {
        let tracer = TRACER.get()?;
        let builder =
            tracer.span_builder(description.name).with_kind(description.kind).with_attributes(description.attributes);
        Some(RunningSpan(parent.with_span(tracer.build_with_context(builder, parent))))
    }

    /// Marks it as failed, without the reason: messages may hold values.
    fn fail(&self) {
        self.0.span().set_status(Status::error(""));
    }
}

impl Drop for RunningSpan {
    fn drop(&mut self) {
        self.0.span().end();
    }
}

/// The span of the current task, or else that of the phase.
fn current() -> Option<Context> {
    let own = Context::current();
    if own.has_active_span() { Some(own) } else { parent() }
}

fn parent() -> Option<Context> {
    PARENT.lock().unwrap_or_else(|e| e.into_inner()).clone()
}

fn set_parent(context: Option<Context>) -> Option<Context> {
    std::mem::replace(&mut *PARENT.lock().unwrap_or_else(|e| e.into_inner()), context)
}

/// `TRACEPARENT` for a process that the current task starts; None if nothing is recorded.
pub fn trace_parent() -> Option<String> {
    if !is_recorded(Detail::Command) {
        return None;
    }
    let context = current()?;
    let span = context.span().span_context().clone();
    let flags = span.trace_flags().to_u8();
    Some(format!("00-{}-{}-{flags:02x}", span.trace_id(), span.span_id()))
}

/// Does some work in a new span. `failed` says whether the span counts as failed.
pub async fn traced<T, F: Future<Output = T>>(
    detail: Detail,
    describe: impl FnOnce() -> Description,
    work: impl FnOnce() -> F,
    failed: impl FnOnce(&T) -> bool,
) -> T {
    if !is_recorded(detail) {
        return work().await;
    }
    let Some(span) = RunningSpan::start(describe()) else { return work().await };
    // Boxed: what is recorded must not make the other futures larger.
    let done = Box::pin(work()).with_context(span.0.clone()).await;
    if failed(&done) {
        span.fail();
    }
    done
}

/// As [`traced`], for a part of the command: spans of tasks that it starts belong to it. Phases must not overlap.
pub async fn phase<T, F: Future<Output = T>>(
    detail: Detail,
    describe: impl FnOnce() -> Description,
    work: impl FnOnce() -> F,
    failed: impl FnOnce(&T) -> bool,
) -> T {
    if !is_recorded(detail) {
        return work().await;
    }
    let held = || async {
        let _phase = Phase { outer: set_parent(current()) };
        work().await
    };
    traced(detail, describe, held, failed).await
}

/// Puts the outer phase back, also if the work was abandoned.
struct Phase {
    outer: Option<Context>,
}

impl Drop for Phase {
    fn drop(&mut self) {
        // The end of the command has taken the outer one away.
        if is_recorded(Detail::Command) {
            set_parent(self.outer.take());
        }
    }
}
