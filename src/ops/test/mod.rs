//! `test`: executes the runs of test files and judges their assertions.
//!
//! A suite has files, a file has runs. `suite` loads the files and executes them, side by side where `isolation` finds no reason
//! against it; `order` decides which runs of a file wait for which, [`run`] executes one of them by the engine's verbs, with the
//! values of `variables`, the provider configurations of `providers` and the stand-ins of `doubles`; `expect` settles expected
//! failures, `teardown` destroys what is left. Never evaluates, plans or applies by other means than the commands do, and never
//! touches the state of the project.

mod cleanup;
mod context;
mod coverage;
mod doubles;
mod expansion;
mod expect;
mod expect_error;
mod file;
mod isolation;
mod kept;
mod kept_lock;
mod lanes;
mod last;
mod order;
mod plan_values;
mod providers;
mod restore;
mod run;
mod run_backend;
mod run_record;
mod run_step;
mod select;
mod shared_facts;
mod snapshot;
mod snapshot_value;
mod suite;
mod teardown;
mod variables;
mod watch;

use std::sync::Arc;

use base::diag::Diagnostics;

use self::suite::SuiteOutcome;
use crate::interface::testing::{SuiteReport, TestListener, TestRequest};
use crate::setup::Setup;

/// Executes the tests of the working directory. Diagnostics are those of no file that the listener did not get.
pub async fn run(setup: &Setup, request: &TestRequest, listener: &Arc<dyn TestListener>) -> (SuiteReport, Diagnostics) {
    if let Some(how) = request.watch {
        return watch::repeat(setup, request, how, listener).await;
    }
    let SuiteOutcome { report, diagnostics, .. } = suite::execute(setup, request, listener, None).await;
    (report, diagnostics)
}
