//! Documents of two programs made comparable: random identifiers get names, what has no order is sorted.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::newer::Newer;

/// `TERRANE_MODEL_DETAILS` compares texts of diagnostics and relevant attributes too.
pub fn details() -> bool {
    std::env::var_os("TERRANE_MODEL_DETAILS").is_some()
}

/// Attributes whose values are random, or made of what is random.
const RANDOM: &[&str] = &[
    "id",
    "result",
    "bcrypt_hash",
    "hex",
    "dec",
    "b64_std",
    "b64_url",
    "content_md5",
    "content_sha1",
    "content_sha256",
    "content_sha512",
    "content_base64sha256",
    "content_base64sha512",
];

/// Names for the identifiers that providers choose at random.
#[derive(Clone, Default)]
pub struct Identifiers {
    names: HashMap<String, String>,
    newer: Newer,
}

impl Identifiers {
    pub fn new(newer: Newer) -> Identifiers {
        Identifiers { newer, ..Identifiers::default() }
    }

    /// Names what is random in a state file, and was not seen before, after the place where it is.
    pub fn learn(&mut self, state: &Value, step: usize) {
        for resource in elements(&state["resources"]) {
            for instance in elements(&resource["instances"]) {
                let place = format!(
                    "<{}/{}.{}/{}/{step}{}>",
                    resource["module"].as_str().unwrap_or_default(),
                    resource["type"].as_str().unwrap_or_default(),
                    resource["name"].as_str().unwrap_or_default(),
                    instance["index_key"],
                    if instance["deposed"].is_null() { "" } else { "/deposed" },
                );
                let place = place.replace(['"', '\\'], "'");
                let found = RANDOM.iter().filter_map(|name| instance["attributes"][*name].as_str());
                for text in found.filter(|text| text.len() >= 8 && !text.starts_with("imported")) {
                    self.names.entry(text.to_owned()).or_insert_with(|| place.clone());
                    // Configurations call `upper`.
                    self.names.entry(text.to_uppercase()).or_insert_with(|| place.clone());
                }
            }
        }
    }

    /// Returns a text with the names in place of the identifiers. Numbers that are too long to be anything else are random.
    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        // One identifier may be the beginning of another.
        let mut names: Vec<(&String, &String)> = self.names.iter().collect();
        names.sort_by_key(|(id, _)| std::cmp::Reverse(id.len()));
        for (id, name) in names {
            if text.contains(id.as_str()) {
                text = text.replace(id.as_str(), name);
            }
        }
        let mut out = String::new();
        for (is_number, run) in runs(&text) {
            out.push_str(if is_number && run.len() >= 15 { "<number>" } else { run });
        }
        out
    }

    fn document(&self, document: &Value) -> Value {
        serde_json::from_str(&self.text(&document.to_string())).unwrap_or_else(|_| document.clone())
    }

    /// Returns a plan as `show -json` prints it, comparable.
    pub fn plan(&self, plan: &Value) -> Value {
        let mut plan = self.document(plan);
        if let Some(map) = plan.as_object_mut() {
            map.remove("timestamp");
            if !details() {
                map.remove("relevant_attributes");
            }
            if self.newer == Newer::OpenTofu {
                // It leaves out what it has no schema for.
                map.remove("configuration");
            }
            if let Some(root) = map.get_mut("prior_state").and_then(|state| state.pointer_mut("/values/root_module")) {
                remove_empty_modules(root);
            }
        }
        tidy(&mut plan, self.newer);
        plan
    }

    /// Returns a state file, comparable.
    pub fn state(&self, state: &Value) -> Value {
        let mut state = self.document(state);
        if let Some(map) = state.as_object_mut() {
            map.remove("lineage");
            map.remove("serial");
            if let Some(Value::Array(resources)) = map.get_mut("resources") {
                // After an apply that failed, the reference keeps resources without instances.
                resources.retain(|resource| elements(&resource["instances"]).next().is_some());
            }
        }
        tidy(&mut state, self.newer);
        state
    }
}

/// Removes modules without anything in them: after an apply that failed, the reference keeps resources without instances.
fn remove_empty_modules(module: &mut Value) {
    let Some(children) = module.get_mut("child_modules").and_then(Value::as_array_mut) else { return };
    children.iter_mut().for_each(remove_empty_modules);
    children.retain(|child| child.as_object().is_some_and(|map| map.keys().any(|name| name != "address")));
    if children.is_empty()
        && let Some(map) = module.as_object_mut()
    {
        map.remove("child_modules");
    }
}

/// Splits a text into digits and the rest.
fn runs(text: &str) -> Vec<(bool, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_number).unwrap_or(rest.len());
        found.push((is_number, &rest[..end]));
        rest = &rest[end..];
    }
    found
}

pub fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Arrays whose order means nothing.
const UNORDERED: &[&str] = &[
    "resource_changes",
    "resource_drift",
    "relevant_attributes",
    "checks",
    "check_results",
    "objects",
    "instances",
    "resources",
    "child_modules",
    "dependencies",
    "depends_on",
    "sensitive_attributes",
    "action_invocations",
    "deferred_action_invocations",
    "deferred_changes",
];

/// Removes what only one of two newer programs has.
fn normalise_newer(map: &mut serde_json::Map<String, Value>, newer: Newer) {
    let identities = ["before_identity", "after_identity", "identity", "identity_schema_version"];
    match newer {
        // It keeps `destroy = false` in configurations alone.
        Newer::Terraform => drop(map.remove("skip_destroy")),
        Newer::OpenTofu => {
            identities.iter().for_each(|name| drop(map.remove(*name)));
            // Of objects that are created, too.
            if map.get("action_reason").is_some_and(|reason| reason == "replace_by_triggers") {
                map.remove("action_reason");
            }
            for provisioner in map.get_mut("provisioners").and_then(Value::as_array_mut).into_iter().flatten() {
                provisioner.as_object_mut().map(|provisioner| provisioner.remove("expressions"));
            }
        }
        Newer::Judge => identities.iter().for_each(|name| drop(map.remove(*name))),
        Newer::Nothing | Newer::Everything => {}
    }
}

