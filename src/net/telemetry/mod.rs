//! The export of traces to a collector of OpenTelemetry. Never knows what has a span.

mod collector;
mod exporter;
mod opentofu;
mod settings;

use base::env::Environment;
use base::telemetry::{Recorder, Recording};

/// Starts recording if the environment asks for it. Errors of the settings are logged: then there are no traces.
pub fn start(environment: &Environment) -> Recording {
    let recorder = recorder(environment).unwrap_or_else(|why| {
        tracing::warn!("telemetry: no traces are exported: {why}");
        None
    });
    base::telemetry::record(recorder, environment.dialect())
}

fn recorder(environment: &Environment) -> Result<Option<Recorder>, String> {
    let Some(settings) = settings::read(environment).map_err(|error| error.to_string())? else { return Ok(None) };
    let (detail, parent) = (settings.detail, settings.parent());
    let (provider, tracer) = exporter::start(settings)?;
    Ok(Some(Recorder { provider, tracer, detail, parent }))
}
