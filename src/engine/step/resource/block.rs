//! Planning a resource block: its instances, and additional instances in the state.

use std::sync::Arc;

use base::diag::Diagnostics;
use base::name;
use base::telemetry::{self, Description, Detail};
use model::addr::{AbsResourceInstance, ConfigResource};
use model::plan::{Action, ActionReason, Refresh, ResourceChange};
use model::state::DeposedKey;
use rustc_hash::FxHashSet;
use terrane_protocol::schema::ResourceMode;
use terrane_value::{Type, Value};
use tokio::task::JoinSet;

use super::expand::stored_value;
use super::orphan::{self, OrphanObject};
use super::plan::Forced;
use super::prevention::check_prevent_destroy;
use super::record::{new_change, note_change, note_drift, put};
use super::upgrade::upgrade;
use super::{
    Instance, choose, conditions, data, deferral, import, import_command, list, plan, read, replace, with_instance,
};
use crate::blocks::tree::ModuleId;
use crate::blocks::{BlockId, Blocks};
use crate::engine_errors;
use crate::graph::NodeId;
use crate::graph::walk::{End, Turn, catch_panic};
use crate::run::object::Stored;
use crate::run::results::{Expansion, ModuleSlots, ResourceSlots};
use crate::run::scope::ModuleScope;
use crate::run::{Prior, Run, Verb};
use crate::step::expansion::{Unknown, expand};
use crate::step::{action, imports};

/// One thing to do for a block, independent of the others.
enum Work {
    /// Plan the instance at a position of the block's expansion in a module instance.
    Instance { module: Arc<ModuleSlots>, position: usize },
    /// Plan to destroy an object.
    OrphanObject { addr: AbsResourceInstance, deposed: Option<DeposedKey>, expansion: Option<Expansion> },
    /// Read an object of which only a later plan can tell whether it is wanted.
    UndecidedObject { addr: AbsResourceInstance },
}

impl Work {
    /// The instance that the work is about.
    fn address(&self, blocks: &Blocks, job: Job) -> Option<AbsResourceInstance> {
        match self {
            Work::Instance { module, position } => {
                let (_, index) = job.block?;
                let key = module.resources[index as usize].get()?.expansion.key(*position);
                Some(blocks.tree.resource(module.id, index).addr.absolute(module.addr.clone()).instance(key))
            }
            Work::OrphanObject { addr, .. } | Work::UndecidedObject { addr } => Some(addr.clone()),
        }
    }
}

/// Who serves the work, and for which node and block it is done.
#[derive(Clone, Copy)]
struct Job {
    node: NodeId,
    block: Option<BlockId>,
    /// None: the instances of the block choose.
    provider: Option<u32>,
}

pub async fn run(run: Arc<Run>, node: NodeId, module: ModuleId, index: u32, turn: &mut Turn) -> End {
    let provider = run.blocks.providers.of.get(&(module, index)).copied();
    if provider.is_none() && !run.blocks.providers.chosen.contains_key(&(module, index)) {
        return End::Failed;
    }
    let (identity, mut diagnostics) = imports::identity_type(&run, (module, index)).await;
    let work = diagnostics.take(work_of_block(&run, node, (module, index), identity.as_ref()));
    let failed = diagnostics.has_errors();
    run.report(node, diagnostics);
    let end = do_all(run.clone(), Job { node, block: Some((module, index)), provider }, work, turn).await;
    for slots in run.results.module_instances(module).iter().filter_map(|m| m.resources[index as usize].get()) {
        let _ = slots.complete.set(());
    }
    if failed { End::Failed } else { end }
}

pub async fn run_orphans(run: Arc<Run>, node: NodeId, index: u32, turn: &mut Turn) -> End {
    let orphans = run.schedule.orphans[index as usize].clone();
    let block = run.blocks.tree.find_resource(&orphans.resource);
    let mut work = Vec::new();
    let wanted = orphans.instances.iter().filter(|addr| run.is_targeted(node, addr));
    if orphans.provider.is_none() {
        wanted.for_each(|addr| orphan::drop_data(&run, addr));
        return End::Done;
    }
    for addr in wanted {
        current_object(&run.prior, addr, None, &mut work);
        deposed_objects(&run.prior, addr, None, &mut work);
    }
    do_all(run.clone(), Job { node, block, provider: orphans.provider }, work, turn).await
}

