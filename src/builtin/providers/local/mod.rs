//! The `local` provider, compatible with version 2.6 of hashicorp/local: files and commands of this machine.
//!
//! Never accesses files other than those in its arguments.

mod command;
mod data;
mod file;

use std::sync::Arc;

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use crate::base::hex::hex;
use crate::builtin::sdk::{Attr, BuiltIn, Function, b64};
use crate::builtin::wording::io_text;
use crate::lang::value::{Type, Value};
use crate::model::provider::FunctionError;
use crate::model::schema::{FunctionSignature, Parameter};

pub fn provider() -> BuiltIn {
    BuiltIn::new(
        vec![
            ("local_file", Box::new(file::File::plain())),
            ("local_sensitive_file", Box::new(file::File::sensitive())),
        ],
        vec![
            ("local_file", Box::new(data::File::plain())),
            ("local_sensitive_file", Box::new(data::File::sensitive())),
            ("local_command", Box::new(command::Command::new())),
        ],
        vec![],
        vec![dir_exists()],
    )
}

/// The checksums of a file's content, in the notations of both the resources and the data sources.
fn checksums(content: &[u8]) -> [(&'static str, Value); 7] {
    let (sha1, sha256, sha512) = (Sha1::digest(content), Sha256::digest(content), Sha512::digest(content));
    [
        ("content_md5", Value::string(hex(&Md5::digest(content)))),
        ("content_sha1", Value::string(hex(&sha1))),
        ("content_sha256", Value::string(hex(&sha256))),
        ("content_base64sha256", Value::string(b64(&sha256))),
        ("content_sha512", Value::string(hex(&sha512))),
        ("content_base64sha512", Value::string(b64(&sha512))),
        ("id", Value::string(hex(&sha1))),
    ]
}

fn checksum_attributes() -> Vec<Attr> {
    let computed = |name, description| Attr::string(name, description).computed();
    vec![
        computed("content_md5", "The content's MD5 checksum, in hexadecimal digits."),
        computed("content_sha1", "The content's SHA-1 checksum, in hexadecimal digits."),
        computed("content_sha256", "The content's SHA-256 checksum, in hexadecimal digits."),
        computed("content_base64sha256", "The content's SHA-256 checksum, in base64."),
        computed("content_sha512", "The content's SHA-512 checksum, in hexadecimal digits."),
        computed("content_base64sha512", "The content's SHA-512 checksum, in base64."),
        computed("id", "The content's SHA-1 checksum, in hexadecimal digits."),
    ]
}

fn dir_exists() -> Function {
    Function {
        name: "direxists",
        signature: Arc::new(FunctionSignature {
            parameters: vec![Parameter {
                name: "path".into(),
                ty: Type::String,
                allow_null: false,
                allow_unknown: false,
                description: "The directory's path, absolute or relative to the working directory.".into(),
                markdown: false,
            }],
            variadic: None,
            returns: Type::Bool,
            summary: "Tells whether a directory exists.".into(),
            description: "True if there is a directory at the path, false if there is nothing, an error if there is \
                          something else. A leading `~` is not replaced; `pathexpand` does that."
                .into(),
            markdown: false,
            deprecation_message: String::new(),
        }),
        call: |arguments| {
            let path = arguments.first().and_then(Value::as_str).unwrap_or_default();
            let failed = |text: String| FunctionError { text, argument: Some(0) };
            match std::fs::metadata(path) {
                Ok(metadata) if metadata.is_dir() => Ok(Value::bool(true)),
                Ok(_) => Err(failed(format!("Invalid file mode detected: {path:?} was found, but is not a directory"))),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Value::bool(false)),
                Err(error) => Err(failed(format!("Error checking for directory: {}", io_text("stat", path, &error)))),
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_checksums() {
        let sums = checksums(b"hello");
        let text = |name| sums.iter().find(|(key, _)| *key == name).and_then(|(_, value)| value.as_str());
        assert_eq!(text("content_md5"), Some("5d41402abc4b2a76b9719d911017c592"));
        assert_eq!(text("id"), Some("aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"));
        assert_eq!(text("content_base64sha256"), Some("LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="));
    }

    #[test]
    fn direxists() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        std::fs::write(&file, "").unwrap();
        let call = |path: &std::path::Path| (dir_exists().call)(&[Value::string(path.to_str().unwrap())]);
        assert_eq!(call(folder.path()), Ok(Value::bool(true)));
        assert_eq!(call(&folder.path().join("no")), Ok(Value::bool(false)));
        assert!(call(&file).unwrap_err().text.ends_with("was found, but is not a directory"));
    }
}
