//! Random edits of a configuration: what people do between two runs.

use super::expression::{Facts, Kind};
use super::generate::Generator;
use super::providers::own_file;
use super::tree::Block;
use super::world::{Node, NodeKind, Repetition, World};

/// The place of a node: its module's folder and its index there.
#[derive(Clone)]
struct Place {
    folder: String,
    index: usize,
}

impl Generator {
    /// Changes the configuration once; returns a name for what was done.
    pub fn edit(&mut self, world: &mut World) -> &'static str {
        if self.one_in(6) {
            drop_statements(world);
        }
        for _ in 0..20 {
            if let Some(done) = self.try_edit(world) {
                return done;
            }
        }
        "nothing"
    }

    fn try_edit(&mut self, world: &mut World) -> Option<&'static str> {
        let choice = self.chance.below(40);
        let place = self.place(world, |_| true)?;
        match choice {
            0..=5 => {
                self.add_node(world, &place.folder);
                Some("add a block")
            }
            6..=8 => self.remove(world),
            9..=11 => self.rename(world),
            12..=19 => self.change_value(world),
            20..=24 => self.change_repetition(world),
            25..=27 => self.change_lifecycle(world),
            28 => self.change_flag(world),
            29 => self.change_dependencies(world),
            30..=31 => self.change_inputs(world),
            32..=33 => self.import(world),
            34 => self.change_conditions(world),
            35..=36 => self.move_into_module(world),
            37 => self.swap_names(world),
            38 if !world.providers.is_empty() => self.change_provider(world),
            _ => Some("nothing"),
        }
    }

    fn place(&mut self, world: &World, wanted: impl Fn(&Node) -> bool) -> Option<Place> {
        let all = world.modules.iter().flat_map(|(folder, module)| {
            module.nodes.iter().enumerate().map(move |(index, node)| (folder, index, node))
        });
        let found: Vec<Place> = all
            .filter(|(_, _, node)| wanted(node))
            .map(|(folder, index, _)| Place { folder: folder.clone(), index })
            .collect();
        (!found.is_empty()).then(|| found[self.chance.below(found.len())].clone())
    }

    /// Runs a change of one node with the world as it is before.
    fn change(&mut self, world: &mut World, place: &Place, change: impl FnOnce(&mut Self, &World, &mut Node)) {
        let mut node = world.modules[&place.folder].nodes[place.index].clone();
        change(self, world, &mut node);
        if let Some(module) = world.modules.get_mut(&place.folder) {
            module.nodes[place.index] = node;
        }
    }

    fn remove(&mut self, world: &mut World) -> Option<&'static str> {
        let place = self.place(world, |_| true)?;
        let module = world.modules.get_mut(&place.folder)?;
        let node = module.nodes.remove(place.index);
        if node.is_resource() || node.kind == NodeKind::Call {
            match self.chance.below(5) {
                0 => module.statements.push(removed(&node.address(), false)),
                1 => module.statements.push(removed(&node.address(), true)),
                _ => {}
            }
        }
        match node.kind {
            NodeKind::Variable { .. } => forget_input(world, &place.folder, &node.name),
            NodeKind::Output => self.forget_output(world, &place.folder, &node.name),
            _ => {}
        }
        self.forget(world, &place.folder, &node.address());
        Some("remove a block")
    }

    /// Makes everything that refers to an address anew.
    fn forget(&mut self, world: &mut World, folder: &str, address: &str) {
        let limit = Facts { unknown: true, sensitive: true, ephemeral: false };
        for index in 0..world.modules[folder].nodes.len() {
            let mut node = world.modules[folder].nodes[index].clone();
            let names = |text: &str| mentions(text, address);
            for at in 0..node.values.len() {
                if names(&node.values[at].1.text) {
                    let kind = node.values[at].1.kind;
                    node.values[at].1 = self.expression(world, folder, index, &node, kind, limit);
                }
            }
            node.depends_on.retain(|text| !names(text));
            node.lifecycle.replace_triggered_by.retain(|text| !names(text));
            node.conditions.retain(|condition| !names(&condition.condition));
            node.triggers.retain(|t| !names(&t.action) && !t.condition.as_deref().is_some_and(names));
            let repeated = match &node.repetition {
                Repetition::CountOf(text) | Repetition::ForEachOf(text) | Repetition::Enabled(text) => names(text),
                _ => false,
            };
            if repeated {
                self.repetition(world, folder, index, &mut node, 1);
            }
            if let Some(module) = world.modules.get_mut(folder) {
                module.nodes[index] = node;
            }
        }
    }

    /// Makes everything anew that refers to calls of a module that lost an output.
    fn forget_output(&mut self, world: &mut World, folder: &str, output: &str) {
        let callers: Vec<String> = world.modules.keys().cloned().collect();
        for caller in callers {
            for node in world.modules[&caller].nodes.clone() {
                if node.folder == folder && !folder.is_empty() {
                    let address = node.address();
                    let used = world.modules[&caller]
                        .nodes
                        .iter()
                        .any(|n| n.values.iter().any(|(_, e)| mentions(&e.text, &address) && e.text.contains(output)));
                    if used {
                        self.forget(world, &caller, &address);
                    }
                }
            }
        }
    }

    fn rename(&mut self, world: &mut World) -> Option<&'static str> {
        let place = self.place(world, |n| n.is_resource() || n.kind == NodeKind::Call)?;
        let name = world.name("n");
        let module = world.modules.get_mut(&place.folder)?;
        let old = module.nodes[place.index].address();
        module.nodes[place.index].name = name;
        let new = module.nodes[place.index].address();
        replace_everywhere(&mut module.nodes, &old, &new);
        let new_address = new.clone();
        if !self.one_in(4) {
            let (from, to) = if self.one_in(20) { (new, old) } else { (old, new) };
            add_move(world, &place.folder, &from, &to);
            if to == new_address {
                return Some("rename with moved");
            }
        }
        // The file of the old object goes, perhaps after that of the new one was written.
        let node = &mut world.modules.get_mut(&place.folder)?.nodes[place.index];
        let file = own_file(node);
        let names = node.values.iter_mut().filter(|(name, _)| node.kind == NodeKind::File && name == "filename");
        names.for_each(|(_, value)| *value = file.clone());
        Some("rename")
    }

    /// Exchanges two resources by moves, which is a cycle unless one goes over a third name.
    fn swap_names(&mut self, world: &mut World) -> Option<&'static str> {
        let place = self.place(world, |n| n.kind == NodeKind::Resource)?;
        let address = world.modules[&place.folder].nodes[place.index].address();
        let others = &world.modules[&place.folder].nodes;
        let other = others.iter().find(|n| n.kind == NodeKind::Resource && n.address() != address)?.address();
        add_move(world, &place.folder, &address, &other);
        Some("move onto an existing name")
    }

    fn change_value(&mut self, world: &mut World) -> Option<&'static str> {
        let place = self.place(world, |n| !n.values.is_empty())?;
        let Place { folder, index } = place.clone();
        self.change(world, &place, |g, world, node| {
            let at = g.chance.below(node.values.len());
            if node.kind.has_fixed(&node.values[at].0) {
                return;
            }
            let (fixed, resource) = match node.kind {
                NodeKind::Variable { .. } => (true, false),
                NodeKind::Resource => (false, true),
                NodeKind::Call => (g.one_in(2), false),
                _ => (false, false),
            };
            let limit = Facts { unknown: !fixed, sensitive: !fixed, ephemeral: false };
            let mut kind = node.values[at].1.kind;
            if resource && g.one_in(4) {
                kind = [Kind::Text, Kind::List, Kind::Object, Kind::Any][g.chance.below(4)];
            }
            let end = if matches!(node.kind, NodeKind::Variable { .. }) { 0 } else { index };
            node.values[at].1 = g.expression(world, &folder, end, node, kind, limit);
        });
        Some("change a value")
    }

    fn change_repetition(&mut self, world: &mut World) -> Option<&'static str> {
        let place = self.place(world, Node::repeats)?;
        let before = world.modules[&place.folder].nodes[place.index].clone();
        let Place { folder, index } = place.clone();
        self.change(world, &place, |g, world, node| {
            g.repetition(world, &folder, index, node, if before.repetition == Repetition::None { 1 } else { 2 });
            if node.kind == NodeKind::Call {
                g.inputs(world, &folder, index, node);
            } else {
                g.fill_resource(world, &folder, index, node);
            }
        });
        let after = world.modules[&place.folder].nodes[place.index].clone();
        let address = before.address();
        let (old, new) = (instances(&before.repetition), instances(&after.repetition));
        let moves = before.is_resource() || before.kind == NodeKind::Call;
        if moves && !self.one_in(3) {
            for (from, to) in old.iter().zip(&new).filter(|(from, to)| from != to) {
                add_move(world, &place.folder, &format!("{address}{from}"), &format!("{address}{to}"));
            }
        }
        // References to instances name keys that may be gone.
        self.forget(world, &place.folder, &address);
        Some("change count or for_each")
    }

    fn change_lifecycle(&mut self, world: &mut World) -> Option<&'static str> {
        let place = self.place(world, Node::is_resource)?;
        let Place { folder, index } = place.clone();
        self.change(world, &place, |g, world, node| g.lifecycle(world, &folder, index, node));
        Some("change lifecycle")
    }

    fn change_flag(&mut self, world: &mut World) -> Option<&'static str> {
        let place = self.place(world, |n| matches!(n.kind, NodeKind::Variable { .. } | NodeKind::Output))?;
        let sensitive = world.modules[&place.folder].nodes[place.index].has("sensitive");
        let node = &mut world.modules.get_mut(&place.folder)?.nodes[place.index];
        if sensitive {
            node.flags.retain(|flag| *flag != "sensitive");
        } else {
            node.flags.push("sensitive");
        }
        Some("toggle sensitive")
    }

    fn change_dependencies(&mut self, world: &mut World) -> Option<&'static str> {
        let place = self.place(world, Node::waits)?;
        let Place { folder, index } = place.clone();
        self.change(world, &place, |g, world, node| g.dependencies(world, &folder, index, node));
        Some("change depends_on")
    }

    fn change_inputs(&mut self, world: &mut World) -> Option<&'static str> {
        let place = self.place(world, |n| n.kind == NodeKind::Call)?;
        let Place { folder, index } = place.clone();
        self.change(world, &place, |g, world, node| g.inputs(world, &folder, index, node));
        Some("change a call's arguments")
    }

    fn change_conditions(&mut self, world: &mut World) -> Option<&'static str> {
        let place = self.place(world, |n| n.is_resource() || n.kind == NodeKind::Output)?;
        let Place { folder, index } = place.clone();
        self.change(world, &place, |g, world, node| g.conditions(world, &folder, index, node, 2));
        Some("change conditions")
    }

    fn import(&mut self, world: &mut World) -> Option<&'static str> {
        let integer = world.has_provider("random") && self.one_in(2);
        let index = self.add(world, "", if integer { NodeKind::Random("random_integer") } else { NodeKind::Resource });
        let number = world.next;
        let id = |suffix: &str| if integer { "\"3,3,3\"".to_owned() } else { format!("\"imported-{number}{suffix}\"") };
        let module = world.modules.get_mut("")?;
        let node = &module.nodes[index];
        let address = node.address();
        let keys = instances(&node.repetition);
        let block = match (&node.repetition, keys.as_slice()) {
            (Repetition::Keys(keys), [_, ..]) => Block::new(&["import"])
                .attr("for_each", format!("toset({keys:?})"))
                .attr("to", format!("{address}[each.key]"))
                .attr("id", id("-${each.key}")),
            (_, [first, ..]) => Block::new(&["import"]).attr("to", format!("{address}{first}")).attr("id", id("")),
            _ => return Some("add a block"),
        };
        module.statements.push(block);
        Some("import")
    }

    /// Moves a resource of the root module into a module that the root calls.
    fn move_into_module(&mut self, world: &mut World) -> Option<&'static str> {
        let place = self.place(world, |n| n.kind == NodeKind::Resource)?;
        let calls = &world.modules[&place.folder].nodes;
        let call = calls.iter().find(|n| n.kind == NodeKind::Call && !n.folder.is_empty())?.clone();
        let mut node = world.modules.get_mut(&place.folder)?.nodes.remove(place.index);
        let address = node.address();
        self.forget(world, &place.folder, &address);
        node.depends_on.clear();
        node.lifecycle.replace_triggered_by.clear();
        node.conditions.clear();
        node.repetition = Repetition::None;
        for (_, value) in &mut node.values {
            let kind = value.kind;
            let nowhere = Node::new(NodeKind::Local, String::new());
            *value = self.expression(world, "", 0, &nowhere, kind, Facts::default());
        }
        world.modules.get_mut(&call.folder)?.nodes.insert(0, node);
        let at = instances(&call.repetition).into_iter().next().unwrap_or_default();
        add_move(world, &place.folder, &address, &format!("{}{at}.{address}", call.address()));
        Some("move into a module")
    }
}

