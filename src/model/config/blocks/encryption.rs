//! `encryption` blocks of `terraform` blocks, and the value of TF_ENCRYPTION, which is the inside of such a block.
//!
//! Owns what may stand in one and how two of them are merged. What the expressions mean is found out by `encryption`.

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::source::{Range, SourceFile, Span};
use base::suggest;
use lang::syntax::ast::{Block, Expression};
use lang::syntax::body::{Body, BodySchema, Content};
use lang::syntax::parser;

use crate::config::constants::constant;

/// What is encrypted, and how.
#[derive(Clone, Debug)]
pub struct Encryption {
    pub key_providers: Vec<KeyProvider>,
    pub methods: Vec<EncryptionMethod>,
    pub state: Option<EncryptionTarget>,
    pub plan: Option<EncryptionTarget>,
    pub remote_default: Option<EncryptionTarget>,
    /// By the addresses of data sources, as they are written.
    pub remotes: Vec<(Arc<str>, EncryptionTarget)>,
    /// Where it is declared. None: in several places.
    pub range: Option<Range>,
}

/// `key_provider "kind" "name" {}`
#[derive(Clone, Debug)]
pub struct KeyProvider {
    pub kind: Arc<str>,
    pub name: Arc<str>,
    /// The name of its metadata in what is written, in place of its address.
    pub alias: Option<String>,
    pub body: Body,
}

/// `method "kind" "name" {}`
#[derive(Clone, Debug)]
pub struct EncryptionMethod {
    pub kind: Arc<str>,
    pub name: Arc<str>,
    pub body: Body,
}

/// The kind of method that leaves data as it is.
pub const UNENCRYPTED: &str = "unencrypted";

/// The method for something that is written, with those that it may have been written with before.
#[derive(Clone, Debug)]
pub struct EncryptionTarget {
    pub method: Option<Expression>,
    /// Where the method is, or should be.
    pub place: Range,
    pub enforced: bool,
    pub fallback: Option<Box<EncryptionTarget>>,
}

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .block("key_provider", &["type", "name"])
        .block("method", &["type", "name"])
        .block("state", &[])
        .block("plan", &[])
        .block(REMOTES, &[])
});
static KEY_PROVIDER: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute(ALIAS));
static TARGET: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute("method").block("fallback", &[]));
static ENFORCEABLE: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().attribute("enforced").attribute("method").block("fallback", &[]));
static REMOTE: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().block("default", &[]).block(ONE_REMOTE, &["name"]));

const REMOTES: &str = "remote_state_data_sources";
const ONE_REMOTE: &str = "remote_state_data_source";
const ALIAS: &str = "encrypted_metadata_alias";

/// What an `encryption` block says. None with errors.
pub fn decode(body: &Body, declared: Range) -> (Option<Encryption>, Diagnostics) {
    let mut diags = Diagnostics::new();
    let content = diags.take(body.content(&SCHEMA));
    let key_providers: Vec<_> = content.blocks_of("key_provider").map(|b| key_provider(b, &mut diags)).collect();
    let methods: Vec<_> = content.blocks_of("method").map(method).collect();
    let state = only(&content, "state", &mut diags).map(|block| enforceable(block, &mut diags));
    let plan = only(&content, "plan", &mut diags).map(|block| enforceable(block, &mut diags));
    let (mut remote_default, mut remotes) = (None, Vec::new());
    if let Some(block) = only(&content, REMOTES, &mut diags) {
        let content = diags.take(block.body.content(&REMOTE));
        remote_default = only(&content, "default", &mut diags).map(|block| target(&block.body, &mut diags));
        let one = |block: &Block, diags: &mut Diagnostics| (block.label(0).clone(), target(&block.body, diags));
        remotes = content.blocks_of(ONE_REMOTE).map(|block| one(block, &mut diags)).collect();
    }
    let range = Some(declared);
    let found = Encryption { key_providers, methods, state, plan, remote_default, remotes, range };
    if !diags.has_errors() {
        check(&found, &mut diags);
    }
    let sound = !diags.has_errors();
    (sound.then_some(found), diags)
}

