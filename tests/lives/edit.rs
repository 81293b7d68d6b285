//! What happens to a configuration between two steps of a life, and how a life ends.

use super::generate::{Generator, Limit, own_name};
use super::world::{Expr, Node, What, World};
use crate::model::tree::Block;

/// Where a node is.
#[derive(Clone)]
struct Place {
    folder: String,
    index: usize,
}

impl Generator {
    /// Changes the configuration; returns what was done, for reports.
    pub fn edit(&mut self, world: &mut World) -> String {
        if self.one_in(2) {
            world.modules.values_mut().for_each(|module| module.statements.clear());
        }
        let count = 1 + self.chance.below(3);
        (0..count).map(|_| self.change(world)).collect::<Vec<_>>().join(", ")
    }

    fn change(&mut self, world: &mut World) -> String {
        for _ in 0..20 {
            let done = match self.chance.below(34) {
                0..=3 => self.change_variable(world),
                4..=6 => self.change_argument(world),
                7..=8 => self.change_provider(world),
                9 => self.rename_object(world),
                10..=11 => self.repeat(world),
                12 => self.toggle_order(world),
                13..=15 => self.insert_node(world),
                16..=18 => self.remove_node(world),
                19 => self.remove_provider_block(world),
                20..=21 => self.remove_kind(world),
                22 => self.remove_folder(world),
                23..=24 => self.rename(world),
                25 => self.move_into_module(world),
                26..=27 => self.remove_by_block(world),
                28..=30 => self.import(world),
                31 => self.override_node(world),
                32 => self.change_dependencies(world),
                _ => self.change_configuration(world),
            };
            if let Some(done) = done {
                return done;
            }
        }
        "nothing".to_owned()
    }

    fn place(&mut self, world: &World, is_wanted: impl Fn(&str, &Node) -> bool) -> Option<Place> {
        let mut found = Vec::new();
        for (folder, module) in &world.modules {
            let nodes = module.nodes.iter().enumerate().filter(|(_, node)| is_wanted(folder, node));
            found.extend(nodes.map(|(index, _)| Place { folder: folder.clone(), index }));
        }
        self.pick(&found).cloned()
    }

    fn change_variable(&mut self, world: &mut World) -> Option<String> {
        let place = self.place(world, |_, n| n.what == What::Variable && !n.arguments.is_empty())?;
        let value = self.literal();
        let node = node(world, &place);
        node.arguments[0].1 = Expr::early(value);
        Some(format!("change {}", node.address()))
    }

    fn change_argument(&mut self, world: &mut World) -> Option<String> {
        let place = self.place(world, |_, n| n.is_served() || n.what == What::Local || n.what == What::Output)?;
        let before = world.clone();
        let arguments: Vec<String> = match node(world, &place).what {
            What::Thing | What::Item => vec!["value".to_owned(), "force".to_owned(), "fails".to_owned()],
            What::Look => vec!["key".to_owned(), "filter".to_owned()],
            What::Key => vec!["name".to_owned()],
            _ => vec!["value".to_owned()],
        };
        let mut name = arguments[self.chance.below(arguments.len())].clone();
        if name == "fails" && !self.one_in(2) {
            name = "value".to_owned();
        }
        let value = match name.as_str() {
            "fails" => {
                Expr::early(format!("\"{}\"", self.chance.one_of(&["create", "update", "delete", "read", "plan"])))
            }
            _ => self.argument(&before, &place.folder, place.index, &name),
        };
        let node = node(world, &place);
        let had = node.arguments.iter().position(|(own, _)| *own == name);
        match had {
            Some(at) if self.one_in(6) && !matches!(node.what, What::Local | What::Output | What::Key) => {
                node.arguments.remove(at);
            }
            Some(at) => node.arguments[at].1 = value,
            None => node.arguments.push((name.clone(), value)),
        }
        Some(format!("change {name} of {}", node.address()))
    }

    fn change_provider(&mut self, world: &mut World) -> Option<String> {
        let place = self.place(world, |_, n| n.what == What::Provider)?;
        let name = self.chance.one_of(&["server", "label", "label", "extra"]).to_owned();
        let value = self.provider_argument(&world.clone(), &place.folder, place.index, &name);
        let node = node(world, &place);
        match node.arguments.iter().position(|(own, _)| *own == name) {
            Some(at) if self.one_in(4) => drop(node.arguments.remove(at)),
            Some(at) => node.arguments[at].1 = value,
            None => node.arguments.push((name.clone(), value)),
        }
        Some(format!("change {name} of provider {}", node.address()))
    }

