//! The standard library's locks, for systems that have no `fcntl`.

use std::fs::{File, TryLockError};
use std::io;

use super::Attempt;

pub(super) fn try_lock(file: &File) -> io::Result<Attempt> {
    match file.try_lock() {
        Ok(()) => Ok(Attempt::Locked),
        Err(TryLockError::WouldBlock) => Ok(Attempt::Busy),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

pub(super) fn unlock(file: &File) -> io::Result<()> {
    file.unlock()
}
