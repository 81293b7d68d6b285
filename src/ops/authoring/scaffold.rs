//! `provider new`: a small provider as a cargo project, to be changed.
//!
//! The project is complete in a temporary folder before it gets its name, so that a failure leaves nothing.

use std::path::{Path, PathBuf};
use std::{fs, io};

use base::atomic;
use base::diag::Diagnostics;
use base::files::named;
use base::name::{COMMAND, PROGRAM};
use model::addr::provider::{default_host, parse_namespace};

use super::{PROGRAM_PREFIX, failure};

const BAD_NAME: &str = "Invalid name for a provider";
const NO_FOLDER: &str = "Failed to create the project";

/// The files by their path in the project; `@NAME@` and others are filled in.
const FILES: [(&str, &str); 15] = [
    ("Cargo.toml", include_str!("scaffold/Cargo.toml.txt")),
    (".gitignore", include_str!("scaffold/gitignore.txt")),
    ("README.md", include_str!("scaffold/README.md.txt")),
    ("src/main.rs", include_str!("scaffold/main.rs.txt")),
    ("src/provider.rs", include_str!("scaffold/provider.rs.txt")),
    ("src/folder.rs", include_str!("scaffold/folder.rs.txt")),
    ("src/note.rs", include_str!("scaffold/note.rs.txt")),
    ("src/notes.rs", include_str!("scaffold/notes.rs.txt")),
    ("src/slug.rs", include_str!("scaffold/slug.rs.txt")),
    ("examples/provider/provider.tf", include_str!("scaffold/provider.tf.txt")),
    ("examples/resources/@NAME@_note/resource.tf", include_str!("scaffold/resource.tf.txt")),
    ("examples/resources/@NAME@_note/import.sh", include_str!("scaffold/import.sh.txt")),
    ("examples/resources/@NAME@_note/import-by-string-id.tf", include_str!("scaffold/import-by-string-id.tf.txt")),
    ("examples/data-sources/@NAME@_notes/data-source.tf", include_str!("scaffold/data-source.tf.txt")),
    ("examples/functions/slug/function.tf", include_str!("scaffold/function.tf.txt")),
];

const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The package of the library, and its folder in the repository.
const LIBRARY: &str = "terrane-sdk";
const LIBRARY_FOLDER: &str = "src/sdk";

#[derive(Clone, Debug, Default)]
pub struct ScaffoldRequest {
    /// The last part of the source address: `todo`.
    pub name: String,
    /// The part before it.
    pub namespace: String,
    /// The folder to create; by default `terraform-provider-NAME`.
    pub folder: Option<PathBuf>,
    /// A local copy of the library, instead of its repository.
    pub sdk: Option<PathBuf>,
}

/// Creates the project and returns its folder.
pub fn run(request: &ScaffoldRequest) -> Result<PathBuf, Diagnostics> {
    let ScaffoldRequest { name, namespace, .. } = request;
    check_name(name).map_err(|why| failure(BAD_NAME, why))?;
    let given = parse_namespace(namespace).map_err(|why| {
        failure(BAD_NAME, format!("The namespace {namespace:?} {why}. It is the user or organization on the registry."))
    })?;
    let sdk = sdk(request.sdk.as_deref()).map_err(|why| failure("Library for providers not found", why))?;
    let folder = request.folder.clone().unwrap_or_else(|| format!("{PROGRAM_PREFIX}{name}").into());
    if folder.symlink_metadata().is_ok() {
        let detail = format!(
            "{} exists. The command creates a new folder and changes no existing files: give another folder with -dir.",
            folder.display()
        );
        return Err(failure(NO_FOLDER, detail));
    }
    let values = [
        ("@NAME@", name.clone()),
        ("@TYPE@", capitalized(name)),
        ("@ENV@", name.to_uppercase()),
        ("@NAMESPACE@", given.clone()),
        ("@ADDRESS@", format!("{}/{given}/{name}", default_host())),
        ("@SDK@", sdk),
        ("@PROGRAM@", PROGRAM.to_string()),
        ("@COMMAND@", COMMAND.to_string()),
    ];
    create(&folder, &values).map_err(|e| failure(NO_FOLDER, format!("{e}.")))?;
    Ok(folder)
}

