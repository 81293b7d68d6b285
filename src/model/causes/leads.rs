//! What references lead to: the expressions of the values that they name, or objects.
//!
//! Owns the meaning of references across modules. Never knows whether something changes.

use std::collections::BTreeSet;

use base::source::Range;
use lang::syntax::ast::{Expression, IndexKey, Traversal, TraversalStep};
use lang::syntax::body::Body;
use terrane_value::{Path, Value};

use super::index::{Index, IndexedChange};
use crate::addr::parse::parse_reference;
use crate::addr::{AbsResource, InstanceKey, ModuleInstance, Reference, Resource, Subject};
use crate::config::{self, ProvisionerWhen, Repetition};

/// Where an expression is: its module instance, and the block whose `each` and `count` it may use.
#[derive(Clone)]
pub struct Site {
    pub module: ModuleInstance,
    /// `count`, `for_each` and `enabled` of the block.
    repetition: Vec<Expression>,
    /// The key of the instance of the block.
    key: InstanceKey,
}

impl Site {
    pub fn of(module: &ModuleInstance, repetition: Repetition<'_>, key: &InstanceKey) -> Site {
        Site { module: module.clone(), repetition: repetition.expressions().cloned().collect(), key: key.clone() }
    }

    /// Of what is there once in a module instance.
    pub fn once(module: &ModuleInstance) -> Site {
        Site { module: module.clone(), repetition: Vec::new(), key: InstanceKey::None }
    }
}

/// What a reference leads to.
pub enum Lead {
    /// A value of the configuration: its name, where it is set, and what sets it.
    Value { name: String, place: Range, site: Site, expressions: Vec<Expression> },
    /// A value that no expression of the configuration sets.
    Given { name: String, place: Range },
    /// A part of the instances of a resource; with a key, of one of them.
    Objects { resource: AbsResource, key: Option<InstanceKey>, path: Path },
}

/// The references of expressions, in their order.
pub fn references(expressions: &[Expression]) -> Vec<Reference> {
    let of = |expression: &Expression| -> Vec<Reference> {
        let traversals = expression.variables().into_iter();
        traversals.filter_map(|traversal| parse_reference(traversal, &expression.file).ok()).collect()
    };
    expressions.iter().flat_map(of).collect()
}

/// Where a reference leads. Nothing for names that the configuration does not declare, and for those that no block sets, such as
/// `path`.
pub fn leads(index: &Index<'_>, site: &Site, reference: &Reference) -> Vec<Lead> {
    let Some(module) = index.module(&site.module) else { return Vec::new() };
    match &reference.subject {
        Subject::Local(name) => {
            let found = module.locals.get(name).map(|local| Lead::Value {
                name: format!("local.{name}"),
                place: local.range.clone(),
                site: Site::once(&site.module),
                expressions: vec![local.expr.clone()],
            });
            found.into_iter().collect()
        }
        Subject::Variable(name) => variable(index, site, module, name).into_iter().collect(),
        Subject::Resource(resource) => objects(site, module, reference, resource, None).into_iter().collect(),
        Subject::ResourceInstance(instance) => {
            objects(site, module, reference, &instance.resource, Some(&instance.key)).into_iter().collect()
        }
        Subject::ModuleOutput(call, key, output) => {
            let key = Some(key).filter(|key| !key.is_none());
            outputs(index, site, call, key, Some(&**output))
        }
        Subject::Module(call) => match dynamic_key(reference) {
            Some(output) => outputs(index, site, call, Some(&site.key), output.as_deref()),
            None => outputs(index, site, call, None, None),
        },
        Subject::ModuleInstance(call, key) => outputs(index, site, call, Some(key), None),
        Subject::Each(_) | Subject::Count(_) => repetition(site, &reference.subject).into_iter().collect(),
        Subject::Path(_)
        | Subject::Terraform(_)
        | Subject::SelfObject
        | Subject::Caller
        | Subject::Action(_)
        | Subject::Output(_)
        | Subject::Check(_)
        | Subject::Run(_) => Vec::new(),
    }
}

