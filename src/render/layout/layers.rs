//! Layers: the column of each item, so that what an item needs is in a column before it.
//!
//! Owns the breaking of cycles. Never knows sizes or places.

/// The layer of each item, 0 for what needs nothing. An edge goes from what needs to what is needed. Within a cycle, some edges
/// are taken the other way round; the two ends of an edge never share a layer. Edges from an item to itself are ignored.
pub fn layers(items: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let needed = without_cycles(items, edges);
    let mut needing = vec![Vec::new(); items];
    for (from, targets) in needed.iter().enumerate() {
        targets.iter().for_each(|to| needing[*to].push(from));
    }
    let mut open: Vec<usize> = needed.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..items).filter(|item| open[*item] == 0).collect();
    let mut layers = vec![0; items];
    let mut next = 0;
    while let Some(item) = order.get(next).copied() {
        next += 1;
        for from in &needing[item] {
            layers[*from] = layers[*from].max(layers[item] + 1);
            open[*from] -= 1;
            if open[*from] == 0 {
                order.push(*from);
            }
        }
    }
    // What more items need than it needs itself moves next to the nearest of them: its lines get shorter.
    for item in order.into_iter().rev() {
        let nearest = needing[item].iter().map(|from| layers[*from]).min();
        if let Some(nearest) = nearest.filter(|_| needing[item].len() > needed[item].len()) {
            layers[item] = layers[item].max(nearest - 1);
        }
    }
    layers
}

/// What each item needs. An edge back to an item that the search came from is reversed: it would close a cycle.
fn without_cycles(items: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        OnPath,
        Done,
    }
    let mut given = vec![Vec::new(); items];
    for (from, to) in edges.iter().filter(|(from, to)| from != to) {
        given[*from].push(*to);
    }
    let mut needed = vec![Vec::new(); items];
    let mut seen = vec![Seen::No; items];
    for start in 0..items {
        if seen[start] != Seen::No {
            continue;
        }
        seen[start] = Seen::OnPath;
        let mut path = vec![(start, 0usize)];
        while let Some((item, edge)) = path.last_mut() {
            let from = *item;
            let Some(to) = given[from].get(*edge).copied() else {
                seen[from] = Seen::Done;
                path.pop();
                continue;
            };
            *edge += 1;
            match seen[to] {
                Seen::OnPath => needed[to].push(from),
                Seen::Done => needed[from].push(to),
                Seen::No => {
                    needed[from].push(to);
                    seen[to] = Seen::OnPath;
                    path.push((to, 0));
                }
            }
        }
    }
    needed.iter_mut().for_each(|targets| {
        targets.sort_unstable();
        targets.dedup();
    });
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_before_what_needs_it() {
        let cases: [(usize, &[(usize, usize)], &[usize]); 8] = [
            (0, &[], &[]),
            (2, &[], &[0, 0]),
            (3, &[(0, 1), (1, 2)], &[2, 1, 0]),
            (3, &[(0, 1), (1, 2), (0, 2)], &[2, 1, 0]),
            // 3 is needed by 0 alone, and moves next to it.
            (4, &[(0, 1), (1, 2), (0, 3)], &[2, 1, 0, 1]),
            (1, &[(0, 0)], &[0]),
            (2, &[(0, 1), (1, 0)], &[1, 0]),
            (3, &[(0, 1), (1, 2), (2, 0), (2, 2)], &[2, 1, 0]),
        ];
        for (items, edges, expected) in cases {
            assert_eq!(layers(items, edges), expected, "{edges:?}");
        }
    }

    #[test]
    fn the_ends_of_an_edge_never_share_a_layer() {
        // Every item needs every other one.
        let edges: Vec<(usize, usize)> = (0..12).flat_map(|from| (0..12).map(move |to| (from, to))).collect();
        let mut layers = layers(12, &edges);
        layers.sort_unstable();
        assert_eq!(layers, (0..12).collect::<Vec<_>>());
    }
}
