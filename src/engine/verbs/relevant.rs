//! The attributes of objects that caused a plan's changes: traced back through variables, locals, outputs and
//! arguments of other objects. Drift is only shown if a planned change depends on it.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use base::source::SourceFile;
use lang::syntax::ast::{Expression, IndexKey, Traversal, TraversalStep};
use model::addr::parse::parse_reference;
use model::addr::{AbsResourceInstance, InstanceKey, ModuleInstance, Reference, Resource, Subject};
use model::config::{Config, Module};
use model::plan::{Action, OutputChange, ResourceChange};
use model::schema::decode::references_in_body;
use rustc_hash::FxHashSet;
use terrane_protocol::schema::Nesting;
use terrane_value::{Path, Value};

use crate::blocks::schemas::Schemas;
use crate::ids::ROOT;
use crate::run::Run;

/// Every resource attribute that contributed, each once: direct references first, then what those depend on.
pub(super) fn contributing(
    run: &Run,
    changes: &[ResourceChange],
    outputs: &[OutputChange],
) -> Vec<(AbsResourceInstance, Path)> {
    let (config, schemas) = (&run.blocks.config, &run.blocks.schemas);
    let mut walker = Walker { config, schemas, seen: FxHashSet::default(), found: Vec::new(), queue: VecDeque::new() };
    let mut blocks = FxHashSet::default();
    for change in changes.iter().filter(|change| change.action != Action::NoOp) {
        let block = (&change.addr.module, &change.addr.resource.resource);
        if blocks.insert(block) {
            walker.body(block.0, block.1, None);
        }
    }
    for output in outputs.iter().filter(|output| output.action != Action::NoOp) {
        walker.output(&ModuleInstance::root(), &output.name);
    }
    for (module, name) in module_outputs(run) {
        walker.output(&module, &name);
    }
    walker.run();
    walker.found
}

/// The outputs of called modules that count as created by every plan, for states do not keep them: those with a value.
fn module_outputs(run: &Run) -> Vec<(ModuleInstance, Arc<str>)> {
    let mut found = Vec::new();
    for id in run.blocks.tree.ids().filter(|id| *id != ROOT) {
        let declared = &run.blocks.tree.module(id).outputs;
        for instance in run.results.module_instances(id) {
            let valued = |slot: &OnceLock<Value>| slot.get().is_some_and(|value| !value.is_null());
            let parts = declared.iter().zip(instance.outputs.iter());
            let shown = parts.filter(|((_, output), slot)| !output.ephemeral && valued(slot));
            found.extend(shown.map(|((name, _), _)| (instance.addr.clone(), name.clone())));
        }
    }
    found
}

/// Where an expression stands: its module instance, and the block whose `count` or `for_each` it may mean.
#[derive(Clone)]
struct Surroundings {
    module: ModuleInstance,
    block: Option<Resource>,
}

struct Walker<'a> {
    config: &'a Config,
    schemas: &'a Schemas,
    seen: FxHashSet<String>,
    found: Vec<(AbsResourceInstance, Path)>,
    queue: VecDeque<(Surroundings, Reference)>,
}

