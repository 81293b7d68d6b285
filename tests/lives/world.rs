//! The configurations of a life as nodes that know what they are, and how these are written as blocks.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::tree::{Block, Configuration};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Variable,
    Local,
    Output,
    Provider,
    Thing,
    /// The type `item` of the same schema.
    Item,
    /// A data source.
    Look,
    /// An ephemeral resource.
    Key,
    Call,
}

/// The text of an expression and what is known of it without evaluation.
#[derive(Clone, Debug)]
pub struct Expr {
    pub text: String,
    /// Known while planning, also if everything changes.
    pub is_early: bool,
    pub is_ephemeral: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Each {
    None,
    Count(usize),
    Keys(Vec<&'static str>),
}

#[derive(Clone, Debug)]
pub struct Node {
    pub what: What,
    /// Local name of the provider.
    pub kind: &'static str,
    /// Of a provider: the alias; empty for the default configuration.
    pub name: String,
    pub arguments: Vec<(String, Expr)>,
    pub each: Each,
    /// The value of `provider`.
    pub via: Option<String>,
    pub creates_first: bool,
    pub depends_on: Vec<String>,
    /// Of a call: the module's folder, and what `providers` says.
    pub folder: String,
    pub passes: Vec<(String, String)>,
    /// Written with another value first, and with the right one in an override file.
    pub is_overridden: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Module {
    pub nodes: Vec<Node>,
    /// `moved`, `removed` and `import` blocks.
    pub statements: Vec<Block>,
    /// The aliases that callers pass: `alpha.other`.
    pub wants: BTreeSet<String>,
}

/// All modules by folder; the root module's is the empty string. A module calls only those after it.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub modules: BTreeMap<String, Module>,
    pub kinds: Vec<&'static str>,
    pub next: usize,
}

impl Expr {
    pub fn early(text: impl Into<String>) -> Expr {
        Expr { text: text.into(), is_early: true, is_ephemeral: false }
    }

    pub fn late(text: impl Into<String>) -> Expr {
        Expr { text: text.into(), is_early: false, is_ephemeral: false }
    }
}

impl Node {
    pub fn new(what: What, kind: &'static str, name: impl Into<String>) -> Node {
        Node {
            what,
            kind,
            name: name.into(),
            arguments: Vec::new(),
            each: Each::None,
            via: None,
            creates_first: false,
            depends_on: Vec::new(),
            folder: String::new(),
            passes: Vec::new(),
            is_overridden: false,
        }
    }

    pub fn is_object(&self) -> bool {
        matches!(self.what, What::Thing | What::Item)
    }

    /// True for what a provider serves.
    pub fn is_served(&self) -> bool {
        self.is_object() || matches!(self.what, What::Look | What::Key)
    }

    /// How other nodes of the module refer to it.
    pub fn address(&self) -> String {
        let Node { kind, name, .. } = self;
        match self.what {
            What::Variable => format!("var.{name}"),
            What::Local => format!("local.{name}"),
            What::Output => format!("output.{name}"),
            What::Provider if name.is_empty() => (*kind).to_owned(),
            What::Provider => format!("{kind}.{name}"),
            What::Thing => format!("{kind}_thing.{name}"),
            What::Item => format!("{kind}_item.{name}"),
            What::Look => format!("data.{kind}_look.{name}"),
            What::Key => format!("ephemeral.{kind}_key.{name}"),
            What::Call => format!("module.{name}"),
        }
    }

    pub fn argument(&self, name: &str) -> Option<&Expr> {
        self.arguments.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// What tells the instances of the node apart, as part of a template.
    pub fn own_key(&self) -> &'static str {
        match self.each {
            Each::None => "",
            Each::Count(_) => "-${count.index}",
            Each::Keys(_) => "-${each.key}",
        }
    }

    /// The addresses of its instances, without the module.
    pub fn instances(&self) -> Vec<String> {
        let address = self.address();
        match &self.each {
            Each::None => vec![address],
            Each::Count(count) => (0..*count).map(|i| format!("{address}[{i}]")).collect(),
            Each::Keys(keys) => keys.iter().map(|key| format!("{address}[\"{key}\"]")).collect(),
        }
    }

    /// References to one of its values, in each of its instances and in all together.
    fn offers_of(&self, name: &str, facts: &Expr) -> Vec<Expr> {
        let address = self.address();
        let offer = |text: String| Expr { text, ..facts.clone() };
        let mut all: Vec<Expr> = self.instances().iter().map(|at| offer(format!("{at}.{name}"))).collect();
        match self.each {
            Each::None => {}
            Each::Count(_) => all.push(offer(format!("join(\"-\", {address}[*].{name})"))),
            Each::Keys(_) => all.push(offer(format!("join(\"-\", values({address})[*].{name})"))),
        }
        all
    }
}

impl World {
    /// A name that was never used.
    pub fn name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    pub fn module(&mut self, folder: &str) -> &mut Module {
        self.modules.entry(folder.to_owned()).or_default()
    }

    /// What the nodes before `end` offer to later ones.
    pub fn scope(&self, folder: &str, end: usize) -> Vec<Expr> {
        let nodes = self.modules.get(folder).into_iter().flat_map(|module| &module.nodes).take(end);
        nodes.flat_map(|node| self.offers(folder, node)).collect()
    }

    fn offers(&self, folder: &str, node: &Node) -> Vec<Expr> {
        let address = node.address();
        match node.what {
            What::Variable if folder.is_empty() => vec![Expr::early(address)],
            What::Variable => vec![Expr::late(address)],
            What::Local => {
                node.argument("value").map(|value| Expr { text: address, ..value.clone() }).into_iter().collect()
            }
            What::Thing | What::Item => {
                let names = ["url", "url", "made", "id", "name"];
                names.iter().flat_map(|name| node.offers_of(name, &Expr::late(""))).collect()
            }
            What::Look => node.offers_of("found", &Expr::late("")),
            What::Key => node.offers_of("token", &Expr { is_ephemeral: true, ..Expr::late("") }),
            What::Call => {
                let outputs = self.modules.get(&node.folder).into_iter().flat_map(|module| &module.nodes);
                let outputs = outputs.filter(|output| output.what == What::Output);
                outputs.flat_map(|output| node.offers_of(&output.name, &Expr::late(""))).collect()
            }
            What::Output | What::Provider => Vec::new(),
        }
    }

    /// The configurations of a provider that a node at `end` may name.
    pub fn aliases(&self, folder: &str, end: usize, kind: &str) -> Vec<String> {
        let Some(module) = self.modules.get(folder) else { return Vec::new() };
        let own = module.nodes.iter().take(end).filter(|n| n.what == What::Provider && !n.name.is_empty());
        let own = own.filter(|n| n.kind == kind).map(Node::address);
        own.chain(module.wants.iter().filter(|name| name.starts_with(&format!("{kind}."))).cloned()).collect()
    }

    /// True where a module or one that it calls has provider blocks.
    pub fn configures(&self, folder: &str) -> bool {
        let Some(module) = self.modules.get(folder) else { return false };
        let mut nodes = module.nodes.iter();
        nodes.any(|n| n.what == What::Provider || n.what == What::Call && self.configures(&n.folder))
    }

    /// All calls of a module, as addresses without keys of instances.
    pub fn calls_of(&self, folder: &str) -> Vec<String> {
        if folder.is_empty() {
            return vec![String::new()];
        }
        let mut found = Vec::new();
        for (caller, module) in &self.modules {
            for node in module.nodes.iter().filter(|n| n.what == What::Call && n.folder == folder) {
                found.extend(self.calls_of(caller).iter().map(|at| format!("{at}{}.", node.address())));
            }
        }
        found
    }

    pub fn render(&self) -> Configuration {
        let mut configuration = Configuration::default();
        for (folder, module) in &self.modules {
            let mut blocks = self.requirements(folder, module);
            let mut overrides = Vec::new();
            for node in &module.nodes {
                let block = render(node, folder);
                match overriding(node, &block) {
                    Some((before, over)) => {
                        blocks.push(before);
                        overrides.push(over);
                    }
                    None => blocks.push(block),
                }
            }
            blocks.extend(module.statements.iter().cloned());
            configuration.modules.insert(folder.clone(), blocks);
            if !overrides.is_empty() {
                let file = if folder.is_empty() { "override.tf".to_owned() } else { format!("{folder}/x_override.tf") };
                configuration.modules.insert(file, overrides);
            }
        }
        configuration
    }

    fn requirements(&self, folder: &str, module: &Module) -> Vec<Block> {
        let mut inner = Block::new(&["required_providers"]);
        let used = |kind: &str| {
            module.nodes.iter().any(|n| {
                n.kind == kind && (n.is_served() || n.what == What::Provider)
                    || n.passes.iter().any(|(_, from)| from.split('.').next() == Some(kind))
            }) || module.wants.iter().any(|name| name.starts_with(&format!("{kind}.")))
        };
        // The root names what is left in the state, too.
        for kind in self.kinds.iter().filter(|kind| folder.is_empty() || used(kind)) {
            let wanted: Vec<&str> = module.wants.iter().map(String::as_str).collect();
            let wanted: Vec<&str> = wanted.into_iter().filter(|name| name.starts_with(&format!("{kind}."))).collect();
            let aliases = match wanted.is_empty() {
                true => String::new(),
                false => format!(", configuration_aliases = [{}]", wanted.join(", ")),
            };
            inner = inner.attr(kind, format!("{{ source = \"example.com/lives/{kind}\"{aliases} }}"));
        }
        vec![Block::new(&["terraform"]).block(inner)]
    }
}

/// Splits the block of a node that is overridden: another value, and then the right one.
fn overriding(node: &Node, block: &Block) -> Option<(Block, Block)> {
    use crate::model::tree::Item;
    let name = &node.arguments.first().filter(|_| node.is_overridden)?.0;
    let name = if node.what == What::Local { &node.name } else { name };
    let is_it = |item: &Item| matches!(item, Item::Attr(own, _) if own == name);
    let is_alias = |item: &Item| matches!(item, Item::Attr(own, _) if own == "alias");
    let (mut before, mut over) = (block.clone(), block.clone());
    over.items.retain(|item| is_it(item) || is_alias(item));
    let shadow = |item: Item| if is_it(&item) { Item::Attr(name.clone(), "\"shadow\"".to_owned()) } else { item };
    before.items = before.items.into_iter().map(shadow).collect();
    (over.items.iter().any(is_it)).then_some((before, over))
}

fn render(node: &Node, folder: &str) -> Block {
    let Node { kind, name, .. } = node;
    let mut block = match node.what {
        What::Variable => Block::new(&["variable", name]).attr("type", "any"),
        What::Local => {
            let value = node.argument("value").map_or("null", |value| value.text.as_str());
            return Block::new(&["locals"]).attr(name, value);
        }
        What::Output => Block::new(&["output", name]),
        What::Provider if name.is_empty() => Block::new(&["provider", kind]),
        What::Provider => Block::new(&["provider", kind]).attr("alias", format!("\"{name}\"")),
        What::Thing => Block::new(&["resource", &format!("{kind}_thing"), name]),
        What::Item => Block::new(&["resource", &format!("{kind}_item"), name]),
        What::Look => Block::new(&["data", &format!("{kind}_look"), name]),
        What::Key => Block::new(&["ephemeral", &format!("{kind}_key"), name]),
        What::Call => {
            let up = if folder.is_empty() { "." } else { ".." };
            Block::new(&["module", name]).attr("source", format!("\"{up}/{}\"", node.folder))
        }
    };
    match &node.each {
        Each::None => {}
        Each::Count(count) => block = block.attr("count", count.to_string()),
        Each::Keys(keys) => {
            let keys: Vec<String> = keys.iter().map(|key| format!("\"{key}\"")).collect();
            block = block.attr("for_each", format!("toset([{}])", keys.join(", ")));
        }
    }
    if let Some(via) = &node.via {
        block = block.attr("provider", via.clone());
    }
    if !node.passes.is_empty() {
        let list: Vec<String> = node.passes.iter().map(|(to, from)| format!("{to} = {from}")).collect();
        block = block.attr("providers", format!("{{ {} }}", list.join(", ")));
    }
    for (name, value) in &node.arguments {
        block = block.attr(name, value.text.clone());
    }
    if !node.depends_on.is_empty() {
        block = block.attr("depends_on", format!("[{}]", node.depends_on.join(", ")));
    }
    if node.creates_first {
        block = block.block(Block::new(&["lifecycle"]).attr("create_before_destroy", "true"));
    }
    block
}
