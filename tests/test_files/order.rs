//! The model of a file: which runs are executed in which order, what becomes of each, and what is destroyed at the end.
//!
//! Runs are judged in the order of the file, which is always a possible order. Events say what they really wait for.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{
    Argument, Assertion, Case, Condition, Doubles, Expr, FileValue, Folder, NO_DESTROY, Run, Variable, Word,
};
use super::model::{Event, Object, Path, State, Walk};

/// The least severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Skip,
    Pass,
    Fail,
    Error,
}

impl Status {
    pub fn word(self) -> &'static str {
        match self {
            Status::Skip => "skip",
            Status::Pass => "pass",
            Status::Fail => "fail",
            Status::Error => "error",
        }
    }

    fn is_complete(self) -> bool {
        matches!(self, Status::Pass | Status::Fail)
    }
}

/// What became of a run.
#[derive(Debug)]
pub struct RunResult {
    pub status: Status,
    /// None if the run has no outputs, or expected failures that leave them unclear.
    pub outputs: Option<Vec<Option<Word>>>,
    /// All runs that it waits for.
    earlier: BTreeSet<usize>,
    events: BTreeSet<usize>,
}

/// An execution of a run up to its assertions.
pub struct Attempt<'c> {
    /// The verdict before the assertions.
    pub status: Status,
    /// What the assertions see; none if they are not evaluated.
    pub walk: Option<Walk<'c>>,
    /// No condition failed.
    pub is_clean: bool,
    /// What could be expected to fail.
    pub failing: BTreeSet<String>,
    /// The state afterwards, if the run wrote it, and what happened.
    applied: Option<(State, Vec<Event>)>,
}

impl Attempt<'_> {
    fn without_walk(status: Status) -> Self {
        Attempt { status, walk: None, is_clean: true, failing: BTreeSet::new(), applied: None }
    }
}

/// A variable of the file as a run sees it.
enum FileVariable {
    Known(Word),
    /// Its run was not executed.
    Missing,
    /// Its output is unknown.
    Invalid,
}

/// Why a state is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Skip,
    Error,
}

/// A state with objects at the end.
#[derive(Debug)]
pub struct Kept {
    /// Index of the run whose configuration was used at the end.
    pub run: usize,
    pub reason: Reason,
    pub objects: State,
}

/// What a file does.
#[derive(Debug)]
pub struct Prediction {
    pub statuses: Vec<Status>,
    pub file: Status,
    pub events: Vec<Event>,
    /// The runs named by the teardown, one per state with objects.
    pub teardown: Vec<usize>,
    /// By state key.
    pub kept: BTreeMap<Word, Kept>,
    /// The keys of states that have all outputs of the run that wrote them last.
    pub with_outputs: BTreeSet<Word>,
}

/// What there is after the runs so far.
#[derive(Default)]
pub struct World {
    pub results: Vec<RunResult>,
    states: BTreeMap<Word, State>,
    /// The keys of states whose last apply made all outputs.
    with_outputs: BTreeSet<Word>,
    /// The run whose configuration the teardown uses.
    owners: BTreeMap<Word, usize>,
    /// Keys of states that go back to what their owner made, instead of away.
    restored: BTreeSet<Word>,
    events: Vec<Event>,
}

/// Predicts all of a case.
pub fn predict(case: &Case) -> Prediction {
    let mut world = World::default();
    for run in &case.runs {
        world.record(case, run);
    }
    world.tear_down(case)
}

impl World {
    /// The runs that the next run waits for, without those that these wait for.
    fn predecessors(&self, case: &Case, run: &Run) -> BTreeSet<usize> {
        let number = self.results.len();
        let is_parallel = |run: &Run| run.is_parallel.unwrap_or(case.is_parallel);
        let waits = |other: &&usize| {
            let other = &case.runs[**other];
            !(is_parallel(run) && is_parallel(other)) || run.key() == other.key()
        };
        let earlier: Vec<usize> = (0..number).collect();
        let mut all: BTreeSet<usize> = earlier.iter().filter(waits).copied().collect();
        let of_argument = |argument: &Argument| match argument {
            Argument::Run(other, _) => Some(*other),
            Argument::File(_) | Argument::Text(_) => None,
        };
        all.extend(run.variables.values().filter_map(of_argument));
        let of_assertion = |assertion: &Assertion| match assertion.expr {
            Expr::Run(other, _) => Some(other),
            _ => None,
        };
        all.extend(run.assertions.iter().filter_map(of_assertion));
        let of_variable = |name: Word| match case.file_variables.get(name) {
            Some(FileValue::Run(other, _)) => Some(*other),
            _ => None,
        };
        all.extend(file_variables_of(case, run).into_iter().filter_map(of_variable));
        all
    }

