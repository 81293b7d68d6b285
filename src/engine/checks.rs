//! The results of conditions, gathered per block: everything that can be checked has one, checked or not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::results::{CheckRecord, ModuleSlots};
use super::run::{Run, Verb};
use super::step::check;
use super::tree::{ModuleId, ROOT};
use crate::model::addr::Resource;
use crate::model::state::{CheckResult, CheckStatus};

/// Results per block, worst status first in what counts for the block. `planned`: what the plan had, in apply, which
/// names the objects that apply did not check. None if there is nothing to check.
pub fn results(run: &Run, records: Vec<CheckRecord>, planned: Option<&[CheckResult]>) -> Option<Vec<CheckResult>> {
    let mut blocks: BTreeMap<(String, &'static str), BTreeMap<String, (CheckStatus, Vec<String>)>> = BTreeMap::new();
    for record in records {
        let objects = blocks.entry((record.config_addr, record.kind)).or_default();
        let object = objects.entry(record.addr).or_insert((record.status, Vec::new()));
        object.0 = worse(object.0, record.status);
        object.1.extend(record.message);
    }
    let mut results: Vec<CheckResult> = blocks
        .into_iter()
        .map(|((config_addr, kind), objects)| {
            let status = objects.values().map(|o| o.0).reduce(worse).unwrap_or(CheckStatus::Pass);
            let objects = objects.into_iter().map(|(addr, (status, messages))| (addr, status, messages)).collect();
            CheckResult { kind: kind.into(), config_addr, status, objects }
        })
        .collect();
    // Apply knows what it did not check from the plan; a plan lists it itself.
    if run.verb == Verb::Apply {
        add_unchecked(run, &mut results);
    }
    let declared = declared(run);
    for result in planned.into_iter().flatten().map(unchecked).chain(declared) {
        if !results.iter().any(|r| r.config_addr == result.config_addr) {
            results.push(result);
        }
    }
    if matches!(run.verb, Verb::Plan { .. }) {
        add_unchecked(run, &mut results);
    }
    results.sort_by(|a, b| a.config_addr.cmp(&b.config_addr));
    (!results.is_empty()).then_some(results)
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

/// Adds the instances that were not checked: resources that -target leaves out or whose evaluation failed, and check blocks
/// in expanded modules that the walk did not reach.
fn add_unchecked(run: &Run, results: &mut [CheckResult]) {
    let mut by_addr: BTreeMap<String, &mut CheckResult> =
        results.iter_mut().map(|result| (result.config_addr.clone(), result)).collect();
    for module in run.tree.ids() {
        let config = run.tree.module(module);
        for (index, addr) in config.resources.keys().enumerate() {
            if let Some(result) = by_addr.get_mut(&addr.clone().in_module(config.path.clone()).to_string()) {
                add_objects(result, expanded(run, module, index, addr));
            }
        }
        // -target leaves out the listing of check blocks, as it does their assertions.
        for block in config.checks.values().filter(|_| run.targets.is_empty()) {
            if let Some(result) = by_addr.get_mut(&check::addr(&config.path.to_string(), &block.name)) {
                let instances = run.results.module_instances(module);
                add_objects(result, instances.iter().map(|m| check::addr(&m.addr.to_string(), &block.name)).collect());
            }
        }
    }
}

/// The addresses of a resource's instances, in all module instances where it is expanded.
fn expanded(run: &Run, module: ModuleId, index: usize, addr: &Resource) -> Vec<String> {
    let mut all = Vec::new();
    for slots in run.results.module_instances(module) {
        let Some(resource) = slots.resources[index].get() else { continue };
        let keys = (0..resource.instances.len()).map(|i| resource.expansion.key(i));
        all.extend(keys.map(|key| addr.absolute(slots.addr.clone()).instance(key).to_string()));
    }
    all
}

/// Adds those addresses that have no result yet, as unknown.
fn add_objects(result: &mut CheckResult, addrs: Vec<String>) {
    let known: BTreeSet<String> = result.objects.iter().map(|object| object.0.clone()).collect();
    for addr in addrs.into_iter().filter(|addr| !known.contains(addr)) {
        result.status = worse(result.status, CheckStatus::Unknown);
        result.objects.push((addr, CheckStatus::Unknown, Vec::new()));
    }
    result.objects.sort_by(|a, b| a.0.cmp(&b.0));
}

/// Everything that has conditions, as if none of them had been looked at.
fn declared(run: &Run) -> Vec<CheckResult> {
    let mut all = Vec::new();
    for module in run.tree.ids() {
        let config = run.tree.module(module);
        let path = config.path.to_string();
        let within = |name: String| if path.is_empty() { name } else { format!("{path}.{name}") };
        let mut add = |kind: &str, config_addr: String, absent: bool| {
            let status = if absent { CheckStatus::Pass } else { CheckStatus::Unknown };
            let is_root_output =
                kind == "output_value" && module == ROOT && run.verb == Verb::PlanDestroy && run.targets.is_empty();
            let objects = if is_root_output { vec![(config_addr.clone(), status, Vec::new())] } else { Vec::new() };
            all.push(CheckResult { kind: kind.into(), config_addr, status, objects });
        };
        let no_module = run.results.is_without_instances(module);
        for (index, resource) in config.resources.values().enumerate() {
            let lifecycle = &resource.lifecycle;
            if !lifecycle.preconditions.is_empty() || !lifecycle.postconditions.is_empty() {
                add("resource", within(resource.addr.to_string()), no_module || is_empty(run, module, index));
            }
        }
        for output in config.outputs.values().filter(|o| !o.preconditions.is_empty()) {
            add("output_value", within(format!("output.{}", output.name)), no_module);
        }
        for variable in config.variables.values().filter(|v| !v.validations.is_empty()) {
            add("var", within(format!("var.{}", variable.name)), no_module);
        }
        for block in config.checks.values() {
            add("check", check::addr(&path, &block.name), no_module);
        }
    }
    all
}

/// True if the block is known to have no instances.
fn is_empty(run: &Run, module: ModuleId, index: usize) -> bool {
    // A destroy takes the instances from the state: there it is not known what the configuration gives.
    let instances = run.results.module_instances(module);
    let has_none = |m: &Arc<ModuleSlots>| m.resources[index].get().is_some_and(|slots| slots.instances.is_empty());
    run.verb != Verb::PlanDestroy && !instances.is_empty() && instances.iter().all(has_none)
}
