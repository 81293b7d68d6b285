//! The model of one plan, apply or destroy: which objects there are afterwards, which conditions fail, and what
//! provisioners write.
//!
//! Written from the rules of the language; does not know how the program does it.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{
    Attribute, CALL_AFTER, Case, Doubles, Expr, Folder, INVALID, MOCKED, Module, NO_CHECK, NO_CREATE, NO_DESTROY,
    NO_OUTPUT, NO_POSTCONDITION, NO_PRECONDITION, OVERRIDDEN, Run, Word,
};

/// A managed object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    pub value: Word,
    trigger: Word,
    output: Word,
    pub is_tainted: bool,
}

/// Objects by address.
pub type State = BTreeMap<String, Object>;

/// A line in the log of provisioners, and the lines that must be before it, by index.
#[derive(Clone, Debug)]
pub struct Event {
    pub line: String,
    pub after: BTreeSet<usize>,
}

/// A condition that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The word in `expect_failures`; none for objects of called modules.
    pub target: Option<String>,
    pub is_check: bool,
}

/// Something that is needed has failed.
#[derive(Debug)]
pub struct Blocked;

/// A module of the configuration that is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Path {
    Root,
    Child,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Variable(Path, usize),
    Resource(Path, usize),
    Output(Path, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Keep,
    Create,
    Update,
    Replace,
}

impl Action {
    fn creates(self) -> bool {
        matches!(self, Action::Create | Action::Replace)
    }
}

/// An object as far as it is known.
#[derive(Clone, Copy, Debug)]
struct Draft {
    value: Option<Word>,
    trigger: Option<Word>,
    output: Option<Word>,
}

/// A plan: what an apply does.
#[derive(Clone, Debug)]
struct Plan {
    actions: BTreeMap<String, Action>,
    drafts: BTreeMap<(Path, usize), Draft>,
}

/// One walk over the configuration of a run.
pub struct Walk<'c> {
    case: &'c Case,
    run: &'c Run,
    prior: State,
    /// None while planning.
    plan: Option<Plan>,
    actions: BTreeMap<String, Action>,
    values: BTreeMap<(Path, usize), Option<Word>>,
    outputs: BTreeMap<(Path, usize), Option<Word>>,
    drafts: BTreeMap<(Path, usize), Draft>,
    /// Nodes that failed, or were not visited because something they need failed.
    failed: BTreeSet<Node>,
    /// The events before everything that needs a node.
    after: BTreeMap<Node, BTreeSet<usize>>,
    /// The events before everything that waits for the end of an object.
    destroyed: BTreeMap<String, BTreeSet<usize>>,
    undestroyed: BTreeSet<String>,
    pub failures: Vec<Failure>,
    /// Provisioners that failed.
    pub errors: usize,
    pub events: Vec<Event>,
    /// The objects afterwards.
    pub state: State,
}

/// The address of a resource of a module.
pub fn address(path: Path, module: &Module, n: usize) -> String {
    let prefix = if path == Path::Child { "module.child." } else { "" };
    format!("{prefix}terraform_data.{}{n}", module.letter)
}

