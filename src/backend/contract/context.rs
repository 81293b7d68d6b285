//! What a backend is opened with besides its settings, and the places of journals that follow from that.

use std::path::{Path, PathBuf};

use base::env::Environment;
use gotext::hex::hex;
use sha2::{Digest, Sha256};

use super::services::SharedServices;

/// What a backend is opened with besides its settings.
#[derive(Clone, Debug)]
pub struct Context {
    pub environment: Environment,
    /// The working directory's data folder.
    pub data_dir: PathBuf,
    /// Where relative paths of settings start. Empty: in the folder of the process.
    pub folder: PathBuf,
    pub files: StateFiles,
    pub services: SharedServices,
}

impl Context {
    /// A context without options of the command line, in which no host is known.
    pub fn new(environment: Environment, data_dir: impl Into<PathBuf>) -> Context {
        let (folder, files, services) = Default::default();
        Context { environment, data_dir: data_dir.into(), folder, files, services }
    }

    /// Where the journal of a state belongs that is not kept in files of this machine. One working directory may have the states of
    /// several places, as settings of the environment change; `place` identifies the state.
    pub fn journal_of(&self, workspace: &str, place: &[&str]) -> PathBuf {
        let mut hash = Sha256::new();
        for part in place {
            hash.update(part);
            hash.update([0]);
        }
        journal_in(&self.data_dir, &format!("{workspace}.{}", hex(&hash.finalize()[..PLACE_DIGITS / 2])))
    }
}

/// Digits of the hash in the name of a journal.
const PLACE_DIGITS: usize = 12;

/// Journals of the same workspace for states of other places.
pub fn other_journals(journal: &Path) -> Vec<PathBuf> {
    let workspace = |path: &Path| {
        let name = path.file_name()?.to_str()?.strip_suffix(".journal")?;
        let (workspace, digits) = name.rsplit_once('.')?;
        let is_place = digits.len() == PLACE_DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit());
        is_place.then(|| workspace.to_owned())
    };
    let (Some(ours), Some(folder)) = (workspace(journal), journal.parent()) else { return Vec::new() };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut others: Vec<PathBuf> =
        entries.filter(|path| path != journal && workspace(path).as_ref() == Some(&ours)).collect();
    others.sort();
    others
}

fn journal_in(data_dir: &Path, workspace: &str) -> PathBuf {
    data_dir.join("journals").join(format!("{workspace}.journal"))
}

/// `-state`, `-state-out` and `-backup`: they matter to the local backend only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateFiles {
    pub state: Option<PathBuf>,
    pub state_out: Option<PathBuf>,
    pub backup: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journals_belong_to_places() {
        let dir = tempfile::tempdir().unwrap();
        let context = Context::new(Environment::default(), dir.path());
        let names = [("a", ["x", "y"]), ("a", ["x", "z"]), ("a", ["xy", ""]), ("a.b", ["x", "y"])];
        let journals = names.map(|(workspace, place)| context.journal_of(workspace, &place));
        std::fs::create_dir(dir.path().join("journals")).unwrap();
        for journal in &journals {
            std::fs::write(journal, "").unwrap();
        }
        std::fs::write(journal_in(&context.data_dir, "a"), "").unwrap();
        let mut others = journals[1..3].to_vec();
        others.sort();
        assert_eq!(other_journals(&journals[0]), others);
        assert_eq!(context.journal_of("a", &["x", "y"]), journals[0]);
        assert!(other_journals(Path::new("nowhere/.terraform.tfstate.journal")).is_empty());
    }
}