/// Returns the instance keys that a repetition gives, as they are written in addresses.
fn instances(repetition: &Repetition) -> Vec<String> {
    match repetition {
        Repetition::None | Repetition::Enabled(_) => vec![String::new()],
        Repetition::Count(n) => (0..*n).map(|i| format!("[{i}]")).collect(),
        Repetition::Keys(keys) => keys.iter().map(|key| format!("[\"{key}\"]")).collect(),
        Repetition::CountOf(_) => vec!["[0]".to_owned()],
        Repetition::ForEachOf(_) => vec!["[\"a\"]".to_owned()],
    }
}

fn removed(address: &str, destroy: bool) -> Block {
    let lifecycle = Block::new(&["lifecycle"]).attr("destroy", destroy.to_string());
    Block::new(&["removed"]).attr("from", address).block(lifecycle)
}

fn add_move(world: &mut World, folder: &str, from: &str, to: &str) {
    if let Some(module) = world.modules.get_mut(folder) {
        module.statements.push(Block::new(&["moved"]).attr("from", from).attr("to", to));
    }
}

fn drop_statements(world: &mut World) {
    for module in world.modules.values_mut() {
        module.statements.clear();
    }
}

fn forget_input(world: &mut World, folder: &str, name: &str) {
    for node in world.modules.values_mut().flat_map(|module| &mut module.nodes) {
        if node.kind == NodeKind::Call && node.folder == folder {
            node.values.retain(|(n, _)| n != name);
        }
    }
}

