//! The tls provider: keys, certificate requests, certificates, and certificates of servers.
//!
//! `keys` generates, writes and reads keys. `name`, `alternative_names`, `uses`, `extension` and `validity` are parts of
//! requests and certificates; `request` and `certificate` put them together, sign and read them. `fetch` connects to
//! servers. `der`, `pem` and `uri` are notations. Each follows Go's standard library, as the reference does, and
//! knows no schema. The types are in `provider` and the files that it names.

pub mod provider;

mod certificate_data;
mod certificate_schema;
mod key_resource;
mod locally_signed;
mod request_resource;
mod self_signed;
mod subject_schema;

mod alternative_names;
mod certificate;
mod der;
mod extension;
mod fetch;
mod keys;
mod name;
mod pem;
mod request;
mod uri;
mod uses;
mod validity;
mod x509_error;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod reference_tests;
