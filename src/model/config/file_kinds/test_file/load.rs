//! Finding and reading test files, and loading the modules that their runs test.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::files::ConfigFiles;
use base::source::SourceFile;

use super::{DEFAULT_DIR, TestFile, TestProvider, decode, mock, providers};
use crate::addr;
use crate::config::blocks::module_call::ModuleCall;
use crate::config::files::file_set::{self, EndingPair};
use crate::config::files::load::{ModuleRequest, ModuleSite, Resolver};
use crate::config::module::Config;
use crate::opentofu;

const ENDINGS: [EndingPair; 2] = [
    EndingPair { terraform: ".tftest.hcl", opentofu: ".tofutest.hcl" },
    EndingPair { terraform: ".tftest.json", opentofu: ".tofutest.json" },
];

/// Folders of tests nested deeper than this are an error: a link probably leads to a folder above itself.
const MAX_DEPTH: usize = 16;

/// Test files, each with what is wrong with it.
pub type ReadFiles = Vec<(TestFile, Diagnostics)>;

/// The test files of a root module: those in its folder and in one below it.
pub fn read(root: &Path, test_dir: &str, files: &dyn ConfigFiles) -> (Vec<TestFile>, Diagnostics) {
    let (each, mut diags) = read_each(root, test_dir, files);
    let mut all = Vec::with_capacity(each.len());
    for (file, problems) in each {
        diags.extend(problems);
        all.push(file);
    }
    (all, diags)
}

/// As [`read`], with the problems of each file beside it, and those of none.
pub fn read_each(root: &Path, test_dir: &str, files: &dyn ConfigFiles) -> (ReadFiles, Diagnostics) {
    read_found(root, |diags| find(root, test_dir, Depth::Folder, files, diags), files)
}

/// As [`read_each`], also the test files in all folders below that of the tests, without those of modules and hidden ones.
pub fn read_below(root: &Path, test_dir: &str, files: &dyn ConfigFiles) -> (ReadFiles, Diagnostics) {
    read_found(root, |diags| find(root, test_dir, Depth::Below, files, diags), files)
}

fn read_found(
    root: &Path,
    find: impl FnOnce(&mut Diagnostics) -> Option<Vec<PathBuf>>,
    files: &dyn ConfigFiles,
) -> (ReadFiles, Diagnostics) {
    let mut diags = Diagnostics::new();
    let paths = find(&mut diags).unwrap_or_default();
    (paths.iter().map(|path| read_one(root, path, files)).collect(), diags)
}

/// One test file; without its content, if it cannot be read.
fn read_one(root: &Path, path: &Path, files: &dyn ConfigFiles) -> (TestFile, Diagnostics) {
    let mut diags = Diagnostics::new();
    let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    let file = match file_set::load(path, files, &mut diags) {
        Some(body) => decode(&name, &body, &mut diags),
        None => TestFile { name, ..TestFile::default() },
    };
    (file, diags)
}

/// Whether a text is one of a test file, by the name of the file.
pub fn is_test_file(file: &SourceFile) -> bool {
    ENDINGS.iter().any(|ending| file.name().ends_with(ending.terraform) || file.name().ends_with(ending.opentofu))
}

/// Whether there are test files.
pub fn exist(root: &Path, test_dir: &str, files: &dyn ConfigFiles) -> bool {
    let found = find(root, test_dir, Depth::Folder, files, &mut Diagnostics::new());
    found.is_some_and(|paths| !paths.is_empty())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Folder,
    /// With the folders in it.
    Below,
}

