//! The interface of `test`: what is asked for, what happened, and how it ended.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base::diag::Diagnostics;
use base::moment::Moment;
use model::addr::AbsResourceInstance;
use model::config::Config;
use model::plan::Plan;
use model::state::{DeposedKey, State};

use super::coverage::CoverageReport;
use super::options::VariableArgument;
use super::planning::Schemas;

/// What `test` is asked for.
#[derive(Clone, Debug)]
pub struct TestRequest {
    /// The folder of test files beside the root, as given.
    pub test_dir: String,
    pub variables: Vec<VariableArgument>,
    pub selection: TestSelection,
    /// Runs keep their plan or their state for the report.
    pub verbose: bool,
    /// At most so many operations of providers at a time, in all files and runs together.
    pub parallelism: usize,
    /// At most so many runs of one file at a time.
    pub run_parallelism: usize,
    /// Files beside each other, even if their runs change real objects.
    pub parallel_files: bool,
    pub deferral_allowed: bool,
    /// Test files in the folders below the folder of test files too.
    pub recursive: bool,
    /// Snapshots are written instead of compared.
    pub update_snapshots: bool,
    /// Counts what the runs evaluate of the configuration.
    pub coverage: bool,
    /// Some: after the suite, runs again what a changed file affects, until the user interrupts.
    pub watch: Option<Watch>,
    /// Some: nothing is run, states that were kept are destroyed.
    pub cleanup: Option<Cleanup>,
}

/// What is run again when a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Runs that touch nothing outside: those that only plan, and those whose providers are all mocked.
    Harmless,
    All,
}

/// Which files and runs are executed. Empty: all.
#[derive(Clone, Debug, Default)]
pub struct TestSelection {
    /// As given, each one file or some of its runs.
    pub filters: Vec<String>,
    /// Only what did not pass the last time.
    pub last_failed: bool,
    /// The first of so many equal parts, counted from one.
    pub shard: Option<(usize, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleanup {
    /// Only what an error left behind is destroyed; what `skip_cleanup` kept is brought back to what it should be.
    pub repair: bool,
}

/// How a run, a file or the suite stands. The order is that of severity: of two, the larger counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestStatus {
    #[default]
    Pending,
    Skip,
    Pass,
    Fail,
    Error,
}

/// Where a file or a run is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestProgress {
    Starting,
    Running,
    TearDown,
    Complete,
}

/// A run as it is shown and reported.
#[derive(Clone, Debug)]
pub struct RunReport {
    pub name: Arc<str>,
    /// Its position in the file.
    pub index: usize,
    /// How many assertions it has.
    pub assertions: usize,
    pub status: TestStatus,
    pub diagnostics: Diagnostics,
    /// When it began and how long it took; none: it was never executed.
    pub timing: Option<RunTiming>,
    /// With `verbose`.
    pub verbose: Option<Arc<VerboseRun>>,
    /// Why it was not executed, if it was to be.
    pub skip_reason: Option<SkipReason>,
}

#[derive(Clone, Copy, Debug)]
pub struct RunTiming {
    pub start: Moment,
    pub duration: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// The user interrupted the suite.
    Interrupted,
    /// A run that it waits for did not end in pass or fail.
    EarlierError,
    /// It is not selected.
    NotSelected,
}

/// What a run planned, or left.
pub struct VerboseRun {
    pub shown: VerboseResult,
    pub config: Arc<Config>,
    pub schemas: Schemas,
}

impl fmt::Debug for VerboseRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerboseRun").field("shown", &self.shown).finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub enum VerboseResult {
    Plan(Arc<Plan>),
    State(Arc<State>),
}

/// A file as it is shown and reported.
#[derive(Clone, Debug, Default)]
pub struct FileReport {
    /// Its path relative to the root module.
    pub name: String,
    pub status: TestStatus,
    /// Those of no run.
    pub diagnostics: Diagnostics,
    pub runs: Vec<RunReport>,
}

/// Everything at the end. Files are in the order of their names.
#[derive(Clone, Debug, Default)]
pub struct SuiteReport {
    pub status: TestStatus,
    pub files: Vec<FileReport>,
    /// `test cleanup`: no runs were executed.
    pub is_cleanup: bool,
    /// If it is asked for.
    pub coverage: Option<Arc<CoverageReport>>,
}

/// An object that is left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftObject {
    pub addr: AbsResourceInstance,
    pub deposed: Option<DeposedKey>,
}

/// What destroying a state left, for which file and run.
#[derive(Clone, Debug)]
pub struct TeardownReport {
    pub file: String,
    /// The run that wrote the state last.
    pub run: Option<Arc<str>>,
    pub diagnostics: Diagnostics,
    pub left: Vec<LeftObject>,
    /// Left because the run says `skip_cleanup`.
    pub is_wanted: bool,
    /// Where the state is kept.
    pub kept: Option<PathBuf>,
    /// It stays in the backend of a run: `test cleanup` leaves it as it is.
    pub stays_in_backend: bool,
}

/// What exists when a suite is abandoned.
#[derive(Clone, Debug)]
pub struct AbandonedReport {
    pub file: String,
    pub run: Option<Arc<str>>,
    /// The source of the module that the run tests in place of the root.
    pub module: Option<String>,
    /// Those with objects, that of the root module first.
    pub states: Vec<AbandonedState>,
    /// Addresses of objects that were being created.
    pub creating: Vec<String>,
    /// Where the states are kept.
    pub kept: Vec<PathBuf>,
}

/// The objects of one state when a suite is abandoned.
#[derive(Clone, Debug)]
pub struct AbandonedState {
    /// Empty for that of the root module.
    pub key: String,
    /// The run that wrote it last, if one did.
    pub run: Option<Arc<str>>,
    /// The source of the module that this run tests in place of the root.
    pub module: Option<String>,
    pub objects: Vec<LeftObject>,
}

/// Hears what a suite does; with `watch`, one after the other. Files that run side by side are distinguished by the name of the file; the view decides what is shown when.
pub trait TestListener: Send + Sync {
    /// A suite begins: the files and runs that are about to be executed, sorted by file name.
    fn begin(&self, files: &[FileReport]);
    /// A file begins, is torn down, or has ended. `status` and diagnostics count when it is complete.
    fn file(&self, file: &FileReport, progress: TestProgress);
    /// A run begins, goes on (every two seconds), or has ended.
    fn run(&self, file: &str, run: &RunReport, progress: TestProgress, elapsed: Duration);
    fn torn_down(&self, report: &TeardownReport);
    fn abandoned(&self, report: &AbandonedReport);
    /// After all files.
    fn concluded(&self, suite: &SuiteReport);
    /// Found outside all files, to be shown now.
    fn diagnostics(&self, diagnostics: Diagnostics);
    /// With `watch`: the suite is over, and the next one begins when a file is changed.
    fn waiting(&self);
}
