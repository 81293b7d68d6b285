//! Objects with a new address: `moved` blocks, and implicit moves when `count` is added to or removed from a resource.
//!
//! Owns the changes of addresses before planning. Never changes the content of objects.

pub(super) mod crossing;
mod order;
mod statements;
pub(super) mod valid;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::name::{COMMAND, PROGRAM};
use crossing::{MoveOrigin, Origins};
use model::addr::{
    AbsProviderConfig, AbsResource, AbsResourceInstance, ConfigResource, InstanceKey, ModuleInstance, Target,
};
use model::config::Config;
use model::state::{Instance, State};
use rustc_hash::FxHashMap;
use statements::MoveStatement;
use terrane_protocol::schema::ResourceMode;

use crate::opentofu;

/// What was moved: new addresses with the ones the objects had in the stored state.
pub(super) type Moved = BTreeMap<AbsResourceInstance, AbsResourceInstance>;

/// What moves as one, and finds its place taken as one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Movable {
    Module(ModuleInstance),
    Resource(AbsResource),
    Instance(AbsResourceInstance),
}

impl fmt::Display for Movable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Movable::Module(addr) => addr.fmt(f),
            Movable::Resource(addr) => addr.fmt(f),
            Movable::Instance(addr) => addr.fmt(f),
        }
    }
}

/// The place of an instance, as a statement moves it.
fn place(statement: &MoveStatement, addr: &AbsResourceInstance) -> Movable {
    match &statement.to.resource {
        None => Movable::Module(addr.module.clone()),
        Some(_) if statement.whole => Movable::Resource(addr.containing_resource()),
        Some(_) => Movable::Instance(addr.clone()),
    }
}

fn is_taken(state: &State, place: &Movable) -> bool {
    match place {
        Movable::Module(module) => state.resources.keys().any(|resource| resource.module == *module),
        Movable::Resource(resource) => state.resources.contains_key(resource),
        Movable::Instance(instance) => state.instance(instance).is_some(),
    }
}

/// Addresses that could not change, each with what it should have become, in the order in which they were found.
#[derive(Default)]
struct Blocked {
    pairs: Vec<(Movable, Movable)>,
    known: BTreeSet<(Movable, Movable)>,
}

impl Blocked {
    fn add(&mut self, from: Movable, to: Movable) {
        if self.known.insert((from.clone(), to.clone())) {
            self.pairs.push((from, to));
        }
    }
}

/// The resources of a state by their blocks, so that a statement need not look at all of them. Resources that have
/// lost their instances may still be in it.
struct ByBlock(FxHashMap<ConfigResource, BTreeSet<AbsResource>>);

impl ByBlock {
    fn of(state: &State, statements: &[MoveStatement]) -> ByBlock {
        let mut found = ByBlock(FxHashMap::default());
        if statements.iter().any(|statement| statement.source().is_some()) {
            state.resources.keys().for_each(|addr| found.add(addr.clone()));
        }
        found
    }

    fn add(&mut self, addr: AbsResource) {
        self.0.entry(addr.config()).or_default().insert(addr);
    }

    /// What the statement moves: the new address of each instance, and its present one.
    fn moves(&self, state: &State, statement: &MoveStatement) -> Vec<(AbsResourceInstance, AbsResourceInstance)> {
        let instances = |addr: &AbsResource| {
            let keys = state.resources.get(addr).into_iter().flat_map(|resource| resource.instances.keys());
            let all = keys.map(|key| addr.instance(key.clone()));
            all.filter_map(|from| Some((statement.destination(&from)?, from))).collect::<Vec<_>>()
        };
        match statement.source() {
            Some(block) => self.0.get(&block).into_iter().flatten().flat_map(instances).collect(),
            None => state.resources.keys().filter(|addr| statement.concerns(addr)).flat_map(instances).collect(),
        }
    }
}

