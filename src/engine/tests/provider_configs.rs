//! What providers are configured with, and when: each expectation was seen on the reference, release 1.11.4.

use std::sync::Arc;

use base::diag::Diagnostics;
use model::addr::Target;
use model::config::Config;
use model::plan::{Mode, Plan};
use model::state::{DeposedKey, State};

use super::world::*;

/// What the provider configuration refers to; it stays when the last object of the provider goes.
const SOURCES: &[(&str, &str)] = &[
    ("var.region", "variable \"region\" { default = \"known\" }"),
    ("local.region", "locals { region = \"known\" }"),
    ("local.region", "variable \"region\" { default = \"known\" }\nlocals { region = var.region }"),
    ("test_thing.base.input", "resource \"test_thing\" \"base\" {\n provider = test.base\n input = \"known\"\n}"),
    (
        "local.region",
        "resource \"test_thing\" \"base\" {\n provider = test.base\n input = \"known\"\n}\n\
         locals { region = test_thing.base.input }",
    ),
    ("data.test_thing.base.input", "data \"test_thing\" \"base\" {\n provider = test.base\n input = \"known\"\n}"),
    ("module.m.region", "module \"m\" { source = \"./m\" }"),
    ("module.m[\"k\"].region", "module \"m\" {\n source = \"./m\"\n for_each = toset([\"k\"])\n}"),
];

fn with_source((expression, block): (&str, &str), more: &str) -> Arc<Config> {
    let text = format!(
        "provider \"test\" {{\n alias = \"base\"\n region = \"base\"\n}}\nprovider \"test\" {{ region = {expression} }}\n{block}\n{more}"
    );
    let module = "locals { region = \"known\" }\noutput \"region\" { value = local.region }";
    config(&[("main.tf", &text), ("m/main.tf", module)])
}

/// The configurations of the default provider that were asked for.
fn configured(world: &World) -> Vec<String> {
    let is_default = |line: &String| line.starts_with("configure ") && !line.starts_with("configure base");
    world.took().into_iter().filter(is_default).collect()
}

fn target(addr: &str) -> Target {
    model::addr::parse::parse_target(addr).unwrap()
}

#[tokio::test]
async fn last_objects_of_a_provider_are_planned_with_its_values() {
    for source in SOURCES {
        let world = World::new();
        let (state, found) = apply_as(
            &world,
            &with_source(*source, "resource \"test_thing\" \"last\" {}"),
            &State::default(),
            Mode::Normal,
        )
        .await;
        assert!(found.is_empty(), "{:?}", texts(&found));
        world.took();
        let left = with_source(*source, "");
        for (mode, targets) in [
            (Mode::Normal, ""),
            (Mode::Destroy, ""),
            (Mode::RefreshOnly, ""),
            (Mode::Normal, "test_thing.last"),
            (Mode::Destroy, "test_thing.last"),
            (Mode::RefreshOnly, "test_thing.last"),
        ] {
            let targets = if targets.is_empty() { Vec::new() } else { vec![target(targets)] };
            let what = format!("{source:?} {mode:?} {targets:?}");
            let (planned, found) = plan(&world, &left, &state, Options { mode, targets, ..Options::default() }).await;
            assert!(!found.has_errors(), "{what} {:?}", texts(&found));
            let log = configured(&world);
            assert!(!log.is_empty() && log.iter().all(|line| line == "configure known"), "{what} {log:?}");
            let (_, found) = apply_plan(&world, &left, planned.unwrap()).await;
            assert!(!found.has_errors(), "{what} {:?}", texts(&found));
            let log = configured(&world);
            assert!(log.iter().all(|line| line == "configure known"), "{what} {log:?}");
        }
    }
}

#[tokio::test]
async fn invoked_actions_and_removed_blocks_have_the_values_of_their_provider() {
    for source in SOURCES {
        let world = World::new();
        let block = "resource \"test_thing\" \"last\" {}";
        let (state, _) = apply_as(&world, &with_source(*source, block), &State::default(), Mode::Normal).await;
        for more in [
            "removed {\n from = test_thing.last\n lifecycle { destroy = false }\n}",
            "removed {\n from = test_thing.last\n lifecycle { destroy = true }\n}",
        ] {
            world.took();
            let left = with_source(*source, more);
            let (planned, found) = plan(&world, &left, &state, Options::default()).await;
            assert!(!found.has_errors(), "{source:?} {:?}", texts(&found));
            let (_, found) = apply_plan(&world, &left, planned.unwrap()).await;
            assert!(!found.has_errors(), "{source:?} {:?}", texts(&found));
            let log = configured(&world);
            assert!(!log.is_empty() && log.iter().all(|line| line == "configure known"), "{source:?} {more} {log:?}");
        }
    }
}

