//! The modules of a configuration by number, and their declarations by position.

use std::sync::Arc;

use base::dialect::Dialect;

use crate::ids::{ActionId, ModuleId, ROOT, ResourceId};
use model::addr;
use model::config::{Action, Check, Config, Local, Module, ModuleCall, Output, Resource, Variable};
use rustc_hash::FxHashMap;

/// The modules of a configuration and their blocks.
pub struct Tree {
    branches: Vec<Branch>,
    by_path: FxHashMap<addr::Module, ModuleId>,
    has_deprecated_outputs: bool,
    /// Per action: the resources whose changes invoke it.
    callers: FxHashMap<ActionId, Vec<ResourceId>>,
}

struct Branch {
    module: Arc<Module>,
    parent: Option<(ModuleId, u32)>,
    children: Vec<Option<ModuleId>>,
}

impl Tree {
    pub fn new(config: &Config) -> Tree {
        let mut tree = Tree {
            branches: Vec::new(),
            by_path: FxHashMap::default(),
            has_deprecated_outputs: false,
            callers: FxHashMap::default(),
        };
        tree.add(&config.root, None);
        let mut next = 0;
        while next < tree.branches.len() {
            let module = tree.branches[next].module.clone();
            for (index, call) in module.calls.keys().enumerate() {
                if let Some(child) = module.children.get(call) {
                    let id = tree.add(child, Some((ModuleId::new(next), index as u32)));
                    tree.branches[next].children[index] = Some(id);
                }
            }
            next += 1;
        }
        tree
    }

    fn add(&mut self, module: &Arc<Module>, parent: Option<(ModuleId, u32)>) -> ModuleId {
        let id = ModuleId::new(self.branches.len());
        self.has_deprecated_outputs |= module.outputs.values().any(|output| output.deprecated.is_some());
        self.by_path.insert(module.path.clone(), id);
        if !module.actions.is_empty() {
            self.add_callers(module, id);
        }
        self.branches.push(Branch { module: module.clone(), parent, children: vec![None; module.calls.len()] });
        id
    }

    fn add_callers(&mut self, module: &Module, id: ModuleId) {
        for (resource, config) in module.resources.values().enumerate() {
            let caller = ResourceId::new(id, resource);
            for call in config.lifecycle.action_triggers.iter().flat_map(|trigger| &trigger.actions) {
                let Some(action) = module.actions.get_index_of(&call.action) else { continue };
                let callers = self.callers.entry(ActionId::new(id, action)).or_default();
                if callers.last() != Some(&caller) {
                    callers.push(caller);
                }
            }
        }
    }

    /// The dialect that the configuration is written in.
    pub fn dialect(&self) -> Dialect {
        self.module(ROOT).dialect
    }

    /// The resources whose changes invoke an action, in their order.
    pub fn callers(&self, action: ActionId) -> &[ResourceId] {
        self.callers.get(&action).map_or(&[], Vec::as_slice)
    }

    /// False: there is nothing to warn of.
    pub fn has_deprecated_outputs(&self) -> bool {
        self.has_deprecated_outputs
    }

    pub fn ids(&self) -> impl Iterator<Item = ModuleId> + use<> {
        (0..self.branches.len()).map(ModuleId::new)
    }

    pub fn module(&self, id: ModuleId) -> &Arc<Module> {
        &self.branches[id.index()].module
    }

    pub fn find(&self, path: &addr::Module) -> Option<ModuleId> {
        self.by_path.get(path).copied()
    }

    /// The calling module and the position of the call; none for the root.
    pub fn parent(&self, id: ModuleId) -> Option<(ModuleId, u32)> {
        self.branches[id.index()].parent
    }

    /// The module that a call leads to; none if it could not be loaded.
    pub fn child(&self, id: ModuleId, call: u32) -> Option<ModuleId> {
        self.branches[id.index()].children[call as usize]
    }

    pub fn variable(&self, module: ModuleId, index: u32) -> &Variable {
        &self.module(module).variables[index as usize]
    }

    pub fn local(&self, module: ModuleId, index: u32) -> &Local {
        &self.module(module).locals[index as usize]
    }

    pub fn output(&self, module: ModuleId, index: u32) -> &Output {
        &self.module(module).outputs[index as usize]
    }

    pub fn call(&self, module: ModuleId, index: u32) -> &ModuleCall {
        &self.module(module).calls[index as usize]
    }

    pub fn resource(&self, id: ResourceId) -> &Resource {
        &self.module(id.module).resources[id.index()]
    }

    pub fn action(&self, id: ActionId) -> &Action {
        &self.module(id.module).actions[id.index()]
    }

    pub fn check(&self, module: ModuleId, index: u32) -> &Check {
        &self.module(module).checks[index as usize]
    }

    /// The check block that a data source stands in.
    pub fn check_around(&self, id: ResourceId) -> Option<&Check> {
        let module = self.module(id.module);
        if module.checks.is_empty() {
            return None;
        }
        let (addr, _) = module.resources.get_index(id.index())?;
        module.checks.values().find(|check| check.data.as_ref() == Some(addr))
    }

    /// The block of a resource and its place, if the configuration has one.
    pub fn find_resource(&self, addr: &addr::ConfigResource) -> Option<ResourceId> {
        self.resource_in(self.find(&addr.module)?, &addr.resource)
    }

    /// The resource block that a module has under an address.
    pub fn resource_in(&self, module: ModuleId, resource: &addr::Resource) -> Option<ResourceId> {
        let index = self.module(module).resources.get_index_of(resource)?;
        Some(ResourceId::new(module, index))
    }

    /// The action block that a module has under an address.
    pub fn find_action(&self, module: ModuleId, action: &addr::Action) -> Option<ActionId> {
        let index = self.module(module).actions.get_index_of(action)?;
        Some(ActionId::new(module, index))
    }

    pub fn config_addr(&self, id: ResourceId) -> addr::ConfigResource {
        self.resource(id).addr.in_module(self.module(id.module).path.clone())
    }
}
