//! Renders model values as text or JSON.
//!
//! - [`text`]: for people. [`json`]: for programs. [`docs`]: pages of providers. [`dot`], [`mermaid`], [`svg`]: graphs. [`layout`]: places for
//!   what a graph has. [`timings`]: how long steps took.
//! - [`html`], [`markdown`]: plans and states for browsers and merge requests; [`review`]: what both show.
//! - [`summary`]: what short forms of a plan have in common; [`plan_filter`]: which changes are shown; [`reasons`], [`source_place`]: why
//!   a change is made, and where in the configuration.
//! - [`objects`], [`schemas`], [`words`], [`cause_words`]: what text and JSON have in common: stored objects as values, look-ups of schemas, the
//!   words for operations and for causes of changes.
//!
//! Owns layouts and texts. Pure: never does I/O; width and colour are parameters.

pub mod cause_words;
pub mod docs;
pub mod dot;
pub mod html;
pub mod json;
pub mod layout;
pub mod markdown;
pub mod mermaid;
pub mod objects;
mod opentofu;
pub mod plan_filter;
pub mod reasons;
pub mod review;
pub mod schemas;
pub mod source_place;
pub mod state_summary;
pub mod summary;
pub mod svg;
pub mod text;
pub mod timings;
pub mod words;
