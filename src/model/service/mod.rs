//! Services and their settings in the CLI configuration: hosts, discovery, credentials, sources of provider
//! packages. Types and parsing only.
//!
//! Never sends requests, and never knows how packages are unpacked.

mod arguments;
pub mod cli_file;
pub mod credentials;
pub mod discovery;
pub mod host;
pub mod installation;
pub mod oauth;
pub mod oci_credentials;
pub mod oci_repository;
pub mod pattern;
pub mod repository_template;

pub use credentials::CredentialSettings;
pub use discovery::HostServices;
pub use host::{Host, HostError};
pub use installation::{Location, Method, ProviderInstallation};
pub use oci_credentials::OciCredentials;
pub use oci_repository::Repository;
pub use pattern::ProviderPattern;
pub use repository_template::RepositoryTemplate;
