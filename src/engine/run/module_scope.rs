//! The names within a module instance: the language's scope over the slots of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::files::{Files, slashed};
use base::moment::Moment;
use base::source::{Range, SourceFile};
use base::suggest;
use lang::eval::{EvaluationRecorder, Resolved, Scope};
use lang::functions::signature::{Reads, Remembered};
use lang::functions::{Function, Machine};
use lang::syntax::ast::Traversal;
use model::addr::parse::parse_reference;
use model::addr::{InstanceKey, Resource, ResourceInstance, Subject};
use model::model_errors::{undeclared_local, undeclared_variable};
use model::plan::{Action, ResourceChange};
use model::version::at_least;
use model::{config, symbols};
use rustc_hash::FxHashSet;
use terrane_protocol::schema::ResourceMode;
use terrane_value::{Marks, Type, Value};

use crate::blocks::Blocks;
use crate::blocks::references::{Gatherer, Needs};
use crate::engine_errors::changed_file;
use crate::ids::{ModuleId, ResourceId};
use crate::opentofu;
use crate::run::object::{decode, mark};
use crate::run::results::{CallSlots, Each, Expansion, InstanceSlot, MOST_INSTANCES, ModuleSlots, ResourceSlots};
use crate::run::{Run, Verb};

const INVALID_TERRAFORM: &str = "Invalid \"terraform\" attribute";

/// The names of one module instance, and of one instance of a block in it.
pub struct ModuleScope<'r> {
    pub run: &'r Run,
    pub module: &'r Arc<ModuleSlots>,
    pub each: Each,
    /// What `self` and, in an action, `caller` is; none: it means nothing here.
    pub self_value: Option<Value>,
    /// The variable whose rules are being checked, with its value: in validate no other has one.
    pub checked_variable: Option<(Arc<str>, Value)>,
    /// Files may give something else each time they are read.
    pub changing_files: bool,
}