/// Terraform until 1.17.1 reports a cycle when it destroys both: https://github.com/hashicorp/terraform/issues/39507
#[tokio::test]
async fn providers_may_refer_to_resources_that_are_forgotten() {
    let source = |force: u8| {
        let block = format!(
            "resource \"test_thing\" \"base\" {{\n provider = test.base\n force = {force}\n input = \"known\"\n lifecycle {{ destroy = \
             false }}\n}}"
        );
        move |more: &str| with_source(("test_thing.base.input", &block), more)
    };
    let user = "resource \"test_thing\" \"b\" {}";
    let gone = config(&[(
        "main.tf",
        "provider \"test\" {\n alias = \"base\"\n region = \"base\"\n}\nprovider \"test\" { region = \"known\" }",
    )]);
    let cases = [
        (source(1)(user), Mode::Destroy, &["Delete test_thing.b", "Forget test_thing.base"][..], &[][..]),
        (source(1)(""), Mode::Normal, &["Delete test_thing.b"], &["test_thing.base"]),
        (source(2)(user), Mode::Normal, &["CreateThenForget test_thing.base"], &["test_thing.b", "test_thing.base"]),
        (
            source(2)(""),
            Mode::Normal,
            &["CreateThenForget test_thing.base", "Delete test_thing.b"],
            &["test_thing.base"],
        ),
        (gone, Mode::Normal, &["Delete test_thing.b", "Forget test_thing.base"], &[]),
    ];
    for (config, mode, planned, left) in cases {
        let world = World::new();
        let (state, found) = apply_as(&world, &source(1)(user), &State::default(), Mode::Normal).await;
        assert!(found.is_empty(), "{:?}", texts(&found));
        let (plan, found) = plan(&world, &config, &state, Options { mode, ..Options::default() }).await;
        assert!(!found.has_errors(), "{planned:?} {:?}", texts(&found));
        let plan = plan.unwrap();
        let mut all = actions(&plan);
        all.sort();
        assert_eq!(all, planned);
        let (state, found) = apply_plan(&world, &config, plan).await;
        assert!(!found.has_errors(), "{planned:?} {:?}", texts(&found));
        assert_eq!(addresses(&state), left, "{planned:?}");
    }
}

const OWN_PROVIDER: &str = "provider \"test\" { region = \"own\" }\nresource \"test_thing\" \"a\" {}";

async fn planned(
    before: &[(&str, &str)],
    after: &[(&str, &str)],
    mode: Mode,
) -> (Vec<String>, Option<Plan>, Diagnostics) {
    let world = World::new();
    let (state, found) = apply_as(&world, &config(before), &State::default(), Mode::Normal).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    world.took();
    let (plan, found) = plan(&world, &config(after), &state, Options { mode, ..Options::default() }).await;
    (world.took(), plan, found)
}

/// No other provider configuration may be asked about the objects of one that is gone.
#[tokio::test]
async fn objects_whose_own_provider_configuration_is_gone_are_left_alone() {
    let before = [("main.tf", "module \"old\" { source = \"./old\" }"), ("old/main.tf", OWN_PROVIDER)];
    let other = "provider \"test\" { region = \"other\" }";
    for after in [
        // The call is gone.
        vec![("main.tf", "")],
        vec![("main.tf", other)],
        // The block is gone, with and without the resource.
        vec![("main.tf", "module \"old\" { source = \"./old\" }"), ("old/main.tf", "")],
        vec![("main.tf", "provider \"test\" {}\nmodule \"old\" { source = \"./old\" }"), ("old/main.tf", "")],
        // The call has another name, and nothing says that it was moved.
        vec![("main.tf", "module \"new\" { source = \"./old\" }"), ("old/main.tf", OWN_PROVIDER)],
    ] {
        for mode in [Mode::Normal, Mode::Destroy, Mode::RefreshOnly] {
            let (log, _, found) = planned(&before, &after, mode).await;
            let summaries: Vec<&str> = found.iter().map(|d| d.summary.as_str()).collect();
            assert_eq!(summaries, ["Provider configuration not present"], "{after:?} {mode:?}");
            assert!(log.is_empty(), "{after:?} {log:?}");
        }
    }
}

