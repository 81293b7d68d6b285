//! What the files of a module declare: one file alone, and the module while its files are merged.

use base::source::Range;

use crate::config::blocks::action::Action;
use crate::config::blocks::check::Check;
use crate::config::blocks::import::Import;
use crate::config::blocks::language::Compatibility;
use crate::config::blocks::locals::Local;
use crate::config::blocks::module_call::ModuleCall;
use crate::config::blocks::moved::Moved;
use crate::config::blocks::output::Output;
use crate::config::blocks::removed::Removed;
use crate::config::blocks::resource::Resource;
use crate::config::blocks::terraform::TerraformBlock;
use crate::config::blocks::terraform_settings::TerraformSettings;
use crate::config::blocks::variable::Variable;
use crate::config::module::Module;
use crate::config::providers::provider_block::ProviderBlock;

/// What one file declares, in its order. Merging takes all of it.
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
    /// Managed, data and ephemeral; in query files also lists.
    pub resources: Vec<Resource>,
    pub actions: Vec<Action>,
    pub checks: Vec<Check>,
    pub moved: Vec<Moved>,
    pub removed: Vec<Removed>,
    pub imports: Vec<Import>,
}

/// A module with what the files declare that were merged so far.
pub struct PartialModule {
    pub module: Module,
    /// The `terraform` blocks, which become part of the module at the end.
    pub terraform: TerraformSettings,
}
