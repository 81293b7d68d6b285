//! The patterns of `excludes`: `*` and `?` within a name, `**` for folders, `[a-z]`, `{a,b}`, and `\` for the
//! character itself.
//!
//! The rules were observed on doublestar 4.10 (`PathMatch`), which the reference uses. Patterns and paths have
//! slashes. Invalid patterns are always errors. The reference accepts some of them if the path matches the part before
//! the error.

use std::collections::HashSet;

/// The error text for invalid patterns.
pub const BAD_PATTERN: &str = "syntax error in pattern";

/// The maximum number of combinations of alternatives.
const MOST_ALTERNATIVES: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPattern;

/// A pattern, expanded to one pattern for each combination of alternatives.
pub struct Glob {
    alternatives: Vec<Alternative>,
}

/// A pattern without braces.
struct Alternative {
    elements: Vec<PatternElement>,
    /// The remaining pattern text at each element, and the empty text at the end.
    rests: Vec<String>,
}

enum PatternElement {
    One(char),
    /// `?`
    InName,
    /// `*`
    Star,
    /// `**/`: any number of whole names.
    Folders,
    /// `**` at the end.
    Everything,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Glob {
    pub fn parse(pattern: &str) -> Result<Glob, BadPattern> {
        let mut texts = Vec::new();
        multiply_out(pattern, 0, &mut texts)?;
        let alternatives = texts.iter().map(|text| Alternative::parse(text)).collect::<Result<_, _>>()?;
        Ok(Glob { alternatives })
    }

    pub fn matches(&self, path: &str) -> bool {
        let path: Vec<char> = path.chars().collect();
        self.alternatives.iter().any(|alternative| alternative.matches(&path))
    }
}

/// Expands the first braces at or after `from` to each of their alternatives, recursively.
fn multiply_out(pattern: &str, from: usize, out: &mut Vec<String>) -> Result<(), BadPattern> {
    let Some(open) = find_unescaped(pattern, from, true, '{') else {
        if out.len() == MOST_ALTERNATIVES || find_unescaped(pattern, from, true, '}').is_some() {
            return Err(BadPattern);
        }
        out.push(pattern.to_owned());
        return Ok(());
    };
    let mut depth = 1;
    let mut start = open + 1;
    let mut parts = Vec::new();
    let mut at = start;
    while let Some(found) = find_unescaped(pattern, at, false, ',').into_iter().chain(brace(pattern, at)).min() {
        match pattern.as_bytes()[found] {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ if depth == 1 => {
                parts.push(&pattern[start..found]);
                start = found + 1;
            }
            _ => {}
        }
        at = found + 1;
        if depth == 0 {
            parts.push(&pattern[start..found]);
            for part in parts {
                multiply_out(&[&pattern[..open], part, &pattern[at..]].concat(), open, out)?;
            }
            return Ok(());
        }
    }
    Err(BadPattern)
}

/// The next brace of either kind.
fn brace(pattern: &str, from: usize) -> Option<usize> {
    ['{', '}'].into_iter().filter_map(|kind| find_unescaped(pattern, from, false, kind)).min()
}

/// The position of the next unescaped occurrence of a character, optionally outside of classes only.
fn find_unescaped(pattern: &str, from: usize, skip_classes: bool, wanted: char) -> Option<usize> {
    let mut characters = pattern[from..].char_indices();
    let mut in_class = false;
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            '[' if skip_classes => in_class = true,
            ']' if in_class => in_class = false,
            c if c == wanted && !in_class => return Some(from + at),
            _ => {}
        }
    }
    None
}

impl Alternative {
    fn parse(text: &str) -> Result<Alternative, BadPattern> {
        let mut elements = Vec::new();
        let mut rests = Vec::new();
        let mut rest = text;
        let mut starts_name = true;
        while let Some(first) = rest.chars().next() {
            rests.push(rest.to_owned());
            let (element, length) = match first {
                '*' => parse_stars(rest, starts_name),
                '?' => (PatternElement::InName, 1),
                '[' => parse_class(rest)?,
                '\\' => {
                    let escaped = rest.chars().nth(1).ok_or(BadPattern)?;
                    (PatternElement::One(escaped), 1 + escaped.len_utf8())
                }
                other => (PatternElement::One(other), other.len_utf8()),
            };
            starts_name = matches!(element, PatternElement::One('/') | PatternElement::Folders);
            elements.push(element);
            rest = &rest[length..];
        }
        rests.push(String::new());
        Ok(Alternative { elements, rests })
    }

