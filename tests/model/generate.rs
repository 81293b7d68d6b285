//! Random configurations.

use super::expression::{Expr, Facts, KINDS, Kind, Maker};
use super::newer::Newer;
use super::world::{Condition, Module, Node, NodeKind, Provisioner, Repetition, World};
use crate::syntax::chance::Chance;

const KEYS: &[&str] = &["a", "b", "c", "k 1"];

/// The random choices of one history.
pub struct Generator {
    pub chance: Chance,
}

impl Generator {
    /// Returns a configuration of one to four modules.
    pub fn world(&mut self, providers: Vec<&'static str>, newer: Newer) -> World {
        let mut world = World { providers, newer, ..World::default() };
        let folders = ["mod1", "mod2", "mod3"];
        let count = self.chance.below(4);
        if !world.providers.is_empty() {
            let aliased = folders[..count].iter().copied().chain([""]).filter(|_| self.one_in(4));
            world.aliased = aliased.map(str::to_owned).collect();
        }
        // Callees first, so that calls see the outputs.
        for folder in folders[..count].iter().rev().copied().chain([""]) {
            world.modules.insert(folder.to_owned(), Module::default());
            let size = 2 + self.chance.below(6);
            for _ in 0..size {
                self.add_node(&mut world, folder);
            }
            if !folder.is_empty() {
                let outputs = 1 + self.chance.below(3);
                for _ in 0..outputs {
                    self.add(&mut world, folder, NodeKind::Output);
                }
            }
        }
        for folder in &folders[..count] {
            let called = world.modules.values().flat_map(|m| &m.nodes).any(|n| n.folder == *folder);
            if !called {
                self.add_call(&mut world, "", folder);
            }
        }
        for _ in 0..1 + self.chance.below(3) {
            self.add(&mut world, "", NodeKind::Output);
        }
        world
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.chance.below(n) == 0
    }

    /// Appends a node of a random kind to a module; returns its index.
    pub fn add_node(&mut self, world: &mut World, folder: &str) -> usize {
        let kind = match self.chance.below(24) {
            0..=1 => NodeKind::Variable { fixed: true },
            2..=3 => NodeKind::Variable { fixed: folder.is_empty() },
            4..=6 => NodeKind::Local,
            7..=14 if world.has_provider("depot") => self.provider_kind(world),
            7..=11 if !world.providers.is_empty() => self.provider_kind(world),
            7..=15 => NodeKind::Resource,
            16..=19 => NodeKind::Call,
            20..=22 => NodeKind::Output,
            _ => NodeKind::Check,
        };
        self.add(world, folder, kind)
    }

    pub fn add(&mut self, world: &mut World, folder: &str, kind: NodeKind) -> usize {
        if kind == NodeKind::Call {
            let callees: Vec<String> =
                world.modules.keys().filter(|f| f.as_str() > folder && !f.is_empty()).cloned().collect();
            if !callees.is_empty() {
                let callee = &callees[self.chance.below(callees.len())];
                return self.add_call(world, folder, callee);
            }
        }
        let kind = if kind == NodeKind::Call { NodeKind::Resource } else { kind };
        let prefix = match kind {
            NodeKind::Variable { .. } => "v",
            NodeKind::Local => "l",
            NodeKind::Output => "o",
            NodeKind::Check => "c",
            NodeKind::NullData | NodeKind::FileData => "d",
            NodeKind::Key => "k",
            NodeKind::Note => "a",
            _ => "r",
        };
        let mut node = Node::new(kind, world.name(prefix));
        let end = world.modules[folder].nodes.len();
        self.fill(world, folder, end, &mut node);
        let nodes = &mut world.modules.entry(folder.to_owned()).or_default().nodes;
        nodes.push(node);
        nodes.len() - 1
    }

