//! The chain of causes of a change.
//!
//! Owns what counts as a cause: a reference does only if what it leads to changes, is unknown or is deferred. Never knows which
//! objects depend on the change.

use std::collections::{BTreeMap, BTreeSet};

use base::source::Range;
use lang::syntax::ast::{Block, Expression};
use lang::syntax::body::Body;
use terrane_protocol::schema::ResourceMode;
use terrane_value::{Path, PathStep, Value};

use super::index::{Index, IndexedChange, is_same};
use super::leads::{Lead, Site, depended_on, expressions_in, leads, needs_of_object, references};
use super::waits::waits;
use super::{Cause, Explanation, Fact};
use crate::addr::parse::parse_reference;
use crate::addr::{AbsResourceInstance, InstanceKey};
use crate::plan::{Action, ActionReason, DeferredReason, Mode};

/// Most objects in a chain, so that a long one needs little memory. Each of them can be explained by itself.
const MOST_OBJECTS: usize = 40;

pub fn explanation<'p>(index: &Index<'p>, found: IndexedChange<'p>) -> Explanation {
    let addr = &found.change.addr;
    let mut chain = Chain { index, explained: BTreeSet::from([addr.clone()]), values: BTreeMap::new() };
    Explanation {
        addr: addr.clone(),
        deposed: found.change.deposed.clone(),
        change: found.summary(),
        place: index.block(addr).map(|block| block.range.clone()),
        causes: chain.causes(&found, 0),
        waits: waits(index, &found),
    }
}

/// What a reference must lead to in order to be a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sought {
    /// Something that is another one after the apply.
    Changed,
    /// Something that is known only after the apply, or that is deferred.
    Unknown,
}

struct Chain<'i, 'p> {
    index: &'i Index<'p>,
    /// Objects whose causes are in the chain.
    explained: BTreeSet<AbsResourceInstance>,
    /// Values that were followed, and whether they lead to a cause.
    values: BTreeMap<(Sought, String), bool>,
}

fn cause(fact: Fact, place: Option<Range>, because: Vec<Cause>) -> Cause {
    Cause { fact, place, because }
}

