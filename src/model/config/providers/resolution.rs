//! Which provider configuration a local name stands for, followed through the module calls to where it is written.

use crate::addr::{self, AbsProviderConfig};
use crate::config::module::{Config, Module};

impl Config {
    /// The configuration that a local name stands for in a module: the module's own, one that a call passes in, or the
    /// default one of an ancestor. None if an alias leads nowhere.
    pub fn resolve_provider(
        &self,
        module: &Module,
        local: &addr::LocalProviderConfig,
        provider: &addr::Provider,
    ) -> Option<AbsProviderConfig> {
        let found = |module: &Module, provider: addr::Provider, alias| {
            Some(AbsProviderConfig::new(module.path.clone(), provider, alias))
        };
        let configured = module.providers.get(local).is_some_and(|block| {
            // An empty block in a child only says that a configuration is expected.
            module.path.is_root() || !self.is_passed(module, local) || !is_empty(block)
        });
        if configured {
            return found(module, provider.clone(), local.alias.clone());
        }
        let Some(parent) = module.path.parent().and_then(|path| self.module(&path)) else {
            // The root's default configuration may be left out.
            return if local.alias.is_none() { found(module, provider.clone(), None) } else { None };
        };
        let call = module.path.0.last().and_then(|name| parent.calls.get(name))?;
        if let Some(passed) = call.providers.iter().find(|p| p.in_child.addr == *local) {
            let outer = &passed.in_parent.addr;
            return self.resolve_provider(parent, outer, &parent.provider_for_local_name(&outer.local_name));
        }
        if local.alias.is_some() {
            return None;
        }
        // Default configurations are inherited by provider; the parent's local name may differ.
        let outer = addr::LocalProviderConfig { local_name: parent.local_name_of(provider), alias: None };
        self.resolve_provider(parent, &outer, provider)
    }

    fn is_passed(&self, module: &Module, local: &addr::LocalProviderConfig) -> bool {
        let parent = module.path.parent().and_then(|path| self.module(&path));
        let call = parent.and_then(|p| p.calls.get(module.path.0.last()?));
        call.is_some_and(|c| c.providers.iter().any(|p| p.in_child.addr == *local))
    }
}

fn is_empty(block: &super::provider_block::ProviderBlock) -> bool {
    let (_, problems) = block.body.content(&lang::syntax::body::BodySchema::new());
    !problems.has_errors()
}
