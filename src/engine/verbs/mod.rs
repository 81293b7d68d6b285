//! The verbs, a file each: what is asked becomes a [`prepare::Request`], `prepare` runs the passes that turn it into a run,
//! the walk carries it out, and the verb puts the results together. Never knows what a node does.

mod apply;
mod check_results;
mod evaluate;
mod evaluation;
mod import;
mod plan;
pub(super) mod planned;
mod prepare;
mod relevant;
mod validate;

pub use apply::{apply, missing_variables};
pub use evaluate::{evaluate, evaluate_plan};
pub use evaluation::{Evaluation, Names};
pub use import::import;
pub use plan::plan;
pub use validate::validate;
