//! Renewal of open ephemeral objects, whenever their provider asks for it.

use std::sync::Arc;

use base::moment::Moment;
use model::addr::AbsResourceInstance;
use terrane_protocol::provider::{Provider, ProviderDiagnostics, has_errors};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::event::{EphemeralVerb, Event};
use crate::graph::walk::{Panic, catch_panic};
use crate::ports::Ports;

/// The task that renews one object. Dropping it aborts the task.
pub struct Renewal {
    closing: oneshot::Sender<()>,
    task: JoinSet<Result<ProviderDiagnostics, Panic>>,
}

/// When to renew an object, with the private data for it.
pub struct NextRenewal {
    pub at: Moment,
    pub private: Vec<u8>,
}

impl NextRenewal {
    /// What an answer says about the next renewal: seconds and nanoseconds, as in the plugin protocol. None: there is none.
    pub fn of(renew_at: Option<(i64, i32)>, private: Vec<u8>) -> Option<NextRenewal> {
        let (seconds, nanos) = renew_at?;
        Some(NextRenewal { at: Moment { seconds, nanos: u32::try_from(nanos).unwrap_or(0) }, private })
    }
}

impl Renewal {
    pub fn start(ports: Ports, provider: Arc<dyn Provider>, addr: AbsResourceInstance, first: NextRenewal) -> Renewal {
        let (closing, closed) = oneshot::channel();
        let mut task = JoinSet::new();
        task.spawn(catch_panic(renew(ports, provider, addr, first, closed)));
        Renewal { closing, task }
    }

    /// Starts no further renewal, waits for one that runs, and returns what the provider reported.
    pub async fn end(mut self) -> Result<ProviderDiagnostics, Panic> {
        drop(self.closing);
        match self.task.join_next().await {
            Some(Ok(ended)) => ended,
            // The runtime ends.
            Some(Err(_)) | None => Ok(Vec::new()),
        }
    }
}

/// Renews until the object is closed, a renewal fails or the provider asks for no other.
async fn renew(
    ports: Ports,
    provider: Arc<dyn Provider>,
    addr: AbsResourceInstance,
    mut due: NextRenewal,
    mut closed: oneshot::Receiver<()>,
) -> ProviderDiagnostics {
    let verb = EphemeralVerb::Renew;
    let mut reported = Vec::new();
    loop {
        tokio::select! {
            biased;
            _ = &mut closed => return reported,
            () = ports.host.wait_until(due.at) => {}
        }
        ports.observer.event(Event::EphemeralStarted { addr: addr.clone(), verb });
        let started = ports.host.now();
        let answer = provider.renew_ephemeral(addr.kind(), due.private).await;
        let failed = has_errors(&answer.diagnostics);
        let elapsed = ports.host.since(started);
        ports.observer.event(Event::EphemeralFinished { addr: addr.clone(), verb, elapsed, failed });
        reported.extend(answer.diagnostics);
        match NextRenewal::of(answer.renew_at, answer.private) {
            Some(next) if !failed => due = next,
            _ => return reported,
        }
    }
}
