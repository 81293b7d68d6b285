//! What a command is doing, as its events tell: what runs, how far it is, and what has ended.
//!
//! Owns the rules of the status area's content. Never draws, and has no clock: the time is an argument.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use base::activity::Task;
use engine::event::{EphemeralVerb, Event, Phase};
use install::event::{InstallEvent, ModuleEvent};
use model::addr::AbsResourceInstance;
use model::plan::{Action, Mode, Plan, ResourceChange};
use model::state::DeposedKey;
use ops::durations::TimedOperation;
use ops::interface::testing::TestProgress;
use terrane_protocol::schema::ResourceMode;

use super::draw::{Counts, Picture, Row};

const MIB: f64 = 1024.0 * 1024.0;

/// A step that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The address.
    pub name: String,
    /// The type, for estimates; empty if there are none for it.
    pub kind: String,
    /// "create"
    pub operation: &'static str,
    pub began: Instant,
    pub elapsed: Duration,
    pub failed: bool,
}

/// What a command is doing.
#[derive(Debug, Default)]
pub struct State {
    title: Option<(String, Instant)>,
    part: Part,
    counts: Option<Counts>,
    failed: usize,
    jobs: HashMap<String, Job>,
    downloads: BTreeMap<String, Download>,
    plan: PlannedWork,
    /// What has ended, in the order of the ends; only what is asked for.
    pub steps: Vec<Step>,
    /// Whether ends are kept.
    keeps_steps: bool,
    /// How long operations take, as earlier runs have shown.
    usual: BTreeMap<TimedOperation, Duration>,
}

/// The part of the command, which decides what counts as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Other,
    Plan,
    Apply,
}

#[derive(Debug)]
struct Job {
    kind: String,
    operation: &'static str,
    doing: &'static str,
    began: Instant,
    usual: Option<Duration>,
    waits_for: Option<String>,
}

#[derive(Debug)]
struct Download {
    began: Instant,
    have: u64,
    all: Option<u64>,
}

/// What an apply has to do.
#[derive(Debug, Default)]
struct PlannedWork {
    steps: usize,
    /// What has not begun, by type and operation, with the usual time.
    open: BTreeMap<(String, &'static str), (usize, Option<Duration>)>,
    /// The provider of each object, for people.
    providers: HashMap<String, String>,
    parallelism: usize,
    /// All objects are to be destroyed.
    destroys: bool,
}

impl State {
    /// A command of which nothing is known yet.
    pub fn new(keeps_steps: bool, usual: BTreeMap<TimedOperation, Duration>) -> Self {
        Self { keeps_steps, usual, ..Self::default() }
    }

    /// Takes note of an event of a run.
    pub fn hear(&mut self, event: &Event, now: Instant) {
        match event {
            Event::Phase(phase) => self.begin_phase(*phase, now),
            Event::RefreshStarted { addr, deposed, .. } => {
                self.begin(object(addr, deposed), kind(addr), "refresh", "refreshing", now);
            }
            Event::RefreshFinished { addr, deposed, .. } => self.end(&object(addr, deposed), None, false, now),
            Event::RefreshFailed { addr, deposed } => self.end(&object(addr, deposed), None, true, now),
            Event::ReadStarted { addr } => self.begin_planned(addr, &None, Action::Read, now),
            Event::ReadFinished { addr, elapsed, failed, .. } => {
                self.end(&addr.to_string(), Some(*elapsed), *failed, now);
            }
            Event::ApplyStarted { addr, deposed, action, .. } => self.begin_planned(addr, deposed, *action, now),
            Event::ApplyFinished { addr, deposed, elapsed, failed, .. } => {
                self.end(&object(addr, deposed), Some(*elapsed), *failed, now);
            }
            Event::EphemeralStarted { addr, verb } => {
                let (operation, doing) = ephemeral(*verb);
                self.begin(addr.to_string(), kind(addr), operation, doing, now);
            }
            Event::EphemeralFinished { addr, elapsed, failed, .. } => {
                self.end(&addr.to_string(), Some(*elapsed), *failed, now);
            }
            Event::ProvisionStarted { addr, kind } => {
                self.set_wait(&addr.to_string(), Some(format!("the provisioner {kind}")));
            }
            Event::ProvisionFinished { addr, .. } => self.set_wait(&addr.to_string(), None),
            Event::ActionStarted(invocation) => {
                let name = format!("{} ({})", invocation.addr, invocation.trigger);
                let kind = format!("action.{}", invocation.addr.action.action.kind);
                self.begin(name, kind, "invoke", "running", now);
            }
            Event::ActionFinished { invocation, error } => {
                let name = format!("{} ({})", invocation.addr, invocation.trigger);
                self.end(&name, None, error.is_some(), now);
            }
            Event::ListStarted { addr, .. } => self.begin(addr.to_string(), kind(addr), "list", "listing", now),
            Event::ListFinished(results) => self.end(&results.addr.to_string(), None, false, now),
            Event::RequestPending { subject, provider, request, .. } => {
                self.set_wait(subject, Some(format!("{} ({request})", provider.for_display())));
            }
            _ => {}
        }
    }

