//! From a folder to the tree of modules.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::dialect::Dialect;
use base::files::ConfigFiles;
use base::name::{COMMAND, PROGRAM};
use lang::syntax::ast::Block;

use super::file_set::{self, FileSet};
use super::module_file::ModuleFile;
use super::{decode, merge, overrides};
use crate::addr;
use crate::config::blocks::backend::Backend;
use crate::config::blocks::module_call::{self, ModuleCall};
use crate::config::blocks::terraform::TerraformBlock;
use crate::config::blocks::variable::Variable;
use crate::config::constants::static_arguments;
use crate::config::constants::static_context::{StaticContext, StaticInputs};
use crate::config::file_kinds::query_file;
use crate::config::module::{Config, Module};
use crate::config::module_source::{self, ModuleSource};
use crate::config::providers::provider_check;
use crate::deps::module_manifest::ModuleManifest;
use crate::deps::{ModuleConstraints, Version};
use crate::opentofu;
use crate::version::at_least;

const NOT_INSTALLED: &str = "Module not installed";
const SOURCE_CHANGED: &str = "Module source has changed";

/// A module that is called and has to be found.
pub struct ModuleRequest<'a> {
    /// Its path in the tree.
    pub path: &'a addr::Module,
    pub parent_dir: &'a Path,
    pub call: &'a ModuleCall,
}

/// Where a module was found.
pub struct ModuleSite {
    pub dir: PathBuf,
    pub version: Option<Version>,
    /// What to say if there is no such folder.
    pub unreadable: Option<Diagnostic>,
}

pub type Resolver<'a> = dyn Fn(&ModuleRequest) -> Result<ModuleSite, Diagnostic> + 'a;

/// Loads the module of a folder and everything that it calls. Children are only looked at if the root is sound. Whether they
/// are written for this version is another question: see `check_versions`. None if there is no such folder.
pub fn load(
    root_dir: &Path,
    files: &dyn ConfigFiles,
    resolver: &Resolver<'_>,
    inputs: Arc<dyn StaticInputs>,
) -> (Option<Config>, Diagnostics) {
    load_with(RootFiles::Configuration, root_dir, files, resolver, inputs)
}

/// Which files of the root folder are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootFiles {
    Configuration,
    /// Query files too: what they declare belongs to the root module.
    WithQueries,
}

/// As [`load`], with a choice of files.
pub fn load_with(
    which: RootFiles,
    root_dir: &Path,
    files: &dyn ConfigFiles,
    resolver: &Resolver<'_>,
    inputs: Arc<dyn StaticInputs>,
) -> (Option<Config>, Diagnostics) {
    let root = load_files(root_dir, addr::Module::root(), files, which);
    let (root, mut diags) = with_backend_problems(evaluate_root(root, inputs));
    let Some(mut root) = root else { return (None, diags) };
    if diags.has_errors() {
        return (Some(Config { root: Arc::new(root) }), diags);
    }
    load_children(&mut root, files, resolver, &mut diags);
    let config = Config { root: Arc::new(root) };
    // What is wrong already may be all that is wrong with the providers.
    if !diags.has_errors() {
        provider_check::check(&config, &mut diags);
    }
    (Some(config), diags)
}

/// The warnings about what the root module passes to the modules that it calls, whatever else is wrong with it. None if one
/// of those has errors.
pub fn warnings_between_modules(
    root_dir: &Path,
    files: &dyn ConfigFiles,
    resolver: &Resolver<'_>,
    inputs: Arc<dyn StaticInputs>,
) -> Diagnostics {
    let (Some(mut root), ..) = load_root_and_backend(root_dir, files, inputs) else { return Diagnostics::new() };
    let mut diags = Diagnostics::new();
    load_children(&mut root, files, resolver, &mut diags);
    if diags.has_errors() {
        return Diagnostics::new();
    }
    provider_check::check(&Config { root: Arc::new(root) }, &mut diags);
    diags.into_iter().filter(|found| !found.is_error()).collect()
}

