//! `local_file` and `local_sensitive_file`: a file with a given content.

use std::io::Write;
use std::path::Path as FsPath;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gotext::hex::hex;
use sha1::{Digest, Sha1};
use terrane_sdk::validators::exactly_one_of;
use terrane_sdk::{Attribute, ConfiguredAttribute, Context, Creation, Error, Object, Resource, Schema, Value, replace};

use super::{checksum_attributes, checksums};
use crate::wording::{base64_text, io_text};

/// Where the content comes from; exactly one is given.
const PLAIN_SOURCES: &[&str] = &["content", "sensitive_content", "content_base64", "source"];
const SENSITIVE_SOURCES: &[&str] = &["content", "content_base64", "source"];

pub struct LocalFile {
    is_sensitive: bool,
    /// As error summaries have it.
    title: &'static str,
}

impl LocalFile {
    pub fn plain() -> LocalFile {
        LocalFile { is_sensitive: false, title: "local file" }
    }

    pub fn sensitive() -> LocalFile {
        LocalFile { is_sensitive: true, title: "local sensitive file" }
    }

    fn failed(&self, verb: &str, what: &str, error: &str) -> Error {
        Error::new(
            format!("{verb} {} error", self.title),
            format!("An unexpected error occurred while {what}\n\nOriginal Error: {error}"),
        )
    }
}

/// The attributes of both resources.
fn attributes(is_sensitive: bool) -> Vec<Attribute> {
    let (sources, mode) = if is_sensitive { (SENSITIVE_SOURCES, "0700") } else { (PLAIN_SOURCES, "0777") };
    let text = |name: &str, description| Attribute::string(name).description(description).modifier(replace());
    let source = |name: &str, description| {
        let others: Vec<&str> = sources.iter().copied().filter(|other| *other != name).collect();
        text(name, description).optional().validator(exactly_one_of(&others))
    };
    let secret = |attribute: Attribute| if is_sensitive { attribute.sensitive() } else { attribute };
    let permission =
        |name, description| text(name, description).default(Value::string(mode)).validator(check_permission);
    let path = "The file's path. Missing folders are created; a file that is there is overwritten.";
    let content = "The content as text. Exactly one of the ways to give the content must be used.";
    let file_mode = "The file's permissions before the umask, in octal digits.";
    let folder_mode = "The permissions of created folders before the umask, in octal digits.";
    let mut list = vec![
        text("filename", path).required(),
        secret(source("content", content)),
        secret(source("content_base64", "The content as bytes in base64.")),
        source("source", "The path of a file to copy the content from."),
        permission("directory_permission", folder_mode),
        permission("file_permission", file_mode),
    ];
    if !is_sensitive {
        let attribute = source("sensitive_content", "The content as text, which is not shown.").sensitive();
        list.push(attribute.deprecated("Use the `local_sensitive_file` resource instead"));
    }
    list.extend(checksum_attributes());
    list
}

fn check_permission(attribute: &mut ConfiguredAttribute<'_>) {
    let Some(text) = attribute.value.as_str() else { return };
    let detail = if !(3..=4).contains(&text.len()) {
        format!("bad mode permission: string length should be 3 or 4 digits: {text}")
    } else if u32::from_str_radix(text, 8).is_ok_and(|mode| mode <= 0o777) {
        return;
    } else {
        format!("bad mode permission: string must be expressed in octal numeric notation: {text}")
    };
    attribute.error("Invalid File Permission String Value", detail);
}

/// The content that the plan describes.
fn content(planned: &Object) -> Result<Vec<u8>, String> {
    if let Some(text) = planned.text("sensitive_content") {
        return Ok(text.into());
    }
    if let Some(text) = planned.text("content_base64") {
        return STANDARD.decode(text).map_err(|_| base64_text(text, false));
    }
    if let Some(path) = planned.text("source") {
        return std::fs::read(path).map_err(|error| io_text("open", path, &error));
    }
    Ok(planned.text("content").unwrap_or_default().into())
}

fn mode(planned: &Object, name: &str) -> u32 {
    planned.text(name).and_then(|text| u32::from_str_radix(text, 8).ok()).unwrap_or(0o777)
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

impl Resource for LocalFile {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        let shown = "A file of this machine with the given content.";
        let not_shown = "A file of this machine with the given content, which is not shown.";
        Schema::new(attributes(self.is_sensitive)).description(if self.is_sensitive { not_shown } else { shown })
    }

    /// Gone if the file is, or if its content is another: either way it is created again.
    async fn read(&self, _: &mut Context<()>, state: Object) -> Result<Option<Object>, Error> {
        let path = state.text("filename").unwrap_or_default();
        match std::fs::read(path) {
            Ok(content) if state.text("id") == Some(&hex(&Sha1::digest(&content))) => Ok(Some(state)),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("Read", "reading the file", &io_text("open", path, &error))),
        }
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        let planned = &creation.planned.model()?;
        let content = content(planned).map_err(|error| self.failed("Create", "parsing local file content", &error))?;
        let path = planned.text("filename").unwrap_or_default();
        let folder = FsPath::new(path).parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.exists()) {
            create_folder(folder, mode(planned, "directory_permission")).map_err(|error| {
                let shown = folder.to_string_lossy();
                self.failed("Create", "creating file directory", &io_text("mkdir", &shown, &error))
            })?;
        }
        write_file(path, &content, mode(planned, "file_permission"))
            .map_err(|error| self.failed("Create", "writing the file", &io_text("open", path, &error)))?;
        Ok(planned.with(checksums(&content)))
    }

    async fn delete(&self, _: &mut Context<()>, state: Object) -> Result<(), Error> {
        // The file may already be removed.
        std::fs::remove_file(state.text("filename").unwrap_or_default()).ok();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Local;
    use super::*;
    use crate::providers::tester::Tester;

    async fn file(kind: &'static str) -> Tester {
        Tester::resource(Local, kind).await
    }

    #[tokio::test]
    async fn lifecycle() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/f");
        let resource = file("local_file").await;
        let planned = resource.object([
            ("filename", Value::string(path.to_str().unwrap())),
            ("content", Value::string("hello")),
            ("file_permission", Value::string("0640")),
        ]);
        let created = resource.create(planned).await.unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "hello");
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o640);
        }
        assert_eq!(resource.read(created.clone()).await, Ok(created.clone()));
        std::fs::write(&path, "other").unwrap();
        assert_eq!(resource.read(created.clone()).await, Ok(resource.absent()));
        resource.delete(created.clone()).await.unwrap();
        assert!(!path.exists());
        assert_eq!(resource.read(created.clone()).await, Ok(resource.absent()));
    }

    #[tokio::test]
    async fn failures_name_the_path() {
        let resource = file("local_sensitive_file").await;
        let planned = resource.object([("source", Value::string("/nonexistent/x")), ("filename", Value::string("y"))]);
        let error = resource.create(planned).await.unwrap_err();
        assert_eq!(error.summary, "Create local sensitive file error");
        assert!(error.detail.ends_with("Original Error: open /nonexistent/x: no such file or directory"));
    }

    #[tokio::test]
    async fn validation() {
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
        let resource = file("local_sensitive_file").await;
        for (values, expected) in cases {
            let values = values.iter().map(|(name, value)| (*name, Value::string(value)));
            let config = resource.object_of([("filename", Value::string("f"))].into_iter().chain(values));
            let found = resource.validate(config).await;
            assert_eq!(found.iter().map(|d| d.detail.as_str()).collect::<Vec<_>>(), expected);
        }
    }
}
