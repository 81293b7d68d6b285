//! Actions: which changes invoke them, with which values, and what becomes of failures, interrupts and panics.

use std::sync::Arc;

use base::stop::Stage;
use model::addr::command_line;
use model::addr::parse::parse_abs_instance;
use model::plan::{Mode, Plan};
use model::state::{ObjectStatus, State};

use super::schedule::{Interrupt, Schedule};
use super::world::*;

/// The resource `a` with a name and a trigger, and the action `x` with a text.
fn text(name: &str, trigger: &str, act: &str) -> String {
    format!(
        "resource \"test_thing\" \"a\" {{\n name = \"{name}\"\n lifecycle {{\n action_trigger {{\n{trigger}\n }}\n }}\n}}\n\
         action \"test_act\" \"x\" {{\n config {{\n text = {act}\n }}\n}}\n"
    )
}

const ALL: &str = "events = [before_create, after_create, before_update, after_update, before_destroy, after_destroy]\n \
                   actions = [action.test_act.x]";

async fn planned(world: &Arc<World>, text: &str, state: &State, options: Options) -> Plan {
    let (plan, found) = plan(world, &config(&[("main.tf", text)]), state, options).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    plan.expect("a plan")
}

fn events(plan: &Plan) -> Vec<&'static str> {
    plan.invocations.iter().filter_map(|i| Some(i.lifecycle()?.event.keyword())).collect()
}

/// What apply says, without the configuration of providers.
fn done(world: &World) -> Vec<String> {
    world.took().into_iter().filter(|line| !line.starts_with("configure")).collect()
}

#[tokio::test]
async fn changes_invoke_the_actions_of_their_events() {
    let world = World::new();
    let first = text("a", ALL, "caller.name");
    let (state, found) = apply(&world, &first, &State::default()).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    assert_eq!(done(&world), ["act a", "create a", "act a"]);
    let second = text("b", ALL, "caller.name");
    let update = planned(&world, &second, &state, Options::default()).await;
    assert_eq!(events(&update), ["before_update", "after_update"]);
    world.took();
    let (updated, _) = apply_plan(&world, &config(&[("main.tf", &second)]), update).await;
    assert_eq!(done(&world), ["act b", "update b", "act b"]);
    let replace = vec![parse_abs_instance("test_thing.a").expect("an address")];
    let replaced = planned(&world, &second, &updated, Options { replace, ..Options::default() }).await;
    assert_eq!(events(&replaced), ["before_create", "after_create", "before_destroy", "after_destroy"]);
    world.took();
    let (state, _) = apply_plan(&world, &config(&[("main.tf", &second)]), replaced).await;
    assert_eq!(done(&world), ["act b", "destroy b", "act b", "act b", "create b", "act b"]);
    let (left, _) = apply_as(&world, &config(&[("main.tf", &second)]), &state, Mode::Destroy).await;
    assert_eq!(done(&world), ["act b", "destroy b", "act b"]);
    assert_eq!(left.instances().count(), 0);
}

#[tokio::test]
async fn an_object_without_a_place_in_its_block_invokes_its_destroy_actions() {
    let world = World::new();
    let text = |count: usize| {
        format!(
            "resource \"test_thing\" \"a\" {{\n count = {count}\n name = \"a${{count.index}}\"\n lifecycle {{\n action_trigger \
             {{\n events = [after_destroy]\n actions = [action.test_act.x[count.index]]\n }}\n }}\n}}\n\
             action \"test_act\" \"x\" {{\n count = 2\n config {{\n text = \"${{count.index}} ${{caller.name}}\"\n }}\n}}\n"
        )
    };
    let (state, _) = apply(&world, &text(2), &State::default()).await;
    world.took();
    let (_, found) = apply(&world, &text(1), &state).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    assert_eq!(done(&world), ["destroy a1", "act 1 a1"]);
}

#[tokio::test]
async fn a_replacement_that_creates_first_invokes_all_actions() {
    let world = World::new();
    let trigger = format!(
        "{ALL}\n }}\n create_before_destroy = true\n precondition {{\n condition = var.yes\n error_message = \"no\""
    );
    let text = format!("variable \"yes\" {{\n default = true\n}}\n{}", text("a", &trigger, "\"x\""));
    let (state, _) = apply(&world, &text, &State::default()).await;
    let replace = vec![parse_abs_instance("test_thing.a").expect("an address")];
    let replaced = planned(&world, &text, &state, Options { replace, ..Options::default() }).await;
    world.took();
    let (_, found) = apply_plan(&world, &config(&[("main.tf", &text)]), replaced).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    assert_eq!(done(&world), ["act x", "create a", "act x", "act x", "destroy a", "act x"]);
}

