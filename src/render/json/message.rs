//! A message of the JSON streams, and the objects that messages name.

use std::borrow::Cow;

use base::dialect::Dialect;
use model::addr::{AbsResourceInstance, InstanceKey};
use serde_json::{Map, Value as Json, json};

use super::go;

/// A message without its time: level, text, type, and what belongs to the type.
#[derive(Debug)]
pub struct Message {
    level: &'static str,
    pub(super) text: String,
    pub(super) kind: &'static str,
    pub(super) members: Map<String, Json>,
    /// A member that is JSON text already.
    raw: Option<(&'static str, String)>,
}

impl Message {
    pub(super) fn new(kind: &'static str, text: impl Into<String>, members: Json) -> Message {
        let members = match members {
            Json::Object(members) => members,
            _ => Map::new(),
        };
        Message { level: "info", text: text.into(), kind, members, raw: None }
    }

    /// The message at another level than "info".
    pub(super) fn at_level(self, level: &'static str) -> Message {
        Message { level, ..self }
    }

    /// The message with a member that is JSON text, as [`go::compact`] writes it.
    pub(super) fn with_raw(self, name: &'static str, json: String) -> Message {
        Message { raw: Some((name, json)), ..self }
    }

    /// The message with the test file and the run that it is about.
    pub fn of_test(mut self, file: Option<&str>, run: Option<&str>) -> Message {
        for (name, value) in [("@testfile", file), ("@testrun", run)] {
            self.members.extend(value.map(|value| (name.to_owned(), value.into())));
        }
        self
    }

    /// The line that is written; `timestamp` in RFC 3339.
    pub fn line(&self, dialect: Dialect, timestamp: &str) -> String {
        let mut all: Vec<(&str, Cow<'_, str>)> = vec![
            ("@level", go::compact(&self.level).into()),
            ("@message", go::compact(&self.text).into()),
            ("@module", go::compact(&format!("{}.ui", stream_name(dialect))).into()),
            ("@timestamp", go::compact(&timestamp).into()),
        ];
        all.extend(self.members.iter().map(|(name, value)| (name.as_str(), go::compact(value).into())));
        all.extend(self.raw.iter().map(|(name, json)| (*name, json.as_str().into())));
        if !self.kind.is_empty() {
            all.push(("type", go::compact(&self.kind).into()));
        }
        all.sort_by(|a, b| a.0.cmp(b.0));
        let members: Vec<String> = all.iter().map(|(name, json)| format!("{}:{json}", go::compact(name))).collect();
        format!("{{{}}}\n", members.join(","))
    }
}

/// What streams call the program: programs that read them know no other names.
pub(super) fn stream_name(dialect: Dialect) -> &'static str {
    dialect.language().command()
}

/// The key of an instance; null without one.
pub(super) fn instance_key(key: &InstanceKey) -> Json {
    match key {
        InstanceKey::None | InstanceKey::Wildcard => Json::Null,
        InstanceKey::Int(n) => (*n).into(),
        InstanceKey::Str(s) => s.to_string().into(),
    }
}

pub(super) fn resource(addr: &AbsResourceInstance) -> Json {
    let key = instance_key(addr.key());
    json!({
        "addr": addr.to_string(),
        "module": addr.module.to_string(),
        "resource": addr.resource.to_string(),
        "implied_provider": addr.resource.resource.implied_provider(),
        "resource_type": addr.kind(),
        "resource_name": &*addr.resource.resource.name,
        "resource_key": key,
    })
}