impl<'r> ModuleScope<'r> {
    pub fn new(run: &'r Run, module: &'r Arc<ModuleSlots>) -> ModuleScope<'r> {
        ModuleScope { run, module, each: Each::None, self_value: None, checked_variable: None, changing_files: false }
    }

    pub fn with_each(mut self, each: Each) -> ModuleScope<'r> {
        self.each = each;
        self
    }

    pub fn with_self(mut self, value: Value) -> ModuleScope<'r> {
        self.self_value = Some(value);
        self
    }

    pub fn with_changing_files(mut self) -> ModuleScope<'r> {
        self.changing_files = true;
        self
    }

    pub fn checking_variable(mut self, variable: Arc<str>, value: Value) -> ModuleScope<'r> {
        self.checked_variable = Some((variable, value));
        self
    }

    fn subject(&self, subject: &Subject, range: &Range) -> Result<Value, Diagnostic> {
        match subject {
            Subject::Variable(name) => self.variable(name, range),
            Subject::Local(name) => self.local(name, range),
            Subject::Resource(resource) => Ok(self.resource(resource)),
            Subject::ResourceInstance(instance) => Ok(self.resource(&instance.resource)),
            Subject::Module(name) | Subject::ModuleInstance(name, _) | Subject::ModuleOutput(name, _, _) => {
                Ok(self.call(name))
            }
            Subject::Count(name) => self.count(name, range),
            Subject::Each(name) => self.each(name, range),
            Subject::Path(name) => self.path(name, range),
            Subject::Terraform(name) => self.terraform(name, range),
            // Reported before anything is evaluated.
            Subject::Action(_) => Ok(Value::dynamic()),
            Subject::SelfObject | Subject::Caller => Ok(self.self_value.clone().unwrap_or_else(Value::dynamic)),
            Subject::Output(_) | Subject::Check(_) | Subject::Run(_) => Ok(Value::dynamic()),
        }
    }

    fn variable(&self, name: &Arc<str>, range: &Range) -> Result<Value, Diagnostic> {
        let declared = &self.run.blocks.tree.module(self.module.id).variables;
        let Some(index) = declared.get_index_of(name) else {
            return Err(undeclared_variable(name, declared.keys(), range));
        };
        let config = &declared[index];
        if let Some((_, value)) = self.checked_variable.as_ref().filter(|(checked, _)| checked == name) {
            return Ok(value.clone());
        }
        if self.run.verb == Verb::Validate {
            return Ok(Value::unknown(config.ty.clone()).mark(config.marks()));
        }
        let value = self.module.variables[index].get().cloned();
        Ok(value.unwrap_or_else(|| Value::unknown(config.ty.clone()).mark(config.marks())))
    }

    fn local(&self, name: &Arc<str>, range: &Range) -> Result<Value, Diagnostic> {
        let declared = &self.run.blocks.tree.module(self.module.id).locals;
        let Some(index) = declared.get_index_of(name) else {
            return Err(undeclared_local(name, declared.keys(), range));
        };
        Ok(self.module.locals[index].get().cloned().unwrap_or_else(Value::dynamic))
    }

    fn count(&self, name: &str, range: &Range) -> Result<Value, Diagnostic> {
        if name != "index" {
            let detail = format!(
                "The \"count\" object does not have an attribute named {name:?}. The only supported attribute is \
                 count.index, which is the index of each instance of a resource block that has the \"count\" argument set."
            );
            return Err(Diagnostic::error("Invalid \"count\" attribute", detail).at(range.clone()));
        }
        match &self.each {
            Each::Index(i) => Ok(Value::int(*i as i64)),
            Each::UnknownIndex | Each::Unknown => Ok(Value::unknown(Type::Number)),
            _ => Err(Diagnostic::error(
                "Reference to \"count\" in non-counted context",
                "The \"count\" object can only be used in \"module\", \"resource\", and \"data\" blocks, and only when the \
                 \"count\" argument is set.",
            )
            .of_kind(Kind::NoRepetition)
            .at(range.clone())),
        }
    }

    fn each(&self, name: &str, range: &Range) -> Result<Value, Diagnostic> {
        let value = match (name, &self.each) {
            ("key", Each::Entry(key, _) | Each::Key(key)) => Value::shared_string(key.clone()),
            ("value", Each::Entry(_, value)) => value.clone(),
            ("key", Each::Pair(key, _)) => key.clone(),
            ("value", Each::Pair(_, value)) => value.clone(),
            ("key", Each::UnknownEntry | Each::Unknown) => Value::unknown(Type::String),
            ("value", Each::UnknownEntry | Each::Unknown) => Value::dynamic(),
            ("value", _) => {
                let detail = "A reference to \"each.value\" has been used in a context in which it is unavailable, such as \
                              when the configuration no longer contains the value in its \"for_each\" expression. Remove \
                              this reference to each.value in your configuration to work around this error.";
                let summary = "each.value cannot be used in this context";
                return Err(Diagnostic::error(summary, detail).at(range.clone()));
            }
            ("key", _) => {
                let detail = "The \"each\" object can be used only in \"module\" or \"resource\" blocks, and only when the \
                              \"for_each\" argument is set.";
                let summary = "Reference to \"each\" in context without for_each";
                return Err(Diagnostic::error(summary, detail).of_kind(Kind::NoRepetition).at(range.clone()));
            }
            _ => {
                let detail = format!(
                    "The \"each\" object does not have an attribute named {name:?}. The supported attributes are each.key \
                     and each.value, the current key and value pair of the \"for_each\" attribute set."
                );
                return Err(Diagnostic::error("Invalid \"each\" attribute", detail).at(range.clone()));
            }
        };
        Ok(value)
    }

    fn path(&self, name: &str, range: &Range) -> Result<Value, Diagnostic> {
        let folder = |path: &Path| {
            let text = slashed(path);
            if text.is_empty() { ".".to_string() } else { text }
        };
        match name {
            "cwd" => Ok(Value::string(slashed(Path::new(&self.run.ports.host.original_working_dir())))),
            "module" => Ok(Value::string(folder(&self.run.blocks.tree.module(self.module.id).dir))),
            "root" => Ok(Value::string(folder(&self.run.blocks.config.root.dir))),
            _ => {
                let hint = suggest::name(name, ["cwd", "module", "root"])
                    .map_or_else(String::new, |found| format!(" Did you mean {found:?}?"));
                let detail = format!("The \"path\" object does not have an attribute named {name:?}.{hint}");
                Err(Diagnostic::error("Invalid \"path\" attribute", detail).at(range.clone()))
            }
        }
    }

    fn terraform(&self, name: &str, range: &Range) -> Result<Value, Diagnostic> {
        match name {
            "workspace" => Ok(Value::string(self.run.ports.host.workspace())),
            "applying" => Ok(match self.run.verb {
                Verb::Validate => Value::unknown_not_null(Type::Bool),
                _ => Value::bool(self.run.is_apply()),
            }
            .mark(Marks::EPHEMERAL)),
            "env" => Err(Diagnostic::error(
                INVALID_TERRAFORM,
                "The terraform.env attribute was deprecated in v0.10 and removed in v0.12. The \"state environment\" \
                 concept was renamed to \"workspace\" in v0.12, and so the workspace name can now be accessed using the \
                 terraform.workspace attribute.",
            )
            .at(range.clone())),
            _ if opentofu::names_terraform_as_written(range.dialect()) => {
                let alias = range.text().split('.').next().unwrap_or_default().trim();
                let detail = format!(
                    "The {alias:?} object does not have an attribute named {name:?}. The only supported attributes are \
                     {alias}.workspace and {alias}.applying"
                );
                Err(Diagnostic::error(format!("Invalid {alias:?} attribute"), detail).at(range.clone()))
            }
            _ => {
                let detail = format!(
                    "The \"terraform\" object does not have an attribute named {name:?}. The only supported attributes are \
                     terraform.workspace, the name of the currently-selected workspace, and terraform.applying, a boolean \
                     which is true only during apply."
                );
                Err(Diagnostic::error(INVALID_TERRAFORM, detail).at(range.clone()))
            }
        }
    }

    fn resource(&self, resource: &Resource) -> Value {
        match self.run.blocks.tree.resource_in(self.module.id, resource) {
            Some(block) => resource_value(self.run, self.module, block),
            None => Value::dynamic(),
        }
    }

    /// One instance by its literal key, without its siblings: they may not be known yet.
    fn instance(&self, of: &ResourceInstance) -> Option<Value> {
        let block = self.run.blocks.tree.resource_in(self.module.id, &of.resource)?;
        if self.run.inputs.deferred.is_undecided(|| self.run.blocks.tree.config_addr(block)) {
            return None;
        }
        let slots = self.module.resources[block.index()].get()?;
        slots.instances[slots.expansion.index_of(&of.key)?].value().cloned()
    }

    fn call(&self, name: &str) -> Value {
        let Some(index) = self.run.blocks.tree.module(self.module.id).calls.get_index_of(name) else {
            return Value::dynamic();
        };
        let Some(child) = self.run.blocks.tree.child(self.module.id, index as u32) else { return Value::dynamic() };
        if self.run.verb == Verb::Validate {
            return validate_call(&self.run.blocks, self.module.id, index as u32, child);
        }
        let is_decided = |_: &_| !self.run.inputs.deferred.has_module(&self.run.blocks.tree.module(child).path);
        match self.module.calls[index].get().filter(is_decided) {
            Some(call) => call_value(self.run, call, child),
            None => Value::dynamic(),
        }
    }

    /// One output of one instance of a module, without the others: they may not be known yet.
    fn output(&self, call: &str, key: &InstanceKey, output: &str) -> Option<Value> {
        let index = self.run.blocks.tree.module(self.module.id).calls.get_index_of(call)?;
        let slots = self.module.calls[index].get().filter(|_| self.run.verb != Verb::Validate)?;
        let instance = &slots.instances[slots.expansion.index_of(key)?];
        if self.run.inputs.deferred.has_module(&self.run.blocks.tree.module(instance.id).path) {
            return None;
        }
        let index = self.run.blocks.tree.module(instance.id).outputs.get_index_of(output)?;
        Some(output_value(instance, index))
    }
}

