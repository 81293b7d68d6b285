//! The dependencies between the blocks of a configuration, or between the objects of a state.
//!
//! Follows references through variables, local values and outputs from one resource block to the others. Never evaluates anything:
//! what a plan is made by is the graph of the engine, this one is for readers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lang::syntax::ast::{Attribute, Expression, Traversal};
use lang::syntax::body::Body;
use model::addr::parse::parse_reference;
use model::addr::{self, ConfigResource, Subject};
use model::config::{Condition, Config, Module, Resource};
use model::schema::decode::references_in_body;
use model::state::State;
use rustc_hash::{FxHashMap, FxHashSet};
use terrane_protocol::schema::ResourceMode;

use crate::schemas::SchemaLookup;

/// Resource blocks and what they need: an edge goes from the block that needs the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockGraph {
    pub blocks: Vec<ConfigResource>,
    pub edges: Vec<(usize, usize)>,
    /// There were too many edges: the last ones are missing.
    pub is_cut: bool,
}

/// More edges are not kept.
const MOST_EDGES: usize = 100_000;

impl BlockGraph {
    /// The blocks of a configuration, and their references.
    pub fn of_config(config: &Config, schemas: &SchemaLookup<'_>) -> BlockGraph {
        let mut references = References::new(config, schemas);
        let mut graph = BlockGraph::default();
        let mut places = FxHashMap::default();
        for (module, site) in references.modules.iter().enumerate() {
            for resource in site.module.resources.values().filter(|resource| resource.addr.mode != ResourceMode::List) {
                places.insert((module, resource.addr.clone()), graph.blocks.len());
                graph.blocks.push(resource.addr.in_module(site.module.path.clone()));
            }
        }
        let mut starts: Vec<(&(usize, addr::Resource), &usize)> = places.iter().collect();
        starts.sort_by_key(|(_, place)| **place);
        for ((module, resource), from) in starts {
            for needed in references.needed_by(*module, resource) {
                if let Some(to) = places.get(&needed).filter(|to| *to != from) {
                    graph.connect(*from, *to);
                }
            }
        }
        graph
    }

    /// The blocks that the objects of a state came from.
    pub fn of_state(state: &State) -> BlockGraph {
        let mut graph = BlockGraph::default();
        graph.add_objects(state, &mut FxHashMap::default());
        graph
    }

    /// Adds blocks that are not there yet, and for those the dependencies that a state has.
    pub fn add_missing(&mut self, blocks: impl Iterator<Item = ConfigResource>, state: &State) {
        let mut places = self.places();
        let missing: BTreeSet<ConfigResource> = blocks.filter(|block| !places.contains_key(block)).collect();
        if missing.is_empty() {
            return;
        }
        let is_missing = |block: &ConfigResource| missing.contains(block);
        let mut stored = BlockGraph::default();
        stored.add_objects(state, &mut FxHashMap::default());
        for block in &missing {
            places.insert(block.clone(), self.blocks.len());
            self.blocks.push(block.clone());
        }
        for (from, to) in stored.edges {
            let ends = (&stored.blocks[from], &stored.blocks[to]);
            let both = places.get(ends.0).zip(places.get(ends.1));
            if let Some((from, to)) = both.filter(|_| is_missing(ends.0)) {
                self.connect(*from, *to);
            }
        }
    }

    /// Where each block is.
    pub fn places(&self) -> FxHashMap<ConfigResource, usize> {
        self.blocks.iter().enumerate().map(|(place, block)| (block.clone(), place)).collect()
    }

    fn connect(&mut self, from: usize, to: usize) {
        match self.edges.len() < MOST_EDGES {
            true => self.edges.push((from, to)),
            false => self.is_cut = true,
        }
    }

