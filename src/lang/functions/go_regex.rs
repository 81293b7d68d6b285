//! Regular expressions with Go's syntax and wording.
//!
//! Owns the translation of Go's pattern syntax into that of our engine (both find leftmost matches and prefer the
//! first alternative), and the expansion of `$1` in replacements. Never knows values.

use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;

use super::builtin::quoted;

pub struct Pattern {
    regex: Regex,
    groups: Vec<Option<String>>,
}

/// The classes that `[[:name:]]` knows.
const POSIX: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];

/// Why a pattern is not one: Go's code for it, and the part that is wrong.
#[derive(Debug, PartialEq)]
pub struct PatternError {
    code: String,
    part: String,
}

impl PatternError {
    fn new<T>(code: &str, part: &str) -> Result<T, PatternError> {
        Err(PatternError { code: code.to_owned(), part: part.to_owned() })
    }

    /// `missing closing ) in a(b`
    pub fn short_text(&self) -> String {
        format!("{} in {}", self.code, self.part)
    }

    /// ``missing closing ): `a(b` ``
    pub fn go_text(&self) -> String {
        format!("{}: {}", self.code, quoted_pattern(&self.part))
    }
}

/// One match: the text of the whole and of each group that took part.
pub struct Match<'t> {
    text: &'t str,
    spans: Vec<Option<(usize, usize)>>,
}

impl<'t> Match<'t> {
    pub fn group(&self, i: usize) -> Option<&'t str> {
        let (start, end) = (*self.spans.get(i)?)?;
        self.text.get(start..end)
    }

    fn span(&self) -> (usize, usize) {
        self.spans[0].unwrap_or((0, 0))
    }
}

impl Pattern {
    pub fn new(source: &str) -> Result<Pattern, PatternError> {
        let (translated, groups) =
            Translator { source, at: 0, out: String::new(), depth: 0, groups: Vec::new() }.run()?;
        let config = syntax::Config::new().utf8(false).octal(false).nest_limit(1000);
        let limits = Regex::config().nfa_size_limit(Some(64 << 20)).utf8_empty(true);
        let regex = Regex::builder()
            .syntax(config)
            .configure(limits)
            .build(&translated)
            .map_err(|_| refused(&translated, source))?;
        Ok(Pattern { regex, groups })
    }

    /// The capture groups, with their names.
    pub fn groups(&self) -> &[Option<String>] {
        &self.groups
    }

    /// All matches, or so many. An empty match right behind another match does not count, as in Go.
    pub fn find_all<'t>(&self, text: &'t str, limit: Option<usize>) -> Vec<Match<'t>> {
        let mut found = Vec::new();
        let mut captures = self.regex.create_captures();
        let (mut at, mut last_end) = (0, None);
        while at <= text.len() && limit.is_none_or(|limit| found.len() < limit) {
            let input = regex_automata::Input::new(text).span(at..text.len());
            self.regex.search_captures(&input, &mut captures);
            let Some(m) = captures.get_match() else { break };
            let empty_after_match = m.is_empty() && last_end == Some(m.start());
            if !empty_after_match {
                found.push(Match { text, spans: spans(&captures) });
            }
            last_end = Some(m.end());
            at = if m.is_empty() { next_char(text, m.end()) } else { m.end() };
        }
        found
    }

    /// Replaces all matches; `$1`, `$name` and `${name}` stand for groups, `$$` for a dollar sign.
    /// Nothing if the result would be longer than `most` bytes.
    pub fn replace_all(&self, text: &str, template: &str, most: usize) -> Option<String> {
        let mut out = String::new();
        let mut done = 0;
        for m in self.find_all(text, None) {
            let (start, end) = m.span();
            out.push_str(&text[done..start]);
            self.expand(template, &m, &mut out);
            if out.len() > most {
                return None;
            }
            done = end;
        }
        out.push_str(&text[done..]);
        Some(out)
    }

    fn expand(&self, template: &str, m: &Match<'_>, out: &mut String) {
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            if let Some(after) = after.strip_prefix('$') {
                out.push('$');
                rest = after;
                continue;
            }
            let Some((name, after)) = group_reference(after) else {
                out.push('$');
                rest = after;
                continue;
            };
            let group = match name.parse::<usize>() {
                Ok(i) => Some(i),
                Err(_) => self.groups.iter().position(|g| g.as_deref() == Some(name)).map(|i| i + 1),
            };
            out.push_str(group.and_then(|i| m.group(i)).unwrap_or_default());
            rest = after;
        }
        out.push_str(rest);
    }
}

