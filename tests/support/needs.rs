//! What tests need that not every machine has, and what happens to a test without it: it is skipped, or it fails if
//! `TERRANE_TEST_STRICT` lists it.
//!
//! Stands alone: the library's own tests use this file too.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex};

/// Words of [`Need`]s that must be met, separated by commas or spaces; `all` is every one.
const STRICT: &str = "TERRANE_TEST_STRICT";
/// A file. Each skipped test is appended as a line: the word, a tab, the name of the test.
const SKIPS: &str = "TERRANE_TEST_SKIPS";

/// The version of Terraform that results are compared with.
pub const REFERENCE: &str = "1.11.4";

/// What only some machines have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// cargo, and the crates of the example provider in its cache.
    Cargo,
    /// `moto_server`: Amazon's S3, DynamoDB and STS.
    Moto,
    /// `fake-gcs-server`: Google Cloud Storage.
    Gcs,
    /// `azurite-blob`: blobs of Azure.
    Azurite,
    /// `initdb` and `postgres`.
    Postgres,
    /// Mounts in a separate namespace: `unshare -rm`.
    Mounts,
    Nginx,
    /// `terraform` of version [`REFERENCE`].
    Reference,
    /// `sshd` and the programs of an SSH client.
    Sshd,
    /// `strace`, and the right to trace a program.
    Strace,
    /// Chromium, Node, and playwright-core in `target/browser`.
    Chromium,
}

impl Need {
    pub const ALL: [(Need, &str); 11] = [
        (Need::Cargo, "cargo"),
        (Need::Moto, "moto"),
        (Need::Gcs, "gcs"),
        (Need::Azurite, "azurite"),
        (Need::Postgres, "postgres"),
        (Need::Mounts, "mounts"),
        (Need::Nginx, "nginx"),
        (Need::Reference, "reference"),
        (Need::Sshd, "sshd"),
        (Need::Strace, "strace"),
        (Need::Chromium, "chromium"),
    ];

    /// Its name in `TERRANE_TEST_STRICT` and in summaries.
    fn word(self) -> &'static str {
        Need::ALL.iter().find(|(need, _)| *need == self).unwrap().1
    }
}

/// Records that the current test, or a part of it, is skipped because a need is not met. The caller returns.
///
/// Panics, and so fails the test, if `TERRANE_TEST_STRICT` lists the need. The process ends with a line that counts
/// the skipped tests.
pub fn skip(need: Need, why: &str) {
    let strict = std::env::var(STRICT).unwrap_or_default();
    if let Some(refusal) = refusal(need, why, &strict) {
        panic!("{refusal}");
    }
    println!("skipped: {why}");
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("unnamed").to_owned();
    let line = format!("{}\t{test}\n", need.word());
    let mut skipped = SKIPPED.lock().unwrap_or_else(|e| e.into_inner());
    if skipped.is_empty() {
        // SAFETY: the function is called with no arguments, and stays.
        unsafe { libc::atexit(report) };
    }
    if skipped.insert((need.word(), test))
        && let Some(file) = std::env::var_os(SKIPS)
    {
        let file = std::fs::File::options().create(true).append(true).open(file);
        file.and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
    }
}

/// Words of needs, and the tests that were skipped for them.
static SKIPPED: Mutex<BTreeSet<(&str, String)>> = Mutex::new(BTreeSet::new());

/// Runs at the end of the process, after the test harness has reported.
extern "C" fn report() {
    let skipped = SKIPPED.lock().unwrap_or_else(|e| e.into_inner());
    let strict = std::env::var(STRICT).unwrap_or_default();
    let _ = writeln!(std::io::stderr(), "{}", summary(&skipped, &strict));
}

fn words(strict: &str) -> impl Iterator<Item = &str> {
    strict.split([',', ' ']).filter(|word| !word.is_empty())
}

/// Why a test must not be skipped.
fn refusal(need: Need, why: &str, strict: &str) -> Option<String> {
    let word = need.word();
    words(strict)
        .any(|listed| listed == word || listed == "all")
        .then(|| format!("This test would be skipped ({why}), but {STRICT} lists \"{word}\": it must run."))
}

/// `3 skipped, by reason: nginx 1, sshd 2`. Names words that are not known, because what they were to prevent may have happened.
fn summary(skipped: &BTreeSet<(&str, String)>, strict: &str) -> String {
    let mut reasons = BTreeMap::<&str, usize>::new();
    for (word, _) in skipped {
        *reasons.entry(word).or_default() += 1;
    }
    let reasons: Vec<String> = reasons.iter().map(|(word, count)| format!("{word} {count}")).collect();
    let mut text = format!("{} skipped, by reason: {}", skipped.len(), reasons.join(", "));
    let is_known = |word: &&str| *word == "all" || Need::ALL.iter().any(|(_, known)| known == word);
    let unknown: Vec<&str> = words(strict).filter(|word| !is_known(word)).collect();
    if !unknown.is_empty() {
        text += &format!(" ({STRICT} has unknown words: {})", unknown.join(", "));
    }
    text
}

/// A program of this name in a folder of `PATH`.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The reference. None, and the test is skipped, without a `terraform` of the right version on the `PATH`.
pub fn reference() -> Option<PathBuf> {
    static FOUND: LazyLock<Result<PathBuf, String>> = LazyLock::new(|| {
        let file = on_path("terraform").ok_or("there is no terraform on the PATH")?;
        match version(&file) {
            Some(version) if version == REFERENCE => Ok(file),
            Some(version) => Err(format!("{} is version {version}, not {REFERENCE}", file.display())),
            None => Err(format!("{} names no version", file.display())),
        }
    });
    FOUND.as_ref().inspect_err(|why| skip(Need::Reference, why)).ok().cloned()
}

/// The version that a `terraform` prints.
fn version(terraform: &Path) -> Option<String> {
    let mut command = Command::new(terraform);
    command.arg("version").current_dir(std::env::temp_dir()).stdin(Stdio::null());
    command.env("CHECKPOINT_DISABLE", "1").env_remove("TF_CLI_ARGS").env_remove("TF_LOG");
    let printed = String::from_utf8(command.output().ok()?.stdout).ok()?;
    Some(printed.lines().next()?.strip_prefix("Terraform v")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_lists_refuse_to_skip() {
        let is_refused = |strict| refusal(Need::Nginx, "there is no nginx", strict).is_some();
        assert!(["nginx", "moto,nginx", " sshd, nginx ", "all"].into_iter().all(is_refused));
        assert!(!["", "moto", "nginxy", "moto,sshd"].into_iter().any(is_refused));
        let text = refusal(Need::Nginx, "there is no nginx", "all").unwrap();
        assert!(text.contains("there is no nginx") && text.contains("\"nginx\""), "{text}");
    }

    #[test]
    fn summary_counts_tests_by_reason() {
        let skipped = [("sshd", "b"), ("sshd", "a"), ("nginx", "a")].map(|(word, test)| (word, test.to_owned()));
        let skipped = BTreeSet::from(skipped);
        assert_eq!(summary(&skipped, "all,moto"), "3 skipped, by reason: nginx 1, sshd 2");
        let unknown = "3 skipped, by reason: nginx 1, sshd 2 (TERRANE_TEST_STRICT has unknown words: ssh, x)";
        assert_eq!(summary(&skipped, "ssh x,nginx"), unknown);
    }
}
