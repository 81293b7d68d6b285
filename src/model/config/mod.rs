//! The configuration: from files to modules to a tree of modules.
//!
//! Owns the static meaning of blocks, and the errors that are found without evaluation. Never
//! knows the state, a provider's process or a value that depends on a run.

mod blocks;
mod constants;
mod file_kinds;
mod files;
mod module;
pub mod module_source;
mod providers;
pub mod write;

pub use blocks::action::{Action, ActionCall, ActionTrigger};
pub use blocks::action_event::{ActionEvent, OnActionFailure};
pub use blocks::backend::{Backend, StoreProvider};
pub use blocks::by_name::ByName;
pub use blocks::check::Check;
pub use blocks::condition::Condition;
pub use blocks::deprecation::Deprecation;
pub use blocks::encryption::{
    Encryption, EncryptionMethod, EncryptionTarget, KeyProvider, UNENCRYPTED, parse as parse_encryption,
};
pub use blocks::import::{Import, ImportBy};
pub use blocks::lifecycle::{IgnoreChanges, Lifecycle, PreventDestroy};
pub use blocks::locals::Local;
pub use blocks::module_call::ModuleCall;
pub use blocks::moved::{MoveEndpoint, Moved};
pub use blocks::output::Output;
pub use blocks::provisioner::{OnFailure, ProvisionerBlock, ProvisionerWhen};
pub use blocks::references::static_traversal;
pub use blocks::removed::Removed;
pub use blocks::repetition::Repetition;
pub use blocks::resource::{ListArguments, Resource, decode_managed as resource_from_text};
pub use blocks::variable::Variable;
pub use constants::constant::NoNames;
pub use constants::ignored_attributes;
pub use constants::literal::settings_of_values;
pub use constants::static_arguments::{evaluate_settings, evaluate_static_arguments};
pub use constants::static_context::{DYNAMIC, NoInputs, StaticContext, StaticInputs};
pub use file_kinds::migration_file::migration_source;
pub use file_kinds::query_file::has_query_files;
pub use file_kinds::{policy_file, test_file, values_file};
pub use files::call_check;
pub use files::file_set::{has_configuration, load as load_body, mention as files_mention};
pub use files::load::{
    ModuleRequest, ModuleSite, Resolver, RootFiles, load, load_for_backend, load_module, load_root,
    load_root_and_backend, load_with, manifest_resolver, no_module, warnings_between_modules,
};
pub use files::required_version::{check_versions, note_versions};
pub use module::{Config, Module};
pub use providers::provider_block::ProviderBlock;
pub use providers::provider_check;
pub use providers::provider_ref::{ProviderPassing, ProviderRef};
pub use providers::requirements::ProviderRequirement;