/// Expands the block in every module instance, and finds what the state has beside it. `identity`: the type of the identities
/// of its imports.
fn work_of_block(
    run: &Run,
    node: NodeId,
    (module, index): BlockId,
    identity: Option<&Type>,
) -> (Vec<Work>, Diagnostics) {
    let (mut work, mut diagnostics) = (Vec::new(), Diagnostics::new());
    let config = run.blocks.tree.resource(module, index);
    for instance in run.results.module_instances(module) {
        let scope = ModuleScope::new(run, instance);
        let found = expand(config.repetition(), &scope, Unknown::of_run(run));
        let Some(expansion) = diagnostics.take(found) else { continue };
        let expansion = expansion.within(&instance.addr);
        let resource = config.addr.absolute(instance.addr.clone());
        diagnostics.extend(replace::without_key(run, &resource, &expansion));
        let slots = ResourceSlots::new(expansion);
        for position in 0..slots.instances.len() {
            let addr = resource.instance(slots.expansion.key(position));
            if run.is_targeted(node, &addr) {
                work.push(Work::Instance { module: instance.clone(), position });
            } else if let Some(schema) = run.blocks.schemas.resource(&config.provider, &config.addr) {
                slots.instances[position].publish(stored_value(&run.prior, &resource, addr.key(), &schema));
            }
        }
        let _ = instance.resources[index as usize].set(slots);
    }
    let found = imports_of_block(run, (module, index), identity);
    if found.has_errors() {
        work.clear();
    }
    diagnostics.extend(found);
    if diagnostics.has_errors() {
        return (work, diagnostics);
    }
    for resource in run.prior.stored.get(&(module, index)).into_iter().flatten() {
        let slots = run.results.find_module(&run.blocks.tree, &resource.module);
        let expansion = slots.as_ref().and_then(|m| m.resources[index as usize].get()).map(|s| &s.expansion);
        let Some(stored) = run.prior.state.resources.get(resource) else { continue };
        for key in stored.instances.keys() {
            let addr = resource.instance(key.clone());
            if matches!(expansion, Some(Expansion::Unknown(_)))
                || run.results.is_undecided(&run.blocks.tree, &resource.module)
            {
                if config.addr.mode == ResourceMode::Managed && run.is_targeted(node, &addr) {
                    work.push(Work::UndecidedObject { addr });
                }
                continue;
            }
            let wanted = expansion.is_some_and(|e| e.index_of(key).is_some());
            let is_targeted = run.is_targeted(node, &addr);
            // Observed: targets do not protect the objects of module instances that are gone, but for deposed ones.
            if !wanted && (is_targeted || expansion.is_none()) {
                current_object(&run.prior, &addr, expansion, &mut work);
            }
            // The import command leaves deposed objects as they are stored.
            if is_targeted && run.verb != Verb::Import {
                deposed_objects(&run.prior, &addr, expansion, &mut work);
            }
        }
    }
    (work, diagnostics)
}

fn imports_of_block(run: &Run, block: BlockId, identity: Option<&Type>) -> Diagnostics {
    match run.verb {
        Verb::Plan { refresh_only: false, .. } => imports::plan(run, block, identity),
        Verb::Import => imports::check_requested(run, block),
        _ => Diagnostics::new(),
    }
}

fn current_object(prior: &Prior, addr: &AbsResourceInstance, expansion: Option<&Expansion>, work: &mut Vec<Work>) {
    if prior.state.instance(addr).is_some_and(|stored| stored.current.is_some()) {
        work.push(Work::OrphanObject { addr: addr.clone(), deposed: None, expansion: expansion.cloned() });
    }
}

