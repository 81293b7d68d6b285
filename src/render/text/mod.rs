//! Text for people.

pub mod diagnostic;
pub mod diff;
pub mod plan;
pub mod progress;
pub mod snippet;
pub mod style;
pub mod value;
pub mod wrap;
