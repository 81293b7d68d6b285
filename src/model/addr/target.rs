//! What `-target`, `-replace` and the state commands name.

use std::fmt;

use super::{AbsResource, AbsResourceInstance, ConfigResource, InstanceKey, Module, ModuleInstance};

/// A set of resource instances by address: a module (all or one instance), a resource, or one instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// Every instance of a module and of what it calls.
    Module(Module),
    ModuleInstance(ModuleInstance),
    /// A resource in all instances of its module.
    ConfigResource(ConfigResource),
    Resource(AbsResource),
    Instance(AbsResourceInstance),
}

impl Target {
    /// True if the instance is in the set.
    pub fn contains(&self, addr: &AbsResourceInstance) -> bool {
        match self {
            Target::Module(module) => addr.module.module().starts_with(module),
            Target::ModuleInstance(module) => addr.module.starts_with(module),
            Target::ConfigResource(resource) => addr.config() == *resource,
            Target::Resource(resource) => addr.module == resource.module && addr.resource.resource == resource.resource,
            Target::Instance(instance) => addr == instance,
        }
    }

    /// True if some instance of the block may be in the set.
    pub fn touches(&self, block: &ConfigResource) -> bool {
        match self {
            Target::Module(module) => block.module.starts_with(module),
            Target::ModuleInstance(module) => block.module.starts_with(&module.module()),
            Target::ConfigResource(resource) => block == resource,
            Target::Resource(resource) => *block == resource.config(),
            Target::Instance(instance) => *block == instance.config(),
        }
    }

    /// The widest set that the command line means by an address: without a key, all instances of the resource.
    pub fn from_instance(addr: AbsResourceInstance) -> Target {
        match addr.resource.key {
            InstanceKey::None => Target::Resource(addr.containing_resource()),
            _ => Target::Instance(addr),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Module(a) => a.fmt(f),
            Target::ModuleInstance(a) => a.fmt(f),
            Target::ConfigResource(a) => a.fmt(f),
            Target::Resource(a) => a.fmt(f),
            Target::Instance(a) => a.fmt(f),
        }
    }
}
