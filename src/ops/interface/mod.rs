//! The interface of operations: requests and options as input; questions, events and plans to show as output.
//!
//! Only values: nothing is executed here.

pub mod ask;
pub mod coverage;
pub mod listen;
pub mod options;
pub mod planning;
pub mod requests;
pub mod testing;
