//! What every backend must do: the tests that each one passes.

use std::sync::Arc;
use std::time::Duration;

use base::env::Environment;
use base::stop::Stop;
use model::state::{State, StateMeta, file};
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_value::{Type, Value};

use crate::contract::{Backend, Context, DEFAULT_WORKSPACE, LockInfo};
use crate::durable::history::identity;
use crate::durable::locking::acquire;
use crate::kinds::{Kind, Opened};

/// Workspaces for the tests.
pub struct Names {
    pub main: &'static str,
    pub other: &'static str,
    pub third: &'static str,
}

pub async fn check(backend: &dyn Backend) {
    check_named(backend, &Names { main: DEFAULT_WORKSPACE, other: "other", third: "a" }).await;
}

/// Opens a backend with these settings, and none of the others of its schema. The error is the first one.
pub async fn open(
    kind: &dyn Kind,
    settings: &[(&str, Value)],
    variables: &[(&str, &str)],
) -> Result<Arc<dyn Backend>, ProviderDiagnostic> {
    let context = Context::new(Environment::of(variables.iter().copied()), std::env::temp_dir());
    open_in(kind, settings, &context).await
}

/// As [`open`], with a context.
pub async fn open_in(
    kind: &dyn Kind,
    settings: &[(&str, Value)],
    context: &Context,
) -> Result<Arc<dyn Backend>, ProviderDiagnostic> {
    let schema = kind.schema().implied_type();
    let of = |name: &str, ty: &Type| {
        let set = settings.iter().rfind(|(set, _)| *set == name).map(|(_, value)| value.clone());
        set.unwrap_or_else(|| Value::null(ty.clone()))
    };
    let attributes = schema.object_type().unwrap().attributes.iter();
    let config = Value::object(attributes.map(|(name, ty)| (name.clone(), of(name, ty))));
    let opened = kind.open(&config, context).await.map_err(|mut problems| problems.remove(0));
    opened.map(Opened::into_states)
}

/// A state of about so many bytes that does not compress well.
pub fn noisy_state(size: usize, seed: u64) -> Arc<[u8]> {
    let mut state = seed;
    let noise: String = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        char::from(b'0' + ((state >> 33) % 64) as u8)
    })
    .filter(|c| !"\"\\".contains(*c))
    .take(size)
    .collect();
    format!("{{\"version\":4,\"x\":\"{noise}\"}}").into_bytes().into()
}

/// As `check`, for backends that have no default workspace.
pub async fn check_named(backend: &dyn Backend, names: &Names) {
    states_are_separate(backend, names).await;
    locks_exclude(backend, names.main).await;
    workspaces_come_and_go(backend, names).await;
}

/// What stores do that keep what is replaced: of the states with the serials 1 to 3, they list these, the newest first.
pub async fn check_versions(backend: &dyn Backend, workspace: &str, expected: &[u64]) {
    let store = backend.store(workspace).await.unwrap();
    let id = store.lock(&LockInfo::new("x")).await.unwrap();
    for serial in 1..=3 {
        let meta = StateMeta { terraform_version: "1.11.4".into(), serial, lineage: "l".into() };
        store.write(file::write(&meta, &State::default()).unwrap().into()).await.unwrap();
    }
    store.unlock(&id).await.unwrap();
    let versions = store.facts().versions.unwrap();
    let mut serials = Vec::new();
    let listed = versions.versions(20).await.unwrap();
    for version in &listed {
        let content = versions.version(&version.id).await.unwrap();
        serials.extend(content.and_then(|content| identity(&content)).map(|(serial, _)| serial));
    }
    assert_eq!(serials, expected);
    assert!(listed.windows(2).all(|two| two[0].written >= two[1].written), "{listed:?}");
    assert_eq!(versions.versions(1).await.unwrap(), listed[..1]);
}

