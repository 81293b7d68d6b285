//! gRPC for plugins, with tonic, directly on an HTTP/2 connection: calls and streams, with messages of any size,
//! over any byte stream. The cost of a call limits the speed of large plans, so there is nothing
//! between tonic and the connection: no pool, no balancer, no second task per call. Never knows what messages mean.

mod body;
pub mod client;
mod codec;
mod pieces;
pub mod server;

use bytes::Bytes;
pub use client::Channel;
use pieces::Pieces;
pub use server::{Reply, Service};
use tokio::io::{AsyncRead, AsyncWrite};
use tonic::Status;

/// What gRPC runs over: a socket, or TLS over a socket.
pub trait Transport: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Transport for T {}

/// Of HTTP/2's flow control only the form is kept: both ends trust each other with memory, as with all else. Schemas
/// of many megabytes then come in one go, and no call waits for another one's window.
const STREAM_WINDOW: u32 = 64 << 20;
const CONNECTION_WINDOW: u32 = 1 << 30;
const FRAME_SIZE: u32 = 1 << 20;
const STREAMS: u32 = 1 << 16;

/// The reply that is one message.
pub fn reply<M: prost::Message>(message: &M) -> Reply {
    Pieces::of(message).map_or_else(|| Reply::Message(encoded(message)), Reply::Pieces)
}

/// A message of a [`Reply`].
pub fn encoded<M: prost::Message>(message: &M) -> Bytes {
    message.encode_to_vec().into()
}

pub fn unimplemented(path: &str) -> Status {
    let (service, method) = path.trim_start_matches('/').split_once('/').unwrap_or((path, ""));
    Status::unimplemented(format!("unknown method {method} for service {service}"))
}
