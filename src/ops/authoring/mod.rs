//! For people who write providers with `terrane_sdk`: a new project, the pages of a registry, and releases.
//!
//! Works on the project in the working directory and on programs that it builds. Never reads configurations or states.

pub mod docs;
mod pages;
mod program;
mod project;
pub mod release;
pub mod scaffold;

use base::diag::{Diagnostic, Diagnostics};

/// Progress of a build.
#[derive(Clone, Copy, Debug)]
pub enum BuildEvent<'a> {
    /// Cargo builds this package.
    Started(&'a str),
    /// A line that cargo wrote.
    Line(&'a str),
}

pub type TellBuild<'a> = &'a mut (dyn FnMut(BuildEvent<'_>) + Send);

/// What registries and configurations call a provider: `todo` in `terraform-provider-todo`.
const PROGRAM_PREFIX: &str = "terraform-provider-";

fn failure(summary: &str, detail: impl Into<String>) -> Diagnostics {
    Diagnostic::error(summary, detail).into()
}

/// The error of a command that was interrupted.
fn interrupted() -> Diagnostics {
    failure(crate::run::session::CANCELED, "")
}
