//! Which lines of two texts differ, told as `diff` tells it: changes stand where people are used to see them.

use std::collections::HashMap;

use super::shortest_edit::pairs;

/// Lines shown around each change. What lies further from any change does not decide where the change stands.
pub(super) const CONTEXT: usize = 3;

/// For each line of both texts whether it is changed; the others pair up in order.
pub fn changed_lines(old: &[&[u8]], new: &[&[u8]]) -> (Vec<bool>, Vec<bool>) {
    let mut numbers = HashMap::new();
    let mut number = |line: &&[u8]| {
        let next = numbers.len();
        *numbers.entry(line.to_vec()).or_insert(next)
    };
    let old: Vec<usize> = old.iter().map(&mut number).collect();
    let new: Vec<usize> = new.iter().map(&mut number).collect();
    let (mut old_changed, mut new_changed) = (vec![false; old.len()], vec![false; new.len()]);
    let (start, after) = same_ends(&old, &new);
    let (middle_old, middle_new) = (start..old.len() - after, start..new.len() - after);
    compare(
        (&old[middle_old.clone()], &mut old_changed[middle_old]),
        (&new[middle_new.clone()], &mut new_changed[middle_new]),
        numbers.len(),
    );
    (old_changed, new_changed)
}

/// How many lines at the start and at the end are the same, less those that are shown around a change.
fn same_ends(old: &[usize], new: &[usize]) -> (usize, usize) {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old[start..].iter().rev().zip(new[start..].iter().rev());
    let after = rest.take_while(|(a, b)| a == b).count();
    (start.saturating_sub(CONTEXT), after.saturating_sub(CONTEXT))
}

/// Marks what is changed.
fn compare((old, old_changed): (&[usize], &mut [bool]), (new, new_changed): (&[usize], &mut [bool]), numbers: usize) {
    let (old_kept, new_kept) = (compared(old, new, numbers), compared(new, old, numbers));
    old_changed.fill(true);
    new_changed.fill(true);
    let pick = |lines: &[usize], kept: &[usize]| kept.iter().map(|i| lines[*i]).collect::<Vec<_>>();
    for (i, j) in pairs(&pick(old, &old_kept), &pick(new, &new_kept)) {
        old_changed[old_kept[i]] = false;
        new_changed[new_kept[j]] = false;
    }
    slide(old_changed, old, new_changed);
    slide(new_changed, new, old_changed);
}

/// Indices of the lines that are worth comparing. What the other text does not have is changed in any case; what it has
/// many times (an empty line, a brace) says little within a run of such lines, and is changed with them.
fn compared(lines: &[usize], other: &[usize], numbers: usize) -> Vec<usize> {
    let mut counts = vec![0; numbers];
    other.iter().for_each(|line| counts[*line] += 1);
    let many = 5 << (lines.len() / 64).checked_ilog(4).unwrap_or(0);
    let weigh = |line: &usize| match counts[*line] {
        0 => Weight::Alone,
        count if count > many => Weight::Common,
        _ => Weight::Kept,
    };
    let mut weights: Vec<Weight> = lines.iter().map(weigh).collect();
    for run in weights.chunk_by_mut(|a, b| (*a == Weight::Kept) == (*b == Weight::Kept)) {
        keep_common(run);
    }
    (0..lines.len()).filter(|i| weights[*i] == Weight::Kept).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Weight {
    /// Worth comparing.
    Kept,
    /// Not in the other text.
    Alone,
    /// In the other text too often to say much.
    Common,
}

/// Decides which common lines of a run are worth comparing after all: those at its ends, those that are not few.
fn keep_common(run: &mut [Weight]) {
    let is_alone = |weight: &Weight| *weight == Weight::Alone;
    let (Some(first), Some(last)) = (run.iter().position(is_alone), run.iter().rposition(is_alone)) else {
        return run.fill(Weight::Kept);
    };
    run[..first].fill(Weight::Kept);
    run[last + 1..].fill(Weight::Kept);
    let run = &mut run[first..=last];
    let common = run.iter().filter(|weight| **weight == Weight::Common).count();
    let longest = 1 << (run.len() / 4).checked_ilog(4).unwrap_or(0);
    let too_many = common * 4 > run.len();
    for stretch in run.chunk_by_mut(|a, b| a == b) {
        if stretch[0] == Weight::Common && (too_many || stretch.len() > longest) {
            stretch.fill(Weight::Kept);
        }
    }
    keep_near_end(run.iter_mut());
    keep_near_end(run.iter_mut().rev());
}

/// Common lines are kept until three lone lines in a row, or one that is far enough from the end, were passed.
fn keep_near_end<'a>(run: impl Iterator<Item = &'a mut Weight>) {
    let mut alone = 0;
    for (distance, weight) in run.enumerate() {
        if *weight == Weight::Alone {
            alone += 1;
            if distance >= 8 || alone == 3 {
                return;
            }
        } else {
            alone = 0;
            *weight = Weight::Kept;
        }
    }
}

