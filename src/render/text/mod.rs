//! Text for people.

pub mod diagnostic;
pub mod progress;
pub mod snippet;
pub mod style;
pub mod wrap;
