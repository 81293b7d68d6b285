//! What a plugin prints after its handshake, which go-plugin sends over the connection. A plugin has nothing to print:
//! it is a forgotten debugging statement, and goes to the log as such.

use prost::Message;
use terrane_protocol::grpc::Channel;
use terrane_protocol::grpc::client::Method;
use terrane_protocol::wire::goplugin::{Empty, StdioData, stdio_data};

/// What is shown of a piece.
const LIMIT: usize = 1024;

/// Logs what comes until the connection ends. A plugin may not offer it at all.
pub async fn watch(channel: Channel, name: String) {
    let method = Method::new("/plugin.GRPCStdio/StreamStdio");
    let Ok(mut pieces) = channel.open(&method, Empty {}).await else { return };
    // Only the pieces may keep the stream: the channel would never close.
    drop(channel);
    while let Ok(Some(piece)) = pieces.message().await {
        let Ok(piece) = StdioData::decode(piece) else { return };
        let pipe = if piece.channel() == stdio_data::Channel::Stderr { "stderr" } else { "stdout" };
        let shown = &piece.data[..piece.data.len().min(LIMIT)];
        let more = if piece.data.len() > LIMIT { "..." } else { "" };
        tracing::warn!(
            "unexpected data: {name}:{pipe}={:?}",
            format!("{}{more}", String::from_utf8_lossy(shown).trim())
        );
    }
}
