//! How much of what others send is read: states, and the answers of services and helper programs. Without limits a server, or who
//! speaks in its place, could fill the memory.
//!
//! Set when the process starts, as the name of the program is.

use std::io::{self, Read};
use std::sync::OnceLock;

use crate::env::{Environment, TERRANE_ANSWER_SIZE_LIMIT, TERRANE_STATE_SIZE_LIMIT};

/// The most bytes of something, and the setting that changes that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub bytes: u64,
    pub setting: Option<&'static str>,
}

const STATE: Limit = Limit { bytes: 4 << 30, setting: Some(TERRANE_STATE_SIZE_LIMIT) };
const ANSWER: Limit = Limit { bytes: 16 << 20, setting: Some(TERRANE_ANSWER_SIZE_LIMIT) };

/// Answers of at most this size are what a provider can give in the reference.
const RESPONSE: Limit = Limit { bytes: 64 << 20, setting: Some(TERRANE_ANSWER_SIZE_LIMIT) };

static LIMITS: OnceLock<[Limit; 3]> = OnceLock::new();

/// Takes the limits of the environment. Only the first call has an effect.
pub fn set(environment: &Environment) {
    let _ = LIMITS.set([STATE, ANSWER, RESPONSE].map(|limit| limit.of(environment)));
}

/// Of a state, in any form.
pub fn state() -> Limit {
    LIMITS.get().map_or(STATE, |limits| limits[0])
}

/// Of tokens, metadata, and what helper programs say.
pub fn answer() -> Limit {
    LIMITS.get().map_or(ANSWER, |limits| limits[1])
}

/// Of what data sources and registries are answered.
pub fn response() -> Limit {
    LIMITS.get().map_or(RESPONSE, |limits| limits[2])
}

impl Limit {
    pub const fn bytes(bytes: u64) -> Limit {
        Limit { bytes, setting: None }
    }

    /// With the user's wish, in MiB; one that is no number counts as none.
    fn of(self, environment: &Environment) -> Limit {
        let mib = self.setting.and_then(|name| environment.non_empty(name)).and_then(|text| text.trim().parse().ok());
        Limit { bytes: mib.map_or(self.bytes, |mib: u64| mib.saturating_mul(1 << 20)), ..self }
    }

    /// Reads a stream to its end, or fails with [`Self::exceeded`].
    pub fn read(self, stream: impl Read) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        stream.take(self.bytes.saturating_add(1)).read_to_end(&mut content)?;
        if content.len() as u64 > self.bytes { Err(self.error()) } else { Ok(content) }
    }

    /// `larger than 16 MiB (see TERRANE_ANSWER_SIZE_LIMIT)`
    pub fn exceeded(self) -> String {
        let size = match self.bytes % (1 << 20) {
            0 => format!("{} MiB", self.bytes >> 20),
            _ => format!("{} bytes", self.bytes),
        };
        let setting = self.setting.map_or(String::new(), |setting| format!(" (see {setting})"));
        format!("larger than {size}{setting}")
    }

    pub fn error(self) -> io::Error {
        io::Error::new(io::ErrorKind::FileTooLarge, format!("it is {}", self.exceeded()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_without_end_are_errors_with_the_setting() {
        let limit = Limit { bytes: 1 << 20, setting: Some("S") };
        assert_eq!(limit.read(io::repeat(0)).unwrap_err().to_string(), "it is larger than 1 MiB (see S)");
        assert_eq!(limit.read(io::repeat(0).take(1 << 20)).unwrap().len(), 1 << 20);
        assert_eq!(Limit::bytes(7).exceeded(), "larger than 7 bytes");
    }

    #[test]
    fn the_environment_changes_limits() {
        let environment = Environment::of([("TERRANE_STATE_SIZE_LIMIT", "3"), ("TERRANE_ANSWER_SIZE_LIMIT", "many")]);
        assert_eq!(STATE.of(&environment).bytes, 3 << 20);
        assert_eq!(ANSWER.of(&environment), ANSWER);
    }
}
