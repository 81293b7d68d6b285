//! What operations and those who call them exchange: options in; questions, events and plans to show out.
//!
//! Values alone: nothing is done here.

pub mod ask;
pub mod listen;
pub mod options;
pub mod planning;
