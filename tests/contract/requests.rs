//! What a provider is asked: values, private data, identity, capabilities.

use serde_json::{Value as Json, json};

use super::provider::calls;
use super::{configure, project, rewrite, stored, thing, with_script};

const APPLY: &[&str] = &["apply", "-auto-approve"];

/// The parts of calls with these names.
fn parts(calls: &[Json], names: &[&str]) -> Vec<Json> {
    let part = |call: &Json| names.iter().map(|name| (name.to_string(), call[*name].clone())).collect();
    calls.iter().map(|call| Json::Object(part(call))).collect()
}

#[test]
fn nested_attributes_and_dynamic_values_round_trip() {
    let resource = |key: &str| {
        format!(
            "resource \"scripted_thing\" \"a\" {{\n  any = {{ k = [1, true] }}\n  one = {{ key = \"o\" }}\n  \
             many = [{{ key = \"{key}\" }}, {{ key = \"n\", made = \"by hand\" }}]\n}}\n"
        )
    };
    let project = project(&resource("m"), &json!({}));
    project.ok(APPLY);
    let applied = &calls(&project, &["apply"])[0];
    let unknown = json!({"$unknown": true});
    assert_eq!(
        applied["planned"],
        json!({
            "id": unknown, "name": null, "secret": null, "any": {"k": [1, true]}, "one": {"key": "o", "made": unknown},
            "many": [{"key": "m", "made": unknown}, {"key": "n", "made": "by hand"}],
        })
    );
    let attributes = &stored(&project)["attributes"];
    assert_eq!(attributes["many"][0], json!({"key": "m", "made": "made"}));
    assert_eq!(
        attributes["any"],
        json!({"type": ["object", {"k": ["tuple", ["number", "bool"]]}], "value": {"k": [1, true]}})
    );
    project.ok(&["plan", "-detailed-exitcode"]);

    configure(&project, &resource("changed"));
    calls(&project, &[]);
    project.ok(APPLY);
    let updated = &calls(&project, &["apply"])[0]["planned"];
    assert_eq!(updated["many"], json!([{"key": "changed", "made": "made"}, {"key": "n", "made": "by hand"}]));
    assert_eq!(updated["one"], json!({"key": "o", "made": "made"}));
    project.ok(&["destroy", "-auto-approve"]);
}

#[test]
fn write_only_values_reach_the_provider_and_are_not_kept() {
    let project = project("resource \"scripted_thing\" \"a\" {\n  secret = \"opensesame\"\n}\n", &json!({}));
    project.ok(&["plan", "-out=plan"]);
    project.ok(&["apply", "plan"]);
    let asked = calls(&project, &["validate", "plan", "apply"]);
    assert_eq!(asked.len(), 6, "{asked:?}");
    assert!(asked.iter().all(|call| call["config"]["secret"] == json!("opensesame")), "{asked:?}");
    assert!(asked.iter().all(|call| call["prior"].is_null() && call["planned"]["secret"].is_null()));
    assert!(!project.read("work/terraform.tfstate").contains("opensesame"));
    project.ok(&["plan", "-detailed-exitcode"]);
}

