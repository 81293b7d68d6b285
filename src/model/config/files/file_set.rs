//! The files of a module's folder: which ones count, and in which order.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::files::ConfigFiles;
use base::source::{SourceFile, Span};
use lang::syntax::body::Body;
use lang::syntax::parser;
use lang::syntax::syntax_errors::NOT_UTF8;

use crate::model_errors::{UNREADABLE_FILE, UNREADABLE_MODULE};
use crate::opentofu::{self, FileChoice};

/// The files of one folder, in native syntax (`.tf`) or JSON (`.tf.json`), each list sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSet {
    pub primary: Vec<PathBuf>,
    /// `override.tf` and `*_override.tf`: merged over what the others declare.
    pub overrides: Vec<PathBuf>,
}

const ENDINGS: [EndingPair; 2] =
    [EndingPair { terraform: ".tf", opentofu: ".tofu" }, EndingPair { terraform: ".tf.json", opentofu: ".tofu.json" }];

/// The endings of one kind of file. A folder can hold a file for either program under the same name.
pub struct EndingPair {
    pub terraform: &'static str,
    pub opentofu: &'static str,
}

impl EndingPair {
    /// The name of a file without its ending, if it is of this kind.
    pub fn stem<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.strip_suffix(self.terraform).or_else(|| name.strip_suffix(self.opentofu))
    }
}

/// Whether a file that stands beside the others is read.
pub fn is_read(file: &str, beside: &BTreeSet<&str>, kinds: &[EndingPair], choice: FileChoice) -> bool {
    let other = |own: &str, other: &str| {
        file.strip_suffix(own).is_some_and(|stem| beside.contains(format!("{stem}{other}").as_str()))
    };
    kinds.iter().any(|kind| kind.stem(file).is_some())
        && kinds.iter().all(|EndingPair { terraform, opentofu }| match choice {
            FileChoice::TerraformOnly => !file.ends_with(opentofu),
            FileChoice::OpenTofuFirst => !other(terraform, opentofu),
            FileChoice::TerraformFirst => !other(opentofu, terraform),
        })
}

/// None if there is no such folder, which is reported.
pub fn find(dir: &Path, files: &dyn ConfigFiles) -> (Option<FileSet>, Diagnostics) {
    let Ok(entries) = files.list(dir) else {
        let detail = format!("Module directory {} does not exist or cannot be read.", dir.display());
        return (None, Diagnostic::error(UNREADABLE_MODULE, detail).into());
    };
    let choice = opentofu::file_choice(files.dialect());
    let mut set = FileSet::default();
    let names: BTreeSet<&str> = entries.iter().filter(|e| !e.is_dir).map(|e| &*e.name).collect();
    let is_read = |name: &str| !is_ignored(name) && is_read(name, &names, &ENDINGS, choice);
    for entry in entries.iter().filter(|e| !e.is_dir && is_read(&e.name)) {
        let path = if dir == Path::new(".") { PathBuf::from(&entry.name) } else { dir.join(&entry.name) };
        if let Some(stem) = ENDINGS.iter().find_map(|kind| kind.stem(&entry.name)) {
            let list =
                if stem == "override" || stem.ends_with("_override") { &mut set.overrides } else { &mut set.primary };
            list.push(path);
        }
    }
    (Some(set), Diagnostics::new())
}

/// True if the folder holds any configuration.
pub fn has_configuration(dir: &Path, files: &dyn ConfigFiles) -> bool {
    let (set, _) = find(dir, files);
    set.is_some_and(|s| !(s.primary.is_empty() && s.overrides.is_empty()))
}

/// True if any file of a folder that counts has a text in it.
pub fn mention(dir: &Path, files: &dyn ConfigFiles, text: &str) -> bool {
    let (set, _) = find(dir, files);
    let paths = set.into_iter().flat_map(|set| set.primary.into_iter().chain(set.overrides));
    let mentions = |path: PathBuf| {
        let content = files.read(&path).unwrap_or_default();
        content.windows(text.len()).any(|part| part == text.as_bytes())
    };
    paths.into_iter().any(mentions)
}

