//! Servers that stand in for clouds: moto for Amazon, fake-gcs-server for Google, Azurite for Microsoft. Each runs on a free port of
//! the loopback and ends with the process that uses it.
//!
//! Stands alone: the library's own tests use this file too.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::needs::{self, Need, on_path};

/// The key of the account of [`Server::azure`].
pub const AZURE_KEY: &str = "c2VjcmV0IGtleSBvZiB0aGUgdGVzdHMgb2YgYmFja2VuZHM=";

/// A server, which ends when this is dropped.
pub struct Server {
    pub port: u16,
    child: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program by a variable that names it, or by its name on PATH. None, and the test is skipped, if it is not there.
fn find(need: Need, variable: &str, name: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from).or_else(|| on_path(name));
    if found.is_none() {
        needs::skip(need, &format!("there is no {name} on the PATH, and {variable} does not name one"));
    }
    found
}

impl Server {
    /// Starts a program on a free port and waits until it accepts connections.
    pub fn start(command: impl FnOnce(u16) -> Command) -> Server {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = command(port);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut server = Server { port, child };
        let end = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(server.child.try_wait().unwrap().is_none(), "{command:?} ended");
            assert!(Instant::now() < end, "{command:?} does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    /// S3, DynamoDB and STS.
    pub fn moto() -> Option<Server> {
        let program = find(Need::Moto, "TERRANE_TEST_MOTO", "moto_server")?;
        Some(Server::start(|port| {
            let mut command = Command::new(&program);
            command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
            command
        }))
    }

    /// Google Cloud Storage.
    pub fn google() -> Option<Server> {
        let program = find(Need::Gcs, "TERRANE_TEST_GCS", "fake-gcs-server")?;
        Some(Server::start(|port| {
            let mut command = Command::new(&program);
            command.args(["-scheme", "http", "-host", "127.0.0.1", "-port", &port.to_string(), "-backend", "memory"]);
            command.args(["-public-host", &format!("127.0.0.1:{port}")]);
            command
        }))
    }

    /// Blobs of Azure, for the account `account` and [`AZURE_KEY`].
    pub fn azure() -> Option<Server> {
        let program = find(Need::Azurite, "TERRANE_TEST_AZURITE", "azurite-blob")?;
        Some(Server::start(|port| {
            let mut command = Command::new(&program);
            command.env("AZURITE_ACCOUNTS", format!("account:{AZURE_KEY}")).env("NODE_ENV", "production");
            command.args(["--silent", "--disableTelemetry", "--inMemoryPersistence", "--skipApiVersionCheck"]);
            command.args(["--blobHost", "127.0.0.1", "--blobPort", &port.to_string()]);
            command
        }))
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Sends a request of HTTP/1.1 and gives the status and the body.
    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n", self.port);
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        write!(stream, "{text}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").map_or_else(String::new, |(_, body)| body.to_owned()))
    }

    /// As [`Server::request`], with credentials that moto accepts.
    pub fn amazon(&self, service: &str, method: &str, path: &str, target: &str, body: &str) -> (u16, String) {
        let scope = format!(
            "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/{service}/aws4_request, SignedHeaders=host, Signature=x"
        );
        let mut headers = vec![("Authorization", scope.as_str()), ("Content-Type", "application/x-amz-json-1.0")];
        if !target.is_empty() {
            headers.push(("X-Amz-Target", target));
        }
        self.request(method, path, &headers, body)
    }

    /// A bucket's objects keep their versions from now on.
    pub fn keep_versions(&self, bucket: &str) {
        let body = "<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Status>Enabled</Status></VersioningConfiguration>";
        assert_eq!(self.amazon("s3", "PUT", &format!("/{bucket}?versioning"), "", body).0, 200);
    }

    /// A bucket, and a table for locks.
    pub fn make_bucket(&self, name: &str) {
        assert_eq!(self.amazon("s3", "PUT", &format!("/{name}"), "", "").0, 200);
        let table = r#"{"TableName":"locks","KeySchema":[{"AttributeName":"LockID","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"LockID","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}"#;
        self.amazon("dynamodb", "POST", "/", "DynamoDB_20120810.CreateTable", table);
    }
}
