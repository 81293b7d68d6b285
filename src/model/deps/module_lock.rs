//! Checksums of module packages, `.terraform.modules.lock.hcl`: what came the first time is what must come the next time.
//!
//! The one module that knows the file's format. It is ours alone and belongs into version control beside
//! `.terraform.lock.hcl`; other programs do not look at it. To change the format: new attributes may be added to a block,
//! and readers ignore those that they do not know; what an attribute means never changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use base::source::SourceFile;
use lang::syntax::ast::Block;
use lang::syntax::body::BodySchema;
use lang::syntax::parser;

use super::hash::Hash;

/// The name of the file in the working directory.
pub const MODULE_LOCK_FILE: &str = ".terraform.modules.lock.hcl";

/// A package: its address without secrets and folder, and its version if it comes from a registry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageId {
    pub source: String,
    /// Empty for packages without versions.
    pub version: String,
}

/// The packages whose content is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleLock {
    pub packages: BTreeMap<PackageId, BTreeSet<Hash>>,
}

static FILE: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().block("module", &["source"]));
static MODULE: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute("version").required("hashes"));

impl ModuleLock {
    /// Reads the file's text.
    pub fn parse(file: Arc<SourceFile>) -> (ModuleLock, Diagnostics) {
        let (body, mut diags) = parser::parse_file(file);
        let mut lock = ModuleLock::default();
        if diags.has_errors() {
            return (lock, diags);
        }
        let content = diags.take(body.content(&FILE));
        for block in content.blocks_of("module") {
            let Some((id, hashes)) = decode(block, &mut diags) else { continue };
            lock.packages.entry(id).or_default().extend(hashes);
        }
        (lock, diags)
    }

    /// The file's text, sorted.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "# This file is maintained automatically by \"{COMMAND} init\", which checks every module package against it.\n\
             # To accept packages that have changed, run \"{COMMAND} init -upgrade\".\n"
        );
        for (id, hashes) in &self.packages {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\nmodule {} {{", quoted(&id.source));
            if !id.version.is_empty() {
                let _ = writeln!(text, "  version = {}", quoted(&id.version));
            }
            let _ = writeln!(text, "  hashes = [");
            for hash in hashes {
                let _ = writeln!(text, "    {},", quoted(hash.as_str()));
            }
            let _ = writeln!(text, "  ]\n}}");
        }
        text
    }
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace("${", "$${").replace("%{", "%%{");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

fn decode(block: &Block, diags: &mut Diagnostics) -> Option<(PackageId, BTreeSet<Hash>)> {
    let (content, _, problems) = block.body.partial_content(&MODULE);
    diags.extend(problems);
    let version = content.attribute("version").and_then(|a| a.expr.as_literal_string());
    let id =
        PackageId { source: block.label(0).to_string(), version: version.map(|v| v.to_string()).unwrap_or_default() };
    let attribute = content.attribute("hashes")?;
    let mut hashes = BTreeSet::new();
    for item in attribute.expr.as_static_list().unwrap_or_default() {
        match item.as_literal_string().and_then(|text| Hash::parse(&text).ok()) {
            Some(hash) => {
                hashes.insert(hash);
            }
            None => {
                let detail = "Each of the hashes of a module must be a string such as \"h1:...\".";
                diags.push(Diagnostic::error("Invalid module hash", detail).at(item.range()));
            }
        }
    }
    Some((id, hashes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_survives_a_round_trip() {
        let id = |source: &str, version: &str| PackageId { source: source.into(), version: version.into() };
        let hashes = || BTreeSet::from([Hash::parse("h1:abc=").unwrap()]);
        let lock = ModuleLock {
            packages: BTreeMap::from([
                (id("registry.terraform.io/a/b/c", "1.2.3"), hashes()),
                (id("git::https://h/${x}\"a\".git?ref=v1", ""), hashes()),
            ]),
        };
        let (read, diags) = ModuleLock::parse(SourceFile::new(MODULE_LOCK_FILE, lock.to_text()));
        assert!(diags.is_empty(), "{diags:?}");
        assert_eq!(read, lock);
    }
}
