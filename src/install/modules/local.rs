//! Modules beside their caller: nothing to fetch, but to find, and to say why not.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::suggest;
use model::addr;
use model::config::module_source::{self, ModuleSource, UNREADABLE_FOLDER, leads_outside};

use super::context::{Caller, Task};
use super::folders::without_links;

impl Task {
    /// The folder of a local module.
    pub fn local(&self, path: &str) -> Result<PathBuf, Diagnostics> {
        let joined = module_source::join_local(&self.caller.dir, path);
        let problem = match without_links(&joined) {
            Ok(dir) if dir.is_dir() => return Ok(dir),
            Ok(dir) => vec![self.unreadable(&dir.display().to_string())],
            Err(e) => {
                let detail = format!("Unable to evaluate directory symlink: {e}");
                vec![Diagnostic::error(UNREADABLE_FOLDER, detail), self.unreadable("")]
            }
        };
        Err(match self.escape() {
            Some(better) => better.into(),
            None => problem.into(),
        })
    }

    fn unreadable(&self, dir: &str) -> Diagnostic {
        let (name, spot) = (&*self.call.name, self.spot());
        let detail = format!("The directory {dir} could not be read for module {name:?} at {spot}.");
        Diagnostic::error(UNREADABLE_FOLDER, detail).with_tip(self.close_folder())
    }

    /// Names the folder that does not exist, and the one beside it that was probably meant.
    fn close_folder(&self) -> String {
        let ModuleSource::Local(source) = &self.source else { return String::new() };
        let wanted = module_source::join_local(&self.caller.dir, source);
        if wanted.exists() {
            return String::new();
        }
        let found = close_folder(&wanted).map(|name| format!(" Did you mean the folder {name:?} beside it?"));
        format!("There is no folder {:?}.{}", wanted.display().to_string(), found.unwrap_or_default())
    }

    /// What to say if the path leaves the package that the caller belongs to.
    fn escape(&self) -> Option<Diagnostic> {
        let mut steps: Vec<(addr::Module, String)> = vec![(self.path.clone(), self.source.to_string())];
        let mut caller: &Arc<Caller> = &self.caller;
        let (package, folder) = loop {
            match caller.source.as_ref()? {
                ModuleSource::Local(path) => steps.push((caller.path.clone(), path.clone())),
                ModuleSource::Registry(source) => break (source.package(), source.folder.clone()),
                ModuleSource::Remote(source) => break (source.package.clone(), source.folder.clone()),
            }
            caller = caller.parent.as_ref()?;
        };
        let mut inside = folder;
        for (path, step) in steps.into_iter().rev() {
            inside = module_source::clean(format!("{inside}/{step}").trim_start_matches('/'));
            if leads_outside(&inside) {
                let shown = base::secret::redacted(&package);
                let mut detail = format!(
                    "The given source directory for {path} would be outside of its containing package {shown:?}. Local source \
                     addresses starting with \"../\" must stay within the same package that the calling module belongs to."
                );
                if package.starts_with('/') {
                    let _ = write!(
                        detail,
                        "\n\n{PROGRAM} treats absolute filesystem paths as external modules which establish a new module package. \
                         To treat this directory as part of the same package as its caller, use a local path starting with \
                         either \"./\" or \"../\".",
                    );
                }
                return Some(Diagnostic::error("Local module path escapes module package", detail));
            }
        }
        None
    }
}

/// The folder beside one that does not exist whose name is close to its name.
fn close_folder(wanted: &Path) -> Option<String> {
    let given = wanted.file_name()?.to_str()?;
    let parent = wanted.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(parent).ok()?.filter_map(Result::ok).filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    suggest::closest(given, names.iter().map(String::as_str)).map(str::to_owned)
}
