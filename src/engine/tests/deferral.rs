//! Deferred changes: what is left to a later plan, why, and what apply makes of the rest.

use std::sync::Arc;

use base::source::SourceFile;
use lang::syntax::parser;
use model::plan::{Mode, Plan};
use model::state::State;
use terrane_value::{Type, Value};

use super::world::*;
use crate::{ApplyInput, Evaluation, GivenVariables};

/// A resource whose output is not known before it exists.
const SOURCE: &str = "resource \"test_thing\" \"s\" {\n name = \"s\"\n}\n";
const COUNTED: &str = "resource \"test_thing\" \"c\" {\n count = length(test_thing.s.output)\n name = \"c\"\n}\n";

async fn planned(world: &Arc<World>, text: &str, state: &State) -> Plan {
    let options = Options { deferral: true, ..Options::default() };
    let (plan, found) = plan(world, &config(&[("main.tf", text)]), state, options).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    plan.expect("a plan")
}

async fn applied(world: &Arc<World>, text: &str, state: &State) -> (Plan, State) {
    let plan = planned(world, text, state).await;
    let (state, found) = apply_plan(world, &config(&[("main.tf", text)]), plan.clone()).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    (plan, state)
}

/// Each deferred change, as `reason address`.
fn deferred(plan: &Plan) -> Vec<String> {
    plan.deferred.iter().map(|d| format!("{} {}", d.reason.json_name(), d.change.addr)).collect()
}

#[tokio::test]
async fn unknown_instances_and_their_dependents_are_deferred() {
    let module = "module \"m\" {\n source = \"./m\"\n for_each = toset([test_thing.s.output])\n k = each.key\n}\n";
    let cases: &[(&str, &[&str])] = &[
        (COUNTED, &["instance_count_unknown test_thing.c[*]"]),
        (
            "resource \"test_thing\" \"c\" {\n for_each = toset([test_thing.s.output])\n name = each.key\n}\n\
             resource \"test_thing\" \"d\" {\n name = \"d\"\n depends_on = [test_thing.c]\n}\n",
            &["instance_count_unknown test_thing.c[*]", "deferred_prereq test_thing.d"],
        ),
        (
            "data \"test_thing\" \"c\" {\n count = length(test_thing.s.output)\n name = \"c\"\n}\n\
             resource \"test_thing\" \"d\" {\n name = join(\",\", data.test_thing.c[*].name)\n}\n",
            &["instance_count_unknown data.test_thing.c[*]", "deferred_prereq test_thing.d"],
        ),
        (
            module,
            &[
                "instance_count_unknown module.m[*].test_thing.i[*]",
                "instance_count_unknown module.m[*].test_thing.n[*]",
            ],
        ),
    ];
    let inner = "variable \"k\" {\n}\nresource \"test_thing\" \"i\" {\n name = var.k\n}\n\
                 resource \"test_thing\" \"n\" {\n count = 2\n name = \"n\"\n}\n";
    for (text, expected) in cases {
        let text = format!("{SOURCE}{text}");
        let config = config(&[("main.tf", &text), ("m/main.tf", inner)]);
        let options = Options { deferral: true, ..Options::default() };
        let (found, problems) = plan(&World::new(), &config, &State::default(), options).await;
        let found = found.unwrap_or_else(|| panic!("{:?}", texts(&problems)));
        assert!(!problems.has_errors(), "{:?}", texts(&problems));
        assert_eq!(deferred(&found), *expected, "{text}");
        assert_eq!(actions(&found), ["Create test_thing.s"], "{text}");
        assert!(found.applyable && !found.complete);
    }
}

#[tokio::test]
async fn without_the_option_unknown_instances_are_errors() {
    let text = format!("{SOURCE}{COUNTED}");
    let (_, found) = plan(&World::new(), &config(&[("main.tf", &text)]), &State::default(), Options::default()).await;
    assert_eq!(found.iter().map(|d| d.summary.as_str()).collect::<Vec<_>>(), ["Invalid count argument"]);
}

