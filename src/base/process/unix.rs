//! Process groups, signals and `/proc`.

use std::io;

use super::Signal;

pub(super) fn in_new_group(command: &mut tokio::process::Command) {
    command.process_group(0);
}

/// A process group, by its leader; none if the child had ended already.
pub(super) struct OwnedProcesses(Option<u32>);

impl OwnedProcesses {
    pub(super) fn of(child: &tokio::process::Child) -> OwnedProcesses {
        OwnedProcesses(child.id())
    }

    pub(super) fn signal(&self, signal: Signal) {
        let Some(leader) = self.0.and_then(|id| i32::try_from(id).ok()).filter(|id| *id > 1) else { return };
        let number = match signal {
            Signal::Interrupt => libc::SIGINT,
            Signal::Terminate => libc::SIGTERM,
            Signal::Kill => libc::SIGKILL,
        };
        // SAFETY: no memory is involved; if the group does not exist any more, the error is ignored.
        unsafe {
            libc::kill(-leader, number);
        }
    }

    /// Returns true while the leader runs. Does not collect its exit status.
    pub(super) fn leads_running_child(&self) -> bool {
        self.0.is_some_and(is_running_child)
    }
}

fn is_running_child(number: u32) -> bool {
    // SAFETY: zeroes are a valid siginfo to be filled in.
    let (result, info) = unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        (libc::waitid(libc::P_PID, number as libc::id_t, &raw mut info, flags), info)
    };
    // SAFETY: the field is there for this call, and zero where nothing has ended.
    result == 0 && unsafe { info.si_pid() } == 0
}

pub(super) fn is_alive(number: u32) -> bool {
    let Some(id) = i32::try_from(number).ok().filter(|id| *id > 0) else { return false };
    if state_letter(number) == Some('Z') {
        return false;
    }
    // SAFETY: signal 0 only asks.
    unsafe { libc::kill(id, 0) == 0 || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM) }
}

/// The fields of `/proc/N/stat` after the name, which is in parentheses and may hold anything.
fn stat_fields(number: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_string).collect())
}

fn state_letter(number: u32) -> Option<char> {
    stat_fields(number)?.first()?.chars().next()
}

pub(super) fn start_time(number: u32) -> Option<u64> {
    stat_fields(number)?.get(19)?.parse().ok()
}

pub(super) fn end_by_broken_pipe() {
    // SAFETY: neither call touches memory.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::raise(libc::SIGPIPE);
    }
}
