//! Moves between two states, ended at each step.

use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use model::state::{OutputValue, file};
use terrane_value::Value;

use super::*;
use crate::contract::{LockError, LockInfo, StateStore, StoreError, StoreFacts};
use crate::durable::recovery::load;
use crate::kinds::local::{LocalStore, StatePaths};

/// A store in a file that can hang or refuse instead of writing, or hang afterwards.
struct FaultyStore {
    inner: LocalStore,
    mode: Arc<AtomicU8>,
}

/// A state in such a store.
struct FaultyState {
    session: StateSession,
    mode: Arc<AtomicU8>,
}

const WORKS: u8 = 0;
const HANGS: u8 = 1;
const WRITES_AND_HANGS: u8 = 2;
const REFUSES: u8 = 3;

#[async_trait]
impl StateStore for FaultyStore {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts::local(self.inner.facts().journal)
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.read().await
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        let mode = self.mode.load(Ordering::SeqCst);
        if mode == REFUSES {
            return Err(StoreError::new("no"));
        }
        if mode != HANGS {
            self.inner.write(snapshot).await?;
        }
        if mode == WORKS { Ok(()) } else { std::future::pending().await }
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        self.inner.lock(info).await
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        self.inner.unlock(id).await
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.write(Arc::from([])).await
    }

    async fn lock_lost(&self) -> StoreError {
        std::future::pending().await
    }
}

struct Pair {
    dir: tempfile::TempDir,
    gives: FaultyState,
    takes: FaultyState,
}

fn outputs(names: &[&str]) -> State {
    let mut state = State::default();
    for name in names {
        state.outputs.insert((*name).into(), OutputValue::new(Value::string("x"), false));
    }
    state
}

impl Pair {
    /// One state with an object, which outputs stand for here, and one without.
    async fn new() -> Pair {
        let dir = tempfile::tempdir().unwrap();
        let store = |name: &str, mode: u8| {
            let path = dir.path().join(name).join("terraform.tfstate");
            let paths = StatePaths { read: path.clone(), write: path, backup: None };
            let mode = Arc::new(AtomicU8::new(mode));
            let store = FaultyStore { inner: LocalStore::new(paths), mode: mode.clone() };
            FaultyState { session: StateSession::new(Arc::new(store), None), mode }
        };
        let pair = Pair { gives: store("a", WORKS), takes: store("b", WORKS), dir };
        for (store, lineage, names) in [(&pair.gives, "a", &["moved", "stays"][..]), (&pair.takes, "b", &["other"])] {
            let meta = StateMeta { terraform_version: "1".into(), serial: 7, lineage: lineage.into() };
            store.session.write(file::write(&meta, &outputs(names)).unwrap().into()).await.unwrap();
        }
        pair
    }

    async fn run(&self) -> Result<(), TransferError> {
        let (from, to) = (
            load(&self.gives.session, StateAccess::Locked).await.unwrap(),
            load(&self.takes.session, StateAccess::Locked).await.unwrap(),
        );
        let (given, taken) = (outputs(&["stays"]), outputs(&["other", "moved"]));
        let gives = Side { store: &self.gives.session, loaded: &from, state: &given };
        let takes = Side { store: &self.takes.session, loaded: &to, state: &taken };
        transfer(gives, takes).await
    }

    /// Runs until a store hangs, then is gone.
    async fn killed(&self) {
        let ended = tokio::time::timeout(std::time::Duration::from_millis(300), self.run()).await;
        assert!(ended.is_err());
        self.gives.mode.store(WORKS, Ordering::SeqCst);
        self.takes.mode.store(WORKS, Ordering::SeqCst);
    }

    async fn seen(&self, takes: bool, access: StateAccess) -> String {
        let store = if takes { &self.takes.session } else { &self.gives.session };
        let loaded = load(store, access).await.unwrap();
        let file = loaded.file.unwrap();
        let names: Vec<_> = file.state.outputs.keys().map(ToString::to_string).collect();
        format!("{} {}{}", file.meta.serial, names.join(" "), if loaded.warnings.is_empty() { "" } else { " warned" })
    }

