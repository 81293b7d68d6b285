//! The versions: of this program, and of the release that a run is compatible with.
//!
//! Owns the one value of the process that says which release states, lock information, providers and JSON documents name. It is the
//! newest one until the pins of a configuration are known; see `deps::compatible` for the choice. What the run answers may follow it
//! ([`at_least`], [`opentofu::tofu_at_least`]), but never what is created, changed or destroyed.

use std::sync::{Arc, LazyLock, RwLock};

use base::dialect::Dialect;
use terrane_value::convert::name_given_types;

use crate::opentofu;

/// This program's own version.
pub const PROGRAM_VERSION: &str = env!("CARGO_PKG_VERSION");

/// One line for each stable release whose language is complete here; written by `tests/record_releases.sh`.
const TABLE: &str = include_str!("version/releases.txt");

/// A stable release of Terraform or OpenTofu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// Such as `1.11.4`.
    pub text: &'static str,
    /// Major, minor and patch.
    pub numbers: (u64, u64, u64),
}

static TERRAFORM: LazyLock<Vec<Release>> = LazyLock::new(|| table_of("terraform "));
static OPENTOFU: LazyLock<Vec<Release>> = LazyLock::new(|| table_of("tofu "));

/// The release that the user wants: it counts more than the configuration.
#[derive(Clone, Debug)]
pub struct Wish {
    pub release: &'static Release,
    /// What the user named, if it is a later patch than the newest one of the table.
    pub later: Option<String>,
    /// A variable or a file.
    pub source: String,
}

/// Whether the pins of the run allow a version.
pub type Fits = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What decides about the version of the run.
#[derive(Default)]
struct RunVersion {
    dialect: Dialect,
    wish: Option<Wish>,
    /// The pins of the configuration.
    pins: Option<Fits>,
    /// What else the version has to meet, such as the workspace of a service.
    more: Vec<Fits>,
    settled: Option<&'static Release>,
}

static RUN_VERSION: LazyLock<RwLock<RunVersion>> = LazyLock::new(RwLock::default);

fn table_of(prefix: &str) -> Vec<Release> {
    let release = |text: &'static str| Some(Release { text, numbers: numbers(text)? });
    TABLE.lines().filter_map(|line| release(line.strip_prefix(prefix)?)).collect()
}

/// `1.11.4` -> (1, 11, 4). None: not a stable version written out.
pub fn numbers(text: &str) -> Option<(u64, u64, u64)> {
    let version = semver::Version::parse(text).ok()?;
    (version.pre.is_empty() && version.build.is_empty()).then_some((version.major, version.minor, version.patch))
}

/// All releases of the program whose language is spoken, the oldest first.
pub fn releases_of(dialect: Dialect) -> &'static [Release] {
    if opentofu::has_own_releases(dialect) { &OPENTOFU } else { &TERRAFORM }
}

/// The release until which the language is complete.
pub fn newest_of(dialect: Dialect) -> &'static Release {
    /// There is always one: the table is part of the program.
    static NONE: Release = Release { text: "0.0.0", numbers: (0, 0, 0) };
    releases_of(dialect).last().unwrap_or(&NONE)
}

/// The first and the last release, in words: `Terraform 1.0 to 1.17.2`.
pub fn supported(dialect: Dialect) -> String {
    let (major, minor, _) = releases_of(dialect).first().map_or((0, 0, 0), |first| first.numbers);
    format!("{} {major}.{minor} to {}", dialect.language().program(), newest_of(dialect).text)
}

/// The version that states, lock information, providers and JSON documents name: of the release that the run is compatible with.
pub fn compatible_version() -> &'static str {
    RUN_VERSION.read().unwrap_or_else(|e| e.into_inner()).current().text
}

/// Whether the run is compatible with a release of Terraform from 1.MINOR on. Never as OpenTofu, whose releases have other numbers.
pub fn at_least(minor: u64) -> bool {
    let choice = RUN_VERSION.read().unwrap_or_else(|e| e.into_inner());
    !opentofu::has_own_releases(choice.dialect) && choice.current().numbers >= (1, minor, 0)
}

