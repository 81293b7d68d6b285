//! Terrane beside the reference: each drives what the other has. Skipped where there is no `terraform`.

mod folders;
mod plans;
mod plugin_server;
mod public_names;