#[tokio::test]
async fn every_object_without_its_provider_configuration_is_named() {
    let block =
        "provider \"test\" { alias = \"x\" }\nresource \"test_thing\" \"a\" {\n count = 2\n provider = test.x\n}";
    let world = World::new();
    let (mut state, _) = apply(&world, block, &State::default()).await;
    let (addr, provider, _) = state.instances().last().map(|(a, p, i)| (a, p.clone(), i.clone())).unwrap();
    let instance = state.instance_mut(&addr, &provider);
    let deposed = instance.current.clone().unwrap();
    instance.deposed.insert(DeposedKey("0123abcd".into()), deposed);
    let (_, found) = plan(&world, &config(&[("main.tf", "")]), &state, Options::default()).await;
    let users: Vec<&str> =
        found.iter().filter_map(|d| d.detail.strip_prefix("To work with ")?.split(" its ").next()).collect();
    let expected = ["test_thing.a[0] (orphan)", "test_thing.a[1] (orphan)", "test_thing.a[1] (deposed 0123abcd)"];
    assert_eq!(users, expected);
}

/// What a call passes on serves the objects of the module that it is passed to.
#[tokio::test]
async fn objects_are_served_by_what_takes_the_place_of_their_provider_configuration() {
    let before = [("main.tf", "module \"old\" { source = \"./old\" }"), ("old/main.tf", OWN_PROVIDER)];
    let call = "provider \"test\" {\n alias = \"by\"\n region = \"passed\"\n}\nmodule \"old\" {\n source = \"./old\"\n providers = { test = test.by }\n}";
    let after = [
        ("main.tf", call),
        ("old/main.tf", "terraform {\n required_providers {\n test = { source = \"hashicorp/test\" }\n }\n}"),
    ];
    let (log, plan, found) = planned(&before, &after, Mode::Normal).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    assert_eq!(log, ["configure by passed"]);
    assert_eq!(actions(&plan.unwrap()), ["Delete module.old.test_thing.a"]);
}

#[tokio::test]
async fn data_sources_are_dropped_without_their_provider() {
    let with_data = "provider \"test\" {\n alias = \"by\"\n region = \"by\"\n}\ndata \"test_thing\" \"d\" { provider = test.by }\nresource \"test_thing\" \"a\" {}";
    let before = [("main.tf", with_data)];
    let after = [("main.tf", "resource \"test_thing\" \"a\" {}")];
    for (mode, expected) in [(Mode::Normal, &[][..]), (Mode::Destroy, &["Delete test_thing.a"])] {
        let (log, plan, found) = planned(&before, &after, mode).await;
        assert!(!found.has_errors(), "{:?}", texts(&found));
        assert!(log.iter().all(|line| line == "configure none"), "{log:?}");
        let plan = plan.unwrap();
        assert_eq!(actions(&plan), expected);
        let world = World::new();
        let (state, found) = apply_plan(&world, &config(&after), plan).await;
        assert!(!found.has_errors(), "{:?}", texts(&found));
        let left: &[&str] = if mode == Mode::Destroy { &[] } else { &["test_thing.a"] };
        assert_eq!(addresses(&state), left);
    }
}

/// A data source that was read in the plan depends on what the configuration of its provider refers to.
#[tokio::test]
async fn dependencies_pass_through_provider_configurations_that_no_change_uses() {
    let text = |name: &str, last: &str| {
        format!(
            r#"provider "test" {{
              alias  = "by"
              region = test_thing.base.input
            }}
            resource "test_thing" "base" {{
              name  = "{name}"
              input = "known"
            }}
            data "test_thing" "d" {{
              provider = test.by
              name     = "d"
            }}
            {last}"#
        )
    };
    let last = "resource \"test_thing\" \"last\" { name = data.test_thing.d.name }";
    let world = World::new();
    let (state, _) = apply(&world, &text("base", ""), &State::default()).await;
    let (_, found) = apply(&world, &text("base2", last), &state).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let changes: Vec<String> = world.took().into_iter().filter(|line| !line.starts_with("configure")).collect();
    assert_eq!(changes, ["update base2", "create d"]);
    world.fail(&["base3"]);
    let (_, found) = apply(&world, &text("base3", last), &state).await;
    assert_eq!(texts(&found), ["update failed: base3"]);
}

