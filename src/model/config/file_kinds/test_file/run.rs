//! What a `run` block says, and which state it uses.

use std::sync::Arc;

use base::source::Range;
use lang::syntax::ast::{Expression, Traversal};
use terrane_value::Value;

use super::backend::RunBackend;
use super::expected::ExpectedFailure;
use super::overriding::Overrides;
use crate::addr::InstanceKey;
use crate::config::blocks::by_name::ByName;
use crate::config::blocks::condition::Condition;
use crate::config::blocks::module_call::ModuleCall;
use crate::config::module::Config;
use crate::config::module_source;
use crate::config::providers::provider_ref::ProviderPassing;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestCommand {
    Plan,
    Apply,
}

/// `run "name" {}`.
#[derive(Clone, Debug)]
pub struct TestRun {
    pub name: Arc<str>,
    pub name_range: Range,
    pub command: TestCommand,
    pub options: PlanOptions,
    pub variables: ByName<Expression>,
    /// What is tested instead of the root module.
    pub module: Option<ModuleCall>,
    /// That module as a separate root, if it could be loaded.
    pub under_test: Option<Config>,
    pub overrides: Overrides,
    pub asserts: Vec<Condition>,
    /// Which of the file's providers it uses; empty: all, by name.
    pub providers: Vec<ProviderPassing>,
    pub expect_failures: Vec<ExpectedFailure>,
    /// Runs with the same key share a state. See [`TestRun::state_key`].
    pub state_key: Option<String>,
    /// Whether it may go on beside others that do not need it; none: as the file says.
    pub parallel: Option<bool>,
    /// Whether what it leaves in its state is kept; none: as the file says.
    pub skip_cleanup: Option<bool>,
    /// The name of that argument.
    pub skip_cleanup_range: Option<Range>,
    /// Where its state is read from and kept.
    pub backend: Option<RunBackend>,
    /// Extension: it is executed once per element.
    pub for_each: Option<Expression>,
    /// The element of `for_each` that it is executed for. See [`TestRun::for_element`].
    pub instance: Option<RunInstance>,
    /// Extension: it begins with its own empty state, which is destroyed when it ends.
    pub isolated: bool,
    /// Extension: a plan after it must be empty.
    pub assert_no_changes: bool,
    /// Extension: errors that must be reported.
    pub expect_error: Vec<ExpectError>,
    /// Extension: values that must be those of the last time.
    pub snapshots: Vec<Snapshot>,
    /// The block's header.
    pub range: Range,
}

/// Which element of its block's `for_each` a run is executed for.
#[derive(Clone, Debug)]
pub struct RunInstance {
    /// The name of the block.
    pub block: Arc<str>,
    /// What `each.key` and `each.value` mean.
    pub key: Arc<str>,
    pub value: Value,
}

impl TestRun {
    /// The name by which other runs refer to it: without the key of an element.
    pub fn block_name(&self) -> &Arc<str> {
        self.instance.as_ref().map_or(&self.name, |instance| &instance.block)
    }

    /// The run of one element of its `for_each`.
    pub fn for_element(&self, key: Arc<str>, value: Value) -> TestRun {
        let name = format!("{}{}", self.name, InstanceKey::Str(key.clone()));
        let instance = RunInstance { block: self.name.clone(), key, value };
        TestRun { name: name.into(), instance: Some(instance), for_each: None, ..self.clone() }
    }

    /// The key of the state that it uses: its `state_key`, or the source of the module that it tests; empty for the root module. An
    /// isolated run has one that no other has.
    pub fn state_key(&self) -> String {
        match (&self.state_key, &self.module) {
            _ if self.isolated => format!("run.{}", self.name),
            (Some(key), _) => key.clone(),
            (None, Some(call)) => {
                module_source::parse(&call.source).map_or_else(|_| call.source.clone(), |source| source.to_string())
            }
            (None, None) => String::new(),
        }
    }
}

/// `plan_options {}`.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    pub refresh_only: bool,
    pub refresh: bool,
    pub replace: Vec<Traversal>,
    pub target: Vec<Traversal>,
}

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions { refresh_only: false, refresh: true, replace: Vec::new(), target: Vec::new() }
    }
}

/// `expect_error {}`: patterns that an error must match; without any, every error does.
#[derive(Clone, Debug)]
pub struct ExpectError {
    pub summary: Option<Expression>,
    /// Of the detail.
    pub message: Option<Expression>,
    /// Of the object that the error is about.
    pub address: Option<Expression>,
    pub range: Range,
}

/// `snapshot "name" {}`.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub name: Arc<str>,
    pub name_range: Range,
    pub value: Expression,
    pub range: Range,
}
