//! What people wrote between the lines of a lock file: the file is written anew when something changes, their comments
//! are not to be lost.
//!
//! Knows where comments are and what each is about. Never knows what a lock means.

use std::collections::BTreeMap;

use base::source::{SourceFile, Span};
use lang::syntax::ast::{Attribute, Block};
use lang::syntax::lexer::{self, Start};
use lang::syntax::parser;
use lang::syntax::token::{Token, TokenKind};

/// The second line of every lock file; the first one names the command that maintains it.
pub const MANUAL_EDITS: &str = "# Manual edits may be lost in future updates.";

/// The argument whose elements have comments of their own.
pub const HASHES: &str = "hashes";

/// A line of the file that comments may be about, within the block of a provider.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockFileLine {
    Block,
    Argument(Box<str>),
    Hash(Box<str>),
    HashesEnd,
    BlockEnd,
}

impl LockFileLine {
    pub fn argument(name: &str) -> LockFileLine {
        LockFileLine::Argument(name.into())
    }
}

/// The comments of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comments {
    /// Before everything else and apart from it.
    top: Vec<Above>,
    /// By the provider's address and the place.
    places: BTreeMap<(Box<str>, LockFileLine), Attached>,
    /// Behind everything else.
    end: Vec<Above>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Attached {
    above: Vec<Above>,
    /// There is an empty line between them and what they are about.
    apart: bool,
    /// On the same line.
    behind: Vec<String>,
}

/// A comment on a separate line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Above {
    text: String,
    /// There is an empty line above it.
    apart: bool,
}

/// Where something that comments may be about stands.
struct Anchor {
    span: Span,
    provider: Box<str>,
    place: LockFileLine,
}

impl Comments {
    /// The comments of a text, but for the lines with which every lock file begins.
    pub fn of(text: &str) -> Comments {
        let mut comments = Comments::default();
        let tokens: Vec<Token> = lexer::scan(text, Start::Normal);
        let written = |token: &&Token| token.kind == TokenKind::Comment && !is_generated(slice(text, token.span()));
        let written: Vec<&Token> = tokens.iter().filter(written).collect();
        // Most files have none.
        if written.is_empty() {
            return comments;
        }
        let anchors = anchors(text, &tokens);
        let first = anchors.first().map_or(text.len(), |anchor| anchor.span.start as usize);
        for token in written {
            comments.add(text, token.span(), &anchors, first);
        }
        comments
    }

