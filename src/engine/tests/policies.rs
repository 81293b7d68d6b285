//! Policies in plan and apply: what is denied, what is unknown, and when it is decided.

use std::sync::Arc;

use base::diag::{Diagnostics, Kind};
use base::source::SourceFile;
use model::addr::parse::parse_abs_instance;
use model::addr::{Provider, command_line};
use model::config::Config;
use model::config::policy_file::{GivenInputs, PolicySet};
use model::plan::{Mode, Plan};
use model::state::State;

use super::world::*;

fn policies(text: &str) -> Arc<PolicySet> {
    let (mut set, found) = PolicySet::parse([SourceFile::new("p.policy.hcl", text)], GivenInputs::new());
    assert!(!found.has_errors(), "{found:?}");
    set.provider_versions.insert(Provider::default_for("test"), "1.2.3".to_owned());
    Arc::new(set)
}

/// A resource policy with a condition.
fn rule(kind: &str, more: &str, condition: &str) -> String {
    format!("resource_policy \"{kind}\" \"n\" {{\n{more}\n  enforce {{\n    condition = {condition}\n  }}\n}}\n")
}

async fn plan_with(
    world: &Arc<World>,
    config: &Arc<Config>,
    state: &State,
    mode: Mode,
    text: &str,
) -> (Plan, Diagnostics) {
    let options = Options { mode, policies: policies(text), ..Options::default() };
    let (planned, found) = plan(world, config, state, options).await;
    (planned.unwrap(), found)
}

/// The summaries of what policies say.
fn said(found: &Diagnostics) -> Vec<&str> {
    found.iter().filter(|d| d.kind == Kind::Policy).map(|d| &*d.summary).collect()
}

const CHAIN: &str = r#"
    resource "test_thing" "a" { name = "a" }
    resource "test_thing" "b" {
      name  = "b"
      input = test_thing.a.output
    }
    resource "test_other" "c" {
      name  = "c"
      input = test_thing.b.id
    }"#;

async fn created(world: &Arc<World>) -> State {
    let (state, found) = apply(world, CHAIN, &State::default()).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    world.took();
    state
}

#[tokio::test]
async fn a_denied_plan_is_errored() {
    let world = World::new();
    let config = config(&[("main.tf", CHAIN)]);
    let text = rule("test_thing", "", "attrs.name != \"a\"");
    let (plan, found) = plan_with(&world, &config, &State::default(), Mode::Normal, &text).await;
    assert_eq!(said(&found), ["Policy violation"]);
    assert!(found.has_errors() && plan.errored && !plan.applyable && !plan.complete);
    assert_eq!(plan.denied_by, ["resource_policy.test_thing.n (p.policy.hcl) for test_thing.a"]);
    assert!(found.iter().any(|d| d.detail.contains("test_thing.a (main.tf line 2)")), "{:?}", texts(&found));
    assert_eq!(actions(&plan).len(), 3);
    let advisory = rule("test_thing", "enforcement_level = \"advisory\"", "attrs.name != \"a\"");
    let (plan, found) = plan_with(&world, &config, &State::default(), Mode::Normal, &advisory).await;
    assert_eq!(said(&found), ["Policy violation"]);
    assert!(!found.has_errors() && plan.applyable && plan.denied_by.is_empty());
}

#[tokio::test]
async fn an_unknown_policy_is_decided_before_the_change() {
    for (condition, expected) in [("attrs.input != \"out-a\"", false), ("attrs.input == \"out-a\"", true)] {
        let world = World::new();
        let config = config(&[("main.tf", CHAIN)]);
        let text = rule("test_thing", "filter = attrs.name == \"b\"", condition);
        let (plan, found) = plan_with(&world, &config, &State::default(), Mode::Normal, &text).await;
        assert_eq!(said(&found), ["Policy result is unknown"]);
        assert!(!found.has_errors() && plan.applyable && plan.undecided_policies.len() == 1, "{plan:?}");
        world.took();
        let (state, found) = apply_plan(&world, &config, plan).await;
        let changes: Vec<String> = world.took().into_iter().filter(|line| line.starts_with("create")).collect();
        match expected {
            true => {
                assert_eq!(texts(&found), [""; 0]);
                assert_eq!(changes, ["create a", "create b", "create c"]);
            }
            false => {
                assert_eq!(said(&found), ["Policy violation"]);
                assert_eq!(changes, ["create a"]);
                assert_eq!(addresses(&state), ["test_thing.a"]);
            }
        }
    }
}

