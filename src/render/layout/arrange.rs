//! One cluster: places for its items in columns, and for the bends of the lines between them.
//!
//! Owns gaps between columns and rows. Never knows what an item is, or what is around the cluster.

use std::collections::BTreeSet;

use super::order::Levels;
use super::spread::spread;

/// Between two columns: lines change their height there.
const COLUMN_GAP: f64 = 64.0;

/// Between items that have no lines, and around them.
const ROW_GAP: f64 = 18.0;

/// How wide a field of items without lines is, measured by its height.
const WIDTH_OF_FIELD: f64 = 1.6;

/// Most bends of lines in a cluster. The lines that pass the most columns are straight beyond it, so that the effort stays small.
const MOST_BENDS: usize = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// On which sides lines of an item leave its cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    pub left: bool,
    pub right: bool,
}

/// The items of a cluster, and the lines between them.
pub struct ClusterContent<'c> {
    /// Width and height of each item.
    pub sizes: &'c [(f64, f64)],
    pub layers: &'c [usize],
    /// Pairs of items in different layers.
    pub edges: &'c [(usize, usize)],
    pub ports: &'c [Ports],
}

#[derive(Clone, Debug, Default)]
pub struct Arranged {
    /// The top left corner of each item.
    pub items: Vec<(f64, f64)>,
    /// The left and the right border of the column of each layer.
    pub columns: Vec<(f64, f64)>,
    /// For each item the heights of the bends of its lines, in the columns to its left and to its right, nearest first.
    bends: Vec<(Vec<f64>, Vec<f64>)>,
    pub width: f64,
    pub height: f64,
}

impl Arranged {
    /// The heights of the bends of the lines at a side of an item, nearest first.
    pub fn bends(&self, item: usize, side: Side) -> &[f64] {
        match side {
            Side::Left => &self.bends[item].0,
            Side::Right => &self.bends[item].1,
        }
    }
}

pub fn arrange(content: &ClusterContent) -> Arranged {
    let mut linked: Vec<bool> = content.ports.iter().map(|ports| ports.left || ports.right).collect();
    for (one, other) in content.edges {
        linked[*one] = true;
        linked[*other] = true;
    }
    let mut net = Net::of(content, &linked);
    net.levels.arrange();
    let items = content.sizes.len();
    let mut heights: Vec<f64> = content.sizes.iter().map(|(_, height)| *height).collect();
    heights.resize(net.levels.left.len(), 0.0);
    let mut middles = spread(&net.levels, &heights, items);
    let tops = net.levels.levels.iter().flatten().map(|vertex| middles[*vertex] - heights[*vertex] / 2.0);
    let top = tops.reduce(f64::min).unwrap_or(0.0);
    middles.iter_mut().for_each(|middle| *middle -= top);
    let bottoms = net.levels.levels.iter().flatten().map(|vertex| middles[*vertex] + heights[*vertex] / 2.0);
    let height = bottoms.fold(0.0, f64::max);

    let columns = columns(content.sizes, &net.levels.levels);
    let mut corners = vec![(0.0, 0.0); items];
    for (level, (left, right)) in net.levels.levels.iter().zip(&columns) {
        for item in level.iter().filter(|vertex| **vertex < items) {
            let (width, height) = content.sizes[*item];
            corners[*item] = ((left + right - width) / 2.0, middles[*item] - height / 2.0);
        }
    }
    let heights_of = |bends: &[usize]| -> Vec<f64> { bends.iter().map(|bend| middles[*bend]).collect() };
    let bends = net.bends.iter().map(|(left, right)| (heights_of(left), heights_of(right))).collect();
    let width = columns.last().map_or(0.0, |(_, right)| *right);
    let mut arranged = Arranged { items: corners, columns, bends, width, height };
    let loose: Vec<usize> = (0..items).filter(|item| !linked[*item]).collect();
    put_below(&mut arranged, content.sizes, &loose);
    arranged
}

/// The left and the right border of each column, which is as wide as its widest item.
fn columns(sizes: &[(f64, f64)], levels: &[Vec<usize>]) -> Vec<(f64, f64)> {
    let mut left = 0.0;
    let mut columns = Vec::with_capacity(levels.len());
    for level in levels {
        let widths = level.iter().filter_map(|vertex| sizes.get(*vertex)).map(|(width, _)| *width);
        let right = left + widths.fold(0.0, f64::max);
        columns.push((left, right));
        left = right + COLUMN_GAP;
    }
    columns
}

/// Puts items without lines in rows below the others.
fn put_below(arranged: &mut Arranged, sizes: &[(f64, f64)], loose: &[usize]) {
    let area: f64 = loose.iter().map(|item| (sizes[*item].0 + ROW_GAP) * (sizes[*item].1 + ROW_GAP)).sum();
    let limit = (area * WIDTH_OF_FIELD).sqrt().max(arranged.width);
    let mut left = 0.0;
    let mut top = if arranged.height > 0.0 { arranged.height + ROW_GAP } else { 0.0 };
    let mut bottom = top;
    for item in loose {
        let (width, height) = sizes[*item];
        if left > 0.0 && left + width > limit {
            left = 0.0;
            top = bottom + ROW_GAP;
        }
        arranged.items[*item] = (left, top);
        arranged.width = arranged.width.max(left + width);
        bottom = f64::max(bottom, top + height);
        left += width + ROW_GAP;
    }
    arranged.height = arranged.height.max(if loose.is_empty() { 0.0 } else { bottom });
}

