//! The providers `null`, `random` and `local` in histories: their resources, their packages and what happens to their files.
//!
//! Names and lengths are chosen so that what is random does not decide anything: a value is compared by the name of its place.

use std::path::{Path, PathBuf};

use super::expression::{Expr, Facts, Kind};
use super::generate::Generator;
use super::newer::Newer;
use super::program::{Template, Workspace};
use super::tree::Block;
use super::world::{Node, NodeKind, World};
use crate::support::{depot, platform, program as terrane};

/// Providers outside the binary with a version that their packages have.
const PROVIDERS: &[(&str, &str)] = &[("null", "3.2.4"), ("random", "3.8.0"), ("local", "2.7.0"), ("depot", "1.0.0")];

/// The name of the one alias that configurations use.
const ALIAS: &str = "alt";

/// The name of the configuration with `for_each`, and its keys.
const EACH: &str = "each";
pub const INSTANCES: &[&str] = &["one", "two"];

/// Resource types of `random`, with arguments that make results of one length.
const RANDOM: &[(&str, &[(&str, &str)])] = &[
    ("random_string", &[("length", "16"), ("lower", "false"), ("numeric", "false"), ("special", "false")]),
    ("random_password", &[("length", "20"), ("lower", "false"), ("numeric", "false"), ("special", "false")]),
    ("random_id", &[("byte_length", "8")]),
    ("random_uuid", &[]),
    ("random_integer", &[("min", "3"), ("max", "3")]),
    ("random_shuffle", &[("input", "[\"x1\"]")]),
];

impl NodeKind {
    /// Returns the provider of a resource or data source, if it is one outside the binary.
    pub fn provider(self) -> Option<&'static str> {
        match self {
            NodeKind::NullResource | NodeKind::NullData => Some("null"),
            NodeKind::Random(_) => Some("random"),
            NodeKind::File | NodeKind::FileData => Some("local"),
            NodeKind::Thing | NodeKind::Key | NodeKind::Note => Some("depot"),
            _ => None,
        }
    }

    /// Returns the argument that takes any value or map, if there is one.
    pub fn argument(self) -> Option<&'static str> {
        match self {
            NodeKind::Resource => Some("input"),
            NodeKind::NullResource => Some("triggers"),
            NodeKind::Random(_) => Some("keepers"),
            NodeKind::File => Some("content"),
            NodeKind::Thing => Some("value"),
            _ => None,
        }
    }
}

impl World {
    pub fn has_provider(&self, name: &str) -> bool {
        self.providers.contains(&name)
    }
}

impl Generator {
    /// Returns a kind of resource or data source of one of the providers.
    pub fn provider_kind(&mut self, world: &World) -> NodeKind {
        if world.providers.is_empty() {
            return NodeKind::Resource;
        }
        match (world.providers[self.chance.below(world.providers.len())], self.chance.below(5)) {
            ("null", 0) => NodeKind::NullData,
            ("null", _) => NodeKind::NullResource,
            ("local", 0 | 1) => NodeKind::FileData,
            ("local", _) => NodeKind::File,
            ("depot", 0) => NodeKind::Key,
            ("depot", 1 | 2) if world.newer.has_actions() => NodeKind::Note,
            ("depot", _) => NodeKind::Thing,
            _ => NodeKind::Random(RANDOM[self.chance.below(RANDOM.len())].0),
        }
    }

    /// Gives a resource or data source of `random` or `local` its arguments.
    pub fn fill_from_provider(&mut self, world: &World, folder: &str, end: usize, node: &mut Node) {
        let limit = Facts { unknown: true, sensitive: true, ephemeral: false };
        match node.kind {
            NodeKind::Random(kind) => {
                let fixed = RANDOM.iter().filter(|(name, _)| *name == kind).flat_map(|(_, arguments)| arguments.iter());
                for (name, text) in fixed {
                    node.values.push(((*name).to_owned(), Expr::new(*text, Kind::Any, Facts::default())));
                }
                if self.one_in(2) {
                    let value = self.expression(world, folder, end, node, Kind::Map, limit);
                    node.values.push(("keepers".to_owned(), value));
                }
            }
            NodeKind::File => {
                let limit = Facts { sensitive: false, ..limit };
                node.values.push(("filename".to_owned(), own_file(node)));
                let value = self.expression(world, folder, end, node, Kind::Text, limit);
                node.values.push(("content".to_owned(), value));
            }
            NodeKind::Thing | NodeKind::Key | NodeKind::Note => self.fill_depot(world, folder, end, node),
            _ => {
                let file = self.file_name(world, folder, end);
                node.values.push(("filename".to_owned(), Expr::new(file, Kind::Text, Facts::default())));
            }
        }
    }