    pub fn add_call(&mut self, world: &mut World, folder: &str, callee: &str) -> usize {
        let mut node = Node::new(NodeKind::Call, world.name("m"));
        node.folder = callee.to_owned();
        let end = world.modules[folder].nodes.len();
        self.repetition(world, folder, end, &mut node, 3);
        self.inputs(world, folder, end, &mut node);
        self.dependencies(world, folder, end, &mut node);
        let nodes = &mut world.modules.entry(folder.to_owned()).or_default().nodes;
        nodes.push(node);
        nodes.len() - 1
    }

    /// Gives the variables of the callee values, most of them.
    pub fn inputs(&mut self, world: &World, folder: &str, end: usize, node: &mut Node) {
        node.values.clear();
        let variables = world.modules.get(&node.folder).map(|m| m.nodes.clone()).unwrap_or_default();
        for variable in variables {
            let NodeKind::Variable { fixed } = variable.kind else { continue };
            if self.one_in(4) {
                continue;
            }
            let kind = variable.value("default").map_or(Kind::Any, |e| e.kind);
            let limit = Facts { unknown: !fixed, sensitive: !fixed, ephemeral: variable.has("ephemeral") };
            let value = self.expression(world, folder, end, node, kind, limit);
            node.values.push((variable.name, value));
        }
    }

    /// Returns an expression for an argument of a node that stands at `end`.
    pub fn expression(
        &mut self,
        world: &World,
        folder: &str,
        end: usize,
        node: &Node,
        kind: Kind,
        limit: Facts,
    ) -> Expr {
        let mut scope = world.scope(folder, end);
        match node.repetition {
            Repetition::Count(_) | Repetition::CountOf(_) => {
                scope.push(Expr::new("count.index", Kind::Number, Facts::default()));
            }
            Repetition::Keys(_) | Repetition::ForEachOf(_) => {
                scope.push(Expr::new("each.key", Kind::Text, Facts::default()));
                scope.push(Expr::new("each.value", Kind::Text, Facts::default()));
            }
            Repetition::None | Repetition::Enabled(_) => {}
        }
        // An occasional fault is worth a comparison too.
        let limit = if self.one_in(60) { Facts { unknown: true, sensitive: true, ephemeral: true } } else { limit };
        let depth = 1 + self.chance.below(3);
        Maker { chance: &mut self.chance, scope: &scope, limit }.make(kind, depth)
    }

    fn kind(&mut self) -> Kind {
        KINDS[self.chance.below(KINDS.len())]
    }

    /// Gives a new node its arguments and settings.
    fn fill(&mut self, world: &World, folder: &str, end: usize, node: &mut Node) {
        let all = Facts { unknown: true, sensitive: true, ephemeral: false };
        match node.kind {
            NodeKind::Variable { .. } => self.fill_variable(folder, node),
            NodeKind::Local => {
                let kind = self.kind();
                let limit = Facts { ephemeral: true, ..all };
                let value = self.expression(world, folder, end, node, kind, limit);
                node.values.push(("value".to_owned(), value));
            }
            NodeKind::Check => {
                if world.has_provider("local") && self.one_in(3) {
                    node.scoped = Some(self.file_name(world, folder, end));
                }
                self.conditions(world, folder, end, node, 1);
            }
            kind if node.repeats() && kind != NodeKind::Call => {
                node.alias = world.aliased.contains(folder) && self.one_in(2);
                self.provider_instance(world, folder, node);
                self.repetition(world, folder, end, node, 2);
                self.fill_resource(world, folder, end, node);
                if kind == NodeKind::Note {
                    return;
                }
                self.dependencies(world, folder, end, node);
                self.lifecycle(world, folder, end, node);
            }
            NodeKind::Output => {
                let kind = self.kind();
                let limit = Facts { ephemeral: !folder.is_empty() && self.one_in(3), ..all };
                let value = self.expression(world, folder, end, node, kind, limit);
                if value.facts.sensitive && folder.is_empty() && !self.one_in(20) || self.one_in(12) {
                    node.flags.push("sensitive");
                }
                if value.facts.ephemeral && !folder.is_empty() {
                    node.flags.push("ephemeral");
                }
                node.values.push(("value".to_owned(), value));
                if self.one_in(8) {
                    self.dependencies(world, folder, end, node);
                }
                self.conditions(world, folder, end, node, 10);
            }
            _ => {}
        }
    }

