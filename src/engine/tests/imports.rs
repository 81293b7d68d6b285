//! Import blocks beside blocks, moves and the state; each expectation was seen on the reference, release 1.11.4.

use model::plan::Mode;
use model::state::State;

use super::world::*;

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

const MOVED_IMPORT: &str = r#"
    resource "test_thing" "b" { name = "b" }
    import {
      to = test_thing.a
      id = "x"
    }
    moved {
      from = test_thing.a
      to   = test_thing.b
    }"#;

#[tokio::test]
async fn moves_from_imported_resources_without_a_block_are_errors() {
    let options = Options::default();
    let (planned, found) = plan(&World::new(), &config(&[("main.tf", MOVED_IMPORT)]), &State::default(), options).await;
    assert!(planned.is_none());
    let expected = "Moved object still exists: This statement declares a move from test_thing.a, but that resource is still \
                    declared.\n\nChange your configuration so that this resource will be declared as test_thing.b instead.";
    assert_eq!(texts(&found), [expected]);
}

/// What `-target` leaves out is not declared by an import.
#[tokio::test]
async fn targets_decide_whether_an_import_declares_what_moved() {
    let world = World::new();
    let (state, _) = apply(&world, "resource \"test_thing\" \"b\" { name = \"b\" }", &State::default()).await;
    for mode in [Mode::Normal, Mode::Destroy] {
        for (wanted, is_error) in [("test_thing.a", true), ("test_thing.a[0]", true), ("test_thing.b", false)] {
            let options = Options { mode, targets: targets(&[wanted]), ..Options::default() };
            let (_, found) = plan(&world, &config(&[("main.tf", MOVED_IMPORT)]), &state, options).await;
            let is_found = found.iter().any(|d| d.summary == "Moved object still exists");
            assert_eq!(is_found, is_error, "{mode:?} {wanted}: {:?}", texts(&found));
        }
    }
}

#[tokio::test]
async fn targeted_imports_without_a_block_are_errors() {
    let text = "resource \"test_thing\" \"b\" { name = \"b\" }\nimport {\n to = test_thing.a\n id = \"x\"\n}";
    for (wanted, expected) in [
        (&["test_thing.a"][..], vec!["Configuration for import target does not exist"]),
        (&["test_thing.a[0]", "test_thing.b"], vec!["Configuration for import target does not exist"]),
        (&["test_thing.b"], vec![]),
    ] {
        let options = Options { targets: targets(wanted), ..Options::default() };
        let (_, found) = plan(&World::new(), &config(&[("main.tf", text)]), &State::default(), options).await;
        let errors: Vec<&str> = found.iter().filter(|d| d.is_error()).map(|d| &*d.summary).collect();
        assert_eq!(errors, expected, "{wanted:?}");
    }
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
