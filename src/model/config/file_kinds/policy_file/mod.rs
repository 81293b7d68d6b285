//! `*.policy.hcl` and `*.policytest.hcl`: policies about what a plan may do, and tests of them.
//!
//! | File | Owns |
//! |---|---|
//! | `file.rs` | a file of policies with its settings and local values |
//! | `policy.rs` | one policy: what it is about, its operations, its conditions |
//! | `input.rs` | the inputs of a file, and the values that they take |
//! | `policy_set.rs` | all files of a run, with the values given for their inputs |
//! | `test_file.rs` | tests: mocked objects and what is expected of them |
//!
//! Never evaluates a condition, and never knows a plan.

mod file;
mod input;
mod policy;
mod policy_set;
mod test_file;

pub use file::{PolicyFile, PolicyProvider};
pub use input::{PolicyInput, UnfitValue};
pub use policy::{Enforce, Policy, PolicyKind, PolicyLevel, PolicyOperation};
pub use policy_set::{GivenInputs, PolicySet, SetFile, input_values};
pub use test_file::{PolicyMock, PolicyMockKind, PolicyTestFile};

/// The endings of the files.
pub const POLICY_ENDING: &str = ".policy.hcl";
pub const POLICY_TEST_ENDING: &str = ".policytest.hcl";

/// The summary of what a file may not say.
pub const INVALID_POLICY: &str = "Invalid policy";

#[cfg(test)]
mod tests;