#[tokio::test]
async fn conditions_decide_in_plan_and_apply() {
    for (condition, planned_count, acts) in [
        ("true", 1, 1),
        ("false", 0, 0),
        ("null", 0, 0),
        // Known after the object is there.
        ("self.output == \"out-a\"", 1, 1),
        ("self.output != \"out-a\"", 1, 0),
    ] {
        let world = World::new();
        let trigger = format!("events = [after_create]\n actions = [action.test_act.x]\n condition = {condition}");
        let text = text("a", &trigger, "\"x\"");
        let plan = planned(&world, &text, &State::default(), Options::default()).await;
        assert_eq!(plan.invocations.len(), planned_count, "{condition}");
        world.took();
        let (_, found) = apply_plan(&world, &config(&[("main.tf", &text)]), plan).await;
        assert!(!found.has_errors(), "{condition}: {:?}", texts(&found));
        assert_eq!(world.took().iter().filter(|line| *line == "act x").count(), acts, "{condition}");
    }
}

/// Event, reaction, what is said, the state, and whether dependents run.
#[tokio::test]
async fn failures_halt_taint_or_warn() {
    let ready = Some(ObjectStatus::Ready);
    for (event, on_failure, fails, status, log) in [
        ("after_create", "halt", true, ready, vec!["create a", "act x"]),
        ("after_create", "taint", true, Some(ObjectStatus::Tainted), vec!["create a", "act x"]),
        ("after_create", "continue", false, ready, vec!["create a", "act x", "act x", "create b"]),
        ("before_create", "halt", true, None, vec!["act x"]),
        ("before_create", "taint", true, None, vec!["act x"]),
        ("before_create", "continue", false, ready, vec!["act x", "act x", "create a", "create b"]),
    ] {
        let case = format!("{event} {on_failure}");
        let world = World::new();
        world.fail(&["act x"]);
        let trigger = format!(
            "events = [{event}]\n actions = [action.test_act.x, action.test_act.x]\n on_failure = {on_failure}"
        );
        let more = "resource \"test_thing\" \"b\" {\n name = \"b\"\n input = test_thing.a.id\n}";
        let configuration = format!("{}{more}", text("a", &trigger, "\"x\""));
        let (state, found) = apply(&world, &configuration, &State::default()).await;
        assert_eq!(found.has_errors(), fails, "{case}: {:?}", texts(&found));
        assert!(texts(&found).contains(&"act failed: x".to_owned()), "{case}");
        let address = found.iter().next().and_then(|d| d.address.clone());
        assert_eq!(address.as_deref(), Some("action.test_act.x, called from test_thing.a"), "{case}");
        let line = found.iter().next().and_then(|d| d.subject.as_ref()).map(|subject| subject.start().line);
        let header = configuration.lines().position(|line| line.contains("action \"test_act\""));
        assert_eq!(line, header.map(|before| before + 1), "{case}: the message names no attribute");
        assert_eq!(done(&world), log, "{case}");
        let a = parse_abs_instance("test_thing.a").expect("an address");
        let found = state.instance(&a).and_then(|i| i.current.as_ref()).map(|object| object.status);
        assert_eq!(found, status, "{case}");
    }
}

#[tokio::test]
async fn a_failed_change_invokes_nothing_after_it() {
    let world = World::new();
    world.fail(&["a"]);
    let (_, found) = apply(&world, &text("a", ALL, "\"x\""), &State::default()).await;
    assert!(found.has_errors());
    assert_eq!(done(&world), ["act x", "fail create a"]);
}

#[tokio::test]
async fn a_destroy_goes_on_after_a_failed_action() {
    let world = World::new();
    let text = text("a", ALL, "\"x\"");
    let (state, _) = apply(&world, &text, &State::default()).await;
    world.fail(&["act x"]);
    let (left, found) = apply_as(&world, &config(&[("main.tf", &text)]), &state, Mode::Destroy).await;
    assert!(!found.has_errors());
    assert_eq!(texts(&found), ["act failed: x", "act failed: x"]);
    assert_eq!(left.instances().count(), 0);
}

