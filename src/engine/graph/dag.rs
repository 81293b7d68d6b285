//! A directed graph: nodes by number, edges from a node to its dependencies.

use crate::ids::NodeId;

#[derive(Clone, Debug)]
pub struct Dag<N> {
    nodes: Vec<N>,
    dependencies: Vec<Vec<NodeId>>,
}

impl<N> Default for Dag<N> {
    fn default() -> Dag<N> {
        Dag { nodes: Vec::new(), dependencies: Vec::new() }
    }
}

impl<N> Dag<N> {
    pub fn add(&mut self, node: N) -> NodeId {
        self.nodes.push(node);
        self.dependencies.push(Vec::new());
        NodeId::new(self.nodes.len() - 1)
    }

    /// `from` waits for `to`. An edge to itself is ignored; one that is there twice does no harm.
    pub fn connect(&mut self, from: NodeId, to: NodeId) {
        if from != to {
            self.dependencies[from.index()].push(to);
        }
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<N> {
        (0..self.nodes.len()).map(NodeId::new)
    }

    pub fn node(&self, id: NodeId) -> &N {
        &self.nodes[id.index()]
    }

    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &N)> {
        self.nodes.iter().enumerate().map(|(i, n)| (NodeId::new(i), n))
    }

    /// What a node waits for.
    pub fn dependencies(&self, id: NodeId) -> &[NodeId] {
        &self.dependencies[id.index()]
    }

    /// For every node, those that wait for it.
    pub fn dependents(&self) -> Vec<Vec<NodeId>> {
        let mut all = vec![Vec::new(); self.nodes.len()];
        for (from, to) in self.dependencies.iter().enumerate() {
            for t in to {
                all[t.index()].push(NodeId::new(from));
            }
        }
        all
    }

    /// Dependencies before dependents; nodes on cycles and behind them are left out.
    pub fn topological(&self) -> Vec<NodeId> {
        let dependents = self.dependents();
        let mut waiting: Vec<usize> = self.dependencies.iter().map(Vec::len).collect();
        let mut order: Vec<NodeId> = self.ids().filter(|n| waiting[n.index()] == 0).collect();
        let mut next = 0;
        while let Some(node) = order.get(next).copied() {
            next += 1;
            for dependent in &dependents[node.index()] {
                waiting[dependent.index()] -= 1;
                if waiting[dependent.index()] == 0 {
                    order.push(*dependent);
                }
            }
        }
        order
    }

    /// The nodes that can be reached from the given ones, those included.
    pub fn reachable(&self, from: impl IntoIterator<Item = NodeId>) -> Vec<bool> {
        let mut seen = vec![false; self.nodes.len()];
        let mut open: Vec<NodeId> = from.into_iter().collect();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut seen[node.index()], true) {
                open.extend(self.dependencies(node).iter().filter(|d| !seen[d.index()]));
            }
        }
        seen
    }

    /// Whether a node waits for another, directly or not, through nodes that are followed.
    pub fn reaches(&self, from: NodeId, to: NodeId, follow: impl Fn(NodeId) -> bool) -> bool {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            if node == to {
                return true;
            }
            if seen.insert(node) {
                open.extend(self.dependencies(node).iter().copied().filter(|next| follow(*next)));
            }
        }
        false
    }

    /// Of every node, the number of its component: nodes that wait for each other have the same one.
    pub fn components(&self) -> Vec<u32> {
        let mut numbers = vec![0; self.nodes.len()];
        for (number, component) in Components::of(self).into_iter().enumerate() {
            component.into_iter().for_each(|node| numbers[node.index()] = number as u32);
        }
        numbers
    }

    /// The sets of nodes that wait for each other in circles.
    pub fn cycles(&self) -> Vec<Vec<NodeId>> {
        let ordered = self.topological();
        if ordered.len() == self.nodes.len() {
            return Vec::new();
        }
        Components::of(self).into_iter().filter(|c| c.len() > 1).collect()
    }
}

/// Strongly connected components, without recursion (Tarjan).
struct Components<'g, N> {
    graph: &'g Dag<N>,
    index: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<NodeId>,
    next: u32,
    found: Vec<Vec<NodeId>>,
}

impl<'g, N> Components<'g, N> {
    fn of(graph: &'g Dag<N>) -> Vec<Vec<NodeId>> {
        let n = graph.len();
        let mut this = Components {
            graph,
            index: vec![u32::MAX; n],
            low: vec![0; n],
            on_stack: vec![false; n],
            stack: Vec::new(),
            next: 0,
            found: Vec::new(),
        };
        for node in graph.ids() {
            if this.index[node.index()] == u32::MAX {
                this.visit(node);
            }
        }
        this.found
    }