/// Applies all moves to the state. Of what `moved` blocks moved it tells what that was before.
pub(super) fn apply(config: &Config, state: &mut State) -> ((Moved, Origins), Diagnostics) {
    let mut diags = Diagnostics::new();
    let (mut moved, mut origins) = (Moved::new(), Origins::new());
    let mut blocked = Blocked::default();
    apply_implied(config, state, &mut moved, &mut blocked);
    let statements = order::collect(config);
    let mut explicit: BTreeSet<AbsResource> = BTreeSet::new();
    let mut by_block = ByBlock::of(state, &statements);
    for statement in &statements {
        let moves = by_block.moves(state, statement);
        let mut taken: BTreeSet<Movable> = moves.iter().map(|(to, _)| place(statement, to)).collect();
        taken.retain(|place| is_taken(state, place));
        for (to, from) in moves {
            if from.mode() == ResourceMode::Managed {
                explicit.extend([from.containing_resource(), to.containing_resource()]);
            }
            let wanted = place(statement, &to);
            if taken.contains(&wanted) {
                blocked.add(place(statement, &from), wanted);
                continue;
            }
            let before = origins.remove(&from).or_else(|| {
                // Whole modules take their resources along as they are.
                statement.to.resource.as_ref()?;
                let provider = state.resources.get(&from.containing_resource())?.provider.provider.clone();
                Some(MoveOrigin { kind: from.kind().into(), provider, range: statement.range.clone() })
            });
            origins.extend(before.map(|before| (to.clone(), before)));
            rename(state, &from, &to);
            by_block.add(to.containing_resource());
            let origin = moved.remove(&from).unwrap_or(from);
            moved.insert(to, origin);
        }
    }
    apply_implied_of_modules(config, state, &explicit, &mut moved);
    moved.retain(|to, from| to != from);
    if !blocked.pairs.is_empty() {
        diags.push(blocked_warning(&blocked.pairs));
    }
    ((moved, origins), diags)
}

/// With targets, what moved must be among them, and not among what is excluded: half a move is no plan.
pub(super) fn check_targets(moved: &Moved, targets: &[Target], excludes: &[Target]) -> Option<Diagnostic> {
    let is_among = |addr: &AbsResourceInstance, targets: &[Target]| targets.iter().any(|target| target.contains(addr));
    let is_left_out = |addr: &&AbsResourceInstance| match targets.is_empty() {
        true => is_among(addr, excludes),
        false => !is_among(addr, targets),
    };
    let both = moved.iter().flat_map(|(to, from)| [from, to]);
    let excluded: BTreeSet<&AbsResourceInstance> = both.filter(is_left_out).collect();
    if excluded.is_empty() {
        return None;
    }
    // As people target: whole resources.
    let resources: BTreeSet<AbsResource> = excluded.iter().map(|addr| addr.containing_resource()).collect();
    let (flag, how, add, adding) = match targets.is_empty() {
        true => (
            "-exclude",
            "exclude some of those resource instances",
            "just specifically remove the following options",
            "removing",
        ),
        false => (
            "-target",
            "do not fully cover all of those resource instances",
            "add the following additional target options",
            "adding",
        ),
    };
    let lines: Vec<String> = resources.iter().map(|addr| format!("\n  {flag}={:?}", addr.to_string())).collect();
    Some(Diagnostic::error(
        "Moved resource instances excluded by targeting",
        format!(
            "Resource instances in your current state have moved to new addresses in the latest configuration. {PROGRAM} must \
             include those resource instances while planning in order to ensure a correct result, but your {flag}=... \
             options {how}.\n\nTo create a valid plan, either remove your {flag}=... options altogether or {add}:{}\n\nNote \
             that {adding} these options may include further additional resource instances in your plan, in order to respect \
             object dependencies.",
            lines.concat()
        ),
    ))
}

fn rename(state: &mut State, from: &AbsResourceInstance, to: &AbsResourceInstance) {
    let Some((provider, instance)) = take(state, from) else { return };
    state.resource_mut(to.containing_resource(), &provider).instances.insert(to.key().clone(), instance);
}

fn take(state: &mut State, addr: &AbsResourceInstance) -> Option<(AbsProviderConfig, Arc<Instance>)> {
    let key = addr.containing_resource();
    let resource = Arc::make_mut(state.resources.get_mut(&key)?);
    let instance = resource.instances.remove(addr.key())?;
    let provider = resource.provider.clone();
    if resource.instances.is_empty() {
        state.resources.remove(&key);
    }
    Some((provider, instance))
}

