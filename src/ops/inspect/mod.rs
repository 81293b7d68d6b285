//! Commands that change nothing: validation, expressions, the dependency graph, the causes of planned changes,
//! the providers and modules in use, the content of plans and state files.

pub mod console;
pub mod explain;
pub mod graph;
pub mod graph_focus;
pub mod modules;
pub mod provider_schemas;
pub mod providers;
pub mod show;
pub mod validate;