/// A resource as references see it: an object, a tuple of objects (`count`) or an object of objects (`for_each`).
fn resource_value(run: &Run, module: &Arc<ModuleSlots>, block: ResourceId) -> Value {
    let config = run.blocks.tree.resource(block);
    let is_ephemeral = config.addr.mode == ResourceMode::Ephemeral;
    let unknown = || {
        let value = match run.blocks.schemas.resource(&config.provider, &config.addr) {
            Some(schema) => Value::unknown(schema.implied_type().clone()),
            None => Value::dynamic(),
        };
        if is_ephemeral { value.mark(Marks::EPHEMERAL) } else { value }
    };
    if run.verb == Verb::Validate {
        return validated_resource(run, config);
    }
    if run.inputs.deferred.is_undecided(|| run.blocks.tree.config_addr(block)) {
        let is_collection = config.count.is_some() || config.for_each.is_some();
        return if is_collection { Value::dynamic() } else { unknown() };
    }
    let Some(slots) = module.resources[block.index()].get() else {
        // What the state does not have may have any number of instances.
        return match run.verb {
            Verb::Evaluate if is_ephemeral => Value::dynamic().mark(Marks::EPHEMERAL),
            Verb::Evaluate => Value::dynamic(),
            _ => unknown(),
        };
    };
    if let Some(value) = slots.whole.get() {
        return value.clone();
    }
    let others = instances_beside(run, module, block, slots);
    let is_final = others.is_empty() || slots.complete.get().is_some();
    let is_published = || is_final && slots.instances.iter().all(InstanceSlot::is_published);
    once_published(&slots.whole, is_published, || match run.verb {
        // Nothing is planned: there may be any number of instances that the state does not have yet.
        Verb::Import if others.is_empty() && has_no_objects(slots) => Value::dynamic(),
        _ => whole_resource(slots, others, &unknown),
    })
}

