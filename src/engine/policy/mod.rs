//! Policies: their scope, their functions and their results, for what a plan changes.
//!
//! | File | Owns |
//! |---|---|
//! | `judge.rs` | the results of policies for one target |
//! | `scope.rs` | the names in a policy: `attrs`, `prior_attrs`, `meta`, `input`, `local` |
//! | `functions.rs` | the functions that only policies have |
//! | `target.rs` | what a policy is evaluated for, and its `meta` |
//! | `targets.rs` | the targets of a run |
//! | `mocks.rs` | the objects that test files of policies declare |
//! | `run_data.rs` | the objects and data sources that policies of a run can look up |
//! | `at_init.rs` | those of providers and modules that are about to be installed |
//! | `at_plan.rs` | the policies of a plan |
//! | `at_apply.rs` | those that a plan could not decide on, before the provider is asked and at the end |
//! | `at_query.rs` | those of the objects that a query finds |
//!
//! The language is that of `lang`. Never reads a file of policies, and never shows a result.

pub(crate) mod at_apply;
mod at_init;
pub(crate) mod at_plan;
pub(crate) mod at_query;
mod functions;
mod judge;
mod mocks;
mod run_data;
mod scope;
mod target;
mod targets;

use std::sync::Arc;

use lang::functions::FunctionError;
use terrane_value::Value;

use crate::run::policy_objects::ObjectList;

pub use at_init::{before_install, called_module, selected_provider};
pub use at_plan::findings;
pub use judge::{Judge, denied};
pub use mocks::{MockedObject, MockedObjects, evaluate_mocks, evaluate_test_inputs};
pub use target::{PolicyTarget, TargetMeta, null_object};

/// What policies can look up beside their target.
pub trait PolicyData: Sync {
    /// The objects of a type of managed resources. None: which there are is not known yet.
    fn resources(&self, kind: &str) -> Option<Arc<ObjectList>>;

    /// A data source that is read with a configuration.
    fn data_source(&self, kind: &str, config: &Value) -> Result<Value, FunctionError>;
}

#[cfg(test)]
mod tests;
