//! The results of steps: write-once slots per instance.
//!
//! A step reads the slots of its references and writes only its own. The locks of the engine are here and in the
//! walk, nowhere else.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use base::diag::{Diagnostic, Diagnostics};
use model::addr::{AbsResourceInstance, InstanceKey, ModuleInstance};
use model::plan::{FunctionResults, ListResults};
use model::state::{DeposedKey, State};
use terrane_protocol::provider::Provider;
use terrane_value::Value;
use tokio::sync::Notify;

use crate::blocks::imports::Named;
use crate::blocks::tree::Tree;
use crate::coverage::Coverage;
use crate::ids::{ModuleId, NodeId, ProviderId, ROOT};
use crate::run::policy_notes::PolicyNotes;
use crate::run::records::{Checks, PlannedChanges, States};
use crate::run::renewal::Renewal;

/// Limit for the number of instances, to limit memory.
pub const MOST_INSTANCES: usize = 10_000_000;

/// How a block with `count` or `for_each` repeats.
#[derive(Clone, Debug)]
pub enum Expansion {
    Single,
    /// `lifecycle.enabled`: once or not at all, without a key.
    Enabled(bool),
    Count(usize),
    /// `count` as the state has it: the indices of the instances, ascending.
    Stored(Arc<[usize]>),
    /// Sorted by key.
    ForEach(Arc<[(Arc<str>, Value)]>),
    /// Not known yet: one placeholder stands for all instances. `Each` is what `count` and `each` mean in it.
    Unknown(Placeholder),
}

/// By what a block repeats whose instances are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    Count,
    ForEach,
    Enabled,
}

/// What `count` and `each` mean in one instance.
#[derive(Clone, Debug, Default)]
pub enum Each {
    #[default]
    None,
    Index(usize),
    Entry(Arc<str>, Value),
    /// An instance that `for_each` does not have any more: it has no value.
    Key(Arc<str>),
    /// Key and value of an import, of any type.
    Pair(Value, Value),
    /// Some instance, while it is not known which: in validate, and of a placeholder.
    UnknownIndex,
    UnknownEntry,
    /// The arguments of a module, in validate: they are not checked for `count` and `for_each`.
    Unknown,
}

impl Expansion {
    pub fn len(&self) -> usize {
        match self {
            Expansion::Single => 1,
            Expansion::Enabled(on) => usize::from(*on),
            Expansion::Count(n) => *n,
            Expansion::Stored(indices) => indices.len(),
            Expansion::ForEach(entries) => entries.len(),
            Expansion::Unknown(_) => 1,
        }
    }

    pub fn key(&self, index: usize) -> InstanceKey {
        match self {
            Expansion::Single | Expansion::Enabled(_) => InstanceKey::None,
            Expansion::Count(_) => InstanceKey::Int(index as i64),
            Expansion::Stored(indices) => InstanceKey::Int(indices[index] as i64),
            Expansion::ForEach(entries) => InstanceKey::Str(entries[index].0.clone()),
            Expansion::Unknown(_) => InstanceKey::Wildcard,
        }
    }

    pub fn each(&self, index: usize) -> Each {
        match self {
            Expansion::Single | Expansion::Enabled(_) => Each::None,
            Expansion::Count(_) => Each::Index(index),
            Expansion::Stored(indices) => Each::Index(indices[index]),
            Expansion::ForEach(entries) => Each::Entry(entries[index].0.clone(), entries[index].1.clone()),
            Expansion::Unknown(Placeholder::Count) => Each::UnknownIndex,
            Expansion::Unknown(Placeholder::ForEach) => Each::UnknownEntry,
            Expansion::Unknown(Placeholder::Enabled) => Each::None,
        }
    }

    /// What it is in a module instance: in a placeholder, no instance is known.
    pub fn within(self, module: &ModuleInstance) -> Expansion {
        match self {
            Expansion::Count(_) if is_placeholder(module) => Expansion::Unknown(Placeholder::Count),
            Expansion::ForEach(_) if is_placeholder(module) => Expansion::Unknown(Placeholder::ForEach),
            known => known,
        }
    }

