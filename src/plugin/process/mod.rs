//! A plugin's process: started, connected to, watched, asked to end, killed.
//!
//! Owns everything about the process and nothing about what it is asked. A process that is dropped is killed. `launch` starts
//! one, `connect` connects to it, `running` is the process from then on, `children` all of them.

mod children;
mod connect;
mod diagnose;
mod launch;
mod output;
mod running;
mod small_rsa;
pub mod stdio;

pub use children::{Children, StartListener};
pub use connect::ConnectError;
pub use launch::{Launch, Plugin, START_TIMEOUT, Security, StartError, reattach};
pub use running::Process;
