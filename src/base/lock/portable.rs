//! The standard library's locks, for systems that have no `fcntl`.

use std::fs::{File, TryLockError};
use std::io;

use super::Attempt;

/// What Windows calls ERROR_LOCK_VIOLATION.
const LOCK_VIOLATION: i32 = 33;

pub(super) fn try_lock(file: &File) -> io::Result<Attempt> {
    match file.try_lock() {
        Ok(()) => Ok(Attempt::Locked),
        Err(TryLockError::WouldBlock) => Ok(Attempt::Busy),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

pub(super) fn unlock(file: &File) -> io::Result<()> {
    match file.unlock() {
        // Wine's answer for a file that is not locked any more: the library unlocks twice, in case there are two locks.
        Err(error) if error.raw_os_error() == Some(LOCK_VIOLATION) => Ok(()),
        unlocked => unlocked,
    }
}