/// A provider that is configured from a resource which changes while one of its own objects is destroyed: the destruction waits for
/// the configuration, and so for the change.
#[tokio::test]
async fn destructions_wait_for_the_change_that_configures_their_provider() {
    // `{cluster}` and `{object}` are what differs; both ways to replace, and no object at all.
    let text = |cluster: &str, object: &str| {
        format!(
            r#"provider "test" {{
              alias  = "by"
              region = test_thing.cluster.output
            }}
            resource "test_thing" "cluster" {{
{cluster}
}}
            {object}"#
        )
    };
    let object = |rest: &str| format!("resource \"test_thing\" \"o\" {{\n provider = test.by\n {rest}\n}}");
    let first = "lifecycle {\n create_before_destroy = true\n }";
    let objects = [
        ("name = \"o\"\n force = \"1\"".to_string(), object("name = \"o\"\n force = \"2\"")),
        (format!("name = \"o\"\n force = \"1\"\n {first}"), object(&format!("name = \"o\"\n force = \"2\"\n {first}"))),
        ("name = \"o\"".to_string(), String::new()),
        (format!("name = \"o\"\n {first}"), String::new()),
        ("name = \"o${count.index}\"\n count = 2".to_string(), object("name = \"o${count.index}\"\n count = 1")),
    ];
    let clusters = [
        ("name = \"c1\"".to_string(), "name = \"c2\"".to_string()),
        ("name = \"c1\"\n force = \"1\"".to_string(), "name = \"c2\"\n force = \"2\"".to_string()),
        (format!("name = \"c1\"\n force = \"1\"\n {first}"), format!("name = \"c2\"\n force = \"2\"\n {first}")),
    ];
    for (cluster, changed) in &clusters {
        for (before, after) in &objects {
            let world = World::new();
            let (state, found) = apply(&world, &text(cluster, &object(before)), &State::default()).await;
            assert!(found.is_empty(), "{:?}", texts(&found));
            let (state, found) = apply(&world, &text(changed, after), &state).await;
            assert!(found.is_empty(), "{cluster} {after}: {:?}", texts(&found));
            let log = world.took();
            let at = |wanted: &str| {
                log.iter().position(|line| line == wanted).unwrap_or_else(|| panic!("{wanted}: {log:?}"))
            };
            let changed = log.iter().position(|line| line.ends_with("e c2")).unwrap();
            assert!(changed < at("configure by out-c2"), "{log:?}");
            let destroyed = log.iter().position(|line| line.starts_with("destroy o"));
            assert!(destroyed.is_some_and(|at_destroy| at("configure by out-c2") < at_destroy), "{log:?}");
            assert_eq!(addresses(&state).iter().any(|a| a.starts_with("test_thing.o")), !after.is_empty());
        }
    }
}

/// Where not all orders can be kept, an object still follows the one that depends on it, not before. The reference refuses such
/// plans as cycles.
#[tokio::test]
async fn replaced_objects_are_destroyed_after_removed_dependents_of_another_provider() {
    let text = |name: &str, more: &str| {
        format!(
            r#"provider "test" {{ alias = "other" }}
            resource "test_thing" "base" {{
              name  = "{name}"
              force = "{name}"
            }}
            {more}"#
        )
    };
    let user = r#"resource "test_thing" "user" {
      provider = test.other
      name     = "user"
      input    = test_thing.base.output
      lifecycle { create_before_destroy = true }
    }"#;
    let world = World::new();
    let (state, found) = apply(&world, &text("base1", user), &State::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    world.took();
    let (_, found) = apply(&world, &text("base2", ""), &state).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let changes: Vec<String> = world.took().into_iter().filter(|line| !line.starts_with("configure ")).collect();
    assert_eq!(changes, ["destroy user", "destroy base1", "create base2"]);
}

/// Two such providers in a chain.
#[tokio::test]
async fn chained_providers_close_no_circle() {
    let text = |version: u32| {
        format!(
            r#"provider "test" {{
              alias  = "one"
              region = test_thing.base.output
            }}
            provider "test" {{
              alias  = "two"
              region = test_thing.middle.output
            }}
            resource "test_thing" "base" {{ name = "base{version}" }}
            resource "test_thing" "middle" {{
              provider = test.one
              name     = "middle{version}"
              force    = "{version}"
            }}
            resource "test_thing" "top" {{
              provider = test.two
              name     = "top{version}"
              force    = "{version}"
            }}"#
        )
    };
    let world = World::new();
    let (state, found) = apply(&world, &text(1), &State::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let (state, found) = apply(&world, &text(2), &state).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let changes: Vec<String> = world.took().into_iter().filter(|line| !line.starts_with("configure ")).collect();
    assert_eq!(changes[0], "update base2", "{changes:?}");
    assert_eq!(addresses(&state), ["test_thing.base", "test_thing.middle", "test_thing.top"]);
    // In a destroy the order is that of the dependencies.
    let (_, found) = apply_as(&world, &config(&[("main.tf", &text(2))]), &state, Mode::Destroy).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let changes: Vec<String> = world.took().into_iter().filter(|line| !line.starts_with("configure ")).collect();
    assert_eq!(changes, ["destroy top2", "destroy middle2", "destroy base2"]);
}
