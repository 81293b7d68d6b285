//! The tls provider: its configuration and its types.

use base::env::Environment;
use terrane_sdk::validators::{also_requires, conflicts_with, size_between};
use terrane_sdk::{
    Attribute, Block, ConfiguredAttribute, Context, Error, NestedBlock, Nesting, Object, Provider, Schema, Types,
    Values,
};

use super::certificate_data::CertificateData;
use super::fetch::check_url;
use super::fetch::proxy::{Proxy, ProxyBlock, ProxyVariables};
use super::key_resource::{EphemeralKey, EphemeralPublicKey, PrivateKeyResource, PublicKeyData};
use super::locally_signed::LocallySigned;
use super::request_resource::RequestResource;
use super::self_signed::SelfSigned;

pub struct Tls;

impl Provider for Tls {
    type Config = Object;
    type Data = Proxy;

    fn schema(&self) -> Schema {
        let url = Attribute::string("url").optional().description("The URL of the proxy: http, https or socks5.");
        let block = Block::new([
            url.validator(|attribute: &mut ConfiguredAttribute<'_>| {
                let checked = attribute.value.as_str().map(|url| check_url(url, &["http", "https", "socks5"]));
                if let Some(Err(failure)) = checked {
                    attribute.error(failure.summary, failure.detail);
                }
            })
            .validator(conflicts_with(&["from_env"])),
            Attribute::string("username")
                .optional()
                .description("The user name for the proxy.")
                .validator(also_requires(&["url"])),
            Attribute::string("password")
                .optional()
                .sensitive()
                .description("The password for the proxy.")
                .validator(also_requires(&["username"])),
            Attribute::bool("from_env")
                .optional()
                .description("Whether the proxy is that of the environment variables. By default true.")
                .validator(conflicts_with(&["url", "username", "password"])),
        ]);
        let proxy = NestedBlock::new("proxy", Nesting::List, block).validator(size_between(0, 1));
        Schema::default().description("Keys and certificates.").block(proxy)
    }

    async fn configure(&self, _: &mut Context<()>, config: Values<Object>) -> Result<Proxy, Error> {
        let blocks = config.model()?.value("proxy");
        let block = Object(blocks.at(0).cloned().unwrap_or_else(terrane_sdk::Value::null_dynamic));
        let text = |name: &str| block.text(name).map(str::to_owned);
        let settings = ProxyBlock {
            url: text("url"),
            username: text("username"),
            password: text("password"),
            from_env: block.bool("from_env"),
        };
        let environment = Environment::process();
        let variable = |upper: &str| {
            let found = environment.non_empty(upper).or_else(|| environment.non_empty(&upper.to_lowercase()));
            found.map(str::to_owned)
        };
        let variables = ProxyVariables {
            http_proxy: variable("HTTP_PROXY"),
            https_proxy: variable("HTTPS_PROXY"),
            no_proxy: variable("NO_PROXY"),
        };
        Ok(Proxy::new(&settings, &variables)?)
    }

    fn types(&self, types: &mut Types<Proxy>) {
        types
            .resource("tls_private_key", PrivateKeyResource)
            .resource("tls_cert_request", RequestResource)
            .resource("tls_self_signed_cert", SelfSigned)
            .resource("tls_locally_signed_cert", LocallySigned)
            .data_source("tls_public_key", PublicKeyData)
            .data_source("tls_certificate", CertificateData)
            .ephemeral("tls_private_key", EphemeralKey)
            .ephemeral("tls_public_key", EphemeralPublicKey);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_implementation_is_valid() {
        terrane_sdk::validate_implementation(super::Tls).unwrap();
    }

    #[tokio::test]
    async fn proxy_credentials_need_what_they_belong_to() {
        use terrane_sdk::{Type, Value};
        let provider = terrane_sdk::server(super::Tls);
        let names = ["url", "username", "password"];
        for (given, expected) in [(vec!["username"], 1), (vec!["url", "password"], 1), (vec!["url", "username"], 0)] {
            let value = |name: &str| match given.contains(&name) {
                true => Value::string("http://proxy"),
                false => Value::null(Type::String),
            };
            let texts = names.iter().map(|name| (*name, value(name)));
            let block = Value::object(texts.chain([("from_env", Value::null(Type::Bool))]));
            let config = Value::object([("proxy", Value::list(block.ty().clone(), vec![block]))]);
            let (_, found) = provider.validate_provider_config(config).await;
            assert_eq!(found.len(), expected, "{given:?}");
        }
    }
}
