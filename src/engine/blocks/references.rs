//! The references of a block, and their static checks: those that need schemas but no values.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::source::{Range, SourceFile};
use base::suggest;
use lang::eval::dynamic::{Place, Variable};
use lang::syntax::ast::{Body, Expression, Traversal, TraversalStep};
use lang::syntax::visit::variables_of;
use model::addr::parse::{INVALID_REFERENCE, parse_reference};
use model::addr::{self, InstanceKey, Reference, Subject};
use model::config::{ActionCall, Condition};
use model::model_errors::{did_you_mean, undeclared_local, undeclared_variable, unknown_name};
use model::schema::decode::body_variables;
use model::symbols::refuse_reference;
use rustc_hash::FxHashSet;
use terrane_protocol::schema::{Block, ResourceMode, Schema};

use crate::blocks::deprecated;
use crate::blocks::list_steps::after_list;
use crate::blocks::reference_steps::{check_steps, close_resource, has, may_be_unset};
use crate::blocks::schemas::Schemas;
use crate::blocks::tree::Tree;
use crate::engine_errors::UNDECLARED_RESOURCE;
use crate::ids::{ActionId, ModuleId, ResourceId};
use crate::opentofu;

/// What a reference makes its block wait for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    Variable(ModuleId, u32),
    Local(ModuleId, u32),
    Output(ModuleId, u32),
    /// All instances, or those with a literal key.
    Resource(ResourceId, Option<InstanceKey>),
    /// Everything in a module.
    Module(ModuleId),
    /// An action that a change of the block invokes.
    Action(ActionId),
}

/// What the references of a block come to.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    pub on: Vec<Need>,
    /// The locations in the block.
    pub places: Vec<(Need, Range)>,
    /// References that are invalid for any values.
    pub problems: Diagnostics,
    /// Variables and local values that are not declared: errors even where nothing evaluates them.
    pub undeclared: Vec<Diagnostic>,
    /// There are invalid references in the content of `dynamic` blocks: errors of each block that these generate, or names that
    /// may mean nothing and that nested ones generate from.
    pub unchecked: bool,
    /// References of a block to itself: errors once there is something to make of it, not in validate.
    pub to_itself: Diagnostics,
    /// What validating says besides.
    pub warnings: Diagnostics,
    /// Additional warnings of validate and plan: attributes that providers deprecate.
    pub deprecated: Diagnostics,
    /// Warnings of plan alone: outputs of modules that are deprecated, as OpenTofu reports them.
    pub while_planning: Diagnostics,
}

impl Needs {
    /// Where the warnings about deprecated outputs of modules belong.
    fn of_outputs(&mut self, tree: &Tree) -> &mut Diagnostics {
        if opentofu::has_own_deprecations(tree.dialect()) { &mut self.while_planning } else { &mut self.warnings }
    }
}

/// Gathers the references of a block within its module.
pub struct Gatherer<'a> {
    pub tree: &'a Tree,
    pub schemas: &'a Schemas,
    pub module: ModuleId,
    /// Whether `self` means something here.
    pub allow_self: bool,
    /// The shape of `self`, where it is known.
    pub shape_of_self: Option<Arc<Schema>>,
    /// The block whose body is being read: it may not refer to itself as a whole.
    pub own: Option<addr::Resource>,
    /// The keys by which that body refers to instances of the same block, with their locations.
    pub own_keys: Vec<(InstanceKey, Range)>,
    /// The data source that only the check block can see that is being read.
    scoped: Option<&'a addr::Resource>,
    /// Say nothing of what is deprecated.
    pub quiet: bool,
    pub needs: Needs,
    /// What of `needs` is there already.
    known: FxHashSet<Need>,
}

