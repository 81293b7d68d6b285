//! Patterns of names and paths: `*` and `?` within a name, `[a-z]`, `\` for the character itself, and `**` for folders.
//!
//! Paths have slashes. Never knows braces, which are expanded to several patterns before, nor files.

/// The library whose patterns these are: where they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// doublestar 1, for one name of a path. Only `^` negates a class, and `-` stands in a class only between two characters; `**` is the
    /// same as `*`.
    Doublestar1,
    /// doublestar 4, for paths. `**` stands for folders if it is a whole name, `folder/**` matches `folder` itself, and the start of a
    /// range matches even if its end is before it.
    Doublestar4,
    /// go-slug's rules for `.terraformignore`, for paths. `**` stands for folders wherever it is. No pattern is invalid: `]` at the start
    /// of a class is a member of it, and a `[` without an end matches this character.
    Ignore,
}

/// The pattern is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPattern;

/// A pattern without braces.
#[derive(Clone, Debug)]
pub struct Pattern {
    pieces: Vec<Piece>,
    /// For each piece, and for the end: whether the pattern from there on matches the end of a text.
    ends: Vec<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    One(char),
    /// `?`: any character but a slash.
    InName,
    /// `*`: any number of characters but slashes.
    Star,
    /// Any number of whole names, each with its slash.
    Folders,
    /// Everything that is left.
    Rest,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Pattern {
    pub fn parse(pattern: &str, syntax: Syntax) -> Result<Pattern, BadPattern> {
        let mut pieces = Vec::new();
        let mut rests = Vec::new();
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            rests.push(rest);
            let (piece, length) = match first {
                '*' => parse_stars(rest, pieces.last(), syntax),
                '?' => (Piece::InName, 1),
                '[' => match parse_class(rest, syntax) {
                    Some(class) => class,
                    None if syntax == Syntax::Ignore => (Piece::One('['), 1),
                    None => return Err(BadPattern),
                },
                '\\' => match rest.chars().nth(1) {
                    Some(escaped) => (Piece::One(escaped), 1 + escaped.len_utf8()),
                    None if syntax == Syntax::Ignore => (Piece::One('\\'), 1),
                    None => return Err(BadPattern),
                },
                other => (Piece::One(other), other.len_utf8()),
            };
            pieces.push(piece);
            rest = &rest[length..];
        }
        rests.push("");
        let ends = match syntax {
            Syntax::Doublestar4 => rests.into_iter().map(matches_nothing).collect(),
            Syntax::Doublestar1 | Syntax::Ignore => {
                (0..rests.len()).map(|at| pieces[at..].iter().all(Piece::may_be_empty)).collect()
            }
        };
        Ok(Pattern { pieces, ends })
    }

    /// Whether the pattern matches the whole text. The time is at most the product of the lengths.
    pub fn matches(&self, text: &str) -> bool {
        // Most names of a folder differ in their first character.
        if let (Some(Piece::One(own)), Some(first)) = (self.pieces.first(), text.chars().next())
            && *own != first
        {
            return false;
        }
        // Whether the pieces from here on match the text from each place on: found from the last piece to the first.
        let mut rows = vec![false; 2 * (text.len() + 1)];
        let (mut after, mut here) = rows.split_at_mut(text.len() + 1);
        after[text.len()] = true;
        for (piece, ends) in self.pieces.iter().zip(&self.ends).rev() {
            piece.match_from(text, after, here, *ends);
            std::mem::swap(&mut after, &mut here);
        }
        after[0]
    }
}

impl Piece {
    /// Where this piece and those after it match, from where those after it match. Places are those of characters. `ends`: whether they
    /// match the end.
    fn match_from(&self, text: &str, after: &[bool], here: &mut [bool], ends: bool) {
        here[text.len()] = ends;
        // Where the next folder starts, if the text goes on with one.
        let mut folder = None;
        for (at, c) in text.char_indices().rev() {
            let next = at + c.len_utf8();
            if c == '/' {
                folder = Some(next);
            }
            here[at] = match self {
                Piece::One(own) => *own == c && after[next],
                Piece::InName => c != '/' && after[next],
                Piece::Class { negated, ranges } => {
                    ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated && after[next]
                }
                // At the end, the pieces after this one decide.
                Piece::Star if next == text.len() => after[at] || (c != '/' && after[next]),
                Piece::Star => after[at] || (c != '/' && here[next]),
                Piece::Folders => after[at] || folder.is_some_and(|start| here[start]),
                Piece::Rest => true,
            };
        }
    }

    fn may_be_empty(&self) -> bool {
        matches!(self, Piece::Star | Piece::Folders | Piece::Rest)
    }
}

