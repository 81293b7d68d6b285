//! Resources and their instances: within a module, in a module of the configuration, and absolute.

use std::fmt;
use std::sync::Arc;

use terrane_protocol::schema::ResourceMode;

use super::{InstanceKey, Module, ModuleInstance};

/// A resource within its module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource {
    pub mode: ResourceMode,
    pub kind: Arc<str>,
    pub name: Arc<str>,
}

impl Resource {
    pub fn managed(kind: &str, name: &str) -> Resource {
        Resource { mode: ResourceMode::Managed, kind: kind.into(), name: name.into() }
    }

    /// The local name of the provider that the type's name implies: what comes before the first underscore.
    pub fn implied_provider(&self) -> &str {
        self.kind.split_once('_').map_or(&self.kind, |(provider, _)| provider)
    }

    pub fn instance(&self, key: InstanceKey) -> ResourceInstance {
        ResourceInstance { resource: self.clone(), key }
    }

    pub fn in_module(&self, module: Module) -> ConfigResource {
        ConfigResource { module, resource: self.clone() }
    }

    pub fn absolute(&self, module: ModuleInstance) -> AbsResource {
        AbsResource { module, resource: self.clone() }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}.{}", self.mode.prefix(), self.kind, self.name)
    }
}

/// An instance of a resource within its module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceInstance {
    pub resource: Resource,
    pub key: InstanceKey,
}

impl fmt::Display for ResourceInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.resource, self.key)
    }
}

/// A resource block in a module of the configuration: the same for all instances of the module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigResource {
    pub module: Module,
    pub resource: Resource,
}

impl fmt::Display for ConfigResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_in(f, &self.module, self.module.is_root(), &self.resource)
    }
}

/// A resource in a module instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsResource {
    pub module: ModuleInstance,
    pub resource: Resource,
}

impl AbsResource {
    pub fn instance(&self, key: InstanceKey) -> AbsResourceInstance {
        AbsResourceInstance { module: self.module.clone(), resource: self.resource.instance(key) }
    }

    pub fn config(&self) -> ConfigResource {
        self.resource.in_module(self.module.module())
    }
}

impl fmt::Display for AbsResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_in(f, &self.module, self.module.is_root(), &self.resource)
    }
}

/// A resource instance in a module instance: what state and plan speak of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsResourceInstance {
    pub module: ModuleInstance,
    pub resource: ResourceInstance,
}

impl AbsResourceInstance {
    pub fn containing_resource(&self) -> AbsResource {
        AbsResource { module: self.module.clone(), resource: self.resource.resource.clone() }
    }

    pub fn config(&self) -> ConfigResource {
        self.resource.resource.in_module(self.module.module())
    }

    pub fn mode(&self) -> ResourceMode {
        self.resource.resource.mode
    }

    pub fn kind(&self) -> &str {
        &self.resource.resource.kind
    }

    pub fn key(&self) -> &InstanceKey {
        &self.resource.key
    }
}

impl fmt::Display for AbsResourceInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_in(f, &self.module, self.module.is_root(), &self.resource)
    }
}

fn write_in(
    f: &mut fmt::Formatter<'_>,
    module: &impl fmt::Display,
    is_root: bool,
    local: &impl fmt::Display,
) -> fmt::Result {
    if is_root { write!(f, "{local}") } else { write!(f, "{module}.{local}") }
}
