//! Public functions without a caller: the compiler does not report them, because another crate may call them.

use std::collections::HashMap;

use super::is_test;

/// Crates whose public functions are for authors of providers.
const LIBRARIES: [&str; 3] = ["sdk/", "acceptance/", "derive/"];

/// The public functions of the source files whose name stands nowhere else in the code. `others`: code that may use them.
pub fn functions(source: &[(String, String)], others: &[(String, String)]) -> Vec<String> {
    let mut count: HashMap<&str, usize> = HashMap::new();
    for (_, text) in source.iter().chain(others) {
        for word in code(text).flat_map(words) {
            *count.entry(word).or_default() += 1;
        }
    }
    let mut found = Vec::new();
    let own = |path: &str| !is_test(path) && !LIBRARIES.iter().any(|library| path.starts_with(library));
    for (path, text) in source.iter().filter(|(path, _)| own(path)) {
        for line in code(text).filter(|line| line.trim_start().starts_with("pub")) {
            let name = line.split_once(" fn ").and_then(|(_, rest)| words(rest).next());
            found.extend(name.filter(|name| count[name] == 1).map(|name| format!("{path}: {name}")));
        }
    }
    found
}

fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}
