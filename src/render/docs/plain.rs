//! Markdown as plain text, for descriptions in the front matter of pages.
//!
//! Handles what descriptions of schemas contain: paragraphs, headings, lists, code, emphasis, links. It is not a complete
//! parser: everything else stays as it is written. Backslashes and entities stay too, as other generators keep them.

/// Each block of the text begins on a new line, without empty lines between blocks.
pub fn plain(markdown: &str) -> String {
    let mut blocks = MarkdownBlocks::default();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        let text = line.trim();
        if let Some(fence) = fence(line) {
            blocks.end_paragraph();
            let code = lines.by_ref().take_while(|line| !closes(line, &fence)).map(|line| format!("{line}\n"));
            let code: String = code.collect();
            blocks.put(&format!("\n{code}"));
        } else if text.is_empty() {
            blocks.end_paragraph();
        } else if is_rule(text) {
            blocks.end_paragraph();
            // Below a paragraph this makes it a heading.
            if !blocks.just_ended {
                blocks.put("");
            }
        } else if let Some(title) = heading(text) {
            blocks.end_paragraph();
            blocks.put(&inline(title));
        } else if let Some(item) = list_item(text, !blocks.paragraph.is_empty() && !blocks.in_item) {
            blocks.end_paragraph();
            blocks.paragraph.push(item);
            blocks.in_item = true;
            continue;
        } else {
            blocks.paragraph.push(text.strip_prefix('>').map_or(text, str::trim_start));
            continue;
        }
        blocks.just_ended = false;
    }
    blocks.end_paragraph();
    blocks.out
}

#[derive(Default)]
struct MarkdownBlocks<'a> {
    out: String,
    /// The lines of the paragraph that has not ended.
    paragraph: Vec<&'a str>,
    /// The paragraph began as an item of a list.
    in_item: bool,
    /// The last line ended a paragraph.
    just_ended: bool,
}

impl MarkdownBlocks<'_> {
    fn put(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(text);
    }

    fn end_paragraph(&mut self) {
        let lines = std::mem::take(&mut self.paragraph);
        self.just_ended = !lines.is_empty();
        self.in_item = false;
        match lines.first() {
            None => {}
            // Tables stay as they are.
            Some(first) if first.starts_with('|') => self.put(&lines.join("\n")),
            Some(_) => self.put(&inline(&lines.join("\n"))),
        }
    }
}

/// The marks that open a block of code.
fn fence(line: &str) -> Option<String> {
    let text = line.trim_start();
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let marks: String = text.chars().take_while(|c| *c == mark).collect();
    let info = &text[marks.len()..];
    (marks.len() >= 3 && !(mark == '`' && info.contains('`'))).then_some(marks)
}

fn closes(line: &str, fence: &str) -> bool {
    let text = line.trim();
    text.starts_with(fence) && text.chars().all(|c| fence.starts_with(c))
}

/// `---`, `***`, `___`, also with spaces; `===` below a heading.
fn is_rule(text: &str) -> bool {
    let marks: String = text.split_whitespace().collect();
    let Some(mark) = marks.chars().next().filter(|mark| "-*_=".contains(*mark)) else { return false };
    marks.chars().all(|c| c == mark) && marks.len() >= if mark == '=' { 1 } else { 3 }
}

fn heading(text: &str) -> Option<&str> {
    let title = text.trim_start_matches('#');
    let level = text.len() - title.len();
    let is_heading = (1..=6).contains(&level) && (title.is_empty() || title.starts_with(' '));
    is_heading.then(|| title.trim().trim_end_matches('#').trim_end())
}

/// The text of a list item. Within a paragraph, only the number 1 begins a list.
fn list_item(text: &str, in_paragraph: bool) -> Option<&str> {
    let rest = match text.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
            let number = &text[..text.len() - rest.len()];
            let begins = !number.is_empty() && number.len() < 10 && (!in_paragraph || number == "1");
            rest.strip_prefix(['.', ')']).filter(|_| begins)?
        }
    };
    rest.strip_prefix(' ').map(str::trim)
}

/// A part of a line: text, or marks that may be emphasis.
enum Piece {
    Text(String),
    Marks { mark: char, count: usize, opens: bool, closes: bool },
}

/// The text of a paragraph without marks.
fn inline(text: &str) -> String {
    let mut pieces = pieces(text);
    drop_emphasis(&mut pieces);
    let shown = pieces.into_iter().map(|piece| match piece {
        Piece::Text(text) => text,
        Piece::Marks { mark, count, .. } => mark.to_string().repeat(count),
    });
    shown.collect()
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((shown, length)) = span(rest) {
            plain.push_str(&shown);
            rest = &rest[length..];
            continue;
        }
        if matches!(first, '*' | '_') {
            let count = rest.chars().take_while(|c| *c == first).count();
            let before = text[..text.len() - rest.len()].chars().next_back();
            let after = rest[count..].chars().next();
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.push(marks(first, count, before, after));
            rest = &rest[count..];
            continue;
        }
        plain.push(first);
        rest = &rest[first.len_utf8()..];
    }
    pieces.push(Piece::Text(plain));
    pieces
}

/// What the text begins with if it is more than a character: what is shown of it, and its length.
fn span(text: &str) -> Option<(String, usize)> {
    match text.as_bytes()[0] {
        b'\\' => {
            let escaped = text[1..].chars().next().filter(char::is_ascii_punctuation)?;
            Some((format!("\\{escaped}"), 2))
        }
        b'`' => code(text),
        b'<' => {
            let end = text.find('>')?;
            let inside = &text[1..end];
            let is_link = inside.contains(':') && !inside.contains(char::is_whitespace);
            let is_tag = inside.starts_with(|c: char| c.is_ascii_alphabetic() || "/!".contains(c));
            is_tag.then(|| (if is_link { inside.to_owned() } else { String::new() }, end + 1))
        }
        b'!' if text[1..].starts_with('[') => link(&text[1..]).map(|(_, _, length)| (String::new(), length + 1)),
        b'[' => {
            let (label, target, length) = link(text)?;
            let is_relative =
                target.is_empty() || target.starts_with('#') || (target.starts_with('/') && !target.starts_with("//"));
            let label = inline(label);
            Some((if is_relative { label } else { format!("{label} {target}") }, length))
        }
        _ => None,
    }
}

