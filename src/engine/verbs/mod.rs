//! The verbs, a file each: the input becomes a [`prepare::RunRequest`], `prepare` runs the passes that create a run from it,
//! the walk executes it, and the verb combines the results. Never knows what a node does.

mod apply;
mod check_results;
mod evaluate;
mod evaluation;
mod import;
mod plan;
pub(super) mod planned;
pub(super) mod prepare;
mod query;
mod relevant;
mod undecodable;
mod unmatched;
mod validate;

pub use apply::{apply, missing_variables};
pub use evaluate::{evaluate, evaluate_plan};
pub use evaluation::{Evaluation, Names};
pub use import::import;
pub use plan::plan;
pub use query::query;
pub use validate::validate;
