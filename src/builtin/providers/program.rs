//! Finds and describes programs with the rules and texts of Go's `os/exec`.

use std::fmt;
use std::process::ExitStatus;

#[cfg(unix)]
use base::env::{Environment, PATH};

use crate::wording::reason;

/// Why a program cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramError {
    NotFound(String),
    /// It was found in a relative folder of `PATH`.
    Relative(String),
    /// What its path names cannot be run.
    NotExecutable {
        name: String,
        why: String,
    },
    /// The folder to run it in cannot be one.
    Folder {
        folder: String,
        why: String,
    },
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramError::NotFound(name) => write!(f, "exec: {name:?}: executable file not found in $PATH"),
            ProgramError::Relative(name) => {
                write!(f, "exec: {name:?}: cannot run executable found relative to current directory")
            }
            ProgramError::NotExecutable { name, why } => write!(f, "exec: {name:?}: {why}"),
            ProgramError::Folder { folder, why } => write!(f, "chdir {folder}: {why}"),
        }
    }
}

impl std::error::Error for ProgramError {}

/// A program and where it was found.
pub struct Program {
    name: String,
    path: String,
}

impl Program {
    /// Relative paths are relative to the folder in which the program runs.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Checks a name with a slash as a path relative to the current folder; searches other names in the folders of
    /// `PATH`.
    #[cfg(unix)]
    pub fn find(name: &str) -> Result<Program, ProgramError> {
        if name.contains('/') {
            check_executable(name).map_err(|why| ProgramError::NotExecutable { name: name.to_owned(), why })?;
            return Ok(Program { name: name.to_owned(), path: name.to_owned() });
        }
        let environment = Environment::process();
        for folder in std::env::split_paths(environment.get(PATH).unwrap_or_default()) {
            // An empty entry is the current folder.
            let path = folder.join(name).to_string_lossy().into_owned();
            let path = if path.contains('/') { path } else { format!("./{path}") };
            if check_executable(&path).is_ok() {
                return Ok(Program { name: name.to_owned(), path });
            }
        }
        Err(ProgramError::NotFound(name.to_owned()))
    }

    /// The operating system searches the program when it starts.
    #[cfg(not(unix))]
    pub fn find(name: &str) -> Result<Program, ProgramError> {
        Ok(Program { name: name.to_owned(), path: name.to_owned() })
    }

    /// As [`Program::find`], but refuses a name that is found in a relative folder of `PATH`.
    pub fn find_absolute(name: &str) -> Result<Program, ProgramError> {
        let program = Program::find(name)?;
        let is_relative = !name.contains(std::path::is_separator) && program.path.starts_with(|c| c != '/');
        if cfg!(unix) && is_relative {
            return Err(ProgramError::Relative(name.to_owned()));
        }
        Ok(program)
    }

    /// A command that runs the program under its name, in `folder` if it is not empty. Fails if there is no such folder:
    /// the error of the start does not say whether it is about the folder or the program.
    pub fn command(&self, folder: Option<&str>) -> Result<tokio::process::Command, ProgramError> {
        let mut command = tokio::process::Command::new(&self.path);
        #[cfg(unix)]
        command.arg0(&self.name);
        if let Some(folder) = folder.filter(|folder| !folder.is_empty()) {
            check_folder(folder)?;
            command.current_dir(folder);
        }
        crate::without_handshake(&mut command);
        Ok(command)
    }

    /// The text of an error of the start.
    pub fn start_error(&self, error: &std::io::Error) -> String {
        format!("fork/exec {}: {}", self.path, reason(error))
    }
}

#[cfg(unix)]
fn check_executable(path: &str) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;

    use crate::wording::io_text;
    let metadata = std::fs::metadata(path).map_err(|error| io_text("stat", path, &error))?;
    if metadata.is_dir() {
        return Err("is a directory".to_owned());
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err("permission denied".to_owned());
    }
    Ok(())
}

fn check_folder(folder: &str) -> Result<(), ProgramError> {
    let why = match std::fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => "not a directory".to_owned(),
        Err(error) => reason(&error),
    };
    Err(ProgramError::Folder { folder: folder.to_owned(), why })
}

/// How a program ended: `exit status 3`, `signal: killed`.
pub fn exit_text(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal: {}", signal_name(signal));
    }
    status.code().map_or_else(|| status.to_string(), |code| format!("exit status {code}"))
}

#[cfg(unix)]
fn signal_name(signal: i32) -> String {
    let name = match signal {
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
        other => return other.to_string(),
    };
    name.to_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn ends_of_programs_read_as_in_go() {
        for (status, expected) in
            [(0x0300, "exit status 3"), (9, "signal: killed"), (15, "signal: terminated"), (40, "signal: 40")]
        {
            assert_eq!(exit_text(ExitStatus::from_raw(status)), expected);
        }
    }
}
