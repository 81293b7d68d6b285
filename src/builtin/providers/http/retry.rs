//! Which responses are retried, and the delay before each retry.

use std::time::{Duration, SystemTime};

use gotext::timestamp::Timestamp;
use hyper::header::{HeaderMap, RETRY_AFTER};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The `retry` block. The default is a single attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The number of retries after the first attempt.
    pub attempts: u64,
    pub min_delay: Duration,
    pub max_delay: Duration,
}

impl Default for Retry {
    fn default() -> Retry {
        Retry { attempts: 0, min_delay: Duration::from_secs(1), max_delay: Duration::from_secs(30) }
    }
}

impl Retry {
    /// The delay after an attempt, counted from 0. It doubles with each attempt up to the maximum.
    pub fn wait(&self, attempt: u64) -> Duration {
        let factor = u32::try_from(attempt).ok().and_then(|attempt| 1_u32.checked_shl(attempt));
        let wait = factor.and_then(|factor| self.min_delay.checked_mul(factor));
        wait.map_or(self.max_delay, |wait| wait.min(self.max_delay))
    }
}

/// Returns whether a status is retried. After the last attempt it is an error.
pub fn is_retried(status: u16) -> bool {
    status == 429 || (status >= 500 && status != 501)
}

/// The delay that `Retry-After` requests, in seconds or as a date. Only 429 and 503 have one.
pub fn retry_after(status: u16, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    if status != 429 && status != 503 {
        return None;
    }
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    if let Ok(seconds) = text.parse::<i64>() {
        return u64::try_from(seconds).ok().map(Duration::from_secs);
    }
    let unix = u64::try_from(http_date(text)?).unwrap_or(0);
    let until = SystemTime::UNIX_EPOCH + Duration::from_secs(unix);
    Some(until.duration_since(now).unwrap_or_default())
}

/// The Unix time of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<i64> {
    let (_, date) = text.split_once(", ")?;
    let [day, month, year, clock, _zone] = date.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    Timestamp::parse(&format!("{year}-{month:02}-{day}T{clock}Z")).ok().map(|time| time.seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_maximum() {
        let waits: Vec<u64> = (0..7).map(|attempt| Retry::default().wait(attempt).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(Retry::default().wait(u64::MAX).as_secs(), 30);
    }

    #[test]
    fn overload_and_server_errors_are_retried() {
        for (status, expected) in
            [(200, false), (404, false), (429, true), (499, false), (500, true), (501, false), (503, true), (999, true)]
        {
            assert_eq!(is_retried(status), expected, "{status}");
        }
    }

    #[test]
    fn servers_set_the_wait() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let cases = [
            (503, "7", Some(7)),
            (429, "0", Some(0)),
            (500, "7", None),
            (503, "-1", None),
            (503, "soon", None),
            (503, "Sun, 06 Nov 1994 08:49:47 GMT", Some(10)),
            (503, "Sun, 06 Nov 1994 08:49:30 GMT", Some(0)),
            (503, "Sun, 06 Nux 1994 08:49:30 GMT", None),
        ];
        for (status, text, expected) in cases {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
            assert_eq!(retry_after(status, &headers, now), expected.map(Duration::from_secs), "{status} {text}");
        }
    }
}