/// What the text of TF_ENCRYPTION says, in JSON if it begins with a brace. None with errors, or without any text.
pub fn parse(dialect: Dialect, name: &str, text: &str) -> (Option<Encryption>, Diagnostics) {
    let text = text.trim();
    if text.is_empty() {
        return (None, Diagnostics::new());
    }
    let file = SourceFile::written_in(dialect, name, text);
    let (body, mut diags) = match text.starts_with('{') {
        true => parser::json::parse_file(file),
        false => parser::parse_file(file),
    };
    let declared = Span::default().in_file(body.file());
    let found = diags.take(decode(&body, declared));
    (found.filter(|_| !diags.has_errors()), diags)
}

fn key_provider(block: &Block, diags: &mut Diagnostics) -> KeyProvider {
    let (content, body, problems) = block.body.partial_content(&KEY_PROVIDER);
    diags.extend(problems);
    let alias = content.attribute(ALIAS).and_then(|attribute| constant::string(attribute, diags));
    let alias = alias.filter(|alias| !alias.is_empty());
    KeyProvider { kind: block.label(0).clone(), name: block.label(1).clone(), alias, body }
}

fn close(address: &str, known: Vec<String>) -> String {
    suggest::address_question(address, known.iter().map(String::as_str))
}

fn method(block: &Block) -> EncryptionMethod {
    EncryptionMethod { kind: block.label(0).clone(), name: block.label(1).clone(), body: block.body.clone() }
}

fn enforceable(block: &Block, diags: &mut Diagnostics) -> EncryptionTarget {
    let content = diags.take(block.body.content(&ENFORCEABLE));
    let enforced = content.attribute("enforced").and_then(|attribute| {
        let names = constant::value(&attribute.expr).1;
        match names.has_errors() {
            true => {
                diags.extend(names);
                None
            }
            false => constant::bool(attribute, diags),
        }
    });
    EncryptionTarget { enforced: enforced.unwrap_or(false), ..of_content(&content, &block.body, diags) }
}

fn target(body: &Body, diags: &mut Diagnostics) -> EncryptionTarget {
    let content = diags.take(body.content(&TARGET));
    of_content(&content, body, diags)
}

fn of_content(content: &Content, body: &Body, diags: &mut Diagnostics) -> EncryptionTarget {
    let method = content.attribute("method").map(|attribute| attribute.expr.clone());
    let place = method.as_ref().map_or_else(|| body.missing_item_range(), Expression::range);
    let fallback = only(content, "fallback", diags).map(|block| Box::new(target(&block.body, diags)));
    EncryptionTarget { method, place, enforced: false, fallback }
}

/// The block of a kind of which there may be one.
fn only<'c>(content: &'c Content, kind: &'static str, diags: &mut Diagnostics) -> Option<&'c Block> {
    let mut blocks = content.blocks.iter().filter(|block| block.kind.as_str() == kind);
    let first = blocks.next()?;
    if let Some(second) = blocks.next() {
        let place = first.header_range();
        let detail = format!("Only one {kind} block is allowed. Another was defined at {place}.");
        diags.push(Diagnostic::error(format!("Duplicate {kind} block"), detail).at(second.header_range()));
    }
    Some(first)
}

