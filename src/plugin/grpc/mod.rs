//! gRPC over HTTP/2, as much of it as plugins use: unary calls and streams, of messages of any size, over any byte
//! stream. It is written for the cost of a call, which bounds what a plan of ten thousand resources costs. Never
//! knows what the messages mean.

pub mod client;
pub mod server;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite};

pub use client::Channel;
pub use server::{Reply, Service};

/// What gRPC runs over: a socket, or TLS over a socket.
pub trait Transport: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Transport for T {}

/// Of HTTP/2's flow control only the form is kept: both ends trust each other with memory, as with all else. Schemas
/// of many megabytes then come in one go, and no call waits for another one's window.
const STREAM_WINDOW: u32 = 64 << 20;
const CONNECTION_WINDOW: u32 = 1 << 30;
const FRAME_SIZE: u32 = 1 << 20;

/// The outcome of a call that failed, in gRPC's terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub code: Code,
    pub message: String,
}

/// The codes that somebody here tells apart; the others keep their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Cancelled,
    Unknown,
    Unimplemented,
    Internal,
    Unavailable,
    Other(u32),
}

impl Code {
    pub fn from_number(number: u32) -> Code {
        match number {
            1 => Code::Cancelled,
            2 => Code::Unknown,
            12 => Code::Unimplemented,
            13 => Code::Internal,
            14 => Code::Unavailable,
            other => Code::Other(other),
        }
    }

    pub fn number(self) -> u32 {
        match self {
            Code::Cancelled => 1,
            Code::Unknown => 2,
            Code::Unimplemented => 12,
            Code::Internal => 13,
            Code::Unavailable => 14,
            Code::Other(number) => number,
        }
    }
}

impl Status {
    pub fn new(code: Code, message: impl Into<String>) -> Status {
        Status { code, message: message.into() }
    }

    /// The connection is gone, or was never there.
    pub fn unavailable(error: impl std::fmt::Display) -> Status {
        Status::new(Code::Unavailable, error.to_string())
    }

    pub fn unimplemented(path: &str) -> Status {
        let mut parts = path.trim_start_matches('/').splitn(2, '/');
        let (service, method) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        Status::new(Code::Unimplemented, format!("unknown method {method} for service {service}"))
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const NAMES: [&str; 17] = [
            "OK",
            "Canceled",
            "Unknown",
            "InvalidArgument",
            "DeadlineExceeded",
            "NotFound",
            "AlreadyExists",
            "PermissionDenied",
            "ResourceExhausted",
            "FailedPrecondition",
            "Aborted",
            "OutOfRange",
            "Unimplemented",
            "Internal",
            "Unavailable",
            "DataLoss",
            "Unauthenticated",
        ];
        let number = self.code.number();
        match NAMES.get(number as usize) {
            Some(name) => write!(f, "rpc error: code = {name} desc = {}", self.message),
            None => write!(f, "rpc error: code = Code({number}) desc = {}", self.message),
        }
    }
}

impl std::error::Error for Status {}

/// The message with gRPC's prefix: a byte that says "not compressed" and the length.
pub fn frame<M: prost::Message>(message: &M) -> Bytes {
    let length = message.encoded_len();
    let mut buffer = BytesMut::with_capacity(PREFIX + length);
    buffer.put_u8(0);
    buffer.put_u32(length as u32);
    // The buffer has exactly the room that the message said it needs.
    let _ = message.encode(&mut buffer);
    buffer.freeze()
}

/// As [`frame`], of a message that is encoded already.
pub fn frame_bytes(message: &[u8]) -> Bytes {
    let mut buffer = BytesMut::with_capacity(PREFIX + message.len());
    buffer.put_u8(0);
    buffer.put_u32(message.len() as u32);
    buffer.put_slice(message);
    buffer.freeze()
}

const PREFIX: usize = 5;

/// Reads messages from the data of one direction of a call.
#[derive(Default)]
struct Unframer {
    /// What has come, in the pieces that it came in.
    pieces: std::collections::VecDeque<Bytes>,
    length: usize,
}

impl Unframer {
    fn push(&mut self, data: Bytes) {
        self.length += data.len();
        self.pieces.push_back(data);
    }

    /// The next whole message without its prefix; a message that came in one piece is not copied.
    fn next(&mut self) -> Result<Option<Bytes>, Status> {
        if self.length < PREFIX {
            return Ok(None);
        }
        let mut prefix = [0u8; PREFIX];
        let mut have = 0;
        for piece in &self.pieces {
            let take = piece.len().min(PREFIX - have);
            prefix[have..have + take].copy_from_slice(&piece[..take]);
            have += take;
            if have == PREFIX {
                break;
            }
        }
        if prefix[0] != 0 {
            return Err(Status::new(Code::Internal, "the message is compressed, and compression was not offered"));
        }
        let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
        if self.length < PREFIX + length {
            return Ok(None);
        }
        self.take(PREFIX);
        Ok(Some(self.take(length)))
    }

    fn take(&mut self, length: usize) -> Bytes {
        self.length -= length;
        while self.pieces.front().is_some_and(|piece| piece.is_empty()) {
            self.pieces.pop_front();
        }
        match self.pieces.front_mut() {
            Some(first) if first.len() >= length => return first.split_to(length),
            None => return Bytes::new(),
            _ => {}
        }
        let mut whole = BytesMut::with_capacity(length);
        while whole.len() < length {
            let Some(first) = self.pieces.front_mut() else { break };
            let wanted = (length - whole.len()).min(first.len());
            whole.put_slice(&first[..wanted]);
            first.advance(wanted);
            if first.is_empty() {
                self.pieces.pop_front();
            }
        }
        whole.freeze()
    }

    /// True if a message has begun to come and has not ended.
    fn is_torn(&self) -> bool {
        self.length > 0
    }
}

/// gRPC writes what is not printable ASCII, and the percent sign, as %XX.
fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if (0x20..=0x7e).contains(&byte) && byte != b'%' {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn percent_decode(text: &[u8]) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if first == b'%' => {
                out.push(byte);
                rest = &tail[2..];
            }
            _ => {
                out.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_whole_however_they_were_cut() {
        let mut data = frame_bytes(b"hello").to_vec();
        data.extend_from_slice(&frame_bytes(b""));
        data.extend_from_slice(&frame_bytes(&[7; 300]));
        for size in [1, 2, 3, 5, 7, 100, 1000] {
            let mut unframer = Unframer::default();
            let mut messages = Vec::new();
            for piece in data.chunks(size) {
                unframer.push(Bytes::copy_from_slice(piece));
                while let Some(message) = unframer.next().unwrap() {
                    messages.push(message.to_vec());
                }
            }
            assert_eq!(messages, vec![b"hello".to_vec(), Vec::new(), vec![7; 300]], "pieces of {size}");
            assert!(!unframer.is_torn());
        }
    }

    #[test]
    fn status_messages_survive_the_header() {
        for text in ["", "plain", "100%", "zwei\nZeilen ü", "%41"] {
            assert_eq!(percent_decode(percent_encode(text).as_bytes()), text);
        }
        assert_eq!(percent_decode(b"50%"), "50%");
        assert_eq!(percent_decode(b"%zz%4"), "%zz%4");
    }
}
