//! The provider configuration of an instance, if its block selects one of a `for_each`.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use lang::eval::evaluate;
use model::addr::{AbsResourceInstance, ModuleInstance};
use model::state::Instance as Stored;
use terrane_value::{Marks, Type, convert};

use crate::blocks::Blocks;
use crate::blocks::provider_configs::{Chosen, not_present};
use crate::ids::{ModuleId, ProviderId, ResourceId};
use crate::run::Run;
use crate::run::module_scope::ModuleScope;
use crate::run::results::{Each, ModuleSlots};

/// The provider of an instance that the configuration has.
pub fn provider(
    run: &Run,
    block: ResourceId,
    module: &Arc<ModuleSlots>,
    each: &Each,
) -> Result<ProviderId, Diagnostics> {
    if let Some(provider) = run.blocks.providers.of.get(&block) {
        return Ok(*provider);
    }
    match run.blocks.providers.chosen.get(&block) {
        Some(chosen) => choose(run, chosen, module, each),
        // The graph's diagnostics say why.
        None => Err(Diagnostics::new()),
    }
}

/// The provider that manages an object which nothing in the configuration claims.
pub fn stored_provider(
    blocks: &Blocks,
    block: ResourceId,
    addr: &AbsResourceInstance,
    stored: Option<&Stored>,
) -> Result<ProviderId, Diagnostics> {
    if let Some(provider) = blocks.providers.of.get(&block) {
        return Ok(*provider);
    }
    let Some(chosen) = blocks.providers.chosen.get(&block) else { return Err(Diagnostics::new()) };
    let key = stored.and_then(Stored::provider_key);
    let found = key.as_ref().and_then(|key| chosen.instances.get(key));
    found.copied().ok_or_else(|| not_present(&addr.to_string(), &chosen.config.with_key(key)).into())
}

fn choose(run: &Run, chosen: &Chosen, module: &Arc<ModuleSlots>, each: &Each) -> Result<ProviderId, Diagnostics> {
    let expr = &chosen.choice.key;
    let place = chosen.choice.call.map(|called| place_of_call(run, called, &module.addr));
    let (value, found) = match &place {
        None => evaluate(expr, &ModuleScope::new(run, module).with_each(each.clone())),
        Some(Some((caller, called))) => evaluate(expr, &ModuleScope::new(run, caller).with_each(called.each.clone())),
        Some(None) => return Err(Diagnostics::new()),
    };
    if found.has_errors() {
        return Err(found);
    }
    let invalid = |detail: String| -> Diagnostics {
        Diagnostic::error("Invalid provider instance key", detail).at(expr.range()).into()
    };
    if value.marks().intersects(Marks::SENSITIVE | Marks::EPHEMERAL) {
        return Err(invalid(
            "A provider instance key must be neither sensitive nor ephemeral: the state holds it.".into(),
        ));
    }
    let value = convert::convert(&value, &Type::String)
        .map_err(|e| invalid(format!("A provider instance key must be a string: {e}.")))?;
    let Some(key) = value.as_arc_str() else {
        return Err(invalid("A provider instance key must be known, and must not be null.".into()));
    };
    chosen.instances.get(&key).copied().ok_or_else(|| {
        invalid(format!(
            "The provider configuration {} has no instance with the key {:?}. The key must be among those of its for_each.",
            chosen.config, &*key
        ))
    })
}

/// The instance of a called module that a module instance is in, or is, and the one that calls it.
fn place_of_call(run: &Run, called: ModuleId, module: &ModuleInstance) -> Option<(Arc<ModuleSlots>, Arc<ModuleSlots>)> {
    let depth = run.blocks.tree.module(called).path.0.len();
    let called = ModuleInstance(module.0.iter().take(depth).cloned().collect());
    let caller = called.parent()?;
    Some((run.results.find_module(&run.blocks.tree, &caller)?, run.results.find_module(&run.blocks.tree, &called)?))
}
