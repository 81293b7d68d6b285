//! Commands from outside: each folder beside this file is a case, with a configuration, the commands to run and all that
//! they are expected to show.
//!
//! What is expected was recorded from the reference: `tests/record.sh` does it again. What the reference does not have is in `OURS`:
//! Terrane plays these cases itself.

mod compatible;
mod completion;
mod deferral;
mod denied_plans;
mod destroys_by_name;
mod explain;
mod guides;
mod init_policies;
mod invalid_configurations;
mod link;
mod linked_folder;
mod live;
mod login;
mod logs;
mod names;
pub mod normal;
mod opentofu;
mod opentofu_13;
mod other_tools;
mod plan_schemas;
mod plan_variables;
mod policies;
mod progress;
mod prompt;
mod query_policies;
mod reviews;
mod short_plans;
mod state_history;
mod state_pull;
mod state_streams;
mod state_variables;
mod telemetry;
mod test_extensions;
mod test_parallel;
mod test_reports;
mod test_selection;
mod test_states;
mod test_suite;
mod testing_guide;
mod tips;
mod transcript;
mod two_directories;
mod unfinished;
mod unmet_version;
mod version_check;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use transcript::Player;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands")
}

/// Cases of what the reference does not know: we play them ourselves, and read what was recorded.
const OURS: [&str; 14] = [
    "builtin_providers",
    "changed_files",
    "cycles",
    "deprecations",
    "early_values",
    "lifecycles",
    "linting",
    "metadata",
    "moved_types",
    "newer_names",
    "provider_instances",
    "state_identities",
    "state_patterns",
    "view_flags",
];

/// Plays a case and compares it whole; or, if asked to record, lets the reference play it.
fn check(case: &str) {
    let dir = folder().join(case);
    let expected = dir.join("expected.txt");
    if std::env::var_os("TERRANE_TEST_RECORD").is_some() {
        let player = if OURS.contains(&case) { Player::ours(&dir) } else { Player::reference(&dir) };
        let played = player.play();
        std::fs::write(&expected, played).unwrap();
        return;
    }
    let played = Player::ours(&dir).play();
    let recorded = std::fs::read_to_string(&expected).unwrap_or_default();
    assert!(played == recorded, "{case}:\n{}", transcript::difference(&recorded, &played));
}

macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        const CASES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check(stringify!($name)); })*
    };
}

cases!(
    apply_and_destroy,
    backend_settings,
    builtin_providers,
    called_modules,
    changed_files,
    cli_arguments,
    colours,
    console_input,
    console_values,
    cos_settings,
    cycles,
    deprecations,
    destroys,
    development_overrides,
    early_values,
    failed_plans,
    forced_unlocks,
    formatting,
    graphs,
    imports_by_command,
    init_streams,
    installation_settings,
    json_errors,
    json_syntax,
    json_values,
    lifecycles,
    linting,
    locked_packages,
    metadata,
    migrations,
    module_tests,
    module_tests_failures,
    module_tests_json,
    module_tests_junit,
    module_tests_mocks,
    module_tests_modules,
    module_tests_none,
    module_tests_providers,
    module_tests_runs,
    module_tests_sensitive,
    module_tests_teardown,
    module_tests_variables,
    module_tests_verbose,
    moved_types,
    newer_names,
    oss_settings,
    output_values,
    provider_instances,
    provider_tree,
    refreshes,
    replace_and_target,
    replaced_providers,
    saved_plans,
    shown_states,
    state_identities,
    state_moves,
    state_patterns,
    state_pushes,
    state_removals,
    taints,
    test_files,
    validation,
    variables,
    view_flags,
    workspaces
);

#[test]
fn every_folder_is_a_case() {
    let entries = std::fs::read_dir(folder()).unwrap().flatten();
    let folders: BTreeSet<String> =
        entries.filter(|e| e.path().is_dir()).map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(folders, CASES.iter().map(|case| case.to_string()).collect());
}