/// The root module without what it calls, with all that has to be evaluated before anything is installed.
pub fn load_root(dir: &Path, files: &dyn ConfigFiles, inputs: Arc<dyn StaticInputs>) -> (Option<Module>, Diagnostics) {
    with_backend_problems(load_root_and_backend(dir, files, inputs))
}

/// The root module; what was found in it; what is wrong with the values in its backend's block.
type Root = (Option<Module>, Diagnostics, Diagnostics);

fn with_backend_problems((root, mut diags, of_backend): Root) -> (Option<Module>, Diagnostics) {
    for problem in of_backend {
        // A variable without a value is missed once.
        if problem.kind != Kind::MissingValue || !diags.iter().any(|before| before.subject == problem.subject) {
            diags.push(problem);
        }
    }
    (root, diags)
}

/// As [`load_root`]; what is wrong with the values in the backend's block comes by itself.
pub fn load_root_and_backend(dir: &Path, files: &dyn ConfigFiles, inputs: Arc<dyn StaticInputs>) -> Root {
    evaluate_root(load_module(dir, addr::Module::root(), files), inputs)
}

fn evaluate_root((root, mut diags): (Option<Module>, Diagnostics), inputs: Arc<dyn StaticInputs>) -> Root {
    let mut of_backend = Diagnostics::new();
    let Some(mut root) = root else { return (None, diags, of_backend) };
    if !diags.has_errors() {
        let context = StaticContext::root(root.static_names(), inputs);
        static_arguments::evaluate_backend(&mut root, &context, &mut of_backend);
        static_arguments::evaluate_static_arguments(&mut root, context, &mut diags);
    }
    (Some(root), diags, of_backend)
}

/// The root module as far as its backend needs it: nothing else is evaluated.
pub fn load_for_backend(
    dir: &Path,
    files: &dyn ConfigFiles,
    inputs: Arc<dyn StaticInputs>,
) -> (Option<Module>, Diagnostics) {
    let (root, mut diags) = load_module(dir, addr::Module::root(), files);
    let Some(mut root) = root else { return (None, diags) };
    if !diags.has_errors() {
        let context = StaticContext::root(root.static_names(), inputs);
        static_arguments::evaluate_backend(&mut root, &context, &mut diags);
    }
    (Some(root), diags)
}

/// One module without what it calls. None if there is no such folder.
pub fn load_module(dir: &Path, path: addr::Module, files: &dyn ConfigFiles) -> (Option<Module>, Diagnostics) {
    load_files(dir, path, files, RootFiles::Configuration)
}

fn load_files(
    dir: &Path,
    path: addr::Module,
    files: &dyn ConfigFiles,
    which: RootFiles,
) -> (Option<Module>, Diagnostics) {
    let (set, mut diags) = file_set::find(dir, files);
    let Some(set) = set else { return (None, diags) };
    let mut decoded = Vec::with_capacity(set.primary.len());
    let mut overriding = Vec::new();
    if set.overrides.is_empty() {
        for path in &set.primary {
            let blocks = read_blocks(path, files, &mut diags);
            decoded.push(decode::decode(&blocks, &mut diags));
        }
    } else {
        (decoded, overriding) = load_overridden(&set, files, &mut diags);
    }
    if which == RootFiles::WithQueries {
        decoded.extend(query_file::read(dir, files, &mut diags));
    }
    let module = merge::merge(decoded, overriding, Module { path, ..no_module(files.dialect(), dir) }, &mut diags);
    (Some(module), diags)
}

/// The primary files with the overrides on top, and the `terraform` blocks of each override file.
fn load_overridden(
    set: &FileSet,
    files: &dyn ConfigFiles,
    diags: &mut Diagnostics,
) -> (Vec<ModuleFile>, Vec<Vec<TerraformBlock>>) {
    let mut primary: Vec<_> = set.primary.iter().map(|path| read_blocks(path, files, diags)).collect();
    let mut variables: Vec<_> = primary.iter().map(|blocks| decode::decode(blocks, diags).variables).collect();
    let mut overriding = Vec::new();
    let mut problems = Diagnostics::new();
    for path in &set.overrides {
        let blocks = read_blocks(path, files, diags);
        overriding.push(overrides::apply(&mut primary, &mut variables, &blocks, &mut problems));
    }
    diags.extend(problems);
    let mut of_merged = Diagnostics::new();
    let merge = |(blocks, variables): (&Vec<Block>, Vec<Variable>)| {
        let file = decode::decode(blocks, &mut of_merged);
        ModuleFile { variables, ..file }
    };
    let decoded = primary.iter().zip(variables).map(merge).collect();
    // Each block was checked by itself: all other errors must be kept.
    if !diags.has_errors() {
        diags.extend(of_merged.into_iter().filter(Diagnostic::is_error));
    }
    (decoded, overriding)
}

