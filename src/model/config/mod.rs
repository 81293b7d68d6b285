//! The configuration: from files to modules to a tree of modules; one file per kind of block.
//!
//! Owns the static meaning of blocks, and the errors that are found without evaluation. Never
//! knows the state, a provider's process or a value that depends on a run.

mod action;
mod action_event;
mod block;
pub mod call_check;
mod check;
mod condition;
mod constant;
mod early;
mod encryption;
mod file_set;
pub mod ignored_attributes;
mod import;
mod language_block;
mod lifecycle;
mod load;
mod locals;
mod merge;
mod migration_file;
mod module;
mod module_call;
mod module_file;
pub mod module_source;
mod moved;
pub mod names;
mod output;
mod override_bodies;
mod overrides;
mod pins;
mod provider_block;
pub mod provider_check;
mod provider_each;
mod provider_use;
mod provisioner;
mod query_file;
mod removed;
mod requirements;
mod resource;
mod settle;
mod state_store;
mod terraform_block;
pub mod test_file;
pub mod values_file;
mod variable;
mod variable_override;

pub use action::{Action, ActionCall, ActionTrigger};
pub use action_event::{ActionEvent, OnActionFailure};
pub use block::{
    ByName, Condition, Deprecation, IgnoreChanges, Lifecycle, Local, ModuleCall, OnFailure, Output, PreventDestroy,
    ProviderBlock, ProviderPassing, ProviderRef, ProvisionerBlock, ProvisionerWhen, Repetition, Resource, Variable,
};
pub use check::Check;
pub use constant::NoNames;
pub use early::{DYNAMIC, Early, Nothing, Outside};
pub use encryption::{Encryption, KeyProvider, Method, Target, UNENCRYPTED, parse as parse_encryption};
pub use file_set::{has_configuration, load as load_body, mention as files_mention};
pub use import::{Import, ImportBy};
pub use load::{
    ModuleRequest, ModuleSite, Resolver, RootFiles, load, load_for_backend, load_module, load_root,
    load_root_and_backend, load_with, manifest_resolver, no_module, warnings_between_modules,
};
pub use migration_file::migration_source;
pub use module::{Backend, Config, Module, ProviderRequirement};
pub use moved::{MoveEndpoint, Moved};
pub use pins::{check_versions, note_versions};
pub use query_file::{ListArguments, has_query_files};
pub use removed::Removed;
pub use resource::decode_managed as resource_from_text;
pub use settle::{evaluate_early, settings_of_values, settle_settings};
pub use state_store::StoreProvider;
