//! Resources: a pipeline of small steps per instance: upgrade, read, evaluate, propose, provider plan, check, record.
//!
//! Owns the order of these steps; the rules are pure and in `change`. Never accesses the outside except through the run's ports.

pub mod apply;
pub mod conditions;
pub mod deferral;
pub mod ephemeral_use;
pub mod expand;
pub mod import;
mod instance;
pub mod label;
pub mod list;
pub mod plan;
pub mod provider_choice;
pub mod read;
pub mod record;
mod unknown_type;
pub mod validate;

pub use instance::{Instance, with_instance};
