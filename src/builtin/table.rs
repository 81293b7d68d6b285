//! The built-in plugins by name: one row each.

use std::sync::Arc;

use base::dialect::Dialect;
use terrane_protocol::provider::{Provider, Provisioner, RemoteStates};

use super::providers::archive::provider::Archive;
use super::providers::cloudinit::provider::CloudInit;
use super::providers::external::provider::External;
use super::providers::http::provider::Http;
use super::providers::time::provider::Time;
use super::providers::tls::provider::Tls;
use super::providers::{local, null, random, terraform};
use super::provisioners::{file, local_exec, remote_exec};

/// What some built-in providers need from other areas; the serving process implements it.
#[derive(Clone)]
pub struct Services {
    pub remote_states: Arc<dyn RemoteStates>,
    /// Whether `terraform_data` has the block `store`, which the reference of version 1.11.4 does not know.
    pub has_data_stores: bool,
    /// Of the process that started the plugin.
    pub dialect: Dialect,
}

/// How a plugin is made.
#[derive(Clone, Copy)]
pub enum Make {
    Provider(fn(&Services) -> Arc<dyn Provider>),
    Provisioner(fn(&Services) -> Arc<dyn Provisioner>),
}

#[derive(Clone, Copy)]
pub struct BuiltInPlugin {
    /// As in `terraform.io/builtin/NAME`, or as a `provisioner` block names it.
    pub name: &'static str,
    /// The plugin protocol's major version.
    pub protocol: u32,
    pub make: Make,
    /// The released version that it behaves like, of the provider `hashicorp/NAME`, in whose place it may stand.
    pub stands_for: Option<&'static str>,
}

impl BuiltInPlugin {
    /// As in `internal-plugin KIND NAME`.
    pub fn kind(&self) -> &'static str {
        match self.make {
            Make::Provider(_) => "provider",
            Make::Provisioner(_) => "provisioner",
        }
    }
}

/// All of them. Provisioners exist in protocol 5 only.
pub const PLUGINS: &[BuiltInPlugin] = &[
    BuiltInPlugin {
        name: "archive",
        protocol: 5,
        make: Make::Provider(|_| terrane_sdk::server(Archive)),
        stands_for: Some("2.8.0"),
    },
    BuiltInPlugin {
        name: "cloudinit",
        protocol: 5,
        make: Make::Provider(|_| terrane_sdk::server(CloudInit)),
        stands_for: Some("2.4.0"),
    },
    BuiltInPlugin {
        name: "external",
        protocol: 5,
        make: Make::Provider(|_| terrane_sdk::server(External)),
        stands_for: Some("2.4.0"),
    },
    BuiltInPlugin {
        name: "http",
        protocol: 5,
        make: Make::Provider(|_| terrane_sdk::server(Http)),
        stands_for: Some("3.6.0"),
    },
    BuiltInPlugin {
        name: "local",
        protocol: 5,
        make: Make::Provider(|_| terrane_sdk::server(local::Local)),
        stands_for: Some("2.9.0"),
    },
    BuiltInPlugin {
        name: "null",
        protocol: 5,
        make: Make::Provider(|_| terrane_sdk::server(null::Null)),
        stands_for: Some("3.3.1"),
    },
    BuiltInPlugin {
        name: "random",
        protocol: 5,
        make: Make::Provider(|_| terrane_sdk::server(random::Random)),
        stands_for: Some("3.9.0"),
    },
    BuiltInPlugin {
        name: "terraform",
        protocol: 6,
        make: Make::Provider(|services| {
            let (remote_states, has_data_stores) = (services.remote_states.clone(), services.has_data_stores);
            terrane_sdk::server(terraform::Terraform { remote_states, has_data_stores })
        }),
        stands_for: None,
    },
    BuiltInPlugin {
        name: "time",
        protocol: 5,
        make: Make::Provider(|_| terrane_sdk::server(Time)),
        stands_for: Some("0.14.0"),
    },
    BuiltInPlugin {
        name: "tls",
        protocol: 5,
        make: Make::Provider(|_| terrane_sdk::server(Tls)),
        stands_for: Some("4.2.1"),
    },
    BuiltInPlugin {
        name: "file",
        protocol: 5,
        make: Make::Provisioner(|services| Arc::new(file::File::new(services.dialect))),
        stands_for: None,
    },
    BuiltInPlugin {
        name: "local-exec",
        protocol: 5,
        make: Make::Provisioner(|services| Arc::new(local_exec::LocalExec::new(services.dialect))),
        stands_for: None,
    },
    BuiltInPlugin {
        name: "remote-exec",
        protocol: 5,
        make: Make::Provisioner(|services| Arc::new(remote_exec::RemoteExec::new(services.dialect))),
        stands_for: None,
    },
];

/// The plugin of this kind ("provider", "provisioner") and name.
pub fn find(kind: &str, name: &str) -> Option<&'static BuiltInPlugin> {
    PLUGINS.iter().find(|plugin| plugin.kind() == kind && plugin.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_once() {
        for plugin in PLUGINS {
            let same = PLUGINS.iter().filter(|other| other.kind() == plugin.kind() && other.name == plugin.name);
            assert_eq!(same.count(), 1);
            assert!(find(plugin.kind(), plugin.name).is_some());
        }
        assert!(find("provider", "file").is_none());
    }
}