fn replace_everywhere(nodes: &mut [Node], old: &str, new: &str) {
    let swap = |text: &mut String| *text = replace_address(text, old, new);
    for node in nodes {
        node.values.iter_mut().for_each(|(_, e)| swap(&mut e.text));
        node.depends_on.iter_mut().for_each(swap);
        node.lifecycle.replace_triggered_by.iter_mut().for_each(swap);
        node.conditions.iter_mut().for_each(|c| swap(&mut c.condition));
        node.triggers.iter_mut().filter_map(|t| t.condition.as_mut()).for_each(swap);
        if let Repetition::CountOf(text) | Repetition::ForEachOf(text) | Repetition::Enabled(text) =
            &mut node.repetition
        {
            swap(text);
        }
    }
}

/// Returns the starts of an address in a text, where it is not the start of a longer name.
fn positions(text: &str, address: &str) -> Vec<usize> {
    let whole = |at: usize| !text[at + address.len()..].starts_with(|c: char| c.is_ascii_alphanumeric());
    text.match_indices(address).map(|(at, _)| at).filter(|at| whole(*at)).collect()
}

fn mentions(text: &str, address: &str) -> bool {
    !positions(text, address).is_empty()
}

fn replace_address(text: &str, old: &str, new: &str) -> String {
    let mut out = String::new();
    let mut rest = 0;
    for at in positions(text, old) {
        out.push_str(&text[rest..at]);
        out.push_str(new);
        rest = at + old.len();
    }
    out + &text[rest..]
}
