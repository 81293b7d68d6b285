//! `link`: this program under the name of another one, in whose place it then runs.
//!
//! Replaces links to this program, and other files only by force. Never changes PATH, and never runs what it finds.

use std::path::{Path, PathBuf};
use std::{fs, io};

use base::diag::{Diagnostic, Diagnostics};
use base::env::{Environment, PATH};
use base::files::{named, reason};
use base::name::{TERRANE, TERRANE_COMMAND};
use base::{atomic, program};

/// The names that change what the program does.
pub const NAMES: [&str; 2] = ["terraform", "tofu"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkRequest {
    /// One of [`NAMES`].
    pub name: String,
    /// Must exist.
    pub folder: PathBuf,
    /// Replace a file that is not a link to this program.
    pub force: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkOutcome {
    pub path: PathBuf,
    pub kind: LinkKind,
    /// What the link leads to.
    pub program: PathBuf,
    pub reach: LinkReach,
}

/// How the program got its other name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    Symbolic,
    Hard,
    Copy,
}

/// What a shell starts by the name of the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkReach {
    Link,
    /// The folder is not in PATH.
    NotOnPath,
    /// Another file, which comes earlier in PATH.
    Other(PathBuf),
}

/// Creates the link.
pub fn run(environment: &Environment, request: &LinkRequest) -> Result<LinkOutcome, Diagnostics> {
    let program = std::env::current_exe().and_then(dunce::canonicalize);
    let program = program.map_err(|e| failure(format!("The path of this program is not known: {}.", reason(&e))))?;
    create_link(request, &program, environment.get(PATH).unwrap_or_default())
}

/// Where the program will be after an upgrade, too: package managers that keep a folder per version have a link to the newest one in PATH.
fn lasting_place(program: &Path, search_path: &str) -> PathBuf {
    let found = program::find(TERRANE_COMMAND, search_path).filter(|found| found.is_absolute());
    found.filter(|found| leads_to(found, program)).unwrap_or_else(|| program.to_owned())
}

fn failure(detail: String) -> Diagnostics {
    Diagnostic::error("Failed to create a link", detail).into()
}

/// Creates a link to this program.
fn create_link(request: &LinkRequest, program: &Path, search_path: &str) -> Result<LinkOutcome, Diagnostics> {
    let LinkRequest { name, folder, force } = request;
    let failed = |e: io::Error| failure(format!("{e}."));
    let real_folder = dunce::canonicalize(folder).map_err(|e| failed(named(e, "open", folder)))?;
    if !real_folder.is_dir() {
        return Err(failure(format!("{} is not a folder.", folder.display())));
    }
    let path = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    check_place(&path, program, *force)?;
    let target = lasting_place(program, search_path);
    let kind = replace_file(&path, &target).map_err(|e| failed(named(e, "create", &path)))?;
    let reach = reach_of(name, &real_folder, search_path);
    Ok(LinkOutcome { path, kind, program: target, reach })
}

/// The place of the link is free, or has something that may be replaced.
fn check_place(path: &Path, program: &Path, force: bool) -> Result<(), Diagnostics> {
    let shown = path.display();
    let existing = match fs::symlink_metadata(path) {
        Ok(existing) => existing,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(failure(format!("{}.", named(e, "stat", path)))),
    };
    if existing.is_dir() {
        return Err(failure(format!("{shown} is a folder.")));
    }
    if !existing.is_symlink() && leads_to(path, program) {
        return Err(failure(format!("{shown} is this program itself.")));
    }
    if force || is_own(path, program, &existing) {
        return Ok(());
    }
    Err(failure(format!(
        "{shown} exists and is not a link to {TERRANE}. If it belongs to a package, remove the package or choose another folder. To \
         replace the file, add -force."
    )))
}

