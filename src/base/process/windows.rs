//! Process handles, and jobs in place of process groups.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle, RawHandle};

use windows_sys::Win32::Foundation::{CloseHandle, ERROR_ACCESS_DENIED, FILETIME, HANDLE, WAIT_TIMEOUT};
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};
use windows_sys::Win32::System::JobObjects::{AssignProcessToJobObject, CreateJobObjectW, TerminateJobObject};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, GetProcessTimes, OpenProcess, PROCESS_ACCESS_RIGHTS, PROCESS_QUERY_LIMITED_INFORMATION,
    PROCESS_SYNCHRONIZE, WaitForSingleObject,
};

use super::Signal;

/// What a process that was killed returns.
const KILLED: u32 = 1;

/// An open handle.
struct Handle(HANDLE);

impl Handle {
    fn open(number: u32, access: PROCESS_ACCESS_RIGHTS) -> io::Result<Handle> {
        // SAFETY: no memory is involved.
        let handle = unsafe { OpenProcess(access, 0, number) };
        if handle.is_null() { Err(io::Error::last_os_error()) } else { Ok(Handle(handle)) }
    }

    /// When the process was started, in units of 100 nanoseconds since 1601.
    fn start_time(&self) -> Option<u64> {
        let zero = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
        let [mut start, mut exit, mut kernel, mut user] = [zero; 4];
        // SAFETY: the handle is open, and each of the four is written to.
        let filled = unsafe { GetProcessTimes(self.0, &mut start, &mut exit, &mut kernel, &mut user) };
        (filled != 0).then(|| u64::from(start.dwHighDateTime) << 32 | u64::from(start.dwLowDateTime))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is open and not used any more.
        unsafe { CloseHandle(self.0) };
    }
}

pub(super) fn in_new_group(command: &mut tokio::process::Command) {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}

/// A job: a process and all that it starts, also after it has ended.
pub(super) struct OwnedProcesses {
    leader: Option<u32>,
    job: Option<OwnedHandle>,
}

impl OwnedProcesses {
    pub(super) fn of(child: &tokio::process::Child) -> OwnedProcesses {
        let job = child.raw_handle().and_then(|process| match job_with(process) {
            Ok(job) => Some(job),
            Err(error) => {
                tracing::debug!("no job for process {:?}: {error}", child.id());
                None
            }
        });
        OwnedProcesses { leader: child.id(), job }
    }

    /// Interrupts the processes by the console's break key, if they share our console, or kills them.
    pub(super) fn signal(&self, signal: Signal) {
        let done = match (signal, &self.job, self.leader) {
            // SAFETY: the handle is open.
            (Signal::Kill, Some(job), _) => unsafe { TerminateJobObject(job.as_raw_handle(), KILLED) },
            // SAFETY: no memory is involved; zero would be the processes of this console.
            (Signal::Interrupt | Signal::Terminate, _, Some(leader)) if leader != 0 => unsafe {
                GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, leader)
            },
            _ => return,
        };
        if done == 0 {
            tracing::debug!("cannot signal process {:?}: {}", self.leader, io::Error::last_os_error());
        }
    }

    /// Returns true while the leader runs.
    pub(super) fn leads_running_child(&self) -> bool {
        self.leader.is_some_and(is_alive)
    }
}

/// A new job with a process. Closing it ends nothing.
fn job_with(process: RawHandle) -> io::Result<OwnedHandle> {
    // SAFETY: null stands for the default security and for no name.
    let job = unsafe { CreateJobObjectW(std::ptr::null(), std::ptr::null()) };
    if job.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new and belongs to no other value.
    let job = unsafe { OwnedHandle::from_raw_handle(job) };
    // SAFETY: both handles are open.
    if unsafe { AssignProcessToJobObject(job.as_raw_handle(), process) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(job)
}

/// The number of a process that has ended is not used again while a handle of it is open.
pub(super) fn is_alive(number: u32) -> bool {
    match Handle::open(number, PROCESS_SYNCHRONIZE) {
        // SAFETY: the handle is open.
        Ok(process) => unsafe { WaitForSingleObject(process.0, 0) == WAIT_TIMEOUT },
        Err(error) => error.raw_os_error() == Some(ERROR_ACCESS_DENIED as i32),
    }
}

pub(super) fn start_time(number: u32) -> Option<u64> {
    Handle::open(number, PROCESS_QUERY_LIMITED_INFORMATION).ok()?.start_time()
}

/// There is no such signal.
pub(super) fn end_by_broken_pipe() {}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use tokio::io::AsyncReadExt;

    use super::super::{KilledGroup, ProcessId};
    use super::*;

    #[test]
    fn running_processes_are_detected() {
        assert!(ProcessId::current().is_alive());
        assert!(ProcessId::current().started > 0);
        assert!(!ProcessId { started: 1, ..ProcessId::current() }.is_alive());
        let mut child = std::process::Command::new("cmd").args(["/c", "exit 0"]).spawn().unwrap();
        let id = child.id();
        child.wait().unwrap();
        drop(child);
        assert!(!is_alive(id));
    }

    /// What the leader started holds its output open until it ends. `echo` is there because Wine's `ping` prints everything at its end.
    #[tokio::test]
    async fn dropping_a_group_kills_what_its_leader_started() {
        for (start, has_ended) in [("", false), ("start /b ", true)] {
            let script = format!("{start}cmd /c echo started ^& ping -n 60 127.0.0.1");
            let mut command = tokio::process::Command::new("cmd");
            command.args(["/c", &script]).stdin(Stdio::null()).stdout(Stdio::piped());
            in_new_group(&mut command);
            let mut child = command.spawn().unwrap();
            let (group, mut output) = (KilledGroup::of(&child), child.stdout.take().unwrap());
            output.read_u8().await.unwrap();
            if has_ended {
                child.wait().await.unwrap();
            }
            let started = std::time::Instant::now();
            drop(group);
            output.read_to_end(&mut Vec::new()).await.unwrap();
            child.wait().await.unwrap();
            assert!(started.elapsed().as_secs() < 30, "{script}");
        }
    }
}
