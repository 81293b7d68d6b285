//! Functions of files and paths.
//!
//! Owns how paths are read: relative to the base directory, `~` as the home directory. All reading goes through the
//! scope's machine; where there is none, files do not exist.

use std::io;
use std::path::{Component, MAIN_SEPARATOR_STR, Path, PathBuf, is_separator};

use base::files::{FileKind, normal, slashed};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use terrane_value::{Marks, Type, Value};

use super::builtin::{Allow, Builtin, Outcome, fail, quoted, quoted_argument, string, text};
use super::glob;
use super::redaction::placeholder;
use super::signature::{CallContext, FunctionError, Machine};

pub(super) fn table() -> Vec<Builtin> {
    let s = Type::String;
    vec![
        Builtin::new("file", vec![string("path").unknown().marked()], s.clone(), file)
            .of_files()
            .doc("The content of a file."),
        Builtin::new("filebase64", vec![string("path").unknown().marked()], s.clone(), file_base64)
            .of_files()
            .doc("The content of a file in base64."),
        Builtin::new("fileexists", vec![string("path").unknown().marked()], Type::Bool, file_exists)
            .of_files()
            .doc("Whether there is a file at a path."),
        Builtin::new(
            "fileset",
            vec![string("path").unknown().marked(), string("pattern").unknown().marked()],
            Type::set(s.clone()),
            file_set,
        )
        .of_files()
        .doc("The files below a directory whose names match a pattern."),
        Builtin::new("abspath", vec![string("path")], s.clone(), |a, c| {
            let path = machine(c)?.working_dir().join(text(a, 0));
            Ok(Value::string(slashed(&normal(&path))))
        })
        .doc("The absolute form of a path."),
        Builtin::new("basename", vec![string("path")], s.clone(), |a, _| Ok(Value::string(base_name(text(a, 0)))))
            .doc("The last part of a path."),
        Builtin::new("dirname", vec![string("path")], s.clone(), |a, _| Ok(Value::string(dir_name(text(a, 0)))))
            .doc("A path without its last part."),
        Builtin::new("pathexpand", vec![string("path")], s, |a, c| {
            expand_home(text(a, 0), machine(c)?).map(|p| Value::string(p.to_string_lossy())).map_err(FunctionError::new)
        })
        .doc("A path with the home directory in place of a tilde."),
    ]
}

fn path_text(path: &Path) -> String {
    match path.to_string_lossy() {
        here if here.is_empty() => ".".to_owned(),
        path => path.into_owned(),
    }
}

/// The result of a call with an unknown path keeps the path's marks.
fn unknown_path(a: &[Value], ty: Type) -> Option<Value> {
    let marks = a.iter().fold(Marks::NONE, |marks, v| marks | v.marks());
    a.iter().any(|v| !v.is_known()).then(|| Value::unknown(ty).mark(marks))
}

fn machine<'c>(context: &CallContext<'c>) -> Result<&'c dyn Machine, FunctionError> {
    context.scope.machine().ok_or_else(|| FunctionError::new("files are not available here"))
}

fn expand_home(path: &str, machine: &dyn Machine) -> Result<PathBuf, String> {
    let Some(rest) = path.strip_prefix('~') else { return Ok(PathBuf::from(path)) };
    if !rest.is_empty() && !rest.starts_with(['/', '\\']) {
        return Err("cannot expand user-specific home dir".into());
    }
    let Some(home) = machine.home_dir() else { return Err("cannot find the home directory".into()) };
    Ok(if rest.is_empty() { home } else { normal(&home.join(rest.trim_start_matches(['/', '\\']))) })
}

/// Why a file could not be read.
pub(super) struct ReadError {
    /// The path as messages show it.
    shown: String,
    path: String,
    kind: Failure,
}

enum Failure {
    Path(String),
    NotFound,
    Directory,
    /// One of the directories of the path is a file.
    NotDirectory,
    Io(String),
}

impl ReadError {
    /// As the functions that hash files word it.
    pub(super) fn open_message(&self) -> String {
        match &self.kind {
            Failure::Path(message) => format!("failed to expand ~: {message}"),
            Failure::NotFound => format!("open {}: no such file or directory", self.path),
            Failure::Directory => format!("read {}: is a directory", self.path),
            Failure::NotDirectory => format!("open {}: not a directory", self.path),
            Failure::Io(message) => message.clone(),
        }
    }

    /// As the functions that take a file's content word it: an error of the first argument.
    fn argument(&self) -> FunctionError {
        let message = match &self.kind {
            Failure::Path(message) => format!("failed to expand ~: {message}"),
            Failure::NotFound => format!(
                "no file exists at {}; this function works only with files that are distributed as part of the configuration source code, so if this file will be created by a resource in this configuration you must instead obtain this result from an attribute of that resource",
                self.shown
            ),
            Failure::Directory => format!("failed to read file: read {}: is a directory", self.path),
            Failure::NotDirectory => self.open_message(),
            Failure::Io(message) => format!("failed to read file: {message}"),
        };
        FunctionError::argument(0, message)
    }
}