/// An action that did not run is named, and the command fails.
#[tokio::test]
async fn interrupted_actions_are_named() {
    let trigger = "events = [after_create]\n actions = [action.test_act.x, action.test_act.x]";
    let config = config(&[("main.tf", &text("a", trigger, "\"x\""))]);
    let (planned, _) = plan(&World::new(), &config, &State::default(), Options::default()).await;
    let planned = planned.expect("a plan");
    let mut named = 0;
    for after in 0..8 {
        let interrupt = Some(Interrupt { after, stage: Stage::Stopping });
        let world = World::scheduled(Schedule::seeded(1, 1, interrupt));
        let (state, found) = apply_plan(&world, &config, planned.clone()).await;
        if world.schedule.stop.is_stopping() {
            assert!(found.has_errors(), "{after}");
        }
        let acts = world.took().iter().filter(|line| *line == "act x").count();
        let missing = found.iter().filter(|d| d.summary == "Actions not invoked");
        let missing: Vec<usize> =
            missing.map(|d| d.detail.matches("action.test_act.x, called from test_thing.a").count()).collect();
        match (state.instances().count(), acts) {
            (1, 0 | 1) => {
                assert_eq!(missing, [2 - acts], "{after}");
                named += 1;
            }
            _ => assert!(missing.is_empty(), "{after}"),
        }
    }
    assert!(named > 0, "no interrupt came between the change and its actions");
}

#[tokio::test]
async fn a_panicking_action_is_an_error_with_an_address() {
    for (panic, event) in [("plan act x", "after_create"), ("act x", "before_create"), ("act x", "after_create")] {
        let world = World::new();
        world.panic(&[panic]);
        let text = text("a", &format!("events = [{event}]\n actions = [action.test_act.x]"), "\"x\"");
        let config = config(&[("main.tf", &text)]);
        let (plan, found) = plan(&world, &config, &State::default(), Options::default()).await;
        let found = match found.has_errors() {
            true => {
                assert!(plan.expect("a plan").errored);
                found
            }
            false => apply_plan(&world, &config, plan.expect("a plan")).await.1,
        };
        assert!(texts(&found).iter().any(|text| text.contains(&format!("{panic} is broken"))), "{panic} {event}");
        let address = found.iter().next().and_then(|d| d.address.clone());
        assert_eq!(address.as_deref(), Some("test_thing.a"), "{panic} {event}");
    }
}

#[tokio::test]
async fn plans_keep_no_secrets_that_are_evaluated_again() {
    let world = World::new();
    let act = "\"x\"\n secret = \"hush\"";
    let plan = planned(&world, &text("a", ALL, act), &State::default(), Options::default()).await;
    assert!(plan.invocations.iter().all(|i| i.config.get("secret").is_some_and(|secret| secret.is_null())));
    world.took();
    let (_, found) = apply_plan(&world, &config(&[("main.tf", &text("a", ALL, act))]), plan).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    assert_eq!(done(&world), ["act x with hush", "create a", "act x with hush"]);
}

#[tokio::test]
async fn values_that_are_unknown_too_long_are_errors() {
    let world = World::new();
    let before = text("a", "events = [before_create]\n actions = [action.test_act.x]", "caller.id");
    let (state, found) = apply(&world, &before, &State::default()).await;
    assert_eq!(
        found.iter().map(|d| d.summary.as_str()).collect::<Vec<_>>(),
        ["Action configuration unknown during apply"]
    );
    assert_eq!(state.instances().count(), 0);
    // What the action refers to is the object that calls it: no cycle, and known afterwards.
    let after = text("a", "events = [after_create]\n actions = [action.test_act.x]", "test_thing.a.output");
    let (_, found) = apply(&world, &after, &State::default()).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    assert_eq!(done(&world), ["create a", "act out-a"]);
}

fn invoke(address: &str) -> Options {
    let invoke = vec![command_line::action(address).expect("an address")];
    Options { mode: Mode::RefreshOnly, invoke, ..Options::default() }
}