    fn file_variable(&self, case: &Case, name: Word) -> FileVariable {
        match case.file_variables[name] {
            FileValue::Text(word) => FileVariable::Known(word),
            FileValue::Run(other, _) if !self.results[other].status.is_complete() => FileVariable::Missing,
            FileValue::Run(other, n) => match self.output(other, n) {
                Some(word) => FileVariable::Known(word),
                None => FileVariable::Invalid,
            },
        }
    }

    /// The value of an output of a run; `None` if it is unknown.
    fn output(&self, run: usize, n: usize) -> Option<Word> {
        self.results[run].outputs.as_ref().expect("only clean runs are referred to")[n]
    }

    fn is_skipped(&self, case: &Case, run: &Run) -> bool {
        let is_missing = |n: &usize| !self.results[*n].status.is_complete();
        if self.predecessors(case, run).iter().any(is_missing) {
            return true;
        }
        let variables = file_variables_of(case, run);
        variables.into_iter().any(|name| !matches!(self.file_variable(case, name), FileVariable::Known(_)))
    }

    /// The values of the variables of the module that a run tests; none if the run ends with an error before its plan.
    fn values(&self, case: &Case, run: &Run) -> Option<Vec<Word>> {
        let from_file = |name: Word| match self.file_variable(case, name) {
            FileVariable::Known(word) => Some(word),
            FileVariable::Missing | FileVariable::Invalid => None,
        };
        let value = |(n, variable): (usize, &Variable)| match run.variables.get(&n) {
            Some(&Argument::Text(word)) => Some(word),
            Some(&Argument::File(name)) => from_file(name),
            Some(&Argument::Run(other, output)) => self.output(other, output),
            None => variable_of_file(case, n).map_or(variable.default, from_file),
        };
        case.module(run.folder).variables.iter().enumerate().map(value).collect()
    }

    /// Executes the next run without its assertions.
    pub fn attempt<'c>(&self, case: &'c Case, run: &'c Run) -> Attempt<'c> {
        if self.is_skipped(case, run) {
            return Attempt::without_walk(Status::Skip);
        }
        let Some(values) = self.values(case, run) else { return Attempt::without_walk(Status::Error) };
        let empty = State::new();
        let plan = Walk::plan(case, run, &values, self.states.get(run.key()).unwrap_or(&empty));
        if run.is_plan {
            return judged(case, run, plan);
        }
        // Checks are judged again by the apply; all other failures are errors of the plan, expected or not.
        if plan.failures.iter().any(|failure| !failure.is_check) {
            return Attempt { failing: targets(&plan), ..Attempt::without_walk(Status::Error) };
        }
        let mut walk = Walk::apply(&plan, &values);
        let applied = (std::mem::take(&mut walk.state), std::mem::take(&mut walk.events));
        Attempt { applied: Some(applied), ..judged(case, run, walk) }
    }

    /// The verdict of an assertion.
    fn judge(&self, assertion: &Assertion, walk: &Walk) -> Status {
        let value = match assertion.expr {
            Expr::Run(run, n) => self.output(run, n),
            expr => walk.value(Path::Root, expr).expect("assertions of unclear runs refer to nothing that failed"),
        };
        match (assertion.condition, value) {
            (Condition::Equals(word), Some(value)) if word == value => Status::Pass,
            (Condition::Equals(_), Some(_)) => Status::Fail,
            // Unknown, no bool, no number or null.
            _ => Status::Error,
        }
    }

    /// Executes the next run.
    pub fn record(&mut self, case: &Case, run: &Run) {
        let number = self.results.len();
        let mut earlier = self.predecessors(case, run);
        for n in earlier.clone() {
            earlier.extend(&self.results[n].earlier);
        }
        let before: BTreeSet<usize> = earlier.iter().flat_map(|n| self.results[*n].events.iter().copied()).collect();
        let attempt = self.attempt(case, run);
        let (mut status, mut outputs) = (attempt.status, None);
        if let Some(walk) = &attempt.walk {
            let verdicts = run.assertions.iter().map(|assertion| self.judge(assertion, walk));
            status = verdicts.fold(status, Status::max);
            let count = case.module(run.folder).outputs.len();
            let value = |n| walk.value(Path::Root, Expr::Own(n)).expect("nothing failed");
            outputs = attempt.is_clean.then(|| (0..count).map(value).collect());
        }
        let mut events = BTreeSet::new();
        if let Some((state, list)) = attempt.applied {
            self.states.insert(run.key(), state);
            self.with_outputs.remove(run.key());
            if attempt.is_clean && attempt.status != Status::Error {
                self.with_outputs.insert(run.key());
            }
            events = self.append(list, &before);
            if run.skip_cleanup == Some(true) {
                self.restored.insert(run.key());
                self.owners.insert(run.key(), number);
            } else if !self.restored.contains(run.key()) {
                self.owners.insert(run.key(), number);
            }
        }
        self.results.push(RunResult { status, outputs, earlier, events });
    }

