//! The dependency lock file, `.terraform.lock.hcl`: which version of each provider, with the hashes of its packages.
//!
//! The one module that knows the file's format.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::name::PROGRAM;
use base::source::{Range, SourceFile};
use lang::syntax::ast::{Attribute, Block, ExprKind, Expression};
use lang::syntax::body::{BodySchema, Content};
use lang::syntax::{parser, syntax_errors};

use super::constraint::Constraints;
use super::hash::Hash;
use super::lock_comments::{Comments, HASHES, LockFileLine, MANUAL_EDITS};
use super::version::Version;
use crate::addr::Provider;
use crate::model_errors::UNSUITABLE_VALUE;
use crate::version::compatible_version;

const INVALID_CONSTRAINTS: &str = "Invalid provider version constraints";

/// The name of the file in the working directory.
pub const LOCK_FILE: &str = ".terraform.lock.hcl";

/// The providers that are locked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    pub providers: BTreeMap<Provider, LockedProvider>,
}

/// One provider's selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedProvider {
    pub version: Version,
    /// The constraints at the time of the selection.
    pub constraints: Constraints,
    pub hashes: BTreeSet<Hash>,
    /// The location in the file.
    pub range: Option<Range>,
}

static FILE: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().block("provider", &["source_addr"]).block("module", &["path"]));
static PROVIDER: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().required(VERSION).attribute(CONSTRAINTS).attribute(HASHES));

const VERSION: &str = "version";
const CONSTRAINTS: &str = "constraints";

/// Names the command that owns the file's format, not this program: all of them write the same file.
fn maintainer_line(dialect: Dialect) -> String {
    let command = dialect.language().command();
    format!("# This file is maintained automatically by \"{command} init\".")
}

impl Lock {
    /// Reads the file's text.
    pub fn parse(file: Arc<SourceFile>) -> (Lock, Diagnostics) {
        let (body, mut diags) = parser::parse_file(file);
        let mut lock = Lock::default();
        if diags.has_errors() {
            return (lock, diags);
        }
        let content = diags.take(body.content(&FILE));
        for block in content.blocks_of("module") {
            diags.push(
                Diagnostic::warning(
                    "Dependency locks for modules are not yet supported",
                    format!(
                        "{PROGRAM} v{language} only supports dependency locks for providers, not for modules. This \
                         configuration may be intended for a later version of {PROGRAM} that also supports dependency locks \
                         for modules.", language = compatible_version()),
                )
                .at(block.kind_range()),
            );
        }
        let mut ranges: BTreeMap<Provider, Range> = BTreeMap::new();
        for block in content.blocks_of("provider") {
            let Some((provider, locked)) = decode_provider(block, &mut diags) else { continue };
            if let Some(previous) = ranges.get(&provider) {
                let detail = format!("This lockfile already declared a lock for provider {provider} at {previous}.");
                diags.push(Diagnostic::error("Duplicate provider lock", detail).at(block.kind_range()));
                continue;
            }
            ranges.insert(provider.clone(), block.header_range());
            lock.providers.insert(provider, locked);
        }
        (lock, diags)
    }

    /// The file's text: providers sorted, hashes sorted, aligned as formatting would.
    pub fn to_text(&self, dialect: Dialect) -> String {
        self.written_with(dialect, &Comments::default())
    }

    /// As [`Self::to_text`], with the comments that people wrote into an earlier text of the file, each where it was: with
    /// the provider, the argument or the hash that it is about. Those about something that is gone are gone with it.
    pub fn to_text_keeping(&self, dialect: Dialect, earlier: &str) -> String {
        self.written_with(dialect, &Comments::of(earlier))
    }

    fn written_with(&self, dialect: Dialect, comments: &Comments) -> String {
        let mut text = maintainer_line(dialect) + "\n" + MANUAL_EDITS + "\n";
        comments.write_top(&mut text);
        let mut sorted: Vec<_> = self.providers.iter().collect();
        sorted.sort_by_key(|(provider, _)| (provider.host.clone(), provider.namespace.clone(), provider.kind.clone()));
        for (provider, locked) in sorted {
            write_provider(&mut text, provider, locked, comments);
        }
        comments.write_end(&mut text);
        text
    }