fn deposed_objects(prior: &Prior, addr: &AbsResourceInstance, expansion: Option<&Expansion>, work: &mut Vec<Work>) {
    let keys = prior.state.instance(addr).into_iter().flat_map(|stored| stored.deposed.keys());
    work.extend(keys.map(|key| {
        let deposed = Some(key.clone());
        Work::OrphanObject { addr: addr.clone(), deposed, expansion: expansion.cloned() }
    }));
}

/// Does all of it, as many at a time as there are turns.
async fn do_all(run: Arc<Run>, job: Job, mut work: Vec<Work>, turn: &mut Turn) -> End {
    if work.len() <= 1 {
        return match work.pop() {
            Some(work) => do_one(&run, job, work).await,
            None => End::Done,
        };
    }
    turn.give_back();
    // Deposed objects first: providers see the same order in each run.
    let (deposed, rest): (Vec<_>, Vec<_>) =
        work.into_iter().partition(|item| matches!(item, Work::OrphanObject { deposed: Some(_), .. }));
    let first = do_at_once(&run, job, deposed).await;
    let then = do_at_once(&run, job, in_order(&run, job, rest)).await;
    if first == End::Done { then } else { first }
}

async fn do_at_once(run: &Arc<Run>, job: Job, work: Vec<Work>) -> End {
    let mut end = End::Done;
    let mut running = JoinSet::new();
    let mut note_end = |ended: Result<End, tokio::task::JoinError>| {
        if !matches!(ended, Ok(End::Done)) {
            end = End::Failed;
        }
    };
    for item in work {
        let turn = Turn::take(&run.schedule.turns).await;
        let run = run.clone();
        running.spawn(async move {
            let _turn = turn;
            do_one(&run, job, item).await
        });
        while let Some(ended) = running.try_join_next() {
            note_end(ended);
        }
    }
    while let Some(ended) = running.join_next().await {
        note_end(ended);
    }
    end
}

/// Instances that others of the same block refer to by a literal key come first.
fn in_order(run: &Run, job: Job, mut work: Vec<Work>) -> Vec<Work> {
    let Some((module, index)) = job.block else { return work };
    let keys = run.own_keys(module, index);
    if !keys.is_empty() {
        work.sort_by_key(|item| match item {
            Work::Instance { module, position } => {
                let slots = module.resources[index as usize].get();
                !slots.is_some_and(|s| keys.contains(&s.expansion.key(*position)))
            }
            Work::OrphanObject { .. } | Work::UndecidedObject { .. } => true,
        });
    }
    work
}

async fn do_one(run: &Run, job: Job, work: Work) -> End {
    if run.ports.stop.is_stopping() {
        return End::Failed;
    }
    let describe = || {
        let span = Description::new("Plan resource instance changes");
        work.address(&run.blocks, job).map_or_else(|| span.clone(), |addr| with_instance(span.clone(), &addr))
    };
    let plan = || async {
        match &work {
            Work::Instance { module, position } => plan_one(run, job, module, *position).await,
            Work::OrphanObject { addr, deposed, expansion } => {
                plan_destroy_one(run, job, addr.clone(), deposed.clone(), expansion.clone()).await
            }
            Work::UndecidedObject { addr } => refresh_one(run, job, addr.clone()).await,
        }
    };
    let done = catch_panic(telemetry::traced(Detail::Steps, describe, plan, Diagnostics::has_errors));
    let diagnostics = done.await.unwrap_or_else(|text| {
        let address = work.address(&run.blocks, job).map_or_else(String::new, |addr| addr.to_string());
        engine_errors::panicked(&address, &text).into()
    });
    let end = if diagnostics.has_errors() { End::Failed } else { End::Done };
    run.report(job.node, diagnostics);
    end
}

