//! The straight paths: create, no change, update, replace, delete, read, refresh.

use model::addr::parse::{parse_abs_instance, parse_target};
use model::plan::{Action, Mode};
use model::state::State;

use super::world::*;

const TWO: &str = r#"
    variable "n" { default = "a" }
    locals { name = "${var.n}1" }
    resource "test_thing" "a" { name = local.name }
    resource "test_thing" "b" {
      name  = "b"
      input = test_thing.a.id
    }
    output "id" { value = test_thing.b.input }
"#;

#[tokio::test]
async fn creates_then_has_nothing_to_do_then_destroys() {
    let world = World::new();
    let (state, found) = apply(&world, TWO, &State::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    assert_eq!(world.took(), ["configure none", "create a1", "create b"]);
    assert_eq!(addresses(&state), ["test_thing.a", "test_thing.b"]);
    assert_eq!(state.outputs["id"].value.as_str(), Some("id-1"));
    let b = state.instance(&parse_abs_instance("test_thing.b").unwrap()).unwrap().current.clone().unwrap();
    assert_eq!(b.dependencies.iter().map(ToString::to_string).collect::<Vec<_>>(), ["test_thing.a"]);

    let config = config(&[("main.tf", TWO)]);
    let (planned, found) = plan(&world, &config, &state, Options::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let planned = planned.unwrap();
    assert_eq!(actions(&planned), Vec::<String>::new());
    assert!(!planned.applyable && planned.outputs.iter().all(|o| o.action == Action::NoOp));

    let (state, found) = apply_as(&world, &config, &state, Mode::Destroy).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    assert_eq!(world.took(), ["configure none", "destroy b", "destroy a1"]);
    assert!(state.is_empty(), "{state:?}");
}

#[tokio::test]
async fn updates_replaces_and_deletes() {
    let world = World::new();
    let (state, _) = apply(
        &world,
        r#"resource "test_thing" "a" { name = "a" }
        resource "test_thing" "b" { name = "b" }
        resource "test_thing" "c" { name = "c" }"#,
        &State::default(),
    )
    .await;
    let changed = config(&[(
        "main.tf",
        r#"resource "test_thing" "a" { name = "A" }
        resource "test_thing" "b" {
          name = "b"
          force = "x"
        }"#,
    )]);
    let (planned, found) = plan(&world, &changed, &state, Options::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let planned = planned.unwrap();
    assert_eq!(actions(&planned), ["Update test_thing.a", "DeleteThenCreate test_thing.b", "Delete test_thing.c"]);
    world.took();
    let (state, found) = apply_plan(&world, &changed, planned).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let mut log = world.took();
    log.sort();
    assert_eq!(log, ["configure none", "create b", "destroy b", "destroy c", "update A"]);
    assert_eq!(addresses(&state), ["test_thing.a", "test_thing.b"]);
}

#[tokio::test]
async fn modules_repeat_and_pass_values() {
    let world = World::new();
    let files = [
        (
            "main.tf",
            r#"module "m" {
            source   = "./m"
            for_each = { x = "1", y = "2" }
            name     = "${each.key}${each.value}"
        }
        output "all" { value = [for k, m in module.m : m.out] }"#,
        ),
        (
            "m/main.tf",
            r#"variable "name" { type = string }
        resource "test_thing" "t" {
          count = 2
          name  = "${var.name}-${count.index}"
        }
        output "out" { value = test_thing.t[*].name }"#,
        ),
    ];
    let config = config(&files);
    let (state, found) = apply_as(&world, &config, &State::default(), Mode::Normal).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    assert_eq!(
        addresses(&state),
        [
            "module.m[\"x\"].test_thing.t[0]",
            "module.m[\"x\"].test_thing.t[1]",
            "module.m[\"y\"].test_thing.t[0]",
            "module.m[\"y\"].test_thing.t[1]"
        ]
    );
    assert_eq!(state.outputs["all"].value.at(1).unwrap().at(0).unwrap().as_str(), Some("y2-0"));
}

#[tokio::test]
async fn data_waits_for_pending_changes() {
    let world = World::new();
    let text = r#"resource "test_thing" "a" { name = "a" }
        data "test_thing" "now" { name = "now" }
        data "test_thing" "later" {
          name       = "later"
          depends_on = [test_thing.a]
        }
        resource "test_thing" "b" { name = data.test_thing.later.output }"#;
    let configuration = config(&[("main.tf", text)]);
    let (planned, found) = plan(&world, &configuration, &State::default(), Options::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let planned = planned.unwrap();
    assert_eq!(actions(&planned), ["Read data.test_thing.later", "Create test_thing.a", "Create test_thing.b"]);
    assert_eq!(world.took(), ["configure none", "read now"]);
    let (state, found) = apply_plan(&world, &configuration, planned).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    assert_eq!(world.took(), ["configure none", "create a", "read later", "create read-later"]);
    let (planned, _) = plan(&world, &configuration, &state, Options::default()).await;
    assert_eq!(actions(&planned.unwrap()), Vec::<String>::new());
}

#[tokio::test]
async fn objects_deleted_outside_are_created_again() {
    let world = World::new();
    let text = r#"resource "test_thing" "a" { name = "a" }"#;
    let (state, _) = apply(&world, text, &State::default()).await;
    world.gone.lock().unwrap().push("id-1".into());
    let configuration = config(&[("main.tf", text)]);
    let (planned, _) = plan(&world, &configuration, &state, Options::default()).await;
    let planned = planned.unwrap();
    assert_eq!(actions(&planned), ["Create test_thing.a"]);
    assert_eq!(planned.drift.len(), 1);
    let options = Options { no_refresh: true, ..Options::default() };
    let (planned, _) = plan(&world, &configuration, &state, options).await;
    assert_eq!(actions(&planned.unwrap()), Vec::<String>::new());
    let options = Options { mode: Mode::RefreshOnly, ..Options::default() };
    let (planned, _) = plan(&world, &configuration, &state, options).await;
    let planned = planned.unwrap();
    assert!(planned.applyable && planned.prior_state.is_empty());
}

#[tokio::test]
async fn targets_and_requested_replacement() {
    let world = World::new();
    let configuration = config(&[("main.tf", TWO)]);
    let target = |text| vec![parse_target(text).unwrap()];
    let options = Options { targets: target("test_thing.a"), ..Options::default() };
    let (planned, _) = plan(&world, &configuration, &State::default(), options).await;
    let planned = planned.unwrap();
    assert_eq!(actions(&planned), ["Create test_thing.a"]);
    let (state, found) = apply_plan(&world, &configuration, planned).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    assert_eq!(addresses(&state), ["test_thing.a"]);
    let options = Options { replace: vec![parse_abs_instance("test_thing.a").unwrap()], ..Options::default() };
    let (planned, _) = plan(&world, &configuration, &state, options).await;
    assert_eq!(actions(&planned.unwrap()), ["DeleteThenCreate test_thing.a", "Create test_thing.b"]);
}

#[tokio::test]
async fn gaining_count_moves_the_first_instance() {
    let world = World::new();
    let (state, _) = apply(&world, r#"resource "test_thing" "a" { name = "a" }"#, &State::default()).await;
    let counted = config(&[(
        "main.tf",
        r#"resource "test_thing" "a" {
        count = 2
        name  = "a"
    }"#,
    )]);
    let (planned, _) = plan(&world, &counted, &state, Options::default()).await;
    let planned = planned.unwrap();
    assert_eq!(actions(&planned), ["Create test_thing.a[1]"]);
    assert_eq!(planned.changes[0].previous_addr.to_string(), "test_thing.a");
}

#[tokio::test]
async fn a_failed_creation_taints_and_conditions_stop() {
    let world = World::new();
    let text = r#"resource "test_thing" "a" {
        name = "a"
        provisioner "note" { text = "made ${self.id}" }
    }"#;
    world.fail(&["made id-1"]);
    let (state, found) = apply(&world, text, &State::default()).await;
    assert_eq!(texts(&found), ["note failed: made id-1"]);
    let configuration = config(&[("main.tf", text)]);
    let (planned, _) = plan(&world, &configuration, &state, Options::default()).await;
    assert_eq!(actions(&planned.unwrap()), ["DeleteThenCreate test_thing.a"]);

    let text = r#"locals { one = 1 }
    resource "test_thing" "a" {
        name = "a"
        lifecycle {
          precondition {
            condition     = local.one == 2
            error_message = "never"
          }
        }
    }"#;
    let (planned, found) = plan(&world, &config(&[("main.tf", text)]), &State::default(), Options::default()).await;
    assert_eq!(texts(&found), ["Resource precondition failed: never"]);
    assert!(planned.unwrap().errored);
}

#[tokio::test]
async fn a_block_may_not_refer_to_itself() {
    let world = World::new();
    let problems = [
        (
            r#"resource "test_thing" "c" { name = test_thing.c.id }"#,
            "Configuration for test_thing.c may not refer to itself.",
        ),
        (
            r#"resource "test_thing" "d" {
              count = 2
              name  = test_thing.d[0].id
            }"#,
            "Configuration for test_thing.d[0] may not refer to itself.",
        ),
    ];
    for (text, detail) in problems {
        let (_, found) = plan(&world, &config(&[("main.tf", text)]), &State::default(), Options::default()).await;
        assert_eq!(texts(&found), [format!("Self-referential block: {detail}")]);
    }
}

#[tokio::test]
async fn a_local_value_may_not_refer_to_itself() {
    let world = World::new();
    let detail = "Local value local.a cannot use its own result as part of its expression.";
    let expected = [format!("Self-referencing local value: {detail}")];
    for value in ["local.a", "[local.a, 1]", "try(local.a, 5)", "true ? 1 : local.a"] {
        let text = format!("locals {{\n a = {value}\n}}\noutput \"o\" {{\n value = local.a\n}}");
        let config = config(&[("main.tf", &text)]);
        assert_eq!(texts(&validate(&world, &config).await), expected, "{value}");
        let (_, found) = plan(&world, &config, &State::default(), Options::default()).await;
        assert_eq!(texts(&found), expected, "{value}");
    }
}

#[tokio::test]
async fn cycles_and_wrong_references_are_named() {
    let world = World::new();
    let cycle = r#"resource "test_thing" "a" { name = local.x }
        locals { x = test_thing.a.id }"#;
    let (_, found) = plan(&world, &config(&[("main.tf", cycle)]), &State::default(), Options::default()).await;
    let shown = texts(&found);
    assert!(shown.len() == 1 && shown[0].starts_with("Cycle: ") && shown[0].contains("local.x (expand)"), "{shown:?}");

    let wrong = r#"resource "test_thing" "a" { name = "x" }
        resource "test_thing" "b" {
          count = 2
          name  = test_thing.a.idd
        }
        resource "test_thing" "c" {
          count = 2
          name  = "c"
        }
        locals {
          p = test_thing.c.id
          q = test_thing.nope.id
          r = var.nope
        }"#;
    let (_, found) = plan(&world, &config(&[("main.tf", wrong)]), &State::default(), Options::default()).await;
    let mut summaries: Vec<String> = found.iter().map(|d| d.summary.clone()).collect();
    summaries.sort();
    assert_eq!(
        summaries,
        [
            "Missing resource instance key",
            "Reference to undeclared input variable",
            "Reference to undeclared resource",
            "Unsupported attribute"
        ]
    );
}
