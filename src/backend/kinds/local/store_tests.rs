//! Tests of the local store: backups, locks, interrupted writes, and the reference's view of our lock.

use std::process::{Command, Stdio};

use model::state::{State, StateMeta};

use super::*;
use crate::needs;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn store(&self) -> LocalStore {
        let state = self.path("terraform.tfstate");
        let backup = Some(self.path("terraform.tfstate.backup"));
        LocalStore::new(StatePaths { read: state.clone(), write: state, backup })
    }

    fn names(&self) -> String {
        let mut names: Vec<String> = std::fs::read_dir(self.dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names.join(" ")
    }
}

fn snapshot(serial: u64) -> Arc<[u8]> {
    let meta = StateMeta { terraform_version: String::new(), serial, lineage: "l".into() };
    file::write(&meta, &State::default()).unwrap().into()
}

#[tokio::test]
async fn the_first_write_of_a_run_keeps_a_backup() {
    let place = Place::new();
    place.store().write(snapshot(1)).await.unwrap();
    assert_eq!(place.names(), "terraform.tfstate");
    let store = place.store();
    store.write(snapshot(2)).await.unwrap();
    store.write(snapshot(3)).await.unwrap();
    assert_eq!(store.read().await.unwrap().unwrap(), *snapshot(3));
    assert_eq!(std::fs::read(place.path("terraform.tfstate.backup")).unwrap(), *snapshot(1));
}

/// What was written last is not what the file has, if another program writes to it in spite of the lock.
#[tokio::test]
async fn what_the_file_has_is_compared_not_what_was_written() {
    let place = Place::new();
    let (store, path) = (place.store(), place.path("terraform.tfstate"));
    let written = snapshot(1);
    store.write(written.clone()).await.unwrap();
    for other in [&*snapshot(2), b"[]", &[]] {
        std::fs::write(&path, other).unwrap();
        store.write(written.clone()).await.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), *written);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_backup_is_as_secret_as_the_state() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let (state, backup) = (place.path("terraform.tfstate"), place.path("terraform.tfstate.backup"));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    place.store().write(snapshot(1)).await.unwrap();
    for (serial, wanted) in [(2, 0o600), (3, 0o640), (4, 0o600)] {
        std::fs::set_permissions(&state, std::fs::Permissions::from_mode(wanted)).unwrap();
        place.store().write(snapshot(serial)).await.unwrap();
        assert_eq!((mode(&state), mode(&backup)), (wanted, wanted), "{serial}");
    }
}

/// The thread does what follows as a user who owns nothing, until this is dropped.
#[cfg(target_os = "linux")]
struct Nobody;

#[cfg(target_os = "linux")]
impl Nobody {
    const ID: u32 = 65534;

    /// None: only root may become another user.
    fn new() -> Option<Nobody> {
        // SAFETY: a call without arguments.
        if unsafe { libc::geteuid() } != 0 {
            return None;
        }
        // SAFETY: it takes a number, and is about this thread only.
        unsafe { libc::setfsuid(Self::ID) };
        Some(Nobody)
    }
}

#[cfg(target_os = "linux")]
impl Drop for Nobody {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { libc::setfsuid(0) };
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_backup_of_another_user_is_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    let (state, backup) = (place.path("terraform.tfstate"), place.path("terraform.tfstate.backup"));
    mode(place.dir.path(), 0o777);
    std::fs::write(&state, "new").unwrap();
    mode(&state, 0o666);
    let file = File::open(&state).unwrap();
    for of_backup in [0o666, 0o644] {
        std::fs::write(&backup, "old").unwrap();
        mode(&backup, of_backup);
        let Some(nobody) = Nobody::new() else { return };
        let written = write_backup(&backup, of_backup.to_string().as_bytes(), &file);
        drop(nobody);
        written.unwrap();
        assert_eq!(std::fs::read(&backup).unwrap(), of_backup.to_string().as_bytes());
        std::fs::remove_file(&backup).unwrap();
    }
}

#[tokio::test]
async fn a_lock_excludes_and_leaves_nothing_behind() {
    let place = Place::new();
    let (first, second) = (place.store(), place.store());
    let info = LockInfo::new("OperationTypePlan");
    let id = first.lock(&info).await.unwrap();
    assert_eq!(place.names(), ".terraform.tfstate.lock.info terraform.tfstate");
    let error = second.lock(&LockInfo::new("x")).await.unwrap_err();
    assert_eq!(error.holder.unwrap().id, id);
    assert_eq!(second.unlock(&id).await.unwrap_err().text, "LocalState not locked");
    assert!(first.unlock("other").await.is_err());
    first.unlock(&id).await.unwrap();
    assert_eq!(place.names(), "", "an empty file that locking made goes");
    let id = second.lock(&info).await.unwrap();
    second.write(snapshot(1)).await.unwrap();
    second.unlock(&id).await.unwrap();
    assert_eq!(place.names(), "terraform.tfstate");
}

