//! Traces of OpenTelemetry, as a collector receives them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

use crate::support::{Outcome, Project};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const OUTER: &str = "b7ad6b7169203331";

const CONFIGURATION: &str = r#"variable "password" {
  sensitive = true
}

variable "plain" {}

resource "terraform_data" "x" {
  count = 2
  input = [var.password, var.plain]

  provisioner "local-exec" {
    command     = "echo \"span=$TRACEPARENT\" >> spans.txt"
    environment = { OTHER = "kept" }
  }
}
"#;

/// What a collector was sent.
#[derive(Default)]
struct Received {
    /// Per request: its headers in lower case, and its message.
    requests: Vec<(String, Vec<u8>)>,
}

struct Collector {
    port: u16,
    received: Arc<Mutex<Received>>,
}

/// How a collector answers.
#[derive(Clone, Copy)]
enum Answer {
    Status(&'static str),
    Never,
}

impl Collector {
    /// A collector that speaks HTTP.
    fn http(answer: Answer) -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::new(Mutex::new(Received::default()));
        let seen = received.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = seen.clone();
                std::thread::spawn(move || serve_http(stream, answer, &seen));
            }
        });
        Collector { port, received }
    }

    /// A collector that speaks gRPC.
    fn grpc(status: &'static str) -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        listener.set_nonblocking(true).unwrap();
        let received = Arc::new(Mutex::new(Received::default()));
        let seen = received.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve_grpc(stream, status, seen.clone()));
                }
            });
        });
        Collector { port, received }
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn count(&self) -> usize {
        self.received.lock().unwrap().requests.len()
    }

    /// Everything that was sent, as text: for what must not be in it.
    fn bytes(&self) -> String {
        let received = self.received.lock().unwrap();
        received.requests.iter().map(|(_, body)| String::from_utf8_lossy(body).into_owned()).collect()
    }

    fn messages(&self) -> Vec<ExportTraceServiceRequest> {
        let received = self.received.lock().unwrap();
        received.requests.iter().map(|(_, body)| ExportTraceServiceRequest::decode(&body[..]).unwrap()).collect()
    }

    fn spans(&self) -> Vec<Span> {
        let resources = self.messages().into_iter().flat_map(|message| message.resource_spans);
        resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }

    fn resource(&self) -> Vec<KeyValue> {
        let mut messages = self.messages();
        messages.remove(0).resource_spans.remove(0).resource.unwrap().attributes
    }
}

fn serve_http(stream: TcpStream, answer: Answer, seen: &Mutex<Received>) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            let line = line.to_ascii_lowercase();
            if let Some(number) = line.strip_prefix("content-length:") {
                length = number.trim().parse().unwrap();
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        seen.lock().unwrap().requests.push((head, body));
        match answer {
            Answer::Status(status) => {
                let _ = write!(reader.get_mut(), "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
            }
            Answer::Never => {
                // The other end closes the connection when it gives up.
                let _ = std::io::copy(&mut reader, &mut std::io::sink());
                return;
            }
        }
    }
}

async fn serve_grpc(stream: tokio::net::TcpStream, status: &'static str, seen: Arc<Mutex<Received>>) {
    let mut connection = h2::server::handshake(stream).await.unwrap();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        let seen = seen.clone();
        tokio::spawn(async move {
            let (head, mut body) = request.into_parts();
            let mut frame = Vec::new();
            while let Some(Ok(piece)) = body.data().await {
                let _ = body.flow_control().release_capacity(piece.len());
                frame.extend_from_slice(&piece);
            }
            let headers: Vec<String> =
                head.headers.iter().map(|(name, value)| format!("{name}: {}\n", value.to_str().unwrap())).collect();
            let head = format!("{}\n{}", head.uri.path(), headers.concat());
            assert_eq!(u32::from_be_bytes(frame[1..5].try_into().unwrap()) as usize, frame.len() - 5);
            let message = match frame[0] {
                0 => frame[5..].to_vec(),
                _ => unpacked(&frame[5..]),
            };
            seen.lock().unwrap().requests.push((head, message));
            let response = http::Response::builder().header("content-type", "application/grpc").body(()).unwrap();
            let mut stream = respond.send_response(response, false).unwrap();
            stream.send_data(bytes::Bytes::from_static(&[0, 0, 0, 0, 0]), false).unwrap();
            let mut trailers = http::HeaderMap::new();
            trailers.insert("grpc-status", http::HeaderValue::from_static(status));
            stream.send_trailers(trailers).unwrap();
        });
    }
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut out).unwrap();
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text<'a>(attributes: &'a [KeyValue], key: &str) -> &'a str {
    let found = attributes.iter().find(|attribute| attribute.key == key);
    match found.and_then(|found| found.value.as_ref()?.value.as_ref()) {
        Some(Value::StringValue(text)) => text,
        _ => "",
    }
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

fn only<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let found = named(spans, name);
    let names: Vec<&String> = spans.iter().map(|span| &span.name).collect();
    assert_eq!(found.len(), 1, "{name}: {names:?}");
    found[0]
}

