//! The data sources `local_file` and `local_sensitive_file`: a file's content and checksums.

use async_trait::async_trait;

use super::{checksum_attributes, checksums};
use crate::builtin::sdk::{Attr, DataSource, Shape, b64, object_with, text_of};
use crate::builtin::wording::io_text;
use crate::lang::value::Value;
use crate::model::provider::{ProviderDiagnostic, ProviderDiagnostics};

pub struct File {
    shape: Shape,
    title: &'static str,
}

impl File {
    pub fn plain() -> File {
        File { shape: shape("Reads a file of this machine.", |attr| attr), title: "local file" }
    }

    pub fn sensitive() -> File {
        let description = "Reads a file of this machine whose content is not shown.";
        File { shape: shape(description, Attr::sensitive), title: "local sensitive file" }
    }
}

fn shape(description: &str, content: fn(Attr) -> Attr) -> Shape {
    let mut attributes = checksum_attributes();
    attributes.extend([
        Attr::string("filename", "The file's path; it is an error if it does not exist.").required(),
        content(
            Attr::string("content", "The content as text; what is not UTF-8 becomes the replacement character.")
                .computed(),
        ),
        content(Attr::string("content_base64", "The content in base64.").computed()),
    ]);
    Shape::new(0, description, attributes)
}

#[async_trait]
impl DataSource for File {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    async fn read(&self, config: &Value) -> Result<Value, ProviderDiagnostics> {
        let path = text_of(config, "filename").unwrap_or_default();
        let content = std::fs::read(path).map_err(|error| {
            vec![ProviderDiagnostic::error(
                format!("Read {} data source error", self.title),
                format!("The file at given path cannot be read.\n\nOriginal Error: {}", io_text("open", path, &error)),
            )]
        })?;
        let read = object_with(config, checksums(&content));
        Ok(object_with(
            &read,
            [
                ("content", Value::string(String::from_utf8_lossy(&content))),
                ("content_base64", Value::string(b64(&content))),
            ],
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, "hello").unwrap();
        let source = File::plain();
        let config = |path: &str| source.shape.object([("filename", Value::string(path))]);
        let read = source.read(&config(path.to_str().unwrap())).await.unwrap();
        assert_eq!(text_of(&read, "content_base64"), Some("aGVsbG8="));
        assert_eq!(text_of(&read, "id"), Some("aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"));
        let error = source.read(&config("/nonexistent/f")).await.unwrap_err();
        assert!(error[0].detail.ends_with("Original Error: open /nonexistent/f: no such file or directory"));
    }
}
