//! The files beside those of modules: policies, queries, migrations of states, tests, values of variables.
//!
//! Owns what each of them may say. Never decides which of them a command reads.

pub mod migration_file;
pub mod policy_file;
pub mod query_file;
pub mod test_file;
pub mod values_file;
