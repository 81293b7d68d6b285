//! What `-target`, `-replace` and the state commands name.

use std::fmt;

use super::{AbsResource, AbsResourceInstance, ConfigResource, InstanceKey, ModuleInstance, Pattern};

/// A set of resource instances by address: a module with all that it calls, a resource, or one instance. Addresses are
/// absolute: a step without a key means the instance without one, but for the last step of a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// One instance of a module; all of the call, if its last step has no key.
    Module(ModuleInstance),
    Resource(AbsResource),
    Instance(AbsResourceInstance),
    /// Whatever a pattern stands for; only the command line has such.
    Pattern(Pattern),
}

impl Target {
    /// True if the instance is in the set.
    pub fn contains(&self, addr: &AbsResourceInstance) -> bool {
        match self {
            Target::Module(module) => is_within(&addr.module, module),
            Target::Resource(resource) => addr.module == resource.module && addr.resource.resource == resource.resource,
            Target::Instance(instance) => addr == instance,
            Target::Pattern(pattern) => pattern.contains(addr),
        }
    }

    /// True if all instances of the block are in the set, whatever their keys.
    pub fn contains_block(&self, block: &ConfigResource) -> bool {
        let has_keys = |module: &ModuleInstance| module.0.iter().any(|step| step.key != InstanceKey::None);
        match self {
            Target::Module(module) => !has_keys(module) && self.touches(block),
            Target::Resource(resource) => !has_keys(&resource.module) && self.touches(block),
            Target::Instance(_) | Target::Pattern(_) => false,
        }
    }

    /// True if some instance of the block may be in the set.
    pub fn touches(&self, block: &ConfigResource) -> bool {
        match self {
            Target::Module(module) => block.module.starts_with(&module.module()),
            Target::Resource(resource) => *block == resource.config(),
            Target::Instance(instance) => *block == instance.config(),
            Target::Pattern(pattern) => pattern.touches(block),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Module(a) => a.fmt(f),
            Target::Resource(a) => a.fmt(f),
            Target::Instance(a) => a.fmt(f),
            Target::Pattern(a) => a.fmt(f),
        }
    }
}

/// True if the module instance is the given one or within it.
fn is_within(module: &ModuleInstance, of: &ModuleInstance) -> bool {
    let Some((last, outer)) = of.0.split_last() else { return true };
    let Some(found) = module.0.get(..of.0.len()) else { return false };
    let step = &found[outer.len()];
    found[..outer.len()] == *outer && step.name == last.name && (last.key.is_none() || step.key == last.key)
}

#[cfg(test)]
mod tests {
    use crate::addr::command_line::target;
    use crate::addr::parse::parse_abs_instance;

    /// Observed with -target and `state list`.
    #[test]
    fn keys_count_but_for_that_of_a_module() {
        let cases = [
            ("module.m", "module.m[0].a.b", true),
            ("module.m", "module.m.module.n[\"k\"].a.b", true),
            ("module.m[0]", "module.m[0].module.n.a.b", true),
            ("module.m[0]", "module.m.a.b", false),
            ("module.m.module.n", "module.m[0].module.n.a.b", false),
            ("module.m[0].module.n", "module.m[0].module.n[1].a.b", true),
            ("module.m.a.b", "module.m[0].a.b", false),
            ("module.m.a.b", "module.m.a.b[0]", true),
            ("a.b[0]", "a.b[0]", true),
            ("a.b[0]", "a.b", false),
        ];
        for (text, addr, expected) in cases {
            let found = target(text).unwrap().contains(&parse_abs_instance(addr).unwrap());
            assert_eq!(found, expected, "{text} {addr}");
        }
    }
}