#[tokio::test]
async fn a_busy_lock_without_a_holder_is_retried() {
    let place = Place::new();
    let (first, second) = (place.store(), place.store());
    let id = first.lock(&LockInfo::new("x")).await.unwrap();
    // As between taking the lock and writing its holder.
    let info = place.path(".terraform.tfstate.lock.info");
    let holder = std::fs::read(&info).unwrap();
    std::fs::remove_file(&info).unwrap();
    let error = second.lock(&LockInfo::new("y")).await.unwrap_err();
    assert!(error.busy && error.holder.is_none(), "{error}");
    std::fs::write(&info, "").unwrap();
    let error = second.lock(&LockInfo::new("y")).await.unwrap_err();
    assert!(error.busy && error.holder.is_none(), "{error}");
    std::fs::write(&info, holder).unwrap();
    first.unlock(&id).await.unwrap();
    assert!(!second.lock(&LockInfo::new("y")).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_file_keeps_its_inode() {
    use std::os::unix::fs::MetadataExt;
    let place = Place::new();
    let store = place.store();
    store.write(snapshot(1)).await.unwrap();
    let before = std::fs::metadata(place.path("terraform.tfstate")).unwrap().ino();
    store.write(snapshot(2)).await.unwrap();
    assert_eq!(std::fs::metadata(place.path("terraform.tfstate")).unwrap().ino(), before);
}

#[tokio::test]
async fn a_write_cut_short_anywhere_is_finished() {
    let (old, new) = (snapshot(1), snapshot(2_000_000));
    for cut in (0..=new.len()).step_by(7) {
        let place = Place::new();
        // In place: the new bytes so far over the old ones, the first one still to come.
        let mut torn = new[..cut].to_vec();
        torn.extend_from_slice(old.get(cut..).unwrap_or_default());
        torn[0] = if cut == 0 { b'{' } else { 0 };
        std::fs::write(place.path("terraform.tfstate"), &torn).unwrap();
        std::fs::write(place.path(".terraform.tfstate.next"), &*new).unwrap();
        let store = place.store();
        assert_eq!(store.read().await.unwrap().unwrap(), *new, "read without the lock, cut at {cut}");
        let id = store.lock(&LockInfo::new("x")).await.unwrap();
        assert_eq!(store.read().await.unwrap().unwrap(), *new, "cut at {cut}");
        store.unlock(&id).await.unwrap();
        assert_eq!(place.names(), "terraform.tfstate");
    }
}

#[tokio::test]
async fn a_later_state_is_not_undone() {
    let place = Place::new();
    std::fs::write(place.path("terraform.tfstate"), &*snapshot(5)).unwrap();
    std::fs::write(place.path(".terraform.tfstate.next"), &*snapshot(4)).unwrap();
    let store = place.store();
    let id = store.lock(&LockInfo::new("x")).await.unwrap();
    assert_eq!(store.read().await.unwrap().unwrap(), *snapshot(5));
    store.unlock(&id).await.unwrap();
    assert_eq!(place.names(), "terraform.tfstate");
}

#[tokio::test]
async fn errors_name_the_path() {
    let place = Place::new();
    std::fs::create_dir(place.path("terraform.tfstate")).unwrap();
    let error = place.store().write(snapshot(1)).await.unwrap_err();
    assert!(error.text.contains("terraform.tfstate: is a directory"), "{error}");
}

/// Skipped without the reference.
#[tokio::test]
async fn the_reference_and_we_exclude_each_other() {
    let Some(reference) = needs::reference() else { return };
    let place = Place::new();
    std::fs::write(place.path("main.tf"), "output \"x\" {\n  value = 1\n}\n").unwrap();
    let terraform = |args: &[&str]| {
        let mut command = Command::new(&reference);
        command.args(args).current_dir(place.dir.path()).env("CHECKPOINT_DISABLE", "1").stdin(Stdio::null());
        command.output()
    };
    let store = place.store();
    let id = store.lock(&LockInfo::new("OperationTypeApply")).await.unwrap();
    let output = terraform(&["apply", "-auto-approve", "-no-color"]).unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains(&id), "{text}");
    store.write(snapshot(1)).await.unwrap();
    store.unlock(&id).await.unwrap();
    let output = terraform(&["apply", "-auto-approve", "-no-color"]).unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&store.read().await.unwrap().unwrap()).contains("\"lineage\": \"l\""));

    let script = "terraform_data";
    let config = format!(
        "resource \"{script}\" \"a\" {{\n  provisioner \"local-exec\" {{\n    command = \"touch up; while [ ! -e go ]; do sleep 0.1; done\"\n  }}\n}}\n"
    );
    std::fs::write(place.path("main.tf"), config).unwrap();
    assert!(terraform(&["init"]).unwrap().status.success());
    let mut child = Command::new(&reference)
        .args(["apply", "-auto-approve"])
        .current_dir(place.dir.path())
        .env("CHECKPOINT_DISABLE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..200 {
        if place.path("up").exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let error = store.lock(&LockInfo::new("x")).await.unwrap_err();
    std::fs::write(place.path("go"), "").unwrap();
    child.wait().unwrap();
    assert_eq!(error.holder.unwrap().operation, "OperationTypeApply");
    let id = store.lock(&LockInfo::new("x")).await.unwrap();
    store.unlock(&id).await.unwrap();
}