    /// The key of an instance in a module instance: of a placeholder, no key is known.
    pub fn key_in(&self, module: &ModuleInstance, index: usize) -> InstanceKey {
        if is_placeholder(module) { InstanceKey::Wildcard } else { self.key(index) }
    }

    pub fn index_of(&self, key: &InstanceKey) -> Option<usize> {
        match (self, key) {
            (Expansion::Single | Expansion::Enabled(true), InstanceKey::None) => Some(0),
            (Expansion::Count(n), InstanceKey::Int(i)) => usize::try_from(*i).ok().filter(|i| i < n),
            (Expansion::Stored(indices), InstanceKey::Int(i)) => indices.binary_search(&usize::try_from(*i).ok()?).ok(),
            (Expansion::ForEach(entries), InstanceKey::Str(key)) => entries.binary_search_by(|(k, _)| k.cmp(key)).ok(),
            _ => None,
        }
    }
}

/// True for the placeholder of module instances that are not known.
pub fn is_placeholder(module: &ModuleInstance) -> bool {
    module.0.iter().any(|step| step.key == InstanceKey::Wildcard)
}

/// The slots of one module instance.
pub struct ModuleSlots {
    pub id: ModuleId,
    pub addr: ModuleInstance,
    /// Of the call's instance that made this one.
    pub each: Each,
    /// A test gives its outputs: nothing in it is evaluated.
    pub is_overridden: bool,
    pub variables: Box<[OnceLock<Value>]>,
    pub locals: Box<[OnceLock<Value>]>,
    pub outputs: Box<[OnceLock<Value>]>,
    pub calls: Box<[OnceLock<CallSlots>]>,
    pub resources: Box<[OnceLock<ResourceSlots>]>,
    /// The instances of actions; evaluated where they are invoked.
    pub actions: Box<[OnceLock<Expansion>]>,
}

/// The instances of a called module.
pub struct CallSlots {
    pub expansion: Expansion,
    pub instances: Vec<Arc<ModuleSlots>>,
    /// The outputs of all instances as one value, kept once all of them are written.
    pub whole: OnceLock<Value>,
}

/// The instances of a resource in one module instance.
pub struct ResourceSlots {
    pub expansion: Expansion,
    pub instances: Box<[InstanceSlot]>,
    /// All instances as one value, kept once all of them are settled.
    pub whole: OnceLock<Value>,
    /// Set once nothing more becomes of objects that the expansion does not have.
    pub complete: OnceLock<()>,
}

#[derive(Default)]
pub struct InstanceSlot {
    value: OnceLock<Option<Value>>,
    settled: Notify,
}

impl InstanceSlot {
    /// The object that references see; none: there will be none.
    pub fn publish(&self, value: Option<Value>) {
        let _ = self.value.set(value);
        self.settled.notify_waiters();
    }

    pub fn value(&self) -> Option<&Value> {
        self.value.get()?.as_ref()
    }

    pub fn is_published(&self) -> bool {
        self.value.get().is_some()
    }

    pub async fn wait(&self) {
        loop {
            let notified = self.settled.notified();
            if self.is_published() {
                return;
            }
            notified.await;
        }
    }
}

fn slots<T>(n: usize) -> Box<[OnceLock<T>]> {
    (0..n).map(|_| OnceLock::new()).collect()
}

impl ModuleSlots {
    pub fn new(tree: &Tree, id: ModuleId, addr: ModuleInstance, each: Each) -> Arc<ModuleSlots> {
        Arc::new(ModuleSlots::empty(tree, id, addr, each))
    }

    /// A module instance whose outputs are given, as an object; those that it does not have are null.
    pub fn overridden(tree: &Tree, id: ModuleId, addr: ModuleInstance, each: Each, given: &Value) -> Arc<ModuleSlots> {
        let slots = ModuleSlots { is_overridden: true, ..ModuleSlots::empty(tree, id, addr, each) };
        for (slot, (name, output)) in slots.outputs.iter().zip(&tree.module(id).outputs) {
            let value = given.get(name).cloned().unwrap_or_else(Value::null_dynamic);
            let _ = slot.set(value.mark(output.marks()));
        }
        Arc::new(slots)
    }