/// What a provider makes of an object is known when it is made.
#[tokio::test]
async fn a_policy_about_a_computed_value_is_decided_at_the_end() {
    let world = World::new();
    let config = config(&[("main.tf", CHAIN)]);
    let text = rule("test_thing", "filter = attrs.name == \"a\"", "attrs.output == \"other\"");
    let (plan, _) = plan_with(&world, &config, &State::default(), Mode::Normal, &text).await;
    let (state, found) = apply_plan(&world, &config, plan).await;
    assert_eq!(said(&found), ["Policy violation"]);
    assert!(found.has_errors());
    assert_eq!(addresses(&state).len(), 3);
}

#[tokio::test]
async fn destroys_and_replacements_are_deletions() {
    let world = World::new();
    let state = created(&world).await;
    let text = rule("test_*", "operations = [\"delete\"]", "prior_attrs.name != \"b\"");
    let plain = config(&[("main.tf", CHAIN)]);
    let (plan, found) = plan_with(&world, &plain, &state, Mode::Destroy, &text).await;
    assert_eq!(plan.denied_by, ["resource_policy.test_*.n (p.policy.hcl) for test_thing.b"]);
    assert_eq!(said(&found), ["Policy violation"]);
    let replaced = CHAIN.replace("input = test_thing.a.output", "input = test_thing.a.output\nforce = \"x\"");
    let replaced = config(&[("main.tf", &replaced)]);
    let (plan, _) = plan_with(&world, &replaced, &state, Mode::Normal, &text).await;
    assert_eq!(plan.denied_by.len(), 1);
    let created = rule("test_thing", "operations = [\"create\"]", "false");
    let (plan, _) = plan_with(&world, &replaced, &state, Mode::Normal, &created).await;
    assert_eq!(plan.denied_by, ["resource_policy.test_thing.n (p.policy.hcl) for test_thing.b"]);
}

#[tokio::test]
async fn unchanged_objects_have_policies() {
    let world = World::new();
    let state = created(&world).await;
    let config = config(&[("main.tf", CHAIN)]);
    for (operations, expected) in
        [("", 2), ("operations = [\"no-op\"]", 2), ("operations = [\"create\", \"update\"]", 0)]
    {
        let (plan, _) =
            plan_with(&world, &config, &state, Mode::Normal, &rule("test_thing", operations, "false")).await;
        assert_eq!(plan.denied_by.len(), expected, "{operations}");
    }
}

#[tokio::test]
async fn policies_see_the_objects_of_plan_and_state() {
    let world = World::new();
    let state = created(&world).await;
    let less = CHAIN.replace("name = \"a\"", "name = \"new\"").replace("input = test_thing.b.id", "");
    let config = config(&[("main.tf", &less)]);
    let cases = [
        ("core::length(core::getresources(\"test_thing\", {})) == 2", true),
        ("core::length(core::getresources(\"test_thing\", { name = \"new\" })) == 1", true),
        ("core::length(core::getresources(\"test_thing\", { name = \"a\" })) == 0", true),
        ("core::length(core::getresources(\"test_nothing\", {})) == 1", false),
    ];
    for (condition, expected) in cases {
        let text = rule("test_other", "", condition);
        let (plan, found) = plan_with(&world, &config, &state, Mode::Normal, &text).await;
        assert_eq!(plan.denied_by.is_empty(), expected, "{condition}: {:?}", texts(&found));
    }
}

