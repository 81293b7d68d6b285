//! The proxy of the provider's configuration or of the environment.

use reqwest::ClientBuilder;
use terrane_value::text::go_quoted;
use url::Url;

use super::cause::cause;
use super::error::FetchError;
use super::no_proxy::Exceptions;
use crate::providers::failure::Failure;
use crate::providers::tls::uri::Uri;

/// The `proxy` block.
/// Addresses and the password may be secrets: it has no debug form.
#[derive(Clone, Default)]
pub struct ProxyBlock {
    pub url: Option<String>,
    pub username: Option<String>,
    pub password: Option<String>,
    /// True by default.
    pub from_env: Option<bool>,
}

/// Variables of the environment. The names in capitals come before those in small letters; empty ones are not set.
#[derive(Clone, Default)]
pub struct ProxyVariables {
    pub http_proxy: Option<String>,
    pub https_proxy: Option<String>,
    pub no_proxy: Option<String>,
}

/// Which requests go through which proxy.
#[derive(Clone)]
pub enum Proxy {
    None,
    /// All requests.
    Fixed {
        url: Url,
    },
    Environment {
        http: Option<Url>,
        https: Option<Url>,
        exceptions: Exceptions,
    },
}

impl Proxy {
    /// The proxy of a configuration. A URL comes before the environment.
    pub fn new(block: &ProxyBlock, variables: &ProxyVariables) -> Result<Proxy, Failure> {
        let Some(text) = &block.url else {
            let is_used = block.from_env.unwrap_or(true);
            return Ok(if is_used { Proxy::from_environment(variables) } else { Proxy::None });
        };
        let failure = |error: String| Failure::new(format!("Unable to parse proxy URL {}", go_quoted(text)), error);
        Uri::parse(text).map_err(|error| failure(error.to_string()))?;
        let mut url = Url::parse(text).map_err(|error| failure(error.to_string()))?;
        if let Some(name) = &block.username {
            // These fail for URLs without a host only, which are refused before.
            let _ = url.set_username(name);
            let _ = url.set_password(block.password.as_deref());
        }
        Ok(Proxy::Fixed { url })
    }

    fn from_environment(variables: &ProxyVariables) -> Proxy {
        let exceptions = Exceptions::parse(variables.no_proxy.as_deref().unwrap_or_default());
        let proxy = |text: &Option<String>| text.as_deref().and_then(proxy_url);
        Proxy::Environment { http: proxy(&variables.http_proxy), https: proxy(&variables.https_proxy), exceptions }
    }

    /// The proxy for a request, if it has one.
    pub fn of(&self, request: &Url) -> Option<&Url> {
        match self {
            Proxy::None => None,
            Proxy::Fixed { url } => Some(url),
            Proxy::Environment { http, https, exceptions } => {
                let proxy = if request.scheme() == "https" { https } else { http };
                proxy.as_ref().filter(|_| !exceptions.has(request))
            }
        }
    }

    /// Sets the proxy of a client.
    pub fn apply(&self, builder: ClientBuilder) -> Result<ClientBuilder, FetchError> {
        // Its own reading of the environment differs from Go's.
        let builder = builder.no_proxy();
        Ok(match self {
            Proxy::None => builder,
            Proxy::Fixed { url } => {
                builder.proxy(reqwest::Proxy::all(url.clone()).map_err(|error| FetchError::Client(cause(&error)))?)
            }
            Proxy::Environment { .. } => {
                let proxy = self.clone();
                builder.proxy(reqwest::Proxy::custom(move |request| proxy.of(request).cloned()))
            }
        })
    }
}

/// A proxy's address; without a scheme it is one of HTTP.
fn proxy_url(text: &str) -> Option<Url> {
    let has_host = Uri::parse(text).is_ok_and(|uri| !uri.scheme().is_empty() && !uri.host().is_empty());
    let text = if has_host { text.to_owned() } else { format!("http://{text}") };
    Url::parse(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::tls::golden::{cases, text};

    #[test]
    fn environment_chooses_proxies_as_in_go() {
        for case in cases("proxies.json") {
            let variable = |name: &str| Some(text(&case, name).to_owned()).filter(|text| !text.is_empty());
            let variables = ProxyVariables {
                http_proxy: variable("http_proxy"),
                https_proxy: variable("https_proxy"),
                no_proxy: variable("no_proxy"),
            };
            let proxy = Proxy::new(&ProxyBlock::default(), &variables).expect("proxy");
            let request = Url::parse(text(&case, "url")).expect("URL");
            let found = proxy.of(&request).map(|url| url.as_str().trim_end_matches('/')).unwrap_or_default();
            assert_eq!(found, text(&case, "proxy"), "{case}");
        }
    }

    #[test]
    fn block_sets_user_and_password() {
        let of = |url: &str, username: Option<&str>, password: Option<&str>| {
            let [username, password] = [username, password].map(|text| text.map(str::to_owned));
            let block = ProxyBlock { url: Some(url.to_owned()), username, password, from_env: None };
            let proxy = Proxy::new(&block, &ProxyVariables::default());
            proxy.map(|proxy| proxy.of(&Url::parse("https://localhost").expect("URL")).map(Url::to_string))
        };
        assert_eq!(of("http://p:1", None, None), Ok(Some("http://p:1/".to_owned())));
        assert_eq!(of("http://a:b@p:1", Some("u"), None), Ok(Some("http://u@p:1/".to_owned())));
        assert_eq!(of("socks5://p:1", Some("u"), Some("x@")), Ok(Some("socks5://u:x%40@p:1".to_owned())));
        let failure = of("http://p:x", None, None).expect_err("no port");
        assert_eq!(failure.summary, "Unable to parse proxy URL \"http://p:x\"");
    }
}
