//! What lines must not have, by the rules of the author.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use serde_json::{Map, Value};
use terrane_logging::Masks;

use super::{LOG, RULES, spans};

/// What stands in place of a secret.
const MASK: &str = "***";

/// Rules for all lines of the process, until it ends.
///
/// ```
/// terrane_sdk::log::process().mask_fields(["password", "token"]);
/// ```
pub fn process() -> Masking {
    Masking { span: None }
}

/// Rules for the lines of the current call, until it ends. Texts are masked in the lines of all calls meanwhile, because a task that
/// the call has started may log outside of its span. Without a call, such as in a task, they hold for the process.
///
/// ```
/// # use terrane_sdk::{Context, Error};
/// async fn read(context: &mut Context<String>) -> Result<(), Error> {
///     terrane_sdk::log::call().mask_texts([context.data()?.as_str()]).omit_fields(["body"]);
///     Ok(())
/// }
/// ```
pub fn call() -> Masking {
    Masking { span: spans::current() }
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
    /// In the call of this span; None: in the process.
    span: Option<u64>,
}

impl Masking {
    /// Writes `***` as the value of fields with these names.
    ///
    /// ```
    /// terrane_sdk::log::process().mask_fields(["password"]);
    /// ```
    pub fn mask_fields(self, names: impl IntoIterator<Item = impl Into<String>>) -> Masking {
        self.change(|rules| rules.masked_fields.extend(names.into_iter().map(Into::into)))
    }

    /// Writes `***` in place of these texts, in messages and in values of fields.
    ///
    /// ```
    /// # let token = "s3cret";
    /// terrane_sdk::log::process().mask_texts([token]);
    /// ```
    pub fn mask_texts(self, texts: impl IntoIterator<Item = impl AsRef<str>>) -> Masking {
        self.change(|rules| texts.into_iter().for_each(|text| rules.texts.add(text.as_ref())))
    }

    /// Does not write lines that have a field with one of these names.
    ///
    /// ```
    /// terrane_sdk::log::process().omit_fields(["body"]);
    /// ```
    pub fn omit_fields(self, names: impl IntoIterator<Item = impl Into<String>>) -> Masking {
        self.change(|rules| rules.omitted_fields.extend(names.into_iter().map(Into::into)))
    }

    /// Does not write lines that have one of these texts in their message.
    ///
    /// ```
    /// terrane_sdk::log::process().omit_messages(["polling"]);
    /// ```
    pub fn omit_messages(self, texts: impl IntoIterator<Item = impl Into<String>>) -> Masking {
        self.change(|rules| {
            rules.omitted_messages.extend(texts.into_iter().map(Into::into).filter(|text| !text.is_empty()))
        })
    }

    fn change(self, change: impl FnOnce(&mut Rules)) -> Masking {
        match (self.span, LOG.get()) {
            (Some(span), Some(log)) => log.spans.change_rules(span, change),
            // The spans are those of another subscriber.
            (Some(_), None) => {}
            (None, _) => change(&mut RULES.write().unwrap_or_else(PoisonError::into_inner)),
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
    pub omitted_messages: Vec<String>,
}

impl Rules {
    pub const fn new() -> Rules {
        Rules {
            masked_fields: BTreeSet::new(),
            texts: Masks::new(),
            omitted_fields: BTreeSet::new(),
            omitted_messages: Vec::new(),
        }
    }

    /// Masks a message and its fields; false if the line is not written at all.
    pub fn apply(&self, message: &mut String, fields: &mut Map<String, Value>) -> bool {
        if self.omitted_messages.iter().any(|text| message.contains(text.as_str()))
            || fields.keys().any(|name| self.omitted_fields.contains(name))
        {
            return false;
        }
        for (name, value) in fields.iter_mut() {
            if self.masked_fields.contains(name) {
                *value = MASK.into();
            }
        }
        self.mask_texts(message, fields);
        true
    }

    pub fn mask_texts(&self, message: &mut String, fields: &mut Map<String, Value>) {
        *message = self.texts.apply(message, MASK).into_owned();
        for value in fields.values_mut() {
            let text = match &*value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let masked = self.texts.apply(&text, MASK);
            if masked != text {
                *value = masked.into();
            }
        }
    }
}