#[tokio::test]
async fn providers_and_modules_have_policies() {
    let world = World::new();
    let main = r#"
        provider "test" { region = "r" }
        module "m" {
          source = "./m"
          name   = "x"
          count  = 2
        }"#;
    let module = "variable \"name\" {}\nresource \"test_thing\" \"a\" {\n  name = var.name\n}\n";
    let config = config(&[("main.tf", main), ("m/main.tf", module)]);
    let policy = |kind: &str, target: &str, condition: &str| {
        format!("{kind} \"{target}\" \"n\" {{\n  enforce {{\n    condition = {condition}\n  }}\n}}\n")
    };
    let cases = [
        (policy("provider_policy", "test", "attrs.region == \"r\" && meta.version == \"1.2.3\""), 0),
        (policy("provider_policy", "*", "attrs.region == \"s\""), 1),
        (policy("provider_policy", "other", "false"), 0),
        (policy("module_policy", "*", "attrs.name == \"x\" && meta.source == \"./m\""), 0),
        (policy("module_policy", "./m", "attrs.name == \"y\""), 2),
        (policy("module_policy", "m", "false"), 0),
        (policy("resource_policy", "test_thing", "meta.module_path == \"module.m[0]\""), 1),
    ];
    for (text, expected) in cases {
        let (plan, found) = plan_with(&world, &config, &State::default(), Mode::Normal, &text).await;
        assert_eq!(plan.denied_by.len(), expected, "{text}: {:?}", texts(&found));
    }
}

#[tokio::test]
async fn unknown_arguments_of_modules_and_providers_are_decided_in_apply() {
    let main = r#"
        resource "test_thing" "first" {
          name     = "first"
          provider = test.base
        }
        provider "test" { alias = "base" }
        provider "test" { region = test_thing.first.output }
        module "m" {
          source = "./m"
          name   = test_thing.first.output
        }"#;
    let module = "variable \"name\" {}\nresource \"test_thing\" \"a\" {\n  name = var.name\n}\n";
    let config = config(&[("main.tf", main), ("m/main.tf", module)]);
    for kind in ["provider_policy \"test\" \"n\" {\n  filter = meta.alias == null", "module_policy \"*\" \"n\" {"] {
        let name = if kind.starts_with("module") { "name" } else { "region" };
        let text = format!("{kind}\n  enforce {{\n    condition = attrs.{name} == \"x\"\n  }}\n}}\n");
        let world = World::new();
        let (plan, found) = plan_with(&world, &config, &State::default(), Mode::Normal, &text).await;
        assert_eq!(said(&found), ["Policy result is unknown"], "{kind}: {:?}", texts(&found));
        world.took();
        let (state, found) = apply_plan(&world, &config, plan).await;
        assert_eq!(said(&found), ["Policy violation"], "{kind}: {:?}", texts(&found));
        assert_eq!(addresses(&state), ["test_thing.first"], "{kind}");
    }
}

#[tokio::test]
async fn policies_that_are_given_late_are_evaluated_in_apply() {
    let world = World::new();
    let config = config(&[("main.tf", CHAIN)]);
    let (planned, found) = plan(&world, &config, &State::default(), Options::default()).await;
    assert!(!found.has_errors());
    let mut planned = planned.unwrap();
    let mut set = PolicySet::default();
    set.add_late(PolicySet::clone(&policies(&rule("test_other", "", "false"))));
    planned.scope.policies = Arc::new(set);
    let (state, found) = apply_plan(&world, &config, planned).await;
    assert_eq!(said(&found), ["Policy violation"]);
    assert_eq!(addresses(&state), ["test_thing.a", "test_thing.b"]);
}

/// A policy about deletions whose result needs a value that the apply makes.
fn while_a_is_not(name: &str, operation: &str) -> String {
    let condition = format!(
        "core::length([for o in core::getresources(\"test_thing\", null) : o if o.output == \"out-{name}\"]) == 0"
    );
    rule("test_other", &format!("operations = [\"{operation}\"]"), &condition)
}