    fn begin_phase(&mut self, phase: Phase, now: Instant) {
        let (title, part, counts) = match phase {
            Phase::Schemas => ("Reading the schemas", Part::Other, None),
            Phase::Graph => ("Building the graph", Part::Other, None),
            Phase::Validate => ("Validating", Part::Other, None),
            Phase::Plan { objects } => {
                let total = objects.filter(|objects| *objects > 0);
                ("Planning", Part::Plan, Some(Counts { done: 0, total, noun: "objects refreshed" }))
            }
            Phase::Apply => {
                let total = Some(self.plan.steps).filter(|steps| *steps > 0);
                let title = if self.plan.destroys { "Destroying" } else { "Applying" };
                (title, Part::Apply, total.map(|_| Counts { done: 0, total, noun: "changes" }))
            }
            Phase::Import => ("Importing", Part::Other, None),
            Phase::Query => ("Listing", Part::Other, None),
        };
        self.set_title(Some(title), now);
        (self.part, self.counts) = (part, counts);
    }

    /// Begins a part of the command: what ran before is over. None: there is nothing to say until the next one.
    pub fn set_title(&mut self, title: Option<&str>, now: Instant) {
        self.title = title.map(|title| (title.to_owned(), now));
        (self.part, self.counts, self.failed) = (Part::Other, None, 0);
        self.jobs.clear();
        self.downloads.clear();
    }

    /// Takes note of what an apply will do, after which nothing runs for now.
    pub fn planned(&mut self, plan: &Plan, now: Instant) {
        let mut work = PlannedWork {
            parallelism: plan.scope.parallelism.max(1),
            destroys: plan.scope.mode == Mode::Destroy,
            ..PlannedWork::default()
        };
        for change in &plan.changes {
            for operation in planned_operations(change) {
                let kind = kind(&change.addr);
                let usual = self.usual.get(&(kind.clone(), (*operation).to_owned())).copied();
                work.open.entry((kind, *operation)).or_insert((0, usual)).0 += 1;
                work.steps += 1;
                let provider = change.provider.provider.for_display();
                work.providers.insert(object(&change.addr, &change.deposed), provider);
            }
        }
        work.steps += plan.invocations.len();
        self.plan = work;
        self.set_title(None, now);
    }

    fn begin_planned(
        &mut self,
        addr: &AbsResourceInstance,
        deposed: &Option<DeposedKey>,
        action: Action,
        now: Instant,
    ) {
        let (operation, doing) = words(action);
        let (name, kind) = (object(addr, deposed), kind(addr));
        if self.part == Part::Apply
            && let Some((count, _)) = self.plan.open.get_mut(&(kind.clone(), operation))
        {
            *count = count.saturating_sub(1);
        }
        let waits_for = self.plan.providers.get(&name).cloned();
        self.begin(name.clone(), kind, operation, doing, now);
        self.set_wait(&name, waits_for);
    }

    fn begin(&mut self, name: String, kind: String, operation: &'static str, doing: &'static str, now: Instant) {
        let key = (kind, operation.to_owned());
        let usual = self.usual.get(&key).copied();
        let job = Job { kind: key.0, operation, doing, began: now, usual, waits_for: None };
        self.jobs.insert(name, job);
    }

    fn set_wait(&mut self, name: &str, waits_for: Option<String>) {
        let provider = || self.plan.providers.get(name).cloned();
        let waits_for = waits_for.or_else(provider);
        if let Some(job) = self.jobs.get_mut(name) {
            job.waits_for = waits_for;
        }
    }

    fn end(&mut self, name: &str, elapsed: Option<Duration>, failed: bool, now: Instant) {
        let Some(Job { kind, operation, began, .. }) = self.jobs.remove(name) else { return };
        let is_counted = match self.part {
            Part::Plan => operation == "refresh",
            Part::Apply => !matches!(operation, "open" | "renew" | "close"),
            Part::Other => false,
        };
        self.failed += usize::from(failed);
        if let Some(counts) = self.counts.as_mut().filter(|_| is_counted && !failed) {
            counts.done += 1;
        }
        if self.keeps_steps {
            let elapsed = elapsed.unwrap_or_else(|| now.saturating_duration_since(began));
            self.steps.push(Step { name: name.to_owned(), kind, operation, began, elapsed, failed });
        }
    }

