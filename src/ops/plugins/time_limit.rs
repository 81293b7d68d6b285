//! How long providers may take for the requests that come before all others.

use std::time::Duration;

use base::diag::{Diagnostic, Diagnostics};
use base::env::{Environment, TERRANE_PLUGIN_CONFIGURE_TIMEOUT, TERRANE_PLUGIN_SCHEMA_TIMEOUT};
use model::addr::Provider;

/// A request with a separate time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedRequest {
    Schema,
    Configure,
}

impl LimitedRequest {
    fn variable(self) -> &'static str {
        match self {
            LimitedRequest::Schema => TERRANE_PLUGIN_SCHEMA_TIMEOUT,
            LimitedRequest::Configure => TERRANE_PLUGIN_CONFIGURE_TIMEOUT,
        }
    }

    fn name(self) -> &'static str {
        match self {
            LimitedRequest::Schema => "GetProviderSchema",
            LimitedRequest::Configure => "ConfigureProvider",
        }
    }
}

/// Waits for the answer as long as the environment allows; without a limit if it has none.
pub async fn within<T>(
    environment: &Environment,
    provider: &Provider,
    request: LimitedRequest,
    answer: impl Future<Output = T>,
) -> Result<T, Diagnostics> {
    let Some(limit) = limit(environment, request) else { return Ok(answer.await) };
    tokio::time::timeout(limit, answer).await.map_err(|_| {
        let detail = format!(
            "The provider {provider} did not answer the request {} within {} seconds, the limit that {} sets. Check whether the provider \
             can reach its service, or set a higher limit.",
            request.name(),
            limit.as_secs(),
            request.variable(),
        );
        Diagnostic::error("Provider does not respond", detail).into()
    })
}

/// What is no number of seconds is as if it were not set.
fn limit(environment: &Environment, request: LimitedRequest) -> Option<Duration> {
    let seconds = environment.non_empty(request.variable())?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn requests_end_at_their_limit() {
        let environment = Environment::of([(TERRANE_PLUGIN_SCHEMA_TIMEOUT, "0")]);
        let provider = Provider::parse_source("hashicorp/slow").unwrap();
        let answered = within(&environment, &provider, LimitedRequest::Schema, std::future::ready(1)).await;
        assert_eq!(answered.unwrap(), 1);
        let errors = within(&environment, &provider, LimitedRequest::Schema, std::future::pending::<()>()).await;
        let detail = &errors.unwrap_err().iter().next().unwrap().detail.clone();
        assert!(
            detail.contains("hashicorp/slow did not answer the request GetProviderSchema within 0 seconds"),
            "{detail}"
        );
        assert_eq!(limit(&environment, LimitedRequest::Configure), None);
    }
}