    pub fn get(&self, provider: &Provider) -> Option<&LockedProvider> {
        self.providers.get(provider)
    }

    /// This lock with its selections replaced by those of another.
    pub fn with(mut self, other: Lock) -> Lock {
        self.providers.extend(other.providers);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
    }

    /// The same packages for the same providers; constraints may differ.
    pub fn same_packages(&self, other: &Lock) -> bool {
        let same = |a: &LockedProvider, b: &LockedProvider| {
            a.version.to_string() == b.version.to_string() && a.hashes == b.hashes
        };
        self.same_providers(other) && self.providers.iter().all(|(p, l)| other.get(p).is_some_and(|o| same(l, o)))
    }

    pub fn same_providers(&self, other: &Lock) -> bool {
        self.providers.keys().eq(other.providers.keys())
    }
}

fn write_provider(text: &mut String, provider: &Provider, locked: &LockedProvider, comments: &Comments) {
    let name = provider.to_string();
    let mut line = |place: LockFileLine, line: String| comments.write_line(text, &name, &place, &line);
    let constraints = locked.constraints.to_string();
    let width = if constraints.is_empty() { VERSION.len() } else { CONSTRAINTS.len() };
    line(LockFileLine::Block, format!("provider \"{provider}\" {{"));
    line(LockFileLine::argument(VERSION), format!("  {VERSION:width$} = \"{}\"", locked.version));
    if !constraints.is_empty() {
        line(LockFileLine::argument(CONSTRAINTS), format!("  {CONSTRAINTS:width$} = \"{constraints}\""));
    }
    if !locked.hashes.is_empty() {
        line(LockFileLine::argument(HASHES), format!("  {HASHES} = ["));
        for hash in &locked.hashes {
            line(LockFileLine::Hash(hash.as_str().into()), format!("    \"{hash}\","));
        }
        line(LockFileLine::HashesEnd, "  ]".to_owned());
    }
    line(LockFileLine::BlockEnd, "}".to_owned());
}

fn decode_provider(block: &Block, diags: &mut Diagnostics) -> Option<(Provider, LockedProvider)> {
    let provider = match decode_address(block.label(0)) {
        Ok(provider) => provider,
        Err(problem) => {
            diags.push(problem.at(block.label_range(0)));
            return None;
        }
    };
    let content = diags.take(block.body.content(&PROVIDER));
    let version = decode_version(block, &content, &provider, diags);
    let constraints = decode_constraints(&content, &provider, diags);
    let hashes = content.attribute(HASHES).map(|a| decode_hashes(a, diags)).unwrap_or_default();
    Some((provider, LockedProvider { version: version?, constraints, hashes, range: Some(block.header_range()) }))
}

fn decode_address(written: &str) -> Result<Provider, Diagnostic> {
    let invalid = |detail: String| Diagnostic::error("Invalid provider source address", detail);
    if written.split('/').nth_back(1) == Some("-") {
        return Err(invalid(format!(
            "Provider source address {written} is a special provider that is not eligible for dependency locking."
        )));
    }
    let provider = Provider::parse_source(written).map_err(|_| {
        invalid(
            "The provider source address for a provider lock must be a valid, fully-qualified address of the form \
             \"hostname/namespace/type\"."
                .to_owned(),
        )
    })?;
    if provider.is_builtin() {
        return Err(invalid(format!(
            "Cannot lock a version for built-in provider {provider}. Built-in providers are bundled inside {PROGRAM} itself, so \
             you can't select a version for them independently of the {PROGRAM} release you are currently running."
        )));
    }
    if provider.to_string() != written {
        let detail = format!(
            "The provider source address for this provider lock must be written as {:?}, the fully-qualified and normalized \
             form.",
            provider.to_string()
        );
        return Err(Diagnostic::error("Non-normalized provider source address", detail));
    }
    Ok(provider)
}

/// The text of a value that is one, or a number or boolean for one; None for null.
fn text_of(expr: &Expression) -> Result<Option<Arc<str>>, Diagnostic> {
    if let Some(text) = expr.as_literal_string() {
        return Ok(Some(text));
    }
    match expr.kind() {
        ExprKind::Null => Ok(None),
        ExprKind::Number(text) => Ok(Some(text.clone())),
        ExprKind::Bool(value) => Ok(Some(value.to_string().into())),
        _ => Err(match expr.variables().first() {
            Some(_) => syntax_errors::no_variables().at(expr.range()),
            None => unsuitable("string required").at(expr.range()),
        }),
    }
}

