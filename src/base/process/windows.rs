//! Process handles, and the tree of processes in place of groups.

use std::collections::HashMap;
use std::io;

use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_ACCESS_DENIED, FILETIME, HANDLE, INVALID_HANDLE_VALUE, WAIT_TIMEOUT,
};
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, GetProcessTimes, OpenProcess, PROCESS_ACCESS_RIGHTS, PROCESS_QUERY_LIMITED_INFORMATION,
    PROCESS_SYNCHRONIZE, PROCESS_TERMINATE, TerminateProcess, WaitForSingleObject,
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

/// Interrupts the group by the console's break key, if it shares our console, or kills the process and all that it started.
pub(super) fn signal_group(leader: u32, signal: Signal) {
    if signal == Signal::Kill {
        kill_tree(leader);
        return;
    }
    // SAFETY: no memory is involved; zero would be the processes of this console.
    if leader != 0 && unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, leader) } == 0 {
        tracing::debug!("cannot interrupt process {leader}: {}", io::Error::last_os_error());
    }
}

fn kill_tree(root: u32) {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (number, parent) in processes() {
        children.entry(parent).or_default().push(number);
    }
    let mut left = vec![(root, start_time(root).unwrap_or(0))];
    while let Some((number, parents_start)) = left.pop() {
        let Ok(process) = Handle::open(number, PROCESS_TERMINATE | PROCESS_QUERY_LIMITED_INFORMATION) else { continue };
        // The number of a parent that has ended may belong to a process that is younger than its supposed children.
        let Some(start) = process.start_time().filter(|start| *start >= parents_start) else { continue };
        left.extend(children.remove(&number).into_iter().flatten().map(|child| (child, start)));
        // SAFETY: the handle is open.
        unsafe { TerminateProcess(process.0, KILLED) };
    }
}

/// The number and the parent of every process.
fn processes() -> Vec<(u32, u32)> {
    // SAFETY: no memory is involved.
    let snapshot = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0) };
    if snapshot == INVALID_HANDLE_VALUE {
        return Vec::new();
    }
    let snapshot = Handle(snapshot);
    let mut entry = PROCESSENTRY32W { dwSize: size_of::<PROCESSENTRY32W>() as u32, ..Default::default() };
    let mut found = Vec::new();
    // SAFETY: the handle is open, and the entry has the size that it says.
    let mut more = unsafe { Process32FirstW(snapshot.0, &mut entry) };
    while more != 0 {
        found.push((entry.th32ProcessID, entry.th32ParentProcessID));
        // SAFETY: as above.
        more = unsafe { Process32NextW(snapshot.0, &mut entry) };
    }
    found
}

/// Returns true while a child process runs. Does not collect its exit status.
pub(super) fn is_running_child(number: u32) -> bool {
    is_alive(number)
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
    use std::time::Duration;

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

    #[tokio::test]
    async fn dropping_a_group_kills_its_children() {
        let mut command = tokio::process::Command::new("cmd");
        command.args(["/c", "ping -n 30 127.0.0.1 >nul"]);
        in_new_group(&mut command);
        let mut child = command.spawn().unwrap();
        let leader = child.id().unwrap();
        let children = || processes().into_iter().filter(|(_, parent)| *parent == leader).map(|(number, _)| number);
        let started = loop {
            if let Some(number) = children().next() {
                break number;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        drop(KilledGroup(Some(leader)));
        assert!(!child.wait().await.unwrap().success());
        while is_alive(started) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
