//! The lines that two texts have in common along a shortest way from one to the other.
//!
//! Myers' algorithm in linear space: the way is searched from both ends, split where the searches meet, and each half is
//! searched again. Of several shortest ways the one that `diff` takes.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Steps from either end after which the search is left to one that need not find the shortest way.
const MAX_STEPS: usize = 4096;

/// Pairs of indices of equal lines, in order.
pub fn pairs(old: &[usize], new: &[usize]) -> Vec<(usize, usize)> {
    let mut search = Search { old, new, found: Vec::new() };
    search.walk(0..old.len(), 0..new.len());
    search.found
}

struct Search<'a> {
    old: &'a [usize],
    new: &'a [usize],
    found: Vec<(usize, usize)>,
}

impl Search<'_> {
    /// Each call halves the steps that are left, so that these calls nest no deeper than their logarithm.
    fn walk(&mut self, mut old: Range<usize>, mut new: Range<usize>) {
        while !old.is_empty() && !new.is_empty() && self.old[old.start] == self.new[new.start] {
            self.found.push((old.start, new.start));
            old.start += 1;
            new.start += 1;
        }
        let (old_end, new_end) = (old.end, new.end);
        while !old.is_empty() && !new.is_empty() && self.old[old.end - 1] == self.new[new.end - 1] {
            old.end -= 1;
            new.end -= 1;
        }
        let (old_same, new_same) = (old.end..old_end, new.end..new_end);
        if !old.is_empty() && !new.is_empty() {
            match meeting(&self.old[old.clone()], &self.new[new.clone()]) {
                Some((x, y)) => {
                    let (x, y) = (old.start + x, new.start + y);
                    self.walk(old.start..x, new.start..y);
                    self.walk(x..old.end, y..new.end);
                }
                None => self.hurry(old, new),
            }
        }
        self.found.extend(old_same.zip(new_same));
    }

    /// For texts that have next to nothing in common.
    fn hurry(&mut self, old: Range<usize>, new: Range<usize>) {
        for op in capture_diff_slices(Algorithm::Myers, &self.old[old.clone()], &self.new[new.clone()]) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                let (x, y) = (old.start + old_index, new.start + new_index);
                self.found.extend((x..x + len).zip(y..y + len));
            }
        }
    }
}

/// The furthest places that one search reached, by diagonal (place in the old text less place in the new one).
struct Front {
    reached: Vec<isize>,
    zero: isize,
    low: isize,
    high: isize,
}

impl Front {
    fn new(old: isize, new: isize, diagonal: isize, start: isize) -> Front {
        let mut front =
            Front { reached: vec![0; (old + new + 5) as usize], zero: new + 2, low: diagonal, high: diagonal };
        front.set(diagonal, start);
        front
    }

    fn at(&self, diagonal: isize) -> isize {
        self.reached[(diagonal + self.zero) as usize]
    }

    fn set(&mut self, diagonal: isize, place: isize) {
        self.reached[(diagonal + self.zero) as usize] = place;
    }

    /// One diagonal more on either side, where there is one; `nowhere` is never the better choice.
    fn widen(&mut self, bounds: (isize, isize), nowhere: isize) {
        if self.low > bounds.0 {
            self.low -= 1;
            self.set(self.low - 1, nowhere);
        } else {
            self.low += 1;
        }
        if self.high < bounds.1 {
            self.high += 1;
            self.set(self.high + 1, nowhere);
        } else {
            self.high -= 1;
        }
    }

    fn diagonals(&self) -> impl Iterator<Item = isize> + use<> {
        let (low, high) = (self.low, self.high);
        (0..=(high - low) / 2).map(move |i| high - 2 * i)
    }

    fn has(&self, diagonal: isize) -> bool {
        (self.low..=self.high).contains(&diagonal)
    }
}

/// Where the searches from both ends meet; None if that takes too many steps.
fn meeting(old: &[usize], new: &[usize]) -> Option<(usize, usize)> {
    let (width, height) = (old.len() as isize, new.len() as isize);
    let bounds = (-height, width);
    let same = |x: isize, y: isize| old[x as usize] == new[y as usize];
    let mut forward = Front::new(width, height, 0, 0);
    let mut backward = Front::new(width, height, width - height, width);
    let odd = (width - height) % 2 != 0;
    for _ in 0..MAX_STEPS {
        forward.widen(bounds, -1);
        for diagonal in forward.diagonals() {
            let (below, above) = (forward.at(diagonal - 1), forward.at(diagonal + 1));
            let mut x = if below < above { above } else { below + 1 };
            while x < width && x - diagonal < height && same(x, x - diagonal) {
                x += 1;
            }
            forward.set(diagonal, x);
            if odd && backward.has(diagonal) && backward.at(diagonal) <= x {
                return Some((x as usize, (x - diagonal) as usize));
            }
        }
        backward.widen(bounds, isize::MAX);
        for diagonal in backward.diagonals() {
            let (below, above) = (backward.at(diagonal - 1), backward.at(diagonal + 1));
            let mut x = if below < above { below } else { above - 1 };
            while x > 0 && x > diagonal && same(x - 1, x - diagonal - 1) {
                x -= 1;
            }
            backward.set(diagonal, x);
            if !odd && forward.has(diagonal) && x <= forward.at(diagonal) {
                return Some((x as usize, (x - diagonal) as usize));
            }
        }
    }
    None
}
