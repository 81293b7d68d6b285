//! The statements of `moved` blocks, and the addresses that they match.

use base::diag::Diagnostic;
use base::source::Range;
use model::addr::{AbsResource, AbsResourceInstance, ConfigResource, InstanceKey, Module, ModuleInstance, ModuleStep};
use model::config::{Config, MoveEndpoint};

/// One `moved` block, in the module that declares it.
#[derive(Clone, Debug)]
pub(super) struct MoveStatement {
    pub module: Module,
    pub from: MoveEndpoint,
    pub to: MoveEndpoint,
    pub range: Range,
    /// Neither end names a key: all instances move together.
    pub whole: bool,
}

/// The statements of all modules as they are declared.
pub(super) fn declared(config: &Config) -> Vec<MoveStatement> {
    let mut all = Vec::new();
    for module in config.modules() {
        for moved in &module.moved {
            let statement = MoveStatement {
                module: module.path.clone(),
                whole: end_key(&moved.from).is_none() && end_key(&moved.to).is_none(),
                from: moved.from.clone(),
                to: moved.to.clone(),
                range: moved.range.clone(),
            };
            all.push(statement);
        }
    }
    all
}

pub(super) fn end_key(end: &MoveEndpoint) -> InstanceKey {
    match &end.resource {
        Some((_, key)) => key.clone(),
        None => end.module.last().map(|step| step.key.clone()).unwrap_or_default(),
    }
}

impl MoveStatement {
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

    /// False if no instance of the resource is moved by the statement.
    pub fn concerns(&self, addr: &AbsResource) -> bool {
        let Some((declared, relative)) = addr.module.0.split_at_checked(self.module.0.len()) else { return false };
        declared.iter().zip(self.module.0.iter()).all(|(step, name)| step.name == *name)
            && match &self.from.resource {
                Some((from, _)) => relative == &*self.from.module.0 && addr.resource == *from,
                None => self.matching_module(relative).is_some(),
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

    /// The resources at the ends of the statement, as blocks.
    pub fn named(&self) -> impl Iterator<Item = ConfigResource> {
        [&self.from, &self.to]
            .into_iter()
            .filter_map(|end| Some(end.resource.as_ref()?.0.in_module(self.module_of(end))))
    }

    /// The module of the resource that a statement moves, as a block.
    pub fn source(&self) -> Option<ConfigResource> {
        Some(self.from.resource.as_ref()?.0.in_module(self.module_of(&self.from)))
    }

    fn module_of(&self, end: &MoveEndpoint) -> Module {
        Module(self.module.0.iter().cloned().chain(end.module.0.iter().map(|step| step.name.clone())).collect())
    }

    /// True if an end of the statement is the resource or one of its instances.
    pub fn names(&self, addr: &AbsResource) -> bool {
        let depth = self.module.0.len();
        [&self.from, &self.to].into_iter().any(|end| {
            let Some((resource, _)) = &end.resource else { return false };
            addr.resource == *resource
                && addr.module.0.len() == depth + end.module.0.len()
                && addr.module.0.iter().zip(self.module.0.iter()).all(|(step, name)| step.name == *name)
                && addr.module.0[depth..] == *end.module.0
        })
    }

    /// As `text`, saying so where all instances are meant.
    fn all_text(&self, end: &MoveEndpoint) -> String {
        if self.whole { format!("{}[*]", self.text(end)) } else { self.text(end) }
    }

    fn text(&self, end: &MoveEndpoint) -> String {
        if self.module.is_root() { end.to_string() } else { format!("{}.{end}", self.module) }
    }
}

/// Statements that move in a circle.
pub(super) fn cycle(statements: &[MoveStatement]) -> Diagnostic {
    let lines: Vec<String> = statements
        .iter()
        .map(|s| format!("\n  - {}: {} → {}", start(&s.range), s.all_text(&s.from), s.all_text(&s.to)))
        .collect();
    let detail = format!(
        "The following chained move statements form a cycle, and so there is no final location to move objects to:{}\n\nA \
         chain of move statements must end with an address that doesn't appear in any other statements, and which typically \
         also refers to an object still declared in the configuration.",
        lines.concat()
    );
    Diagnostic::error("Cyclic dependency in move statements", detail)
}

/// Where something begins: `main.tf:1,1`.
pub(super) fn start(range: &Range) -> String {
    let at = range.start();
    format!("{}:{},{}", range.filename(), at.line, at.column)
}
