//! Finds a program with the rules of Go's `os/exec`.

#[cfg(unix)]
use crate::base::env::{Environment, PATH};

/// A program and where it was found.
pub struct Program {
    name: String,
    path: String,
}

impl Program {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Relative paths are relative to the folder in which the program runs.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Checks a name with a slash as a path relative to the current folder; searches other names in the folders of
    /// `PATH`.
    #[cfg(unix)]
    pub fn find(name: &str) -> Result<Program, String> {
        if name.contains('/') {
            check_executable(name).map_err(|error| format!("exec: {name:?}: {error}"))?;
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
        Err(format!("exec: {name:?}: executable file not found in $PATH"))
    }

    /// The operating system searches the program when it starts.
    #[cfg(not(unix))]
    pub fn find(name: &str) -> Result<Program, String> {
        Ok(Program { name: name.to_owned(), path: name.to_owned() })
    }
}

#[cfg(unix)]
fn check_executable(path: &str) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;

    use crate::builtin::wording::io_text;
    let metadata = std::fs::metadata(path).map_err(|error| io_text("stat", path, &error))?;
    if metadata.is_dir() {
        return Err("is a directory".to_owned());
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err("permission denied".to_owned());
    }
    Ok(())
}
