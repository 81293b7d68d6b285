//! Waiting until a run starts.

use std::time::{Duration, Instant};

use backend::hcp::{Phase, Run};
use render::words::whole_seconds;

use super::{Ended, Operation, pause};

/// The time between two messages.
const MESSAGES: Duration = Duration::from_secs(30);

impl Operation<'_> {
    /// Waits until the plan or the apply of a run starts.
    pub(super) async fn wait(&self, run: &str, phase: Phase) -> Result<Run, Ended> {
        let started = Instant::now();
        let mut told = started;
        let what = if phase == Phase::Plan { "plan" } else { "apply" };
        for turn in 0.. {
            tokio::time::sleep(pause(turn)).await;
            let now = self.read(run).await?;
            if !matches!(now.status.as_str(), "pending" | "confirmed") {
                if turn == 0 && phase == Phase::Plan {
                    self.say("Waiting for the {} to start...\n", &[what]);
                }
                if turn > 0 {
                    self.say("", &[]);
                }
                return Ok(now);
            }
            let timeout = self.request.state.lock_timeout;
            if !timeout.is_zero() && started.elapsed() > timeout && now.status == "pending" && now.is_cancelable {
                self.say(
                    "[reset][red]Lock timeout exceeded, sending interrupt to cancel the remote operation.\n[reset]",
                    &[],
                );
                return Err(Ended::LockTimeout);
            }
            if turn > 0 && told.elapsed() <= MESSAGES {
                continue;
            }
            told = Instant::now();
            let whole = started.elapsed().as_secs() / 30 * 30;
            let elapsed = if turn == 0 { String::new() } else { format!(" ({} elapsed)", whole_seconds(whole)) };
            let reason = self.reason_to_wait(&now, what).await?;
            self.say("{}{}", &[&reason, &elapsed]);
        }
        Err(Ended::Interrupted)
    }

    /// Why a run does not start yet.
    async fn reason_to_wait(&self, run: &Run, what: &str) -> Result<String, Ended> {
        let found = self.hcp.workspace(&self.setup.workdir.workspace).await;
        let workspace = found.map_err(self.failed("Failed to retrieve workspace"))?;
        let current = workspace.as_ref().and_then(|workspace| workspace.current_run.as_deref());
        if let Some(current) = current.filter(|_| workspace.as_ref().is_some_and(|workspace| workspace.locked)) {
            let current = self.hcp.run(current).await.map_err(self.failed("Failed to retrieve current run"))?;
            if current.status == "pending" {
                return Ok("Waiting for the manually locked workspace to be unlocked...".to_owned());
            }
        }
        if current != Some(run.id.as_str()) {
            let before = self.hcp.runs_before(&self.workspace, &run.id, current).await;
            let before = before.map_err(self.failed("Failed to retrieve run list"))?;
            let waits = |other: &&Run| match other.status.as_str() {
                "applied" | "canceled" | "discarded" | "errored" => false,
                "planned" => self.applies(),
                _ => true,
            };
            let count = before.iter().filter(waits).count();
            if count > 0 {
                return Ok(format!("Waiting for {count} run(s) to finish before being queued..."));
            }
        }
        let position = self.hcp.queue_position(&run.id).await.map_err(self.failed("Failed to retrieve queue"))?;
        if position > 0 {
            let running = self.hcp.running().await.map_err(self.failed("Failed to retrieve capacity"))?;
            return Ok(format!("Waiting for {} queued run(s) to finish before starting...", position - running));
        }
        Ok(format!("Waiting for the {what} to start..."))
    }
}
