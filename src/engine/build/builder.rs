//! A graph being built: its nodes by block, and the provider configurations that it uses.

use std::sync::Arc;

use base::diag::Diagnostics;
use model::addr::{AbsProviderConfig, ConfigResource};
use model::config::test_file::load::is_test_file;
use rustc_hash::FxHashMap;

use crate::blocks::provider_configs::{Chosen, ProviderConfigs};
use crate::blocks::references::{Gatherer, Need, Needs};
use crate::blocks::schemas::Schemas;
use crate::blocks::tree::Tree;
use crate::facts::{Bases, ConfigGraph};
use crate::graph::{Dag, Node};
use crate::ids::{ActionId, ModuleId, NodeId, ProviderId, ResourceId};

/// A graph being built, with what its passes share.
pub struct Builder<'a> {
    pub tree: &'a Tree,
    pub schemas: &'a Schemas,
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
    /// Nodes that report what is wrong with imports for resources without a block.
    pub refused_imports: FxHashMap<NodeId, ConfigResource>,
    pub diagnostics: Diagnostics,
    pub(super) bases: Vec<Bases>,
}

impl<'a> Builder<'a> {
    /// Goes on from a graph.
    pub(super) fn of(tree: &'a Tree, schemas: &'a Schemas, from: ConfigGraph) -> Builder<'a> {
        Builder {
            tree,
            schemas,
            graph: from.graph,
            needs: from.needs,
            providers: from.providers,
            provider_of: from.provider_of,
            chosen_of: from.chosen_of,
            provider_of_action: from.provider_of_action,
            provider_nodes: from.provider_nodes,
            refused_imports: FxHashMap::default(),
            diagnostics: from.diagnostics,
            bases: from.bases,
        }
    }

    /// What was built from the blocks alone.
    pub(super) fn into_config_graph(self) -> ConfigGraph {
        ConfigGraph {
            graph: self.graph,
            needs: self.needs,
            providers: self.providers,
            provider_of: self.provider_of,
            chosen_of: self.chosen_of,
            provider_of_action: self.provider_of_action,
            provider_nodes: self.provider_nodes,
            bases: self.bases,
            diagnostics: self.diagnostics,
        }
    }

    pub fn add(&mut self, node: Node) -> NodeId {
        self.needs.push(Arc::default());
        self.graph.add(node)
    }

    pub fn variable(&self, module: ModuleId, index: u32) -> NodeId {
        self.bases[module.index()].variables.plus(index as usize)
    }

    pub fn local(&self, module: ModuleId, index: u32) -> NodeId {
        self.bases[module.index()].locals.plus(index as usize)
    }

    pub fn output(&self, module: ModuleId, index: u32) -> NodeId {
        self.bases[module.index()].outputs.plus(index as usize)
    }

    pub fn call(&self, module: ModuleId, index: u32) -> NodeId {
        self.bases[module.index()].calls.plus(index as usize)
    }

    pub fn resource(&self, id: ResourceId) -> NodeId {
        self.bases[id.module.index()].resources.plus(id.index())
    }

    pub fn action(&self, id: ActionId) -> NodeId {
        self.bases[id.module.index()].actions.plus(id.index())
    }

    pub fn check(&self, module: ModuleId, index: u32) -> NodeId {
        self.bases[module.index()].checks.plus(index as usize)
    }

    pub fn close(&self, module: ModuleId) -> NodeId {
        self.bases[module.index()].close
    }

    /// The node that expands the call of a module; none for the root.
    pub fn expansion_of(&self, module: ModuleId) -> Option<NodeId> {
        self.tree.parent(module).map(|(parent, call)| self.call(parent, call))
    }

    /// The node of a provider configuration. A new one waits at once for all that its block refers to, whichever pass asks for it.
    pub fn provider(&mut self, addr: AbsProviderConfig) -> ProviderId {
        let id = self.providers.intern(self.tree, addr);
        if id.index() == self.provider_nodes.len() {
            let node = self.add(Node::Provider(id));
            self.provider_nodes.push(node);
            if let Some((module, _)) = self.providers.get(id).block {
                let mut gatherer = Gatherer::new(self.tree, self.schemas, module);
                // A test's block sees other names than the module: it waits for nothing.
                if let Some(block) =
                    self.providers.block(self.tree, id).filter(|block| !is_test_file(block.body.file()))
                {
                    let schemas = self.schemas.provider(&self.providers.get(id).addr.provider);
                    if let Some(schema) = schemas.and_then(|s| s.provider().ok()) {
                        gatherer.body(&block.body, &schema.block);
                    }
                }
                for need in &gatherer.needs.on {
                    let to = self.node_of(need);
                    self.graph.connect(node, to);
                }
                self.needs[node.index()] = Arc::new(gatherer.needs);
                if let Some(call) = self.expansion_of(module) {
                    self.graph.connect(node, call);
                }
            }
        }
        id
    }

    pub fn node_of(&self, need: &Need) -> NodeId {
        match need {
            Need::Variable(m, i) => self.variable(*m, *i),
            Need::Local(m, i) => self.local(*m, *i),
            Need::Output(m, i) => self.output(*m, *i),
            Need::Resource(id, _) => self.resource(*id),
            Need::Module(m) => self.close(*m),
            Need::Action(id) => self.action(*id),
        }
    }
}
