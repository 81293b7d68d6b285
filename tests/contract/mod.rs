//! The contract with providers, from end to end: a scripted provider of protocol 6, what it is asked, and what becomes of
//! its answers. What is expected was observed on the reference, 1.11.4.

mod answers;
mod library;
mod provider;
mod requests;

use serde_json::{Value as Json, json};

use crate::support::Project;

const PROGRAM: &str = "dev/terraform-provider-scripted";

/// Attributes of each kind, nested ones too.
fn thing() -> Json {
    json!({
        "attributes": {
            "id": ["c", "string"],
            "name": ["o", "string"],
            "any": ["o", "dynamic"],
            "secret": ["ow", "string"],
            "one": ["o", "single", {"key": ["o", "string"], "made": ["oc", "string"]}],
            "many": ["o", "list", {"key": ["o", "string"], "made": ["oc", "string"]}],
        },
        "identity": {"name": "string"},
    })
}

/// A project whose resources of the type `scripted_thing` a scripted provider serves, with these answers.
fn project(main: &str, answers: &Json) -> Project {
    let types = json!({"scripted_thing": thing(), "scripted_other": thing()});
    with_script(main, &json!({"types": types, "answers": {"scripted_thing": answers}}))
}

fn with_script(main: &str, script: &Json) -> Project {
    let required =
        "terraform {\n  required_providers {\n    scripted = { source = \"example.com/test/scripted\" }\n  }\n}\n";
    let mut project = Project::new(&format!("{required}{main}"));
    provider::install(&project, PROGRAM, script);
    let folder = project.path("dev").display().to_string();
    let settings = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"example.com/test/scripted\" = {folder:?}\n  }}\n  direct {{}}\n}}\n"
    );
    let settings = project.write("settings.tfrc", &settings);
    project.set("TF_CLI_CONFIG_FILE", settings);
    project
}

/// Gives the provider other answers.
fn rewrite(project: &Project, answers: &Json) {
    let types = json!({"scripted_thing": thing(), "scripted_other": thing()});
    provider::install(project, PROGRAM, &json!({"types": types, "answers": {"scripted_thing": answers}}));
}

/// Replaces the resources of the configuration.
fn configure(project: &Project, resources: &str) {
    let main = project.read("work/main.tf");
    let terraform = &main[..main.find("}\n}\n").unwrap() + 4];
    project.write("work/main.tf", &format!("{terraform}{resources}"));
}

/// The attributes of the only object in the state; null without one.
fn stored(project: &Project) -> Json {
    if !project.exists("work/terraform.tfstate") {
        return Json::Null;
    }
    let state: Json = serde_json::from_str(&project.read("work/terraform.tfstate")).unwrap();
    state["resources"][0]["instances"][0].clone()
}
