//! Answers with many messages: those of work that reports progress while it runs.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc;
use tracing::Instrument as _;

use super::grpc::Reply;
use crate::provider::Output;

/// Messages that may wait for the caller.
pub(super) const BUFFER: usize = 1024;

/// The texts that work has reported and that are not sent yet. Unbounded, so that work never waits for its caller.
pub(super) struct Texts(mpsc::UnboundedReceiver<String>);

/// Where work reports its progress, and where the reports come out.
pub(super) fn texts() -> (Output, Texts) {
    let (sender, receiver) = mpsc::unbounded_channel::<String>();
    let output = move |text: &str| {
        let _ = sender.send(text.to_owned());
    };
    (Arc::new(output), Texts(receiver))
}

/// Runs work in a task. The reply has a message for each text, then the one that the work returns. The work is dropped if
/// the caller goes away.
pub(super) fn reply_while(
    work: impl Future<Output = Option<Bytes>> + Send + 'static,
    mut texts: Texts,
    message: fn(String) -> Bytes,
) -> Reply {
    let (sender, receiver) = mpsc::channel(BUFFER);
    let task = async move {
        let mut work = std::pin::pin!(work);
        let last = loop {
            tokio::select! {
                biased;
                Some(text) = texts.0.recv() => {
                    let _ = sender.send(Ok(message(text))).await;
                }
                last = &mut work => break last,
                () = sender.closed() => return,
            }
        };
        while let Ok(text) = texts.0.try_recv() {
            let _ = sender.send(Ok(message(text))).await;
        }
        if let Some(last) = last {
            let _ = sender.send(Ok(last)).await;
        }
    };
    tokio::spawn(task.in_current_span());
    Reply::Stream(receiver)
}
