//! Planning a resource block: its instances, and additional instances in the state.

use std::sync::Arc;

use base::diag::Diagnostics;
use base::telemetry::{self, Description, Detail};
use model::addr::AbsResourceInstance;
use model::plan::{ActionReason, Refresh};
use model::state::DeposedKey;
use terrane_protocol::schema::ResourceMode;
use terrane_value::{Type, Value};
use tokio::task::JoinSet;

use super::orphan::{self, OrphanObject};
use super::{managed, placeholder, triggers};
use crate::blocks::Blocks;
use crate::engine_errors;
use crate::graph::walk::{End, Turn, catch_panic};
use crate::ids::{NodeId, OrphansId, ProviderId, ResourceId};
use crate::run::module_scope::ModuleScope;
use crate::run::results::{Expansion, ModuleSlots, ResourceSlots};
use crate::run::{Prior, Run, Verb};
use crate::step::expansion::{Unknown, expand};
use crate::step::imports;
use crate::step::resource::expand::stored_value;
use crate::step::resource::import::command;
use crate::step::resource::read::data;
use crate::step::resource::{Instance, list, provider_choice, with_instance};

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
                let block = job.block?;
                let key = module.resources[block.index()].get()?.expansion.key(*position);
                Some(blocks.tree.resource(block).addr.absolute(module.addr.clone()).instance(key))
            }
            Work::OrphanObject { addr, .. } | Work::UndecidedObject { addr } => Some(addr.clone()),
        }
    }
}

/// Who serves the work, and for which node and block it is done.
#[derive(Clone, Copy)]
struct Job {
    node: NodeId,
    block: Option<ResourceId>,
    /// None: the instances of the block choose.
    provider: Option<ProviderId>,
}

pub async fn run(run: Arc<Run>, node: NodeId, block: ResourceId, turn: &mut Turn) -> End {
    let provider = run.blocks.providers.of.get(&block).copied();
    if provider.is_none() && !run.blocks.providers.chosen.contains_key(&block) {
        return End::Failed;
    }
    let (identity, mut diagnostics) = imports::identity_type(&run, block).await;
    let work = diagnostics.take(work_of_block(&run, node, block, identity.as_ref()));
    let failed = diagnostics.has_errors();
    run.report(node, diagnostics);
    let end = do_all(run.clone(), Job { node, block: Some(block), provider }, work, turn).await;
    for slots in run.results.module_instances(block.module).iter().filter_map(|m| m.resources[block.index()].get()) {
        let _ = slots.complete.set(());
    }
    if failed { End::Failed } else { end }
}

pub async fn run_orphans(run: Arc<Run>, node: NodeId, orphans: OrphansId, turn: &mut Turn) -> End {
    let orphans = run.schedule.orphans[orphans.index()].clone();
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
fn work_of_block(run: &Run, node: NodeId, block: ResourceId, identity: Option<&Type>) -> (Vec<Work>, Diagnostics) {
    let (mut work, mut diagnostics) = (Vec::new(), Diagnostics::new());
    let config = run.blocks.tree.resource(block);
    for instance in run.results.module_instances(block.module) {
        let scope = ModuleScope::new(run, instance);
        let found = expand(config.repetition(), &scope, Unknown::of_run(run));
        let Some(expansion) = diagnostics.take(found) else { continue };
        let expansion = expansion.within(&instance.addr);
        let resource = config.addr.absolute(instance.addr.clone());
        diagnostics.extend(triggers::without_key(run, &resource, &expansion));
        let slots = ResourceSlots::new(expansion);
        for position in 0..slots.instances.len() {
            let addr = resource.instance(slots.expansion.key(position));
            if run.is_targeted(node, &addr) {
                work.push(Work::Instance { module: instance.clone(), position });
            } else if let Some(schema) = run.blocks.schemas.resource(&config.provider, &config.addr) {
                slots.instances[position].publish(stored_value(&run.prior, &resource, addr.key(), &schema));
            }
        }
        let _ = instance.resources[block.index()].set(slots);
    }
    let found = imports_of_block(run, block, identity);
    if found.has_errors() {
        work.clear();
    }
    diagnostics.extend(found);
    if diagnostics.has_errors() {
        return (work, diagnostics);
    }
    for resource in run.prior.stored.get(&block).into_iter().flatten() {
        let slots = run.results.find_module(&run.blocks.tree, &resource.module);
        let expansion = slots.as_ref().and_then(|m| m.resources[block.index()].get()).map(|s| &s.expansion);
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

fn imports_of_block(run: &Run, block: ResourceId, identity: Option<&Type>) -> Diagnostics {
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
    let Some(block) = job.block else { return work };
    let keys = run.own_keys(block);
    if !keys.is_empty() {
        work.sort_by_key(|item| match item {
            Work::Instance { module, position } => {
                let slots = module.resources[block.index()].get();
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
    let diagnostics = done.await.unwrap_or_else(|panic| {
        let address = work.address(&run.blocks, job).map_or_else(String::new, |addr| addr.to_string());
        engine_errors::panicked(&address, &panic.text).into()
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
        (None, Some(block)) => {
            provider_choice::stored_provider(&run.blocks, block, &addr, run.prior.state.instance(&addr))?
        }
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
    let Some(block) = job.block else { return Diagnostics::new() };
    let Some(slots) = module.resources[block.index()].get() else { return Diagnostics::new() };
    let config = run.blocks.tree.resource(block);
    let addr = config.addr.absolute(module.addr.clone()).instance(slots.expansion.key_in(&module.addr, position));
    let each = slots.expansion.each(position);
    let provider = match job.provider.map_or_else(|| provider_choice::provider(run, block, module, &each), Ok) {
        Ok(provider) => provider,
        Err(errors) => return errors,
    };
    let instance = match Instance::new(run, addr, job.block, provider, Some(module.clone()), each) {
        Ok(instance) => instance,
        Err(error) => return error.into(),
    };
    let (value, diagnostics) = match config.addr.mode {
        ResourceMode::Managed | ResourceMode::Data if instance.is_placeholder() => placeholder::plan(&instance).await,
        ResourceMode::Managed => match requested(&instance) {
            Some(id) => command::import(&instance, &id).await,
            None => managed::plan(&instance, &slots.instances[position]).await,
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
