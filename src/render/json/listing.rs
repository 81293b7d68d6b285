//! The messages of a query in the JSON stream.

use model::addr::AbsResourceInstance;
use model::plan::{ListResults, ListedObject};
use serde_json::{Map, Value as Json, json};
use terrane_value::{Value, json as value_json};

use super::message::Message;

/// A list begins. `config`: the settings; `sensitive`: the paths of those that are.
pub fn started(addr: &AbsResourceInstance, config: Option<&Value>, sensitive: &[String]) -> Message {
    let mut start = about(addr);
    if let Some(config) = config {
        start.insert("input_config".into(), attributes(config));
    }
    if !sensitive.is_empty() {
        start.insert("sensitive_attribute_paths".into(), json!(sensitive));
    }
    Message::new("list_start", format!("{addr}: Starting query..."), json!({ "list_start": start }))
}

/// A message for each object, and one for the end.
pub fn finished(results: &ListResults) -> Vec<Message> {
    let addr = &results.addr;
    let found = |object| {
        let members = json!({ "list_resource_found": object_members(results, object) });
        Message::new("list_resource_found", format!("{addr}: Result found"), members)
    };
    let mut complete = about(addr);
    complete.insert("total".into(), results.objects.len().into());
    let complete = json!({ "list_complete": complete });
    let end = Message::new("list_complete", format!("{addr}: List complete"), complete);
    results.objects.iter().map(found).chain([end]).collect()
}

fn about(addr: &AbsResourceInstance) -> Map<String, Json> {
    let members = [("address", addr.to_string()), ("resource_type", addr.kind().to_string())];
    members.into_iter().map(|(name, text)| (name.to_string(), Json::String(text))).collect()
}

fn object_members(results: &ListResults, object: &ListedObject) -> Map<String, Json> {
    let addr = &results.addr;
    let mut found = Map::new();
    found.insert("address".into(), addr.to_string().into());
    found.insert("display_name".into(), object.display_name.as_str().into());
    found.insert("identity".into(), attributes(&object.identity));
    found.insert("identity_version".into(), results.identity_version.into());
    found.insert("resource_type".into(), addr.kind().into());
    if let Some(state) = &object.state {
        found.insert("resource_object".into(), attributes(state));
    }
    if let Some(generated) = &object.generated {
        found.insert("config".into(), generated.resource.as_str().into());
        found.insert("import_config".into(), generated.import.as_str().into());
    }
    found
}

/// An object; its attributes are in order of their names.
fn attributes(value: &Value) -> Json {
    let text = value_json::to_json(value, value.ty()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