/// Names are well-formed and stand for one thing each.
fn check(found: &Encryption, diags: &mut Diagnostics) {
    let place = || found.range.clone().unwrap_or_else(Range::nowhere);
    let mut twice = |summary: &str, what: String, count: usize| {
        if count > 1 {
            let detail = format!("Found multiple instances of {what}");
            diags.push(Diagnostic::error(format!("Duplicate {summary}"), detail).at(place()));
        }
    };
    for p in &found.key_providers {
        let count = found.key_providers.iter().filter(|o| (&o.kind, &o.name) == (&p.kind, &p.name)).count();
        twice("key_provider", format!("key_provider.{}.{}", p.kind, p.name), count);
    }
    for m in &found.methods {
        let count = found.methods.iter().filter(|o| (&o.kind, &o.name) == (&m.kind, &m.name)).count();
        twice("method", format!("method.{}.{}", m.kind, m.name), count);
    }
    for (name, _) in &found.remotes {
        let count = found.remotes.iter().filter(|(other, _)| other == name).count();
        twice("remote_data_source", format!("remote_data_source.{name}"), count);
    }
    for p in &found.key_providers {
        check_name(&p.kind, "key provider type", diags);
        check_name(&p.name, "key provider name", diags);
    }
    for m in &found.methods {
        check_name(&m.kind, "encryption method type", diags);
        check_name(&m.name, "encryption method name", diags);
    }
}

fn check_name(name: &str, what: &str, diags: &mut Diagnostics) {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(allowed) {
        let detail = format!("The supplied {what} ({name}) does not match the required form of ^([a-zA-Z_0-9-]+)$.");
        diags.push(Diagnostic::error(format!("The provided {what} is invalid"), detail));
    }
}

impl Encryption {
    pub fn key_provider(&self, kind: &str, name: &str) -> Option<&KeyProvider> {
        self.key_providers.iter().find(|p| &*p.kind == kind && &*p.name == name)
    }

    pub fn method(&self, kind: &str, name: &str) -> Option<&EncryptionMethod> {
        self.methods.iter().find(|m| &*m.kind == kind && &*m.name == name)
    }

    /// A question about the key provider of this type that was probably meant, or nothing.
    pub fn close_key_provider(&self, kind: &str, name: &str) -> String {
        let names = self.key_providers.iter().map(|one| format!("key_provider.{}.{}", one.kind, one.name));
        close(&format!("key_provider.{kind}.{name}"), names.collect())
    }

    /// A question about the method of this type that was probably meant, or nothing.
    pub fn close_method(&self, kind: &str, name: &str) -> String {
        let names = self.methods.iter().map(|one| format!("method.{}.{}", one.kind, one.name));
        close(&format!("method.{kind}.{name}"), names.collect())
    }

    /// With what `over` says otherwise or besides: arguments of the same key provider or method replace each other one by
    /// one, a target's method and its fallback too.
    pub fn merged(mut self, over: Encryption) -> Encryption {
        for provider in over.key_providers {
            let same = |p: &&mut KeyProvider| (&p.kind, &p.name) == (&provider.kind, &provider.name);
            match self.key_providers.iter_mut().find(same) {
                Some(base) => base.body = Body::merged(base.body.clone(), provider.body),
                None => self.key_providers.push(provider),
            }
        }
        for method in over.methods {
            match self.methods.iter_mut().find(|m| (&m.kind, &m.name) == (&method.kind, &method.name)) {
                Some(base) => base.body = Body::merged(base.body.clone(), method.body),
                None => self.methods.push(method),
            }
        }
        for (name, target) in over.remotes {
            match self.remotes.iter_mut().find(|(other, _)| *other == name) {
                Some((_, base)) => *base = base.clone().overridden(target),
                None => self.remotes.push((name, target)),
            }
        }
        self.state = merged_target(self.state, over.state);
        self.plan = merged_target(self.plan, over.plan);
        self.remote_default = merged_target(self.remote_default, over.remote_default);
        self.range = None;
        self
    }
}

fn merged_target(base: Option<EncryptionTarget>, over: Option<EncryptionTarget>) -> Option<EncryptionTarget> {
    match (base, over) {
        (Some(base), Some(over)) => Some(base.overridden(over)),
        (base, over) => over.or(base),
    }
}

impl EncryptionTarget {
    /// A method that is missing in `over` is not taken from here, as in OpenTofu.
    fn overridden(self, over: EncryptionTarget) -> EncryptionTarget {
        EncryptionTarget { enforced: self.enforced || over.enforced, fallback: over.fallback.or(self.fallback), ..over }
    }

