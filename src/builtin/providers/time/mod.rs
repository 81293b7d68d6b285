//! The time provider: timestamps in the state, pauses, and three functions.
//!
//! `timestamp` defines the common type, `parse` reads it, `calendar` has its arithmetic. `rules` has a file with the rules of each
//! resource, `resources` one with its type, and `functions` the functions of the provider.
//!
//! Offsets are fixed. The reference applies the daylight saving time of the machine's time zone to timestamps with the
//! same offset; this module does not depend on the machine.
//!
//! Only `provider` and `resources` know schemas; the rest never does.

mod calendar;
pub mod functions;
mod parse;
pub mod provider;
mod resources;
mod rules;
#[cfg(test)]
mod tests;
pub mod timestamp;
