//! The names that test files know besides those of the tested module, as values.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::addr::Subject;
use terrane_value::Value;

/// What `run.NAME` and `var.NAME` mean in a test file, outside of assertions.
#[derive(Clone, Debug, Default)]
pub struct TestNames {
    /// By the run's name: an object of its outputs; none: it was not executed yet.
    pub runs: BTreeMap<Arc<str>, Option<Value>>,
    pub variables: BTreeMap<Arc<str>, Value>,
    /// Of `locals` blocks of the file.
    pub locals: BTreeMap<Arc<str>, Value>,
    /// The key and the value of the element that a run with `for_each` is executed for.
    pub each: Option<(Arc<str>, Value)>,
    /// What `plan` means in assertions and snapshots of files with extensions: an object with the attributes `resources` (a tuple) and
    /// `outputs` (an object), which have the form of `resource_changes` and `output_changes` in the document of `show -json`. That
    /// document has sensitive values: they must be marked here. None: `plan.x` is a resource, as everywhere else.
    pub plan: Option<Value>,
}

impl TestNames {
    /// What a name means that only files with extensions have: `local.x`, `each.key`, `each.value`.
    pub fn of_file(&self, subject: &Subject) -> Option<Value> {
        match subject {
            Subject::Local(name) => self.locals.get(name).cloned(),
            Subject::Each(name) => self.each_value(name),
            _ => None,
        }
    }

    /// What `each.key` or `each.value` means; none: nothing.
    fn each_value(&self, name: &str) -> Option<Value> {
        let (key, value) = self.each.as_ref()?;
        match name {
            "key" => Some(Value::shared_string(key.clone())),
            "value" => Some(value.clone()),
            _ => None,
        }
    }
}
