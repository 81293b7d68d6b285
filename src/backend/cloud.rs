//! Signed requests of backends to the services of clouds, and requests for credentials, through the backends' own HTTP client.

use std::fmt;

use bytes::Bytes;
use http::Request;
use reqsign_core::{Context, Error, HttpSend};
use url::Url;

use crate::base::cloud;
use crate::base::env::Environment;
use crate::base::stop::Stop;

use super::web::{self, Answer, Client};

/// What the libraries for credentials see of this machine and of the backend's HTTP client.
pub fn context(environment: &Environment, client: &Client) -> Context {
    // Programs for credentials hear an interrupt themselves.
    cloud::context(environment, &Stop::new(), Sender(client.clone()))
}

/// Sends requests for credentials.
#[derive(Clone)]
struct Sender(Client);

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender")
    }
}

impl HttpSend for Sender {
    async fn http_send(&self, request: Request<Bytes>) -> reqsign_core::Result<http::Response<Bytes>> {
        let answer = send(&self.0, request).await.map_err(Error::unexpected)?;
        let mut response = http::Response::new(Bytes::from(answer.body));
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }
}

/// Sends a request, with the client's retries. The error says why there is no answer.
pub async fn send(client: &Client, request: Request<Bytes>) -> Result<Answer, String> {
    let (head, body) = request.into_parts();
    let url = Url::parse(&head.uri.to_string()).map_err(|e| e.to_string())?;
    let mut sent = web::Request::new(head.method, url);
    sent.headers = head.headers;
    sent.headers.remove(http::header::HOST);
    if !body.is_empty() {
        sent = sent.body(body);
    } else if sent.method == http::Method::PUT || sent.method == http::Method::POST {
        // Servers want to hear the length of what is put, even if there is nothing.
        sent.headers.insert(http::header::CONTENT_LENGTH, http::HeaderValue::from_static("0"));
    }
    client.send(&sent).await.map_err(|failure| failure.text)
}
