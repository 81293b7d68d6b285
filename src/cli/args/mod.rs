//! Command-line arguments: a file per command, shared groups of options, the flag syntax.
//!
//! Parses arguments to the plain options of [`ops`]. Never has side effects.

pub mod common;
pub mod flags;
pub mod plan_view;
pub mod view;
pub mod words;

pub mod apply;
pub mod completion;
pub mod console;
pub mod explain;
pub mod fmt;
pub mod force_unlock;
pub mod get;
pub mod graph;
pub mod import;
pub mod init;
pub mod link;
pub mod lint;
pub mod login;
pub mod metadata;
pub mod modules;
pub mod output;
pub mod plan;
pub mod policy;
pub mod provider;
pub mod providers;
pub mod providers_lock;
pub mod query;
pub mod refresh;
pub mod show;
pub mod state;
pub mod state_edits;
pub mod state_history;
pub mod state_migrate;
pub mod taint;
pub mod test;
pub mod validate;
pub mod version;
pub mod workspace;

use std::path::Path;

use base::diag::{Diagnostic, Diagnostics};
use clap::{ArgMatches, Command};
use flags::FlagError;
use model::version::at_least;
use ops::interface::options::VariableArgument;

/// What was typed, with the values of root variables: these may decide which backend is used.
pub type Parsed<T> = Result<(T, Vec<VariableArgument>), ArgsError>;

/// Errors in arguments, in the two forms that commands use.
#[derive(Debug)]
pub enum ArgsError {
    /// Diagnostics; `hint`: followed by how to get help.
    Diagnostics { diagnostics: Diagnostics, hint: bool },
    /// Diagnostics for programs: a stream of JSON lines.
    Json(Diagnostics),
    /// Diagnostics for programs: in the document that the command writes.
    Document(Diagnostics),
    /// A line of text; `usage`: with the command's help page.
    Text { text: String, usage: bool },
    /// A line of text, and then the command's help page, which is no error.
    TextThenPage(String),
    /// A line of text, and then the command's help page, which is part of the error.
    TextThenErrorPage(String),
}

/// Why a file cannot be read, if it cannot.
pub type Missing<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// The only name that lock files may have that an option names.
const LOCK_FILE: &str = ".terraform.lock.hcl";

/// What is wrong with the name of a lock file, if anything.
fn lock_file_name_problem(path: &Path) -> Option<String> {
    let name = path.file_name().unwrap_or_default();
    (name != LOCK_FILE).then(|| format!("Expected lock file name to be {LOCK_FILE}, got: {}", name.display()))
}

/// The summary where a flag is not understood.
const BAD_FLAGS: &str = "Failed to parse command-line flags";

/// There are words where a command takes none.
const TOO_MANY_WORDS: &str = "Too many command line arguments. Did you mean to use -chdir?";

impl ArgsError {
    /// A diagnostic followed by how to get help.
    pub fn usage(summary: impl Into<String>, detail: impl Into<String>) -> ArgsError {
        ArgsError::Diagnostics { diagnostics: Diagnostic::error(summary, detail).into(), hint: true }
    }

    /// All that is wrong with the arguments, for people or for programs.
    pub fn all(diagnostics: Diagnostics, json: bool) -> ArgsError {
        if json { ArgsError::Json(diagnostics) } else { ArgsError::Diagnostics { diagnostics, hint: true } }
    }

    /// A flag was not understood by a command that answers with its help page, as it did before Terraform 1.16.
    pub fn flag_with_page(error: FlagError) -> ArgsError {
        if at_least(16) {
            return ArgsError::Diagnostics {
                diagnostics: Diagnostic::error(BAD_FLAGS, error.to_string()).into(),
                hint: false,
            };
        }
        ArgsError::Text { text: format!("Error parsing command-line flags: {error}\n"), usage: true }
    }

    /// There are words where a command takes none.
    pub fn too_many() -> ArgsError {
        ArgsError::Text { text: TOO_MANY_WORDS.into(), usage: false }
    }
}

/// The arguments, and errors in the flags: commands that report diagnostics still check the rest.
pub fn gather(command: Command, args: &[String]) -> (ArgMatches, Diagnostics) {
    let (given, mistake) = flags::parse_partly(command, args);
    (given, mistake.map(|error| Diagnostic::error(BAD_FLAGS, error.to_string())).into_iter().collect())
}
