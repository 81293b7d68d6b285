//! The order in which `moved` statements are applied: each after those that move to its `from` address.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use base::diag::Diagnostic;
use model::addr::InstanceKey;
use model::config::{Config, MoveEndpoint};

use super::statements::{MoveStatement, cycle, declared};

/// The statements of all modules in the order in which they are applied: each before those that move on what it moves. None
/// if they form a cycle, which is reported once it is known that nothing else is wrong with them.
pub(super) fn collect(config: &Config) -> Vec<MoveStatement> {
    in_order(declared(config)).unwrap_or_default()
}

/// Sorts the statements; those that may go in any order stay as they are declared. A cycle is an error.
pub(super) fn in_order(statements: Vec<MoveStatement>) -> Result<Vec<MoveStatement>, Diagnostic> {
    let order = Waiting::of(&statements).order();
    if order.len() < statements.len() {
        let done: BTreeSet<usize> = order.into_iter().collect();
        let left = statements.into_iter().enumerate().filter(|(i, _)| !done.contains(i));
        return Err(cycle(&left.map(|(_, statement)| statement).collect::<Vec<_>>()));
    }
    let mut statements: Vec<Option<MoveStatement>> = statements.into_iter().map(Some).collect();
    Ok(order.into_iter().filter_map(|i| statements[i].take()).collect())
}

/// What each statement waits for.
struct Waiting {
    /// By statement: those that follow it, and whether they move the very thing that it has moved.
    followers: Vec<Vec<(usize, bool)>>,
    /// By statement: how many of those that are left it follows, and how many of these it continues.
    counts: Vec<(usize, usize)>,
}

impl Waiting {
    fn of(statements: &[MoveStatement]) -> Waiting {
        let ends = |end: fn(&MoveStatement) -> &MoveEndpoint| statements.iter().map(|s| Reach::of(s, end(s))).collect();
        let (from, to): (Vec<Reach>, Vec<Reach>) = (ends(|s| &s.from), ends(|s| &s.to));
        let destinations = Destinations::of(&to);
        let mut waiting = Waiting { followers: vec![Vec::new(); from.len()], counts: vec![(0, 0); from.len()] };
        for (i, mine) in from.iter().enumerate() {
            for j in destinations.that_may_meet(mine).into_iter().filter(|j| *j != i) {
                let continues = mine.continues(&to[j]);
                if continues || mine.follows(&to[j]) {
                    waiting.followers[j].push((i, continues));
                    waiting.counts[i].0 += 1;
                    waiting.counts[i].1 += usize::from(continues);
                }
            }
        }
        waiting
    }

    /// The statements up to where only a cycle is left.
    fn order(mut self) -> Vec<usize> {
        let all = || self.counts.iter().enumerate();
        // A module and what is in it may move in any order: where nothing else can go on, only continuations count.
        let mut free: BTreeSet<usize> = all().filter(|(_, count)| count.0 == 0).map(|(i, _)| i).collect();
        let mut free_of_continued: BTreeSet<usize> = all().filter(|(_, count)| count.1 == 0).map(|(i, _)| i).collect();
        let mut order = Vec::with_capacity(self.counts.len());
        while let Some(next) = free.first().or(free_of_continued.first()).copied() {
            free.remove(&next);
            free_of_continued.remove(&next);
            order.push(next);
            // Nothing counts it again.
            self.counts[next] = (usize::MAX, usize::MAX);
            for (follower, continues) in std::mem::take(&mut self.followers[next]) {
                let count = &mut self.counts[follower];
                if count.0 == usize::MAX {
                    continue;
                }
                count.0 -= 1;
                count.1 -= usize::from(continues);
                if count.0 == 0 {
                    free.insert(follower);
                }
                if count.1 == 0 {
                    free_of_continued.insert(follower);
                }
            }
        }
        order
    }
}

/// Destinations by what they may meet: names alone, keys are compared afterwards.
#[derive(Default)]
struct Destinations<'r> {
    /// Resources by their module's path and their own address.
    resources: HashMap<(Vec<&'r str>, &'r str), Vec<usize>>,
    /// Modules by their path.
    modules: HashMap<Vec<&'r str>, Vec<usize>>,
    /// Everything by each beginning of its path.
    beneath: HashMap<Vec<&'r str>, Vec<usize>>,
}

