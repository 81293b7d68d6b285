//! One summary per kind of error: no two places of the program spell out the same one.

use std::collections::BTreeMap;

/// What makes a diagnostic of a summary.
const MAKERS: [&str; 8] = [
    "Diagnostic::error(",
    "Diagnostic::warning(",
    "diagnostics.error(",
    "diagnostics.warning(",
    "diags.error(",
    "diags.warning(",
    ".bug(",
    "ArgsError::usage(",
];

/// Summaries that are spelled out more than once, with their places; `files` are (path, text).
pub fn repeated(files: &[(String, String)]) -> Vec<String> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in files.iter().filter(|(path, _)| !is_test(path)) {
        let text = super::before_tests(text);
        for (at, summary) in summaries(text) {
            let line = text[..at].lines().count();
            places.entry(summary).or_default().push(format!("{path}:{line}"));
        }
    }
    let repeated = places.into_iter().filter(|(_, places)| places.len() > 1);
    repeated.map(|(summary, places)| format!("{summary:?} stands at {}", places.join(", "))).collect()
}

fn is_test(path: &str) -> bool {
    path.ends_with("tests.rs") || path.contains("/tests/")
}

/// The texts with which diagnostics are made, each with its place.
fn summaries(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for maker in MAKERS {
        for (at, _) in text.match_indices(maker) {
            let rest = text[at + maker.len()..].trim_start();
            let rest = rest.strip_prefix("format!(").unwrap_or(rest).trim_start();
            if let Some(literal) = rest.strip_prefix('"').and_then(string_end) {
                found.push((at, literal.to_string()));
            }
        }
    }
    found
}

/// The content of a string literal whose opening quote was taken.
fn string_end(text: &str) -> Option<&str> {
    let mut escaped = false;
    let end = text.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some(&text[..end])
}

/// Lines that decide something by the text of a diagnostic; its kind is what code may ask.
pub fn decisions(files: &[(String, String)]) -> Vec<String> {
    let texts = [".summary", ".detail"];
    let questions = [" == ", " != ", ".starts_with(", ".ends_with(", ".contains(", ".as_str() =="];
    let asks = |line: &str| {
        let code = line.trim();
        !code.starts_with("//")
            && texts.iter().any(|text| questions.iter().any(|q| code.contains(&format!("{text}{q}"))))
    };
    let mut found = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| path != "base/diag.rs" && !super::is_test(path)) {
        let code = text.split("\nmod tests {").next().unwrap_or_default();
        let lines = code.lines().enumerate().filter(|(_, line)| asks(line));
        found.extend(lines.map(|(at, line)| format!("{path}:{}: {}", at + 1, line.trim())));
    }
    found
}
