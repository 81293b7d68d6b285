//! Timeouts that users may set: a nested block `timeouts` with durations.

use std::time::Duration;

use terrane_value::duration::DurationError;

use super::Model;
use super::error::Error;
use super::validators::matches;

/// The block `timeouts`: how long operations may take, as durations like "30m" or "1h30m".
///
/// ```
/// use terrane_sdk::{Model, Timeouts};
///
/// /// A machine.
/// #[derive(Model)]
/// struct Machine {
///     /// What it is called.
///     #[attribute(required)]
///     name: String,
///     #[block]
///     timeouts: Option<Timeouts>,
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Model)]
pub struct Timeouts {
    /// Of the creation.
    #[attribute(optional, validators(duration()))]
    pub create: Option<String>,
    /// Of reading the object.
    #[attribute(optional, validators(duration()))]
    pub read: Option<String>,
    /// Of changes in place.
    #[attribute(optional, validators(duration()))]
    pub update: Option<String>,
    /// Of the destruction.
    #[attribute(optional, validators(duration()))]
    pub delete: Option<String>,
}

/// Accepts durations: "30s", "1h30m".
///
/// ```
/// # use terrane_sdk::{Attribute, duration};
/// let interval = Attribute::string("interval").optional().validator(duration());
/// ```
pub fn duration() -> impl super::Validator {
    matches("must be a duration such as \"30s\" or \"1h30m\"", |text| parse(text).is_ok())
}

fn parse(text: &str) -> Result<Duration, DurationError> {
    terrane_value::duration::parse(text)
}

impl Timeouts {
    /// Runs an operation; it is dropped, and an error, when it takes longer than the user or the default allows.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use terrane_sdk::{Error, Timeouts};
    /// # async fn create() -> Result<(), Error> { Ok(()) }
    /// # async fn example(timeouts: Option<Timeouts>) -> Result<(), Error> {
    /// let timeouts = timeouts.unwrap_or_default();
    /// Timeouts::limit(timeouts.create.as_deref(), Duration::from_secs(1200), create()).await
    /// # }
    /// ```
    pub async fn limit<T>(
        configured: Option<&str>,
        default: Duration,
        operation: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let limit = match configured {
            Some(text) => {
                parse(text).map_err(|_| Error::new("Invalid Timeout", format!("{text:?} is not a duration.")))?
            }
            None => default,
        };
        match tokio::time::timeout(limit, operation).await {
            Ok(result) => result,
            Err(_) => {
                let detail =
                    format!("The operation did not end within {limit:?}. Set a longer timeout if it needs more time.");
                Err(Error::new("Operation timed out", detail))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_operation_that_takes_too_long_is_an_error() {
        let never = || std::future::pending::<Result<(), Error>>();
        let instant = Duration::from_millis(1);
        let late = Timeouts::limit(Some("1ms"), Duration::MAX, never()).await;
        assert_eq!(late.unwrap_err().diagnostics[0].summary, "Operation timed out");
        assert!(Timeouts::limit(None, instant, never()).await.is_err());
        assert!(Timeouts::limit(Some("1h"), instant, async { Ok(()) }).await.is_ok());
        assert_eq!(
            Timeouts::limit(Some("soon"), instant, never()).await.unwrap_err().diagnostics[0].summary,
            "Invalid Timeout"
        );
    }
}
