//! Graphs in the DOT language, laid out as the reference does.

use std::collections::{BTreeMap, BTreeSet};

use base::name::COMMAND;

/// A step of an operation, as a node of its graph.
pub struct Step {
    pub name: String,
    /// Label and shape of nodes with a separate line; others appear only in edges.
    pub own_line: Option<(String, &'static str)>,
}

/// All that an operation does. Edges within a cycle are drawn in red.
pub fn operation(nodes: &[Step], edges: &[(u32, u32)], cycles: &[Vec<u32>]) -> String {
    let root = |node: &Step| quoted(&format!("[root] {}", node.name));
    let mut lines: Vec<(&str, String)> = Vec::new();
    for node in nodes {
        if let Some((label, shape)) = &node.own_line {
            lines.push((&node.name, format!("\t\t{} [label = {}, shape = \"{shape}\"]\n", root(node), quoted(label))));
        }
    }
    lines.sort();
    // Nodes may share a name; what is between them shows once.
    let arrow = |from: u32, to: u32| {
        let circular = cycles.iter().any(|cycle| cycle.contains(&from) && cycle.contains(&to));
        let look = if circular { " [color = \"red\", penwidth = \"2.0\"]" } else { "" };
        format!("\t\t{} -> {}{look}\n", root(&nodes[from as usize]), root(&nodes[to as usize]))
    };
    let arrows: BTreeSet<String> = edges.iter().map(|(from, to)| arrow(*from, *to)).collect();
    let lines: String = lines.into_iter().map(|(_, line)| line).chain(arrows).collect();
    format!("digraph {{\n\tcompound = \"true\"\n\tnewrank = \"true\"\n\tsubgraph \"root\" {{\n{lines}\t}}\n}}\n")
}

/// A resource: its module's path, empty for the root, and its address there.
#[derive(Clone, Debug)]
pub struct Resource {
    pub module: String,
    pub name: String,
}

impl Resource {
    /// The address from the root.
    pub fn whole(&self) -> String {
        if self.module.is_empty() { self.name.clone() } else { format!("{}.{}", self.module, self.name) }
    }
}

/// Resources alone, in the order given, framed by module.
pub fn resources(resources: &[Resource], edges: &[(u32, u32)]) -> String {
    let mut out = String::from("digraph G {\n  rankdir = \"RL\";\n  node [shape = rect, fontname = \"sans-serif\"];\n");
    if resources.is_empty() {
        out += "  /* This configuration does not contain any resources.         */\n";
        out += &format!("  /* For a more detailed graph, try: {COMMAND} graph -type=plan */\n");
    }
    for (module, members) in by_module(resources) {
        let indent = if module.is_empty() { "  " } else { "    " };
        if !module.is_empty() {
            let name = quoted(&format!("cluster_{module}"));
            out += &format!("  subgraph {name} {{\n    label = {}\n    fontname = \"sans-serif\"\n", quoted(module));
        }
        for resource in members {
            out += &format!("{indent}{} [label={}];\n", quoted(&resource.whole()), quoted(&resource.name));
        }
        if !module.is_empty() {
            out += "  }\n";
        }
    }
    for (from, to) in edges {
        let (from, to) = (&resources[*from as usize], &resources[*to as usize]);
        out += &format!("  {} -> {};\n", quoted(&from.whole()), quoted(&to.whole()));
    }
    out + "}\n"
}

/// The resources of each module, in the order in which the modules come first.
pub fn by_module(resources: &[Resource]) -> Vec<(&str, Vec<&Resource>)> {
    let mut modules: Vec<(&str, Vec<&Resource>)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for resource in resources {
        let place = *places.entry(&resource.module).or_insert_with(|| {
            modules.push((&resource.module, Vec::new()));
            modules.len() - 1
        });
        modules[place].1.push(resource);
    }
    modules
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
