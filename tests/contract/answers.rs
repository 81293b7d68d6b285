//! What becomes of a provider's answers that are wrong, or not what was expected.

use serde_json::{Value as Json, json};

use super::provider::calls;
use super::{configure, project, rewrite, stored, thing, with_script};
use crate::support::Project;

const RESOURCE: &str = "resource \"scripted_thing\" \"a\" {\n  name = \"x\"\n}\n";
const APPLY: &[&str] = &["apply", "-auto-approve"];
const REFUSED: &str = "Write-only attributes cannot be read back from the provider.";

/// A project with one object in its state, whose provider gives these answers from now on.
fn created(answers: &Json) -> Project {
    let project = project(RESOURCE, &json!({}));
    project.ok(APPLY);
    rewrite(&project, answers);
    project
}

/// Insists that a secret is neither in the state nor on the screen.
fn is_kept_nowhere(project: &Project, outcome: &crate::support::Outcome) {
    assert!(!outcome.text().contains("opensesame"), "{}", outcome.text());
    let state = project.exists("work/terraform.tfstate").then(|| project.read("work/terraform.tfstate"));
    assert!(!state.unwrap_or_default().contains("opensesame"));
}

#[test]
fn write_only_values_in_answers_are_refused() {
    let secret = json!({"secret": "opensesame"});
    for legacy in [false, true] {
        let answer = json!([{"set": secret, "legacy": legacy}]);
        let planned = project(RESOURCE, &json!({"plan": answer}));
        let outcome = planned.run(APPLY);
        let text = "returned a value for the write-only attribute \"scripted_thing.a.secret\" during planning.";
        outcome.expect(1, &["Error: Provider produced invalid plan", text, REFUSED]);
        is_kept_nowhere(&planned, &outcome);

        let applied = project(RESOURCE, &json!({"apply": answer}));
        let outcome = applied.run(APPLY);
        let text = "returned a value for the write-only attribute \"scripted_thing.a.secret\" after apply.";
        outcome.expect(1, &["Error: Provider produced invalid object", text, REFUSED]);
        is_kept_nowhere(&applied, &outcome);
        // The object exists; it is kept without the value, to be replaced.
        assert_eq!(
            (&stored(&applied)["status"], &stored(&applied)["attributes"]["secret"]),
            (&json!("tainted"), &Json::Null)
        );
    }
    let cases = [
        ("read", "Provider produced invalid object", "during refresh"),
        (
            "upgrade",
            "Invalid resource state upgrade",
            "While attempting to upgrade state of resource scripted_thing.a, the provider \"scripted\" returned a value",
        ),
    ];
    for (call, summary, when) in cases {
        let project = created(&json!({call: [{"set": secret}]}));
        let outcome = project.run(&["apply", "-refresh-only", "-auto-approve"]);
        outcome.expect(1, &[summary, when, REFUSED]);
        is_kept_nowhere(&project, &outcome);
    }
}

#[test]
fn write_only_values_of_imported_and_moved_objects_are_refused() {
    let secret = json!({"id": "i", "secret": "opensesame"});
    let import = format!("import {{\n  to = scripted_thing.a\n  id = \"i\"\n}}\n{RESOURCE}");
    let imported = project(&import, &json!({"import": [{"set": secret}]}));
    let outcome = imported.run(APPLY);
    let text = "While attempting to import with ID i, the provider";
    outcome.expect(1, &["Import returned a non-null value for a write-only attribute", text, REFUSED]);
    is_kept_nowhere(&imported, &outcome);

    let types = json!({"scripted_thing": thing(), "scripted_other": thing()});
    let answers = json!({"scripted_thing": {"move": [{"set": secret}]}});
    let script = json!({"types": types, "capabilities": ["move_resource_state"], "answers": answers});
    let moved = with_script("resource \"scripted_other\" \"a\" {}\n", &script);
    moved.ok(APPLY);
    configure(&moved, &format!("moved {{\n  from = scripted_other.a\n  to = scripted_thing.a\n}}\n{RESOURCE}"));
    let outcome = moved.run(APPLY);
    let text = "during an across type move operation to scripted_thing.a.";
    outcome.expect(1, &["Provider returned invalid value", text, REFUSED]);
    is_kept_nowhere(&moved, &outcome);
}