    fn add(&mut self, text: &str, span: Span, anchors: &[Anchor], first: usize) {
        let (start, end) = (span.start as usize, span.end as usize);
        let written = slice(text, span).trim_end().to_owned();
        // The line's end belongs to some comments.
        let end = start + written.len().min(end - start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let beside = anchors.iter().rfind(|a| (a.span.start as usize) < start && a.span.end as usize > line_start);
        if let Some(anchor) = beside {
            self.at(anchor).behind.push(written);
            return;
        }
        let above = Above { text: written, apart: is_empty_line_before(&text[..line_start]) };
        let Some(next) = anchors.iter().find(|anchor| anchor.span.start as usize >= end) else {
            self.end.push(above);
            return;
        };
        let next_start = next.span.start as usize;
        if next_start == first && has_empty_line(&text[end..next_start]) {
            self.top.push(above);
            return;
        }
        let attached = self.at(next);
        attached.above.push(above);
        attached.apart = text[end..next_start].matches('\n').count() > 1 && is_blank(&text[end..next_start]);
    }

    fn at(&mut self, anchor: &Anchor) -> &mut Attached {
        self.places.entry((anchor.provider.clone(), anchor.place.clone())).or_default()
    }

    pub fn write_top(&self, text: &mut String) {
        write_above(text, &self.top, "", true);
    }

    pub fn write_end(&self, text: &mut String) {
        write_above(text, &self.end, "", true);
    }

    /// Writes a line with the comments above it and behind it. A block is set apart from what is above.
    pub fn write_line(&self, text: &mut String, provider: &str, place: &LockFileLine, line: &str) {
        if *place == LockFileLine::Block {
            text.push('\n');
        }
        let attached = self.places.get(&(provider.into(), place.clone()));
        if let Some(attached) = attached {
            let indent = &line[..line.len() - line.trim_start().len()];
            // What ends something is indented less than the comments within.
            let within = matches!(place, LockFileLine::HashesEnd | LockFileLine::BlockEnd);
            let indent = if within { format!("{indent}  ") } else { indent.to_owned() };
            write_above(text, &attached.above, &indent, *place != LockFileLine::Block);
            if attached.apart && *place == LockFileLine::Block {
                text.push('\n');
            }
        }
        text.push_str(line);
        for behind in attached.iter().flat_map(|attached| &attached.behind) {
            text.push(' ');
            text.push_str(behind);
        }
        text.push('\n');
    }
}

/// `first`: an empty line above the first one counts too.
fn write_above(text: &mut String, comments: &[Above], indent: &str, first: bool) {
    for (i, comment) in comments.iter().enumerate() {
        if comment.apart && (i > 0 || first) {
            text.push('\n');
        }
        text.push_str(indent);
        text.push_str(&comment.text);
        text.push('\n');
    }
}

/// Everything that comments may be about, in the order of the text.
fn anchors(text: &str, tokens: &[Token]) -> Vec<Anchor> {
    let (body, _) = parser::parse_file(SourceFile::new("", text));
    let mut anchors = Vec::new();
    for block in body.blocks() {
        // What is said of blocks that are not kept is not kept either: no provider has the empty name.
        let kept = block.kind.as_str() == "provider";
        let provider: Box<str> = if kept { (&**block.label(0)).into() } else { "".into() };
        let mut add =
            |span: Span, place: LockFileLine| anchors.push(Anchor { span, provider: provider.clone(), place });
        add(block.kind.span.to(block.open), LockFileLine::Block);
        for attribute in block.body.attributes() {
            let place = LockFileLine::argument(attribute.name.as_str());
            match elements(attribute, tokens) {
                Some((open, elements, close)) => {
                    add(attribute.name.span.to(open), place);
                    elements.into_iter().for_each(|(span, hash)| add(span, LockFileLine::Hash(hash)));
                    add(close, LockFileLine::HashesEnd);
                }
                None => add(attribute.span, place),
            }
        }
        add(closing(block, text), LockFileLine::BlockEnd);
    }
    anchors.sort_by_key(|anchor| anchor.span.start);
    anchors
}

type HashList = (Span, Vec<(Span, Box<str>)>, Span);

/// The list of hashes: its opening bracket, its elements with their commas, its closing bracket.
fn elements(attribute: &Attribute, tokens: &[Token]) -> Option<HashList> {
    let items = attribute.expr.as_static_list().filter(|_| attribute.name.as_str() == HASHES)?;
    let within = |t: &&Token| t.start >= attribute.equals.end && t.end <= attribute.span.end;
    let open = tokens.iter().filter(within).find(|t| t.kind == TokenKind::OpenBracket)?.span();
    let close = tokens.iter().filter(within).rfind(|t| t.kind == TokenKind::CloseBracket)?.span();
    let element = |item: &lang::syntax::ast::Expression| {
        let range = item.range();
        let span = Span::new(range.start().byte, range.end().byte);
        Some((span, item.as_literal_string()?.as_ref().into()))
    };
    Some((open, items.iter().filter_map(element).collect(), close))
}

/// The closing brace. A block that nothing closes ends where the parser gave up, behind any character.
fn closing(block: &Block, text: &str) -> Span {
    let end = block.close.end as usize;
    let brace = text.get(..end).is_some_and(|before| before.ends_with('}'));
    Span::new(end - usize::from(brace), end)
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or_default()
}

/// One of the lines with which lock files begin, whichever program wrote it.
fn is_generated(comment: &str) -> bool {
    let comment = comment.trim();
    comment == MANUAL_EDITS || comment.starts_with("# This file is maintained automatically by \"")
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn is_empty_line_before(text: &str) -> bool {
    text.trim_end_matches([' ', '\t', '\r', '\n']).len() < text.len()
        && text[text.trim_end_matches([' ', '\t', '\r', '\n']).len()..].matches('\n').count() > 1
}

fn has_empty_line(text: &str) -> bool {
    let mut lines = text.split('\n');
    lines.next();
    lines.next_back();
    lines.any(is_blank)
}

#[cfg(test)]
mod tests {
    use base::dialect::Dialect;
    use base::source::SourceFile;

    use crate::deps::lock::{LOCK_FILE, Lock};

    const HEAD: &str = "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n";

    #[test]
    fn broken_files_are_read_as_far_as_they_can_be() {
        // The end of the block that nothing closes is looked at from each comment before it.
        for text in ["# c\u{fffd}", "# c\n  x\u{e}\u{2}#\u{fffd}", "v = 1 # c\n  # d\n  \u{fffd}"] {
            let text = &format!("provider \"a\" {{\n  v = 1\n  {text}");
            let (lock, diags) = Lock::parse(SourceFile::new(LOCK_FILE, text));
            assert!(diags.has_errors(), "{text:?}");
            let _ = lock.to_text_keeping(Dialect::default(), text);
        }
    }

    fn rewritten(text: &str) -> String {
        let (lock, diags) = Lock::parse(SourceFile::new(LOCK_FILE, text));
        assert!(!diags.has_errors(), "{diags:?}");
        lock.to_text_keeping(Dialect::default(), text)
    }

    #[test]
    fn comments_stay_with_what_they_are_about() {
        let body = "# ours
# all of it

# said of nothing

# about b
provider \"a.com/a/b\" { # here
  # because of 17
  version     = \"1.0.0\" # why
  constraints = \"~> 1.0\"
  # taken by hand
  hashes = [ # two
    # linux

    # twice
    \"h1:a\", # one
    \"zh:b\",
    # nothing follows
  ] # done
  /* almost
     over */
} // over

# about c

# more about c
provider \"a.com/a/c\" {
  version = \"1.0.0\"
}

# the end
";
        let text = format!("{HEAD}{body}");
        assert_eq!(rewritten(&text), text);
        // Without the lines that every file has, and with the providers in another order.
        let (first, second) = body.split_at(body.find("\n# about c").unwrap());
        let (second, end) = second.split_at(second.find("\n# the end").unwrap());
        let (top, first) = first.split_at(first.find("\n# about b").unwrap());
        let turned = format!("{top}{second}{first}{end}");
        let again = rewritten(&turned);
        assert!(again.contains("\n# about b\nprovider \"a.com/a/b\" { # here\n"), "{again}");
        assert!(again.contains("\n# more about c\nprovider"), "{again}");
        assert_eq!(rewritten(&again), again);
    }