fn has_failed(span: &Span) -> bool {
    span.status.as_ref().is_some_and(|status| status.code == 2)
}

/// A project whose commands export to a collector at this address.
fn project(address: &str) -> Project {
    let mut project = Project::new(CONFIGURATION);
    project.set("OTEL_TRACES_EXPORTER", "otlp");
    project.set("OTEL_EXPORTER_OTLP_ENDPOINT", address);
    project.set("TF_VAR_password", "hidden-value");
    project
}

#[test]
fn an_apply_has_spans_of_phases_resources_and_calls() {
    let collector = Collector::http(Answer::Status("200 OK"));
    let mut project = project(&collector.address());
    project.set("TERRANE_TRACES", "calls");
    project.set("TRACEPARENT", format!("00-{TRACE}-{OUTER}-01"));
    project.set("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=key-of-collector");
    project.set("OTEL_RESOURCE_ATTRIBUTES", "team=storage");
    project.ok(&["apply", "-auto-approve", "-var", "plain=typed-value"]);

    let spans = collector.spans();
    let root = only(&spans, "terrane apply");
    assert_eq!((hex(&root.trace_id), hex(&root.parent_span_id)), (TRACE.into(), OUTER.into()));
    assert!(spans.iter().all(|span| hex(&span.trace_id) == TRACE && !has_failed(span)));
    for phase in ["Plan phase", "Apply phase"] {
        assert_eq!(only(&spans, phase).parent_span_id, root.span_id, "{phase}");
    }
    let applied = named(&spans, "Apply resource instance changes");
    let mut addresses: Vec<_> =
        applied.iter().map(|span| text(&span.attributes, "opentofu.resource_instance.address")).collect();
    addresses.sort_unstable();
    assert_eq!(addresses, ["terraform_data.x[0]", "terraform_data.x[1]"]);
    let calls = named(&spans, "ApplyResourceChange");
    assert_eq!(calls.len(), 2);
    for call in calls {
        assert!(applied.iter().any(|span| span.span_id == call.parent_span_id));
        assert_eq!(text(&call.attributes, "opentofu.provider.source"), "terraform.io/builtin/terraform");
    }
    // Commands belong to the span of their resource.
    let mut expected: Vec<_> =
        applied.iter().map(|span| format!("span=00-{TRACE}-{}-01", hex(&span.span_id))).collect();
    expected.sort_unstable();
    let written = project.read("work/spans.txt");
    let mut written: Vec<&str> = written.lines().collect();
    written.sort_unstable();
    assert_eq!(written, expected);

    let resource = collector.resource();
    assert_eq!(text(&resource, "service.name"), "Terrane CLI");
    assert_eq!(text(&resource, "service.version"), env!("CARGO_PKG_VERSION"));
    assert_eq!(text(&resource, "team"), "storage");
    let sent = collector.bytes();
    for secret in ["hidden-value", "typed-value", "key-of-collector", "kept"] {
        assert!(!sent.contains(secret), "{secret}");
    }
    let (head, _) = collector.received.lock().unwrap().requests.remove(0);
    assert!(head.starts_with("post /v1/traces "), "{head}");
    assert!(head.contains("x-api-key: key-of-collector"), "{head}");
}

#[test]
fn a_variable_of_the_command_is_kept() {
    let collector = Collector::http(Answer::Status("200 OK"));
    let project = project(&collector.address());
    let own = CONFIGURATION.replace("OTHER = \"kept\"", "TraceParent = \"own\", TRACEPARENT = \"mine\"");
    project.write("work/main.tf", &own);
    project.ok(&["apply", "-auto-approve", "-var", "plain=p"]);
    assert_eq!(project.read("work/spans.txt"), "span=mine\nspan=mine\n");
}

/// Seen on Terraform 1.17 and OpenTofu 1.13: one span has the words of the command, the other one's is `tofu`.
#[test]
fn spans_depend_on_the_name_and_the_detail() {
    let cases = [
        ("terrane", "", "terrane plan", true),
        ("terraform", "", "terraform plan", false),
        ("terraform", "steps", "terraform plan", true),
        ("tofu", "", "tofu", true),
        ("tofu", "command", "tofu", false),
    ];
    for (name, detail, root, has_steps) in cases {
        let collector = Collector::http(Answer::Status("200 OK"));
        let mut project = project(&collector.address());
        project.set("TERRANE_NAME", name);
        project.set("TERRANE_TRACES", detail);
        project.ok(&["plan", "-var", "plain=p"]);
        let spans = collector.spans();
        let root = only(&spans, root);
        assert!(root.parent_span_id.is_empty(), "{name}");
        assert_eq!(text(&root.attributes, "terrane.command"), "plan");
        assert_eq!(!named(&spans, "Plan resource instance changes").is_empty(), has_steps, "{name} {detail}");
        assert!(named(&spans, "PlanResourceChange").is_empty());
    }
}

