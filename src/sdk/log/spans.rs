//! The open spans of the process, and which of them are entered on this thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use terrane_logging::{Fields, Masks};
use tracing::Metadata;

use super::masking::{self, Rules};

thread_local! {
    /// The innermost one is the last.
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The innermost span of this thread.
pub fn current() -> Option<u64> {
    // A thread that ends drops its tasks when its spans are gone.
    ENTERED.try_with(|entered| entered.borrow().last().copied()).ok().flatten()
}

pub fn enter(id: u64) {
    let _ = ENTERED.try_with(|entered| entered.borrow_mut().push(id));
}

/// Spans may be left in another order than they were entered in.
pub fn exit(id: u64) {
    let _ = ENTERED.try_with(|entered| {
        let mut entered = entered.borrow_mut();
        if let Some(at) = entered.iter().rposition(|other| *other == id) {
            entered.remove(at);
        }
    });
}

pub struct Span {
    pub metadata: &'static Metadata<'static>,
    pub fields: Fields,
    parent: Option<u64>,
    /// Handles and children; it closes with the last.
    references: usize,
    /// Of the call; only the outermost span of a call has some.
    rules: Option<Rules>,
}

#[derive(Default)]
pub struct Spans(Mutex<HashMap<u64, Span>>);

impl Spans {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Span>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn open(&self, metadata: &'static Metadata<'static>, fields: Fields, parent: Option<u64>) -> u64 {
        // Ids are those of the process, so that the spans of a thread may belong to several logs in tests.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut spans = self.lock();
        let parent = parent.filter(|parent| spans.contains_key(parent));
        if let Some(parent) = parent.and_then(|parent| spans.get_mut(&parent)) {
            parent.references += 1;
        }
        spans.insert(id, Span { metadata, fields, parent, references: 1, rules: None });
        id
    }

    pub fn keep(&self, id: u64) {
        if let Some(span) = self.lock().get_mut(&id) {
            span.references += 1;
        }
    }

    /// Gives up a reference; true if the span is closed.
    pub fn release(&self, id: u64) -> bool {
        let mut spans = self.lock();
        let (mut next, mut closed) = (Some(id), false);
        while let Some(id) = next {
            let Some(span) = spans.get_mut(&id) else { break };
            span.references -= 1;
            if span.references > 0 {
                break;
            }
            closed = true;
            next = spans.remove(&id).and_then(|span| span.parent);
        }
        closed
    }

    pub fn metadata(&self, id: u64) -> Option<&'static Metadata<'static>> {
        self.lock().get(&id).map(|span| span.metadata)
    }

    /// Sets fields that are declared already, or had another value.
    pub fn record(&self, id: u64, fields: Fields) {
        if let Some(span) = self.lock().get_mut(&id) {
            span.fields.retain(|(name, _)| fields.iter().all(|(other, _)| other != name));
            span.fields.extend(fields);
        }
    }

    /// The fields of a span and of those around it; inner ones count more.
    pub fn fields(&self, span: Option<u64>) -> Map<String, Value> {
        let spans = self.lock();
        let mut all = Map::new();
        for (_, span) in ancestors(&spans, span) {
            for (name, value) in &span.fields {
                all.entry(*name).or_insert_with(|| value.clone());
            }
        }
        all
    }

    /// Changes the rules of the call that a span belongs to.
    pub fn change_rules(&self, span: u64, change: impl FnOnce(&mut Rules)) {
        let mut spans = self.lock();
        let root = ancestors(&spans, Some(span)).last().map(|(id, _)| id);
        if let Some(root) = root.and_then(|root| spans.get_mut(&root)) {
            change(root.rules.get_or_insert_with(Rules::new));
        }
    }

    /// A line of a span by the rules of the process and of all calls; those of a call about fields and omissions only if the span
    /// belongs to it. None: the line is not written.
    pub fn apply_rules(
        &self,
        process: &Rules,
        span: Option<u64>,
        message: &str,
        fields: Map<String, Value>,
    ) -> Option<(String, Map<String, Value>)> {
        let spans = self.lock();
        let call = ancestors(&spans, span).last().and_then(|(_, root)| root.rules.as_ref());
        let own: Vec<&Rules> = std::iter::once(process).chain(call).collect();
        let calls = spans.values().filter_map(|span| Some(&span.rules.as_ref()?.texts));
        let sets: Vec<&Masks> = std::iter::once(&process.texts).chain(calls).collect();
        masking::applied(&own, &sets, message, fields)
    }
}

/// A span and those around it, from the inside to the outside.
fn ancestors(spans: &HashMap<u64, Span>, span: Option<u64>) -> impl Iterator<Item = (u64, &Span)> {
    let with_id = |id: Option<u64>| id.and_then(|id| Some((id, spans.get(&id)?)));
    std::iter::successors(with_id(span), move |(_, span)| with_id(span.parent))
}
