//! A module with everything that its files declare, and the tree of modules.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use base::source::Range;
use indexmap::IndexMap;
use lang::syntax::ast::Expression;
use lang::syntax::body::Body;

use crate::addr;
use crate::config::blocks::action::Action;
use crate::config::blocks::block::{ByName, Local, ModuleCall, Output, ProviderBlock, Resource, Variable};
use crate::config::blocks::check::Check;
use crate::config::blocks::encryption::Encryption;
use crate::config::blocks::import::Import;
use crate::config::blocks::language::Compatibility;
use crate::config::blocks::moved::Moved;
use crate::config::blocks::removed::Removed;
use crate::config::blocks::state_store::StoreProvider;
use crate::config::constants::static_context::Early;
use crate::deps::Version;

/// The whole configuration: the root module, with its children inside.
#[derive(Clone, Debug)]
pub struct Config {
    pub root: Arc<Module>,
}

impl Config {
    pub fn module(&self, path: &addr::Module) -> Option<&Arc<Module>> {
        path.0.iter().try_fold(&self.root, |module, name| module.children.get(name))
    }

    /// Every module, parents before children.
    pub fn modules(&self) -> Vec<&Arc<Module>> {
        let mut all = vec![&self.root];
        let mut next = 0;
        while let Some(module) = all.get(next).copied() {
            all.extend(module.children.values());
            next += 1;
        }
        all
    }
}

/// One module of the tree.
#[derive(Clone, Debug)]
pub struct Module {
    pub path: addr::Module,
    /// Its folder, relative to the working directory: the value of `path.module`.
    pub dir: PathBuf,
    /// The source address with which it was called; empty for the root.
    pub source: String,
    /// The version installed, if it came from a registry.
    pub version: Option<Version>,
    /// `required_version` constraints as written.
    pub required_versions: Vec<(String, Range)>,
    /// What `language` blocks say of programs.
    pub compatible_with: Vec<Compatibility>,
    pub backend: Option<Backend>,
    /// A `state_store` block beside a `backend` or `cloud` block, which is an error: `init` installs its provider nevertheless.
    pub conflicting_store: Option<Backend>,
    /// Of the root module; those of others mean nothing.
    pub encryption: Option<Arc<Encryption>>,
    /// By local name; implied ones included.
    pub requirements: BTreeMap<Arc<str>, ProviderRequirement>,
    /// By local name and alias.
    pub providers: IndexMap<addr::LocalProviderConfig, ProviderBlock>,
    pub variables: ByName<Variable>,
    pub locals: ByName<Local>,
    pub outputs: ByName<Output>,
    pub calls: ByName<ModuleCall>,
    /// Managed, data and ephemeral; in the root module with query files also lists.
    pub resources: IndexMap<addr::Resource, Resource>,
    pub actions: IndexMap<addr::Action, Action>,
    /// Their data sources stand among the resources.
    pub checks: ByName<Check>,
    pub moved: Vec<Moved>,
    pub removed: Vec<Removed>,
    pub imports: Vec<Import>,
    pub provider_metas: BTreeMap<Arc<str>, Body>,
    pub children: BTreeMap<Arc<str>, Arc<Module>>,
    /// What its names mean before anything is planned; none before [`crate::config::constants::static_arguments`].
    pub early: Option<Early>,
}

impl Module {
    /// The provider that a local name stands for in this module.
    pub fn provider_for_local_name(&self, local_name: &str) -> addr::Provider {
        match self.requirements.get(local_name) {
            Some(requirement) => requirement.source.clone(),
            None => addr::Provider::default_for(local_name),
        }
    }

    /// The local name by which this module knows a provider.
    pub fn local_name_of(&self, provider: &addr::Provider) -> Arc<str> {
        let explicit = self.requirements.iter().find(|(_, r)| r.source == *provider);
        explicit.map_or_else(|| provider.kind.clone(), |(name, _)| name.clone())
    }
}

/// One entry of `required_providers`, or what the use of a provider implies.
#[derive(Clone, Debug)]
pub struct ProviderRequirement {
    pub local_name: Arc<str>,
    pub source: addr::Provider,
    /// Constraints as written, each with its place.
    pub versions: Vec<(String, Range)>,
    /// What is only known once variables and local values are.
    pub early: EarlyRequirement,
    /// `configuration_aliases`.
    pub aliases: Vec<addr::LocalProviderConfig>,
    /// False if nothing but a use implies it.
    pub explicit: bool,
    pub range: Range,
}

/// Parts of a requirement that are more than constants, as since Terraform 1.17.
#[derive(Clone, Debug, Default)]
pub struct EarlyRequirement {
    pub source: Option<Expression>,
    pub version: Option<Expression>,
}

/// `backend "type" {}`, `state_store "type" {}`, or `cloud {}`, whose kind is `cloud`.
#[derive(Clone, Debug)]
pub struct Backend {
    pub kind: Arc<str>,
    pub is_cloud_block: bool,
    /// The provider of a `state_store` block; other blocks have none.
    pub store: Option<StoreProvider>,
    pub kind_range: Range,
    pub body: Body,
    pub range: Range,
}
