//! Moves, implied and declared, and where a plan destroys everything.

use model::addr::parse::parse_abs_instance;
use model::addr::{InstanceKey, Target};
use model::plan::{Action, Mode};
use model::state::State;

use super::world::*;

const BEFORE: &str = r#"
    resource "test_thing" "a" { name = "a" }
    resource "test_thing" "c" { name = "c" }"#;

fn after(prevent: bool) -> String {
    format!(
        r#"resource "test_thing" "b" {{
          name = "a"
          lifecycle {{ prevent_destroy = {prevent} }}
        }}
        moved {{
          from = test_thing.a
          to   = test_thing.b
        }}
        resource "test_thing" "c" {{
          count = 1
          name  = "c"
        }}"#
    )
}

/// Observed: after a refresh, which moves the objects already, no previous addresses are left.
#[tokio::test]
async fn destroying_moves_objects_first() {
    for (no_refresh, previous) in
        [(true, ["test_thing.a", "test_thing.c"]), (false, ["test_thing.b", "test_thing.c[0]"])]
    {
        let world = World::new();
        let (state, _) = apply(&world, BEFORE, &State::default()).await;
        let config = config(&[("main.tf", &after(false))]);
        let options = Options { mode: Mode::Destroy, no_refresh, ..Options::default() };
        let (planned, found) = plan(&world, &config, &state, options).await;
        assert!(found.is_empty(), "{:?}", texts(&found));
        let planned = planned.unwrap();
        assert_eq!(actions(&planned), ["Delete test_thing.b", "Delete test_thing.c[0]"]);
        let found: Vec<String> = planned.changes.iter().map(|c| c.previous_addr.to_string()).collect();
        assert_eq!(found, previous);
        for state in [&planned.prior_state, &planned.previous_state] {
            assert_eq!(addresses(state), ["test_thing.b", "test_thing.c[0]"]);
        }
        let (state, found) = apply_plan(&world, &config, planned).await;
        assert!(found.is_empty() && state.resources.is_empty(), "{:?}", texts(&found));
    }
}

#[tokio::test]
async fn destroying_respects_prevent_destroy_after_a_move() {
    for no_refresh in [false, true] {
        let world = World::new();
        let (state, _) = apply(&world, BEFORE, &State::default()).await;
        let config = config(&[("main.tf", &after(true))]);
        let options = Options { mode: Mode::Destroy, no_refresh, ..Options::default() };
        let (_, found) = plan(&world, &config, &state, options).await;
        let found: Vec<&str> = found.iter().map(|d| &*d.summary).collect();
        assert_eq!(found, ["Instance cannot be destroyed"], "no_refresh: {no_refresh}");
    }
}

#[tokio::test]
async fn destroying_reports_what_could_not_move_once() {
    for no_refresh in [false, true] {
        let world = World::new();
        let both =
            "resource \"test_thing\" \"a\" {\n name = \"a\"\n}\nresource \"test_thing\" \"b\" {\n name = \"b\"\n}";
        let (state, _) = apply(&world, both, &State::default()).await;
        let moved =
            "resource \"test_thing\" \"b\" {\n name = \"b\"\n}\nmoved {\n from = test_thing.a\n to = test_thing.b\n}";
        let options = Options { mode: Mode::Destroy, no_refresh, ..Options::default() };
        let (planned, found) = plan(&world, &config(&[("main.tf", moved)]), &state, options).await;
        let found: Vec<&str> = found.iter().map(|d| &*d.summary).collect();
        assert_eq!(found, ["Unresolved resource instance address changes"], "no_refresh: {no_refresh}");
        assert_eq!(actions(&planned.unwrap()), ["Delete test_thing.a", "Delete test_thing.b"]);
    }
}

#[tokio::test]
async fn targets_without_what_moved_are_refused() {
    let world = World::new();
    let (state, _) = apply(&world, BEFORE, &State::default()).await;
    for (mode, no_refresh) in [(Mode::Normal, false), (Mode::Destroy, false), (Mode::Destroy, true)] {
        let config = config(&[("main.tf", &after(false))]);
        let target = Target::Resource(parse_abs_instance("test_thing.b").unwrap().containing_resource());
        let options = Options { mode, no_refresh, targets: vec![target], ..Options::default() };
        let (_, found) = plan(&world, &config, &state, options).await;
        let found: Vec<&str> = found.iter().map(|d| &*d.summary).collect();
        let expected = ["Resource targeting is in effect", "Moved resource instances excluded by targeting"];
        assert_eq!(found, expected, "{mode:?}, no_refresh: {no_refresh}");
    }
}