#[test]
fn planned_private_data_is_applied_and_stored_data_read() {
    let answers = json!({
        "plan": [{"when": "update", "private": "replan", "replace": ["name"]}, {"private": "planned"}],
        "apply": [{"when": "delete"}, {"private": "applied"}],
    });
    let resource =
        |name: &str, more: &str| format!("resource \"scripted_thing\" \"a\" {{\n  name = \"{name}\"\n{more}}}\n");
    let project = project(&resource("x", ""), &answers);
    project.ok(APPLY);
    let asked = parts(&calls(&project, &["plan", "apply"]), &["call", "private"]);
    let call = |call: &str, private: &str| json!({"call": call, "private": private});
    assert_eq!(asked, [call("plan", ""), call("plan", ""), call("apply", "planned")]);

    // Destroyed first: both halves get the private data of the plan. Replaced by creating first: the destruction is planned
    // when it is due, with what is stored.
    let first = "  lifecycle {\n    create_before_destroy = true\n  }\n";
    for (name, more, deleted) in [("y", "", "planned"), ("z", first, "applied")] {
        configure(&project, &resource(name, more));
        project.ok(APPLY);
        let asked = calls(&project, &["read", "plan", "apply"]);
        let applies = |asked: &[Json], deletes: bool| -> Vec<Json> {
            let these = asked.iter().filter(|c| c["call"] == json!("apply") && c["planned"].is_null() == deletes);
            these.map(|call| call["private"].clone()).collect()
        };
        let read_and_plans = parts(&asked, &["call", "private"]);
        assert_eq!(read_and_plans[..3], [call("read", "applied"), call("plan", "applied"), call("plan", "replan")]);
        assert_eq!(applies(&asked, true), [json!(deleted)], "{name}");
        assert_eq!(applies(&asked, false), [json!("planned")], "{name}");
    }
}

#[test]
fn destroys_are_planned_if_the_provider_requires_it() {
    let script = |capabilities: Json| {
        let plan = json!([{"when": "delete", "private": "planned destruction"}]);
        json!({
            "types": {"scripted_thing": thing()}, "capabilities": capabilities,
            "answers": {"scripted_thing": {"plan": plan, "apply": [{"when": "create", "private": "applied"}]}},
        })
    };
    for (capabilities, private, plans) in
        [(json!([]), "applied", 0), (json!(["plan_destroy"]), "planned destruction", 1)]
    {
        let project = with_script("resource \"scripted_thing\" \"a\" {}\n", &script(capabilities));
        project.ok(APPLY);
        calls(&project, &[]);
        project.ok(&["destroy", "-auto-approve"]);
        let asked = calls(&project, &["plan", "apply"]);
        // The first is that of the plan by the configuration.
        assert_eq!(asked.len(), plans + 2, "{asked:?}");
        let asked = &asked[1..];
        assert_eq!(asked[plans]["private"], json!(private));
        assert!(asked[..plans].iter().all(|plan| plan["proposed"].is_null() && plan["private"] == json!("applied")));
    }
}

#[test]
fn identities_are_stored() {
    let answers = json!({"apply": [{"identity": {"name": "first"}}], "read": [{"identity": {"name": "second"}}]});
    let project = project("resource \"scripted_thing\" \"a\" {}\n", &answers);
    project.ok(APPLY);
    assert_eq!(stored(&project)["identity"], json!({"name": "first"}));
    project.ok(&["apply", "-refresh-only", "-auto-approve"]);
    assert_eq!(stored(&project)["identity"], json!({"name": "second"}));
}

/// The reference says that deferrals are allowed in all that is asked during an apply.
#[test]
fn deferrals_are_allowed_during_apply_only() {
    let main =
        "resource \"scripted_thing\" \"a\" {}\ndata \"scripted_thing\" \"b\" {\n  name = scripted_thing.a.id\n}\n";
    let project = project(main, &json!({}));
    project.ok(&["plan", "-out=plan"]);
    let planned = parts(&calls(&project, &["validate", "plan", "data"]), &["call", "deferral"]);
    let call = |call: &str, deferral: bool| json!({"call": call, "deferral": deferral});
    assert_eq!(planned, [call("validate", false), call("validate", false), call("plan", false)]);
    project.ok(&["apply", "plan"]);
    let applied = parts(&calls(&project, &["validate", "plan", "data"]), &["call", "deferral"]);
    assert_eq!(applied, [call("validate", true), call("plan", true), call("data", true)]);
    project.ok(&["plan"]);
    let refreshed = parts(&calls(&project, &["read", "data"]), &["call", "deferral"]);
    assert_eq!(refreshed, [call("read", false), call("data", false)]);
}

