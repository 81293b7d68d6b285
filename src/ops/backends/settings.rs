//! The settings of a backend: from its block, the command line and answers to a value of the backend's schema, from there
//! to the record and back.
//!
//! Never opens a backend; values from the environment are never part of settings.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use backend::kinds::{Kind, list};
use base::diag::{self, Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::files::{Disk, WrittenIn};
use base::name::COMMAND;
use base::source::SourceFile;
use lang::syntax::body::{Body, BodySchema};
use lang::syntax::parser;
use model::config::{self, NoNames, StaticContext};
use model::model_errors::INVALID_BACKEND_TYPE;
use model::schema::decode::decode_body;
use serde_json::{Map, Value as Json};
use terrane_protocol::schema::{AttributeShape, Block, Nesting, Schema};
use terrane_value::json::{from_json, to_json};
use terrane_value::set::hash_key;
use terrane_value::{Type, Value, convert};

use super::provided_kind::ProvidedKind;
use super::record::BackendRecord;

/// A kind of backend: of this program, or of a provider.
#[derive(Clone)]
pub enum KindRef {
    Own(&'static dyn Kind),
    Provided(Arc<ProvidedKind>),
}

impl KindRef {
    /// A provider implements it.
    pub fn is_provided(&self) -> bool {
        matches!(self, KindRef::Provided(_))
    }
}

impl Deref for KindRef {
    type Target = dyn Kind;

    fn deref(&self) -> &(dyn Kind + 'static) {
        match self {
            KindRef::Own(kind) => *kind,
            KindRef::Provided(kind) => &**kind,
        }
    }
}

/// A kind of backend with settings of its schema's type, unmarked and known.
#[derive(Clone)]
pub struct BackendSettings {
    pub kind: KindRef,
    pub config: Value,
    /// Of what the block alone says: the reference's hash.
    pub hash: u32,
    /// The block with what the command line lays over it, where problems with settings point to.
    pub body: Body,
}

impl BackendSettings {
    /// The settings of a block with an overlay. What is wrong with them is reported with its place.
    pub fn of_block(block: &config::Backend, overlay: Option<Body>) -> (Option<BackendSettings>, Diagnostics) {
        let kind = match kind_of(block) {
            Ok(kind) => kind,
            Err(problem) => return (None, problem),
        };
        let schema = kind.schema().none_required();
        let (written, found) = decode_body(&block.body, &schema, &NoNames);
        let hash = reference_hash(&block.kind, &written);
        let (config, body, diagnostics) = match overlay {
            None => (written, block.body.clone(), found),
            Some(overlay) => {
                let body = Body::merged(block.body.clone(), overlay);
                let (config, found) = decode_body(&body, &schema, &NoNames);
                (config, body, found)
            }
        };
        (Some(BackendSettings { kind: KindRef::Own(kind), config, hash, body }), diagnostics)
    }

    /// The settings that `init` recorded.
    pub fn of_record(record: &BackendRecord) -> Result<BackendSettings, Diagnostics> {
        let kind = list::find(&record.kind)?;
        let body = Body::empty(&SourceFile::new("", ""));
        let config = value_of_json(&record.config, &kind.schema())?;
        Ok(BackendSettings { kind: KindRef::Own(kind), config, hash: record.hash, body })
    }

    /// What the record keeps: every setting of the schema, null where it is not set.
    pub fn record(&self) -> BackendRecord {
        let schema = Schema::new(0, self.kind.schema());
        let config = to_json(&self.config, schema.implied_type()).unwrap_or_else(|_| "{}".to_owned());
        let provider = match &self.kind {
            KindRef::Own(_) => None,
            KindRef::Provided(kind) => Some(kind.recorded()),
        };
        BackendRecord { kind: self.kind.name().to_owned(), config, hash: self.hash, provider }
    }

    /// The record holds these very settings; what a record holds besides those of the schema is another setting.
    pub fn is_recorded(&self, record: &BackendRecord) -> bool {
        let config: Option<Map<String, Json>> = serde_json::from_str(&record.config).ok();
        let block = self.kind.schema();
        let is_known = |name: &str| block.attributes.contains_key(name) || block.blocks.contains_key(name);
        self.kind.name() == record.kind
            && config.is_some_and(|config| config.iter().all(|(name, value)| value.is_null() || is_known(name)))
            && record.provider.is_none()
            && value_of_json(&record.config, &block).is_ok_and(|value| value == self.config)
    }
}

/// The record's settings with null for those of the schema that it lacks, and without any others.
pub fn value_of_json(config: &str, block: &Block) -> Result<Value, Diagnostics> {
    let schema = Schema::new(0, block.clone());
    let given: Map<String, Json> = serde_json::from_str(config).unwrap_or_default();
    let names = schema.block.attributes.keys().chain(schema.block.blocks.keys());
    let empty = |name: &str| match schema.block.blocks.get(name).map(|nested| nested.nesting) {
        Some(Nesting::List | Nesting::Set) => Json::Array(Vec::new()),
        Some(Nesting::Map) => Json::Object(Map::new()),
        _ => Json::Null,
    };
    let all: Map<String, Json> =
        names.map(|name| (name.to_string(), given.get(&**name).cloned().unwrap_or_else(|| empty(name)))).collect();
    from_json(Json::Object(all).to_string().as_bytes(), schema.implied_type()).map_err(|problem| {
        let detail = format!(
            "The backend configuration created by the most recent run of \"{COMMAND} init\" could not be decoded: {problem}. The \
             configuration may have been initialized by an earlier version that used an incompatible configuration structure. \
             Run \"{COMMAND} init -reconfigure\" to force re-initialization of the backend."
        );
        Diagnostic::error("Failed to decode current backend config", detail).into()
    })
}

/// The reference's hash of a block (1.11.4): CRC-32 of the text that it hashes a tuple of kind and settings by.
fn reference_hash(kind: &str, config: &Value) -> u32 {
    hash_of(vec![Value::string(kind), config.unmark_deep().0])
}

pub fn hash_of(parts: Vec<Value>) -> u32 {
    let text = hash_key(&Value::tuple(parts));
    let mut crc = flate2::Crc::new();
    crc.update(text.as_bytes());
    crc.sum()
}

/// The kind of a block, if there is such a backend.
pub fn kind_of(block: &config::Backend) -> Result<&'static dyn Kind, Diagnostics> {
    let found = match &*block.kind {
        "cloud" if !block.is_cloud_block => Err(list::no_backend(
            "There is no explicit backend type named \"cloud\". To configure HCP Terraform, declare a 'cloud' block instead.",
        )),
        kind => list::find(kind),
    };
    found.map_err(|problem| problem.at(block.kind_range.clone()).into())
}

/// The error for an unknown backend in other commands than `init`.
pub fn not_found_elsewhere(diagnostics: Diagnostics) -> Diagnostics {
    let renamed = |mut diagnostic: Diagnostic| {
        if diagnostic.kind == diag::Kind::UnknownBackend {
            diagnostic.summary = INVALID_BACKEND_TYPE.into();
        }
        diagnostic
    };
    diagnostics.into_iter().map(renamed).collect()
}

/// What `-backend-config` says, in order: a file of settings, or `name=value`. None: the option was not given. One empty value
/// stands for no settings, so that those of an earlier `init` do not count.
pub fn overlay(
    dialect: Dialect,
    given: &[String],
    kind: &dyn Kind,
    early: Option<&StaticContext>,
    diagnostics: &mut Diagnostics,
) -> Option<Body> {
    match given {
        [] => return None,
        [empty] if empty.is_empty() => return Some(config::settings_of_values("-backend-config=''", &[])),
        _ => {}
    }
    let schema = kind.schema();
    let mut whole: Option<Body> = None;
    let mut values: Vec<(Arc<str>, Value)> = Vec::new();
    let add = |body: Body, whole: &mut Option<Body>| {
        *whole = Some(match whole.take() {
            Some(base) => Body::merged(base, body),
            None => body,
        });
    };
    for text in given {
        match text.split_once('=') {
            Some((name, value)) => {
                if let Some(value) = argument(text, name, value, &schema, diagnostics) {
                    values.retain(|(other, _)| **other != *name);
                    values.push((name.into(), value));
                }
            }
            None => {
                if let Some(body) = settings_file(dialect, text, kind, &schema, early, diagnostics) {
                    if !values.is_empty() {
                        add(config::settings_of_values(OVERLAY, &std::mem::take(&mut values)), &mut whole);
                    }
                    add(body, &mut whole);
                }
            }
        }
    }
    if !values.is_empty() {
        add(config::settings_of_values(OVERLAY, &values), &mut whole);
    }
    whole
}

const OVERLAY: &str = "-backend-config=...";

/// The value of `name=value`: text for simple types, an expression for others.
fn argument(whole: &str, name: &str, text: &str, schema: &Block, diagnostics: &mut Diagnostics) -> Option<Value> {
    let Some(attribute) = schema.attributes.get(name) else {
        diagnostics.error(
            "Invalid backend configuration argument",
            format!(
                "The backend configuration argument {name:?} given on the command line is not expected for the selected backend \
                 type."
            ),
        );
        return None;
    };
    let shown = format!("-backend-config={whole:?}");
    match &attribute.shape {
        AttributeShape::Plain(ty) if ty.is_primitive() => match convert::convert(&Value::string(text), ty) {
            Ok(value) => Some(value),
            Err(problem) => {
                let detail = format!("Invalid backend configuration argument {shown}: {problem}");
                diagnostics.error("Invalid backend configuration value", detail);
                None
            }
        },
        _ => {
            let (expr, found) = parser::parse_expression(SourceFile::new(shown, text));
            let failed = found.has_errors();
            diagnostics.extend(found);
            if failed {
                return None;
            }
            let (value, found) = lang::eval::evaluate(&expr, &NoNames);
            let failed = found.has_errors();
            diagnostics.extend(found);
            (!failed).then_some(value)
        }
    }
}

/// A file of settings, in either syntax, with only what the schema names.
fn settings_file(
    dialect: Dialect,
    path: &str,
    kind: &dyn Kind,
    schema: &Block,
    early: Option<&StaticContext>,
    diagnostics: &mut Diagnostics,
) -> Option<Body> {
    let mut found = Diagnostics::new();
    let body = config::load_body(Path::new(path), &WrittenIn(dialect, Disk), &mut found);
    let body = body.filter(|_| !found.has_errors()).map(|body| {
        let names = schema.attributes.keys().fold(BodySchema::new(), |schema, name| schema.attribute(name));
        let all = schema.blocks.iter().fold(names, |schema, (name, nested)| {
            schema.block(name, if nested.nesting == Nesting::Map { &["key"] } else { &[] })
        });
        found.extend(body.content(&all).1);
        match early {
            Some(early) => config::evaluate_settings(&body, kind.name(), &body.range(), early, &mut found),
            None => body,
        }
    });
    let failed = found.has_errors();
    diagnostics.extend(found);
    body.filter(|_| !failed)
}

/// Settings of simple types that are required and missing, by name, with their type and what they are for.
pub fn missing(settings: &BackendSettings) -> Vec<(Arc<str>, Type, String)> {
    let schema = settings.kind.schema();
    let is_missing = |name: &str| settings.config.get(name).is_some_and(Value::is_null);
    let simple = |shape: &AttributeShape| match shape {
        AttributeShape::Plain(ty) if ty.is_primitive() => Some(ty.clone()),
        _ => None,
    };
    let required = schema.attributes.iter().filter(|(name, attribute)| attribute.required && is_missing(name));
    required
        .filter_map(|(name, attribute)| Some((name.clone(), simple(&attribute.shape)?, attribute.description.clone())))
        .collect()
}

/// The settings with a value for one of them.
pub fn with_setting(settings: &mut BackendSettings, name: &str, value: Value) {
    let mut entries = settings.config.entries().to_map();
    entries.insert(name.into(), value);
    settings.config = Value::object(entries);
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
