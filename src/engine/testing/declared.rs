//! The values that a test file declares for mocked and overridden objects.
//!
//! They are evaluated once per run, unless they use the object that they are for (`self`, and in overrides `each.key` or `count.index`):
//! then for each object, when its values are made.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use lang::functions::Machine;
use lang::syntax::ast::Expression;
use model::addr::InstanceKey;
use model::config::test_file::{
    MockLanguage, MockResource, ObjectNames, Override, OverrideDuring, OverrideKind, references_self,
};
use terrane_value::Value;

use super::scope::{TestPlace, TestScope};
use crate::mock::{DerivedFrom, MockedType, ObjectValues, ResolvedOverride, TestNames};
use crate::ports::Host;

/// Evaluates the mocks and overrides of a run.
pub struct DeclaredDoubles {
    host: Arc<dyn Host>,
    /// What those until now use of their objects.
    pub derived: DerivedFrom,
    pub diagnostics: Diagnostics,
}

impl DeclaredDoubles {
    /// `host`: for functions.
    pub fn new(host: Arc<dyn Host>) -> DeclaredDoubles {
        DeclaredDoubles { host, derived: DerivedFrom::default(), diagnostics: Diagnostics::new() }
    }

    /// What a `mock_resource` or `mock_data` block gives.
    pub fn mocked_type(&mut self, block: &MockResource) -> MockedType {
        let range = Some(block.defaults_range.clone());
        let during = block.during;
        let Some(expr) = block.defaults.as_ref().filter(|expr| is_of_object(expr, block.language)) else {
            let evaluated = with_machine(&*self.host, |machine| block.evaluate(&ObjectNames::default(), Some(machine)));
            let defaults = evaluated.map(|evaluated| self.diagnostics.take(evaluated));
            return MockedType { defaults, of_object: None, range, during };
        };
        if has_key(expr) {
            let detail = "A mock makes objects without their keys: its defaults may use \"self\", but neither \"each\" nor \"count\". \
                          Values of overrides may use all of them.";
            self.diagnostics.push(Diagnostic::error(NOT_AVAILABLE, detail).at(expr.range()));
            return MockedType { defaults: None, of_object: None, range, during };
        }
        self.derived.add(expr);
        let (host, block) = (self.host.clone(), block.clone());
        let of_object = move |object: &Value, key: &InstanceKey| {
            let names = ObjectNames::of_instance(object.clone(), key);
            let evaluated = with_machine(&*host, |machine| block.evaluate(&names, Some(machine)));
            evaluated.unwrap_or_else(|| (Value::empty_object(), Diagnostics::new()))
        };
        MockedType { defaults: None, of_object: Some(shared(of_object)), range, during }
    }

    /// What an override gives. `around`: when the values of the overrides around it are known.
    pub fn overriding(&mut self, block: &Override, around: Option<OverrideDuring>) -> ResolvedOverride {
        let during_plan = block.during.or(around) == Some(OverrideDuring::Plan);
        let (kind, range) = (block.kind, Some(block.range.clone()));
        let Some(expr) = block.values.as_ref().filter(|expr| is_of_object(expr, block.language)) else {
            let evaluated = with_machine(&*self.host, |machine| block.evaluate(&ObjectNames::default(), Some(machine)));
            let values = self.diagnostics.take(evaluated);
            return ResolvedOverride { kind, values, of_object: None, during_plan, range };
        };
        if kind == OverrideKind::Module {
            let detail = "A module is no object: the outputs of an override may use neither \"self\" nor \"each\" nor \"count\".";
            self.diagnostics.push(Diagnostic::error(NOT_AVAILABLE, detail).at(expr.range()));
            return ResolvedOverride { kind, values: Value::empty_object(), of_object: None, during_plan, range };
        }
        self.derived.add(expr);
        let (host, block) = (self.host.clone(), block.clone());
        let of_object = move |object: &Value, key: &InstanceKey| {
            let names = ObjectNames::of_instance(object.clone(), key);
            with_machine(&*host, |machine| block.evaluate(&names, Some(machine)))
        };
        let values = Value::empty_object();
        ResolvedOverride { kind, values, of_object: Some(shared(of_object)), during_plan, range }
    }
}

const NOT_AVAILABLE: &str = "Name not available in a mock";

/// Gives a function for the objects of a mock its type.
fn shared(
    of_object: impl Fn(&Value, &InstanceKey) -> (Value, Diagnostics) + Send + Sync + 'static,
) -> Arc<ObjectValues> {
    Arc::new(of_object)
}

/// Whether an expression has another value for each object.
fn is_of_object(expr: &Expression, language: MockLanguage) -> bool {
    language == MockLanguage::Objects && references_self(expr)
}

/// Whether an expression uses the key of an instance.
fn has_key(expr: &Expression) -> bool {
    expr.variables().iter().any(|traversal| matches!(traversal.root_name(), "each" | "count"))
}

/// Evaluates with the files, the time and the randomness of the machine.
fn with_machine<T>(host: &dyn Host, evaluate: impl FnOnce(&dyn Machine) -> T) -> T {
    let names = TestNames::default();
    evaluate(&TestScope { names: &names, place: TestPlace::Run, host })
}