    /// Returns the name of a file: one that a resource writes, if there is one, or one that does not exist.
    pub fn file_name(&mut self, world: &World, folder: &str, end: usize) -> String {
        let written = |e: &Expr| e.text.ends_with(".filename") && !e.text.contains(" for ") && !e.text.contains('*');
        let files: Vec<Expr> = world.scope(folder, end).into_iter().filter(written).collect();
        if files.is_empty() || self.one_in(8) {
            return "\"files/none.txt\"".to_owned();
        }
        files[self.chance.below(files.len())].text.clone()
    }

    /// Lets a node use the alias of its provider, or stop using it.
    pub fn change_provider(&mut self, world: &mut World) -> Option<&'static str> {
        if world.newer.has_provider_instances() && self.one_in(2) {
            let before = world.clone();
            let nodes = &mut world.modules.get_mut("")?.nodes;
            let able: Vec<&mut Node> = nodes.iter_mut().filter(|node| node.kind.provider().is_some()).collect();
            let index = self.chance.below(able.len().max(1));
            self.provider_instance(&before, "", able.into_iter().nth(index)?);
            return Some("change the instance of a provider");
        }
        let with_alias: Vec<String> = world.aliased.iter().cloned().collect();
        if with_alias.is_empty() || self.one_in(4) {
            let folder = world.modules.keys().nth(self.chance.below(world.modules.len()))?.clone();
            if !world.aliased.remove(&folder) {
                world.aliased.insert(folder);
            }
            return Some("toggle the aliases of a module");
        }
        let folder = &with_alias[self.chance.below(with_alias.len())];
        let nodes = &mut world.modules.get_mut(folder)?.nodes;
        let able: Vec<&mut Node> = nodes.iter_mut().filter(|node| node.kind.provider().is_some()).collect();
        let index = self.chance.below(able.len());
        let node = able.into_iter().nth(index)?;
        node.alias = !node.alias;
        node.instance = None;
        Some("change a provider")
    }
}

impl NodeKind {
    /// Returns true for arguments that decide how long what is random is, and which file is written.
    pub fn has_fixed(self, argument: &str) -> bool {
        match self {
            NodeKind::Random(_) => argument != "keepers",
            NodeKind::File => argument == "filename",
            NodeKind::Thing => argument != "value",
            NodeKind::Note => argument != "text",
            _ => false,
        }
    }
}

/// Returns the name of the file that a node writes.
pub fn own_file(node: &Node) -> Expr {
    Expr::new(format!("\"files/{}{}.txt\"", node.name, own_key(node)), Kind::Text, Facts::default())
}

/// What tells the instances of a node apart, as part of a template.
fn own_key(node: &Node) -> &'static str {
    use super::world::Repetition::{Count, CountOf, ForEachOf, Keys};
    match node.repetition {
        Count(_) | CountOf(_) => "-${count.index}",
        Keys(_) | ForEachOf(_) => "-${each.key}",
        super::world::Repetition::None | super::world::Repetition::Enabled(_) => "",
    }
}

/// Returns the attributes that references to an instance may name.
pub fn attributes(node: &Node) -> Vec<Expr> {
    let text = |name: &str, facts: Facts| Expr::new(name, Kind::Text, facts);
    let secret = Facts { sensitive: true, ..Facts::UNKNOWN };
    let mut attrs = match node.kind {
        NodeKind::Random("random_password") => vec![text("result", secret)],
        NodeKind::Random("random_id") => vec![text("hex", Facts::UNKNOWN), text("b64_url", Facts::UNKNOWN)],
        NodeKind::Random("random_integer") => vec![Expr::new("result", Kind::Number, Facts::UNKNOWN)],
        NodeKind::Random("random_shuffle") => vec![Expr::new("result", Kind::List, Facts::UNKNOWN)],
        NodeKind::Random(_) => vec![text("result", Facts::UNKNOWN), text("id", Facts::UNKNOWN)],
        NodeKind::File => vec![text("filename", Facts::default()), text("content_md5", Facts::UNKNOWN)],
        NodeKind::Thing => vec![text("id", Facts::UNKNOWN), text("name", Facts::default())],
        NodeKind::Key => vec![text("value", Facts { ephemeral: true, ..Facts::UNKNOWN })],
        _ => vec![text("content", Facts::UNKNOWN)],
    };
    let argument = node.kind.argument().and_then(|name| Some((name, node.value(name)?)));
    attrs.extend(argument.map(|(name, e)| Expr::new(name, e.kind, e.facts)));
    attrs
}

