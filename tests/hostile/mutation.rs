//! Changing bytes at random, in ways that parsers of text and of binary formats have trouble with.

use crate::syntax::chance::Chance;

const NUMBERS: [&str; 10] = [
    "0",
    "-1",
    "255",
    "65536",
    "4294967296",
    "9223372036854775807",
    "9000000000000000000",
    "18446744073709551616",
    "1e400",
    "1e5000000",
];

/// A seed with one to five changes.
pub fn mutated(chance: &mut Chance, seeds: &[Vec<u8>], words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = seeds[chance.below(seeds.len())].clone();
    for _ in 0..1 + chance.below(5) {
        change(chance, &mut bytes, seeds, words);
    }
    bytes
}

fn change(chance: &mut Chance, bytes: &mut Vec<u8>, seeds: &[Vec<u8>], words: &[&[u8]]) {
    let (from, to) = piece(chance, bytes);
    match chance.below(14) {
        0 => _ = bytes.drain(from..to),
        1 => {
            let copy = bytes[from..to].to_vec();
            insert(bytes, to, &copy);
        }
        2 | 3 => {
            let other = &seeds[chance.below(seeds.len())];
            let (a, b) = piece(chance, other);
            let part = other[a..b].to_vec();
            replace(bytes, from, if chance.below(2) == 0 { from } else { to }, &part);
        }
        4 => bytes.truncate(from),
        5 if from < bytes.len() => bytes[from] ^= 1 << chance.below(8),
        6 if from < bytes.len() => {
            bytes[from] = *chance.one_of(&[&0_u8, &0xff, &0x7f, &0x80, &b'"', &b'{', &b'[', &b'\n'])
        }
        7 => {
            let noise: Vec<u8> = (0..chance.below(9)).map(|_| chance.next() as u8).collect();
            replace(bytes, from, to, &noise);
        }
        8 | 9 => number(chance, bytes, from),
        10 => {
            // Deep or long: a piece many times.
            let times = [3, 50, 2_000, 20_000][chance.below(4)];
            let part = bytes[from..to].to_vec();
            let part = part.repeat(times.min((64 << 10) / part.len().max(1)));
            insert(bytes, from, &part);
        }
        _ if words.is_empty() => _ = bytes.drain(from..to),
        11 => {
            let word = words[chance.below(words.len())].repeat([1, 1, 1_000, 20_000][chance.below(4)]);
            insert(bytes, from, &word[..word.len().min(64 << 10)]);
        }
        _ => replace(bytes, from, to, words[chance.below(words.len())]),
    }
}

/// Replaces the digits at or behind a place by a number that some type cannot hold, or a length by another one.
fn number(chance: &mut Chance, bytes: &mut Vec<u8>, from: usize) {
    let Some(start) = bytes[from..].iter().position(u8::is_ascii_digit).map(|at| from + at) else {
        let length = (chance.next() as u32).to_be_bytes();
        return replace(bytes, from, from + 4, &length);
    };
    let end = bytes[start..].iter().position(|b| !b.is_ascii_digit()).map_or(bytes.len(), |at| start + at);
    replace(bytes, start, end, NUMBERS[chance.below(NUMBERS.len())].as_bytes());
}

fn replace(bytes: &mut Vec<u8>, from: usize, to: usize, by: &[u8]) {
    let to = to.min(bytes.len());
    bytes.splice(from..to, by.iter().copied());
}

fn insert(bytes: &mut Vec<u8>, at: usize, part: &[u8]) {
    replace(bytes, at, at, part);
}

/// A piece, mostly short.
fn piece(chance: &mut Chance, bytes: &[u8]) -> (usize, usize) {
    let from = chance.below(bytes.len() + 1);
    let longest = [2, 8, 40, 400][chance.below(4)];
    (from, (from + chance.below(longest)).min(bytes.len()))
}
