//! The working directory of a test, and the configurations in it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json};
use terrane_protocol::private_folder::PrivateFolder;

use super::error::Error;
use super::settings::Settings;

/// The file with the `terraform` block that names the providers of the test.
const PROVIDERS_FILE: &str = "acceptance_providers.tf";
const VARIABLES_FILE: &str = "acceptance.auto.tfvars.json";
pub(super) const STATE_FILE: &str = "terraform.tfstate";

/// What a step applies.
#[derive(Clone, Debug)]
pub(super) struct Configuration {
    pub source: Source,
    /// Names and texts.
    pub files: Vec<(String, String)>,
    pub variables: Map<String, Json>,
}

#[derive(Clone, Debug)]
pub(super) enum Source {
    /// In native syntax, or in JSON if it begins with a brace.
    Text(String),
    Folder(PathBuf),
}

impl Configuration {
    pub fn new(source: Source) -> Configuration {
        Configuration { source, files: Vec::new(), variables: Map::new() }
    }

    /// The files, with paths from the working directory. `providers` is added unless a file names the providers itself.
    fn all_files(&self, providers: &str) -> Result<Vec<(PathBuf, Vec<u8>)>, Error> {
        let mut files = Vec::new();
        match &self.source {
            Source::Text(text) => {
                let is_json = text.trim_start().starts_with('{');
                let name = if is_json { "main.tf.json" } else { "main.tf" };
                files.push((name.into(), text.clone().into_bytes()));
            }
            Source::Folder(folder) => read_folder(folder, Path::new(""), &mut files)?,
        }
        files.extend(self.files.iter().map(|(name, text)| (name.into(), text.clone().into_bytes())));
        let names_providers = |(path, bytes): &(PathBuf, Vec<u8>)| {
            let name = path.to_string_lossy();
            let is_of_root = path.components().count() == 1 && (name.ends_with(".tf") || name.ends_with(".tf.json"));
            is_of_root && String::from_utf8_lossy(bytes).contains("required_providers")
        };
        if !files.iter().any(names_providers) {
            files.push((PROVIDERS_FILE.into(), providers.to_owned().into_bytes()));
        }
        if !self.variables.is_empty() {
            files.push((VARIABLES_FILE.into(), Json::from(self.variables.clone()).to_string().into_bytes()));
        }
        Ok(files)
    }
}

/// All files below a folder, except for what programs keep there.
fn read_folder(root: &Path, below: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) -> Result<(), Error> {
    let folder = root.join(below);
    let entries = fs::read_dir(&folder).map_err(|error| failed(&folder, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| failed(&folder, &error))?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(".terraform") || name.to_string_lossy().starts_with(STATE_FILE) {
            continue;
        }
        let path = below.join(&name);
        if entry.path().is_dir() {
            read_folder(root, &path, files)?;
        } else {
            let bytes = fs::read(entry.path()).map_err(|error| failed(&entry.path(), &error))?;
            files.push((path, bytes));
        }
    }
    Ok(())
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::new(format!("{}: {error}", path.display()))
}

/// A folder for one test. It is removed at the end unless TF_ACC_PERSIST_WORKING_DIR is set.
pub(super) struct Directory {
    folder: PrivateFolder,
    /// The files of the configuration.
    written: Vec<PathBuf>,
}

impl Directory {
    pub fn create(settings: &Settings) -> Result<Directory, Error> {
        let parent = settings.temporary_folder();
        let mut folder = PrivateFolder::create(&parent, "acceptance").map_err(|error| failed(&parent, &error))?;
        if settings.keeps_folders() {
            folder.keep();
            settings.report(&format!("working directory: {}", folder.path().display()));
        }
        Ok(Directory { folder, written: Vec::new() })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Replaces the configuration.
    pub fn write_configuration(&mut self, configuration: &Configuration, providers: &str) -> Result<(), Error> {
        for path in self.written.drain(..) {
            fs::remove_file(&path).map_err(|error| failed(&path, &error))?;
        }
        for (name, bytes) in configuration.all_files(providers)? {
            self.write(&name, &bytes)?;
        }
        Ok(())
    }

    /// Adds a file to the configuration.
    pub fn write(&mut self, name: &Path, bytes: &[u8]) -> Result<(), Error> {
        let path = self.path().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| failed(parent, &error))?;
        }
        fs::write(&path, bytes).map_err(|error| failed(&path, &error))?;
        if !self.written.contains(&path) {
            self.written.push(path);
        }
        Ok(())
    }

    /// Copies the state of another working directory, if it has one.
    pub fn copy_state(&self, other: &Directory) -> Result<(), Error> {
        let from = other.path().join(STATE_FILE);
        if from.exists() {
            fs::copy(&from, self.path().join(STATE_FILE)).map_err(|error| failed(&from, &error))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut files = Vec::new();
        read_folder(folder, Path::new(""), &mut files).unwrap();
        let mut names: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
        names.sort();
        names
    }

    #[test]
    fn configurations_replace_each_other() {
        let mut directory = Directory::create(&Settings::of(&[])).unwrap();
        let mut first = Configuration::new(Source::Text("locals {}".to_owned()));
        first.files.push(("templates/a.txt".to_owned(), "a".to_owned()));
        first.variables.insert("title".to_owned(), json!("x"));
        directory.write_configuration(&first, "terraform {}").unwrap();
        let expected = ["acceptance.auto.tfvars.json", "acceptance_providers.tf", "main.tf", "templates/a.txt"];
        assert_eq!(names(directory.path()), expected);
        fs::write(directory.path().join(STATE_FILE), "{}").unwrap();

        let second = Configuration::new(Source::Text(r#"{ "terraform": { "required_providers": {} } }"#.to_owned()));
        directory.write_configuration(&second, "terraform {}").unwrap();
        assert_eq!(names(directory.path()), ["main.tf.json"]);
        assert!(directory.path().join(STATE_FILE).exists());

        let mut copy = Directory::create(&Settings::of(&[])).unwrap();
        let folder = Configuration::new(Source::Folder(directory.path().to_owned()));
        copy.write_configuration(&folder, "terraform {}").unwrap();
        assert_eq!(names(copy.path()), ["main.tf.json"]);
    }

    #[test]
    fn directories_are_kept_on_request() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().to_str().unwrap();
        for (keep, expected) in [("", 0), ("1", 1)] {
            let settings = Settings::of(&[("TF_ACC_TEMP_DIR", path), ("TF_ACC_PERSIST_WORKING_DIR", keep)]);
            drop(Directory::create(&settings).unwrap());
            assert_eq!(fs::read_dir(path).unwrap().count(), expected);
        }
    }
}
