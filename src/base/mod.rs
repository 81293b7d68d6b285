//! The machine: diagnostics, source files, files on disk, locks, processes, terminal, environment, log.
//!
//! Owns what talks to the operating system and what every layer needs to speak of text. Imports nothing of ours and
//! never knows the word "provider".

pub mod diag;
pub mod source;
