//! What events make of the picture.

use std::sync::Arc;

use model::addr::parse::parse_abs_instance;
use model::addr::{Module, Provider};

use super::*;

fn addr(text: &str) -> AbsResourceInstance {
    parse_abs_instance(text).unwrap()
}

fn started(text: &str, action: Action) -> Event {
    Event::ApplyStarted { addr: addr(text), deposed: None, action, label: None }
}

fn finished(text: &str, action: Action, elapsed: u64, failed: bool) -> Event {
    let elapsed = Duration::from_secs(elapsed);
    Event::ApplyFinished { addr: addr(text), deposed: None, action, label: None, elapsed, failed }
}

/// What an apply has to do: so many objects of each type, to be created.
fn work(usual: &[(&str, u64)], open: &[(&str, usize)], parallelism: usize) -> State {
    let key = |kind: &str| (kind.to_owned(), "create".to_owned());
    let usual = usual.iter().map(|(kind, seconds)| (key(kind), Duration::from_secs(*seconds)));
    let mut state = State::new(true, usual.collect());
    for (kind, count) in open {
        let usual = state.usual.get(&key(kind)).copied();
        state.plan.open.insert(((*kind).to_owned(), "create"), (*count, usual));
        state.plan.steps += count;
    }
    state.plan.parallelism = parallelism;
    state
}

#[test]
fn an_apply_is_counted_and_what_runs_is_named() {
    let start = Instant::now();
    let at = |seconds: u64| start + Duration::from_secs(seconds);
    let mut state = work(&[("a_slow", 100)], &[("a_slow", 1), ("a_fast", 2)], 10);
    state.plan.providers.insert("a_slow.x".to_owned(), "hashicorp/a".to_owned());
    state.hear(&Event::Phase(Phase::Apply), at(0));
    state.hear(&started("a_fast.one", Action::Create), at(0));
    state.hear(&started("a_slow.x", Action::Create), at(0));
    state.hear(&finished("a_fast.one", Action::Create, 2, false), at(2));
    state.hear(&started("a_fast.two", Action::Create), at(2));
    let picture = state.picture(&[], at(5), false).unwrap();
    assert_eq!(picture.title, "Applying");
    assert_eq!(picture.counts, Some(Counts { done: 1, total: Some(3), noun: "changes" }));
    let rows: Vec<(&str, &str, u64)> =
        picture.rows.iter().map(|row| (row.name.as_str(), row.doing.as_str(), row.elapsed.as_secs())).collect();
    assert_eq!(rows, [("a_slow.x", "creating", 5), ("a_fast.two", "creating", 3)]);
    assert_eq!(picture.rows[0].usual, Some(Duration::from_secs(100)));
    assert_eq!(picture.rows[0].waits_for.as_deref(), Some("hashicorp/a"));
    state.hear(&finished("a_fast.two", Action::Create, 4, true), at(6));
    let picture = state.picture(&[], at(6), false).unwrap();
    assert_eq!((picture.failed, picture.counts.map(|counts| counts.done)), (1, Some(1)));
    // What failed says nothing about later runs.
    let fast = ("a_fast".to_owned(), "create".to_owned());
    assert_eq!(state.times(), BTreeMap::from([(fast, vec![Duration::from_secs(2)])]));
}

#[test]
fn provisioners_are_what_an_object_waits_for() {
    let now = Instant::now();
    let mut state = State::default();
    state.plan.providers.insert("a_b.c".to_owned(), "hashicorp/a".to_owned());
    let waits = |state: &State| {
        let picture = state.picture(&[], now, false).unwrap();
        picture.rows[0].waits_for.clone().unwrap_or_default()
    };
    state.hear(&Event::Phase(Phase::Apply), now);
    state.hear(&started("a_b.c", Action::Create), now);
    assert_eq!(waits(&state), "hashicorp/a");
    state.hear(&Event::ProvisionStarted { addr: addr("a_b.c"), kind: Arc::from("local-exec") }, now);
    assert_eq!(waits(&state), "the provisioner local-exec");
    state.hear(&Event::ProvisionFinished { addr: addr("a_b.c"), kind: Arc::from("local-exec"), failed: false }, now);
    assert_eq!(waits(&state), "hashicorp/a");
    let pending = Event::RequestPending {
        subject: "a_b.c".to_owned(),
        provider: Provider::default_for("a"),
        request: "PlanResourceChange",
        elapsed: Duration::from_secs(10),
        stopping: false,
    };
    state.hear(&pending, now);
    assert_eq!(waits(&state), "hashicorp/a (PlanResourceChange)");
}