fn unsuitable(why: &str) -> Diagnostic {
    Diagnostic::error(UNSUITABLE_VALUE, format!("Unsuitable value: {why}"))
}

fn decode_version(block: &Block, content: &Content, provider: &Provider, diags: &mut Diagnostics) -> Option<Version> {
    let attribute = content.attribute(VERSION)?;
    let text = match text_of(&attribute.expr) {
        Ok(Some(text)) => text,
        Ok(None) => {
            diags.push(syntax_errors::missing_argument(VERSION, block.body.missing_item_range()));
            return None;
        }
        Err(problem) => {
            diags.push(problem);
            return None;
        }
    };
    if let Ok(version) = Version::parse_exact(&text) {
        return Some(version);
    }
    let detail = match Version::parse(&text) {
        Ok(version) if !text.starts_with('v') => format!(
            "The selected version number for provider {provider} must be written in normalized form: \"{version}\"."
        ),
        _ => {
            let why = match &*text {
                "" => "empty specification",
                text if text.starts_with('v') => "a \"v\" prefix should not be used",
                _ => "invalid specification; required format is three positive integers separated by periods",
            };
            format!("The selected version number for provider {provider} is invalid: {why}.")
        }
    };
    diags.push(Diagnostic::error("Invalid provider version number", detail).at(attribute.expr.range()));
    None
}

fn decode_constraints(content: &Content, provider: &Provider, diags: &mut Diagnostics) -> Constraints {
    let Some(attribute) = content.attribute(CONSTRAINTS) else { return Constraints::default() };
    let at = |d: Diagnostic| d.at(attribute.expr.range());
    let text = match text_of(&attribute.expr) {
        Ok(Some(text)) => text,
        Ok(None) => {
            diags.push(at(unsuitable("null value is not allowed")));
            return Constraints::default();
        }
        Err(problem) => {
            diags.push(problem);
            return Constraints::default();
        }
    };
    let parsed = match text.is_empty() {
        true => Ok(Constraints::default()),
        false => Constraints::parse_for_provider(&text),
    };
    let detail = match &parsed {
        Ok(constraints) if constraints.to_string() == *text => return constraints.clone(),
        Ok(constraints) => format!(
            "The recorded version constraints for provider {provider} must be written in normalized form: \"{constraints}\"."
        ),
        Err(problem) => format!("The recorded version constraints for provider {provider} are invalid: {problem}."),
    };
    diags.push(at(Diagnostic::error(INVALID_CONSTRAINTS, detail)));
    parsed.unwrap_or_default()
}

