//! The files of a suite, from loading to the report: which are executed, and which of them side by side.
//!
//! A file with errors does not keep the others from being executed, unless there are no others.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::stop::Stop;
use futures_util::FutureExt;
use model::config::Config;
use model::config::test_file::{TestFile, TestRun};
use model::deps::Requirements;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::context::{FileContext, SuiteContext};
use super::kept::KeptStates;
use super::lanes::Lanes;
use super::select::{self, SelectedFiles, SelectedRuns};
use super::shared_facts::SharedFacts;
use super::variables::OutsideValues;
use super::watch::Affected;
use super::{cleanup, coverage, expansion, file, isolation, last, run_backend, teardown, watch};
use crate::configuration::load;
use crate::interface::testing::{
    FileReport, RunReport, SkipReason, SuiteReport, TestListener, TestProgress, TestRequest, TestSelection, TestStatus,
};
use crate::opentofu;
use crate::plugins::factories::Factories;
use crate::plugins::packages;
use crate::setup::Setup;
use crate::setup::host::Machine;

/// What came of a suite.
#[derive(Default)]
pub struct SuiteOutcome {
    pub report: SuiteReport,
    /// What is left to be shown.
    pub diagnostics: Diagnostics,
    /// The folders of the modules that the suite tests.
    pub modules: Vec<PathBuf>,
}

impl SuiteOutcome {
    fn failed(diagnostics: Diagnostics, modules: Vec<PathBuf>) -> SuiteOutcome {
        let report = SuiteReport { status: TestStatus::Error, ..SuiteReport::default() };
        SuiteOutcome { report, diagnostics, modules }
    }
}

/// The test files of a suite, sorted by name.
struct SuiteFiles {
    files: Vec<TestFile>,
    /// What is wrong with each of them. Those with errors are not executed.
    problems: Vec<Diagnostics>,
    /// The names of the variables that each of them could use and whose values come from outside.
    outside_variables: Vec<BTreeSet<String>>,
}

impl SuiteFiles {
    fn is_broken(&self, index: usize) -> bool {
        self.problems[index].has_errors()
    }
}

/// Executes what is selected; of that, only what a change affects, if there was one.
pub async fn execute(
    setup: &Setup,
    request: &TestRequest,
    listener: &Arc<dyn TestListener>,
    affected: Option<&Affected>,
) -> SuiteOutcome {
    let mut diagnostics = Diagnostics::new();
    let (suite, files) = match open(setup, request, listener, &mut diagnostics).await {
        Ok(opened) => opened,
        Err(broken) => {
            let outcome = SuiteOutcome::failed(diagnostics, Vec::new());
            return SuiteOutcome { report: SuiteReport { files: broken, ..outcome.report }, ..outcome };
        }
    };
    let modules = module_folders(&suite.config, &files.files);
    let (mut selected, at_end) = match selected(setup, &files.files, &request.selection) {
        Ok(selected) => selected,
        Err(problems) => {
            diagnostics.extend(problems);
            return SuiteOutcome::failed(diagnostics, modules);
        }
    };
    if request.cleanup.is_some() {
        selected
            .retain(|(index, _)| !files.is_broken(*index) || !suite.kept.of_file(&files.files[*index].name).is_empty());
    }
    if let Some(affected) = affected {
        selected = watch::restrict(selected, &files.files, &suite.config, affected, &mut diagnostics);
        if selected.is_empty() {
            return SuiteOutcome { diagnostics, modules, ..SuiteOutcome::default() };
        }
    }
    for problems in files.problems.iter().filter(|problems| !problems.has_errors()) {
        diagnostics.extend_new(problems.clone());
    }
    if !selected.is_empty() && selected.iter().all(|(index, _)| files.is_broken(*index)) {
        // Nothing can be executed: as the reference shows it.
        let broken = |(index, _): &(usize, SelectedRuns)| broken_report(&files.files[*index], &files.problems[*index]);
        let reports: Vec<FileReport> = selected.iter().map(broken).collect();
        reports.iter().for_each(|report| diagnostics.extend_new(report.diagnostics.clone()));
        listener.diagnostics(diagnostics);
        let report = SuiteReport { status: TestStatus::Error, files: reports, ..SuiteReport::default() };
        return SuiteOutcome { report, diagnostics: Diagnostics::new(), modules };
    }
    listener.diagnostics(diagnostics);
    listener.begin(&selected.iter().map(|(index, _)| planned_report(&files.files[*index])).collect::<Vec<_>>());
    let (report, diagnostics) = execute_selected(suite, files, selected).await;
    SuiteOutcome { report, diagnostics: at_end.into_iter().chain(diagnostics).collect(), modules }
}

