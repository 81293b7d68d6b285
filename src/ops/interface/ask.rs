//! Questions of operations to the user.

use std::fmt;

use async_trait::async_trait;

use super::planning::Planned;

/// A question with a line as its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// What is asked: `var.region`, "Do you want to perform these actions?".
    pub title: String,
    /// What helps to answer; may be empty.
    pub text: String,
    /// The answer must not be shown while it is typed.
    pub secret: bool,
    /// Set apart from what was printed before by an empty line.
    pub apart: bool,
    /// Asked although the work was asked to stop; asking again to stop ends it.
    pub after_stop: bool,
    /// Only the title is shown, for the rest was shown before.
    pub bare: bool,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The work was asked to stop meanwhile.
    Interrupted,
    /// The input ended or cannot be read.
    Failed(String),
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoAnswer::Interrupted => f.write_str("interrupted"),
            NoAnswer::Failed(why) => f.write_str(why),
        }
    }
}

/// Asks questions.
#[async_trait]
pub trait Ask: Send + Sync {
    async fn ask(&self, question: &Question) -> Result<String, NoAnswer>;

    /// As `ask`, for the approval of a plan that was shown, and that may be shown again before the answer.
    async fn ask_to_approve(&self, question: &Question, _planned: &Planned) -> Result<String, NoAnswer> {
        self.ask(question).await
    }
}
