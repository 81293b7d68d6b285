//! Finds repetitions: a window of the last 32 KiB, hash chains over its positions, and lazy evaluation.

use super::bits::BitBuffer;
use super::block::write_block;
use super::symbol::{LONGEST_MATCH, Token};

/// Matches reach this far back.
const REACH: usize = 1 << 15;
const WINDOW: usize = 2 * REACH;
/// Go never uses the format's shortest match of three bytes.
const SHORTEST_MATCH: usize = 4;
/// With less input than this the matcher waits for more, so that the end of a write does not cut a match.
const LOOKAHEAD: usize = SHORTEST_MATCH + LONGEST_MATCH;
const TOKENS_PER_BLOCK: usize = 1 << 14;
const HASH_BITS: u32 = 17;
/// A match of the shortest length costs more than literals if it is further away.
const SHORT_MATCH_REACH: usize = 4096;
/// Positions in the chains are renumbered before they exceed 32 bits.
const HIGHEST_ORIGIN: u32 = 1 << 30;

/// The search limits. Go's levels 4 to 9 differ in these limits only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// A match of this length is taken without looking for a longer one at the next byte.
    lazy: usize,
    /// A match of this length ends the search.
    nice: usize,
    /// How many earlier positions are tried.
    chain: usize,
}

impl Level {
    /// Go's level 5, which its zip writer uses.
    pub const FIVE: Level = Level { lazy: 16, nice: 32, chain: 32 };
    /// Go's level 6, the default.
    pub const SIX: Level = Level { lazy: 16, nice: 128, chain: 128 };
}

#[derive(Clone, Copy)]
struct Match {
    length: usize,
    distance: usize,
}

impl Match {
    const NONE: Match = Match { length: SHORTEST_MATCH - 1, distance: 0 };
}

pub struct Matcher {
    level: Level,
    window: Vec<u8>,
    /// The input in the window ends here.
    end: usize,
    /// The next byte to encode.
    index: usize,
    /// Where the pending tokens begin; `None` once that has left the window.
    block_start: Option<usize>,
    tokens: Vec<Token>,
    /// The byte before `index` is not yet encoded, in case a longer match begins after it.
    has_pending_byte: bool,
    /// The match that begins at the byte before `index`.
    current: Match,
    chains: Chains,
}

impl Matcher {
    pub fn new(level: Level) -> Matcher {
        Matcher {
            level,
            window: vec![0; WINDOW],
            end: 0,
            index: 0,
            block_start: Some(0),
            tokens: Vec::with_capacity(TOKENS_PER_BLOCK),
            has_pending_byte: false,
            current: Match::NONE,
            chains: Chains::new(),
        }
    }

    /// Encodes input. The last bytes stay pending until there is more.
    pub fn push(&mut self, mut input: &[u8], out: &mut BitBuffer) {
        while !input.is_empty() {
            self.encode(false, out);
            self.make_room();
            let taken = input.len().min(WINDOW - self.end);
            self.window[self.end..self.end + taken].copy_from_slice(&input[..taken]);
            self.end += taken;
            input = &input[taken..];
        }
    }

    /// Encodes all input so far and ends the block.
    pub fn finish_block(&mut self, out: &mut BitBuffer) {
        self.encode(true, out);
    }

    /// Moves the younger half of the window to the front once nearly everything is encoded.
    fn make_room(&mut self) {
        if self.index < WINDOW - LOOKAHEAD {
            return;
        }
        self.window.copy_within(REACH.., 0);
        self.index -= REACH;
        self.end -= REACH;
        self.block_start = self.block_start.and_then(|start| start.checked_sub(REACH));
        self.chains.move_origin(REACH);
    }

    fn encode(&mut self, whole: bool, out: &mut BitBuffer) {
        // Strings that reach behind the end are not inserted.
        let insert_end = self.end.saturating_sub(SHORTEST_MATCH - 1);
        loop {
            let lookahead = self.end - self.index;
            if lookahead < LOOKAHEAD && !whole {
                return;
            }
            if lookahead == 0 {
                break;
            }
            if self.index < insert_end {
                self.chains.insert(&self.window, self.index);
            }
            let previous = std::mem::replace(&mut self.current, Match::NONE);
            if previous.length < self.level.lazy
                && previous.length < lookahead
                && let Some(found) = self.longest_match(lookahead)
            {
                self.current = found;
            }
            let mut block_end = self.index;
            if previous.length >= SHORTEST_MATCH && previous.length >= self.current.length {
                self.take_match(previous, insert_end);
                block_end = self.index;
            } else {
                self.take_pending_byte();
                self.index += 1;
                self.has_pending_byte = true;
            }
            if self.tokens.len() == TOKENS_PER_BLOCK {
                self.write_tokens(block_end, out);
            }
        }
        self.take_pending_byte();
        self.has_pending_byte = false;
        if !self.tokens.is_empty() {
            self.write_tokens(self.index, out);
        }
    }