#[tokio::test]
async fn unknown_policies_of_deleted_and_unchanged_objects_are_decided_at_the_end() {
    let renamed = CHAIN.replace("name = \"a\"", "name = \"z\"");
    let without_c = renamed.split("resource \"test_other\"").next().unwrap().to_owned();
    for (text, operation) in [(without_c.as_str(), "delete"), (renamed.as_str(), "no-op")] {
        for (name, expected) in [("z", vec!["Policy violation"]), ("other", vec![])] {
            let world = World::new();
            let state = created(&world).await;
            let config = config(&[("main.tf", text)]);
            let policy = while_a_is_not(name, operation);
            let (plan, found) = plan_with(&world, &config, &state, Mode::Normal, &policy).await;
            assert_eq!(said(&found), ["Policy result is unknown"], "{operation}: {:?}", texts(&found));
            let (_, found) = apply_plan(&world, &config, plan).await;
            assert_eq!(said(&found), expected, "{operation} {name}: {:?}", texts(&found));
            assert_eq!(found.has_errors(), !expected.is_empty());
        }
    }
}

/// The first look-up is made while the object is not there yet.
#[tokio::test]
async fn policies_see_what_an_apply_has_made_so_far() {
    for (output, expected) in [("out-a", 3), ("other", 1)] {
        let world = World::new();
        let config = config(&[("main.tf", CHAIN)]);
        let condition = format!("core::getresources(\"test_thing\", {{ name = \"a\" }})[0].output == \"{output}\"");
        let text = rule("test_*", "", &condition);
        let (plan, found) = plan_with(&world, &config, &State::default(), Mode::Normal, &text).await;
        assert_eq!(said(&found), ["Policy result is unknown"; 3], "{:?}", texts(&found));
        let (state, found) = apply_plan(&world, &config, plan).await;
        assert_eq!(addresses(&state).len(), expected, "{output}: {:?}", texts(&found));
        // The object that depends on it is denied before it is made, the object itself at the end.
        assert_eq!(said(&found).len(), if expected == 3 { 0 } else { 2 }, "{output}: {:?}", texts(&found));
    }
}

/// Otherwise the old object would be gone, and the new one not allowed.
#[tokio::test]
async fn a_replacement_that_may_not_create_does_not_delete() {
    let world = World::new();
    let state = created(&world).await;
    let replaced = CHAIN.replace("input = test_thing.a.output", "input = test_thing.a.output\nforce = \"x\"");
    let config = config(&[("main.tf", &replaced)]);
    let (planned, found) = plan(&world, &config, &state, Options::default()).await;
    assert!(!found.has_errors());
    let mut planned = planned.unwrap();
    let mut set = PolicySet::default();
    set.add_late(PolicySet::clone(&policies(&rule("test_thing", "operations = [\"create\"]", "false"))));
    planned.scope.policies = Arc::new(set);
    world.took();
    let (state, found) = apply_plan(&world, &config, planned).await;
    assert_eq!(said(&found), ["Policy violation"], "{:?}", texts(&found));
    assert!(!world.took().iter().any(|line| line.starts_with("destroy")));
    assert_eq!(addresses(&state).len(), 3);
}

