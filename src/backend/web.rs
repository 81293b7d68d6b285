//! How backends send requests, unless their settings say otherwise.

use crate::base::env::Environment;
use crate::base::http::Settings;
use crate::base::name::TERRANE;
use crate::model::version::PROGRAM_VERSION;

/// The system's certificates and the environment's proxies, a few retries, and errors without queries.
pub fn settings(environment: &Environment) -> Settings {
    Settings::for_states(environment, &format!("{TERRANE}/{PROGRAM_VERSION}"))
}
