//! The language's syntax from outside: what is said of broken files, and that no input whatsoever brings the program down.

mod broken;
pub mod chance;
mod depth;
mod fuzz;
mod growth;
mod invariants;
