//! Transitive reduction of a graph.

/// The transitive reduction of a graph, given the direct dependencies of each node. The graph must have
/// no cycles; their edges would all be omitted.
pub fn reduced(edges: &[Vec<u32>]) -> Vec<(u32, u32)> {
    let mut kept = Vec::new();
    // The mark of the last node for which a node was seen, so that nothing is cleared in between.
    let mut seen = vec![u32::MAX; edges.len()];
    let mut open = Vec::new();
    for (from, direct) in edges.iter().enumerate() {
        let mark = from as u32;
        open.extend(direct.iter().flat_map(|to| &edges[*to as usize]).copied());
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut seen[node as usize], mark) != mark {
                open.extend(&edges[node as usize]);
            }
        }
        kept.extend(direct.iter().filter(|to| seen[**to as usize] != mark).map(|to| (mark, *to)));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implied_edges_are_left_out() {
        let cases: [(&[&[u32]], &[(u32, u32)]); 3] = [
            (&[&[1, 2], &[2], &[]], &[(0, 1), (1, 2)]),
            (&[&[1, 2], &[3], &[3], &[]], &[(0, 1), (0, 2), (1, 3), (2, 3)]),
            (&[&[1, 2, 3], &[2], &[3], &[]], &[(0, 1), (1, 2), (2, 3)]),
        ];
        for (edges, expected) in cases {
            let edges: Vec<Vec<u32>> = edges.iter().map(|to| to.to_vec()).collect();
            assert_eq!(reduced(&edges), expected, "{edges:?}");
        }
    }
}
