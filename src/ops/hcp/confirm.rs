//! Questions about a run, which may be answered in the web interface too.

use std::time::Duration;

use base::diag::Diagnostic;
use model::plan::Mode;

use super::{Ended, Operation, error};
use crate::interface::ask::{NoAnswer, Question};

/// The pause between two requests for a decision that was made in the web interface.
const LOOKS: Duration = Duration::from_secs(3);

/// Where a positive answer was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Here,
    /// In the web interface.
    Elsewhere,
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Approval,
    Override,
}

impl Subject {
    /// The only answer that means yes.
    fn word(self) -> &'static str {
        match self {
            Subject::Approval => "yes",
            Subject::Override => "override",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Subject::Approval => "approve",
            Subject::Override => "override",
        }
    }
}

impl Operation<'_> {
    /// Asks whether to override failed policies.
    pub(super) async fn ask_to_override(&self, title: &str, run: &str) -> Result<Answer, Ended> {
        let text = "Only 'override' will be accepted to override.".to_owned();
        let question = Question { title: title.to_owned(), text, apart: true, ..Question::default() };
        self.confirm(&question, Subject::Override, run).await
    }

    /// Asks, while a user may decide in the web interface. Any other answer discards the run and is an error.
    pub(super) async fn confirm(&self, question: &Question, subject: Subject, run: &str) -> Result<Answer, Ended> {
        let name = subject.name();
        let Some(approver) = self.options.approver.clone().or_else(|| self.setup.ask.clone()) else {
            return Err(error(format!("Error asking {name}: input is disabled"), ""));
        };
        let answer = tokio::select! {
            answer = approver.ask(question) => answer,
            decided = self.decision_elsewhere(subject, run) => return decided,
        };
        match answer {
            Ok(answer) if answer == subject.word() => Ok(Answer::Here),
            Ok(_) => {
                let now = self.read(run).await?;
                if now.is_discardable {
                    let what = match self.request.plan.scope.mode {
                        Mode::Destroy => "Failed to discard destroy",
                        Mode::Normal | Mode::RefreshOnly => "Failed to discard apply",
                    };
                    self.hcp.act_on_run(run, "discard").await.map_err(self.failed(what))?;
                }
                Err(self.discarded())
            }
            Err(NoAnswer::Interrupted) => Err(Ended::Interrupted),
            Err(NoAnswer::Failed(why)) => Err(error(format!("Error asking {name}: {why}"), "")),
        }
    }

    /// Waits for a decision in the web interface.
    async fn decision_elsewhere(&self, subject: Subject, run: &str) -> Result<Answer, Ended> {
        loop {
            tokio::time::sleep(LOOKS).await;
            let now = self.read(run).await?;
            let (is_open, decision) = match subject {
                Subject::Override => {
                    let is_open = matches!(now.status.as_str(), "policy_override" | "post_plan_awaiting_decision");
                    (is_open, "overridden using the UI or API")
                }
                Subject::Approval => (now.is_confirmable, "approved using the UI or API"),
            };
            if is_open {
                continue;
            }
            if now.status == "discarded" {
                self.say("[reset][yellow]{}[reset]", &["discarded using the UI or API"]);
                return Err(self.discarded());
            }
            self.say("[reset][yellow]{}[reset]", &[decision]);
            return Ok(Answer::Elsewhere);
        }
    }

    fn discarded(&self) -> Ended {
        let text = match self.request.plan.scope.mode {
            Mode::Destroy => "Destroy discarded.",
            Mode::Normal | Mode::RefreshOnly => "Apply discarded.",
        };
        Diagnostic::error(text, "").into()
    }
}