#[tokio::test]
async fn repeated_applies_reach_a_plan_without_changes() {
    let world = World::new();
    let text = format!("{SOURCE}{COUNTED}output \"all\" {{\n value = test_thing.c[*].name\n}}\n");
    let (first, state) = applied(&world, &text, &State::default()).await;
    assert_eq!(
        (actions(&first), addresses(&state)),
        (vec!["Create test_thing.s".to_string()], vec!["test_thing.s".into()])
    );
    let (second, state) = applied(&world, &text, &state).await;
    assert!(second.complete && second.deferred.is_empty());
    let known = state.outputs["all"].value.clone();
    assert!(known.is_wholly_known() && !known.elements().is_empty());
    let last = planned(&world, &text, &state).await;
    assert!(!last.applyable && last.complete, "{:?}", actions(&last));
}

#[tokio::test]
async fn values_of_deferred_blocks_are_not_known_in_apply() {
    let each = "resource \"test_thing\" \"e\" {\n for_each = toset([test_thing.s.output])\n name = each.key\n}\n";
    let known = "resource \"test_thing\" \"k\" {\n count = 2\n name = \"k\"\n depends_on = [test_thing.c]\n}\n";
    let module = "module \"m\" {\n source = \"./m\"\n count = length(test_thing.s.output)\n}\n";
    let inner = "resource \"test_thing\" \"i\" {\n name = \"i\"\n}\noutput \"n\" {\n value = test_thing.i.name\n}\n";
    let outputs = [
        "length(test_thing.c)",
        "keys(test_thing.e)",
        "length(test_thing.k)",
        "[for k in test_thing.k : k.name]",
        "length(module.m)",
        "module.m[*].n",
    ];
    let outputs = outputs.iter().enumerate().map(|(i, text)| format!("output \"o{i}\" {{\n value = {text}\n}}\n"));
    let text = format!("{SOURCE}{COUNTED}{each}{known}{module}{}", outputs.collect::<String>());
    let (world, config) = (World::new(), config(&[("main.tf", &text), ("m/main.tf", inner)]));
    let options = Options { deferral: true, ..Options::default() };
    let (plan, found) = plan(&world, &config, &State::default(), options).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    let (state, found) = apply_plan(&world, &config, plan.expect("a plan")).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    assert_eq!(state.outputs.len(), 6);
    for (name, output) in &state.outputs {
        assert!(output.value.is_null(), "{name}: {:?}", output.value);
    }
}

/// The value of an expression after an apply.
fn value_in(evaluation: &Evaluation, text: &str) -> Value {
    let (expr, problems) = parser::parse_expression(SourceFile::new("x.tf", text));
    assert!(problems.is_empty(), "{text}: {problems:?}");
    let (value, found) = evaluation.evaluate(&expr);
    assert!(!found.has_errors(), "{text}: {:?}", texts(&found));
    value
}

#[tokio::test]
async fn references_in_apply_see_the_planned_objects_of_deferred_instances() {
    let known = "resource \"test_thing\" \"a\" {\n name = \"defer\"\n}\n\
                 resource \"test_thing\" \"k\" {\n count = 2\n name = \"k\"\n depends_on = [test_thing.c]\n}\n\
                 resource \"test_thing\" \"p\" {\n for_each = toset([\"defer\", \"x\"])\n name = each.key\n}\n\
                 output \"names\" {\n value = test_thing.k[*].name\n}\n\
                 output \"both\" {\n value = [for p in test_thing.p : p.name]\n}\n";
    let (world, text) = (World::new(), format!("{SOURCE}{COUNTED}{known}"));
    let plan = planned(&world, &text, &State::default()).await;
    let facts = world.known.facts(&config(&[("main.tf", &text)]));
    let input = ApplyInput { facts, plan: Arc::new(plan), variables: GivenVariables::new(), parallelism: PARALLELISM };
    let (outcome, evaluation, found) = crate::apply_and_evaluate(input, &world.ports()).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    let (state, evaluation) = (outcome.state.unwrap(), evaluation.unwrap());
    assert_eq!(addresses(&state), ["test_thing.p[\"x\"]", "test_thing.s"]);
    let strings = |list: &[&str]| Value::tuple(list.iter().map(|text| Value::string(*text)).collect());
    let cases = [
        ("test_thing.a.name", Value::string("defer")),
        ("length(test_thing.k)", Value::int(2)),
        ("test_thing.k[1].name", Value::string("k")),
        ("test_thing.p[\"defer\"].name", Value::string("defer")),
        ("[for p in test_thing.p : p.name]", strings(&["defer", "x"])),
    ];
    for (text, expected) in cases {
        assert_eq!(value_in(&evaluation, text), expected, "{text}");
    }
    for text in ["test_thing.a.id", "test_thing.c", "test_thing.c[0].name", "test_thing.p[\"defer\"].id"] {
        assert!(!value_in(&evaluation, text).is_known(), "{text}");
    }
    assert!(value_in(&evaluation, "test_thing.p[\"x\"].id").is_known());
    // The state does not have values of what does not exist.
    assert_eq!(evaluation.outputs().get("names"), Some(&strings(&["k", "k"])));
    for (name, output) in &state.outputs {
        assert!(output.value.is_null(), "{name}: {:?}", output.value);
    }
    assert_eq!(state.outputs.len(), 2);
}

