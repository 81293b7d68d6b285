//! Random configurations in which providers are configured from everything that can be referred to.

use super::provider::NAMES;
use super::world::{Each, Expr, Node, What, World};
use crate::syntax::chance::Chance;

const FOLDERS: &[&str] = &["m1", "m2"];

/// The random choices of one life.
pub struct Generator {
    pub chance: Chance,
}

/// Which values an expression may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Known in every plan.
    Early,
    Any,
    /// Ephemeral ones, too.
    Ephemeral,
}

impl Generator {
    pub fn one_in(&mut self, n: usize) -> bool {
        self.chance.below(n) == 0
    }

    pub fn pick<'l, T>(&mut self, list: &'l [T]) -> Option<&'l T> {
        if list.is_empty() { None } else { Some(&list[self.chance.below(list.len())]) }
    }

    pub fn world(&mut self) -> World {
        let kinds = if self.one_in(4) { 3 } else { 2 };
        let mut world = World { kinds: NAMES[..kinds].to_vec(), ..World::default() };
        let modules = self.chance.below(FOLDERS.len() + 1);
        // Callees first, so that calls see the outputs.
        for folder in FOLDERS[..modules].iter().rev() {
            self.inner_module(&mut world, folder);
        }
        self.root_module(&mut world);
        for folder in &FOLDERS[..modules] {
            if world.calls_of(folder).is_empty() {
                let end = world.module("").nodes.len();
                self.add_call(&mut world, "", end, folder);
            }
        }
        for _ in 0..1 + self.chance.below(2) {
            self.add(&mut world, "", What::Output);
        }
        world
    }

    fn root_module(&mut self, world: &mut World) {
        world.module("");
        for _ in 0..1 + self.chance.below(3) {
            self.add(world, "", What::Variable);
        }
        let size = 5 + self.chance.below(6);
        for _ in 0..size {
            self.add_random(world, "");
        }
    }

    fn inner_module(&mut self, world: &mut World, folder: &str) {
        let kinds = world.kinds.clone();
        let module = world.module(folder);
        module.nodes.push(Node::new(What::Variable, "", "tag"));
        if self.one_in(4) {
            for kind in kinds.iter().filter(|_| self.one_in(2)) {
                module.wants.insert(format!("{kind}.other"));
            }
        }
        for _ in 0..1 + self.chance.below(2) {
            self.add(world, folder, What::Variable);
        }
        // Modules with their own provider blocks are rare, but not here.
        if self.one_in(3) {
            self.add(world, folder, What::Provider);
        }
        for _ in 0..2 + self.chance.below(3) {
            self.add_random(world, folder);
        }
        self.add(world, folder, What::Output);
    }

    /// Appends a node of a random kind.
    pub fn add_random(&mut self, world: &mut World, folder: &str) {
        let what = match self.chance.below(24) {
            0 => What::Variable,
            1 => What::Local,
            2 => What::Output,
            3..=7 if folder.is_empty() => What::Provider,
            8..=10 => What::Look,
            11 => What::Key,
            12..=14 => What::Call,
            15 => What::Item,
            _ => What::Thing,
        };
        self.add(world, folder, what);
    }

    /// Appends a node; returns its index.
    pub fn add(&mut self, world: &mut World, folder: &str, what: What) -> usize {
        let end = world.module(folder).nodes.len();
        self.insert(world, folder, end, what);
        end
    }

    /// Inserts a node that may refer to those before it.
    pub fn insert(&mut self, world: &mut World, folder: &str, at: usize, what: What) {
        if what == What::Call {
            let callees: Vec<String> = world.modules.keys().filter(|f| f.as_str() > folder).cloned().collect();
            match self.pick(&callees).cloned() {
                Some(callee) => return self.add_call(world, folder, at, &callee),
                None => return self.insert(world, folder, at, What::Thing),
            }
        }
        let kinds = world.kinds.clone();
        let kind = kinds[self.chance.below(kinds.len())];
        let name = match what {
            What::Provider => match self.alias(world, folder, at, kind) {
                Some(alias) => alias,
                None => return self.insert(world, folder, at, What::Thing),
            },
            What::Variable => world.name("v"),
            What::Local => world.name("l"),
            What::Output => world.name("o"),
            What::Look => world.name("d"),
            What::Key => world.name("k"),
            _ => world.name("t"),
        };
        let mut node = Node::new(what, kind, name);
        self.fill(world, folder, at, &mut node);
        world.module(folder).nodes.insert(at, node);
    }

    /// Chooses the name of a new configuration of a provider. A default configuration stands before all that use it.
    fn alias(&mut self, world: &World, folder: &str, at: usize, kind: &str) -> Option<String> {
        let nodes = &world.modules[folder].nodes;
        let has = |name: &str| nodes.iter().any(|n| n.what == What::Provider && n.kind == kind && n.name == name);
        let is_used = nodes[..at].iter().any(|n| n.kind == kind && n.is_served() && n.via.is_none())
            || nodes[..at].iter().any(|n| n.what == What::Call);
        let free: Vec<&str> = ["", "x", "y"].into_iter().filter(|name| !has(name)).collect();
        let free: Vec<&str> = free.into_iter().filter(|name| !name.is_empty() || !is_used).collect();
        let first = free.first().copied()?;
        Some(if self.one_in(2) { first } else { free[self.chance.below(free.len())] }.to_owned())
    }

    fn fill(&mut self, world: &World, folder: &str, at: usize, node: &mut Node) {
        match node.what {
            What::Variable => {
                if folder.is_empty() || self.one_in(2) {
                    node.arguments.push(("default".to_owned(), Expr::early(self.literal())));
                }
            }
            What::Local => {
                let value = self.expression(world, folder, at, Limit::Any);
                node.arguments.push(("value".to_owned(), value));
            }
            What::Output => {
                let value = self.expression(world, folder, at, Limit::Any);
                node.arguments.push(("value".to_owned(), value));
            }
            What::Provider => {
                for name in ["server", "label", "extra"] {
                    if !self.one_in(4) {
                        let value = self.provider_argument(world, folder, at, name);
                        node.arguments.push((name.to_owned(), value));
                    }
                }
            }
            What::Thing | What::Item | What::Look | What::Key => self.fill_served(world, folder, at, node),
            What::Call => {}
        }
    }

    fn fill_served(&mut self, world: &World, folder: &str, at: usize, node: &mut Node) {
        if self.one_in(4) {
            node.each = self.each();
        }
        let aliases = world.aliases(folder, at, node.kind);
        if self.one_in(2) {
            node.via = self.pick(&aliases).cloned();
        }
        match node.what {
            What::Look => {
                for name in ["key", "filter"] {
                    if self.one_in(2) {
                        let value = self.argument(world, folder, at, name);
                        node.arguments.push((name.to_owned(), value));
                    }
                }
            }
            What::Key => node.arguments.push(("name".to_owned(), self.argument(world, folder, at, "name"))),
            _ => {
                node.arguments.push(("name".to_owned(), own_name(folder, node)));
                if !self.one_in(4) {
                    let value = self.argument(world, folder, at, "value");
                    node.arguments.push(("value".to_owned(), value));
                }
                if self.one_in(4) {
                    let value = self.argument(world, folder, at, "force");
                    node.arguments.push(("force".to_owned(), value));
                }
                node.creates_first = self.one_in(4);
            }
        }
        if self.one_in(4) {
            node.depends_on = self.dependencies(world, folder, at);
        }
    }

    pub fn dependencies(&mut self, world: &World, folder: &str, at: usize) -> Vec<String> {
        let nodes = world.modules[folder].nodes.iter().take(at);
        let able: Vec<String> =
            nodes.filter(|n| n.is_object() || matches!(n.what, What::Look | What::Call)).map(Node::address).collect();
        self.pick(&able).cloned().into_iter().collect()
    }

    pub fn each(&mut self) -> Each {
        match self.chance.below(5) {
            0 => Each::Count(1),
            1 => Each::Count(2),
            2 => Each::Keys(vec!["a", "b"]),
            3 => Each::Keys(vec!["b"]),
            _ => Each::None,
        }
    }

    /// The value of an argument of a provider block.
    pub fn provider_argument(&mut self, world: &World, folder: &str, at: usize, name: &str) -> Expr {
        // The objects of a server that is replaced are gone; that is not to happen in every step.
        let limit = match name {
            "server" if self.one_in(3) => Limit::Early,
            "server" => Limit::Any,
            _ => Limit::Ephemeral,
        };
        let value = self.expression(world, folder, at, limit);
        if name == "extra" { value } else { textual(value) }
    }

    /// The value of an argument of an object, a data source or an ephemeral resource.
    pub fn argument(&mut self, world: &World, folder: &str, at: usize, name: &str) -> Expr {
        let value = self.expression(world, folder, at, Limit::Any);
        if ["value", "filter"].contains(&name) { value } else { textual(value) }
    }

    pub fn add_call(&mut self, world: &mut World, folder: &str, at: usize, callee: &str) {
        let mut node = Node::new(What::Call, "", world.name("c"));
        node.folder = callee.to_owned();
        if self.one_in(4) && (!world.configures(callee) || self.one_in(12)) {
            node.each = self.each();
        }
        if self.one_in(6) && !world.configures(callee) {
            node.depends_on = self.dependencies(world, folder, at);
        }
        self.inputs(world, folder, at, &mut node);
        self.passes(world, folder, at, &mut node);
        world.module(folder).nodes.insert(at, node);
    }

    /// Gives the variables of the callee values.
    pub fn inputs(&mut self, world: &World, folder: &str, at: usize, node: &mut Node) {
        node.arguments.clear();
        let own = if folder.is_empty() { "" } else { "${var.tag}-" };
        let tag = format!("\"{own}{}{}\"", node.name, node.own_key());
        node.arguments.push(("tag".to_owned(), Expr::late(tag)));
        let Some(module) = world.modules.get(&node.folder) else { return };
        let variables = module.nodes.iter().filter(|n| n.what == What::Variable && n.name != "tag");
        for variable in variables {
            if variable.arguments.is_empty() || self.one_in(2) {
                let value = self.expression(world, folder, at, Limit::Any);
                node.arguments.push((variable.name.clone(), value));
            }
        }
    }

    fn passes(&mut self, world: &World, folder: &str, at: usize, node: &mut Node) {
        let wants = world.modules.get(&node.folder).map(|module| module.wants.clone()).unwrap_or_default();
        if wants.is_empty() && !self.one_in(4) {
            return;
        }
        let mut choose = |kind: &str| {
            let mut able = world.aliases(folder, at, kind);
            able.push(kind.to_owned());
            able[self.chance.below(able.len())].clone()
        };
        let blocks = world.modules.get(&node.folder).into_iter().flat_map(|module| &module.nodes);
        let own: Vec<&str> = blocks.filter(|n| n.what == What::Provider && n.name.is_empty()).map(|n| n.kind).collect();
        for kind in world.kinds.iter().filter(|kind| !own.contains(*kind)) {
            node.passes.push(((*kind).to_owned(), choose(kind)));
        }
        for want in wants {
            let kind = want.split('.').next().unwrap_or_default().to_owned();
            node.passes.push((want, choose(&kind)));
        }
    }

    pub fn literal(&mut self) -> String {
        let texts = ["\"s1\"", "\"s2\"", "\"s3\"", "\"s4\""];
        let others =
            ["{ a = \"x\" }", "[\"a\", 1]", "null", "true", "5", "[{ a = \"x\" }, null]", "{ a = null, b = [1] }"];
        if self.one_in(4) { self.chance.one_of(&others) } else { self.chance.one_of(&texts) }.to_owned()
    }

    /// An expression for a node that stands at `at`.
    pub fn expression(&mut self, world: &World, folder: &str, at: usize, limit: Limit) -> Expr {
        let is_allowed = |expr: &Expr| match limit {
            Limit::Early => expr.is_early && !expr.is_ephemeral,
            Limit::Any => !expr.is_ephemeral,
            Limit::Ephemeral => true,
        };
        let scope: Vec<Expr> = world.scope(folder, at).into_iter().filter(is_allowed).collect();
        if scope.is_empty() || self.one_in(5) {
            return Expr::early(self.literal());
        }
        let base = scope[self.chance.below(scope.len())].clone();
        let (text, facts) = (base.text.clone(), base);
        let text = match self.chance.below(12) {
            0 => format!("try({text}, \"none\")"),
            1 => format!("jsonencode({text})"),
            2 => format!("{{ a = {text}, b = null }}"),
            3 => format!("[{text}, \"e\"]"),
            4 => format!("{text} == \"s1\" ? \"yes\" : \"no\""),
            5 => format!("coalesce(try(tostring({text}), null), \"nothing\")"),
            _ => text,
        };
        Expr { text, ..facts }
    }
}

/// The unique name of an object, at least among those of one server.
pub fn own_name(folder: &str, node: &Node) -> Expr {
    let tag = if folder.is_empty() { "" } else { "${var.tag}-" };
    Expr::late(format!("\"{tag}{}{}\"", node.name, node.own_key()))
}

/// The expression, converted to a text if it may be something else.
fn textual(value: Expr) -> Expr {
    let is_text = value.text.starts_with('"')
        || [".url", ".made", ".id", ".name", ".found"].iter().any(|end| value.text.ends_with(end));
    let text = if is_text { value.text.clone() } else { format!("try(tostring({0}), jsonencode({0}))", value.text) };
    Expr { text, ..value }
}
