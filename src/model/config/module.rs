//! A module with everything that its files declare, and the tree of modules.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use base::dialect::Dialect;
use base::source::Range;
use lang::syntax::body::Body;

use crate::addr;
use crate::config::blocks::action::Actions;
use crate::config::blocks::backend::Backend;
use crate::config::blocks::by_name::ByName;
use crate::config::blocks::check::Check;
use crate::config::blocks::encryption::Encryption;
use crate::config::blocks::import::Import;
use crate::config::blocks::language::Compatibility;
use crate::config::blocks::locals::Local;
use crate::config::blocks::module_call::ModuleCall;
use crate::config::blocks::moved::Moved;
use crate::config::blocks::output::Output;
use crate::config::blocks::removed::Removed;
use crate::config::blocks::resource::Resources;
use crate::config::blocks::variable::Variable;
use crate::config::constants::static_context::{StaticContext, StaticNames};
use crate::config::providers::provider_block::ProviderBlocks;
use crate::config::providers::requirements::{self, RequiredProviders};
use crate::deps::Version;

/// The whole configuration: the root module, with its children inside.
#[derive(Clone, Debug)]
pub struct Config {
    pub root: Arc<Module>,
}

impl Config {
    /// The dialect that it is written in.
    pub fn dialect(&self) -> Dialect {
        self.root.dialect
    }

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
#[derive(Clone, Debug, Default)]
pub struct Module {
    pub path: addr::Module,
    /// The one that its files are read in.
    pub dialect: Dialect,
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
    pub requirements: RequiredProviders,
    /// By local name and alias.
    pub providers: ProviderBlocks,
    pub variables: ByName<Variable>,
    pub locals: ByName<Local>,
    pub outputs: ByName<Output>,
    pub calls: ByName<ModuleCall>,
    /// Managed, data and ephemeral; in the root module with query files also lists.
    pub resources: Resources,
    pub actions: Actions,
    /// Their data sources stand among the resources.
    pub checks: ByName<Check>,
    pub moved: Vec<Moved>,
    pub removed: Vec<Removed>,
    pub imports: Vec<Import>,
    pub provider_metas: BTreeMap<Arc<str>, Body>,
    pub children: BTreeMap<Arc<str>, Arc<Module>>,
    /// What its names mean before anything is planned; none before that is evaluated.
    pub static_context: Option<StaticContext>,
}

impl Module {
    /// The provider that a local name stands for in this module.
    pub fn provider_for_local_name(&self, local_name: &str) -> addr::Provider {
        requirements::provider_for(&self.requirements, local_name)
    }

    /// The names that may be used before anything is planned.
    pub fn static_names(&self) -> StaticNames {
        StaticNames {
            path: self.path.clone(),
            dir: self.dir.clone(),
            variables: self.variables.clone(),
            locals: self.locals.clone(),
        }
    }

    /// The local name by which this module knows a provider.
    pub fn local_name_of(&self, provider: &addr::Provider) -> Arc<str> {
        let explicit = self.requirements.iter().find(|(_, r)| r.source == *provider);
        explicit.map_or_else(|| provider.kind.clone(), |(name, _)| name.clone())
    }
}