/// The blocks of one file; what is wrong with it is reported.
fn read_blocks(path: &Path, files: &dyn ConfigFiles, diags: &mut Diagnostics) -> Vec<Block> {
    file_set::load(path, files, diags).map(|body| decode::blocks(&body, diags)).unwrap_or_default()
}

/// The module of a folder without any files.
pub fn no_module(dialect: Dialect, dir: &Path) -> Module {
    Module { dialect, dir: dir.to_owned(), ..Module::default() }
}

/// Deep trees of calls are errors; the same folder again on its own path is a loop.
const MAX_DEPTH: usize = 64;

fn load_children(module: &mut Module, files: &dyn ConfigFiles, resolver: &Resolver<'_>, diags: &mut Diagnostics) {
    let calls: Vec<ModuleCall> = module.calls.values().filter(|call| call.unevaluated.is_none()).cloned().collect();
    for call in calls {
        let path = module.path.child(&call.name);
        if path.0.len() > MAX_DEPTH {
            let detail =
                format!("Module calls are nested more than {MAX_DEPTH} levels deep; a module probably calls itself.");
            diags.push(Diagnostic::error("Module nesting too deep", detail).at(call.range.clone()));
            continue;
        }
        let request = ModuleRequest { path: &path, parent_dir: &module.dir, call: &call };
        let site = match resolver(&request) {
            Ok(site) => site,
            Err(problem) => {
                diags.push(problem);
                continue;
            }
        };
        let (child, problems) = load_module(&site.dir, path, files);
        let Some(mut child) = child else {
            diags.push(site.unreadable.unwrap_or_else(|| unreadable(&site.dir, &call)));
            continue;
        };
        child.source = call.source.clone();
        child.version = site.version;
        let sound = !problems.has_errors();
        diags.extend(problems);
        if let Some(context) = module.static_context.as_ref().filter(|_| sound) {
            let context = context.child(&call.body, child.static_names());
            static_arguments::evaluate_static_arguments(&mut child, context, diags);
        }
        if let Some(backend) =
            child.backend.as_ref().filter(|block| block.store.is_none() && (!block.is_cloud_block || at_least(13)))
        {
            diags.push(backend_ignored(backend));
        }
        load_children(&mut child, files, resolver, diags);
        if let Some(call) = module.calls.get_mut(&call.name) {
            module_call::take_newer_arguments(call, |name| child.variables.contains_key(name), diags);
        }
        module.children.insert(call.name.clone(), Arc::new(child));
    }
}

fn backend_ignored(backend: &Backend) -> Diagnostic {
    if backend.is_cloud_block {
        let detail = format!(
            "A cloud configuration block applies to the entire configuration, so {PROGRAM} expects 'cloud' blocks to only be in the root \
             module.\n\nThis is a warning rather than an error because it's sometimes convenient to temporarily call a root module as \
             a child module for testing purposes, but this cloud configuration block will have no effect."
        );
        return Diagnostic::warning("Cloud configuration ignored", detail).at(backend.range.clone());
    }
    let detail = format!(
        "Any selected backend applies to the entire configuration, so {PROGRAM} expects provider configurations only in the \
                  root module.\n\nThis is a warning rather than an error because it's sometimes convenient to temporarily call a \
                  root module as a child module for testing purposes, but this backend configuration block will have no effect."
    );
    Diagnostic::warning("Backend configuration ignored", detail).at(backend.range.clone())
}