/// An instance that is in the state, with the provider that its object has; none if there is no provider.
fn stored_instance(run: &Run, job: Job, addr: AbsResourceInstance) -> Result<Option<Instance<'_>>, Diagnostics> {
    let module = run.results.find_module(&run.blocks.tree, &addr.module);
    let provider = match (job.provider, job.block) {
        (Some(provider), _) => provider,
        (None, Some(block)) => choose::stored_provider(&run.blocks, block, &addr, run.prior.state.instance(&addr))?,
        (None, None) => return Ok(None),
    };
    let instance = Instance::new(run, addr, job.block, provider, module, Default::default());
    Ok(Some(instance.map_err(Diagnostics::from)?))
}

/// Brings an object up to date, and plans nothing for it.
async fn refresh_one(run: &Run, job: Job, addr: AbsResourceInstance) -> Diagnostics {
    let instance = match stored_instance(run, job, addr) {
        Ok(Some(instance)) => instance,
        Ok(None) => return Diagnostics::new(),
        Err(errors) => return errors,
    };
    let object = run.prior.state.instance(&instance.addr).and_then(|stored| stored.current.as_ref());
    let Some(object) = object else { return Diagnostics::new() };
    let refresh = run.inputs.scope.refresh == Refresh::All;
    let reason = ActionReason::None;
    orphan::plan(&instance, OrphanObject { object, deposed: None, reason, forget: false, refresh, plan: false }).await
}

async fn plan_destroy_one(
    run: &Run,
    job: Job,
    addr: AbsResourceInstance,
    deposed: Option<DeposedKey>,
    expansion: Option<Expansion>,
) -> Diagnostics {
    let instance = match stored_instance(run, job, addr) {
        Ok(Some(instance)) => instance,
        Ok(None) => return Diagnostics::new(),
        Err(errors) => return errors,
    };
    let destroying = run.verb == Verb::PlanDestroy;
    let stored = run.prior.state.instance(&instance.addr);
    let object = stored.and_then(|s| match &deposed {
        Some(key) => s.deposed.get(key),
        None => s.current.as_ref(),
    });
    let Some(object) = object else { return Diagnostics::new() };
    let reason = match destroying || deposed.is_some() {
        true => ActionReason::None,
        false => orphan::reason(&instance, expansion.as_ref()),
    };
    let plan = !run.plans_nothing();
    let removed = run.blocks.removed.find(&instance.addr.config()).filter(|_| instance.config.is_none());
    let is_kept = orphan::reason_to_keep(&instance, object, removed);
    let orphan_object = OrphanObject {
        object,
        deposed,
        reason: is_kept.unwrap_or(reason),
        forget: plan && (is_kept.is_some() || !destroying && removed.is_some_and(|r| !r.destroys())),
        refresh: run.inputs.scope.refresh == Refresh::All && !destroying,
        plan,
    };
    orphan::plan(&instance, orphan_object).await
}

async fn plan_one(run: &Run, job: Job, module: &Arc<ModuleSlots>, position: usize) -> Diagnostics {
    let Some((block_module, index)) = job.block else { return Diagnostics::new() };
    let Some(slots) = module.resources[index as usize].get() else { return Diagnostics::new() };
    let config = run.blocks.tree.resource(module.id, index);
    let addr = config.addr.absolute(module.addr.clone()).instance(slots.expansion.key_in(&module.addr, position));
    let each = slots.expansion.each(position);
    let provider = match job.provider.map_or_else(|| choose::provider(run, (block_module, index), module, &each), Ok) {
        Ok(provider) => provider,
        Err(errors) => return errors,
    };
    let instance = match Instance::new(run, addr, job.block, provider, Some(module.clone()), each) {
        Ok(instance) => instance,
        Err(error) => return error.into(),
    };
    let (value, diagnostics) = match config.addr.mode {
        ResourceMode::Managed | ResourceMode::Data if instance.is_placeholder() => {
            deferral::placeholder(&instance).await
        }
        ResourceMode::Managed => match requested(&instance) {
            Some(id) => import_command::import(&instance, &id).await,
            None => managed(&instance, &slots.instances[position]).await,
        },
        ResourceMode::Data => data::plan(&instance).await,
        ResourceMode::List => list::run(&instance, position).await,
        ResourceMode::Ephemeral => (Some(Value::unknown(instance.schema.implied_type().clone())), Diagnostics::new()),
    };
    slots.instances[position].publish(value);
    diagnostics
}