impl<'a> Gatherer<'a> {
    pub fn new(tree: &'a Tree, schemas: &'a Schemas, module: ModuleId) -> Gatherer<'a> {
        Gatherer {
            tree,
            schemas,
            module,
            allow_self: false,
            shape_of_self: None,
            own: None,
            own_keys: Vec::new(),
            scoped: None,
            quiet: !tree.has_deprecated_outputs() || deprecated::is_quiet(tree, module),
            needs: Needs::default(),
            known: FxHashSet::default(),
        }
    }

    /// For a check block: it sees the data source inside it.
    pub fn within_check(mut self, data: Option<&'a addr::Resource>) -> Gatherer<'a> {
        self.scoped = data;
        self
    }

    /// Adds to what was found before.
    pub fn continuing(mut self, needs: Needs) -> Gatherer<'a> {
        self.known = needs.on.iter().cloned().collect();
        self.needs = needs;
        self
    }

    /// Waits for a resource of the module.
    pub fn resource(&mut self, resource: &addr::Resource) {
        self.need(&Subject::Resource(resource.clone()), None);
    }

    /// As it is, with `self` allowed in what `f` adds.
    pub fn with_self(&mut self, f: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.allow_self, true);
        f(self);
        self.allow_self = before;
    }

    pub fn expression(&mut self, expr: &Expression) {
        if !self.quiet {
            deprecated::outputs(self.tree, self.module, expr, self.needs.of_outputs(self.tree));
        }
        self.together(|this| expr.variables().into_iter().for_each(|found| this.traversal(found, &expr.file)));
    }

    /// References that are resolved together: after an error that shows without values, values are not looked for.
    fn together(&mut self, f: impl FnOnce(&mut Self)) {
        let (errors, undeclared) = (self.needs.problems.len(), self.needs.undeclared.len());
        f(self);
        if self.needs.problems.len() > errors {
            self.needs.undeclared.truncate(undeclared);
        }
    }

    pub fn maybe(&mut self, expr: Option<&Expression>) {
        if let Some(expr) = expr {
            self.expression(expr);
        }
    }

    /// Waits for the action that an `action_trigger` names. Reports an action that no block declares.
    pub fn action_call(&mut self, call: &ActionCall) {
        let module = self.tree.module(self.module);
        let Some(action) = self.tree.find_action(self.module, &call.action) else {
            let name = |action: &addr::Action| match module.path.is_root() {
                true => action.to_string(),
                false => format!("{}.{action}", module.path),
            };
            let wanted = name(&call.action);
            let mut known: Vec<String> = module.actions.keys().map(name).collect();
            known.sort();
            let hint = suggest::name(&wanted, known.iter().map(String::as_str))
                .map_or_else(String::new, |found| format!(" Did you mean {found:?}?"));
            let detail = format!(
                "The lifecycle action_trigger actions list contains a reference to the action {wanted:?} that does not exist in \
                 the configuration of this module.{hint}"
            );
            let summary = "action_trigger actions references non-existent action";
            self.needs.problems.push(Diagnostic::error(summary, detail).at(call.expr.range()));
            return;
        };
        self.add(Some(Need::Action(action)), Some(&call.expr.range()));
    }

    /// The condition of an `action_trigger`. The steps check its references to the resource around it.
    pub fn trigger_condition(&mut self, expr: &Expression, own: &addr::Resource) {
        self.together(|this| {
            for found in expr.variables() {
                let is_own = parse_reference(found, &expr.file).is_ok_and(|reference| names(&reference.subject, own));
                if !is_own {
                    this.traversal(found, &expr.file);
                }
            }
        });
    }

    /// Waits for what an element of `replace_triggered_by` refers to. Planning checks the reference, by the changes there are.
    pub fn trigger(&mut self, expr: &Expression) {
        for reference in expr.variables().into_iter().filter_map(|found| parse_reference(found, &expr.file).ok()) {
            self.need(&reference.subject, Some(&reference.range));
        }
    }

    pub fn body(&mut self, body: &Body, schema: &Block) {
        self.together(|this| {
            let mut seen: FxHashSet<*const _> = FxHashSet::default();
            for Variable { traversal, expr, place } in &body_variables(body, schema) {
                match place {
                    Place::Generated => this.generated(traversal, &expr.file),
                    Place::Argument | Place::Generator => this.traversal(traversal, &expr.file),
                    Place::NestedGenerator => this.nested_generator(traversal, &expr.file),
                }
                if !this.quiet && seen.insert(Arc::as_ptr(&expr.node)) {
                    deprecated::outputs(this.tree, this.module, expr, this.needs.of_outputs(this.tree));
                }
            }
        });
    }

    /// A rule of a variable.
    pub fn validation(&mut self, rule: &Condition) {
        self.expression(&rule.condition);
        self.expression(&rule.error_message);
    }

    /// A condition of a resource. Each of its expressions is judged alone.
    pub fn condition(&mut self, condition: &Condition) {
        for expr in [&condition.condition, &condition.error_message] {
            let before = self.needs.problems.len();
            self.expression(expr);
            self.unknown_names(expr, before);
        }
    }

    /// A condition of an output: both expressions mean nothing after an error in either.
    pub fn joint_condition(&mut self, condition: &Condition) {
        let before = self.needs.problems.len();
        self.together(|this| {
            this.expression(&condition.condition);
            this.expression(&condition.error_message);
        });
        self.unknown_names(&condition.error_message, before);
        self.unknown_names(&condition.condition, before);
    }

    /// A condition of a check block: nothing but its message is evaluated beforehand, after both were looked at.
    pub fn assertion(&mut self, condition: &Condition) {
        let before = self.needs.problems.len();
        self.together(|this| {
            this.expression(&condition.condition);
            this.expression(&condition.error_message);
        });
        self.unknown_names(&condition.error_message, before);
    }

    /// As the reference has it: after an error none of the names means anything, which `can` and `try` do not mind.
    fn unknown_names(&mut self, expr: &Expression, before: usize) {
        if self.needs.problems.len() == before {
            return;
        }
        let guards = expr
            .functions()
            .into_iter()
            .filter(|call| matches!(call.name.strip_prefix("core::").unwrap_or(&call.name), "can" | "try"));
        let guarded: Vec<&Traversal> =
            guards.flat_map(|call| call.args.iter().flat_map(|arg| variables_of(arg))).collect();
        let is_guarded = |traversal: &Traversal| guarded.iter().any(|other| std::ptr::eq(*other, traversal));
        let names = expr.variables().into_iter().filter(|traversal| !is_guarded(traversal));
        let unknown = names.map(|name| unknown_name(name.root_name(), [], expr.range_of(name.root.span)));
        self.needs.problems.extend(unknown.collect::<Diagnostics>());
    }

    /// `depends_on`: whole objects, for order only. Only up to the first error is it checked that they exist.
    pub fn depends_on(&mut self, traversals: &[Traversal], file: &Arc<SourceFile>) {
        let before = self.needs.problems.len();
        for traversal in traversals {
            match parse_reference(traversal, file) {
                Ok(mut reference) => {
                    if let (Some(first), Some(last)) = (reference.remaining.first(), reference.remaining.last()) {
                        let detail = "References in depends_on must be to a whole object (resource, etc), not to an \
                                      attribute of an object.";
                        let error = Diagnostic::error("Invalid depends_on reference", detail);
                        self.needs.problems.push(error.at(first.span().to(last.span()).in_file(file)));
                    }
                    if let Subject::ModuleOutput(name, key, _) = &reference.subject {
                        reference.subject = match key {
                            InstanceKey::None => Subject::Module(name.clone()),
                            key => Subject::ModuleInstance(name.clone(), key.clone()),
                        };
                    }
                    if self.needs.problems.len() == before {
                        self.check_exists(&reference);
                    }
                    self.need(&reference.subject, Some(&reference.range));
                }
                Err(error) => self.needs.problems.push(error),
            }
        }
    }

    fn check_exists(&mut self, reference: &Reference) {
        if matches!(reference.subject, Subject::SelfObject) {
            self.needs.problems.push(invalid_self(&reference.subject, &reference.range));
        }
        self.check_repetition(reference);
        self.needs.problems.extend(self.undeclared(reference).map(Diagnostics::from).unwrap_or_default());
        self.check_declared(reference);
    }

    pub fn traversal(&mut self, traversal: &Traversal, file: &Arc<SourceFile>) {
        if let Some(problems) = refuse_reference(traversal, file) {
            return self.needs.problems.extend(problems);
        }
        match parse_reference(traversal, file) {
            Ok(reference) => {
                self.check(&reference);
                self.need(&reference.subject, Some(&reference.range));
                self.check_declared(&reference);
            }
            Err(error) => self.needs.problems.push(error),
        }
    }

    /// A reference in the content of a `dynamic` block: an invalid one is an error only where a block is generated.
    fn generated(&mut self, traversal: &Traversal, file: &Arc<SourceFile>) {
        let problems = std::mem::take(&mut self.needs.problems);
        let undeclared = std::mem::take(&mut self.needs.undeclared);
        self.traversal(traversal, file);
        let found = std::mem::replace(&mut self.needs.problems, problems);
        let unknown_names = std::mem::replace(&mut self.needs.undeclared, undeclared);
        self.needs.unchecked |= found.has_errors() || !unknown_names.is_empty();
    }

    /// What a `dynamic` block in the content of another one generates from: its name must mean something even if it is never
    /// evaluated.
    fn nested_generator(&mut self, traversal: &Traversal, file: &Arc<SourceFile>) {
        self.traversal(traversal, file);
        let module = self.tree.module(self.module);
        let own = self.own.as_ref().and_then(|own| module.resources.get(own));
        self.needs.unchecked |= parse_reference(traversal, file).is_ok_and(|found| may_be_unset(&found.subject, own));
    }

    fn check_declared(&mut self, reference: &Reference) {
        let module = self.tree.module(self.module);
        let mistake = match &reference.subject {
            Subject::Variable(name) if !module.variables.contains_key(name) => {
                undeclared_variable(name, module.variables.keys(), &reference.range)
            }
            Subject::Local(name) if !module.locals.contains_key(name) => {
                undeclared_local(name, module.locals.keys(), &reference.range)
            }
            _ => return,
        };
        self.needs.undeclared.push(mistake);
    }

    fn need(&mut self, subject: &Subject, place: Option<&Range>) {
        let module = self.tree.module(self.module);
        let at = |index: Option<usize>| index.map(|i| i as u32);
        let m = self.module;
        let found = match subject {
            Subject::Variable(name) => at(module.variables.get_index_of(name)).map(|i| Need::Variable(m, i)),
            Subject::Local(name) => at(module.locals.get_index_of(name)).map(|i| Need::Local(m, i)),
            Subject::Resource(r) => self.tree.resource_in(m, r).map(|id| Need::Resource(id, None)),
            Subject::ResourceInstance(r) => {
                let key = Some(r.key.clone());
                self.tree.resource_in(m, &r.resource).map(|id| Need::Resource(id, key))
            }
            Subject::Module(name) | Subject::ModuleInstance(name, _) => self.child(name).map(Need::Module),
            Subject::ModuleOutput(name, _, output) => {
                self.child(name).map(|child| match self.tree.module(child).outputs.get_index_of(output) {
                    Some(i) => Need::Output(child, i as u32),
                    None => Need::Module(child),
                })
            }
            Subject::Count(_) | Subject::Each(_) | Subject::Path(_) | Subject::Terraform(_) => None,
            Subject::SelfObject | Subject::Caller | Subject::Action(_) => None,
            Subject::Output(_) | Subject::Check(_) | Subject::Run(_) => None,
        };
        self.add(found, place);
    }

    fn add(&mut self, found: Option<Need>, place: Option<&Range>) {
        if let Some(need) = found.filter(|need| self.known.insert(need.clone())) {
            self.needs.places.extend(place.map(|place| (need.clone(), place.clone())));
            self.needs.on.push(need);
        }
    }

    fn child(&self, call: &str) -> Option<ModuleId> {
        let index = self.tree.module(self.module).calls.get_index_of(call)?;
        self.tree.child(self.module, index as u32)
    }

    fn check(&mut self, reference: &Reference) {
        if matches!(reference.subject, Subject::Action(_)) {
            let detail = "Actions can not be referenced in this context. They can only be referenced from within a resource's \
                          lifecycle actions list.";
            self.needs.problems.push(Diagnostic::error(INVALID_REFERENCE, detail).at(reference.range.clone()));
        }
        if matches!(reference.subject, Subject::SelfObject | Subject::Caller) {
            match &self.shape_of_self {
                _ if !self.allow_self => self.needs.problems.push(invalid_self(&reference.subject, &reference.range)),
                Some(schema) => {
                    let found = check_steps(&schema.block, &reference.remaining, &reference.range.file);
                    self.found_in_steps(found);
                }
                None => {}
            }
        }
        match (&reference.subject, &self.own) {
            (Subject::Resource(resource), Some(own)) if resource == own => {
                self.needs.to_itself.push(refers_to_itself(&own.to_string(), &reference.range));
            }
            (Subject::ResourceInstance(of), Some(own)) if of.resource == *own => {
                self.own_keys.push((of.key.clone(), reference.range.clone()));
            }
            _ => {}
        }
        self.check_repetition(reference);
        match self.undeclared(reference) {
            Some(problem) => self.needs.problems.push(problem),
            None => self.check_attribute(reference),
        }
    }

    /// A resource or module that is not there.
    fn undeclared(&self, reference: &Reference) -> Option<Diagnostic> {
        let module = self.tree.module(self.module);
        let place = display_module(&module.path);
        match &reference.subject {
            Subject::Resource(r) | Subject::ResourceInstance(addr::ResourceInstance { resource: r, .. }) => {
                if let Some(id) = self.tree.resource_in(self.module, r) {
                    let hidden = self.scoped != Some(r) && self.tree.check_around(id).is_some();
                    return hidden.then(|| scoped_elsewhere(r, &reference.range));
                }
                let data = addr::Resource { mode: ResourceMode::Data, ..r.clone() };
                let typed = addr::Resource::managed("list", &r.kind);
                let hint = match r.mode {
                    ResourceMode::Managed if module.resources.contains_key(&data) => {
                        format!("\n\nDid you mean the data resource {data}?")
                    }
                    ResourceMode::List if module.resources.contains_key(&typed) => format!(
                        "\n\nDid you mean the managed resource {typed}? If so, please use the fully qualified name of the \
                         resource, e.g. resource.{typed}"
                    ),
                    _ => String::new(),
                };
                let (mode, kind, name) = (adjective(r.mode), &r.kind, &r.name);
                let article = if r.mode == ResourceMode::Ephemeral { "An" } else { "A" };
                let detail =
                    format!("{article} {mode} resource {kind:?} {name:?} has not been declared in {place}.{hint}");
                let tip = if hint.is_empty() { close_resource(r, module) } else { String::new() };
                Some(Diagnostic::error(UNDECLARED_RESOURCE, detail).at(reference.range.clone()).with_tip(tip))
            }
            Subject::Module(name) | Subject::ModuleInstance(name, _) | Subject::ModuleOutput(name, _, _) => {
                if module.calls.contains_key(name) {
                    return None;
                }
                let hint = did_you_mean(name, module.calls.keys());
                let detail = format!("No module call named {name:?} is declared in {place}.{hint}");
                Some(Diagnostic::error("Reference to undeclared module", detail).at(reference.range.clone()))
            }
            _ => None,
        }
    }

    /// A key where there are no instances, or an attribute of all instances at once.
    fn check_repetition(&mut self, reference: &Reference) {
        let module = self.tree.module(self.module);
        let (resource, key) = match &reference.subject {
            Subject::Resource(r) => (r, None),
            Subject::ResourceInstance(r) => (&r.resource, Some(&r.key)),
            _ => return,
        };
        let Some(config) = module.resources.get(resource) else { return };
        let repeats = match (config.count.is_some(), config.for_each.is_some()) {
            (true, _) => Some(("count", "count.index")),
            (_, true) => Some(("for_each", "each.key")),
            _ => None,
        };
        let mistake = match (key, repeats) {
            (None, Some((argument, index))) if !reference.remaining.is_empty() => Diagnostic::error(
                "Missing resource instance key",
                format!(
                    "Because {resource} has \"{argument}\" set, its attributes must be accessed on specific \
                     instances.\n\nFor example, to correlate with indices of a referring resource, use:\n    \
                     {resource}[{index}]"
                ),
            ),
            (Some(_), None) => Diagnostic::error(
                "Unexpected resource instance key",
                format!(
                    "Because {resource} does not have \"count\" or \"for_each\" set, references to it must not include \
                     an index key. Remove the bracketed index to refer to the single instance of this resource."
                ),
            ),
            _ => return,
        };
        self.needs.problems.push(mistake.at(reference.range.clone()));
    }

    /// An attribute that the resource's schema does not have.
    fn check_attribute(&mut self, reference: &Reference) {
        let resource = match &reference.subject {
            Subject::Resource(r) => r,
            Subject::ResourceInstance(r) => &r.resource,
            _ => return,
        };
        let Some(config) = self.tree.module(self.module).resources.get(resource) else { return };
        if resource.mode == ResourceMode::List {
            self.check_list(&config.provider, resource, reference);
            return;
        }
        let Some(schema) = self.schemas.resource(&config.provider, resource) else { return };
        if let Some(TraversalStep::Attr { name, .. }) = reference.remaining.first()
            && &*name.name == "count"
            && !has(&schema.block, "count")
        {
            let detail = format!(
                "The special \"count\" attribute is no longer supported after {PROGRAM} v0.12. Instead, use \
                 length({resource}) to count resource instances."
            );
            let mistake = Diagnostic::error("Invalid resource count attribute", detail).at(reference.range.clone());
            self.needs.problems.push(mistake);
            return;
        }
        let found = check_steps(&schema.block, &reference.remaining, &reference.range.file);
        self.found_in_steps(found);
    }

    /// A step into the results of a list that they do not have.
    fn check_list(&mut self, provider: &addr::Provider, list: &addr::Resource, reference: &Reference) {
        match after_list(&reference.remaining, &reference.range) {
            Err(error) => self.needs.problems.push(error),
            Ok(None) => {}
            Ok(Some(steps)) => {
                if let Some(schema) = self.schemas.kind(provider, ResourceMode::Managed, &list.kind) {
                    let found = check_steps(&schema.block, steps, &reference.range.file);
                    self.found_in_steps(found);
                }
            }
        }
    }

    fn found_in_steps(&mut self, found: Diagnostics) {
        for diagnostic in found {
            match diagnostic.is_error() {
                true => self.needs.problems.push(diagnostic),
                false => self.needs.deprecated.push(diagnostic),
            }
        }
    }
}

