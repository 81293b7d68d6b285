//! What histories use beyond Terraform 1.11, by the program that has it too.

use super::generate::Generator;
use super::world::{Node, Repetition};

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
}

impl Newer {
    /// `TERRANE_MODEL_PEER`: `opentofu` or `terraform`, the second program's kind.
    pub fn from_environment() -> Newer {
        match std::env::var("TERRANE_MODEL_PEER").as_deref() {
            Ok("opentofu") => Newer::OpenTofu,
            Ok("terraform") => Newer::Terraform,
            Ok(other) => panic!("TERRANE_MODEL_PEER is {other:?}; it may be opentofu or terraform"),
            Err(_) => Newer::Nothing,
        }
    }

    /// `enabled` in `lifecycle`.
    pub fn has_enabled(self) -> bool {
        matches!(self, Newer::OpenTofu | Newer::Everything)
    }

    /// `destroy = false` in `lifecycle` of resources.
    pub fn has_forgetting(self) -> bool {
        self != Newer::Nothing
    }

    pub fn has_exclude(self) -> bool {
        matches!(self, Newer::OpenTofu | Newer::Everything)
    }
}

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
}