impl<'p> Chain<'_, 'p> {
    fn causes(&mut self, found: &IndexedChange<'p>, depth: usize) -> Vec<Cause> {
        let change = found.change;
        let mut causes = Vec::new();
        if change.previous_addr != change.addr {
            causes.push(cause(Fact::MovedFrom(change.previous_addr.clone()), None, Vec::new()));
        }
        if change.importing.is_some() {
            let block = change.addr.config();
            let import = self.index.config.root.imports.iter().find(|import| import.resource == block);
            causes.push(cause(Fact::Imported, import.map(|import| import.range.clone()), Vec::new()));
        }
        if let Some(reason) = found.deferred {
            causes.push(self.deferral(found, reason, depth));
            return causes;
        }
        if change.deposed.is_some() {
            causes.push(cause(Fact::Deposed, None, Vec::new()));
            return causes;
        }
        match change.action {
            Action::NoOp => {
                causes.extend(self.is_drifted(found, None).then(|| cause(Fact::ChangedOutside, None, vec![])))
            }
            Action::Create => causes.extend(self.creation(found)),
            Action::Update => causes.extend(self.attributes(found, depth)),
            Action::DeleteThenCreate | Action::CreateThenDelete | Action::CreateThenForget => {
                causes.extend(self.replacement(found, depth));
            }
            Action::Delete | Action::Forget => causes.push(self.removal(found)),
            Action::Read => causes.extend(self.read(found, depth)),
        }
        causes
    }

    fn creation(&self, found: &IndexedChange<'p>) -> Option<Cause> {
        let change = found.change;
        if change.importing.is_some() {
            return None;
        }
        let mut drift = self.index.plan.drift.iter();
        if drift.any(|drift| drift.addr == change.addr && drift.action == Action::Delete) {
            return Some(cause(Fact::DeletedOutside, None, Vec::new()));
        }
        let block = self.index.block(&change.addr);
        let repetition = block.and_then(|block| block.repetition().expressions().next());
        Some(cause(Fact::NoObject, repetition.map(Expression::range), Vec::new()))
    }

    /// Whether refreshing found other values of the object, or of one attribute.
    fn is_drifted(&self, found: &IndexedChange<'p>, attribute: Option<&str>) -> bool {
        let mut drift = self.index.plan.drift.iter().filter(|drift| drift.addr == found.change.addr);
        drift.any(|drift| {
            let (before, after) = (&drift.change.before, &drift.change.after);
            match attribute {
                Some(name) => !is_same(before.get(name), after.get(name)),
                None => !is_same(Some(before), Some(after)),
            }
        })
    }

    fn replacement(&mut self, found: &IndexedChange<'p>, depth: usize) -> Vec<Cause> {
        let reason = found.change.reason;
        let causes = match reason {
            ActionReason::ReplaceBecauseTainted => vec![cause(Fact::Tainted, None, Vec::new())],
            ActionReason::ReplaceByRequest => vec![cause(Fact::Requested, None, Vec::new())],
            ActionReason::ReplaceByTriggers => self.triggers(found, depth),
            _ => self.forcing_attributes(found, depth),
        };
        match causes.is_empty() {
            true => vec![cause(Fact::Reason(reason), None, Vec::new())],
            false => causes,
        }
    }

    fn triggers(&mut self, found: &IndexedChange<'p>, depth: usize) -> Vec<Cause> {
        let addr = &found.change.addr;
        let Some(block) = self.index.block(addr) else { return Vec::new() };
        let site = Site::of(&addr.module, block.repetition(), addr.key());
        let dialect = self.index.config.dialect();
        let mut causes = Vec::new();
        for expression in &block.lifecycle.replace_triggered_by {
            let mut because = Vec::new();
            for reference in references(std::slice::from_ref(expression)) {
                for lead in leads(self.index, &site, &reference) {
                    let Lead::Objects { resource, key, path } = lead else { continue };
                    for object in self.index.current(&resource, key.as_ref()) {
                        if object.change.action.triggers(dialect) && object.changes_at(&path) {
                            add(&mut because, self.object(object, &path, depth));
                        }
                    }
                }
            }
            if !because.is_empty() {
                causes.push(cause(Fact::Trigger, Some(expression.range()), because));
            }
        }
        causes
    }

    /// The attributes that change and that the provider cannot update.
    fn forcing_attributes(&mut self, found: &IndexedChange<'p>, depth: usize) -> Vec<Cause> {
        let mut causes = Vec::new();
        for path in found.change.required_replace.iter().filter(|path| found.changes_at(path)) {
            if let Some(PathStep::Attr(name)) = path.steps().first() {
                add(&mut causes, self.attribute(found, name, path, true, depth));
            }
        }
        causes
    }

    /// All attributes that change.
    fn attributes(&mut self, found: &IndexedChange<'p>, depth: usize) -> Vec<Cause> {
        let names = found.change.change.after.entries().keys();
        let paths = names.map(|name| (name, Path::new().attr(name.clone())));
        let changed: Vec<_> = paths.filter(|(_, path)| found.changes_at(path)).collect();
        changed.into_iter().map(|(name, path)| self.attribute(found, name, &path, false, depth)).collect()
    }

    fn attribute(&mut self, found: &IndexedChange<'p>, name: &str, path: &Path, forces: bool, depth: usize) -> Cause {
        let addr = &found.change.addr;
        let written = self.index.block(addr).and_then(|block| Some((block, written(&block.body, name)?)));
        let mut because = Vec::new();
        if self.is_drifted(found, Some(name)) {
            because.push(cause(Fact::ChangedOutside, None, Vec::new()));
        }
        let mut place = None;
        match written {
            None => because.push(cause(Fact::ByProvider, None, Vec::new())),
            Some((block, (range, expressions))) => {
                place = Some(range);
                let site = Site::of(&addr.module, block.repetition(), addr.key());
                because.extend(self.follow(&site, &expressions, Sought::Changed, depth));
                if because.is_empty() {
                    let given = self.given(&site, &expressions);
                    because.push(cause(Fact::Differs, None, given));
                }
            }
        }
        let is_known = !found.is_unknown_at(path);
        cause(Fact::Attribute { name: shown_path(path), forces, is_known }, place, because)
    }

    fn removal(&self, found: &IndexedChange<'p>) -> Cause {
        let (addr, reason) = (&found.change.addr, found.change.reason);
        let block = self.index.block(addr);
        if reason == ActionReason::None && self.index.plan.scope.mode == Mode::Destroy {
            return cause(Fact::DestroyMode, None, Vec::new());
        }
        let expression = block.and_then(|block| match reason {
            ActionReason::DeleteBecauseCountIndex => block.count.as_ref(),
            ActionReason::DeleteBecauseEachKey => block.for_each.as_ref(),
            ActionReason::DeleteBecauseNotEnabled => block.lifecycle.enabled.as_ref(),
            ActionReason::DeleteBecauseWrongRepetition => block.repetition().expressions().next(),
            _ => None,
        });
        let given = expression.map_or_else(Vec::new, |expression| {
            self.given(&Site::once(&addr.module), std::slice::from_ref(expression))
        });
        let place = match expression {
            Some(expression) => Some(expression.range()),
            None => self.removed_block(addr),
        };
        cause(Fact::Reason(reason), place, given)
    }

    /// The `removed` block that names an object.
    fn removed_block(&self, addr: &AbsResourceInstance) -> Option<Range> {
        let wanted = addr.config();
        for module in self.index.config.modules() {
            for removed in &module.removed {
                let path: Vec<_> = module.path.0.iter().chain(removed.module.0.iter()).cloned().collect();
                let is_meant = match &removed.resource {
                    Some(resource) => *resource == wanted.resource && path[..] == wanted.module.0[..],
                    None => wanted.module.0.starts_with(&path),
                };
                if is_meant {
                    return Some(removed.range.clone());
                }
            }
        }
        None
    }

    fn read(&mut self, found: &IndexedChange<'p>, depth: usize) -> Vec<Cause> {
        let reason = found.change.reason;
        let causes = match reason {
            ActionReason::ReadBecauseConfigUnknown => self.unknown_attributes(found, depth),
            ActionReason::ReadBecauseDependencyPending => self.pending_dependencies(found, depth),
            _ => Vec::new(),
        };
        if !causes.is_empty() {
            return causes;
        }
        let addr = &found.change.addr;
        let checks = self.index.module(&addr.module).into_iter().flat_map(|module| module.checks.values());
        let mut around = checks.filter(|check| check.data.as_ref() == Some(&addr.resource.resource));
        vec![cause(Fact::Reason(reason), around.next().map(|check| check.range.clone()), Vec::new())]
    }

    /// The arguments of a block that are known only after apply.
    fn unknown_attributes(&mut self, found: &IndexedChange<'p>, depth: usize) -> Vec<Cause> {
        let addr = &found.change.addr;
        let Some(block) = self.index.block(addr) else { return Vec::new() };
        let site = Site::of(&addr.module, block.repetition(), addr.key());
        let mut causes = Vec::new();
        for (name, value) in found.change.change.after.entries().iter() {
            let Some((range, expressions)) = written(&block.body, name).filter(|_| !value.is_wholly_known()) else {
                continue;
            };
            let because = self.follow(&site, &expressions, Sought::Unknown, depth);
            let fact = Fact::Attribute { name: name.to_string(), forces: false, is_known: false };
            causes.push(cause(fact, Some(range), because));
        }
        causes
    }

    /// Objects with planned changes that `depends_on` names, of the block or of a module around it.
    fn pending_dependencies(&mut self, found: &IndexedChange<'p>, depth: usize) -> Vec<Cause> {
        let addr = &found.change.addr;
        let Some(block) = self.index.block(addr) else { return Vec::new() };
        let mut named = vec![(addr.module.clone(), &block.depends_on, &block.range)];
        let mut module = addr.module.clone();
        while let (Some(parent), Some(step)) = (module.parent(), module.last().cloned()) {
            let call = self.index.module(&parent).and_then(|outer| outer.calls.get(&step.name));
            named.extend(call.map(|call| (parent.clone(), &call.depends_on, &call.range)));
            module = parent;
        }
        let mut causes = Vec::new();
        for (module, names, block) in named {
            for reference in names.iter().filter_map(|name| parse_reference(name, &block.file).ok()) {
                let mut because = Vec::new();
                for object in depended_on(self.index, &module, &reference) {
                    if object.is_pending() && object.change.addr.mode() == ResourceMode::Managed {
                        add(&mut because, self.object(object, &Path::new(), depth));
                    }
                }
                if !because.is_empty() {
                    causes.push(cause(Fact::DependsOn, Some(reference.range), because));
                }
            }
        }
        causes
    }

    fn deferral(&mut self, found: &IndexedChange<'p>, reason: DeferredReason, depth: usize) -> Cause {
        let addr = &found.change.addr;
        let mut place = None;
        let because = match reason {
            DeferredReason::InstanceCountUnknown => match self.unknown_repetition(addr) {
                Some((site, expression)) => {
                    place = Some(expression.range());
                    self.follow(&site, std::slice::from_ref(expression), Sought::Unknown, depth)
                }
                None => Vec::new(),
            },
            DeferredReason::ResourceConfigUnknown => self.unknown_attributes(found, depth),
            DeferredReason::DeferredPrereq => {
                let needs = needs_of_object(self.index, found).into_iter();
                let mut causes = Vec::new();
                for need in needs.filter(|need| need.object.deferred.is_some()) {
                    let object = self.object(need.object, &Path::new(), depth);
                    add(&mut causes, Cause { place: Some(need.place), ..object });
                }
                causes
            }
            DeferredReason::Unknown | DeferredReason::ProviderConfigUnknown | DeferredReason::AbsentPrereq => {
                Vec::new()
            }
        };
        cause(Fact::Deferred(reason), place, because)
    }

    /// The `count` or `for_each` that leaves the instances of an address unknown: of the block, or of a module around it.
    fn unknown_repetition(&self, addr: &AbsResourceInstance) -> Option<(Site, &'p Expression)> {
        if *addr.key() == InstanceKey::Wildcard {
            let expression = self.index.block(addr)?.repetition().expressions().next();
            // Within placeholders of a module, an instance whose resource has no key is one too.
            if let Some(expression) = expression {
                return Some((Site::once(&addr.module), expression));
            }
        }
        let mut module = addr.module.clone();
        while let (Some(parent), Some(step)) = (module.parent(), module.last().cloned()) {
            if step.key == InstanceKey::Wildcard {
                let call = self.index.module(&parent)?.calls.get(&step.name)?;
                return Some((Site::once(&parent), call.repetition().expressions().next()?));
            }
            module = parent;
        }
        None
    }

    /// The causes that references of expressions lead to.
    fn follow(&mut self, site: &Site, expressions: &[Expression], sought: Sought, depth: usize) -> Vec<Cause> {
        let mut causes = Vec::new();
        for reference in references(expressions) {
            for lead in leads(self.index, site, &reference) {
                match lead {
                    Lead::Given { .. } => {}
                    Lead::Value { name, place, site, expressions } => {
                        let key = (sought, format!("{} {name}", site.module));
                        let because = match self.values.get(&key).copied() {
                            Some(false) => continue,
                            Some(true) => Vec::new(),
                            None => {
                                // Until its end is known, it leads to nothing: a cycle ends here.
                                self.values.insert(key.clone(), false);
                                let because = self.follow(&site, &expressions, sought, depth);
                                if because.is_empty() {
                                    continue;
                                }
                                self.values.insert(key, true);
                                because
                            }
                        };
                        add(&mut causes, cause(Fact::Reference(name), Some(place), because));
                    }
                    Lead::Objects { resource, key, path } => {
                        for object in self.index.current(&resource, key.as_ref()) {
                            let is_cause = match sought {
                                Sought::Changed => object.changes_at(&path),
                                Sought::Unknown => object.deferred.is_some() || object.is_unknown_at(&path),
                            };
                            if is_cause {
                                add(&mut causes, self.object(object, &path, depth));
                            }
                        }
                    }
                }
            }
        }
        causes
    }

    /// Another object as a cause, with its own causes if they are not in the chain yet.
    fn object(&mut self, found: IndexedChange<'p>, path: &Path, depth: usize) -> Cause {
        let addr = &found.change.addr;
        let is_explained = depth < MOST_OBJECTS && self.explained.insert(addr.clone());
        let because = if is_explained { self.causes(&found, depth + 1) } else { Vec::new() };
        let fact = Fact::Object {
            addr: addr.clone(),
            change: found.summary(),
            path: shown_path(path),
            is_unknown: found.deferred.is_some() || found.is_unknown_at(path),
            is_explained,
        };
        cause(fact, self.index.block(addr).map(|block| block.range.clone()), because)
    }

    /// The values from outside that references of expressions lead to.
    fn given(&self, site: &Site, expressions: &[Expression]) -> Vec<Cause> {
        let mut open = vec![(site.clone(), expressions.to_vec())];
        let mut seen = BTreeSet::new();
        let mut causes = Vec::new();
        while let Some((site, expressions)) = open.pop() {
            for reference in references(&expressions) {
                for lead in leads(self.index, &site, &reference) {
                    match lead {
                        Lead::Given { name, place } => {
                            add(&mut causes, cause(Fact::Given(name), Some(place), Vec::new()));
                        }
                        Lead::Value { name, site, expressions, .. } => {
                            if seen.insert(format!("{} {name}", site.module)) {
                                open.push((site, expressions));
                            }
                        }
                        Lead::Objects { .. } => {}
                    }
                }
            }
        }
        causes
    }
}