    fn rename_object(&mut self, world: &mut World) -> Option<String> {
        let place = self.place(world, |_, n| n.is_object())?;
        let name = world.name("n");
        let node = node(world, &place);
        let other = Node { name, ..node.clone() };
        node.arguments[0].1 = own_name(&place.folder, &other);
        Some(format!("another name for {}", node.address()))
    }

    fn repeat(&mut self, world: &mut World) -> Option<String> {
        let configured: Vec<String> = world.modules.keys().filter(|f| world.configures(f)).cloned().collect();
        let place =
            self.place(world, |_, n| n.is_served() || n.what == What::Call && !configured.contains(&n.folder))?;
        let each = self.each();
        let before = world.clone();
        let node = node(world, &place);
        if node.each == each {
            return None;
        }
        let address = node.address();
        node.each = each;
        if node.is_object() {
            node.arguments[0].1 = own_name(&place.folder, node);
        }
        let mut changed = node.clone();
        if changed.what == What::Call {
            self.inputs(&before, &place.folder, place.index, &mut changed);
            *self::node(world, &place) = changed;
        }
        self.refresh(world, &place.folder, &address);
        Some(format!("repeat {address}"))
    }

    fn toggle_order(&mut self, world: &mut World) -> Option<String> {
        let place = self.place(world, |_, n| n.is_object())?;
        let node = node(world, &place);
        node.creates_first = !node.creates_first;
        Some(format!("toggle create_before_destroy of {}", node.address()))
    }

    fn insert_node(&mut self, world: &mut World) -> Option<String> {
        let folders: Vec<String> = world.modules.keys().cloned().collect();
        let folder = if self.one_in(2) { String::new() } else { self.pick(&folders)?.clone() };
        let end = world.module(&folder).nodes.len();
        let what = match self.chance.below(8) {
            0 if folder.is_empty() => What::Provider,
            1 => What::Look,
            2 => What::Output,
            3 => What::Key,
            4 => What::Call,
            _ => What::Thing,
        };
        let at = if what == What::Output { end } else { self.chance.below(end + 1) };
        self.insert(world, &folder, at, what);
        Some(format!("insert {what:?} in {folder:?}"))
    }

    fn remove_node(&mut self, world: &mut World) -> Option<String> {
        let place = self.place(world, |_, n| !matches!(n.what, What::Provider | What::Variable))?;
        Some(self.remove(world, &place))
    }

    /// Removes a node and all that refers to it.
    fn remove(&mut self, world: &mut World, place: &Place) -> String {
        let gone = world.module(&place.folder).nodes.remove(place.index);
        let address = gone.address();
        self.refresh(world, &place.folder, &address);
        if gone.what == What::Output {
            for call in world.calls_of(&place.folder) {
                let call = call.trim_end_matches('.').rsplit("module.").next().unwrap_or_default().to_owned();
                let folders: Vec<String> = world.modules.keys().cloned().collect();
                folders.iter().for_each(|folder| self.refresh(world, folder, &format!("module.{call}")));
            }
        }
        world.modules.values_mut().for_each(|module| {
            module.statements.retain(|block| !block.get("to").is_some_and(|to| to.contains(&address)))
        });
        format!("remove {address}")
    }

    /// Gives other values to all arguments that mention an address which is gone or has other instances.
    fn refresh(&mut self, world: &mut World, folder: &str, address: &str) {
        let before = world.clone();
        let Some(module) = before.modules.get(folder) else { return };
        for (index, node) in module.nodes.iter().enumerate() {
            let mut new = node.clone();
            new.depends_on.retain(|at| at != address);
            for (name, value) in new.arguments.iter_mut().filter(|(_, value)| mentions(&value.text, address)) {
                *value = match node.what {
                    What::Provider => self.provider_argument(&before, folder, index, name),
                    What::Call | What::Local | What::Output => self.expression(&before, folder, index, Limit::Any),
                    _ => self.argument(&before, folder, index, name),
                };
                if mentions(&value.text, address) {
                    *value = Expr::early("\"s4\"");
                }
            }
            world.module(folder).nodes[index] = new;
        }
    }

    /// Removes the block of a provider; what used it, uses another configuration.
    fn remove_provider_block(&mut self, world: &mut World) -> Option<String> {
        let place = self.place(world, |_, n| n.what == What::Provider)?;
        let gone = world.module(&place.folder).nodes.remove(place.index);
        let address = gone.address();
        let module = world.module(&place.folder);
        for node in &mut module.nodes {
            node.via = node.via.take().filter(|via| *via != address);
            let other = node.passes.iter_mut().filter(|(_, from)| *from == address);
            other.for_each(|(_, from)| *from = gone.kind.to_owned());
        }
        Some(format!("remove the block of provider {address}"))
    }

