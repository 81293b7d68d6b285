//! Tests of a run as a whole: interrupted at every byte of its journal, refused by the store, overtaken by others.

use base::diag::Diagnostic;
use model::addr::{InstanceKey, ModuleInstance, Provider, Resource};
use model::state::{Attributes, Object, ObjectStatus, file};
use terrane_value::Value;

use super::*;
use crate::durable::loaded::StateAccess;
use crate::durable::recovery::{finish_replay, load};
use crate::kinds::local::{LocalStore, StatePaths};

fn addr(i: i64) -> AbsResourceInstance {
    Resource::managed("t", "n").absolute(ModuleInstance::root()).instance(InstanceKey::Int(i))
}

fn provider() -> AbsProviderConfig {
    AbsProviderConfig::root(Provider::default_for("t"))
}

fn instance(text: &str) -> Instance {
    let object = Object {
        status: ObjectStatus::Ready,
        schema_version: 0,
        attributes: Attributes::Json(format!("{{\"v\":{text:?}}}").into()),
        sensitive: Arc::from([]),
        identity: None,
        private: Arc::from([]),
        dependencies: Arc::from([]),
        create_before_destroy: false,
        keep: false,
        provider_key: None,
    };
    Instance { current: Some(object), ..Instance::default() }
}

fn state_of(instances: &[(i64, &str)]) -> State {
    let mut state = State::default();
    for (i, text) in instances {
        *state.instance_mut(&addr(*i), &provider()) = instance(text);
    }
    state
}

fn show(state: &State) -> String {
    let text = |(addr, _, instance): (AbsResourceInstance, &AbsProviderConfig, &Instance)| {
        let Some(Attributes::Json(json)) = instance.current.as_ref().map(|o| &o.attributes) else {
            return String::new();
        };
        format!("{}{json}", addr.key())
    };
    state.instances().map(text).collect::<Vec<_>>().join(" ")
}

fn store_in(dir: &Path) -> Arc<StateSession> {
    let path = dir.join("terraform.tfstate");
    let store = LocalStore::new(StatePaths { read: path.clone(), write: path, backup: None });
    Arc::new(StateSession::new(Arc::new(store), None))
}

async fn run(dir: &Path) -> JournaledState {
    let store = store_in(dir);
    let mut loaded = load(&store, StateAccess::Locked).await.unwrap();
    finish_replay(&store, &mut loaded).unwrap();
    let run = JournaledState::new(store, &loaded).unwrap();
    // No snapshots of their own accord in tests: the journal is what is looked at.
    run.writing.lock().await.cost = Duration::from_secs(3600);
    run
}

async fn loaded(dir: &Path, access: StateAccess) -> String {
    show(&load(&store_in(dir), access).await.unwrap().file.map(|f| f.state).unwrap_or_default())
}

/// A base with two instances; a run that refreshes one, changes it, removes the other and begins a third.
async fn interrupted(dir: &Path) -> JournaledState {
    let first = run(dir).await;
    first.finish(Some(&state_of(&[(0, "a"), (1, "b")]))).await.unwrap();
    let second = run(dir).await;
    second.begin(&state_of(&[(0, "refreshed"), (1, "b")])).await.unwrap();
    for i in 0..3 {
        second.started(&addr(i), None).await.unwrap();
    }
    second.finished(&addr(0), &provider(), &instance("changed")).await.unwrap();
    second.finished(&addr(1), &provider(), &Instance::default()).await.unwrap();
    let output = OutputValue::new(Value::int(5), false);
    second.output("o", Some(&output)).await.unwrap();
    second
}

#[tokio::test]
async fn a_run_ends_with_one_snapshot_and_no_journal() {
    let dir = tempfile::tempdir().unwrap();
    let run = interrupted(dir.path()).await;
    run.finished(&addr(2), &provider(), &Instance::default()).await.unwrap();
    assert!(dir.path().join(".terraform.tfstate.journal").exists());
    assert!(run.finish(None).await.unwrap().is_empty());
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["terraform.tfstate"]);
    let content = std::fs::read(dir.path().join("terraform.tfstate")).unwrap();
    let file = file::read(&content).unwrap().unwrap();
    assert_eq!((file.meta.serial, show(&file.state).as_str()), (2, "[0]{\"v\":\"changed\"}"));
    assert!(!file.meta.lineage.is_empty() && file.state.outputs.contains_key("o"));
}