#[tokio::test]
async fn requested_actions_are_all_that_happens() {
    let world = World::new();
    let text = "resource \"test_thing\" \"a\" {\n name = \"a\"\n}\nresource \"test_thing\" \"new\" {\n name = \"new\"\n}\n\
                action \"test_act\" \"x\" {\n for_each = { k = \"1\", l = \"2\" }\n config {\n text = \
                \"${each.key}${each.value}${test_thing.a.id}\"\n }\n}\noutput \"o\" {\n value = test_thing.new.id\n}\n\
                output \"of_a\" {\n value = test_thing.a.id\n}\n";
    let config = config(&[("main.tf", text)]);
    let only_a = "resource \"test_thing\" \"a\" {\n name = \"a\"\n}\n";
    let (state, _) = apply(&world, only_a, &State::default()).await;
    for (address, acts) in
        [("action.test_act.x", vec!["act k1id-1", "act l2id-1"]), ("action.test_act.x[\"l\"]", vec!["act l2id-1"])]
    {
        let (planned, found) = plan(&world, &config, &state, invoke(address)).await;
        assert!(!found.has_errors(), "{:?}", texts(&found));
        let planned = planned.expect("a plan");
        assert!(planned.applyable && planned.changes.is_empty());
        let outputs: Vec<&str> = planned.outputs.iter().map(|output| &*output.name).collect();
        assert_eq!(outputs, ["of_a"], "only those of what the action needs");
        world.took();
        let (after, found) = apply_plan(&world, &config, planned).await;
        assert!(!found.has_errors(), "{:?}", texts(&found));
        let mut log = done(&world);
        log.sort();
        assert_eq!(log, acts);
        assert_eq!(addresses(&after), ["test_thing.a"]);
        assert_eq!(after.outputs["of_a"].value.as_str(), Some("id-1"));
    }
    for (state, address, summary) in [
        (&State::default(), "action.test_act.x", "Reference to uninitialized resource"),
        (&state, "action.test_act.y", "invoke target action.test_act.y not found"),
        (&state, "action.test_act.x[0]", "invoke target action.test_act.x[0] not found"),
        (&state, "module.m.action.test_act.x", "invoke target module.m.action.test_act.x not found"),
    ] {
        let (_, found) = plan(&world, &config, state, invoke(address)).await;
        assert_eq!(found.iter().next().map(|d| d.summary.as_str()), Some(summary), "{address}");
    }
}

#[tokio::test]
async fn requested_actions_have_their_callers() {
    let world = World::new();
    let text = text("a", "events = [after_update]\n actions = [action.test_act.x]", "caller.id");
    let (state, _) = apply(&world, &text, &State::default()).await;
    let plan = planned(&world, &text, &state, invoke("action.test_act.x")).await;
    assert_eq!(plan.invocations[0].caller().map(ToString::to_string).as_deref(), Some("test_thing.a"));
    world.took();
    let (_, found) = apply_plan(&world, &config(&[("main.tf", &text)]), plan).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    assert_eq!(done(&world), ["act id-1"]);
    let (_, found) =
        super::world::plan(&world, &config(&[("main.tf", &text)]), &State::default(), invoke("action.test_act.x"))
            .await;
    assert_eq!(found.iter().next().map(|d| d.summary.as_str()), Some("Partially applied configuration"));
}

#[tokio::test]
async fn validate_finds_what_is_wrong_with_triggers_and_actions() {
    let act = "\"x\"";
    let on = |events: &str, more: &str| format!("events = [{events}]\n actions = [action.test_act.x]\n {more}");
    let cases = [
        (text("a", &on("after_create", "condition = test_thing.a.name == \"a\""), act), "Self-referential block"),
        (
            text("a", &on("before_create", "condition = self.name == \"a\""), act),
            "Reference to self in before_create condition",
        ),
        (text("a", &on("after_destroy", "condition = true"), act), "Condition on destroy action"),
        (text("a", &on("after_create", ""), "test_thing.a.id"), "Reference to triggering resource"),
        (text("a", &on("after_create", ""), "caller.nothing"), "Unsupported attribute"),
        (
            text("a", "events = [after_create]\n actions = [action.test_act.y]", act),
            "action_trigger actions references non-existent action",
        ),
        (text("a", "events = [after_create]\n actions = [action.test_act.x[0]]", act), "Invalid index"),
        ("action \"test_act\" \"x\" {\n config {\n text = caller.id\n }\n}".into(), "Invalid \"caller\" reference"),
        ("action \"test_nothing\" \"x\" {\n}".into(), "Invalid action type"),
        ("action \"test_act\" \"x\" {\n config {\n colour = 1\n }\n}".into(), "Unsupported argument"),
        ("action \"test_act\" \"x\" {}\noutput \"o\" {\n value = action.test_act.x\n}".into(), "Invalid reference"),
    ];
    for (text, summary) in cases {
        let found = validate(&World::new(), &config(&[("main.tf", &text)])).await;
        assert_eq!(found.iter().map(|d| d.summary.as_str()).collect::<Vec<_>>(), [summary], "{text}");
    }
}
