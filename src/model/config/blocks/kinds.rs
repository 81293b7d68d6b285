//! The table of the kinds of blocks that may stand in the files of a module. The schema of a file, the decoding of its
//! blocks, the merge of files and the effect of override files follow from it: a new kind of block is a file beside this
//! one, a row, and the fields for it in `ModuleFile` and `Module`.

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use lang::syntax::ast::Block;
use lang::syntax::body::BodySchema;
use terrane_protocol::schema::ResourceMode;

use super::override_rule::OverrideRule;
use super::terraform::{self, TerraformBlock};
use super::variable::{self, Variable};
use super::{action, by_name, check, import, language, locals, module_call, moved, output, removed, resource};
use crate::config::files::module_file::{ModuleFile, PartialModule};
use crate::config::providers::provider_block;
use crate::{opentofu, symbols};

/// One kind of block.
pub struct BlockKind {
    /// The word that the block begins with.
    pub name: &'static str,
    /// What messages call its labels.
    pub labels: &'static [&'static str],
    /// Whether the language of a dialect has the kind.
    pub is_known: fn(Dialect) -> bool,
    pub decode: fn(&Block, &mut ModuleFile, &mut Diagnostics),
    /// Moves what a file declares of the kind to the module.
    pub merge: fn(&mut ModuleFile, &mut PartialModule, &mut Diagnostics),
    pub in_override_file: InOverrideFile,
}

