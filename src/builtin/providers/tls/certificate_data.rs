//! The data source `tls_certificate`.

use terrane_sdk::validators::{conflicts_with, exactly_one_of};
use terrane_sdk::{Attribute, ConfiguredAttribute, Context, DataSource, Error, Object, Schema, Type, Value, Values};

use super::certificate::describe::{Description, describe_content, id};
use super::fetch::proxy::Proxy;
use super::fetch::{check_url, fetch};
use crate::providers::{NOT_READ, until_stopped};

pub struct CertificateData;

const TEXTS: &[&str] = &[
    "signature_algorithm",
    "public_key_algorithm",
    "serial_number",
    "issuer",
    "subject",
    "not_before",
    "not_after",
    "sha1_fingerprint",
    "cert_pem",
];

fn element_type() -> Type {
    let texts = TEXTS.iter().map(|name| (*name, Type::String));
    let more = [("is_ca", Type::Bool), ("max_path_length", Type::Number), ("version", Type::Number)];
    Type::object(texts.chain(more))
}

fn element(one: &Description) -> Value {
    Value::object([
        ("signature_algorithm", Value::string(&one.signature_algorithm)),
        ("public_key_algorithm", Value::string(&one.public_key_algorithm)),
        ("serial_number", Value::string(&one.serial_number)),
        ("is_ca", Value::bool(one.is_ca)),
        ("max_path_length", Value::int(one.max_path_length)),
        ("version", Value::int(one.version)),
        ("issuer", Value::string(&one.issuer)),
        ("subject", Value::string(&one.subject)),
        ("not_before", Value::string(&one.not_before)),
        ("not_after", Value::string(&one.not_after)),
        ("sha1_fingerprint", Value::string(&one.sha1_fingerprint)),
        ("cert_pem", Value::string(&one.cert_pem)),
    ])
}

impl DataSource for CertificateData {
    type Data = Proxy;
    type Model = Object;

    fn schema(&self) -> Schema {
        let url = Attribute::string("url").optional().description("The URL of a server: https, or tls with a port.");
        Schema::new([
            url.validator(|attribute: &mut ConfiguredAttribute<'_>| {
                let checked = attribute.value.as_str().map(|url| check_url(url, &["https", "tls"]));
                if let Some(Err(failure)) = checked {
                    attribute.error(failure.summary, failure.detail);
                }
            })
            .validator(exactly_one_of(&["content", "url"])),
            Attribute::string("content")
                .optional()
                .description("A certificate in PEM.")
                .validator(exactly_one_of(&["content", "url"])),
            Attribute::bool("verify_chain")
                .optional()
                .description("Whether the chain of the server's certificate is verified. By default true.")
                .validator(conflicts_with(&["content"])),
            Attribute::plain("certificates", Type::list(element_type()))
                .computed()
                .description("The certificates, the root first."),
            Attribute::string("id").computed().description("A checksum of the certificates."),
        ])
        .description("The certificates of a server, or one that is given.")
    }

    async fn read(&self, context: &mut Context<Proxy>, config: Values<Object>) -> Result<Object, Error> {
        let config = config.model()?;
        let certificates = match (config.text("content"), config.text("url")) {
            (Some(content), _) => vec![describe_content(content)?],
            (None, url) => {
                let verifies_chain = config.bool("verify_chain").unwrap_or(true);
                let fetched = fetch(url.unwrap_or_default(), verifies_chain, context.data()?);
                until_stopped(context, NOT_READ, fetched).await??
            }
        };
        let elements = certificates.iter().map(element).collect();
        Ok(config.with([
            ("verify_chain", Value::bool(config.bool("verify_chain").unwrap_or(true))),
            ("certificates", Value::list(element_type(), elements)),
            ("id", Value::string(id(&certificates))),
        ]))
    }
}
