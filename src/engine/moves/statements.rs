//! What `moved` blocks say: matching addresses, the order of statements, and the mistakes that can be made with them.

use std::collections::BTreeMap;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::source::Range;
use crate::model::addr::{AbsResourceInstance, InstanceKey, Module, ModuleInstance, ModuleStep};
use crate::model::config::{Config, MoveEndpoint};

/// One `moved` block, in the module that declares it.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub module: Module,
    pub from: MoveEndpoint,
    pub to: MoveEndpoint,
    pub range: Range,
    /// Neither end names a key: all instances move together.
    whole: bool,
}

/// The statements of all modules, each before those that move on what it moves.
pub(super) fn collect(config: &Config, diags: &mut Diagnostics) -> Vec<Statement> {
    let mut all = Vec::new();
    for module in config.modules() {
        for moved in &module.moved {
            let statement = Statement {
                module: module.path.clone(),
                whole: end_key(&moved.from).is_none() && end_key(&moved.to).is_none(),
                from: moved.from.clone(),
                to: moved.to.clone(),
                range: moved.range.clone(),
            };
            all.push(statement);
        }
    }
    check(&all, config, diags);
    in_order(all, diags)
}

fn end_key(end: &MoveEndpoint) -> InstanceKey {
    match &end.resource {
        Some((_, key)) => key.clone(),
        None => end.module.last().map(|step| step.key.clone()).unwrap_or_default(),
    }
}

impl Statement {
    /// The new address of an instance that the statement moves.
    pub fn destination(&self, addr: &AbsResourceInstance) -> Option<AbsResourceInstance> {
        let depth = self.module.0.len();
        let steps = &addr.module.0;
        let declared = steps.get(..depth)?;
        if !declared.iter().zip(self.module.0.iter()).all(|(step, name)| step.name == *name) {
            return None;
        }
        let relative = &steps[depth..];
        let with_prefix = |inner: Vec<ModuleStep>| ModuleInstance(declared.iter().cloned().chain(inner).collect());
        match (&self.from.resource, &self.to.resource) {
            (Some((from, from_key)), Some((to, to_key))) => {
                if relative != &*self.from.module.0 || addr.resource.resource != *from {
                    return None;
                }
                let key = match self.whole {
                    true => addr.key().clone(),
                    false if addr.key() == from_key => to_key.clone(),
                    false => return None,
                };
                Some(to.absolute(with_prefix(self.to.module.0.to_vec())).instance(key))
            }
            (None, None) => {
                let rest = self.matching_module(relative)?;
                let mut to = self.to.module.0.to_vec();
                if self.whole
                    && let Some(last) = to.last_mut()
                {
                    last.key = relative[self.from.module.0.len() - 1].key.clone();
                }
                to.extend(rest.iter().cloned());
                Some(AbsResourceInstance { module: with_prefix(to), resource: addr.resource.clone() })
            }
            _ => None,
        }
    }

    /// The steps behind the module that moves, if the path leads through it.
    fn matching_module<'s>(&self, relative: &'s [ModuleStep]) -> Option<&'s [ModuleStep]> {
        let from = &self.from.module.0;
        let found = relative.get(..from.len())?;
        let last = from.len().checked_sub(1)?;
        let same = |(i, (step, wanted)): (usize, (&ModuleStep, &ModuleStep))| {
            step.name == wanted.name && ((self.whole && i == last) || step.key == wanted.key)
        };
        found.iter().zip(from.iter()).enumerate().all(same).then(|| &relative[from.len()..])
    }

    /// True if what this statement moves may be what the other one has moved.
    fn follows(&self, other: &Statement) -> bool {
        let (mine, theirs) = (absolute(self, &self.from), absolute(other, &other.to));
        mine.0 == theirs.0 && (mine.1 == theirs.1 || mine.1.is_none() || theirs.1.is_none())
            || (theirs.1.is_none() && mine.0.starts_with(&theirs.0))
            || (mine.1.is_none() && theirs.0.starts_with(&mine.0))
    }

    /// As `text`, saying so where all instances are meant.
    fn all_text(&self, end: &MoveEndpoint) -> String {
        if self.whole { format!("{}[*]", self.text(end)) } else { self.text(end) }
    }

    fn text(&self, end: &MoveEndpoint) -> String {
        if self.module.is_root() { end.to_string() } else { format!("{}.{end}", self.module) }
    }
}

/// An end as a path of names, with the resource if it is one: enough to see what could meet.
fn absolute(statement: &Statement, end: &MoveEndpoint) -> (Vec<String>, Option<String>) {
    let names = statement.module.0.iter().map(|name| name.to_string());
    let steps = end.module.0.iter().map(|step| step.name.to_string());
    let resource = end.resource.as_ref().map(|(resource, key)| format!("{resource}{key}"));
    (names.chain(steps).collect(), resource)
}

