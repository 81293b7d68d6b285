//! The `local` provider, compatible with version 2.9 of hashicorp/local: files and commands of this machine.
//!
//! Never accesses files other than those in its arguments.

mod command;
mod data;
mod file;

use base::files::normal;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gotext::hex::hex;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use terrane_sdk::{
    Attribute, Context, Error, Function, FunctionError, Provider, Signature, Type, Types, Value, Values, argument,
    parameter, signature,
};

use crate::wording::{io_text, reason};

/// The provider.
pub struct Local;

impl Provider for Local {
    type Config = ();
    type Data = ();

    async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types.without_destroy_plans();
        types.resource("local_file", file::LocalFile::plain());
        types.resource("local_sensitive_file", file::LocalFile::sensitive());
        types.data_source("local_file", data::LocalFileData::plain());
        types.data_source("local_sensitive_file", data::LocalFileData::sensitive());
        types.data_source("local_command", command::Command);
        types.ephemeral("local_command", command::Command);
        types.action("local_command", command::CommandAction);
        types.function("direxists", DirExists);
    }
}

/// The checksums of a file's content, in the notations of both the resources and the data sources.
fn checksums(content: &[u8]) -> [(&'static str, Value); 7] {
    let (sha1, sha256, sha512) = (Sha1::digest(content), Sha256::digest(content), Sha512::digest(content));
    [
        ("content_md5", Value::string(hex(&Md5::digest(content)))),
        ("content_sha1", Value::string(hex(&sha1))),
        ("content_sha256", Value::string(hex(&sha256))),
        ("content_base64sha256", Value::string(STANDARD.encode(sha256))),
        ("content_sha512", Value::string(hex(&sha512))),
        ("content_base64sha512", Value::string(STANDARD.encode(sha512))),
        ("id", Value::string(hex(&sha1))),
    ]
}

fn checksum_attributes() -> Vec<Attribute> {
    let computed = |name, description| Attribute::string(name).description(description).computed();
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

/// Whether there is a directory at a path.
struct DirExists;

impl Function for DirExists {
    fn signature(&self) -> Signature {
        let path = "The directory's path, absolute or relative to the working directory.";
        let description = "True if there is a directory at the path, false if there is nothing, an error if there is \
                           something else. A leading `~` is not replaced; `pathexpand` does that.";
        let parameters = vec![parameter::<String>("path", path)];
        let summary = "Tells whether a directory exists.";
        Signature { description: description.into(), ..signature(summary, parameters, Type::Bool) }
    }

    async fn call(&self, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        let path: String = argument(&arguments, 0)?;
        let failed = |text: String| FunctionError::argument(0, text);
        // As in Go, an empty path is the current folder, and `..` goes back along the text, not along links.
        let absolute = std::path::absolute(if path.is_empty() { "." } else { &path })
            .map_err(|error| failed(format!("Error expanding relative path to absolute path: {}", reason(&error))))?;
        let cleaned = normal(&absolute);
        match std::fs::metadata(&cleaned) {
            Ok(metadata) if metadata.is_dir() => Ok(Value::bool(true)),
            Ok(_) => Err(failed(format!("Invalid file mode detected: {path:?} was found, but is not a directory"))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Value::bool(false)),
            Err(error) => Err(failed(format!(
                "Error checking for directory: {}",
                io_text("stat", &cleaned.to_string_lossy(), &error)
            ))),
        }
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
    fn the_provider_is_valid() {
        terrane_sdk::validate_implementation(Local).unwrap();
    }

    #[tokio::test]
    async fn direxists() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        std::fs::write(&file, "").unwrap();
        let call = |path: &std::path::Path| DirExists.call(vec![Value::string(path.to_str().unwrap())]);
        assert_eq!(call(folder.path()).await, Ok(Value::bool(true)));
        assert_eq!(call(&folder.path().join("no")).await, Ok(Value::bool(false)));
        assert_eq!(call(&folder.path().join("no/../")).await, Ok(Value::bool(true)));
        assert_eq!(call("".as_ref()).await, Ok(Value::bool(true)));
        assert!(call(&file).await.unwrap_err().to_string().ends_with("was found, but is not a directory"));
    }
}