/// Why the engine did not take a translated pattern.
fn refused(translated: &str, source: &str) -> PatternError {
    use regex_syntax::{Error, ast, hir};
    let (code, span) = match regex_syntax::parse(translated) {
        Err(Error::Parse(e)) if matches!(e.kind(), ast::ErrorKind::ClassRangeInvalid) => {
            ("invalid character class range", Some(*e.span()))
        }
        Err(Error::Translate(e)) if matches!(e.kind(), hir::ErrorKind::UnicodePropertyNotFound) => {
            ("invalid character class range", Some(*e.span()))
        }
        _ => ("invalid or unsupported Perl syntax", None),
    };
    let part = span.and_then(|s| translated.get(s.start.offset..s.end.offset)).unwrap_or(source);
    PatternError { code: code.to_owned(), part: part.to_owned() }
}

/// The name after a dollar sign, and what follows.
fn group_reference(text: &str) -> Option<(&str, &str)> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if let Some(inner) = text.strip_prefix('{') {
        let (name, rest) = inner.split_once('}')?;
        return (!name.is_empty() && name.chars().all(is_name)).then_some((name, rest));
    }
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn spans(captures: &Captures) -> Vec<Option<(usize, usize)>> {
    (0..captures.group_len()).map(|i| captures.get_group(i).map(|s| (s.start, s.end))).collect()
}

fn next_char(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}

/// Rewrites Go's syntax into the engine's, refusing what Go refuses.
struct Translator<'s> {
    source: &'s str,
    at: usize,
    out: String,
    depth: usize,
    /// Names may repeat and begin with digits, so they are kept apart from the translation.
    groups: Vec<Option<String>>,
}

impl<'s> Translator<'s> {
    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn run(mut self) -> Result<(String, Vec<Option<String>>), PatternError> {
        // Where the last repeatable thing and the last repetition operator began.
        let (mut atom, mut repetition): (Option<usize>, Option<usize>) = (None, None);
        while let Some(c) = self.peek() {
            let start = self.at;
            match c {
                '*' | '+' | '?' | '{' => {
                    let Some(length) = self.repetition_length()? else {
                        // A brace that is not a repetition is a literal.
                        self.out.push_str("\\{");
                        self.at += 1;
                        (atom, repetition) = (Some(start), None);
                        continue;
                    };
                    if let Some(from) = repetition {
                        return PatternError::new(
                            "invalid nested repetition operator",
                            &self.source[from..start + length],
                        );
                    }
                    if atom.is_none() {
                        return PatternError::new(
                            "missing argument to repetition operator",
                            &self.source[start..start + length],
                        );
                    }
                    self.out.push_str(&self.source[start..start + length]);
                    self.at += length;
                    repetition = Some(start);
                    continue;
                }
                '\\' => self.escape(false)?,
                '[' => self.class()?,
                '(' => {
                    let opens = self.group()?;
                    (atom, repetition) = (if opens { None } else { atom }, None);
                    continue;
                }
                ')' => {
                    if self.depth == 0 {
                        return PatternError::new("unexpected )", self.source);
                    }
                    self.depth -= 1;
                    self.out.push(')');
                    self.at += 1;
                }
                '|' => {
                    self.out.push('|');
                    self.at += 1;
                    (atom, repetition) = (None, None);
                    continue;
                }
                _ => {
                    // Literals that mean something to the engine only are escaped.
                    if matches!(c, ']' | '}') {
                        self.out.push('\\');
                    }
                    self.out.push(c);
                    self.at += c.len_utf8();
                }
            }
            (atom, repetition) = (Some(start), None);
        }
        if self.depth > 0 {
            return PatternError::new("missing closing )", self.source);
        }
        Ok((self.out, self.groups))
    }

    /// Bytes of the repetition operator that starts here, with its `?`; none for a brace that is not one.
    fn repetition_length(&self) -> Result<Option<usize>, PatternError> {
        let rest = self.rest();
        let mut length = 1;
        if let Some(behind) = rest.strip_prefix('{') {
            let Some((inner, _)) = behind.split_once('}') else { return Ok(None) };
            let (min, max) = inner.split_once(',').unwrap_or((inner, inner));
            let number = |t: &str| {
                (!t.is_empty() && t.len() < 9 && t.bytes().all(|b| b.is_ascii_digit()))
                    .then(|| t.parse::<u32>().ok())
                    .flatten()
            };
            let Some(low) = number(min) else { return Ok(None) };
            let high = if max.is_empty() && inner.contains(',') { Some(low) } else { number(max) };
            let Some(high) = high else { return Ok(None) };
            length = inner.len() + 2;
            if low > 1000 || high > 1000 || high < low {
                return PatternError::new("invalid repeat count", &rest[..length]);
            }
        }
        if rest[length..].starts_with('?') {
            length += 1;
        }
        Ok(Some(length))
    }

