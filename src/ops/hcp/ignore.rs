//! `.terraformignore`: the files of a configuration that are not uploaded.

use std::io;
use std::path::Path;

use base::files::named;
use gotext::glob::{Pattern, Syntax};

/// The rules of a folder. The last rule that matches a path decides.
#[derive(Clone, Debug)]
pub struct IgnoreRules(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    pattern: Pattern,
    /// Matching files are uploaded.
    negated: bool,
}

/// Never uploaded: the files of `init` except modules, and the history of git.
const DEFAULTS: [&str; 3] = [".terraform/", "!.terraform/modules/", ".git/"];

impl IgnoreRules {
    /// The rules of the file in a folder, after the defaults.
    pub fn of_folder(folder: &Path) -> io::Result<IgnoreRules> {
        let path = folder.join(".terraformignore");
        match std::fs::read(&path) {
            Ok(content) => Ok(IgnoreRules::parse(&String::from_utf8_lossy(&content))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(IgnoreRules::parse("")),
            // Without the rules, files would be uploaded that must not leave this machine.
            Err(e) => Err(named(e, "read", &path)),
        }
    }

    pub fn parse(text: &str) -> IgnoreRules {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        IgnoreRules(DEFAULTS.into_iter().chain(lines).filter_map(Rule::parse).collect())
    }

    /// Whether a path is ignored. `path` is relative, with slashes; folders end in one.
    pub fn ignores(&self, path: &str) -> bool {
        let last = self.0.iter().rev().find(|rule| rule.pattern.matches(path));
        last.is_some_and(|rule| !rule.negated)
    }

    /// Whether a folder is ignored with all of its content: no later rule includes a part of it again.
    pub fn ignores_all_of(&self, folder: &str) -> bool {
        let last = self.0.iter().rposition(|rule| rule.pattern.matches(folder));
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
        Some(Rule { pattern: Pattern::parse(&pattern, Syntax::Ignore).ok()?, negated })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_the_reference() {
        let cases: &[(&str, &str, bool)] = &[
            ("", "main.tf", false),
            ("", ".git/config", true),
            ("", "sub/.git/x", true),
            ("", ".terraform/providers/x", true),
            ("", ".terraform/modules/x/main.tf", false),
            ("", ".terraform/modules/x/.git/config", true),
            ("a[0-9]c", "a5c", true),
            ("a[!0-9]c", "a5c", false),
            ("a[^x-z]c", "abc", true),
            ("a[b", "a[b", true),
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

    #[test]
    fn rules_that_cannot_be_read_are_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(IgnoreRules::of_folder(dir.path()).is_ok());
        std::fs::write(dir.path().join(".terraformignore"), b"secret\xff\n*.key\n").unwrap();
        assert!(IgnoreRules::of_folder(dir.path()).unwrap().ignores("a.key"));
        std::fs::remove_file(dir.path().join(".terraformignore")).unwrap();
        std::fs::create_dir(dir.path().join(".terraformignore")).unwrap();
        assert!(IgnoreRules::of_folder(dir.path()).is_err());
    }
}
