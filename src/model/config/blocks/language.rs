//! `language` blocks: the edition of the language that a module is written in, and the programs that it is written for.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::name::{PROGRAM, TERRANE};
use base::source::Range;
use lang::syntax::ast::{Attribute, Block};
use lang::syntax::body::BodySchema;

use super::{references, terraform};
use crate::config::constants::version_constraint;
use crate::deps::{Constraints, Version};
use crate::opentofu;
use crate::symbols::SYMBOL_LIBRARIES;
use crate::version::compatible_version;

static SCHEMA: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().attribute("edition").attribute("experiments").block("compatible_with", &[]));

static COMPATIBLE_WITH: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().attribute("opentofu").attribute("terrane"));

/// The editions that there are; Terraform's is none for OpenTofu.
const EDITIONS: [&str; 2] = ["tofu2024", "TF2021"];

/// A constraint on the version of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compatibility {
    pub program: Program,
    pub constraint: String,
    pub range: Range,
}

/// The programs whose constraints count; those for others are for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    OpenTofu,
    Terrane,
}

pub fn decode(block: &Block, diags: &mut Diagnostics) -> Vec<Compatibility> {
    let content = diags.take(block.body.content(&SCHEMA));
    if let Some(attribute) = content.attribute("edition") {
        check_edition(attribute, diags);
    }
    if let Some(attribute) = content.attribute("experiments") {
        check_experiments(attribute, diags);
    }
    let mut found: Vec<Compatibility> = Vec::new();
    for inner in content.blocks_of("compatible_with") {
        // Other arguments are for other programs.
        let (attributes, _, _) = inner.body.partial_content(&COMPATIBLE_WITH);
        for (name, program) in [("opentofu", Program::OpenTofu), ("terrane", Program::Terrane)] {
            let constraint = attributes.attribute(name).and_then(|a| version_constraint::decode(a, diags));
            if let (Some(_), Some(first)) = (&constraint, found.iter().find(|other| other.program == program)) {
                diags.push(duplicate(block, first));
                continue;
            }
            if program == Program::OpenTofu && opentofu::warns_of_ineffective_constraints(block.file().dialect()) {
                diags.extend(constraint.as_ref().and_then(|(text, range)| ineffective(text, range.clone())));
            }
            found.extend(constraint.map(|(constraint, range)| Compatibility { program, constraint, range }));
        }
    }
    found
}

/// Whether the module asks for symbol libraries.
pub fn asks_for_symbols(block: &Block) -> bool {
    let (content, _, _) = block.body.partial_content(&SCHEMA);
    let listed = content
        .attribute("experiments")
        .map(|attribute| references::static_list(&attribute.expr, &mut Diagnostics::new()));
    listed.into_iter().flatten().any(|item| item.as_keyword() == Some(SYMBOL_LIBRARIES))
}

/// OpenTofu's warning about a constraint that allows versions without `compatible_with`.
fn ineffective(constraint: &str, range: Range) -> Option<Diagnostic> {
    let (constraints, older) = (Constraints::parse(constraint).ok()?, Version::parse("1.11.0").ok()?);
    let detail = "The compatible_with block was added in OpenTofu v1.12.0, so any constraint specified this way should exclude earlier \
                  versions of OpenTofu, such as by including \">= 0.12.0\".\n\nIf your module must be compatible with earlier \
                  versions of OpenTofu, use the required_version argument in a \"terraform\" block in a file named with the .tofu \
                  suffix, which is an older way to specify OpenTofu version constraints.";
    constraints.allows(&older).then(|| Diagnostic::warning("Ineffective version constraint", detail).at(range))
}

fn duplicate(block: &Block, first: &Compatibility) -> Diagnostic {
    let program = match first.program {
        Program::OpenTofu => "OpenTofu",
        Program::Terrane => TERRANE,
    };
    let detail = format!(
        "Each language block may have at most one compatible_with block referring to {program}. The {program} version constraint was \
         already declared at {}.",
        first.range
    );
    Diagnostic::error("Duplicate compatible_with block", detail).at(block.header_range())
}

fn check_edition(attribute: &Attribute, diags: &mut Diagnostics) {
    let range = attribute.expr.range();
    let has_one = opentofu::has_one_edition(range.dialect());
    let Some(edition) = attribute.expr.as_keyword() else {
        let detail = match has_one {
            true => format!(
                "The \"edition\" argument expects a bare language edition keyword. {PROGRAM} {} supports only language edition {}, \
                 which is the default.",
                compatible_version(),
                EDITIONS[0]
            ),
            false => "The \"edition\" argument expects a bare keyword, such as tofu2024.".to_owned(),
        };
        return diags.push(Diagnostic::error(terraform::INVALID_EDITION, detail).at(range));
    };
    let editions = if has_one { &EDITIONS[..1] } else { &EDITIONS[..] };
    if has_one && !editions.contains(&edition) {
        let known = EDITIONS[0];
        let version = compatible_version();
        let detail = match edition {
            _ if edition.starts_with("TF") => format!(
                "{PROGRAM} v{version} does not support language edition {edition:?}. This module may be intended for use with other \
                 software."
            ),
            _ => {
                let which = if edition > known { "newer" } else { "different" };
                format!(
                    "{PROGRAM} v{version} only supports language edition {known}. This module requires a {which} version of \
                     {PROGRAM} CLI."
                )
            }
        };
        return diags.push(Diagnostic::error(terraform::UNSUPPORTED_EDITION, detail).at(range));
    }
    if !editions.contains(&edition) {
        let known = editions.join(" and ");
        let detail = format!("This version of {PROGRAM} knows only {known} as language edition, not {edition:?}.");
        diags.push(Diagnostic::error(terraform::UNSUPPORTED_EDITION, detail).at(range));
    }
}

/// There are none; an empty list asks for none.
fn check_experiments(attribute: &Attribute, diags: &mut Diagnostics) {
    for item in references::static_list(&attribute.expr, diags) {
        let dialect = item.file.dialect();
        if opentofu::has_one_edition(dialect) {
            diags.push(unknown_experiment(dialect, item.as_keyword()).at(item.range()));
            continue;
        }
        let detail = match item.as_keyword() {
            Some(name) => format!("This version of {PROGRAM} knows no experimental language feature named {name:?}."),
            None => "Experimental language features are named by bare keywords.".to_owned(),
        };
        diags.push(Diagnostic::error("Unknown experimental language feature", detail).at(item.range()));
    }
}

/// OpenTofu's errors. An experiment of OpenTofu that is not implemented here is named as one.
fn unknown_experiment(dialect: Dialect, name: Option<&str>) -> Diagnostic {
    match name {
        Some(SYMBOL_LIBRARIES) if opentofu::knows_symbol_libraries(dialect) => {
            let detail = format!(
                "{TERRANE} does not implement the experiment {SYMBOL_LIBRARIES:?} of OpenTofu 1.13: this module can be used only \
                 with OpenTofu itself."
            );
            Diagnostic::error("Unsupported language experiment", detail)
        }
        Some(name) => {
            let detail = format!("There is no current experiment with the keyword {name:?}.");
            Diagnostic::error("Unknown experiment keyword", detail)
        }
        None => {
            let detail = "Elements of \"experiments\" must all be keywords representing active experiments.";
            Diagnostic::error("Invalid experiment keyword", detail)
        }
    }
}