    /// Encodes the match that begins at the byte before `index`, and inserts the strings in it.
    fn take_match(&mut self, found: Match, insert_end: usize) {
        self.tokens.push(Token::Match { length: found.length as u16, distance: found.distance as u16 });
        let next = self.index + found.length - 1;
        for position in self.index + 1..next.min(insert_end) {
            self.chains.append(&self.window, position);
        }
        self.index = next;
        self.has_pending_byte = false;
        self.current = Match::NONE;
    }

    fn take_pending_byte(&mut self) {
        if self.has_pending_byte {
            self.tokens.push(Token::Literal(self.window[self.index - 1]));
        }
    }

    fn write_tokens(&mut self, end: usize, out: &mut BitBuffer) {
        let raw = self.block_start.and_then(|start| self.window.get(start..end));
        write_block(&self.tokens, raw, out);
        self.block_start = Some(end);
        self.tokens.clear();
    }

    /// The longest match at `index` among the positions of its chain.
    fn longest_match(&self, lookahead: usize) -> Option<Match> {
        let limit = lookahead.min(LONGEST_MATCH);
        let nice = limit.min(self.level.nice);
        let oldest = self.index.saturating_sub(REACH);
        let here = &self.window[self.index..self.index + limit];
        let mut best = Match::NONE;
        let mut candidate = self.chains.head()?;
        for _ in 0..self.level.chain {
            if candidate < oldest {
                break;
            }
            let there = &self.window[candidate..candidate + limit];
            // Most candidates differ at the byte that would make them longer.
            if there[best.length] == here[best.length] {
                let length = here.iter().zip(there).take_while(|(a, b)| a == b).count();
                let distance = self.index - candidate;
                if length > best.length && (length > SHORTEST_MATCH || distance <= SHORT_MATCH_REACH) {
                    best = Match { length, distance };
                    if length >= nice {
                        break;
                    }
                }
            }
            match self.chains.before(candidate) {
                // The slot of the position that is as far back as matches reach belongs to `index` already.
                Some(earlier) if candidate + REACH != self.index => candidate = earlier,
                _ => break,
            }
        }
        (best.distance > 0).then_some(best)
    }
}

/// Hash chains: the latest position of each hash of four bytes, and for each position the previous one with its hash.
struct Chains {
    /// Positions plus `origin`; 0 is none.
    heads: Vec<u32>,
    links: Vec<u32>,
    origin: u32,
    /// The head of the current position's chain, before the position was inserted.
    head: u32,
}

impl Chains {
    fn new() -> Chains {
        Chains { heads: vec![0; 1 << HASH_BITS], links: vec![0; REACH], origin: 1, head: 0 }
    }

    /// Inserts the string at a position and stores the head of its chain.
    fn insert(&mut self, window: &[u8], position: usize) {
        self.head = self.append(window, position);
    }

    /// Inserts the string at a position. Returns the stored form of the position before with its hash.
    fn append(&mut self, window: &[u8], position: usize) -> u32 {
        let bytes = [window[position], window[position + 1], window[position + 2], window[position + 3]];
        let hash = u32::from_be_bytes(bytes).wrapping_mul(0x1e35_a7bd) >> (32 - HASH_BITS);
        let before = std::mem::replace(&mut self.heads[hash as usize], position as u32 + self.origin);
        self.links[position % REACH] = before;
        before
    }

    fn head(&self) -> Option<usize> {
        self.position(self.head)
    }

    fn before(&self, position: usize) -> Option<usize> {
        self.position(self.links[position % REACH])
    }

    fn position(&self, stored: u32) -> Option<usize> {
        stored.checked_sub(self.origin).map(|position| position as usize)
    }

    /// Moves the start of the window by `distance` bytes.
    fn move_origin(&mut self, distance: usize) {
        self.origin += distance as u32;
        if self.origin > HIGHEST_ORIGIN {
            let excess = self.origin - 1;
            self.origin = 1;
            self.head = self.head.saturating_sub(excess);
            for stored in self.heads.iter_mut().chain(&mut self.links) {
                *stored = stored.saturating_sub(excess);
            }
        }
    }
}
