//! The form in which shells expect candidates.

use super::candidates::Candidate;
use super::line::Line;
use crate::args::completion::Shell;

/// How candidates are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LineForm {
    /// What replaces the part of the word behind the last `=` or `:`, with backslashes where the shell needs them. For bash,
    /// and for shells that do as it does.
    Tail,
    /// The whole word; the shell quotes it.
    Word,
    /// The whole word and what it means, with a tab between; the shell quotes it.
    Described,
    /// The same, quoted for PowerShell, which does not.
    Quoted,
}

impl LineForm {
    /// The form for the shell that COMP_SHELL names.
    pub fn of(shell: Option<&str>) -> LineForm {
        match shell.and_then(Shell::named) {
            Some(Shell::Zsh) => LineForm::Word,
            Some(Shell::Fish) => LineForm::Described,
            Some(Shell::PowerShell) => LineForm::Quoted,
            Some(Shell::Bash) | None => LineForm::Tail,
        }
    }

    pub fn line(self, candidate: &Candidate, line: &Line) -> String {
        let (word, about) = (&candidate.word, &candidate.about);
        match self {
            LineForm::Tail => tail(word, line),
            LineForm::Word => word.clone(),
            LineForm::Described => format!("{word}\t{about}"),
            LineForm::Quoted if word.chars().any(special) => format!("'{}'\t{about}", word.replace('\'', "''")),
            LineForm::Quoted => format!("{word}\t{about}"),
        }
    }
}

/// The part of the word that bash replaces, so that bash reads it as it is meant: from the open quote on, or behind the last `=` or `:`.
fn tail(word: &str, line: &Line) -> String {
    match line.quote {
        Some(('\'', at)) => word[at..].replace('\'', "'\\''"),
        Some((_, at)) => with_backslashes(&word[at..], |c| "\"\\$`".contains(c)),
        None => with_backslashes(&word[line.word.rfind(['=', ':']).map_or(0, |at| at + 1)..], special),
    }
}

fn special(c: char) -> bool {
    !(c.is_alphanumeric() || "-_./=:,+@%".contains(c))
}

fn with_backslashes(text: &str, needs_one: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if needs_one(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_in_the_form_of_each_shell() {
        let candidate = Candidate { word: "-target=x.a[\"k v\"]".into(), about: "An instance".into() };
        let line = Line { before: Vec::new(), word: "-target=x".into(), quote: None };
        let cases = [
            (None, "x.a\\[\\\"k\\ v\\\"\\]"),
            (Some("bash"), "x.a\\[\\\"k\\ v\\\"\\]"),
            (Some("zsh"), "-target=x.a[\"k v\"]"),
            (Some("fish"), "-target=x.a[\"k v\"]\tAn instance"),
            (Some("powershell"), "'-target=x.a[\"k v\"]'\tAn instance"),
        ];
        for (shell, expected) in cases {
            assert_eq!(LineForm::of(shell).line(&candidate, &line), expected, "{shell:?}");
        }
    }

    #[test]
    fn bash_gets_what_fits_behind_an_open_quote() {
        let candidate = Candidate { word: "-target=x.a[\"it's\"]".into(), about: String::new() };
        let cases =
            [('\'', 0, "-target=x.a[\"it'\\''s\"]"), ('\'', 8, "x.a[\"it'\\''s\"]"), ('"', 8, "x.a[\\\"it's\\\"]")];
        for (quote, at, expected) in cases {
            let line = Line { before: Vec::new(), word: "-target=x.a".into(), quote: Some((quote, at)) };
            assert_eq!(LineForm::Tail.line(&candidate, &line), expected, "{quote} {at}");
        }
    }
}
