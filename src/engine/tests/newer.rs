//! What the language has that the reference does not have yet, or that other programs of its family have.

use std::sync::Arc;

use model::addr::parse::parse_abs_instance;
use model::plan::{Action, ActionReason, Mode};
use model::state::State;
use terrane_protocol::provider::Identity;

use super::world::*;

async fn planned(world: &std::sync::Arc<World>, text: &str, state: &State) -> Vec<String> {
    let (plan, found) = plan(world, &config(&[("main.tf", text)]), state, Options::default()).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    actions(&plan.unwrap())
}

#[tokio::test]
async fn disabled_resources_are_null() {
    let world = World::new();
    let text = |on: bool| {
        format!(
            "resource \"test_thing\" \"a\" {{\n name = \"a\"\n lifecycle {{\n enabled = {on}\n }}\n}}\n\
             output \"name\" {{\n value = try(test_thing.a.name, \"none\")\n}}"
        )
    };
    let (state, _) = apply(&world, &text(true), &State::default()).await;
    assert_eq!(addresses(&state), ["test_thing.a"]);
    assert_eq!(state.outputs["name"].value.as_str(), Some("a"));
    let (plan, _) = plan(&world, &config(&[("main.tf", &text(false))]), &state, Options::default()).await;
    let plan = plan.unwrap();
    assert_eq!(plan.changes[0].reason, ActionReason::DeleteBecauseNotEnabled);
    let (state, _) = apply(&world, &text(false), &state).await;
    assert_eq!(addresses(&state), Vec::<String>::new());
    assert_eq!(state.outputs["name"].value.as_str(), Some("none"));
}

#[tokio::test]
async fn a_counted_resource_becomes_an_enabled_one() {
    let world = World::new();
    let (state, _) =
        apply(&world, "resource \"test_thing\" \"a\" {\n count = 1\n name = \"a\"\n}", &State::default()).await;
    let text = "resource \"test_thing\" \"a\" {\n name = \"a\"\n lifecycle {\n enabled = true\n }\n}";
    assert_eq!(planned(&world, text, &state).await, Vec::<String>::new());
}

#[tokio::test]
async fn modules_are_enabled() {
    let world = World::new();
    let text = |on: bool| {
        format!(
            "module \"m\" {{\n source = \"./m\"\n lifecycle {{\n enabled = {on}\n }}\n}}\n\
             output \"o\" {{\n value = try(module.m.o, \"none\")\n}}"
        )
    };
    let files = |text: &str| config(&[("main.tf", text), ("m/main.tf", "output \"o\" {\n value = \"here\"\n}")]);
    for (on, expected) in [(true, "here"), (false, "none")] {
        let (state, _) = apply_as(&world, &files(&text(on)), &State::default(), Mode::Normal).await;
        assert_eq!(state.outputs["o"].value.as_str(), Some(expected));
    }
}

#[tokio::test]
async fn what_enabled_may_be() {
    let cases = [
        ("null", "Invalid enabled argument"),
        ("\"yes\"", "Invalid enabled argument"),
        ("sensitive(true)", "Invalid enabled argument"),
        ("test_thing.b.id == \"x\"", "Invalid enabled argument"),
    ];
    for (value, summary) in cases {
        let world = World::new();
        let text = format!(
            "resource \"test_thing\" \"b\" {{}}\nresource \"test_thing\" \"a\" {{\n lifecycle {{\n enabled = {value}\n }}\n}}"
        );
        let (_, found) = plan(&world, &config(&[("main.tf", &text)]), &State::default(), Options::default()).await;
        assert_eq!(found.iter().map(|d| d.summary.as_str()).collect::<Vec<_>>(), [summary], "{value}");
    }
}

const KEPT: &str =
    "resource \"test_thing\" \"a\" {\n name = \"NAME\"\n force = \"FORCE\"\n lifecycle {\n destroy = false\n }\n}";

fn kept(name: &str, force: &str) -> String {
    KEPT.replace("NAME", name).replace("FORCE", force)
}

