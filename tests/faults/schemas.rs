//! A provider whose schema depends on a file of the working directory: a cached schema must not decide what a command says.

use super::provider::{self, Fault};
use crate::support::{Project, platform};

const FOLDER: &str = "home/.local/share/terrane/schemas";

/// A project with the provider installed from a folder, so that its schema is cached.
fn project() -> Project {
    let mut project = Project::new(&configuration("null_resource"));
    let folder = format!("mirror/example.com/test/null/1.0.0/{}", platform());
    provider::script(&project, &format!("{folder}/terraform-provider-null_v1.0.0"), Fault::Schema);
    let mirror = project.path("mirror").display().to_string();
    let settings = format!("provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n");
    let settings = project.write("settings.tfrc", &settings);
    project.set("TF_CLI_CONFIG_FILE", settings);
    project.ok(&["init"]);
    project
}

fn configuration(kind: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    null = {{ source = \"example.com/test/null\" }}\n  }}\n}}\n\n\
         resource \"{kind}\" \"x\" {{\n  provider = null\n}}\n"
    )
}

/// The names of the files in the cache, by what they end in.
fn cached(project: &Project, ending: &str) -> usize {
    let entries = std::fs::read_dir(project.path(FOLDER)).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(ending)).count()
}

#[test]
fn failed_command_starts_anew_when_a_cached_schema_is_outdated() {
    for command in ["validate", "plan"] {
        let project = project();
        project.ok(&["validate"]);
        assert_eq!((cached(&project, ".schema"), cached(&project, ".excluded")), (1, 0));

        // Wrong by the cached schema, right by the provider's.
        project.write("work/kinds.txt", "extra_kind\n");
        project.write("work/main.tf", &configuration("extra_kind"));
        let outcome = project.ok(&[command]);
        assert!(!outcome.text().contains("Error"), "{}{}", outcome.out, outcome.err);
        assert_eq!(outcome.out.matches("1 to add").count(), usize::from(command == "plan"), "{}", outcome.out);
        assert_eq!((cached(&project, ".schema"), cached(&project, ".excluded")), (0, 1));

        // The package is asked every time from now on.
        project.write("work/kinds.txt", "");
        project.run(&[command]).expect(1, &["The provider example.com/test/null does not support resource type"]);
        assert_eq!((cached(&project, ".schema"), cached(&project, ".excluded")), (0, 1));
    }
}

#[test]
fn errors_that_the_provider_confirms_leave_the_cache_alone() {
    let project = project();
    project.ok(&["validate"]);
    project.write("work/main.tf", &configuration("extra_kind"));
    project.run(&["plan"]).expect(1, &["does not support resource type"]);
    assert_eq!((cached(&project, ".schema"), cached(&project, ".excluded")), (1, 0));
}

#[test]
fn schemas_are_cached_per_environment() {
    let mut project = project();
    project.ok(&["validate"]);
    project.set("TF_VAR_neutral", "1");
    project.ok(&["validate"]);
    assert_eq!(cached(&project, ".schema"), 1);
    project.set("NULL_KINDS", "1");
    project.ok(&["validate"]);
    assert_eq!(cached(&project, ".schema"), 2);
}

#[test]
fn cache_can_be_switched_off() {
    let mut project = project();
    project.set("TERRANE_SCHEMA_CACHE", "off");
    project.ok(&["validate"]);
    assert_eq!(cached(&project, ".schema"), 0);
}