/// None if there is a test folder that cannot be read.
fn find(
    root: &Path,
    test_dir: &str,
    depth: Depth,
    files: &dyn ConfigFiles,
    diags: &mut Diagnostics,
) -> Option<Vec<PathBuf>> {
    let dir = beside(root, test_dir.trim_start_matches('/'));
    let mut paths = Vec::new();
    match list(&dir, files) {
        Ok(entries) => {
            paths = entries.tests;
            if depth == Depth::Below
                && let Err(problem) = add_below(&entries.folders, 1, files, &mut paths)
            {
                diags.push(problem);
                return None;
            }
        }
        Err(e) if e.kind() == ErrorKind::NotFound => {
            if test_dir != DEFAULT_DIR {
                let detail = format!("Requested test directory {} does not exist.", dir.display());
                diags.warning("Test directory does not exist", detail);
            }
        }
        Err(e) => {
            diags.push(unreadable(&dir, &e));
            return None;
        }
    }
    for path in list(root, files).map(|entries| entries.tests).unwrap_or_default() {
        // The folder of the tests may be that of the root.
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    Some(paths)
}

/// The entry of a folder, relative to where the folder is named.
fn beside(dir: &Path, name: &str) -> PathBuf {
    if dir == Path::new(".") { PathBuf::from(name) } else { dir.join(name) }
}

struct Entries {
    tests: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

fn list(dir: &Path, files: &dyn ConfigFiles) -> io::Result<Entries> {
    let choice = opentofu::file_choice(files.dialect());
    let entries = files.list(dir)?;
    let names: BTreeSet<&str> = entries.iter().filter(|e| !e.is_dir).map(|e| &*e.name).collect();
    let is_read = |name: &&&str| !file_set::is_ignored(name) && file_set::is_read(name, &names, &ENDINGS, choice);
    let tests = names.iter().filter(is_read).map(|name| beside(dir, name)).collect();
    let folders = entries.iter().filter(|entry| entry.is_dir && !file_set::is_ignored(&entry.name));
    Ok(Entries { tests, folders: folders.map(|entry| beside(dir, &entry.name)).collect() })
}

/// Adds the test files in folders and below them. The tests of a module are its own.
fn add_below(
    folders: &[PathBuf],
    depth: usize,
    files: &dyn ConfigFiles,
    paths: &mut Vec<PathBuf>,
) -> Result<(), Diagnostic> {
    for dir in folders.iter().filter(|dir| !file_set::has_configuration(dir, files)) {
        if depth > MAX_DEPTH {
            let detail = format!("The folder {} is more than {MAX_DEPTH} levels below the tests.", dir.display());
            return Err(Diagnostic::error("Test folders nested too deep", detail));
        }
        let entries = list(dir, files).map_err(|e| unreadable(dir, &e))?;
        paths.extend(entries.tests);
        add_below(&entries.folders, depth + 1, files, paths)?;
    }
    Ok(())
}

fn unreadable(dir: &Path, why: &io::Error) -> Diagnostic {
    let detail = format!("Test directory {} could not be read: {why}.", dir.display());
    Diagnostic::error("Failed to read test directory", detail)
}

/// Loads a configuration by its folder.
pub type Loader<'a> = dyn Fn(&Path, &Resolver<'_>) -> (Option<Config>, Diagnostics) + 'a;

/// Links every file as [`link_file`] does. What is wrong with a module that several runs test is reported once.
pub fn link(
    tests: &mut [TestFile],
    root: &Config,
    files: &dyn ConfigFiles,
    resolver: &Resolver<'_>,
    loader: &Loader<'_>,
) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let mut linking = Linking { root, files, resolver, loader, known: Vec::new() };
    tests.iter_mut().for_each(|file| linking.complete(file, &mut diags));
    tests.iter().for_each(|file| providers::check(file, &root.root, &mut diags));
    diags
}

/// Links every file that has no errors as [`link_file`] does. What is wrong with a file is added to its own problems.
pub fn link_each(
    tests: &mut [(TestFile, Diagnostics)],
    root: &Config,
    files: &dyn ConfigFiles,
    resolver: &Resolver<'_>,
    loader: &Loader<'_>,
) {
    let mut linking = Linking { root, files, resolver, loader, known: Vec::new() };
    for (file, problems) in tests.iter_mut().filter(|(_, problems)| !problems.has_errors()) {
        linking.complete(file, problems);
        providers::check(file, &root.root, problems);
    }
}

/// Reads the mock data that a file names and loads what its runs test instead of the root module, then checks that the file's providers
/// fit. The modules of runs have places of their own among the installed ones: `test.FOLDER.FILE.RUN`.
pub fn link_file(
    file: &mut TestFile,
    root: &Config,
    files: &dyn ConfigFiles,
    resolver: &Resolver<'_>,
    loader: &Loader<'_>,
) -> Diagnostics {
    link(std::slice::from_mut(file), root, files, resolver, loader)
}