#[tokio::test]
async fn killed_at_any_byte_no_whole_record_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    std::mem::forget(interrupted(dir.path()).await);
    let journal = std::fs::read(dir.path().join(".terraform.tfstate.journal")).unwrap();
    let base = std::fs::read(dir.path().join("terraform.tfstate")).unwrap();
    // Line by line: header, prior, three started, changed, gone, output.
    let expected = |lines: usize| match lines {
        0 | 1 => "[0]{\"v\":\"a\"} [1]{\"v\":\"b\"}",
        2..=5 => "[0]{\"v\":\"refreshed\"} [1]{\"v\":\"b\"}",
        6 => "[0]{\"v\":\"changed\"} [1]{\"v\":\"b\"}",
        _ => "[0]{\"v\":\"changed\"}",
    };
    for cut in (0..=journal.len()).step_by(5).chain([journal.len()]) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("terraform.tfstate"), &base).unwrap();
        std::fs::write(dir.path().join(".terraform.tfstate.journal"), &journal[..cut]).unwrap();
        let lines = journal[..cut].iter().filter(|b| **b == b'\n').count();
        assert_eq!(loaded(dir.path(), StateAccess::ReadOnly).await, expected(lines), "cut at {cut}, without the lock");
        assert_eq!(std::fs::read(dir.path().join("terraform.tfstate")).unwrap(), base, "reading wrote");
        let store = store_in(dir.path());
        // A run that is killed before its warnings are shown leaves them to the next one.
        for _ in 0..2 {
            let again = load(&store, StateAccess::Locked).await.unwrap();
            assert_eq!(show(&again.file.unwrap().state), expected(lines), "cut at {cut}");
            assert_eq!(uncertain(&again.warnings).is_empty(), lines < 3, "cut at {cut}: {:?}", again.warnings);
        }
        let mut last = load(&store, StateAccess::Locked).await.unwrap();
        finish_replay(&store, &mut last).unwrap();
        // Replay is on disk now: the next one finds the same and no journal.
        assert!(!store.facts().journal.exists());
        assert_eq!(loaded(dir.path(), StateAccess::Locked).await, expected(lines));
    }
}

/// The warnings about changes that were not finished.
fn uncertain(warnings: &Diagnostics) -> Vec<&Diagnostic> {
    warnings.iter().filter(|warning| warning.summary.ends_with("are uncertain")).collect()
}

#[tokio::test]
async fn interrupted_instances_are_named() {
    let dir = tempfile::tempdir().unwrap();
    std::mem::forget(interrupted(dir.path()).await);
    let loaded = load(&store_in(dir.path()), StateAccess::Locked).await.unwrap();
    let warnings = loaded.warnings.into_vec();
    assert_eq!(warnings.len(), 2);
    assert!(warnings[0].detail.contains("  - t.n[2]\n") && !warnings[0].detail.contains("t.n[0]"));
    assert_eq!(warnings[1].summary, "Changes of an interrupted run were recovered");
    assert!(warnings[1].detail.contains("\n\n  - t.n[0]\n  - t.n[1]\n\nNothing"), "{}", warnings[1].detail);
}

#[tokio::test]
async fn a_foreign_base_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    std::mem::forget(interrupted(dir.path()).await);
    let path = dir.path().join("terraform.tfstate");
    let meta = StateMeta { terraform_version: String::new(), serial: 9, lineage: "x".into() };
    let foreign = file::write(&meta, &state_of(&[(7, "z")])).unwrap();
    std::fs::write(&path, &foreign).unwrap();
    for access in [StateAccess::ReadOnly, StateAccess::Locked] {
        let problems = load(&store_in(dir.path()), access).await.map(|_| ()).unwrap_err().into_vec();
        assert_eq!(problems[0].summary, "State changed since an interrupted run");
        assert!(problems[0].detail.contains("  - t.n[0]\n  - t.n[1]\n  - t.n[2]\n"), "{}", problems[0].detail);
    }
    assert_eq!(std::fs::read(&path).unwrap(), foreign);
    assert!(dir.path().join(".terraform.tfstate.journal").exists());
}

/// As `state push` of `errored.tfstate` from another directory leaves it.
#[tokio::test]
async fn a_journal_is_done_if_the_state_has_all_of_it() {
    let dir = tempfile::tempdir().unwrap();
    std::mem::forget(interrupted(dir.path()).await);
    let path = dir.path().join("terraform.tfstate");
    let mut pushed = load(&store_in(dir.path()), StateAccess::ReadOnly).await.unwrap().file.unwrap();
    pushed.meta.serial += 5;
    let pushed = file::write(&pushed.meta, &pushed.state).unwrap();
    std::fs::write(&path, &pushed).unwrap();
    let store = store_in(dir.path());
    let mut loaded = load(&store, StateAccess::Locked).await.unwrap();
    let warnings = loaded.warnings.clone().into_vec();
    assert_eq!(warnings.len(), 1, "what is uncertain stays so: {warnings:?}");
    assert!(warnings[0].detail.contains("  - t.n[2]\n"), "{}", warnings[0].detail);
    finish_replay(&store, &mut loaded).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), pushed);
    assert!(!dir.path().join(".terraform.tfstate.journal").exists());
}

