//! What the output of commands has in another form under the names of Terraform and OpenTofu.
//!
//! Owns the rules of this area that depend on the dialect.

use base::dialect::Dialect;
use model::opentofu::tofu_at_least;

/// Whether `-json` of `workspace list` and `state show` is a document, as Terraform has it. Otherwise it is a stream.
pub fn writes_documents(dialect: Dialect) -> bool {
    dialect == Dialect::Terraform
}

/// Whether the first line of `version` also names Terrane. Other programs read that line as that of Terraform or OpenTofu.
pub fn names_terrane_in_version(dialect: Dialect) -> bool {
    dialect == Dialect::Terrane
}

/// Whether forgotten objects are counted at the end of an apply.
pub fn counts_forgotten_objects(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether `validate` speaks of warnings that were shown also if all of them were suppressed.
pub fn mentions_suppressed_warnings(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// What `init` calls the service of a `cloud` block.
pub fn cloud_service(dialect: Dialect) -> &'static str {
    dialect.by_language("HCP Terraform", "cloud backend")
}

/// Whether empty lines stand before each part of the output of `init`, and behind its warnings.
pub fn separates_parts_of_init(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether messages of the streams of `init` and `get` have no type and no code, but the lines that people read.
pub fn has_plain_streams(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether the error about a workspace that already exists says how to switch to it, as since OpenTofu 1.13.
pub fn suggests_workspace_select(dialect: Dialect) -> bool {
    tofu_at_least(dialect, 13)
}

/// Whether `validate`, `plan`, `apply` and `refresh` have the flag `-lint`, as since OpenTofu 1.13. The rule takes the dialect of the
/// process, because the table of commands creates flags without a dialect.
pub fn has_lint_flag() -> bool {
    tofu_at_least(Dialect::of_process(), 13)
}

/// Whether `test` says of files and runs that they are in progress. OpenTofu shows a file when it is over, and its result before those of
/// its runs.
pub fn reports_progress_of_tests(dialect: Dialect) -> bool {
    !dialect.is_opentofu()
}

/// Whether `test` names the files of the states that `skip_cleanup` keeps, and the command that destroys their objects, and says which
/// states stay in backends.
pub fn names_files_of_kept_states(dialect: Dialect) -> bool {
    dialect == Dialect::Terrane
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use install::event::ModuleEvent;
    use model::addr::Module;

    use super::*;
    use crate::view::get::module_message;
    use crate::view::version::view;

    const ALL: [Dialect; 3] = [Dialect::Terrane, Dialect::Terraform, Dialect::OpenTofu];

    #[test]
    fn version_names_the_language() {
        let first_line = |dialect| {
            let text = view(false, dialect).text("linux_amd64", &[], None);
            let (name, rest) = text.lines().next().unwrap().split_once(" v").unwrap();
            (name.to_owned(), rest.contains("compatible"))
        };
        let expected = [("Terraform", true), ("Terraform", false), ("OpenTofu", false)];
        assert_eq!(ALL.map(first_line), expected.map(|(name, is_compatible)| (name.to_owned(), is_compatible)));
    }

    #[test]
    fn streams_of_modules_have_the_form_of_each_dialect() {
        let event = ModuleEvent::Installed { path: Module::root().child("m"), dir: PathBuf::from("m") };
        let line = |dialect| {
            let line = module_message(&event, dialect).unwrap().line(dialect, "T");
            (line.contains(r#""type":"log""#), line.contains("installing m in m"))
        };
        assert_eq!(ALL.map(line), [(true, false), (true, false), (false, true)]);
    }

    #[test]
    fn terraform_alone_has_documents() {
        assert_eq!(ALL.map(writes_documents), [false, true, false]);
        assert_eq!(ALL.map(cloud_service), ["HCP Terraform", "HCP Terraform", "cloud backend"]);
        assert_eq!(ALL.map(reports_progress_of_tests), [true, true, false]);
    }

    #[test]
    fn files_of_kept_states_are_named_by_terrane_alone() {
        assert_eq!(ALL.map(names_files_of_kept_states), [true, false, false]);
    }

    #[test]
    fn additions_of_opentofu_1_13_are_its_own() {
        assert_eq!(ALL.map(suggests_workspace_select), [false, false, true]);
        assert!(!has_lint_flag(), "the process of unit tests speaks Terraform's language");
    }
}