/// An input variable: the argument of the call, or a value from outside.
fn variable(index: &Index<'_>, site: &Site, module: &config::Module, name: &str) -> Option<Lead> {
    let declared = module.variables.get(name)?;
    let given = || Lead::Given { name: format!("var.{name}"), place: declared.range.clone() };
    let (Some(parent), Some(step)) = (site.module.parent(), site.module.last()) else { return Some(given()) };
    let call = index.module(&parent)?.calls.get(&step.name)?;
    let (arguments, _) = call.body.just_attributes();
    // Without an argument, its default.
    Some(arguments.get(name).map_or_else(given, |argument| Lead::Value {
        name: format!("var.{name}"),
        place: argument.range(),
        site: Site::of(&parent, call.repetition(), &step.key),
        expressions: vec![argument.expr.clone()],
    }))
}

fn objects(
    site: &Site,
    module: &config::Module,
    reference: &Reference,
    resource: &Resource,
    key: Option<&InstanceKey>,
) -> Option<Lead> {
    let declared = module.resources.get(resource)?;
    let mut path = path_of(&reference.remaining);
    let mut key = key.cloned();
    if key.is_none()
        && declared.repetition().has_keys()
        && let Some(attribute) = dynamic_key(reference)
    {
        key = Some(site.key.clone());
        path = attribute.map_or_else(Path::new, |name| Path::new().attr(name));
    }
    Some(Lead::Objects { resource: resource.absolute(site.module.clone()), key, path })
}

/// Outputs of the instances of a module call; all of them without a name.
fn outputs(index: &Index<'_>, site: &Site, call: &str, key: Option<&InstanceKey>, name: Option<&str>) -> Vec<Lead> {
    let mut found = Vec::new();
    for child in index.children(&site.module, call, key) {
        let Some(module) = index.module(&child) else { continue };
        for output in module.outputs.values().filter(|output| name.is_none_or(|name| name == &*output.name)) {
            let key = child.last().map(|step| step.key.to_string()).unwrap_or_default();
            found.push(Lead::Value {
                name: format!("module.{call}{key}.{}", output.name),
                place: output.range.clone(),
                site: Site::once(&child),
                expressions: vec![output.value.clone()],
            });
        }
    }
    found
}

/// What `each` and `count` come from.
fn repetition(site: &Site, subject: &Subject) -> Option<Lead> {
    let first = site.repetition.first()?;
    Some(Lead::Value {
        name: subject.to_string(),
        place: first.range(),
        site: Site::once(&site.module),
        expressions: site.repetition.clone(),
    })
}

/// Whether the key behind a reference is that of the referring instance: `x[each.key]`. Gives the attribute behind it.
fn dynamic_key(reference: &Reference) -> Option<Option<String>> {
    if !reference.remaining.is_empty() {
        return None;
    }
    let rest = reference.range.file.text().get(reference.range.span.end as usize..)?;
    let rest = rest.strip_prefix("[each.key]").or_else(|| rest.strip_prefix("[count.index]"))?;
    let name = rest.strip_prefix('.').map(|rest| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        rest.chars().take_while(|c| is_part(*c)).collect::<String>()
    });
    Some(name.filter(|name| !name.is_empty()))
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

/// The expressions of a body: those of its arguments, and of its blocks at any depth.
pub fn expressions_in(body: &Body) -> Vec<Expression> {
    let (attributes, _) = body.just_attributes();
    let mut found: Vec<Expression> = attributes.into_values().map(|attribute| attribute.expr).collect();
    body.blocks().into_iter().for_each(|block| found.extend(expressions_in(&block.body)));
    found
}

/// An object that something refers to, and the reference.
pub struct Need<'p> {
    pub object: IndexedChange<'p>,
    pub place: Range,
}

/// The nearest objects that an object refers to: in its block, its `depends_on` and those of the modules around it, and in the
/// configuration of its provider. Each object once, at its first reference.
pub fn needs_of_object<'p>(index: &Index<'p>, object: &IndexedChange<'_>) -> Vec<Need<'p>> {
    let addr = &object.change.addr;
    let mut search = Search { index, seen: BTreeSet::new(), needs: Vec::new() };
    if let Some(block) = index.block(addr) {
        let site = Site::of(&addr.module, block.repetition(), addr.key());
        search.expressions(&site, &own_expressions(block), None);
        search.depends_on(&addr.module, &block.depends_on, &block.range);
        search.provider(&addr.module, block);
        let mut module = addr.module.clone();
        while let (Some(parent), Some(step)) = (module.parent(), module.last().cloned()) {
            if let Some(call) = index.module(&parent).and_then(|module| module.calls.get(&step.name)) {
                search.depends_on(&parent, &call.depends_on, &call.range);
                let site = Site::once(&parent);
                let repetition: Vec<Expression> = call.repetition().expressions().cloned().collect();
                search.expressions(&site, &repetition, None);
            }
            module = parent;
        }
    }
    search.needs.retain(|need| need.object.change.addr != *addr);
    search.needs
}

