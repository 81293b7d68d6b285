//! The logs of plans and applies.

use std::time::Duration;

use super::api::{ApiError, broken};
use super::{Hcp, Phase};

/// The most bytes that one request asks for.
const PIECE: usize = 65536;

impl Hcp {
    /// Gives the lines of a log to `line` until the plan or apply has ended.
    pub async fn follow_log(&self, phase: Phase, id: &str, mut line: impl FnMut(&str) + Send) -> Result<(), ApiError> {
        let mut status = self.phase(phase, id).await?;
        if status.log_url.is_empty() {
            return Err(broken(format!("{id} does not have a log URL")));
        }
        let mut log = Log::default();
        let mut idle = 0u32;
        loop {
            let joint = if status.log_url.contains('?') { '&' } else { '?' };
            let address = format!("{}{joint}limit={PIECE}&offset={}", status.log_url, log.offset);
            let piece = self.api().download(&address).await?;
            log.take(&piece, &mut line);
            if log.ended {
                break;
            }
            if !piece.is_empty() {
                idle = 0;
                continue;
            }
            idle += 1;
            // A log without end mark ends with the phase; so does one that was cut off.
            if idle > 1 {
                status = self.phase(phase, id).await?;
                if status.has_ended() {
                    break;
                }
            }
            let pause = 500.0 * 2f64.powf(f64::from(idle.min(10)) / 5.0);
            tokio::time::sleep(Duration::from_millis(pause.min(2000.0) as u64)).await;
        }
        log.finish(&mut line);
        Ok(())
    }
}

const START_OF_TEXT: u8 = 2;
const END_OF_TEXT: u8 = 3;

/// A log as far as it was read.
#[derive(Default)]
struct Log {
    offset: usize,
    /// It began with a start mark, so it ends with an end mark.
    marked: bool,
    ended: bool,
    /// The line that is not complete.
    rest: Vec<u8>,
}

impl Log {
    fn take(&mut self, piece: &[u8], line: &mut impl FnMut(&str)) {
        let mut text = piece;
        if self.offset == 0 && text.first() == Some(&START_OF_TEXT) {
            self.marked = true;
            text = &text[1..];
        }
        if self.marked && text.last() == Some(&END_OF_TEXT) {
            self.ended = true;
            text = &text[..text.len() - 1];
        }
        self.offset += piece.len();
        self.rest.extend_from_slice(text);
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.rest.drain(..whole).collect();
        for found in lines.split_inclusive(|byte| *byte == b'\n') {
            line(String::from_utf8_lossy(found).trim_end_matches(['\n', '\r']));
        }
    }

    fn finish(&mut self, line: &mut impl FnMut(&str)) {
        if !self.rest.is_empty() {
            line(&String::from_utf8_lossy(&self.rest));
            self.rest.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_read_in_pieces_between_marks() {
        let (mut log, mut lines) = (Log::default(), Vec::new());
        let mut line = |text: &str| lines.push(text.to_owned());
        for piece in ["\u{2}one\r\ntw", "o\nthree\n", "fou", "r\u{3}"] {
            assert!(!log.ended);
            log.take(piece.as_bytes(), &mut line);
        }
        log.finish(&mut line);
        assert!(log.ended);
        assert_eq!((lines, log.offset), (["one", "two", "three", "four"].map(str::to_owned).to_vec(), 21));
        let (mut log, mut lines) = (Log::default(), Vec::new());
        log.take(b"plain\n", &mut |text: &str| lines.push(text.to_owned()));
        assert_eq!((lines, log.ended), (vec!["plain".to_owned()], false));
    }
}
