//! Points in time, as clocks of the machine and providers give them.

use std::time::Duration;

/// A point in time, in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Since 1970; negative before it.
    pub seconds: i64,
    /// Of the second that `seconds` names.
    pub nanos: u32,
}

impl Moment {
    pub fn from_seconds(seconds: i64) -> Moment {
        Moment { seconds, nanos: 0 }
    }

    /// The time that has passed since an earlier moment; none if that one is later.
    pub fn since(self, earlier: Moment) -> Duration {
        let seconds = i128::from(self.seconds) - i128::from(earlier.seconds);
        let passed = seconds * 1_000_000_000 + i128::from(self.nanos) - i128::from(earlier.nanos);
        Duration::from_nanos(u64::try_from(passed).unwrap_or(0))
    }

    /// The same moment some seconds later.
    pub fn plus_seconds(self, seconds: i64) -> Moment {
        Moment { seconds: self.seconds.saturating_add(seconds), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_forward_only() {
        let at = |seconds, nanos| Moment { seconds, nanos };
        assert_eq!(at(2, 1).since(at(1, 2)), Duration::from_nanos(999_999_999));
        assert_eq!(at(0, 5).since(at(-1, 5)), Duration::from_secs(1));
        assert_eq!(at(1, 0).since(at(1, 1)), Duration::ZERO);
        assert_eq!(at(1, 3).plus_seconds(10), at(11, 3));
    }
}