/// Whether the rest of a pattern of doublestar matches the end of a path.
fn matches_nothing(rest: &str) -> bool {
    matches!(rest, "" | "*" | "**" | "/**" | "**/" | "/**/")
}

/// One star or two, by the piece before them.
fn parse_stars(rest: &str, before: Option<&Piece>, syntax: Syntax) -> (Piece, usize) {
    let starts_name = matches!(before, None | Some(Piece::One('/') | Piece::Folders));
    match (rest.strip_prefix("**"), syntax) {
        (None, _) | (_, Syntax::Doublestar1) => (Piece::Star, 1),
        (Some("" | "/"), Syntax::Ignore) => (Piece::Rest, rest.len()),
        (Some(after), Syntax::Ignore) => (Piece::Folders, if after.starts_with('/') { 3 } else { 2 }),
        (Some(""), Syntax::Doublestar4) if starts_name => (Piece::Rest, 2),
        (Some(after), Syntax::Doublestar4) if starts_name && after.starts_with('/') => (Piece::Folders, 3),
        (Some(_), Syntax::Doublestar4) => (Piece::Star, 2),
    }
}

/// The class that a text begins with, and its length. None: it has no end, or nothing is in it.
fn parse_class(rest: &str, syntax: Syntax) -> Option<(Piece, usize)> {
    let mut characters = rest.char_indices().skip(1).peekable();
    let negates = |c: char| c == '^' || (c == '!' && syntax != Syntax::Doublestar1);
    let negated = characters.next_if(|(_, c)| negates(*c)).is_some();
    let mut ranges: Vec<(char, char)> = Vec::new();
    loop {
        let (at, first) = characters.next()?;
        match first {
            ']' if !ranges.is_empty() => return Some((Piece::Class { negated, ranges }, at + 1)),
            ']' if syntax != Syntax::Ignore => return None,
            '-' if syntax == Syntax::Doublestar1 => return None,
            _ => {}
        }
        let literal = |c: char, characters: &mut dyn Iterator<Item = (usize, char)>| match c {
            '\\' => characters.next().map(|(_, c)| c),
            c => Some(c),
        };
        let low = literal(first, &mut characters)?;
        let mut ahead = characters.clone();
        let high = match (ahead.next(), ahead.next()) {
            (Some((_, '-')), Some((_, '-'))) if syntax == Syntax::Doublestar1 => return None,
            (Some((_, '-')), Some((_, last))) if last != ']' => {
                let high = literal(last, &mut ahead)?;
                characters = ahead;
                high
            }
            _ => low,
        };
        if syntax == Syntax::Doublestar4 {
            ranges.push((low, low));
        }
        ranges.push((low, high));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntaxes_differ_in_folders_and_classes() {
        use Syntax::{Doublestar1, Doublestar4, Ignore};
        let cases: &[(Syntax, &str, &str, Option<bool>)] = &[
            (Doublestar1, "a**c", "abc", Some(true)),
            (Doublestar1, "[!a]", "b", Some(false)),
            (Doublestar1, "[^a]", "b", Some(true)),
            (Doublestar1, "[z-a]", "z", Some(false)),
            (Doublestar1, "[+-\\]]", "]", Some(true)),
            (Doublestar1, "[]", "", None),
            (Doublestar1, "[a-]", "a", None),
            (Doublestar1, "[+--]", "-", None),
            (Doublestar1, "a\\", "a\\", None),
            (Doublestar1, "é?*[ü]", "éaßü", Some(true)),
            (Doublestar1, "é?*[ü]", "èaßü", Some(false)),
            (Doublestar4, "a/**", "a", Some(true)),
            (Doublestar4, "**/a/*", "x/y/a/b", Some(true)),
            (Doublestar4, "a**c", "a/c", Some(false)),
            (Doublestar4, "[z-a]", "z", Some(true)),
            (Doublestar4, "[!a-b-]", "-", Some(false)),
            (Doublestar4, "a[b", "a[b", None),
            (Ignore, "a**/c", "a/x/c", Some(true)),
            (Ignore, "**/a/**", "a/", Some(true)),
            (Ignore, "a/**", "a", Some(false)),
            (Ignore, "a[b", "a[b", Some(true)),
            (Ignore, "[]a]", "]", Some(true)),
            (Ignore, "a\\", "a\\", Some(true)),
        ];
        for (syntax, pattern, text, expected) in cases {
            let found = Pattern::parse(pattern, *syntax).ok().map(|pattern| pattern.matches(text));
            assert_eq!(found, *expected, "{syntax:?} {pattern} {text}");
        }
    }
}