    fn files(&self) -> usize {
        let count = |name: &str| {
            let entries = std::fs::read_dir(self.dir.path().join(name)).unwrap();
            entries.filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().ends_with(".move")).count()
        };
        count("a") + count("b")
    }
}

#[tokio::test]
async fn both_states_are_written() {
    let pair = Pair::new().await;
    pair.run().await.unwrap();
    assert_eq!(pair.seen(false, StateAccess::Locked).await, "8 stays");
    assert_eq!(pair.seen(true, StateAccess::Locked).await, "8 moved other");
    assert_eq!(pair.files(), 0);
}

/// Killed where the first or the second state is being written, before or after that: each side completes its own state, in any order.
#[tokio::test]
async fn a_killed_move_is_completed_from_either_side() {
    for (gives, takes) in [(WORKS, HANGS), (WORKS, WRITES_AND_HANGS), (HANGS, WORKS), (WRITES_AND_HANGS, WORKS)] {
        for first in [false, true] {
            let pair = Pair::new().await;
            pair.gives.mode.store(gives, Ordering::SeqCst);
            pair.takes.mode.store(takes, Ordering::SeqCst);
            pair.killed().await;
            assert_eq!(pair.files(), 2);
            let name = format!("{gives} {takes} {first}");
            // Reading shows it, and changes nothing.
            assert_eq!(pair.seen(false, StateAccess::ReadOnly).await, "8 stays", "{name}");
            assert_eq!(pair.seen(true, StateAccess::ReadOnly).await, "8 moved other", "{name}");
            for side in [first, !first, first] {
                let seen = pair.seen(side, StateAccess::Locked).await;
                let expected = if side { "8 moved other" } else { "8 stays" };
                assert_eq!(seen.trim_end_matches(" warned"), expected, "{name}");
            }
            pair.seen(false, StateAccess::Locked).await;
            assert_eq!(pair.files(), 0, "{name}");
        }
    }
}

/// The giving state may go on while the taking one was not looked at yet.
#[tokio::test]
async fn the_giving_state_goes_on_meanwhile() {
    let pair = Pair::new().await;
    pair.takes.mode.store(HANGS, Ordering::SeqCst);
    pair.killed().await;
    assert_eq!(pair.seen(false, StateAccess::Locked).await, "8 stays warned");
    let meta = StateMeta { terraform_version: "1".into(), serial: 9, lineage: "a".into() };
    pair.gives.session.write(file::write(&meta, &outputs(&["new"])).unwrap().into()).await.unwrap();
    assert_eq!(pair.seen(false, StateAccess::Locked).await, "9 new");
    assert_eq!(pair.seen(true, StateAccess::Locked).await, "8 moved other warned");
    assert_eq!(pair.seen(false, StateAccess::Locked).await, "9 new");
    assert_eq!(pair.files(), 0);
}

/// What the taking state needs to know is not replaced by another move.
#[tokio::test]
async fn another_move_waits_until_the_first_one_is_completed() {
    let (pair, third) = (Pair::new().await, Pair::new().await);
    pair.takes.mode.store(HANGS, Ordering::SeqCst);
    pair.killed().await;
    assert_eq!(pair.seen(false, StateAccess::Locked).await, "8 stays warned");
    let again = async |from: &FaultyState, to: &FaultyState| {
        let (given, taken) = (
            load(&from.session, StateAccess::Locked).await.unwrap(),
            load(&to.session, StateAccess::Locked).await.unwrap(),
        );
        let (less, more) = (outputs(&[]), outputs(&["other", "stays"]));
        let gives = Side { store: &from.session, loaded: &given, state: &less };
        transfer(gives, Side { store: &to.session, loaded: &taken, state: &more }).await
    };
    for refused in [again(&pair.gives, &third.takes).await, again(&third.gives, &pair.gives).await] {
        let Err(TransferError::Nothing(why)) = refused else { panic!("{refused:?}") };
        assert!(why.contains("an earlier move gave objects"), "{why}");
    }
    assert_eq!(pair.seen(true, StateAccess::Locked).await, "8 moved other warned");
    again(&pair.gives, &third.takes).await.unwrap();
    assert_eq!((pair.files(), third.files()), (0, 0));
}