/// Whether the release of a dialect is 1.MINOR or later: the release that the run is compatible with, or the newest one if the
/// process has the other language, as in unit tests. Only for `opentofu::tofu_at_least`.
pub(crate) fn release_at_least(dialect: Dialect, minor: u64) -> bool {
    let choice = RUN_VERSION.read().unwrap_or_else(|e| e.into_inner());
    let is_of_run = choice.dialect.language() == dialect.language();
    let release = if is_of_run { choice.current() } else { newest_of(dialect) };
    release.numbers >= (1, minor, 0)
}

/// What the user wants, if that is known.
pub fn wish() -> Option<Wish> {
    RUN_VERSION.read().unwrap_or_else(|e| e.into_inner()).wish.clone()
}

/// Sets the dialect, whose releases count.
pub fn set_dialect(dialect: Dialect) {
    RUN_VERSION.write().unwrap_or_else(|e| e.into_inner()).dialect = dialect;
}

/// Sets the wish of the user, if there is one, which no pin changes.
pub fn begin(wish: Option<Wish>) {
    let mut choice = RUN_VERSION.write().unwrap_or_else(|e| e.into_inner());
    choice.wish = wish;
    choice.follow();
}

/// Sets the pins of the configuration, in the place of those that were known before.
pub fn set_pins(pins: Fits) {
    let mut choice = RUN_VERSION.write().unwrap_or_else(|e| e.into_inner());
    choice.pins = Some(pins);
    // Where none is left, what was settled before is nearer to the wishes of all than the newest.
    choice.settled = choice.newest().or(choice.settled);
    choice.follow();
}

/// Adds something that the version has to meet. False, and nothing is added, if no release meets it as well.
pub fn narrow(more: Fits) -> bool {
    let mut choice = RUN_VERSION.write().unwrap_or_else(|e| e.into_inner());
    if let Some(wish) = &choice.wish {
        return more(wish.release.text);
    }
    choice.more.push(more);
    match choice.newest() {
        None => {
            choice.more.pop();
            false
        }
        found => {
            choice.settled = found;
            choice.follow();
            true
        }
    }
}

impl RunVersion {
    fn current(&self) -> &'static Release {
        self.wish.as_ref().map(|wish| wish.release).or(self.settled).unwrap_or_else(|| newest_of(self.dialect))
    }

    /// Passes on what the language, which knows no versions, has to do.
    fn follow(&self) {
        // Unit tests share a process, and choose versions at the same time.
        if cfg!(test) {
            return;
        }
        name_given_types(!opentofu::has_own_releases(self.dialect) && self.current().numbers >= (1, 13, 0));
    }

    fn newest(&self) -> Option<&'static Release> {
        releases_of(self.dialect).iter().rev().find(|release| self.fits(release.text))
    }

    fn fits(&self, version: &str) -> bool {
        self.pins.iter().chain(&self.more).all(|fits| fits(version))
    }
}

/// The version that a state is written with: the one that it has, so that teams which run several programs are not locked out by one
/// of them, as long as the pins of the run allow it and it knows what is written. `needs`: the minor release of Terraform that first
/// knew all of it.
pub fn version_of_state(before: &str, needs: u64) -> String {
    let choice = RUN_VERSION.read().unwrap_or_else(|e| e.into_inner());
    let fits = match &choice.wish {
        Some(wish) => wish.release.text == before,
        None => choice.fits(before),
    };
    let knows = numbers(before).is_some_and(|numbers| numbers >= (1, needs, 0));
    if fits && knows { before.to_owned() } else { choice.current().text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_in_order() {
        for language in [Dialect::Terraform, Dialect::OpenTofu] {
            let all: Vec<_> = releases_of(language).iter().map(|release| release.numbers).collect();
            assert!(all.is_sorted() && all.len() > 30, "{all:?}");
        }
        let lines = TABLE.lines().count();
        assert_eq!(lines, TERRAFORM.len() + OPENTOFU.len(), "a line that names no release");
    }

    #[test]
    fn only_versions_that_are_written_out_have_numbers() {
        let cases = [
            ("1.11.4", Some((1, 11, 4))),
            ("1.11", None),
            ("1.11.4-beta1", None),
            ("1.11.4.1", None),
            ("1.11.04", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(numbers(text), expected, "{text}");
        }
    }
}
