//! From spans to requests: the libraries' recorder, with a thread that exports in the background.

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{RetryPolicy, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracer, SdkTracerProvider, SpanData, SpanExporter,
};

use super::collector::Collector;
use super::settings::ExportSettings;

/// Spans that wait for their export; more are dropped. `OTEL_BSP_MAX_QUEUE_SIZE` is for programs that never end.
const QUEUE: usize = 16 * 1024;

const BAD_ADDRESS: &str =
    "the address of OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT is not valid";

/// Starts the thread that exports. An error says which setting is wrong.
pub fn start(settings: ExportSettings) -> Result<(SdkTracerProvider, SdkTracer), String> {
    let mut builder = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_http_client(Collector::new(&settings))
        .with_protocol(opentelemetry_otlp::Protocol::HttpBinary)
        .with_timeout(settings.timeout)
        // A collector that is not there must not hold up the end of a command.
        .with_retry_policy(RetryPolicy::recommended().with_max_retries(1));
    if let Some(address) = &settings.address {
        builder = builder.with_endpoint(address);
    }
    // The library's error repeats the address, which may hold a password.
    let exporter = builder.build().map_err(|_| BAD_ADDRESS.to_owned())?;
    let resource = Resource::builder_empty()
        .with_attributes([
            KeyValue::new("service.name", settings.default_name),
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        ])
        .with_detectors(&[Box::new(TelemetryResourceDetector), Box::new(EnvResourceDetector::new())])
        .with_attributes(settings.service_name.map(|name| KeyValue::new("service.name", name)))
        .build();
    let config = BatchConfigBuilder::default().with_max_queue_size(QUEUE).build();
    let processor = BatchSpanProcessor::builder(Logged(exporter)).with_batch_config(config).build();
    let provider = SdkTracerProvider::builder().with_span_processor(processor).with_resource(resource).build();
    let tracer = provider.tracer("terrane");
    Ok((provider, tracer))
}

/// An exporter whose failures are logged.
#[derive(Debug)]
struct Logged(opentelemetry_otlp::SpanExporter);

impl SpanExporter for Logged {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let result = self.0.export(batch).await;
        match &result {
            Ok(()) => tracing::debug!("telemetry: {count} spans exported"),
            Err(why) => tracing::warn!("telemetry: {count} spans were not exported: {why}"),
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}
