//! The data sources `local_file` and `local_sensitive_file`: a file's content and checksums.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use terrane_sdk::{Attribute, Context, DataSource, Error, Object, Schema, Value, Values};
use terrane_value::text::lossy_text;

use super::{checksum_attributes, checksums};
use crate::wording::io_text;

pub struct LocalFileData {
    description: &'static str,
    is_sensitive: bool,
}

impl LocalFileData {
    pub fn plain() -> LocalFileData {
        LocalFileData { description: "Reads a file of this machine.", is_sensitive: false }
    }

    pub fn sensitive() -> LocalFileData {
        let description = "Reads a file of this machine whose content is not shown.";
        LocalFileData { description, is_sensitive: true }
    }
}

impl DataSource for LocalFileData {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        let content = |name, description| {
            let attribute = Attribute::string(name).description(description).computed();
            if self.is_sensitive { attribute.sensitive() } else { attribute }
        };
        let text = "The content as text; each byte that is not UTF-8 becomes the replacement character.";
        let own = [
            Attribute::string("filename")
                .description("The file's path; it is an error if it does not exist.")
                .required(),
            content("content", text),
            content("content_base64", "The content in base64."),
        ];
        Schema::new(own.into_iter().chain(checksum_attributes())).description(self.description)
    }

    async fn read(&self, _: &mut Context<()>, config: Values<Object>) -> Result<Object, Error> {
        let config = config.model()?;
        let path = config.text("filename").unwrap_or_default();
        let content = std::fs::read(path).map_err(|error| {
            Error::new(
                // The provider has the same summary for both of them.
                "Read local file data source error",
                format!("The file at given path cannot be read.\n\nOriginal Error: {}", io_text("open", path, &error)),
            )
        })?;
        let texts = [
            ("content", Value::string(lossy_text(&content))),
            ("content_base64", Value::string(STANDARD.encode(&content))),
        ];
        Ok(config.with(checksums(&content)).with(texts))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Local;
    use super::*;
    use crate::providers::tester::{Tester, text};

    #[tokio::test]
    async fn reads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, "hello").unwrap();
        let source = Tester::data_source(Local, "local_file").await;
        let config = |path: &str| source.object([("filename", Value::string(path))]);
        let read = source.read(config(path.to_str().unwrap())).await.unwrap();
        assert_eq!(text(&read, "content_base64"), "aGVsbG8=");
        assert_eq!(text(&read, "id"), "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d");
        let error = source.read(config("/nonexistent/f")).await.unwrap_err();
        assert!(error.detail.ends_with("Original Error: open /nonexistent/f: no such file or directory"));
    }
}