/// Executes the files, and concludes.
async fn execute_selected(
    suite: Arc<SuiteContext>,
    files: SuiteFiles,
    selected: SelectedFiles,
) -> (SuiteReport, Diagnostics) {
    let files = Arc::new(files);
    let reports = execute_files(&suite, &files, selected).await;
    let (setup, request) = (&suite.setup, &suite.request);
    let is_cleanup = request.cleanup.is_some();
    let worst = reports.iter().map(|report| report.status).max().unwrap_or_default();
    let mut report =
        SuiteReport { status: worst.max(TestStatus::Pass), files: reports, is_cleanup, ..SuiteReport::default() };
    let mut diagnostics = Diagnostics::new();
    if is_cleanup && request.selection.filters.is_empty() {
        diagnostics.extend(cleanup::missing_files(&files.files, &suite.kept.files()));
    }
    if diagnostics.has_errors() || setup.stop.is_killed() {
        report.status = TestStatus::Error;
    }
    let recorded = suite.coverage.as_deref();
    let covered = recorded.map(|recorded| coverage::report(recorded, &suite.config, &files.files, &request.test_dir));
    report.coverage = covered.map(Arc::new);
    suite.listener.concluded(&report);
    if !is_cleanup {
        diagnostics.extend(last::keep(setup, &report));
    }
    (report, diagnostics)
}

/// Executes files: side by side where none can meet another one outside. Reports are in the order of the selection.
async fn execute_files(suite: &Arc<SuiteContext>, files: &Arc<SuiteFiles>, selected: SelectedFiles) -> Vec<FileReport> {
    let beside = |index: usize| files.is_broken(index) || is_beside(suite, &files.files[index]);
    let mut lanes = Lanes::new(selected.iter().map(|(index, _)| (*index, beside(*index))), most_files(suite));
    let order: Vec<usize> = selected.iter().map(|(index, _)| *index).collect();
    let mut runs: BTreeMap<usize, SelectedRuns> = selected.into_iter().collect();
    let mut reports: BTreeMap<usize, FileReport> = BTreeMap::new();
    let mut executing = JoinSet::new();
    loop {
        while !suite.setup.stop.is_killed()
            && let Some(index) = lanes.start_next()
        {
            let (suite, files) = (suite.clone(), files.clone());
            let runs = runs.remove(&index).unwrap_or(SelectedRuns::All);
            executing.spawn(async move {
                let work = execute_file(&suite, &files, index, runs);
                (index, AssertUnwindSafe(work).catch_unwind().await.map_err(|panic| panic_text(&*panic)))
            });
        }
        match executing.join_next().await {
            None => break,
            Some(Ok((index, done))) => {
                lanes.end(index);
                reports.insert(index, done.unwrap_or_else(|panic| panicked(suite, &files.files[index], &panic)));
            }
            // The runtime ends.
            Some(Err(_)) => {}
        }
    }
    order
        .into_iter()
        .map(|index| reports.remove(&index).unwrap_or_else(|| planned_report(&files.files[index])))
        .collect()
}

/// Whether a file may be executed beside any other one.
fn is_beside(suite: &SuiteContext, file: &TestFile) -> bool {
    let is_wanted = suite.request.parallel_files || file.parallel_files;
    suite.request.cleanup.is_none() && (is_wanted || isolation::touches_nothing(file, &suite.config))
}

