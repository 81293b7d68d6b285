//! Versions: one to many numbers, an optional prerelease and build metadata, ordered as semantic versioning says.
//!
//! Published versions are exact (three numbers); what people write in constraints may have fewer or more.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A version. `1.2` and `1.2.0` are equal; build metadata is kept but never compared.
#[derive(Clone, Debug, Default)]
pub struct Version {
    /// At least three; missing ones are zero.
    segments: Vec<u64>,
    /// How many numbers were written.
    written: usize,
    prerelease: String,
    metadata: String,
}

/// Why a text is no version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionError {
    Malformed(String),
    /// A version, but not in the form of published ones.
    Inexact(String),
}

impl fmt::Display for VersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VersionError::Malformed(text) => write!(f, "Malformed version: {text}"),
            VersionError::Inexact(text) => write!(f, "not an exact version: {text:?}"),
        }
    }
}

impl std::error::Error for VersionError {}

impl Version {
    pub fn new(major: u64, minor: u64, patch: u64) -> Version {
        Version { segments: vec![major, minor, patch], written: 3, prerelease: String::new(), metadata: String::new() }
    }

    /// The lenient form that constraints take: `v1`, `1.2`, `1.2.3.4-beta`.
    pub fn parse(text: &str) -> Result<Version, VersionError> {
        let malformed = || VersionError::Malformed(text.to_owned());
        let rest = text.strip_prefix('v').unwrap_or(text);
        let (rest, metadata) = match rest.split_once('+') {
            Some((rest, metadata)) => (rest, metadata),
            None => (rest, ""),
        };
        let numbers_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (numbers, tail) = rest.split_at(numbers_end);
        let prerelease = tail.strip_prefix('-').unwrap_or(tail);
        let dashed = tail.starts_with('-');
        let identifiers_ok = |s: &str| {
            s.split('.').all(|id| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "-~".contains(c)))
        };
        if (dashed || !tail.is_empty()) && !identifiers_ok(prerelease) {
            return Err(malformed());
        }
        if text.contains('+') && !identifiers_ok(metadata) {
            return Err(malformed());
        }
        let mut segments = Vec::new();
        for number in numbers.split('.') {
            segments.push(number.parse::<u64>().map_err(|_| malformed())?);
        }
        let written = segments.len();
        segments.resize(written.max(3), 0);
        Ok(Version { segments, written, prerelease: prerelease.to_owned(), metadata: metadata.to_owned() })
    }

    /// The strict form of published versions: exactly three numbers, no `v`, no leading zeros.
    pub fn parse_exact(text: &str) -> Result<Version, VersionError> {
        let version = Version::parse(text)?;
        let zeros = text.split(['-', '+']).next().unwrap_or("").split('.').any(|n| n.len() > 1 && n.starts_with('0'));
        if version.written != 3 || zeros || text.starts_with('v') || version.to_string() != text {
            return Err(VersionError::Inexact(text.to_owned()));
        }
        Ok(version)
    }

    pub fn segment(&self, i: usize) -> u64 {
        self.segments.get(i).copied().unwrap_or(0)
    }

    pub fn written_segments(&self) -> usize {
        self.written
    }

    pub fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }

    pub fn prerelease(&self) -> &str {
        &self.prerelease
    }

    /// What stands behind `+`.
    pub fn metadata(&self) -> &str {
        &self.metadata
    }

    /// The same numbers without prerelease and metadata.
    pub fn core(&self) -> Version {
        Version { prerelease: String::new(), metadata: String::new(), ..self.clone() }
    }

    fn significant(&self) -> &[u64] {
        let last = self.segments.iter().rposition(|n| *n != 0).map_or(0, |i| i + 1);
        &self.segments[..last]
    }
}

/// All numbers, at least three.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.segments.iter().enumerate() {
            write!(f, "{}{segment}", if i > 0 { "." } else { "" })?;
        }
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        self.significant()
            .cmp(other.significant())
            .then_with(|| compare_prereleases(&self.prerelease, &other.prerelease))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Version) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl Hash for Version {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.significant().hash(state);
        self.prerelease.hash(state);
    }
}

/// None is above any; numbers are below words and compare as numbers; a longer list is above its prefix.
fn compare_prereleases(a: &str, b: &str) -> Ordering {
    match (a.is_empty(), b.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let (mut left, mut right) = (a.split('.'), b.split('.'));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(x), Some(y)) => match compare_identifiers(x, y) {
                Ordering::Equal => {}
                unequal => return unequal,
            },
        }
    }
}

fn compare_identifiers(x: &str, y: &str) -> Ordering {
    match (x.parse::<u64>(), y.parse::<u64>()) {
        (Ok(x), Ok(y)) => x.cmp(&y),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => x.cmp(y),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_precedence() {
        let ordered = [
            "0.9.9",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0",
            "1.0.0.1",
            "1.0.1",
            "1.10",
        ];
        for pair in ordered.windows(2) {
            let (a, b) = (Version::parse(pair[0]).unwrap(), Version::parse(pair[1]).unwrap());
            assert!(a < b, "{a} < {b}");
        }
        assert_eq!(Version::parse("1").unwrap(), Version::parse("v1.0.0+x").unwrap());
    }

    #[test]
    fn forms() {
        for bad in ["", "a", "1..2", "1.", "1.0.0-", "1.0.0+", "1.0 0", "-1", "1.0.0-a..b", "99999999999999999999"] {
            assert!(Version::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(Version::parse("1.2beta").unwrap().to_string(), "1.2.0-beta");
        for bad in ["1", "1.2", "v1.2.3", "1.2.3.4", "01.2.3"] {
            assert!(Version::parse_exact(bad).is_err(), "{bad:?}");
        }
        assert_eq!(Version::parse_exact("1.2.3-rc.1+b").unwrap().to_string(), "1.2.3-rc.1+b");
    }
}