/// True if the subject is the resource or one of its instances.
pub fn names(subject: &Subject, resource: &addr::Resource) -> bool {
    match subject {
        Subject::Resource(of) => of == resource,
        Subject::ResourceInstance(of) => of.resource == *resource,
        _ => false,
    }
}

fn scoped_elsewhere(resource: &addr::Resource, range: &Range) -> Diagnostic {
    let (kind, name) = (&resource.kind, &resource.name);
    let detail = format!("The referenced data resource {kind:?} {name:?} is not available from this context.");
    Diagnostic::error("Reference to scoped resource", detail).at(range.clone())
}

pub fn adjective(mode: ResourceMode) -> &'static str {
    match mode {
        ResourceMode::Managed => "managed",
        ResourceMode::Data => "data",
        ResourceMode::Ephemeral => "ephemeral",
        ResourceMode::List => "list",
    }
}

/// A module's path as messages show it.
pub fn display_module(path: &addr::Module) -> String {
    if path.is_root() { "the root module".into() } else { path.to_string() }
}

pub fn refers_to_itself(addr: &str, range: &Range) -> Diagnostic {
    let detail = format!("Configuration for {addr} may not refer to itself.");
    Diagnostic::error("Self-referential block", detail).at(range.clone())
}

/// `self` or `caller` where there is none.
fn invalid_self(subject: &Subject, range: &Range) -> Diagnostic {
    let place = match subject {
        Subject::Caller => "action blocks triggered from a resource instance",
        _ => "resource provisioner, connection, and postcondition blocks",
    };
    let detail =
        format!("The \"{subject}\" object is not available in this context. This object can be used only in {place}.");
    Diagnostic::error(format!("Invalid \"{subject}\" reference"), detail).at(range.clone())
}
