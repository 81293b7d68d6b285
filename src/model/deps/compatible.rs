//! The choice of the release that a run is compatible with: the newest one that all pins allow.

use base::dialect::Dialect;

use super::{Constraints, Version};
use crate::version::{Release, newest_of, releases_of};

/// What constraints allow among the releases of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Release(&'static Release),
    /// Only a patch of the newest minor release that is not known yet: the newest known one stands for it.
    Patch(&'static Release),
    /// Only a later minor release.
    Later,
    Nothing,
}

/// The newest release of a language that meets all constraints.
pub fn choose(dialect: Dialect, pins: &[&Constraints]) -> Choice {
    let meets = |version: &Version| pins.iter().all(|pin| pin.matches(version));
    let releases = releases_of(dialect);
    if let Some(found) = releases.iter().rev().find(|release| meets(&version_of(release))) {
        return Choice::Release(found);
    }
    let newest = newest_of(dialect);
    let later = later_versions(newest, pins);
    let is_patch = |version: &Version| (version.segment(0), version.segment(1)) == (newest.numbers.0, newest.numbers.1);
    match later.iter().filter(|version| meets(version)).map(is_patch).max() {
        Some(true) => Choice::Patch(newest),
        Some(false) => Choice::Later,
        None => Choice::Nothing,
    }
}

pub fn version_of(release: &Release) -> Version {
    let (major, minor, patch) = release.numbers;
    Version::new(major, minor, patch)
}

/// Versions above the newest release of which one meets the constraints, if any such version does: those that constraints name, and
/// the next ones.
fn later_versions(newest: &Release, pins: &[&Constraints]) -> Vec<Version> {
    let own = version_of(newest);
    let named = pins.iter().flat_map(|pin| &pin.0).map(|constraint| constraint.version.core());
    let next = |version: Version| {
        let [major, minor, patch] = [0, 1, 2].map(|i| version.segment(i));
        [
            Version::new(major, minor, patch.saturating_add(1)),
            Version::new(major, minor.saturating_add(1), 0),
            Version::new(major.saturating_add(1), 0, 0),
            version,
        ]
    };
    let all = named.chain([own.clone()]).flat_map(next);
    all.filter(|version| *version > own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_release_that_meets_all() {
        let newest = newest_of(Dialect::Terraform).text;
        let (_, minor, patch) = newest_of(Dialect::Terraform).numbers;
        let next_patch = format!("= 1.{minor}.{}", patch + 1);
        let next_minor = format!("~> 1.{}.0", minor + 1);
        let cases: &[(&[&str], &str)] = &[
            (&[], newest),
            (&[">= 0.13"], newest),
            (&["~> 1.5.0"], "1.5.7"),
            (&["~> 1.5.0, != 1.5.7"], "1.5.6"),
            (&["= 1.3.0"], "1.3.0"),
            (&["v1.3.1"], "1.3.1"),
            (&["< 1.6"], "1.5.7"),
            (&["< 1.6", ">= 1.4", "~> 1.4.2"], "1.4.7"),
            (&["~> 1"], newest),
            (&["~> 0"], newest),
            (&[&next_patch], "patch"),
            (&[&next_minor], "later"),
            (&["> 2"], "later"),
            (&["= 9.1.3"], "later"),
            (&["< 1.0"], "nothing"),
            (&["~> 0.12.0"], "nothing"),
            (&["~> 1.5.0", ">= 1.9"], "nothing"),
            (&["= 1.5.99"], "nothing"),
        ];
        for (pins, expected) in cases {
            let pins: Vec<Constraints> = pins.iter().map(|pin| Constraints::parse(pin).unwrap()).collect();
            let found = match choose(Dialect::Terraform, &pins.iter().collect::<Vec<_>>()) {
                Choice::Release(release) => release.text,
                Choice::Patch(_) => "patch",
                Choice::Later => "later",
                Choice::Nothing => "nothing",
            };
            assert_eq!(found, *expected, "{pins:?}");
        }
    }
}
