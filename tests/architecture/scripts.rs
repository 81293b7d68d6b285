//! Scripts that the checks call are there and can be executed: the longest checks run too rarely to show it.

use super::here;

/// The scripts that a line names, relative to the root.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let words = line.split(move |c| !is_part(c)).map(|word| word.trim_start_matches("./"));
    words.filter(|word| {
        let is_test = word.starts_with("tests/") && word.ends_with(".py");
        is_test || word.starts_with(".ci/") && !word.ends_with(".sh")
    })
}

#[test]
fn scripts_that_checks_call_can_be_executed() {
    use std::os::unix::fs::PermissionsExt;
    let (mut found, mut wrong) = (0, Vec::new());
    for checks in [".ci/run", ".ci/full"] {
        let text = std::fs::read_to_string(here(checks)).unwrap();
        let commands = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        for script in commands.flat_map(named).filter(|script| *script != ".ci/history-from") {
            let mode = std::fs::metadata(here(script)).map(|metadata| metadata.permissions().mode());
            found += 1;
            if !mode.as_ref().is_ok_and(|mode| mode & 0o111 != 0) {
                wrong.push(format!("{checks}: {script}: {mode:?}"));
            }
        }
    }
    assert!(found >= 8, "{found}");
    assert_eq!(wrong, [""; 0]);
}
