//! Terrane: infrastructure as code in one binary.
//!
//! The core is pure; other areas connect it to the outside. Data flows in one direction: *text → configuration → plan → state → view*.
//! Folders have a total order, listed here from the bottom up; a file imports only from lower layers, never from a
//! sibling area of its own layer. `tests/architecture.rs` enforces it and `docs/architecture.md` explains it.
//!
//! - [`base`]: the operating system and basic types: diagnostics, files, locks, processes, terminal. Knows nothing of infrastructure.
//! - [`lang`]: the language: syntax, values, evaluation, functions.
//! - [`model`]: the data: addresses, schemas, configuration, state, plan, the provider interface, locks.
//! - [`engine`]: the logic: graph, walk, validate, plan, apply.
//! - [`encryption`]: encrypted states and plans, in OpenTofu's format.
//! - [`plugin`], [`install`], [`backend`]: the access to the outside: plugin processes, packages, state stores.
//! - [`render`]: model values to text or JSON; pure. [`sdk`]: the library for authors of providers.
//! - [`builtin`]: the plugins in this binary, made with the library.
//! - [`ops`]: every user-visible operation, end to end.
//! - [`cli`]: the command line: arguments and output.

// The code that the derive macro writes names this crate from the outside.
extern crate self as terrane;

pub mod base;
pub mod lang;
pub mod model;

#[cfg(feature = "cli")]
pub mod encryption;
#[cfg(feature = "cli")]
pub mod engine;

#[cfg(feature = "cli")]
pub mod backend;
#[cfg(feature = "cli")]
pub mod builtin;
#[cfg(feature = "cli")]
pub mod install;
pub mod plugin;

pub mod sdk;

#[cfg(feature = "cli")]
pub mod render;

#[cfg(feature = "cli")]
pub mod ops;

#[cfg(feature = "cli")]
pub mod cli;