/// A module call that gains `count` keeps its instance as instance 0, one that loses it keeps instance 0: not in every dialect, except
/// for calls with `lifecycle.enabled`.
fn apply_implied_of_modules(config: &Config, state: &mut State, explicit: &BTreeSet<AbsResource>, moved: &mut Moved) {
    let keeps_first = opentofu::keeps_first_instance_of_calls(config.dialect());
    for module in config.modules() {
        for call in module.calls.values() {
            let (from, to) = match (call.enabled.is_some(), call.count.is_some(), call.for_each.is_some()) {
                (true, ..) => (InstanceKey::Int(0), InstanceKey::None),
                _ if !keeps_first => continue,
                (_, _, true) => continue,
                (_, true, _) => (InstanceKey::None, InstanceKey::Int(0)),
                _ => (InstanceKey::Int(0), InstanceKey::None),
            };
            let depth = module.path.0.len();
            let is_in = |addr: &AbsResource, key: &InstanceKey| {
                let step = addr.module.0.get(depth);
                step.is_some_and(|step| step.name == call.name && step.key == *key)
                    && addr.module.0.iter().zip(module.path.0.iter()).all(|(step, name)| step.name == *name)
            };
            if state.resources.keys().any(|addr| is_in(addr, &to)) {
                continue;
            }
            let first = state.resources.iter().filter(|(addr, _)| is_in(addr, &from));
            let keys = first.flat_map(|(addr, of)| of.instances.keys().map(|key| addr.instance(key.clone())));
            for addr in keys.collect::<Vec<_>>() {
                if explicit.contains(&addr.containing_resource()) {
                    continue;
                }
                let mut steps = addr.module.0.to_vec();
                steps[depth].key = to.clone();
                let to = AbsResourceInstance { module: ModuleInstance(steps.into()), ..addr.clone() };
                rename(state, &addr, &to);
                let origin = moved.remove(&addr).unwrap_or(addr);
                moved.insert(to, origin);
            }
        }
    }
}

/// A resource that gains `count` keeps its object as instance 0, one that loses it keeps instance 0; not if a `moved` block
/// names the resource, whether or not it has anything to move.
fn apply_implied(config: &Config, state: &mut State, moved: &mut Moved, blocked: &mut Blocked) {
    let statements = statements::declared(config);
    let mut naming: FxHashMap<ConfigResource, Vec<&MoveStatement>> = FxHashMap::default();
    for statement in &statements {
        statement.named().for_each(|block| naming.entry(block).or_default().push(statement));
    }
    let is_named = |addr: &AbsResource| {
        !naming.is_empty() && naming.get(&addr.config()).is_some_and(|them| them.iter().any(|s| s.names(addr)))
    };
    for (addr, resource) in &mut state.resources {
        if is_named(addr) {
            continue;
        }
        let declared = config.module(&addr.module.module()).and_then(|module| module.resources.get(&addr.resource));
        let Some(declared) = declared else { continue };
        let (from, to) = match (declared.count.is_some(), declared.for_each.is_some()) {
            (true, _) => (InstanceKey::None, InstanceKey::Int(0)),
            (false, false) => (InstanceKey::Int(0), InstanceKey::None),
            (false, true) => continue,
        };
        if resource.instances.contains_key(&to) {
            if resource.instances.contains_key(&from) {
                blocked.add(Movable::Instance(addr.instance(from)), Movable::Instance(addr.instance(to)));
            }
            continue;
        }
        if !resource.instances.contains_key(&from) {
            continue;
        }
        let resource = Arc::make_mut(resource);
        if let Some(instance) = resource.instances.remove(&from) {
            resource.instances.insert(to.clone(), instance);
            let from = addr.instance(from);
            let origin = moved.remove(&from).unwrap_or(from);
            moved.insert(addr.instance(to), origin);
        }
    }
}

/// Removes the warning of moves that could not be made, which is of no use beside errors.
pub(super) fn without_blocked(diagnostics: Diagnostics) -> Diagnostics {
    diagnostics.into_iter().filter(|d| d.kind != Kind::BlockedMoves).collect()
}

fn blocked_warning(blocked: &[(Movable, Movable)]) -> Diagnostic {
    let lines: Vec<String> = blocked.iter().map(|(from, to)| format!("\n  - {from} could not move to {to}")).collect();
    Diagnostic::warning(
        "Unresolved resource instance address changes",
        format!(
            "{PROGRAM} tried to adjust resource instance addresses in the prior state based on change information recorded \
             in the configuration, but some adjustments did not succeed due to existing objects already at the intended \
             addresses:{}\n\n{PROGRAM} has planned to destroy these objects. If {PROGRAM}'s proposed changes aren't \
             appropriate, you must first resolve the conflicts using the \"{COMMAND} state\" subcommands and then create a \
             new plan.",
            lines.concat()
        ),
    )
    .of_kind(Kind::BlockedMoves)
}
