//! Earlier snapshots that a store keeps itself, such as the versions of an object in a bucket.

use async_trait::async_trait;

use super::error::StoreError;

/// A snapshot as its store lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// What [`Versions::version`] takes.
    pub id: String,
    /// RFC 3339 in UTC.
    pub written: String,
}

/// The snapshots of one state in a store that keeps what was replaced.
#[async_trait]
pub trait Versions: Send + Sync {
    /// So many at most, the newest first; the one that is stored now is among them. Just that one where the store's user did not
    /// ask it to keep versions.
    async fn versions(&self, limit: usize) -> Result<Vec<Version>, StoreError>;

    /// The content of one. None: it is empty, or gone by now.
    async fn version(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError>;
}

/// A time as stores write it, in UTC.
pub fn utc(time: &str) -> String {
    time.parse::<jiff::Timestamp>().map_or_else(|_| time.to_owned(), |time| format!("{time:.6}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_utc() {
        let cases = [
            ("2026-01-02T03:04:05.000Z", "2026-01-02T03:04:05.000000Z"),
            ("2026-01-02T03:04:05.1234567Z", "2026-01-02T03:04:05.123456Z"),
            ("2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05.000000Z"),
            ("yesterday", "yesterday"),
        ];
        for (time, expected) in cases {
            assert_eq!(utc(time), expected);
        }
    }
}