/// A resource in `validate`: since Terraform 1.15 and OpenTofu 1.12, the types of its attributes are known if it has one instance.
/// References are checked with the schema before anything is evaluated.
fn validated_resource(run: &Run, config: &config::Resource) -> Value {
    let mode = config.addr.mode;
    let is_typed_by_tofu = opentofu::knows_types_in_validate(run.dialect());
    let is_typed = match mode {
        ResourceMode::Managed | ResourceMode::Data => at_least(15) || is_typed_by_tofu,
        ResourceMode::Ephemeral => is_typed_by_tofu,
        ResourceMode::List => false,
    };
    let repeats = config.count.is_some() || config.for_each.is_some();
    let schema = run.blocks.schemas.resource(&config.provider, &config.addr).filter(|_| is_typed && !repeats);
    let value = schema.map_or_else(Value::dynamic, |schema| {
        let ty = schema.implied_type();
        let Some(object) = ty.object_type().filter(|_| config.lifecycle.enabled.is_none()) else {
            return Value::unknown(ty.clone());
        };
        let unknown = |(name, ty): (&Arc<str>, &Type)| (name.clone(), Value::unknown(ty.clone()));
        let value = Value::object(object.attributes.iter().map(unknown));
        if !opentofu::is_unknown_as_a_whole(run.dialect()) {
            return value;
        }
        let marked = mark(&value, &[], &schema.block);
        if marked.has_marks_deep() { marked } else { Value::unknown(ty.clone()) }
    });
    if mode == ResourceMode::Ephemeral { value.mark(Marks::EPHEMERAL) } else { value }
}

/// Whether a block with instance keys has no object at all.
fn has_no_objects(slots: &ResourceSlots) -> bool {
    let repeats = matches!(slots.expansion, Expansion::Count(_) | Expansion::ForEach(_));
    repeats && slots.instances.iter().all(|slot| slot.is_published() && slot.value().is_none())
}

/// Instances that the state has beside those that the configuration wants, as long as they stay: those that a plan leaves
/// alone, as with -target and -refresh-only. Where nothing is left alone, the state is not looked at.
fn instances_beside(
    run: &Run,
    module: &ModuleSlots,
    block: ResourceId,
    slots: &ResourceSlots,
) -> BTreeMap<InstanceKey, Value> {
    if !run.leaves_objects_alone() {
        return BTreeMap::new();
    }
    let config = run.blocks.tree.resource(block);
    let resource = config.addr.absolute(module.addr.clone());
    let Some(schema) = run.blocks.schemas.resource(&config.provider, &config.addr) else { return BTreeMap::new() };
    let (changes, states) = (run.results.changes(), run.results.states());
    let is_going = |change: &&ResourceChange| change.deposed.is_none() && change.action == Action::Delete;
    let planned: FxHashSet<&InstanceKey> =
        changes.of(&resource).filter(is_going).map(|change| change.addr.key()).collect();
    let is_going =
        |key: &InstanceKey| planned.contains(key) || run.schedule.destroyed.contains(&resource.instance(key.clone()));
    let stored = states.current.resources.get(&resource).into_iter().flat_map(|stored| &stored.instances);
    let beside = stored.filter(|(key, _)| slots.expansion.index_of(key).is_none() && !is_going(key));
    let value = |object| decode(object, &schema).ok().map(|stored| stored.value);
    beside.filter_map(|(key, instance)| Some((key.clone(), value(instance.current.as_ref()?)?))).collect()
}

/// The value of several slots together. It is kept only if all of them were written before it was built, since nothing
/// would ever update it.
fn once_published(kept: &OnceLock<Value>, is_published: impl Fn() -> bool, build: impl FnOnce() -> Value) -> Value {
    match kept.get() {
        Some(value) => value.clone(),
        None if is_published() => kept.get_or_init(build).clone(),
        None => build(),
    }
}

