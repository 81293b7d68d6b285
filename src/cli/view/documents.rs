//! The documents that `workspace list -json` and `state show -json` write as `terraform`, where the other names write a stream, and that
//! of `explain -json`.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use render::json::diagnostic::diagnostic_json;
use render::json::go;
use serde_json::{Map, Value as Json, json};

use super::validate;
use crate::console::Console;

/// Writes the document of a command with errors in its arguments.
pub fn errors(console: &Arc<Console>, command: &str, diagnostics: Diagnostics) {
    match command {
        "workspace list" => workspaces(console, "", &[], diagnostics),
        "state show" => instance(console, None, diagnostics),
        "explain" => explanation(console, None, diagnostics),
        _ => validate::view(console, true).result(diagnostics),
    }
}

/// Writes the workspaces, of which one is selected.
pub fn workspaces(console: &Console, current: &str, names: &[String], diagnostics: Diagnostics) {
    let entry = |name: &String| {
        let mut entry = Map::from_iter([("name".to_owned(), json!(name))]);
        if name == current {
            entry.insert("is_current".into(), true.into());
        }
        Json::Object(entry)
    };
    write(console, "workspaces", names.iter().map(entry).collect(), diagnostics);
}

/// Writes one instance of a state. `shown`: the document of `show -json` with this instance alone.
pub fn instance(console: &Console, shown: Option<&str>, diagnostics: Diagnostics) {
    let shown = shown.and_then(|text| serde_json::from_str::<Json>(text).ok());
    let resource = shown.as_ref().and_then(|document| first_resource(document.get("values")?.get("root_module")?));
    let none = || json!({ "provider_name": "", "schema_version": 0 });
    write(console, "resource", resource.cloned().unwrap_or_else(none), diagnostics);
}

/// Writes the answers of `explain`; None: there are errors in their place.
pub fn explanation(console: &Console, answers: Option<Json>, diagnostics: Diagnostics) {
    write(console, "explanation", answers.unwrap_or(Json::Null), diagnostics);
}

/// The resource of a module or of the modules below it.
fn first_resource(module: &Json) -> Option<&Json> {
    let list = |name: &str| module.get(name).and_then(Json::as_array);
    let own = list("resources").and_then(|resources| resources.first());
    own.or_else(|| list("child_modules")?.iter().find_map(first_resource))
}

fn write(console: &Console, name: &str, content: Json, diagnostics: Diagnostics) {
    let shown = console.view.wanted(diagnostics);
    let diagnostics: Vec<Json> = shown.iter().map(of).collect();
    let mut document = Map::new();
    document.insert("format_version".into(), "1.0".into());
    document.insert(name.into(), content);
    document.insert("diagnostics".into(), diagnostics.into());
    console.line(&go::pretty(&document));
}

fn of(diagnostic: &Diagnostic) -> Json {
    serde_json::to_value(diagnostic_json(diagnostic)).unwrap_or_default()
}
