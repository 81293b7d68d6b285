//! Version constraints of module calls. The reference reads them with other rules than those of providers.

use super::constraint::{ConstraintError, Constraints};
use super::version::Version;

/// The `version` argument of a module call.
#[derive(Clone, Debug, Default)]
pub struct ModuleConstraints {
    all: Constraints,
    /// The version, if the argument is just that. Only then can it be a prerelease.
    exactly: Option<Version>,
}

impl ModuleConstraints {
    /// Reads the argument.
    pub fn parse(text: &str) -> Result<ModuleConstraints, ConstraintError> {
        let all = Constraints::parse(text)?;
        let version = text.trim();
        let version = version.strip_prefix('=').unwrap_or(version);
        // As observed on 1.11.4: a space behind `=` or a `v` is not understood here.
        let exactly = Version::parse(version).ok().filter(|_| !version.starts_with('v'));
        Ok(ModuleConstraints { all, exactly })
    }

    /// Whether a version that a registry offers may be installed.
    pub fn selects(&self, version: &Version) -> bool {
        self.all.matches(version) && self.considers(version)
    }

    /// Whether the version takes part in the selection: a prerelease only does if the argument names it.
    pub fn considers(&self, version: &Version) -> bool {
        let is_named = |named: &Version| named == version && named.metadata() == version.metadata();
        !version.is_prerelease() || self.exactly.as_ref().is_some_and(is_named)
    }

    /// Whether a module that is installed may stay. That includes what earlier versions of this program have selected.
    pub fn accepts_installed(&self, version: &Version) -> bool {
        self.all.matches(version) || self.all.allows(version)
    }

    /// The newest of the versions that may be installed; the first of those that differ in their metadata only.
    pub fn newest<'a>(&self, versions: impl IntoIterator<Item = &'a Version>) -> Option<&'a Version> {
        let newer = |best: &'a Version, version: &'a Version| if version > best { version } else { best };
        versions.into_iter().filter(|version| self.selects(version)).reduce(newer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: &str = include_str!("fixtures/module_constraints.txt");

    /// The text of the table for versions that a rule allows.
    fn allowed(offered: &[&str], rule: impl Fn(&Version) -> bool) -> String {
        let allowed = offered.iter().filter(|text| rule(&Version::parse(text).unwrap()));
        let texts: Vec<&str> = allowed.copied().collect();
        if texts.is_empty() { "-".to_string() } else { texts.join(" ") }
    }

    #[test]
    fn constraints_are_read_as_recorded_from_the_reference() {
        let offered: Vec<&str> = RECORDED.lines().nth(1).unwrap()[2..].split(' ').collect();
        let versions: Vec<Version> = offered.iter().map(|text| Version::parse(text).unwrap()).collect();
        for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
            let text = line.split(" | ").next().unwrap();
            let Ok(constraints) = ModuleConstraints::parse(text) else {
                assert_eq!(line, format!("{text} | invalid"));
                continue;
            };
            let newest = constraints.newest(&versions).map_or_else(|| "-".to_string(), ToString::to_string);
            let alone = allowed(&offered, |version| constraints.selects(version));
            let installed = allowed(&offered, |version| constraints.all.matches(version));
            assert_eq!(format!("{text} | {newest} | {alone} | {installed}"), line);
        }
    }

    #[test]
    fn installed_modules_of_earlier_versions_stay() {
        let stays = |constraint: &str, version: &str| {
            let constraints = ModuleConstraints::parse(constraint).unwrap();
            constraints.accepts_installed(&Version::parse(version).unwrap())
        };
        assert!(stays("~> 10", "10.4.0") && stays("~> 10", "17.0.2"));
        assert!(stays("= 1.0.0-alpha, >= 0.9", "1.0.0-alpha"));
        assert!(stays("~> 1.0.0-alpha", "1.0.0"));
        assert!(!stays("~> 10", "9.9.9"));
    }
}