    /// The blocks of a state. It keeps all dependencies of an object: those that others imply are left out.
    fn add_objects(&mut self, state: &State, places: &mut FxHashMap<ConfigResource, usize>) {
        let mut needs: BTreeMap<ConfigResource, BTreeSet<ConfigResource>> = BTreeMap::new();
        for (addr, resource) in &state.resources {
            let needed = needs.entry(addr.config()).or_default();
            for object in resource.instances.values().flat_map(|instance| instance.objects()) {
                needed.extend(object.dependencies.iter().cloned());
            }
        }
        for block in needs.keys() {
            places.insert(block.clone(), self.blocks.len());
            self.blocks.push(block.clone());
        }
        for (block, needed) in &needs {
            for direct in direct_needs(needed, &needs) {
                if let Some((from, to)) = places.get(block).zip(places.get(direct)).filter(|(from, to)| from != to) {
                    self.connect(*from, *to);
                }
            }
        }
    }
}

/// What of all that a block needs no other of it needs. Those with the most needs are looked at first, because they imply most.
fn direct_needs<'n>(
    needed: &'n BTreeSet<ConfigResource>,
    all: &BTreeMap<ConfigResource, BTreeSet<ConfigResource>>,
) -> Vec<&'n ConfigResource> {
    let weight = |block: &&ConfigResource| all.get(*block).map_or(0, BTreeSet::len);
    let mut order: Vec<&ConfigResource> = needed.iter().collect();
    order.sort_by_key(|block| std::cmp::Reverse(weight(block)));
    let mut implied: FxHashSet<&ConfigResource> = FxHashSet::default();
    let mut direct = Vec::new();
    for block in order {
        if !implied.contains(block) {
            direct.push(block);
            implied.extend(all.get(block).into_iter().flatten().filter(|other| *other != block));
        }
    }
    direct
}

/// A module with its place in the tree.
struct ModuleSite<'c> {
    module: &'c Module,
    /// The one that calls it, and the name of the call.
    caller: Option<(usize, Arc<str>)>,
    children: FxHashMap<Arc<str>, usize>,
    /// What its call sets.
    arguments: FxHashMap<Arc<str>, Attribute>,
}

/// What can be referred to, in one module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Referent {
    Resource(addr::Resource),
    Variable(Arc<str>),
    Local(Arc<str>),
    Output(Arc<str>),
    /// Everything in the module.
    Whole,
}

struct References<'c> {
    modules: Vec<ModuleSite<'c>>,
    schemas: &'c SchemaLookup<'c>,
    /// What is referred to directly, as far as it was looked up.
    known: FxHashMap<(usize, Referent), Arc<[(usize, Referent)]>>,
}

