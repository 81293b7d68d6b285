//! Patterns of providers' addresses, for choosing who supplies what.

use std::fmt;

use crate::addr::Provider;
use crate::addr::provider::{default_host, normal_host, parse_part};

const ANY: &str = "*";

/// `host/namespace/type` where each part but the host may be `*`; the host may be too if both others are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderPattern {
    pub host: String,
    pub namespace: String,
    pub kind: String,
}

/// Why a text is no pattern, without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderPatternError {
    Segments(String),
    Kind {
        kind: String,
        text: String,
    },
    /// The message shows the type: so does the reference.
    Namespace {
        kind: String,
        text: String,
    },
    Host {
        text: String,
        why: &'static str,
    },
    /// A wildcard in front of a part that is none.
    Wildcard {
        text: String,
        why: &'static str,
    },
}

impl fmt::Display for ProviderPatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProviderPatternError::Segments(text) => write!(
                f,
                "invalid provider matching pattern {text:?}: must have either two or three slash-separated segments"
            ),
            ProviderPatternError::Kind { kind, text } => write!(
                f,
                "invalid provider type {kind:?} in provider matching pattern {text:?}: must either be the wildcard * or a provider \
                 type name"
            ),
            ProviderPatternError::Namespace { kind, text } => write!(
                f,
                "invalid registry namespace {kind:?} in provider matching pattern {text:?}: must either be the wildcard * or a \
                 literal namespace"
            ),
            ProviderPatternError::Host { text, why } => {
                write!(f, "invalid hostname in provider matching pattern {text:?}: {why}")
            }
            ProviderPatternError::Wildcard { text, why } => {
                write!(f, "invalid provider matching pattern {text:?}: {why}")
            }
        }
    }
}

impl std::error::Error for ProviderPatternError {}

impl ProviderPattern {
    pub fn exactly(provider: &Provider) -> ProviderPattern {
        ProviderPattern {
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

    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<ProviderPattern, ProviderPatternError> {
        let parts: Vec<&str> = text.split('/').collect();
        let written = || text.to_owned();
        let (host, namespace, kind) = match parts.as_slice() {
            [namespace, kind] => (default_host(), *namespace, *kind),
            [host, namespace, kind] => (*host, *namespace, *kind),
            _ => return Err(ProviderPatternError::Segments(written())),
        };
        let part = |given: &str| if given == ANY { Ok(ANY.to_owned()) } else { parse_part(given) };
        let found = part(kind).map_err(|_| ProviderPatternError::Kind { kind: kind.to_owned(), text: written() })?;
        let namespace =
            part(namespace).map_err(|_| ProviderPatternError::Namespace { kind: kind.to_owned(), text: written() })?;
        let host = if host == ANY { Ok(ANY.to_owned()) } else { normal_host(host) };
        let host = host.map_err(|why| ProviderPatternError::Host { text: written(), why })?;
        let wildcard = |why: &'static str| Err(ProviderPatternError::Wildcard { text: written(), why });
        if host == ANY && (namespace != ANY || found != ANY) {
            return wildcard("hostname can be a wildcard only if both namespace and provider type are also wildcards");
        }
        if namespace == ANY && found != ANY {
            return wildcard("namespace can be a wildcard only if the provider type is also a wildcard");
        }
        Ok(ProviderPattern { host, namespace, kind: found })
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
            assert_eq!(ProviderPattern::parse(text).unwrap().matches(&provider), expected, "{text}");
        }
        assert!(ProviderPattern::parse("*/*").unwrap().matches(&Provider::default_for("null")));
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
            assert_eq!(ProviderPattern::parse(text).unwrap_err().to_string(), expected);
        }
    }
}