/// The work of linking test files with what they name.
struct Linking<'a> {
    root: &'a Config,
    files: &'a dyn ConfigFiles,
    resolver: &'a Resolver<'a>,
    loader: &'a Loader<'a>,
    /// Configurations without problems that other runs may test too, by their folders.
    known: Vec<(PathBuf, Config)>,
}

impl Linking<'_> {
    fn complete(&mut self, file: &mut TestFile, diags: &mut Diagnostics) {
        let language = file.mock_language();
        for provider in file.providers.values_mut() {
            if let TestProvider::Mock(mock) = provider {
                mock::add_shared_data(mock, language, self.files, diags);
            }
        }
        if let Some(context) = &self.root.root.static_context {
            diags.extend(file.expand_providers(context));
        }
        let parent = module_parent(&file.name);
        for run in &mut file.runs {
            let Some(call) = &run.module else { continue };
            let path = parent.child(&run.name);
            let request = ModuleRequest { path: &path, parent_dir: &self.root.root.dir, call };
            match (self.resolver)(&request) {
                Ok(site) => run.under_test = self.load(&path, site, diags),
                Err(problem) => diags.push(problem),
            }
        }
    }

    /// The configuration that a run tests, by its place among the installed modules. The one of an earlier run if it is the same: then
    /// everything in it is local, so that all of its modules are in the same folders.
    fn load(&mut self, path: &addr::Module, site: ModuleSite, diags: &mut Diagnostics) -> Option<Config> {
        if let Some((_, known)) = self.known.iter().find(|(dir, _)| *dir == site.dir) {
            return Some(known.clone());
        }
        let is_local = Cell::new(true);
        let resolver = self.resolver;
        let below = |request: &ModuleRequest| {
            let path: Vec<_> = path.0.iter().chain(request.path.0.iter()).cloned().collect();
            let site = resolver(&ModuleRequest { path: &path.into(), ..*request });
            let is_beside = site.as_ref().is_ok_and(|site| site.version.is_none() && site.unreadable.is_some());
            is_local.set(is_local.get() && is_beside);
            site
        };
        let (config, problems) = (self.loader)(&site.dir, &below);
        if let Some(config) = config.as_ref().filter(|_| problems.is_empty() && is_local.get()) {
            self.known.push((site.dir, config.clone()));
        }
        let unreadable = site.unreadable.filter(|_| config.is_none());
        diags.extend_new(unreadable.map_or(problems, Diagnostics::from));
        config
    }
}

/// The calls of modules that are tested instead of the root, each with the place of its caller among installed modules.
pub fn calls(tests: &[TestFile]) -> Vec<(addr::Module, ModuleCall)> {
    let of_file = |file: &TestFile| {
        let parent = module_parent(&file.name);
        file.runs.iter().filter_map(move |run| Some((parent.clone(), run.module.clone()?))).collect::<Vec<_>>()
    };
    tests.iter().flat_map(of_file).collect()
}

