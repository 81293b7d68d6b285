//! `terraform` blocks: version, requirements, backend, metadata for providers.

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::source::Range;
use lang::syntax::ast::{Attribute, Block};
use lang::syntax::body::{Body, BodySchema};

use super::backend::{self, Backend};
use super::encryption::{self, Encryption};
use super::{labels, state_store};
use crate::config::constants::{constant, version_constraint};
use crate::config::providers::requirements::{self, ProviderRequirement};
use crate::opentofu;
use crate::version::compatible_version;

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
        required_version: content.attribute("required_version").and_then(|a| version_constraint::decode(a, diags)),
        ..TerraformBlock::default()
    };
    let ignores_experiments = opentofu::ignores_experiments_of_terraform(block.file().dialect());
    if let Some(attribute) = content.attribute("experiments").filter(|_| !ignores_experiments) {
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
            "backend" => parts.backends.push(backend::decode(inner)),
            "cloud" => parts.clouds.push(backend::decode_cloud(inner)),
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
            _ => match labels::check_provider_name(inner.label(0), &inner.header_range()) {
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
    let language = compatible_version();
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
