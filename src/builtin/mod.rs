//! The plugins that live in this binary; not told that they run in a process of their own.
//!
//! Owns the built-in providers and provisioners, the declarative schemas that they are written with, and SSH. Each
//! implements a trait of `model::provider`. Never knows how a plugin is started or served, nor the engine.

pub mod providers;
pub mod sdk;
pub mod ssh;