/// Where among the installed modules those of a file's runs are.
fn module_parent(file: &str) -> addr::Module {
    let stem = ENDINGS[0].stem(file).unwrap_or(file);
    let folders = stem.split(std::path::is_separator).map(Arc::from);
    std::iter::once(Arc::from("test")).chain(folders).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use base::dialect::Dialect;
    use base::files::{Memory, WrittenIn, slashed};

    use super::*;
    use crate::config::{NoInputs, load as load_config, manifest_resolver};
    use crate::deps::module_manifest::ModuleManifest;

    fn found(names: &[&str], dialect: Dialect, test_dir: &str, depth: Depth) -> Result<String, String> {
        let memory = Memory::of(names.iter().map(|name| (*name, "")));
        let mut diags = Diagnostics::new();
        let paths = find(Path::new("."), test_dir, depth, &WrittenIn(dialect, memory), &mut diags);
        let paths = paths.ok_or_else(|| diags.iter().map(|problem| problem.summary.clone()).collect::<String>())?;
        let paths: Vec<_> = paths.iter().map(|path| slashed(path)).collect();
        Ok(paths.join(" "))
    }

    #[test]
    fn the_dialect_decides_on_test_files_of_opentofu() {
        let names =
            ["a.tftest.hcl", "a.tofutest.hcl", "b.tofutest.hcl", "tests/c.tftest.json", "tests/c.tofutest.json"];
        let check = |dialect, expected: &str| {
            let found = found(&names, dialect, DEFAULT_DIR, Depth::Folder);
            assert_eq!(found.as_deref(), Ok(expected), "{dialect:?}");
        };
        check(Dialect::Terrane, "tests/c.tftest.json a.tftest.hcl b.tofutest.hcl");
        check(Dialect::Terraform, "tests/c.tftest.json a.tftest.hcl");
        check(Dialect::OpenTofu, "tests/c.tofutest.json a.tofutest.hcl b.tofutest.hcl");
    }

    #[test]
    fn folders_below_the_tests_are_read_on_request() {
        let names = [
            "r.tftest.hcl",
            "tests/a.tftest.hcl",
            "tests/b/c.tftest.hcl",
            "tests/b/d/e.tftest.json",
            "tests/module/main.tf",
            "tests/module/tests/own.tftest.hcl",
            "tests/.hidden/f.tftest.hcl",
        ];
        let deep = format!("tests/{}x.tftest.hcl", "d/".repeat(MAX_DEPTH + 1));
        let cases: [(&[&str], &str, Depth, Result<&str, &str>); 4] = [
            (&names, DEFAULT_DIR, Depth::Folder, Ok("tests/a.tftest.hcl r.tftest.hcl")),
            (
                &names,
                DEFAULT_DIR,
                Depth::Below,
                Ok("tests/a.tftest.hcl tests/b/c.tftest.hcl tests/b/d/e.tftest.json r.tftest.hcl"),
            ),
            (&names, ".", Depth::Folder, Ok("r.tftest.hcl")),
            (&[deep.as_str()], DEFAULT_DIR, Depth::Below, Err("Test folders nested too deep")),
        ];
        for (names, dir, depth, expected) in cases {
            let found = found(names, Dialect::Terrane, dir, depth);
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{dir} {}", depth == Depth::Below);
        }
    }

    #[test]
    fn problems_stand_beside_their_files() {
        let files =
            Memory::of([("a.tftest.hcl", "run \"a\" {}"), ("b.tftest.hcl", "run {"), ("c.tftest.hcl", "x = 1")]);
        let (each, diags) = read_each(Path::new("."), "nowhere", &files);
        let each: Vec<_> =
            each.iter().map(|(file, diags)| (&*file.name, file.runs.len(), diags.has_errors())).collect();
        assert_eq!(each, [("a.tftest.hcl", 1, false), ("b.tftest.hcl", 0, true), ("c.tftest.hcl", 0, true)]);
        assert_eq!(diags.len(), 1, "{diags:?}");
        let (below, _) = read_below(Path::new("."), DEFAULT_DIR, &files);
        assert_eq!(below.len(), 3);
    }

    #[test]
    fn local_modules_are_loaded_once() {
        let run = |name: &str| format!("run {name:?} {{\n  module {{\n    source = \"./m\"\n  }}\n}}\n");
        let (a, b) = (run("a") + &run("b"), run("c"));
        let files = Memory::of([
            ("main.tf", ""),
            ("m/main.tf", ""),
            ("a.tftest.hcl", a.as_str()),
            ("b.tftest.hcl", b.as_str()),
            ("c.tftest.hcl", "run {"),
        ]);
        let manifest = ModuleManifest::default();
        let resolver = manifest_resolver(&manifest);
        let loads = Cell::new(0);
        let load = |dir: &Path, resolver: &Resolver<'_>| {
            loads.set(loads.get() + 1);
            load_config(dir, &files, resolver, std::sync::Arc::new(NoInputs))
        };
        let (config, problems) = load(Path::new("."), &resolver);
        assert!(problems.is_empty(), "{problems:?}");
        let (mut each, _) = read_each(Path::new("."), DEFAULT_DIR, &files);
        link_each(&mut each, &config.unwrap(), &files, &resolver, &load);
        assert_eq!(loads.get(), 2);
        let tested: Vec<Config> =
            each.iter().flat_map(|(file, _)| &file.runs).filter_map(|run| run.under_test.clone()).collect();
        assert_eq!(tested.len(), 3);
        assert!(tested.iter().all(|config| std::sync::Arc::ptr_eq(&config.root, &tested[0].root)));
        assert_eq!(each.iter().map(|(_, problems)| problems.has_errors()).collect::<Vec<_>>(), [false, false, true]);
    }
}