#[test]
fn deferrals_are_refused() {
    let summary = "Error: Provider deferred changes when Terrane did not allow deferrals";
    let text = |addr: &str| format!("The provider signaled a deferred action for \"{addr}\", but in this context");
    let deferred = json!([{"deferred": true}]);
    let import = format!("import {{\n  to = scripted_thing.a\n  id = \"i\"\n}}\n{RESOURCE}");
    let cases = [
        (project(RESOURCE, &json!({"plan": deferred})), "scripted_thing.a"),
        (created(&json!({"read": deferred})), "scripted_thing.a"),
        (project(&import, &json!({"import": deferred})), "scripted_thing.a"),
        (project("data \"scripted_thing\" \"a\" {}\n", &json!({"data": deferred})), "data.scripted_thing.a"),
    ];
    for (project, addr) in cases {
        project.run(&["plan"]).expect(1, &[summary, &text(addr)]);
    }
    let late = project(RESOURCE, &json!({"plan": [{"when": "applying", "deferred": true}]}));
    late.run(APPLY).expect(1, &["Error: Resource deferred during apply, but not during plan"]);
    assert_eq!(calls(&late, &["apply"]), Vec::<Json>::new());
    assert_eq!(stored(&late), Json::Null);
}

#[test]
fn an_upgrade_may_answer_null_but_nothing_unknown() {
    let gone = created(&json!({"upgrade": [{"set": {"": null}}]}));
    calls(&gone, &[]);
    gone.ok(&["plan", "-out=plan"]).expect(0, &["1 to add, 0 to change, 0 to destroy"]);
    let asked = calls(&gone, &["read", "plan"]);
    assert!(asked[0]["current"].is_null() && asked[1]["prior"].is_null(), "{asked:?}");
    gone.ok(&["apply", "plan"]).expect(0, &["1 added"]);

    let unknown = created(&json!({"upgrade": [{"set": {"id": {"$unknown": true}}}]}));
    unknown.run(&["plan"]).expect(
        1,
        &[
            "Error: Invalid resource state upgrade",
            "The scripted provider upgraded the state for scripted_thing.a from a previous version, but produced an \
             invalid result: The returned state contains unknown values.",
        ],
    );
}

/// Their version is 0 for the reference, whatever the schema says, so that each program shows what the other stored.
#[test]
fn data_sources_have_version_0() {
    let mut versioned = thing();
    versioned["version"] = json!(1);
    let data = "data \"scripted_thing\" \"a\" {}\n";
    let project = with_script(data, &json!({"types": {"scripted_thing": versioned}, "answers": {}}));
    project.ok(APPLY);
    assert_eq!(stored(&project)["schema_version"], json!(0));
    let state = project.read("work/terraform.tfstate");
    project.write("work/terraform.tfstate", &state.replace("\"schema_version\": 0", "\"schema_version\": 1"));
    assert_eq!(stored(&project)["schema_version"], json!(1));
    let shown = project.ok(&["show", "-json"]).out;
    project.ok(&["plan", "-out=plan"]);
    for json in [shown, project.ok(&["show", "-json", "plan"]).out] {
        assert!(json.contains("\"schema_version\":0") && !json.contains("\"schema_version\":1"), "{json}");
    }
}

