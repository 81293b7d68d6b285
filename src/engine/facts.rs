//! Static facts: what the text of a configuration and the schemas of its providers decide. They do not depend on the verb, the
//! state or the targets.
//!
//! All verbs of a command get the same [`Facts`], so the first of them builds what the others reuse. Never knows a run.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use base::diag::Diagnostics;
use model::config::Config;
use rustc_hash::FxHashMap;

use crate::blocks::provider_configs::{Chosen, ProviderConfigs};
use crate::blocks::references::Needs;
use crate::blocks::removed::RemovedBlocks;
use crate::blocks::schemas::Schemas;
use crate::blocks::tree::Tree;
use crate::graph::{Dag, Node};
use crate::ids::{ActionId, NodeId, ProviderId, ResourceId};

/// A configuration with the static facts about it.
pub struct Facts {
    config: Arc<Config>,
    pub(crate) tree: Arc<Tree>,
    pub(crate) removed: Arc<RemovedBlocks>,
    graph: Mutex<Option<BuiltGraph>>,
}

/// The graph of the configuration, and the schemas that it was built by.
struct BuiltGraph {
    schemas: Schemas,
    graph: Arc<ConfigGraph>,
}

impl Facts {
    pub fn of(config: Arc<Config>) -> Arc<Facts> {
        Arc::new(Facts {
            tree: Arc::new(Tree::new(&config)),
            removed: Arc::new(RemovedBlocks::of(&config)),
            config,
            graph: Mutex::default(),
        })
    }

    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// The graph of the configuration by some schemas: the one of an earlier verb, if that had the same schemas of all providers that it
    /// knew. Providers that only the state of this verb names change nothing: no block of the configuration is theirs.
    pub(crate) fn graph(&self, schemas: &Schemas, build: impl FnOnce() -> ConfigGraph) -> Arc<ConfigGraph> {
        let mut built = self.graph.lock().unwrap_or_else(PoisonError::into_inner);
        match built.as_ref().filter(|earlier| schemas.include(&earlier.schemas)) {
            Some(earlier) => earlier.graph.clone(),
            None => {
                let graph = Arc::new(build());
                *built = Some(BuiltGraph { schemas: schemas.clone(), graph: graph.clone() });
                graph
            }
        }
    }
}

impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Facts").field("config", &self.config).finish_non_exhaustive()
    }
}

/// The graph of a configuration: all blocks, what they refer to, and their provider configurations. A verb adds to its own copy,
/// which shares what the references come to.
#[derive(Clone, Default)]
pub struct ConfigGraph {
    pub graph: Dag<Node>,
    /// Per node.
    pub needs: Vec<Arc<Needs>>,
    pub providers: ProviderConfigs,
    pub provider_of: FxHashMap<ResourceId, ProviderId>,
    /// Blocks in place of an entry in `provider_of` whose instances choose among instances of a configuration.
    pub chosen_of: FxHashMap<ResourceId, Chosen>,
    /// The provider configuration of each action block.
    pub provider_of_action: FxHashMap<ActionId, ProviderId>,
    pub provider_nodes: Vec<NodeId>,
    /// Per module.
    pub bases: Vec<Bases>,
    pub diagnostics: Diagnostics,
}

/// The first node of each kind of block of a module; the others follow in the order of the declarations.
#[derive(Clone, Copy, Default)]
pub struct Bases {
    pub variables: NodeId,
    pub locals: NodeId,
    pub outputs: NodeId,
    pub calls: NodeId,
    pub resources: NodeId,
    pub actions: NodeId,
    pub checks: NodeId,
    pub close: NodeId,
}