#[tokio::test]
async fn a_crash_between_snapshot_and_removal_replays_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let run = interrupted(dir.path()).await;
    let journal = dir.path().join(".terraform.tfstate.journal");
    let snapshot = run.inner().snapshot().unwrap();
    // Finished while the snapshot is on its way: it is not in it.
    run.finished(&addr(4), &provider(), &instance("meanwhile")).await.unwrap();
    run.store(snapshot).await.unwrap();
    run.finished(&addr(5), &provider(), &instance("later")).await.unwrap();
    std::mem::forget(run);
    assert!(journal.exists());
    let expected = "[0]{\"v\":\"changed\"} [4]{\"v\":\"meanwhile\"} [5]{\"v\":\"later\"}";
    assert_eq!(loaded(dir.path(), StateAccess::ReadOnly).await, expected);
    assert_eq!(loaded(dir.path(), StateAccess::Locked).await, expected);
}

#[tokio::test]
async fn a_refused_snapshot_is_handed_back_and_the_journal_kept() {
    let dir = tempfile::tempdir().unwrap();
    let run = interrupted(dir.path()).await;
    run.finished(&addr(2), &provider(), &Instance::default()).await.unwrap();
    let path = dir.path().join("terraform.tfstate");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let FinishError::Refused { reason, snapshot } = run.finish(None).await.unwrap_err() else { panic!("not refused") };
    assert!(reason.contains("is a directory"), "{reason}");
    let kept = file::read(&snapshot).unwrap().unwrap();
    assert_eq!(show(&kept.state), "[0]{\"v\":\"changed\"}");
    assert!(dir.path().join(".terraform.tfstate.journal").exists());
    run.write_errored_state(&dir.path().join("errored.tfstate"), &snapshot).await.unwrap();
    run.forget_journal_unless_open().unwrap();
    assert!(!dir.path().join(".terraform.tfstate.journal").exists());
}

/// A run that is abandoned: what is in flight stays known, nothing new is started, and what still ends is recorded.
#[tokio::test]
async fn open_changes_keep_the_journal_of_an_abandoned_run() {
    for late in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let run = interrupted(dir.path()).await;
        assert_eq!(run.finish(None).await.unwrap(), [(addr(2), None)]);
        assert!(run.started(&addr(3), None).await.is_err());
        if late {
            run.finished(&addr(2), &provider(), &instance("late")).await.unwrap();
        }
        std::mem::forget(run);
        let loaded = load(&store_in(dir.path()), StateAccess::Locked).await.unwrap();
        let added = if late { " [2]{\"v\":\"late\"}" } else { "" };
        assert_eq!(show(&loaded.file.unwrap().state), format!("[0]{{\"v\":\"changed\"}}{added}"));
        let warnings = uncertain(&loaded.warnings);
        assert_eq!(warnings.is_empty(), late, "{warnings:?}");
        assert!(warnings.iter().all(|warning| warning.detail.contains("  - t.n[2]\n")));
    }
}

/// A final state that cannot be written as a file: what was recorded is saved, and nothing is empty.
#[tokio::test]
async fn a_state_that_cannot_be_rendered_leaves_what_was_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let run = interrupted(dir.path()).await;
    let mut state = state_of(&[(0, "final")]);
    let unknown = OutputValue::new(Value::unknown(terrane_value::Type::String), false);
    state.outputs.insert("o".into(), unknown);
    assert!(matches!(run.finish(Some(&state)).await, Err(FinishError::NotRendered(_))));
    std::mem::forget(run);
    assert_eq!(loaded(dir.path(), StateAccess::ReadOnly).await, "[0]{\"v\":\"changed\"}");
    assert!(dir.path().join(".terraform.tfstate.journal").exists(), "[2] is open");
}

#[tokio::test]
async fn small_states_are_written_as_they_change_and_unchanged_ones_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path()).await;
    run.writing.lock().await.cost = Duration::from_nanos(1);
    run.begin(&State::default()).await.unwrap();
    run.finished(&addr(0), &provider(), &instance("a")).await.unwrap();
    let path = dir.path().join("terraform.tfstate");
    let file = file::read(&std::fs::read(&path).unwrap()).unwrap().unwrap();
    assert_eq!((file.meta.serial, show(&file.state).as_str()), (1, "[0]{\"v\":\"a\"}"));
    run.finish(Some(&state_of(&[(0, "a")]))).await.unwrap();
    let again = self::run(dir.path()).await;
    let before = std::fs::read(&path).unwrap();
    again.finish(Some(&state_of(&[(0, "a")]))).await.unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
