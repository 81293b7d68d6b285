//! The log of a run, and the plan that the service describes beside it.

use backend::hcp::{Flavor, Phase};
use base::diag::Severity;
use base::name::PROGRAM;
use model::plan::document::{self, DescribedPlan};
use serde_json::Value as Json;

use super::{Ended, Operation, error};
use crate::configuration::generated_file;
use crate::interface::listen::RemoteLine;

/// The messages that the description of the plan repeats.
const OF_PLAN: [&str; 3] = ["outputs", "change_summary", "planned_change"];

impl Operation<'_> {
    /// Shows a log while it grows.
    pub(super) async fn show_log(&self, phase: Phase, id: &str) -> Result<(), Ended> {
        let mut number = 0;
        let line = |text: &str| {
            number += 1;
            // An apply repeats the first lines of its plan: version, platform, initialization.
            if phase == Phase::Plan || number > 3 {
                self.show_line(phase, text);
            }
        };
        self.hcp.follow_log(phase, id, line).await.map_err(self.failed("Failed to read logs"))
    }

    fn show_line(&self, phase: Phase, text: &str) {
        let message = match self.hcp.flavor {
            Flavor::Cloud => message(text),
            Flavor::Remote => None,
        };
        match &message {
            None => self.listener.remote(RemoteLine::Text(text)),
            Some(message) => {
                let is_repeated =
                    phase == Phase::Plan && OF_PLAN.iter().any(|kind| message["type"].as_str() == Some(*kind));
                self.listener.remote(RemoteLine::Message { message, text, is_repeated });
            }
        }
    }

    /// Shows the plan if the log does not, and writes the configuration that it generated.
    pub(super) async fn show_plan(&self, run: &str, plan: &str) -> Result<(), Ended> {
        let generates = match &self.options.generate {
            Some(path) => {
                let phase = self.hcp.phase(Phase::Plan, plan).await.map_err(self.failed("Failed to retrieve run"))?;
                let has_ended = matches!(phase.status.as_str(), "errored" | "finished");
                Some(path).filter(|_| has_ended && phase.has_generated_configuration)
            }
            None => None,
        };
        let status = self.read(run).await?.status;
        let shows = self.workspace.structured_output
            && self.hcp.supports_structured_output
            && !matches!(status.as_str(), "errored" | "canceled" | "discarded");
        if !shows && generates.is_none() {
            return Ok(());
        }
        let content = self.hcp.plan_json(plan, true).await.map_err(self.failed("Failed to read JSON plan"))?;
        let described = document::read(&content)
            .map_err(|why| error(format!("Failed to decode JSON plan: {why}"), unreadable(self.hcp.app_name)))?;
        if let Some(path) = generates {
            let found = generated_file::write(path, &described.plan);
            found.filter(|found| found.severity == Severity::Error).map_or(Ok(()), Err)?;
        }
        if shows {
            self.show_described(described);
        }
        Ok(())
    }

    fn show_described(&self, mut described: DescribedPlan) {
        described.plan.scope.mode = self.request.plan.scope.mode;
        self.listener.remote(RemoteLine::Plan(&described));
    }
}

/// Why a plan cannot be shown, for people.
pub(super) fn unreadable(app: &str) -> String {
    format!("{app} described the plan in a format that this version of {PROGRAM} cannot read.")
}

/// A line that is a message in the format of `-json`.
fn message(text: &str) -> Option<Json> {
    let message: Json = text.starts_with('{').then(|| serde_json::from_str(text).ok())??;
    (message["@message"].is_string() || message["type"].is_string()).then_some(message)
}