    fn fill_variable(&mut self, folder: &str, node: &mut Node) {
        let kind = self.kind();
        let limit = Facts::default();
        let default = Maker { chance: &mut self.chance, scope: &[], limit }.literal(kind);
        node.values.push(("default".to_owned(), default));
        if self.one_in(8) {
            node.flags.push("sensitive");
        }
        if self.one_in(12) {
            node.flags.push("ephemeral");
        }
        if self.one_in(12) && !folder.is_empty() {
            node.flags.push("!nullable");
        }
        if self.one_in(5) {
            let name = &node.name;
            let condition = match kind {
                Kind::Text => format!("var.{name} != \"x0\""),
                Kind::Number => format!("var.{name} < 10"),
                Kind::List | Kind::Map => format!("length(var.{name}) < 4"),
                _ => format!("can(jsonencode(var.{name}))"),
            };
            node.conditions.push(Condition { block: "validation", condition });
        }
    }

    /// Gives a resource or data source its arguments anew.
    pub fn fill_resource(&mut self, world: &World, folder: &str, end: usize, node: &mut Node) {
        let limit = Facts { unknown: true, sensitive: true, ephemeral: false };
        node.values.clear();
        if matches!(node.kind.provider(), Some("random" | "local" | "depot")) {
            return self.fill_from_provider(world, folder, end, node);
        }
        let arguments: &[(&str, usize)] = match node.kind {
            NodeKind::Resource => &[("input", 8), ("triggers_replace", 2)],
            NodeKind::NullResource => &[("triggers", 6)],
            _ => &[("inputs", 9)],
        };
        for (argument, weight) in arguments {
            if self.chance.below(10) < *weight {
                let kind = if node.kind == NodeKind::Resource { self.kind() } else { Kind::Map };
                let value = self.expression(world, folder, end, node, kind, limit);
                node.values.push(((*argument).to_owned(), value));
            }
        }
        if node.kind == NodeKind::Resource && self.one_in(20) {
            let provisioner =
                Provisioner { fails: self.one_in(3), at_destroy: self.one_in(3), goes_on: self.one_in(3) };
            node.provisioner = Some(provisioner);
        }
    }

    /// Gives a node `count` or `for_each`, once in `rarity`.
    pub fn repetition(&mut self, world: &World, folder: &str, end: usize, node: &mut Node, rarity: usize) {
        node.repetition = Repetition::None;
        if !self.one_in(rarity) {
            if node.kind == NodeKind::Note {
                return;
            }
            let flag = |g: &mut Generator| {
                let scope = world.scope(folder, end);
                Maker { chance: &mut g.chance, scope: &scope, limit: Facts::default() }.make(Kind::Flag, 1).text
            };
            return self.enabled(world.newer, node, flag);
        }
        let limit = Facts::default();
        let depth = 1 + self.chance.below(2);
        let scope = world.scope(folder, end);
        let rarity = if world.newer.has_deferral() { 5 } else { 25 };
        let limit = if self.one_in(rarity) { Facts { unknown: true, ..limit } } else { limit };
        let maker = &mut Maker { chance: &mut self.chance, scope: &scope, limit };
        node.repetition = match maker.chance.below(8) {
            0..=2 => Repetition::Count(maker.chance.below(4)),
            3..=5 => Repetition::Keys(KEYS.iter().copied().filter(|_| maker.chance.below(2) == 0).collect()),
            6 => {
                let flag = maker.make(Kind::Flag, depth).text;
                Repetition::CountOf(format!("{flag} ? 1 : 0"))
            }
            _ => match maker.chance.below(3) {
                0 => Repetition::ForEachOf(format!("toset({})", maker.make(Kind::List, depth).text)),
                _ => Repetition::ForEachOf(maker.make(Kind::Map, depth).text),
            },
        };
    }

