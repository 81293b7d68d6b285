//! The rules of `time_sleep`: pauses after the creation and before the deletion.

use std::time::Duration;

use terrane_value::duration;

use super::{bad_id, import_error};
use crate::providers::failure::Failure;

/// The requirement on `create_duration` and `destroy_duration`, in the words of the validation error.
pub const DURATION_RULE: &str = "must be a number immediately followed by ms (milliseconds), s (seconds), \
     m (minutes), or h (hours). For example, \"30s\" for 30 seconds.";

/// The operation that pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    AfterCreate,
    BeforeDelete,
}

impl Pause {
    /// The summary of errors, including that of an interruption.
    pub fn error_summary(self) -> &'static str {
        match self {
            Pause::AfterCreate => "Create time sleep error",
            Pause::BeforeDelete => "Delete time sleep error",
        }
    }

    /// The length of the pause. An empty text means none.
    pub fn duration(self, text: Option<&str>) -> Result<Duration, Failure> {
        match text.filter(|text| !text.is_empty()) {
            Some(text) => parse(text).map_err(|error| import_error(self.error_summary(), UNPARSED, &error)),
            None => Ok(Duration::ZERO),
        }
    }

    /// The error of an interrupted pause.
    pub fn interrupted(self) -> Failure {
        Failure::new(self.error_summary(), "Original Error: context canceled")
    }
}

/// The reference names `create_duration` in the errors of both attributes.
const UNPARSED: &str = "The create_duration cannot be parsed";

/// Returns whether a configured duration has the required form: one number and one unit.
pub fn is_valid_duration(text: &str) -> bool {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.strip_suffix("ms").or_else(|| text.strip_suffix(['s', 'm', 'h'])).unwrap_or_default();
    match number.split_once('.') {
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
        None => is_digits(number),
    }
}

/// `create_duration` and `destroy_duration` of an import ID: `CREATE,DESTROY`, one of which may be empty.
pub fn import(id: &str) -> Result<(Option<&str>, Option<&str>), Failure> {
    const FORM: &str = "CREATEDURATION,DESTROYDURATION where at least one value is non-empty";
    let fields: Vec<&str> = id.split(',').collect();
    let &[create, destroy] = fields.as_slice() else { return Err(bad_id(id, FORM)) };
    if create.is_empty() && destroy.is_empty() {
        return Err(bad_id(id, FORM));
    }
    let given = |text| match text {
        "" => Ok(None),
        text => {
            parse(text).map(|_| Some(text)).map_err(|error| import_error("Import time sleep error", UNPARSED, &error))
        }
    };
    Ok((given(create)?, given(destroy)?))
}

fn parse(text: &str) -> Result<Duration, String> {
    duration::parse(text).map_err(|error| match error {
        duration::DurationError::Invalid => format!("time: invalid duration {text:?}"),
        duration::DurationError::MissingUnit => format!("time: missing unit in duration {text:?}"),
        duration::DurationError::UnknownUnit(unit) => format!("time: unknown unit {unit:?} in duration {text:?}"),
    })
}
