//! `fmt`: files in the standard style.
//!
//! Which files, in which order; what is done to each, many at a time. The style itself is [`lang::syntax::fmt`].

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::name::COMMAND;
use base::{atomic, env};
use lang::syntax::fmt::format_bytes;
use render::text::unified_diff::unified_diff;

use crate::opentofu;

/// Ends of the names of files that have a standard style.
const EXTENSIONS: &[&str] = &[".tf", ".tfvars", ".tftest.hcl", ".tfmock.hcl", ".tfquery.hcl"];

/// The actions after formatting. If nothing is listed, written or shown as a difference, the
/// formatted text itself is shown.
#[derive(Clone, Debug)]
pub struct FmtOptions {
    pub recursive: bool,
    pub list: bool,
    pub write: bool,
    pub diff: bool,
}

/// Formats files, and those in folders; what there is to show comes in their order, with the errors of all of them.
pub fn run(dialect: Dialect, paths: &[String], options: &FmtOptions) -> (Vec<u8>, Diagnostics) {
    let mut jobs = Vec::new();
    let here = env::working_dir().unwrap_or_default();
    for path in paths {
        if !target(dialect, &relative(&here, path), options.recursive, &mut jobs) {
            break;
        }
    }
    work(options, jobs)
}

/// Formats what came from standard input.
pub fn run_stdin(content: &[u8], options: &FmtOptions) -> (Vec<u8>, Diagnostics) {
    match process(Path::new("<stdin>"), content, options) {
        Ok(shown) => (shown, Diagnostics::new()),
        Err(diagnostics) => (Vec::new(), diagnostics),
    }
}

fn sourceless(text: String) -> Diagnostics {
    Diagnostic::error(text, "").into()
}

/// One thing to do or to say.
enum Job {
    File(PathBuf),
    Problem(String),
}

/// Collects what a path stands for; false if there is nothing at it, which ends the work.
fn target(dialect: Dialect, path: &Path, recursive: bool, jobs: &mut Vec<Job>) -> bool {
    match fs::metadata(path) {
        Err(_) => {
            jobs.push(Job::Problem(format!("No file or directory at {}", path.display())));
            return false;
        }
        Ok(found) if found.is_dir() => folder(dialect, path, recursive, jobs),
        Ok(_) if has_style(dialect, &path.to_string_lossy()) => jobs.push(Job::File(path.to_path_buf())),
        Ok(_) => jobs.push(Job::Problem(format!(
            "Only .tf, .tfvars, and .tftest.hcl files can be processed with {COMMAND} fmt"
        ))),
    }
    true
}

/// The files in a folder by name, those of a folder below where its name belongs. A link to a folder is not followed.
fn folder(dialect: Dialect, path: &Path, recursive: bool, jobs: &mut Vec<Job>) {
    let entries = fs::read_dir(path).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let Ok(mut entries) = entries else {
        return jobs.push(Job::Problem(format!("Cannot read directory {}", path.display())));
    };
    entries.sort_by_cached_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let text = name.to_string_lossy();
        if is_ignored(&text) {
            continue;
        }
        let below = if path == Path::new(".") { PathBuf::from(&name) } else { path.join(&name) };
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            if recursive {
                folder(dialect, &below, recursive, jobs);
            }
        } else if has_style(dialect, &text) {
            jobs.push(Job::File(below));
        }
    }
}

fn has_style(dialect: Dialect, file: &str) -> bool {
    EXTENSIONS.iter().chain(opentofu::further_endings_in_style(dialect)).any(|extension| file.ends_with(extension))
}

/// Hidden files and what editors leave behind.
fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || name.starts_with('#') && name.ends_with('#')
}

/// The path seen from a folder, without needless steps.
fn relative(here: &Path, path: &str) -> PathBuf {
    let full = base::files::normal(&here.join(path));
    let mut down = full.components().peekable();
    let mut up = here.components().peekable();
    while let (Some(a), Some(b)) = (down.peek(), up.peek()) {
        if a != b {
            break;
        }
        down.next();
        up.next();
    }
    let found: PathBuf = up.map(|_| Component::ParentDir).chain(down).collect();
    if found.as_os_str().is_empty() { PathBuf::from(".") } else { found }
}

