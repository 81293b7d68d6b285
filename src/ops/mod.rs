//! Every user-visible operation, end to end; the only place that wires doors to the engine.
//!
//! Takes plain options, gives back values and diagnostics. Never knows argument syntax, never prints, never prompts: what
//! only a person can answer it asks through a trait.

pub mod options;
