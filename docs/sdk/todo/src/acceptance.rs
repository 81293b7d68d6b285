//! Acceptance tests: Terrane or Terraform with the provider in this process, and the service of [`crate::fake`].
//!
//! They run if `TF_ACC` is set: `TF_ACC=1 cargo test acceptance`.

use std::sync::Arc;

use serde_json::json;
use terrane_sdk_acceptance::state::Tracked;
use terrane_sdk_acceptance::{Action, Echo, Import, State, Step, Test, Version, expect, plan, state};

use crate::fake::Fake;
use crate::provider::Todo;

const PROVIDER: &str = r#"
variable "address" {}

provider "todo" {
  address = var.address
  token   = "let-me-in"
}
"#;

/// A test of the provider whose notes must be gone at the end.
fn test(fake: &Arc<Fake>) -> Test {
    let fake = fake.clone();
    Test::new().provider("example/todo", || Todo).check_destroyed(move |_| match fake.store().notes.len() {
        0 => Ok(()),
        count => Err(format!("expected no notes in the service, found {count}")),
    })
}

/// Applies resources with the provider.
fn step(fake: &Fake, resources: &str) -> Step {
    Step::new(format!("{PROVIDER}{resources}")).variable("address", fake.address.as_str())
}

#[test]
fn note_is_created_changed_and_replaced() {
    let fake = Arc::new(Fake::start());
    let note = |list: &str, title: &str| {
        format!("resource \"todo_note\" \"milk\" {{\n  list = {list:?}\n  title = {title:?}\n  tags = [\"food\"]\n}}\n")
    };
    let id = Tracked::new();
    test(&fake)
        .step(
            step(&fake, &note("inbox", "Buy milk"))
                .check_plan(plan::action("todo_note.milk", Action::Create))
                .check_plan(plan::unknown("todo_note.milk", "id"))
                .check(state::value("todo_note.milk", "title", "Buy milk"))
                .check(state::value("todo_note.milk", "tags", expect::set(["food"])))
                .check(state::value("todo_note.milk", "body", expect::null()))
                .check(id.start("todo_note.milk", "id")),
        )
        .import(Import::command("todo_note.milk").verify())
        .import(Import::block("todo_note.milk").verify())
        .import(Import::command("todo_note.milk").id("99").expect_error("The service has no note \"99\"."))
        .step(
            step(&fake, &note("inbox", "Buy cheese"))
                .check_plan(plan::action("todo_note.milk", Action::Update))
                .check_plan(plan::unknown("todo_note.milk", "updated_at"))
                .check(id.same("todo_note.milk", "id")),
        )
        .step(
            step(&fake, &note("work", "Buy cheese"))
                .check_plan(plan::action("todo_note.milk", Action::Replace))
                .check(id.different("todo_note.milk", "id")),
        )
        .step(Step::again().taint("todo_note.milk").check(id.different("todo_note.milk", "id")))
        .import(Import::block("todo_note.milk").keep_state().check(id.same("todo_note.milk", "id")))
        .step(Step::again().plan_only())
        .run();
}

#[test]
fn deleted_note_is_created_again() {
    let fake = Arc::new(Fake::start());
    let service = fake.clone();
    test(&fake)
        .step(step(&fake, "resource \"todo_note\" \"milk\" {\n  title = \"Milk\"\n}\n"))
        .step(
            Step::refresh()
                .prepare(move || service.store().notes.clear())
                .expect_changes()
                .check(state::absent("todo_note.milk"))
                .check_plan_after_refresh(plan::action("todo_note.milk", Action::Create)),
        )
        .step(Step::again().check(state::exists("todo_note.milk")))
        .step(Step::again().plan_only().check_plan(plan::empty()))
        .step(Step::destroy().check(state::absent("todo_note.milk")))
        .run();
}

#[test]
fn invalid_notes_are_refused() {
    let fake = Arc::new(Fake::start());
    test(&fake)
        .step(step(&fake, "resource \"todo_note\" \"milk\" {\n}\n").expect_error("The argument \"title\" is required"))
        .step(
            step(&fake, "resource \"todo_note\" \"milk\" {\n  title = \"\"\n}\n")
                .expect_error("Attribute title string length must be at least 1, got: 0"),
        )
        .run();
}

#[test]
fn notes_are_found_by_their_tag() {
    let fake = Arc::new(Fake::start());
    let config = r#"
resource "todo_note" "all" {
  for_each = toset(["Bread", "Milk"])
  title    = each.key
  tags     = [lower(each.key), "food"]
}

data "todo_notes" "food" {
  tag        = "food"
  depends_on = [todo_note.all]
}

output "slug" {
  value = provider::todo::slug(todo_note.all["Milk"].title)
}
"#;
    test(&fake)
        .step(
            step(&fake, config)
                .check_plan(plan::output("slug", "milk"))
                .check(state::value("data.todo_notes.food", "notes", expect::size(2)))
                .check(|state: &State| match state.text("data.todo_notes.food", "notes[0].title") {
                    Some("Bread" | "Milk") => Ok(()),
                    title => Err(format!("expected one of the notes, found {title:?}")),
                })
                .check(state::output("slug", json!("milk"))),
        )
        .run();
}

#[test]
fn session_has_a_token_and_is_closed() {
    let fake = Arc::new(Fake::start());
    let config = r#"
ephemeral "todo_session" "run" {}

provider "echo" {
  data = ephemeral.todo_session.run
}

resource "echo" "session" {}
"#;
    let token = expect::text("a token of the service", |token| token.starts_with("session-"));
    test(&fake)
        .provider("echo", || Echo)
        .step(step(&fake, config).check(state::value("echo.session", "data.token", token)))
        .run();
    assert!(fake.store().sessions.is_empty());
}

#[test]
fn note_is_imported_by_its_identity() {
    let fake = Arc::new(Fake::start());
    let lowest: Version = "1.12".parse().unwrap();
    test(&fake)
        .skip_if(move |host| !host.is_terrane && host.version < lowest)
        .step(step(&fake, "resource \"todo_note\" \"milk\" {\n  title = \"Milk\"\n}\n"))
        .import(Import::identity_block("todo_note.milk").identity("id", "1").verify())
        .run();
}
