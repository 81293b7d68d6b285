//! The dependency lock file, `.terraform.lock.hcl`: which version of each provider, with the hashes of its packages.
//!
//! The one module that knows the file's format.

use crate::model::mistakes::UNSUITABLE_VALUE;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::source::{Range, SourceFile};
use crate::lang::syntax::ast::{Attribute, Block};
use crate::lang::syntax::body::{BodySchema, Content};
use crate::lang::syntax::parser;
use crate::model::addr::Provider;

use super::constraint::Constraints;
use super::hash::Hash;
use super::version::Version;

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
    /// Where the file says so.
    pub range: Option<Range>,
}

static FILE: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().block("provider", &["source_addr"]).block("module", &["path"]));
static PROVIDER: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().required("version").attribute("constraints").attribute("hashes"));

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
                    "This version of Terrane only supports dependency locks for providers. Entries for modules will be \
                     ignored and removed the next time the lock file is written.",
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
            ranges.insert(provider.clone(), block.kind_range());
            lock.providers.insert(provider, locked);
        }
        (lock, diags)
    }

    /// The file's text: providers sorted, hashes sorted, aligned as formatting would.
    pub fn to_text(&self) -> String {
        let mut text = String::from(
            "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n",
        );
        let mut sorted: Vec<_> = self.providers.iter().collect();
        sorted.sort_by_key(|(provider, _)| (provider.host.clone(), provider.namespace.clone(), provider.kind.clone()));
        for (provider, locked) in sorted {
            write_provider(&mut text, provider, locked);
        }
        text
    }

    pub fn get(&self, provider: &Provider) -> Option<&LockedProvider> {
        self.providers.get(provider)
    }

    /// This lock with the selections of another in the place of its own.
    pub fn with(mut self, other: Lock) -> Lock {
        self.providers.extend(other.providers);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
    }

    /// Whether they select and accept the same packages. The constraints, kept for readers only, may differ.
    pub fn same_as(&self, other: &Lock) -> bool {
        let selected = |lock: &Lock| -> Vec<_> {
            let of = |(provider, locked): (&Provider, &LockedProvider)| {
                (provider.clone(), locked.version.clone(), locked.hashes.clone())
            };
            lock.providers.iter().map(of).collect()
        };
        selected(self) == selected(other)
    }
}

fn write_provider(text: &mut String, provider: &Provider, locked: &LockedProvider) {
    let constraints = locked.constraints.to_string();
    let width = if constraints.is_empty() { "version".len() } else { "constraints".len() };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\nprovider \"{provider}\" {{");
    let _ = writeln!(text, "  {:width$} = \"{}\"", "version", locked.version);
    if !constraints.is_empty() {
        let _ = writeln!(text, "  {:width$} = \"{constraints}\"", "constraints");
    }
    if !locked.hashes.is_empty() {
        let _ = writeln!(text, "  hashes = [");
        for hash in &locked.hashes {
            let _ = writeln!(text, "    \"{hash}\",");
        }
        let _ = writeln!(text, "  ]");
    }
    text.push_str("}\n");
}

fn decode_provider(block: &Block, diags: &mut Diagnostics) -> Option<(Provider, LockedProvider)> {
    let written = block.label(0);
    let invalid =
        |detail: String| Diagnostic::error("Invalid provider source address", detail).at(block.label_range(0));
    let provider = match Provider::parse_source(written) {
        Ok(provider) => provider,
        Err(problem) => {
            diags.push(invalid(format!("The provider source address for a provider lock must be a valid, fully-qualified address of the form \"hostname/namespace/type\": {}.", problem.detail)));
            return None;
        }
    };
    if provider.is_builtin() {
        diags.push(invalid(format!(
            "Cannot lock a version for built-in provider {}: built-in providers are always the version of Terrane itself.",
            provider.for_display()
        )));
        return None;
    }
    if provider.to_string() != **written {
        diags.push(
            Diagnostic::error(
                "Non-normalized provider source address",
                format!("The provider source address for this provider lock must be written as {:?}, the fully-qualified and normalized form.", provider.to_string()),
            )
            .at(block.label_range(0)),
        );
        return None;
    }
    let content = diags.take(block.body.content(&PROVIDER));
    let version = decode_version(&content, &provider, diags)?;
    let constraints = decode_constraints(&content, diags);
    let hashes = content.attribute("hashes").map(|a| decode_hashes(a, diags)).unwrap_or_default();
    Some((provider, LockedProvider { version, constraints, hashes, range: Some(block.header_range()) }))
}

fn literal(attribute: &Attribute) -> Option<Arc<str>> {
    attribute.expr.as_literal_string()
}

fn decode_version(content: &Content, provider: &Provider, diags: &mut Diagnostics) -> Option<Version> {
    let attribute = content.attribute("version")?;
    let invalid =
        |detail: String| Diagnostic::error("Invalid provider version number", detail).at(attribute.expr.range());
    let Some(text) = literal(attribute) else {
        diags.push(
            Diagnostic::error(UNSUITABLE_VALUE, "Unsuitable value: a string is required").at(attribute.expr.range()),
        );
        return None;
    };
    match Version::parse_exact(&text) {
        Ok(version) => Some(version),
        Err(_) => {
            let mut detail = format!(
                "The selected version number for provider {provider} is invalid: {text:?} is not a valid version."
            );
            if let Ok(version) = Version::parse(&text) {
                detail = format!(
                    "The selected version number for provider {provider} must be written in normalized form: \"{version}\"."
                );
            }
            diags.push(invalid(detail));
            None
        }
    }
}

fn decode_constraints(content: &Content, diags: &mut Diagnostics) -> Constraints {
    let Some(attribute) = content.attribute("constraints") else { return Constraints::default() };
    let Some(text) = literal(attribute) else {
        diags.push(
            Diagnostic::error(UNSUITABLE_VALUE, "Unsuitable value: a string is required").at(attribute.expr.range()),
        );
        return Constraints::default();
    };
    let at = |d: Diagnostic| d.at(attribute.expr.range());
    match Constraints::parse_for_provider(&text) {
        Ok(constraints) if constraints.to_string() == *text => constraints,
        Ok(constraints) => {
            diags.push(at(Diagnostic::error(
                INVALID_CONSTRAINTS,
                format!(
                    "The recorded provider version constraints must be written in normalized form: \"{constraints}\"."
                ),
            )));
            constraints
        }
        Err(problem) => {
            let detail = format!("The recorded provider version constraints are invalid: {problem}.");
            diags.push(at(Diagnostic::error(INVALID_CONSTRAINTS, detail)));
            Constraints::default()
        }
    }
}

fn decode_hashes(attribute: &Attribute, diags: &mut Diagnostics) -> BTreeSet<Hash> {
    let mut hashes = BTreeSet::new();
    let mut invalid = |detail: String, range: Range| {
        diags.push(Diagnostic::error("Invalid provider hash set", detail).at(range));
    };
    let Some(items) = attribute.expr.as_static_list() else {
        invalid("A static list of hash strings is required.".to_owned(), attribute.expr.range());
        return hashes;
    };
    for item in items {
        let Some(text) = item.as_literal_string() else {
            invalid("The \"hashes\" argument must contain only strings.".to_owned(), item.range());
            continue;
        };
        match Hash::parse(&text) {
            Ok(hash) => {
                hashes.insert(hash);
            }
            Err(problem) => invalid(format!("Cannot interpret {text:?} as a provider hash: {problem}."), item.range()),
        }
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
        assert_eq!(lock.to_text(), text);
    }
}
