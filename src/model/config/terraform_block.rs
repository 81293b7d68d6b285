//! `terraform` blocks: version, requirements, backend, metadata for providers.

use std::sync::{Arc, LazyLock};

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::name::{self, PROGRAM, TERRANE, by_language};
use crate::base::source::Range;
use crate::lang::syntax::ast::{Attribute, Block};
use crate::lang::syntax::body::{Body, BodySchema};
use crate::model::addr;
use crate::model::deps::{Constraints, Version};
use crate::model::version::{OPENTOFU_VERSION, PROGRAM_VERSION, language_version};

use super::encryption::{self, Encryption};
use super::language_block::{Compatibility, Program};
use super::module::{Backend, Config, ProviderRequirement};
use super::{constant, names, requirements, state_store};

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .attribute("experiments")
        .attribute("required_version")
        .attribute("language")
        .block("backend", &["type"])
        .block("cloud", &[])
        .block("encryption", &[])
        .block("required_providers", &[])
        .block("provider_meta", &["provider"])
        .block("state_store", &["type"])
});

/// A module that needs another edition of the language.
pub const UNSUPPORTED_EDITION: &str = "Unsupported language edition";
/// An edition that is no keyword.
pub const INVALID_EDITION: &str = "Invalid language edition";

/// The parts of one `terraform` block.
#[derive(Default)]
pub struct TerraformBlock {
    pub required_version: Option<(String, Range)>,
    pub backends: Vec<Backend>,
    pub clouds: Vec<Backend>,
    pub stores: Vec<Backend>,
    /// The `encryption` blocks without errors, each with its range.
    pub encryptions: Vec<(Encryption, Range)>,
    /// With the range of each `required_providers` block.
    pub requirements: Vec<(std::collections::BTreeMap<Arc<str>, ProviderRequirement>, Range)>,
    pub provider_metas: Vec<(Arc<str>, Body, Range)>,
}

pub fn decode(block: &Block, diags: &mut Diagnostics) -> TerraformBlock {
    let content = diags.take(block.body.content(&SCHEMA));
    let mut parts = TerraformBlock {
        required_version: content.attribute("required_version").and_then(|a| requirements::constraint_text(a, diags)),
        ..TerraformBlock::default()
    };
    if let Some(attribute) = content.attribute("experiments") {
        diags.push(
            Diagnostic::error(
                "Module uses experimental features",
                format!("Experimental features are intended only for gathering early feedback on new language designs, and so are \
                 available only in alpha releases of {PROGRAM}."),
            )
            .at(attribute.name_range()),
        );
    }
    if let Some(attribute) = content.attribute("language") {
        check_edition(attribute, diags);
    }
    for inner in &content.blocks {
        match inner.kind.as_str() {
            "backend" => parts.backends.push(Backend {
                kind: inner.label(0).clone(),
                is_cloud_block: false,
                store: None,
                kind_range: inner.label_range(0),
                body: inner.body.clone(),
                range: inner.header_range(),
            }),
            "cloud" => parts.clouds.push(Backend {
                kind: "cloud".into(),
                is_cloud_block: true,
                store: None,
                kind_range: inner.kind_range(),
                body: inner.body.clone(),
                range: inner.header_range(),
            }),
            "state_store" => parts.stores.extend(state_store::decode(inner, diags)),
            "encryption" => {
                let found = diags.take(encryption::decode(&inner.body, inner.header_range()));
                parts.encryptions.extend(found.map(|found| (found, inner.header_range())));
            }
            "required_providers" => {
                parts
                    .requirements
                    .extend(requirements::decode(inner, diags).map(|found| (found, inner.header_range())));
            }
            _ => match names::check_provider_name(inner.label(0), &inner.header_range()) {
                Some(problem) => diags.push(problem),
                None => {
                    let (attributes, problems) = inner.body.just_attributes();
                    diags.extend(problems);
                    attributes.values().for_each(|a| diags.extend(constant::value(&a.expr).1));
                    parts.provider_metas.push((inner.label(0).clone(), inner.body.clone(), inner.header_range()));
                }
            },
        }
    }
    parts
}

fn check_edition(attribute: &Attribute, diags: &mut Diagnostics) {
    let language = language_version();
    let (summary, detail) = match attribute.expr.as_keyword() {
        Some("TF2021") => return,
        Some(_) => (
            UNSUPPORTED_EDITION,
            format!(
                "{PROGRAM} v{language} only supports language edition TF2021. This module requires a newer version of {PROGRAM} \
                 CLI."
            ),
        ),
        None => (
            INVALID_EDITION,
            format!(
                "The language argument expects a bare language edition keyword. {PROGRAM} {language} supports only language \
                 edition TF2021, which is the default."
            ),
        ),
    };
    diags.push(Diagnostic::error(summary, detail).at(attribute.expr.range()));
}