/// Moves each group of changed lines as far down as equal lines around it allow, joining it with groups that it meets;
/// but not past the last place where it stands beside a change of the other text.
fn slide(changed: &mut [bool], lines: &[usize], other: &[bool]) {
    let is_changed = |other: &[bool], i: usize| other.get(i).copied().unwrap_or(false);
    let (mut at, mut across) = (0, 0);
    loop {
        // `across` is the other text's place beside `at`.
        while at < lines.len() && !changed[at] {
            while is_changed(other, across) {
                across += 1;
            }
            across += 1;
            at += 1;
        }
        if at == lines.len() {
            return;
        }
        let mut group = ChangedLines { start: at, end: at };
        group.grow_down(changed);
        while is_changed(other, across) {
            across += 1;
        }
        let mut beside;
        loop {
            let len = group.end - group.start;
            while group.can_rise(lines) {
                group.rise(changed);
                across = before(other, across);
            }
            beside = (across > 0 && other[across - 1]).then_some(group.end);
            while group.can_sink(lines) {
                group.sink(changed);
                across += 1;
                while is_changed(other, across) {
                    across += 1;
                    beside = Some(group.end);
                }
            }
            if group.end - group.start == len {
                break;
            }
        }
        while beside.is_some_and(|place| place < group.end) {
            group.rise(changed);
            across = before(other, across);
        }
        at = group.end;
    }
}

/// One unchanged line up, and behind the changed lines above it.
fn before(other: &[bool], mut across: usize) -> usize {
    across = across.saturating_sub(1);
    while across > 0 && other.get(across).copied().unwrap_or(false) {
        across -= 1;
    }
    across
}

/// Changed lines that follow one another: `start..end`.
struct ChangedLines {
    start: usize,
    end: usize,
}

impl ChangedLines {
    fn can_rise(&self, lines: &[usize]) -> bool {
        self.start > 0 && lines[self.start - 1] == lines[self.end - 1]
    }

    fn can_sink(&self, lines: &[usize]) -> bool {
        self.end < lines.len() && lines[self.start] == lines[self.end]
    }

    fn rise(&mut self, changed: &mut [bool]) {
        self.start -= 1;
        self.end -= 1;
        changed[self.start] = true;
        changed[self.end] = false;
        while self.start > 0 && changed[self.start - 1] {
            self.start -= 1;
        }
    }

    fn sink(&mut self, changed: &mut [bool]) {
        changed[self.start] = false;
        changed[self.end] = true;
        self.start += 1;
        self.end += 1;
        self.grow_down(changed);
    }

    fn grow_down(&mut self, changed: &[bool]) {
        while self.end < changed.len() && changed[self.end] {
            self.end += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &'static str, new: &'static str, expected: (&str, &str)) {
        let lines = |text: &'static str| text.split(' ').map(str::as_bytes).collect::<Vec<_>>();
        let (old, new) = changed_lines(&lines(old), &lines(new));
        let marks = |changed: &[bool]| changed.iter().map(|c| if *c { 'x' } else { '.' }).collect::<String>();
        assert_eq!((marks(&old).as_str(), marks(&new).as_str()), expected);
    }

    #[test]
    fn groups_slide_down_as_far_as_they_can() {
        check("a b", "a b a b", ("..", "..xx"));
        check("f { }", "f { } f { }", ("...", "...xxx"));
        check("a b b c", "a b c", ("..x.", "..."));
    }

    #[test]
    fn groups_stay_beside_a_change_of_the_other_text() {
        check("a x b b", "a y b b b", (".x..", ".xx.."));
        check("a b c d", "b c d e", ("x...", "...x"));
        check("a a", "b b", ("xx", "xx"));
    }

    #[test]
    fn a_common_line_within_a_rewritten_run_is_rewritten_with_it() {
        let old = "a b c } d e f z } } } } } } h";
        let new = "A B C } D E F z } } } } } } H";
        check(old, new, ("xxxxxxx.......x", "xxxxxxx.......x"));
        check("a b c } d e f } g", "A B C } D E F } G", ("xxx.xxx.x", "xxx.xxx.x"));
    }
}
