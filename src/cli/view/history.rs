//! Snapshots of the state's history, as lists of them show them.

use ops::state::snapshots::Snapshot;

/// What wrote a snapshot, in the words of the commands.
pub fn operation_name(snapshot: &Snapshot) -> String {
    match snapshot.operation.strip_prefix("OperationType") {
        Some(kind) => kind.to_lowercase(),
        None if snapshot.version.is_some() => "(kept by the store)".to_owned(),
        None if snapshot.operation.is_empty() => "(unknown)".to_owned(),
        None => snapshot.operation.replacen("state-", "state ", 1),
    }
}

/// When it was written: `2026-01-02 03:04:05`, in UTC.
pub fn written(snapshot: &Snapshot) -> String {
    snapshot.written.split('.').next().unwrap_or_default().replace('T', " ")
}