/// `others`: instances that the expansion does not have.
fn whole_resource(
    slots: &ResourceSlots,
    mut others: BTreeMap<InstanceKey, Value>,
    unknown: &dyn Fn() -> Value,
) -> Value {
    let value = |i: usize| slots.instances[i].value().cloned().unwrap_or_else(unknown);
    // Neither planned nor in the state, as with -target and -refresh-only: the collection does not have it.
    let is_absent = |i: usize| slots.instances[i].is_published() && slots.instances[i].value().is_none();
    match &slots.expansion {
        Expansion::Single | Expansion::Enabled(true) => value(0),
        Expansion::Enabled(false) => {
            let kind = unknown();
            Value::null(kind.ty().clone()).mark(kind.marks())
        }
        Expansion::Unknown(_) => Value::dynamic(),
        Expansion::Count(n) => {
            let index = |key: &InstanceKey| match key {
                InstanceKey::Int(i) => usize::try_from(*i).ok().filter(|i| *i < MOST_INSTANCES),
                _ => None,
            };
            let last = others.keys().filter_map(index).max();
            let len = last.or_else(|| (0..*n).rev().find(|i| !is_absent(*i))).map_or(0, |last| last + 1);
            let mut element = |i: usize| match others.remove(&InstanceKey::Int(i as i64)) {
                Some(other) => other,
                None if i >= *n || is_absent(i) => unknown(),
                None => value(i),
            };
            Value::tuple((0..len).map(&mut element).collect())
        }
        Expansion::Stored(indices) => {
            let len = indices.last().map_or(0, |last| last + 1);
            if len > MOST_INSTANCES {
                return Value::dynamic();
            }
            let mut elements = vec![unknown(); len];
            indices.iter().enumerate().filter(|(i, _)| !is_absent(*i)).for_each(|(i, at)| elements[*at] = value(i));
            Value::tuple(elements)
        }
        Expansion::ForEach(entries) => {
            let present = entries.iter().enumerate().filter(|(i, _)| !is_absent(*i));
            let others = others.into_iter().filter_map(|(key, value)| match key {
                InstanceKey::Str(key) => Some((key, value)),
                _ => None,
            });
            Value::object(present.map(|(i, (key, _))| (key.clone(), value(i))).chain(others))
        }
    }
}

fn validate_call(blocks: &Blocks, module: ModuleId, index: u32, child: ModuleId) -> Value {
    let call = blocks.tree.call(module, index);
    let outputs = blocks.tree.module(child).outputs.keys();
    let module = blocks.tree.module(child);
    let one = Type::object(outputs.map(|name| {
        let ty = module.outputs[&**name].ty.as_ref().map_or(Type::Dynamic, |(ty, _)| ty.clone());
        (name.clone(), ty)
    }));
    Value::unknown(match (&call.count, &call.for_each) {
        (Some(_), _) => Type::list(one),
        (_, Some(_)) => Type::map(one),
        _ => one,
    })
}

/// A called module as references see it: an object of its outputs, a tuple of such objects (`count`) or an object of
/// them (`for_each`).
fn call_value(run: &Run, call: &CallSlots, child: ModuleId) -> Value {
    let is_published = || call.instances.iter().all(|i| i.outputs.iter().all(|output| output.get().is_some()));
    once_published(&call.whole, is_published, || whole_call(&run.blocks, call, child))
}

fn whole_call(blocks: &Blocks, call: &CallSlots, child: ModuleId) -> Value {
    let outputs = |instance: &Arc<ModuleSlots>| {
        let names = blocks.tree.module(child).outputs.keys().enumerate();
        Value::object(names.map(|(index, name)| (name.clone(), output_value(instance, index))))
    };
    match &call.expansion {
        Expansion::Single | Expansion::Enabled(true) => call.instances.first().map_or_else(Value::dynamic, outputs),
        Expansion::Enabled(false) => Value::null_dynamic(),
        Expansion::Unknown(_) => Value::dynamic(),
        Expansion::Count(_) | Expansion::Stored(_) => Value::tuple(call.instances.iter().map(outputs).collect()),
        Expansion::ForEach(entries) => {
            let instances = entries.iter().zip(&call.instances);
            Value::object(instances.map(|((key, _), instance)| (key.clone(), outputs(instance))))
        }
    }
}

/// Unknown, of unknown type, while the output has no value or if it never gets one.
pub fn output_value(instance: &ModuleSlots, index: usize) -> Value {
    instance.outputs[index].get().cloned().unwrap_or_else(Value::dynamic)
}

