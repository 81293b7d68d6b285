//! The program killed at any moment: nothing that was reported is lost.

mod apply_killed;
mod interrupted;
mod plugin_killed;
