//! The release that the user wants the run to be compatible with: it counts more than the configuration.

use std::path::Path;
use std::sync::OnceLock;

use base::diag::Diagnostic;
use base::dialect::Dialect;
use base::env::{self, Environment, TERRANE_COMPATIBLE_VERSION};
use base::name::TERRANE;
use model::deps::compatible::{Choice, choose};
use model::deps::{Constraints, Version};
use model::version::{self, PROGRAM_VERSION, Wish, newest_of, supported};

use crate::opentofu;

/// Reads the wish from the environment, or else from the files that version managers read; once in a process.
pub fn note_wish(environment: &Environment) -> Result<(), Diagnostic> {
    static NOTED: OnceLock<Result<(), Diagnostic>> = OnceLock::new();
    let note = || {
        let wish = wish(environment, &env::working_dir().unwrap_or_default())?;
        version::begin(wish);
        Ok(())
    };
    NOTED.get_or_init(note).clone()
}

fn wish(environment: &Environment, folder: &Path) -> Result<Option<Wish>, Diagnostic> {
    if let Some(text) = environment.non_empty(TERRANE_COMPATIBLE_VERSION) {
        return wish_of(environment.dialect(), text, TERRANE_COMPATIBLE_VERSION).map(Some);
    }
    let name = opentofu::version_file(environment.dialect());
    for folder in folder.ancestors() {
        let path = folder.join(name);
        let Ok(content) = std::fs::read_to_string(&path) else { continue };
        let text = content.trim();
        // Other contents, such as `latest`, are for programs that choose among installed versions.
        let is_plain = Version::parse_exact(text.strip_prefix('v').unwrap_or(text)).is_ok_and(|v| !v.is_prerelease());
        return if is_plain {
            wish_of(environment.dialect(), text, &path.display().to_string()).map(Some)
        } else {
            Ok(None)
        };
    }
    Ok(None)
}

fn wish_of(dialect: Dialect, text: &str, source: &str) -> Result<Wish, Diagnostic> {
    let invalid = |why: &str| {
        let detail = format!("{source} has the value {text:?}, {why}");
        Diagnostic::error("Invalid compatible version", detail)
    };
    let written = "which is neither a version, such as 1.5.7, nor a constraint, such as \"~> 1.5.0\".";
    let constraints = Constraints::parse(text).map_err(|_| invalid(written))?;
    if constraints.0.iter().any(|constraint| constraint.version.is_prerelease()) {
        return Err(invalid("which names a prerelease; only stable releases can be chosen."));
    }
    let newest = newest_of(dialect).text;
    let program = dialect.language().program();
    match choose(dialect, &[&constraints]) {
        Choice::Release(release) => Ok(Wish { release, later: None, source: source.to_owned() }),
        Choice::Patch(release) => {
            let later = Some(text.trim_start_matches('v').to_owned());
            Ok(Wish { release, later, source: source.to_owned() })
        }
        Choice::Later => Err(invalid(&format!(
            "but the language of {TERRANE} {PROGRAM_VERSION} is complete until {program} {newest}."
        ))),
        Choice::Nothing => Err(invalid(&format!(
            "which no release of {} meets. {TERRANE} {PROGRAM_VERSION} is compatible with these.",
            supported(dialect)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The release, or the second half of the error's text.
    fn outcome(variable: &str, file: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        if !file.is_empty() {
            std::fs::write(folder.path().join(".terraform-version"), file).unwrap();
        }
        match wish(&Environment::of([(TERRANE_COMPATIBLE_VERSION, variable)]), &inner) {
            Ok(wish) => wish.map_or("none".to_owned(), |wish| wish.release.text.to_owned()),
            Err(problem) => problem.detail.split_once(", ").unwrap().1.to_owned(),
        }
    }

    #[test]
    fn variable_then_file() {
        let newest = newest_of(Dialect::Terraform).text;
        let complete = format!("but the language of Terrane {PROGRAM_VERSION} is complete until Terraform {newest}.");
        let unmet = format!(
            "which no release of {} meets. Terrane {PROGRAM_VERSION} is compatible with these.",
            supported(Dialect::default())
        );
        let cases = [
            ("", "", "none"),
            ("1.5.7", "1.6.0", "1.5.7"),
            ("~> 1.5.0", "", "1.5.7"),
            (">= 1.2, < 1.4", "", "1.3.10"),
            ("", "1.6.0\n", "1.6.0"),
            ("", "v1.6.0", "1.6.0"),
            ("", "latest", "none"),
            ("", "latest:^1.5", "none"),
            ("", "min-required", "none"),
            ("", "1.6", "none"),
            ("", "~> 1.6.0", "none"),
            ("", "1.6.0-rc1", "none"),
            ("", "0.13.7", &unmet),
            ("0.13.7", "", &unmet),
            ("1.99.0", "", &complete),
            ("newest", "", "which is neither a version, such as 1.5.7, nor a constraint, such as \"~> 1.5.0\"."),
            ("1.6.0-rc1", "", "which names a prerelease; only stable releases can be chosen."),
        ];
        for (variable, file, expected) in cases {
            assert_eq!(outcome(variable, file), expected, "{variable:?} {file:?}");
        }
    }
}