    /// Returns the addresses of nodes before `end` that `depends_on` may name.
    fn earlier(&mut self, world: &World, folder: &str, end: usize, filter: impl Fn(&Node) -> bool) -> Vec<String> {
        let nodes = world.modules.get(folder).into_iter().flat_map(|m| &m.nodes).take(end);
        nodes.filter(|n| filter(n)).map(Node::address).collect()
    }

    pub fn dependencies(&mut self, world: &World, folder: &str, end: usize, node: &mut Node) {
        node.depends_on.clear();
        let rarity = if node.kind == NodeKind::Call { 8 } else { 5 };
        let found = self.earlier(world, folder, end, Node::waits);
        if !found.is_empty() && self.one_in(rarity) {
            node.depends_on.push(found[self.chance.below(found.len())].clone());
        }
    }

    pub fn lifecycle(&mut self, world: &World, folder: &str, end: usize, node: &mut Node) {
        if node.is_resource() {
            node.lifecycle.create_before_destroy = self.one_in(5);
            node.lifecycle.prevent_destroy = self.one_in(50);
            node.lifecycle.forgets = world.newer.has_forgetting() && self.one_in(8);
            node.lifecycle.ignore_changes = match self.chance.below(20) {
                0 => node.kind.argument(),
                1 => Some("all"),
                _ => None,
            };
            node.lifecycle.replace_triggered_by.clear();
            let found = self.earlier(world, folder, end, Node::is_resource);
            // In OpenTofu, what is created triggers, too.
            if !found.is_empty() && world.newer != Newer::OpenTofu && self.one_in(8) {
                let address = &found[self.chance.below(found.len())];
                let suffix = match address.split(['.', '_']).next() {
                    Some("null") => ".triggers",
                    Some("random") => ".keepers",
                    Some("local") => ".content",
                    Some("depot") => ".value",
                    _ => ".input",
                };
                let suffix = if self.one_in(2) { suffix } else { "" };
                node.lifecycle.replace_triggered_by.push(format!("{address}{suffix}"));
            }
            self.triggers(world, folder, end, node);
        }
        self.conditions(world, folder, end, node, 8);
    }

    /// Gives a node conditions, once in `rarity`.
    pub fn conditions(&mut self, world: &World, folder: &str, end: usize, node: &mut Node, rarity: usize) {
        node.conditions.retain(|c| c.block == "validation");
        if !self.one_in(rarity) {
            return;
        }
        let limit = Facts { unknown: true, sensitive: self.one_in(6), ephemeral: self.one_in(6) };
        let block = match node.kind {
            NodeKind::Check => "assert",
            NodeKind::Output => "precondition",
            _ if self.one_in(2) => "postcondition",
            _ => "precondition",
        };
        // Most conditions hold, or nothing would ever be applied.
        let condition = match self.chance.below(6) {
            _ if node.scoped.is_some() && self.one_in(2) => {
                format!("data.local_file.{}.content != \"x5\"", node.name)
            }
            0 => self.expression(world, folder, end, node, Kind::Flag, limit).text,
            1 if block == "postcondition" => format!("self.{} != null", own_attribute(node)),
            2 => format!("{} == null || true", self.expression(world, folder, end, node, Kind::Any, limit).text),
            3 => format!("length({}) >= 0", self.expression(world, folder, end, node, Kind::List, limit).text),
            _ => format!("{} != \"x5\"", self.expression(world, folder, end, node, Kind::Text, limit).text),
        };
        node.conditions.push(Condition { block, condition });
    }
}

fn own_attribute(node: &Node) -> &'static str {
    match node.kind {
        NodeKind::Resource => "output",
        NodeKind::NullData => "outputs",
        NodeKind::Key => "name",
        _ => "id",
    }
}
