//! Functions that look outside: what they give in apply is what they gave in plan.

use super::world::*;
use crate::base::diag::Diagnostics;
use crate::model::plan::{Mode, Plan};
use crate::model::state::State;

/// Plans with `one` in the file `a`, and applies with `two` in it.
async fn changed(text: &str, mode: Mode, state: &State) -> (Plan, State, Diagnostics, Vec<String>) {
    let world = World::new();
    world.files.insert("a", "one");
    let config = config(&[("main.tf", text)]);
    let (plan, found) = plan(&world, &config, state, Options { mode, ..Options::default() }).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    world.took();
    world.files.insert("a", "two");
    let plan = plan.unwrap();
    let (state, found) = apply_plan(&world, &config, plan.clone()).await;
    (plan, state, found, world.took())
}

#[tokio::test]
async fn what_was_read_must_stay_as_it_was() {
    let cases = [
        ("file(\"a\")", "file"),
        ("core::file(\"a\")", "core::file"),
        ("filebase64(sensitive(\"a\"))", "filebase64"),
        ("filemd5(\"a\")", "filemd5"),
        ("filesha1(\"a\")", "filesha1"),
        ("filesha256(\"a\")", "filesha256"),
        ("filesha512(\"a\")", "filesha512"),
        ("filebase64sha256(\"a\")", "filebase64sha256"),
        ("filebase64sha512(\"a\")", "filebase64sha512"),
        ("templatefile(\"a\", { now = timestamp() })", "templatefile"),
    ];
    for (call, name) in cases {
        let text = format!("output \"o\" {{\n value = nonsensitive(sensitive({call}))\n}}");
        let (plan, _, found, _) = changed(&text, Mode::Normal, &State::default()).await;
        assert_eq!(plan.function_results.len(), 1, "{call}");
        let found = texts(&found);
        let expected = format!(
            "Error in function call: Call to function {name:?} failed: function returned an inconsistent result; "
        );
        assert!(found.len() == 1 && found[0].starts_with(&expected), "{call}: {found:?}");
    }
}

#[tokio::test]
async fn provider_configurations_may_change() {
    let text = "provider \"test\" {\n region = file(\"a\")\n}\nresource \"test_thing\" \"a\" {\n name = \"n\"\n}";
    let (plan, state, found, log) = changed(text, Mode::Normal, &State::default()).await;
    assert!(!found.has_errors() && plan.function_results.is_empty(), "{:?}", texts(&found));
    assert_eq!(log, ["configure two", "create n"]);
    assert_eq!(addresses(&state), ["test_thing.a"]);
}

#[tokio::test]
async fn what_cannot_be_read_in_plan_may_be_read_later() {
    let text = "output \"o\" {\n value = try(file(\"b\"), \"none\")\n}";
    let world = World::new();
    let config = config(&[("main.tf", text)]);
    let (plan, _) = plan(&world, &config, &State::default(), Options::default()).await;
    world.files.insert("b", "here");
    let (state, found) = apply_plan(&world, &config, plan.unwrap()).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    assert_eq!(state.outputs["o"].value.as_str(), Some("here"));
}

#[tokio::test]
async fn a_destroy_keeps_what_its_refresh_read() {
    let text = "locals {\n text = file(\"a\")\n}\nresource \"test_thing\" \"a\" {\n name = local.text\n}";
    let world = World::new();
    world.files.insert("a", "zero");
    let (state, _) = apply(&world, text, &State::default()).await;
    let (plan, ..) = changed(text, Mode::Destroy, &state).await;
    assert_eq!(plan.function_results.len(), 1);
}