/// Sorts what has no order and removes what is random.
fn tidy(value: &mut Value, newer: Newer) {
    match value {
        Value::Object(map) => {
            map.remove("random");
            map.remove("terraform_version");
            // Newer versions have this attribute of terraform_data, which nothing here sets.
            if map.get("identity_schema_version") == Some(&0.into()) {
                map.remove("identity_schema_version");
            }
            map.remove("store");
            normalise_newer(map, newer);
            for name in ["deposed", "deposed_key"] {
                if let Some(key) = map.get_mut(name).filter(|key| key.is_string()) {
                    *key = "<key>".into();
                }
            }
            if !details() {
                // The reference sets it for fewer instances while applying than while planning.
                map.remove("create_before_destroy");
            }
            for (name, inner) in map.iter_mut() {
                tidy(inner, newer);
                if let (Value::Array(list), "actions") = (&mut *inner, name.as_str()) {
                    // Newer versions of the reference name configurations that do not exist.
                    list.iter_mut()
                        .filter_map(Value::as_object_mut)
                        .for_each(|map| drop(map.remove("provider_config_key")));
                }
                if let Value::Array(list) = inner
                    && UNORDERED.contains(&name.as_str())
                {
                    list.sort_by_cached_key(|element| match name.ends_with("action_invocations") {
                        true => element.to_string(),
                        false => sort_key(element),
                    });
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| tidy(value, newer)),
        _ => {}
    }
}

fn sort_key(value: &Value) -> String {
    let Some(map) = value.as_object() else { return value.to_string() };
    let names = [
        "module",
        "address",
        "config_addr",
        "object_addr",
        "mode",
        "type",
        "name",
        "index_key",
        "deposed",
        "deposed_key",
    ];
    let parts = names.iter().map(|name| map.get(*name).unwrap_or(&Value::Null).to_string());
    // Deposed objects of one instance differ in nothing else.
    let is_deposed = map.contains_key("deposed") || map.contains_key("deposed_key");
    let known = parts.collect::<Vec<_>>().join(" ");
    if known.contains('"') && !is_deposed { known } else { format!("{known} {value}") }
}

/// The first difference of two documents: where, and both values there.
#[derive(Debug, Clone)]
pub struct Difference {
    pub path: String,
    pub ours: String,
    pub theirs: String,
}

pub fn difference(ours: &Value, theirs: &Value) -> Option<Difference> {
    differ(ours, theirs, "")
}

fn differ(ours: &Value, theirs: &Value, path: &str) -> Option<Difference> {
    let found = || Some(Difference { path: path.to_owned(), ours: short(ours), theirs: short(theirs) });
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
            names.sort_by_key(|name| (rank(name), *name));
            let inner = |name: &String| format!("{path}.{name}");
            names.into_iter().find_map(|name| match (a.get(name), b.get(name)) {
                (Some(x), Some(y)) => differ(x, y, &inner(name)),
                (x, y) => Some(Difference {
                    path: inner(name),
                    ours: x.map_or_else(|| "(absent)".to_owned(), short),
                    theirs: y.map_or_else(|| "(absent)".to_owned(), short),
                }),
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(i, (x, y))| differ(x, y, &format!("{path}[{i}]")))
        }
        (Value::Array(a), Value::Array(b)) => unmatched(a, b, path).or_else(found),
        _ if ours == theirs => None,
        _ => found(),
    }
}

/// The first element of one of two arrays that the other does not have.
fn unmatched(ours: &[Value], theirs: &[Value], path: &str) -> Option<Difference> {
    let keys = |list: &[Value]| list.iter().map(sort_key).collect::<HashSet<_>>();
    let (mine, other) = (keys(ours), keys(theirs));
    let absent = || "(absent)".to_owned();
    let path = format!("{path}[]");
    if let Some(extra) = ours.iter().find(|element| !other.contains(&sort_key(element))) {
        return Some(Difference { path, ours: short(extra), theirs: absent() });
    }
    let missing = theirs.iter().find(|element| !mine.contains(&sort_key(element)))?;
    Some(Difference { path, ours: absent(), theirs: short(missing) })
}

/// Returns the value at the path of a difference.
pub fn lookup<'v>(document: &'v Value, path: &str) -> Option<&'v Value> {
    path.trim_start_matches('.').replace('[', ".").replace(']', "").split('.').try_fold(document, |value, step| {
        match value {
            Value::Array(list) => list.get(step.parse::<usize>().ok()?),
            _ => value.get(step),
        }
    })
}

/// The members of a plan that tell most are compared first.
fn rank(name: &str) -> usize {
    let first = ["resource_changes", "output_changes", "resource_drift", "planned_values", "prior_state", "resources"];
    first.iter().position(|n| *n == name).unwrap_or(first.len())
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(1500) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl Difference {
    /// Returns the path without numbers, which is the same for the same fault elsewhere. Of what is deep in the modules of a
    /// configuration, only the end.
    pub fn class(&self) -> String {
        let path: String = self.path.chars().filter(|c| !c.is_ascii_digit()).collect();
        match path.starts_with(".configuration") {
            true => path.rsplitn(3, '.').take(2).collect::<Vec<_>>().join(" of "),
            false => path,
        }
    }
}
