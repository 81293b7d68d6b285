//! Services and what the user's CLI configuration says about them: their hosts, what hosts offer, credentials, where provider
//! packages come from. Types and parsing only.
//!
//! Never asks a host, and never knows how packages are unpacked.

pub mod cli_file;
pub mod credentials;
pub mod discovery;
pub mod host;
pub mod installation;
pub mod oauth;
pub mod pattern;
pub mod repository_template;

pub use credentials::CredentialSettings;
pub use discovery::HostServices;
pub use host::{Host, HostError};
pub use installation::{Location, Method, ProviderInstallation};
pub use pattern::Pattern;
pub use repository_template::RepositoryTemplate;
