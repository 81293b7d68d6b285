//! Addresses on the command line that nothing has: probably misspelt.

use std::collections::BTreeSet;

use base::diag::{Diagnostic, Diagnostics};
use base::suggest;
use model::addr::{AbsResourceInstance, ConfigResource, InstanceKey, Target};

use crate::input::PlanInput;

/// A warning for each target, exclusion and replacement that neither the configuration nor the state has.
pub fn warnings(input: &PlanInput) -> Diagnostics {
    let scope = &input.scope;
    if scope.is_whole() && scope.force_replace.is_empty() {
        return Diagnostics::new();
    }
    let known = KnownAddresses::of(input);
    let replaced: Vec<Target> = scope.force_replace.iter().cloned().map(Target::Instance).collect();
    let options = [("target", &scope.targets), ("exclude", &scope.excludes), ("replace", &replaced)];
    let mut found = Diagnostics::new();
    for (option, targets) in options {
        found.extend(
            targets.iter().filter(|target| !known.has(target, input)).map(|target| known.missing(option, target)),
        );
    }
    let without_keys = scope.force_replace.iter().filter(|instance| known.has_other_keys(instance, input));
    found.extend(without_keys.map(|instance| known.missing("replace", &Target::Instance(instance.clone()))));
    found
}

/// What there is in the configuration.
struct KnownAddresses {
    /// With whether they may have instances with keys.
    blocks: Vec<(ConfigResource, bool)>,
    modules: BTreeSet<String>,
}

impl KnownAddresses {
    fn of(input: &PlanInput) -> KnownAddresses {
        let mut known = KnownAddresses { blocks: Vec::new(), modules: BTreeSet::new() };
        for module in input.facts.config().modules() {
            let imported = module.imports.iter().map(|import| (import.resource.clone(), true));
            let declared = module.resources.values().map(|resource| {
                let has_keys = resource.count.is_some() || resource.for_each.is_some();
                (resource.addr.clone().in_module(module.path.clone()), has_keys)
            });
            known.blocks.extend(declared.chain(imported));
            known.modules.insert(module.path.to_string());
        }
        known
    }

    fn has(&self, target: &Target, input: &PlanInput) -> bool {
        let is_module = match target {
            Target::Module(module) => self.modules.contains(&module.module().to_string()),
            _ => false,
        };
        is_module
            || self.blocks.iter().any(|(block, _)| target.touches(block))
            || input.state.instances().any(|(addr, ..)| target.contains(&addr))
    }

    /// Whether the block of an instance has no keys, but the address of the instance has one.
    fn has_other_keys(&self, instance: &AbsResourceInstance, input: &PlanInput) -> bool {
        let block = instance.config();
        let is_single = |(known, has_keys): &(ConfigResource, bool)| *known == block && !has_keys;
        *instance.key() != InstanceKey::None
            && self.blocks.iter().any(is_single)
            && !input.state.instances().any(|(addr, ..)| addr == *instance)
    }

    fn missing(&self, option: &str, target: &Target) -> Diagnostic {
        let address = target.to_string();
        let mut all: Vec<String> = self.blocks.iter().map(|(block, _)| block.to_string()).collect();
        all.extend(self.modules.iter().filter(|path| !path.is_empty()).cloned());
        all.sort();
        let has_block =
            |instance: &AbsResourceInstance| self.blocks.iter().any(|(block, _)| *block == instance.config());
        let given = match target {
            Target::Instance(instance) if has_block(instance) => instance.containing_resource().to_string(),
            _ => address.clone(),
        };
        let hint = suggest::address_question(&given, all.iter().map(String::as_str));
        let detail = format!(
            "The address of -{option}={address} is neither in the configuration nor in the state, so that this option has no effect \
             on any object. {hint}"
        );
        Diagnostic::warning("Address matches nothing", detail.trim_end())
    }
}