/// Items and bends as vertices, of which the items come first.
struct Net {
    levels: Levels,
    /// For each item the bends of its lines to the left and to the right, nearest first. All lines at one side of an item share
    /// their bends.
    bends: Vec<(Vec<usize>, Vec<usize>)>,
}

impl Net {
    fn of(content: &ClusterContent, linked: &[bool]) -> Net {
        let items = content.sizes.len();
        let layers = content.layers;
        let count = (0..items).filter(|item| linked[*item]).map(|item| layers[item] + 1).max().unwrap_or(0);
        let mut net = Net {
            levels: Levels {
                levels: vec![Vec::new(); count],
                left: vec![Vec::new(); items],
                right: vec![Vec::new(); items],
            },
            bends: vec![(Vec::new(), Vec::new()); items],
        };
        (0..items).filter(|item| linked[*item]).for_each(|item| net.levels.levels[layers[item]].push(item));

        let in_order = |(one, other): &(usize, usize)| match layers[*one] < layers[*other] {
            true => (*one, *other),
            false => (*other, *one),
        };
        let edges: BTreeSet<(usize, usize)> = content.edges.iter().map(in_order).collect();
        // How many columns the lines of an item pass on each side.
        let mut passed: Vec<(usize, usize)> = vec![(0, 0); items];
        for (left, right) in &edges {
            passed[*left].1 = passed[*left].1.max(layers[*right] - layers[*left] - 1);
        }
        for (item, ports) in content.ports.iter().enumerate() {
            if ports.left {
                passed[item].0 = layers[item];
            }
            if ports.right {
                passed[item].1 = count - 1 - layers[item];
            }
        }
        let longest = longest_with_bends(passed.iter().flat_map(|(left, right)| [*left, *right]).collect());
        for (item, (left, right)) in passed.into_iter().enumerate() {
            if left <= longest {
                net.bend(item, Side::Left, left, layers[item]);
            }
            if right <= longest {
                net.bend(item, Side::Right, right, layers[item]);
            }
        }
        for (left, right) in edges {
            let between = layers[right] - layers[left] - 1;
            let nearest = if between == 0 { Some(left) } else { net.bends[left].1.get(between - 1).copied() };
            if let Some(nearest) = nearest {
                net.link(nearest, right);
            }
        }
        net
    }

    /// Adds so many bends at a side of an item, one for each column that its lines pass.
    fn bend(&mut self, item: usize, side: Side, count: usize, layer: usize) {
        let mut last = item;
        for step in 1..=count {
            let bend = self.levels.left.len();
            self.levels.left.push(Vec::new());
            self.levels.right.push(Vec::new());
            match side {
                Side::Left => {
                    self.levels.levels[layer - step].push(bend);
                    self.bends[item].0.push(bend);
                    self.link(bend, last);
                }
                Side::Right => {
                    self.levels.levels[layer + step].push(bend);
                    self.bends[item].1.push(bend);
                    self.link(last, bend);
                }
            }
            last = bend;
        }
    }

    fn link(&mut self, left: usize, right: usize) {
        self.levels.right[left].push(right);
        self.levels.left[right].push(left);
    }
}

/// The number of columns beyond which lines have no bends, given the numbers that all lines pass.
fn longest_with_bends(mut passed: Vec<usize>) -> usize {
    passed.sort_unstable();
    let mut total = 0;
    for count in passed {
        total += count;
        if total > MOST_BENDS {
            return count - 1;
        }
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged(sizes: &[(f64, f64)], layers: &[usize], edges: &[(usize, usize)]) -> Arranged {
        let ports = vec![Ports::default(); sizes.len()];
        arrange(&ClusterContent { sizes, layers, edges, ports: &ports })
    }

    #[test]
    fn items_are_in_the_columns_of_their_layers() {
        let found = arranged(&[(10.0, 10.0), (30.0, 10.0), (20.0, 10.0)], &[1, 0, 0], &[(0, 1), (0, 2)]);
        assert_eq!(found.columns, [(0.0, 30.0), (94.0, 104.0)]);
        assert_eq!(found.items, [(94.0, 14.0), (0.0, 0.0), (5.0, 28.0)]);
        assert_eq!((found.width, found.height), (104.0, 38.0));
    }

    #[test]
    fn a_line_that_passes_a_column_has_a_bend_beside_its_items() {
        let found = arranged(&[(10.0, 10.0); 3], &[2, 1, 0], &[(0, 1), (1, 2), (0, 2)]);
        let bends = found.bends(2, Side::Right);
        assert_eq!(bends.len(), 1);
        let (_, top) = found.items[1];
        assert!(bends[0] < top || bends[0] > top + 10.0, "{bends:?} {:?}", found.items);
    }

    #[test]
    fn items_without_lines_are_in_rows() {
        let found = arranged(&[(10.0, 10.0); 4], &[0; 4], &[]);
        let gap = 10.0 + ROW_GAP;
        assert_eq!(found.items, [(0.0, 0.0), (gap, 0.0), (2.0 * gap, 0.0), (0.0, gap)]);
        assert_eq!((found.width, found.height), (2.0 * gap + 10.0, gap + 10.0));
    }

    #[test]
    fn the_longest_lines_have_no_bends_when_there_are_too_many() {
        for (passed, expected) in [
            (vec![], usize::MAX),
            (vec![5, MOST_BENDS - 5], usize::MAX),
            (vec![5, MOST_BENDS - 4], MOST_BENDS - 5),
            (vec![MOST_BENDS, MOST_BENDS, 3], MOST_BENDS - 1),
        ] {
            assert_eq!(longest_with_bends(passed.clone()), expected, "{passed:?}");
        }
    }
}
