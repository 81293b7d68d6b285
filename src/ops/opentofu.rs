//! What commands of OpenTofu do in another way or order than Terraform's.
//!
//! Owns the rules of this area that depend on the dialect.

use base::dialect::Dialect;
use model::opentofu::tofu_at_least;

/// Endings of files that have the standard style although Terraform does not know them.
pub fn further_endings_in_style(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Terraform => &[],
        Dialect::Terrane | Dialect::OpenTofu => &[".tofu", ".tofutest.hcl"],
    }
}

/// Whether a test filter that names nothing is an error. Terraform and OpenTofu go on without it: pipelines pass them lists of changed
/// files.
pub fn refuses_unknown_test_filters(dialect: Dialect) -> bool {
    dialect == Dialect::Terrane
}

/// Whether `test cleanup` also destroys the objects whose states are in backends of runs, as Terraform does. Otherwise they stay: the
/// next test continues with them.
pub fn cleans_backends_of_tests(dialect: Dialect) -> bool {
    dialect == Dialect::Terraform
}

/// The file that version managers read the wanted release from.
pub fn version_file(dialect: Dialect) -> &'static str {
    dialect.by_language(".terraform-version", ".opentofu-version")
}

/// Whether a value for a variable that is not declared is ignored where only a few variables are needed. Terraform refuses it.
pub fn ignores_undeclared_arguments(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether `init` touches nothing before the root module is free of errors.
pub fn checks_root_before_init(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// How often `init` reports the warnings of the root module before the configuration is loaded as a whole: it is read for its
/// encryption, and for the modules that it calls.
pub fn early_reports_of_init(dialect: Dialect, calls_modules: bool) -> usize {
    match (dialect.is_opentofu(), calls_modules) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => 2,
    }
}

/// Whether `init -backend=false` reads the state, to install its providers. OpenTofu reads it, also if it is encrypted, and no longer
/// does since 1.13. Otherwise an encrypted state is not read, because its keys may be missing.
pub fn reads_state_without_backend(dialect: Dialect, is_sealed: bool) -> bool {
    dialect.by_language(!is_sealed, !tofu_at_least(dialect, 13))
}

/// Whether an invalid configuration is announced by a sentence of `init`, instead of by an error.
pub fn announces_invalid_configuration(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// The word for `init` in that sentence.
pub fn initialization(dialect: Dialect) -> &'static str {
    dialect.by_language("initialisation", "initialization")
}

/// Names of spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanNames {
    pub providers: &'static str,
    pub modules: &'static str,
    pub cloud: &'static str,
    pub backend: &'static str,
}

/// What telemetry calls the phases of `init`.
pub fn spans_of_init(dialect: Dialect) -> SpanNames {
    dialect.by_language(
        SpanNames {
            providers: "install providers",
            modules: "install modules",
            cloud: "initialize HCP Terraform",
            backend: "initialize backend",
        },
        SpanNames {
            providers: "Get Providers",
            modules: "Get Modules",
            cloud: "Cloud backend init",
            backend: "Backend init",
        },
    )
}

/// Whether the warnings of the root module are shown once more if the configuration has any.
pub fn repeats_warnings_of_root(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether a plan in clear is warned of that has the passphrase of something encrypted.
pub fn warns_of_passphrase_in_plan(dialect: Dialect) -> bool {
    !dialect.is_opentofu()
}

/// Whether a destroy fails that leaves objects behind, unless `-suppress-forget-errors` is set.
pub fn fails_for_forgotten_objects(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// What stands before the reason why a plan file cannot be read.
pub fn lead_of_unreadable_plan(dialect: Dialect) -> &'static str {
    dialect.by_language("", "Error: ")
}

/// Whether the record of the backend has deep indentation and no version.
pub fn records_backend_deeper(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether `state pull` writes a state without blanks.
pub fn pulls_compact_states(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Dialect; 3] = [Dialect::Terrane, Dialect::Terraform, Dialect::OpenTofu];

    #[test]
    fn terraform_alone_does_not_know_files_of_opentofu() {
        assert_eq!(ALL.map(|dialect| further_endings_in_style(dialect).len()), [2, 0, 2]);
    }

    #[test]
    fn terraform_alone_cleans_backends_of_tests() {
        assert_eq!(ALL.map(cleans_backends_of_tests), [false, true, false]);
    }

    #[test]
    fn each_language_has_its_names() {
        let names = |dialect| (version_file(dialect), initialization(dialect), lead_of_unreadable_plan(dialect));
        let terraform = (".terraform-version", "initialisation", "");
        assert_eq!(ALL.map(names), [terraform, terraform, (".opentofu-version", "initialization", "Error: ")]);
        let providers = |dialect| spans_of_init(dialect).providers;
        assert_eq!(ALL.map(providers), ["install providers", "install providers", "Get Providers"]);
    }

    #[test]
    fn opentofu_1_13_reads_no_state_without_a_backend() {
        let reads = |dialect| [false, true].map(|is_sealed| reads_state_without_backend(dialect, is_sealed));
        assert_eq!(ALL.map(reads), [[true, false], [true, false], [false, false]]);
    }

    #[test]
    fn reports_of_init_count_the_reads_of_the_root_module() {
        let reports = |dialect| [false, true].map(|calls| early_reports_of_init(dialect, calls));
        assert_eq!(ALL.map(reports), [[0, 0], [0, 0], [1, 2]]);
    }
}
