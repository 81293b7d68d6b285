//! Acceptance tests: a provider in the process of the test, and a real program that uses it.
//!
//! A [`Test`] has providers and steps. Each [`Step`] applies a configuration, checks the plan ([`plan`]), the values and the state
//! ([`state`]) by what is expected ([`expect`]), and verifies that further plans are empty. [`Import`] imports an object and
//! compares it. [`Echo`] makes ephemeral values visible. [`Sweepers`] delete what failed tests left.
//!
//! The tests run if the environment variable `TF_ACC` is set. The program is that of `TF_ACC_TERRAFORM_PATH`, or `terrane`,
//! `terraform` or `tofu` of the path. Unit tests need none of this: see [`testing`](terrane_sdk::testing).
//!
//! Never knows how the program works: only its commands, exit codes and JSON.

mod conditions;
mod directory;
mod echo;
mod environment;
mod error;
pub mod expect;
mod import;
mod output;
pub mod plan;
mod program;
mod providers;
mod run;
mod session;
mod settings;
pub mod state;
mod step;
mod sweep;
mod test;
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod value_path;
mod verify;

pub use echo::Echo;
pub use error::{CheckResult, Error};
pub use expect::Expected;
pub use import::Import;
pub use plan::{Action, Plan};
pub use program::{Host, InvalidVersion, Version};
pub use state::State;
pub use step::Step;
pub use sweep::{SweepOptions, Sweeper, Sweepers};
pub use test::{Outcome, Test};