impl Walker<'_> {
    fn run(&mut self) {
        while let Some((place, reference)) = self.queue.pop_front() {
            self.follow(&place, &reference);
        }
    }

    fn module(&self, instance: &ModuleInstance) -> Option<Arc<Module>> {
        self.config.module(&instance.module()).cloned()
    }

    fn traversal(&mut self, place: &Surroundings, traversal: &Traversal, file: &Arc<SourceFile>) {
        let Ok(reference) = parse_reference(traversal, file) else { return };
        // What each traversal leads to depends on the module instance alone, except for the block's own keys.
        let own = matches!(reference.subject, Subject::Each(_) | Subject::Count(_)).then_some(&place.block);
        if self.seen.insert(format!("{} {traversal} {own:?}", place.module)) {
            self.queue.push_back((place.clone(), reference));
        }
    }

    fn expression(&mut self, place: &Surroundings, expression: &Expression) {
        for traversal in expression.variables() {
            self.traversal(place, traversal, &expression.file);
        }
    }

    /// The references of a resource's body; of one argument only if a name is given.
    fn body(&mut self, module: &ModuleInstance, resource: &Resource, argument: Option<&str>) {
        let Some(declared) = self.module(module).and_then(|m| m.resources.get(resource).cloned()) else { return };
        let Some(schema) = self.schemas.resource(&declared.provider, resource) else { return };
        let place = Surroundings { module: module.clone(), block: Some(resource.clone()) };
        match argument {
            None => {
                for (traversal, expression) in references_in_body(&declared.body, &schema.block) {
                    self.traversal(&place, &traversal, &expression.file);
                }
            }
            Some(name) => {
                let (attributes, _) = declared.body.just_attributes();
                if let Some(attribute) = attributes.get(name) {
                    self.expression(&place, &attribute.expr);
                }
            }
        }
    }

    fn output(&mut self, module: &ModuleInstance, name: &str) {
        let Some(output) = self.module(module).and_then(|m| m.outputs.get(name).cloned()) else { return };
        self.expression(&Surroundings { module: module.clone(), block: None }, &output.value);
    }

    fn follow(&mut self, place: &Surroundings, reference: &Reference) {
        match &reference.subject {
            Subject::Local(name) => {
                if let Some(local) = self.module(&place.module).and_then(|m| m.locals.get(name).cloned()) {
                    self.expression(&Surroundings { block: None, ..place.clone() }, &local.expr);
                }
            }
            Subject::Variable(name) => self.variable(&place.module, name),
            Subject::Resource(resource) => self.resource(place, resource, InstanceKey::None, &reference.remaining),
            Subject::ResourceInstance(instance) => {
                self.resource(place, &instance.resource, instance.key.clone(), &reference.remaining);
            }
            Subject::ModuleOutput(call, key, output) => {
                self.output(&place.module.child(call, key.clone()), output);
            }
            Subject::Module(call) => self.all_outputs(&place.module.child(call, InstanceKey::None)),
            Subject::ModuleInstance(call, key) => self.all_outputs(&place.module.child(call, key.clone())),
            Subject::Each(_) | Subject::Count(_) => self.repetition(place),
            _ => {}
        }
    }

    fn all_outputs(&mut self, module: &ModuleInstance) {
        let names: Vec<_> = self.module(module).map(|m| m.outputs.keys().cloned().collect()).unwrap_or_default();
        for name in names {
            self.output(module, &name);
        }
    }

    fn variable(&mut self, module: &ModuleInstance, name: &str) {
        let (Some(parent), Some(step)) = (module.parent(), module.last()) else { return };
        let Some(call) = self.module(&parent).and_then(|m| m.calls.get(&step.name).cloned()) else { return };
        let (attributes, _) = call.body.just_attributes();
        if let Some(attribute) = attributes.get(name) {
            self.expression(&Surroundings { module: parent, block: None }, &attribute.expr);
        }
    }

    /// What `each` and `count` of a block come from.
    fn repetition(&mut self, place: &Surroundings) {
        let Some(resource) = &place.block else { return };
        let declared = self.module(&place.module).and_then(|m| m.resources.get(resource).cloned());
        let Some(declared) = declared else { return };
        for expression in declared.repetition().expressions() {
            self.expression(&Surroundings { block: None, ..place.clone() }, expression);
        }
    }

    fn resource(&mut self, place: &Surroundings, resource: &Resource, key: InstanceKey, remaining: &[TraversalStep]) {
        let addr = AbsResourceInstance { module: place.module.clone(), resource: resource.instance(key) };
        let path = path_of(remaining);
        if self.seen.insert(format!("= {addr}{path}")) {
            self.found.push((addr, path));
        }
        match remaining.first() {
            Some(TraversalStep::Attr { name, .. }) if !self.is_collection(place, resource, &name.name) => {
                self.body(&place.module, resource, Some(&name.name));
            }
            // All blocks of a kind: the reference then looks at everything. One of them: at nothing.
            Some(TraversalStep::Attr { .. }) if path_of(remaining).len() > 1 => {}
            _ => self.body(&place.module, resource, None),
        }
    }

    /// Whether a part of a resource is made of any number of blocks.
    fn is_collection(&self, place: &Surroundings, resource: &Resource, part: &str) -> bool {
        let declared = self.module(&place.module).and_then(|m| m.resources.get(resource).cloned());
        let schema = declared.and_then(|declared| self.schemas.resource(&declared.provider, resource));
        let nesting = schema.and_then(|schema| schema.block.blocks.get(part).map(|nested| nested.nesting));
        nesting.is_some_and(|nesting| !matches!(nesting, Nesting::Single | Nesting::Group))
    }
}

/// The steps up to the first that is not literal.
fn path_of(steps: &[TraversalStep]) -> Path {
    let mut path = Path::new();
    for step in steps {
        path = match step {
            TraversalStep::Attr { name, .. } => path.attr(name.name.clone()),
            TraversalStep::Index { key: IndexKey::String(text), .. } => path.index_str(text),
            TraversalStep::Index { key: IndexKey::Number(text), .. } => match text.parse::<i64>() {
                Ok(number) => path.index(Value::int(number)),
                Err(_) => break,
            },
            TraversalStep::Splat { .. } => break,
        };
    }
    path
}