/// The same of expressions.
pub fn needs_of<'p>(index: &Index<'p>, site: &Site, expressions: &[Expression]) -> Vec<Need<'p>> {
    let mut search = Search { index, seen: BTreeSet::new(), needs: Vec::new() };
    search.expressions(site, expressions, None);
    search.needs
}

/// What the block itself says, except for what its destruction needs.
fn own_expressions(block: &config::Resource) -> Vec<Expression> {
    let mut found = expressions_in(&block.body);
    found.extend(block.repetition().expressions().cloned());
    found.extend(block.lifecycle.replace_triggered_by.iter().cloned());
    let created = block.provisioners.iter().filter(|provisioner| provisioner.when == ProvisionerWhen::Create);
    let bodies = created.flat_map(|provisioner| std::iter::once(&provisioner.body).chain(&provisioner.connection));
    bodies.chain(&block.connection).for_each(|body| found.extend(expressions_in(body)));
    found
}

struct Search<'i, 'p> {
    index: &'i Index<'p>,
    /// Values that were followed, and objects that were found.
    seen: BTreeSet<String>,
    needs: Vec<Need<'p>>,
}

impl<'p> Search<'_, 'p> {
    /// `place`: the reference that led here; None: the expressions are those of the object itself.
    fn expressions(&mut self, site: &Site, expressions: &[Expression], place: Option<&Range>) {
        for reference in references(expressions) {
            let place = place.unwrap_or(&reference.range);
            for lead in leads(self.index, site, &reference) {
                match lead {
                    Lead::Given { .. } => {}
                    Lead::Value { name, site, expressions, .. } => {
                        if self.seen.insert(format!("{} {name}", site.module)) {
                            self.expressions(&site, &expressions, Some(place));
                        }
                    }
                    Lead::Objects { resource, key, .. } => {
                        let found = self.index.current(&resource, key.as_ref());
                        self.add(found, place);
                    }
                }
            }
        }
    }

    fn add(&mut self, objects: Vec<IndexedChange<'p>>, place: &Range) {
        for object in objects {
            if self.seen.insert(format!("= {}", object.change.addr)) {
                self.needs.push(Need { object, place: place.clone() });
            }
        }
    }

    /// `depends_on` of a block in a module: a module there means everything in it.
    fn depends_on(&mut self, module: &ModuleInstance, names: &[Traversal], block: &Range) {
        for name in names {
            let Ok(reference) = parse_reference(name, &block.file) else { continue };
            let found = depended_on(self.index, module, &reference);
            self.add(found, &reference.range);
        }
    }

    /// What the provider configuration of a block refers to: its own module has it, or one around it passes it on.
    fn provider(&mut self, module: &ModuleInstance, block: &config::Resource) {
        let mut wanted = block.local_provider_config();
        let mut module = module.clone();
        while let Some(declared) = self.index.module(&module) {
            if let Some(provider) = declared.providers.get(&wanted) {
                self.expressions(&Site::once(&module), &expressions_in(&provider.body), None);
            }
            let (Some(parent), Some(step)) = (module.parent(), module.last().cloned()) else { return };
            let call = self.index.module(&parent).and_then(|outer| outer.calls.get(&step.name));
            let mut passed = call.into_iter().flat_map(|call| &call.providers);
            let passed = passed.find(|passing| passing.in_child.addr == wanted);
            wanted = passed.map_or(wanted, |passing| passing.in_parent.addr.clone());
            module = parent;
        }
    }
}

/// The objects that an element of `depends_on` names.
pub fn depended_on<'p>(index: &Index<'p>, module: &ModuleInstance, reference: &Reference) -> Vec<IndexedChange<'p>> {
    let children = |call: &str, key: Option<&InstanceKey>| -> Vec<IndexedChange<'p>> {
        index.children(module, call, key).iter().flat_map(|child| index.within(child)).collect()
    };
    match &reference.subject {
        Subject::Resource(resource) => index.current(&resource.absolute(module.clone()), None),
        Subject::ResourceInstance(instance) => {
            index.current(&instance.resource.absolute(module.clone()), Some(&instance.key))
        }
        Subject::Module(call) => children(call, None),
        Subject::ModuleInstance(call, key) => children(call, Some(key)),
        _ => Vec::new(),
    }
}
