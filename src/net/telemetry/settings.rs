//! What the environment says about traces; the libraries read some of it themselves.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;
use std::{fmt, io};

use base::env::{self, Environment};
use base::secret::Secret;
use base::telemetry::Detail;
use opentelemetry::Context;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry_sdk::propagation::TraceContextPropagator;

use super::opentofu;
use crate::http::{self, Tls};

const TIMEOUT: Duration = Duration::from_secs(10);
/// The method that takes spans.
const EXPORT: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// What the libraries read themselves.
const OF_LIBRARIES: &[&str] = &[
    env::OTEL_RESOURCE_ATTRIBUTES,
    env::OTEL_TRACES_SAMPLER,
    env::OTEL_TRACES_SAMPLER_ARG,
    env::OTEL_EXPORTER_OTLP_ENDPOINT,
    env::OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
    env::OTEL_EXPORTER_OTLP_HEADERS,
    env::OTEL_EXPORTER_OTLP_TRACES_HEADERS,
    env::OTEL_EXPORTER_OTLP_COMPRESSION,
    env::OTEL_EXPORTER_OTLP_TRACES_COMPRESSION,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Http,
    Grpc,
}

#[derive(Clone, Debug)]
pub struct ExportSettings {
    pub detail: Detail,
    pub protocol: Protocol,
    /// Where spans are sent; None: where the library decides by the environment.
    pub address: Option<String>,
    /// How long a request may take.
    pub timeout: Duration,
    pub http: http::Settings,
    /// The name that the environment gives to the service, and the one without it.
    pub service_name: Option<String>,
    pub default_name: String,
    trace: HashMap<String, String>,
}

/// What is wrong with the variables.
#[derive(Debug)]
pub enum SettingsError {
    Detail,
    Protocol,
    File { path: String, error: io::Error },
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsError::Detail => {
                write!(f, "{} must be \"command\", \"steps\" or \"calls\"", env::TERRANE_TRACES)
            }
            SettingsError::Protocol => {
                f.write_str("invalid OTLP protocol - should be one of ['grpc', 'http/protobuf']")
            }
            SettingsError::File { path, error } => write!(f, "open {path}: {error}"),
        }
    }
}

/// The settings; None if traces are not wanted.
pub fn read(environment: &Environment) -> Result<Option<ExportSettings>, SettingsError> {
    // As in the reference: any other value means no traces.
    if environment.get(env::OTEL_TRACES_EXPORTER) != Some("otlp") {
        return Ok(None);
    }
    if environment.get(env::OTEL_SDK_DISABLED).is_some_and(|text| text.eq_ignore_ascii_case("true")) {
        return Ok(None);
    }
    for name in OF_LIBRARIES.iter().filter(|name| environment.non_empty(name).is_some()) {
        // The name alone: headers may be secrets.
        tracing::debug!("telemetry: {name} is set");
    }
    let detail = detail(environment)?;
    let protocol = protocol(environment)?;
    let timeout = timeout(environment);
    let program = environment.dialect().program();
    let http = http::Settings {
        tls: tls(environment)?,
        connect_timeout: timeout,
        idle_timeout: timeout,
        ..http::Settings::for_states(environment, program)
    };
    let carried = [(env::TRACEPARENT, "traceparent"), (env::TRACESTATE, "tracestate")];
    let carried =
        carried.into_iter().filter_map(|(name, key)| Some((key.to_owned(), environment.non_empty(name)?.to_owned())));
    Ok(Some(ExportSettings {
        detail,
        protocol,
        address: (protocol == Protocol::Grpc).then(|| grpc_address(environment)),
        timeout,
        http,
        service_name: environment.non_empty(env::OTEL_SERVICE_NAME).map(str::to_owned),
        default_name: format!("{program} CLI"),
        trace: carried.collect(),
    }))
}

impl ExportSettings {
    /// The trace that the command belongs to; empty if it begins one.
    pub fn parent(&self) -> Context {
        TraceContextPropagator::new().extract_with_context(&Context::new(), &self.trace)
    }
}

/// The more specific variable that is set.
fn either<'a>(environment: &'a Environment, names: [&str; 2]) -> Option<&'a str> {
    names.into_iter().find_map(|name| environment.non_empty(name))
}

fn detail(environment: &Environment) -> Result<Detail, SettingsError> {
    match environment.non_empty(env::TERRANE_TRACES) {
        None => Ok(opentofu::default_detail(environment.dialect())),
        Some("steps") => Ok(Detail::Steps),
        Some("command") => Ok(Detail::Command),
        Some("calls") => Ok(Detail::Calls),
        Some(_) => Err(SettingsError::Detail),
    }
}

fn protocol(environment: &Environment) -> Result<Protocol, SettingsError> {
    match either(environment, [env::OTEL_EXPORTER_OTLP_TRACES_PROTOCOL, env::OTEL_EXPORTER_OTLP_PROTOCOL]) {
        None | Some("http/protobuf") => Ok(Protocol::Http),
        Some("grpc") => Ok(Protocol::Grpc),
        Some(_) => Err(SettingsError::Protocol),
    }
}

fn timeout(environment: &Environment) -> Duration {
    let given = either(environment, [env::OTEL_EXPORTER_OTLP_TRACES_TIMEOUT, env::OTEL_EXPORTER_OTLP_TIMEOUT]);
    given.and_then(|text| text.trim().parse().ok()).map_or(TIMEOUT, Duration::from_millis)
}

