//! The objects that test files of policies declare.
//!
//! A mock may refer to the attributes of others: `aws_vpc.main.id`, `data.aws_ami.x.id`, and with `attrs` between them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base::diag::{Diagnostic, Diagnostics};
use base::files::Files;
use base::moment::Moment;
use base::source::{Range, SourceFile};
use lang::eval::{Resolved, Scope, evaluate};
use lang::functions::{Function, FunctionError, Machine};
use lang::syntax::ast::{Expression, Traversal};
use model::config::policy_file::{PolicyKind, PolicyMock, PolicyMockKind, PolicyOperation, PolicyTestFile};
use model::model_errors::{undeclared_local, unknown_name};
use terrane_value::Value;

use super::PolicyData;
use super::target::{PolicyTarget, TargetMeta, null_object};
use crate::engine_errors::cycle;
use crate::ports::Host;
use crate::run::policy_objects::ObjectList;

/// A mock with its values.
#[derive(Clone, Debug)]
pub struct MockedObject {
    pub mock: PolicyMock,
    pub attrs: Option<Value>,
    pub prior_attrs: Option<Value>,
    pub meta: Option<Value>,
    pub inputs: BTreeMap<Arc<str>, Value>,
    /// What is wrong with its expressions.
    pub diagnostics: Diagnostics,
}

impl MockedObject {
    /// What policies are evaluated for. None if there is nothing of a resource, before or after, and for data sources.
    pub fn target(&self) -> Option<PolicyTarget> {
        let kind = match self.mock.kind {
            PolicyMockKind::Resource => PolicyKind::Resource,
            PolicyMockKind::Provider => PolicyKind::Provider,
            PolicyMockKind::Module => PolicyKind::Module,
            PolicyMockKind::Data => return None,
        };
        let operation = self.operation();
        if kind == PolicyKind::Resource && operation.is_none() {
            return None;
        }
        let has_prior = matches!(operation, Some(PolicyOperation::Update | PolicyOperation::Delete));
        let prior_attrs = self.prior_attrs.clone().filter(|_| has_prior);
        let attrs = match (&self.attrs, &prior_attrs) {
            (Some(attrs), _) if operation != Some(PolicyOperation::Delete) => attrs.clone(),
            (_, Some(prior)) => null_object(prior),
            (attrs, None) => attrs.clone().unwrap_or_else(Value::empty_object),
        };
        Some(PolicyTarget {
            address: self.mock.address(),
            kind,
            name: self.mock.target.clone(),
            operation: operation.filter(|_| kind == PolicyKind::Resource),
            attrs,
            prior_attrs,
            meta: TargetMeta::of_mock(&self.mock, operation.unwrap_or(PolicyOperation::NoOp), self.meta.as_ref()),
            place: Some(self.mock.range.clone()),
        })
    }

    /// What the meta says, or what follows from which attributes there are: nothing is ever taken for unchanged.
    fn operation(&self) -> Option<PolicyOperation> {
        let is_there = |attrs: &Option<Value>| attrs.as_ref().is_some_and(|attrs| !attrs.entries().is_empty());
        let written = self.meta.as_ref().and_then(|meta| meta.get("operation")).and_then(Value::as_str);
        match (is_there(&self.prior_attrs), is_there(&self.attrs)) {
            (false, false) => None,
            (is_before, is_after) => match written {
                Some(name) => PolicyOperation::named(name),
                None if is_before && is_after => Some(PolicyOperation::Update),
                None if is_before => Some(PolicyOperation::Delete),
                None => Some(PolicyOperation::Create),
            },
        }
    }
}

/// The mocks of a test file: what policies can look up.
pub struct MockedObjects<'m>(pub &'m [MockedObject]);

impl MockedObjects<'_> {
    fn of(&self, kind: PolicyMockKind, target: &str) -> impl Iterator<Item = &MockedObject> {
        self.0.iter().filter(move |object| object.mock.kind == kind && &*object.mock.target == target)
    }
}

impl PolicyData for MockedObjects<'_> {
    fn resources(&self, kind: &str) -> Option<Arc<ObjectList>> {
        let objects = self.of(PolicyMockKind::Resource, kind).filter_map(|object| object.attrs.clone());
        Some(Arc::new(ObjectList::new(objects.collect())))
    }

    /// The first mock that has what is asked for.
    fn data_source(&self, kind: &str, config: &Value) -> Result<Value, FunctionError> {
        let is_equal = |value: &Value, wanted: &Value| value.equals(wanted).as_bool() == Some(true);
        let is_meant = |attrs: &&Value| {
            config.entries().iter().all(|(name, wanted)| attrs.get(name).is_some_and(|value| is_equal(value, wanted)))
        };
        let found = self.of(PolicyMockKind::Data, kind).filter_map(|object| object.attrs.as_ref()).find(is_meant);
        let missing =
            || FunctionError::new(format!("no mock of the data source {kind:?} has the arguments of the call"));
        found.cloned().ok_or_else(missing)
    }
}