/// Sorts the statements so that each comes behind those whose results it moves on. A circle is an error.
fn in_order(statements: Vec<Statement>, diags: &mut Diagnostics) -> Vec<Statement> {
    let mut left = statements;
    let mut sorted = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let ready =
            (0..left.len()).find(|&i| !left.iter().enumerate().any(|(j, other)| i != j && left[i].follows(other)));
        match ready {
            Some(i) => sorted.push(left.remove(i)),
            None => {
                let lines: Vec<String> = left
                    .iter()
                    .map(|s| format!("\n  - {}: {} → {}", start(&s.range), s.all_text(&s.from), s.all_text(&s.to)))
                    .collect();
                let detail = format!(
                    "The following chained move statements form a cycle, and so there is no final location to move \
                     objects to:{}\n\nA chain of move statements must end with an address that doesn't appear in any other \
                     statements, and which typically also refers to an object still declared in the configuration.",
                    lines.concat()
                );
                diags.push(Diagnostic::error("Cyclic dependency in move statements", detail));
                return Vec::new();
            }
        }
    }
    sorted
}

fn check(statements: &[Statement], config: &Config, diags: &mut Diagnostics) {
    let mut by_from: BTreeMap<String, &Statement> = BTreeMap::new();
    let mut by_to: BTreeMap<String, &Statement> = BTreeMap::new();
    for statement in statements {
        let (from, to) = (statement.text(&statement.from), statement.text(&statement.to));
        let mut error = |summary: &str, detail: String| {
            diags.push(Diagnostic::error(summary, detail).at(statement.range.clone()));
        };
        if from == to {
            error(
                "Redundant move statement",
                format!(
                    "This statement declares a move from {from} to the same address, which is the same as not declaring \
                     this move at all."
                ),
            );
            continue;
        }
        if let Some(kind) = still_declared(statement, config) {
            let (noun, at) = kind;
            let at = at.map_or_else(String::new, |range| format!(" at {}", start(&range)));
            error(
                "Moved object still exists",
                format!(
                    "This statement declares a move from {from}, but that {noun} is still declared{at}.\n\nChange your \
                     configuration so that this {noun} will be declared as {to} instead."
                ),
            );
        }
        if let Some(first) = by_from.get(&from) {
            let other = first.text(&first.to);
            if other != to {
                error(
                    "Ambiguous move statements",
                    format!(
                        "A statement at {} declared that {from} moved to {other}, but this statement instead declares that \
                         it moved to {to}.\n\nEach {} can move to only one destination resource.",
                        start(&first.range),
                        noun(statement)
                    ),
                );
            }
        } else {
            by_from.insert(from.clone(), statement);
        }
        if let Some(first) = by_to.get(&to) {
            let other = first.text(&first.from);
            if other != from {
                error(
                    "Ambiguous move statements",
                    format!(
                        "A statement at {} declared that {other} moved to {to}, but this statement instead declares that \
                         {from} moved there.\n\nEach {noun} can have moved from only one source {noun}.",
                        start(&first.range),
                        noun = noun(statement)
                    ),
                );
            }
        } else {
            by_to.insert(to, statement);
        }
    }
}

/// Where something begins: `main.tf:1,1`.
fn start(range: &Range) -> String {
    let at = range.start();
    format!("{}:{},{}", range.filename(), at.line, at.column)
}

fn noun(statement: &Statement) -> &'static str {
    match (&statement.from.resource, statement.whole) {
        (Some(_), true) => "resource",
        (Some(_), false) => "resource instance",
        (None, true) => "module call",
        (None, false) => "module instance",
    }
}

/// What the source of a move still names in the configuration, and where. Only whole resources and modules count: a
/// single instance may go while its block stays.
fn still_declared(statement: &Statement, config: &Config) -> Option<(&'static str, Option<Range>)> {
    let mut path = statement.module.clone();
    for step in statement.from.module.0.iter() {
        path = path.child(&step.name);
    }
    match &statement.from.resource {
        Some((resource, key)) => {
            let declared = config.module(&path)?.resources.get(resource)?;
            let repeats = declared.count.is_some() || declared.for_each.is_some();
            let names_all = statement.whole || (key.is_none() && !repeats);
            names_all.then(|| (noun(statement), Some(declared.range.clone())))
        }
        None => {
            let parent = config.module(&path.parent()?)?;
            let call = parent.calls.get(path.0.last()?)?;
            let repeats = call.count.is_some() || call.for_each.is_some();
            let key = end_key(&statement.from);
            let names_all = statement.whole || (key.is_none() && !repeats);
            names_all.then(|| (noun(statement), Some(call.range.clone())))
        }
    }
}