    #[test]
    fn removed_entries_lose_their_comments() {
        let text = format!(
            "{HEAD}\n# gone\nmodule \"x\" {{\n  # gone\n}}\n\nprovider \"a.com/a/b\" {{\n  version = \"1.0.0\"\n  hashes = [\n    \
             \"h1:a\", # gone\n    \"h1:b\", # kept\n  ]\n}}\n# end\n"
        );
        let (mut lock, _) = Lock::parse(SourceFile::new(LOCK_FILE, &*text));
        let locked = lock.providers.values_mut().next().unwrap();
        locked.hashes.pop_first();
        let kept = lock.to_text_keeping(Dialect::default(), &text);
        assert!(
            kept.contains("\"h1:b\", # kept\n") && kept.ends_with("}\n# end\n") && !kept.contains("gone"),
            "{kept}"
        );
        assert!(Lock::default().to_text_keeping(Dialect::default(), &text).ends_with("# end\n"));
    }

    #[test]
    fn without_comments_nothing_is_kept() {
        let text = "provider \"a.com/a/b\" {\n\n  version = \"1.0.0\"\n}\n";
        let expected = format!("{HEAD}\nprovider \"a.com/a/b\" {{\n  version = \"1.0.0\"\n}}\n");
        assert_eq!(rewritten(text), expected);
        assert_eq!(rewritten(&expected.replace("terraform init", "tofu init")), expected);
    }
}