/// The id by which the import command wants an object to become this instance.
fn requested(instance: &Instance<'_>) -> Option<Arc<str>> {
    let run = instance.run;
    run.blocks.imports.requested.as_ref().filter(|it| it.addr == instance.addr).map(|it| it.id.clone())
}

/// What is stored of an instance, brought up to date.
#[derive(Default)]
struct Now {
    current: Option<Stored>,
    /// The plan without a change, because of which the object was not read.
    unchanged: Option<ResourceChange>,
}

/// The stored object as it is now. With errors it is of no use.
async fn now(instance: &Instance<'_>, dependencies: &Arc<[ConfigResource]>) -> (Now, Diagnostics) {
    let run = instance.run;
    let mut diagnostics = Diagnostics::new();
    let object = run.prior.state.instance(&instance.addr).and_then(|s| s.current.as_ref());
    let Some(object) = object else { return (Now::default(), diagnostics) };
    let Some(mut stored) = diagnostics.take(upgrade(instance, object).await) else {
        return (Now::default(), diagnostics);
    };
    put(&run.results, instance, None, stored.encode_unless_null(&instance.schema), true);
    stored.create_before_destroy = instance.create_before_destroy;
    if !name::is_opentofu() {
        stored.keep = instance.keep();
    }
    stored.provider_key = instance.provider_addr.key.clone();
    let is_upgraded = object.schema_version != instance.schema.version;
    let unchanged = match run.inputs.scope.refresh {
        Refresh::Changed if !is_upgraded => unchanged(instance, &stored).await,
        _ => None,
    };
    let before = stored.value.clone();
    let mut current = Some(stored);
    if let Some(stored) = current.take_if(|_| run.inputs.scope.refresh != Refresh::Never && unchanged.is_none()) {
        current = diagnostics.take(read::refresh(instance, stored, None).await);
        if diagnostics.has_errors() {
            return (Now::default(), diagnostics);
        }
        if instance.is_deferred() {
            // What the provider could not read yet stays as it is.
            return (Now { current, unchanged }, diagnostics);
        }
        note_drift(instance, object, &before, current.as_ref().map(|c| &c.value));
        if let Some(current) = &mut current {
            current.dependencies = merge(dependencies, &current.dependencies);
        }
    }
    current = current.filter(|c| !c.value.is_null());
    let mut kept = current.as_ref().map(|c| c.encode(&instance.schema));
    if let (Refresh::Never, Some(kept)) = (run.inputs.scope.refresh, &mut kept) {
        kept.sensitive = object.sensitive.clone();
    }
    put(&run.results, instance, None, kept, false);
    (Now { current, unchanged }, diagnostics)
}

/// The plan of an object that nothing changes, as far as can be said without reading it.
async fn unchanged(instance: &Instance<'_>, stored: &Stored) -> Option<ResourceChange> {
    let (forced, found) = forced(instance);
    if found.has_errors() || forced != Forced::No || instance.run.plans_nothing() || stored.value.is_null() {
        return None;
    }
    let (change, found) = plan::without_conditions(instance, stored).await;
    change.filter(|change| change.action == Action::NoOp && !found.has_errors())
}

/// Whether the object is to be replaced for a reason outside of it.
fn forced(instance: &Instance<'_>) -> (Forced, Diagnostics) {
    let (triggered, found) = replace::is_triggered(instance);
    let forced = match (triggered, instance.run.inputs.scope.force_replace.contains(&instance.addr)) {
        (true, _) => Forced::ByTriggers,
        (_, true) => Forced::ByRequest,
        _ => Forced::No,
    };
    (forced, found)
}