    /// Removes the last object of a provider, but not its blocks.
    pub fn remove_kind(&mut self, world: &mut World) -> Option<String> {
        let kinds = world.kinds.clone();
        let kind = *self.pick(&kinds)?;
        while let Some(place) = self.place(world, |_, n| n.is_served() && n.kind == kind) {
            self.remove(world, &place);
        }
        Some(format!("remove all of {kind}"))
    }

    /// Removes a module and all calls of it.
    pub fn remove_folder(&mut self, world: &mut World) -> Option<String> {
        let folders: Vec<String> = world.modules.keys().filter(|f| !f.is_empty()).cloned().collect();
        let folder = self.pick(&folders)?.clone();
        while let Some(place) = self.place(world, |_, n| n.what == What::Call && n.folder == folder) {
            self.remove(world, &place);
        }
        world.modules.remove(&folder);
        Some(format!("remove module {folder}"))
    }

    /// Removes all that a provider serves, all calls and outputs, or just what providers do not refer to.
    pub fn remove_everything(&mut self, world: &mut World) -> String {
        let folders: Vec<String> = world.modules.keys().filter(|f| !f.is_empty()).cloned().collect();
        let keeps_base = self.one_in(3);
        let text: String = {
            let nodes = world.module("").nodes.iter().filter(|n| n.what == What::Provider || n.what == What::Local);
            nodes.flat_map(|n| &n.arguments).map(|(_, value)| value.text.clone() + " ").collect()
        };
        let is_kept = |n: &Node| {
            matches!(n.what, What::Provider | What::Variable | What::Local)
                || keeps_base && mentions(&text, &n.address())
        };
        while let Some(place) = self.place(world, |folder, n| folder.is_empty() && !is_kept(n)) {
            self.remove(world, &place);
        }
        for folder in &folders {
            if world.calls_of(folder).is_empty() {
                world.modules.remove(folder);
            }
        }
        "remove everything".to_owned()
    }

    fn rename(&mut self, world: &mut World) -> Option<String> {
        let place = self.place(world, |_, n| n.is_object() || n.what == What::Call)?;
        let name = world.name("r");
        let changes_type = self.one_in(3);
        let node = node(world, &place);
        let before = node.address();
        match (node.is_object() && changes_type, node.what) {
            (true, What::Thing) => node.what = What::Item,
            (true, _) => node.what = What::Thing,
            (false, _) => node.name = name,
        }
        let after = node.address();
        let module = world.module(&place.folder);
        for node in &mut module.nodes {
            node.arguments.iter_mut().for_each(|(_, value)| value.text = replaced(&value.text, &before, &after));
            node.depends_on.iter_mut().filter(|at| **at == before).for_each(|at| *at = after.clone());
        }
        if !self.one_in(6) {
            let moved = Block::new(&["moved"]).attr("from", before.clone()).attr("to", after.clone());
            world.module(&place.folder).statements.push(moved);
        }
        Some(format!("move {before} to {after}"))
    }

    fn move_into_module(&mut self, world: &mut World) -> Option<String> {
        let from = self.place(world, |folder, n| folder.is_empty() && n.is_object())?;
        let call = self.place(world, |folder, n| folder.is_empty() && n.what == What::Call)?;
        let call = node(world, &call).clone();
        let mut moved = node(world, &from).clone();
        let address = moved.address();
        self.remove(world, &from);
        let value = Expr::early(self.literal());
        let target = call.instances().first()?.clone();
        // The object that moves keeps its name; those of other instances have names of their own.
        let tag = target.trim_start_matches("module.").replace(['[', ']'], "-").replace('"', "");
        let own = &moved.arguments[0].1.text;
        let tag = tag.trim_end_matches('-');
        let name = Expr::early(format!("var.tag == \"{tag}\" ? {own} : \"${{var.tag}}-${{{own}}}\""));
        moved.arguments = vec![("name".to_owned(), name), ("value".to_owned(), value)];
        (moved.via, moved.depends_on) = (None, Vec::new());
        let end = world.modules.get(&call.folder)?.nodes.len();
        world.module(&call.folder).nodes.insert(end, moved);
        let to = format!("{target}.{address}");
        world.module("").statements.push(Block::new(&["moved"]).attr("from", address.clone()).attr("to", to.clone()));
        Some(format!("move {address} to {to}"))
    }