impl<'c> References<'c> {
    fn new(config: &'c Config, schemas: &'c SchemaLookup<'c>) -> References<'c> {
        let root = ModuleSite {
            module: &config.root,
            caller: None,
            children: FxHashMap::default(),
            arguments: FxHashMap::default(),
        };
        let mut modules = vec![root];
        let mut next = 0;
        while next < modules.len() {
            let module = modules[next].module;
            for (name, child) in &module.children {
                let place = modules.len();
                modules[next].children.insert(name.clone(), place);
                let call = module.calls.get(name);
                let arguments = call.map(|call| call.body.just_attributes().0).into_iter().flatten().collect();
                let caller = Some((next, name.clone()));
                modules.push(ModuleSite { module: child, caller, children: FxHashMap::default(), arguments });
            }
            next += 1;
        }
        References { modules, schemas, known: FxHashMap::default() }
    }

    /// The resource blocks that a block refers to, directly or through values.
    fn needed_by(&mut self, module: usize, resource: &addr::Resource) -> Vec<(usize, addr::Resource)> {
        let mut found = Vec::new();
        let mut seen: FxHashSet<(usize, Referent)> = FxHashSet::default();
        let mut open: Vec<(usize, Referent)> =
            self.direct(&(module, Referent::Resource(resource.clone()))).iter().rev().cloned().collect();
        while let Some(next) = open.pop() {
            if !seen.insert(next.clone()) {
                continue;
            }
            match next {
                (module, Referent::Resource(resource)) => found.push((module, resource)),
                value => open.extend(self.direct(&value).iter().rev().cloned()),
            }
        }
        found
    }

    fn direct(&mut self, from: &(usize, Referent)) -> Arc<[(usize, Referent)]> {
        if let Some(known) = self.known.get(from) {
            return known.clone();
        }
        let found: Arc<[(usize, Referent)]> = self.look_up(from.0, &from.1).into();
        self.known.insert(from.clone(), found.clone());
        found
    }

    fn look_up(&self, place: usize, from: &Referent) -> Vec<(usize, Referent)> {
        let site = &self.modules[place];
        let mut found = ModuleReferents { site, place, referents: Vec::new() };
        match from {
            Referent::Variable(name) => {
                let Some((caller, _)) = &site.caller else { return Vec::new() };
                let mut outside =
                    ModuleReferents { site: &self.modules[*caller], place: *caller, referents: Vec::new() };
                if let Some(argument) = site.arguments.get(name) {
                    outside.expression(&argument.expr);
                }
                return outside.referents;
            }
            Referent::Local(name) => {
                if let Some(local) = site.module.locals.get(name) {
                    found.expression(&local.expr);
                }
            }
            Referent::Output(name) => {
                if let Some(output) = site.module.outputs.get(name) {
                    found.expression(&output.value);
                    found.traversals(&output.depends_on, &output.value);
                }
            }
            Referent::Whole => {
                found
                    .referents
                    .extend(site.module.resources.keys().map(|addr| (place, Referent::Resource(addr.clone()))));
                found.referents.extend(site.children.values().map(|child| (*child, Referent::Whole)));
            }
            Referent::Resource(addr) => {
                if let Some(resource) = site.module.resources.get(addr) {
                    self.of_resource(resource, &mut found);
                }
                self.of_calls(place, &mut found);
            }
        }
        found.referents
    }

    fn of_resource(&self, resource: &Resource, found: &mut ModuleReferents<'_, 'c>) {
        let lifecycle = &resource.lifecycle;
        let repetition = resource.count.iter().chain(&resource.for_each).chain(&lifecycle.enabled);
        repetition.chain(&lifecycle.replace_triggered_by).for_each(|expression| found.expression(expression));
        found.depends_on(&resource.depends_on, &resource.body);
        lifecycle.preconditions.iter().chain(&lifecycle.postconditions).for_each(|one| found.condition(one));
        let schema = (self.schemas)(&resource.provider, resource.addr.mode, &resource.addr.kind);
        match schema {
            Some(schema) => {
                for (traversal, expression) in references_in_body(&resource.body, &schema.block) {
                    found.traversal(&traversal, &expression);
                }
            }
            None => found.body(&resource.body),
        }
        for provisioner in &resource.provisioners {
            found.body(&provisioner.body);
        }
    }

    /// What the calls of a module and of those around it depend on, for everything in the module.
    fn of_calls(&self, place: usize, found: &mut ModuleReferents<'_, 'c>) {
        let mut inner = place;
        while let Some((caller, name)) = &self.modules[inner].caller {
            let site = &self.modules[*caller];
            if let Some(call) = site.module.calls.get(name) {
                let mut outside = ModuleReferents { site, place: *caller, referents: Vec::new() };
                call.count.iter().chain(&call.for_each).for_each(|expression| outside.expression(expression));
                outside.depends_on(&call.depends_on, &call.body);
                found.referents.extend(outside.referents);
            }
            inner = *caller;
        }
    }
}

/// References found in one module.
struct ModuleReferents<'r, 'c> {
    site: &'r ModuleSite<'c>,
    place: usize,
    referents: Vec<(usize, Referent)>,
}

impl ModuleReferents<'_, '_> {
    fn expression(&mut self, expression: &Expression) {
        for traversal in expression.variables() {
            self.traversal(traversal, expression);
        }
    }

    fn condition(&mut self, condition: &Condition) {
        self.expression(&condition.condition);
    }

    /// All attributes of a body without a schema, and of the blocks in it.
    fn body(&mut self, body: &Body) {
        let mut open = vec![body];
        while let Some(body) = open.pop() {
            body.attributes().into_iter().for_each(|attribute| self.expression(&attribute.expr));
            open.extend(body.blocks().into_iter().map(|block| &block.body));
        }
    }

    fn depends_on(&mut self, list: &[Traversal], body: &Body) {
        for traversal in list {
            self.subject(parse_reference(traversal, body.file()).ok().map(|reference| reference.subject));
        }
    }