/// Does all jobs, and gives what came of them in their order. A file that is named twice is done twice, one after the other.
fn work(options: &FmtOptions, jobs: Vec<Job>) -> (Vec<u8>, Diagnostics) {
    let mut seen: HashMap<&Path, usize> = HashMap::new();
    let mut rounds: Vec<Vec<(usize, &Path)>> = Vec::new();
    for (i, job) in jobs.iter().enumerate() {
        let Job::File(path) = job else { continue };
        let round = seen.entry(path).or_default();
        if rounds.len() == *round {
            rounds.push(Vec::new());
        }
        rounds[*round].push((i, path));
        *round += 1;
    }
    let mut results: Vec<Option<Result<Vec<u8>, Diagnostics>>> = jobs.iter().map(|_| None).collect();
    for round in rounds {
        for (i, result) in all_at_once(options, &round) {
            results[i] = Some(result);
        }
    }
    let (mut shown, mut diagnostics) = (Vec::new(), Diagnostics::new());
    for (job, result) in jobs.into_iter().zip(results) {
        match (job, result) {
            (Job::Problem(text), _) => diagnostics.extend(sourceless(text)),
            (Job::File(_), Some(Ok(text))) => shown.extend_from_slice(&text),
            (Job::File(_), Some(Err(problems))) => diagnostics.extend(problems),
            (Job::File(path), None) => diagnostics.extend(sourceless(format!("Failed to read {}", path.display()))),
        }
    }
    (shown, diagnostics)
}

type FileOutcome = (usize, Result<Vec<u8>, Diagnostics>);

fn all_at_once(options: &FmtOptions, files: &[(usize, &Path)]) -> Vec<FileOutcome> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(files.len()));
    let worker = || {
        let mut own: Vec<FileOutcome> = Vec::new();
        while let Some((i, path)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            own.push((*i, file(path, options)));
        }
        results.lock().unwrap_or_else(|e| e.into_inner()).extend(own);
    };
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..files.len().min(at_once) {
            scope.spawn(worker);
        }
        worker();
    });
    results.into_inner().unwrap_or_else(|e| e.into_inner())
}

fn file(path: &Path, options: &FmtOptions) -> Result<Vec<u8>, Diagnostics> {
    let mut content = Vec::new();
    let mut file = fs::File::open(path).map_err(|_| sourceless(format!("Failed to read file {}", path.display())))?;
    file.read_to_end(&mut content).map_err(|_| sourceless(format!("Failed to read {}", path.display())))?;
    drop(file);
    process(path, &content, options)
}

/// What there is to show of one file.
fn process(path: &Path, content: &[u8], options: &FmtOptions) -> Result<Vec<u8>, Diagnostics> {
    let name = path.to_string_lossy();
    let formatted = format_bytes(&name, content)?;
    let mut shown = Vec::new();
    if let Some(new) = &formatted {
        if options.write {
            write(path, new).map_err(|_| sourceless(format!("Failed to write {name}")))?;
        }
        if options.list {
            shown.extend_from_slice(format!("{name}\n").as_bytes());
        }
        if options.diff {
            shown.extend(unified_diff(&name, content, new));
        }
    }
    if !options.list && !options.write && !options.diff {
        let text = formatted.as_deref().unwrap_or(content);
        // As the reference shows it: each text ends its line.
        shown.extend_from_slice(text.strip_suffix(b"\n").unwrap_or(text));
        shown.push(b'\n');
    }
    Ok(shown)
}

/// Replaces the file, unless its owner protected it from that.
fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?;
    match atomic::write_content(path, content) {
        // The folder takes no new file, or the file is mounted by itself: it can only be written in place.
        Err(e) if matches!(e.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ResourceBusy) => {
            fs::write(path, content)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_as_seen_from_here() {
        let cases = [
            ("b.tf", "b.tf"),
            ("./m/../b.tf", "b.tf"),
            ("", "."),
            (".", "."),
            ("/w/here/m", "m"),
            ("/w/other/a.tf", "../other/a.tf"),
            ("..", ".."),
            ("/", "../.."),
        ];
        for (path, expected) in cases {
            assert_eq!(relative(Path::new("/w/here"), path), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn a_file_that_does_not_parse_is_not_touched_and_others_keep_their_mode() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for (name, text) in [("a.tf", "a=1\n"), ("b.tf", "b={\n"), ("c.tf", "c = 1\n"), (".d.tf", "d=1\n")] {
            fs::write(path(name), text).unwrap();
        }
        #[cfg(unix)]
        fs::set_permissions(path("a.tf"), std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
        let options = FmtOptions { recursive: true, list: true, write: true, diff: false };
        let (shown, diagnostics) = run(Dialect::default(), &[dir.path().to_string_lossy().into_owned()], &options);
        assert!(String::from_utf8(shown).unwrap().ends_with("a.tf\n"));
        assert!(diagnostics.has_errors());
        let read = |name: &str| fs::read_to_string(path(name)).unwrap();
        assert_eq!([read("a.tf"), read("b.tf"), read(".d.tf")], ["a = 1\n", "b={\n", "d=1\n"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(path("a.tf")).unwrap().permissions().mode() & 0o777, 0o640);
        }
    }
}
