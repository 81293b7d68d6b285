//! Searching programs by the endings of `PATHEXT`.

use std::path::Path;
use std::process::ExitStatus;

use base::env::{self, Environment};

use super::{Program, ProgramError};
use crate::wording::io_text;

/// The variable with the folders of programs, as messages write it.
pub(super) const PATH: &str = "%PATH%";

/// The endings where `PATHEXT` is not set.
const ENDINGS: &str = ".com;.exe;.bat;.cmd";

/// Searches as the system does: the current folder comes first. A program of the current folder that is not also found by
/// an absolute folder of `PATH` counts as relative.
pub(super) fn find(name: &str) -> Result<Program, ProgramError> {
    let environment = Environment::process();
    let endings = endings(environment.get(env::PATHEXT));
    if name.contains([':', '\\', '/']) {
        let found = with_ending(Path::new(name), &endings);
        let path = found.map_err(|why| match why {
            Missing::NoEnding => ProgramError::NotFound(name.to_owned()),
            Missing::Error(why) => ProgramError::NotExecutable { name: name.to_owned(), why },
        })?;
        return Ok(Program::new(name, path, false));
    }
    let searches_here = environment.get(env::NoDefaultCurrentDirectoryInExePath).is_none();
    let here = if searches_here { with_ending(&Path::new(".").join(name), &endings).ok() } else { None };
    for folder in std::env::split_paths(environment.get(env::PATH).unwrap_or_default()) {
        // An empty entry is nothing, as in PowerShell.
        if folder.as_os_str().is_empty() {
            continue;
        }
        let Ok(path) = with_ending(&folder.join(name), &endings) else { continue };
        let other_here = here.as_ref().filter(|here| !is_same(here, &path));
        return Ok(match other_here {
            Some(here) => Program::new(name, here.clone(), true),
            None => Program::new(name, path, !folder.is_absolute()),
        });
    }
    here.map(|here| Program::new(name, here, true)).ok_or_else(|| ProgramError::NotFound(name.to_owned()))
}

fn is_same(one: &str, other: &str) -> bool {
    let real = |path| std::fs::canonicalize(path).ok();
    real(one).is_some_and(|found| Some(found) == real(other))
}

/// `.EXE;bat` is `.exe`, `.bat`.
fn endings(variable: Option<&str>) -> Vec<String> {
    let text = variable.filter(|text| !text.is_empty()).unwrap_or(ENDINGS).to_lowercase();
    let endings = text.split(';').filter(|ending| !ending.is_empty());
    endings.map(|ending| if ending.starts_with('.') { ending.to_owned() } else { format!(".{ending}") }).collect()
}

/// Why no file was found under a path.
enum Missing {
    /// There is none with any of the endings.
    NoEnding,
    Error(String),
}

/// The path itself if it has an ending and is a file, or else with the first ending that makes it the path of a file.
fn with_ending(path: &Path, endings: &[String]) -> Result<String, Missing> {
    let path = path.to_string_lossy();
    let has_ending = path.rfind('.').is_some_and(|dot| path.rfind([':', '\\', '/']).is_none_or(|folder| folder < dot));
    if has_ending && is_file(&path) {
        return Ok(path.into_owned());
    }
    if let Some(found) = endings.iter().map(|ending| format!("{path}{ending}")).find(|path| is_file(path)) {
        return Ok(found);
    }
    if !has_ending {
        return Err(Missing::NoEnding);
    }
    let why = match std::fs::metadata(&*path) {
        Ok(_) => "permission denied".to_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "file does not exist".to_owned(),
        Err(error) => io_text("stat", &path, &error),
    };
    Err(Missing::Error(why))
}

fn is_file(path: &str) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir())
}

/// There are no signals: a program that was killed has an exit status.
pub(super) fn signal(_status: ExitStatus) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_the_endings_of_programs() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.bat", "a.exe", "b.txt", "c.d.cmd"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let endings = endings(Some(".EXE;bat;.cmd;"));
        assert_eq!(endings, [".exe", ".bat", ".cmd"]);
        let find = |name: &str| {
            let found = with_ending(&folder.path().join(name), &endings).ok()?;
            Some(Path::new(&found).file_name()?.to_string_lossy().into_owned())
        };
        for (name, expected) in [
            ("a", Some("a.exe")),
            ("a.bat", Some("a.bat")),
            ("b", None),
            ("b.txt", Some("b.txt")),
            ("c.d", Some("c.d.cmd")),
            ("d.exe", None),
        ] {
            assert_eq!(find(name).as_deref(), expected, "{name}");
        }
    }
}
