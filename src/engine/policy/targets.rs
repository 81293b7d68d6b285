//! The targets of a run: changes of objects, provider configurations, module instances.

use std::sync::Arc;

use base::source::Range;
use model::addr::{AbsProviderConfig, AbsResourceInstance};
use model::config::policy_file::{PolicyKind, PolicyOperation};
use model::plan::{Action, ResourceChange};
use terrane_protocol::schema::ResourceMode;
use terrane_value::Value;

use super::target::{PolicyTarget, TargetMeta, null_object};
use crate::ids::{ModuleId, ProviderId, ROOT};
use crate::run::Run;
use crate::run::results::ModuleSlots;

/// What a planned change does to an object: of a replacement, both halves. Empty for what policies are not about.
pub fn operations(action: Action) -> &'static [PolicyOperation] {
    match action {
        Action::Create | Action::CreateThenForget => &[PolicyOperation::Create],
        Action::Update => &[PolicyOperation::Update],
        Action::Delete => &[PolicyOperation::Delete],
        Action::NoOp => &[PolicyOperation::NoOp],
        Action::DeleteThenCreate | Action::CreateThenDelete => &[PolicyOperation::Create, PolicyOperation::Delete],
        Action::Read | Action::Forget => &[],
    }
}

/// The target of a change of a managed object.
pub fn of_change(run: &Run, change: &ResourceChange, operation: PolicyOperation) -> Option<PolicyTarget> {
    if change.addr.mode() != ResourceMode::Managed {
        return None;
    }
    let (before, after) = (&change.change.before, &change.change.after);
    let (attrs, prior_attrs) = match operation {
        PolicyOperation::Create | PolicyOperation::NoOp => (after.clone(), None),
        PolicyOperation::Update => (after.clone(), Some(before.clone())),
        PolicyOperation::Delete => (null_object(before), Some(before.clone())),
    };
    let deposed = change.deposed.as_ref().map_or_else(String::new, |key| format!(" (deposed object {})", key.0));
    Some(PolicyTarget {
        address: format!("{}{deposed}", change.addr),
        kind: PolicyKind::Resource,
        name: change.addr.resource.resource.kind.clone(),
        operation: Some(operation),
        attrs,
        prior_attrs,
        meta: TargetMeta::of_resource(&change.addr, &change.provider, operation),
        place: place_of(run, &change.addr),
    })
}

/// The target of an object that a plan does not change.
pub fn of_unchanged(
    run: &Run,
    addr: &AbsResourceInstance,
    provider: &AbsProviderConfig,
    attrs: Value,
) -> Option<PolicyTarget> {
    let operation = PolicyOperation::NoOp;
    (addr.mode() == ResourceMode::Managed).then(|| PolicyTarget {
        address: addr.to_string(),
        kind: PolicyKind::Resource,
        name: addr.resource.resource.kind.clone(),
        operation: Some(operation),
        attrs,
        prior_attrs: None,
        meta: TargetMeta::of_resource(addr, provider, operation),
        place: place_of(run, addr),
    })
}

fn place_of(run: &Run, addr: &AbsResourceInstance) -> Option<Range> {
    let block = run.blocks.tree.find_resource(&addr.config())?;
    Some(run.blocks.tree.resource(block).range.clone())
}

/// The target of a provider configuration.
pub fn of_provider(run: &Run, id: ProviderId, config: Value) -> PolicyTarget {
    let configs = &run.blocks.providers.configs;
    let addr = &configs.get(id).addr;
    let module = run.blocks.tree.find(&addr.module).unwrap_or(ROOT);
    let name = run.blocks.tree.module(module).local_name_of(&addr.provider);
    let version = run.inputs.scope.policies.provider_versions.get(&addr.provider).map(String::as_str);
    PolicyTarget {
        address: addr.to_string(),
        kind: PolicyKind::Provider,
        name: addr.provider.kind.clone(),
        operation: None,
        attrs: config,
        prior_attrs: None,
        meta: TargetMeta::of_provider(addr, &name, version),
        place: configs.block(&run.blocks.tree, id).map(|block| block.range.clone()),
    }
}

/// The target of an instance of a called module.
pub fn of_module(run: &Run, id: ModuleId, instance: &Arc<ModuleSlots>) -> PolicyTarget {
    let module = run.blocks.tree.module(id);
    let values = module.variables.values().zip(instance.variables.iter()).map(|(variable, slot)| {
        let value = slot.get().cloned().unwrap_or_else(|| Value::unknown(variable.ty.without_optional_deep()));
        (variable.name.clone(), value)
    });
    let version = module.version.as_ref().map(ToString::to_string);
    let address = instance.addr.to_string();
    let place = run.blocks.tree.parent(id).map(|(parent, call)| run.blocks.tree.call(parent, call).range.clone());
    PolicyTarget {
        kind: PolicyKind::Module,
        name: module.source.as_str().into(),
        operation: None,
        attrs: Value::object(values),
        prior_attrs: None,
        meta: TargetMeta::of_module(&address, &module.source, version.as_deref()),
        place,
        address,
    }
}