impl Scope for ModuleScope<'_> {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        let reference = match parse_reference(traversal, file) {
            Ok(reference) => reference,
            Err(error) => return Resolved::error(error),
        };
        let one = match &reference.subject {
            Subject::ResourceInstance(of) => self.instance(of),
            Subject::ModuleOutput(call, key, output) => self.output(call, key, output),
            _ => None,
        };
        if let Some(value) = one {
            return Resolved::value(value, traversal.steps.len() - reference.remaining.len());
        }
        let kept = match &reference.subject {
            Subject::ResourceInstance(_) => 1,
            Subject::ModuleInstance(_, _) => 1,
            Subject::ModuleOutput(_, key, _) => 1 + usize::from(!key.is_none()),
            _ => 0,
        };
        let consumed = traversal.steps.len() - reference.remaining.len() - kept;
        match self.subject(&reference.subject, &reference.range) {
            Ok(value) => Resolved::value(value, consumed),
            Err(error) => {
                Resolved { value: Value::dynamic(), consumed: usize::MAX, diagnostics: Diagnostics::from(error) }
            }
        }
    }

    fn names_first(&self) -> bool {
        true
    }

    fn checks_generated(&self) -> bool {
        self.run.schedule.has_unchecked
    }

    fn check_generated(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Diagnostics {
        let blocks = &self.run.blocks;
        let mut gatherer = Gatherer::new(&blocks.tree, &blocks.schemas, self.module.id);
        gatherer.allow_self = self.self_value.is_some();
        gatherer.traversal(traversal, file);
        let Needs { problems, undeclared, .. } = gatherer.needs;
        if problems.has_errors() { problems } else { undeclared.into() }
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        let built_in = lang::functions::lookup(name).map(|f| f as &dyn Function);
        built_in.or_else(|| self.run.blocks.functions.find(name, self.run.blocks.tree.module(self.module.id)))
    }

    fn function_names(&self) -> Vec<String> {
        let built_in = lang::functions::names().into_iter().map(str::to_string);
        built_in.chain(self.run.blocks.functions.names(self.run.blocks.tree.module(self.module.id))).collect()
    }

    fn missing_function(&self, namespace: &str, name: &str) -> Option<String> {
        let local_name = namespace.strip_prefix("provider::")?;
        let module = self.run.blocks.tree.module(self.module.id);
        module.requirements.get(local_name).filter(|r| r.explicit)?;
        Some(format!("The function {name:?} is not available from the provider {local_name:?}."))
    }

    fn refuse_function(&self, name: &str, place: &Range) -> Option<Vec<Diagnostic>> {
        symbols::refuse_function(name, place)
    }

    fn machine(&self) -> Option<&dyn Machine> {
        Some(self)
    }

    fn recorder(&self) -> Option<&dyn EvaluationRecorder> {
        self.run.results.coverage.as_deref().map(|coverage| coverage as &dyn EvaluationRecorder)
    }
}

impl Machine for ModuleScope<'_> {
    fn files(&self) -> &dyn Files {
        self.run.ports.host.files()
    }

    fn base_dir(&self) -> &Path {
        Path::new(".")
    }

    fn working_dir(&self) -> PathBuf {
        self.run.ports.host.working_dir()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        self.run.ports.host.home_dir()
    }

    fn pure_only(&self) -> bool {
        !matches!(self.run.verb, Verb::Apply { .. } | Verb::ApplyDestroy | Verb::Evaluate)
    }

    fn now(&self) -> Moment {
        self.run.ports.host.now()
    }

    fn plan_time(&self) -> Option<Moment> {
        self.run.inputs.plan_time
    }

    fn random(&self, bytes: &mut [u8]) {
        self.run.ports.host.random(bytes);
    }

    fn remembers(&self, reads: Reads) -> bool {
        let checked = reads != Reads::Files || !self.changing_files;
        checked && (self.run.is_plan() || self.run.is_apply())
    }

    fn confirms(&self, call: &Remembered<'_>) -> bool {
        let results = &self.run.results;
        match call.reads {
            // Files may be written by resources: what a plan has approved is compared where it is carried out.
            Reads::Files => {
                let before = results.calls().insert(call.call, call.result);
                if before.is_some_and(|before| before != call.result) {
                    results.note_changed_file(changed_file(call.name, &call.shown));
                }
                true
            }
            _ => *results.calls().entry(call.call).or_insert(call.result) == call.result,
        }
    }
}