/// Killed before the second file is there: nothing was decided, also if the giving state gives to another one in the meantime.
#[tokio::test]
async fn a_move_to_another_state_decides_nothing() {
    let (pair, third) = (Pair::new().await, Pair::new().await);
    let loaded = load(&pair.takes.session, StateAccess::Locked).await.unwrap();
    let taken = outputs(&["other", "moved"]);
    let side = Side { store: &pair.takes.session, loaded: &loaded, state: &taken };
    keep(&side, MoveRole::Takes, &place(&pair.gives.session), &snapshot(&side).unwrap()).await.unwrap();
    let loaded = load(&pair.gives.session, StateAccess::Locked).await.unwrap();
    let given = outputs(&["stays"]);
    let side = Side { store: &pair.gives.session, loaded: &loaded, state: &given };
    keep(&side, MoveRole::Gives, &place(&third.takes.session), &snapshot(&side).unwrap()).await.unwrap();
    assert_eq!(pair.seen(true, StateAccess::ReadOnly).await, "7 other");
    assert_eq!(pair.seen(true, StateAccess::Locked).await, "7 other");
}

/// Killed before the second file is there: nothing was decided.
#[tokio::test]
async fn a_move_that_was_not_decided_is_rolled_back() {
    let pair = Pair::new().await;
    let loaded = load(&pair.takes.session, StateAccess::Locked).await.unwrap();
    let taken = outputs(&["other", "moved"]);
    let side = Side { store: &pair.takes.session, loaded: &loaded, state: &taken };
    let content = snapshot(&side).unwrap();
    keep(&side, MoveRole::Takes, &place(&pair.gives.session), &content).await.unwrap();
    for access in [StateAccess::ReadOnly, StateAccess::Locked] {
        assert_eq!(pair.seen(false, access).await, "7 moved stays");
        assert_eq!(pair.seen(true, access).await, "7 other");
    }
    assert_eq!(pair.files(), 0);
}

#[tokio::test]
async fn a_state_that_cannot_be_written_leaves_both_as_they_were() {
    let pair = Pair::new().await;
    pair.takes.mode.store(REFUSES, Ordering::SeqCst);
    assert!(matches!(pair.run().await, Err(TransferError::Nothing(_))));
    assert_eq!((pair.files(), pair.seen(false, StateAccess::Locked).await), (0, "7 moved stays".into()));
    assert_eq!(pair.seen(true, StateAccess::Locked).await, "7 other");
    pair.takes.mode.store(WORKS, Ordering::SeqCst);
    pair.gives.mode.store(REFUSES, Ordering::SeqCst);
    assert!(matches!(pair.run().await, Err(TransferError::Unfinished(_))));
    pair.gives.mode.store(WORKS, Ordering::SeqCst);
    assert_eq!(pair.seen(true, StateAccess::Locked).await, "8 moved other");
    assert_eq!(pair.seen(false, StateAccess::Locked).await, "8 stays warned");
    assert_eq!(pair.files(), 0);
}

/// Another program wrote the state: nothing is written over it.
#[tokio::test]
async fn a_state_that_changed_is_not_overwritten() {
    let pair = Pair::new().await;
    pair.takes.mode.store(HANGS, Ordering::SeqCst);
    pair.killed().await;
    let meta = StateMeta { terraform_version: "1".into(), serial: 9, lineage: "b".into() };
    pair.takes.session.write(file::write(&meta, &outputs(&["theirs"])).unwrap().into()).await.unwrap();
    let problems = load(&pair.takes.session, StateAccess::Locked).await.unwrap_err();
    assert_eq!(problems.iter().next().unwrap().summary, "State changed since an interrupted move");
    assert_eq!(pair.files(), 2);
}
