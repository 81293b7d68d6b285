//! The cloudinit provider: the data source and the resource `cloudinit_config`.

use terrane_sdk::validators::{is_required, length_at_least};
use terrane_sdk::{
    Attribute, Block, Context, Creation, DataSource, Error, NestedBlock, Nesting, Object, Path, Provider, Resource,
    Schema, Types, Validation, Value, Values, replace,
};

use super::{Config, DEFAULT_BOUNDARY, DEFAULT_CONTENT_TYPE, Document, Part, render, validate};

pub struct CloudInit;

impl Provider for CloudInit {
    type Config = ();
    type Data = ();

    async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types.data_source("cloudinit_config", Source).resource("cloudinit_config", Managed);
    }
}

const DEPRECATED: &str = "This resource is deprecated, please use the cloudinit_config data source instead.";

/// `change`: what resources have more, their defaults and plan modifiers.
fn schema(change: impl Fn(Attribute, Option<Value>) -> Attribute) -> Schema {
    let plain = |attribute: Attribute, text: &str| change(attribute.description(text), None);
    let text_with_default = |name: &str, default: &str, text: &str| {
        change(Attribute::string(name).optional().computed().description(text), Some(Value::string(default)))
    };
    let flag = |name: &str, text: &str| {
        change(Attribute::bool(name).optional().computed().description(text), Some(Value::bool(true)))
    };
    let part = Block::new([
        plain(Attribute::string("content").required(), "The text of the part."),
        text_with_default("content_type", DEFAULT_CONTENT_TYPE, "The MIME type of the part.")
            .validator(length_at_least(1)),
        plain(Attribute::string("filename").optional(), "The file name in the header of the part."),
        plain(Attribute::string("merge_type").optional(), "The value of the header X-Merge-Type of the part."),
    ]);
    Schema::new([
        flag("gzip", "Whether the text is compressed. Compressed texts must be encoded in base64."),
        flag("base64_encode", "Whether the text is encoded in base64."),
        text_with_default("boundary", DEFAULT_BOUNDARY, "The separator between parts."),
        Attribute::string("rendered").computed().description("The text for the machine."),
        Attribute::string("id").computed().description("A checksum of the text."),
    ])
    .description("Renders a multi-part configuration for cloud-init.")
    .block(NestedBlock::new("part", Nesting::List, part).validator(is_required()))
}

fn check(validation: &mut Validation<'_, Object>) {
    let config = validation.config.value();
    let (gzip, base64) = (config.get("gzip"), config.get("base64_encode"));
    if [gzip, base64].iter().flatten().any(|value| !value.is_known()) {
        return;
    }
    let flag = |value: Option<&Value>| value.and_then(Value::as_bool);
    if let Err(failure) = validate(flag(gzip), flag(base64)) {
        validation.error(Path::new().attr("base64_encode"), failure.summary, failure.detail);
    }
}

fn arguments(object: &Object) -> Config {
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let parts = object.value("part");
    Config {
        gzip: object.bool("gzip"),
        base64_encode: object.bool("base64_encode"),
        boundary: object.text("boundary").map(str::to_owned),
        parts: parts
            .elements()
            .iter()
            .map(|part| Part {
                content: text(part, "content").unwrap_or_default(),
                content_type: text(part, "content_type"),
                filename: text(part, "filename"),
                merge_type: text(part, "merge_type"),
            })
            .collect(),
    }
}

/// The object with its defaults and what is computed.
fn rendered(object: &Object) -> Result<Object, Error> {
    let document = render(&arguments(object))?;
    let parts = object.value("part");
    let typed = parts
        .elements()
        .iter()
        .zip(&document.content_types)
        .map(|(part, content_type)| Object(part.clone()).with([("content_type", Value::string(content_type))]).0);
    let element = parts.ty().element_type().cloned();
    let parts = Value::list(element.unwrap_or(terrane_sdk::Type::Dynamic), typed.collect());
    let Document { gzip, base64_encode, boundary, rendered, id, .. } = document;
    Ok(object.with([
        ("part", parts),
        ("gzip", Value::bool(gzip)),
        ("base64_encode", Value::bool(base64_encode)),
        ("boundary", Value::string(boundary)),
        ("rendered", Value::string(rendered)),
        ("id", Value::string(id)),
    ]))
}

struct Source;

impl DataSource for Source {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        schema(|attribute, _| attribute)
    }

    fn validate(&self, validation: &mut Validation<'_, Object>) {
        check(validation);
    }

    async fn read(&self, _: &mut Context<()>, config: Values<Object>) -> Result<Object, Error> {
        rendered(&config.model()?)
    }
}

struct Managed;

impl Resource for Managed {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        let schema = schema(|attribute, default| {
            let attribute = attribute.modifier(replace());
            match default {
                Some(default) => attribute.default(default),
                None => attribute,
            }
        });
        let mut schema = schema.deprecated(DEPRECATED);
        for block in &mut schema.block.blocks {
            block.modifiers.push(std::sync::Arc::new(replace()));
        }
        schema
    }

    fn validate(&self, validation: &mut Validation<'_, Object>) {
        check(validation);
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        rendered(&creation.planned.model()?)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_implementation_is_valid() {
        terrane_sdk::validate_implementation(super::CloudInit).unwrap();
    }
}
