//! Modules: the static path of calls, and the dynamic path of call instances.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::InstanceKey;

/// The static path of a module: the names of the calls that lead to it; empty for the root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Module(pub Arc<[Arc<str>]>);

impl Module {
    pub fn root() -> Module {
        Module::default()
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub fn child(&self, name: &str) -> Module {
        self.0.iter().cloned().chain([Arc::from(name)]).collect::<Vec<_>>().into()
    }

    pub fn parent(&self) -> Option<Module> {
        let (_, parent) = self.0.split_last()?;
        Some(Module(parent.into()))
    }

    pub fn starts_with(&self, prefix: &Module) -> bool {
        self.0.starts_with(&prefix.0)
    }
}

impl From<Vec<Arc<str>>> for Module {
    fn from(path: Vec<Arc<str>>) -> Module {
        Module(path.into())
    }
}

/// `module.a.module.b`; empty for the root.
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().enumerate() {
            let dot = if i > 0 { "." } else { "" };
            write!(f, "{dot}module.{name}")?;
        }
        Ok(())
    }
}

/// One step of a module instance's path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleStep {
    pub name: Arc<str>,
    pub key: InstanceKey,
}

/// The path of a module instance; empty for the root.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ModuleInstance(pub Arc<[ModuleStep]>);

/// Shorter paths come first.
impl Ord for ModuleInstance {
    fn cmp(&self, other: &ModuleInstance) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for ModuleInstance {
    fn partial_cmp(&self, other: &ModuleInstance) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl ModuleInstance {
    pub fn root() -> ModuleInstance {
        ModuleInstance::default()
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub fn child(&self, name: &str, key: InstanceKey) -> ModuleInstance {
        ModuleInstance(self.0.iter().cloned().chain([ModuleStep { name: name.into(), key }]).collect())
    }

    pub fn parent(&self) -> Option<ModuleInstance> {
        let (_, parent) = self.0.split_last()?;
        Some(ModuleInstance(parent.into()))
    }

    pub fn last(&self) -> Option<&ModuleStep> {
        self.0.last()
    }

    /// The module that this is an instance of.
    pub fn module(&self) -> Module {
        Module(self.0.iter().map(|step| step.name.clone()).collect())
    }

    pub fn starts_with(&self, prefix: &ModuleInstance) -> bool {
        self.0.starts_with(&prefix.0)
    }
}

/// `module.a["k"].module.b[0]`; empty for the root.
impl fmt::Display for ModuleInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            let dot = if i > 0 { "." } else { "" };
            write!(f, "{dot}module.{}{}", step.name, step.key)?;
        }
        Ok(())
    }
}