/// What a block of a kind does in an override file.
pub enum InOverrideFile {
    /// It is not looked at.
    Ignored,
    /// It is checked by itself, and has no effect.
    Checked,
    /// It is an error. `checked`: and it is checked by itself.
    Refused { error: (&'static str, &'static str), checked: bool },
    /// It adds to what the other files say.
    Added,
    /// It changes the block of the same name.
    Merged(&'static OverrideRule),
    /// The kind has its own rule.
    Own(fn(&Block, &mut OverriddenFiles<'_>, &mut Diagnostics)),
}

/// The other files of a module, which an override file changes.
pub struct OverriddenFiles<'f> {
    /// The blocks of each.
    pub blocks: &'f mut [Vec<Block>],
    /// The variables of each, which are decoded already.
    pub variables: &'f mut [Vec<Variable>],
    /// The `terraform` blocks of the override file: they apply to the module once its files are merged.
    pub terraform: Vec<TerraformBlock>,
}

/// All kinds. Files are merged, and override files are applied, kind after kind in this order; suggestions for misspelt kinds
/// name the first one that is close.
pub static BLOCK_KINDS: [BlockKind; 17] = [
    BlockKind {
        name: "terraform",
        labels: &[],
        is_known: always,
        decode: |block, file, diags| file.terraform.push(terraform::decode(block, diags)),
        merge: |file, module, diags| file.terraform.drain(..).for_each(|block| module.terraform.add(block, diags)),
        in_override_file: InOverrideFile::Own(|over, files, diags| {
            files.terraform.push(terraform::decode(over, diags));
        }),
    },
    BlockKind {
        name: "language",
        labels: &[],
        is_known: always,
        decode: |block, file, diags| {
            file.compatible_with.extend(language::decode(block, diags));
            file.has_symbol_libraries |= language::asks_for_symbols(block);
        },
        merge: |file, module, _| module.module.compatible_with.append(&mut file.compatible_with),
        in_override_file: InOverrideFile::Added,
    },
    BlockKind {
        name: "required_providers",
        labels: &[],
        is_known: always,
        decode: |block, _, diags| diags.push(misplaced_requirements(block)),
        merge: |_, _, _| {},
        in_override_file: InOverrideFile::Ignored,
    },
    BlockKind {
        name: "provider",
        labels: &["name"],
        is_known: always,
        decode: |block, file, diags| file.providers.extend(provider_block::decode(block, diags)),
        merge: |file, PartialModule { module, .. }, diags| {
            for block in file.providers.drain(..) {
                provider_block::add(block, &mut module.providers, &mut module.requirements, diags);
            }
        },
        in_override_file: InOverrideFile::Merged(&provider_block::OVERRIDE),
    },
    BlockKind {
        name: "variable",
        labels: &["name"],
        is_known: always,
        decode: |block, file, diags| file.variables.push(variable::decode(block, diags)),
        merge: |file, PartialModule { module, .. }, diags| {
            file.variables.drain(..).for_each(|variable| by_name::add(&mut module.variables, variable, diags));
        },
        in_override_file: InOverrideFile::Own(|over, files, diags| variable::override_by(files.variables, over, diags)),
    },
    BlockKind {
        name: "locals",
        labels: &[],
        is_known: always,
        decode: |block, file, diags| file.locals.extend(locals::decode(block, diags)),
        merge: |file, PartialModule { module, .. }, diags| {
            file.locals.drain(..).for_each(|local| by_name::add(&mut module.locals, local, diags));
        },
        in_override_file: InOverrideFile::Own(|over, files, diags| locals::override_by(files.blocks, over, diags)),
    },
    BlockKind {
        name: "output",
        labels: &["name"],
        is_known: always,
        decode: |block, file, diags| file.outputs.extend(output::decode(block, diags)),
        merge: |file, PartialModule { module, .. }, diags| {
            file.outputs.drain(..).for_each(|output| by_name::add(&mut module.outputs, output, diags));
        },
        in_override_file: InOverrideFile::Merged(&output::OVERRIDE),
    },
    BlockKind {
        name: "module",
        labels: &["name"],
        is_known: always,
        decode: |block, file, diags| file.calls.extend(module_call::decode(block, diags)),
        merge: |file, PartialModule { module, .. }, diags| {
            file.calls.drain(..).for_each(|call| by_name::add(&mut module.calls, call, diags));
        },
        in_override_file: InOverrideFile::Merged(&module_call::OVERRIDE),
    },
    BlockKind {
        name: "resource",
        labels: &["type", "name"],
        is_known: always,
        decode: |block, file, diags| file.resources.push(resource::decode(block, ResourceMode::Managed, diags)),
        // Of any mode, in the order of the file.
        merge: |file, PartialModule { module, .. }, diags| {
            for resource in file.resources.drain(..) {
                let in_check = file.checks.iter().any(|check| check.data.as_ref() == Some(&resource.addr));
                resource::add(resource, in_check, &mut module.resources, &mut module.requirements, diags);
            }
        },
        in_override_file: InOverrideFile::Merged(&resource::OVERRIDE),
    },
    BlockKind {
        name: "data",
        labels: &["type", "name"],
        is_known: always,
        decode: |block, file, diags| file.resources.push(resource::decode(block, ResourceMode::Data, diags)),
        merge: |_, _, _| {},
        in_override_file: InOverrideFile::Merged(&DATA_OVERRIDE),
    },
    BlockKind {
        name: "ephemeral",
        labels: &["type", "name"],
        is_known: always,
        decode: |block, file, diags| file.resources.push(resource::decode(block, ResourceMode::Ephemeral, diags)),
        merge: |_, _, _| {},
        in_override_file: InOverrideFile::Checked,
    },
    BlockKind {
        name: "action",
        labels: &["type", "name"],
        is_known: always,
        decode: |block, file, diags| file.actions.extend(action::decode(block, diags)),
        merge: |file, PartialModule { module, .. }, diags| {
            for action in file.actions.drain(..) {
                action::add(action, &mut module.actions, &mut module.requirements, diags);
            }
        },
        in_override_file: InOverrideFile::Merged(&action::OVERRIDE),
    },
    BlockKind {
        name: "check",
        labels: &["name"],
        is_known: always,
        decode: |block, file, diags| {
            let (check, data) = check::decode(block, diags);
            file.resources.extend(data);
            file.checks.push(check);
        },
        merge: |file, PartialModule { module, .. }, diags| {
            file.checks.drain(..).for_each(|check| by_name::add(&mut module.checks, check, diags));
        },
        in_override_file: InOverrideFile::Refused { error: check::NOT_OVERRIDABLE, checked: false },
    },
    BlockKind {
        name: "moved",
        labels: &[],
        is_known: always,
        decode: |block, file, diags| file.moved.extend(moved::decode(block, diags)),
        merge: |file, module, _| module.module.moved.append(&mut file.moved),
        in_override_file: InOverrideFile::Refused { error: moved::NOT_OVERRIDABLE, checked: true },
    },
    BlockKind {
        name: "removed",
        labels: &[],
        is_known: always,
        decode: |block, file, diags| file.removed.extend(removed::decode(block, diags)),
        merge: |file, module, _| module.module.removed.append(&mut file.removed),
        in_override_file: InOverrideFile::Checked,
    },
    BlockKind {
        name: "import",
        labels: &[],
        is_known: always,
        decode: |block, file, diags| file.imports.extend(import::decode(block, diags)),
        merge: |file, module, _| module.module.imports.append(&mut file.imports),
        in_override_file: InOverrideFile::Refused { error: import::NOT_OVERRIDABLE, checked: true },
    },
    BlockKind {
        name: "symbols",
        labels: &["name"],
        is_known: opentofu::knows_symbol_libraries,
        decode: |block, file, diags| file.symbols.extend(symbols::check_block(block, diags)),
        // A module with such a block has errors by now.
        merge: |file, _, _| file.symbols.clear(),
        in_override_file: InOverrideFile::Ignored,
    },
];

/// The rule of `data` blocks: one without a base may be for the data source of a `check` block.
static DATA_OVERRIDE: OverrideRule = OverrideRule { without_base: check::override_data, ..resource::DATA_OVERRIDE };

fn always(_: Dialect) -> bool {
    true
}

fn misplaced_requirements(block: &Block) -> Diagnostic {
    let detail = "A \"required_providers\" block must be nested inside a \"terraform\" block.";
    Diagnostic::error("Invalid required_providers block", detail).at(block.kind_range())
}

/// The blocks that may stand in a file.
pub fn schema(dialect: Dialect) -> BodySchema {
    let known = BLOCK_KINDS.iter().filter(|kind| (kind.is_known)(dialect));
    known.fold(BodySchema::new(), |schema, kind| schema.block(kind.name, kind.labels))
}

/// The kind of a block.
pub fn of(block: &Block) -> Option<&'static BlockKind> {
    BLOCK_KINDS.iter().find(|kind| kind.name == block.kind.as_str())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use base::files::Memory;
    use base::source::SourceFile;
    use lang::syntax::parse_file;

    use super::*;
    use crate::addr;
    use crate::config::blocks::terraform_settings::TerraformSettings;
    use crate::config::files::decode;
    use crate::config::{load_module, no_module};

    /// A sound block of each kind, and the first summary of a file that overrides a module of all others with it.
    const SAMPLES: [(&str, &str, &str); 17] = [
        ("terraform", "terraform {\n}", ""),
        ("language", "language {\n  edition = tofu2024\n}", ""),
        ("required_providers", "required_providers {\n}", ""),
        ("provider", "provider \"p\" {\n}", ""),
        ("variable", "variable \"v\" {\n}", ""),
        ("locals", "locals {\n  l = 1\n}", ""),
        ("output", "output \"o\" {\n  value = 1\n}", ""),
        ("module", "module \"m\" {\n  source = \"./m\"\n}", ""),
        ("resource", "resource \"p_r\" \"r\" {\n}", ""),
        ("data", "data \"p_d\" \"d\" {\n}", ""),
        ("ephemeral", "ephemeral \"p_e\" \"e\" {\n}", ""),
        ("action", "action \"p_a\" \"a\" {\n}", ""),
        (
            "check",
            "check \"c\" {\n  assert {\n    condition = var.v == 1\n    error_message = \"No.\"\n  }\n}",
            "Can't override check blocks",
        ),
        ("moved", "moved {\n  from = p_r.s\n  to = p_r.r\n}", "Cannot override 'moved' blocks"),
        ("removed", "removed {\n  from = p_r.t\n}", ""),
        ("import", "import {\n  to = p_r.r\n  id = \"i\"\n}", "Cannot override 'import' blocks"),
        ("symbols", "symbols \"s\" {\n  source = \"./s\"\n}", ""),
    ];

    fn block_of(text: &str) -> Block {
        let (body, problems) = parse_file(SourceFile::new("main.tf", text));
        assert!(!problems.has_errors(), "{text}: {problems:?}");
        body.blocks()[0].clone()
    }

    #[test]
    fn every_kind_has_a_sample() {
        let kinds: Vec<&str> = BLOCK_KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(SAMPLES.map(|(name, ..)| name).to_vec(), kinds);
    }

    /// What a file declares: a kind that declares nothing, or whose merge leaves something behind, is not complete.
    fn declared(file: &ModuleFile) -> usize {
        let ModuleFile {
            terraform,
            compatible_with,
            has_symbol_libraries: _,
            symbols,
            providers,
            variables,
            locals,
            outputs,
            calls,
            resources,
            actions,
            checks,
            moved,
            removed,
            imports,
        } = file;
        let blocks = terraform.len() + compatible_with.len() + symbols.len() + providers.len() + variables.len();
        let values = locals.len() + outputs.len() + calls.len() + resources.len() + actions.len() + checks.len();
        blocks + values + moved.len() + removed.len() + imports.len()
    }

    #[test]
    fn every_kind_is_decoded_and_merged() {
        for (name, text, _) in SAMPLES {
            let mut diags = Diagnostics::new();
            let mut file = decode::decode(&[block_of(text)], &mut diags);
            let declares_nothing = ["language", "required_providers"].contains(&name);
            assert_eq!(declared(&file), usize::from(!declares_nothing), "{name}");
            let mut module = PartialModule {
                module: no_module(Dialect::default(), Path::new(".")),
                terraform: TerraformSettings::default(),
            };
            BLOCK_KINDS.iter().for_each(|kind| (kind.merge)(&mut file, &mut module, &mut diags));
            assert_eq!(declared(&file), 0, "{name}");
            assert_eq!(diags.has_errors(), name == "required_providers", "{name}: {diags:?}");
        }
    }

    #[test]
    fn every_kind_has_an_effect_in_override_files() {
        let known =
            |name: &str| BLOCK_KINDS.iter().any(|kind| kind.name == name && (kind.is_known)(Dialect::default()));
        let all: String = SAMPLES
            .iter()
            .filter(|(name, ..)| known(name) && *name != "required_providers")
            .map(|(_, text, _)| format!("{text}\n"))
            .collect();
        for (name, text, expected) in SAMPLES.into_iter().filter(|(name, ..)| known(name)) {
            let files = Memory::of([("main.tf", all.as_str()), ("override.tf", text)]);
            let (_, diags) = load_module(Path::new("."), addr::Module::root(), &files);
            let first = diags.iter().find(|d| d.is_error()).map_or("", |error| &*error.summary);
            assert_eq!(first, expected, "{name}");
        }
    }
}
