//! `.terraformignore`: which files of a configuration are not uploaded.

use std::path::Path;

/// The rules of a folder, the last that fits decides.
#[derive(Clone, Debug)]
pub struct IgnoreRules(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    pattern: Vec<Token>,
    /// What fits is uploaded after all.
    negated: bool,
}

/// A piece of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Char(char),
    /// `?`: any character but a slash.
    One,
    /// `*`: any number of characters but slashes.
    Star,
    /// `**` or `**/`: any number of folders.
    Folders,
    /// `**` at the end: everything.
    Rest,
}

/// What is never of use: histories, and what `init` made, but for modules.
const DEFAULTS: [&str; 3] = [".git/", ".terraform/", "!.terraform/modules/"];

impl IgnoreRules {
    /// The rules of the file in a folder, after the defaults.
    pub fn of_folder(folder: &Path) -> IgnoreRules {
        let text = std::fs::read_to_string(folder.join(".terraformignore")).unwrap_or_default();
        IgnoreRules::parse(&text)
    }

    pub fn parse(text: &str) -> IgnoreRules {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        IgnoreRules(DEFAULTS.into_iter().chain(lines).filter_map(Rule::parse).collect())
    }

    /// Whether a path is left out. `path` is relative, with slashes; folders end in one.
    pub fn ignores(&self, path: &str) -> bool {
        let last = self.0.iter().rev().find(|rule| rule.fits(path));
        last.is_some_and(|rule| !rule.negated)
    }

    /// Whether a folder is left out with all that is in it: no later rule may bring something back.
    pub fn ignores_all_of(&self, folder: &str) -> bool {
        let last = self.0.iter().rposition(|rule| rule.fits(folder));
        last.is_some_and(|at| !self.0[at].negated && !self.0[at..].iter().any(|rule| rule.negated))
    }
}

impl Rule {
    fn parse(line: &str) -> Option<Rule> {
        let (negated, pattern) = match line.strip_prefix('!') {
            Some(pattern) => (true, pattern),
            None => (false, line),
        };
        if pattern.is_empty() {
            return None;
        }
        let below = if pattern.ends_with('/') { "**" } else { "" };
        let pattern = match pattern.strip_prefix('/') {
            Some(absolute) => format!("{absolute}{below}"),
            None => format!("**/{pattern}{below}"),
        };
        Some(Rule { pattern: tokens(&pattern), negated })
    }

    /// Whether the whole path fits the pattern.
    fn fits(&self, path: &str) -> bool {
        let text: Vec<char> = path.chars().collect();
        // From the end: whether the tokens from one on fit the text from each place on.
        let mut after: Vec<bool> = (0..=text.len()).map(|at| at == text.len()).collect();
        for token in self.pattern.iter().rev() {
            let mut here = vec![false; text.len() + 1];
            for at in (0..=text.len()).rev() {
                let next = text.get(at).copied();
                here[at] = match token {
                    Token::Char(c) => next == Some(*c) && after[at + 1],
                    Token::One => next.is_some_and(|c| c != '/') && after[at + 1],
                    Token::Star => after[at] || (next.is_some_and(|c| c != '/') && here[at + 1]),
                    Token::Folders => after[at] || (at..text.len()).any(|slash| text[slash] == '/' && after[slash + 1]),
                    Token::Rest => true,
                };
            }
            after = here;
        }
        after[0]
    }
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '*' if chars.next_if_eq(&'*').is_some() => {
                chars.next_if_eq(&'/');
                if chars.peek().is_none() { Token::Rest } else { Token::Folders }
            }
            '*' => Token::Star,
            '?' => Token::One,
            '\\' => Token::Char(chars.next().unwrap_or('\\')),
            c => Token::Char(c),
        });
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_the_reference() {
        let cases: &[(&str, &str, bool)] = &[
            ("", "main.tf", false),
            ("", ".git/config", true),
            ("", "sub/.git/x", true),
            ("", ".terraform/providers/x", true),
            ("", ".terraform/modules/x/main.tf", false),
            ("*.log", "a.log", true),
            ("*.log", "sub/a.log", true),
            ("/*.log", "sub/a.log", false),
            ("*.log\n!keep.log", "sub/keep.log", false),
            ("docs/", "docs/a/b", true),
            ("docs/", "x/docs/a", true),
            ("/docs/", "x/docs/a", false),
            ("docs", "docs/a", false),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("\\*x", "*x", true),
            ("\\*x", "ax", false),
            ("# a comment\n\nx", "x", true),
        ];
        for (rules, path, expected) in cases {
            assert_eq!(IgnoreRules::parse(rules).ignores(path), *expected, "{rules:?} {path}");
        }
        assert!(IgnoreRules::parse("docs/").ignores_all_of("docs/"));
        assert!(!IgnoreRules::parse("docs/\n!docs/a").ignores_all_of("docs/"));
    }
}