fn decode_hashes(attribute: &Attribute, diags: &mut Diagnostics) -> BTreeSet<Hash> {
    let mut hashes = BTreeSet::new();
    let Some(items) = attribute.expr.as_static_list() else {
        diags.push(syntax_errors::not_a_list(attribute.expr.range()));
        return hashes;
    };
    if items.is_empty() {
        let detail = "The \"hashes\" argument must either be omitted or contain at least one hash value.";
        diags.push(Diagnostic::error("Invalid provider hash set", detail).at(attribute.expr.range()));
    }
    for item in items {
        let problem = match text_of(&item) {
            Ok(None) => unsuitable("null value is not allowed").at(item.range()),
            Err(problem) => problem,
            Ok(Some(text)) => match Hash::parse(&text) {
                Ok(hash) => {
                    hashes.insert(hash);
                    continue;
                }
                Err(why) => {
                    let detail = format!("Cannot interpret {text:?} as a provider hash: {why}.");
                    Diagnostic::error("Invalid provider hash string", detail).at(item.range())
                }
            },
        };
        diags.push(problem);
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_survives_a_round_trip() {
        let text = "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n\n\
                    provider \"example.com/acme/foo\" {\n  version     = \"3.1.4\"\n  constraints = \"~> 3.0\"\n  hashes = [\n    \"h1:abc=\",\n    \"zh:00\",\n  ]\n}\n\n\
                    provider \"registry.terraform.io/hashicorp/aws\" {\n  version = \"5.0.0\"\n}\n";
        let (lock, diags) = Lock::parse(SourceFile::new(LOCK_FILE, text));
        assert!(diags.is_empty(), "{diags:?}");
        assert_eq!(lock.providers.len(), 2);
        assert_eq!(lock.to_text(Dialect::default()), text);
    }

    /// Recorded from the reference; where it reports one error twice, the first.
    #[test]
    fn errors_have_their_locations() {
        let version = |value: &str| format!("provider \"a.com/a/b\" {{\n  version = {value}\n}}\n");
        let more = |line: &str| format!("provider \"a.com/a/b\" {{\n  version = \"1.0.0\"\n  {line}\n}}\n");
        let address = |text: &str| format!("provider \"{text}\" {{\n  version = \"1.0.0\"\n}}\n");
        let cases = [
            (
                version("\"1.2\""),
                "2,13-18: The selected version number for provider a.com/a/b must be written in normalized form: \"1.2.0\".",
            ),
            (
                version("\"v1.2.0\""),
                "2,13-21: The selected version number for provider a.com/a/b is invalid: a \"v\" prefix should not be used.",
            ),
            (
                version("\"nope\""),
                "2,13-19: The selected version number for provider a.com/a/b is invalid: invalid specification; required format is three positive integers separated by periods.",
            ),
            (
                version("\"\""),
                "2,13-15: The selected version number for provider a.com/a/b is invalid: empty specification.",
            ),
            (
                version("1"),
                "2,13-14: The selected version number for provider a.com/a/b must be written in normalized form: \"1.0.0\".",
            ),
            (version("foo"), "2,13-16: Variables may not be used here."),
            (version("[\"1\"]"), "2,13-18: Unsuitable value: string required"),
            (
                more("constraints = \">= 1\""),
                "3,17-23: The recorded version constraints for provider a.com/a/b must be written in normalized form: \">= 1.0.0\".",
            ),
            (more("constraints = null"), "3,17-21: Unsuitable value: null value is not allowed"),
            (more("hashes = \"x\""), "3,12-15: A static list expression is required."),
            (
                more("hashes = []"),
                "3,12-14: The \"hashes\" argument must either be omitted or contain at least one hash value.",
            ),
            (
                more("hashes = [\"nope\"]"),
                "3,13-19: Cannot interpret \"nope\" as a provider hash: hash string must start with a scheme keyword followed by a colon.",
            ),
            (
                more("hashes = [\":x\"]"),
                "3,13-17: Cannot interpret \":x\" as a provider hash: hash string must start with a scheme keyword followed by a colon.",
            ),
            (more("hashes = [\"h1:\", \"x9:y\"]"), ""),
            (more("foo = 1"), "3,3-6: An argument named \"foo\" is not expected here."),
            (
                address("terraform.io/builtin/x"),
                "1,10-34: Cannot lock a version for built-in provider terraform.io/builtin/x. Built-in providers are bundled inside Terrane itself, so you can't select a version for them independently of the Terrane release you are currently running.",
            ),
            (
                address("registry.terraform.io/-/x"),
                "1,10-37: Provider source address registry.terraform.io/-/x is a special provider that is not eligible for dependency locking.",
            ),
            (
                address("a/b"),
                "1,10-15: The provider source address for this provider lock must be written as \"registry.terraform.io/a/b\", the fully-qualified and normalized form.",
            ),
            (
                address("a//b"),
                "1,10-16: The provider source address for a provider lock must be a valid, fully-qualified address of the form \"hostname/namespace/type\".",
            ),
            (
                version("\"1.0.0\"").repeat(2),
                "4,1-9: This lockfile already declared a lock for provider a.com/a/b at .terraform.lock.hcl:1,1-21.",
            ),
        ];
        for (text, expected) in cases {
            let (_, diags) = Lock::parse(SourceFile::new(LOCK_FILE, &*text));
            let said = |d: &Diagnostic| {
                let place = d.subject.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{}: {}", place.trim_start_matches(".terraform.lock.hcl:"), d.detail)
            };
            assert_eq!(diags.iter().map(said).collect::<Vec<_>>().join("; "), expected, "{text}");
        }
    }
}