/// The content of the file that an argument names.
pub(super) fn read_argument(arg: &Value, context: &CallContext<'_>) -> Result<Vec<u8>, ReadError> {
    let path = arg.as_str().unwrap_or_default();
    let error = |path: String, kind| ReadError { shown: quoted_argument(arg), path, kind };
    let machine = machine(context).map_err(|e| error(path.to_owned(), Failure::Io(e.message)))?;
    let expanded = expand_home(path, machine).map_err(|e| error(path.to_owned(), Failure::Path(e)))?;
    let full = normal(&machine.base_dir().join(expanded));
    let name = path_text(&full);
    machine.files().read(&full).map_err(|e| {
        let is_dir = e.kind() == io::ErrorKind::IsADirectory || machine.files().is_dir(&full);
        match e.kind() {
            io::ErrorKind::NotFound => error(name, Failure::NotFound),
            io::ErrorKind::NotADirectory => error(name, Failure::NotDirectory),
            _ if is_dir => error(name, Failure::Directory),
            _ => error(name, Failure::Io(e.to_string())),
        }
    })
}

/// The content of a text file that an argument names.
pub(super) fn read_text(arg: &Value, context: &CallContext<'_>) -> Result<String, FunctionError> {
    let content = read_argument(arg, context).map_err(|e| e.argument())?;
    String::from_utf8(content).map_err(|_| {
        FunctionError::new(format!(
            "contents of {} are not valid UTF-8; use the filebase64 function to obtain the Base64 encoded contents or the other file functions (e.g. filemd5, filesha256) to obtain file hashing results instead",
            quoted_argument(arg)
        ))
    })
}

fn file(a: &[Value], context: &CallContext<'_>) -> Outcome {
    if let Some(unknown) = unknown_path(a, Type::String) {
        return Ok(unknown);
    }
    Ok(Value::string(read_text(&a[0], context)?).mark(a[0].marks()))
}

fn file_base64(a: &[Value], context: &CallContext<'_>) -> Outcome {
    if let Some(unknown) = unknown_path(a, Type::String) {
        return Ok(unknown);
    }
    let content = read_argument(&a[0], context).map_err(|e| e.argument())?;
    Ok(Value::string(STANDARD.encode(content)).mark(a[0].marks()))
}

fn file_exists(a: &[Value], context: &CallContext<'_>) -> Outcome {
    if let Some(unknown) = unknown_path(a, Type::Bool) {
        return Ok(unknown);
    }
    let machine = machine(context)?;
    let path = expand_home(text(a, 0), machine).map_err(|e| FunctionError::new(format!("failed to expand ~: {e}")))?;
    let full = normal(&machine.base_dir().join(path));
    let shown = placeholder(a[0].marks()).map_or_else(|| quoted(&path_text(&full)), str::to_owned);
    let exists = match machine.files().metadata(&full) {
        Ok(metadata) => match metadata.kind {
            FileKind::File => true,
            FileKind::Directory => return fail(format!("{shown} is a directory, not a file")),
            FileKind::Other => return fail(format!("{shown} is not a regular file")),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => false,
        Err(_) => return fail(format!("failed to stat {shown}")),
    };
    Ok(Value::bool(exists).mark(a[0].marks()))
}

fn file_set(a: &[Value], context: &CallContext<'_>) -> Outcome {
    if let Some(unknown) = unknown_path(a, Type::set(Type::String)) {
        return Ok(unknown);
    }
    let machine = machine(context)?;
    let expanded =
        expand_home(text(a, 0), machine).map_err(|e| FunctionError::argument(0, format!("failed to expand ~: {e}")))?;
    let root = normal(&machine.base_dir().join(expanded));
    let pattern = text(a, 1);
    let found = glob::find(machine.files(), &root, pattern).map_err(|_| {
        let whole = path_text(&normal(&root.join(pattern)));
        let shown = placeholder(a[0].marks() | a[1].marks()).map_or_else(|| quoted(&whole), str::to_owned);
        FunctionError::new(format!("failed to glob pattern {shown}: syntax error in pattern"))
    })?;
    let names = found.into_iter().map(Value::string).collect();
    Ok(Value::set(Type::String, names).mark(a[0].marks() | a[1].marks()))
}

/// Returns the drive or the share at the beginning of a path on Windows, such as `C:`, and the rest.
fn split_volume(path: &str) -> (&str, &str) {
    let length = match Path::new(path).components().next() {
        Some(Component::Prefix(prefix)) => prefix.as_os_str().len(),
        _ => 0,
    };
    path.split_at(length)
}

fn base_name(path: &str) -> String {
    if path.is_empty() {
        return ".".into();
    }
    let (_, rest) = split_volume(path);
    match rest.trim_end_matches(is_separator).rsplit(is_separator).next() {
        None | Some("") => MAIN_SEPARATOR_STR.into(),
        Some(last) => last.into(),
    }
}

fn dir_name(path: &str) -> String {
    let (volume, rest) = split_volume(path);
    let Some(end) = rest.rfind(is_separator) else { return format!("{volume}.") };
    format!("{volume}{}", path_text(&normal(Path::new(&rest[..=end]))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_folders_of_paths() {
        for (path, base, dir) in [
            ("", ".", "."),
            ("a", "a", "."),
            ("/", "/", "/"),
            ("/a", "a", "/"),
            ("a/b/", "b", "a/b"),
            ("a/../b", "b", "."),
        ] {
            let native = |text: &str| text.replace('/', MAIN_SEPARATOR_STR);
            assert_eq!((base_name(path), dir_name(path)), (native(base), native(dir)), "{path}");
        }
    }

    #[cfg(windows)]
    #[test]
    fn drives_and_backslashes_of_paths() {
        for (path, base, dir) in [
            (r"a\b", "b", "a"),
            (r"C:\", r"\", r"C:\"),
            (r"C:\a", "a", r"C:\"),
            ("C:a", "a", "C:."),
            ("C:/a/b", "b", r"C:\a"),
        ] {
            assert_eq!((base_name(path), dir_name(path)), (base.to_owned(), dir.to_owned()), "{path}");
        }
    }
}
