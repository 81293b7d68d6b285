//! Blocks that import the objects of a list, and manage them.

use base::diag::Diagnostics;
use model::addr::{AbsResourceInstance, InstanceKey, LocalProviderConfig, Resource};
use model::config::write;
use model::plan::{GeneratedImport, ListedObject};
use model::provider_diagnostics::about_body;
use terrane_protocol::provider::has_errors;
use terrane_value::Value;

use super::Types;
use crate::step::resource::Instance;

/// Writes blocks for all objects.
pub async fn generate_all(
    instance: &Instance<'_>,
    types: &Types,
    position: usize,
    objects: &mut [ListedObject],
) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let provider = LocalProviderConfig {
        local_name: instance.provider_addr.provider.kind.clone(),
        alias: instance.provider_addr.alias.clone(),
    };
    for (index, object) in objects.iter_mut().enumerate() {
        let addr = generated_addr(&instance.addr, position, index);
        let state = object.state.clone().unwrap_or_else(|| Value::null(types.managed.implied_type().clone()));
        let Some((value, source)) = diagnostics.take(configuration(instance, state).await) else { break };
        let resource = write::listed(&addr, &provider, &types.managed.block, &value, source);
        let import = write::import(&addr, &provider, &types.identity, &object.identity);
        object.generated = Some(GeneratedImport { resource, import });
    }
    diagnostics
}

/// The address that the object at an index gets.
pub fn generated_addr(list: &AbsResourceInstance, position: usize, index: usize) -> Resource {
    let name = &list.resource.resource.name;
    Resource::managed(
        list.kind(),
        &match list.key() {
            InstanceKey::None => format!("{name}_{index}"),
            _ => format!("{name}_{position}_{index}"),
        },
    )
}

/// The configuration of an object: by the provider, if it can. None with errors.
pub async fn configuration(
    instance: &Instance<'_>,
    state: Value,
) -> (Option<(Value, write::ValueOrigin)>, Diagnostics) {
    let schemas = instance.run.blocks.schemas.provider(&instance.provider_addr.provider);
    if !schemas.is_some_and(|schemas| schemas.capabilities().generate_resource_config) {
        return (Some((state, write::ValueOrigin::State)), Diagnostics::new());
    }
    let asked = instance.provider.generate_resource_config(instance.addr.kind(), state);
    let (value, found) = instance.answered("GenerateResourceConfig", asked).await;
    let failed = has_errors(&found);
    let value = Some((value, write::ValueOrigin::Provider)).filter(|_| !failed);
    (value, about_body(found, None, None))
}
