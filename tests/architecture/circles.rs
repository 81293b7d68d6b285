//! Circles of imports: between the parts of an area (its folders, and the files beside them), and between its files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::imports;

/// Areas whose parts may form none.
pub const AREAS: &[&str] = &["backend", "cli", "engine", "install", "ops"];

/// Most files that may import each other in a circle: as many as a reader can keep in mind.
pub const MOST_FILES: usize = 6;

/// Circles of more files, by their area. The list only gets shorter.
pub const KNOWN: &[(&str, usize)] = &[];

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Groups of parts of an area that import each other in circles, each with its parts sorted.
pub fn circles(src: &Path, area: &str) -> Vec<Vec<String>> {
    groups(&graph(src, area))
}

/// The same of files, as paths of modules.
pub fn circles_of_files(src: &Path, area: &str) -> Vec<Vec<String>> {
    groups(&graph_of_files(src, area))
}

fn groups(graph: &Graph) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = graph.keys().map(|part| (part, reach(graph, part))).collect();
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
        let module = [vec![area.to_string()], module_of(path)].concat();
        if part == "lib" || part == "tests" || super::is_test(path) {
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

/// Which file of an area names which others, outside tests. That a folder's `mod.rs` names the files in its folder does not
/// count: it shows to others what they have, and its own types are for them.
fn graph_of_files(src: &Path, area: &str) -> Graph {
    let files: Vec<_> =
        super::source_files(&src.join(area)).into_iter().filter(|(path, _)| !super::is_test(path)).collect();
    let modules: BTreeSet<Vec<String>> = files.iter().map(|(path, _)| module_of(path)).collect();
    let mut graph = Graph::new();
    for (path, text) in &files {
        let own = module_of(path);
        let scope = [&[area.to_string()], own.as_slice()].concat();
        let others = graph.entry(own.join("/")).or_default();
        for named in imports::read(text, &scope).unwrap().names.iter().filter(|named| !named.test) {
            let Some(inside) = named.path.strip_prefix(&["crate".to_string(), area.to_string()][..]) else { continue };
            let other = (1..=inside.len()).rev().map(|end| &inside[..end]).find(|module| modules.contains(*module));
            others.extend(other.filter(|other| !other.starts_with(&own)).map(|other| other.join("/")));
        }
    }
    graph
}

/// `addr/parse.rs` is `addr`, `parse`; the files of a folder's root are the folder.
fn module_of(path: &str) -> Vec<String> {
    let mut module: Vec<String> = path.trim_end_matches(".rs").split('/').map(String::from).collect();
    module.pop_if(|last| matches!(last.as_str(), "mod" | "lib"));
    module
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
