//! The order of the vertices in each layer, so that few lines cross.
//!
//! Owns the search for it, which has a fixed number of rounds. Never knows sizes.

/// Vertices by layer, and the lines between neighbouring layers.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    pub levels: Vec<Vec<usize>>,
    /// The vertices of the layer before that a vertex has lines to.
    pub left: Vec<Vec<usize>>,
    /// Those of the layer after.
    pub right: Vec<Vec<usize>>,
}

/// How often the order is improved at most, from one end of the layers to the other.
const ROUNDS: usize = 10;

impl Levels {
    /// Puts each vertex near the middle of those that it has lines to. Keeps the best order of all rounds; equal ones keep the
    /// earlier order, so the result is always the same.
    pub fn arrange(&mut self) {
        let mut places = vec![0; self.left.len()];
        self.levels.iter().for_each(|level| note(level, &mut places));
        let mut best = (self.crossings(&places), self.levels.clone());
        for round in 0..ROUNDS {
            if best.0 == 0 {
                break;
            }
            let last = self.levels.len() - 1;
            match round % 2 {
                0 => (1..=last).for_each(|level| self.sort(level, level - 1, &mut places)),
                _ => (0..last).rev().for_each(|level| self.sort(level, level + 1, &mut places)),
            }
            let crossings = self.crossings(&places);
            if crossings < best.0 {
                best = (crossings, self.levels.clone());
            }
        }
        self.levels = best.1;
    }

    /// Sorts a layer by the places of the vertices of a neighbouring one.
    fn sort(&mut self, level: usize, beside: usize, places: &mut [usize]) {
        let lines = if beside < level { &self.left } else { &self.right };
        let mut middles: Vec<(f64, usize)> = Vec::with_capacity(self.levels[level].len());
        for (place, vertex) in self.levels[level].iter().enumerate() {
            let near = &lines[*vertex];
            let sum: usize = near.iter().map(|other| places[*other]).sum();
            let middle = if near.is_empty() { place as f64 } else { sum as f64 / near.len() as f64 };
            middles.push((middle, *vertex));
        }
        middles.sort_by(|one, other| one.0.total_cmp(&other.0));
        self.levels[level] = middles.into_iter().map(|(_, vertex)| vertex).collect();
        note(&self.levels[level], places);
    }

    /// How many pairs of lines cross.
    fn crossings(&self, places: &[usize]) -> u64 {
        (1..self.levels.len()).map(|level| self.crossings_before(level, places)).sum()
    }

    /// Crossings between a layer and the one before it: pairs of lines whose ends have opposite orders.
    fn crossings_before(&self, level: usize, places: &[usize]) -> u64 {
        let size = self.levels[level - 1].len();
        // Counts of line ends by place, in a tree whose sums of prefixes cost a logarithm.
        let mut counts = vec![0u64; size + 1];
        let (mut total, mut crossings) = (0u64, 0u64);
        for vertex in &self.levels[level] {
            let mut ends: Vec<usize> = self.left[*vertex].iter().map(|other| places[*other]).collect();
            ends.sort_unstable();
            for end in &ends {
                let mut at = end + 1;
                let mut up_to = 0;
                while at > 0 {
                    up_to += counts[at];
                    at -= at & at.wrapping_neg();
                }
                crossings += total - up_to;
            }
            for end in ends {
                let mut at = end + 1;
                while at <= size {
                    counts[at] += 1;
                    at += at & at.wrapping_neg();
                }
                total += 1;
            }
        }
        crossings
    }
}

/// Notes where the vertices of a layer are.
fn note(level: &[usize], places: &mut [usize]) {
    level.iter().enumerate().for_each(|(place, vertex)| places[*vertex] = place);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(levels: &[&[usize]], lines: &[(usize, usize)]) -> Levels {
        let vertices = levels.iter().map(|level| level.len()).sum();
        let (mut left, mut right) = (vec![Vec::new(); vertices], vec![Vec::new(); vertices]);
        for (before, after) in lines {
            right[*before].push(*after);
            left[*after].push(*before);
        }
        Levels { levels: levels.iter().map(|level| level.to_vec()).collect(), left, right }
    }

    fn crossings(levels: &Levels) -> u64 {
        let mut places = vec![0; levels.left.len()];
        levels.levels.iter().for_each(|level| note(level, &mut places));
        levels.crossings(&places)
    }

    #[test]
    fn crossings_are_counted_and_removed() {
        let cases: [(&[&[usize]], &[(usize, usize)], u64, u64); 5] = [
            (&[&[0, 1], &[2, 3]], &[(0, 2), (1, 3)], 0, 0),
            (&[&[0, 1], &[2, 3]], &[(0, 3), (1, 2)], 1, 0),
            (&[&[0, 1, 2], &[3, 4, 5]], &[(0, 5), (1, 4), (2, 3)], 3, 0),
            // Lines with a common end do not cross.
            (&[&[0], &[1, 2]], &[(0, 2), (0, 1)], 0, 0),
            // No order avoids this one.
            (&[&[0, 1], &[2, 3]], &[(0, 2), (0, 3), (1, 2), (1, 3)], 1, 1),
        ];
        for (given, lines, before, after) in cases {
            let mut levels = levels(given, lines);
            assert_eq!(crossings(&levels), before, "{lines:?}");
            levels.arrange();
            assert_eq!(crossings(&levels), after, "{lines:?}");
        }
    }

    #[test]
    fn vertices_without_lines_are_kept() {
        let mut levels = levels(&[&[0, 1, 2], &[3, 4]], &[(0, 4), (2, 3)]);
        levels.arrange();
        levels.levels.iter_mut().for_each(|level| level.sort_unstable());
        assert_eq!(levels.levels, [vec![0, 1, 2], vec![3, 4]]);
    }
}
