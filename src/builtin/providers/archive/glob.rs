//! The patterns of `excludes`: `*` and `?` within a name, `**` for folders, `[a-z]`, `{a,b}`, and `\` for the
//! character itself.
//!
//! The rules were observed on doublestar 4.10 (`PathMatch`), which the reference uses. Patterns and paths have
//! slashes. Invalid patterns are always errors. The reference accepts some of them if the path matches the part before
//! the error.

use gotext::glob::{BadPattern, Pattern, Syntax};

/// The error text for invalid patterns.
pub const BAD_PATTERN: &str = "syntax error in pattern";

/// The maximum number of combinations of alternatives.
const MOST_ALTERNATIVES: usize = 4096;

/// A pattern, expanded to one pattern for each combination of alternatives.
pub struct Glob {
    alternatives: Vec<Pattern>,
}

impl Glob {
    pub fn parse(pattern: &str) -> Result<Glob, BadPattern> {
        let mut texts = Vec::new();
        multiply_out(pattern, 0, &mut texts)?;
        let alternatives =
            texts.iter().map(|text| Pattern::parse(text, Syntax::Doublestar4)).collect::<Result<_, _>>()?;
        Ok(Glob { alternatives })
    }

    pub fn matches(&self, path: &str) -> bool {
        self.alternatives.iter().any(|alternative| alternative.matches(path))
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
