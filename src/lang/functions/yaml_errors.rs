//! What is wrong with a YAML text, in the words of the reference's reader.
//!
//! Owns the texts, what the reference refuses and our parser takes, and how a place is written: none for the first line;
//! later lines are counted from zero but in what the scanner says, which has no columns.

use saphyr_parser::{Marker, ScanError};

/// What the reference's reader refuses before anything is parsed.
pub(super) fn check(source: &str) -> Result<(), String> {
    let is_allowed = |c: char| {
        matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
            || c > '\u{ffff}'
    };
    if !source.chars().all(is_allowed) {
        return Err("control characters are not allowed".into());
    }
    if source.is_empty() {
        return Err("on line 1, column 1: missing start of document".into());
    }
    for (i, line) in source.lines().enumerate() {
        if line.starts_with('\t') {
            return Err(placed(i, 0, true, "found character that cannot start any token"));
        }
        match line.strip_prefix('%') {
            Some(directive) => check_directive(i, directive)?,
            // Directives and comments only stand before the document.
            None if line.is_empty() || line.starts_with('#') => {}
            None => break,
        }
    }
    Ok(())
}

fn check_directive(line: usize, directive: &str) -> Result<(), String> {
    let mut words = directive.split_whitespace();
    match (words.next(), words.next()) {
        (Some("YAML"), Some("1.1")) | (Some("TAG"), _) => Ok(()),
        (Some("YAML"), Some(version)) if version.contains('.') => {
            Err(placed(line, 0, false, "found incompatible YAML document"))
        }
        (Some("YAML"), _) => Err(placed(line, 0, true, "did not find expected digit or '.' character")),
        (Some(_), _) => Err(placed(line, 0, true, "found unknown directive name")),
        (None, _) => Err(placed(line, 0, true, "could not find expected directive name")),
    }
}

/// A complaint about something that the parser found there.
pub(super) fn at(mark: &Marker, message: &str) -> String {
    placed(mark.line().saturating_sub(1), mark.col(), false, message)
}

fn placed(line: usize, column: usize, scanner: bool, message: &str) -> String {
    match (line, scanner) {
        (0, _) => message.to_owned(),
        (line, true) => format!("on line {}, column 1: {message}", line + 1),
        (line, false) => format!("on line {line}, column {}: {message}", column + 1),
    }
}

/// Our parser's complaint in the reference's words.
pub(super) fn worded(error: &ScanError, source: &str) -> String {
    let info = error.info();
    // "while scanning a quoted scalar, found ...": only the last part is reported.
    let problem = info.strip_prefix("while ").and_then(|rest| rest.split_once(", ")).map_or(info, |(_, p)| p);
    let mark = error.marker();
    if problem == "found unknown anchor" {
        return at(mark, &format!("reference to undefined anchor {:?}", anchor_name(source, mark)));
    }
    let (text, by_parser) = match problem {
        "expected ',' or ']'" => ("did not find expected ',' or ']'", true),
        "misplaced bracket" => ("did not find expected node content", true),
        "invalid trailing content after double-quoted scalar" => ("did not find expected key", true),
        "did not find expected <document-start>" => ("did not find expected <document start>", true),
        _ if problem.starts_with("unexpected character") || problem.starts_with("tab") => {
            ("found character that cannot start any token", false)
        }
        "simple key expected" | "simple key expect ':'" => ("could not find expected ':'", false),
        _ => (problem, problem.starts_with("did not find expected") && !problem.contains("comment or line break")),
    };
    let line = match text {
        "found unexpected end of stream" => source.matches('\n').count(),
        _ => mark.line().saturating_sub(1),
    };
    placed(line, mark.col(), !by_parser, text)
}

/// The name behind the `*` at a place.
pub(super) fn anchor_name(source: &str, mark: &Marker) -> String {
    let behind = source.chars().skip(mark.index()).skip_while(|c| *c == '*');
    behind.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect()
}