impl<'r> Destinations<'r> {
    fn of(to: &'r [Reach]) -> Destinations<'r> {
        let mut found = Destinations::default();
        for (i, reach) in to.iter().enumerate() {
            let names = reach.names();
            for length in 0..=names.len() {
                found.beneath.entry(names[..length].to_vec()).or_default().push(i);
            }
            match &reach.resource {
                Some(resource) => found.resources.entry((names, resource)).or_default().push(i),
                None => found.modules.entry(names).or_default().push(i),
            }
        }
        found
    }

    fn that_may_meet(&self, reach: &'r Reach) -> Vec<usize> {
        let names = reach.names();
        let Some(resource) = &reach.resource else {
            let above = (0..names.len()).filter_map(|length| self.modules.get(&names[..length]));
            return above.chain(self.beneath.get(&names)).flatten().copied().collect();
        };
        let modules = (0..=names.len()).filter_map(|length| self.modules.get(&names[..length]));
        let same = self.resources.get(&(names.clone(), resource.as_str()));
        modules.chain(same).flatten().copied().collect()
    }
}

/// An end as a path of modules, each with its key or with any, and the resource if it is one.
struct Reach {
    steps: Vec<(Arc<str>, Option<InstanceKey>)>,
    resource: Option<String>,
}

impl Reach {
    fn of(statement: &MoveStatement, end: &MoveEndpoint) -> Reach {
        let names = statement.module.0.iter().map(|name| (name.clone(), None));
        let own = end.module.0.iter().map(|step| (step.name.clone(), Some(step.key.clone())));
        let mut steps: Vec<(Arc<str>, Option<InstanceKey>)> = names.chain(own).collect();
        let resource = end.resource.as_ref().map(|(resource, key)| format!("{resource}{key}"));
        // A call without a key on either side means all of its instances.
        if resource.is_none()
            && statement.whole
            && let Some(last) = steps.last_mut()
        {
            last.1 = None;
        }
        Reach { steps, resource }
    }

    fn names(&self) -> Vec<&str> {
        self.steps.iter().map(|(name, _)| &**name).collect()
    }

    /// True if what starts here may be what arrived there.
    fn follows(&self, other: &Reach) -> bool {
        let same = self.steps.len() == other.steps.len() && self.meets(other);
        same && (self.resource == other.resource || self.resource.is_none() || other.resource.is_none())
            || (other.resource.is_none() && self.steps.len() >= other.steps.len() && self.meets(other))
            || (self.resource.is_none() && other.steps.len() >= self.steps.len() && self.meets(other))
    }

    /// True if what starts here is the very thing that arrived there, not just something in it.
    fn continues(&self, other: &Reach) -> bool {
        self.steps.len() == other.steps.len() && self.resource == other.resource && self.meets(other)
    }

    /// Whether the shorter of two paths may be the beginning of the other.
    fn meets(&self, other: &Reach) -> bool {
        self.steps.iter().zip(&other.steps).all(|(a, b)| a.0 == b.0 && (a.1.is_none() || b.1.is_none() || a.1 == b.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::world::config;

    /// The rule, literally: of those that are left, the first that follows none of the others.
    fn one_by_one(statements: &[MoveStatement]) -> Vec<usize> {
        let from: Vec<Reach> = statements.iter().map(|s| Reach::of(s, &s.from)).collect();
        let to: Vec<Reach> = statements.iter().map(|s| Reach::of(s, &s.to)).collect();
        let mut left: Vec<usize> = (0..statements.len()).collect();
        let mut order = Vec::new();
        loop {
            let first = |waits: fn(&Reach, &Reach) -> bool| {
                left.iter().position(|i| !left.iter().any(|j| i != j && waits(&from[*i], &to[*j])))
            };
            match first(Reach::follows).or_else(|| first(Reach::continues)) {
                Some(place) => order.push(left.remove(place)),
                None => return order,
            }
        }
    }

    #[test]
    fn order_equals_that_of_the_quadratic_search() {
        let ends = [
            "module.a",
            "module.b",
            "module.a[0]",
            "module.a[\"k\"]",
            "module.a.module.c",
            "module.b.module.c[1]",
            "module.a.test_thing.x",
            "module.a[0].test_thing.x",
            "module.b.test_thing.x[0]",
            "test_thing.x",
            "test_thing.x[0]",
            "test_thing.y",
        ];
        let mut seed = 7_u64;
        let mut any = |most: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % most
        };
        let (mut cycles, mut moved) = (0, 0);
        for _ in 0..400 {
            let mut text = String::new();
            for _ in 0..any(9) {
                let from = ends[any(ends.len())];
                let same_kind: Vec<_> = ends.iter().filter(|e| e.contains("test_") == from.contains("test_")).collect();
                let to = same_kind[any(same_kind.len())];
                text += &format!("moved {{\n from = {from}\n to = {to}\n}}\n");
            }
            let statements = declared(&config(&[("main.tf", &text)]));
            let order = Waiting::of(&statements).order();
            assert_eq!(order, one_by_one(&statements), "{text}");
            cycles += usize::from(order.len() < statements.len());
            moved += usize::from(!order.is_sorted());
        }
        assert!(cycles > 20 && moved > 20, "{cycles} cycles, {moved} in another order");
    }
}
