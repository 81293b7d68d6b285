//! `version -check`: what the signed index of versions says about this program.
//!
//! Makes requests only when it is called, and downloads nothing but the index and its signature. Never uses the working directory or the
//! CLI configuration.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use base::diag::{Diagnostic, Diagnostics};
use base::env::{Environment, TERRANE_RELEASE_KEY};
use base::files::named;
use base::limits::Limit;
use base::name::TERRANE;
use base::stop::Stop;
use install::authenticate::error::AuthenticationError;
use install::version_index::{IndexError, VersionIndex};
use model::deps::Version;
use model::version::PROGRAM_VERSION;
use net::http::{Client, Request, Settings as HttpSettings, is_loopback, without_secrets};
use url::Url;

use crate::seen_serials::SeenSerials;

/// The page with the project's releases.
const RELEASES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/releases");
/// The index of the newest release.
const INDEX: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/releases/latest/download/index.json");

const FILE: &str = "index.json";
const SIGNATURE: &str = ".sig";

/// The index, its signature and the key are much smaller.
const LIMIT: Limit = Limit::bytes(1 << 20);

const BAD_CHECK: &str = "Failed to check for a newer version";

/// Where the index is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexSource {
    /// Among the releases of the project.
    Project,
    /// An address or a path: of the index, or of the folder that has it.
    Named(String),
}

/// What the index says about the program that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionReport {
    /// The newest version that may be used; none if there is no such version.
    pub newest: Option<NewestVersion>,
    /// Why the version that runs was withdrawn, if it was. May be empty.
    pub withdrawn: Option<String>,
    /// The address of the page with the newest version.
    pub page: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewestVersion {
    /// `0.3.0`
    pub version: String,
    /// `2026-06-01`
    pub date: String,
    pub standing: Standing,
}

/// How the version that runs compares with the newest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Newest,
    Outdated,
    /// A prerelease, or a build of what is not released yet.
    Ahead,
}

impl VersionReport {
    fn of(index: &VersionIndex, running: &Version) -> VersionReport {
        let newest = index.newest().map(|newest| NewestVersion {
            version: newest.version.to_string(),
            date: newest.date.clone(),
            standing: match newest.version.cmp(running) {
                std::cmp::Ordering::Equal => Standing::Newest,
                std::cmp::Ordering::Greater => Standing::Outdated,
                std::cmp::Ordering::Less => Standing::Ahead,
            },
        });
        let page = newest.as_ref().map(|newest| format!("{RELEASES}/tag/v{}", newest.version));
        let withdrawn = index.release(running).and_then(|release| release.withdrawn.clone());
        VersionReport { newest, withdrawn, page: page.unwrap_or_else(|| RELEASES.to_owned()) }
    }

    pub fn is_outdated(&self) -> bool {
        self.newest.as_ref().is_some_and(|newest| newest.standing == Standing::Outdated)
    }
}

/// Reads the index and checks it: by the key of `TERRANE_RELEASE_KEY`, by its own date, and by the serial of the last index that was seen.
/// The report comes with warnings.
pub async fn run(environment: &Environment, source: &IndexSource) -> Result<(VersionReport, Diagnostics), Diagnostics> {
    let keys = trusted_keys(environment)?;
    let place = IndexPlace::of(source)?;
    let (document, signature) = place.read(environment).await?;
    let refused = |why: IndexError| match why {
        IndexError::Authentication(AuthenticationError::SigningKey(why)) => failure(format!(
            "The file that {TERRANE_RELEASE_KEY} names has no usable key: {why}. Export the key with \"gpg --armor --export\"."
        )),
        why => failure(format!("The index of versions from {} is refused: {why}.", place.display())),
    };
    let index = VersionIndex::open(&document, &signature, &keys, SystemTime::now()).map_err(refused)?;
    let seen = SeenSerials::open(environment).map_err(|e| failure(format!("{e}.")))?;
    index.check_serial(seen.of(&index.key_id)).map_err(refused)?;
    let mut warnings = Diagnostics::new();
    if let Err(e) = seen.record(&index.key_id, index.serial) {
        let detail = format!("{e}. An older index of versions will not be noticed the next time.");
        warnings.warning("The serial of the index was not recorded", detail);
    }
    let running = Version::parse_exact(PROGRAM_VERSION).unwrap_or_default();
    Ok((VersionReport::of(&index, &running), warnings))
}