#[tokio::test]
async fn kept_objects_are_forgotten_not_destroyed() {
    let world = World::new();
    let (state, _) = apply(&world, &kept("a", "1"), &State::default()).await;
    assert!(state.instance(&parse_abs_instance("test_thing.a").unwrap()).unwrap().current.as_ref().unwrap().keep);
    // In a destroy, by the word of the block.
    let whole = config(&[("main.tf", &kept("a", "1"))]);
    let (plan, _) = plan(&world, &whole, &state, Options { mode: Mode::Destroy, ..Options::default() }).await;
    assert_eq!(actions(&plan.unwrap()), ["Forget test_thing.a"]);
}

/// The state remembers `destroy = false` until a block speaks of the object again: recorded from OpenTofu.
#[tokio::test]
async fn the_state_remembers_what_is_not_to_be_destroyed() {
    let counted = "resource \"test_thing\" \"a\" {\n count = 1\n name = \"a\"\n LIFECYCLE\n}";
    let removed = "removed {\n from = test_thing.a\n LIFECYCLE\n}";
    let (no, yes) = ("lifecycle {\n destroy = false\n }", "lifecycle {\n destroy = true\n }");
    let cases = [
        ("", "", "Forget ForgetBecauseOfState", "Forget ForgetBecauseOfState"),
        (removed, "", "Forget ForgetBecauseOfState", "Forget ForgetBecauseOfState"),
        (removed, no, "Forget ForgetBecauseOfState", "Forget ForgetBecauseOfState"),
        (removed, yes, "Delete DeleteBecauseNoResourceConfig", "Forget ForgetBecauseOfState"),
        (counted, "", "Forget ForgetBecauseOfState", "Forget ForgetBecauseOfState"),
        (counted, no, "Forget ForgetBecauseOfConfig", "Forget ForgetBecauseOfConfig"),
        (counted, yes, "Forget ForgetBecauseOfState", "Forget ForgetBecauseOfState"),
    ];
    let world = World::new();
    let with_two = counted.replace("count = 1", "count = 2").replace("LIFECYCLE", no);
    let (state, _) = apply(&world, &with_two, &State::default()).await;
    for (block, lifecycle, planned, destroyed) in cases {
        for (mode, expected) in [(Mode::Normal, planned), (Mode::Destroy, destroyed)] {
            let text = block.replace("LIFECYCLE", lifecycle);
            let options = Options { mode, ..Options::default() };
            let (plan, found) = plan(&world, &config(&[("main.tf", &text)]), &state, options).await;
            assert!(!found.has_errors(), "{text}: {:?}", texts(&found));
            let plan = plan.unwrap();
            let gone = plan.changes.iter().find(|c| c.addr.to_string() == "test_thing.a[1]").unwrap();
            assert_eq!(format!("{:?} {:?}", gone.action, gone.reason), expected, "{text} {mode:?}");
        }
    }
    // The block of an object that is still wanted knows better than the state.
    let (state, _) = apply(&world, &counted.replace("LIFECYCLE", ""), &state).await;
    assert_eq!(planned(&world, "", &state).await, ["Delete test_thing.a[0]"]);
}

#[tokio::test]
async fn kept_objects_stay_when_they_are_replaced() {
    let world = World::new();
    let (state, _) = apply(&world, &kept("a", "1"), &State::default()).await;
    assert_eq!(planned(&world, &kept("b", "2"), &state).await, ["CreateThenForget test_thing.a"]);
    let (state, _) = apply(&world, &kept("b", "2"), &state).await;
    assert_eq!(world.took(), ["configure none", "create b"]);
    let instance = state.instance(&parse_abs_instance("test_thing.a").unwrap()).unwrap();
    assert!(instance.deposed.is_empty() && instance.current.is_some());
    // What was put aside comes back when its replacement cannot be made.
    world.fail(&["c"]);
    let (state, found) = apply(&world, &kept("c", "3"), &state).await;
    assert!(found.has_errors());
    let instance = state.instance(&parse_abs_instance("test_thing.a").unwrap()).unwrap();
    assert!(instance.deposed.is_empty() && instance.current.is_some());
}

