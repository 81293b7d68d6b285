//! The name that the program goes by in texts: Terrane, or that of the program in whose place it runs.
//!
//! Owns the one value of the process that texts of all layers depend on. It is set before anything else runs and never
//! changes; code must not branch on it except where a format or a default differs between the programs. Texts name
//! the program by [`PROGRAM`] and its command by [`COMMAND`]: `format!("Run \"{COMMAND} init\" ...")`.

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use super::env::{Environment, TERRANE_NAME};

/// A program that this one can stand in for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Name {
    #[default]
    Terrane,
    Terraform,
    OpenTofu,
}

/// Displays as the program's name, such as `Terrane`.
#[derive(Clone, Copy, Debug)]
pub struct Program;

/// Displays as the word that starts the program in a shell, such as `terrane`.
#[derive(Clone, Copy, Debug)]
pub struct Command;

/// The program's own name, for texts that must not follow the name it was started by.
pub const TERRANE: &str = Name::Terrane.program();

pub const PROGRAM: Program = Program;
pub const COMMAND: Command = Command;

static NAME: OnceLock<Name> = OnceLock::new();

/// The name of this process; [`Name::Terrane`] unless [`set`] was called.
pub fn current() -> Name {
    NAME.get().copied().unwrap_or_default()
}

/// Whether OpenTofu's texts, formats and streams are wanted.
pub fn is_opentofu() -> bool {
    current().language() == Name::OpenTofu
}

/// Whether OpenTofu's answer holds where it destroys or creates less than Terraform's: always, unless this process stands in for
/// Terraform.
pub fn is_careful() -> bool {
    current() != Name::Terraform
}

/// What differs between the two languages, a text above all: Terraform's, which Terrane's own name means too, or OpenTofu's.
pub fn by_language<T>(terraform: T, opentofu: T) -> T {
    if is_opentofu() { opentofu } else { terraform }
}

/// Sets the name of this process. Only the first call has an effect.
pub fn set(name: Name) {
    let _ = NAME.set(name);
}

impl Name {
    /// The name that `TERRANE_NAME` gives, or the file name that the program was started by.
    pub fn detect(started_as: Option<&Path>, environment: &Environment) -> Name {
        let chosen = environment.non_empty(TERRANE_NAME).and_then(Name::of_command);
        let stem = || started_as?.file_stem()?.to_str();
        chosen.or_else(|| Name::of_command(stem()?)).unwrap_or_default()
    }

    /// `tofu` -> `OpenTofu`
    fn of_command(command: &str) -> Option<Name> {
        let all = [Name::Terrane, Name::Terraform, Name::OpenTofu];
        all.into_iter().find(|name| name.command().eq_ignore_ascii_case(command))
    }

    /// The program whose language, formats and streams are spoken.
    pub fn language(self) -> Name {
        match self {
            Name::Terrane | Name::Terraform => Name::Terraform,
            Name::OpenTofu => Name::OpenTofu,
        }
    }

    pub const fn program(self) -> &'static str {
        match self {
            Name::Terrane => "Terrane",
            Name::Terraform => "Terraform",
            Name::OpenTofu => "OpenTofu",
        }
    }

    pub const fn command(self) -> &'static str {
        match self {
            Name::Terrane => "terrane",
            Name::Terraform => "terraform",
            Name::OpenTofu => "tofu",
        }
    }

    /// The host that `login`, the `cloud` block and the `remote` backend mean where none is named.
    pub fn service_host(self) -> Option<&'static str> {
        match self {
            Name::Terrane | Name::Terraform => Some("app.terraform.io"),
            Name::OpenTofu => None,
        }
    }

    /// The host of providers and modules whose address names none.
    pub fn registry_host(self) -> &'static str {
        match self {
            Name::Terrane | Name::Terraform => "registry.terraform.io",
            Name::OpenTofu => "registry.opentofu.org",
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(current().program())
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(current().command())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_comes_from_the_variable_then_the_file() {
        let cases = [
            ("/usr/bin/terrane", "", Name::Terrane),
            ("terraform", "", Name::Terraform),
            ("./bin/Terraform.EXE", "", Name::Terraform),
            ("/opt/tofu", "", Name::OpenTofu),
            ("/opt/terraform-1.11", "", Name::Terrane),
            ("terraform", "tofu", Name::OpenTofu),
            ("terraform", "terrane", Name::Terrane),
            ("tofu", "unknown", Name::OpenTofu),
        ];
        for (path, variable, expected) in cases {
            let environment = Environment::of([(TERRANE_NAME, variable)]);
            assert_eq!(Name::detect(Some(Path::new(path)), &environment), expected, "{path} {variable}");
        }
        assert_eq!(Name::detect(None, &Environment::default()), Name::Terrane);
    }

    #[test]
    fn texts_name_terrane_by_default() {
        assert_eq!(format!("{PROGRAM}, {COMMAND}"), "Terrane, terrane");
    }
}
