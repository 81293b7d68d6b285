//! Comparison of an imported object with the one that was created.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::error::CheckResult;
use super::state::{State, missing};

/// How imported objects are compared with those of the state.
#[derive(Clone, Debug, Default)]
pub(super) struct Verification {
    /// The attribute that has the same value in both objects; none: both have the same address.
    pub pair_by: Option<String>,
    /// Prefixes of flat names.
    pub ignored: Vec<String>,
}

impl Verification {
    /// Fails if the imported object of an address differs from the earlier one. Null attributes count as absent.
    pub fn check(&self, address: &str, imported: &Json, earlier: &State) -> CheckResult {
        let (found_at, created) = self.find_pair(address, imported, earlier)?;
        let (imported, created) = (self.flat_attributes(imported), self.flat_attributes(created));
        let mut names: Vec<&String> = imported.keys().chain(created.keys()).collect();
        names.sort();
        names.dedup();
        let text = |value: Option<&String>| value.map_or("nothing", String::as_str).to_owned();
        let differs = |name: &&String| imported.get(*name) != created.get(*name);
        let lines = names
            .into_iter()
            .filter(differs)
            .map(|name| format!("{name}: expected {}, found {}", text(created.get(name)), text(imported.get(name))));
        match lines.collect::<Vec<_>>() {
            lines if lines.is_empty() => Ok(()),
            lines => Err(format!("{address}: the imported object differs from {found_at}:\n  {}", lines.join("\n  "))),
        }
    }

    /// The earlier object and its address.
    fn find_pair<'s>(&self, address: &str, imported: &Json, earlier: &'s State) -> Result<(String, &'s Json), String> {
        let Some(attribute) = &self.pair_by else {
            let created = earlier.attributes(address).ok_or_else(|| missing(address, earlier.addresses()))?;
            return Ok((format!("{address} of the earlier state"), created));
        };
        let wanted = &imported[attribute.as_str()];
        if wanted.is_null() {
            return Err(format!("{address}: expected an attribute {attribute:?} in the imported object, found none"));
        }
        let mut all = earlier.addresses().filter_map(|other| Some((other, earlier.attributes(other)?)));
        let same = |(other, values): &(&str, &Json)| {
            type_of(other) == type_of(address) && values[attribute.as_str()] == *wanted
        };
        let pair = all.find(same).map(|(other, values)| (format!("{other} of the earlier state"), values));
        pair.ok_or_else(|| format!("{address}: expected an earlier object with {attribute} = {wanted}, found none"))
    }

    /// The attributes by flat names, without those that are not compared.
    fn flat_attributes(&self, values: &Json) -> BTreeMap<String, String> {
        let mut flat = BTreeMap::new();
        flatten(String::new(), values, &mut flat);
        let is_ignored = |name: &str| name == "timeouts" || name.starts_with("timeouts.") || self.ignores(name);
        flat.retain(|name, _| !is_ignored(name));
        flat
    }

    fn ignores(&self, name: &str) -> bool {
        self.ignored.iter().any(|prefix| name.starts_with(prefix.as_str()))
    }
}

/// `reminder.0.at`; `reminder.#` is the number of elements; `labels.%` marks an empty object.
fn flatten(name: String, value: &Json, into: &mut BTreeMap<String, String>) {
    let child = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        Json::Null => {}
        Json::Object(attributes) => {
            if attributes.is_empty() {
                into.insert(child("%"), "0".to_owned());
            }
            attributes.iter().for_each(|(key, value)| flatten(child(key), value, into));
        }
        Json::Array(elements) => {
            into.insert(child("#"), elements.len().to_string());
            elements.iter().enumerate().for_each(|(index, value)| flatten(child(&index.to_string()), value, into));
        }
        value => drop(into.insert(name, value.to_string())),
    }
}

/// The address without the module and the name: `data.todo_note`.
fn type_of(address: &str) -> &str {
    let mut rest = address;
    while let Some(module) = rest.strip_prefix("module.") {
        let end = end_of_module(module);
        rest = &module[end..];
    }
    let from = if rest.starts_with("data.") { "data.".len() } else { 0 };
    rest[from..].find('.').map_or(rest, |end| &rest[..from + end])
}

/// Where the address goes on behind `NAME.` or `NAME["KEY"].`.
fn end_of_module(text: &str) -> usize {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '.' if !quoted => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn state(resources: &[(&str, Json)]) -> State {
        let resources: Vec<Json> =
            resources.iter().map(|(address, values)| json!({ "address": address, "values": values })).collect();
        State::parse(&json!({ "values": { "root_module": { "resources": resources } } }).to_string()).unwrap()
    }

    #[test]
    fn types_are_parts_of_addresses() {
        let cases = [
            ("todo_note.a", "todo_note"),
            ("data.todo_note.a[0]", "data.todo_note"),
            ("module.m[\"x.y\"].module.n.todo_note.a", "todo_note"),
            ("module.m[\"\\\".\"].data.todo_note.a", "data.todo_note"),
        ];
        for (address, expected) in cases {
            assert_eq!(type_of(address), expected, "{address}");
        }
    }

    #[test]
    fn differences_are_named_by_flat_attributes() {
        let created = json!({
            "id": "1", "title": "A", "tags": ["x"], "labels": {}, "reminder": [{ "at": "now" }], "secret_version": 1,
            "timeouts": { "create": "1m" }, "body": null,
        });
        let earlier = state(&[("todo_note.a", created.clone())]);
        let verify = Verification::default();
        assert_eq!(verify.check("todo_note.a", &created, &earlier), Ok(()));
        let imported = json!({ "id": "1", "title": "B", "tags": [], "reminder": [{ "at": "then" }] });
        let message = verify.check("todo_note.a", &imported, &earlier).unwrap_err();
        let lines: Vec<&str> = message.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "todo_note.a: the imported object differs from todo_note.a of the earlier state:",
                "labels.%: expected 0, found nothing",
                r#"reminder.0.at: expected "now", found "then""#,
                "secret_version: expected 1, found nothing",
                "tags.#: expected 1, found 0",
                r#"tags.0: expected "x", found nothing"#,
                r#"title: expected "A", found "B""#,
            ]
        );
        let ignored = ["labels", "reminder.0.at", "secret_", "tags", "title"].map(str::to_owned).to_vec();
        assert_eq!(Verification { ignored, pair_by: None }.check("todo_note.a", &imported, &earlier), Ok(()));
    }

    #[test]
    fn objects_are_paired_by_an_attribute() {
        let earlier = state(&[("other.a", json!({ "id": "1" })), ("todo_note.b", json!({ "id": "1", "title": "B" }))]);
        let verify = Verification { pair_by: Some("id".to_owned()), ..Verification::default() };
        assert_eq!(verify.check("todo_note.a", &json!({ "id": "1", "title": "B" }), &earlier), Ok(()));
        let error = |imported: Json| verify.check("todo_note.a", &imported, &earlier).unwrap_err();
        assert!(error(json!({ "id": "2" })).contains("expected an earlier object with id = \"2\", found none"));
        assert!(error(json!({})).contains("expected an attribute \"id\""));
        assert!(Verification::default().check("todo_note.a", &json!({}), &earlier).is_err());
    }
}
