//! The archive provider: the data source and the resource `archive_file`.

use std::collections::BTreeMap;

use terrane_sdk::validators::conflicts_with;
use terrane_sdk::{
    Attribute, Block, Context, Creation, DataSource, Error, NestedBlock, Nesting, Object, Provider, Resource, Schema,
    Types, Update, Validation, Value, Values, replace,
};

use super::{ArchiveRequest, ArchiveSource, CONFLICTS, Output, SOURCES, create};
use crate::providers::rules::require_one_of;

pub struct Archive;

impl Provider for Archive {
    type Config = ();
    type Data = ();

    async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types.data_source("archive_file", ArchiveData).resource("archive_file", ArchiveResource);
    }
}

/// Optional inputs that are texts, with their descriptions.
const TEXTS: &[(&str, &str)] = &[
    ("source_content", "The content of the only file of the archive; needs source_content_filename."),
    ("source_content_filename", "The name of the file with source_content."),
    ("source_file", "The file to archive."),
    ("source_dir", "The folder to archive."),
    ("output_file_mode", "The mode of all files in the archive, in octal digits after a 0."),
];

/// Outputs that are texts, with their descriptions.
const OUTPUTS: &[(&str, &str)] = &[
    ("id", "The SHA-1 checksum of the archive."),
    ("output_md5", "The MD5 checksum of the archive."),
    ("output_sha", "The SHA-1 checksum of the archive."),
    ("output_sha256", "The SHA-256 checksum of the archive."),
    ("output_base64sha256", "The SHA-256 checksum of the archive, in base64."),
    ("output_sha512", "The SHA-512 checksum of the archive."),
    ("output_base64sha512", "The SHA-512 checksum of the archive, in base64."),
];

/// The validator of an input: what it conflicts with.
fn checked(attribute: Attribute) -> Attribute {
    let conflicts = CONFLICTS.iter().find(|(name, _)| *name == attribute.name);
    match conflicts {
        Some((_, others)) => attribute.validator(conflicts_with(others)),
        None => attribute,
    }
}

/// `input`: what resources have more.
fn schema(input: impl Fn(Attribute) -> Attribute) -> Schema {
    let texts = TEXTS.iter().map(|(name, text)| input(checked(Attribute::string(*name).optional().description(*text))));
    let outputs = OUTPUTS.iter().map(|(name, text)| Attribute::string(*name).computed().description(*text));
    let excludes = Attribute::plain("excludes", terrane_sdk::Type::set(terrane_sdk::Type::String));
    let excludes = excludes.optional().description("Patterns of paths in source_dir that are left out.");
    let links = Attribute::bool("exclude_symlink_directories");
    let links = links.optional().description("Whether links to folders in source_dir are left out.");
    let content = Block::new([
        input(Attribute::string("content").required().description("The content of a file.")),
        input(Attribute::string("filename").required().description("The name of the file.")),
    ]);
    let mut source = NestedBlock::new("source", Nesting::Set, content);
    if let Some((_, others)) = CONFLICTS.iter().find(|(name, _)| *name == "source") {
        source = source.validator(conflicts_with(others));
    }
    Schema::new(texts.chain(outputs).chain([
        input(Attribute::string("type").required().description("The kind of the archive: zip or tar.gz.")),
        input(Attribute::string("output_path").required().description("The path of the archive.")),
        input(checked(excludes)),
        links,
        Attribute::int("output_size").computed().description("The size of the archive in bytes."),
    ]))
    .description("Writes an archive of files or of given content.")
    .block(source)
}

fn request(object: &Object) -> ArchiveRequest {
    let text = |name: &str| object.text(name).map(str::to_owned);
    let source = if let Some(path) = text("source_dir") {
        ArchiveSource::Directory {
            path,
            excludes: object.texts("excludes"),
            exclude_symlink_directories: object.bool("exclude_symlink_directories").unwrap_or(false),
        }
    } else if let Some(path) = text("source_file") {
        ArchiveSource::File(path)
    } else if let Some(name) = text("source_content_filename") {
        ArchiveSource::Contents([(name, text("source_content").unwrap_or_default())].into())
    } else {
        ArchiveSource::Contents(contents(&object.value("source")))
    };
    ArchiveRequest {
        kind: text("type").unwrap_or_default(),
        output_path: text("output_path").unwrap_or_default(),
        file_mode: text("output_file_mode"),
        source,
    }
}

/// The blocks `source`: contents by file name.
fn contents(blocks: &Value) -> BTreeMap<String, String> {
    let text = |block: &Value, name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    blocks.elements().iter().map(|block| (text(block, "filename"), text(block, "content"))).collect()
}

/// The object with its archive written.
fn archived(object: &Object) -> Result<Object, Error> {
    let Output { size, md5, sha1, sha256, base64_sha256, sha512, base64_sha512 } = create(&request(object))?;
    Ok(object.with([
        ("id", Value::string(&sha1)),
        ("output_size", Value::int(i64::try_from(size).unwrap_or(i64::MAX))),
        ("output_md5", Value::string(md5)),
        ("output_sha", Value::string(sha1)),
        ("output_sha256", Value::string(sha256)),
        ("output_base64sha256", Value::string(base64_sha256)),
        ("output_sha512", Value::string(sha512)),
        ("output_base64sha512", Value::string(base64_sha512)),
    ]))
}

struct ArchiveData;

impl DataSource for ArchiveData {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        schema(|attribute| attribute)
    }

    fn validate(&self, validation: &mut Validation<'_, Object>) {
        require_one_of(validation, &SOURCES);
    }

    async fn read(&self, _: &mut Context<()>, config: Values<Object>) -> Result<Object, Error> {
        archived(&config.model()?)
    }
}

struct ArchiveResource;

impl Resource for ArchiveResource {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        schema(|attribute| attribute.modifier(replace()))
    }

    fn validate(&self, validation: &mut Validation<'_, Object>) {
        require_one_of(validation, &SOURCES);
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        archived(&creation.planned.model()?)
    }

    /// Writes the archive again: its sources may have changed.
    async fn read(&self, _: &mut Context<()>, state: Object) -> Result<Option<Object>, Error> {
        archived(&state).map(Some)
    }

    async fn update(&self, _: &mut Context<()>, update: &mut Update<Object>) -> Result<Object, Error> {
        archived(&update.planned.model()?)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_implementation_is_valid() {
        terrane_sdk::validate_implementation(super::Archive).unwrap();
    }
}
