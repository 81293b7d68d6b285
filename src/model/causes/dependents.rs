//! What a change of an object would reach: the objects and outputs that depend on it, directly or through others.
//!
//! Owns the order: nearest first. Never knows what the change is.

use std::collections::{BTreeMap, BTreeSet};

use base::source::Range;

use super::ChangeSummary;
use super::index::{Index, IndexedChange};
use super::leads::{Site, needs_of, needs_of_object};
use crate::addr::{AbsResourceInstance, ModuleInstance};
use crate::config::Config;
use crate::plan::Plan;

/// An object or an output that depends on another object.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependent {
    /// An address, or `output.NAME` of the root module.
    pub name: String,
    /// What is planned; None for outputs.
    pub change: Option<ChangeSummary>,
    /// The object that it refers to: the one in question, or a nearer dependent of it.
    pub through: AbsResourceInstance,
    /// The reference. None if only the state knows the dependency.
    pub place: Option<Range>,
    /// 1: it refers to the object itself.
    pub distance: usize,
}

/// Who refers to an object, and where.
struct Edge<'p> {
    from: Option<IndexedChange<'p>>,
    /// The name of an output in place of an object.
    output: String,
    place: Option<Range>,
}

/// Everything in the plan that depends on an object, each once, nearest first.
pub fn dependents(plan: &Plan, config: &Config, addr: &AbsResourceInstance) -> Vec<Dependent> {
    let index = Index::of(plan, config);
    let edges = edges(&index);
    let mut seen = BTreeSet::from([addr.to_string()]);
    let mut found: Vec<Dependent> = Vec::new();
    let mut open = vec![addr.clone()];
    let mut distance = 0;
    while !open.is_empty() {
        distance += 1;
        let mut next = Vec::new();
        for through in open {
            for edge in edges.get(&through).into_iter().flatten() {
                let name = edge.from.map_or_else(|| edge.output.clone(), |from| from.change.addr.to_string());
                if !seen.insert(name.clone()) {
                    continue;
                }
                next.extend(edge.from.map(|from| from.change.addr.clone()));
                found.push(Dependent {
                    name,
                    change: edge.from.map(|from| from.summary()),
                    through: through.clone(),
                    place: edge.place.clone(),
                    distance,
                });
            }
        }
        open = next;
    }
    found
}

/// For each object those that refer to it.
fn edges<'p>(index: &Index<'p>) -> BTreeMap<AbsResourceInstance, Vec<Edge<'p>>> {
    let mut edges: BTreeMap<AbsResourceInstance, Vec<Edge<'p>>> = BTreeMap::new();
    for object in index.all().filter(|object| object.change.deposed.is_none()) {
        let addr = &object.change.addr;
        for need in needs_of_object(index, &object) {
            let edge = Edge { from: Some(object), output: String::new(), place: Some(need.place) };
            edges.entry(need.object.change.addr.clone()).or_default().push(edge);
        }
        if index.block(addr).is_none() {
            for block in index.dependencies_in_state(&object) {
                for needed in index.of_block(block, &addr.module) {
                    let edge = Edge { from: Some(object), output: String::new(), place: None };
                    edges.entry(needed.change.addr.clone()).or_default().push(edge);
                }
            }
        }
    }
    let root = ModuleInstance::root();
    for output in index.config.root.outputs.values() {
        for need in needs_of(index, &Site::once(&root), std::slice::from_ref(&output.value)) {
            let edge = Edge { from: None, output: format!("output.{}", output.name), place: Some(need.place) };
            edges.entry(need.object.change.addr.clone()).or_default().push(edge);
        }
    }
    edges
}
