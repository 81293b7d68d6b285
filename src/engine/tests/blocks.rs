//! `removed`, `check`, `import` and `moved` blocks.

use model::addr::parse::parse_abs_instance;
use model::plan::Action;
use model::state::{CheckStatus, State};

use super::world::*;

const A: &str = r#"resource "test_thing" "a" { name = "a" }"#;

#[tokio::test]
async fn removed_objects_are_left_alone_or_destroyed() {
    let cases = [("destroy = false", "Forget test_thing.a", 1), ("destroy = true", "Delete test_thing.a", 0)];
    for (lifecycle, action, warnings) in cases {
        let world = World::new();
        let (state, _) = apply(&world, A, &State::default()).await;
        let text = format!("removed {{\n from = test_thing.a\n lifecycle {{\n {lifecycle}\n }}\n}}");
        let config = config(&[("main.tf", &text)]);
        let (planned, found) = plan(&world, &config, &state, Options::default()).await;
        assert_eq!(found.len(), warnings, "{:?}", texts(&found));
        let planned = planned.unwrap();
        assert_eq!(actions(&planned), [action]);
        world.took();
        let (state, _) = apply_plan(&world, &config, planned).await;
        assert_eq!(world.took().contains(&"destroy a".to_string()), warnings == 0);
        assert!(state.is_empty());
    }
}

#[tokio::test]
async fn removed_resources_must_not_be_declared() {
    let world = World::new();
    let text = format!("{A}\nremoved {{\n from = test_thing.a\n}}");
    let (_, found) = plan(&world, &config(&[("main.tf", &text)]), &State::default(), Options::default()).await;
    assert_eq!(found.iter().map(|d| d.summary.as_str()).collect::<Vec<_>>(), ["Removed resource still exists"]);
}

#[tokio::test]
async fn checks_warn_and_are_kept() {
    let world = World::new();
    let text = format!(
        r#"{A}
        check "c" {{
          data "test_thing" "d" {{
            name = "d"
          }}
          assert {{
            condition     = data.test_thing.d.output == test_thing.a.name
            error_message = "differs"
          }}
        }}"#
    );
    let (state, found) = apply(&world, &text, &State::default()).await;
    assert_eq!(texts(&found), ["Check block assertion failed: differs"]);
    assert_eq!(world.took(), ["configure none", "create a", "read d"]);
    let checks = state.checks.unwrap();
    assert_eq!((checks[0].config_addr.as_str(), checks[0].status), ("check.c", CheckStatus::Fail));
}

#[tokio::test]
async fn moved_objects_keep_their_old_address_in_the_plan() {
    let world = World::new();
    let (state, _) = apply(&world, A, &State::default()).await;
    let text = "resource \"test_thing\" \"b\" { name = \"a\" }\nmoved {\n from = test_thing.a\n to = test_thing.b\n}";
    let (planned, found) = plan(&world, &config(&[("main.tf", text)]), &state, Options::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let planned = planned.unwrap();
    let change = &planned.changes[0];
    assert_eq!((change.action, planned.applyable), (Action::NoOp, true));
    assert_eq!(change.previous_addr, parse_abs_instance("test_thing.a").unwrap());
}

#[tokio::test]
async fn imports_without_an_object_are_refused() {
    let world = World::new();
    let cases = [
        ("id = \"\"", "Invalid import id argument"),
        ("id = test_thing.b.id", "Invalid import id argument"),
        ("id = \"x\"", "Import returned no resources"),
    ];
    for (id, summary) in cases {
        let text = format!("{A}\nresource \"test_thing\" \"b\" {{ }}\nimport {{\n to = test_thing.a\n {id}\n}}");
        let (_, found) = plan(&world, &config(&[("main.tf", &text)]), &State::default(), Options::default()).await;
        assert_eq!(found.iter().map(|d| d.summary.as_str()).collect::<Vec<_>>(), [summary], "{id}");
        let quotes = found.iter().any(|d| d.detail.contains("with ID \"x\""));
        assert!(!quotes, "the reference does not quote ids");
    }
}
