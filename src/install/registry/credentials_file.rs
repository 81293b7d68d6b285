//! The file in which this program keeps tokens, `credentials.tfrc.json`: one host's entry is changed, everything else stays.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use base::atomic;
use base::files::reason;
use base::secret::Secret;
use model::service::Host;
use serde_json::{Map, Value as Json};

/// Why the file of tokens cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    path: PathBuf,
    problem: FileProblem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FileProblem {
    Unreadable(String),
    /// What it has for credentials is not an object.
    Credentials,
    Unwritable(String),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.problem {
            FileProblem::Unreadable(why) => write!(f, "cannot read {path}: {why}"),
            FileProblem::Credentials => write!(
                f,
                "credentials file {path} has invalid value for \"credentials\" property: must be a JSON object"
            ),
            FileProblem::Unwritable(why) => write!(f, "cannot write {path}: {why}"),
        }
    }
}

impl std::error::Error for FileError {}

/// The hosts that have an entry. None where there is no file, or none that can be read.
pub fn hosts(path: &Path) -> BTreeSet<Host> {
    let document = std::fs::read(path).ok().and_then(|content| serde_json::from_slice::<Json>(&content).ok());
    let entries = document.as_ref().and_then(|document| document.get("credentials")).and_then(Json::as_object);
    entries.into_iter().flat_map(Map::keys).filter_map(|name| Host::parse(name).ok()).collect()
}

/// Puts the host's token in place of what was kept for it; None: nothing is kept any more. The file is its owner's alone
/// afterwards.
pub fn change(path: &Path, host: &Host, token: Option<&Secret>) -> Result<(), FileError> {
    let failed = |problem| FileError { path: path.to_owned(), problem };
    let content = match std::fs::read(path) {
        Ok(content) => content,
        Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(failed(FileProblem::Unreadable(reason(&e)))),
    };
    let mut document = match content.is_empty() {
        true => Map::new(),
        false => match serde_json::from_slice(&content) {
            Ok(Json::Object(document)) => document,
            Ok(_) => return Err(failed(FileProblem::Unreadable("must be a JSON object".to_owned()))),
            Err(e) => return Err(failed(FileProblem::Unreadable(e.to_string()))),
        },
    };
    let entries = document.entry("credentials").or_insert_with(|| Json::Object(Map::new()));
    let Json::Object(entries) = entries else {
        return Err(failed(FileProblem::Credentials));
    };
    entries.retain(|name, _| Host::parse(name).as_ref() != Ok(host));
    if let Some(token) = token {
        entries.insert(host.for_display(), serde_json::json!({ "token": token.reveal() }));
    }
    let mut document = Json::Object(document);
    document.sort_all_objects();
    write(path, &text(&document)).map_err(|e| failed(FileProblem::Unwritable(reason(&e))))
}

/// As the reference writes it: sorted, two blanks per level, without a line ending.
fn text(document: &Json) -> String {
    let text = serde_json::to_string_pretty(document).unwrap_or_default();
    let escaped = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
    text.chars().fold(String::new(), |mut out, c| {
        match escaped(c) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
        out
    })
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = atomic::directory_of(path);
    if !folder.exists() {
        create_private(folder)?;
    }
    // What replaces a file takes its permissions.
    if path.exists() {
        make_private(path)?;
    }
    atomic::write_private(path, text.as_bytes())
}

#[cfg(unix)]
fn create_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(unix)]
fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

#[cfg(not(unix))]
fn make_private(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_entry_changes_and_the_rest_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/c.json");
        let host = Host::parse("LocalHost:9443").unwrap();
        change(&path, &host, Some(&Secret::new("a<b"))).unwrap();
        let expected =
            "{\n  \"credentials\": {\n    \"localhost:9443\": {\n      \"token\": \"a\\u003cb\"\n    }\n  }\n}";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        let other = r#"{"x": 1.50, "credentials": {"LOCALHOST:9443": {"token": "old"}, "b": {"n": 12345678901234567890}}, "a": []}"#;
        std::fs::write(&path, other).unwrap();
        change(&path, &host, Some(&Secret::new("t"))).unwrap();
        let expected = "{\n  \"a\": [],\n  \"credentials\": {\n    \"b\": {\n      \"n\": 12345678901234567890\n    },\n    \
                        \"localhost:9443\": {\n      \"token\": \"t\"\n    }\n  },\n  \"x\": 1.50\n}";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        assert_eq!(hosts(&path).len(), 2);
        change(&path, &host, None).unwrap();
        assert!(!hosts(&path).contains(&host));
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let host = Host::parse("h.example").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = dir.path().join("new/c.json");
        change(&path, &host, Some(&Secret::new("t"))).unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        change(&path, &host, None).unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn unreadable_files_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c.json");
        let host = Host::parse("h.example").unwrap();
        for (content, why) in
            [("[]", "cannot read"), ("{", "cannot read"), ("{\"credentials\": 1}", "must be a JSON object")]
        {
            std::fs::write(&path, content).unwrap();
            let said = change(&path, &host, Some(&Secret::new("t"))).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        }
    }
}