    /// Answers whether a group was opened (flags alone open none).
    fn group(&mut self) -> Result<bool, PatternError> {
        let rest = self.rest();
        if !rest.starts_with("(?") {
            self.depth += 1;
            self.groups.push(None);
            self.out.push('(');
            self.at += 1;
            return Ok(true);
        }
        for named in ["(?P<", "(?<"] {
            let Some(after) = rest.strip_prefix(named) else { continue };
            let Some((name, _)) = after.split_once('>') else {
                return PatternError::new("invalid named capture", rest);
            };
            let whole = &rest[..named.len() + name.len() + 1];
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                return PatternError::new("invalid named capture", whole);
            }
            self.depth += 1;
            self.groups.push(Some(name.to_owned()));
            self.out.push('(');
            self.at += whole.len();
            return Ok(true);
        }
        let end = rest.find([':', ')']).unwrap_or(rest.len());
        let flags = &rest[2..end];
        let valid = flags.chars().all(|c| matches!(c, 'i' | 'm' | 's' | 'U' | '-')) && flags.matches('-').count() <= 1;
        if end == rest.len() {
            return PatternError::new("missing closing )", self.source);
        }
        if !valid || flags.ends_with('-') {
            let bad = flags.find(|c| !matches!(c, 'i' | 'm' | 's' | 'U' | '-')).map_or(end, |i| i + 3);
            return PatternError::new("invalid or unsupported Perl syntax", &rest[..bad.min(rest.len())]);
        }
        let opens = rest[end..].starts_with(':');
        if opens {
            self.depth += 1;
        }
        self.out.push_str(&rest[..=end]);
        self.at += end + 1;
        Ok(opens)
    }

    fn escape(&mut self, in_class: bool) -> Result<(), PatternError> {
        let rest = self.rest();
        let Some(c) = rest[1..].chars().next() else {
            return PatternError::new("trailing backslash at end of expression", "");
        };
        let mut length = 1 + c.len_utf8();
        match c {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => {
                let (set, negated) = match c.to_ascii_lowercase() {
                    'd' => ("0-9", c == 'D'),
                    'w' => ("0-9A-Za-z_", c == 'W'),
                    _ => ("\\t\\n\\f\\r ", c == 'S'),
                };
                let open = if negated { "[^" } else { "[" };
                self.out.push_str(&format!("{open}{set}]"));
            }
            'b' | 'B' if !in_class => self.out.push_str(if c == 'b' { "(?-u:\\b)" } else { "(?-u:\\B)" }),
            'A' | 'z' if !in_class => self.out.push_str(&rest[..length]),
            'Q' if !in_class => {
                let literal = rest[2..].split("\\E").next().unwrap_or_default();
                literal.chars().for_each(|c| push_literal(c, &mut self.out));
                length = (2 + literal.len() + 2).min(rest.len());
            }
            'E' if !in_class => {}
            'a' | 'f' | 'n' | 'r' | 't' | 'v' => self.out.push_str(&rest[..length]),
            'p' | 'P' => {
                length = match rest[2..].strip_prefix('{') {
                    Some(inner) => match inner.find('}') {
                        Some(end) => end + 4,
                        None => return PatternError::new("invalid character class range", rest),
                    },
                    None => 2 + rest[2..].chars().next().map_or(0, char::len_utf8),
                };
                self.out.push_str(&rest[..length]);
            }
            'x' => {
                length = match rest[2..].strip_prefix('{') {
                    Some(inner) => inner.find('}').map_or(rest.len(), |end| end + 4),
                    None => rest.len().min(4),
                };
                self.out.push_str(rest.get(..length).unwrap_or(rest));
            }
            '0'..='7' => length = self.octal(c)?,
            c if c.is_ascii_punctuation() => push_literal(c, &mut self.out),
            _ => return PatternError::new("invalid escape sequence", &rest[..length]),
        }
        self.at += length;
        Ok(())
    }

    /// `\0`, `\12`: octal; a single digit from 1 on would be a back reference, which Go does not have.
    fn octal(&mut self, first: char) -> Result<usize, PatternError> {
        let digits: String = self.rest()[1..].chars().take(3).take_while(|c| ('0'..='7').contains(c)).collect();
        if first != '0' && digits.len() < 2 {
            return PatternError::new("invalid escape sequence", &self.rest()[..2]);
        }
        let code = u32::from_str_radix(&digits, 8).unwrap_or(0);
        push_literal(char::from_u32(code).unwrap_or('\0'), &mut self.out);
        Ok(1 + digits.len())
    }

    fn class(&mut self) -> Result<(), PatternError> {
        let start = self.at;
        self.out.push('[');
        self.at += 1;
        if self.peek() == Some('^') {
            self.out.push('^');
            self.at += 1;
        }
        let mut first = true;
        loop {
            let rest = self.rest();
            let Some(c) = self.peek() else { return PatternError::new("missing closing ]", &self.source[start..]) };
            if c == ']' && !first {
                self.out.push(']');
                self.at += 1;
                return Ok(());
            }
            if c == '-' && !first && !rest[1..].starts_with(']') && self.source[..self.at].ends_with('-') {
                return PatternError::new("invalid character class range", rest);
            }
            first = false;
            if let Some((name, _)) = rest.strip_prefix("[:").and_then(|inner| inner.split_once(":]")) {
                if !POSIX.contains(&name.strip_prefix('^').unwrap_or(name)) {
                    return PatternError::new("invalid character class range", &rest[..name.len() + 4]);
                }
                self.out.push_str(&rest[..name.len() + 4]);
                self.at += name.len() + 4;
            } else if c == '\\' {
                let after_range = self.out.ends_with('-') && !self.out.ends_with("\\-");
                if after_range && rest[1..].starts_with(['d', 'D', 'w', 'W', 's', 'S', 'p', 'P']) {
                    return PatternError::new("invalid escape sequence", &rest[..2]);
                }
                self.escape(true)?;
            } else if c == '-' {
                let is_range = !self.out.ends_with('[') && !self.out.ends_with("[^") && !rest[1..].starts_with(']');
                self.out.push_str(if is_range { "-" } else { "\\-" });
                self.at += 1;
            } else {
                push_literal(c, &mut self.out);
                self.at += c.len_utf8();
            }
        }
    }
}