/// Whether a file was made by this command: a link to this program, or to one of the same name, such as an older version that is no
/// longer there; or a copy of this program.
fn is_own(path: &Path, program: &Path, existing: &fs::Metadata) -> bool {
    if !existing.is_symlink() {
        let has_size = fs::metadata(program).is_ok_and(|program| program.len() == existing.len());
        return has_size && matches!((fs::read(path), fs::read(program)), (Ok(a), Ok(b)) if a == b);
    }
    let named_so = |target: PathBuf| {
        target.file_name().is_some_and(|name| *name == *format!("{TERRANE_COMMAND}{}", std::env::consts::EXE_SUFFIX))
    };
    fs::read_link(path).is_ok_and(named_so) || leads_to(path, program)
}

fn leads_to(path: &Path, program: &Path) -> bool {
    dunce::canonicalize(path).is_ok_and(|real| real == program)
}

/// Creates the link under a temporary name and renames it, so that the name is never missing.
fn replace_file(path: &Path, program: &Path) -> io::Result<LinkKind> {
    let folder = atomic::directory_of(path);
    let mut builder = tempfile::Builder::new();
    let temporary = builder.prefix(".terrane-").suffix(".tmp").make_in(folder, |path| create_at(path, program))?;
    let kind = *temporary.as_file();
    temporary.into_temp_path().persist(path).map_err(|e| e.error)?;
    atomic::sync_directory(folder)?;
    Ok(kind)
}

#[cfg(unix)]
fn create_at(path: &Path, program: &Path) -> io::Result<LinkKind> {
    std::os::unix::fs::symlink(program, path).map(|()| LinkKind::Symbolic)
}

/// Symbolic links need a right that users of Windows do not have by default; hard links work on the same volume only.
#[cfg(not(unix))]
fn create_at(path: &Path, program: &Path) -> io::Result<LinkKind> {
    match fs::hard_link(program, path) {
        Ok(()) => Ok(LinkKind::Hard),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(e),
        Err(_) => fs::copy(program, path).map(|_| LinkKind::Copy),
    }
}

