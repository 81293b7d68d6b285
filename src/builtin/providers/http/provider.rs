//! The http provider: its data source.

use std::collections::BTreeMap;
use std::time::Duration;

use base::env::Environment;
use terrane_sdk::validators::{also_requires, at_least, at_least_sum_of, conflicts_with, one_of};
use terrane_sdk::{
    Attribute, Block, Context, DataSource, Error, NestedBlock, Nesting, Object, Provider, Schema, Type, Types, Value,
    Values,
};

use super::{METHODS, NOT_UTF8, Proxies, Request, Response, Retry, TlsSettings, fetch};
use crate::providers::until_stopped;

pub struct Http;

impl Provider for Http {
    type Config = ();
    type Data = Proxies;

    async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<Proxies, Error> {
        let environment = Environment::process();
        Ok(Proxies::from_environment(|name| environment.get(name).map(str::to_owned)))
    }

    fn types(&self, types: &mut Types<Proxies>) {
        types.data_source("http", Page);
    }
}

struct Page;

fn retry_block() -> NestedBlock {
    let number = |name: &str, text: &str| Attribute::int(name).optional().description(text);
    let block = Block::new([
        number("attempts", "The number of retries after a failed request.").validator(at_least(0)),
        number("min_delay_ms", "The least delay before a retry, in milliseconds.").validator(at_least(0)),
        number("max_delay_ms", "The longest delay before a retry, in milliseconds.")
            .validator(at_least(0))
            .validator(at_least_sum_of(&["min_delay_ms"])),
    ]);
    NestedBlock::new("retry", Nesting::Single, block)
}

impl DataSource for Page {
    type Data = Proxies;
    type Model = Object;

    fn schema(&self) -> Schema {
        let text = |name: &str, text: &str| Attribute::string(name).optional().description(text);
        let result = |name: &str, text: &str| Attribute::string(name).computed().description(text);
        Schema::new([
            Attribute::string("url").required().description("The URL to request: http or https."),
            text("method", "The request method: GET, HEAD or POST. By default GET.").validator(one_of(METHODS)),
            Attribute::string_map("request_headers").optional().description("Headers of the request."),
            text("request_body", "The body of the request."),
            Attribute::int("request_timeout_ms")
                .optional()
                .description("The time limit of a request, in milliseconds.")
                .validator(at_least(1)),
            text("ca_cert_pem", "Trusted certificates in PEM, instead of those of the system.")
                .validator(conflicts_with(&["insecure"])),
            text("client_cert_pem", "The certificate of the client in PEM.")
                .validator(also_requires(&["client_key_pem"])),
            text("client_key_pem", "The key of the client in PEM.").validator(also_requires(&["client_cert_pem"])),
            Attribute::bool("insecure").optional().description("Whether any certificate of the server is accepted."),
            result("id", "The URL."),
            result("response_body", "The body of the response as text."),
            result("body", "The body of the response as text.").deprecated("Use response_body instead"),
            result("response_body_base64", "The body of the response in base64."),
            Attribute::string_map("response_headers").computed().description("Headers of the response."),
            Attribute::int("status_code").computed().description("The status of the response."),
        ])
        .description("Makes an HTTP request.")
        .block(retry_block())
    }

    async fn read(&self, context: &mut Context<Proxies>, config: Values<Object>) -> Result<Object, Error> {
        let config = config.model()?;
        let request = request(&config);
        let response = until_stopped(context, "Error making request", fetch(&request, context.data()?)).await??;
        if !response.is_utf8() {
            context.warn(NOT_UTF8.0, NOT_UTF8.1);
        }
        Ok(answered(&config, &response))
    }
}

fn request(config: &Object) -> Request {
    let text = |name: &str| config.text(name).map(str::to_owned);
    let headers = config.value("request_headers");
    let headers =
        headers.entries().iter().filter_map(|(name, value)| Some((name.to_string(), value.as_str()?.to_owned())));
    Request {
        url: text("url").unwrap_or_default(),
        method: text("method"),
        headers: headers.collect::<BTreeMap<_, _>>(),
        body: text("request_body"),
        timeout_ms: config.int("request_timeout_ms").and_then(|limit| u64::try_from(limit).ok()),
        tls: TlsSettings {
            authorities: text("ca_cert_pem"),
            identity: text("client_cert_pem").zip(text("client_key_pem")),
            insecure: config.bool("insecure").unwrap_or(false),
        },
        retry: retry(&Object(config.value("retry"))),
    }
}

fn retry(block: &Object) -> Retry {
    let number = |name: &str| block.int(name).and_then(|number| u64::try_from(number).ok());
    let default = Retry::default();
    Retry {
        attempts: number("attempts").unwrap_or(default.attempts),
        min_delay: number("min_delay_ms").map_or(default.min_delay, Duration::from_millis),
        max_delay: number("max_delay_ms").map_or(default.max_delay, Duration::from_millis),
    }
}

fn answered(config: &Object, response: &Response) -> Object {
    let headers = response.headers.iter().map(|(name, value)| (name.as_str(), Value::string(value)));
    let body = Value::string(response.text());
    config.with([
        ("id", config.value("url")),
        ("response_headers", Value::map(Type::String, headers)),
        ("response_body", body.clone()),
        ("body", body),
        ("response_body_base64", Value::string(response.base64())),
        ("status_code", Value::int(i64::from(response.status_code))),
    ])
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_implementation_is_valid() {
        terrane_sdk::validate_implementation(super::Http).unwrap();
    }
}