/// Evaluates the mocks of a test file. `inputs`: those of the file, and those of the tested policies that it does not set.
pub fn evaluate_mocks(file: &PolicyTestFile, inputs: &BTreeMap<Arc<str>, Value>, host: &dyn Host) -> Vec<MockedObject> {
    let scope = MockScope { file, inputs, host, slots: Mutex::default() };
    let value = |expr: &Expression, found: &mut Diagnostics| {
        let (value, problems) = evaluate(expr, &scope);
        let failed = problems.has_errors();
        found.extend(problems);
        (!failed).then_some(value)
    };
    let object = |mock: &PolicyMock| {
        let mut found = Diagnostics::new();
        let attrs = mock.attrs.as_ref().and_then(|expr| value(expr, &mut found));
        let prior_attrs = mock.prior_attrs.as_ref().and_then(|expr| value(expr, &mut found));
        let meta = mock.meta.as_ref().and_then(|expr| value(expr, &mut found));
        let written = meta.as_ref().and_then(|meta| meta.get("operation")).and_then(Value::as_str);
        if let Some(name) = written.filter(|name| PolicyOperation::named(name).is_none()) {
            let range = mock.meta.as_ref().map_or_else(|| mock.range.clone(), Expression::range);
            found.push(PolicyOperation::unknown(name, range));
        }
        let mut inputs = BTreeMap::new();
        for (name, expr) in &mock.inputs {
            inputs.extend(value(expr, &mut found).map(|value| (name.clone(), value)));
        }
        MockedObject { mock: mock.clone(), attrs, prior_attrs, meta, inputs, diagnostics: found }
    };
    file.mocks.iter().map(object).collect()
}

/// The values of the inputs that a test file sets. They may refer to its local values.
pub fn evaluate_test_inputs(file: &PolicyTestFile, host: &dyn Host) -> (BTreeMap<Arc<str>, Value>, Diagnostics) {
    let scope = MockScope { file, inputs: &BTreeMap::new(), host, slots: Mutex::default() };
    let mut diagnostics = Diagnostics::new();
    let mut values = BTreeMap::new();
    for (name, expr) in &file.inputs {
        values.insert(name.clone(), diagnostics.take(evaluate(expr, &scope)));
    }
    (values, diagnostics)
}

/// The names in a test file.
struct MockScope<'a> {
    file: &'a PolicyTestFile,
    inputs: &'a BTreeMap<Arc<str>, Value>,
    host: &'a dyn Host,
    /// Local values and attributes of mocks that were asked for, by how they are written. None: its evaluation runs.
    slots: Mutex<BTreeMap<String, Option<Value>>>,
}

impl MockScope<'_> {
    fn value_of(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Result<(Value, usize), Diagnostic> {
        let range = traversal.span.in_file(file);
        let root = traversal.root_name();
        match (root, traversal.attr(0), traversal.attr(1)) {
            ("input", Some(name), _) => match self.inputs.get(name) {
                Some(value) => Ok((value.clone(), 1)),
                None => Err(unknown_name(name, self.inputs.keys().map(|name| &**name), range)),
            },
            ("local", Some(name), _) => match self.file.locals.get(name) {
                Some(expr) => Ok((self.once(&format!("local.{name}"), expr, &range)?, 1)),
                None => Err(undeclared_local(name, self.file.locals.keys(), &range)),
            },
            ("data", Some(kind), Some(name)) => self.attributes(PolicyMockKind::Data, kind, name, 2, traversal, file),
            (kind, Some(name), _) => self.attributes(PolicyMockKind::Resource, kind, name, 1, traversal, file),
            _ => Err(unknown_name(root, ["data", "input", "local"], range)),
        }
    }

    /// The attributes of a mock. `steps`: so many of the traversal name it; a step `attrs` behind them may be left out.
    fn attributes(
        &self,
        kind: PolicyMockKind,
        target: &str,
        name: &str,
        steps: usize,
        traversal: &Traversal,
        file: &Arc<SourceFile>,
    ) -> Result<(Value, usize), Diagnostic> {
        let range = traversal.span.in_file(file);
        let is_named = |mock: &&PolicyMock| mock.kind == kind && &*mock.target == target && &*mock.name == name;
        let Some(mock) = self.file.mocks.iter().find(is_named) else {
            let detail =
                format!("The test file has no block {:?} with the labels {target:?} and {name:?}.", kind.block_name());
            return Err(Diagnostic::error("Reference to undeclared policy test", detail).at(range));
        };
        let value = match &mock.attrs {
            Some(expr) => self.once(&mock.address(), expr, &range)?,
            None => Value::empty_object(),
        };
        let is_explicit = traversal.attr(steps) == Some("attrs") && value.get("attrs").is_none();
        Ok((value, steps + usize::from(is_explicit)))
    }

    fn once(&self, key: &str, expr: &Expression, range: &Range) -> Result<Value, Diagnostic> {
        let slots = || self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        match slots().get(key) {
            Some(Some(value)) => return Ok(value.clone()),
            Some(None) => return Err(cycle(&[key.to_owned()]).at(range.clone())),
            None => {}
        }
        slots().insert(key.to_owned(), None);
        // What is wrong with it is reported where it stands.
        let (value, _) = evaluate(expr, self);
        slots().insert(key.to_owned(), Some(value.clone()));
        Ok(value)
    }
}

impl Scope for MockScope<'_> {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        match self.value_of(traversal, file) {
            Ok((value, consumed)) => Resolved::value(value, consumed),
            Err(error) => Resolved::error(error),
        }
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        lang::functions::lookup(name)
    }

    fn function_names(&self) -> Vec<String> {
        lang::functions::names().into_iter().map(str::to_owned).collect()
    }

    fn machine(&self) -> Option<&dyn Machine> {
        Some(self)
    }
}

impl Machine for MockScope<'_> {
    fn files(&self) -> &dyn Files {
        self.host.files()
    }

    fn base_dir(&self) -> &Path {
        Path::new(".")
    }

    fn working_dir(&self) -> PathBuf {
        self.host.working_dir()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        self.host.home_dir()
    }

    fn pure_only(&self) -> bool {
        false
    }

    fn now(&self) -> Moment {
        self.host.now()
    }

    fn plan_time(&self) -> Option<Moment> {
        None
    }

    fn random(&self, bytes: &mut [u8]) {
        self.host.random(bytes);
    }
}
