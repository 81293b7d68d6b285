//! The program's name in texts comes from `base::name`: no other code spells it out.

/// Files where the word belongs to a format, a folder or a block of the language, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("base/dialect.rs", "defines the names"),
    ("plugin/schema_cache.rs", "the first line of a file format"),
    ("sdk/serve.rs", "a provider is no program that goes by a name"),
];

/// Places of string literals that spell out the program's name or its command; `files` are (path, text).
pub fn spelled_out(files: &[(String, String)]) -> Vec<String> {
    let mut places = Vec::new();
    for (path, text) in files {
        if path.ends_with("tests.rs") || path.contains("/tests/") || EXCEPTIONS.iter().any(|(file, _)| file == path) {
            continue;
        }
        for (number, line) in super::before_tests(text).lines().enumerate() {
            if !line.trim_start().starts_with("//") && names_the_program(line) {
                places.push(format!("{path}:{}", number + 1));
            }
        }
    }
    places
}

/// Whether a line of code has the name as a word of a text, or the command with an argument behind it.
fn names_the_program(line: &str) -> bool {
    let program = line.match_indices("Terrane").any(|(at, word)| {
        let before = line[..at].strip_suffix("\\n").map_or(line[..at].chars().next_back(), |_| Some(' '));
        let after = line[at + word.len()..].chars().next();
        before.is_some_and(|c| c == '"' || c == ' ' && line[..at].trim() != "")
            && after.is_some_and(|c| " './:,;)".contains(c))
            || before.is_some_and(|c| c == ' ') && line[..at].trim().is_empty() && after == Some(' ')
    });
    let command = line.match_indices("terrane ").any(|(at, word)| {
        let before = line[..at].strip_suffix("\\n").map_or(line[..at].chars().next_back(), |_| Some(' '));
        let after = line[at + word.len()..].chars().next();
        before.is_none_or(|c| "\"'` ".contains(c))
            && after.is_some_and(|c| c.is_ascii_lowercase() || "[-{<".contains(c))
    });
    program || command
}
