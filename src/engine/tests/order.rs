//! Order where instances matter: each expectation was seen on the reference, release 1.11.4.

use model::addr::parse::parse_abs_instance;
use model::plan::Mode;
use model::state::State;

use super::world::*;
use crate::{ApplyInput, Facts, GivenVariables};

/// A failing instance blocks only what depends on it.
#[tokio::test]
async fn a_sibling_that_fails_does_not_block_readers_of_another() {
    let world = World::new();
    world.fail(&["a1"]);
    let text = r#"resource "test_thing" "a" {
        count = 2
        name  = "a${count.index}"
    }
    resource "test_thing" "b" {
      name  = "b"
      input = test_thing.a[0].id
    }
    resource "test_thing" "c" {
      name  = "c"
      input = test_thing.a[*].id
    }"#;
    let (state, found) = apply(&world, text, &State::default()).await;
    assert_eq!(texts(&found), ["create failed: a1"]);
    assert_eq!(addresses(&state), ["test_thing.a[0]", "test_thing.b"]);
}

#[tokio::test]
async fn a_provisioner_may_read_another_instance_of_its_block() {
    let world = World::new();
    let text = r#"resource "test_thing" "a" {
        count = 2
        name  = "a${count.index}"
        provisioner "note" { text = "${self.name} beside ${test_thing.a[0].name}" }
    }"#;
    let (_, found) = apply(&world, text, &State::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let log = world.took();
    assert!(log.contains(&"note a1 beside a0".to_string()), "{log:?}");
    assert!(log.contains(&"note a0 beside a0".to_string()), "{log:?}");
}

const MODULES: [(&str, &str); 2] = [
    (
        "main.tf",
        r#"module "m" {
        source   = "./m"
        for_each = toset(["x", "y"])
        key      = each.key
    }"#,
    ),
    (
        "m/main.tf",
        r#"variable "key" {}
    resource "test_thing" "a" { name = "a${var.key}" }
    resource "test_thing" "b" {
      name  = "b${var.key}"
      input = test_thing.a.id
    }"#,
    ),
];

#[tokio::test]
async fn destroying_does_not_wait_for_sibling_modules() {
    let world = World::new();
    let configuration = config(&MODULES);
    let (state, found) = apply_as(&world, &configuration, &State::default(), Mode::Normal).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    world.fail(&["by"]);
    let (state, found) = apply_as(&world, &configuration, &state, Mode::Destroy).await;
    assert_eq!(texts(&found), ["destroy failed: by"]);
    assert_eq!(addresses(&state), ["module.m[\"y\"].test_thing.a", "module.m[\"y\"].test_thing.b"]);
}

#[tokio::test]
async fn creating_waits_for_all_modules() {
    let world = World::new();
    world.fail(&["ay"]);
    let (state, found) = apply_as(&world, &config(&MODULES), &State::default(), Mode::Normal).await;
    assert_eq!(texts(&found), ["create failed: ay"]);
    assert_eq!(addresses(&state), ["module.m[\"x\"].test_thing.a"]);
}

fn replaced(first: bool, count: usize, force: &str) -> String {
    format!(
        r#"resource "test_thing" "a" {{
          count = {count}
          name  = "a${{count.index}}"
          force = "{force}"
          lifecycle {{ create_before_destroy = {first} }}
        }}
        resource "test_thing" "b" {{
          name  = "b{force}"
          input = test_thing.a[0].id
        }}"#
    )
}

#[tokio::test]
async fn replaced_beside_one_that_is_only_deleted() {
    for first in [false, true] {
        let world = World::new();
        let (state, found) = apply(&world, &replaced(first, 2, "1"), &State::default()).await;
        assert!(found.is_empty(), "{:?}", texts(&found));
        let (state, found) = apply(&world, &replaced(first, 1, "2"), &state).await;
        assert!(found.is_empty(), "{:?}", texts(&found));
        let log = world.took();
        let at = |line: &str| log.iter().position(|l| l == line).unwrap_or_else(|| panic!("{line}: {log:?}"));
        if first {
            assert!(at("create a0") < at("update b2") && at("update b2") < at("destroy a0"), "{log:?}");
            assert!(at("update b2") < at("destroy a1"), "{log:?}");
        } else {
            assert!(at("destroy a0") < at("create a0") && at("create a0") < at("update b2"), "{log:?}");
            assert!(at("destroy a1") < at("update b2"), "{log:?}");
        }
        assert_eq!(addresses(&state), ["test_thing.a[0]", "test_thing.b"]);
    }
}