#[test]
fn the_parts_of_init_have_spans() {
    for (name, expected) in
        [("terraform", ["initialize backend", "install providers"]), ("tofu", ["Backend init", "Get Providers"])]
    {
        let collector = Collector::http(Answer::Status("200 OK"));
        let mut project = project(&collector.address());
        project.set("TERRANE_NAME", name);
        project.ok(&["init"]);
        let spans = collector.spans();
        for part in expected {
            only(&spans, part);
        }
    }
}

#[test]
fn failures_are_marked_without_their_message() {
    let collector = Collector::http(Answer::Status("200 OK"));
    let project = project(&collector.address());
    let failing = CONFIGURATION.replace("spans.txt", "missing/${var.password}");
    project.write("work/main.tf", &failing);
    assert_eq!(project.run(&["apply", "-auto-approve", "-var", "plain=p"]).code, Some(1));
    let spans = collector.spans();
    for name in ["terrane apply", "Apply phase"] {
        assert!(has_failed(only(&spans, name)), "{name}");
    }
    assert!(!has_failed(only(&spans, "Plan phase")));
    assert!(!collector.bytes().contains("hidden-value"));
}

#[test]
fn errors_of_usage_are_exported() {
    let collector = Collector::http(Answer::Status("200 OK"));
    let project = project(&collector.address());
    assert_eq!(project.run(&["plan", "-secret-flag"]).code, Some(1));
    assert_eq!(project.run(&["unknown-word"]).code, Some(1));
    let spans = collector.spans();
    assert!(has_failed(only(&spans, "terrane plan")) && has_failed(only(&spans, "terrane")));
    assert!(!collector.bytes().contains("secret-flag") && !collector.bytes().contains("unknown-word"));
}

#[test]
fn spans_are_exported_by_grpc() {
    for compression in ["none", "gzip"] {
        let collector = Collector::grpc("0");
        let mut project = project(&collector.address());
        project.set("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
        project.set("OTEL_EXPORTER_OTLP_COMPRESSION", compression);
        project.set("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=key");
        project.ok(&["version"]);
        only(&collector.spans(), "terrane version");
        let head = collector.received.lock().unwrap().requests[0].0.clone();
        assert!(head.starts_with("/opentelemetry.proto.collector.trace.v1.TraceService/Export\n"), "{head}");
        assert!(head.contains("content-type: application/grpc\n") && head.contains("x-api-key: key\n"), "{head}");
    }
}

/// The output and the exit code of a command are the same with any collector and without one.
#[test]
fn collectors_in_trouble_change_nothing() {
    let run = |address: &str, protocol: &str| -> (Outcome, Duration) {
        let mut project = project(address);
        project.set("OTEL_EXPORTER_OTLP_PROTOCOL", protocol);
        let started = Instant::now();
        let outcome = project.run(&["version"]);
        (outcome, started.elapsed())
    };
    let (expected, _) = run("", "none");
    let refused = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let hanging = Collector::http(Answer::Never);
    let failing = Collector::http(Answer::Status("503 Service Unavailable"));
    let denying = Collector::grpc("16");
    for (address, protocol) in [
        (refused.as_str(), "http/protobuf"),
        (refused.as_str(), "grpc"),
        (&hanging.address(), "http/protobuf"),
        (&hanging.address(), "grpc"),
        (&failing.address(), "http/protobuf"),
        (&denying.address(), "grpc"),
        ("not an address", "http/protobuf"),
        (&failing.address(), "http/json"),
    ] {
        let (outcome, took) = run(address, protocol);
        assert_eq!(
            (outcome.code, &outcome.out, &outcome.err),
            (Some(0), &expected.out, &expected.err),
            "{address} {protocol}"
        );
        // Two seconds for the export; the rest is for a busy machine.
        assert!(took < Duration::from_secs(6), "{address} {protocol}: {took:?}");
    }
    assert!(hanging.count() > 0 && failing.count() > 0 && denying.count() > 0);
}

#[test]
fn problems_are_logged_without_headers() {
    let failing = Collector::http(Answer::Status("400 Bad Request"));
    let mut project = project(&failing.address());
    project.set("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=key-of-collector");
    project.set("TF_LOG", "trace");
    let log = project.ok(&["version"]).err;
    assert!(log.contains("[WARN]  telemetry: 1 spans were not exported: "), "{log}");
    assert!(!log.contains("key-of-collector"), "{log}");
    project.set("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
    let log = project.ok(&["version"]).err;
    assert!(log.contains("[WARN]  telemetry: no traces are exported: invalid OTLP protocol"), "{log}");
}

#[test]
fn nothing_is_sent_unless_it_is_asked_for() {
    let collector = Collector::http(Answer::Status("200 OK"));
    for (name, value) in
        [("OTEL_TRACES_EXPORTER", "none"), ("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_SAMPLER", "always_off")]
    {
        let mut project = project(&collector.address());
        project.set(name, value);
        project.ok(&["version"]);
        assert_eq!(collector.count(), 0, "{name}");
    }
}