    fn traversals(&mut self, list: &[Traversal], near: &Expression) {
        list.iter().for_each(|traversal| self.traversal(traversal, near));
    }

    fn traversal(&mut self, traversal: &Traversal, expression: &Expression) {
        self.subject(parse_reference(traversal, &expression.file).ok().map(|reference| reference.subject));
    }

    fn subject(&mut self, subject: Option<Subject>) {
        let child = |name: &Arc<str>| self.site.children.get(name).copied();
        let found = match subject {
            Some(Subject::Resource(resource)) => Some((self.place, Referent::Resource(resource))),
            Some(Subject::ResourceInstance(instance)) => Some((self.place, Referent::Resource(instance.resource))),
            Some(Subject::Variable(name)) => Some((self.place, Referent::Variable(name))),
            Some(Subject::Local(name)) => Some((self.place, Referent::Local(name))),
            Some(Subject::Module(name) | Subject::ModuleInstance(name, _)) => {
                child(&name).map(|module| (module, Referent::Whole))
            }
            Some(Subject::ModuleOutput(name, _, output)) => {
                child(&name).map(|module| (module, Referent::Output(output)))
            }
            _ => None,
        };
        self.referents.extend(found);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use base::files::Memory;
    use model::config::{NoInputs, load_root};
    use model::state::{Instance, ResourceState};

    use super::*;
    use crate::objects::tests::object;

    fn shown(graph: &BlockGraph) -> Vec<String> {
        let mut edges: Vec<String> =
            graph.edges.iter().map(|(from, to)| format!("{} -> {}", graph.blocks[*from], graph.blocks[*to])).collect();
        edges.sort();
        edges
    }

    #[test]
    fn references_lead_through_values_to_blocks() {
        let text = br#"
            variable "v" { default = 1 }
            locals {
              a = local.b
              b = x_y.one.id
              round = local.round_too
              round_too = local.round
            }
            resource "x_y" "one" {}
            resource "x_y" "two" {
              name = "${local.a}-${local.round}-${var.v}"
            }
            resource "x_y" "three" {
              count      = length(data.x_z.d.list)
              depends_on = [x_y.two]
              block { arg = x_y.one.id }
              self_reference = x_y.three[0].id
            }
            data "x_z" "d" {}
        "#;
        let files = Memory::of([("main.tf", &text[..])]);
        let (config, problems) = load_root(Path::new("."), &files, Arc::new(NoInputs));
        assert!(!problems.has_errors(), "{problems:?}");
        let config = Config { root: config.unwrap().into() };
        let graph = BlockGraph::of_config(&config, &|_, _, _| None);
        let expected =
            ["x_y.three -> data.x_z.d", "x_y.three -> x_y.one", "x_y.three -> x_y.two", "x_y.two -> x_y.one"];
        assert_eq!(shown(&graph), expected);
    }

    #[test]
    fn dependencies_of_a_state_leave_out_what_others_imply() {
        let block = |name: &str| addr::Resource::managed("t", name).in_module(addr::Module::root());
        let mut state = State::default();
        let stored: [(&str, &[&str]); 4] =
            [("a", &[]), ("b", &["a"]), ("c", &["a", "b"]), ("d", &["c", "a", "b", "gone"])];
        for (name, needs) in stored {
            let mut stored = object(0, "{}");
            stored.dependencies = needs.iter().map(|name| block(name)).collect();
            let instance = Instance { current: Some(stored), deposed: BTreeMap::new() };
            let provider = addr::AbsProviderConfig::root(addr::Provider::builtin("t"));
            let instances = [(addr::InstanceKey::None, Arc::new(instance))].into();
            let resource = Arc::new(ResourceState { provider, instances });
            state.resources.insert(addr::Resource::managed("t", name).absolute(addr::ModuleInstance::root()), resource);
        }
        assert_eq!(shown(&BlockGraph::of_state(&state)), ["t.b -> t.a", "t.c -> t.b", "t.d -> t.c"]);
        let mut graph = BlockGraph { blocks: vec![block("a"), block("b")], ..BlockGraph::default() };
        graph.add_missing([block("b"), block("c")].into_iter(), &state);
        assert_eq!(shown(&graph), ["t.c -> t.b"]);
    }
}
