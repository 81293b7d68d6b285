//! Locks of states: their owners, and the errors of taking them.

use std::{fmt, io};

use base::identity;
use model::version::compatible_version;
use serde::{Deserialize, Serialize};

/// The lock owner and its operation, in the format of the reference: what most kinds write as the lock, and `local` beside the state as
/// `.terraform.tfstate.lock.info`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct LockInfo {
    #[serde(rename = "ID")]
    pub id: String,
    /// The operation, such as "OperationTypeApply".
    pub operation: String,
    pub info: String,
    /// `user@host`
    pub who: String,
    pub version: String,
    /// RFC 3339 in UTC.
    pub created: String,
    /// The state's place, as the store knows it.
    pub path: String,
}

impl LockInfo {
    /// Lock info for this process and the current time, with a new ID.
    pub fn new(operation: &str) -> LockInfo {
        LockInfo {
            id: uuid::Uuid::new_v4().to_string(),
            operation: operation.into(),
            info: String::new(),
            who: format!("{}@{}", identity::user_name(), identity::host_name()),
            version: compatible_version().into(),
            created: jiff::Timestamp::now().to_string(),
            path: String::new(),
        }
    }

    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub fn from_json(text: &[u8]) -> Option<LockInfo> {
        serde_json::from_slice(text).ok()
    }
}

/// As a block of lines, with a line ending after the last.
impl fmt::Display for LockInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let created = match self.created.parse::<jiff::Timestamp>() {
            // The form that Go gives a time.
            Ok(_) => self.created.replacen('T', " ", 1).replacen('Z', " +0000 UTC", 1),
            Err(_) => "0001-01-01 00:00:00 +0000 UTC".to_string(),
        };
        writeln!(f, "Lock Info:")?;
        writeln!(f, "  ID:        {}", self.id)?;
        writeln!(f, "  Path:      {}", self.path)?;
        writeln!(f, "  Operation: {}", self.operation)?;
        writeln!(f, "  Who:       {}", self.who)?;
        writeln!(f, "  Version:   {}", self.version)?;
        writeln!(f, "  Created:   {created}")?;
        writeln!(f, "  Info:      {}", self.info)
    }
}

/// The reason why a lock was not acquired, and the lock owner if it is known.
#[derive(Clone, Debug)]
pub struct LockError {
    pub reason: String,
    /// None if the holder is not known.
    pub holder: Option<LockInfo>,
    /// Another process has the lock, so that a retry may succeed.
    pub busy: bool,
}

impl LockError {
    pub fn new(reason: impl Into<String>) -> LockError {
        LockError { reason: reason.into(), holder: None, busy: false }
    }
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> LockError {
        LockError::new(error.to_string())
    }
}

/// The reason, and the holder as a block of lines.
impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.holder {
            Some(holder) if self.reason.is_empty() => write!(f, "{holder}"),
            Some(holder) => write!(f, "{}\n{holder}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the reference wrote it, and as it shows it.
    const RECORDED: &str = r#"{"ID":"da69d555-4b64-8ebc-70c1-cffd4321cd8f","Operation":"OperationTypeApply","Info":"","Who":"root@vm","Version":"1.11.4","Created":"2026-11-20T10:32:09.336870465Z","Path":"terraform.tfstate"}"#;

    #[test]
    fn lock_info_is_the_reference_s() {
        let info = LockInfo::from_json(RECORDED.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(info.to_json()).unwrap(), RECORDED);
        let error = LockError { reason: "resource temporarily unavailable".into(), holder: Some(info), busy: true };
        let expected = "resource temporarily unavailable\nLock Info:\n  ID:        da69d555-4b64-8ebc-70c1-cffd4321cd8f\n  Path:      terraform.tfstate\n  Operation: OperationTypeApply\n  Who:       root@vm\n  Version:   1.11.4\n  Created:   2026-11-20 10:32:09.336870465 +0000 UTC\n  Info:      \n";
        assert_eq!(error.to_string(), expected);
        assert!(LockInfo::new("x").created.ends_with('Z'));
    }
}
