//! Whether the runs of a file can touch anything outside: then files wait for each other, and states are kept on the disk.

use std::collections::BTreeSet;

use model::addr::Provider;
use model::config::Config;
use model::config::test_file::{TestCommand, TestFile, TestRun};

use super::context::ordered_runs;
use super::doubles::only_mocked;
use super::{order, providers};

/// Whether all runs of a file leave everything outside as it is: they only plan, or what they apply is made up.
pub fn touches_nothing(file: &TestFile, root: &Config) -> bool {
    file.runs.iter().all(|run| is_harmless(file, run, root))
}

/// The runs of a file, by position, that leave everything outside as it is, as do all runs that they need.
pub fn harmless_runs(file: &TestFile, root: &Config) -> BTreeSet<usize> {
    let of_run = |(index, run): (usize, &TestRun)| is_harmless(file, run, root).then_some(index);
    let harmless: BTreeSet<usize> = file.runs.iter().enumerate().filter_map(of_run).collect();
    let order = ordered_runs(file);
    let is_whole = |index: &usize| order::with_needed(&order, BTreeSet::from([*index])).is_subset(&harmless);
    harmless.iter().copied().filter(is_whole).collect()
}

fn is_harmless(file: &TestFile, run: &TestRun, root: &Config) -> bool {
    run.backend.is_none() && (run.command == TestCommand::Plan || is_made_up(file, run, root))
}

/// Whether nothing of what a run applies exists outside: all its providers are mocked, or there is nothing but `terraform_data`,
/// and no provisioner runs.
pub fn is_made_up(file: &TestFile, run: &TestRun, root: &Config) -> bool {
    let base = run.under_test.as_ref().unwrap_or(root);
    let (prepared, _) = providers::prepare(base, file, run);
    let mocked = only_mocked(&prepared.config, &prepared.mocks);
    let is_harmless = |provider: &Provider| is_terraform(provider) || mocked.contains(provider);
    prepared.config.modules().into_iter().all(|module| {
        let resources = module.resources.values();
        let mut actions = module.actions.values();
        resources.into_iter().all(|resource| is_harmless(&resource.provider) && resource.provisioners.is_empty())
            && actions.all(|action| is_harmless(&action.provider))
    })
}

fn is_terraform(provider: &Provider) -> bool {
    provider.is_builtin() && &*provider.kind == "terraform"
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use base::files::Memory;
    use model::config::test_file::load::read_each;
    use model::config::{NoInputs, load, manifest_resolver};
    use model::deps::module_manifest::ModuleManifest;

    use super::*;

    /// The harmless runs of a file that tests a module, and whether it touches nothing.
    fn judged_runs(module: &str, tests: &str) -> (String, bool) {
        let files = Memory::of([("main.tf", module), ("a.tftest.hcl", tests)]);
        let manifest = ModuleManifest::default();
        let (config, problems) = load(Path::new("."), &files, &manifest_resolver(&manifest), Arc::new(NoInputs));
        assert!(!problems.has_errors(), "{problems:?}");
        let (file, problems) = read_each(Path::new("."), "tests", &files).0.pop().unwrap();
        assert!(!problems.has_errors(), "{problems:?}");
        let config = config.unwrap();
        let runs = harmless_runs(&file, &config).into_iter().map(|index| file.runs[index].name.to_string());
        (runs.collect::<Vec<_>>().join(" "), touches_nothing(&file, &config))
    }

    #[test]
    fn files_touch_nothing_if_they_plan_or_make_everything_up() {
        const REAL: &str = "resource \"random_pet\" \"r\" {}\n";
        const DATA: &str = "resource \"terraform_data\" \"d\" {}\n";
        const PROVISIONED: &str =
            "resource \"terraform_data\" \"d\" {\n  provisioner \"local-exec\" {\n    command = \"true\"\n  }\n}\n";
        const MOCK: &str = "mock_provider \"random\" {}\n";
        const PLAN: &str = "run \"p\" {\n  command = plan\n}\n";
        const APPLY: &str = "run \"a\" {}\n";
        let both = PLAN.to_owned() + APPLY;
        let apply_first = APPLY.to_owned() + PLAN;
        let mocked = MOCK.to_owned() + APPLY;
        let cases: [(&str, &str, &str, bool); 8] = [
            (REAL, PLAN, "p", true),
            (REAL, APPLY, "", false),
            (REAL, &both, "p", false),
            // The plan needs the state of the apply.
            (REAL, &apply_first, "", false),
            (REAL, &mocked, "a", true),
            (DATA, APPLY, "a", true),
            (PROVISIONED, APPLY, "", false),
            (PROVISIONED, PLAN, "p", true),
        ];
        for (module, tests, runs, nothing) in cases {
            assert_eq!(judged_runs(module, tests), (runs.to_owned(), nothing), "{module}{tests}");
        }
    }
}