    /// Type and name of the method, if it is a reference to one.
    pub fn method_name(&self) -> Option<(&str, &str)> {
        let reference = self.method.as_ref()?.as_traversal()?;
        let is_method = reference.root_name() == "method" && reference.steps.len() == 2;
        reference.attr(0).zip(reference.attr(1)).filter(|_| is_method)
    }

    /// This target and its fallbacks.
    pub fn chain(&self) -> impl Iterator<Item = &EncryptionTarget> {
        std::iter::successors(Some(self), |target| target.fallback.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = r#"
        key_provider "pbkdf2" "a" { passphrase = "x" }
        method "aes_gcm" "m" { keys = key_provider.pbkdf2.a }
        state {
          method = method.aes_gcm.m
          fallback {
            method = method.unencrypted.u
          }
        }
    "#;

    fn read(text: &str) -> Encryption {
        let (found, diags) = parse(Dialect::default(), "TF_ENCRYPTION", text);
        assert!(!diags.has_errors(), "{diags:?}");
        found.unwrap()
    }

    #[test]
    fn errors_have_the_texts_of_opentofu() {
        let cases = [
            (
                "state {\n}\nstate {\n}",
                "Duplicate state block: Only one state block is allowed. Another was defined at e:1,1-6.",
            ),
            (
                "method \"a\" \"b\" {}\nmethod \"a\" \"b\" {}",
                "Duplicate method: Found multiple instances of method.a.b",
            ),
            (
                "key_provider \"a b\" \"c\" {}",
                "The provided key provider type is invalid: The supplied key provider type (a b) does not match the required form \
                 of ^([a-zA-Z_0-9-]+)$.",
            ),
            ("state {\n enforced = \"x\"\n}", "Unsuitable value type: Unsuitable value: a bool is required"),
            ("state {\n enforced = var.x\n}", "Variables not allowed: Variables may not be used here."),
            ("terraform {\n}", "Unsupported block type: Blocks of type \"terraform\" are not expected here."),
            (
                "{\"state\":{\"fallback\":{\"enforced\":true}}}",
                "Extraneous JSON object property: No argument or block type is named \"enforced\".",
            ),
        ];
        for (text, expected) in cases {
            let (found, diags) = parse(Dialect::default(), "e", text);
            let first = diags.iter().next().map(|d| format!("{}: {}", d.summary, d.detail)).unwrap_or_default();
            assert_eq!((found.is_none(), first.as_str()), (true, expected), "{text}");
        }
        assert!(parse(Dialect::default(), "e", " \n").0.is_none());
    }

    #[test]
    fn json_has_the_same_meaning() {
        let found = read(r#"{"state": {"method": "method.aes_gcm.m", "enforced": true}, "plan": {}}"#);
        assert!(found.state.is_some_and(|target| target.enforced && target.method.is_some()));
        assert!(found.plan.is_some_and(|target| target.method.is_none()));
    }

    #[test]
    fn merging_keeps_other_arguments() {
        let over = r#"
            key_provider "pbkdf2" "a" { passphrase = "y" }
            key_provider "external" "b" {}
            state {
              method   = method.aes_gcm.other
              enforced = true
            }
            plan { method = method.aes_gcm.m }
        "#;
        let merged = read(BASE).merged(read(over));
        let names: Vec<_> = merged.key_providers.iter().map(|p| &*p.name).collect();
        assert_eq!(names, ["a", "b"]);
        let (attributes, _) = merged.key_providers[0].body.just_attributes();
        assert_eq!(attributes["passphrase"].expr.range().text(), "\"y\"");
        let state = merged.state.unwrap();
        assert!(state.enforced && state.chain().count() == 2 && merged.plan.is_some() && merged.range.is_none());
        let silent = read(BASE).merged(read("state {\n}")).state.unwrap();
        assert!(silent.method.is_none() && silent.fallback.is_some());
    }
}