/// A span of code.
fn code(text: &str) -> Option<(String, usize)> {
    let opening = text.len() - text.trim_start_matches('`').len();
    let mut at = opening;
    loop {
        at += text[at..].find('`')?;
        let run = text[at..].len() - text[at..].trim_start_matches('`').len();
        if run == opening {
            break;
        }
        at += run;
    }
    let inside = text[opening..at].replace('\n', " ");
    let padded = inside.starts_with(' ') && inside.ends_with(' ') && !inside.trim().is_empty();
    let shown = if padded { inside[1..inside.len() - 1].to_owned() } else { inside };
    Some((shown, at + opening))
}

/// `[label](target "title")`: the label, the target, the length.
fn link(text: &str) -> Option<(&str, &str, usize)> {
    let close = matching(text, '[', ']')?;
    let rest = &text[close + 1..];
    if !rest.starts_with('(') {
        return None;
    }
    let end = matching(rest, '(', ')')?;
    let target = rest[1..end].split_whitespace().next().unwrap_or_default();
    let target = target.strip_prefix('<').and_then(|target| target.strip_suffix('>')).unwrap_or(target);
    Some((&text[1..close], target, close + 1 + end + 1))
}

/// Where the bracket that the text begins with is closed.
fn matching(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// Marks open emphasis if text follows, and close it if text is before them; `_` within a word does neither.
fn marks(mark: char, count: usize, before: Option<char>, after: Option<char>) -> Piece {
    let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let is_punctuation = |c: Option<char>| c.is_some_and(|c| c.is_ascii_punctuation());
    let left = !is_space(after) && (!is_punctuation(after) || is_space(before) || is_punctuation(before));
    let right = !is_space(before) && (!is_punctuation(before) || is_space(after) || is_punctuation(after));
    let (opens, closes) = match mark {
        '_' => (left && (!right || is_punctuation(before)), right && (!left || is_punctuation(after))),
        _ => (left, right),
    };
    Piece::Marks { mark, count, opens, closes }
}

/// Removes the marks that belong to each other.
fn drop_emphasis(pieces: &mut [Piece]) {
    // Marks that are open, the innermost last.
    let mut open: Vec<usize> = Vec::new();
    for at in 0..pieces.len() {
        let Piece::Marks { mark, mut count, opens, closes } = pieces[at] else { continue };
        while closes && count > 0 {
            let fits = |place: &usize| matches!(pieces[*place], Piece::Marks { mark: other, .. } if other == mark);
            let Some(found) = open.iter().rposition(fits) else { break };
            open.truncate(found + 1);
            let Piece::Marks { count: left, .. } = &mut pieces[open[found]] else { break };
            let used = if *left >= 2 && count >= 2 { 2 } else { 1 };
            *left -= used;
            count -= used;
            if *left == 0 {
                open.pop();
            }
        }
        pieces[at] = Piece::Marks { mark, count, opens, closes };
        if opens && count > 0 {
            open.push(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_text() {
        let cases = [
            ("", ""),
            ("One\ntwo  \n\nthree", "One\ntwo\nthree"),
            ("# Title\nText\n\n## More ##", "Title\nText\nMore"),
            ("Title\n===\nText\n\n---\nend", "Title\nText\n\nend"),
            ("List:\n- a\n- b\n  more\n\n1. c\n2) d", "List:\na\nb\nmore\nc\nd"),
            ("In 2024. not\n2. a list", "In 2024. not\n2. a list"),
            ("Code:\n```hcl\na = 1\n\n# no title\n```\nend", "Code:\n\na = 1\n\n# no title\n\nend"),
            ("| a | b |\n|---|---|\n| *c* | d |", "| a | b |\n|---|---|\n| *c* | d |"),
            ("> quoted", "quoted"),
            ("an *em* and **strong** and ***both*** and __too__", "an em and strong and both and too"),
            ("snake_case_name, 2 * 3 * 4, **open, a*", "snake_case_name, 2 * 3 * 4, *open, a"),
            ("**a *b* c**", "a b c"),
            ("`code *x*` and ``a`b`` and ` c `", "code *x* and a`b and c"),
            (
                "[text](https://x.example/a_b \"t\") and [here](#anchor) and [doc](/docs)",
                "text https://x.example/a_b and here and doc",
            ),
            ("![image](x.png)<br>see <https://x.example> [not] (a)", "see https://x.example [not] (a)"),
            ("a \\*b\\* &amp; `unclosed", "a \\*b\\* &amp; `unclosed"),
            ("[`code`](https://x.example)", "code https://x.example"),
        ];
        for (markdown, expected) in cases {
            assert_eq!(plain(markdown), expected, "{markdown:?}");
        }
    }

    #[test]
    fn any_text_is_accepted() {
        let parts = [
            "*", "_", "`", "```", "[", "](", ")", "<", ">", "!", "\\", "#", "- ", "1. ", "|", "ä", "\n", " ", "=", "a",
        ];
        let mut seed = 1_u64;
        for _ in 0..5_000 {
            let mut text = String::new();
            for _ in 0..12 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text += parts[(seed >> 33) as usize % parts.len()];
            }
            plain(&text);
        }
    }
}