/// Adds a cause that is not there yet.
fn add(causes: &mut Vec<Cause>, cause: Cause) {
    let same = |other: &Cause| match (&other.fact, &cause.fact) {
        (Fact::Object { addr: one, path, .. }, Fact::Object { addr: other, path: other_path, .. }) => {
            one == other && path == other_path
        }
        (one, other_fact) => one == other_fact && other.place == cause.place,
    };
    if !causes.iter().any(same) {
        causes.push(cause);
    }
}

/// Where a body sets an attribute, or has blocks of a type, and the expressions there.
fn written(body: &Body, name: &str) -> Option<(Range, Vec<Expression>)> {
    let (attributes, _) = body.just_attributes();
    if let Some(attribute) = attributes.get(name) {
        return Some((attribute.range(), vec![attribute.expr.clone()]));
    }
    let is_meant =
        |block: &Block| block.kind.as_str() == name || block.kind.as_str() == "dynamic" && &**block.label(0) == name;
    let blocks: Vec<_> = body.blocks().into_iter().filter(|block| is_meant(block)).collect();
    let first = blocks.first()?;
    let expressions = blocks.iter().flat_map(|block| expressions_in(&block.body)).collect();
    Some((first.header_range(), expressions))
}

/// A path as users write it, up to the first key that is a text: that may be a value.
fn shown_path(path: &Path) -> String {
    let mut text = String::new();
    for step in path.steps() {
        match step {
            PathStep::Attr(name) if text.is_empty() => text.push_str(name),
            PathStep::Attr(name) => text += &format!(".{name}"),
            PathStep::Index(key) => match Value::as_i64(key) {
                Some(number) => text += &format!("[{number}]"),
                None => break,
            },
        }
    }
    text
}
