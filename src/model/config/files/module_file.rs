//! One file of a module: its blocks, decoded.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::Block;
use lang::syntax::body::{Body, BodySchema};
use terrane_protocol::schema::ResourceMode;

use crate::config::blocks::action::{self, Action};
use crate::config::blocks::block::{Local, ModuleCall, Output, ProviderBlock, Resource, Variable};
use crate::config::blocks::check::{self, Check};
use crate::config::blocks::import::{self, Import};
use crate::config::blocks::language::{self, Compatibility};
use crate::config::blocks::moved::{self, Moved};
use crate::config::blocks::removed::{self, Removed};
use crate::config::blocks::terraform::{self, TerraformBlock};
use crate::config::blocks::{locals, module_call, output, resource, variable};
use crate::config::providers::provider_block;
use crate::symbols;
use crate::version::tofu_at_least;

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(schema);
static SCHEMA_WITH_SYMBOLS: LazyLock<BodySchema> = LazyLock::new(|| schema().block("symbols", &["name"]));

fn schema() -> BodySchema {
    BodySchema::new()
        .block("terraform", &[])
        .block("language", &[])
        .block("required_providers", &[])
        .block("provider", &["name"])
        .block("variable", &["name"])
        .block("locals", &[])
        .block("output", &["name"])
        .block("module", &["name"])
        .block("resource", &["type", "name"])
        .block("data", &["type", "name"])
        .block("ephemeral", &["type", "name"])
        .block("moved", &[])
        .block("removed", &[])
        .block("import", &[])
        .block("check", &["name"])
        .block("action", &["type", "name"])
}

static TERRAFORM: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().block("terraform", &[]));

/// What one file declares, in its order.
#[derive(Default)]
pub struct ModuleFile {
    pub terraform: Vec<TerraformBlock>,
    pub compatible_with: Vec<Compatibility>,
    /// Whether the module asks for the experiment.
    pub has_symbol_libraries: bool,
    /// Where the `symbols` blocks stand.
    pub symbols: Vec<Range>,
    pub providers: Vec<ProviderBlock>,
    pub variables: Vec<Variable>,
    pub locals: Vec<Local>,
    pub outputs: Vec<Output>,
    pub calls: Vec<ModuleCall>,
    pub resources: Vec<Resource>,
    pub actions: Vec<Action>,
    pub checks: Vec<Check>,
    pub moved: Vec<Moved>,
    pub removed: Vec<Removed>,
    pub imports: Vec<Import>,
}

/// The blocks of a file that may stand there.
pub fn blocks(body: &Body, diags: &mut Diagnostics) -> Vec<Block> {
    if body.is_json() {
        // Looked for ahead of all else: required versions, then experiments. What is wrong with them is said each time.
        for _ in 0..2 {
            diags.extend(body.partial_content(&TERRAFORM).2);
        }
    }
    let schema = if tofu_at_least(13) { &SCHEMA_WITH_SYMBOLS } else { &SCHEMA };
    diags.take(body.content(schema)).blocks
}

pub fn decode(blocks: &[Block], diags: &mut Diagnostics) -> ModuleFile {
    let mut file = ModuleFile::default();
    for block in blocks {
        decode_block(block, &mut file, diags);
    }
    file
}

fn decode_block(block: &Block, file: &mut ModuleFile, diags: &mut Diagnostics) {
    match block.kind.as_str() {
        "terraform" => file.terraform.push(terraform::decode(block, diags)),
        "language" => {
            file.compatible_with.extend(language::decode(block, diags));
            file.has_symbol_libraries |= language::asks_for_symbols(block);
        }
        "symbols" => file.symbols.extend(symbols::check_block(block, diags)),
        "required_providers" => diags.push(
            Diagnostic::error(
                "Invalid required_providers block",
                "A \"required_providers\" block must be nested inside a \"terraform\" block.",
            )
            .at(block.kind_range()),
        ),
        "provider" => file.providers.extend(provider_block::decode(block, diags)),
        "variable" => file.variables.push(variable::decode(block, diags)),
        "locals" => file.locals.extend(locals::decode(block, diags)),
        "output" => file.outputs.extend(output::decode(block, diags)),
        "module" => file.calls.extend(module_call::decode(block, diags)),
        "resource" => file.resources.push(resource::decode(block, ResourceMode::Managed, diags)),
        "data" => file.resources.push(resource::decode(block, ResourceMode::Data, diags)),
        "ephemeral" => {
            file.resources.push(resource::decode(block, ResourceMode::Ephemeral, diags));
        }
        "action" => file.actions.extend(action::decode(block, diags)),
        "moved" => {
            file.moved.extend(moved::decode(block, diags));
        }
        "removed" => {
            file.removed.extend(removed::decode(block, diags));
        }
        "import" => {
            file.imports.extend(import::decode(block, diags));
        }
        "check" => {
            let (check, data) = check::decode(block, diags);
            file.resources.extend(data);
            file.checks.push(check);
        }
        // The schema lets nothing else through.
        _ => {}
    }
}
