//! What a run keeps for its policies. Never knows a policy.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use lang::functions::FunctionError;
use model::addr::{AbsResourceInstance, ModuleInstance};
use model::plan::{ListPolicies, ResourceChange};
use rustc_hash::{FxHashMap, FxHashSet};
use terrane_protocol::schema::ResourceMode;
use terrane_value::Value;

use crate::ids::{ModuleId, ProviderId};
use crate::run::policy_objects::CurrentObjects;
use crate::run::results::ModuleSlots;

/// Values that policies are evaluated with, and what is left to evaluate.
#[derive(Default)]
pub struct PolicyNotes {
    /// The values of provider configurations; in apply, of those whose policies were unknown when they were used. Empty if the run has no
    /// policies.
    pub provider_configs: BTreeMap<ProviderId, Value>,
    /// In a query: the results for listed objects, by the positions of the block and of the instance.
    pub lists: BTreeMap<(usize, usize), ListPolicies>,
    /// In apply: instances whose planned change was made.
    pub applied: FxHashSet<AbsResourceInstance>,
    /// In apply: objects with policies whose results were unknown when their changes were about to be made.
    pub undecided: Vec<AbsResourceInstance>,
    /// In apply: deletions of which the same is true.
    pub undecided_deletions: Vec<ResourceChange>,
    /// In apply: module instances with policies whose results were unknown when their variables had values.
    pub undecided_modules: Vec<(ModuleId, Arc<ModuleSlots>)>,
    /// In apply: module instances whose policies are evaluated, set when they are decided on.
    pub judged_modules: FxHashMap<ModuleInstance, Arc<OnceLock<()>>>,
    /// In apply: module instances that policies deny.
    pub denied_modules: Vec<ModuleInstance>,
    /// In apply: module instances with mandatory policies whose results are unknown.
    pub open_modules: Vec<ModuleInstance>,
    /// Data sources that policies read, by their types and configurations.
    pub data: BTreeMap<(String, String), Result<Value, FunctionError>>,
    /// In apply: the objects of the types that policies looked up.
    pub objects: BTreeMap<String, CurrentObjects>,
}

impl PolicyNotes {
    /// Notes that the object of an instance changed.
    pub fn outdate(&mut self, addr: &AbsResourceInstance) {
        if addr.mode() == ResourceMode::Managed
            && let Some(objects) = self.objects.get_mut(addr.kind())
        {
            objects.outdate(addr);
        }
    }
}