/// The object is kept as it was answered, with the status that it had; a replacement ends before anything is created.
#[test]
fn a_destruction_must_leave_no_object() {
    let left = json!({"id": "left", "name": null, "secret": null, "any": null, "one": null, "many": null});
    let answers = json!({"apply": [{"when": "delete", "set": {"": left}}]});
    let refused = [
        "Error: Provider returned invalid result object after apply",
        "After applying a Delete plan, the provider returned a non-null object for scripted_thing.a. Destroying should always",
    ];
    let replaced = [APPLY, &["-replace=scripted_thing.a"]].concat();
    for (args, tainted) in [(&["destroy", "-auto-approve"][..], false), (&replaced, false), (APPLY, true)] {
        let project = created(&answers);
        if tainted {
            project.ok(&["taint", "scripted_thing.a"]);
        }
        calls(&project, &[]);
        project.run(args).expect(1, &refused);
        assert_eq!(calls(&project, &["apply"]).len(), 1, "{args:?}");
        let kept = stored(&project);
        let status = if tainted { json!("tainted") } else { Json::Null };
        assert_eq!((&kept["attributes"]["id"], &kept["status"]), (&json!("left"), &status), "{args:?}");
    }
    // What was put aside stays there.
    let project = created(&answers);
    let first = "resource \"scripted_thing\" \"a\" {\n  name = \"x\"\n  lifecycle {\n    create_before_destroy = true\n  }\n}\n";
    configure(&project, first);
    project.run(&replaced).expect(1, &refused);
    let state: Json = serde_json::from_str(&project.read("work/terraform.tfstate")).unwrap();
    let objects = state["resources"][0]["instances"].as_array().unwrap();
    assert_eq!(objects.len(), 2);
    assert!(objects[1]["deposed"].is_string() && objects[1]["attributes"]["id"] == json!("left"), "{objects:?}");
    // A failure says it all.
    let failed = created(&json!({"apply": [{"when": "delete", "set": {"": left}, "error": "Not today"}]}));
    let outcome = failed.run(&["destroy", "-auto-approve"]);
    outcome.expect(1, &["Error: Not today"]);
    assert!(!outcome.text().contains("non-null object"), "{}", outcome.text());
}

/// Objects that a plan does not get to are decoded by the reference, too, where it looks for changes made outside.
#[test]
fn objects_that_do_not_fit_their_schema_are_named_beside_drift() {
    let resources = format!("{RESOURCE}resource \"scripted_thing\" \"b\" {{\n  name = \"y\"\n}}\n");
    let project = project(&resources, &json!({}));
    project.ok(APPLY);
    let state = project.read("work/terraform.tfstate");
    project.write("work/terraform.tfstate", &state.replace("\"name\": \"y\"", "\"name\": \"y\", \"old\": 1"));
    let plan = ["plan", "-target=scripted_thing.a"];
    let warning = "Warning: Failed to decode resource from state";
    let without = project.ok(&plan);
    assert!(!without.text().contains(warning), "{}", without.text());
    rewrite(&project, &json!({"read": [{"set": {"id": "drift"}}]}));
    let detail = "Error decoding \"scripted_thing.b\" from prior state: unsupported attribute \"old\"";
    project.ok(&plan).expect(0, &[warning, detail]);
}

/// What was generated is written, also where the provider refuses it, so that it can be edited.
#[test]
fn generated_configuration_is_written_although_it_is_refused() {
    let import = "import {\n  to = scripted_thing.a\n  id = \"i\"\n}\n";
    let found = json!([{"set": {"id": "i", "name": "", "any": "x"}}]);
    let plan = ["plan", "-generate-config-out=new.tf"];
    for call in ["validate", "plan"] {
        let project = project(import, &json!({"import": found, call: [{"error": "Refused"}]}));
        project.run(&plan).expect(1, &["Error: Refused", "on new.tf line 5, in resource \"scripted_thing\" \"a\":"]);
        let text = project.read("work/new.tf");
        assert!(text.contains("\n# __generated__ by Terrane\nresource \"scripted_thing\" \"a\" {\n"), "{text}");
        assert!(text.contains("  name   = null\n"), "{text}");
    }
    // An empty text that was no value would be replaced by it.
    let project = project(import, &json!({"import": found, "plan": [{"replace": ["name"]}]}));
    project.ok(&plan).expect(0, &["1 to import, 0 to add, 0 to change, 0 to destroy"]);
    let text = project.read("work/new.tf");
    assert!(text.contains("# __generated__ by Terrane from \"i\"") && text.contains("  name   = \"\"\n"), "{text}");
}