    fn enter(&mut self, node: NodeId) {
        let i = node.index();
        self.index[i] = self.next;
        self.low[i] = self.next;
        self.next += 1;
        self.stack.push(node);
        self.on_stack[i] = true;
    }

    fn visit(&mut self, start: NodeId) {
        self.enter(start);
        let mut path = vec![(start, 0usize)];
        while let Some((node, edge)) = path.last().copied() {
            if let Some(to) = self.graph.dependencies(node).get(edge).copied() {
                if let Some(last) = path.last_mut() {
                    last.1 += 1;
                }
                if self.index[to.index()] == u32::MAX {
                    self.enter(to);
                    path.push((to, 0));
                } else if self.on_stack[to.index()] {
                    self.low[node.index()] = self.low[node.index()].min(self.index[to.index()]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                self.low[parent.index()] = self.low[parent.index()].min(self.low[node.index()]);
            }
            if self.low[node.index()] == self.index[node.index()] {
                self.close(node);
            }
        }
    }

    fn close(&mut self, root: NodeId) {
        let mut component = Vec::new();
        while let Some(node) = self.stack.pop() {
            self.on_stack[node.index()] = false;
            component.push(node);
            if node == root {
                break;
            }
        }
        self.found.push(component);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> NodeId {
        NodeId::new(number as usize)
    }

    fn numbers(nodes: &[NodeId]) -> Vec<u32> {
        nodes.iter().map(|node| node.index() as u32).collect()
    }

    fn graph(n: usize, edges: &[(u32, u32)]) -> Dag<usize> {
        let mut dag = Dag::default();
        (0..n).for_each(|i| {
            dag.add(i);
        });
        edges.iter().for_each(|(a, b)| dag.connect(id(*a), id(*b)));
        dag
    }

    /// Edges: from what waits to what it waits for.
    #[test]
    fn orders_and_finds_cycles() {
        // Nodes, edges, the topological order, the cycles with sorted members.
        type Case<'a> = (usize, &'a [(u32, u32)], &'a [u32], &'a [&'a [u32]]);
        let cases: &[Case] = &[
            (0, &[], &[], &[]),
            (3, &[], &[0, 1, 2], &[]),
            (4, &[(0, 1), (1, 2), (3, 0)], &[2, 1, 0, 3], &[]),
            // A node that waits for itself, and the same edge twice.
            (2, &[(0, 0), (0, 1), (0, 1)], &[1, 0], &[]),
            // A diamond.
            (4, &[(1, 0), (2, 0), (3, 1), (3, 2)], &[0, 1, 2, 3], &[]),
            (2, &[(0, 1), (1, 0)], &[], &[&[0, 1]]),
            // What is behind a cycle has no place in the order; what is before it has.
            (5, &[(0, 1), (1, 2), (2, 0), (3, 0), (0, 4)], &[4], &[&[0, 1, 2]]),
            // Two cycles apart, and two that share a node.
            (5, &[(0, 1), (1, 0), (2, 3), (3, 2)], &[4], &[&[0, 1], &[2, 3]]),
            (3, &[(0, 1), (1, 0), (1, 2), (2, 1)], &[], &[&[0, 1, 2]]),
        ];
        for (n, edges, order, cycles) in cases {
            let dag = graph(*n, edges);
            assert_eq!(numbers(&dag.topological()), *order, "{edges:?}");
            let mut found: Vec<Vec<u32>> = dag.cycles().iter().map(|cycle| numbers(cycle)).collect();
            found.iter_mut().for_each(|cycle| cycle.sort());
            found.sort();
            assert_eq!(found, *cycles, "{edges:?}");
        }
    }

    #[test]
    fn reachable_follows_dependencies() {
        let dag = graph(6, &[(0, 1), (1, 2), (2, 0), (3, 0), (4, 3)]);
        let reachable = |from: &[u32]| -> Vec<u32> {
            let seen = dag.reachable(from.iter().copied().map(id));
            (0..6).filter(|n| seen[id(*n).index()]).collect()
        };
        for (from, expected) in [
            (&[][..], &[][..]),
            (&[5], &[5]),
            (&[1], &[0, 1, 2]),
            (&[3], &[0, 1, 2, 3]),
            (&[4, 5], &[0, 1, 2, 3, 4, 5]),
        ] {
            assert_eq!(reachable(from), expected);
        }
        assert_eq!(numbers(&dag.dependents()[0]), [2, 3]);
    }

    /// Long chains do not overflow the stack.
    #[test]
    fn depth_does_not_matter() {
        let n = 100_000;
        let mut edges: Vec<(u32, u32)> = (1..n).map(|i| (i, i - 1)).collect();
        assert_eq!(graph(n as usize, &edges).topological().len(), n as usize);
        edges.push((0, n - 1));
        assert_eq!(graph(n as usize, &edges).cycles()[0].len(), n as usize);
    }
}