#[tokio::test]
async fn instances_that_may_change_are_unknown_in_apply_although_they_exist() {
    let world = World::new();
    let known = format!("{SOURCE}resource \"test_thing\" \"c\" {{\n count = 2\n name = \"c\"\n}}\n");
    let (state, _) = apply(&world, &known, &State::default()).await;
    let text = format!("{SOURCE}{COUNTED}").replace("\"s\"\n}", "\"changed\"\n}");
    let plan = planned(&world, &text, &state).await;
    let facts = world.known.facts(&config(&[("main.tf", &text)]));
    let input = ApplyInput { facts, plan: Arc::new(plan), variables: GivenVariables::new(), parallelism: PARALLELISM };
    let (_, evaluation, found) = crate::apply_and_evaluate(input, &world.ports()).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    for text in ["test_thing.c", "test_thing.c[0].name", "test_thing.c[1].id"] {
        assert!(!value_in(evaluation.as_ref().unwrap(), text).is_known(), "{text}");
    }
}

#[tokio::test]
async fn ephemeral_resources_that_depend_on_deferred_objects_are_not_opened() {
    let world = World::new();
    let text = "resource \"test_thing\" \"a\" {\n name = \"defer\"\n}\n\
                ephemeral \"test_thing\" \"e\" {\n name = test_thing.a.name\n}\n\
                ephemeral \"test_thing\" \"f\" {\n name = \"f\"\n}\n";
    applied(&world, text, &State::default()).await;
    let said = world.took();
    let opened: Vec<&str> = said.iter().map(String::as_str).filter(|line| line.starts_with("open")).collect();
    assert_eq!(opened, ["open f", "open f"], "{said:?}");
}

#[tokio::test]
async fn objects_stay_while_their_instances_are_unknown() {
    let world = World::new();
    let known = format!("{SOURCE}resource \"test_thing\" \"c\" {{\n count = 2\n name = \"c\"\n}}\n");
    let (state, _) = apply(&world, &known, &State::default()).await;
    let text = format!("{SOURCE}{COUNTED}").replace("\"s\"\n}", "\"changed\"\n}");
    let (plan, state) = applied(&world, &text, &state).await;
    assert_eq!(actions(&plan), ["Update test_thing.s"]);
    assert_eq!(deferred(&plan), ["instance_count_unknown test_thing.c[*]"]);
    assert_eq!(addresses(&state), ["test_thing.c[0]", "test_thing.c[1]", "test_thing.s"]);
    // They are refreshed.
    let objects = world.objects.lock().unwrap().clone();
    let gone = objects.into_iter().filter(|(_, name)| name == "c").map(|(id, _)| id);
    world.gone.lock().unwrap().extend(gone);
    let text = text.replace("changed", "changed again");
    let (plan, state) = applied(&world, &text, &state).await;
    assert_eq!(actions(&plan), ["Update test_thing.s"]);
    assert_eq!(addresses(&state), ["test_thing.s"]);
}

