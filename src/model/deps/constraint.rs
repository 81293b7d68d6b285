//! Version constraints: `>= 1.2, < 2.0`, `~> 3.1`.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::version::Version;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    Equal,
    NotEqual,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
    /// `~>`: at least this, and below the next value of the number before the last one written.
    Pessimistic,
}

impl Operator {
    const ALL: [(&'static str, Operator); 7] = [
        ("~>", Operator::Pessimistic),
        (">=", Operator::GreaterEqual),
        ("<=", Operator::LessEqual),
        ("!=", Operator::NotEqual),
        (">", Operator::Greater),
        ("<", Operator::Less),
        ("=", Operator::Equal),
    ];

    pub fn as_str(self) -> &'static str {
        Operator::ALL.iter().find(|(_, op)| *op == self).map_or("=", |(text, _)| text)
    }
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    pub op: Operator,
    pub version: Version,
    /// For providers, an exact version includes its build metadata; for modules, metadata is ignored.
    with_metadata: bool,
}

/// Why a text is no version constraint, without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstraintError {
    Malformed(String),
    /// `v1.0`, which is not allowed for providers.
    Prefix,
    /// `1.2.3.4`, which is not allowed for providers.
    TooManyNumbers(String),
}

impl fmt::Display for ConstraintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConstraintError::Malformed(text) => write!(f, "Malformed constraint: {text}"),
            ConstraintError::Prefix => f.write_str("a \"v\" prefix should not be used"),
            ConstraintError::TooManyNumbers(text) => write!(
                f,
                "invalid specification {text:?}: too many numbered portions; only three are allowed (major, minor, patch)"
            ),
        }
    }
}

impl std::error::Error for ConstraintError {}

impl Constraint {
    fn parse(text: &str) -> Result<Constraint, ConstraintError> {
        let text = text.trim();
        let (op, rest) = Operator::ALL
            .iter()
            .find_map(|(symbol, op)| Some((*op, text.strip_prefix(symbol)?)))
            .unwrap_or((Operator::Equal, text));
        let version = Version::parse(rest.trim()).map_err(|_| ConstraintError::Malformed(text.to_owned()))?;
        Ok(Constraint { op, version, with_metadata: false })
    }

    /// Whether the version compares as asked, prereleases like any other.
    pub fn allows(&self, version: &Version) -> bool {
        match self.op {
            Operator::Equal => self.names(version),
            Operator::NotEqual => !self.names(version),
            Operator::Greater => *version > self.version,
            Operator::GreaterEqual => *version >= self.version,
            Operator::Less => *version < self.version,
            Operator::LessEqual => *version <= self.version,
            Operator::Pessimistic => *version >= self.version && self.within_pessimistic_bound(version),
        }
    }

    /// Whether the version matches by the rules for modules and for the program itself. A single number behind `~>` sets no upper
    /// bound, and prereleases are only compared with prereleases of the same version.
    fn matches(&self, version: &Version) -> bool {
        let comparable = match (version.is_prerelease(), self.version.is_prerelease()) {
            (true, true) => version.core() == self.version.core(),
            (true, false) => false,
            (false, prerelease) => !prerelease || self.op != Operator::Pessimistic,
        };
        match self.op {
            Operator::Equal | Operator::NotEqual => self.allows(version),
            Operator::Pessimistic => {
                let written = self.version.written_segments();
                let is_long_enough = version.written_segments().max(3) >= written;
                let same = || (0..written.saturating_sub(1)).all(|i| version.segment(i) == self.version.segment(i));
                comparable && *version >= self.version && is_long_enough && same()
            }
            _ => comparable && self.allows(version),
        }
    }

    fn names(&self, version: &Version) -> bool {
        *version == self.version && (!self.with_metadata || version.metadata() == self.version.metadata())
    }

    fn within_pessimistic_bound(&self, version: &Version) -> bool {
        let fixed = self.version.written_segments().saturating_sub(1).max(1);
        (0..fixed).all(|i| version.segment(i) == self.version.segment(i))
    }

    /// As the lock file holds it: three numbers, except behind `~>` with fewer.
    pub fn normalised(&self) -> String {
        let version = match (self.op, self.version.written_segments()) {
            (Operator::Pessimistic, 0..=2) => {
                let short = format!("{}.{}", self.version.segment(0), self.version.segment(1));
                match self.version.is_prerelease() {
                    true => self.version.to_string(),
                    false => short,
                }
            }
            _ => self.version.to_string(),
        };
        match self.op {
            Operator::Equal => version,
            op => format!("{} {version}", op.as_str()),
        }
    }
}

/// Comparisons that must all hold; none allows every release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraints(pub Vec<Constraint>);

impl Constraints {
    /// Comma-separated comparisons.
    pub fn parse(text: &str) -> Result<Constraints, ConstraintError> {
        text.split(',').map(Constraint::parse).collect::<Result<Vec<_>, _>>().map(Constraints)
    }

