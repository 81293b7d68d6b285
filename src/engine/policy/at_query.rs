//! The policies of a query: for the objects that it finds, and for the provider configurations that it uses.
//!
//! A violation by an object is a result of the query, and not an error of it: the object exists, and a query changes nothing.

use std::sync::Arc;

use base::diag::Diagnostics;
use base::source::Range;
use model::addr::{AbsProviderConfig, AbsResourceInstance};
use model::config::policy_file::{PolicyKind, PolicyOperation};
use model::plan::{ListPolicies, ObjectPolicies, PolicyReport};
use terrane_value::Value;

use super::at_plan::findings;
use super::judge::Judge;
use super::run_data::RunData;
use super::target::{PolicyTarget, TargetMeta};
use super::targets;
use crate::event::Event;
use crate::run::Run;

/// An object that a list found.
pub struct FoundObject {
    /// The address that `-generate-config-out` gives it.
    pub addr: AbsResourceInstance,
    pub identity: Value,
    pub attrs: Value,
}

/// Evaluates policies for the objects of a list as if they were to be created. `place`: the block of the list.
pub fn for_objects(
    run: &Run,
    list: &AbsResourceInstance,
    provider: &AbsProviderConfig,
    place: Option<Range>,
    objects: Vec<FoundObject>,
) -> ListPolicies {
    let policies = run.inputs.scope.policies.clone();
    let data = RunData::new(run, None);
    let judge = Judge::new(&policies, &data, &*run.ports.host);
    let judged = objects.into_iter().map(|object| {
        let operation = PolicyOperation::Create;
        let target = PolicyTarget {
            address: object.addr.to_string(),
            kind: PolicyKind::Resource,
            name: object.addr.resource.resource.kind.clone(),
            operation: Some(operation),
            attrs: object.attrs,
            prior_attrs: None,
            meta: TargetMeta::of_resource(&object.addr, provider, operation),
            place: place.clone(),
        };
        let none =
            || PolicyReport { target: target.address.clone(), place: target.place.clone(), outcomes: Vec::new() };
        let report = judge.report(&target, |_, _| true).unwrap_or_else(none);
        ObjectPolicies { identity: object.identity, report }
    });
    ListPolicies { list: list.clone(), objects: judged.collect() }
}

/// Reports the results of a finished query. Returns what is wrong with the provider configurations.
pub fn finish(run: &Run) -> Diagnostics {
    let policies = run.inputs.scope.policies.clone();
    let mut diagnostics = Diagnostics::new();
    if policies.is_empty() {
        return diagnostics;
    }
    let data = RunData::new(run, None);
    let judge = Judge::new(&policies, &data, &*run.ports.host);
    let configs = std::mem::take(&mut run.results.policy_notes().provider_configs);
    for (id, config) in configs {
        if let Some(report) = judge.report(&targets::of_provider(run, id, config), |_, _| true) {
            diagnostics.extend(findings(&report));
            run.ports.observer.event(Event::PolicyResult(Arc::new(report)));
        }
    }
    let lists = std::mem::take(&mut run.results.policy_notes().lists);
    if !lists.is_empty() {
        run.ports.observer.event(Event::QueryPolicies(Arc::new(lists.into_values().collect())));
    }
    diagnostics
}