async fn states_are_separate(backend: &dyn Backend, names: &Names) {
    let (a, b) = (backend.store(names.main).await.unwrap(), backend.create(names.other).await.unwrap());
    assert_eq!(a.read().await.unwrap(), None);
    a.write(Arc::from(&b"{\"version\":4}"[..])).await.unwrap();
    assert_eq!(a.read().await.unwrap().unwrap(), b"{\"version\":4}");
    assert_empty(b.read().await.unwrap());
    let again = backend.store(names.main).await.unwrap();
    assert_eq!(again.read().await.unwrap().unwrap(), b"{\"version\":4}");
    again.write(Arc::from(&b"{}"[..])).await.unwrap();
    assert_eq!(a.read().await.unwrap().unwrap(), b"{}", "a shorter snapshot leaves nothing of the longer one");
}

/// A new workspace has no state, or one without objects: where workspaces are what has a state, others need to see it.
fn assert_empty(read: Option<Vec<u8>>) {
    let state = read.map(|content| model::state::file::read(&content).unwrap().unwrap().state);
    assert!(state.is_none_or(|state| state.is_empty()));
}

async fn locks_exclude(backend: &dyn Backend, name: &str) {
    let (mine, yours) = (backend.store(name).await.unwrap(), backend.store(name).await.unwrap());
    let info = LockInfo::new("OperationTypeApply");
    let id = mine.lock(&info).await.unwrap();
    let refused = yours.lock(&LockInfo::new("x")).await.unwrap_err();
    // Some stores do not say who holds a lock.
    assert!(refused.holder.is_none_or(|holder| holder.id == id));
    assert!(refused.busy);
    assert!(mine.unlock("wrong").await.is_err());

    // A waiter gets it as soon as it tries again after it was given back.
    let mut waits = 0;
    let info_of_waiter = LockInfo::new("x");
    let stop = Stop::new();
    let waiting = acquire(&*yours, &info_of_waiter, Duration::from_secs(20), &stop, |_| waits += 1);
    let giving = async {
        tokio::time::sleep(Duration::from_millis(600)).await;
        mine.unlock(&id).await.unwrap();
    };
    let (got, ()) = tokio::join!(waiting, giving);
    // Some stores name their locks themselves.
    let waiter = got.unwrap();
    assert!(waiter != id && waits == 1, "{waiter} {waits}");

    stop.stop();
    let stopped = acquire(&*mine, &info, Duration::from_secs(20), &stop, |_| {}).await;
    let holder = stopped.unwrap_err().holder;
    assert!(holder.is_none_or(|holder| holder.id == waiter), "asked to stop, it does not wait");
    yours.unlock(&waiter).await.unwrap();
    assert!(yours.unlock(&waiter).await.is_err());
}

async fn workspaces_come_and_go(backend: &dyn Backend, names: &Names) {
    backend.create(names.third).await.unwrap();
    // The default one is the first.
    let listed = |mut all: Vec<&'static str>| {
        all.sort_by_key(|name| (*name != DEFAULT_WORKSPACE, *name));
        all
    };
    assert_eq!(backend.workspaces().await.unwrap(), listed(vec![names.main, names.other, names.third]));
    backend.delete_workspace(names.third, false).await.unwrap();
    assert!(backend.delete_workspace(DEFAULT_WORKSPACE, false).await.is_err());
    assert_eq!(backend.workspaces().await.unwrap(), listed(vec![names.main, names.other]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::local::LocalBackend;
    use crate::kinds::memory::MemoryBackend;

    #[tokio::test]
    async fn in_memory() {
        check(&MemoryBackend::default()).await;
    }

    #[tokio::test]
    async fn local() {
        let dir = tempfile::tempdir().unwrap();
        let backend = LocalBackend {
            path: Some(dir.path().join("sub/terraform.tfstate")),
            workspace_dir: Some(dir.path().join("workspaces")),
            ..LocalBackend::default()
        };
        check(&backend).await;
    }
}
