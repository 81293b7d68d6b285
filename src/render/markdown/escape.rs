//! Texts of others in Markdown that code hosts show.
//!
//! Nothing in them means anything to Markdown, HTML or the host: no markup, no link, no `@name`, no `#123`. They stand in code, which
//! hosts do not search for names and numbers.

use crate::html::escape::escaped;
use crate::review::plain::one_line;

/// Letters of the shortest hash that hosts take for a commit.
const LEAST_HASH: usize = 7;

/// The text in the middle of a line of Markdown: as it is if nothing in it can mean anything, otherwise as code.
pub fn in_line(text: &str) -> String {
    if means_nothing(text) { text.to_owned() } else { code(text) }
}

/// As [`in_line`], within a line of HTML.
pub fn in_html(text: &str) -> String {
    if means_nothing(text) { text.to_owned() } else { html_code(text) }
}

/// A code span.
pub fn code(text: &str) -> String {
    let text = one_line(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    let is_blank = text.trim_matches(' ').is_empty();
    let touches = text.starts_with('`') || text.ends_with('`') || text.starts_with(' ') && text.ends_with(' ');
    // One blank on each side is not part of the code, unless it is all blank.
    match (text.is_empty(), touches && !is_blank) {
        (true, _) => "` `".to_owned(),
        (false, true) => format!("{fence} {text} {fence}"),
        (false, false) => format!("{fence}{text}{fence}"),
    }
}

pub fn html_code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// Lines as a block of code. The fence is longer than any in the text.
pub fn fenced(language: &str, lines: &[String]) -> String {
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let mut out = format!("{fence}{language}\n");
    for line in lines {
        out.push_str(line);
        out.push('\n');
    }
    out + &fence + "\n"
}

fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Words and numbers that no host takes for something else: `GH-26`, `www.example.com` and hashes of commits are links.
fn means_nothing(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | ',' | '(' | ')' | '\'' | '-');
    let has_number = text.as_bytes().windows(2).any(|pair| pair[0] == b'-' && pair[1].is_ascii_digit());
    let is_hash = |word: &str| word.len() >= LEAST_HASH && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_hash = text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_hash);
    text.chars().all(is_plain) && !has_number && !has_hash && !text.to_ascii_lowercase().contains("www.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_words_stand_outside_of_code() {
        let cases = [
            ("it is tainted", "it is tainted"),
            ("index [3] is", "`index [3] is`"),
            ("@team", "`@team`"),
            ("#12", "`#12`"),
            ("GH-12", "`GH-12`"),
            ("www.example.com", "`www.example.com`"),
            ("a_b", "`a_b`"),
            ("see 0123abc.", "`see 0123abc.`"),
            ("see 0123ab", "see 0123ab"),
            ("a`b", "``a`b``"),
            ("`", "`` ` ``"),
            (" a ", " a "),
            ("a\nb", "`a\\nb`"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(in_line(text), expected, "{text:?}");
        }
        assert_eq!(in_html("<b>|@x"), "<code>&lt;b&gt;|@x</code>");
        assert_eq!([code(""), code("  "), code(" a ")], ["` `", "`  `", "`  a  `"]);
    }

    #[test]
    fn fences_are_longer_than_those_in_the_text() {
        let lines = ["+ ````".to_owned(), "x".to_owned()];
        assert_eq!(fenced("diff", &lines), "`````diff\n+ ````\nx\n`````\n");
        assert_eq!(fenced("", &[]), "```\n```\n");
    }
}
