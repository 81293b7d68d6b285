//! Finding and reading test files, and loading the modules that their runs test.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::Diagnostics;
use base::files::ConfigFiles;

use super::{DEFAULT_DIR, TestFile, TestProvider, decode, mock, providers};
use crate::addr;
use crate::config::blocks::module_call::ModuleCall;
use crate::config::files::file_set::{self, EndingPair};
use crate::config::files::load::{ModuleRequest, Resolver};
use crate::config::module::Config;
use crate::opentofu;

const ENDINGS: [EndingPair; 2] = [
    EndingPair { terraform: ".tftest.hcl", opentofu: ".tofutest.hcl" },
    EndingPair { terraform: ".tftest.json", opentofu: ".tofutest.json" },
];

/// The test files of a root module: those in its folder and in one below it.
pub fn read(root: &Path, test_dir: &str, files: &dyn ConfigFiles) -> (Vec<TestFile>, Diagnostics) {
    let mut diags = Diagnostics::new();
    let Some(paths) = find(root, test_dir, files, &mut diags) else { return (Vec::new(), diags) };
    let mut all = Vec::with_capacity(paths.len());
    for path in paths {
        let Some(body) = file_set::load(&path, files, &mut diags) else { continue };
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        all.push(decode(&name, &body, &mut diags));
    }
    (all, diags)
}

/// Whether there are test files.
pub fn exist(root: &Path, test_dir: &str, files: &dyn ConfigFiles) -> bool {
    let found = find(root, test_dir, files, &mut Diagnostics::new());
    found.is_some_and(|paths| !paths.is_empty())
}

/// None if there is a test folder that cannot be read.
fn find(root: &Path, test_dir: &str, files: &dyn ConfigFiles, diags: &mut Diagnostics) -> Option<Vec<PathBuf>> {
    let beside = |dir: &Path, name: &str| if dir == Path::new(".") { PathBuf::from(name) } else { dir.join(name) };
    let choice = opentofu::file_choice(files.dialect());
    let list = |dir: &Path| {
        let entries = files.list(dir)?;
        let names: BTreeSet<&str> = entries.iter().filter(|e| !e.is_dir).map(|e| &*e.name).collect();
        let is_read = |name: &&&str| !file_set::is_ignored(name) && file_set::is_read(name, &names, &ENDINGS, choice);
        Ok::<_, std::io::Error>(names.iter().filter(is_read).map(|name| beside(dir, name)).collect::<Vec<_>>())
    };
    let dir = beside(root, test_dir.trim_start_matches('/'));
    let mut paths = match list(&dir) {
        Ok(paths) => paths,
        Err(e) if e.kind() == ErrorKind::NotFound => {
            if test_dir != DEFAULT_DIR {
                let detail = format!("Requested test directory {} does not exist.", dir.display());
                diags.warning("Test directory does not exist", detail);
            }
            Vec::new()
        }
        Err(e) => {
            let detail = format!("Test directory {} could not be read: {e}.", dir.display());
            diags.error("Failed to read test directory", detail);
            return None;
        }
    };
    paths.extend(list(root).unwrap_or_default());
    Some(paths)
}

/// Loads a configuration by its folder.
pub type Loader<'a> = dyn Fn(&Path, &Resolver<'_>) -> (Option<Config>, Diagnostics) + 'a;

/// Reads the mock data that files name and loads what runs test instead of the root module, then checks that each file's providers fit. The modules of runs
/// have places of their own among the installed ones: `test.FOLDER.FILE.RUN`.
pub fn link(
    tests: &mut [TestFile],
    root: &Config,
    files: &dyn ConfigFiles,
    resolver: &Resolver<'_>,
    loader: &Loader<'_>,
) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for file in &mut *tests {
        for provider in file.providers.values_mut() {
            if let TestProvider::Mock(mock) = provider {
                mock::add_shared_data(mock, files, &mut diags);
            }
        }
        let name = file.name.clone();
        for run in &mut file.runs {
            let Some(call) = &run.module else { continue };
            let path = module_parent(&name).child(&run.name);
            let request = ModuleRequest { path: &path, parent_dir: &root.root.dir, call };
            let site = match resolver(&request) {
                Ok(site) => site,
                Err(problem) => {
                    diags.push(problem);
                    continue;
                }
            };
            let below = |request: &ModuleRequest| {
                let path: Vec<_> = path.0.iter().chain(request.path.0.iter()).cloned().collect();
                resolver(&ModuleRequest { path: &path.into(), ..*request })
            };
            let (config, problems) = loader(&site.dir, &below);
            let unreadable = site.unreadable.filter(|_| config.is_none());
            let problems = unreadable.map_or(problems, Diagnostics::from);
            for problem in problems {
                // Several runs may test the same module.
                if !diags.iter().any(|known| *known == problem) {
                    diags.push(problem);
                }
            }
            run.under_test = config;
        }
    }
    tests.iter().for_each(|file| providers::check(file, &root.root, &mut diags));
    diags
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
    let folders = stem.split('/').map(Arc::from);
    std::iter::once(Arc::from("test")).chain(folders).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use base::dialect::Dialect;
    use base::files::{Memory, WrittenIn};

    use super::*;

    #[test]
    fn the_dialect_decides_on_test_files_of_opentofu() {
        let names =
            ["a.tftest.hcl", "a.tofutest.hcl", "b.tofutest.hcl", "tests/c.tftest.json", "tests/c.tofutest.json"];
        let memory = Memory::of(names.map(|name| (name, "")));
        let check = |dialect, expected: &str| {
            let mut diags = Diagnostics::new();
            let paths = find(Path::new("."), DEFAULT_DIR, &WrittenIn(dialect, memory.clone()), &mut diags).unwrap();
            let found: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
            assert_eq!(found.join(" "), expected, "{dialect:?}");
        };
        check(Dialect::Terrane, "tests/c.tftest.json a.tftest.hcl b.tofutest.hcl");
        check(Dialect::Terraform, "tests/c.tftest.json a.tftest.hcl");
        check(Dialect::OpenTofu, "tests/c.tofutest.json a.tofutest.hcl b.tofutest.hcl");
    }
}
