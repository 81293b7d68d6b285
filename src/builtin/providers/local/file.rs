//! `local_file` and `local_sensitive_file`: a file with a given content.

use std::io::Write;
use std::path::Path as FsPath;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

use super::{checksum_attributes, checksums};
use crate::base::hex::hex;
use crate::builtin::sdk::{Attr, Resource, Rule, Shape, exactly_one_of, object_with, text_of};
use crate::builtin::wording::{base64_text, io_text};
use crate::lang::value::{Path, Value};
use crate::model::provider::{ProviderDiagnostic, ProviderDiagnostics};

/// Where the content comes from; exactly one is given.
const PLAIN_SOURCES: [&str; 4] = ["content", "sensitive_content", "content_base64", "source"];
const SENSITIVE_SOURCES: [&str; 3] = ["content", "content_base64", "source"];

pub struct File {
    shape: Shape,
    sources: &'static [&'static str],
    /// As error summaries have it.
    title: &'static str,
}

impl File {
    pub fn plain() -> File {
        let mut attributes = attributes(false, "0777");
        attributes.push(
            Attr::string("sensitive_content", "The content as text, which is not shown.")
                .optional()
                .sensitive()
                .rule(Rule::Replace)
                .deprecated("Use the `local_sensitive_file` resource instead"),
        );
        File {
            shape: Shape::new(0, "A file of this machine with the given content.", attributes),
            sources: &PLAIN_SOURCES,
            title: "local file",
        }
    }

    pub fn sensitive() -> File {
        let description = "A file of this machine with the given content, which is not shown.";
        File {
            shape: Shape::new(0, description, attributes(true, "0700")),
            sources: &SENSITIVE_SOURCES,
            title: "local sensitive file",
        }
    }

    fn failed(&self, verb: &str, what: &str, error: &str) -> ProviderDiagnostic {
        ProviderDiagnostic::error(
            format!("{verb} {} error", self.title),
            format!("An unexpected error occurred while {what}\n\nOriginal Error: {error}"),
        )
    }
}

fn attributes(secret: bool, mode: &'static str) -> Vec<Attr> {
    let given = |name, description| {
        let attr = Attr::string(name, description).optional().rule(Rule::Replace);
        if secret && name != "source" { attr.sensitive() } else { attr }
    };
    let mut list = vec![
        Attr::string("filename", "The file's path. Missing folders are created; a file that is there is overwritten.")
            .required()
            .rule(Rule::Replace),
        given("content", "The content as text. Exactly one of the ways to give the content must be used."),
        given("content_base64", "The content as bytes in base64."),
        given("source", "The path of a file to copy the content from."),
        Attr::string("file_permission", "The file's permissions before the umask, in octal digits.")
            .default(Value::string(mode))
            .rule(Rule::Replace),
        Attr::string("directory_permission", "The permissions of created folders before the umask, in octal digits.")
            .default(Value::string(mode))
            .rule(Rule::Replace),
    ];
    list.extend(checksum_attributes());
    list
}

fn check_permission(config: &Value, name: &str, found: &mut ProviderDiagnostics) {
    let Some(text) = text_of(config, name) else { return };
    let detail = if !(3..=4).contains(&text.len()) {
        format!("bad mode permission: string length should be 3 or 4 digits: {text}")
    } else if u32::from_str_radix(text, 8).is_ok_and(|mode| mode <= 0o777) {
        return;
    } else {
        format!("bad mode permission: string must be expressed in octal numeric notation: {text}")
    };
    found.push(ProviderDiagnostic::error("Invalid File Permission String Value", detail).at(Path::new().attr(name)));
}

/// The content that the plan describes.
fn content(planned: &Value) -> Result<Vec<u8>, String> {
    if let Some(text) = text_of(planned, "sensitive_content") {
        return Ok(text.into());
    }
    if let Some(text) = text_of(planned, "content_base64") {
        return STANDARD.decode(text).map_err(|_| base64_text(text, false));
    }
    if let Some(path) = text_of(planned, "source") {
        return std::fs::read(path).map_err(|error| io_text("open", path, &error));
    }
    Ok(text_of(planned, "content").unwrap_or_default().into())
}

fn mode(planned: &Value, name: &str) -> u32 {
    text_of(planned, name).and_then(|text| u32::from_str_radix(text, 8).ok()).unwrap_or(0o777)
}