/// The reference plans to destroy an object without configuration as it is stored, then reads it.
#[test]
fn objects_without_configuration_are_planned_before_they_are_read() {
    let answers = json!({"plan": [{"when": "delete", "private": "planned"}], "read": [{"set": {"name": "drifted"}}]});
    let script = json!({
        "types": {"scripted_thing": thing()}, "capabilities": ["plan_destroy"], "answers": {"scripted_thing": answers},
    });
    let project = with_script("resource \"scripted_thing\" \"a\" {\n  name = \"x\"\n}\n", &script);
    project.ok(APPLY);
    configure(&project, "");
    calls(&project, &[]);
    project.ok(&["plan", "-out=plan"]);
    let asked = calls(&project, &["plan", "read"]);
    assert_eq!(parts(&asked, &["call"]), [json!({"call": "plan"}), json!({"call": "read"})]);
    project.ok(&["apply", "plan"]);
    let applied = &calls(&project, &["apply"])[0];
    assert_eq!((&applied["prior"]["name"], &applied["private"]), (&json!("x"), &json!("planned")));
}

#[test]
fn removed_attributes_are_not_sent() {
    let project = project("resource \"scripted_thing\" \"a\" {\n  name = \"x\"\n}\n", &json!({}));
    project.ok(APPLY);
    let state = project.read("work/terraform.tfstate");
    let other = state.replacen("\"any\":", "\"removed\": {\"x\": [1]},\n            \"any\":", 1);
    assert_ne!(state, other);
    project.write("work/terraform.tfstate", &other);
    // The provider cannot read an object with an attribute that it does not know.
    project.ok(&["plan", "-detailed-exitcode"]);
    assert_eq!(calls(&project, &["upgrade"]).len(), 1);
}

/// The reference plans by the configuration before it plans to destroy, and asks for upgrades in each of its walks.
#[test]
fn destroying_plans_by_the_configuration_first() {
    let resource = "resource \"scripted_thing\" \"a\" {\n  name = \"x\"\n}\n";
    let asked = &["validate", "upgrade", "read", "plan", "apply"];
    let project = project(resource, &json!({"read": [{"set": {"name": "drifted"}}]}));
    project.ok(APPLY);
    calls(&project, &[]);
    let names = |project| -> Vec<String> {
        calls(project, asked).iter().map(|call| call["call"].as_str().unwrap().to_owned()).collect()
    };
    let outcome = project.ok(&["plan", "-destroy", "-json"]);
    assert!(!outcome.text().contains("resource_drift"), "{}", outcome.text());
    assert_eq!(names(&project), ["validate", "upgrade", "read", "validate", "plan", "upgrade"]);
    project.ok(&["plan", "-destroy", "-refresh=false"]);
    assert_eq!(names(&project), ["validate", "upgrade"]);
    // What keeps a plan from being made keeps the object from being destroyed.
    rewrite(&project, &json!({"plan": [{"error": "cannot plan"}]}));
    project.run(&["destroy", "-auto-approve"]).expect(1, &["cannot plan"]);
    assert_eq!(stored(&project)["attributes"]["name"], json!("x"));
    rewrite(&project, &json!({}));
    calls(&project, &[]);
    project.ok(&["destroy", "-auto-approve"]);
    assert_eq!(names(&project), ["validate", "upgrade", "read", "validate", "plan", "upgrade", "upgrade", "apply"]);
}

/// The object that was there before is read first, so that providers see the same order in each run.
#[test]
fn deposed_objects_are_planned_first() {
    let project = project("resource \"scripted_thing\" \"a\" {\n  name = \"x\"\n}\n", &json!({}));
    project.ok(APPLY);
    let state = project.read("work/terraform.tfstate");
    project.write(
        "work/terraform.tfstate",
        &state.replacen("\"schema_version\"", "\"deposed\": \"aabbccdd\",\n \"schema_version\"", 1),
    );
    calls(&project, &[]);
    project.ok(&["apply", "-auto-approve"]);
    let asked: Vec<String> = calls(&project, &["upgrade", "read", "plan", "apply"])
        .iter()
        .map(|call| format!("{} {}", call["call"].as_str().unwrap(), call["prior"].is_null()))
        .collect();
    assert_eq!(
        asked[..3].iter().map(|a| a.split(' ').next().unwrap()).collect::<Vec<_>>(),
        ["upgrade", "read", "plan"]
    );
    let applies: Vec<&String> = asked.iter().filter(|a| a.starts_with("apply")).collect();
    assert_eq!(applies, ["apply true", "apply false"]);
}

