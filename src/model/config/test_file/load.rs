//! Finding and reading test files, and loading the modules that their runs test.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::base::diag::Diagnostics;
use crate::base::files::Files;
use crate::model::addr;
use crate::model::config::block::ModuleCall;
use crate::model::config::file_set;
use crate::model::config::load::{ModuleRequest, Resolver};
use crate::model::config::module::Config;

use super::{DEFAULT_DIR, TestFile, TestProvider, decode, mock, providers};

/// Endings of test files; those in the same place of the second list are OpenTofu's, and stand in for a file that has the
/// other ending and the same name before it.
const ENDINGS: [&str; 2] = [".tftest.hcl", ".tftest.json"];
const STRONGER: [&str; 2] = [".tofutest.hcl", ".tofutest.json"];

/// The test files of a root module: those in its folder and in one below it.
pub fn read(root: &Path, test_dir: &str, files: &dyn Files) -> (Vec<TestFile>, Diagnostics) {
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

/// None if there is a test folder that cannot be read.
fn find(root: &Path, test_dir: &str, files: &dyn Files, diags: &mut Diagnostics) -> Option<Vec<PathBuf>> {
    let beside = |dir: &Path, name: &str| if dir == Path::new(".") { PathBuf::from(name) } else { dir.join(name) };
    let list = |dir: &Path| {
        let mut names: Vec<String> = files.list(dir)?.into_iter().filter(|e| !e.is_dir).map(|e| e.name).collect();
        names.retain(|name| !file_set::is_ignored(name) && ENDINGS.iter().chain(&STRONGER).any(|e| name.ends_with(e)));
        let stronger: FxHashSet<String> = names.iter().filter_map(|name| weaker_name(name)).collect();
        names.retain(|name| !stronger.contains(name));
        Ok::<_, std::io::Error>(names.iter().map(|name| beside(dir, name)).collect::<Vec<_>>())
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

/// The file that this one stands in for, if its ending is OpenTofu's.
fn weaker_name(name: &str) -> Option<String> {
    STRONGER.iter().zip(ENDINGS).find_map(|(ending, weaker)| Some(format!("{}{weaker}", name.strip_suffix(ending)?)))
}

/// Loads a configuration by its folder.
pub type Loader<'a> = dyn Fn(&Path, &Resolver<'_>) -> (Option<Config>, Diagnostics) + 'a;

/// Reads the mock data that files name and loads what runs test instead of the root module, then checks that each file's providers fit. The modules of runs
/// have places of their own among the installed ones: `test.FOLDER.FILE.RUN`.
pub fn link(
    tests: &mut [TestFile],
    root: &Config,
    files: &dyn Files,
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
    let stem = file.strip_suffix(ENDINGS[0]).or_else(|| file.strip_suffix(STRONGER[0])).unwrap_or(file);
    let folders = stem.split('/').map(Arc::from);
    std::iter::once(Arc::from("test")).chain(folders).collect::<Vec<_>>().into()
}
