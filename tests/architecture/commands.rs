//! The reference of commands is what the argument tables say. `TERRANE_TEST_RECORD=1` writes it again.

use cli::reference;

use super::here;

#[test]
fn the_reference_of_commands_is_current() {
    for (name, expected) in [("docs/commands.md", reference::markdown()), ("docs/man/terrane.1", reference::manual())] {
        let path = here(name);
        if std::env::var_os("TERRANE_TEST_RECORD").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &expected).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == expected,
            "{name} is not current: TERRANE_TEST_RECORD=1 cargo test --test tests commands_is_current"
        );
    }
}
