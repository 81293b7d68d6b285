//! The signed index of this program's own versions: which releases there are, when they were made, and which were withdrawn.
//!
//! Owns the form of the index and the conditions under which it counts. Never fetches it, and never knows which version runs.
//!
//! The index is a JSON object, with a detached OpenPGP signature over its bytes in a file beside it:
//!
//! ```text
//! {"format_version": "1.0", "generated": "RFC 3339", "expires": "RFC 3339", "serial": 12, "versions": [
//!   {"version": "0.2.0", "date": "2026-05-01", "prerelease": false, "withdrawn": "reason", "files": [...]}]}
//! ```
//!
//! Rules for changes: a new member that readers may ignore gets a new minor `format_version`; anything else gets a new major one, which
//! older programs refuse. `serial` grows with each index. A version that must not be used any more stays in the list, with the member
//! `withdrawn`.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use base::name::PROGRAM;
use gotext::timestamp::Timestamp;
use model::deps::Version;
use serde::Deserialize;

use crate::authenticate::detached;
use crate::authenticate::error::AuthenticationError;
use crate::registry::ask::{BodyError, object};

/// An index that is signed, current and complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionIndex {
    /// Grows with each index.
    pub serial: u64,
    /// The key that signed it: 16 hexadecimal digits.
    pub key_id: String,
    /// In the order of the index; at least one.
    pub releases: Vec<IndexedRelease>,
}

/// A version in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedRelease {
    pub version: Version,
    /// `2026-05-01`
    pub date: String,
    pub prerelease: bool,
    /// The reason, which may be empty, if the version must not be used any more.
    pub withdrawn: Option<String>,
}

/// Why an index does not count. Shown for people, as the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexError {
    /// The key cannot be used, or did not sign the index.
    Authentication(AuthenticationError),
    /// It has another form.
    Form(BodyError),
    /// It has a format version that is not known here.
    FormatVersion(String),
    /// A member has a value that it may not have.
    Member { name: &'static str, value: String },
    /// There are no versions in it.
    Empty,
    /// It says itself that it no longer counts, since this time.
    Stale(String),
    /// A newer index was seen before.
    Older { serial: u64, seen: u64 },
}

#[derive(Deserialize)]
struct FormatHead {
    format_version: String,
}

#[derive(Deserialize)]
struct IndexDocument {
    expires: String,
    serial: u64,
    versions: Vec<ReleaseDocument>,
}

#[derive(Deserialize)]
struct ReleaseDocument {
    version: String,
    date: String,
    #[serde(default)]
    prerelease: bool,
    #[serde(default)]
    withdrawn: Option<String>,
}

impl VersionIndex {
    /// Checks the signature by one of the keys, an armored block, and reads what was signed.
    pub fn open(document: &[u8], signature: &[u8], keys: &str, now: SystemTime) -> Result<VersionIndex, IndexError> {
        let signer = detached::signer_of(document, signature, keys, now);
        let key_id = signer.map_err(IndexError::Authentication)?;
        let FormatHead { format_version } = object(document).map_err(IndexError::Form)?;
        if format_version.split('.').next() != Some("1") {
            return Err(IndexError::FormatVersion(format_version));
        }
        let IndexDocument { expires, serial, versions } = object(document).map_err(IndexError::Form)?;
        if is_past(&expires, now)? {
            return Err(IndexError::Stale(expires));
        }
        let releases = versions.into_iter().map(IndexedRelease::read).collect::<Result<Vec<_>, _>>()?;
        match releases.is_empty() {
            true => Err(IndexError::Empty),
            false => Ok(VersionIndex { serial, key_id, releases }),
        }
    }

    /// Refuses an index that is older than one that was seen before: its signature is good, but a version may have been withdrawn since.
    pub fn check_serial(&self, seen: Option<u64>) -> Result<(), IndexError> {
        match seen {
            Some(seen) if seen > self.serial => Err(IndexError::Older { serial: self.serial, seen }),
            _ => Ok(()),
        }
    }

    /// The newest version that is neither withdrawn nor a prerelease.
    pub fn newest(&self) -> Option<&IndexedRelease> {
        let usable = self.releases.iter().filter(|release| release.withdrawn.is_none() && !release.prerelease);
        usable.max_by(|a, b| a.version.cmp(&b.version))
    }

    /// What the index says about a version.
    pub fn release(&self, version: &Version) -> Option<&IndexedRelease> {
        self.releases.iter().find(|release| release.version == *version)
    }
}

impl IndexedRelease {
    fn read(document: ReleaseDocument) -> Result<IndexedRelease, IndexError> {
        let ReleaseDocument { version, date, prerelease, withdrawn } = document;
        let parsed = Version::parse_exact(&version);
        let parsed = parsed.map_err(|_| IndexError::Member { name: "version", value: version })?;
        if Timestamp::parse(&format!("{date}T00:00:00Z")).is_err() {
            return Err(IndexError::Member { name: "date", value: date });
        }
        let prerelease = prerelease || parsed.is_prerelease();
        Ok(IndexedRelease { version: parsed, date, prerelease, withdrawn })
    }
}

/// Whether a time, as RFC 3339 text, has come.
fn is_past(text: &str, now: SystemTime) -> Result<bool, IndexError> {
    let end = Timestamp::parse(text);
    let end = end.map_err(|_| IndexError::Member { name: "expires", value: text.to_owned() })?;
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(i128::from(end.seconds) <= i128::from(now.as_secs()))
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IndexError::Authentication(why) => why.fmt(f),
            IndexError::Form(why) => write!(f, "it is not an index of versions: {why}"),
            IndexError::FormatVersion(version) => {
                write!(f, "it has the format version {version:?}, which this version of {PROGRAM} does not support")
            }
            IndexError::Member { name, value } => write!(f, "{name:?} has an invalid value: {value:?}"),
            IndexError::Empty => f.write_str("it lists no versions"),
            IndexError::Stale(end) => write!(
                f,
                "it is stale: it was valid until {end}. Either the project has not renewed it, or an old copy was served. Check this \
                 computer's clock, too"
            ),
            IndexError::Older { serial, seen } => {
                write!(
                    f,
                    "its serial is {serial}, but an index with the serial {seen} was seen before: an old copy was served"
                )
            }
        }
    }
}

impl std::error::Error for IndexError {}

#[cfg(test)]
#[path = "version_index_tests.rs"]
mod tests;