#[test]
fn a_destroy_is_named_as_one() {
    let now = Instant::now();
    let mut state = State::default();
    let mut plan = Plan::default();
    plan.scope.mode = Mode::Destroy;
    state.planned(&plan, now);
    state.hear(&Event::Phase(Phase::Apply), now);
    assert_eq!(state.picture(&[], now, false).unwrap().title, "Destroying");
}

#[test]
fn the_estimate_shares_the_work_but_not_the_longest_step() {
    let now = Instant::now();
    let left = |mut state: State| {
        state.hear(&Event::Phase(Phase::Apply), now);
        state.picture(&[], now, false).unwrap().left.map(|left| left.as_secs())
    };
    type Case<'a> = (&'a [(&'a str, u64)], &'a [(&'a str, usize)], usize, Option<u64>);
    let cases: &[Case] = &[
        (&[], &[("a", 3)], 1, None),
        (&[("a", 10)], &[("a", 3)], 1, Some(30)),
        (&[("a", 10)], &[("a", 30)], 10, Some(30)),
        (&[("a", 10), ("b", 90)], &[("a", 30), ("b", 1)], 10, Some(90)),
        // What is not known is taken for what is usual.
        (&[("a", 10)], &[("a", 2), ("x", 2)], 1, Some(40)),
        (&[("a", 10)], &[("a", 2), ("x", 3)], 1, None),
        (&[("a", 0)], &[("a", 2)], 1, None),
    ];
    for (usual, open, parallelism, expected) in cases {
        assert_eq!(left(work(usual, open, *parallelism)), *expected, "{usual:?} {open:?}");
    }
}

#[test]
fn a_running_step_counts_with_what_is_left_of_it() {
    let start = Instant::now();
    let mut state = work(&[("a_b", 60)], &[("a_b", 1)], 1);
    state.hear(&Event::Phase(Phase::Apply), start);
    state.hear(&started("a_b.c", Action::Create), start);
    let left = |seconds: u64| state.picture(&[], start + Duration::from_secs(seconds), false).unwrap().left;
    assert_eq!(left(20), Some(Duration::from_secs(40)));
    // It takes longer than usual: the rest is unknown.
    assert_eq!(left(70), None);
}

#[test]
fn refreshes_are_counted_in_a_plan() {
    let now = Instant::now();
    let mut state = State::default();
    let begin = |name: &str| Event::RefreshStarted { addr: addr(name), deposed: None, label: None };
    state.hear(&Event::Phase(Phase::Plan { objects: Some(3) }), now);
    state.hear(&begin("a_b.c"), now);
    state.hear(&begin("a_b.d"), now);
    state.hear(&Event::RefreshFinished { addr: addr("a_b.c"), deposed: None, label: None }, now);
    state.hear(&Event::RefreshFailed { addr: addr("a_b.d"), deposed: None }, now);
    let picture = state.picture(&[], now, true).unwrap();
    assert_eq!(picture.counts, Some(Counts { done: 1, total: Some(3), noun: "objects refreshed" }));
    assert_eq!((picture.title.as_str(), picture.failed, picture.rows.len()), ("Planning", 1, 0));
    assert!(picture.is_stopping && state.steps.is_empty());
}

#[test]
fn tasks_without_events_are_a_heading_if_there_is_no_other() {
    let start = Instant::now();
    let at = |seconds: u64| start + Duration::from_secs(seconds);
    let task = |text: &str, began: Instant| Task { text: text.to_owned(), began };
    let tasks = [task("Starting hashicorp/a", at(1)), task("Reading the state", at(2))];
    let mut state = State::default();
    assert_eq!(state.picture(&[], at(3), false), None);
    let picture = state.picture(&tasks, at(3), false).unwrap();
    let names = |picture: &Picture| picture.rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
    assert_eq!((picture.title.as_str(), picture.elapsed), ("Starting hashicorp/a", Duration::from_secs(2)));
    assert_eq!(names(&picture), ["Reading the state"]);
    state.set_title(Some("Planning"), at(0));
    let picture = state.picture(&tasks, at(3), false).unwrap();
    assert_eq!(names(&picture), ["Starting hashicorp/a", "Reading the state"]);
}

#[test]
fn downloads_have_a_rate() {
    let start = Instant::now();
    let mut state = State::default();
    state.set_title(Some("Installing providers"), start);
    let provider = Provider::default_for("a");
    let progress = |have: u64, all| InstallEvent::Progress { provider: provider.clone(), have, all };
    let doing = |state: &State, seconds| {
        let picture = state.picture(&[], start + Duration::from_secs(seconds), false).unwrap();
        picture.rows.first().map(|row| format!("{} {}", row.name, row.doing_at_rate()))
    };
    state.install(&progress(3 << 19, Some(3 << 20)), start);
    assert_eq!(doing(&state, 0).as_deref(), Some("hashicorp/a 1.5 of 3.0 MiB"));
    assert_eq!(doing(&state, 3).as_deref(), Some("hashicorp/a 1.5 of 3.0 MiB at 0.5 MiB/s,"));
    state.install(&progress(1 << 20, None), start);
    assert_eq!(doing(&state, 0).as_deref(), Some("hashicorp/a 1.0 MiB"));
    state.install(&progress(3 << 20, Some(3 << 20)), start);
    assert_eq!(doing(&state, 0), None);
}

#[test]
fn a_module_that_is_an_archive_has_one_row_with_a_rate() {
    let start = Instant::now();
    let mut state = State::default();
    state.set_title(Some("Installing modules"), start);
    let path = Module::root().child("net");
    let rows = |state: &State| {
        let picture = state.picture(&[], start + Duration::from_secs(2), false).unwrap();
        picture.rows.iter().map(|row| format!("{} {}", row.name, row.doing_at_rate())).collect::<Vec<_>>()
    };
    let downloading = ModuleEvent::Downloading { path: path.clone(), package: "x".to_owned(), version: None };
    let progress = |have| ModuleEvent::Progress { path: path.clone(), have, all: Some(4 << 20) };
    let steps: [(ModuleEvent, &[&str]); 5] = [
        (progress(1 << 20), &["net 1.0 of 4.0 MiB at 0.5 MiB/s,"]),
        (downloading, &["net 1.0 of 4.0 MiB at 0.5 MiB/s,"]),
        (progress(2 << 20), &["net 2.0 of 4.0 MiB at 1.0 MiB/s,"]),
        (ModuleEvent::Downloaded { path: path.clone() }, &["net downloading"]),
        (ModuleEvent::Installed { path: path.clone(), dir: "net".into() }, &[]),
    ];
    for (event, expected) in steps {
        state.module(&event, start);
        assert_eq!(rows(&state), expected, "{event:?}");
    }
}

#[test]
fn test_files_are_counted_and_their_runs_end_with_them() {
    let now = Instant::now();
    let mut state = State::default();
    state.begin_suite(2, now);
    state.test_run("a", "one", TestProgress::Starting, now);
    state.test_run("b", "one", TestProgress::Starting, now);
    state.test_file("a", TestProgress::TearDown, now);
    let rows = |state: &State| {
        let picture = state.picture(&[], now, false).unwrap();
        picture.rows.iter().map(|row| format!("{} {}", row.name, row.doing_at_rate())).collect::<Vec<_>>()
    };
    assert_eq!(rows(&state), ["a tearing down", "a/one running", "b/one running"]);
    state.test_file("a", TestProgress::Complete, now);
    assert_eq!(rows(&state), ["b/one running"]);
    state.test_run("b", "one", TestProgress::Complete, now);
    let picture = state.picture(&[], now, false).unwrap();
    assert_eq!(picture.counts, Some(Counts { done: 1, total: Some(2), noun: "files" }));
}