/// Observed: a `moved` block that names a resource keeps its instances from moving by themselves, also once it has nothing left
/// to move.
#[tokio::test]
async fn implied_moves_give_way_to_declared_ones() {
    let counted = "resource \"test_thing\" \"b\" {\n count = 1\n name = \"b\"\n}";
    let single = "resource \"test_thing\" \"b\" {\n name = \"b\"\n}";
    let unrelated = "moved {\n from = test_thing.x\n to = test_thing.y\n}";
    let named = "moved {\n from = test_thing.a\n to = test_thing.b\n}";
    for (statement, expected) in [(unrelated, vec![]), (named, vec!["Create test_thing.b", "Delete test_thing.b[0]"])] {
        let world = World::new();
        let (state, _) = apply(&world, counted, &State::default()).await;
        let text = format!("{single}\n{statement}");
        let config = config(&[("main.tf", &text)]);
        let (planned, found) = plan(&world, &config, &state, Options::default()).await;
        assert!(found.is_empty(), "{:?}", texts(&found));
        assert_eq!(actions(&planned.unwrap()), expected, "{statement}");
    }
}

/// Observed: data sources too, which are read anew.
#[tokio::test]
async fn data_sources_that_gain_count_say_where_they_were() {
    let single = "data \"test_thing\" \"d\" {\n name = test_thing.a.id\n}";
    let counted = "data \"test_thing\" \"d\" {\n count = 1\n name = test_thing.a.id\n}";
    let with = |name: &str, data: &str| format!("resource \"test_thing\" \"a\" {{\n name = \"{name}\"\n}}\n{data}");
    let (d, d0) = ("data.test_thing.d", "data.test_thing.d[0]");
    for (before, after, from, to) in [(single, counted, d, d0), (counted, single, d0, d)] {
        let world = World::new();
        let (state, _) = apply(&world, &with("a", before), &State::default()).await;
        let (planned, found) =
            plan(&world, &config(&[("main.tf", &with("c", after))]), &state, Options::default()).await;
        assert!(found.is_empty(), "{:?}", texts(&found));
        let planned = planned.unwrap();
        let read = planned.changes.iter().find(|change| change.action == Action::Read).unwrap();
        assert_eq!((read.addr.to_string(), read.previous_addr.to_string()), (to.into(), from.into()));
    }
}

/// Observed: an instance that is in the way is reported for moves that follow from `count` too.
#[tokio::test]
async fn blocked_implied_moves_are_reported() {
    let world = World::new();
    let text = "resource \"test_thing\" \"a\" {\n name = \"a\"\n}";
    let (mut state, _) = apply(&world, text, &State::default()).await;
    let only = std::sync::Arc::make_mut(state.resources.values_mut().next().unwrap());
    let object = only.instances[&InstanceKey::None].clone();
    only.instances.insert(InstanceKey::Int(0), object);
    let (planned, found) = plan(&world, &config(&[("main.tf", text)]), &state, Options::default()).await;
    assert_eq!(found.iter().map(|d| &*d.summary).collect::<Vec<_>>(), ["Unresolved resource instance address changes"]);
    assert_eq!(actions(&planned.unwrap()), ["Delete test_thing.a[0]"]);
}

