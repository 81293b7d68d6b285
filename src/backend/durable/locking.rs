//! Waiting for the lock of a state, and the messages about locks.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::diag::Diagnostic;
use base::name::{COMMAND, PROGRAM};
use base::stop::Stop;

use crate::contract::{LockError, LockInfo, StateStore, StoreError};

/// Duration of an attempt after which waiting is reported.
const PATIENCE: Duration = Duration::from_millis(400);

/// Takes the lock, trying again until the timeout or until asked to stop, with pauses that double within the store's range.
/// `waiting` is called once if it takes longer than `PATIENCE`, with the owner of the lock if it is known. Errors other than a busy lock are final.
pub async fn acquire(
    store: &dyn StateStore,
    info: &LockInfo,
    timeout: Duration,
    stop: &Stop,
    waiting: impl FnOnce(Option<LockInfo>),
) -> Result<String, LockError> {
    let holder = Mutex::new(None);
    let attempts = try_until(store, info, Instant::now() + timeout, stop, &holder);
    tokio::pin!(attempts);
    match tokio::time::timeout(PATIENCE, &mut attempts).await {
        Ok(result) => result,
        Err(_) => {
            let known = holder.lock().unwrap_or_else(PoisonError::into_inner).clone();
            waiting(known);
            attempts.await
        }
    }
}

/// `holder`: the owner of the lock, as the last attempt found it.
async fn try_until(
    store: &dyn StateStore,
    info: &LockInfo,
    end: Instant,
    stop: &Stop,
    holder: &Mutex<Option<LockInfo>>,
) -> Result<String, LockError> {
    let pauses = store.facts().lock_pauses;
    let mut pause = *pauses.start();
    loop {
        let error = match store.lock(info).await {
            Ok(id) => return Ok(id),
            Err(error) => error,
        };
        holder.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&error.holder);
        let left = end.saturating_duration_since(Instant::now());
        if !error.busy || left.is_zero() || stop.is_stopping() {
            return Err(error);
        }
        tokio::select! {
            () = tokio::time::sleep(scattered(pause).min(left)) => {}
            () = stop.stopping() => return Err(error),
        }
        pause = (pause * 2).min(*pauses.end());
    }
}

/// A random length between 75% and 125% of a pause, so that processes that wait for one lock do not all try at once.
fn scattered(pause: Duration) -> Duration {
    let chance = uuid::Uuid::new_v4().as_u128() as u32;
    pause.mul_f64(0.75 + 0.5 * f64::from(chance) / f64::from(u32::MAX))
}

/// The error for a state that cannot be locked, or cannot be read under its lock.
pub fn lock_failed(error: &dyn fmt::Display) -> Diagnostic {
    Diagnostic::error(
        "Error acquiring the state lock",
        format!(
            "Error message: {error}\n\n{PROGRAM} acquires a state lock to protect the state from being written\nby multiple users at the same time. Please resolve the issue above and try\nagain. For most commands, you can disable locking with the \"-lock=false\"\nflag, but this is not recommended.",
        ),
    )
}

/// The error for a lock that was not taken. `is_of_process`: locks end with the process that took them.
pub fn not_locked(error: &LockError, is_of_process: bool) -> Diagnostic {
    let holder = error.holder.as_ref().filter(|holder| error.busy && !holder.id.is_empty());
    let diagnostic = lock_failed(error);
    match holder {
        Some(holder) => diagnostic.reworded(busy_text(holder, is_of_process, jiff::Timestamp::now())),
        None => diagnostic,
    }
}

/// The owner of a lock in a few words: `alice@host for "apply", since 18:59:23 UTC`.
pub fn holder_text(holder: &LockInfo) -> String {
    short_text(holder, jiff::Timestamp::now())
}

fn short_text(holder: &LockInfo, now: jiff::Timestamp) -> String {
    let who = if holder.who.is_empty() { "another process" } else { &holder.who };
    let operation = operation_name(holder);
    let doing = if operation.is_empty() { String::new() } else { format!(" for {operation:?}") };
    let since = holder.created.parse::<jiff::Timestamp>();
    let since = since.map_or(String::new(), |created| {
        let is_recent = now.duration_since(created).as_hours() < 24;
        format!(", since {}", created.strftime(if is_recent { "%H:%M:%S UTC" } else { "%Y-%m-%d" }))
    });
    format!("{who}{doing}{since}")
}