/// How many files are executed at the same time: enough to keep the processors busy while some wait.
fn most_files(suite: &SuiteContext) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    (processors * 2).min(suite.request.parallelism)
}

async fn execute_file(suite: &SuiteContext, files: &SuiteFiles, index: usize, runs: SelectedRuns) -> FileReport {
    let file = &files.files[index];
    if files.is_broken(index) {
        let report = broken_report(file, &files.problems[index]);
        suite.listener.file(&FileReport { status: TestStatus::Pending, ..report.clone() }, TestProgress::Starting);
        suite.listener.file(&report, TestProgress::Complete);
        return report;
    }
    let factories = suite.plugins.beside(&suite.setup);
    let context = FileContext::new(suite, file, &files.outside_variables[index], runs, factories.clone());
    let report = unless_killed(&context, async {
        match suite.request.cleanup {
            Some(_) => cleanup::execute(&context).await,
            None => file::execute(&context).await,
        }
    });
    let report = report.await;
    factories.shutdown().await;
    suite.kept.release(&file.name);
    suite.facts.forget_file(&file.name);
    report
}

/// Does the work on a file to its end, which comes soon after the second interrupt: then it reports at once what exists.
async fn unless_killed<T>(context: &FileContext<'_>, work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    tokio::select! {
        biased;
        done = &mut work => return done,
        () = context.suite.setup.stop.killed() => teardown::report_abandoned(context),
    }
    work.await
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// The report of a file whose execution panicked.
fn panicked(suite: &SuiteContext, file: &TestFile, panic: &str) -> FileReport {
    let detail = format!(
        "The execution of {} ended unexpectedly: {panic}. This is a bug in {PROGRAM} - please report it. States that were written until \
         then are kept.",
        file.name
    );
    let diagnostics = Diagnostic::error("Test file not completed", detail).into();
    let report = FileReport { status: TestStatus::Error, diagnostics, ..planned_report(file) };
    suite.listener.file(&report, TestProgress::Complete);
    report
}

/// The files and runs to execute, and warnings for the end. An unknown filter is an error, but a warning, from Terraform 1.16, where
/// pipelines of the reference pass lists of changed files.
fn selected(
    setup: &Setup,
    files: &[TestFile],
    selection: &TestSelection,
) -> Result<(SelectedFiles, Diagnostics), Diagnostics> {
    let failed = if selection.last_failed { last::failed(setup)? } else { None };
    let (selected, unknown) = select::select(files, selection, failed.as_deref());
    if unknown.is_empty() {
        return Ok((selected, Diagnostics::new()));
    }
    match opentofu::refuses_unknown_test_filters(setup.dialect()) {
        true => Err(select::unknown_filters(files, &unknown)),
        false => Ok((selected, select::unknown_files(&unknown))),
    }
}

