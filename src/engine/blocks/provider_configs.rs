//! The provider configuration of each block: the rules for inherited and passed configurations.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::Diagnostic;
use lang::syntax::ast::Expression;
use model::addr::{AbsProviderConfig, Provider};
use model::config::ProviderBlock;
use rustc_hash::FxHashMap;

use crate::blocks::tree::Tree;
use crate::ids::{ModuleId, ProviderId, ROOT};

/// The provider configurations that a run uses, by number.
#[derive(Clone, Default)]
pub struct ProviderConfigs {
    list: Vec<ProviderConfig>,
    by_addr: FxHashMap<AbsProviderConfig, ProviderId>,
}

#[derive(Clone)]
pub struct ProviderConfig {
    pub addr: AbsProviderConfig,
    /// The module and the position of its block; None: configured by an implied empty block.
    pub block: Option<(ModuleId, usize)>,
}

impl ProviderConfigs {
    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn get(&self, id: ProviderId) -> &ProviderConfig {
        &self.list[id.index()]
    }

    pub fn find(&self, addr: &AbsProviderConfig) -> Option<ProviderId> {
        self.by_addr.get(addr).copied()
    }

    /// The number of a configuration that exists, added if it is new.
    pub fn intern(&mut self, tree: &Tree, addr: AbsProviderConfig) -> ProviderId {
        if let Some(known) = self.find(&addr) {
            return known;
        }
        let block = tree.find(&addr.module).and_then(|m| block_of(tree, m, &addr).map(|index| (m, index)));
        let id = ProviderId::new(self.list.len());
        self.by_addr.insert(addr.clone(), id);
        self.list.push(ProviderConfig { addr, block });
        id
    }

    pub fn block<'t>(&self, tree: &'t Tree, id: ProviderId) -> Option<&'t ProviderBlock> {
        let (module, position) = self.get(id).block?;
        tree.module(module).providers.get_index(position).map(|(_, block)| block)
    }
}

/// An expression that chooses an instance of a provider configuration, and where it stands.
#[derive(Clone, Debug)]
pub struct Choice {
    pub key: Expression,
    /// The call in whose `providers` it stands, by the module that is called; none: in the block itself.
    pub call: Option<ModuleId>,
}

/// A resource block whose instances are served by different instances of a provider configuration.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub config: AbsProviderConfig,
    pub choice: Choice,
    /// By key.
    pub instances: BTreeMap<Arc<str>, ProviderId>,
}

/// The keys of a provider configuration; none: it is a single one, or there is no block.
pub fn keys(tree: &Tree, addr: &AbsProviderConfig) -> Option<Vec<Arc<str>>> {
    let module = tree.find(&addr.module)?;
    let (_, block) = tree.module(module).providers.get_index(block_of(tree, module, addr)?)?;
    block.instances.as_ref().map(|instances| instances.iter().map(|(key, _)| key.clone()).collect())
}

fn block_of(tree: &Tree, module: ModuleId, addr: &AbsProviderConfig) -> Option<usize> {
    let module = tree.module(module);
    module.providers.keys().position(|local| {
        local.alias == addr.alias && module.provider_for_local_name(&local.local_name) == addr.provider
    })
}

/// The configuration that a module means by a provider and an alias: what its caller passes, its own, or the caller's
/// default one. None: there is no such configuration.
pub fn resolve(tree: &Tree, module: ModuleId, provider: &Provider, alias: Option<&str>) -> Option<AbsProviderConfig> {
    resolve_choice(tree, module, provider, alias).map(|(addr, _)| addr)
}