    /// Searches all combinations of pattern and path positions, each once.
    fn matches(&self, path: &[char]) -> bool {
        let mut open = vec![(0, 0)];
        let mut tried = HashSet::new();
        while let Some((at, from)) = open.pop() {
            if !tried.insert((at, from)) {
                continue;
            }
            let Some(next) = path.get(from) else {
                if matches_nothing(&self.rests[at]) {
                    return true;
                }
                continue;
            };
            match self.elements.get(at) {
                None => {}
                Some(PatternElement::Everything) => return true,
                Some(PatternElement::Star) => {
                    let name = path[from..].iter().take_while(|c| **c != '/').count();
                    open.extend((0..=name).map(|skipped| (at + 1, from + skipped)));
                }
                Some(PatternElement::Folders) => {
                    open.push((at + 1, from));
                    if let Some(slash) = path[from..].iter().position(|c| *c == '/') {
                        open.push((at, from + slash + 1));
                    }
                }
                Some(element) if element.is(*next) => open.push((at + 1, from + 1)),
                Some(_) => {}
            }
        }
        false
    }
}

impl PatternElement {
    /// Returns whether a single-character element matches a character.
    fn is(&self, c: char) -> bool {
        match self {
            PatternElement::One(own) => *own == c,
            PatternElement::InName => c != '/',
            PatternElement::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
            PatternElement::Star | PatternElement::Folders | PatternElement::Everything => false,
        }
    }
}

/// Returns whether the remaining pattern matches the end of a path. `folder/**` matches `folder` itself.
fn matches_nothing(rest: &str) -> bool {
    matches!(rest, "" | "*" | "**" | "/**" | "**/" | "/**/")
}

/// Two stars match folders only if they are a complete path segment.
fn parse_stars(rest: &str, starts_name: bool) -> (PatternElement, usize) {
    match rest.strip_prefix("**") {
        Some("") if starts_name => (PatternElement::Everything, 2),
        Some(after) if starts_name && after.starts_with('/') => (PatternElement::Folders, 3),
        Some(_) => (PatternElement::Star, 2),
        None => (PatternElement::Star, 1),
    }
}

fn parse_class(rest: &str) -> Result<(PatternElement, usize), BadPattern> {
    let mut characters = rest.char_indices().skip(1).peekable();
    let negated = characters.next_if(|(_, c)| matches!(c, '!' | '^')).is_some();
    let mut ranges: Vec<(char, char)> = Vec::new();
    // A dash makes a range only after a single character.
    let mut low = None;
    while let Some((at, c)) = characters.next() {
        match c {
            ']' if ranges.is_empty() => return Err(BadPattern),
            ']' => return Ok((PatternElement::Class { negated, ranges }, at + 1)),
            '-' if low.is_some() && characters.peek().is_some_and(|(_, next)| *next != ']') => {
                let (_, mut high) = characters.next().ok_or(BadPattern)?;
                if high == '\\' {
                    high = characters.next().ok_or(BadPattern)?.1;
                }
                ranges.extend(low.take().map(|low| (low, high)));
            }
            c => {
                let single = if c == '\\' { characters.next().ok_or(BadPattern)?.1 } else { c };
                ranges.push((single, single));
                low = Some(single);
            }
        }
    }
    Err(BadPattern)
}

#[cfg(test)]
mod tests {
    use super::Glob;

    /// Recorded in `glob.tsv` with doublestar 4.10.0: pattern, path, result.
    #[test]
    fn patterns_match_as_in_the_reference() {
        let mut wrong = Vec::new();
        let mut cases = 0;
        for line in include_str!("glob.tsv").lines() {
            let [pattern, path, expected] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
            let found = match Glob::parse(pattern) {
                Ok(glob) => glob.matches(path).to_string(),
                Err(_) => "bad".to_owned(),
            };
            cases += 1;
            if found != expected {
                wrong.push(format!("{line}: {found}"));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
        assert!(cases > 500);
    }
}
