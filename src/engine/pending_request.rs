//! Reports requests to providers without a response after some time.

use std::fmt::Display;
use std::pin::pin;
use std::time::Duration;

use model::addr::Provider;

use super::event::Event;
use super::ports::Ports;

/// Seconds until the first report. Each further report comes after twice the time.
const FIRST_REPORT: i64 = 10;

/// A request to a provider, for reports.
pub struct PendingRequest<'r> {
    /// The name in the plugin protocol.
    pub name: &'static str,
    pub provider: &'r Provider,
    /// The address of the resource or provider configuration that the request is about.
    pub subject: &'r (dyn Display + Sync),
}

impl PendingRequest<'_> {
    /// Waits for the answer, without a limit.
    pub async fn answered<T>(&self, ports: &Ports, answer: impl Future<Output = T>) -> T {
        let mut answer = pin!(answer);
        let started = ports.host.now();
        let mut elapsed = FIRST_REPORT;
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return answer,
                () = ports.host.wait_until(started.plus_seconds(elapsed)) => {}
            }
            ports.observer.event(Event::RequestPending {
                subject: self.subject.to_string(),
                provider: self.provider.clone(),
                request: self.name,
                elapsed: Duration::from_secs(elapsed.unsigned_abs()),
                stopping: ports.stop.is_stopping(),
            });
            elapsed *= 2;
        }
    }
}
