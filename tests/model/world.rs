//! What the generator knows of a configuration: modules of nodes, each of which refers only to nodes before it.
//!
//! A node is one block. All kinds of nodes have the same fields, so that an edit works on any of them; a new language
//! feature is a field here, its rendering in `render`, and an edit that toggles it.

use std::collections::{BTreeMap, BTreeSet};

use super::expression::{Expr, Facts, Kind};
use super::newer::Newer;
use super::providers;
use super::tree::{Block, Configuration};

#[derive(Clone, Debug, Default)]
pub struct World {
    /// Modules by folder; the root's is the empty string. A module calls only folders that sort after its own.
    pub modules: BTreeMap<String, Module>,
    /// The number of the next name.
    pub next: usize,
    /// The names of the providers outside the binary that may be used.
    pub providers: Vec<&'static str>,
    /// The modules that have an alias of each provider.
    pub aliased: BTreeSet<String>,
    pub newer: Newer,
}

#[derive(Clone, Debug, Default)]
pub struct Module {
    pub nodes: Vec<Node>,
    /// `moved`, `removed` and `import` blocks.
    pub statements: Vec<Block>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A variable; `fixed` ones are given values that are known while planning.
    Variable {
        fixed: bool,
    },
    Local,
    Resource,
    NullResource,
    NullData,
    /// A resource of `random`, by its type.
    Random(&'static str),
    /// `local_file`, as a resource and as a data source.
    File,
    FileData,
    /// A resource, an ephemeral resource and an action of `depot`.
    Thing,
    Key,
    Note,
    Call,
    Output,
    Check,
}

#[derive(Clone, Debug)]
pub struct Node {
    pub kind: NodeKind,
    pub name: String,
    /// The arguments, by name.
    pub values: Vec<(String, Expr)>,
    pub repetition: Repetition,
    pub depends_on: Vec<String>,
    /// `sensitive`, `ephemeral`, `nullable`: attributes whose text never changes by itself.
    pub flags: Vec<&'static str>,
    pub lifecycle: Lifecycle,
    pub conditions: Vec<Condition>,
    pub provisioner: Option<Provisioner>,
    /// The folder of a called module.
    pub folder: String,
    /// True where the alias of the provider is used, in modules that have one.
    pub alias: bool,
    /// The instance of a provider configuration with `for_each`.
    pub instance: Option<&'static str>,
    /// Actions that a resource triggers.
    pub triggers: Vec<Trigger>,
    /// Of a check: the file that its own data source reads.
    pub scoped: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repetition {
    None,
    Count(usize),
    Keys(Vec<&'static str>),
    /// `count` or `for_each` with an expression.
    CountOf(String),
    ForEachOf(String),
    /// `enabled` in `lifecycle`, with an expression.
    Enabled(String),
}

#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    pub create_before_destroy: bool,
    pub prevent_destroy: bool,
    /// `destroy = false`.
    pub forgets: bool,
    pub ignore_changes: Option<&'static str>,
    pub replace_triggered_by: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Trigger {
    pub events: Vec<&'static str>,
    pub condition: Option<String>,
    pub action: String,
}

#[derive(Clone, Debug)]
pub struct Condition {
    /// `precondition`, `postcondition`, `validation` or `assert`.
    pub block: &'static str,
    pub condition: String,
}

#[derive(Clone, Debug)]
pub struct Provisioner {
    pub fails: bool,
    pub at_destroy: bool,
    pub goes_on: bool,
}

impl Node {
    pub fn new(kind: NodeKind, name: String) -> Node {
        Node {
            kind,
            name,
            values: Vec::new(),
            repetition: Repetition::None,
            depends_on: Vec::new(),
            flags: Vec::new(),
            lifecycle: Lifecycle::default(),
            conditions: Vec::new(),
            provisioner: None,
            folder: String::new(),
            alias: false,
            instance: None,
            triggers: Vec::new(),
            scoped: None,
        }
    }

    pub fn value(&self, name: &str) -> Option<&Expr> {
        self.values.iter().find(|(n, _)| n == name).map(|(_, e)| e)
    }

    pub fn is_resource(&self) -> bool {
        use NodeKind::{File, NullResource, Random, Resource, Thing};
        matches!(self.kind, Resource | NullResource | Random(_) | File | Thing)
    }

    /// Returns true for nodes that take `count`, `for_each` and `depends_on`.
    pub fn repeats(&self) -> bool {
        use NodeKind::{Call, FileData, Key, Note, NullData};
        self.is_resource() || matches!(self.kind, NullData | FileData | Key | Note | Call)
    }

    /// Returns true for nodes that take `depends_on` and may stand in it.
    pub fn waits(&self) -> bool {
        self.repeats() && self.kind != NodeKind::Note
    }

    /// Returns how the node is named within its module.
    pub fn address(&self) -> String {
        let name = &self.name;
        match self.kind {
            NodeKind::Variable { .. } => format!("var.{name}"),
            NodeKind::Local => format!("local.{name}"),
            NodeKind::Resource => format!("terraform_data.{name}"),
            NodeKind::NullResource => format!("null_resource.{name}"),
            NodeKind::NullData => format!("data.null_data_source.{name}"),
            NodeKind::Random(kind) => format!("{kind}.{name}"),
            NodeKind::File => format!("local_file.{name}"),
            NodeKind::FileData => format!("data.local_file.{name}"),
            NodeKind::Thing => format!("depot_thing.{name}"),
            NodeKind::Key => format!("ephemeral.depot_key.{name}"),
            NodeKind::Note => format!("action.depot_note.{name}"),
            NodeKind::Call => format!("module.{name}"),
            NodeKind::Output => format!("output.{name}"),
            NodeKind::Check => format!("check.{name}"),
        }
    }

    pub fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    /// Returns the facts that the node's own flags add to its value.
    fn marks(&self) -> Facts {
        Facts { unknown: false, sensitive: self.has("sensitive"), ephemeral: self.has("ephemeral") }
    }
}

impl World {
    /// Returns a name that was never used.
    pub fn name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// Returns the references that the nodes before `end` offer to later ones.
    pub fn scope(&self, folder: &str, end: usize) -> Vec<Expr> {
        let nodes = self.modules.get(folder).into_iter().flat_map(|module| &module.nodes);
        nodes.take(end).flat_map(|node| self.offers(node)).collect()
    }

    fn offers(&self, node: &Node) -> Vec<Expr> {
        let address = node.address();
        match node.kind {
            NodeKind::Variable { fixed } => {
                let kind = node.value("default").map_or(Kind::Any, |e| e.kind);
                let facts = node.marks() | Facts { unknown: !fixed, sensitive: !fixed, ephemeral: false };
                vec![Expr::new(address, kind, facts)]
            }
            NodeKind::Local => node.value("value").map(|e| Expr::new(address, e.kind, e.facts)).into_iter().collect(),
            NodeKind::Resource | NodeKind::NullResource | NodeKind::NullData => resource_offers(node, &address),
            NodeKind::Random(_) | NodeKind::File | NodeKind::FileData | NodeKind::Thing | NodeKind::Key => {
                instance_offers(node, &address, &providers::attributes(node))
            }
            NodeKind::Call => self.call_offers(node, &address),
            NodeKind::Output | NodeKind::Check | NodeKind::Note => Vec::new(),
        }
    }

    fn call_offers(&self, node: &Node, address: &str) -> Vec<Expr> {
        let Some(module) = self.modules.get(&node.folder) else { return Vec::new() };
        let mut attrs = Vec::new();
        for output in module.nodes.iter().filter(|n| n.kind == NodeKind::Output) {
            if let Some(value) = output.value("value") {
                attrs.push(Expr::new(output.name.clone(), value.kind, value.facts | output.marks()));
            }
        }
        instance_offers(node, address, &attrs)
    }

    /// Returns the configuration as blocks.
    pub fn render(&self) -> Configuration {
        let mut configuration = Configuration::default();
        for (folder, module) in &self.modules {
            let mut blocks = providers::requirements(self, folder);
            blocks.extend(module.nodes.iter().map(|node| render(self, node, folder)));
            blocks.extend(module.statements.iter().cloned());
            configuration.modules.insert(folder.clone(), blocks);
        }
        configuration
    }
}

fn resource_offers(node: &Node, address: &str) -> Vec<Expr> {
    let text = |name: &str| Expr::new(name, Kind::Text, Facts::UNKNOWN);
    let mut attrs = Vec::new();
    match node.kind {
        NodeKind::Resource => {
            attrs.push(text("id"));
            if let Some(input) = node.value("input") {
                attrs.push(Expr::new("input", input.kind, input.facts));
                attrs.push(Expr::new("output", input.kind, input.facts | Facts::UNKNOWN));
            }
        }
        NodeKind::NullResource => {
            attrs.push(text("id"));
            attrs.extend(node.value("triggers").map(|e| Expr::new("triggers", e.kind, e.facts)));
        }
        _ => attrs.extend(node.value("inputs").map(|e| Expr::new("outputs", e.kind, e.facts | Facts::UNKNOWN))),
    }
    instance_offers(node, address, &attrs)
}

/// Returns references to attributes of the instances of a node, and of the node as a whole.
fn instance_offers(node: &Node, address: &str, attrs: &[Expr]) -> Vec<Expr> {
    let mut offers = Vec::new();
    let all = attrs.iter().fold(Facts::default(), |facts, e| facts | e.facts);
    if !all.ephemeral {
        offers.push(Expr::new(address, Kind::Any, all));
    }
    let mut number = |text: String| offers.push(Expr::new(text, Kind::Number, Facts::default()));
    let (instances, splat): (Vec<String>, Option<String>) = match &node.repetition {
        Repetition::None => (vec![address.to_owned()], None),
        Repetition::Count(n) => {
            number(format!("length({address})"));
            ((0..*n).map(|i| format!("{address}[{i}]")).collect(), Some(format!("{address}[*]")))
        }
        Repetition::Keys(keys) => {
            number(format!("length({address})"));
            let instances = keys.iter().map(|key| format!("{address}[\"{key}\"]")).collect();
            (instances, Some(format!("values({address})[*]")))
        }
        Repetition::CountOf(_) => (vec![format!("one({address}[*])")], Some(format!("{address}[*]"))),
        Repetition::ForEachOf(_) => (Vec::new(), Some(format!("values({address})[*]"))),
        Repetition::Enabled(_) => return enabled_offers(address, attrs),
    };
    for attr in attrs {
        let name = &attr.text;
        offers.extend(instances.iter().map(|at| Expr::new(format!("{at}.{name}"), attr.kind, attr.facts)));
        if let Some(splat) = &splat {
            let kind = if attr.kind == Kind::Text { Kind::List } else { Kind::Any };
            offers.push(Expr::new(format!("{splat}.{name}"), kind, attr.facts));
        }
        if matches!(node.repetition, Repetition::Keys(_)) && attr.kind == Kind::Text {
            let text = format!("{{ for k, v in {address} : k => v.{name} }}");
            offers.push(Expr::new(text, Kind::Map, attr.facts));
        }
    }
    offers
}

/// Returns references to texts of a node that may be null as a whole.
fn enabled_offers(address: &str, attrs: &[Expr]) -> Vec<Expr> {
    let texts = attrs.iter().filter(|attr| attr.kind == Kind::Text);
    texts.map(|attr| Expr::new(format!("try({address}.{}, \"off\")", attr.text), Kind::Text, attr.facts)).collect()
}

fn render(world: &World, node: &Node, folder: &str) -> Block {
    let name = node.name.as_str();
    let mut block = match node.kind {
        NodeKind::Variable { .. } => Block::new(&["variable", name]),
        NodeKind::Local => {
            return Block::new(&["locals"]).attr(name, node.value("value").map_or("null", |e| e.text.as_str()));
        }
        NodeKind::Resource => Block::new(&["resource", "terraform_data", name]),
        NodeKind::NullResource => Block::new(&["resource", "null_resource", name]),
        NodeKind::NullData => Block::new(&["data", "null_data_source", name]),
        NodeKind::Random(kind) => Block::new(&["resource", kind, name]),
        NodeKind::File => Block::new(&["resource", "local_file", name]),
        NodeKind::FileData => Block::new(&["data", "local_file", name]),
        NodeKind::Thing => Block::new(&["resource", "depot_thing", name]),
        NodeKind::Key => Block::new(&["ephemeral", "depot_key", name]),
        NodeKind::Note => Block::new(&["action", "depot_note", name]),
        NodeKind::Call => {
            let up = if folder.is_empty() { "." } else { ".." };
            Block::new(&["module", name]).attr("source", format!("\"{up}/{}\"", node.folder))
        }
        NodeKind::Output => Block::new(&["output", name]),
        NodeKind::Check => Block::new(&["check", name]),
    };
    block = match &node.repetition {
        Repetition::None | Repetition::Enabled(_) => block,
        Repetition::Count(n) => block.attr("count", n.to_string()),
        Repetition::CountOf(text) => block.attr("count", text.clone()),
        Repetition::Keys(keys) => {
            let keys: Vec<String> = keys.iter().map(|key| format!("\"{key}\"")).collect();
            block.attr("for_each", format!("toset([{}])", keys.join(", ")))
        }
        Repetition::ForEachOf(text) => block.attr("for_each", text.clone()),
    };
    if let (NodeKind::Variable { .. }, Some(default)) = (node.kind, node.value("default")) {
        block = block.attr("type", default.kind.constraint());
    }
    // In the reference, an output of a called module is not sensitive by its own setting alone.
    let hides = node.kind == NodeKind::Output && node.has("sensitive") && !folder.is_empty();
    if node.kind == NodeKind::Note {
        let config =
            node.values.iter().fold(Block::new(&["config"]), |config, (name, e)| config.attr(name, e.text.clone()));
        block = block.block(config);
    }
    for (name, expr) in node.values.iter().filter(|_| node.kind != NodeKind::Note) {
        let text = if hides { format!("sensitive({})", expr.text) } else { expr.text.clone() };
        block = block.attr(name, text);
    }
    for flag in &node.flags {
        block = block.attr(flag.trim_start_matches('!'), if flag.starts_with('!') { "false" } else { "true" });
    }
    if let Some((name, text)) = providers::chosen(world, folder, node) {
        block = block.attr(name, text);
    }
    if let Some(file) = &node.scoped {
        block = block.block(Block::new(&["data", "local_file", &node.name]).attr("filename", file.clone()));
    }
    if !node.depends_on.is_empty() {
        block = block.attr("depends_on", format!("[{}]", node.depends_on.join(", ")));
    }
    render_rules(node, block)
}

/// Adds lifecycle settings, conditions and provisioners.
fn render_rules(node: &Node, mut block: Block) -> Block {
    let own = node.repeats() && node.kind != NodeKind::Call;
    let mut lifecycle = Block::new(&["lifecycle"]);
    if node.lifecycle.create_before_destroy {
        lifecycle = lifecycle.attr("create_before_destroy", "true");
    }
    if let Repetition::Enabled(text) = &node.repetition {
        lifecycle = lifecycle.attr("enabled", text.clone());
    }
    if node.lifecycle.forgets {
        lifecycle = lifecycle.attr("destroy", "false");
    }
    if node.lifecycle.prevent_destroy {
        lifecycle = lifecycle.attr("prevent_destroy", "true");
    }
    if let Some(what) = node.lifecycle.ignore_changes {
        let list = if what == "all" { what.to_owned() } else { format!("[{what}]") };
        lifecycle = lifecycle.attr("ignore_changes", list);
    }
    if !node.lifecycle.replace_triggered_by.is_empty() {
        let list = node.lifecycle.replace_triggered_by.join(", ");
        lifecycle = lifecycle.attr("replace_triggered_by", format!("[{list}]"));
    }
    for trigger in &node.triggers {
        let mut inner = Block::new(&["action_trigger"]).attr("events", format!("[{}]", trigger.events.join(", ")));
        if let Some(condition) = &trigger.condition {
            inner = inner.attr("condition", condition.clone());
        }
        lifecycle = lifecycle.block(inner.attr("actions", format!("[{}]", trigger.action)));
    }
    for (index, condition) in node.conditions.iter().enumerate() {
        let message = format!("\"{} {index} of {} failed\"", condition.block, node.name);
        let inner = Block::new(&[condition.block]).attr("condition", condition.condition.clone());
        let inner = inner.attr("error_message", message);
        if own {
            lifecycle = lifecycle.block(inner);
        } else {
            block = block.block(inner);
        }
    }
    if !lifecycle.items.is_empty() {
        block = block.block(lifecycle);
    }
    if let Some(provisioner) = &node.provisioner {
        let mut inner = Block::new(&["provisioner", "local-exec"]);
        inner = inner.attr("command", if provisioner.fails { "\"exit 3\"" } else { "\"exit 0\"" });
        if provisioner.at_destroy {
            inner = inner.attr("when", "destroy");
        }
        if provisioner.goes_on {
            inner = inner.attr("on_failure", "continue");
        }
        block = block.block(inner);
    }
    block
}
