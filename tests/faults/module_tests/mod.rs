//! Faults of `test`: after each, what exists is what the report and the kept states name, and `test cleanup` removes it.
//!
//! A trial runs a random suite without a fault, then with one, and compares the list of the provider with the rest each time. No trial
//! waits for a moment to come: the provider interrupts or kills the program at the request of a number.

mod evidence;
mod provider;
mod suite;
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use evidence::{FOLDER, Kept, Report};
use provider::{Deed, Fault, Request};
use suite::{Suite, address_in};

use crate::support::{self, Outcome, Project, processes, program};
use crate::syntax::chance::Chance;

/// What goes wrong in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    DestroyOnce,
    DestroyAlways,
    CreatePartial,
    CreateRefused,
    Interrupt,
    InterruptTwice,
    KillBefore,
    KillAfter,
    DieBefore,
    DieAfter,
    Stall,
    FullDisk,
    Hang,
}

/// Those of a trial that takes a moment; [`Kind::Hang`] takes seconds.
const QUICK: [Kind; 12] = [
    Kind::DestroyOnce,
    Kind::DestroyAlways,
    Kind::CreatePartial,
    Kind::CreateRefused,
    Kind::Interrupt,
    Kind::InterruptTwice,
    Kind::KillBefore,
    Kind::KillAfter,
    Kind::DieBefore,
    Kind::DieAfter,
    Kind::Stall,
    Kind::FullDisk,
];

/// How many cleanups there are at most: one may fail and one may be killed.
const CLEANUPS: usize = 4;

/// Distance between the seeds of two series of trials.
const FIRST_SEEDS: u64 = 100_000;

/// IDs of objects about whose change no answer was received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Excused {
    /// They exist, and no state can name them. Their names are said.
    unnamed: BTreeSet<String>,
    /// They are in a state, and do not exist any more.
    gone: BTreeSet<String>,
}

struct Trial {
    project: Project,
    suite: Suite,
    chance: Chance,
    /// One operation at a time: all requests but the last were answered, and what was answered is known.
    is_serial: bool,
    /// Everything that commands printed.
    said: String,
}

#[test]
fn faults_leave_nothing_forgotten() {
    run_trials(1, 0..QUICK.len() as u64, &QUICK, 3);
}

/// Trials that failed: warnings about a killed run were lost when the cleanup was killed, too, and a half-written state was left.
#[test]
fn past_faults_leave_nothing_forgotten() {
    let kinds = all_kinds();
    for number in [7, 12, 72, 124] {
        run_trials(FIRST_SEEDS, number..number + 1, &kinds, 1);
    }
}

fn all_kinds() -> Vec<Kind> {
    QUICK.into_iter().chain([Kind::Hang]).collect()
}

/// `TERRANE_TEST_FAULTS` is the number of faults, `TERRANE_TEST_FAULT_SEED` says which hundred thousand seeds they start at. A failed trial
/// is repeated by `TERRANE_TEST_FAULT_TRIAL`, the number of its seed.
#[test]
#[ignore = "takes minutes"]
fn random_faults_leave_nothing_forgotten() {
    let setting = |name: &str, default: u64| {
        let text = std::env::var(name).unwrap_or_default();
        if text.is_empty() { default } else { text.parse().unwrap_or_else(|_| panic!("{name}: {text:?}")) }
    };
    let (faults, seed) = (setting("TERRANE_TEST_FAULTS", 200), setting("TERRANE_TEST_FAULT_SEED", 1));
    let kinds = all_kinds();
    match setting("TERRANE_TEST_FAULT_TRIAL", 0) {
        0 => run_trials(seed.wrapping_mul(FIRST_SEEDS), 0..faults, &kinds, 2),
        trial => {
            let number = trial % FIRST_SEEDS;
            run_trials(trial - number, number..number + 1, &kinds, 1);
        }
    }
}

