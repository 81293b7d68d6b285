//! What a plugin prints after its handshake, which go-plugin sends over the connection. A plugin has nothing to print:
//! it is a forgotten debugging statement, and goes to the log as such.

use base::secret;
use prost::Message;
use terrane_protocol::grpc::Channel;
use terrane_protocol::grpc::client::Method;
use terrane_protocol::wire::goplugin::{Empty, StdioData, stdio_data};

/// The bytes of a piece that are logged.
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
        tracing::warn!("unexpected data: {name}:{pipe}={:?}", log_excerpt(&piece.data));
    }
}

/// The beginning of a piece, for the log. Secrets are masked before the text is cut, so that no part of one remains.
fn log_excerpt(piece: &[u8]) -> String {
    let text = String::from_utf8_lossy(piece);
    let text = secret::masked(text.trim());
    match text.char_indices().map(|(at, _)| at).find(|at| *at >= LIMIT) {
        Some(end) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use base::secret::Secret;

    use super::*;

    #[test]
    fn long_output_is_cut_after_secrets_are_masked() {
        secret::keep_for_masking();
        let password = Secret::new("a-password-at-the-limit");
        let text = |length: usize| format!(" {}{}\n", "x".repeat(length), password.reveal());
        assert_eq!(log_excerpt(text(3).as_bytes()), "xxx(sensitive)");
        assert_eq!(log_excerpt(text(LIMIT - 4).as_bytes()), format!("{}(sen...", "x".repeat(LIMIT - 4)));
        assert_eq!(log_excerpt("é".repeat(LIMIT / 2).as_bytes()), "é".repeat(LIMIT / 2));
        assert_eq!(log_excerpt("é".repeat(LIMIT).as_bytes()), format!("{}...", "é".repeat(LIMIT / 2)));
    }
}
