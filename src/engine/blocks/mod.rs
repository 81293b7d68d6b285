//! Static facts about the blocks of the configuration, before evaluation: the modules as a tree, the references of each
//! block, its provider configuration, its schema. Never evaluates, never reads objects.

pub mod connection;
pub mod deprecated;
pub mod functions;
pub mod imports;
mod list_steps;
pub mod provider_configs;
pub mod reference_steps;
pub mod references;
pub mod removed;
pub mod schemas;
pub mod tree;

use std::sync::Arc;

use functions::ProviderFunctions;
use imports::Imports;
use model::addr::ConfigResource;
use model::config::Config;
use provider_configs::{Chosen, ProviderConfigs};
use removed::RemovedBlocks;
use rustc_hash::{FxHashMap, FxHashSet};
use schemas::Schemas;
use tree::Tree;

use crate::ids::{ActionId, ProviderId, ResourceId};

/// All of it.
pub struct Blocks {
    pub config: Arc<Config>,
    pub tree: Arc<Tree>,
    pub schemas: Schemas,
    pub functions: ProviderFunctions,
    pub providers: ProviderUse,
    pub order: BlockOrder,
    pub removed: Arc<RemovedBlocks>,
    pub imports: Imports,
}

/// Which provider configuration serves which resource block.
pub struct ProviderUse {
    pub configs: ProviderConfigs,
    pub of: FxHashMap<ResourceId, ProviderId>,
    /// Blocks whose instances choose among the instances of one.
    pub chosen: FxHashMap<ResourceId, Chosen>,
    /// The same of action blocks.
    pub of_actions: FxHashMap<ActionId, ProviderId>,
}

/// Facts that follow from the dependencies of blocks.
pub struct BlockOrder {
    /// What a block's objects depend on, transitively; sorted by address text.
    pub dependencies: FxHashMap<ResourceId, Arc<[ConfigResource]>>,
    /// Blocks that replace by creating first, by themselves or because something that depends on them does.
    pub create_before_destroy: FxHashMap<ResourceId, bool>,
    /// Per data source: the managed resources whose pending changes put its reading off.
    pub read_barriers: FxHashMap<ResourceId, Arc<[ConfigResource]>>,
    /// In apply: the root outputs that depend on a deferred resource, by their positions.
    pub deferred_outputs: FxHashSet<u32>,
}