    /// The stricter reading for providers: no `v`, at most three numbers, and build metadata counts.
    pub fn parse_for_provider(text: &str) -> Result<Constraints, ConstraintError> {
        let mut parsed = Constraints::parse(text)?;
        for (constraint, part) in parsed.0.iter_mut().zip(text.split(',')) {
            constraint.with_metadata = true;
            if part.contains('v') && part.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with('v') {
                return Err(ConstraintError::Prefix);
            }
            if constraint.version.written_segments() > 3 {
                return Err(ConstraintError::TooManyNumbers(part.trim().to_owned()));
            }
        }
        Ok(parsed)
    }

    pub fn exactly(version: Version) -> Constraints {
        Constraints(vec![Constraint { op: Operator::Equal, version, with_metadata: true }])
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn and(mut self, other: Constraints) -> Constraints {
        self.0.extend(other.0);
        self
    }

    /// Whether the version may be selected. A prerelease only may if a comparison names it exactly.
    pub fn allows(&self, version: &Version) -> bool {
        self.0.iter().all(|c| c.allows(version)) && (!version.is_prerelease() || self.requests(version))
    }

    /// Whether the version matches by the rules for modules and for the program itself.
    pub fn matches(&self, version: &Version) -> bool {
        self.0.iter().all(|c| c.matches(version))
    }

    fn requests(&self, version: &Version) -> bool {
        self.0.iter().any(|c| c.op == Operator::Equal && c.version == *version)
    }

    /// The newest of the versions that may be selected.
    pub fn newest<'a>(&self, versions: impl IntoIterator<Item = &'a Version>) -> Option<&'a Version> {
        versions.into_iter().filter(|v| self.allows(v)).max()
    }
}

/// The canonical text of lock files: without duplicates, sorted by version, then by operator.
impl fmt::Display for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut seen = BTreeSet::new();
        let mut sorted: Vec<&Constraint> = self.0.iter().collect();
        sorted.sort_by(|a, b| a.version.cmp(&b.version).then_with(|| sort_rank(a).cmp(&sort_rank(b))));
        for constraint in sorted {
            let text: Arc<str> = constraint.normalised().into();
            if seen.contains(&text) {
                continue;
            }
            write!(f, "{}{text}", if seen.is_empty() { "" } else { ", " })?;
            seen.insert(text);
        }
        Ok(())
    }
}

/// The order of comparisons with the same version.
fn sort_rank(constraint: &Constraint) -> u8 {
    match constraint.op {
        Operator::Greater => 1,
        Operator::GreaterEqual => 2,
        Operator::Pessimistic if constraint.version.written_segments() > 2 => 3,
        Operator::Pessimistic => 4,
        Operator::Less => 5,
        Operator::LessEqual => 6,
        Operator::Equal => 7,
        Operator::NotEqual => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_select() {
        let cases = [
            ("", "x", None),
            (">= 1.2, < 2.0", "1.2.0", Some(true)),
            (">= 1.2, < 2.0", "2.0.0", Some(false)),
            ("~> 3.1", "3.9.0", Some(true)),
            ("~> 3.1", "4.0.0", Some(false)),
            ("~> 3.1.2", "3.1.9", Some(true)),
            ("~> 3.1.2", "3.2.0", Some(false)),
            ("~> 3", "4.0.0", Some(false)),
            ("~> 3", "3.4.0", Some(true)),
            ("1.0", "1.0.0", Some(true)),
            ("!= 1.0", "1.0.0", Some(false)),
            (">= 1.0", "2.0.0-beta", Some(false)),
            ("2.0.0-beta", "2.0.0-beta", Some(true)),
            ("=> 1.0", "1.0.0", None),
        ];
        for (constraint, version, expected) in cases {
            let parsed = Constraints::parse(constraint).ok();
            let got = parsed.map(|c| c.allows(&Version::parse(version).unwrap()));
            assert_eq!(got, expected, "{constraint} {version}");
        }
    }

    #[test]
    fn build_metadata_counts_for_providers() {
        let cases = [
            ("1.0.0+a", "1.0.0"),
            ("1.0.0", "1.0.0+a"),
            ("1.0.0+a", "1.0.0+b"),
            ("1.0.0+a", "1.0.0+a"),
            ("~> 1.0", "1.0.0+a"),
        ];
        let allowed = |parse: fn(&str) -> Result<Constraints, ConstraintError>| {
            cases.map(|(constraint, version)| parse(constraint).unwrap().allows(&Version::parse(version).unwrap()))
        };
        assert_eq!(allowed(Constraints::parse_for_provider), [false, false, false, true, true]);
        assert_eq!(allowed(Constraints::parse), [true; 5]);
    }

    #[test]
    fn canonical_text() {
        let cases = [
            (">= 2.0, >= 2.0.0,1.0", "1.0.0, >= 2.0.0"),
            ("~> 3.1, >= 3.1.0", ">= 3.1.0, ~> 3.1"),
            ("~> 3, ~> 3.0, ~> 3.0.0", "~> 3.0.0, ~> 3.0"),
            ("~> 3.1, >= 1, <= 3.1, > 1.0", "> 1.0.0, >= 1.0.0, ~> 3.1, <= 3.1.0"),
        ];
        for (written, canonical) in cases {
            assert_eq!(Constraints::parse(written).unwrap().to_string(), canonical, "{written}");
        }
    }
}