/// What a shell finds by the name.
fn reach_of(name: &str, folder: &Path, search_path: &str) -> LinkReach {
    let is_folder = |dir: &Path| dunce::canonicalize(dir).is_ok_and(|dir| dir == folder);
    match program::find(name, search_path) {
        Some(first) if first.parent().is_some_and(is_folder) => LinkReach::Link,
        Some(first) if std::env::split_paths(search_path).any(|dir| is_folder(&dir)) => LinkReach::Other(first),
        _ => LinkReach::NotOnPath,
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder with a program and a folder `bin`.
    fn folder() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().canonicalize().unwrap().join("terrane");
        fs::write(&program, "program").unwrap();
        fs::create_dir(dir.path().join("bin")).unwrap();
        (dir, program)
    }

    fn request(dir: &tempfile::TempDir, force: bool) -> LinkRequest {
        LinkRequest { name: "tofu".to_owned(), folder: dir.path().join("bin"), force }
    }

    fn detail(refused: Result<LinkOutcome, Diagnostics>) -> String {
        refused.unwrap_err().iter().map(|problem| problem.detail.clone()).collect()
    }

    type Prepare = fn(&Path, &Path);

    #[test]
    fn links_to_the_program_are_replaced_and_other_files_by_force_only() {
        let cases: [(&str, Prepare, bool); 8] = [
            ("nothing", |_, _| {}, true),
            ("a link to the program", |path, program| symlink(program, path).unwrap(), true),
            ("a relative link", |path, _| symlink("../terrane", path).unwrap(), true),
            ("a link to a version that is gone", |path, _| symlink("/gone/terrane", path).unwrap(), true),
            ("a copy of the program", |path, _| fs::write(path, "program").unwrap(), true),
            ("a link to another program", |path, _| symlink("/gone/tofu", path).unwrap(), false),
            ("another program", |path, _| fs::write(path, "another").unwrap(), false),
            ("another size", |path, _| fs::write(path, "").unwrap(), false),
        ];
        for (what, prepare, is_replaced) in cases {
            let (dir, program) = folder();
            let path = dir.path().join("bin/tofu");
            prepare(&path, &program);
            let made = create_link(&request(&dir, false), &program, "");
            assert_eq!(made.is_ok(), is_replaced, "{what}: {made:?}");
            if !is_replaced {
                assert!(detail(made).contains(&format!("bin/tofu exists and is not a link to {TERRANE}. If it")));
            }
            let made = create_link(&request(&dir, true), &program, "").unwrap();
            let expected =
                LinkOutcome { path: path.clone(), kind: LinkKind::Symbolic, program, reach: LinkReach::NotOnPath };
            assert_eq!(made, expected, "{what}");
            assert_eq!(fs::read_link(&path).unwrap(), made.program, "{what}");
            assert_eq!(fs::read_dir(dir.path().join("bin")).unwrap().count(), 1, "{what}");
        }
    }

    #[test]
    fn folders_and_the_program_itself_are_never_replaced() {
        let (dir, program) = folder();
        let path = dir.path().join("bin/tofu");
        fs::create_dir(&path).unwrap();
        assert!(detail(create_link(&request(&dir, true), &program, "")).ends_with("bin/tofu is a folder."));
        let itself = dir.path().canonicalize().unwrap().join("tofu");
        fs::write(&itself, "program").unwrap();
        let in_place = LinkRequest { folder: dir.path().to_owned(), ..request(&dir, true) };
        assert!(detail(create_link(&in_place, &itself, "")).ends_with("tofu is this program itself."));
        assert_eq!(fs::read_to_string(&itself).unwrap(), "program");
    }

    #[test]
    fn links_lead_to_the_place_that_lasts() {
        let (dir, program) = folder();
        let (bin, newest) = (dir.path().join("bin"), dir.path().join("newest"));
        fs::create_dir(&newest).unwrap();
        let made = |search_path: &Path| create_link(&request(&dir, true), &program, search_path.to_str().unwrap());
        fs::write(newest.join("terrane"), "another").unwrap();
        assert_eq!(made(&newest).unwrap().program, program);
        fs::remove_file(newest.join("terrane")).unwrap();
        symlink(&program, newest.join("terrane")).unwrap();
        assert_eq!(made(&newest).unwrap().program, newest.join("terrane"));
        assert_eq!(fs::read_link(bin.join("tofu")).unwrap(), newest.join("terrane"));
    }

    #[test]
    fn the_folder_must_exist() {
        let (dir, program) = folder();
        let gone = LinkRequest { folder: dir.path().join("gone"), ..request(&dir, false) };
        let expected = format!("open {}: no such file or directory.", gone.folder.display());
        assert_eq!(detail(create_link(&gone, &program, "")), expected);
        let file = LinkRequest { folder: program.clone(), ..request(&dir, false) };
        assert_eq!(detail(create_link(&file, &program, "")), format!("{} is not a folder.", program.display()));
    }

    #[test]
    fn reach_follows_the_search_path() {
        let (dir, program) = folder();
        let (bin, other, alias) = (dir.path().join("bin"), dir.path().join("other"), dir.path().join("alias"));
        fs::create_dir(&other).unwrap();
        fs::write(other.join("tofu"), "another").unwrap();
        symlink(&bin, &alias).unwrap();
        let another = LinkReach::Other(other.join("tofu"));
        let cases: [(&[&Path], LinkReach); 6] = [
            (&[], LinkReach::NotOnPath),
            (&[&other], LinkReach::NotOnPath),
            (&[&bin], LinkReach::Link),
            (&[&bin, &other], LinkReach::Link),
            (&[&alias], LinkReach::Link),
            (&[&other, &bin], another),
        ];
        for (folders, expected) in cases {
            let search_path = std::env::join_paths(folders).unwrap();
            let made = create_link(&request(&dir, true), &program, search_path.to_str().unwrap()).unwrap();
            assert_eq!(made.reach, expected, "{folders:?}");
        }
    }
}