/// Reads the configuration and the test files, and finds the packages of all providers. With errors: the reports of the files, if none of
/// them can be executed.
async fn open(
    setup: &Setup,
    request: &TestRequest,
    listener: &Arc<dyn TestListener>,
    diagnostics: &mut Diagnostics,
) -> Result<(Arc<SuiteContext>, SuiteFiles), Vec<FileReport>> {
    // States may be kept of files that only -recursive finds.
    let below = request.recursive || request.cleanup.is_some();
    let loaded = diagnostics.take(load::suite(&request.test_dir, below, setup)).ok_or_else(Vec::new)?;
    let outside = diagnostics.take(OutsideValues::collect(setup, &request.variables, &request.test_dir));
    if diagnostics.has_errors() {
        return Err(Vec::new());
    }
    let mut files = loaded.files;
    files.iter_mut().for_each(|(file, problems)| problems.extend(run_backend::check(file)));
    files.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    if !files.is_empty() && files.iter().all(|(_, problems)| problems.has_errors()) {
        files.iter().for_each(|(_, problems)| diagnostics.extend_new(problems.clone()));
        return Err(files.iter().map(|(file, problems)| broken_report(file, problems)).collect());
    }
    let mut requirements = diagnostics.take(Requirements::of_config(&loaded.config));
    for config in tested_modules(files.iter().map(|(file, _)| file)) {
        requirements = requirements.merge(diagnostics.take(Requirements::of_config(config)));
    }
    let (shown_by, found) = (listener.clone(), packages::resolve(setup, &requirements).await);
    let found = match found {
        Ok(found) => KeptStates::open(setup, Arc::new(move |warnings| shown_by.diagnostics(warnings)))
            .await
            .map(|kept| (found, kept)),
        Err(problems) => Err(problems),
    };
    let (origins, kept) = match found {
        Ok(found) => found,
        Err(problems) => {
            diagnostics.extend(problems);
            return Err(Vec::new());
        }
    };
    diagnostics.extend(origins.warnings);
    let suite = SuiteContext {
        setup: setup.clone(),
        request: request.clone(),
        config: loaded.config,
        outside,
        host: Arc::new(Machine::new(setup)),
        listener: listener.clone(),
        kept,
        coverage: coverage::recorder(request),
        work: Stop::new(),
        plugins: Factories::new(setup, origins.origins, origins.provisioner_programs),
        facts: SharedFacts::default(),
        turns: Arc::new(Semaphore::new(request.parallelism.max(1))),
    };
    let files = repeated(&suite, files);
    Ok((Arc::new(suite), files))
}

/// The files with a run per element of each `for_each`.
fn repeated(suite: &SuiteContext, files: Vec<(TestFile, Diagnostics)>) -> SuiteFiles {
    let mut all = SuiteFiles { files: Vec::new(), problems: Vec::new(), outside_variables: Vec::new() };
    for (mut file, mut problems) in files {
        // Taken before `for_each` is expanded: its elements may come from outside, too.
        all.outside_variables.push(suite.outside.names_used_by(&file, &suite.config));
        if !problems.has_errors() && file.runs.iter().any(|run| run.for_each.is_some()) {
            file = problems.take(expansion::expand(suite, &file));
        }
        all.files.push(file);
        all.problems.push(problems);
    }
    all
}

/// The configurations that runs test instead of the root module, each once.
fn tested_modules<'f>(files: impl Iterator<Item = &'f TestFile>) -> Vec<&'f Config> {
    let mut found: Vec<&Config> = Vec::new();
    for config in files.flat_map(|file| &file.runs).filter_map(|run| run.under_test.as_ref()) {
        if !found.iter().any(|known| Arc::ptr_eq(&known.root, &config.root)) {
            found.push(config);
        }
    }
    found
}

/// The folders of all modules of a suite.
fn module_folders(root: &Config, files: &[TestFile]) -> Vec<PathBuf> {
    let configs = std::iter::once(root).chain(tested_modules(files.iter()));
    let mut folders: Vec<PathBuf> =
        configs.flat_map(|config| config.modules()).map(|module| module.dir.clone()).collect();
    folders.sort();
    folders.dedup();
    folders
}

/// A file before anything of it was executed.
fn planned_report(file: &TestFile) -> FileReport {
    let run = |(index, run): (usize, &TestRun)| RunReport {
        name: run.name.clone(),
        index,
        assertions: run.asserts.len(),
        status: TestStatus::Pending,
        diagnostics: Diagnostics::new(),
        timing: None,
        verbose: None,
        skip_reason: None,
    };
    FileReport {
        name: file.name.clone(),
        runs: file.runs.iter().enumerate().map(run).collect(),
        ..FileReport::default()
    }
}

/// A file that cannot be executed.
fn broken_report(file: &TestFile, problems: &Diagnostics) -> FileReport {
    let planned = planned_report(file);
    let skipped = |run| RunReport { status: TestStatus::Skip, skip_reason: Some(SkipReason::EarlierError), ..run };
    let runs = planned.runs.into_iter().map(skipped).collect();
    FileReport { name: planned.name, status: TestStatus::Error, diagnostics: problems.clone(), runs }
}