/// Observed: a resource or module moves as a whole or not at all, whichever instances are in its place.
#[tokio::test]
async fn whole_moves_are_blocked_by_any_object_in_their_place() {
    let thing =
        |name: &str, more: &str| format!("resource \"test_thing\" \"{name}\" {{\n name = \"{name}\"\n {more}\n}}\n");
    let moved = |from: &str, to: &str| format!("moved {{\n from = {from}\n to = {to}\n}}\n");
    let call = |name: &str| format!("module \"{name}\" {{\n source = \"./{name}\"\n}}\n");
    let (a, b) = (thing("a", ""), thing("b", ""));
    let cases = [
        (
            vec![("main.tf", thing("a", "for_each = toset([\"x\"])") + &b)],
            vec![("main.tf", b.clone() + &moved("test_thing.a", "test_thing.b"))],
            "test_thing.a could not move to test_thing.b",
            vec!["Delete test_thing.a[\"x\"]"],
        ),
        (
            vec![("main.tf", call("m") + &call("n")), ("m/main.tf", a.clone()), ("n/main.tf", b.clone())],
            vec![("main.tf", call("n") + &moved("module.m", "module.n")), ("n/main.tf", a + &b)],
            "module.m could not move to module.n",
            vec!["Delete module.m.test_thing.a", "Create module.n.test_thing.a"],
        ),
    ];
    for (before, after, expected, changes) in cases {
        let files = |list: &[(&'static str, String)]| {
            config(&list.iter().map(|(name, text)| (*name, text.as_str())).collect::<Vec<_>>())
        };
        let world = World::new();
        let (state, _) = apply_as(&world, &files(&before), &State::default(), Mode::Normal).await;
        let (planned, found) = plan(&world, &files(&after), &state, Options::default()).await;
        assert!(texts(&found).concat().contains(expected), "{:?}", texts(&found));
        assert_eq!(actions(&planned.unwrap()), changes);
    }
}

/// Observed: different instances of a module are different things, so that these two moves are a chain and no cycle.
#[tokio::test]
async fn moves_between_keys_of_a_module_are_a_chain() {
    let world = World::new();
    let call = |more: &str| format!("module \"m\" {{\n source = \"./m\"\n {more}\n}}\n");
    let moved = |from: &str, to: &str| format!("moved {{\n from = module.m{from}\n to = module.m{to}\n}}\n");
    let module = ("m/main.tf", "resource \"test_thing\" \"a\" {\n name = \"a\"\n}");
    let before = config(&[("main.tf", &call("")), module]);
    let (state, _) = apply_as(&world, &before, &State::default(), Mode::Normal).await;
    let text = call("count = 1") + &moved("[\"a\"]", "[0]") + &moved("", "[\"a\"]");
    let (planned, found) = plan(&world, &config(&[("main.tf", &text), module]), &state, Options::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let planned = planned.unwrap();
    assert!(actions(&planned).is_empty(), "{:?}", actions(&planned));
    assert_eq!(addresses(&planned.prior_state), ["module.m[0].test_thing.a"]);
}

/// Observed: resources are listed, and nothing else is said.
#[tokio::test]
async fn excluded_moves_are_reported_by_resource() {
    let world = World::new();
    let before = "resource \"test_thing\" \"a\" {\n count = 2\n name = \"a\"\n}\n\
                  resource \"test_thing\" \"c\" {}\nresource \"test_thing\" \"d\" {}";
    let (state, _) = apply(&world, before, &State::default()).await;
    let after = format!(
        "{}\nmoved {{\n from = test_thing.a\n to = test_thing.b\n}}\nmoved {{\n from = test_thing.c\n to = test_thing.d\n}}",
        before.replace("\"a\" {", "\"b\" {").replace("resource \"test_thing\" \"c\" {}", "")
    );
    let target = Target::Resource(parse_abs_instance("test_thing.d").unwrap().containing_resource());
    let options = Options { targets: vec![target], ..Options::default() };
    let (_, found) = plan(&world, &config(&[("main.tf", &after)]), &state, options).await;
    let summaries: Vec<&str> = found.iter().map(|d| &*d.summary).collect();
    assert_eq!(summaries, ["Resource targeting is in effect", "Moved resource instances excluded by targeting"]);
    let listed: Vec<&str> =
        found.iter().flat_map(|d| d.detail.lines()).filter(|l| l.starts_with("  -target")).collect();
    assert_eq!(listed, ["  -target=\"test_thing.a\"", "  -target=\"test_thing.b\""]);
}

/// Observed: what the plan ahead of a destroy would forget is said only where it fails.
#[tokio::test]
async fn failed_destroys_warn_of_objects_to_forget() {
    let world = World::new();
    let (state, _) = apply(&world, BEFORE, &State::default()).await;
    let with = |output: &str| {
        format!(
            "removed {{\n from = test_thing.a\n lifecycle {{\n destroy = false\n }}\n}}\n\
                 resource \"test_thing\" \"c\" {{ name = \"c\" }}\noutput \"o\" {{ value = {output} }}"
        )
    };
    for (output, expected) in [("1", vec![]), ("one([test_thing.c.name, 1]...)", vec!["Too many function arguments"])] {
        let options = Options { mode: Mode::Destroy, ..Options::default() };
        let (_, found) = plan(&world, &config(&[("main.tf", &with(output))]), &state, options).await;
        let mut expected = expected;
        if !expected.is_empty() {
            expected.push("Some objects will no longer be managed by Terraform");
        }
        let found: Vec<String> = found.iter().map(|d| d.summary.replace("Terrane", "Terraform")).collect();
        assert_eq!(found, expected);
    }
}
