//! Makes a failing history small: fewer steps, blocks, attributes and options, as long as the same finding remains.
//!
//! Works on trees alone. A block or attribute is removed from all steps at once, so that steps stay alike.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::session::Finding;
use super::step::Step;
use super::tree::{Block, Item};

/// Runs a history; returns what is wrong with it.
pub type Replay<'a> = dyn Fn(&[Step]) -> Option<Finding> + 'a;

pub struct Shrinker<'a> {
    replay: &'a Replay<'a>,
    class: String,
    end: Instant,
    best: Vec<Step>,
    finding: Finding,
}

/// A part of the configurations: the folder, then headers of blocks and perhaps the name of an attribute.
type Path = Vec<String>;

/// Returns a smaller history with a finding of the same class.
pub fn shrink(replay: &Replay, history: Vec<Step>, finding: Finding, budget: Duration) -> (Vec<Step>, Finding) {
    let mut shrinker =
        Shrinker { replay, class: finding.class.clone(), end: Instant::now() + budget, best: history, finding };
    loop {
        let before = shrinker.best.clone();
        shrinker.steps();
        shrinker.parts();
        shrinker.values();
        shrinker.options();
        let same = before.len() == shrinker.best.len()
            && before.iter().zip(&shrinker.best).all(|(a, b)| a.configuration == b.configuration);
        if same || Instant::now() > shrinker.end {
            return (shrinker.best, shrinker.finding);
        }
    }
}

impl Shrinker<'_> {
    /// Keeps a candidate that still fails in the same way.
    fn attempt(&mut self, candidate: Vec<Step>) -> bool {
        if Instant::now() > self.end || candidate.is_empty() {
            return false;
        }
        match (self.replay)(&candidate) {
            Some(finding) if finding.class == self.class => {
                self.best = candidate;
                self.finding = finding;
                true
            }
            _ => false,
        }
    }

    fn steps(&mut self) {
        let mut size = self.best.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at + size < self.best.len() {
                let mut candidate = self.best.clone();
                candidate.drain(at..at + size);
                if !self.attempt(candidate) {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    /// Removes blocks and attributes.
    fn parts(&mut self) {
        let mut paths: Vec<Path> = self.paths(|path, _| Some(path.clone())).into_iter().collect();
        // Whole blocks before what is in them.
        paths.sort_by_key(Vec::len);
        let mut size = (paths.len() / 2).clamp(1, 8);
        loop {
            let mut at = 0;
            while at < paths.len() {
                let chunk: Vec<Path> = paths[at..paths.len().min(at + size)].to_vec();
                let candidate = self.rewrite(|path, item| if chunk.contains(path) { None } else { Some(item) });
                if candidate_changes(&self.best, &candidate) && self.attempt(candidate) {
                    paths.drain(at..at + chunk.len());
                } else {
                    at += size;
                }
            }
            if size == 1 {
                return;
            }
            size /= 2;
        }
    }

    /// Replaces expressions with simpler ones.
    fn values(&mut self) {
        let structural = ["source", "to", "from", "type"];
        let paths = self.paths(|path, item| match item {
            Item::Attr(name, _) if !structural.contains(&name.as_str()) => Some(path.clone()),
            _ => None,
        });
        for path in paths {
            for simple in ["\"x\"", "1", "[]", "{}", "true"] {
                let candidate = self.rewrite(|at, item| match item {
                    Item::Attr(name, text) if *at == path && text.len() > simple.len() => {
                        Some(Item::Attr(name, simple.to_owned()))
                    }
                    other => Some(other),
                });
                if candidate_changes(&self.best, &candidate) && self.attempt(candidate) {
                    break;
                }
            }
        }
    }

    fn options(&mut self) {
        for step in 0..self.best.len() {
            for at in (0..self.best[step].options.len()).rev() {
                let mut candidate = self.best.clone();
                candidate[step].options.remove(at);
                self.attempt(candidate);
            }
            if self.best[step].tamper.is_some() {
                let mut candidate = self.best.clone();
                candidate[step].tamper = None;
                self.attempt(candidate);
            }
        }
    }

    /// Returns what `pick` chooses of all parts of all steps.
    fn paths<T: Ord>(&self, pick: impl Fn(&Path, &Item) -> Option<T>) -> BTreeSet<T> {
        let found = std::cell::RefCell::new(BTreeSet::new());
        self.rewrite(|path, item| {
            found.borrow_mut().extend(pick(path, &item));
            Some(item)
        });
        found.into_inner()
    }

    /// Returns the history with every part replaced by what `change` makes of it.
    fn rewrite(&self, change: impl Fn(&Path, Item) -> Option<Item>) -> Vec<Step> {
        let mut history = self.best.clone();
        for step in &mut history {
            for (folder, blocks) in &mut step.configuration.modules {
                let items = std::mem::take(blocks).into_iter().map(Item::Block).collect();
                let items = rewrite_items(items, &vec![folder.clone()], &change);
                *blocks = items
                    .into_iter()
                    .filter_map(|item| match item {
                        Item::Block(block) => Some(block),
                        Item::Attr(..) => None,
                    })
                    .collect();
            }
        }
        history
    }
}

fn candidate_changes(before: &[Step], after: &[Step]) -> bool {
    before.iter().zip(after).any(|(a, b)| a.configuration != b.configuration)
}

fn rewrite_items(items: Vec<Item>, path: &Path, change: &impl Fn(&Path, Item) -> Option<Item>) -> Vec<Item> {
    let mut out = Vec::new();
    for item in items {
        let mut path = path.clone();
        path.push(match &item {
            Item::Attr(name, _) => name.clone(),
            Item::Block(block) => block_name(block),
        });
        let Some(item) = change(&path, item) else { continue };
        out.push(match item {
            Item::Block(mut block) => {
                block.items = rewrite_items(block.items, &path, change);
                Item::Block(block)
            }
            attr => attr,
        });
    }
    out
}

/// Blocks without labels are identified by their content.
fn block_name(block: &Block) -> String {
    let about = ["from", "to", "condition"].iter().filter_map(|name| block.get(name)).collect::<Vec<_>>().join(" ");
    let first = block.items.first().map(|item| match item {
        Item::Attr(name, _) if block.header[0] == "locals" => name.clone(),
        _ => String::new(),
    });
    format!("{} {about}{}", block.header.join(" "), first.unwrap_or_default())
}
