//! Providers by their source address, and provider configurations: local and absolute.

use std::fmt;
use std::sync::Arc;

use base::diag::Diagnostic;
use base::dialect::Dialect;

use super::Module;

/// The registry host of an address that names none: that of the process, as addresses are read and shown everywhere.
pub fn default_host() -> &'static str {
    Dialect::of_process().registry_host()
}

/// The host of the providers that live in this binary.
pub const BUILTIN_HOST: &str = "terraform.io";
/// The namespace of an address that names none.
pub const DEFAULT_NAMESPACE: &str = "hashicorp";

/// A provider's source address: `host/namespace/type`, lower case, ASCII (punycode) host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Provider {
    pub kind: Arc<str>,
    pub namespace: Arc<str>,
    pub host: Arc<str>,
}

impl Provider {
    pub fn new(host: &str, namespace: &str, kind: &str) -> Provider {
        Provider { host: host.into(), namespace: namespace.into(), kind: kind.into() }
    }

    /// The provider that a bare type name stands for.
    pub fn default_for(kind: &str) -> Provider {
        if kind == "terraform" { Provider::builtin(kind) } else { Provider::registered_for(kind) }
    }

    /// The provider of the default registry and namespace, also where the name is that of the built-in one.
    pub fn registered_for(kind: &str) -> Provider {
        Provider::new(default_host(), DEFAULT_NAMESPACE, &kind.to_lowercase())
    }

    pub fn builtin(kind: &str) -> Provider {
        Provider::new(BUILTIN_HOST, "builtin", kind)
    }

    pub fn is_builtin(&self) -> bool {
        &*self.host == BUILTIN_HOST && &*self.namespace == "builtin"
    }

    /// From a time before namespaces: `-/null`.
    pub fn is_legacy(&self) -> bool {
        &*self.host == default_host() && &*self.namespace == "-"
    }

    pub fn is_default(&self) -> bool {
        &*self.host == default_host() && &*self.namespace == DEFAULT_NAMESPACE
    }

    /// As people write it: the host left out if it is the default one.
    pub fn for_display(&self) -> String {
        if &*self.host == default_host() { format!("{}/{}", self.namespace, self.kind) } else { self.to_string() }
    }
}

/// One part of a provider's source address in its normal form; the error is for people.
pub fn parse_part(given: &str) -> Result<String, &'static str> {
    if given.is_empty() {
        return Err("must have at least one character");
    }
    if given.starts_with("xn--") || given.contains("--") {
        return Err("cannot use multiple consecutive dashes");
    }
    let normal = given.to_lowercase();
    if normal.starts_with('-') || normal.ends_with('-') {
        return Err(PART_RULE);
    }
    match normal.chars().find(|c| !(c.is_alphanumeric() || *c == '-')) {
        None => Ok(normal),
        Some('.') => Err("dots are not allowed"),
        Some(_) => Err(PART_RULE),
    }
}

/// A namespace in its normal form: as the other parts, but for underscores within, which Terraform has let through since 1.16.
pub fn parse_namespace(given: &str) -> Result<String, &'static str> {
    let within = given.trim_matches('_').len() == given.len();
    parse_part(&if within { given.replace('_', "0") } else { given.to_owned() }).map(|_| given.to_lowercase())
}

const PART_RULE: &str = "must contain only letters, digits, and dashes, and may not use leading or trailing dashes";

impl Provider {
    /// A source address as people write it: `type`, `namespace/type` or `host/namespace/type`.
    pub fn parse_source(text: &str) -> Result<Provider, Diagnostic> {
        let parts: Vec<&str> = text.split('/').collect();
        if parts.len() > 3 || parts.iter().any(|p| p.is_empty()) {
            return Err(Diagnostic::error(
                "Invalid provider source string",
                "The \"source\" attribute must be in the format \"[hostname/][namespace/]name\"",
            ));
        }
        let part = |what: &str, given: &str| {
            let parsed = if what == "namespace" { parse_namespace(given) } else { parse_part(given) };
            parsed.map_err(|e| {
                // The reference does not show the namespace here.
                let given = if what == "type" { given } else { "" };
                let detail = format!("Invalid provider {what} {given:?} in source {text:?}: {e}\"");
                Diagnostic::error(format!("Invalid provider {what}"), detail)
            })
        };
        let provider = match parts.as_slice() {
            [kind] => return Ok(Provider::default_for(&part("type", kind)?)),
            [namespace, kind] => {
                let kind = part("type", kind)?;
                Provider::new(default_host(), &namespace_part(namespace, part)?, &kind)
            }
            [host, namespace, kind] => {
                let kind = part("type", kind)?;
                let namespace = namespace_part(namespace, part)?;
                let host = normal_host(host).map_err(|e| {
                    let detail =
                        format!("Invalid provider source hostname namespace {host:?} in source {text:?}: {e}\"");
                    Diagnostic::error("Invalid provider source hostname", detail)
                })?;
                Provider::new(&host, &namespace, &kind)
            }
            _ => unreachable!("one to three parts"),
        };
        provider.check_prefix()?;
        Ok(provider)
    }

