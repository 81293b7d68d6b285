//! `provider_installation` of the CLI configuration: where packages of which providers come from.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::model::addr::Provider;
use crate::model::addr::provider::{DEFAULT_HOST, normal_host};

use super::cli_file::{Item, Node};

/// The methods in the order in which they are asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderInstallation {
    pub methods: Vec<Method>,
    /// Folders with executables that take the place of installed packages.
    pub dev_overrides: BTreeMap<Provider, PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    pub location: Location,
    /// Empty: every provider.
    pub include: Vec<Pattern>,
    pub exclude: Vec<Pattern>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// The provider's own registry.
    Direct,
    FilesystemMirror(PathBuf),
    NetworkMirror(String),
}

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
        let fits = |pattern: &str, part: &str| pattern == "*" || pattern == part;
        fits(&self.host, &provider.host)
            && fits(&self.namespace, &provider.namespace)
            && fits(&self.kind, &provider.kind)
    }

    /// Reads a pattern; the error is for people.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let parts: Vec<&str> = text.split('/').collect();
        let (host, namespace, kind) = match parts.as_slice() {
            [kind] => (DEFAULT_HOST, "hashicorp", *kind),
            [namespace, kind] => (DEFAULT_HOST, *namespace, *kind),
            [host, namespace, kind] => (*host, *namespace, *kind),
            _ => return Err(format!("invalid provider matching pattern {text:?}")),
        };
        if [host, namespace, kind].iter().any(|p| p.is_empty()) {
            return Err(format!("invalid provider matching pattern {text:?}"));
        }
        let host = match host {
            "*" => "*".to_owned(),
            host => {
                normal_host(host).map_err(|e| format!("invalid hostname in provider matching pattern {text:?}: {e}"))?
            }
        };
        if (host == "*" && namespace != "*") || (namespace == "*" && kind != "*") {
            return Err(format!(
                "invalid provider matching pattern {text:?}: hostname can be a wildcard only if both namespace and provider type are also wildcards"
            ));
        }
        Ok(Pattern { host, namespace: namespace.to_lowercase(), kind: kind.to_lowercase() })
    }
}

impl Method {
    pub fn new(location: Location) -> Method {
        Method { location, include: Vec::new(), exclude: Vec::new() }
    }

    /// True if this method may supply the provider.
    pub fn applies_to(&self, provider: &Provider) -> bool {
        let included = self.include.is_empty() || self.include.iter().any(|p| p.matches(provider));
        included && !self.exclude.iter().any(|p| p.matches(provider))
    }
}

impl ProviderInstallation {
    /// Reads one `provider_installation` block.
    pub fn decode(items: &[Item]) -> (ProviderInstallation, Diagnostics) {
        let mut installation = ProviderInstallation::default();
        let mut diags = Diagnostics::new();
        for item in items {
            let Some(body) = item.value.as_items() else {
                diags.push(invalid(format!(
                    "The items inside the provider_installation block must all be blocks, but {:?} is not one.",
                    item.key
                )));
                continue;
            };
            if item.key == "dev_overrides" {
                installation.dev_overrides = decode_overrides(body, &mut diags);
            } else {
                installation.methods.extend(decode_method(&item.key, body, &mut diags));
            }
        }
        (installation, diags)
    }
}

fn invalid(detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error("Invalid provider_installation method block", detail)
}

fn decode_method(kind: &str, body: &[Item], diags: &mut Diagnostics) -> Option<Method> {
    let text =
        |name: &str| body.iter().find(|i| i.key == name).and_then(|i| i.value.as_str()).filter(|t| !t.is_empty());
    let (location, own) = match kind {
        "direct" => (Location::Direct, None),
        "filesystem_mirror" => {
            let Some(path) = text("path") else {
                diags.push(invalid(format!("Invalid {kind} block: \"path\" argument is required.")));
                return None;
            };
            (Location::FilesystemMirror(path.into()), Some("path"))
        }
        "network_mirror" => {
            let Some(url) = text("url") else {
                diags.push(invalid(format!("Invalid {kind} block: \"url\" argument is required.")));
                return None;
            };
            (Location::NetworkMirror(url.to_owned()), Some("url"))
        }
        other => {
            diags.push(invalid(format!("Unknown provider installation method {other:?}.")));
            return None;
        }
    };
    for item in body.iter().filter(|i| Some(i.key.as_str()) != own && i.key != "include" && i.key != "exclude") {
        diags.push(invalid(format!("Invalid {kind} block: unknown argument {:?}.", item.key)));
    }
    let mut patterns = |name: &str| {
        let Some(item) = body.iter().find(|i| i.key == name) else { return Vec::new() };
        let Some(texts) = item.value.as_strings() else {
            diags.push(invalid(format!("Invalid {kind} block: {name:?} must be a list of strings.")));
            return Vec::new();
        };
        let mut found = Vec::new();
        for text in texts {
            match Pattern::parse(&text) {
                Ok(pattern) => found.push(pattern),
                Err(problem) => diags.push(invalid(format!("Invalid {kind} block: {problem}."))),
            }
        }
        found
    };
    let (include, exclude) = (patterns("include"), patterns("exclude"));
    Some(Method { location, include, exclude })
}

fn decode_overrides(body: &[Item], diags: &mut Diagnostics) -> BTreeMap<Provider, PathBuf> {
    let mut overrides = BTreeMap::new();
    for item in body {
        let path = match &item.value {
            Node::String(path) => PathBuf::from(path),
            _ => {
                diags.push(invalid(format!(
                    "Invalid dev_overrides block: the value for {:?} must be a string.",
                    item.key
                )));
                continue;
            }
        };
        match Provider::parse_source(&item.key) {
            Ok(provider) => {
                overrides.insert(provider, path);
            }
            Err(problem) => diags.push(invalid(format!(
                "The entry {:?} in a dev_overrides block is not a valid provider source string.\n\n{}",
                item.key, problem.detail
            ))),
        }
    }
    overrides
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::service::cli_file;

    #[test]
    fn methods_in_order() {
        let text = "filesystem_mirror { path = \"/m\" include = [\"example.com/*/*\"] }\ndirect { exclude = [\"example.com/*/*\"] }\n\
                    dev_overrides { \"hashicorp/null\" = \"/dev\" }";
        let (installation, diags) = ProviderInstallation::decode(&cli_file::parse(text).unwrap());
        assert!(diags.is_empty(), "{diags:?}");
        let provider = Provider::new("example.com", "acme", "foo");
        let applies: Vec<bool> = installation.methods.iter().map(|m| m.applies_to(&provider)).collect();
        assert_eq!(applies, [true, false]);
        assert_eq!(installation.dev_overrides.len(), 1);
    }

    #[test]
    fn bad_methods_are_reported() {
        for text in ["foo {}", "filesystem_mirror {}", "direct { x = 1 }", "direct { include = [\"*/x/y\"] }", "x = 1"]
        {
            let (_, diags) = ProviderInstallation::decode(&cli_file::parse(text).unwrap());
            assert!(diags.has_errors(), "{text}");
        }
    }
}