/// What the provider alone decides, at any depth, cannot be ignored.
#[test]
fn ignoring_computed_attributes_at_depth_is_redundant() {
    let nested = |flags: &str| json!([flags, "single", {"made": ["c", "string"], "key": ["oc", "string"]}]);
    let types = json!({"scripted_thing": {"attributes": {"one": nested("o")}}});
    for (ignored, redundant) in [("one.made", true), ("one.key", false), ("one", false)] {
        let resource = format!(
            "resource \"scripted_thing\" \"a\" {{\n  one = {{ key = \"k\" }}\n  lifecycle {{\n    ignore_changes = [{ignored}]\n  }}\n}}\n"
        );
        let project = with_script(&resource, &json!({"types": types, "answers": {}}));
        let outcome = project.ok(&["validate"]);
        assert_eq!(outcome.text().contains("Redundant ignore_changes element"), redundant, "{}", outcome.text());
    }
}

/// Observed, 1.11.4: the plan removes them from the state without saying so.
#[test]
fn data_sources_that_a_destroy_removes_are_not_shown() {
    let main = "resource \"scripted_thing\" \"a\" {}\ndata \"scripted_thing\" \"b\" {}\n";
    let project = project(main, &json!({}));
    project.ok(APPLY);
    project.ok(&["plan", "-destroy", "-out=plan"]);
    let shown: Json = serde_json::from_str(&project.ok(&["show", "-json", "plan"]).out).unwrap();
    let changes: Vec<&Json> = shown["resource_changes"].as_array().unwrap().iter().map(|c| &c["address"]).collect();
    assert_eq!(changes, ["scripted_thing.a"]);
    project.ok(&["apply", "plan"]);
    assert!(!project.read("work/terraform.tfstate").contains("scripted_thing"));
}

/// Nothing else is asked: no object is validated, planned or read again. Stored objects are brought to the current schema.
#[test]
fn the_import_command_asks_for_one_object_and_reads_it() {
    let answers = json!({"import": [{"set": {"id": "i"}, "private": "found"}], "read": [{"set": {"name": "n"}}]});
    let resource = |name: &str| format!("resource \"scripted_thing\" {name:?} {{\n  name = \"x\"\n}}\n");
    let all = ["validate", "upgrade", "read", "plan", "apply", "import"];
    let project = project(&resource("a"), &answers);
    project.ok(&["import", "scripted_thing.a", "i"]);
    let asked = calls(&project, &all);
    let read = json!({"call": "read", "private": "found", "deferral": false});
    assert_eq!(parts(&asked, &["call", "private", "deferral"])[1..], [read]);
    assert_eq!((&asked[0]["call"], &asked[0]["id"], asked.len()), (&json!("import"), &json!("i"), 2));
    let object = stored(&project);
    assert_eq!((&object["private"], &object["attributes"]["name"]), (&json!("Zm91bmQ="), &json!("n")));

    configure(&project, &(resource("a") + &resource("b")));
    project.ok(&["import", "-parallelism=1", "scripted_thing.b", "i"]);
    let mut asked: Vec<String> = calls(&project, &all).iter().map(|call| call["call"].to_string()).collect();
    asked.sort();
    assert_eq!(asked, ["\"import\"", "\"read\"", "\"upgrade\""]);
    project.ok(&["plan"]).expect(0, &["0 to add, 2 to change, 0 to destroy"]);
}