/// Types begin with the name and an underscore, and names of Rust are made of it.
fn check_name(name: &str) -> Result<(), String> {
    let rest = name.strip_prefix(PROGRAM_PREFIX);
    if let Some(rest) = rest.filter(|rest| check_name(rest).is_ok()) {
        return Err(format!("Leave out {PROGRAM_PREFIX:?}: the name is {rest:?}."));
    }
    let is_valid = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    if !is_valid {
        return Err(format!(
            "{name:?} must have small letters and digits only, and begin with a letter, such as \"todo\": the names of resource \
             types begin with it."
        ));
    }
    match name {
        "terraform" => Err("The name \"terraform\" is that of the built-in provider.".to_owned()),
        _ => Ok(()),
    }
}

fn capitalized(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_uppercase() + rest
}

/// The dependency on the library, as Cargo.toml has it. `path`: a copy of the repository, or of the library in it. The error is
/// a text for people.
fn sdk(path: Option<&Path>) -> Result<String, String> {
    let Some(path) = path else { return Ok(format!("{{ git = {REPOSITORY:?} }}")) };
    let in_repository = path.join(LIBRARY_FOLDER);
    let folder = if in_repository.join("Cargo.toml").is_file() { &in_repository } else { path };
    let manifest = folder.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(|e| format!("{}.", named(e, "read", &manifest)))?;
    let name = format!("name={LIBRARY:?}");
    if !text.lines().any(|line| line.replace(' ', "") == name) {
        let path = path.display();
        return Err(format!(
            "{path} is no copy of the library: its Cargo.toml is not that of the package {LIBRARY:?}."
        ));
    }
    let folder = fs::canonicalize(folder).map_err(|e| format!("{}.", named(e, "open", folder)))?;
    Ok(format!("{{ path = {:?} }}", folder.display().to_string()))
}

fn create(folder: &Path, values: &[(&str, String)]) -> io::Result<()> {
    let parent = atomic::directory_of(folder);
    fs::create_dir_all(parent).map_err(|e| named(e, "create", parent))?;
    let staged = tempfile::Builder::new().prefix(".new-provider-").tempdir_in(parent);
    let staged = staged.map_err(|e| named(e, "create a folder in", parent))?;
    let project = staged.path().join("project");
    for (path, text) in FILES {
        let path = project.join(filled(path, values));
        let parent = atomic::directory_of(&path);
        fs::create_dir_all(parent).map_err(|e| named(e, "create", parent))?;
        fs::write(&path, filled(text, values)).map_err(|e| named(e, "write", &path))?;
    }
    fs::rename(&project, folder).map_err(|e| named(e, "create", folder))
}

fn filled(text: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(text.to_owned(), |text, (key, value)| text.replace(key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(folder: &Path, name: &str) -> ScaffoldRequest {
        let folder = Some(folder.join("new"));
        ScaffoldRequest { name: name.to_owned(), namespace: "acme".to_owned(), folder, sdk: None }
    }

    fn detail(result: Result<PathBuf, Diagnostics>) -> String {
        result.unwrap_err().iter().map(|one| one.detail.clone()).collect()
    }

    #[test]
    fn everything_is_filled_in() {
        let folder = tempfile::tempdir().unwrap();
        let project = run(&request(folder.path(), "demo")).unwrap();
        for (path, _) in FILES {
            let text = fs::read_to_string(project.join(path.replace("@NAME@", "demo"))).unwrap();
            assert!(!text.contains('@'), "{path}:\n{text}");
        }
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["new"]);
        let main = fs::read_to_string(project.join("src/main.rs")).unwrap();
        assert!(main.contains("Serve::new(\"registry.terraform.io/acme/demo\").run(provider::DemoProvider)"), "{main}");
    }

    #[test]
    fn existing_files_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("new")).unwrap();
        assert!(detail(run(&request(folder.path(), "demo"))).contains("exists"));
        assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 0);
    }

    #[test]
    fn names_and_libraries_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["", "Todo", "to-do", "to_do", "2do", "../x", "terraform", "a b", "ä"] {
            assert!(run(&request(folder.path(), name)).is_err(), "{name}");
        }
        assert!(detail(run(&request(folder.path(), "terraform-provider-todo"))).contains("the name is \"todo\""));
        let other = ScaffoldRequest { sdk: Some(folder.path().to_owned()), ..request(folder.path(), "demo") };
        assert!(detail(run(&other)).contains("Cargo.toml"));
        let bad = ScaffoldRequest { namespace: "a/b".to_owned(), ..request(folder.path(), "demo") };
        assert!(detail(run(&bad)).contains("namespace"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
