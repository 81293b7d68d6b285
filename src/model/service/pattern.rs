//! Patterns of providers' addresses, for choosing who supplies what.

use crate::addr::Provider;
use crate::addr::provider::{default_host, normal_host, parse_part};

const ANY: &str = "*";

/// `host/namespace/type` where each part but the host may be `*`; the host may be too if both others are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub host: String,
    pub namespace: String,
    pub kind: String,
}

impl Pattern {
    pub fn exactly(provider: &Provider) -> Pattern {
        Pattern {
            host: provider.host.to_string(),
            namespace: provider.namespace.to_string(),
            kind: provider.kind.to_string(),
        }
    }

    pub fn matches(&self, provider: &Provider) -> bool {
        let fits = |pattern: &str, part: &str| pattern == ANY || pattern == part;
        fits(&self.host, &provider.host)
            && fits(&self.namespace, &provider.namespace)
            && fits(&self.kind, &provider.kind)
    }

    /// Reads a pattern; the error is for people, without a full stop.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let parts: Vec<&str> = text.split('/').collect();
        let (host, namespace, kind) = match parts.as_slice() {
            [namespace, kind] => (default_host(), *namespace, *kind),
            [host, namespace, kind] => (*host, *namespace, *kind),
            _ => {
                return Err(format!(
                    "invalid provider matching pattern {text:?}: must have either two or three slash-separated segments"
                ));
            }
        };
        let part = |given: &str| if given == ANY { Ok(ANY.to_owned()) } else { parse_part(given) };
        let kind_found = part(kind).map_err(|_| {
            format!(
                "invalid provider type {kind:?} in provider matching pattern {text:?}: must either be the wildcard * or a provider \
                 type name"
            )
        })?;
        let namespace = part(namespace).map_err(|_| {
            // It shows the type: so does the reference.
            format!(
                "invalid registry namespace {kind:?} in provider matching pattern {text:?}: must either be the wildcard * or a \
                 literal namespace"
            )
        })?;
        let host = if host == ANY { Ok(ANY.to_owned()) } else { normal_host(host) };
        let host = host.map_err(|e| format!("invalid hostname in provider matching pattern {text:?}: {e}"))?;
        let narrow = |why: &str| Err(format!("invalid provider matching pattern {text:?}: {why}"));
        if host == ANY && (namespace != ANY || kind_found != ANY) {
            return narrow("hostname can be a wildcard only if both namespace and provider type are also wildcards");
        }
        if namespace == ANY && kind_found != ANY {
            return narrow("namespace can be a wildcard only if the provider type is also a wildcard");
        }
        Ok(Pattern { host, namespace, kind: kind_found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_parsed_and_match() {
        let provider = Provider::new("example.com", "acme", "foo");
        for (text, expected) in [
            ("acme/foo", false),
            ("example.com/acme/foo", true),
            ("Example.com/ACME/Foo", true),
            ("example.com/acme/*", true),
            ("example.com/*/*", true),
            ("*/*/*", true),
            ("*/*", false),
            ("other.example/*/*", false),
        ] {
            assert_eq!(Pattern::parse(text).unwrap().matches(&provider), expected, "{text}");
        }
        assert!(Pattern::parse("*/*").unwrap().matches(&Provider::default_for("null")));
    }

    /// Texts observed on the reference 1.11.4.
    #[test]
    fn bad_patterns_are_worded() {
        for (text, expected) in [
            (
                "a/b/c/d",
                "invalid provider matching pattern \"a/b/c/d\": must have either two or three slash-separated segments",
            ),
            ("", "invalid provider matching pattern \"\": must have either two or three slash-separated segments"),
            (
                "a//b",
                "invalid registry namespace \"b\" in provider matching pattern \"a//b\": must either be the wildcard * or a literal \
                 namespace",
            ),
            (
                "a/y_x",
                "invalid provider type \"y_x\" in provider matching pattern \"a/y_x\": must either be the wildcard * or a provider \
                 type name",
            ),
            (
                "*/y",
                "invalid provider matching pattern \"*/y\": namespace can be a wildcard only if the provider type is also a wildcard",
            ),
            (
                "*/x/y",
                "invalid provider matching pattern \"*/x/y\": hostname can be a wildcard only if both namespace and provider type \
                 are also wildcards",
            ),
        ] {
            assert_eq!(Pattern::parse(text), Err(expected.to_owned()));
        }
    }
}
