//! The dialect is asked for in few places: a difference between the programs is a named rule in the file `opentofu.rs` of its area.

/// Files beside those that ask although they are no `opentofu.rs`, and why.
pub const EXCEPTIONS: &[(&str, &str)] = &[
    ("base/dialect.rs", "defines the dialects, their languages, names and hosts"),
    ("base/name.rs", "the words for the program in texts"),
    ("cli/lib.rs", "the entry of the program, which detects the dialect"),
    (
        "model/addr/provider.rs",
        "addresses without a host are read and shown in all layers, also by `Display` and without a run",
    ),
    ("model/state/file/mod.rs", "states are read and written in all layers, by stores and journals too"),
];

/// Most files that ask, exceptions included.
pub const MOST_FILES: usize = 16;

/// What asks: the answers of a dialect that code decides by, a release of OpenTofu, a dialect by its name, and the dialect of the process.
/// What a dialect names, such as its command or its hosts, is no question. Passing it on is none either.
const QUESTIONS: &[&str] = &[
    ".is_opentofu(",
    ".is_careful(",
    ".by_language(",
    "tofu_at_least(",
    "Dialect::Terrane",
    "Dialect::Terraform",
    "Dialect::OpenTofu",
    "Dialect::of_process",
    ".set_for_process(",
];

/// The questions of files, as (path, line). `files` are (path, text).
pub fn questions(files: &[(String, String)]) -> Vec<(&str, usize)> {
    let mut found = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| !super::is_test(path) && !path.ends_with("_tests.rs")) {
        for (number, line) in
            super::before_tests(text).lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            if QUESTIONS.iter().any(|question| line.contains(question)) {
                found.push((&**path, number + 1));
            }
        }
    }
    found
}

pub fn may_ask(path: &str) -> bool {
    path.ends_with("/opentofu.rs") || EXCEPTIONS.iter().any(|(file, _)| *file == path)
}