impl<'c> Walk<'c> {
    /// Plans a run. `values` are those of the variables of the root module.
    pub fn plan(case: &'c Case, run: &'c Run, values: &[Word], prior: &State) -> Walk<'c> {
        let mut walk = Walk::new(case, run, prior);
        walk.visit_all(values);
        walk
    }

    /// Applies what a walk planned.
    pub fn apply(planned: &Walk<'c>, values: &[Word]) -> Walk<'c> {
        let mut walk = Walk::new(planned.case, planned.run, &planned.prior);
        walk.plan = Some(Plan { actions: planned.actions.clone(), drafts: planned.drafts.clone() });
        let configured = walk.configured();
        // Provisioners of what is not configured any more do not run.
        walk.state.retain(|address, _| configured.contains_key(address));
        let is_replaced = |address: &&String| planned.actions.get(*address) == Some(&Action::Replace);
        let replaced = planned.prior.keys().filter(is_replaced).cloned().collect();
        walk.destroy(replaced, &configured);
        walk.visit_all(values);
        walk
    }

    /// Destroys all objects of a state with the configuration of a run.
    pub fn destroy_all(case: &'c Case, run: &'c Run, prior: &State) -> Walk<'c> {
        let mut walk = Walk::new(case, run, prior);
        let configured = walk.configured();
        walk.destroy(prior.keys().cloned().collect(), &configured);
        walk
    }

    fn new(case: &'c Case, run: &'c Run, prior: &State) -> Walk<'c> {
        Walk {
            case,
            run,
            prior: prior.clone(),
            plan: None,
            actions: BTreeMap::new(),
            values: BTreeMap::new(),
            outputs: BTreeMap::new(),
            drafts: BTreeMap::new(),
            failed: BTreeSet::new(),
            after: BTreeMap::new(),
            destroyed: BTreeMap::new(),
            undestroyed: BTreeSet::new(),
            failures: Vec::new(),
            errors: 0,
            events: Vec::new(),
            state: prior.clone(),
        }
    }

    /// The value of `var.tag`.
    pub fn tag(&self) -> Word {
        self.run.tag()
    }

    fn module(&self, path: Path) -> &'c Module {
        if path == Path::Child { &self.case.child } else { self.case.module(self.run.folder) }
    }

    fn has_child(&self) -> bool {
        let is_overridden = self.case.doubles == Doubles::ChildModule && self.run.folder == Folder::Root;
        self.module(Path::Root).call.is_some() && !is_overridden
    }

    /// The addresses of the configuration with their resources.
    fn configured(&self) -> BTreeMap<String, (Path, usize)> {
        let paths = [Path::Root, Path::Child].into_iter().filter(|path| *path == Path::Root || self.has_child());
        let of = |path: Path| {
            let module = self.module(path);
            (0..module.resources.len()).map(move |n| (address(path, module, n), (path, n)))
        };
        paths.flat_map(of).collect()
    }

    /// The value of an expression; `None` if it is unknown.
    pub fn value(&self, path: Path, expr: Expr) -> Result<Option<Word>, Blocked> {
        if self.node(path, expr).is_some_and(|node| self.failed.contains(&node)) {
            return Err(Blocked);
        }
        Ok(match expr {
            Expr::Text(word) => Some(word),
            Expr::Tag => Some(self.tag()),
            Expr::Variable(n) => self.values[&(path, n)],
            Expr::Input(n) => self.drafts[&(path, n)].value,
            Expr::Output(n) => self.drafts[&(path, n)].output,
            Expr::Child(_) if !self.has_child() => Some(MOCKED),
            Expr::Child(n) => self.outputs[&(Path::Child, n)],
            Expr::Own(n) => self.outputs[&(path, n)],
            Expr::Run(..) => panic!("only assertions refer to runs"),
        })
    }

    /// What an expression refers to.
    fn node(&self, path: Path, expr: Expr) -> Option<Node> {
        match expr {
            Expr::Variable(n) => Some(Node::Variable(path, n)),
            Expr::Input(n) | Expr::Output(n) => Some(Node::Resource(path, n)),
            Expr::Child(n) if self.has_child() => Some(Node::Output(Path::Child, n)),
            Expr::Own(n) => Some(Node::Output(path, n)),
            _ => None,
        }
    }

    fn events_before(&self, node: Option<Node>) -> BTreeSet<usize> {
        node.and_then(|node| self.after.get(&node)).cloned().unwrap_or_default()
    }

    fn visit_all(&mut self, values: &[Word]) {
        let module = self.module(Path::Root);
        for (n, word) in values.iter().enumerate() {
            self.visit_variable(Path::Root, n, Some(*word));
        }
        for n in 0..module.resources.len() {
            if n == CALL_AFTER {
                self.visit_child();
            }
            self.visit_resource(Path::Root, n);
        }
        if module.resources.len() <= CALL_AFTER {
            self.visit_child();
        }
        self.visit_outputs(Path::Root);
        self.visit_checks(Path::Root);
        if self.has_child() {
            self.visit_checks(Path::Child);
        }
    }

    fn visit_child(&mut self) {
        if !self.has_child() {
            return;
        }
        let child = self.module(Path::Child);
        let call = self.module(Path::Root).call.unwrap();
        match self.value(Path::Root, call) {
            Ok(value) => {
                let before = self.events_before(self.node(Path::Root, call));
                self.after.insert(Node::Variable(Path::Child, 0), before);
                self.visit_variable(Path::Child, 0, value);
            }
            Err(Blocked) => {
                self.failed.insert(Node::Variable(Path::Child, 0));
            }
        }
        for (n, variable) in child.variables.iter().enumerate().skip(1) {
            self.visit_variable(Path::Child, n, variable.default);
        }
        for n in 0..child.resources.len() {
            self.visit_resource(Path::Child, n);
        }
        self.visit_outputs(Path::Child);
    }

    fn visit_variable(&mut self, path: Path, n: usize, value: Option<Word>) {
        self.values.insert((path, n), value);
        if self.module(path).variables[n].is_checked && value == Some(INVALID) {
            self.fail(path, format!("var.v{n}"), false);
            self.failed.insert(Node::Variable(path, n));
        }
    }

    fn visit_outputs(&mut self, path: Path) {
        for (n, output) in self.module(path).outputs.iter().enumerate() {
            let value = self.value(path, output.value);
            let node = Node::Output(path, n);
            let before = self.events_before(self.node(path, output.value));
            self.after.insert(node, before);
            match value {
                Ok(Some(NO_OUTPUT)) if output.is_checked => {
                    self.fail(path, format!("output.o{n}"), false);
                    self.failed.insert(node);
                }
                Ok(value) => {
                    self.outputs.insert((path, n), value);
                }
                Err(Blocked) => {
                    self.failed.insert(node);
                }
            }
        }
    }

    fn visit_checks(&mut self, path: Path) {
        for (n, check) in self.module(path).checks.iter().enumerate() {
            let is_failure = match self.value(path, *check) {
                Ok(Some(word)) => word == NO_CHECK,
                // The warning that its result is known after apply counts as a failure of the check in a plan run.
                Ok(None) => true,
                Err(Blocked) => false,
            };
            if is_failure {
                self.fail(path, format!("check.c{n}"), true);
            }
        }
    }

    fn fail(&mut self, path: Path, target: String, is_check: bool) {
        let target = Some(target).filter(|_| path == Path::Root);
        self.failures.push(Failure { target, is_check });
    }

    fn visit_resource(&mut self, path: Path, n: usize) {
        if self.try_resource(path, n).is_err() {
            self.failed.insert(Node::Resource(path, n));
        }
    }

    fn try_resource(&mut self, path: Path, n: usize) -> Result<(), Blocked> {
        let module = self.module(path);
        let resource = &module.resources[n];
        let (node, address) = (Node::Resource(path, n), address(path, module, n));
        let after = resource.after.map(|after| Node::Resource(path, after));
        if after.is_some_and(|after| self.failed.contains(&after)) || self.undestroyed.contains(&address) {
            return Err(Blocked);
        }
        let replaced = self.replaced_users(&address);
        if replaced.iter().any(|user| self.undestroyed.contains(user)) {
            return Err(Blocked);
        }
        let value = self.value(path, resource.input)?;
        let trigger = resource.trigger.map_or(Ok(Some("")), |expr| self.value(path, expr))?;
        let precondition = resource.precondition.map_or(Ok(None), |expr| self.value(path, expr))?;
        let mut before = self.events_before(after);
        for expr in resource.expressions() {
            before.extend(self.events_before(self.node(path, expr)));
        }
        for gone in replaced.iter().chain([&address]) {
            before.extend(self.destroyed.get(gone).into_iter().flatten());
        }
        self.after.insert(node, before.clone());
        if precondition == Some(NO_PRECONDITION) {
            self.fail(path, address, false);
            return Err(Blocked);
        }
        let draft = match &self.plan {
            None => self.plan_object(path, n, value, trigger),
            Some(plan) => {
                let (action, planned) = (plan.actions[&address], plan.drafts[&(path, n)]);
                let made = self.double(path, n).filter(|_| action.creates());
                let output = planned.output.or(made).or(value);
                let draft = Draft { value, trigger, output };
                self.apply_object(node, &address, action, draft, before)?;
                draft
            }
        };
        self.drafts.insert((path, n), draft);
        let judged = match resource.postcondition {
            Some(Attribute::Input) => draft.value,
            Some(Attribute::Output) => draft.output,
            None => None,
        };
        if judged == Some(NO_POSTCONDITION) {
            self.fail(path, address, false);
            return Err(Blocked);
        }
        Ok(())
    }

    /// The replaced objects that depend on an object that an apply changes: it changes after they are destroyed.
    fn replaced_users(&self, address: &str) -> Vec<String> {
        let action = |address: &str| self.plan.as_ref().and_then(|plan| plan.actions.get(address).copied());
        if action(address).is_none_or(|action| action == Action::Keep) {
            return Vec::new();
        }
        let is_user = |(user, (path, n)): &(&String, &(Path, usize))| {
            action(user) == Some(Action::Replace) && self.needs(*path, *n).contains(address)
        };
        self.configured().iter().filter(is_user).map(|(user, _)| user.clone()).collect()
    }

    /// The computed value that is made for an object that is not real.
    fn double(&self, path: Path, n: usize) -> Option<Word> {
        if path == Path::Root && self.run.overridden == Some(n) {
            return Some(OVERRIDDEN);
        }
        let is_doubled = match self.case.doubles {
            Doubles::Provider => true,
            Doubles::Resource(other) => path == Path::Root && self.run.folder == Folder::Root && other == n,
            Doubles::None | Doubles::ChildModule => false,
        };
        is_doubled.then_some(MOCKED)
    }

    fn plan_object(&mut self, path: Path, n: usize, value: Option<Word>, trigger: Option<Word>) -> Draft {
        let double = self.double(path, n);
        let address = address(path, self.module(path), n);
        let early = double.filter(|word| *word == MOCKED && self.case.is_during_plan);
        let fresh = Draft { value, trigger, output: early };
        let is_forced = path == Path::Root && self.run.replace == Some(n);
        let (action, draft) = match self.prior.get(&address) {
            None => (Action::Create, fresh),
            Some(prior) if prior.is_tainted || is_forced => (Action::Replace, fresh),
            // The provider asks for a replacement; what stands in for it does not.
            Some(prior) if double.is_none() && trigger != Some(prior.trigger) => (Action::Replace, fresh),
            Some(prior) => {
                let is_same = value == Some(prior.value) && trigger == Some(prior.trigger);
                let keeps_output = double.is_some() || value == Some(prior.value);
                let output = Some(prior.output).filter(|_| keeps_output);
                (if is_same { Action::Keep } else { Action::Update }, Draft { value, trigger, output })
            }
        };
        self.actions.insert(address, action);
        draft
    }

    fn apply_object(
        &mut self,
        node: Node,
        address: &str,
        action: Action,
        draft: Draft,
        mut before: BTreeSet<usize>,
    ) -> Result<(), Blocked> {
        let known = |word: Option<Word>| word.unwrap_or_else(|| panic!("{address} is unknown after apply"));
        let (value, trigger, output) = (known(draft.value), known(draft.trigger), known(draft.output));
        let is_tainted = action.creates() && value == NO_CREATE;
        if action.creates() {
            let event = self.log("create", address, value, before.clone());
            before.insert(event);
            self.after.insert(node, before);
        }
        self.state.insert(address.to_owned(), Object { value, trigger, output, is_tainted });
        if is_tainted {
            self.errors += 1;
            return Err(Blocked);
        }
        Ok(())
    }

    fn log(&mut self, word: &str, address: &str, value: Word, after: BTreeSet<usize>) -> usize {
        let name = address.rsplit('.').next().unwrap();
        let line = format!("{word} {name} {} {value}", self.tag());
        self.events.push(Event { line, after });
        self.events.len() - 1
    }

    /// Destroys objects: each after all that depend on it, and not at all if one of these stays.
    fn destroy(&mut self, addresses: Vec<String>, configured: &BTreeMap<String, (Path, usize)>) {
        let needs =
            |address: &String| configured.get(address).map(|(path, n)| self.needs(*path, *n)).unwrap_or_default();
        let needs: BTreeMap<String, BTreeSet<String>> =
            addresses.iter().map(|address| (address.clone(), needs(address))).collect();
        let mut left = addresses.clone();
        while !left.is_empty() {
            let is_free = |address: &String| !left.iter().any(|user| user != address && needs[user].contains(address));
            let next = left.iter().position(is_free).expect("dependencies have no cycles");
            let address = left.remove(next);
            let users: Vec<&String> =
                addresses.iter().filter(|user| **user != address && needs[*user].contains(&address)).collect();
            if users.iter().any(|user| self.undestroyed.contains(*user)) {
                self.undestroyed.insert(address);
                continue;
            }
            let mut before: BTreeSet<usize> =
                users.iter().filter_map(|user| self.destroyed.get(*user)).flatten().copied().collect();
            let object = self.prior[&address];
            if configured.contains_key(&address) && !object.is_tainted {
                let event = self.log("destroy", &address, object.value, before.clone());
                before.insert(event);
                if object.value == NO_DESTROY {
                    self.errors += 1;
                    self.undestroyed.insert(address);
                    continue;
                }
            }
            self.state.remove(&address);
            self.destroyed.insert(address, before);
        }
    }

    /// The addresses of all that a resource depends on.
    fn needs(&self, path: Path, n: usize) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let mut open = self.direct_needs(path, n);
        while let Some((path, n)) = open.pop() {
            if all.insert(address(path, self.module(path), n)) {
                open.extend(self.direct_needs(path, n));
            }
        }
        all
    }

    fn direct_needs(&self, path: Path, n: usize) -> Vec<(Path, usize)> {
        let resource = &self.module(path).resources[n];
        let mut needs: Vec<(Path, usize)> = resource.after.map(|after| (path, after)).into_iter().collect();
        for expr in resource.expressions() {
            needs.extend(self.resource_of(path, expr));
        }
        needs
    }

    /// The resource whose value an expression is, through calls and outputs.
    fn resource_of(&self, path: Path, expr: Expr) -> Option<(Path, usize)> {
        match expr {
            Expr::Input(n) | Expr::Output(n) => Some((path, n)),
            // Also if the module is overridden: only its values are made up.
            Expr::Child(n) => self.resource_of(Path::Child, self.case.child.outputs[n].value),
            Expr::Variable(0) if path == Path::Child => {
                self.resource_of(Path::Root, self.module(Path::Root).call.unwrap())
            }
            _ => None,
        }
    }
}