/// Objects that do not depend on the variable that was evaluated last are stopped too, once the module is denied.
#[tokio::test]
async fn a_denied_module_changes_no_more_objects() {
    let main = r#"
        resource "test_thing" "first" { name = "first" }
        module "m" {
          source = "./m"
          early  = "y0"
          late   = test_thing.first.output
        }
        resource "test_thing" "after" {
          name  = "after"
          input = module.m.last
        }"#;
    let mut module = "variable \"early\" {}\nvariable \"late\" {}\n".to_owned();
    module += "resource \"test_thing\" \"y0\" {\n  name = var.early\n}\n";
    for at in 1..10 {
        let before = at - 1;
        module += &format!(
            "resource \"test_thing\" \"y{at}\" {{\n  name  = \"y{at}\"\n  input = test_thing.y{before}.output\n}}\n"
        );
    }
    module +=
        "resource \"test_thing\" \"z\" {\n  name = var.late\n}\noutput \"last\" {\n  value = test_thing.y9.output\n}\n";
    let config = config(&[("main.tf", main), ("m/main.tf", &module)]);
    let text = "module_policy \"./m\" \"n\" {\n  enforce {\n    condition = attrs.late == \"x\"\n  }\n}\n";
    let world = World::new();
    let (plan, found) = plan_with(&world, &config, &State::default(), Mode::Normal, text).await;
    assert_eq!(said(&found), ["Policy result is unknown"], "{:?}", texts(&found));
    let (state, found) = apply_plan(&world, &config, plan).await;
    assert_eq!(said(&found), ["Policy violation"], "{:?}", texts(&found));
    assert!(found.iter().any(|d| d.summary == "Module is denied"), "{:?}", texts(&found));
    let made = addresses(&state);
    assert!(made.iter().any(|addr| addr == "test_thing.first"), "{made:?}");
    for refused in ["module.m.test_thing.y9", "module.m.test_thing.z", "test_thing.after"] {
        assert!(!made.iter().any(|addr| addr == refused), "{refused}: {made:?}");
    }
}

/// `m` with the variables `early` and `late`, and an object and an action that need only `early`.
fn half_used_module(late: &str) -> Arc<Config> {
    let main = format!(
        "resource \"test_thing\" \"x\" {{\n  name = \"x\"\n}}\nmodule \"m\" {{\n  source = \"./m\"\n  early  = \"e\"\n  late   = {late}\n}}\n"
    );
    let module = "variable \"early\" {}\nvariable \"late\" {}\nresource \"test_thing\" \"a\" {\n  name = var.early\n}\n\
                  action \"test_act\" \"x\" {\n  config {\n    text = var.early\n  }\n}\n";
    config(&[("main.tf", &main), ("m/main.tf", module)])
}

const LATE_IS_X: &str = "module_policy \"./m\" \"n\" {\n  enforce {\n    condition = attrs.late == \"x\"\n  }\n}\n";

/// A refresh-only run that invokes the action of [`half_used_module`].
fn invoke_half_used() -> Options {
    let invoke = vec![command_line::action("module.m.action.test_act.x").unwrap()];
    Options { mode: Mode::RefreshOnly, invoke, ..Options::default() }
}

/// Policies judge the module although the actions that are asked for need only some of its variables.
#[tokio::test]
async fn no_action_of_a_denied_module_is_invoked() {
    let config = half_used_module("\"l\"");
    let world = World::new();
    let (_, found) = apply_late(&world, &config, &State::default(), invoke_half_used(), LATE_IS_X).await;
    assert_eq!(said(&found), ["Policy violation"], "{:?}", texts(&found));
    assert!(!world.took().iter().any(|line| line.starts_with("act")));
    let with_policies = Options { policies: policies(LATE_IS_X), ..invoke_half_used() };
    let (planned, _) = plan(&world, &config, &State::default(), with_policies).await;
    assert_eq!(planned.unwrap().denied_by.len(), 1);
}

