//! States as chunks of an agreed size, in order.

use std::fmt;

use bytes::Bytes;

use super::message::StateRange;

/// What a caller proposes, in bytes: that of the reference.
pub const PROPOSED_SIZE: i64 = 8 << 20;

/// Larger chunks are refused.
const MAX_SIZE: i64 = 128 << 20;

/// The size that a provider has chosen, if it is acceptable; in bytes.
pub fn accepted(size: i64) -> Result<usize, ChunkError> {
    match usize::try_from(size) {
        Ok(accepted) if accepted > 0 && size <= MAX_SIZE => Ok(accepted),
        _ => Err(ChunkError::Size(size)),
    }
}

/// What a provider answers to a proposal that it can live with; without a proposal, the usual size.
pub fn answer(proposed: i64) -> i64 {
    if proposed > 0 { proposed.min(MAX_SIZE) } else { PROPOSED_SIZE }
}

/// Why a state does not come through.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkError {
    /// The provider wants chunks of this size, in bytes.
    Size(i64),
    /// A chunk does not begin where the one before it ended.
    Gap { start: i64, received: usize },
    /// The whole does not have the length that was announced.
    Length { total: i64, received: usize },
}

impl fmt::Display for ChunkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChunkError::Size(size) => write!(
                f,
                "Failed to negotiate acceptable chunk size. Expected size > 0 and <= {MAX_SIZE} bytes, provider wants {size} bytes"
            ),
            ChunkError::Gap { start, received } => {
                write!(f, "a chunk begins at byte {start}, after {received} bytes were received")
            }
            ChunkError::Length { total, received } => {
                write!(f, "expected state file of total {total} bytes, received {received} bytes")
            }
        }
    }
}

impl std::error::Error for ChunkError {}

/// A part of a state, with its place in the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    pub bytes: Bytes,
    pub total_length: i64,
    /// The positions of the first and the last byte.
    pub range: StateRange,
}

/// The chunks of a state; an empty state is one empty chunk.
pub struct Chunks {
    content: Bytes,
    size: usize,
    sent: usize,
    done: bool,
}

impl Chunks {
    pub fn of(content: Bytes, size: usize) -> Chunks {
        Chunks { content, size: size.max(1), sent: 0, done: false }
    }
}

impl Iterator for Chunks {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        if self.done {
            return None;
        }
        let end = (self.sent + self.size).min(self.content.len());
        let range = StateRange { start: position(self.sent), end: position(end.saturating_sub(1)) };
        let chunk =
            Chunk { bytes: self.content.slice(self.sent..end), total_length: position(self.content.len()), range };
        self.sent = end;
        self.done = end == self.content.len();
        Some(chunk)
    }
}

fn position(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A state that is put together again.
#[derive(Default)]
pub struct Assembly {
    content: Vec<u8>,
    total: Option<i64>,
    /// The first thing that was wrong.
    problem: Option<ChunkError>,
}

impl Assembly {
    pub fn add(&mut self, bytes: &[u8], total_length: i64, range: Option<StateRange>) {
        let start = range.map_or(0, |range| range.start);
        if range.is_some() && !bytes.is_empty() && start != position(self.content.len()) {
            let have = self.content.len();
            self.problem.get_or_insert(ChunkError::Gap { start, received: have });
        }
        self.total.get_or_insert(total_length);
        self.content.extend_from_slice(bytes);
    }

    /// The state, if it is whole.
    pub fn end(self) -> Result<Vec<u8>, ChunkError> {
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        let total = self.total.unwrap_or(0);
        if position(self.content.len()) != total {
            return Err(ChunkError::Length { total, received: self.content.len() });
        }
        Ok(self.content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: i64, end: i64) -> Option<StateRange> {
        Some(StateRange { start, end })
    }

    #[test]
    fn chunks_are_put_together_again() {
        for (length, size, count) in [(0, 4, 1), (1, 4, 1), (4, 4, 1), (5, 4, 2), (8, 4, 2), (9, 1, 9), (3, 0, 3)] {
            let content: Vec<u8> = (0..length).collect();
            let chunks: Vec<Chunk> = Chunks::of(content.clone().into(), size).collect();
            assert_eq!(chunks.len(), count, "{length} bytes in chunks of {size}");
            let mut assembly = Assembly::default();
            for chunk in &chunks {
                assert_eq!(chunk.total_length, i64::from(length));
                assembly.add(&chunk.bytes, chunk.total_length, Some(chunk.range));
            }
            assert_eq!(assembly.end().unwrap(), content);
        }
        let last = Chunks::of(vec![7; 10].into(), 4).last().unwrap();
        assert_eq!((last.range, last.bytes.len()), (StateRange { start: 8, end: 9 }, 2));
    }

    #[test]
    fn incomplete_states_are_refused() {
        let mut short = Assembly::default();
        short.add(b"abc", 5, range(0, 2));
        assert_eq!(short.end().unwrap_err().to_string(), "expected state file of total 5 bytes, received 3 bytes");
        let mut gap = Assembly::default();
        gap.add(b"ab", 5, range(0, 1));
        gap.add(b"def", 5, range(3, 5));
        assert_eq!(gap.end().unwrap_err().to_string(), "a chunk begins at byte 3, after 2 bytes were received");
        assert_eq!(Assembly::default().end().unwrap(), b"", "no chunk, no state");
        let mut unsaid = Assembly::default();
        unsaid.add(b"ab", 2, None);
        assert_eq!(unsaid.end().unwrap(), b"ab");
    }

    #[test]
    fn sizes_are_agreed_on() {
        assert_eq!(accepted(1), Ok(1));
        assert_eq!(accepted(MAX_SIZE), Ok(128 << 20));
        for refused in [0, -1, MAX_SIZE + 1] {
            assert!(accepted(refused).unwrap_err().to_string().contains(&format!("wants {refused} bytes")));
        }
        assert_eq!((answer(0), answer(5), answer(i64::MAX)), (PROPOSED_SIZE, 5, MAX_SIZE));
    }
}
