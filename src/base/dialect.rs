//! The dialect of a process: the program in whose place it runs, with the language, defaults and hosts of that program.
//!
//! A [`Dialect`] is a value. It is detected once, when the program starts, and travels in the environment of a command, in the
//! source files of its configuration, and in what is made of these. Code does not ask a dialect: each difference between the
//! programs is a named rule in the file `opentofu.rs` of its area, and callers hand the dialect to that rule.

use std::path::Path;
use std::sync::OnceLock;

/// The program that is spoken like. Terrane speaks Terraform's language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    #[default]
    Terrane,
    Terraform,
    OpenTofu,
}

static OF_PROCESS: OnceLock<Dialect> = OnceLock::new();

impl Dialect {
    /// The dialect of this process, [`Dialect::Terrane`] until it is set: for the program's name in texts, for rules about flags of
    /// commands, and for the few places that `tests/architecture/dialect.rs` lists with a reason.
    pub fn of_process() -> Dialect {
        OF_PROCESS.get().copied().unwrap_or_default()
    }

    /// Sets the dialect of this process. Only the first call has an effect.
    pub fn set_for_process(self) {
        let _ = OF_PROCESS.set(self);
    }

    /// The dialect that a name chooses, or the file name that the program was started by.
    pub fn detect(started_as: Option<&Path>, chosen: Option<&str>) -> Dialect {
        let stem = || started_as?.file_stem()?.to_str();
        chosen.and_then(Dialect::of_command).or_else(|| Dialect::of_command(stem()?)).unwrap_or_default()
    }

    /// `tofu` -> `OpenTofu`
    fn of_command(command: &str) -> Option<Dialect> {
        let all = [Dialect::Terrane, Dialect::Terraform, Dialect::OpenTofu];
        all.into_iter().find(|dialect| dialect.command().eq_ignore_ascii_case(command))
    }

    /// Whether OpenTofu's language, formats and streams are spoken.
    pub fn is_opentofu(self) -> bool {
        self == Dialect::OpenTofu
    }

    /// Whether OpenTofu's answer holds where it destroys or creates less than Terraform's: always, except as Terraform.
    pub fn is_careful(self) -> bool {
        self != Dialect::Terraform
    }

    /// What differs between the two languages: Terraform's, which Terrane speaks too, or OpenTofu's.
    pub fn by_language<T>(self, terraform: T, opentofu: T) -> T {
        if self.is_opentofu() { opentofu } else { terraform }
    }

    /// The program whose language, formats and streams are spoken.
    pub fn language(self) -> Dialect {
        self.by_language(Dialect::Terraform, Dialect::OpenTofu)
    }

    pub const fn program(self) -> &'static str {
        match self {
            Dialect::Terrane => "Terrane",
            Dialect::Terraform => "Terraform",
            Dialect::OpenTofu => "OpenTofu",
        }
    }

    pub const fn command(self) -> &'static str {
        match self {
            Dialect::Terrane => "terrane",
            Dialect::Terraform => "terraform",
            Dialect::OpenTofu => "tofu",
        }
    }

    /// The host that `login`, the `cloud` block and the `remote` backend mean where none is named.
    pub fn service_host(self) -> Option<&'static str> {
        self.by_language(Some("app.terraform.io"), None)
    }

    /// The host of providers and modules whose address names none.
    pub fn registry_host(self) -> &'static str {
        self.by_language("registry.terraform.io", "registry.opentofu.org")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialect_comes_from_the_variable_then_the_file() {
        let cases = [
            ("/usr/bin/terrane", None, Dialect::Terrane),
            ("terraform", None, Dialect::Terraform),
            ("./bin/Terraform.EXE", None, Dialect::Terraform),
            ("/opt/tofu", None, Dialect::OpenTofu),
            ("/opt/terraform-1.11", None, Dialect::Terrane),
            ("terraform", Some("tofu"), Dialect::OpenTofu),
            ("terraform", Some("terrane"), Dialect::Terrane),
            ("tofu", Some("unknown"), Dialect::OpenTofu),
        ];
        for (path, chosen, expected) in cases {
            assert_eq!(Dialect::detect(Some(Path::new(path)), chosen), expected, "{path} {chosen:?}");
        }
        assert_eq!(Dialect::detect(None, None), Dialect::Terrane);
    }

    #[test]
    fn languages_and_hosts_of_each_dialect() {
        let facts = |dialect: Dialect| (dialect.language(), dialect.registry_host(), dialect.service_host());
        let terraform = (Dialect::Terraform, "registry.terraform.io", Some("app.terraform.io"));
        assert_eq!([Dialect::Terrane, Dialect::Terraform].map(facts), [terraform, terraform]);
        assert_eq!(facts(Dialect::OpenTofu), (Dialect::OpenTofu, "registry.opentofu.org", None));
    }
}