    /// Takes note of an event of the installation of providers.
    pub fn install(&mut self, event: &InstallEvent, now: Instant) {
        match event {
            InstallEvent::Progress { provider, have, all } if *all != Some(*have) => {
                self.download(provider.for_display(), *have, *all, now);
            }
            InstallEvent::Progress { provider, .. }
            | InstallEvent::Downloaded { provider, .. }
            | InstallEvent::Failed { provider, .. } => {
                self.downloads.remove(&provider.for_display());
            }
            _ => {}
        }
    }

    fn download(&mut self, name: String, have: u64, all: Option<u64>, now: Instant) {
        let new = || Download { began: now, have: 0, all: None };
        let download = self.downloads.entry(name).or_insert_with(new);
        (download.have, download.all) = (have, all);
    }

    /// Takes note of an event of the installation of modules.
    pub fn module(&mut self, event: &ModuleEvent, now: Instant) {
        match event {
            ModuleEvent::Downloading { path, .. } => {
                self.begin(path.0.join("."), String::new(), "download", "downloading", now);
            }
            ModuleEvent::Progress { path, have, all } => self.download(path.0.join("."), *have, *all, now),
            ModuleEvent::Downloaded { path } => {
                self.downloads.remove(&path.0.join("."));
            }
            ModuleEvent::Installed { path, .. } => {
                self.jobs.remove(&path.0.join("."));
            }
        }
    }

    /// A suite of so many test files begins.
    pub fn begin_suite(&mut self, files: usize, now: Instant) {
        self.set_title(Some("Running tests"), now);
        self.counts = Some(Counts { done: 0, total: Some(files), noun: if files == 1 { "file" } else { "files" } });
    }

    /// Takes note of how far a test file is.
    pub fn test_file(&mut self, file: &str, progress: TestProgress, now: Instant) {
        match progress {
            TestProgress::Starting | TestProgress::Running => {}
            TestProgress::TearDown => self.begin(file.to_owned(), String::new(), "test", "tearing down", now),
            TestProgress::Complete => {
                let run = format!("{file}/");
                self.jobs.retain(|name, _| name != file && !name.starts_with(&run));
                if let Some(counts) = &mut self.counts {
                    counts.done += 1;
                }
            }
        }
    }

    /// Takes note of how far a run of a test file is.
    pub fn test_run(&mut self, file: &str, run: &str, progress: TestProgress, now: Instant) {
        let name = format!("{file}/{run}");
        match progress {
            TestProgress::Starting => self.begin(name, String::new(), "test", "running", now),
            TestProgress::Complete => {
                self.jobs.remove(&name);
            }
            // The row of the file says it.
            TestProgress::Running | TestProgress::TearDown => {}
        }
    }

    /// What there is to draw; none if nothing is known to run. `tasks`: what runs that has no events.
    pub fn picture(&self, tasks: &[Task], now: Instant, is_stopping: bool) -> Option<Picture> {
        let mut rows: Vec<(Instant, Row)> = Vec::with_capacity(self.jobs.len() + tasks.len());
        // Of a module that comes as an archive, the download says more.
        let jobs = self.jobs.iter().filter(|(name, _)| !self.downloads.contains_key(*name));
        rows.extend(jobs.map(|(name, job)| (job.began, job.row(name, now))));
        rows.extend(self.downloads.iter().map(|(name, download)| (download.began, download.row(name, now))));
        let mut tasks = tasks.iter();
        let (title, since) = match &self.title {
            Some((title, since)) => (title.clone(), *since),
            None => tasks.next().map(|task| (task.text.clone(), task.began))?,
        };
        rows.extend(tasks.map(|task| {
            let elapsed = now.saturating_duration_since(task.began);
            (task.began, Row { name: task.text.clone(), elapsed, ..Row::default() })
        }));
        rows.sort_by(|(a, left), (b, right)| a.cmp(b).then_with(|| left.name.cmp(&right.name)));
        Some(Picture {
            title,
            elapsed: now.saturating_duration_since(since),
            counts: self.counts,
            failed: self.failed,
            left: self.left(now),
            is_stopping,
            rows: rows.into_iter().map(|(_, row)| row).collect(),
        })
    }

