//! What lines must not have, by the rules of the author.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use serde_json::{Map, Value};
use terrane_logging::{Masks, masked};

use super::{LOG, RULES, spans};

/// What stands in place of a secret.
const MASK: &str = "***";

/// Rules for all lines of the process, until it ends.
///
/// ```
/// terrane_sdk::log::process().mask_fields(["password", "token"]);
/// ```
pub fn process() -> Masking {
    Masking { place: Place::Process }
}

/// Rules for the lines of the current call, until it ends. Texts are masked in the lines of all calls meanwhile, because a task that
/// the call has started may log outside of its span. Without a call, such as in a task, masks hold for the process, and nothing is
/// omitted.
///
/// ```
/// # use terrane_sdk::{Context, Error};
/// async fn read(context: &mut Context<String>) -> Result<(), Error> {
///     terrane_sdk::log::call().mask_texts([context.data()?.as_str()]).omit_fields(["body"]);
///     Ok(())
/// }
/// ```
pub fn call() -> Masking {
    Masking { place: Place::Call(spans::current()) }
}

/// Where rules hold.
///
/// ```
/// use terrane_sdk::log::{self, Masking};
/// let rules: Masking = log::process();
/// rules.mask_fields(["password"]).omit_messages(["polling"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Masking {
    place: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Process,
    /// In the call of this span.
    Call(Option<u64>),
}

impl Masking {
    /// Writes `***` as the value of fields with these names.
    ///
    /// ```
    /// terrane_sdk::log::process().mask_fields(["password"]);
    /// ```
    pub fn mask_fields(self, names: impl IntoIterator<Item = impl Into<String>>) -> Masking {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        self.change(|rules| rules.masked_fields.extend(names))
    }

    /// Writes `***` in place of these texts, in messages and in values of fields.
    ///
    /// ```
    /// # let token = "s3cret";
    /// terrane_sdk::log::process().mask_texts([token]);
    /// ```
    pub fn mask_texts(self, texts: impl IntoIterator<Item = impl AsRef<str>>) -> Masking {
        let texts: Vec<_> = texts.into_iter().collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        self.change(|rules| texts.iter().for_each(|text| rules.texts.add(text)))
    }

    /// Does not write lines that have a field with one of these names.
    ///
    /// ```
    /// terrane_sdk::log::process().omit_fields(["body"]);
    /// ```
    pub fn omit_fields(self, names: impl IntoIterator<Item = impl Into<String>>) -> Masking {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        self.omit(|rules| rules.omitted_fields.extend(names))
    }

    /// Does not write lines that have one of these texts in their message.
    ///
    /// ```
    /// terrane_sdk::log::process().omit_messages(["polling"]);
    /// ```
    pub fn omit_messages(self, texts: impl IntoIterator<Item = impl Into<String>>) -> Masking {
        let texts: Vec<String> = texts.into_iter().map(Into::into).filter(|text| !text.is_empty()).collect();
        self.omit(|rules| rules.omitted_messages.extend(texts))
    }

    fn omit(self, change: impl FnOnce(&mut Rules)) -> Masking {
        if matches!(self.place, Place::Call(None)) { self } else { self.change(change) }
    }

    /// Nothing of the author runs in `change`: it might log, which waits for the rules.
    fn change(self, change: impl FnOnce(&mut Rules)) -> Masking {
        match (self.place, LOG.get()) {
            (Place::Call(Some(span)), Some(log)) => log.spans.change_rules(span, change),
            // Nothing is written.
            (Place::Call(_), None) => {}
            (Place::Process, _) | (Place::Call(None), Some(_)) => {
                change(&mut RULES.write().unwrap_or_else(PoisonError::into_inner));
            }
        }
        self
    }
}

/// The rules of the process or of a call.
#[derive(Debug)]
pub(super) struct Rules {
    pub masked_fields: BTreeSet<String>,
    pub texts: Masks,
    pub omitted_fields: BTreeSet<String>,
    pub omitted_messages: BTreeSet<String>,
}

impl Rules {
    pub const fn new() -> Rules {
        Rules {
            masked_fields: BTreeSet::new(),
            texts: Masks::new(),
            omitted_fields: BTreeSet::new(),
            omitted_messages: BTreeSet::new(),
        }
    }

    /// True if a line is not written.
    fn omits(&self, message: &str, fields: &Map<String, Value>) -> bool {
        self.omitted_messages.iter().any(|text| message.contains(text.as_str()))
            || fields.keys().any(|name| self.omitted_fields.contains(name))
    }
}

/// The line as it is written, or None. `own`: the rules of the process and of the line's call. `sets`: the texts of all calls too.
/// What is omitted is decided before anything is masked, and all texts are masked at once: one may be a part of another.
pub(super) fn applied(
    own: &[&Rules],
    sets: &[&Masks],
    message: &str,
    mut fields: Map<String, Value>,
) -> Option<(String, Map<String, Value>)> {
    if own.iter().any(|rules| rules.omits(message, &fields)) {
        return None;
    }
    for (name, value) in fields.iter_mut() {
        if own.iter().any(|rules| rules.masked_fields.contains(name)) {
            *value = MASK.into();
            continue;
        }
        let text = match &*value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let shown = masked(sets.iter().copied(), &text, MASK);
        if shown != text {
            *value = shown.into();
        }
    }
    Some((masked(sets.iter().copied(), message, MASK).into_owned(), fields))
}