#[tokio::test]
async fn destruction_is_prevented_by_an_expression() {
    let text = |on: bool| {
        format!(
            "locals {{\n on = {on}\n}}\nresource \"test_thing\" \"a\" {{\n name = \"a\"\n lifecycle {{\n prevent_destroy = local.on\n }}\n}}"
        )
    };
    for (on, errors) in [(true, 1), (false, 0)] {
        let world = World::new();
        let (state, _) = apply(&world, &text(on), &State::default()).await;
        let config = config(&[("main.tf", &text(on))]);
        let (_, found) = plan(&world, &config, &state, Options { mode: Mode::Destroy, ..Options::default() }).await;
        assert_eq!(found.iter().filter(|d| d.summary == "Instance cannot be destroyed").count(), errors);
    }
}

#[tokio::test]
async fn each_use_of_a_deprecated_name_is_reported_once() {
    let child = "variable \"old\" {\n default = 1\n deprecated = \"use new\"\n}\n\
                 output \"o\" {\n value = 1\n deprecated = \"use p\"\n}";
    let root = "module \"m\" {\n source = \"./m\"\n old = 2\n}\nmodule \"n\" {\n source = \"./m\"\n count = 2\n}\n\
                output \"a\" {\n value = module.m.o\n}\noutput \"b\" {\n value = module.n[*].o\n}\n\
                output \"c\" {\n value = [for i in [0] : module.n[i].o]\n}\n\
                output \"d\" {\n value = module.m.o\n deprecated = \"too\"\n}";
    let world = World::new();
    let config = config(&[("main.tf", root), ("m/main.tf", child)]);
    let found = validate(&world, &config).await;
    let summaries: Vec<&str> = found.iter().map(|d| d.summary.as_str()).collect();
    let used = "Deprecated value used";
    assert_eq!(summaries.iter().filter(|s| **s == used).count(), 3, "{:?}", texts(&found));
    assert_eq!(summaries.iter().filter(|s| **s == "Deprecated variable got a value").count(), 1);
}

#[tokio::test]
async fn nested_deprecations_can_be_ignored() {
    let inner = "output \"o\" {\n value = 1\n deprecated = \"use p\"\n}";
    let outer = "module \"in\" {\n source = \"./in\"\n}\noutput \"o\" {\n value = module.in.o\n}";
    for (argument, warnings) in [("", 1), ("ignore_nested_deprecations = true", 0)] {
        let world = World::new();
        let root = format!("module \"m\" {{\n source = \"./m\"\n {argument}\n}}");
        let config = config(&[("main.tf", &root), ("m/main.tf", outer), ("m/in/main.tf", inner)]);
        let found = validate(&world, &config).await;
        assert_eq!(found.len(), warnings, "{:?}", texts(&found));
    }
}

#[tokio::test]
async fn each_reference_to_a_deprecated_attribute_is_reported_once() {
    let text = "resource \"test_thing\" \"a\" {\n former = \"x\"\n}\noutput \"o\" {\n value = test_thing.a.former\n}
                resource \"test_thing\" \"b\" {\n count = 2\n name = test_thing.a.former\n}";
    let world = World::new();
    let config = config(&[("main.tf", text)]);
    let validated = validate(&world, &config).await;
    let (plan, planned) = plan(&world, &config, &State::default(), Options::default()).await;
    assert!(plan.is_some_and(|plan| !plan.errored));
    for found in [validated, planned] {
        assert_eq!(found.iter().map(|d| d.summary.as_str()).collect::<Vec<_>>(), ["Deprecated value used"; 2]);
    }
}

#[tokio::test]
async fn outputs_have_types() {
    let text = |value: &str| {
        format!("output \"o\" {{\n type = object({{ n = number, s = optional(string, \"x\") }})\n value = {value}\n}}")
    };
    let world = World::new();
    let (state, _) = apply(&world, &text("{ n = \"12\" }"), &State::default()).await;
    let value = &state.outputs["o"].value;
    assert_eq!((value.get("n").unwrap().as_i64(), value.get("s").unwrap().as_str()), (Some(12), Some("x")));
    let (_, found) =
        plan(&world, &config(&[("main.tf", &text("{ n = \"a\" }"))]), &State::default(), Options::default()).await;
    assert_eq!(found.iter().map(|d| d.summary.as_str()).collect::<Vec<_>>(), ["Invalid output value"]);
}