    /// How long an apply is expected to go on; none if the times of most steps are not known. As many steps as may run at the same
    /// time share the work; the longest one cannot be shared.
    fn left(&self, now: Instant) -> Option<Duration> {
        if self.part != Part::Apply {
            return None;
        }
        let (mut known, mut unknown) = (0_usize, 0_usize);
        let (mut total, mut longest) = (0.0_f64, 0.0_f64);
        for (count, usual) in self.plan.open.values() {
            match usual {
                Some(usual) if *count > 0 => {
                    known += count;
                    total += usual.as_secs_f64() * *count as f64;
                    longest = longest.max(usual.as_secs_f64());
                }
                Some(_) => {}
                None => unknown += count,
            }
        }
        for job in self.jobs.values() {
            match job.usual {
                Some(usual) => {
                    let left = usual.saturating_sub(now.saturating_duration_since(job.began)).as_secs_f64();
                    known += 1;
                    total += left;
                    longest = longest.max(left);
                }
                None => unknown += 1,
            }
        }
        if known == 0 || unknown > known {
            return None;
        }
        let whole = total * (known + unknown) as f64 / known as f64;
        let left = (whole / self.plan.parallelism.max(1) as f64).max(longest);
        Duration::try_from_secs_f64(left).ok().filter(|left| *left >= Duration::from_secs(1))
    }

    /// The times of what has ended well, by type and operation.
    pub fn times(&self) -> BTreeMap<TimedOperation, Vec<Duration>> {
        let mut times: BTreeMap<TimedOperation, Vec<Duration>> = BTreeMap::new();
        for step in self.steps.iter().filter(|step| !step.failed && !step.kind.is_empty()) {
            times.entry((step.kind.clone(), step.operation.to_owned())).or_default().push(step.elapsed);
        }
        times
    }
}

impl Job {
    fn row(&self, name: &str, now: Instant) -> Row {
        Row {
            name: name.to_owned(),
            doing: self.doing.to_owned(),
            rate: None,
            elapsed: now.saturating_duration_since(self.began),
            usual: self.usual,
            waits_for: self.waits_for.clone(),
        }
    }
}

impl Download {
    fn row(&self, name: &str, now: Instant) -> Row {
        let elapsed = now.saturating_duration_since(self.began);
        let have = self.have as f64 / MIB;
        let doing = match self.all {
            Some(all) => format!("{have:.1} of {:.1} MiB", all as f64 / MIB),
            None => format!("{have:.1} MiB"),
        };
        let has_rate = elapsed >= Duration::from_secs(1);
        let rate = has_rate.then(|| format!("at {:.1} MiB/s", have / elapsed.as_secs_f64()));
        Row { name: name.to_owned(), doing, rate, elapsed, ..Row::default() }
    }
}

/// What a provider is asked to do for a change, a step each.
fn planned_operations(change: &ResourceChange) -> &'static [&'static str] {
    match change.action {
        Action::NoOp | Action::Forget => &[],
        Action::Read => &["read"],
        Action::Create | Action::CreateThenForget => &["create"],
        Action::Update => &["update"],
        Action::Delete if change.addr.mode() != ResourceMode::Managed => &[],
        Action::Delete => &["delete"],
        Action::DeleteThenCreate | Action::CreateThenDelete => &["delete", "create"],
    }
}

/// The operation of a step, and what it is called while it runs.
fn words(action: Action) -> (&'static str, &'static str) {
    match action {
        Action::Delete => ("delete", "destroying"),
        Action::Update => ("update", "modifying"),
        Action::Read => ("read", "reading"),
        Action::NoOp | Action::Forget => ("update", "working"),
        Action::Create | Action::DeleteThenCreate | Action::CreateThenDelete | Action::CreateThenForget => {
            ("create", "creating")
        }
    }
}

fn ephemeral(verb: EphemeralVerb) -> (&'static str, &'static str) {
    match verb {
        EphemeralVerb::Open => ("open", "opening"),
        EphemeralVerb::Renew => ("renew", "renewing"),
        EphemeralVerb::Close => ("close", "closing"),
    }
}

fn object(addr: &AbsResourceInstance, deposed: &Option<DeposedKey>) -> String {
    deposed.as_ref().map_or_else(|| addr.to_string(), |key| format!("{addr} (deposed object {key})"))
}

/// The type, as the files of estimates name it.
fn kind(addr: &AbsResourceInstance) -> String {
    let kind = addr.kind();
    match addr.mode() {
        ResourceMode::Managed => kind.to_owned(),
        ResourceMode::Data => format!("data.{kind}"),
        ResourceMode::Ephemeral => format!("ephemeral.{kind}"),
        ResourceMode::List => format!("list.{kind}"),
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