    /// Adds events of one plan, apply or destroy, all after some that there are; returns their indices.
    fn append(&mut self, events: Vec<Event>, before: &BTreeSet<usize>) -> BTreeSet<usize> {
        let first = self.events.len();
        for event in events {
            let own = event.after.iter().map(|n| first + n);
            let after = own.chain(before.iter().copied()).collect();
            self.events.push(Event { line: event.line, after });
        }
        (first..self.events.len()).collect()
    }

    /// What is destroyed before each state: by its key, the keys of the states that are destroyed first.
    fn destroyed_before(&self, case: &Case) -> BTreeMap<Word, BTreeSet<Word>> {
        let keys: BTreeSet<Word> = case.runs.iter().map(Run::key).collect();
        if !case.is_newer {
            let later = |key: Word, other: Word| self.owners.get(other) > self.owners.get(key);
            let of = |key: Word| keys.iter().copied().filter(|&other| later(key, other)).collect();
            return keys.iter().copied().map(|key| (key, of(key))).collect();
        }
        // A state is destroyed before all states that the last of its runs waited for, directly or not.
        let waits = |key: Word| {
            let last = case.runs.iter().rposition(|run| run.key() == key).expect("keys are those of runs");
            self.results[last].earlier.iter().map(|n| case.runs[*n].key()).filter(|other| *other != key).collect()
        };
        let direct: BTreeMap<Word, BTreeSet<Word>> = keys.iter().copied().map(|key| (key, waits(key))).collect();
        let reached = transitive(direct.clone());
        // The order in a cycle is not defined, and says nothing about other states.
        let is_ordered = |key: Word, other: Word| !reached[other].contains(key);
        let without_cycles = |(key, waits): (Word, BTreeSet<Word>)| {
            (key, waits.into_iter().filter(|other| is_ordered(key, other)).collect())
        };
        let before = transitive(direct.into_iter().map(without_cycles).collect());
        let of = |key: Word| keys.iter().copied().filter(|other| before[other].contains(key)).collect();
        keys.iter().copied().map(|key| (key, of(key))).collect()
    }

    fn tear_down(mut self, case: &Case) -> Prediction {
        let runs: BTreeSet<usize> = (0..self.events.len()).collect();
        let before = self.destroyed_before(case);
        let mut open: Vec<Word> = before.keys().copied().collect();
        let mut events: BTreeMap<Word, BTreeSet<usize>> = BTreeMap::new();
        let mut file = self.results.iter().map(|result| result.status).max().unwrap_or(Status::Pass);
        let (mut teardown, mut kept) = (Vec::new(), BTreeMap::new());
        while !open.is_empty() {
            let is_free = |key: &Word| !open.iter().any(|other| before[key].contains(other));
            let next = open.iter().position(is_free).expect("the order has no cycles");
            let key = open.remove(next);
            let Some(state) = self.states.remove(key).filter(|state| !state.is_empty()) else { continue };
            let run = self.owners[key];
            teardown.push(run);
            let mut after = runs.clone();
            after.extend(before[key].iter().filter_map(|other| events.get(other)).flatten());
            let walk = self.end_state(case, run, key, &state);
            let is_failure = walk.errors > 0 || walk.failures.iter().any(|failure| !failure.is_check);
            events.insert(key, self.append(walk.events, &after));
            let is_error = is_failure || !(self.restored.contains(key) || walk.state.is_empty());
            if is_error {
                file = Status::Error;
            }
            if !walk.state.is_empty() {
                let reason = if is_error { Reason::Error } else { Reason::Skip };
                kept.insert(key, Kept { run, reason, objects: walk.state });
            }
        }
        let is_invalid = |name: Word| matches!(self.file_variable(case, name), FileVariable::Invalid);
        if case.file_variables.keys().copied().any(is_invalid) {
            file = Status::Error;
        }
        let statuses = self.results.iter().map(|result| result.status).collect();
        Prediction { statuses, file, events: self.events, teardown, kept, with_outputs: self.with_outputs }
    }