    fn remove_by_block(&mut self, world: &mut World) -> Option<String> {
        let place = self.place(world, |_, n| n.is_object() || n.what == What::Call)?;
        let address = node(world, &place).address();
        self.remove(world, &place);
        let destroys = !self.one_in(3);
        let lifecycle = Block::new(&["lifecycle"]).attr("destroy", destroys.to_string());
        let block = Block::new(&["removed"]).attr("from", address.clone()).block(lifecycle);
        world.module(&place.folder).statements.push(block);
        Some(format!("removed block for {address}"))
    }

    fn import(&mut self, world: &mut World) -> Option<String> {
        let folders: Vec<String> = world.modules.keys().cloned().collect();
        let folder = if self.one_in(2) { String::new() } else { self.pick(&folders)?.clone() };
        let end = world.module(&folder).nodes.len();
        self.insert(world, &folder, end, What::Thing);
        let node = world.module(&folder).nodes[end].clone();
        let call = world.calls_of(&folder).first()?.clone();
        // Calls with keys have no such instance, which is an error worth comparing.
        let to = format!("{call}{}", node.instances().first()?);
        let id = match self.chance.below(4) {
            0 => self.expression(world, "", usize::MAX, Limit::Early).text,
            _ => format!("\"{}/i\"", node.name),
        };
        let id = if id.starts_with('"') { id } else { format!("\"{}/${{try(tostring({id}), \"any\")}}\"", node.name) };
        let mut block = Block::new(&["import"]).attr("to", to.clone()).attr("id", id);
        if let (true, Some(via)) = (folder.is_empty() && !self.one_in(3), &node.via) {
            block = block.attr("provider", via.clone());
        }
        world.module("").statements.push(block);
        Some(format!("import {to}"))
    }

    fn override_node(&mut self, world: &mut World) -> Option<String> {
        let place = self.place(world, |_, n| !n.arguments.is_empty() && n.what != What::Call)?;
        let node = node(world, &place);
        node.is_overridden = !node.is_overridden;
        Some(format!("override {}", node.address()))
    }

    fn change_dependencies(&mut self, world: &mut World) -> Option<String> {
        let configured: Vec<String> = world.modules.keys().filter(|f| world.configures(f)).cloned().collect();
        let place =
            self.place(world, |_, n| n.is_served() || n.what == What::Call && !configured.contains(&n.folder))?;
        let list = self.dependencies(world, &place.folder, place.index);
        let node = node(world, &place);
        node.depends_on = if node.depends_on.is_empty() { list } else { Vec::new() };
        Some(format!("dependencies of {}", node.address()))
    }

    /// Lets a node use another configuration of its provider.
    fn change_configuration(&mut self, world: &mut World) -> Option<String> {
        let place = self.place(world, |_, n| n.is_served())?;
        let kind = node(world, &place).kind;
        let able = world.aliases(&place.folder, place.index, kind);
        let other = if self.one_in(3) { None } else { self.pick(&able).cloned() };
        let node = node(world, &place);
        if node.via == other || other.is_none() && world_default_is_later(world, &place, kind) {
            return None;
        }
        let node = self::node(world, &place);
        node.via = other;
        Some(format!("another provider for {}", node.address()))
    }
}

/// True where the default configuration stands behind a place, so that using it there may close a cycle.
fn world_default_is_later(world: &World, place: &Place, kind: &str) -> bool {
    let nodes = world.modules[&place.folder].nodes.iter().skip(place.index);
    nodes.into_iter().any(|n| n.what == What::Provider && n.kind == kind && n.name.is_empty())
}

fn node<'w>(world: &'w mut World, place: &Place) -> &'w mut Node {
    &mut world.module(&place.folder).nodes[place.index]
}

/// The starts of an address in a text, where it is not part of a longer name.
fn positions(text: &str, address: &str) -> Vec<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let is_whole = |at: usize| {
        !text[at + address.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && !text[..at].ends_with(is_part)
    };
    text.match_indices(address).map(|(at, _)| at).filter(|at| is_whole(*at)).collect()
}

fn mentions(text: &str, address: &str) -> bool {
    !positions(text, address).is_empty()
}

fn replaced(text: &str, before: &str, after: &str) -> String {
    let (mut out, mut rest) = (String::new(), 0);
    for at in positions(text, before) {
        out.push_str(&text[rest..at]);
        out.push_str(after);
        rest = at + before.len();
    }
    out + &text[rest..]
}

#[test]
fn addresses_are_found_as_a_whole() {
    assert!(mentions("x(alpha_thing.t1.url)", "alpha_thing.t1"));
    assert!(!mentions("alpha_thing.t11.url", "alpha_thing.t1"));
    assert!(!mentions("data.alpha_thing.t1", "alpha_thing.t1"));
    assert_eq!(replaced("[local.a, local.ab, local.a]", "local.a", "local.c"), "[local.c, local.ab, local.c]");
}
