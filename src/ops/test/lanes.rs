//! Which files are executed side by side. Pure.

use std::collections::BTreeSet;

/// The files that wait, and how many are executed. Files that may go on beside others do; of the rest there is one at a time.
#[derive(Debug)]
pub struct Lanes {
    /// In the order in which they start; true: beside others.
    waiting: Vec<(usize, bool)>,
    running: BTreeSet<usize>,
    /// The file that is executed and must be the only one of its kind.
    single: Option<usize>,
    most: usize,
}

impl Lanes {
    /// `files`: their numbers, and whether they may be executed beside any other. `most`: at most so many at a time.
    pub fn new(files: impl IntoIterator<Item = (usize, bool)>, most: usize) -> Lanes {
        Lanes { waiting: files.into_iter().collect(), running: BTreeSet::new(), single: None, most: most.max(1) }
    }

    /// Starts the first file that may start now, if there is one.
    pub fn start_next(&mut self) -> Option<usize> {
        if self.running.len() >= self.most {
            return None;
        }
        let is_ready = |(_, is_beside): &(usize, bool)| *is_beside || self.single.is_none();
        let position = self.waiting.iter().position(is_ready)?;
        let (file, is_beside) = self.waiting.remove(position);
        self.running.insert(file);
        if !is_beside {
            self.single = Some(file);
        }
        Some(file)
    }

    /// Notes that a file has ended.
    pub fn end(&mut self, file: usize) {
        self.running.remove(&file);
        if self.single == Some(file) {
            self.single = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files that start at once, then those that start after each end of the first that runs.
    fn started(files: &[bool], most: usize) -> String {
        let mut lanes = Lanes::new(files.iter().copied().enumerate(), most);
        let mut rounds = Vec::new();
        loop {
            let round: Vec<String> = std::iter::from_fn(|| lanes.start_next()).map(|file| file.to_string()).collect();
            rounds.push(round.join(" "));
            let Some(first) = lanes.running.first().copied() else { break };
            lanes.end(first);
        }
        rounds.join("|")
    }

    #[test]
    fn files_that_may_meet_outside_are_executed_one_after_the_other() {
        let cases: [(&[bool], usize, &str); 6] = [
            (&[], 4, ""),
            (&[false, false, false], 4, "0|1|2|"),
            (&[true, true, true], 2, "0 1|2||"),
            (&[true, true, true], 0, "0|1|2|"),
            (&[false, true, false, true], 4, "0 1 3|2|||"),
            (&[false, false, true], 2, "0 2|1||"),
        ];
        for (files, most, expected) in cases {
            assert_eq!(started(files, most), expected, "{files:?} {most}");
        }
    }
}