/// Returns the blocks that say which providers a module uses: its requirements and, of the root, the configurations.
pub fn requirements(world: &World, folder: &str) -> Vec<Block> {
    if world.providers.is_empty() {
        return Vec::new();
    }
    let aliased = world.aliased.contains(folder);
    let mut inner = Block::new(&["required_providers"]);
    for name in &world.providers {
        let aliases = match aliased && !folder.is_empty() {
            true => format!(", configuration_aliases = [{name}.{ALIAS}]"),
            false => String::new(),
        };
        inner = inner.attr(name, format!("{{ source = \"hashicorp/{name}\"{aliases} }}"));
    }
    let mut blocks = vec![Block::new(&["terraform"]).block(inner)];
    if world.newer.has_provider_instances() && folder.is_empty() {
        let keys: Vec<String> = INSTANCES.iter().map(|key| format!("\"{key}\"")).collect();
        let instances = |name: &&str| {
            let block = Block::new(&["provider", name]).attr("alias", format!("\"{EACH}\""));
            block.attr("for_each", format!("toset([{}])", keys.join(", ")))
        };
        blocks.extend(world.providers.iter().map(instances));
    }
    if aliased && folder.is_empty() {
        let configuration = |name: &&str| Block::new(&["provider", name]).attr("alias", format!("\"{ALIAS}\""));
        blocks.extend(world.providers.iter().map(configuration));
    }
    blocks
}

/// Returns the `provider` or `providers` argument of a node.
pub fn chosen(world: &World, folder: &str, node: &Node) -> Option<(&'static str, String)> {
    if node.kind == NodeKind::Call {
        let wanted = world.aliased.contains(&node.folder) && !world.providers.is_empty();
        let suffix = if world.aliased.contains(folder) { format!(".{ALIAS}") } else { String::new() };
        let pass = |name: &&str| format!("{name}.{ALIAS} = {name}{suffix}");
        let list: Vec<String> = world.providers.iter().map(pass).collect();
        return wanted.then(|| ("providers", format!("{{ {} }}", list.join(", "))));
    }
    if let (Some(key), Some(provider), "") = (node.instance, node.kind.provider(), folder) {
        return Some(("provider", format!("{provider}.{EACH}[\"{key}\"]")));
    }
    let provider = node.kind.provider().filter(|_| node.alias && world.aliased.contains(folder))?;
    Some(("provider", format!("{provider}.{ALIAS}")))
}

/// Makes packages of the providers and initialises a folder for each program.
/// `TERRANE_MODEL_MIRROR`: a mirror folder with packages of others; without it, those that are built in serve both.
pub fn templates(folder: &Path, programs: &[&Path], newer: Newer) -> Vec<Template> {
    let mirror = std::env::var_os("TERRANE_MODEL_MIRROR").map_or_else(|| built_in_mirror(folder), PathBuf::from);
    let settings = folder.join("settings.tfrc");
    let method = format!("provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n");
    std::fs::write(&settings, method).unwrap();
    let make = |(number, program): (usize, &&Path)| {
        let name = format!("program-{number}");
        let template = Template { settings: settings.clone(), folder: folder.join(&name) };
        std::fs::create_dir_all(&template.folder).unwrap();
        let bare = Template { settings: settings.clone(), folder: template.folder.clone() };
        let place = folder.join(format!("{name}-init"));
        let workspace = Workspace::new(program, newer, place, Some(&bare)).unwrap();
        let names = PROVIDERS.iter().map(|(name, _)| *name);
        let providers = names.filter(|name| *name != "depot" || newer != Newer::Nothing).collect();
        let all = World { providers, ..World::default() };
        let mut text = String::new();
        requirements(&all, "").iter().for_each(|block| block.write(&mut text, 0));
        std::fs::write(workspace.folder.join("main.tf"), text).unwrap();
        let answer = workspace.run(&["init"]);
        assert_eq!(answer.code, Some(0), "{}{}", answer.out, answer.err);
        Template { folder: workspace.folder, ..template }
    };
    programs.iter().enumerate().map(make).collect()
}

fn built_in_mirror(folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    for (name, version) in PROVIDERS {
        let hosts = ["registry.terraform.io", "registry.opentofu.org"];
        for host in hosts {
            let package = folder.join(format!("mirror/{host}/hashicorp/{name}/{version}/{}", platform()));
            std::fs::create_dir_all(&package).unwrap();
            let file = package.join(format!("terraform-provider-{name}_v{version}"));
            if *name == "depot" {
                depot::install(&file);
                continue;
            }
            std::fs::write(&file, format!("#!/bin/sh\nexec {:?} internal-plugin provider {name}\n", terrane()))
                .unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    folder.join("mirror")
}
