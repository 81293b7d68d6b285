//! The standard library's locks, and the numbers of files.

use std::fs::{File, TryLockError};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::{BY_HANDLE_FILE_INFORMATION, GetFileInformationByHandle};

use super::Attempt;

pub(super) fn is_at(file: &File, path: &Path) -> bool {
    let named = File::open(path).and_then(|named| file_id(&named));
    matches!((file_id(file), named), (Ok(open), Ok(named)) if open == named)
}

/// Returns the volume and the number of an open file. The number is not used again while the file is open.
fn file_id(file: &File) -> io::Result<(u32, u32, u32)> {
    // SAFETY: the structure has only numbers, and the call fills it.
    let mut info: BY_HANDLE_FILE_INFORMATION = unsafe { std::mem::zeroed() };
    // SAFETY: the handle is open.
    match unsafe { GetFileInformationByHandle(file.as_raw_handle(), &mut info) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok((info.dwVolumeSerialNumber, info.nFileIndexHigh, info.nFileIndexLow)),
    }
}

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
