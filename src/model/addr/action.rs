//! Actions and their instances: within a module, and absolute.

use std::fmt;
use std::sync::Arc;

use super::{InstanceKey, ModuleInstance};

/// An action within its module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Action {
    pub kind: Arc<str>,
    pub name: Arc<str>,
}

impl Action {
    /// The local name of the provider that the type's name implies: what comes before the first underscore.
    pub fn implied_provider(&self) -> &str {
        self.kind.split_once('_').map_or(&self.kind, |(provider, _)| provider)
    }

    pub fn instance(&self, key: InstanceKey) -> ActionInstance {
        ActionInstance { action: self.clone(), key }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "action.{}.{}", self.kind, self.name)
    }
}

/// An instance of an action within its module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionInstance {
    pub action: Action,
    pub key: InstanceKey,
}

impl ActionInstance {
    pub fn absolute(self, module: ModuleInstance) -> AbsActionInstance {
        AbsActionInstance { module, action: self }
    }
}

impl fmt::Display for ActionInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.action, self.key)
    }
}

/// An instance of an action in a module instance. As what `-invoke` names, all instances of the action if there is no key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsActionInstance {
    pub module: ModuleInstance,
    pub action: ActionInstance,
}

impl fmt::Display for AbsActionInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.module.is_root() {
            true => self.action.fmt(f),
            false => write!(f, "{}.{}", self.module, self.action),
        }
    }
}