/// Checks every module's `required_version` against the version of the language that this program speaks.
pub fn check_versions(config: &Config) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for module in config.modules() {
        check_version(&module.required_versions, &module.path, &module.source, &mut diags);
        for written in &module.compatible_with {
            diags.extend(incompatible(written, &module.path));
        }
    }
    diags
}

/// Why a module is not written for this program, by its own word.
fn incompatible(written: &Compatibility, module: &addr::Module) -> Option<Diagnostic> {
    let (name, version) = match written.program {
        Program::OpenTofu => ("OpenTofu", OPENTOFU_VERSION),
        Program::Terrane => (TERRANE, PROGRAM_VERSION),
    };
    let (constraints, current) = (Constraints::parse(&written.constraint).ok()?, Version::parse(version).ok()?);
    if constraints.allows(&current) {
        return None;
    }
    let who = if module.is_root() { "This configuration".to_owned() } else { format!("Module {module}") };
    let ours = format!(
        "{who} requires {name} {}, and this version of {PROGRAM} supports the language of {name} {version}. Choose another \
         version of the module, or of {PROGRAM}.",
        written.constraint
    );
    let of_opentofu = format!(
        "This module is not compatible with {name} v{version}.\n\nTo proceed, either choose another supported {name} version or update \
         this version constraint. Version constraints are normally set for good reason, so updating the constraint may lead to other \
         errors or unexpected behavior."
    );
    let detail = by_language(ours, of_opentofu);
    Some(Diagnostic::error("Incompatible module", detail).at(written.range.clone()))
}

fn check_version(written: &[(String, Range)], module: &addr::Module, source: &str, diags: &mut Diagnostics) {
    let Ok(current) = Version::parse(language_version()) else { return };
    for (text, range) in written {
        // OpenTofu leaves what files for both programs say to Terraform.
        if name::is_opentofu() && !range.filename().ends_with(".tofu") && !range.filename().ends_with(".tofu.json") {
            continue;
        }
        let Ok(constraints) = Constraints::parse(text) else { continue };
        let before = diags.len();
        let parts = text.split(',').zip(&constraints.0);
        diags.extend(parts.filter(|(_, of)| of.version.is_prerelease()).map(|(part, _)| prerelease(part, range)));
        if diags.len() > before || constraints.matches(&current) {
            continue;
        }
        let who = match module.is_root() {
            true => "This configuration".to_owned(),
            false => format!("Module {module} (from {source})"),
        };
        diags.push(
            Diagnostic::error(
                format!("Unsupported {PROGRAM} Core version"),
                format!(
                    "{who} does not support {PROGRAM} version {language}. To proceed, either choose another \
                     supported {PROGRAM} version or update this version constraint. Version constraints are normally set \
                     for good reason, so updating the constraint may lead to other errors or unexpected behavior.", language = language_version()),
            )
            .at(range.clone()),
        );
    }
}

fn prerelease(constraint: &str, range: &Range) -> Diagnostic {
    let detail = format!(
        "Prerelease version constraints are not supported: {}. Remove the prerelease information from the constraint. Prerelease \
         versions of {} will match constraints using their version core only.",
        constraint.trim(),
        by_language("terraform", "OpenTofu")
    );
    Diagnostic::error("Invalid required_version constraint", detail).at(range.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::source::{SourceFile, Span};

    #[test]
    fn prereleases_are_no_constraints_of_the_program() {
        let errors = |text: &str| {
            let range = Span::new(0, 1).in_file(&SourceFile::new("main.tf", "x"));
            let mut diags = Diagnostics::new();
            check_version(&[(text.to_owned(), range)], &addr::Module::root(), "", &mut diags);
            diags.iter().map(|d| d.detail.split(". ").next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        assert!(errors(">= 1.0, < 2").is_empty());
        let refused = |text: &str| format!("Prerelease version constraints are not supported: {text}");
        assert_eq!(errors(">= 1.0, < 1.12.0-rc1"), [refused("< 1.12.0-rc1")]);
        assert_eq!(errors("1.11.4-beta, != 0.1-x"), [refused("1.11.4-beta"), refused("!= 0.1-x")]);
    }
}
