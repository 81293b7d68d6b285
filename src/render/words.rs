//! The words for operations and durations that text and JSON have in common.

use std::time::Duration;

use base::dialect::Dialect;
use engine::event::{EphemeralVerb, Event};
use model::plan::Action;

use crate::opentofu;

/// What changes of a kind are called, while they are made and after.
pub struct Words {
    /// "Creating"
    pub doing: &'static str,
    /// "Creation"
    pub done: &'static str,
}

/// What a change is called; none for those that nothing is said about.
pub fn words(action: Action) -> Option<Words> {
    Some(match action {
        Action::Delete => Words { doing: "Destroying", done: "Destruction" },
        Action::Create | Action::CreateThenDelete | Action::CreateThenForget | Action::DeleteThenCreate => {
            Words { doing: "Creating", done: "Creation" }
        }
        Action::Update => Words { doing: "Modifying", done: "Modifications" },
        Action::Read => Words { doing: "Reading", done: "Read" },
        Action::NoOp | Action::Forget => return None,
    })
}

/// What may go on for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A change of an object, or a read of a data source.
    Change(Action),
    /// An operation on an ephemeral object.
    Ephemeral(EphemeralVerb),
}

impl Operation {
    /// None: there is nothing to say of it.
    pub fn words(self, dialect: Dialect) -> Option<Words> {
        match self {
            Operation::Change(action) => words(action),
            Operation::Ephemeral(verb) => Some(ephemeral(verb, dialect)),
        }
    }
}

/// What an operation on an ephemeral object is called.
pub fn ephemeral(verb: EphemeralVerb, dialect: Dialect) -> Words {
    let done = opentofu::ephemeral_done(verb, dialect);
    match verb {
        EphemeralVerb::Open => Words { doing: "Opening", done },
        EphemeralVerb::Renew => Words { doing: "Renewing", done },
        EphemeralVerb::Close => Words { doing: "Closing", done },
    }
}

/// What is awaited of a provider that has not answered a request.
pub fn awaited(event: &Event) -> Option<String> {
    let Event::RequestPending { provider, request, .. } = event else { return None };
    Some(format!("Still waiting for {} to answer {request}", provider.for_display()))
}

/// A duration rounded to seconds: `12s`, `1m5s`, `1h0m5s`.
pub fn duration(elapsed: Duration) -> String {
    whole_seconds(elapsed.as_secs_f64().round() as u64)
}

/// A number of seconds as Go writes such a duration: `12s`, `1m5s`, `1h0m5s`.
pub fn whole_seconds(seconds: u64) -> String {
    let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (h, m) {
        (0, 0) => format!("{s}s"),
        (0, _) => format!("{m}m{s}s"),
        _ => format!("{h}h{m}m{s}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_go_writes_them() {
        let cases = [(0, "0s"), (59, "59s"), (60, "1m0s"), (90, "1m30s"), (3600, "1h0m0s")];
        for (given, expected) in cases {
            assert_eq!(whole_seconds(given), expected);
        }
        assert_eq!(duration(Duration::from_millis(61_600)), "1m2s");
    }
}
