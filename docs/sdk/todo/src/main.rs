//! The provider "todo": notes in a small to-do service.
//!
//! An example of a whole provider, made to be copied. [`provider`] lists what there is.

#[cfg(test)]
mod acceptance;
mod archive;
mod client;
#[cfg(test)]
mod fake;
mod list;
mod note;
mod notes;
mod provider;
mod session;
mod slug;

use std::process::ExitCode;

use terrane_sdk::Serve;

fn main() -> ExitCode {
    Serve::new("registry.terraform.io/example/todo").run(provider::Todo)
}