fn push_literal(c: char, out: &mut String) {
    if c.is_ascii_punctuation() {
        out.push('\\');
        // These have a meaning after a backslash.
        if matches!(c, '<' | '>') {
            out.pop();
        }
    }
    out.push(c);
}

/// The text of a message that quotes a pattern.
fn quoted_pattern(pattern: &str) -> String {
    if pattern.contains('`') { quoted(pattern) } else { format!("`{pattern}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_as_go_does() {
        let cases = [
            (r"\d+", "a٣12", Some("12")),
            (r"[a&&b]+", "x&b&a", Some("&b&a")),
            (r"[[a]+", "x[a[", Some("[a[")),
            (r"\Qa.b\E+", "a.bb", Some("a.bb")),
            (r"a{,2}", "a{,2}", Some("a{,2}")),
            (r"(?i)ABC", "xabc", Some("abc")),
            (r"\bé", "é", None),
            (r"a|ab", "ab", Some("a")),
            (r"[[:alpha:]_-]+", "1a_-b", Some("a_-b")),
            (r"[^\s]+", " ab ", Some("ab")),
            (r"\<a", "<a", Some("<a")),
        ];
        for (pattern, text, expected) in cases {
            let pattern = Pattern::new(pattern).unwrap();
            assert_eq!(pattern.find_all(text, Some(1)).first().and_then(|m| m.group(0)), expected, "{text}");
        }
        let all = |p: &str, t: &str| Pattern::new(p).unwrap().find_all(t, None).len();
        assert_eq!((all("a*", "baac"), all("", "ab")), (3, 3));
    }

    #[test]
    fn replaces_and_refuses() {
        let r = |p: &str, t: &str, w: &str| Pattern::new(p).unwrap().replace_all(t, w, 1000).unwrap();
        assert_eq!(r("(a)(?P<n>b)", "xab", "$2-${1}-$n-$$-$1x"), "xb-a-b-$-");
        for (bad, message) in [
            ("a**", "invalid nested repetition operator in **"),
            ("(a", "missing closing ) in (a"),
            ("a)", "unexpected ) in a)"),
            ("[a", "missing closing ] in [a"),
            ("*", "missing argument to repetition operator in *"),
            (r"\1", r"invalid escape sequence in \1"),
            ("a{1001}", "invalid repeat count in {1001}"),
        ] {
            assert_eq!(Pattern::new(bad).err().map(|e| e.short_text()).as_deref(), Some(message));
        }
    }
}
