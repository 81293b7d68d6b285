//! Variables of OpenTelemetry, see `base::telemetry`.

use super::Variable;

variables! {
    /// `otlp`: traces are exported, see [telemetry](telemetry.md). Anything else: no traces.
    OTEL_TRACES_EXPORTER;
    /// What has a span: `command` (the command and the parts of `init`), `steps` (phases and resources too) or `calls` (calls of
    /// providers too). Without it: `steps`, called as `terraform` `command`.
    TERRANE_TRACES;
    /// `true`: no traces.
    OTEL_SDK_DISABLED;
    /// The trace and the span that the command belongs to, as W3C Trace Context writes them. Commands of `local-exec` get their own
    /// while traces are exported.
    TRACEPARENT;
    /// What else belongs to the trace of TRACEPARENT.
    TRACESTATE;
    /// The name of the service in traces (`Terrane CLI`, or that of the program in whose place it runs).
    OTEL_SERVICE_NAME;
    /// Further attributes of the service: `name=value`, separated by commas.
    OTEL_RESOURCE_ATTRIBUTES;
    /// Which traces are exported: `always_on`, `always_off`, `traceidratio`, each also with `parentbased_` (`parentbased_always_on`).
    OTEL_TRACES_SAMPLER;
    /// The part of the traces for `traceidratio`, from 0 to 1.
    OTEL_TRACES_SAMPLER_ARG;
    /// How traces are sent: `http/protobuf` (the default) or `grpc`.
    OTEL_EXPORTER_OTLP_PROTOCOL;
    /// The same for traces alone, above OTEL_EXPORTER_OTLP_PROTOCOL.
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL;
    /// The collector (http://localhost:4318, for `grpc` http://localhost:4317). `/v1/traces` is appended for `http/protobuf`.
    OTEL_EXPORTER_OTLP_ENDPOINT;
    /// The address that traces are sent to, as it is, above OTEL_EXPORTER_OTLP_ENDPOINT.
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
    /// Headers of requests to the collector: `name=value`, separated by commas.
    OTEL_EXPORTER_OTLP_HEADERS;
    /// The same for traces alone, above OTEL_EXPORTER_OTLP_HEADERS.
    OTEL_EXPORTER_OTLP_TRACES_HEADERS;
    /// How long a request to the collector may take, in milliseconds (10000). The end of a command waits two seconds at most.
    OTEL_EXPORTER_OTLP_TIMEOUT;
    /// The same for traces alone, above OTEL_EXPORTER_OTLP_TIMEOUT.
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT;
    /// `gzip`: requests to the collector are compressed.
    OTEL_EXPORTER_OTLP_COMPRESSION;
    /// The same for traces alone, above OTEL_EXPORTER_OTLP_COMPRESSION.
    OTEL_EXPORTER_OTLP_TRACES_COMPRESSION;
    /// `true`: an address for `grpc` without a scheme is used without TLS.
    OTEL_EXPORTER_OTLP_INSECURE;
    /// The same for traces alone, above OTEL_EXPORTER_OTLP_INSECURE.
    OTEL_EXPORTER_OTLP_TRACES_INSECURE;
    /// A file with the certificates of authorities that the collector's certificate is checked by, instead of the system's.
    OTEL_EXPORTER_OTLP_CERTIFICATE;
    /// The same for traces alone, above OTEL_EXPORTER_OTLP_CERTIFICATE.
    OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE;
    /// A file with the client's certificate for the collector.
    OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE;
    /// The same for traces alone, above OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE.
    OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE;
    /// A file with the key of the client's certificate.
    OTEL_EXPORTER_OTLP_CLIENT_KEY;
    /// The same for traces alone, above OTEL_EXPORTER_OTLP_CLIENT_KEY.
    OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY;
}