/// Plans one managed instance. Returns what references see.
async fn managed(instance: &Instance<'_>, slot: &crate::run::results::InstanceSlot) -> (Option<Value>, Diagnostics) {
    let run = instance.run;
    let dependencies = instance.block.and_then(|b| run.blocks.order.dependencies.get(&b).cloned()).unwrap_or_default();
    let mut diagnostics = instance.check_destroy_argument();
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let now = diagnostics.take(now(instance, &dependencies).await);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let Now { mut current, unchanged } = now;
    let pre_destroy = matches!(run.verb, Verb::Plan { pre_destroy: true, .. });
    let importing = run.results.imports().remove(&instance.addr).filter(|_| !pre_destroy);
    if let Some(named) = importing.as_ref().filter(|_| current.is_none()) {
        current = diagnostics.take(import::import(instance, named).await);
        if diagnostics.has_errors() {
            return (None, diagnostics);
        }
        if !instance.is_deferred() {
            put(&run.results, instance, None, current.as_ref().map(|c| c.encode(&instance.schema)), false);
        }
    }
    if run.plans_nothing() {
        if let (Some(reason), Some(current)) = (instance.deferral.get(), &current) {
            let change = new_change(instance, Action::Read, current.value.clone(), current.value.clone());
            run.results.changes().defer(change, *reason);
        }
        let value = current.map(|c| c.value);
        diagnostics.extend(conditions::preconditions(instance));
        slot.publish(value.clone());
        let known = value.clone().unwrap_or_else(|| Value::unknown(instance.schema.implied_type().clone()));
        diagnostics.extend(conditions::postconditions(instance, &known));
        return (value, diagnostics);
    }
    let forced = diagnostics.take(forced(instance));
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let planned = match &unchanged {
        Some(unchanged) => plan::plan(instance, current.as_ref(), forced, Some(unchanged)).await,
        None => plan::plan(instance, current.as_ref(), forced, None).await,
    };
    let Some(mut change) = diagnostics.take(planned) else { return (None, diagnostics) };
    if forced == Forced::ByTriggers {
        change.reason = ActionReason::ReplaceByTriggers;
    }
    change.importing = importing.as_ref().map(|named| import::importing(named, current.as_ref()));
    if let Some(reason) = deferral::reason(instance, &dependencies) {
        slot.publish(Some(change.change.after.clone()));
        let value = change.change.after.clone();
        diagnostics.extend(deferral::defer(instance, change, reason));
        return (Some(value), diagnostics);
    }
    if let (Action::NoOp, Some(current)) = (change.action, &mut current) {
        // Nothing will be applied, so that what is stored is settled here.
        if current.dependencies != dependencies {
            current.dependencies = dependencies;
            put(&run.results, instance, None, Some(current.encode(&instance.schema)), false);
        }
    }
    let value = change.change.after.clone();
    let prevented = check_prevent_destroy(instance, &change);
    let triggering = action::plan::has_triggers(instance).then(|| change.clone());
    note_change(&run.results, change);
    diagnostics.extend(prevented);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    slot.publish(Some(value.clone()));
    diagnostics.extend(conditions::postconditions(instance, &value));
    if let Some(change) = triggering {
        diagnostics.extend(action::plan::triggered(instance, &change).await);
    }
    (Some(value), diagnostics)
}

/// What the configuration says joined with what is stored, sorted by text.
fn merge(configured: &Arc<[ConfigResource]>, stored: &Arc<[ConfigResource]>) -> Arc<[ConfigResource]> {
    if configured == stored {
        return stored.clone();
    }
    let known: FxHashSet<&ConfigResource> = configured.iter().collect();
    let extra: Vec<&ConfigResource> = stored.iter().filter(|s| !known.contains(s)).collect();
    match () {
        () if extra.is_empty() => configured.clone(),
        () if extra.len() + configured.len() == stored.len() => stored.clone(),
        () => {
            let mut all: Vec<ConfigResource> = configured.iter().chain(extra).cloned().collect();
            all.sort_by_cached_key(ToString::to_string);
            all.into()
        }
    }
}
