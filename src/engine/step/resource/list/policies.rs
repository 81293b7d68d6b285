//! Policies for the objects of a list.

use base::diag::{Diagnostic, Diagnostics};
use model::addr::InstanceKey;
use model::plan::ListedObject;

use super::Types;
use super::generate::{configuration, generated_addr};
use crate::policy::at_query::{FoundObject, for_objects};
use crate::run::object::mark;
use crate::step::resource::Instance;

/// Evaluates the policies of the run for the objects, and keeps the results for its end. Objects without a state are left out with a
/// warning. `position`: of the instance among those of its block.
pub async fn evaluate(
    instance: &Instance<'_>,
    types: &Types,
    position: usize,
    objects: &[ListedObject],
) -> Diagnostics {
    let run = instance.run;
    let mut diagnostics = Diagnostics::new();
    if run.inputs.scope.policies.is_empty() {
        return diagnostics;
    }
    let mut found = Vec::with_capacity(objects.len());
    let (mut without_state, mut without_config) = (0, 0);
    for (index, object) in objects.iter().enumerate() {
        let Some(state) = object.state.as_ref().filter(|state| !state.is_null()) else {
            without_state += 1;
            continue;
        };
        let (config, _) = configuration(instance, state.clone()).await;
        let Some((config, _)) = config else {
            without_config += 1;
            continue;
        };
        let addr = generated_addr(&instance.addr, position, index);
        found.push(FoundObject {
            addr: addr.absolute(instance.addr.module.clone()).instance(InstanceKey::None),
            identity: object.identity.clone(),
            attrs: mark(&config, &[], &types.managed.block),
        });
    }
    if without_state > 0 {
        let detail = format!(
            "{without_state} resource(s) in list block {} have no state (include_resource = false). Policy evaluation cannot be performed \
             without resource state.",
            instance.addr
        );
        diagnostics.push(skipped(instance, detail));
    }
    if without_config > 0 {
        let detail = format!(
            "{without_config} resource(s) in list block {} could not generate config for policy evaluation.",
            instance.addr
        );
        diagnostics.push(skipped(instance, detail));
    }
    if let Some(block) = instance.block.filter(|_| !found.is_empty()) {
        let place = instance.config.map(|config| config.range.clone());
        let results = for_objects(run, &instance.addr, instance.provider_addr, place, found);
        run.results.policy_notes().lists.insert((block.index(), position), results);
    }
    diagnostics
}

fn skipped(instance: &Instance<'_>, detail: String) -> Diagnostic {
    let warning = Diagnostic::warning("Policy evaluation skipped", detail);
    warning.at_opt(instance.config.map(|config| config.range.clone())).about(instance.addr.to_string())
}