/// Runs trials by their numbers, each with the next kind of fault and the next seed.
fn run_trials(first: u64, numbers: Range<u64>, kinds: &[Kind], workers: usize) {
    let thread = std::thread::current();
    let (test, next) = (thread.name().unwrap_or("unnamed"), AtomicU64::new(numbers.start));
    let count = numbers.end - numbers.start;
    let (failures, tally) = (Mutex::new(Vec::<String>::new()), Mutex::new(BTreeMap::<Kind, usize>::new()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            // Skipped tests are reported by the name of their thread.
            let worker = std::thread::Builder::new().name(test.to_owned());
            let trials = || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        return;
                    }
                    let kind = kinds[number as usize % kinds.len()];
                    match run_trial(first.wrapping_add(number), kind) {
                        Ok(happened) => *tally.lock().unwrap().entry(kind).or_default() += usize::from(happened),
                        Err(failure) => failures.lock().unwrap().push(failure),
                    }
                }
            };
            worker.spawn_scoped(scope, trials).unwrap();
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {count} trials failed\n\n{}", failures.len(), failures.join("\n\n"));
    let tally = tally.into_inner().unwrap();
    println!("{} of {count} faults happened, nothing was forgotten: {tally:?}", tally.values().sum::<usize>());
}

/// Runs one trial. Ok: whether its fault happened.
fn run_trial(seed: u64, kind: Kind) -> Result<bool, String> {
    let mut trial = Trial::new(seed, kind);
    let done = trial.run(kind);
    done.map_err(|why| format!("seed {seed}, {kind:?}, serial: {}: {why}\n{}", trial.is_serial, trial.suite.text()))
}

impl Trial {
    fn new(seed: u64, kind: Kind) -> Trial {
        let mut chance = Chance::new(seed.wrapping_add(0x7e57));
        // The first numbers of near seeds are near each other.
        for _ in 0..5 {
            chance.next();
        }
        let is_newer = chance.below(2) == 0;
        let padding = if kind == Kind::FullDisk { 300 } else { 0 };
        let suite = Suite::random(&mut chance, is_newer, padding);
        let is_serial = chance.below(2) == 0;
        let mut project = Project::new("");
        provider::install(&mut project);
        project.set("TERRANE_COMPATIBLE_VERSION", if is_newer { "1.17.2" } else { "1.11.4" });
        suite.write(&project);
        Trial { project, suite, chance, is_serial, said: String::new() }
    }

    fn run(&mut self, kind: Kind) -> Result<bool, String> {
        let get = self.project.run(&["get"]);
        if get.code != Some(0) {
            return Err(format!("get: {}{}", get.out, get.err));
        }
        // Without a fault: only what `skip_cleanup` keeps is left.
        let sound = self.finished(&["test"]);
        let requests = provider::requests(&self.project);
        if !requests.iter().any(|request| request.verb == "create") {
            return Err(format!("nothing was created: {}{}", sound.out, sound.err));
        }
        let mut excused = self.check("without a fault", &sound, 0, &Excused::default())?;
        self.clean_up(&mut excused, None)?;
        // The cleanup may have been killed, but creates nothing.
        if !excused.unnamed.is_empty() {
            return Err(format!("{excused:?} are excused without a fault"));
        }

        let since = provider::requests(&self.project).len() as u64;
        let fault = self.fault(kind, &requests, since);
        provider::set_faults(&self.project, fault.as_slice());
        let outcome = match kind {
            Kind::FullDisk => match self.test_in_small_disk() {
                Some(outcome) => outcome,
                None => return Ok(false),
            },
            _ => self.finished(&["test"]),
        };
        let mut excused = self.check("with the fault", &outcome, since, &Excused::default())?;
        let reached = provider::requests(&self.project).len() as u64;
        let happened = !matches!(fault, Some(Fault::At(number, _)) if number > reached);
        let lasting = fault.filter(|fault| matches!(fault, Fault::DestroyOnce(_) | Fault::DestroyAlways(_)));
        provider::set_faults(&self.project, lasting.as_slice());
        self.refuses_the_next_test()?;
        self.clean_up(&mut excused, lasting)?;
        Ok(happened)
    }

