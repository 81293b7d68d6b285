//! `backend` blocks of runs, and which runs may have one: the first that writes a state.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::Block;
use lang::syntax::body::Body;

use super::references::expressions_in;
use super::run::{TestCommand, TestRun};
use crate::config::constants::constant;

const INVALID: &str = "Invalid backend block";
const DUPLICATE: &str = "Duplicate backend blocks";
const KEPT_TWICE: &str = "Duplicate \"skip_cleanup\" block";

/// `backend "kind" {}` in a run: where its state is read from and kept.
#[derive(Clone, Debug)]
pub struct RunBackend {
    pub kind: Arc<str>,
    pub kind_range: Range,
    /// Its arguments, which are constants.
    pub body: Body,
    pub range: Range,
}

/// Reads a block of a run.
pub fn add(block: &Block, run: &mut TestRun, diags: &mut Diagnostics) {
    let (kind, range) = (block.label(0), block.header_range());
    if &**kind == "remote" {
        let detail = format!(
            "The \"remote\" backend type cannot be used in the backend block in run {:?} at {range}. Only state storage backends can \
             be used in a test run.",
            &*run.name
        );
        diags.push(Diagnostic::error(INVALID, detail).at(range));
        return;
    }
    if let Some(first) = &run.backend {
        let detail =
            format!("A backend block has already been defined inside the run {:?} at {}.", &*run.name, first.range);
        diags.push(Diagnostic::error(DUPLICATE, detail).at(range));
        return;
    }
    for expr in expressions_in(&block.body) {
        diags.extend(constant::value(&expr).1);
    }
    let kind_range = block.label_range(0);
    run.backend = Some(RunBackend { kind: kind.clone(), kind_range, body: block.body.clone(), range });
}

/// Reports what does not go together in a run with a backend.
pub fn check(run: &TestRun, diags: &mut Diagnostics) {
    let Some(backend) = &run.backend else { return };
    if run.command == TestCommand::Plan {
        let detail = "A backend block can only be used in the first apply run block for a given internal state file. It cannot be \
                      included in a block to run a plan command.";
        diags.push(Diagnostic::error(INVALID, detail).at(backend.range.clone()));
    }
    if let Some(range) = run.skip_cleanup_range.as_ref().filter(|_| run.skip_cleanup == Some(false)) {
        let detail = "Backend blocks are used in tests to allow reuse of long-lived resources. Due to this, cleanup behavior is \
                      implicitly skipped and backend blocks are incompatible with setting `skip_cleanup=false`";
        let summary = "Cannot use `skip_cleanup=false` in a run block that contains a backend block";
        diags.push(Diagnostic::error(summary, detail).at(range.clone()));
    }
}

/// What the runs of a file say about the states that they share: by state key, the name of the run.
#[derive(Default)]
pub struct SharedStates {
    backends: BTreeMap<String, Arc<str>>,
    kept: BTreeMap<String, Arc<str>>,
}

impl SharedStates {
    /// Checks a run beside those before it.
    pub fn add(&mut self, run: &TestRun, earlier: &[TestRun], diags: &mut Diagnostics) {
        let (key, name) = (run.state_key(), &*run.name);
        if let Some(range) = run.skip_cleanup_range.as_ref().filter(|_| run.skip_cleanup == Some(true)) {
            let detail = if let Some(other) = self.backends.get(&key) {
                Some(format!(
                    "The run {name:?} has a skip_cleanup attribute set, but shares state with an earlier run {:?} that has a backend \
                     defined. The later run takes precedence, but the backend will still be used to manage this state.",
                    &**other
                ))
            } else {
                self.kept.insert(key.clone(), run.name.clone()).map(|other| {
                    format!(
                        "The run {name:?} has a skip_cleanup attribute set, but shares state with an earlier run {:?} that also has \
                         skip_cleanup set. The later run takes precedence, and this attribute is ignored for the earlier run.",
                        &*other
                    )
                })
            };
            diags.extend(detail.map(|detail| Diagnostic::warning(KEPT_TWICE, detail).at(range.clone())));
        }
        let Some(backend) = &run.backend else { return };
        if let Some(other) = self.backends.get(&key) {
            let detail = format!(
                "The run {name:?} already uses an internal state file that's loaded by a backend in the run {:?}. Please ensure that \
                 a backend block is only in the first apply run block for a given internal state file.",
                &**other
            );
            diags.push(Diagnostic::error(DUPLICATE, detail).at(backend.range.clone()));
            return;
        }
        self.backends.insert(key.clone(), run.name.clone());
        let writes = |other: &&TestRun| other.command == TestCommand::Apply && other.state_key() == key;
        if let Some(other) = earlier.iter().find(writes) {
            let detail = format!(
                "The run {name:?} cannot load in state using a backend block, because internal state has already been created by an \
                 apply command in run {:?}. Backend blocks can only be present in the first apply command for a given internal state.",
                &*other.name
            );
            diags.push(Diagnostic::error(INVALID, detail).at(backend.range.clone()));
        }
    }
}
