//! Selection of the proxy for a request.

use std::net::IpAddr;

use hyper::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use url::Url;

/// The proxies for `http` and `https`. Requests to loopback addresses use none.
pub struct Proxies {
    matcher: Matcher,
}

impl Proxies {
    pub fn none() -> Proxies {
        Proxies::new("", "", "")
    }

    /// Takes the proxy addresses, empty for none, and a comma-separated list of hosts that are contacted directly.
    pub fn new(http: &str, https: &str, except: &str) -> Proxies {
        Proxies { matcher: Matcher::builder().http(http).https(https).no(except).build() }
    }

    /// `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`, or the same in lower case. `variable` reads a variable.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Proxies {
        let either = |upper: &str| {
            let found = variable(upper).filter(|value| !value.is_empty());
            found.or_else(|| variable(&upper.to_lowercase())).unwrap_or_default()
        };
        Proxies::new(&either("HTTP_PROXY"), &either("HTTPS_PROXY"), &either("NO_PROXY"))
    }

    pub(super) fn find(&self, url: &Url) -> Option<Intercept> {
        let host = url.host_str()?;
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        if host == "localhost" || address.is_ok_and(|address| address.is_loopback()) {
            return None;
        }
        self.matcher.intercept(&url.as_str().parse::<Uri>().ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_selects_the_proxy() {
        let proxies = Proxies::from_environment(|name| match name {
            "HTTP_PROXY" => Some(String::new()),
            "http_proxy" => Some("proxy:81".to_owned()),
            "HTTPS_PROXY" => Some("socks5://proxy:82".to_owned()),
            "NO_PROXY" => Some("direct,.example.com".to_owned()),
            _ => None,
        });
        let cases = [
            ("http://h/", Some("http://proxy:81/")),
            ("https://h/", Some("socks5://proxy:82/")),
            ("http://direct/", None),
            ("http://a.example.com/", None),
            ("http://localhost:8080/", None),
            ("http://127.0.0.9/", None),
            ("http://[::1]/", None),
        ];
        for (url, expected) in cases {
            let found = proxies.find(&Url::parse(url).unwrap()).map(|found| found.uri().to_string());
            assert_eq!(found.as_deref(), expected, "{url}");
        }
        assert!(Proxies::none().find(&Url::parse("http://h/").unwrap()).is_none());
    }
}
