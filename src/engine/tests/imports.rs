//! Import blocks beside blocks, moves and the state; each expectation was seen on the reference, release 1.11.4.

use super::world::*;
use crate::model::state::State;

/// Also for an object of the state, which Terraform destroys: an import that names it says that it is wanted.
#[tokio::test]
async fn imports_need_an_instance() {
    let with = |count: usize| {
        format!(
            "resource \"test_thing\" \"a\" {{\n count = {count}\n name = \"a\"\n}}\n\
             import {{\n to = test_thing.a[0]\n id = \"x\"\n}}"
        )
    };
    let world = World::new();
    let without_import = with(1).split("import").next().unwrap().to_owned();
    let (state, _) = apply(&world, &without_import, &State::default()).await;
    for state in [state, State::default()] {
        let (_, found) = plan(&world, &config(&[("main.tf", &with(0))]), &state, Options::default()).await;
        let found: Vec<&str> = found.iter().map(|d| &*d.summary).collect();
        assert_eq!(found, ["Configuration for import target does not exist"]);
    }
}

/// A block whose instances are not known has that error alone.
#[tokio::test]
async fn imports_say_nothing_of_blocks_that_cannot_be_expanded() {
    let blocks = r#"
        resource "test_thing" "a" { count = length(test_thing.b.output) }
        resource "test_thing" "b" { name = "b" }"#;
    let with = format!("{blocks}\nimport {{\n to = test_thing.a[0]\n id = \"x\"\n}}");
    let world = World::new();
    let (_, found) = plan(&world, &config(&[("main.tf", &with)]), &State::default(), Options::default()).await;
    let (_, of_command) = import(&world, blocks, &State::default(), "test_thing.a[0]", "x").await;
    for found in [found, of_command] {
        let found: Vec<&str> = found.iter().map(|d| &*d.summary).collect();
        assert_eq!(found, ["Invalid count argument"]);
    }
}

#[tokio::test]
async fn moves_from_imported_resources_without_a_block_are_errors() {
    let text = r#"
        resource "test_thing" "b" { name = "b" }
        import {
          to = test_thing.a
          id = "x"
        }
        moved {
          from = test_thing.a
          to   = test_thing.b
        }"#;
    let (planned, found) =
        plan(&World::new(), &config(&[("main.tf", text)]), &State::default(), Options::default()).await;
    assert!(planned.is_none());
    let expected = "Moved object still exists: This statement declares a move from test_thing.a, but that resource is still \
                    declared.\n\nChange your configuration so that this resource will be declared as test_thing.b instead.";
    assert_eq!(texts(&found), [expected]);
}

#[tokio::test]
async fn validation_reports_imports_beside_errors_of_their_block() {
    for wrong in ["test_thing.none.id", "test_thing.b.none", "file(1, 2)"] {
        let text = format!(
            "resource \"test_thing\" \"a\" {{\n count = 1\n name = {wrong}\n}}\nresource \"test_thing\" \"b\" {{}}\n\
             import {{\n to = test_thing.a\n id = \"x\"\n}}"
        );
        let found = validate(&World::new(), &config(&[("main.tf", &text)])).await;
        let imports: Vec<&str> = found.iter().filter(|d| d.summary.contains("import")).map(|d| &*d.detail).collect();
        assert_eq!((imports, found.len()), (vec!["The target resource is using count."], 2), "{wrong}");
    }
    let text = "resource \"test_thing\" \"a\" {}\nimport {\n to = test_thing.a\n id = test_thing.none.id\n}";
    let found = validate(&World::new(), &config(&[("main.tf", text)])).await;
    assert_eq!(found.len(), 1, "{:?}", texts(&found));
}

#[tokio::test]
async fn validation_goes_on_where_imports_have_no_block() {
    for to in ["test_thing.none[0]", "test_thing.none[local.none]"] {
        let text = format!("output \"o\" {{ value = can(1).x }}\nimport {{\n to = {to}\n id = \"x\"\n}}");
        let found = validate(&World::new(), &config(&[("main.tf", &text)])).await;
        assert!(found.iter().any(|d| d.summary == "Unsupported attribute"), "{:?}", texts(&found));
        assert!(found.len() > 1, "{:?}", texts(&found));
    }
}