fn operation_name(holder: &LockInfo) -> String {
    match holder.operation.strip_prefix("OperationType") {
        Some(kind) => kind.to_lowercase(),
        None => holder.operation.clone(),
    }
}

/// Who uses the state, in words.
fn busy_text(holder: &LockInfo, is_of_process: bool, now: jiff::Timestamp) -> String {
    let operation = operation_name(holder);
    let since = holder.created.parse::<jiff::Timestamp>().map_or(String::new(), |created| {
        format!(" since {} ({})", created.strftime("%Y-%m-%d %H:%M:%S UTC"), age(now.duration_since(created).as_secs()))
    });
    let who = if holder.who.is_empty() { "another process" } else { &holder.who };
    let doing = if operation.is_empty() { String::new() } else { format!(" for {operation:?}") };
    let note = if holder.info.is_empty() { String::new() } else { format!(" ({})", holder.info) };
    let text = format!(
        "The state is in use: {who} has it locked{doing}{since}{note}. Wait until that is done, or let this command wait, with \
         -lock-timeout=5m."
    );
    match is_of_process {
        true => format!("{text} The lock ends with the process that has it."),
        false => format!("{text} If that process is gone, remove its lock:\n  {COMMAND} force-unlock {}", holder.id),
    }
}

/// A length of time that has passed, in the largest unit that fits.
fn age(seconds: i64) -> String {
    let (number, unit) = match seconds.max(0) {
        0..60 => (seconds.max(0), "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..172_800 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{number} {unit}{} ago", if number == 1 { "" } else { "s" })
}

/// The error for a lock that cannot be released.
pub fn unlock_failed(error: &StoreError) -> Diagnostic {
    Diagnostic::error(
        "Error releasing the state lock",
        format!(
            "Error message: {error}\n\n{PROGRAM} acquires a lock when accessing your state to prevent others\nrunning {PROGRAM} to potentially modify the state at the same time. An\nerror occurred while releasing this lock. This could mean that the lock\ndid or did not release properly. If the lock didn't release properly,\n{PROGRAM} may not be able to run future commands since it'll appear as if\nthe lock is held.\n\nIn this scenario, please call the \"force-unlock\" command to unlock the\nstate manually. This is a very dangerous operation since if it is done\nerroneously it could result in two people modifying state at the same time.\nOnly call this command if you're certain that the unlock above failed and\nthat no one else is holding a lock.",
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the reference wrote it.
    const RECORDED: &str = r#"{"ID":"da69d555-4b64-8ebc-70c1-cffd4321cd8f","Operation":"OperationTypeApply","Info":"","Who":"root@vm","Version":"1.11.4","Created":"2026-11-20T10:32:09.336870465Z","Path":"terraform.tfstate"}"#;

    #[test]
    fn lock_owners_are_named_in_words() {
        let now = "2026-11-20T10:34:30Z".parse().unwrap();
        let info = LockInfo::from_json(RECORDED.as_bytes()).unwrap();
        let wait = "Wait until that is done, or let this command wait, with -lock-timeout=5m.";
        let lead =
            "The state is in use: root@vm has it locked for \"apply\" since 2026-11-20 10:32:09 UTC (2 minutes ago).";
        let ends = "The lock ends with the process that has it.";
        assert_eq!(busy_text(&info, true, now), format!("{lead} {wait} {ends}"));
        let unlock = format!(
            "If that process is gone, remove its lock:\n  {COMMAND} force-unlock da69d555-4b64-8ebc-70c1-cffd4321cd8f"
        );
        assert_eq!(busy_text(&info, false, now), format!("{lead} {wait} {unlock}"));
        let bare = LockInfo { id: "1".into(), operation: "state-rm".into(), ..LockInfo::default() };
        let lead = "The state is in use: another process has it locked for \"state-rm\".";
        assert_eq!(busy_text(&bare, true, now), format!("{lead} {wait} {ends}"));
        assert_eq!(short_text(&info, now), "root@vm for \"apply\", since 10:32:09 UTC");
        let later = "2026-11-22T10:34:30Z".parse().unwrap();
        assert_eq!(short_text(&info, later), "root@vm for \"apply\", since 2026-11-20");
        assert_eq!(short_text(&bare, now), "another process for \"state-rm\"");
        let ages = [(-5, "0 seconds"), (1, "1 second"), (61, "1 minute"), (7_300, "2 hours"), (172_800, "2 days")];
        ages.iter().for_each(|(seconds, text)| assert_eq!(age(*seconds), format!("{text} ago")));
    }
}
