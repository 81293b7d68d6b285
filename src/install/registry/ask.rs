//! One question to a registry: with the user's token for its host, and the language version that the answer should suit.

use url::Url;

use crate::base::http::{Answer, Failure, FailureKind, Request};
use crate::base::secret::redacted;
use crate::model::service::Host;
use crate::model::version::LANGUAGE_VERSION;

use super::discovery::Hosts;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskError {
    Interrupted,
    /// For people.
    Failed(String),
}

impl Hosts {
    /// Any answer but those of a host in trouble, which is given up after some attempts.
    pub async fn ask_registry(&self, host: &Host, url: Url) -> Result<Answer, AskError> {
        let token = self.credentials.of(host).await;
        let request = Request::new(url).header("x-terraform-version", LANGUAGE_VERSION).token(token);
        let answer = self.http.get(&request).await.map_err(unreachable)?;
        let status = answer.status;
        if status.as_u16() == 429 || (status.is_server_error() && status.as_u16() != 501) {
            let why = format!("{status} returned from {}", redacted(answer.url.as_str()));
            return Err(gave_up(answer.attempts, &why));
        }
        Ok(answer)
    }
}

fn unreachable(failure: Failure) -> AskError {
    match failure.kind {
        FailureKind::Stopped => AskError::Interrupted,
        _ => gave_up(failure.attempts, &failure.to_string()),
    }
}

fn gave_up(attempts: u32, why: &str) -> AskError {
    AskError::Failed(match attempts {
        0 | 1 => format!("the request failed, please try again later: {why}"),
        more => format!("the request failed after {more} attempts, please try again later: {why}"),
    })
}