#[tokio::test]
async fn an_action_is_not_invoked_if_the_policy_of_its_module_stays_unknown() {
    let config = half_used_module("test_thing.x.output");
    let world = World::new();
    let options = Options { policies: policies(LATE_IS_X), ..invoke_half_used() };
    let (planned, found) = plan(&world, &config, &State::default(), options).await;
    assert_eq!(said(&found), ["Policy result is unknown"], "{:?}", texts(&found));
    let (_, found) = apply_plan(&world, &config, planned.unwrap()).await;
    assert!(found.iter().any(|d| d.summary == "Module is not decided on"), "{:?}", texts(&found));
    assert!(!world.took().iter().any(|line| line.starts_with("act")));
    // A policy that is not about the module changes nothing.
    let options = Options { policies: policies(&LATE_IS_X.replace("./m", "./n")), ..invoke_half_used() };
    let (planned, found) = plan(&world, &config, &State::default(), options).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let (_, found) = apply_plan(&world, &config, planned.unwrap()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    assert!(world.took().iter().any(|line| line == "act e"));
}

#[tokio::test]
async fn targets_leave_out_no_policy_of_a_module_that_values_decide() {
    let targets =
        || Options { targets: vec![command_line::target("module.m.test_thing.a").unwrap()], ..Options::default() };
    let world = World::new();
    let literal = half_used_module("\"l\"");
    let options = Options { policies: policies(LATE_IS_X), ..targets() };
    let (planned, _) = plan(&world, &literal, &State::default(), options).await;
    assert_eq!(planned.unwrap().denied_by.len(), 1);
    let (state, found) = apply_late(&world, &literal, &State::default(), targets(), LATE_IS_X).await;
    assert_eq!(said(&found), ["Policy violation"], "{:?}", texts(&found));
    assert!(addresses(&state).is_empty() || addresses(&state) == ["module.m.test_thing.a"]);
    // Values of an object that is not a target stay unknown, with a warning at the end of the apply.
    let of_object = half_used_module("test_thing.x.output");
    let (state, found) = apply_late(&world, &of_object, &State::default(), targets(), LATE_IS_X).await;
    assert_eq!(said(&found), ["Policy result is unknown"], "{:?}", texts(&found));
    assert_eq!(addresses(&state), ["module.m.test_thing.a"]);
}

#[tokio::test]
async fn denied_modules_can_be_destroyed() {
    let config = half_used_module("\"l\"");
    let world = World::new();
    let (planned, _) = plan(&world, &config, &State::default(), Options::default()).await;
    let (state, found) = apply_plan(&world, &config, planned.unwrap()).await;
    assert!(found.is_empty() && addresses(&state).len() == 2, "{:?}", texts(&found));
    let (planned, found) = plan_with(&world, &config, &state, Mode::Destroy, LATE_IS_X).await;
    assert!(said(&found).is_empty() && planned.denied_by.is_empty(), "{:?}", texts(&found));
    let (state, found) = apply_plan(&world, &config, planned).await;
    assert!(said(&found).is_empty() && addresses(&state).is_empty(), "{:?}", texts(&found));
}

#[tokio::test]
async fn late_policies_are_about_modules_without_variables() {
    let world = World::new();
    let module = "resource \"test_thing\" \"a\" {\n  name = \"a\"\n}\n";
    let config = config(&[("main.tf", "module \"m\" {\n  source = \"./m\"\n}\n"), ("m/main.tf", module)]);
    let (planned, found) = plan(&world, &config, &State::default(), Options::default()).await;
    assert!(!found.has_errors());
    let mut planned = planned.unwrap();
    let text = "module_policy \"./m\" \"n\" {\n  enforce {\n    condition = false\n  }\n}\n";
    let mut set = PolicySet::default();
    set.add_late(PolicySet::clone(&policies(text)));
    planned.scope.policies = Arc::new(set);
    let (state, found) = apply_plan(&world, &config, planned).await;
    assert_eq!(said(&found), ["Policy violation"], "{:?}", texts(&found));
    assert_eq!(addresses(&state), [""; 0]);
}

/// The data source never answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupt_ends_the_wait_for_a_data_source() {
    let config = config(&[("main.tf", CHAIN)]);
    let condition = "core::getdatasource(\"test_thing\", { name = \"x\" }).output == \"read-x\"";
    let world = World::new();
    *world.hanging.lock().unwrap() = Some(("ReadDataSource", 1_000_000));
    let user = world.clone();
    tokio::spawn(async move {
        while !user.log.lock().unwrap().iter().any(|line| line == "read x") {
            tokio::task::yield_now().await;
        }
        user.schedule.stop.stop();
    });
    let options = Options { policies: policies(&rule("test_thing", "", condition)), ..Options::default() };
    let (planned, found) = plan(&world, &config, &State::default(), options).await;
    let interrupted = found.iter().filter(|d| d.kind == Kind::Interrupted).count();
    assert_eq!((interrupted, said(&found).len()), (1, 0), "{:?}", texts(&found));
    assert!(planned.is_none_or(|plan| plan.errored && !plan.applyable));
}