fn failure(detail: String) -> Diagnostics {
    Diagnostic::error(BAD_CHECK, detail).into()
}

/// The armored keys that may sign the index.
fn trusted_keys(environment: &Environment) -> Result<String, Diagnostics> {
    let Some(path) = environment.non_empty(TERRANE_RELEASE_KEY) else {
        let detail = format!(
            "The index of versions is signed, and this version of {TERRANE} has no key of the project yet. Set the environment variable \
             {TERRANE_RELEASE_KEY} to a file with the OpenPGP public key, in armor, that you trust to sign releases."
        );
        return Err(Diagnostic::error("No key for the index of versions", detail).into());
    };
    let bytes = read_file(Path::new(path)).map_err(|e| failure(format!("{e}.")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The content of a file, up to the limit.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    File::open(path).and_then(|file| LIMIT.read(file)).map_err(|e| named(e, "read", path))
}

/// Where the index and its signature are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum IndexPlace {
    Host { index: Url, signature: Url },
    Disk { index: PathBuf, signature: PathBuf },
}

impl IndexPlace {
    fn of(source: &IndexSource) -> Result<IndexPlace, Diagnostics> {
        match source {
            IndexSource::Project => IndexPlace::host(INDEX),
            IndexSource::Named(text) if text.contains("://") => IndexPlace::host(text),
            IndexSource::Named(text) => {
                let path = PathBuf::from(text);
                let index = if path.is_dir() { path.join(FILE) } else { path };
                let mut signature = index.clone().into_os_string();
                signature.push(SIGNATURE);
                Ok(IndexPlace::Disk { index, signature: signature.into() })
            }
        }
    }

    /// Plain HTTP is for this machine only.
    fn host(text: &str) -> Result<IndexPlace, Diagnostics> {
        let bad = |why: &str| failure(format!("The address of the index of versions {why}."));
        let mut index = Url::parse(text).map_err(|e| bad(&format!("is invalid: {e}")))?;
        if index.scheme() != "https" && !(index.scheme() == "http" && is_loopback(&index)) {
            return Err(bad("must begin with \"https:\""));
        }
        if !index.path().ends_with(".json") {
            index.set_path(&format!("{}/{FILE}", index.path().trim_end_matches('/')));
        }
        let mut signature = index.clone();
        signature.set_path(&format!("{}{SIGNATURE}", index.path()));
        Ok(IndexPlace::Host { index, signature })
    }

    fn display(&self) -> String {
        match self {
            IndexPlace::Host { index, .. } => without_secrets(index),
            IndexPlace::Disk { index, .. } => index.display().to_string(),
        }
    }

    /// The index and its signature.
    async fn read(&self, environment: &Environment) -> Result<(Vec<u8>, Vec<u8>), Diagnostics> {
        match self {
            IndexPlace::Host { index, signature } => {
                let settings = HttpSettings::for_packages(environment, &format!("{TERRANE}/{PROGRAM_VERSION}"));
                let client = Client::new(settings, Stop::new());
                Ok((fetch(&client, index).await?, fetch(&client, signature).await?))
            }
            IndexPlace::Disk { index, signature } => {
                let read = |path: &Path| read_file(path).map_err(|e| failure(format!("{e}.")));
                Ok((read(index)?, read(signature)?))
            }
        }
    }
}

async fn fetch(client: &Client, url: &Url) -> Result<Vec<u8>, Diagnostics> {
    let mut request = Request::get(url.clone()).secure_only();
    request.answer_limit = Some(LIMIT);
    let answer = client.send(&request).await.map_err(|why| failure(format!("{why}.")))?;
    match answer.status.is_success() {
        true => Ok(answer.body),
        false => Err(failure(format!("{} returned from {}.", answer.status, without_secrets(&answer.url)))),
    }
}

#[cfg(test)]
mod tests {
    use install::version_index::IndexedRelease;

    use super::*;

    fn release(version: &str, withdrawn: Option<&str>) -> IndexedRelease {
        let version = Version::parse_exact(version).unwrap();
        let prerelease = version.is_prerelease();
        IndexedRelease { version, date: "2026-06-01".to_owned(), prerelease, withdrawn: withdrawn.map(str::to_owned) }
    }

    #[test]
    fn reports_compare_the_running_version() {
        let releases = vec![release("0.4.0", Some("It loses states.")), release("0.3.0", None), release("0.2.0", None)];
        let mut index = VersionIndex { serial: 1, key_id: String::new(), releases };
        let tag = format!("{RELEASES}/tag/v0.3.0");
        for (running, standing, withdrawn) in [
            ("0.2.0", Standing::Outdated, None),
            ("0.2.9", Standing::Outdated, None),
            ("0.3.0-rc1", Standing::Outdated, None),
            ("0.3.0", Standing::Newest, None),
            ("0.3.1-dev", Standing::Ahead, None),
            ("0.4.0", Standing::Ahead, Some("It loses states.".to_owned())),
        ] {
            let report = VersionReport::of(&index, &Version::parse_exact(running).unwrap());
            let version = "0.3.0".to_owned();
            let newest = Some(NewestVersion { version, date: "2026-06-01".to_owned(), standing });
            assert_eq!(report.is_outdated(), standing == Standing::Outdated, "{running}");
            assert_eq!(report, VersionReport { newest, withdrawn, page: tag.clone() }, "{running}");
        }
        index.releases.truncate(1);
        let report = VersionReport::of(&index, &Version::new(0, 2, 0));
        assert_eq!(report, VersionReport { newest: None, withdrawn: None, page: RELEASES.to_owned() });
        assert!(!report.is_outdated());
    }

    #[test]
    fn indexes_are_read_from_addresses_and_paths() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().display().to_string();
        let in_folder = dir.path().join(FILE).display().to_string();
        let named = |text: &str| IndexPlace::of(&IndexSource::Named(text.to_owned()));
        let cases = [
            ("https://a.example", "https://a.example/index.json"),
            ("https://a.example/x/", "https://a.example/x/index.json"),
            ("https://a.example/x/index.json", "https://a.example/x/index.json"),
            ("https://a.example/x/other.json?token=t", "https://a.example/x/other.json"),
            ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x/index.json"),
            ("http://localhost/x", "http://localhost/x/index.json"),
            (folder.as_str(), in_folder.as_str()),
            ("some/copy.json", "some/copy.json"),
        ];
        for (text, expected) in cases {
            assert_eq!(named(text).unwrap().display(), expected, "{text}");
        }
        for text in ["http://a.example/", "ftp://127.0.0.1/", "file:///x", "://", "http://127.0.0.1.example/"] {
            assert!(named(text).is_err(), "{text}");
        }
        let IndexPlace::Host { signature, .. } = named("https://a.example/x?token=t").unwrap() else { unreachable!() };
        assert_eq!(signature.as_str(), "https://a.example/x/index.json.sig?token=t");
        assert!(IndexPlace::of(&IndexSource::Project).unwrap().display().starts_with("https://"));
    }

    #[test]
    fn files_have_a_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.json");
        std::fs::write(&path, vec![b' '; 1 << 20]).unwrap();
        assert_eq!(read_file(&path).unwrap().len(), 1 << 20);
        std::fs::write(&path, vec![b' '; (1 << 20) + 1]).unwrap();
        let expected = format!("read {}: it is larger than 1 MiB", path.display());
        assert_eq!(read_file(&path).unwrap_err().to_string(), expected);
    }
}