#[tokio::test]
async fn creating_first_passes_on_to_dependencies() {
    let world = World::new();
    let text = |force: &str| {
        format!(
            r#"resource "test_thing" "a" {{
              name  = "a"
              force = "{force}"
            }}
            resource "test_thing" "b" {{
              name  = "b"
              force = test_thing.a.id
              lifecycle {{ create_before_destroy = true }}
            }}"#
        )
    };
    let (state, _) = apply(&world, &text("1"), &State::default()).await;
    let stored = |addr: &str| state.instance(&parse_abs_instance(addr).unwrap()).unwrap().current.clone().unwrap();
    assert!(stored("test_thing.a").create_before_destroy && stored("test_thing.b").create_before_destroy);
    let (state, found) = apply(&world, &text("2"), &state).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    assert_eq!(world.took()[1..], ["create a", "create b", "destroy b", "destroy a"]);
    assert_eq!(addresses(&state), ["test_thing.a", "test_thing.b"]);
}

#[tokio::test]
async fn a_replacement_that_fails_keeps_the_old_object() {
    let world = World::new();
    let text = |force: &str, name: &str| {
        format!(
            r#"resource "test_thing" "a" {{
              name  = "{name}"
              force = "{force}"
              lifecycle {{ create_before_destroy = true }}
            }}"#
        )
    };
    let (state, _) = apply(&world, &text("1", "old"), &State::default()).await;
    world.fail(&["new"]);
    let (state, found) = apply(&world, &text("2", "new"), &state).await;
    assert_eq!(texts(&found), ["create failed: new"]);
    let kept = state.instance(&parse_abs_instance("test_thing.a").unwrap()).unwrap();
    assert!(kept.deposed.is_empty() && kept.current.is_some());

    world.fail(&["old"]);
    let (state, found) = apply(&world, &text("2", "newer"), &state).await;
    assert_eq!(texts(&found), ["destroy failed: old"]);
    let kept = state.instance(&parse_abs_instance("test_thing.a").unwrap()).unwrap();
    assert_eq!((kept.deposed.len(), kept.current.is_some()), (1, true));
    // Observed: the setting is not stored for a deposed object that could not be destroyed.
    assert!(kept.deposed.values().all(|object| !object.create_before_destroy));
    world.fail(&[]);
    let (planned, _) = plan(&world, &config(&[("main.tf", &text("2", "newer"))]), &state, Options::default()).await;
    assert_eq!(actions(&planned.unwrap()), ["Delete test_thing.a (deposed)"]);
}

/// Observed: the deposed object goes when the current one of its instance is done.
#[tokio::test]
async fn deposed_objects_are_destroyed_after_their_instance_changed() {
    let world = World::new();
    let text = |force: &str, name: &str| {
        format!(
            r#"resource "test_thing" "a" {{
              name  = "{name}"
              force = "{force}"
              lifecycle {{ create_before_destroy = true }}
            }}"#
        )
    };
    let (state, _) = apply(&world, &text("1", "old"), &State::default()).await;
    world.fail(&["old"]);
    let (state, _) = apply(&world, &text("2", "new"), &state).await;
    world.fail(&["newer"]);
    let (state, found) = apply(&world, &text("2", "newer"), &state).await;
    assert_eq!(texts(&found), ["update failed: newer"]);
    assert_eq!(world.took()[1..], ["fail update newer"]);
    let kept = state.instance(&parse_abs_instance("test_thing.a").unwrap()).unwrap();
    assert_eq!((kept.deposed.len(), kept.current.is_some()), (1, true));
    world.fail(&[]);
    let (state, _) = apply(&world, &text("2", "newer"), &state).await;
    assert_eq!(world.took()[1..], ["update newer", "destroy old"]);
    assert_eq!(addresses(&state), ["test_thing.a"]);
}