fn create_folder(path: &FsPath, mode: u32) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
    #[cfg(not(unix))]
    let _ = mode;
    builder.create(path)
}

/// Overwrites in place: others may hold the file open or link to it.
fn write_file(path: &str, content: &[u8], mode: u32) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)?.write_all(content)
}

impl Resource for File {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn validate(&self, config: &Value, found: &mut ProviderDiagnostics) {
        exactly_one_of(config, self.sources, found);
        check_permission(config, "directory_permission", found);
        check_permission(config, "file_permission", found);
    }

    /// Gone if the file is, or if its content is another: either way it is created again.
    fn read(&self, state: &Value) -> Result<Option<Value>, ProviderDiagnostic> {
        let path = text_of(state, "filename").unwrap_or_default();
        match std::fs::read(path) {
            Ok(content) if text_of(state, "id") == Some(&hex(&Sha1::digest(&content))) => Ok(Some(state.clone())),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("Read", "reading the file", &io_text("open", path, &error))),
        }
    }

    fn create(&self, planned: &Value) -> Result<Value, ProviderDiagnostic> {
        let content = content(planned).map_err(|error| self.failed("Create", "parsing local file content", &error))?;
        let path = text_of(planned, "filename").unwrap_or_default();
        let folder = FsPath::new(path).parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.exists()) {
            create_folder(folder, mode(planned, "directory_permission")).map_err(|error| {
                let shown = folder.to_string_lossy();
                self.failed("Create", "creating file directory", &io_text("mkdir", &shown, &error))
            })?;
        }
        write_file(path, &content, mode(planned, "file_permission"))
            .map_err(|error| self.failed("Create", "writing the file", &io_text("open", path, &error)))?;
        Ok(object_with(planned, checksums(&content)))
    }

    fn delete(&self, prior: &Value) -> Result<(), ProviderDiagnostic> {
        // The file may already be removed.
        std::fs::remove_file(text_of(prior, "filename").unwrap_or_default()).ok();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifecycle() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/f");
        let resource = File::plain();
        let planned = resource.shape.object([
            ("filename", Value::string(path.to_str().unwrap())),
            ("content", Value::string("hello")),
            ("file_permission", Value::string("0640")),
        ]);
        let created = resource.create(&planned).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "hello");
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o640);
        }
        assert_eq!(resource.read(&created).unwrap(), Some(created.clone()));
        std::fs::write(&path, "other").unwrap();
        assert_eq!(resource.read(&created).unwrap(), None);
        resource.delete(&created).unwrap();
        assert!(!path.exists());
        assert_eq!(resource.read(&created).unwrap(), None);
    }

    #[test]
    fn failures_name_the_path() {
        let resource = File::sensitive();
        let planned =
            resource.shape.object([("source", Value::string("/nonexistent/x")), ("filename", Value::string("y"))]);
        let error = resource.create(&planned).unwrap_err();
        assert_eq!(error.summary, "Create local sensitive file error");
        assert!(error.detail.ends_with("Original Error: open /nonexistent/x: no such file or directory"));
    }

    #[test]
    fn validation() {
        let cases: [(&[(&str, &str)], &[&str]); 5] = [
            (&[("content", "x")], &[]),
            (&[("content", "x"), ("file_permission", "0644")], &[]),
            (
                &[("content", "x"), ("file_permission", "64")],
                &["bad mode permission: string length should be 3 or 4 digits: 64"],
            ),
            (
                &[("content", "x"), ("file_permission", "0999")],
                &["bad mode permission: string must be expressed in octal numeric notation: 0999"],
            ),
            (
                &[("content", "x"), ("source", "y")],
                &[
                    "2 attributes specified when one (and only one) of [content_base64,source] is required",
                    "2 attributes specified when one (and only one) of [content,source] is required",
                    "2 attributes specified when one (and only one) of [content,content_base64] is required",
                ],
            ),
        ];
        for (values, expected) in cases {
            let resource = File::sensitive();
            let mut all = resource.shape.object([]).entries().clone();
            all.extend(values.iter().map(|(name, value)| ((*name).into(), Value::string(value))));
            let mut found = Vec::new();
            resource.validate(&Value::object(all), &mut found);
            assert_eq!(found.iter().map(|d| d.detail.as_str()).collect::<Vec<_>>(), expected);
        }
    }
}
