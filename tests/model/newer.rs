//! What histories use beyond Terraform 1.11, by the program that has it too.

use std::sync::LazyLock;

use super::expression::{Facts, Kind};
use super::generate::Generator;
use super::providers::INSTANCES;
use super::world::{Node, NodeKind, Repetition, Trigger, World};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Newer {
    #[default]
    Nothing,
    /// What OpenTofu has.
    OpenTofu,
    /// What later versions of Terraform have.
    Terraform,
    /// Both, for histories without a second program.
    Everything,
    /// Nothing, but the provider `depot`: Terraform 1.11 judges histories in which a newer program answers otherwise.
    Judge,
}

impl Newer {
    /// `TERRANE_MODEL_PEER`: `opentofu` or `terraform`, the second program's kind; `none` for all features and no second
    /// program.
    pub fn from_environment() -> Newer {
        static CHOSEN: LazyLock<Newer> = LazyLock::new(Newer::chosen);
        *CHOSEN
    }

    fn chosen() -> Newer {
        match std::env::var("TERRANE_MODEL_PEER").as_deref() {
            Ok("opentofu") => Newer::OpenTofu,
            Ok("terraform") => Newer::Terraform,
            Ok("none") => Newer::Everything,
            Ok(other) => panic!("TERRANE_MODEL_PEER is {other:?}; it may be opentofu, terraform or none"),
            Err(_) => Newer::Nothing,
        }
    }

    /// `enabled` in `lifecycle`.
    pub fn has_enabled(self) -> bool {
        matches!(self, Newer::OpenTofu | Newer::Everything)
    }

    /// `destroy = false` in `lifecycle` of resources.
    pub fn has_forgetting(self) -> bool {
        !matches!(self, Newer::Nothing | Newer::Judge)
    }

    pub fn has_exclude(self) -> bool {
        matches!(self, Newer::OpenTofu | Newer::Everything)
    }

    /// `for_each` in provider blocks.
    pub fn has_provider_instances(self) -> bool {
        matches!(self, Newer::OpenTofu | Newer::Everything)
    }

    pub fn has_actions(self) -> bool {
        matches!(self, Newer::Terraform | Newer::Everything)
    }

    /// `-allow-deferral`.
    pub fn has_deferral(self) -> bool {
        matches!(self, Newer::Terraform | Newer::Everything)
    }

    /// The name that our program goes by, beside a second program that has it.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Newer::OpenTofu => Some("tofu"),
            Newer::Terraform | Newer::Judge => Some("terraform"),
            Newer::Nothing | Newer::Everything => None,
        }
    }
}

/// When the actions of a resource are invoked.
const EVENTS: &[&str] = &["before_create", "after_create", "before_update", "after_update"];

impl Generator {
    /// Gives a node that has no `count` and no `for_each` the setting `enabled`, once in a while.
    pub fn enabled(&mut self, newer: Newer, node: &mut Node, flag: impl FnOnce(&mut Self) -> String) {
        if newer.has_enabled() && node.repetition == Repetition::None && self.one_in(5) {
            node.repetition = Repetition::Enabled(match self.chance.below(3) {
                0 => "false".to_owned(),
                1 => "true".to_owned(),
                _ => flag(self),
            });
        }
    }

    /// Lets a node use an instance of a provider configuration, once in a while.
    pub fn provider_instance(&mut self, world: &World, folder: &str, node: &mut Node) {
        node.instance = None;
        if world.newer.has_provider_instances() && folder.is_empty() && self.one_in(3) {
            node.instance = Some(INSTANCES[self.chance.below(INSTANCES.len())]);
        }
    }

    /// Gives a resource actions that it triggers, once in a while.
    pub fn triggers(&mut self, world: &World, folder: &str, end: usize, node: &mut Node) {
        node.triggers.clear();
        let nodes = world.modules.get(folder).into_iter().flat_map(|m| &m.nodes).take(end);
        let actions: Vec<String> = nodes.filter(|n| n.kind == NodeKind::Note).filter_map(an_instance).collect();
        if actions.is_empty() || !node.is_resource() {
            return;
        }
        while self.one_in(2) && node.triggers.len() < 2 {
            let first = self.chance.below(EVENTS.len());
            let mut events = vec![EVENTS[first]];
            if self.one_in(3) {
                events.push(EVENTS[(first + 1) % EVENTS.len()]);
            }
            let limit = Facts { unknown: self.one_in(8), ..Facts::default() };
            let condition = self.one_in(4).then(|| self.expression(world, folder, end, node, Kind::Flag, limit).text);
            let action = actions[self.chance.below(actions.len())].clone();
            node.triggers.push(Trigger { events, condition, action });
        }
    }

    /// Fills an action, or an ephemeral resource.
    pub fn fill_depot(&mut self, world: &World, folder: &str, end: usize, node: &mut Node) {
        let limit = Facts { unknown: true, ..Facts::default() };
        match node.kind {
            NodeKind::Note => {
                let value = self.expression(world, folder, end, node, Kind::Text, limit);
                node.values.push(("text".to_owned(), value));
                if self.one_in(20) {
                    node.values.push(("fails".to_owned(), literal("true", Kind::Flag)));
                }
            }
            NodeKind::Key => {
                let value = self.expression(world, folder, end, node, Kind::Text, limit);
                node.values.push(("name".to_owned(), value));
            }
            _ => {
                let limit = Facts { sensitive: true, ..limit };
                let name = format!("\"{}\"", node.name);
                node.values.push(("name".to_owned(), literal(&name, Kind::Text)));
                if !self.one_in(4) {
                    let value = self.expression(world, folder, end, node, Kind::Text, limit);
                    node.values.push(("value".to_owned(), value));
                }
                if self.one_in(3) {
                    let zone = if self.one_in(2) { "\"north\"" } else { "\"south\"" };
                    node.values.push(("zone".to_owned(), literal(zone, Kind::Text)));
                }
                if self.one_in(25) {
                    node.values.push(("fails".to_owned(), literal("true", Kind::Flag)));
                }
                if self.one_in(4) {
                    node.values.push(("waits".to_owned(), literal("true", Kind::Flag)));
                }
            }
        }
    }

    /// Options that only newer programs have.
    pub fn newer_options(&mut self, world: &World, options: &mut Vec<String>) {
        if world.newer.has_deferral() && self.one_in(4) {
            options.push("-allow-deferral".to_owned());
        }
        let root = world.modules.get("").into_iter().flat_map(|module| &module.nodes);
        let actions: Vec<String> = root.filter(|n| n.kind == NodeKind::Note).filter_map(an_instance).collect();
        let plain = options.iter().all(|option| option.starts_with("-parallelism"));
        if plain && !actions.is_empty() && self.one_in(20) {
            options.push(format!("-invoke={}", actions[self.chance.below(actions.len())]));
        }
    }
}

fn literal(text: &str, kind: Kind) -> super::expression::Expr {
    super::expression::Expr::new(text, kind, Facts::default())
}

/// Returns the address of one instance of an action, where it is known which there are.
fn an_instance(action: &Node) -> Option<String> {
    let address = action.address();
    match &action.repetition {
        Repetition::None => Some(address),
        Repetition::Count(count) if *count > 0 => Some(format!("{address}[{}]", count - 1)),
        Repetition::Keys(keys) => keys.first().map(|key| format!("{address}[\"{key}\"]")),
        _ => None,
    }
}
