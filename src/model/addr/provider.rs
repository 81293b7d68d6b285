//! Providers by their source address, and provider configurations: local and absolute.

use std::fmt;
use std::sync::Arc;

use super::Module;

/// The registry host of an address that names none.
pub const DEFAULT_HOST: &str = "registry.terraform.io";
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
        if kind == "terraform" { Provider::builtin(kind) } else { Provider::new(DEFAULT_HOST, DEFAULT_NAMESPACE, kind) }
    }

    pub fn builtin(kind: &str) -> Provider {
        Provider::new(BUILTIN_HOST, "builtin", kind)
    }

    pub fn is_builtin(&self) -> bool {
        &*self.host == BUILTIN_HOST && &*self.namespace == "builtin"
    }

    pub fn is_default(&self) -> bool {
        &*self.host == DEFAULT_HOST && &*self.namespace == DEFAULT_NAMESPACE
    }

    /// As people write it: the host left out if it is the default one.
    pub fn for_display(&self) -> String {
        if &*self.host == DEFAULT_HOST { format!("{}/{}", self.namespace, self.kind) } else { self.to_string() }
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
}

impl AbsProviderConfig {
    pub fn root(provider: Provider) -> AbsProviderConfig {
        AbsProviderConfig { module: Module::root(), provider, alias: None }
    }
}

/// `module.x.provider["registry.terraform.io/hashicorp/aws"].west`: the form that state files hold.
impl fmt::Display for AbsProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        write!(f, "provider[\"{}\"]", self.provider)?;
        match &self.alias {
            Some(alias) => write!(f, ".{alias}"),
            None => Ok(()),
        }
    }
}