    /// Repositories are called `terraform-provider-x`; the provider itself is called `x`.
    fn check_prefix(&self) -> Result<(), Diagnostic> {
        let Some(rest) = self.kind.strip_prefix("terraform-") else { return Ok(()) };
        let detail = match rest.strip_prefix("provider-").filter(|kind| parse_part(kind).is_ok()) {
            Some(kind) => format!(
                "Provider source {:?} has a type with the prefix \"terraform-provider-\", which isn't valid. Although that \
                 prefix is often used in the names of version control repositories for Terraform providers, provider source \
                 strings should not include it.\n\nDid you mean {:?}?",
                self.for_display(),
                Provider { kind: kind.into(), ..self.clone() }.for_display()
            ),
            None => format!(
                "Provider source {:?} has a type with the prefix \"terraform-\", which isn't allowed because it would be \
                 redundant to name a Terraform provider with that prefix. If you are the author of this provider, rename it \
                 to not include the prefix.",
                self.to_string()
            ),
        };
        Err(Diagnostic::error("Invalid provider type", detail))
    }
}

/// `-` stands for the providers of a time before namespaces.
fn namespace_part(given: &str, part: impl Fn(&str, &str) -> Result<String, Diagnostic>) -> Result<String, Diagnostic> {
    if given == "-" { Ok(given.to_owned()) } else { part("namespace", given) }
}

/// A host in lower case, with its port unless that is the usual one.
pub fn normal_host(given: &str) -> Result<String, &'static str> {
    let (name, port) = match given.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (given, None),
    };
    let label_ok = |l: &str| {
        !l.is_empty()
            && l.len() < 64
            && !l.starts_with('-')
            && !l.ends_with('-')
            && l.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    if !name.split('.').all(label_ok) {
        return Err("invalid hostname");
    }
    let name = name.to_lowercase();
    match port {
        None | Some("443") => Ok(name),
        Some(port) if port.parse::<u16>().is_ok() => Ok(format!("{name}:{port}")),
        Some(_) => Err("invalid port"),
    }
}

/// The full form, host included: the form of lock files and state.
impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.kind)
    }
}

/// A provider configuration as a module names it: `aws` or `aws.west`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalProviderConfig {
    pub local_name: Arc<str>,
    pub alias: Option<Arc<str>>,
}

impl fmt::Display for LocalProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.alias {
            Some(alias) => write!(f, "{}.{alias}", self.local_name),
            None => f.write_str(&self.local_name),
        }
    }
}

/// A provider configuration of a module of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsProviderConfig {
    pub module: Module,
    pub provider: Provider,
    pub alias: Option<Arc<str>>,
    /// Which instance, of a configuration with `for_each`.
    pub key: Option<Arc<str>>,
}

impl AbsProviderConfig {
    pub fn root(provider: Provider) -> AbsProviderConfig {
        AbsProviderConfig::new(Module::root(), provider, None)
    }

    pub fn new(module: Module, provider: Provider, alias: Option<Arc<str>>) -> AbsProviderConfig {
        AbsProviderConfig { module, provider, alias, key: None }
    }

    /// The configuration that it is an instance of; itself where there are no instances.
    pub fn whole(&self) -> AbsProviderConfig {
        AbsProviderConfig { key: None, ..self.clone() }
    }

    pub fn with_key(&self, key: Option<Arc<str>>) -> AbsProviderConfig {
        AbsProviderConfig { key, ..self.clone() }
    }
}

/// `module.x.provider["registry.terraform.io/hashicorp/aws"].west`: the form that state files hold, with a key in brackets
/// behind it where there is one.
impl fmt::Display for AbsProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        write!(f, "provider[\"{}\"]", self.provider)?;
        if let Some(alias) = &self.alias {
            write!(f, ".{alias}")?;
        }
        match &self.key {
            Some(key) => super::InstanceKey::Str(key.clone()).fmt(f),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces() {
        assert_eq!(Provider::parse_source("My_Org/x").unwrap().to_string(), "registry.terraform.io/my_org/x");
        for text in ["_a/x", "a_/x", "a--b/x", "a/my_x", "a.b/x"] {
            assert!(Provider::parse_source(text).is_err(), "{text}");
        }
    }
}
