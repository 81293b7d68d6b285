//! The state as a whole: resources by address, outputs of the root module, results of checks.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::suggest;
use terrane_value::Value;

use super::{DeposedKey, Object};
use crate::addr::{AbsProviderConfig, AbsResource, AbsResourceInstance, InstanceKey, Provider};

/// What identifies a snapshot among others of its lineage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateMeta {
    /// The version of the program that wrote it.
    pub terraform_version: String,
    pub serial: u64,
    /// Empty until the state is first written.
    pub lineage: String,
}

/// The state. Clones share resources and instances until one of them is changed.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub resources: BTreeMap<AbsResource, Arc<ResourceState>>,
    /// Outputs of the root module.
    pub outputs: BTreeMap<Arc<str>, OutputValue>,
    /// None: no checks were ever recorded.
    pub checks: Option<Vec<CheckResult>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ResourceState {
    pub provider: AbsProviderConfig,
    pub instances: BTreeMap<InstanceKey, Arc<Instance>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instance {
    pub current: Option<Object>,
    pub deposed: BTreeMap<DeposedKey, Object>,
}

impl ResourceState {
    /// Changes the provider configuration; the keys of another one's instances mean nothing to it.
    pub fn hand_over(&mut self, provider: AbsProviderConfig) {
        if self.provider == provider {
            return;
        }
        self.provider = provider;
        for instance in self.instances.values_mut().filter(|instance| instance.provider_key().is_some()) {
            let Instance { current, deposed } = Arc::make_mut(instance);
            current.iter_mut().chain(deposed.values_mut()).for_each(|object| object.provider_key = None);
        }
    }
}

impl Instance {
    /// Which instance of the provider configuration manages it.
    pub fn provider_key(&self) -> Option<Arc<str>> {
        self.objects().find_map(|object| object.provider_key.clone())
    }

    /// The current object and the deposed ones.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.current.iter().chain(self.deposed.values())
    }
}

/// The value carries no marks; `sensitive` says how it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputValue {
    pub value: Value,
    pub sensitive: bool,
    /// Started as OpenTofu: the message of an output that is deprecated.
    pub deprecated: Option<Arc<str>>,
}

impl OutputValue {
    /// One that is not deprecated.
    pub fn new(value: Value, sensitive: bool) -> OutputValue {
        OutputValue { value, sensitive, deprecated: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckStatus {
    Unknown,
    Pass,
    Fail,
    Error,
}

/// The results of one block with conditions: `kind` is "resource", "output_value", "check" or "var".
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    pub kind: Arc<str>,
    pub config_addr: String,
    pub status: CheckStatus,
    /// Address, status and failure messages per instance.
    pub objects: Vec<(String, CheckStatus, Vec<String>)>,
}

impl State {
    /// True if no resource instance and no output is left.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.outputs.is_empty()
    }

    /// A question about the address in the state that was probably meant; empty if none is close.
    pub fn close_address(&self, given: &str) -> String {
        let resources = self.resources.keys().map(ToString::to_string);
        let instances = self.instances().map(|(addr, ..)| addr.to_string());
        let known: Vec<String> = resources.chain(instances).collect();
        suggest::address_question(given, known.iter().map(String::as_str).filter(|known| *known != given))
    }

    pub fn instance(&self, addr: &AbsResourceInstance) -> Option<&Instance> {
        self.resources.get(&addr.containing_resource())?.instances.get(addr.key()).map(|instance| &**instance)
    }

    /// The instance's place, made if it is not there, under the given provider configuration.
    pub fn instance_mut(&mut self, addr: &AbsResourceInstance, provider: &AbsProviderConfig) -> &mut Instance {
        let resource = self.resource_mut(addr.containing_resource(), provider);
        resource.hand_over(provider.whole());
        Arc::make_mut(resource.instances.entry(addr.key().clone()).or_default())
    }

    /// The resource's place, made under the given provider configuration if it is not there.
    pub fn resource_mut(&mut self, addr: AbsResource, provider: &AbsProviderConfig) -> &mut ResourceState {
        let empty = || Arc::new(ResourceState { provider: provider.whole(), instances: BTreeMap::new() });
        Arc::make_mut(self.resources.entry(addr).or_insert_with(empty))
    }

    /// Uses the other state's instance if it is the same, so that both together take the memory of one.
    pub fn share_instance(&mut self, addr: &AbsResourceInstance, other: &State) {
        let key = addr.containing_resource();
        let theirs = other.resources.get(&key).and_then(|resource| resource.instances.get(addr.key()));
        let (Some(theirs), Some(resource)) = (theirs, self.resources.get_mut(&key)) else { return };
        if let Some(own) = resource.instances.get(addr.key()).filter(|own| !Arc::ptr_eq(own, theirs))
            && own == theirs
        {
            Arc::make_mut(resource).instances.insert(addr.key().clone(), theirs.clone());
        }
    }

    /// Forgets instances without objects and resources without instances.
    pub fn prune(&mut self, addr: &AbsResourceInstance) {
        let key = addr.containing_resource();
        let Some(shared) = self.resources.get_mut(&key) else { return };
        let resource = Arc::make_mut(shared);
        if resource.instances.get(addr.key()).is_some_and(|i| i.current.is_none() && i.deposed.is_empty()) {
            resource.instances.remove(addr.key());
        }
        if resource.instances.is_empty() {
            self.resources.remove(&key);
        }
    }

    /// Forgets an instance with all of its objects.
    pub fn forget(&mut self, addr: &AbsResourceInstance) {
        let key = addr.containing_resource();
        let Some(shared) = self.resources.get_mut(&key) else { return };
        let resource = Arc::make_mut(shared);
        resource.instances.remove(addr.key());
        if resource.instances.is_empty() {
            self.resources.remove(&key);
        }
    }

    /// Hands the resources of a provider over to another one; their configurations keep their module and alias. Gives
    /// the addresses of these resources.
    pub fn replace_provider(&mut self, from: &Provider, to: &Provider) -> Vec<AbsResource> {
        let mut replaced = Vec::new();
        for (addr, resource) in self.resources.iter_mut().filter(|(_, of)| of.provider.provider == *from) {
            Arc::make_mut(resource).provider.provider = to.clone();
            replaced.push(addr.clone());
        }
        replaced
    }

    /// Every instance with its address and provider configuration, in order.
    pub fn instances(&self) -> impl Iterator<Item = (AbsResourceInstance, &AbsProviderConfig, &Instance)> {
        self.resources.iter().flat_map(|(addr, resource)| {
            resource
                .instances
                .iter()
                .map(move |(key, instance)| (addr.instance(key.clone()), &resource.provider, &**instance))
        })
    }
}
