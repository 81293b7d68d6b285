//! Circles of imports between the parts of an area: its folders, and the files beside them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::imports;

/// Areas in which none may be.
pub const AREAS: &[&str] = &["backend", "cli", "engine", "install", "ops"];

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Groups of parts of an area that import each other in circles, each with its parts sorted.
pub fn circles(src: &Path, area: &str) -> Vec<Vec<String>> {
    let graph = graph(src, area);
    let reached: BTreeMap<&String, BTreeSet<&String>> = graph.keys().map(|part| (part, reach(&graph, part))).collect();
    let mut groups = BTreeSet::new();
    for (part, others) in &reached {
        let group: Vec<String> =
            others.iter().filter(|other| reached[**other].contains(part)).map(|other| (*other).clone()).collect();
        groups.extend((!group.is_empty()).then_some(group));
    }
    groups.into_iter().collect()
}

/// Which part of an area names which others, outside tests.
fn graph(src: &Path, area: &str) -> Graph {
    let mut graph = Graph::new();
    let files = super::source_files(&src.join(area));
    let part_of = |path: &str| path.split('/').next().unwrap().trim_end_matches(".rs").to_string();
    let parts: BTreeSet<String> = files.iter().map(|(path, _)| part_of(path)).filter(|part| part != "lib").collect();
    for (path, text) in &files {
        let part = part_of(path);
        let mut module: Vec<String> = path.trim_end_matches(".rs").split('/').map(String::from).collect();
        module.insert(0, area.to_string());
        if module.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib")) {
            module.pop();
        }
        if part == "lib" || part == "tests" {
            continue;
        }
        let read = imports::read(text, &module).unwrap();
        let named =
            read.names.iter().filter(|named| !named.test && named.path.starts_with(&["crate".into(), area.into()]));
        let others =
            named.filter_map(|named| named.path.get(2)).filter(|other| parts.contains(*other) && **other != part);
        graph.entry(part.clone()).or_default().extend(others.cloned());
    }
    graph
}

fn reach<'a>(graph: &'a Graph, from: &String) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&String> = graph[from].iter().collect();
    while let Some(part) = open.pop() {
        if seen.insert(part) {
            open.extend(graph.get(part).into_iter().flatten());
        }
    }
    seen
}
