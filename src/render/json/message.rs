//! A message of the JSON streams, and the objects that messages name.

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
}

impl Message {
    pub(super) fn new(kind: &'static str, text: impl Into<String>, members: Json) -> Message {
        let members = match members {
            Json::Object(members) => members,
            _ => Map::new(),
        };
        Message { level: "info", text: text.into(), kind, members }
    }

    /// The message at another level than "info".
    pub(super) fn at_level(self, level: &'static str) -> Message {
        Message { level, ..self }
    }

    /// The line that is written; `timestamp` in RFC 3339.
    pub fn line(&self, dialect: Dialect, timestamp: &str) -> String {
        let mut all: Vec<(&str, Json)> = vec![
            ("@level", self.level.into()),
            ("@message", self.text.as_str().into()),
            ("@module", format!("{}.ui", stream_name(dialect)).into()),
            ("@timestamp", timestamp.into()),
        ];
        let mut rest: Vec<(&str, Json)> = self.members.iter().map(|(k, v)| (k.as_str(), v.clone())).collect();
        if !self.kind.is_empty() {
            rest.push(("type", self.kind.into()));
        }
        rest.sort_by(|a, b| a.0.cmp(b.0));
        all.extend(rest);
        let object: Map<String, Json> = all.into_iter().map(|(k, v)| (k.to_string(), v)).collect();
        format!("{}\n", go::compact(&Json::Object(object)))
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
