//! Locks of an open file description (Linux): they conflict with other programs' POSIX locks on the same bytes, and
//! are released only when the handle that took them is closed.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use super::Attempt;

fn set(file: &File, kind: libc::c_int) -> io::Result<()> {
    // Zero means: from the start, to the end however far it moves, and no process, as this kind of lock demands.
    // SAFETY: the structure has numbers only, for which zero is valid.
    let mut range: libc::flock = unsafe { std::mem::zeroed() };
    range.l_type = kind as libc::c_short;
    range.l_whence = libc::SEEK_SET as libc::c_short;
    // SAFETY: the descriptor is open for as long as `file` lives and `range` outlives the call.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &range) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

pub(super) fn try_lock(file: &File) -> io::Result<Attempt> {
    match set(file, libc::F_WRLCK as libc::c_int) {
        Ok(()) => Ok(Attempt::Locked),
        Err(e) if matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(Attempt::Busy),
        Err(e) => Err(e),
    }
}

pub(super) fn unlock(file: &File) -> io::Result<()> {
    set(file, libc::F_UNLCK as libc::c_int)
}
