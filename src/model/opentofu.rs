//! What the language and the formats of OpenTofu have in another way than Terraform's.
//!
//! Owns the rules of this area that depend on the dialect: of configurations, addresses, plans and states. Rules about
//! configurations take the dialect of the file that the text is in.

use base::dialect::Dialect;

use crate::version::release_at_least;

/// A dialect for each language, for formats that are read in the form of either.
pub(crate) const EITHER: [Dialect; 2] = [Dialect::Terraform, Dialect::OpenTofu];

/// The dialect that a module calls `opentofu`, whichever is spoken.
pub(crate) const LANGUAGE: Dialect = Dialect::OpenTofu;

/// Whether the releases that count are those of OpenTofu, which have numbers of their own.
pub fn has_own_releases(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether the program is OpenTofu and the run is compatible with OpenTofu 1.MINOR or later. Only for rules in files `opentofu.rs`,
/// each of which names what that release changed.
pub fn tofu_at_least(dialect: Dialect, minor: u64) -> bool {
    dialect.is_opentofu() && release_at_least(dialect, minor)
}

/// Whether the language has symbol libraries, an experiment since OpenTofu 1.13. In other languages, `symbols` has no meaning.
pub fn knows_symbol_libraries(dialect: Dialect) -> bool {
    tofu_at_least(dialect, 13)
}

/// Whether `experiments` in a `terraform` block is ignored, as since OpenTofu 1.13. Terraform and older releases of OpenTofu refuse
/// it.
pub fn ignores_experiments_of_terraform(dialect: Dialect) -> bool {
    tofu_at_least(dialect, 13)
}

/// Whether connections of type `winrm` are refused because the program no longer has them, as since OpenTofu 1.13.
pub fn refuses_winrm(dialect: Dialect) -> bool {
    tofu_at_least(dialect, 13)
}

/// Which files of two names, one for each program, are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChoice {
    /// Those of Terraform and no others: Terraform does not know the endings of OpenTofu.
    TerraformOnly,
    /// Those of Terraform, and those of OpenTofu that have none of Terraform beside them.
    TerraformFirst,
    /// Those of OpenTofu, and those of Terraform that have none of OpenTofu beside them.
    OpenTofuFirst,
}

pub fn file_choice(dialect: Dialect) -> FileChoice {
    match dialect {
        Dialect::Terrane => FileChoice::TerraformFirst,
        Dialect::Terraform => FileChoice::TerraformOnly,
        Dialect::OpenTofu => FileChoice::OpenTofuFirst,
    }
}

/// Whether arguments in `required_providers` may need variables and local values, as since Terraform 1.17. OpenTofu refuses them.
pub fn evaluates_requirements(dialect: Dialect) -> bool {
    !dialect.is_opentofu()
}

/// Whether errors name the argument of a module call that is needed early. OpenTofu has one text for all that is.
pub fn names_module_arguments(dialect: Dialect) -> bool {
    !dialect.is_opentofu()
}

/// Whether a `required_version` in a file counts. OpenTofu leaves what files for both programs say to Terraform.
pub fn heeds_required_version(dialect: Dialect, file: &str) -> bool {
    !dialect.is_opentofu() || file.ends_with(".tofu") || file.ends_with(".tofu.json")
}

/// Whether the error about `compatible_with` names the module and its constraint, as that of Terrane does.
pub fn names_incompatible_module(dialect: Dialect) -> bool {
    !dialect.is_opentofu()
}

/// What the error about a prerelease in `required_version` calls the program.
pub fn program_of_prereleases(dialect: Dialect) -> &'static str {
    dialect.by_language("terraform", "OpenTofu")
}