    /// Destroys a state, or brings back what its owner made.
    fn end_state<'c>(&self, case: &'c Case, owner: usize, key: Word, state: &State) -> Walk<'c> {
        let run = &case.runs[owner];
        if !self.restored.contains(key) {
            return Walk::destroy_all(case, run, state);
        }
        let values = self.values(case, run).expect("the run had values");
        let plan = Walk::plan(case, run, &values, state);
        if plan.failures.iter().any(|failure| !failure.is_check) { plan } else { Walk::apply(&plan, &values) }
    }
}

/// With what those need.
fn transitive(mut needs: BTreeMap<Word, BTreeSet<Word>>) -> BTreeMap<Word, BTreeSet<Word>> {
    let keys: Vec<Word> = needs.keys().copied().collect();
    for middle in &keys {
        let more = needs[middle].clone();
        for of_key in needs.values_mut().filter(|of_key| of_key.contains(middle)) {
            of_key.extend(&more);
        }
    }
    needs
}

/// What the conditions and provisioners of a plan or an apply say about its run.
fn judged<'c>(case: &Case, run: &Run, walk: Walk<'c>) -> Attempt<'c> {
    let failing = targets(&walk);
    let is_expected = |target: &Option<String>| target.as_ref().is_some_and(|target| run.expects.contains(target));
    let is_unexpected = walk.errors > 0 || walk.failures.iter().any(|failure| !is_expected(&failure.target));
    let lacks = run.expects.iter().any(|target| !failing.contains(target));
    let is_clean = walk.failures.is_empty();
    // Since 1.12 it is a failure if something that should fail in an apply does not. In a plan it still is an error.
    let status = match (is_unexpected, lacks) {
        (true, _) => Status::Error,
        (false, true) if run.is_plan || !case.is_newer => Status::Error,
        (false, true) => Status::Fail,
        (false, false) => Status::Pass,
    };
    let walk = Some(walk).filter(|_| status != Status::Error);
    Attempt { status, walk, is_clean, failing, applied: None }
}

/// What of the failures of a walk can be expected.
fn targets(walk: &Walk) -> BTreeSet<String> {
    walk.failures.iter().filter_map(|failure| failure.target.clone()).collect()
}

/// The variable of the file that has the name of a module's variable.
fn variable_of_file(case: &Case, n: usize) -> Option<Word> {
    case.file_variables.keys().copied().find(|name| *name == format!("v{n}"))
}

/// The variables of the file that a run uses.
fn file_variables_of(case: &Case, run: &Run) -> Vec<Word> {
    let used = |n: usize| match run.variables.get(&n) {
        Some(Argument::File(name)) => Some(*name),
        Some(_) => None,
        None => variable_of_file(case, n),
    };
    (0..case.module(run.folder).variables.len()).filter_map(used).collect()
}

impl Prediction {
    /// Whether `test cleanup` can destroy what is kept by the configuration that made it, and which lines its provisioners
    /// write then; none if that is not clear.
    pub fn cleanup(&self, case: &Case) -> Option<Vec<String>> {
        let is_one = |key: &Word| {
            let folders: Vec<Folder> = case.runs.iter().filter(|run| run.key() == *key).map(|run| run.folder).collect();
            folders.iter().all(|folder| *folder == folders[0])
        };
        let refers = |run: &Run| run.variables.values().any(|argument| matches!(argument, Argument::Run(..)));
        let is_clear = self.kept.keys().all(is_one) && !case.runs.iter().any(refers);
        let of_file = case.file_variables.values().any(|value| matches!(value, FileValue::Run(..)));
        let objects = || self.kept.values().flat_map(|kept| kept.objects.iter().map(move |object| (kept.run, object)));
        let stays = objects().any(|(_, (_, object))| object.value == NO_DESTROY && !object.is_tainted);
        if !is_clear || of_file || stays || case.doubles != Doubles::None {
            return None;
        }
        let lines = objects().filter(|(_, (_, object))| !object.is_tainted);
        let line = |(run, (address, object)): (usize, (&String, &Object))| {
            let name = address.rsplit('.').next().unwrap();
            format!("destroy {name} {} {}", case.runs[run].tag(), object.value)
        };
        Some(lines.map(line).collect())
    }
}
