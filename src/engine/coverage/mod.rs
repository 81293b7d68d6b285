//! What the runs of tests evaluate of a configuration.
//!
//! [`points_of`] finds what there is to cover in a module; a [`Coverage`] records what is evaluated, by places in the source, so that a
//! module that is called several times counts once. Learns no values: only which side of a point was reached.

mod points;

use std::fmt;
use std::sync::{Mutex, PoisonError};

use base::source::{Range, Span};
use lang::eval::EvaluationRecorder;
use model::state::CheckStatus;
pub use points::points_of;
use rustc_hash::FxHashMap;

/// What of a configuration a test can cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointKind {
    /// A block of an object: some instance was evaluated.
    Resource,
    Output,
    /// A conditional expression or an `if` directive: its condition held, or did not hold. Or the `if` clause of a `for`: it kept an
    /// element, or left one out.
    Conditional,
    /// `count`, `for_each` or `enabled`: it gave some instances, or none.
    Repetition,
    /// A rule of a variable, an output or a resource: its condition held, or did not hold.
    Condition,
    /// An assertion of a check block: it held, or did not hold.
    Assertion,
}

/// A place in a configuration that a test can cover.
#[derive(Clone, Debug)]
pub struct CoveragePoint {
    pub kind: PointKind,
    /// The block that it stands in, as its module names it: `local.a`, `aws_vpc.main`.
    pub name: String,
    pub range: Range,
}

/// The sides of a point that were reached. A point without a condition has only the first.
pub type ReachedSides = [bool; 2];

/// What was evaluated so far, in all runs that share the value.
#[derive(Default)]
pub struct Coverage {
    /// By the name of the file.
    files: Mutex<FxHashMap<String, ReachedPoints>>,
}

/// The points of a file that were reached.
type ReachedPoints = FxHashMap<(PointKind, Span), ReachedSides>;

impl Coverage {
    /// Records that a block was evaluated.
    pub fn record_block(&self, kind: PointKind, block: &Range) {
        self.record(kind, block, true);
    }

    /// Records how a condition came out. What cannot be judged is not recorded.
    pub fn record_condition(&self, kind: PointKind, condition: &Range, status: CheckStatus) {
        match status {
            CheckStatus::Pass => self.record(kind, condition, true),
            CheckStatus::Fail => self.record(kind, condition, false),
            CheckStatus::Unknown | CheckStatus::Error => {}
        }
    }

    /// The sides of a point that were reached until now.
    pub fn reached(&self, point: &CoveragePoint) -> ReachedSides {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let file = files.get(point.range.filename());
        file.and_then(|points| points.get(&(point.kind, point.range.span))).copied().unwrap_or_default()
    }

    fn record(&self, kind: PointKind, place: &Range, is_first: bool) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if !files.contains_key(place.filename()) {
            files.insert(place.filename().to_owned(), ReachedPoints::default());
        }
        if let Some(points) = files.get_mut(place.filename()) {
            points.entry((kind, place.span)).or_default()[usize::from(!is_first)] = true;
        }
    }
}

impl EvaluationRecorder for Coverage {
    fn record_branch(&self, conditional: Range, holds: bool) {
        self.record(PointKind::Conditional, &conditional, holds);
    }

    fn record_repetition(&self, by: Range, is_empty: bool) {
        self.record(PointKind::Repetition, &by, !is_empty);
    }
}

impl fmt::Debug for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coverage").finish_non_exhaustive()
    }
}