#[test]
fn only_a_destruction_may_leave_no_object() {
    let null = |legacy: bool| json!({"apply": [{"set": {"": null}, "legacy": legacy}]});
    let legacy = project(RESOURCE, &null(true));
    legacy.run(APPLY).expect(
        1,
        &[
            "Error: Provider returned invalid result object after apply",
            "After applying a Create plan, the provider returned a null object for scripted_thing.a.",
        ],
    );
    assert_eq!(stored(&legacy), Json::Null);
    let strict = project(RESOURCE, &null(false));
    strict.run(APPLY).expect(1, &["Root object was present, but now absent."]);

    let updated = created(&null(true));
    configure(&updated, "resource \"scripted_thing\" \"a\" {\n  name = \"y\"\n}\n");
    updated.run(APPLY).expect(1, &["After applying a Update plan, the provider returned a null object"]);
    assert_eq!(stored(&updated)["attributes"]["name"], json!("x"));
}

#[test]
fn invalid_schemas_are_refused() {
    let cases = [
        (json!({"attributes": {"a": ["rc", "string"]}}), "\"a: cannot set both Computed and Required\".."),
        (
            json!({"attributes": {"n": ["o", "set", {"x": ["o", "dynamic"]}]}}),
            "\"n: NestingSet attributes may not contain attributes of cty.DynamicPseudoType\"..",
        ),
    ];
    for (schema, problem) in cases {
        let project =
            with_script("resource \"scripted_thing\" \"a\" {}\n", &json!({"types": {"scripted_thing": schema}}));
        let text = format!(
            "Could not load the schema for provider example.com/test/scripted: provider example.com/test/scripted has \
             invalid schema for managed resource type \"scripted_thing\", which is a bug in the provider: {problem}"
        );
        for command in ["validate", "plan"] {
            project.run(&[command]).expect(1, &["Error: Failed to load plugin schemas", &text]);
        }
    }
}

/// The first of several imported objects is read before the import fails, as the reference does it.
#[test]
fn an_import_gives_one_object() {
    let import = format!("import {{\n  to = scripted_thing.a\n  id = \"i\"\n}}\n{RESOURCE}");
    let cases = [(0, "Import returned no resources", 0), (2, "Multiple import states not supported", 1)];
    for (objects, summary, reads) in cases {
        let project = project(&import, &json!({"import": [{"objects": objects, "set": {"id": "i"}}]}));
        project.run(&["plan"]).expect(1, &[summary]);
        assert_eq!(calls(&project, &["read"]).len(), reads, "{summary}");
    }
}

/// Refused objects leave no state, and what is said of them no address.
#[test]
fn the_import_command_takes_what_is_there() {
    let resource = "resource \"scripted_thing\" \"a\" {}\n";
    let import = ["import", "-parallelism=1", "scripted_thing.a", "i"];
    let found = json!([{"set": {"id": "i"}}]);
    let absent = "While attempting to import an existing object to \"scripted_thing.a\", the provider detected";
    let secret = "\"scripted_thing.a.secret\" during import.";
    let cases = [
        (json!({"import": [{"objects": 0}]}), ["Error: Import returned no resources", "with ID i, the provider"]),
        (json!({"import": [{"error": "Unknown id"}]}), ["Error: Unknown id", "As scripted."]),
        (json!({"import": [{"set": {"": null}}]}), ["Error: Cannot import non-existent remote object", absent]),
        (
            json!({"import": found, "read": [{"set": {"": null}}]}),
            ["Error: Cannot import non-existent remote object", absent],
        ),
        (json!({"import": found, "read": [{"error": "Unreadable"}]}), ["Error: Unreadable", "As scripted."]),
        (
            json!({"import": found, "read": [{"deferred": true}]}),
            ["Error: Provider deferred changes when", "\"scripted_thing.a\""],
        ),
        (
            json!({"import": [{"set": {"secret": "opensesame"}}]}),
            ["Error: Import returned a non-null value for a write-only attribute", secret],
        ),
    ];
    for (answers, texts) in cases {
        let project = project(resource, &answers);
        let outcome = project.run(&import);
        outcome.expect(1, &texts);
        assert!(!outcome.text().contains("with scripted_thing.a"), "{}", outcome.text());
        assert_eq!(stored(&project), Json::Null);
        is_kept_nowhere(&project, &outcome);
    }
    // A deferral is not looked at.
    let deferred = project(resource, &json!({"import": [{"set": {"id": "i"}, "deferred": true}]}));
    deferred.ok(&import);
    assert_eq!(stored(&deferred)["attributes"]["id"], json!("i"));
}
