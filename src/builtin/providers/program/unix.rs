//! Searching programs by the execute permission, and the names of signals.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use base::env::{self, Environment};

use super::{Program, ProgramError};
use crate::wording::io_text;

/// The variable with the folders of programs, as messages write it.
pub(super) const PATH: &str = "$PATH";

pub(super) fn find(name: &str) -> Result<Program, ProgramError> {
    if name.contains('/') {
        check_executable(name).map_err(|why| ProgramError::NotExecutable { name: name.to_owned(), why })?;
        return Ok(Program::new(name, name.to_owned(), false));
    }
    let environment = Environment::process();
    for folder in std::env::split_paths(environment.get(env::PATH).unwrap_or_default()) {
        // An empty entry is the current folder.
        let path = folder.join(name).to_string_lossy().into_owned();
        let path = if path.contains('/') { path } else { format!("./{path}") };
        if check_executable(&path).is_ok() {
            let is_relative = !path.starts_with('/');
            return Ok(Program::new(name, path, is_relative));
        }
    }
    Err(ProgramError::NotFound(name.to_owned()))
}

fn check_executable(path: &str) -> Result<(), String> {
    let metadata = std::fs::metadata(path).map_err(|error| io_text("stat", path, &error))?;
    if metadata.is_dir() {
        return Err("is a directory".to_owned());
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err("permission denied".to_owned());
    }
    Ok(())
}

/// The name of the signal that ended a program.
pub(super) fn signal(status: ExitStatus) -> Option<String> {
    let name = match status.signal()? {
        libc::SIGHUP => "hangup",
        libc::SIGINT => "interrupt",
        libc::SIGQUIT => "quit",
        libc::SIGILL => "illegal instruction",
        libc::SIGABRT => "aborted",
        libc::SIGBUS => "bus error",
        libc::SIGFPE => "floating point exception",
        libc::SIGKILL => "killed",
        libc::SIGSEGV => "segmentation fault",
        libc::SIGPIPE => "broken pipe",
        libc::SIGALRM => "alarm clock",
        libc::SIGTERM => "terminated",
        other => return Some(other.to_string()),
    };
    Some(name.to_owned())
}