    fn empty(tree: &Tree, id: ModuleId, addr: ModuleInstance, each: Each) -> ModuleSlots {
        let module = tree.module(id);
        ModuleSlots {
            id,
            addr,
            each,
            is_overridden: false,
            variables: slots(module.variables.len()),
            locals: slots(module.locals.len()),
            outputs: slots(module.outputs.len()),
            calls: slots(module.calls.len()),
            resources: slots(module.resources.len()),
            actions: slots(module.actions.len()),
        }
    }
}

impl ResourceSlots {
    pub fn new(expansion: Expansion) -> ResourceSlots {
        let instances = (0..expansion.len()).map(|_| InstanceSlot::default()).collect();
        ResourceSlots { expansion, instances, whole: OnceLock::new(), complete: OnceLock::new() }
    }
}

/// An ephemeral resource instance that is open.
pub struct OpenEphemeral {
    pub provider: Arc<dyn Provider>,
    pub private: Vec<u8>,
    pub renewal: Option<Renewal>,
}

/// Everything that a run gathers.
pub struct Results {
    pub root: Arc<ModuleSlots>,
    /// Records what is evaluated; none where nothing is recorded.
    pub coverage: Option<Arc<Coverage>>,
    /// All instances of each module, set when its call was expanded.
    modules: Vec<OnceLock<Vec<Arc<ModuleSlots>>>>,
    providers: Vec<OnceLock<Arc<dyn Provider>>>,
    states: Mutex<States>,
    changes: Mutex<PlannedChanges>,
    checks: Mutex<Checks>,
    diagnostics: Mutex<Vec<(NodeId, Diagnostics)>>,
    deposed: Mutex<BTreeMap<AbsResourceInstance, DeposedKey>>,
    imports: Mutex<BTreeMap<AbsResourceInstance, Named>>,
    unmatched_imports: Mutex<Diagnostics>,
    ephemerals: Mutex<BTreeMap<AbsResourceInstance, OpenEphemeral>>,
    calls: Mutex<FunctionResults>,
    /// A function that reads files gave another result than before.
    files_changed: AtomicBool,
    /// By their texts.
    changed_files: Mutex<BTreeMap<String, Diagnostic>>,
    lists: Mutex<Lists>,
    policy_notes: Mutex<PolicyNotes>,
}

