//! The verbs, a file each: the input becomes a [`prepare::RunRequest`], `prepare` runs the passes that create a run from it,
//! the walk executes it, and the verb combines the results. Never knows what a node does.

mod apply;
mod assertion;
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

pub use apply::{apply, apply_and_evaluate, missing_variables};
pub use assertion::Verdict;
pub use evaluate::{evaluate, evaluate_plan};
pub use evaluation::{Evaluation, Names};
pub use import::import;
pub use plan::{plan, plan_and_evaluate};
pub use query::query;
pub use validate::validate;