/// As `resolve`, with what chooses one of its instances on the way there.
pub fn resolve_choice(
    tree: &Tree,
    module: ModuleId,
    provider: &Provider,
    alias: Option<&str>,
) -> Option<(AbsProviderConfig, Option<Choice>)> {
    let mut choice = None;
    let (mut module, mut provider, mut alias) = (module, provider.clone(), alias.map(std::sync::Arc::<str>::from));
    loop {
        let this = tree.module(module);
        let parent = tree.parent(module);
        if let Some((outer, call)) = parent {
            let passed = tree.call(outer, call).providers.iter().find(|p| {
                p.in_child.addr.alias == alias && this.provider_for_local_name(&p.in_child.addr.local_name) == provider
            });
            if let Some(passing) = passed {
                let local = &passing.in_parent.addr;
                if let Some(key) = &passing.in_parent.key {
                    choice = Some(Choice { key: key.clone(), call: Some(module) });
                }
                (provider, alias) =
                    (tree.module(outer).provider_for_local_name(&local.local_name), local.alias.clone());
                module = outer;
                continue;
            }
        }
        let addr = AbsProviderConfig::new(this.path.clone(), provider.clone(), alias.clone());
        if block_of(tree, module, &addr).is_some() || module == ROOT && alias.is_none() {
            return Some((addr, choice));
        }
        match parent {
            Some((outer, _)) if alias.is_none() => module = outer,
            _ => return None,
        }
    }
}

/// The first configuration that a module call passes on and that does not exist: then no graph can be built.
pub fn missing_passed(tree: &Tree) -> Option<Diagnostic> {
    tree.ids().find_map(|module| {
        let outer = tree.module(module);
        let passed = outer.calls.values().enumerate().flat_map(|(i, call)| call.providers.iter().map(move |p| (i, p)));
        passed.into_iter().find_map(|(call, passing)| {
            let inner = tree.module(tree.child(module, call as u32)?);
            let provider = inner.provider_for_local_name(&passing.in_child.addr.local_name);
            let addr = AbsProviderConfig::new(outer.path.clone(), provider, passing.in_parent.addr.alias.clone());
            (!exists(tree, module, &addr)).then(|| Diagnostic::error(format!("missing provider {addr}"), ""))
        })
    })
}

/// True for what a module configures itself, is given, or, at the root, requires.
fn exists(tree: &Tree, module: ModuleId, addr: &AbsProviderConfig) -> bool {
    let this = tree.module(module);
    if block_of(tree, module, addr).is_some() {
        return true;
    }
    match tree.parent(module) {
        None => addr.alias.is_none() && this.requirements.values().any(|r| r.explicit && r.source == addr.provider),
        Some(_) => is_given(tree, module, addr),
    }
}

/// True for what the call of a module passes to it.
fn is_given(tree: &Tree, module: ModuleId, addr: &AbsProviderConfig) -> bool {
    let this = tree.module(module);
    tree.parent(module).is_some_and(|(outer, call)| {
        tree.call(outer, call).providers.iter().any(|p| {
            p.in_child.addr.alias == addr.alias
                && this.provider_for_local_name(&p.in_child.addr.local_name) == addr.provider
        })
    })
}

/// As `resolve`, for a configuration that the state names. Its address counts exactly: an object must only be read and destroyed with the
/// configuration that created it, so that what its module would inherit does not serve it. None: it is gone.
pub fn resolve_stored(tree: &Tree, stored: &AbsProviderConfig) -> Option<AbsProviderConfig> {
    let module = tree.find(&stored.module)?;
    let is_default_of_root = module == ROOT && stored.alias.is_none();
    if !is_default_of_root && !is_given(tree, module, stored) && block_of(tree, module, stored).is_none() {
        return None;
    }
    let found = resolve(tree, module, &stored.provider, stored.alias.as_deref())?;
    match (keys(tree, &found), &stored.key) {
        (None, None) => Some(found),
        (Some(keys), Some(key)) if keys.contains(key) => Some(found.with_key(Some(key.clone()))),
        _ => None,
    }
}

/// `user` needs a configuration that is gone.
pub fn not_present(user: &str, wanted: &AbsProviderConfig) -> Diagnostic {
    if wanted.key.is_some() {
        return Diagnostic::error(
            "Provider instance not present",
            format!(
                "To work with {user} its original provider instance at {wanted} is required, but it has been removed. This \
                 occurs when an element is removed from the provider configuration's for_each collection while objects \
                 created by that instance still exist in the state. Re-add the element to destroy {user}, after which you \
                 can remove it again."
            ),
        );
    }
    Diagnostic::error(
        "Provider configuration not present",
        format!(
            "To work with {user} its original provider configuration at {wanted} is required, but it has been removed. \
             This occurs when a provider configuration is removed while objects created by that provider still exist in \
             the state. Re-add the provider configuration to destroy {user}, after which you can remove the provider \
             configuration again."
        ),
    )
}