/// The results of lists by block, by its place in the root module, and by the position of the instance in it.
pub type Lists = BTreeMap<(usize, usize), Arc<ListResults>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Results {
    /// `calls`: what functions gave before this run, which they must give again.
    pub fn new(tree: &Tree, providers: usize, state: State, calls: FunctionResults) -> Results {
        let root = ModuleSlots::new(tree, ROOT, ModuleInstance::root(), Each::None);
        let modules: Vec<OnceLock<Vec<Arc<ModuleSlots>>>> = tree.ids().map(|_| OnceLock::new()).collect();
        let _ = modules[ROOT.index()].set(vec![root.clone()]);
        Results {
            root,
            coverage: None,
            modules,
            providers: slots(providers).into_vec(),
            states: Mutex::new(States { previous: state.clone(), current: state }),
            changes: Mutex::default(),
            checks: Mutex::default(),
            diagnostics: Mutex::default(),
            deposed: Mutex::default(),
            imports: Mutex::default(),
            unmatched_imports: Mutex::default(),
            ephemerals: Mutex::default(),
            calls: Mutex::new(calls),
            files_changed: AtomicBool::new(false),
            changed_files: Mutex::default(),
            lists: Mutex::default(),
            policy_notes: Mutex::default(),
        }
    }

    /// The instances of a module; none before its call is expanded.
    pub fn module_instances(&self, id: ModuleId) -> &[Arc<ModuleSlots>] {
        self.modules[id.index()].get().map_or(&[], Vec::as_slice)
    }

    /// True if the module is known to have none.
    pub fn is_without_instances(&self, id: ModuleId) -> bool {
        self.modules[id.index()].get().is_some_and(Vec::is_empty)
    }

    pub fn set_module_instances(&self, id: ModuleId, instances: Vec<Arc<ModuleSlots>>) {
        let _ = self.modules[id.index()].set(instances);
    }

    /// The slots of a module instance, if its calls say that it exists.
    pub fn find_module(&self, tree: &Tree, addr: &ModuleInstance) -> Option<Arc<ModuleSlots>> {
        let mut at = self.root.clone();
        for step in addr.0.iter() {
            let call = tree.module(at.id).calls.get_index_of(&step.name)?;
            let slots = at.calls[call].get()?;
            let next = slots.instances.get(slots.expansion.index_of(&step.key)?)?.clone();
            at = next;
        }
        Some(at)
    }

    /// True if it is not known whether a module instance exists.
    pub fn is_undecided(&self, tree: &Tree, addr: &ModuleInstance) -> bool {
        let mut at = self.root.clone();
        for step in addr.0.iter() {
            let slots = tree.module(at.id).calls.get_index_of(&step.name).and_then(|call| at.calls[call].get());
            let Some(slots) = slots else { return false };
            if let Expansion::Unknown(_) = slots.expansion {
                return true;
            }
            let Some(next) = slots.expansion.index_of(&step.key).and_then(|index| slots.instances.get(index)) else {
                return false;
            };
            let next = next.clone();
            at = next;
        }
        false
    }

    pub fn provider(&self, id: ProviderId) -> Option<Arc<dyn Provider>> {
        self.providers[id.index()].get().cloned()
    }

    pub fn set_provider(&self, id: ProviderId, provider: Arc<dyn Provider>) {
        let _ = self.providers[id.index()].set(provider);
    }

    /// What functions that look outside gave, by call.
    pub fn calls(&self) -> MutexGuard<'_, FunctionResults> {
        lock(&self.calls)
    }

    /// Reports a file function whose result changed, after all nodes and in the order of the texts: calls have no order.
    pub fn note_changed_file(&self, warning: Diagnostic) {
        self.files_changed.store(true, Ordering::Release);
        lock(&self.changed_files).insert(warning.detail.clone(), warning);
    }

    /// Whether values may differ from those of the plan, because files changed since.
    pub fn have_files_changed(&self) -> bool {
        self.files_changed.load(Ordering::Acquire)
    }

    /// What lists found.
    pub fn lists(&self) -> MutexGuard<'_, Lists> {
        lock(&self.lists)
    }

    pub fn states(&self) -> MutexGuard<'_, States> {
        lock(&self.states)
    }

    pub fn changes(&self) -> MutexGuard<'_, PlannedChanges> {
        lock(&self.changes)
    }

    /// What policies are evaluated with. No other lock is taken while it is held, but those of the states.
    pub fn policy_notes(&self) -> MutexGuard<'_, PolicyNotes> {
        lock(&self.policy_notes)
    }

    pub fn checks(&self) -> MutexGuard<'_, Checks> {
        lock(&self.checks)
    }

    /// In apply: objects deposed by a replacement that is not finished.
    pub fn deposed(&self) -> MutexGuard<'_, BTreeMap<AbsResourceInstance, DeposedKey>> {
        lock(&self.deposed)
    }

    /// Instances to import, with what names their objects.
    pub fn imports(&self) -> MutexGuard<'_, BTreeMap<AbsResourceInstance, Named>> {
        lock(&self.imports)
    }

    /// The errors of imports whose block has no such instance, for OpenTofu: they replace all other errors of the plan.
    pub fn unmatched_imports(&self) -> MutexGuard<'_, Diagnostics> {
        lock(&self.unmatched_imports)
    }

    /// Ephemeral objects that are open.
    pub fn ephemerals(&self) -> MutexGuard<'_, BTreeMap<AbsResourceInstance, OpenEphemeral>> {
        lock(&self.ephemerals)
    }

    pub fn report(&self, node: NodeId, diagnostics: Diagnostics) {
        if !diagnostics.is_empty() {
            lock(&self.diagnostics).push((node, diagnostics));
        }
    }

    /// What was reported, in the order of the graph's nodes.
    pub fn take_diagnostics(&self) -> Diagnostics {
        let mut by_node: BTreeMap<NodeId, Vec<Diagnostics>> = BTreeMap::new();
        for (node, diagnostics) in std::mem::take(&mut *lock(&self.diagnostics)) {
            by_node.entry(node).or_default().push(diagnostics);
        }
        let files = std::mem::take(&mut *lock(&self.changed_files)).into_values();
        by_node.into_values().flatten().flatten().chain(files).collect()
    }
}
