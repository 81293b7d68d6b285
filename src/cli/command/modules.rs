//! `modules`

use serde_json::json;

use crate::cli::Invocation;
use crate::cli::args::modules::parse;
use crate::ops::inspect::modules::{self, Called};
use crate::render::json::go;
use crate::render::text::tree::{self, Branch};

/// Version of the document's format.
const FORMAT_VERSION: &str = "1.0";

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::begin(invocation, parse(args), |args| &args.variables) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let (called, diagnostics) = modules::run(&setup);
    let console = &invocation.console;
    if diagnostics.has_errors() {
        return super::finish(console, diagnostics);
    }
    let text = match (args.json, called.is_empty()) {
        (true, _) => document(&called),
        (false, true) => "No modules found in configuration.\n".to_string(),
        (false, false) => {
            let tree = tree::draw(&called.iter().map(branch).collect::<Vec<_>>());
            format!("\nModules declared by configuration:\n.\n{tree}\n")
        }
    };
    console.print(&text);
    // Warnings are for commands that do something with the configuration.
    0
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