/// The text of a file.
fn read(path: &Path, files: &dyn ConfigFiles) -> Result<Arc<SourceFile>, Diagnostic> {
    let bytes = files.read(path).map_err(|_| {
        let detail = format!("The file {:?} could not be read.", path.display());
        Diagnostic::error(UNREADABLE_FILE, detail)
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let (start, text) = (error.utf8_error().valid_up_to(), String::from_utf8_lossy(error.as_bytes()));
        let file = SourceFile::written_in(files.dialect(), path.to_string_lossy(), &*text);
        let span = Span::new(start, start + char::REPLACEMENT_CHARACTER.len_utf8());
        let detail = "All input files must be UTF-8 encoded. Ensure that UTF-8 encoding is selected in your editor.";
        Diagnostic::error(NOT_UTF8, detail).at(span.in_file(&file))
    })?;
    Ok(SourceFile::written_in(files.dialect(), path.to_string_lossy(), text))
}

/// What a file holds; None: it cannot be read, which is reported.
pub fn load(path: &Path, files: &dyn ConfigFiles, diags: &mut Diagnostics) -> Option<Body> {
    match read(path, files) {
        Ok(source) => Some(diags.take(parse(source))),
        Err(problem) => {
            diags.push(problem);
            None
        }
    }
}

/// A configuration or values file in the syntax that its name says: JSON for `.json`, else native.
pub fn parse(source: Arc<SourceFile>) -> (Body, Diagnostics) {
    if source.name().ends_with(".json") { parser::json::parse_file(source) } else { parser::parse_file(source) }
}

/// What editors leave behind.
pub fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}

#[cfg(test)]
mod tests {
    use base::dialect::Dialect;
    use base::files::{Memory, WrittenIn};

    use super::*;

    #[test]
    fn files_are_sorted_out() {
        let names = [
            "b.tf",
            "a.tf",
            ".x.tf",
            "c.tf~",
            "#d.tf#",
            "override.tf",
            "b_override.tf",
            "e.tf.json",
            "a.tf.json",
            "c_override.tf.json",
            "x.tfvars.json",
            "README.md",
            "sub/x.tf",
        ];
        let memory = Memory::of(names.map(|n| (n, "")));
        let set = find(Path::new("."), &memory).0.unwrap();
        assert_eq!(set.primary, ["a.tf", "a.tf.json", "b.tf", "e.tf.json"].map(PathBuf::from));
        assert_eq!(set.overrides, ["b_override.tf", "c_override.tf.json", "override.tf"].map(PathBuf::from));
    }

    #[test]
    fn the_dialect_decides_on_files_of_opentofu() {
        let names = [
            "a.tf",
            "a.tofu",
            "b.tf",
            "c.tofu",
            "d.tf.json",
            "d.tofu.json",
            "e.tofu",
            "e.tf.json",
            "x_override.tf",
            "x_override.tofu",
            "override.tofu",
        ];
        let memory = Memory::of(names.map(|n| (n, "")));
        let found = |dialect| {
            let set = find(Path::new("."), &WrittenIn(dialect, memory.clone())).0.unwrap();
            let text =
                |list: &[PathBuf]| list.iter().map(|p| p.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ");
            (text(&set.primary), text(&set.overrides))
        };
        let expect = |dialect, primary: &str, overrides: &str| {
            assert_eq!(found(dialect), (primary.to_string(), overrides.to_string()), "{dialect:?}");
        };
        expect(Dialect::Terraform, "a.tf b.tf d.tf.json e.tf.json", "x_override.tf");
        expect(Dialect::OpenTofu, "a.tofu b.tf c.tofu d.tofu.json e.tf.json e.tofu", "override.tofu x_override.tofu");
        expect(Dialect::Terrane, "a.tf b.tf c.tofu d.tf.json e.tf.json e.tofu", "override.tofu x_override.tf");
    }
}