/// Observed: `create_before_destroy` in the state counts, not the changed block.
#[tokio::test]
async fn objects_are_destroyed_in_the_order_that_the_state_has_of_them() {
    let with = |count: usize, keys: &str, name: &str| {
        format!(
            r#"resource "test_thing" "a" {{
              count = {count}
              name  = "a"
            }}
            resource "test_thing" "b" {{
              for_each = toset([{keys}])
              name     = each.key
            }}
            resource "test_thing" "c" {{
              name  = "c"
              input = values(test_thing.b)[*].id
              lifecycle {{ create_before_destroy = true }}
            }}
            resource "test_thing" "d" {{
              name       = {name:?}
              depends_on = [test_thing.c]
            }}"#
        )
    };
    let world = World::new();
    let first = with(1, "test_thing.a[0].name", "d");
    let (state, found) = apply(&world, &first, &State::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let (state, found) = apply(&world, &with(0, "\"b\"", "e"), &state).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    assert_eq!(addresses(&state), ["test_thing.b[\"b\"]", "test_thing.c", "test_thing.d"]);
}

/// Observed: what is made anew counts as a user by its configuration.
#[tokio::test]
async fn objects_destroyed_last_wait_for_new_users() {
    let with = |keys: &str, user: &str| {
        format!(
            r#"resource "test_thing" "a" {{
              for_each = toset([{keys}])
              name     = each.key
              lifecycle {{ create_before_destroy = true }}
            }}
            {user}"#
        )
    };
    let user = "resource \"test_thing\" \"b\" {\n name = \"b\"\n depends_on = [test_thing.a]\n}";
    let world = World::new();
    let (state, _) = apply(&world, &with("\"x\", \"y\"", ""), &State::default()).await;
    world.fail(&["b"]);
    let (state, found) = apply(&world, &with("\"y\"", user), &state).await;
    assert_eq!(texts(&found), ["create failed: b"]);
    assert_eq!(addresses(&state), ["test_thing.a[\"x\"]", "test_thing.a[\"y\"]"]);
    let reader = user.replace("resource", "data");
    let (_, found) = apply(&world, &with("\"y\"", &reader), &state).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    assert_eq!(world.took()[1..], ["read b", "destroy x"]);
}

/// Observed: a cycle of the apply is an error of the plan, but the plan itself is as any other.
#[tokio::test]
async fn cycles_of_the_apply_do_not_mark_the_plan_as_errored() {
    let with = |input: &str| {
        format!(
            r#"resource "test_thing" "a" {{ name = "a" }}
            resource "test_thing" "b" {{
              name  = "b"
              input = {input}
              lifecycle {{ create_before_destroy = true }}
            }}"#
        )
    };
    let world = World::new();
    let (state, _) = apply(&world, &with("test_thing.a.id"), &State::default()).await;
    let replace = ["test_thing.a", "test_thing.b"].map(|addr| parse_abs_instance(addr).unwrap()).to_vec();
    let options = Options { replace, ..Options::default() };
    let (planned, found) = plan(&world, &config(&[("main.tf", &with("1"))]), &state, options).await;
    assert!(found.iter().any(|d| d.summary.starts_with("Cycle: ")), "{:?}", texts(&found));
    let planned = planned.unwrap();
    assert_eq!((planned.errored, planned.applyable, planned.complete), (false, true, true));
    // Applying it is no better, and stores nothing.
    let config = config(&[("main.tf", &with("1"))]);
    let facts = Facts::of(config);
    let input = ApplyInput { facts, plan: planned.into(), variables: GivenVariables::new(), parallelism: 1 };
    let (outcome, found) = crate::apply(input, &world.ports()).await;
    assert!(found.iter().any(|d| d.summary.starts_with("Cycle: ")), "{:?}", texts(&found));
    assert!(outcome.state.is_none());
}

