//! Objects between their stored form and values: decoding, marking, encoding.

use std::sync::Arc;

use base::diag::Diagnostic;
use model::addr::ConfigResource;
use model::schema::decode::sensitive_paths;
use model::state::{Attributes, Object, ObjectStatus};
use terrane_protocol::provider::Identity;
use terrane_protocol::schema::{Block, Nesting, Schema};
use terrane_value::{Marks, Path, Type, Value, json};

use crate::engine_errors::INVALID_OBJECT;

/// An object as steps hold it: the value carries the marks that state and schema give it.
#[derive(Clone, Debug)]
pub struct Stored {
    pub value: Value,
    pub identity: Option<Identity>,
    pub private: Arc<[u8]>,
    pub status: ObjectStatus,
    pub dependencies: Arc<[ConfigResource]>,
    pub create_before_destroy: bool,
    pub keep: bool,
    pub provider_key: Option<Arc<str>>,
}

impl Stored {
    pub fn is_tainted(&self) -> bool {
        self.status == ObjectStatus::Tainted
    }

    /// The form that the state keeps; none for null, which a provider may answer when it upgrades an object.
    pub fn encode_unless_null(&self, schema: &Schema) -> Option<Object> {
        (!self.value.is_null()).then(|| self.encode(schema))
    }

    /// The form that the state keeps.
    pub fn encode(&self, schema: &Schema) -> Object {
        let (value, sensitive) = match self.value.has_marks_deep() {
            true => self.value.unmark_deep_with_paths(),
            false => (self.value.clone(), Vec::new()),
        };
        let sensitive = sensitive.into_iter().filter(|(_, marks)| marks.contains(Marks::SENSITIVE));
        Object {
            status: self.status,
            schema_version: schema.version,
            attributes: Attributes::Value { value, ty: schema.implied_type().clone() },
            sensitive: sensitive.map(|(path, _)| (path, Marks::SENSITIVE)).collect(),
            identity: self.identity.clone(),
            private: self.private.clone(),
            dependencies: self.dependencies.clone(),
            create_before_destroy: self.create_before_destroy,
            keep: self.keep,
            provider_key: self.provider_key.clone(),
        }
    }
}

/// A stored object that is of the current schema already, without asking the provider.
pub fn decode(object: &Object, schema: &Schema) -> Result<Stored, Diagnostic> {
    let value = match &object.attributes {
        Attributes::Value { value, .. } => value.clone(),
        Attributes::Json(text) => json::from_json(text.as_bytes(), schema.implied_type()).map_err(|error| {
            Diagnostic::error(INVALID_OBJECT, format!("The stored object does not fit its type: {error}."))
        })?,
        Attributes::Flat(_) => {
            return Err(Diagnostic::error(
                INVALID_OBJECT,
                "The stored object is of a format that only its provider can read.",
            ));
        }
    };
    Ok(with_value(object, mark(&value, &object.sensitive, &schema.block)))
}

/// The object with another value.
pub fn with_value(object: &Object, value: Value) -> Stored {
    Stored {
        value,
        identity: object.identity.clone(),
        private: object.private.clone(),
        status: object.status,
        dependencies: object.dependencies.clone(),
        create_before_destroy: object.create_before_destroy,
        keep: object.keep,
        provider_key: object.provider_key.clone(),
    }
}

/// The value with given marks and those that the schema asks for.
pub fn mark(value: &Value, marks: &[(Path, Marks)], schema: &Block) -> Value {
    let value = value.mark_at_paths(marks);
    let sensitive = sensitive_paths(schema, &value);
    if sensitive.is_empty() {
        return value;
    }
    let sensitive: Vec<(Path, Marks)> = sensitive.into_iter().map(|path| (path, Marks::SENSITIVE)).collect();
    value.mark_at_paths(&sensitive)
}

/// With nulls in place of unknowns.
pub fn unknown_as_null(value: &Value) -> Value {
    if value.is_wholly_known() {
        return value.clone();
    }
    let known = value
        .transform::<()>(&mut |_, v| Ok(if v.is_known() { v } else { Value::null(v.ty().clone()).mark(v.marks()) }));
    known.unwrap_or_else(|()| Value::null(value.ty().clone()))
}

/// Type errors of a value that a provider returned: where, and what.
pub fn nonconforming(value: &Value, ty: &Type) -> Option<String> {
    conforms(value.ty(), ty, &Path::new()).err()
}

fn conforms(given: &Type, want: &Type, path: &Path) -> Result<(), String> {
    let shown = || if path.is_empty() { String::new() } else { format!("{path}: ") };
    match (given, want) {
        (_, Type::Dynamic) => Ok(()),
        (Type::Object(g), Type::Object(w)) => {
            for (name, want) in &w.attributes {
                match g.attributes.get(name) {
                    Some(given) => conforms(given, want, &path.clone().attr(name.clone()))?,
                    None => return Err(format!("{}attribute {name:?} is required", shown())),
                }
            }
            match g.attributes.keys().find(|name| !w.attributes.contains_key(*name)) {
                Some(extra) => Err(format!("{}unsupported attribute {extra:?}", shown())),
                None => Ok(()),
            }
        }
        (Type::List(g), Type::List(w)) | (Type::Set(g), Type::Set(w)) | (Type::Map(g), Type::Map(w)) => {
            conforms(g, w, path)
        }
        (Type::Tuple(g), Type::Tuple(w)) if g.len() == w.len() => {
            g.iter().zip(w.iter()).enumerate().try_for_each(|(i, (g, w))| conforms(g, w, &path.clone().index_int(i)))
        }
        _ if given == want => Ok(()),
        _ => Err(format!("{}{} required", shown(), want.friendly_name())),
    }
}

/// What older plugins leave null or unknown where a nested block's collection belongs becomes an empty collection.
pub fn normalise(schema: &Block, value: &Value) -> Value {
    if value.is_null() || !value.is_known() || schema.blocks.is_empty() {
        return value.clone();
    }
    let mut entries = value.entries().to_map();
    for (name, nested) in &schema.blocks {
        let Some(inner) = entries.get(name) else { continue };
        if inner.is_null() || !inner.is_known() {
            let element = nested.block.implied_type();
            let empty = match nested.nesting {
                Nesting::List if element.has_dynamic() => Value::empty_tuple(),
                Nesting::List => Value::list(element, Vec::new()),
                Nesting::Set => Value::set(element, Vec::new()),
                Nesting::Map if element.has_dynamic() => Value::empty_object(),
                Nesting::Map => Value::map(element, Vec::<(Arc<str>, Value)>::new()),
                Nesting::Single | Nesting::Group => continue,
            };
            if inner.is_null() {
                entries.insert(name.clone(), empty);
            }
        }
    }
    Value::object(entries).mark(value.marks())
}

/// Adds an error for every unknown part of what should be known.
pub fn unknown_parts(value: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    let _ = value.walk::<()>(&mut |path, v| {
        if !v.is_known() {
            found.push(path.clone());
        }
        Ok(true)
    });
    found
}
