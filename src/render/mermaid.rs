//! Graphs as Mermaid flowcharts, which forges draw where they stand in a text.

use std::collections::{BTreeMap, BTreeSet};

use super::dot::{self, Resource, Step};

/// Resources alone, in the order given, framed by module.
pub fn resources(resources: &[Resource], edges: &[(u32, u32)]) -> String {
    let names: Vec<String> = resources.iter().map(Resource::whole).collect();
    let mut ids = Ids::default();
    let mut out = String::from(HEAD);
    for (module, members) in dot::by_module(resources) {
        let lines: String = members.iter().map(|one| node(&mut ids, &one.whole(), &one.name)).collect();
        match module {
            "" => out += &lines,
            module => {
                let inner: String = lines.lines().map(|line| format!("  {line}\n")).collect();
                out += &format!("  subgraph {}\n{inner}  end\n", ids.of(module));
            }
        }
    }
    out + &arrows(&mut ids, edges.iter().map(|edge| ends(&names, *edge)))
}

/// All that an operation does, sorted by name.
pub fn operation(nodes: &[Step], edges: &[(u32, u32)]) -> String {
    let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
    let labels: BTreeMap<&str, &str> = nodes
        .iter()
        .map(|node| (node.name.as_str(), node.own_line.as_ref().map_or(node.name.as_str(), |(label, _)| label)))
        .collect();
    let arrows: BTreeSet<(&str, &str)> = edges.iter().map(|edge| ends(&names, *edge)).collect();
    let mut ids = Ids::default();
    let lines: String = labels.into_iter().map(|(name, label)| node(&mut ids, name, label)).collect();
    format!("{HEAD}{lines}{}", self::arrows(&mut ids, arrows))
}

fn ends(names: &[String], (from, to): (u32, u32)) -> (&str, &str) {
    (&names[from as usize], &names[to as usize])
}

const HEAD: &str = "flowchart LR\n";

fn node(ids: &mut Ids, name: &str, label: &str) -> String {
    format!("  {}[\"{}\"]\n", ids.of(name), label.replace('"', "#quot;"))
}

fn arrows<'a>(ids: &mut Ids, arrows: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    arrows.into_iter().map(|(from, to)| format!("  {} --> {}\n", ids.of(from), ids.of(to))).collect()
}

/// Names as the language takes them: brackets, quotes and blanks mean something there.
#[derive(Default)]
struct Ids {
    of: BTreeMap<String, String>,
    taken: BTreeSet<String>,
}

impl Ids {
    fn of(&mut self, name: &str) -> String {
        if let Some(id) = self.of.get(name) {
            return id.clone();
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
        let base: String = name.chars().map(|c| if plain(c) { c } else { '_' }).collect();
        let mut id = base.clone();
        let mut n = 1;
        while !self.taken.insert(id.clone()) {
            n += 1;
            id = format!("{base}_{n}");
        }
        self.of.insert(name.to_string(), id.clone());
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_mean_something_are_replaced() {
        let shown = |module: &str, name: &str| Resource { module: module.to_string(), name: name.to_string() };
        let all = [shown("", "a.b"), shown("module.m", "data.c.d")];
        let expected = "flowchart LR\n  a.b[\"a.b\"]\n  subgraph module.m\n    module.m.data.c.d[\"data.c.d\"]\n  end\n  a.b --> \
             module.m.data.c.d\n";
        assert_eq!(resources(&all, &[(0, 1)]), expected);
        let node = |name: &str, label: Option<&str>| Step {
            name: name.to_string(),
            own_line: label.map(|label| (label.to_string(), "box")),
        };
        let all = [node("a (x)", Some("a")), node("a [x]", None), node("b \"q\"", None)];
        let expected =
            "flowchart LR\n  a__x_[\"a\"]\n  a__x__2[\"a [x]\"]\n  b__q_[\"b #quot;q#quot;\"]\n  b__q_ --> a__x__2\n";
        assert_eq!(operation(&all, &[(2, 1)]), expected);
    }
}