#[tokio::test]
async fn deferrals_of_providers_are_kept_with_their_dependents() {
    let world = World::new();
    let text = "resource \"test_thing\" \"a\" {\n name = \"defer\"\n}\n\
                resource \"test_thing\" \"b\" {\n name = upper(test_thing.a.name)\n}\n\
                data \"test_thing\" \"d\" {\n name = \"defer\"\n}\n\
                output \"name\" {\n value = test_thing.a.name\n}\n";
    let (plan, state) = applied(&world, text, &State::default()).await;
    let expected =
        ["absent_prereq data.test_thing.d", "resource_config_unknown test_thing.a", "deferred_prereq test_thing.b"];
    assert_eq!(deferred(&plan), expected);
    assert!(actions(&plan).is_empty() && !plan.complete);
    assert_eq!(plan.outputs[0].change.after, Value::string("defer"));
    assert!(addresses(&state).is_empty());
    assert_eq!(state.outputs["name"].value, Value::null(Type::String));
}

#[tokio::test]
async fn a_deferred_update_leaves_the_object_as_it_is() {
    let world = World::new();
    let text = |name: &str| format!("resource \"test_thing\" \"a\" {{\n name = \"{name}\"\n}}\n");
    let (before, _) = apply(&world, &text("a"), &State::default()).await;
    let (plan, after) = applied(&world, &text("defer"), &before).await;
    assert_eq!(deferred(&plan), ["resource_config_unknown test_thing.a"]);
    assert!(!plan.applyable);
    assert_eq!(after.resources, before.resources);
    let sees = format!("{}output \"n\" {{\n value = test_thing.a.name\n}}\n", text("defer"));
    let (plan, seen) = applied(&world, &sees, &before).await;
    assert_eq!(plan.outputs[0].change.after, Value::string("defer"));
    assert_eq!(seen.outputs["n"].value, Value::null(Type::String));
    let (left, found) = apply_as(&world, &config(&[("main.tf", &text("defer"))]), &after, Mode::Destroy).await;
    assert!(!found.has_errors() && left.instances().count() == 0, "{:?}", texts(&found));
}

#[tokio::test]
async fn actions_of_deferred_changes_are_deferred() {
    let world = World::new();
    let trigger = " lifecycle {\n action_trigger {\n events = [after_create]\n actions = [ACTION]\n }\n }\n}\n";
    let cases = [
        ("resource \"test_thing\" \"c\" {\n name = \"defer\"\n", "action.test_act.x", "resource_config_unknown", ""),
        (
            "resource \"test_thing\" \"c\" {\n name = \"c\"\n",
            "action.test_act.x[0]",
            "deferred_prereq",
            " count = length(test_thing.s.output)\n",
        ),
    ];
    for (resource, act, reason, count) in cases {
        let action = format!("action \"test_act\" \"x\" {{\n{count} config {{\n text = \"t\"\n }}\n}}\n");
        let text = format!("{SOURCE}{resource}{}{action}", trigger.replace("ACTION", act));
        let plan = planned(&world, &text, &State::default()).await;
        assert_eq!(deferred(&plan), [format!("{reason} test_thing.c")]);
        assert_eq!(actions(&plan), ["Create test_thing.s"]);
        let invocations: Vec<String> =
            plan.deferred_invocations.iter().map(|d| d.invocation.addr.to_string()).collect();
        assert_eq!((plan.invocations.len(), invocations), (0, vec![act.to_string()]));
    }
}

#[tokio::test]
async fn imports_by_unknown_ids_are_deferred() {
    let world = World::new();
    let resource = "resource \"test_thing\" \"i\" {\n name = \"i\"\n}\n";
    let imports = [
        "import {\n to = test_thing.i\n id = test_thing.s.output\n}\n",
        "import {\n for_each = toset([test_thing.s.output])\n to = test_thing.i\n id = each.value\n}\n",
    ];
    for import in imports {
        let plan = planned(&world, &format!("{SOURCE}{resource}{import}"), &State::default()).await;
        assert_eq!(deferred(&plan), ["resource_config_unknown test_thing.i"], "{import}");
        assert_eq!(actions(&plan), ["Create test_thing.s"], "{import}");
        assert!(plan.deferred[0].change.importing.is_some());
    }
}