/// The address of the collector with the method as its path. Without a scheme it is HTTPS, unless the environment says otherwise.
fn grpc_address(environment: &Environment) -> String {
    let given = either(environment, [env::OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, env::OTEL_EXPORTER_OTLP_ENDPOINT]);
    let given = given.unwrap_or("http://localhost:4317").trim_end_matches('/');
    let insecure = either(environment, [env::OTEL_EXPORTER_OTLP_TRACES_INSECURE, env::OTEL_EXPORTER_OTLP_INSECURE]);
    let scheme = if insecure.is_some_and(|text| text.eq_ignore_ascii_case("true")) { "http" } else { "https" };
    match given.contains("://") {
        true => format!("{given}{EXPORT}"),
        false => format!("{scheme}://{given}{EXPORT}"),
    }
}

fn tls(environment: &Environment) -> Result<Tls, SettingsError> {
    let file = |names: [&str; 2]| match either(environment, names) {
        None => Ok(None),
        Some(path) => match read_file(Path::new(path)) {
            Ok(text) => Ok(Some(text)),
            Err(error) => Err(SettingsError::File { path: path.to_owned(), error }),
        },
    };
    let authorities = file([env::OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE, env::OTEL_EXPORTER_OTLP_CERTIFICATE])?;
    let chain = file([env::OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE, env::OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE])?;
    let key = file([env::OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY, env::OTEL_EXPORTER_OTLP_CLIENT_KEY])?;
    Ok(Tls { authorities, identity: chain.zip(key.map(Secret::new)), ..Tls::default() })
}

/// A device could be read for ever.
fn read_file(path: &Path) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    std::fs::read_to_string(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Result<Option<ExportSettings>, SettingsError> {
        let exporter = [(env::OTEL_TRACES_EXPORTER, "otlp")];
        read(&Environment::of(exporter.iter().chain(pairs).copied()))
    }

    #[test]
    fn traces_are_off_unless_otlp_is_asked_for() {
        for value in ["", "none", "console", "OTLP", "otlp,console"] {
            assert!(read(&Environment::of([(env::OTEL_TRACES_EXPORTER, value)])).unwrap().is_none(), "{value}");
        }
        assert!(read(&Environment::default()).unwrap().is_none());
        assert!(settings(&[(env::OTEL_SDK_DISABLED, "TRUE")]).unwrap().is_none());
        let found = settings(&[(env::OTEL_SDK_DISABLED, "false")]).unwrap().unwrap();
        assert_eq!((found.detail, found.protocol, found.timeout), (Detail::Steps, Protocol::Http, TIMEOUT));
        assert_eq!((found.default_name.as_str(), found.address), ("Terrane CLI", None));
    }

    #[test]
    fn more_specific_variables_come_first() {
        let found = settings(&[
            (env::OTEL_EXPORTER_OTLP_PROTOCOL, "http/json"),
            (env::OTEL_EXPORTER_OTLP_TRACES_PROTOCOL, "grpc"),
            (env::OTEL_EXPORTER_OTLP_TIMEOUT, "5"),
            (env::OTEL_EXPORTER_OTLP_TRACES_TIMEOUT, "1500"),
            (env::TERRANE_TRACES, "calls"),
            (env::OTEL_SERVICE_NAME, "ours"),
        ]);
        let found = found.unwrap().unwrap();
        assert_eq!((found.detail, found.protocol), (Detail::Calls, Protocol::Grpc));
        assert_eq!((found.timeout, found.service_name.as_deref()), (Duration::from_millis(1500), Some("ours")));
    }

    #[test]
    fn grpc_addresses_get_a_scheme_and_the_method() {
        let (endpoint, insecure) = (env::OTEL_EXPORTER_OTLP_ENDPOINT, env::OTEL_EXPORTER_OTLP_INSECURE);
        let cases: [(&[(&str, &str)], &str); 5] = [
            (&[], "http://localhost:4317"),
            (&[(endpoint, "https://c.example:1/")], "https://c.example:1"),
            (&[(endpoint, "c.example:1")], "https://c.example:1"),
            (&[(endpoint, "c.example:1"), (insecure, "true")], "http://c.example:1"),
            (&[(endpoint, "http://a"), (env::OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, "http://b")], "http://b"),
        ];
        for (pairs, expected) in cases {
            assert_eq!(grpc_address(&Environment::of(pairs.iter().copied())), format!("{expected}{EXPORT}"));
        }
    }

    #[test]
    fn unusable_settings_are_errors() {
        for (name, value) in [
            (env::OTEL_EXPORTER_OTLP_PROTOCOL, "http/json"),
            (env::TERRANE_TRACES, "all"),
            (env::OTEL_EXPORTER_OTLP_CERTIFICATE, "/missing/authority.pem"),
            (env::OTEL_EXPORTER_OTLP_CERTIFICATE, "/dev/zero"),
        ] {
            assert!(settings(&[(name, value)]).is_err(), "{name}");
        }
    }

    #[test]
    fn the_parent_comes_from_the_environment() {
        use opentelemetry::trace::TraceContextExt;
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let found = settings(&[(env::TRACEPARENT, text), (env::TRACESTATE, "a=b")]).unwrap().unwrap();
        let parent = found.parent();
        assert_eq!(parent.span().span_context().span_id().to_string(), "b7ad6b7169203331");
        assert_eq!(parent.span().span_context().trace_state().get("a"), Some("b"));
        let found = settings(&[(env::TRACEPARENT, "garbage")]).unwrap().unwrap();
        assert!(!found.parent().has_active_span());
    }
}
