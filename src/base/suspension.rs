//! The key that suspends a program (Ctrl-Z): what is drawn at the terminal is first taken away.
//!
//! Owns the handler of the signal for as long as it is wanted. Never decides what is drawn.

use std::sync::atomic::{AtomicBool, Ordering};

/// The key was pressed, and nothing was done about it yet.
static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// While this lives, a suspension waits until it is taken. Afterwards, the system suspends the program as by default.
pub struct Suspension {
    #[cfg(unix)]
    before: libc::sigaction,
}

impl Suspension {
    /// None where suspensions are ignored or have another handler, which stay so.
    #[cfg(unix)]
    pub fn hear() -> Option<Suspension> {
        let before = action()?;
        if before.sa_sigaction != libc::SIG_DFL {
            return None;
        }
        IS_WANTED.store(false, Ordering::SeqCst);
        set(note as *const () as libc::sighandler_t).then_some(Suspension { before })
    }

    /// There is no such key.
    #[cfg(not(unix))]
    pub fn hear() -> Option<Suspension> {
        None
    }

    /// Whether the key was pressed since the last call. If so, [`Suspension::stop`] is to be called soon.
    pub fn take(&self) -> bool {
        IS_WANTED.swap(false, Ordering::SeqCst)
    }

    /// Suspends the process as the system does by default, and returns when it goes on.
    pub fn stop(&self) {
        #[cfg(unix)]
        {
            stop_by_default();
            set(note as *const () as libc::sighandler_t);
        }
    }
}

#[cfg(unix)]
impl Drop for Suspension {
    fn drop(&mut self) {
        // SAFETY: the action is the one that the system gave.
        unsafe {
            libc::sigaction(libc::SIGTSTP, &raw const self.before, std::ptr::null_mut());
        }
        if self.take() {
            stop_by_default();
        }
    }
}

/// Notes the key. If it was pressed before and nothing has happened since, what draws may hang: the process is suspended without it.
#[cfg(unix)]
extern "C" fn note(_: libc::c_int) {
    if IS_WANTED.swap(true, Ordering::SeqCst) {
        IS_WANTED.store(false, Ordering::SeqCst);
        stop_by_default();
    }
}

/// Calls only what handlers of signals may call. Within the handler, the signal is blocked and delivered after it.
#[cfg(unix)]
fn stop_by_default() {
    set(libc::SIG_DFL);
    // SAFETY: no memory is involved.
    unsafe {
        libc::raise(libc::SIGTSTP);
    }
}

/// Returns true if the system accepted it.
#[cfg(unix)]
fn set(handler: libc::sighandler_t) -> bool {
    // SAFETY: the handler is a function of this file or the default; zeroes stand for no other signals blocked.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGTSTP, &raw const action, std::ptr::null_mut()) == 0
    }
}

#[cfg(unix)]
fn action() -> Option<libc::sigaction> {
    // SAFETY: a zeroed sigaction is a valid one to be filled in; without a new action nothing changes.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(libc::SIGTSTP, std::ptr::null(), &raw mut action) == 0).then_some(action)
    }
}

/// Whether a shell has given the terminal of the output to other programs, as after `bg`.
#[cfg(unix)]
pub fn is_in_background() -> bool {
    // SAFETY: no memory is involved; the first call fails if the output is not the terminal of this session.
    let (shown, own) = unsafe { (libc::tcgetpgrp(libc::STDOUT_FILENO), libc::getpgrp()) };
    shown > 0 && shown != own
}

#[cfg(not(unix))]
pub fn is_in_background() -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_suspension_waits_until_it_is_taken() {
        // It may be ignored where the tests run.
        let Some(suspension) = Suspension::hear() else { return };
        assert!(!suspension.take());
        // SAFETY: the signal has a handler.
        unsafe {
            libc::raise(libc::SIGTSTP);
        }
        assert!(suspension.take() && !suspension.take());
        assert!(Suspension::hear().is_none());
        drop(suspension);
        assert!(action().is_some_and(|action| action.sa_sigaction == libc::SIG_DFL));
    }
}