/// Applies a plan that was made without these policies.
async fn apply_with_late(world: &Arc<World>, config: &Arc<Config>, state: &State, text: &str) -> (State, Diagnostics) {
    apply_late(world, config, state, Options::default(), text).await
}

async fn apply_late(
    world: &Arc<World>,
    config: &Arc<Config>,
    state: &State,
    options: Options,
    text: &str,
) -> (State, Diagnostics) {
    let (planned, found) = plan(world, config, state, options).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    let mut planned = planned.unwrap();
    let mut set = PolicySet::default();
    set.add_late(PolicySet::clone(&policies(text)));
    planned.scope.policies = Arc::new(set);
    world.took();
    apply_plan(world, config, planned).await
}

/// The object is put aside before its successor is made, and destroyed after it.
#[tokio::test]
async fn denied_halves_of_replacements_that_create_first_keep_the_old_object() {
    let more = "input = test_thing.a.output\nforce = \"x\"\nlifecycle {\n  create_before_destroy = true\n}";
    let replaced = CHAIN.replace("input = test_thing.a.output", more);
    let config = config(&[("main.tf", &replaced)]);
    let addr = parse_abs_instance("test_thing.b").unwrap();
    for (operation, made, deposed) in [("create", false, 0), ("delete", true, 1)] {
        let world = World::new();
        let state = created(&world).await;
        let text = rule("test_thing", &format!("operations = [\"{operation}\"]"), "false");
        let (state, found) = apply_with_late(&world, &config, &state, &text).await;
        assert_eq!(said(&found), ["Policy violation"], "{operation}: {:?}", texts(&found));
        let log = world.took();
        assert_eq!(log.iter().any(|line| line == "create b"), made, "{operation}: {log:?}");
        assert!(!log.iter().any(|line| line.starts_with("destroy")), "{operation}: {log:?}");
        let instance = state.instance(&addr).unwrap();
        assert_eq!((instance.current.is_some(), instance.deposed.len()), (true, deposed), "{operation}");
        // The next plan deletes the deposed object, and the policies deny that too.
        let (plan, _) = plan_with(&world, &config, &state, Mode::Normal, &text).await;
        let target = "for test_thing.b (deposed object ";
        assert_eq!(plan.denied_by.iter().filter(|name| name.contains(target)).count(), deposed, "{:?}", plan.denied_by);
    }
}

#[tokio::test]
async fn forgotten_objects_and_data_sources_have_no_policies() {
    let world = World::new();
    let state = created(&world).await;
    let rest = CHAIN.split("resource \"test_other\"").next().unwrap();
    let forgotten =
        format!("{rest}\nremoved {{\n  from = test_other.c\n  lifecycle {{\n    destroy = false\n  }}\n}}\n");
    let data = "data \"test_thing\" \"d\" {\n  name = \"d\"\n}\n".to_owned();
    for (text, state, kind) in [(forgotten, state, "test_other"), (data, State::default(), "test_*")] {
        let config = config(&[("main.tf", &text)]);
        let policy = rule(kind, "operations = []", "false");
        let (plan, found) = plan_with(&world, &config, &state, Mode::Normal, &policy).await;
        assert_eq!((said(&found).len(), plan.denied_by.len()), (0, 0), "{text}: {:?}", texts(&found));
        assert!(!plan.errored, "{text}: {:?}", texts(&found));
    }
}