/// Whether a module is used only if it was installed from the source that its call has now. Terraform looks at this only for modules
/// that are not local.
pub fn checks_module_records(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether attributes that the type of a variable does not have are warned of, in its default and in its argument.
pub fn warns_of_ignored_attributes(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether a `deprecated` argument must have a text.
pub fn refuses_empty_deprecations(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether constraints of `compatible_with` on OpenTofu itself that have no effect are warned of.
pub fn warns_of_ineffective_constraints(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether there is one edition of the language and no experiment, with the errors of OpenTofu about others. Terrane also accepts the
/// editions of the other program.
pub fn has_one_edition(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether an invalid `lifecycle.destroy` is an error only where it matters. Terraform reports it when it reads the block.
pub fn checks_destroy_later(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether `removed` blocks without `lifecycle` leave their objects alone. Terraform destroys these.
pub fn forgets_removed_objects(dialect: Dialect) -> bool {
    dialect.is_careful()
}

/// Whether `removed` blocks have the errors and warnings of OpenTofu, of which there are more.
pub fn explains_removed_blocks(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether every name below `tofu` is one of the program's own. Otherwise only those are that OpenTofu has, and others are resources.
pub fn reserves_tofu(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether objects that are created replace those that name them in `replace_triggered_by`.
pub fn creations_trigger(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether `forget` comes before `create` in the actions of a replacement that destroys nothing.
pub fn forgets_first(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether states hold the message of a deprecated output.
pub fn stores_deprecations(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether states hold the provider configuration of each object, which OpenTofu chooses with `for_each`. Otherwise the key of the
/// configuration is stored in a field of Terrane's own.
pub fn stores_provider_of_objects(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether `validate` warns of what only experimental builds of Terraform accept: under the name of the program whose stable releases
/// refuse it.
pub fn warns_of_experiments(dialect: Dialect) -> bool {
    dialect == Dialect::Terraform
}

/// Whether `validate` warns of what only Terrane accepts: under the name of a program that refuses it.
pub fn warns_of_extensions(dialect: Dialect) -> bool {
    dialect != Dialect::Terrane
}

/// Whether the error about a state that is not JSON also says that it could not be checked for encryption.
pub fn looks_for_encryption_first(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use base::files::{Memory, WrittenIn};

    use super::*;
    use crate::addr::Subject;
    use crate::addr::parse::parse_reference;
    use crate::config::{NoInputs, load_root};
    use crate::plan::Action;

    /// The first problem of a configuration under each name; empty without any.
    fn problems(text: &str) -> [String; 3] {
        [Dialect::Terrane, Dialect::Terraform, Dialect::OpenTofu].map(|dialect| {
            let files = WrittenIn(dialect, Memory::of([("main.tf", text)]));
            let (_, problems) = load_root(Path::new("."), &files, Arc::new(NoInputs));
            problems.iter().next().map_or_else(String::new, |problem| problem.summary.clone())
        })
    }

    #[test]
    fn one_configuration_has_the_problems_of_each_dialect() {
        let cases = [
            ("variable \"a\" {\n  deprecated = \"\"\n}\n", ["", "", "Invalid `deprecated` value"]),
            (
                "variable \"a\" {\n  type    = object({ a = string })\n  default = { a = \"\", b = \"\" }\n}\n",
                ["", "", "Object attribute is ignored"],
            ),
            (
                "language {\n  experiments = [nothing]\n}\n",
                [
                    "Unknown experimental language feature",
                    "Unknown experimental language feature",
                    "Unknown experiment keyword",
                ],
            ),
            (
                "language {\n  experiments = [symbol_libraries]\n}\n",
                [
                    "Unknown experimental language feature",
                    "Unknown experimental language feature",
                    "Unsupported language experiment",
                ],
            ),
            (
                "symbols \"a\" {\n  source = \"./a\"\n}\n",
                ["Unsupported block type", "Unsupported block type", "Language Experiment not enabled"],
            ),
            (
                "terraform {\n  experiments = [a]\n}\n",
                ["Module uses experimental features", "Module uses experimental features", ""],
            ),
            (
                "removed {\n  from = data.a.b\n}\n",
                [
                    "Data source address not allowed",
                    "Data source address not allowed",
                    "Data source address is not allowed",
                ],
            ),
            (
                "removed {\n  from = a.b[0]\n}\n",
                [
                    "Resource instance keys not allowed",
                    "Resource instance keys not allowed",
                    "Resource instance address with keys is not allowed",
                ],
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(problems(text), expected, "{text}");
        }
    }

    #[test]
    fn removed_objects_are_destroyed_by_terraform_alone() {
        let destroys = |dialect| {
            let files = WrittenIn(dialect, Memory::of([("main.tf", "removed {\n  from = a.b\n}\n")]));
            let (root, problems) = load_root(Path::new("."), &files, Arc::new(NoInputs));
            assert!(!problems.has_errors(), "{problems:?}");
            root.unwrap().removed[0].destroys()
        };
        assert_eq!([Dialect::Terrane, Dialect::Terraform, Dialect::OpenTofu].map(destroys), [false, true, false]);
    }

    #[test]
    fn names_below_tofu_belong_to_opentofu() {
        let is_reserved = |dialect| {
            let file = base::source::SourceFile::written_in(dialect, "main.tf", "tofu.other");
            let traversal = lang::syntax::parser::parse_traversal(file.clone()).0.unwrap();
            matches!(parse_reference(&traversal, &file).map(|found| found.subject), Ok(Subject::Terraform(_)))
        };
        assert_eq!([Dialect::Terrane, Dialect::Terraform, Dialect::OpenTofu].map(is_reserved), [false, false, true]);
    }

    #[test]
    fn releases_count_as_opentofu_alone() {
        let (_, newest, _) = crate::version::newest_of(Dialect::OpenTofu).numbers;
        let cases = [(0, [false, false, true]), (newest, [false, false, true]), (newest + 1, [false; 3])];
        for (minor, expected) in cases {
            let reaches = |dialect| tofu_at_least(dialect, minor);
            assert_eq!([Dialect::Terrane, Dialect::Terraform, Dialect::OpenTofu].map(reaches), expected, "1.{minor}");
        }
        let refuses = [Dialect::Terrane, Dialect::Terraform, Dialect::OpenTofu].map(refuses_winrm);
        assert_eq!(refuses, [false, false, true]);
    }

    #[test]
    fn plans_and_states_have_the_form_of_each_dialect() {
        let rules = |dialect| {
            (
                Action::Create.triggers(dialect),
                Action::CreateThenForget.json_names(dialect)[0],
                stores_deprecations(dialect),
                stores_provider_of_objects(dialect),
                heeds_required_version(dialect, "a.tf"),
                heeds_required_version(dialect, "a.tofu"),
            )
        };
        let terraform = (false, "create", false, false, true, true);
        assert_eq!([Dialect::Terrane, Dialect::Terraform].map(rules), [terraform, terraform]);
        assert_eq!(rules(Dialect::OpenTofu), (true, "forget", true, true, false, true));
    }
}
