//! Patterns of addresses: what `*` means in an address of the command line.
//!
//! No address has a `*` outside of quotes, so that a pattern is never an address as well; within quotes it is a character like any
//! other. A pattern is made of steps with dots between them:
//!
//! | Step | Means |
//! |---|---|
//! | `module.NAME` | every instance of a module call; `module.NAME[KEY]` the one with that key |
//! | `**` | any number of modules, also none |
//! | `TYPE.NAME` | every instance of a managed resource; `TYPE.NAME[KEY]` the one with that key. `data.` or `ephemeral.` may stand before it |
//! | `*` at the end | every resource of that module |
//! | `**` at the end | every resource of that module and of those below it |
//!
//! In names and types `*` stands for any characters, as a key `[*]` for any key and for none.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::SourceFile;
use lang::syntax::ast::{IndexKey, TraversalStep};
use lang::syntax::parser;
use terrane_protocol::schema::ResourceMode;
use terrane_value::identifier;

use super::{AbsResourceInstance, ConfigResource, InstanceKey, ModuleInstance, Resource};

/// A set of resource instances, or of modules with all that is in them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    text: Arc<str>,
    modules: Vec<ModulePattern>,
    last: Last,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ModulePattern {
    /// Any number of modules.
    Any,
    Call {
        name: Arc<str>,
        key: KeyPattern,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Last {
    /// The modules themselves.
    Modules,
    /// Whatever is directly in the modules.
    Everything,
    Resource {
        mode: ResourceMode,
        kind: Arc<str>,
        name: Arc<str>,
        key: KeyPattern,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum KeyPattern {
    Any,
    Is(InstanceKey),
}

impl KeyPattern {
    fn matches(&self, key: &InstanceKey) -> bool {
        match self {
            KeyPattern::Any => true,
            KeyPattern::Is(wanted) => wanted == key,
        }
    }
}

/// Whether a text of the command line is meant as a pattern: it has a `*` outside of quotes.
pub fn is_pattern(text: &str) -> bool {
    let (mut quoted, mut escaped) = (false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '*' if !quoted => return true,
            _ => {}
        }
    }
    false
}

impl Pattern {
    /// Errors say which step means nothing.
    pub fn parse(text: &str) -> Result<Pattern, Diagnostics> {
        let invalid = |why: PatternError| {
            Diagnostics::from(Diagnostic::error("Invalid address pattern", format!("{text}: {why}")))
        };
        let steps = steps(text).map_err(invalid)?;
        let (modules, last) = sorted_out(&steps).map_err(invalid)?;
        Ok(Pattern { text: text.into(), modules, last })
    }

    /// True if the instance is in the set.
    pub fn contains(&self, addr: &AbsResourceInstance) -> bool {
        let path: Vec<_> = addr.module.0.iter().map(|step| (&*step.name, Some(&step.key))).collect();
        self.matches(&path, &addr.resource.resource, Some(addr.key()))
    }

    /// True if some instance of the block may be in the set.
    pub fn touches(&self, block: &ConfigResource) -> bool {
        let path: Vec<_> = block.module.0.iter().map(|name| (&**name, None)).collect();
        self.matches(&path, &block.resource, None)
    }

    /// The mode of the resources that it names, if it names those of one type and name.
    pub fn mode(&self) -> Option<ResourceMode> {
        match self.last {
            Last::Resource { mode, .. } => Some(mode),
            Last::Modules | Last::Everything => None,
        }
    }

    /// True if it names modules, with all that is in them, and not resources.
    pub fn names_modules(&self) -> bool {
        self.last == Last::Modules
    }

    /// Those of the module instances, and of the ones that they are in, that the pattern names. None if it names resources.
    pub fn modules<'m>(&self, all: impl Iterator<Item = &'m ModuleInstance>) -> Vec<ModuleInstance> {
        let mut found = BTreeSet::new();
        for module in all.filter(|_| self.names_modules()) {
            for length in 1..=module.0.len() {
                let path: Vec<_> = module.0[..length].iter().map(|step| (&*step.name, Some(&step.key))).collect();
                if within(&self.modules, &path, false) {
                    found.insert(ModuleInstance(module.0[..length].into()));
                }
            }
        }
        found.into_iter().collect()
    }

    fn matches(&self, path: &[PathStep<'_>], resource: &Resource, key: Option<&InstanceKey>) -> bool {
        within(&self.modules, path, self.last == Last::Modules)
            && match &self.last {
                Last::Modules | Last::Everything => true,
                Last::Resource { mode, kind, name, key: wanted } => {
                    *mode == resource.mode
                        && is_like(kind, &resource.kind)
                        && is_like(name, &resource.name)
                        && key.is_none_or(|key| wanted.matches(key))
                }
            }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A step of a module's path; without a key where only the block is known.
type PathStep<'a> = (&'a str, Option<&'a InstanceKey>);

/// Whether a path is what the patterns stand for; with `below`, also if it only begins so.
fn within(patterns: &[ModulePattern], path: &[PathStep<'_>], below: bool) -> bool {
    match patterns.split_first() {
        None => below || path.is_empty(),
        Some((ModulePattern::Any, rest)) => (0..=path.len()).any(|skipped| within(rest, &path[skipped..], below)),
        Some((ModulePattern::Call { name, key: wanted }, rest)) => match path.split_first() {
            None => false,
            Some(((step, key), inner)) => {
                is_like(name, step) && key.is_none_or(|key| wanted.matches(key)) && within(rest, inner, below)
            }
        },
    }
}

/// Whether a name is what a pattern stands for, in which `*` is any characters.
pub(crate) fn is_like(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Why a text is no pattern. Messages are sentences behind the text and a colon.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternError {
    /// A step is neither a name nor a pattern of names.
    Word(String),
    NoDot,
    Key,
    OpenBracket,
    /// `**` has a key.
    KeyOfModules,
    UnnamedModule,
    NoResource,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PatternError::Word(word) => return write!(f, "{word:?} is neither a name nor a pattern of names."),
            PatternError::NoDot => "a dot is expected between the steps.",
            PatternError::Key => "a key is a whole number, a text in quotes, or *.",
            PatternError::OpenBracket => "a bracket is not closed.",
            PatternError::KeyOfModules => "\"**\" takes no key.",
            PatternError::UnnamedModule => "\"module\" must be followed by a name.",
            PatternError::NoResource => {
                "modules must be followed by a resource type and a name, by \"*\" or by \"**\"."
            }
        })
    }
}

/// A word between dots, with the key behind it.
struct PatternStep {
    word: String,
    key: Option<KeyPattern>,
}

fn steps(text: &str) -> Result<Vec<PatternStep>, PatternError> {
    let mut steps = Vec::new();
    let mut rest = text;
    loop {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if !is_word(word) {
            return Err(PatternError::Word(word.to_owned()));
        }
        let (key, after) = match after.strip_prefix('[') {
            Some(after) => {
                let (key, after) = key(after)?;
                (Some(key), after)
            }
            None => (None, after),
        };
        steps.push(PatternStep { word: word.to_owned(), key });
        match after.strip_prefix('.') {
            Some(after) => rest = after,
            None if after.is_empty() => return Ok(steps),
            None => return Err(PatternError::NoDot),
        }
    }
}

/// An identifier, but for the `*` in it.
fn is_word(word: &str) -> bool {
    word.contains('*') && word.chars().all(|c| c == '*' || identifier::is_continue(c))
        || identifier::is_identifier(word)
}

/// A key with its closing bracket, and what follows.
fn key(text: &str) -> Result<(KeyPattern, &str), PatternError> {
    if let Some(after) = text.strip_prefix("*]") {
        return Ok((KeyPattern::Any, after));
    }
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ']' if !quoted => {
                let (traversal, found) = parser::parse_traversal(SourceFile::new("", format!("x[{}]", &text[..at])));
                let key = match traversal.filter(|_| !found.has_errors()).as_ref().map(|t| &*t.steps) {
                    Some([TraversalStep::Index { key: IndexKey::String(text), .. }]) => InstanceKey::Str(text.clone()),
                    Some([TraversalStep::Index { key: IndexKey::Number(text), .. }]) => {
                        InstanceKey::Int(text.parse().map_err(|_| PatternError::Key)?)
                    }
                    _ => return Err(PatternError::Key),
                };
                return Ok((KeyPattern::Is(key), &text[at + 1..]));
            }
            _ => {}
        }
    }
    Err(PatternError::OpenBracket)
}

fn sorted_out(steps: &[PatternStep]) -> Result<(Vec<ModulePattern>, Last), PatternError> {
    let mut modules = Vec::new();
    let mut rest = steps;
    loop {
        let key_of = |step: &PatternStep| step.key.clone().unwrap_or(KeyPattern::Any);
        rest = match rest {
            [] => return Ok((modules, Last::Modules)),
            [step] if step.word == "*" && step.key.is_none() => return Ok((modules, Last::Everything)),
            [step, after @ ..] if step.word == "**" => {
                if step.key.is_some() {
                    return Err(PatternError::KeyOfModules);
                }
                modules.push(ModulePattern::Any);
                match after {
                    [] => return Ok((modules, Last::Everything)),
                    after => after,
                }
            }
            [step, call, after @ ..] if step.word == "module" && step.key.is_none() => {
                modules.push(ModulePattern::Call { name: (&*call.word).into(), key: key_of(call) });
                after
            }
            [step, ..] if step.word == "module" => return Err(PatternError::UnnamedModule),
            rest => return Ok((modules, resource(rest)?)),
        };
    }
}

fn resource(steps: &[PatternStep]) -> Result<Last, PatternError> {
    let (mode, rest) = match steps {
        [step, rest @ ..] if step.word == "data" => (ResourceMode::Data, rest),
        [step, rest @ ..] if step.word == "ephemeral" => (ResourceMode::Ephemeral, rest),
        [step, rest @ ..] if step.word == "resource" => (ResourceMode::Managed, rest),
        rest => (ResourceMode::Managed, rest),
    };
    match rest {
        [PatternStep { word: kind, key: None }, PatternStep { word: name, key }] => Ok(Last::Resource {
            mode,
            kind: (&**kind).into(),
            name: (&**name).into(),
            key: key.clone().unwrap_or(KeyPattern::Any),
        }),
        _ => Err(PatternError::NoResource),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::parse::{parse_abs_instance, parse_module_instance};

    const ALL: &[&str] = &[
        "aws_a.web",
        "aws_a.web_2[0]",
        "aws_b.db[\"x*\"]",
        "data.aws_a.web",
        "module.m.aws_a.web",
        "module.m[0].aws_a.web[1]",
        "module.m[0].module.n.gcp_a.web",
        "module.n.aws_a.db",
    ];

    fn matched(pattern: &str) -> Vec<&'static str> {
        let pattern = Pattern::parse(pattern).unwrap();
        let is_in = |text: &&&str| {
            let addr = parse_abs_instance(text).unwrap();
            let found = pattern.contains(&addr);
            assert!(!found || pattern.touches(&addr.config()), "{pattern} {text}");
            found
        };
        ALL.iter().filter(is_in).copied().collect()
    }

    #[test]
    fn patterns_match_whole_steps() {
        let cases: &[(&str, &[usize])] = &[
            ("*", &[0, 1, 2, 3]),
            ("**", &[0, 1, 2, 3, 4, 5, 6, 7]),
            ("aws_*.web", &[0]),
            ("aws_*.web*", &[0, 1]),
            ("*.*[*]", &[0, 1, 2]),
            ("aws_a.web*[0]", &[1]),
            ("*.*[\"x*\"]", &[2]),
            ("*.*[\"x\"]", &[]),
            ("data.*.*", &[3]),
            ("module.m.*", &[4, 5]),
            ("module.m.**", &[4, 5, 6]),
            ("module.m[*].aws_a.web", &[4, 5]),
            ("module.m[0].*", &[5]),
            ("module.*", &[4, 5, 6, 7]),
            ("module.*.aws_a.db", &[7]),
            ("**.aws_a.web", &[0, 4, 5]),
            ("**.module.n.*", &[6, 7]),
            ("a*b*.web", &[]),
            ("a*_*.w*b", &[0]),
            ("aws_a.web.x*", &[]),
        ];
        for (pattern, expected) in cases {
            if Pattern::parse(pattern).is_err() {
                assert!(expected.is_empty(), "{pattern}");
                continue;
            }
            let expected: Vec<_> = expected.iter().map(|i| ALL[*i]).collect();
            assert_eq!(matched(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn addresses_are_no_patterns() {
        for text in ALL {
            assert!(!is_pattern(text), "{text}");
        }
        assert!(!is_pattern("a.b[\"\\\"*\"]") && is_pattern("a.b[\"x\"].c*") && is_pattern("a.b[*]"));
    }

    #[test]
    fn modules_are_named_by_themselves() {
        let all = ["module.a", "module.b[0].module.x", "module.b[1]"].map(|text| parse_module_instance(text).unwrap());
        let found = |text: &str| {
            let modules = Pattern::parse(text).unwrap().modules(all.iter());
            modules.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(found("module.*"), "module.a module.b[0] module.b[1]");
        assert_eq!(found("module.b[*]"), "module.b[0] module.b[1]");
        assert_eq!(found("module.*.module.*"), "module.b[0].module.x");
        assert_eq!(found("**.module.x*"), "module.b[0].module.x");
        assert_eq!(found("module.b.*"), "");
    }

    #[test]
    fn errors_name_the_step() {
        let cases = [
            ("aws_*", "modules must be followed by a resource type and a name"),
            ("a.*.c", "modules must be followed by a resource type and a name"),
            ("a.b*[0", "a bracket is not closed."),
            ("a.b*[x]", "a key is a whole number"),
            ("a.b*[1.5]", "a key is a whole number"),
            ("a.b*[0]c", "a dot is expected"),
            ("a..*", "\"\" is neither a name nor a pattern"),
            ("a b.*", "\"a b\" is neither"),
            ("**[0].a.b", "\"**\" takes no key."),
            ("module[*].a", "\"module\" must be followed by a name."),
        ];
        for (text, expected) in cases {
            let found = Pattern::parse(text).unwrap_err().into_vec().remove(0).detail;
            assert!(found.contains(expected), "{text}: {found}");
        }
    }
}
