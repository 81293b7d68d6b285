//! The results of conditions per block: every checkable object has one, also if it was not checked.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use model::state::{CheckResult, CheckStatus};

use crate::graph::Node;
use crate::ids::{NodeId, ROOT, ResourceId};
use crate::run::records::CheckRecord;
use crate::run::results::ModuleSlots;
use crate::run::{Run, Verb};
use crate::step::check;

/// The objects of a block that have results: the status, how many conditions were looked at, the messages.
type Objects = BTreeMap<String, (CheckStatus, usize, Vec<String>)>;

/// Results per block, worst status first in what counts for the block. `planned`: what the plan had, in apply, which
/// names the objects that apply did not check. None if there is nothing to check.
pub fn results(run: &Run, records: Vec<CheckRecord>, planned: Option<&[CheckResult]>) -> Option<Vec<CheckResult>> {
    let mut blocks: BTreeMap<(String, &'static str), Objects> = BTreeMap::new();
    for record in records {
        let objects = blocks.entry((record.config_addr, record.kind)).or_default();
        let object = objects.entry(record.addr).or_insert((record.status, 0, Vec::new()));
        object.0 = worse(object.0, record.status);
        object.1 += 1;
        object.2.extend(record.message);
    }
    let planned: BTreeMap<&str, &CheckResult> =
        planned.into_iter().flatten().map(|result| (result.config_addr.as_str(), result)).collect();
    let mut results = Vec::new();
    for declared in declared(run) {
        let key = (declared.config_addr, declared.kind);
        let found = blocks.remove(&key);
        results.push(match (found, planned.get(key.0.as_str())) {
            (None, Some(planned)) => unchecked(planned),
            (found, _) => {
                result(key, found.unwrap_or_default(), declared.conditions, declared.objects, declared.absent)
            }
        });
    }
    results.extend(blocks.into_iter().map(|(key, objects)| result(key, objects, 0, Vec::new(), false)));
    let known: BTreeSet<&str> = results.iter().map(|result| result.config_addr.as_str()).collect();
    let gone: Vec<CheckResult> =
        planned.values().filter(|p| !known.contains(p.config_addr.as_str())).map(|p| unchecked(p)).collect();
    results.extend(gone);
    results.sort_by(|a, b| a.config_addr.cmp(&b.config_addr));
    (!results.is_empty()).then_some(results)
}

/// The result of a block with so many conditions. Objects of which not all were looked at are unknown, if nothing is wrong.
fn result(
    (config_addr, kind): (String, &'static str),
    mut checked: Objects,
    conditions: usize,
    all: Vec<String>,
    absent: bool,
) -> CheckResult {
    for object in checked.values_mut().filter(|object| object.1 < conditions) {
        object.0 = worse(object.0, CheckStatus::Unknown);
    }
    for addr in all {
        checked.entry(addr).or_insert((CheckStatus::Unknown, 0, Vec::new()));
    }
    let without = if absent { CheckStatus::Pass } else { CheckStatus::Unknown };
    let status = checked.values().map(|object| object.0).reduce(worse).unwrap_or(without);
    let objects = checked.into_iter().map(|(addr, (status, _, messages))| (addr, status, messages)).collect();
    CheckResult { kind: kind.into(), config_addr, status, objects }
}

/// The same block with nothing known of its objects. One that has none stays as it is.
fn unchecked(result: &CheckResult) -> CheckResult {
    let mut result = result.clone();
    if !result.objects.is_empty() {
        result.status = CheckStatus::Unknown;
    }
    for (_, status, messages) in &mut result.objects {
        *status = CheckStatus::Unknown;
        messages.clear();
    }
    result
}

fn worse(a: CheckStatus, b: CheckStatus) -> CheckStatus {
    let rank = |status| match status {
        CheckStatus::Pass => 0,
        CheckStatus::Unknown => 1,
        CheckStatus::Fail => 2,
        CheckStatus::Error => 3,
    };
    if rank(a) >= rank(b) { a } else { b }
}

/// A block with conditions.
struct Declared {
    config_addr: String,
    kind: &'static str,
    conditions: usize,
    /// The addresses of its objects, as far as the walk found out.
    objects: Vec<String>,
    /// It is known to have none.
    absent: bool,
}

/// Everything that has conditions.
fn declared(run: &Run) -> Vec<Declared> {
    let mut all = Vec::new();
    let is_walked = matches!(run.verb, Verb::Plan { .. } | Verb::Apply { .. });
    let walked = walked(run);
    let is_planned = matches!(run.verb, Verb::Plan { .. });
    for module in run.blocks.tree.ids() {
        let config = run.blocks.tree.module(module);
        let path = config.path.to_string();
        let within = |name: String| if path.is_empty() { name } else { format!("{path}.{name}") };
        let no_module = run.results.is_without_instances(module);
        // Of a block that the plan does not look at, nothing is known.
        let is_absent = |node: Node| no_module && (!is_planned || walked.contains(&node));
        for (index, resource) in config.resources.values().enumerate() {
            let conditions = resource.lifecycle.preconditions.len() + resource.lifecycle.postconditions.len();
            if conditions > 0 {
                let id = ResourceId::new(module, index);
                let absent = is_absent(Node::Resource(id)) || is_empty(run, id);
                let objects = if is_walked { instances(run, id) } else { Vec::new() };
                let config_addr = within(resource.addr.to_string());
                all.push(Declared { config_addr, kind: "resource", conditions, objects, absent });
            }
        }
        let outputs = config.outputs.values().enumerate().filter(|(_, output)| !output.preconditions.is_empty());
        for (index, output) in outputs {
            let (config_addr, conditions) = (within(format!("output.{}", output.name)), output.preconditions.len());
            let is_destroyed = module == ROOT && run.verb == Verb::PlanDestroy && run.inputs.are_whole();
            let objects = if is_destroyed { vec![config_addr.clone()] } else { Vec::new() };
            let absent = is_absent(Node::Output { module, index: index as u32 });
            all.push(Declared { config_addr, kind: "output_value", conditions, objects, absent });
        }
        let variables = config.variables.values().enumerate().filter(|(_, variable)| !variable.validations.is_empty());
        for (index, variable) in variables {
            let (config_addr, conditions) = (within(format!("var.{}", variable.name)), variable.validations.len());
            let absent = is_absent(Node::Variable { module, index: index as u32 });
            all.push(Declared { config_addr, kind: "var", conditions, objects: Vec::new(), absent });
        }
        for (index, block) in config.checks.values().enumerate() {
            // They are known as soon as their module is expanded, whether or not what they refer to is.
            let node = Node::Check { module, index: index as u32 };
            let absent = is_absent(node);
            let objects = match walked.contains(&node) {
                true => {
                    let modules = run.results.module_instances(module).iter();
                    modules.map(|instance| check::addr(&instance.addr.to_string(), &block.name)).collect()
                }
                false => Vec::new(),
            };
            let (config_addr, conditions) = (check::addr(&path, &block.name), block.asserts.len());
            all.push(Declared { config_addr, kind: "check", conditions, objects, absent });
        }
    }
    all
}

/// The blocks that a plan looks at: with -target not all.
fn walked(run: &Run) -> HashSet<Node> {
    let is_walked = |(id, node): (NodeId, &Node)| run.schedule.is_active(id).then_some(*node);
    match run.verb {
        Verb::Plan { .. } => run.schedule.graph.nodes().filter_map(is_walked).collect(),
        _ => HashSet::new(),
    }
}

/// The addresses of all instances of a resource, once its block is expanded.
fn instances(run: &Run, block: ResourceId) -> Vec<String> {
    let addr = &run.blocks.tree.resource(block).addr;
    let of_module = |slots: &Arc<ModuleSlots>| -> Vec<String> {
        let Some(resource) = slots.resources[block.index()].get() else { return Vec::new() };
        let absolute = addr.absolute(slots.addr.clone());
        (0..resource.instances.len()).map(|i| absolute.instance(resource.expansion.key(i)).to_string()).collect()
    };
    run.results.module_instances(block.module).iter().flat_map(of_module).collect()
}

/// True if the block is known to have no instances.
fn is_empty(run: &Run, block: ResourceId) -> bool {
    // A destroy takes the instances from the state: there it is not known what the configuration gives.
    let instances = run.results.module_instances(block.module);
    let has_none =
        |m: &Arc<ModuleSlots>| m.resources[block.index()].get().is_some_and(|slots| slots.instances.is_empty());
    run.verb != Verb::PlanDestroy && !instances.is_empty() && instances.iter().all(has_none)
}
