//! How text is shown: with colours or not, and how wide.

use std::fmt::Display;

use base::dialect::Dialect;

use super::wrap::wrap_paragraphs;

/// Columns and colours of the place that text goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    pub colour: bool,
    pub width: usize,
    /// Sensitive values are shown as others are.
    pub reveal: bool,
    /// The user wants no colours: programs may read the text, which is then that of the reference.
    pub bare: bool,
    /// Advice beyond what the reference says is shown: people read it, not programs.
    pub tips: bool,
    /// People read at a terminal, where lines may be added to those of the reference.
    pub extras: bool,
    /// The one whose words and symbols are used.
    pub dialect: Dialect,
}

impl Style {
    /// Paragraphs broken into lines, which leave the last column free, as the reference's do.
    pub fn wrapped(&self, text: &str) -> String {
        wrap_paragraphs(text, self.width.saturating_sub(1))
    }

    /// Without colours, for a place of unknown width.
    pub fn plain() -> Style {
        let (colour, reveal, bare) = (false, false, true);
        Style { colour, width: 78, reveal, bare, tips: false, extras: false, dialect: Dialect::default() }
    }

    /// A template with tags such as `[bold]`, and `{}` where the arguments stand. As in the reference, a text in which
    /// there is a tag always ends in a reset. Tags in arguments are text.
    pub fn fill(&self, template: &str, args: &[&dyn Display]) -> String {
        let mut out = String::with_capacity(template.len());
        let (mut rest, mut args, mut coloured) = (template, args.iter(), false);
        while let Some(at) = rest.find(['[', '{']) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("{}") {
                out.push_str(&args.next().map_or("{}".into(), ToString::to_string));
                rest = after;
            } else if let Some((code, after)) = leading_tag(rest) {
                if self.colour {
                    out.push_str(code);
                    coloured = true;
                }
                rest = after;
            } else {
                out.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
        out.push_str(rest);
        if coloured {
            out.push_str(RESET);
        }
        out
    }

    /// What a tag such as `[bold]` stands for; nothing without colours.
    pub fn code(&self, tag: &str) -> &'static str {
        let found = leading_tag(tag).filter(|_| self.colour);
        found.map_or("", |(code, _)| code)
    }

    pub fn bold(&self, text: impl Display) -> String {
        self.fill("[bold]{}[reset]", &[&text])
    }

    pub fn red(&self, text: impl Display) -> String {
        self.fill("[red]{}[reset]", &[&text])
    }

    pub fn green(&self, text: impl Display) -> String {
        self.fill("[green]{}[reset]", &[&text])
    }

    pub fn yellow(&self, text: impl Display) -> String {
        self.fill("[yellow]{}[reset]", &[&text])
    }

    pub fn cyan(&self, text: impl Display) -> String {
        self.fill("[cyan]{}[reset]", &[&text])
    }

    pub fn dark_gray(&self, text: impl Display) -> String {
        self.fill("[dark_gray]{}[reset]", &[&text])
    }
}

const RESET: &str = "\x1b[0m";

/// The code of the tag that the text begins with, and what follows the tag.
fn leading_tag(text: &str) -> Option<(&'static str, &str)> {
    TAGS.iter().find_map(|(tag, code)| Some((*code, text.strip_prefix(tag)?)))
}

/// What tags in texts are called, and the codes that terminals know them by.
const TAGS: &[(&str, &str)] = &[
    ("[reset]", RESET),
    ("[bold]", "\x1b[1m"),
    ("[dim]", "\x1b[2m"),
    ("[underline]", "\x1b[4m"),
    ("[red]", "\x1b[31m"),
    ("[green]", "\x1b[32m"),
    ("[yellow]", "\x1b[33m"),
    ("[blue]", "\x1b[34m"),
    ("[cyan]", "\x1b[36m"),
    ("[light_gray]", "\x1b[37m"),
    ("[dark_gray]", "\x1b[90m"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The codes are those that the reference writes for the same templates.
    #[test]
    fn tags_become_codes_and_end_in_a_reset() {
        let coloured = Style { colour: true, width: 80, bare: false, ..Style::plain() };
        let cases: &[(&str, &[&dyn Display], &str)] = &[
            ("[green]+[reset]", &[], "\x1b[32m+\x1b[0m\x1b[0m"),
            ("[reset][bold]{}: Reading...", &[&"a.b"], "\x1b[0m\x1b[1ma.b: Reading...\x1b[0m"),
            ("no tags [but] {}", &[&"[bold]"], "no tags [but] [bold]"),
            ("{ [red]{}{}", &[&1, &2], "{ \x1b[31m12\x1b[0m"),
        ];
        for (template, args, expected) in cases {
            assert_eq!(coloured.fill(template, args), *expected);
        }
        assert_eq!(Style::plain().fill("[green]{}[reset] [x]", &[&"ok"]), "ok [x]");
    }
}
