//! `policy validate`: checks files of policies and of tests of them, without a configuration.

use std::path::PathBuf;

use base::diag::Diagnostics;
use model::config::policy_file::{POLICY_ENDING, POLICY_TEST_ENDING, PolicyFile, PolicyTestFile};

use super::files;
use crate::setup::Setup;

/// What is wrong with the files of policies at the paths, and with the tests there. Their expressions are not evaluated.
pub fn run(setup: &Setup, paths: &[PathBuf]) -> Diagnostics {
    let (sources, mut diagnostics) = files::read(&setup.root, paths, POLICY_ENDING);
    for source in sources {
        diagnostics.take(PolicyFile::parse(source));
    }
    // There need not be tests.
    let with_tests: Vec<PathBuf> =
        paths.iter().filter(|path| files::find(&setup.root, path, POLICY_TEST_ENDING).is_ok()).cloned().collect();
    let tests = diagnostics.take(files::read(&setup.root, &with_tests, POLICY_TEST_ENDING));
    for source in tests {
        diagnostics.take(PolicyTestFile::parse(source));
    }
    diagnostics
}
