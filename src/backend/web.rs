//! How backends send requests, unless their settings say otherwise.

use base::env::Environment;
use base::name::TERRANE;
use model::version::PROGRAM_VERSION;
use net::http::Settings;

/// The system's certificates and the environment's proxies, a few retries, and errors without queries.
pub fn settings(environment: &Environment) -> Settings {
    Settings::for_states(environment, &format!("{TERRANE}/{PROGRAM_VERSION}"))
}
