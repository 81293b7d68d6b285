//! What `modules` shows.

use ops::inspect::modules::Called;
use render::json::go;
use render::text::tree::{self, Branch};
use serde_json::json;

/// Version of the document's format.
const FORMAT_VERSION: &str = "1.0";

/// The view of `modules`.
pub trait ModulesView {
    fn text(&self, called: &[Called]) -> String;
}

pub fn view(json: bool) -> Box<dyn ModulesView> {
    if json { Box::new(ModulesJson) } else { Box::new(ModulesHuman) }
}

struct ModulesHuman;

impl ModulesView for ModulesHuman {
    fn text(&self, called: &[Called]) -> String {
        if called.is_empty() {
            return "No modules found in configuration.\n".to_owned();
        }
        let tree = tree::draw(&called.iter().map(branch).collect::<Vec<_>>());
        format!("\nModules declared by configuration:\n.\n{tree}\n")
    }
}

struct ModulesJson;

impl ModulesView for ModulesJson {
    fn text(&self, called: &[Called]) -> String {
        document(called)
    }
}

fn branch(called: &Called) -> Branch {
    let mut label = format!("{:?}[{}]", &*called.name, called.source);
    if let Some(version) = &called.version {
        label += &format!(" {version}");
        if let Some(wanted) = called.constraint.as_ref().filter(|wanted| *wanted != version) {
            label += &format!(" ({wanted})");
        }
    }
    Branch { label, branches: called.calls.iter().map(branch).collect() }
}

/// All modules in one list, callers before those that they call; the reference has null for none.
fn document(called: &[Called]) -> String {
    let mut modules = Vec::new();
    list(called, &mut modules);
    let modules = if modules.is_empty() { serde_json::Value::Null } else { modules.into() };
    let document = json!({ "format_version": FORMAT_VERSION, "modules": modules });
    format!("{}\n", go::compact(&document))
}

fn list(called: &[Called], modules: &mut Vec<serde_json::Value>) {
    for module in called {
        let version = module.version.as_deref().unwrap_or_default();
        modules.push(json!({ "key": &*module.name, "source": module.source, "version": version }));
        list(&module.calls, modules);
    }
}
