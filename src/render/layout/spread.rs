//! The heights of vertices: near those that they have lines to, in their order, and without overlap.
//!
//! Owns the distances between vertices. Never knows columns or widths.

use super::order::Levels;

/// Between two items.
const ITEM_GAP: f64 = 18.0;

/// Between a line that passes and its neighbours.
const LINE_GAP: f64 = 10.0;

/// How often all layers move towards their neighbours.
const ROUNDS: usize = 8;

/// The middle of each vertex. Vertices from `first_bend` on are bends of lines, which have no height.
pub fn spread(levels: &Levels, heights: &[f64], first_bend: usize) -> Vec<f64> {
    let mut middles = vec![0.0; heights.len()];
    let distances: Vec<Vec<f64>> = levels.levels.iter().map(|level| distances(level, heights, first_bend)).collect();
    for (level, distances) in levels.levels.iter().zip(&distances) {
        let total: f64 = distances.iter().sum();
        let mut at = -total / 2.0;
        for (place, vertex) in level.iter().enumerate() {
            at += if place == 0 { 0.0 } else { distances[place - 1] };
            middles[*vertex] = at;
        }
    }
    let count = levels.levels.len();
    for round in 0..ROUNDS {
        // The last two rounds look at both sides.
        let both = round + 2 >= ROUNDS;
        let from_left = round % 2 == 0;
        for step in 0..count {
            let at = if from_left { step } else { count - 1 - step };
            let wish = |vertex: &usize| {
                let left = levels.left[*vertex].iter().filter(|_| both || from_left);
                let right = levels.right[*vertex].iter().filter(|_| both || !from_left);
                wish(*vertex, left.chain(right), &middles, first_bend)
            };
            let wishes: Vec<(f64, f64)> = levels.levels[at].iter().map(wish).collect();
            let found = nearest(&wishes, &distances[at]);
            levels.levels[at].iter().zip(found).for_each(|(vertex, middle)| middles[*vertex] = middle);
        }
    }
    middles
}

/// The distances between the middles of neighbours of a layer.
fn distances(level: &[usize], heights: &[f64], first_bend: usize) -> Vec<f64> {
    let gap = |vertex: usize| if vertex < first_bend { ITEM_GAP } else { LINE_GAP };
    let between = |pair: &[usize]| {
        let (one, other) = (pair[0], pair[1]);
        (heights[one] + heights[other]) / 2.0 + gap(one).min(gap(other))
    };
    level.windows(2).map(between).collect()
}

/// Where a vertex would like to be, and how much that counts. Lines are straight rather than items in the middle.
fn wish<'v>(vertex: usize, near: impl Iterator<Item = &'v usize>, middles: &[f64], first_bend: usize) -> (f64, f64) {
    let (mut sum, mut weight) = (0.0_f64, 0.0_f64);
    for other in near {
        let counts = if vertex >= first_bend && *other >= first_bend { 4.0 } else { 1.0 };
        sum += middles[*other] * counts;
        weight += counts;
    }
    if weight > 0.0 { (sum / weight, weight) } else { (middles[vertex], 0.1) }
}

/// The places that are nearest to the wishes (least squares, by weight) and keep the order and the distances.
///
/// Less the distances, that is the nearest sequence that never falls: neighbours that would fall share their mean.
fn nearest(wishes: &[(f64, f64)], distances: &[f64]) -> Vec<f64> {
    struct Block {
        mean: f64,
        weight: f64,
        members: usize,
    }
    let offsets: Vec<f64> = std::iter::once(0.0)
        .chain(distances.iter().scan(0.0_f64, |sum, distance| {
            *sum += *distance;
            Some(*sum)
        }))
        .collect();
    let mut blocks: Vec<Block> = Vec::with_capacity(wishes.len());
    for ((wish, weight), offset) in wishes.iter().zip(&offsets) {
        let mut block = Block { mean: wish - offset, weight: *weight, members: 1 };
        while let Some(last) = blocks.pop_if(|last| last.mean > block.mean) {
            let weight = last.weight + block.weight;
            let mean = (last.mean * last.weight + block.mean * block.weight) / weight;
            block = Block { mean, weight, members: last.members + block.members };
        }
        blocks.push(block);
    }
    let means = blocks.iter().flat_map(|block| std::iter::repeat_n(block.mean, block.members));
    means.zip(&offsets).map(|(mean, offset)| mean + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_met_as_far_as_the_distances_allow() {
        let cases: [(&[(f64, f64)], &[f64], &[f64]); 5] = [
            (&[], &[], &[]),
            (&[(3.0, 1.0)], &[], &[3.0]),
            (&[(0.0, 1.0), (20.0, 1.0)], &[10.0], &[0.0, 20.0]),
            (&[(0.0, 1.0), (0.0, 1.0)], &[10.0], &[-5.0, 5.0]),
            // What counts more moves less.
            (&[(0.0, 3.0), (0.0, 1.0)], &[8.0], &[-2.0, 6.0]),
        ];
        for (wishes, distances, expected) in cases {
            assert_eq!(nearest(wishes, distances), expected, "{wishes:?}");
        }
    }

    #[test]
    fn a_chain_is_straight() {
        let levels = Levels {
            levels: vec![vec![0], vec![1], vec![2]],
            left: vec![vec![], vec![0], vec![1]],
            right: vec![vec![1], vec![2], vec![]],
        };
        let middles = spread(&levels, &[10.0, 30.0, 20.0], 3);
        assert_eq!(middles, [0.0, 0.0, 0.0]);
    }
}
