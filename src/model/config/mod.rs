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
pub use blocks::block::{
    ByName, Condition, Deprecation, IgnoreChanges, Lifecycle, Local, ModuleCall, OnFailure, Output, PreventDestroy,
    ProviderBlock, ProviderPassing, ProviderRef, ProvisionerBlock, ProvisionerWhen, Repetition, Resource, Variable,
};
pub use blocks::check::Check;
pub use blocks::encryption::{Encryption, KeyProvider, Method, Target, UNENCRYPTED, parse as parse_encryption};
pub use blocks::import::{Import, ImportBy};
pub use blocks::moved::{MoveEndpoint, Moved};
pub use blocks::references::static_traversal;
pub use blocks::removed::Removed;
pub use blocks::resource::decode_managed as resource_from_text;
pub use blocks::state_store::StoreProvider;
pub use constants::constant::NoNames;
pub use constants::ignored_attributes;
pub use constants::static_arguments::{evaluate_early, settings_of_values, settle_settings};
pub use constants::static_context::{DYNAMIC, Early, Nothing, Outside};
pub use file_kinds::migration_file::migration_source;
pub use file_kinds::query_file::{ListArguments, has_query_files};
pub use file_kinds::{test_file, values_file};
pub use files::call_check;
pub use files::file_set::{has_configuration, load as load_body, mention as files_mention};
pub use files::load::{
    ModuleRequest, ModuleSite, Resolver, RootFiles, load, load_for_backend, load_module, load_root,
    load_root_and_backend, load_with, manifest_resolver, no_module, warnings_between_modules,
};
pub use files::required_version::{check_versions, note_versions};
pub use module::{Backend, Config, Module, ProviderRequirement};
pub use providers::provider_check;