/// Observed: the objects of a module that have no block any more are part of the module.
#[tokio::test]
async fn data_behind_a_module_waits_for_its_orphans() {
    let main = |more: &str| {
        format!(
            "module \"m\" {{ source = \"./m\" }}\nmodule \"n\" {{\n source = \"./n\"\n depends_on = [module.m]\n}}\n{more}"
        )
    };
    let (orphan, reader) =
        ("resource \"test_thing\" \"o\" { name = \"o\" }", "data \"test_thing\" \"d\" { name = \"d\" }");
    let user = "resource \"test_thing\" \"u\" { name = \"u\" }";
    let world = World::new();
    let both = config(&[("main.tf", &main("")), ("m/main.tf", orphan), ("n/main.tf", &format!("{reader}\n{user}"))]);
    let (state, _) = apply_as(&world, &both, &State::default(), Mode::Normal).await;
    let without = config(&[("main.tf", &main("")), ("m/main.tf", ""), ("n/main.tf", &format!("{reader}\n{user}"))]);
    let (planned, found) = plan(&world, &without, &state, Options::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let planned = planned.unwrap();
    assert_eq!(actions(&planned), ["Delete module.m.test_thing.o", "Read module.n.data.test_thing.d"]);
    let kept = planned.prior_state.instance(&parse_abs_instance("module.n.test_thing.u").unwrap()).unwrap();
    let dependencies: Vec<String> =
        kept.current.as_ref().unwrap().dependencies.iter().map(ToString::to_string).collect();
    assert_eq!(dependencies, ["module.m.test_thing.o"]);
}

/// Observed: what the targets of a module's `depends_on` depend on counts too, other than with the `depends_on` of a data source.
#[tokio::test]
async fn data_in_a_module_waits_for_indirect_dependencies_of_its_call() {
    let main = |name: &str| {
        format!(
            r#"resource "test_thing" "a" {{ name = {name:?} }}
            resource "test_thing" "b" {{
              name       = "b"
              depends_on = [test_thing.a]
            }}
            data "test_thing" "d" {{
              name       = "d"
              depends_on = [test_thing.b]
            }}
            module "m" {{
              source     = "./m"
              depends_on = [test_thing.b]
            }}"#
        )
    };
    let module = "data \"test_thing\" \"d\" { name = \"d\" }";
    let world = World::new();
    let before = config(&[("main.tf", &main("old")), ("m/main.tf", module)]);
    let (state, _) = apply_as(&world, &before, &State::default(), Mode::Normal).await;
    let after = config(&[("main.tf", &main("new")), ("m/main.tf", module)]);
    let (planned, _) = plan(&world, &after, &state, Options::default()).await;
    assert_eq!(actions(&planned.unwrap()), ["Update test_thing.a", "Read module.m.data.test_thing.d"]);
}

/// Observed: only in apply do the data sources of checks wait for everything else.
#[tokio::test]
async fn plans_read_data_of_checks_at_once() {
    let world = World::new();
    let text = r#"resource "test_thing" "a" { name = tostring(var.none.x) }
    variable "none" {
      type    = object({ x = string })
      default = null
    }
    check "c" {
      data "test_thing" "d" { name = "d" }
      assert {
        condition     = data.test_thing.d.name == "d"
        error_message = "Other."
      }
    }"#;
    let (_, found) = plan(&world, &config(&[("main.tf", text)]), &State::default(), Options::default()).await;
    assert_eq!(found.len(), 1, "{:?}", texts(&found));
    assert!(world.took().contains(&"read d".to_string()));
}

/// In a destroy, a data source leaves the state only after all that depends on it was destroyed, also through a provider
/// configuration. One without a block leaves with the plan.
#[tokio::test]
async fn data_sources_stay_while_their_users_cannot_be_destroyed() {
    let data = r#"data "test_thing" "used" { name = "used" }
    data "test_thing" "of_provider" { name = "of_provider" }
    data "test_thing" "unused" { name = "unused" }
    provider "test" {
      alias  = "other"
      region = data.test_thing.of_provider.name
    }"#;
    let objects = r#"resource "test_thing" "a" {
      name  = "a"
      input = data.test_thing.used.name
    }
    resource "test_thing" "b" {
      provider = test.other
      name     = "b"
    }"#;
    let world = World::new();
    let configuration = config(&[("main.tf", &format!("{data}\n{objects}"))]);
    let (begun, found) = apply_as(&world, &configuration, &State::default(), Mode::Normal).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    for (failing, kept) in [
        ("a", ["data.test_thing.used", "test_thing.a"].as_slice()),
        ("b", &["data.test_thing.of_provider", "test_thing.b"]),
        ("none", &[]),
    ] {
        world.fail(&[failing]);
        let (state, _) = apply_as(&world, &configuration, &begun, Mode::Destroy).await;
        assert_eq!(addresses(&state), kept, "{failing} fails");
        let provider = r#"provider "test" { alias = "other" }"#;
        let (state, _) = apply(&world, provider, &begun).await;
        assert_eq!(addresses(&state), &kept[kept.len().min(1)..], "{failing} fails, without blocks");
    }
}