    /// The fault of a trial, from the requests of the suite without one.
    fn fault(&mut self, kind: Kind, requests: &[Request], since: u64) -> Option<Fault> {
        let is_change = |request: &&Request| ["create", "update", "delete"].contains(&request.verb.as_str());
        let changes: Vec<&Request> = requests.iter().filter(is_change).collect();
        // Changes are more interesting than plans.
        let number = match self.chance.below(4) {
            0 => 1 + self.chance.below(requests.len()) as u64,
            _ => changes[self.chance.below(changes.len())].number,
        };
        let created: Vec<&Request> = requests.iter().filter(|request| request.verb == "create").collect();
        let name = created[self.chance.below(created.len())].name.clone();
        let at = |deed| Fault::At(since + number, deed);
        Some(match kind {
            Kind::DestroyOnce => Fault::DestroyOnce(name),
            Kind::DestroyAlways => Fault::DestroyAlways(name),
            Kind::CreatePartial => Fault::CreatePartial(name),
            Kind::CreateRefused => Fault::CreateRefused(name),
            Kind::Interrupt => at(Deed::Interrupt),
            Kind::InterruptTwice => at(Deed::InterruptTwice),
            Kind::KillBefore => at(Deed::KillBefore),
            Kind::KillAfter => at(Deed::KillAfter),
            Kind::DieBefore => at(Deed::DieBefore),
            Kind::DieAfter => at(Deed::DieAfter),
            Kind::Stall => at(Deed::Stall),
            Kind::Hang => at(Deed::Hang),
            Kind::FullDisk => return None,
        })
    }

    /// Runs a command to its end, and that of everything that it started.
    fn finished(&mut self, command: &[&str]) -> Outcome {
        let _ = std::fs::remove_file(self.project.path("events.json"));
        let mut args = command.to_vec();
        args.extend(self.flags());
        let outcome = self.project.run(&args);
        self.hear(outcome)
    }

