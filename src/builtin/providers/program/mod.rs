//! Finds and describes programs with the rules and texts of Go's `os/exec`. Never knows what they do.

use std::fmt;
use std::process::ExitStatus;

use crate::wording::reason;

#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;

/// Why a program cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramError {
    NotFound(String),
    /// It was found in a relative folder of `PATH`, or on Windows in the current folder.
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
            ProgramError::NotFound(name) => write!(f, "exec: {name:?}: executable file not found in {}", system::PATH),
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
    /// What the program receives as its own name; on Windows it receives its path.
    #[cfg(unix)]
    name: String,
    path: String,
    /// Found in a relative folder of `PATH`.
    is_relative: bool,
}

impl Program {
    fn new(#[cfg_attr(windows, allow(unused_variables))] name: &str, path: String, is_relative: bool) -> Program {
        Program {
            #[cfg(unix)]
            name: name.to_owned(),
            path,
            is_relative,
        }
    }

    /// Relative paths are relative to the folder in which the program runs.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Checks a name with a folder as a path relative to the current folder; searches other names in the folders of
    /// `PATH`.
    pub fn find(name: &str) -> Result<Program, ProgramError> {
        system::find(name)
    }

    /// As [`Program::find`], but refuses a name that is found in a relative folder of `PATH`.
    pub fn find_absolute(name: &str) -> Result<Program, ProgramError> {
        let program = Program::find(name)?;
        if program.is_relative { Err(ProgramError::Relative(name.to_owned())) } else { Ok(program) }
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
    if let Some(signal) = system::signal(status) {
        return format!("signal: {signal}");
    }
    status.code().map_or_else(|| status.to_string(), |code| format!("exit status {code}"))
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
