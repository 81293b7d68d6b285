//! Terrane beside the reference: each drives what the other has. Skipped where there is no `terraform`.

mod folders;
mod public_names;
mod plugin_server;