    fn flags(&self) -> Vec<&'static str> {
        let serial = self.is_serial.then_some("-parallelism=1");
        ["-no-color", "-json-into=../events.json"].into_iter().chain(serial).collect()
    }

    fn hear(&mut self, outcome: Outcome) -> Outcome {
        if outcome.is_killed() {
            for seen in processes::of(self.project.mark()) {
                // SAFETY: the call touches no memory.
                unsafe { libc::kill(seen.pid, libc::SIGKILL) };
            }
        }
        self.said += &outcome.text();
        processes::all_gone(self.project.mark());
        outcome
    }

    /// Runs the tests where the folder of kept states is a disk of a few pages. Afterwards its files are in a folder as usual.
    /// None if the system does not allow mounts.
    fn test_in_small_disk(&mut self) -> Option<Outcome> {
        if !support::can_mount(&self.project) {
            return None;
        }
        let (folder, copy) = (self.project.work().join(FOLDER), self.project.path("small"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::create_dir_all(&copy).unwrap();
        let size = 4 * (2 + self.chance.below(9));
        let script = format!(
            "set -e\nmount -t tmpfs -o size={size}k none {FOLDER}\nset +e\n{:?} test {}\ncode=$?\ncp -a {FOLDER}/. ../small\nexit $code",
            program().display().to_string(),
            self.flags().join(" "),
        );
        let _ = std::fs::remove_file(self.project.path("events.json"));
        let command = self.project.command(Path::new("unshare"), &["-rm", "sh", "-c", &script]);
        let outcome = self.project.finish(command);
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::rename(&copy, &folder).unwrap();
        Some(self.hear(outcome))
    }

    /// A file of which states are kept is not executed.
    fn refuses_the_next_test(&mut self) -> Result<(), String> {
        let kept = evidence::kept(&self.project)?;
        if kept.objects.is_empty() {
            return Ok(());
        }
        let before = provider::objects(&self.project);
        let outcome = self.finished(&["test"]);
        let is_refused = outcome.code == Some(1) && outcome.text().contains("State manifest not empty");
        // Another file, of which none is kept, may be executed.
        let is_same = before.keys().all(|id| provider::objects(&self.project).contains_key(id));
        if is_refused && is_same {
            return Ok(());
        }
        Err(format!("the next test is not refused ({:?}): {}{}", outcome.code, outcome.out, outcome.err))
    }

    /// Destroys what is left. `lasting` is a fault that goes on: it is taken away after the first cleanup.
    fn clean_up(&mut self, excused: &mut Excused, lasting: Option<Fault>) -> Result<(), String> {
        let mut lasting = lasting;
        for round in 1..=CLEANUPS {
            let since = provider::requests(&self.project).len() as u64;
            let mut faults: Vec<Fault> = lasting.iter().cloned().collect();
            if round == 1 && lasting.is_none() && self.chance.below(4) == 0 {
                let deed = if self.chance.below(2) == 0 { Deed::KillBefore } else { Deed::KillAfter };
                faults.push(Fault::At(since + 1 + self.chance.below(8) as u64, deed));
            }
            provider::set_faults(&self.project, &faults);
            let outcome = self.finished(&["test", "cleanup"]);
            let what = format!("cleanup {round}");
            *excused = self.check(&what, &outcome, since, excused)?;
            if outcome.code == Some(0) {
                return self.check_clean(&what, &outcome, excused);
            }
            if let Some(Fault::DestroyAlways(name)) = &lasting
                && outcome.code == Some(1)
                && !provider::objects(&self.project).values().any(|left| left == name)
            {
                return Err(format!("{what} fails, and {name} is gone: {}{}", outcome.out, outcome.err));
            }
            lasting = None;
        }
        Err("cleanup does not end".to_owned())
    }

    /// After a cleanup that succeeded.
    fn check_clean(&self, what: &str, outcome: &Outcome, excused: &Excused) -> Result<(), String> {
        let left: Vec<String> =
            provider::objects(&self.project).into_keys().filter(|id| !excused.unnamed.contains(id)).collect();
        let kept = evidence::kept(&self.project)?;
        if !left.is_empty() || kept.has_manifest {
            return Err(format!("{what} succeeds and leaves {left:?}, {kept:?}: {}{}", outcome.out, outcome.err));
        }
        let is_said = |id: &&String| self.said.contains(address_in(id.split('#').next().unwrap_or_default()));
        match excused.unnamed.iter().find(|id| !is_said(id)) {
            Some(id) => Err(format!("{id} was being changed, and no command named it: {}", self.said)),
            None => Ok(()),
        }
    }

    /// Compares what exists with what the kept states name, and with what the report says unless the command was killed. Returns what
    /// was excused before and is now, because its change was in flight. `since`: the requests before the command.
    fn check(&self, what: &str, outcome: &Outcome, since: u64, excused: &Excused) -> Result<Excused, String> {
        let found = Findings {
            list: provider::objects(&self.project)
                .into_iter()
                .filter(|(id, _)| !excused.unnamed.contains(id))
                .collect(),
            excused: excused.clone(),
            kept: evidence::kept(&self.project)?,
            silent: self.silent(since),
            report: if outcome.is_killed() { None } else { Some(self.report(outcome)?) },
            text: outcome.text(),
            is_serial: self.is_serial,
        };
        let checked = found.compare_states().and_then(|new| found.compare_report(&new, outcome.code).map(|()| new));
        checked.map_err(|why| format!("{what}: {why}\n{found:#?}\n{}{}", outcome.out, outcome.err))
    }

    /// IDs of objects that were to be created or deleted, by requests that were not answered.
    fn silent(&self, since: u64) -> BTreeSet<String> {
        let is_silent = |request: &Request| {
            request.number > since && !request.is_answered && ["create", "delete"].contains(&request.verb.as_str())
        };
        provider::requests(&self.project).into_iter().filter(is_silent).map(|request| request.id).collect()
    }

    fn report(&self, outcome: &Outcome) -> Result<Report, String> {
        let report = Report::of_text(outcome, &self.suite);
        let mut events = Report::of_events(&self.project.read("events.json"), &self.suite)?;
        // Where nothing exists, there is no event.
        events.is_abandoned |= report.is_abandoned;
        if report == events {
            return Ok(report);
        }
        Err(format!("people read {report:?}, programs read {events:?}: {}{}", outcome.out, outcome.err))
    }
}

/// What is known after a command.
#[derive(Debug)]
struct Findings {
    /// What exists: names by ID.
    list: BTreeMap<String, String>,
    excused: Excused,
    kept: Kept,
    /// IDs of objects whose change was not answered.
    silent: BTreeSet<String>,
    /// None: the command was killed.
    report: Option<Report>,
    text: String,
    is_serial: bool,
}

impl Findings {
    fn is_abandoned(&self) -> bool {
        self.report.as_ref().is_some_and(|report| report.is_abandoned)
    }

    /// Whether an object may exist and not be in a state, or the other way round: its change was in flight. With several operations at a
    /// time, or when the program does not wait any more, an answer may be lost on its way.
    fn may_differ(&self, id: &str, name: &str) -> bool {
        let may_be_lost = self.report.is_none() && !self.is_serial || self.is_abandoned();
        let has_died = !self.is_serial && self.text.contains("Error: Plugin did not respond");
        self.silent.contains(id)
            || may_be_lost && self.kept.uncertain.contains(name)
            || has_died && self.text.contains(address_in(name))
    }

    /// Names of objects that a state has and that do not exist any more.
    fn gone(&self) -> impl Iterator<Item = (&String, &String)> {
        self.kept.objects.iter().filter(move |(id, _)| !self.list.contains_key(*id))
    }

    fn compare_states(&self) -> Result<Excused, String> {
        let mut excused = self.excused.clone();
        for (id, name) in self.list.iter().filter(|(id, _)| !self.kept.objects.contains_key(*id)) {
            if !self.may_differ(id, name) {
                return Err(format!("{id} exists and is in no kept state"));
            }
            let is_in_report = self.report.is_some() && self.text.contains(address_in(name));
            if !self.kept.uncertain.contains(name) && !is_in_report {
                return Err(format!("{id} was being created and is named nowhere"));
            }
            excused.unnamed.insert(id.clone());
        }
        for (id, name) in self.gone().filter(|(id, _)| !self.excused.gone.contains(*id)) {
            if !self.may_differ(id, name) {
                return Err(format!("{id} is in a kept state and does not exist"));
            }
            excused.gone.insert(id.clone());
        }
        if !self.kept.strays.is_empty() {
            return Err(format!("files that the manifest does not name: {:?}", self.kept.strays));
        }
        Ok(excused)
    }

    fn compare_report(&self, excused: &Excused, code: Option<i32>) -> Result<(), String> {
        let Some(report) = &self.report else { return Ok(()) };
        let gone: BTreeSet<&String> = self.gone().map(|(_, name)| name).collect();
        let mut exist = BTreeMap::<&String, usize>::new();
        for (_, name) in self.list.iter().filter(|(id, _)| !excused.unnamed.contains(*id)) {
            *exist.entry(name).or_default() += 1;
        }
        let names: BTreeSet<&String> =
            exist.keys().copied().chain(report.left.keys()).chain(report.wanted.keys()).collect();
        for name in names {
            let (exists, said) = (exist.get(name).copied().unwrap_or_default(), report.count(name));
            // What was applied when the suite was abandoned is listed as planned; its states, of which the places are said, know more.
            let is_missing = exists > said && !report.is_abandoned;
            let is_unknown = exists > said && report.is_abandoned && !self.is_near(report, name);
            let is_too_much = said > exists && !gone.contains(name) && !report.is_abandoned;
            if is_missing || is_unknown || is_too_much {
                return Err(format!("{exists} objects {name} exist, the report names {said}"));
            }
        }
        if !report.left.is_empty() && code == Some(0) {
            return Err("objects are left, and the exit code is 0".to_owned());
        }
        let is_due = |names: &[String]| report.is_abandoned || names.iter().any(|name| report.left.contains_key(name));
        let mut due = self.kept.states.iter().filter(|(_, names)| is_due(names));
        match due.find(|(path, _)| !self.text.contains(path.as_str())) {
            Some((path, _)) => Err(format!("the report does not say that a state is kept in {path}")),
            None => Ok(()),
        }
    }

    /// Whether the report of an abandoned suite names the object as one that may have been created, or its state is kept.
    fn is_near(&self, report: &Report, name: &str) -> bool {
        report.creating.contains(name) || self.kept.objects.values().any(|kept| kept == name)
    }
}