fn unreadable(dir: &Path, call: &ModuleCall) -> Diagnostic {
    let detail = format!(
        "The directory {} could not be read for module {:?} at {}:{}.",
        dir.display(),
        &*call.name,
        call.range.filename(),
        call.range.start().line
    );
    Diagnostic::error(module_source::UNREADABLE_FOLDER, detail).at(call.source_range.clone())
}

/// Local modules are found beside their caller; others through the manifest that installing writes.
pub fn manifest_resolver(manifest: &ModuleManifest) -> impl Fn(&ModuleRequest) -> Result<ModuleSite, Diagnostic> + '_ {
    move |request| {
        let call = request.call;
        let source = module_source::parse(&call.source);
        let normal = source.as_ref().map_or_else(|_| call.source.clone(), ToString::to_string);
        if opentofu::checks_module_records(call.range.dialect()) {
            check_record(request, &normal, manifest)?;
        }
        if let Ok(ModuleSource::Local(source)) = source {
            let (dir, unreadable) = match manifest.get(request.path) {
                Some(record) if record.source == normal => (record.dir.clone(), not_there(&record.dir, call)),
                Some(record) => (module_source::join_local(request.parent_dir, &source), not_there(&record.dir, call)),
                None => (module_source::join_local(request.parent_dir, &source), not_installed(call)),
            };
            return Ok(ModuleSite { dir, version: None, unreadable: Some(unreadable) });
        }
        let again = format!("Run \"{COMMAND} init\" to install all modules required by this configuration.");
        let problem =
            |summary: &str, detail: String| Err(Diagnostic::error(summary, detail).at(call.source_range.clone()));
        let Some(record) = manifest.get(request.path) else {
            return Err(not_installed(call));
        };
        if record.source != normal {
            return problem(
                SOURCE_CHANGED,
                format!("The source address was changed since this module was installed. {again}"),
            );
        }
        if let Some((text, _)) = &call.version {
            const CHANGED: &str = "Module version requirements have changed";
            let constraints = ModuleConstraints::parse(text).unwrap_or_default();
            match &record.version {
                None => {
                    return problem(
                        CHANGED,
                        format!(
                            "The version requirements have changed since this module was installed and the installed \
                             version is no longer acceptable. {again}"
                        ),
                    );
                }
                Some(version) if !constraints.accepts_installed(version) => {
                    return problem(
                        CHANGED,
                        format!(
                            "The version requirements have changed since this module was installed and the installed \
                             version ({version}) is no longer acceptable. {again}"
                        ),
                    );
                }
                Some(_) => {}
            }
        }
        let unreadable = Some(not_there(&record.dir, call));
        Ok(ModuleSite { dir: record.dir.clone(), version: record.version.clone(), unreadable })
    }
}

/// OpenTofu has local modules installed too, and says what has changed.
fn check_record(request: &ModuleRequest<'_>, source: &str, manifest: &ModuleManifest) -> Result<(), Diagnostic> {
    let call = request.call;
    let record = manifest.get(request.path).ok_or_else(|| not_installed(call))?;
    if record.source == source {
        return Ok(());
    }
    let detail = format!(
        "The source address was changed from {:?} to {source:?} since this module was installed. Run \"{COMMAND} init\" to install \
         all modules required by this configuration.",
        record.source
    );
    Err(Diagnostic::error(SOURCE_CHANGED, detail).at(call.source_range.clone()))
}

fn not_installed(call: &ModuleCall) -> Diagnostic {
    let detail = format!(
        "This module is not yet installed. Run \"{COMMAND} init\" to install all modules required by this \
                  configuration."
    );
    Diagnostic::error(NOT_INSTALLED, detail).at(call.range.clone())
}

/// An installed module whose folder is gone.
fn not_there(dir: &Path, call: &ModuleCall) -> Diagnostic {
    let detail = format!(
        "This module's local cache directory {} could not be read. Run \"{COMMAND} init\" to install all modules required by \
         this configuration.",
        dir.display()
    );
    Diagnostic::error(NOT_INSTALLED, detail).at(call.range.clone())
}