#[tokio::test]
async fn modules_import_what_is_theirs() {
    let child = "resource \"test_thing\" \"a\" {}\nimport {\n to = test_thing.a\n id = \"x\"\n}";
    let world = World::new();
    let config = config(&[("main.tf", "module \"m\" {\n source = \"./m\"\n}"), ("m/main.tf", child)]);
    let (_, found) = plan(&world, &config, &State::default(), Options::default()).await;
    // The provider of these tests has nothing to import: that it was asked is enough.
    assert_eq!(found.iter().map(|d| d.summary.as_str()).collect::<Vec<_>>(), ["Import returned no resources"]);
}

#[tokio::test]
async fn objects_are_imported_by_their_identity() {
    let text = |identity: &str| {
        format!(
            "resource \"test_thing\" \"a\" {{\n name = \"x\"\n}}\nresource \"test_thing\" \"b\" {{}}\n\
             import {{\n to = test_thing.a\n identity = {identity}\n}}"
        )
    };
    let world = World::new();
    let config_of = |identity: &str| config(&[("main.tf", &text(identity))]);
    let (found, warnings) = plan(&world, &config_of("{ name = \"x\" }"), &State::default(), Options::default()).await;
    assert!(warnings.is_empty(), "{:?}", texts(&warnings));
    let found = found.unwrap();
    let importing = found.changes[0].importing.as_ref().unwrap();
    let expected = Some("{\"name\":\"x\",\"place\":null}");
    assert_eq!((importing.id.as_deref(), importing.identity.as_deref()), (None, expected));
    assert_eq!(found.changes[0].identity.before.as_ref().map(|identity| &*identity.json), expected);
    let (_, _, instance) = found.prior_state.instances().next().unwrap();
    let identity = instance.current.as_ref().and_then(|object| object.identity.as_ref());
    assert_eq!(identity.map(|identity| &*identity.json), expected);
    // Attributes that the type does not have are ignored.
    let (_, found) =
        plan(&world, &config_of("{ name = \"x\", other = 1 }"), &State::default(), Options::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let cases = [
        ("{ place = \"here\" }", "Incorrect value type"),
        ("\"x\"", "Incorrect value type"),
        ("null", "Invalid import identity argument"),
        ("{ name = test_thing.b.id }", "Invalid import identity argument"),
        ("{ name = sensitive(\"x\") }", "Invalid import identity"),
        ("{ name = \"nothing\" }", "Import returned null resource"),
    ];
    for (identity, summary) in cases {
        let (_, found) = plan(&world, &config_of(identity), &State::default(), Options::default()).await;
        assert_eq!(found.iter().map(|d| d.summary.as_str()).collect::<Vec<_>>(), [summary], "{identity}");
    }
}

#[tokio::test]
async fn stored_identities_must_fit_the_schema() {
    let text = "resource \"test_thing\" \"a\" {\n name = \"x\"\n}\n";
    let import = format!("{text}import {{\n to = test_thing.a\n identity = {{ name = \"x\" }}\n}}");
    let world = World::new();
    let (state, _) = apply(&world, &import, &State::default()).await;
    let cases = [
        (0, "{\"name\":\"y\",\"place\":\"z\"}", None),
        (9, "{\"name\":\"y\"}", Some("Resource instance managed by newer provider version")),
        (0, "{\"nme\":5}", Some("failed to decode identity: unsupported attribute \"nme\"")),
    ];
    for (schema_version, json, error) in cases {
        let mut state = state.clone();
        let instances = &mut Arc::make_mut(state.resources.values_mut().next().unwrap()).instances;
        let instance = Arc::make_mut(instances.values_mut().next().unwrap());
        let object = instance.current.as_mut().unwrap();
        object.identity = Some(Identity { schema_version, json: json.into() });
        let (_, found) = plan(&world, &config(&[("main.tf", text)]), &state, Options::default()).await;
        let found: Vec<String> = found.iter().map(|d| d.summary.clone()).collect();
        assert_eq!(found.len(), usize::from(error.is_some()), "{found:?}");
        assert!(error.is_none_or(|error| found[0].starts_with(error)), "{found:?}");
    }
}

#[tokio::test]
async fn too_many_instances_are_an_error() {
    let world = World::new();
    let config = config(&[("main.tf", "resource \"test_thing\" \"a\" {\n count = 2147483648\n name = \"x\"\n}")]);
    let (_, found) = plan(&world, &config, &State::default(), Options::default()).await;
    let detail = "Invalid count argument: The given \"count\" argument value is unsuitable: at most 10000000 instances are possible.";
    assert_eq!(texts(&found), [detail]);
}

/// Nothing is allocated by the index: a state can name any.
#[tokio::test]
async fn stored_indices_of_any_size_are_destroyed() {
    let world = World::new();
    let text = "resource \"test_thing\" \"a\" {\n count = 1\n name = \"x\"\n}\noutput \"o\" {\n value = test_thing.a[*].name\n}";
    let (mut state, _) = apply(&world, text, &State::default()).await;
    let instances = &mut Arc::make_mut(state.resources.values_mut().next().unwrap()).instances;
    let object = instances.values().next().unwrap().clone();
    for index in [1 << 40, i64::MAX] {
        instances.insert(model::addr::InstanceKey::Int(index), object.clone());
    }
    let options = Options { mode: Mode::Destroy, ..Options::default() };
    let (planned, found) = plan(&world, &config(&[("main.tf", text)]), &state, options).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let (left, _) = apply_plan(&world, &config(&[("main.tf", text)]), planned.unwrap()).await;
    assert_eq!(addresses(&left), Vec::<String>::new());
}

#[test]
fn imports_may_name_the_instance_that_the_block_chooses() {
    let text = "provider \"test\" {\n alias = \"by\"\n for_each = toset([\"a\"])\n}\nresource \"test_thing\" \"a\" {\n provider = \
                test.by[\"a\"]\n}\nimport {\n to = test_thing.a\n id = \"x\"\n provider = test.by[\"a\"]\n}\n";
    config(&[("main.tf", text)]);
}

#[tokio::test]
async fn a_counted_module_becomes_an_enabled_one() {
    let world = World::new();
    let child = "resource \"test_thing\" \"a\" {\n name = \"a\"\n}";
    let files = |root: &str| config(&[("main.tf", root), ("m/main.tf", child)]);
    let counted = files("module \"m\" {\n source = \"./m\"\n count = 1\n}");
    let (state, _) = apply_as(&world, &counted, &State::default(), Mode::Normal).await;
    assert_eq!(addresses(&state), ["module.m[0].test_thing.a"]);
    let enabled = files("module \"m\" {\n source = \"./m\"\n lifecycle {\n enabled = true\n }\n}");
    let (plan, _) = plan(&world, &enabled, &state, Options::default()).await;
    assert_eq!(actions(&plan.unwrap()), Vec::<String>::new());
}

const REGIONS: &str = "locals {\n regions = { e = \"east\", w = \"west\" }\n}\n\
    provider \"test\" {\n alias = \"by\"\n for_each = local.regions\n region = each.value\n}\n";

#[tokio::test]
async fn instances_choose_their_provider() {
    let world = World::new();
    let text = format!(
        "{REGIONS}resource \"test_thing\" \"a\" {{\n for_each = local.regions\n provider = test.by[each.key]\n name = each.key\n}}"
    );
    let (state, _) = apply(&world, &text, &State::default()).await;
    let mut log = world.took();
    log.sort();
    assert_eq!(log, ["configure by[e] east", "configure by[w] west", "create e", "create w"]);
    let key = |addr: &str| state.instance(&parse_abs_instance(addr).unwrap()).unwrap().provider_key();
    assert_eq!(key("test_thing.a[\"e\"]").as_deref(), Some("e"));
    // An element that is gone while its objects are there.
    let fewer = text.replace(", w = \"west\"", "");
    let (_, found) = plan(&world, &config(&[("main.tf", &fewer)]), &state, Options::default()).await;
    assert_eq!(found.iter().map(|d| d.summary.as_str()).collect::<Vec<_>>(), ["Provider instance not present"]);
    // Only the objects go: their provider is still there.
    let fewer = text.replace("for_each = local.regions\n provider =", "for_each = { e = 1 }\n provider =");
    assert_eq!(planned(&world, &fewer, &state).await, ["Delete test_thing.a[\"w\"]"]);
    let (state, _) = apply(&world, REGIONS, &state).await;
    assert_eq!(addresses(&state), Vec::<String>::new());
}

#[tokio::test]
async fn modules_are_passed_instances_of_a_provider() {
    let world = World::new();
    let root = format!(
        "{REGIONS}module \"m\" {{\n source = \"./m\"\n for_each = local.regions\n providers = {{\n test = test.by[each.key]\n }}\n}}"
    );
    let child = "resource \"test_thing\" \"a\" {\n name = \"x\"\n}";
    let config = config(&[("main.tf", &root), ("m/main.tf", child)]);
    let (state, _) = apply_as(&world, &config, &State::default(), Mode::Normal).await;
    let key = |addr: &str| state.instance(&parse_abs_instance(addr).unwrap()).unwrap().provider_key();
    assert_eq!(key("module.m[\"w\"].test_thing.a").as_deref(), Some("w"));
    let (state, _) = apply_as(&world, &config, &state, Mode::Destroy).await;
    assert!(state.is_empty());
}

/// Whether there is to be a key is known when the configuration is read, as in OpenTofu; which keys there are, in the plan.
#[tokio::test]
async fn references_to_providers_say_which() {
    let one = "provider \"test\" {\n alias = \"by\"\n}\n";
    let of_resource = |reference: &str| format!("resource \"test_thing\" \"a\" {{\n provider = {reference}\n}}");
    let of_call =
        |reference: &str| format!("module \"m\" {{\n source = \"./m\"\n providers = {{\n test = {reference}\n }}\n}}");
    let child = "resource \"test_thing\" \"a\" {\n name = \"x\"\n}";
    let cases = [
        (REGIONS, of_resource("test.by"), vec!["Missing provider instance key"]),
        (REGIONS, of_call("test.by"), vec!["Invalid module provider configuration"]),
        (one, of_resource("test.by[\"e\"]"), vec!["Unexpected provider instance key"]),
        (one, of_call("test.by[\"e\"]"), vec!["Unexpected provider instance key"]),
        (one, of_resource("test.by"), vec![]),
        (one, of_call("test.by"), vec![]),
        (REGIONS, of_resource("test.by[\"x\"]"), vec![]),
        (REGIONS, of_call("test.by[\"x\"]"), vec![]),
    ];
    for (provider, user, expected) in cases {
        let text = format!("{provider}{user}");
        let (_, found) = read_config(&[("main.tf", &text), ("m/main.tf", child)]);
        let errors = found.iter().filter(|d| d.is_error()).map(|d| d.summary.as_str());
        assert_eq!(errors.collect::<Vec<_>>(), expected, "{text}");
    }
    let text = format!("{REGIONS}{}", of_resource("test.by[\"x\"]"));
    let (_, found) = plan(&World::new(), &config(&[("main.tf", &text)]), &State::default(), Options::default()).await;
    let found: Vec<&str> = found.iter().map(|d| d.summary.as_str()).collect();
    assert_eq!(found, ["Invalid provider instance key"]);
}

#[test]
fn actions_say_what_they_leave() {
    assert!(Action::CreateThenForget.is_replace() && Action::CreateThenForget.forgets());
    assert!(!Action::CreateThenForget.destroys());
}

/// A provider configuration without instances takes over an object of one with instances.
#[tokio::test]
async fn objects_move_to_a_provider_without_instances() {
    let world = World::new();
    let keyed = format!("{REGIONS}resource \"test_thing\" \"a\" {{\n provider = test.by[\"e\"]\n name = \"a\"\n}}");
    let (state, _) = apply(&world, &keyed, &State::default()).await;
    let plain = format!("{REGIONS}resource \"test_thing\" \"a\" {{\n name = \"a\"\n}}");
    let (plan, _) = plan(&world, &config(&[("main.tf", &plain)]), &state, Options::default()).await;
    let plan = plan.unwrap();
    for state in [&plan.previous_state, &plan.prior_state] {
        let (_, provider, instance) = state.instances().next().unwrap();
        assert_eq!((provider.alias.as_deref(), instance.provider_key()), (None, None));
    }
}
