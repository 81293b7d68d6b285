//! Addresses on the command line that nothing has: probably misspelt.

use std::collections::BTreeSet;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::suggest;
use crate::engine::input::PlanInput;
use crate::model::addr::{ConfigResource, InstanceKey, Target};

/// A warning for each target, exclusion and replacement that neither the configuration nor the state has.
pub fn warnings(input: &PlanInput) -> Diagnostics {
    if input.targets.is_empty() && input.excludes.is_empty() && input.force_replace.is_empty() {
        return Diagnostics::new();
    }
    let known = Known::of(input);
    let replaced: Vec<Target> = input.force_replace.iter().cloned().map(Target::Instance).collect();
    let options = [("target", &input.targets), ("exclude", &input.excludes), ("replace", &replaced)];
    let mut found = Diagnostics::new();
    for (option, targets) in options {
        found.extend(
            targets.iter().filter(|target| !known.has(target, input)).map(|target| known.missing(option, target)),
        );
    }
    found
}

/// What there is in the configuration.
struct Known {
    /// With whether they may have instances with keys.
    blocks: Vec<(ConfigResource, bool)>,
    modules: BTreeSet<String>,
}

impl Known {
    fn of(input: &PlanInput) -> Known {
        let mut known = Known { blocks: Vec::new(), modules: BTreeSet::new() };
        for module in input.config.modules() {
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
        let has_key = matches!(target, Target::Instance(instance) if *instance.key() != InstanceKey::None);
        is_module
            || self.blocks.iter().any(|(block, has_keys)| target.touches(block) && (*has_keys || !has_key))
            || input.state.instances().any(|(addr, ..)| target.contains(&addr))
    }

    fn missing(&self, option: &str, target: &Target) -> Diagnostic {
        let address = target.to_string();
        let mut all: Vec<String> = self.blocks.iter().map(|(block, _)| block.to_string()).collect();
        all.extend(self.modules.iter().filter(|path| !path.is_empty()).cloned());
        all.sort();
        let hint = suggest::address_question(&address, all.iter().map(String::as_str));
        let detail = format!(
            "The address of -{option}={address} is neither in the configuration nor in the state, so that this option has no effect \
             on any object. {hint}"
        );
        Diagnostic::warning("Address matches nothing", detail.trim_end())
    }
}
