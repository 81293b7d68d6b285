//! Writes a block in the smallest of its three encodings: stored, with fixed codes, with its own codes.

use std::sync::LazyLock;

use super::bits::BitBuffer;
use super::huffman::Code;
use super::symbol::{
    DISTANCE_SYMBOLS, END_OF_BLOCK, LITERAL_SYMBOLS, Token, distance_extra_bits, distance_symbol, length_extra_bits,
    length_symbol,
};

const LONGEST_STORED: usize = 65535;
/// The longest code word of literals and distances.
const LIMIT: usize = 15;
/// The longest code word of the code lengths.
const META_LIMIT: usize = 7;
/// The order in which RFC 1951, 3.2.7 has the lengths of the code for code lengths.
const META_ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

static FIXED: LazyLock<Codes> = LazyLock::new(|| {
    let literals: Vec<u8> = (0..288)
        .map(|symbol| match symbol {
            0..144 => 8,
            144..256 => 9,
            256..280 => 7,
            _ => 8,
        })
        .collect();
    Codes { literals: Code::canonical(&literals), distances: Code::canonical(&[5; DISTANCE_SYMBOLS]) }
});

struct Codes {
    literals: Code,
    distances: Code,
}

/// How often each symbol occurs in a block.
struct Histogram {
    literals: [u32; LITERAL_SYMBOLS],
    distances: [u32; DISTANCE_SYMBOLS],
}

impl Histogram {
    fn of(tokens: &[Token]) -> Histogram {
        let mut found = Histogram { literals: [0; LITERAL_SYMBOLS], distances: [0; DISTANCE_SYMBOLS] };
        for token in tokens {
            match *token {
                Token::Literal(byte) => found.literals[usize::from(byte)] += 1,
                Token::Match { length, distance } => {
                    found.literals[length_symbol(length).index] += 1;
                    found.distances[distance_symbol(distance).index] += 1;
                }
            }
        }
        found.literals[END_OF_BLOCK] += 1;
        if found.distances.iter().all(|times| *times == 0) {
            // A block must have a distance code. Go counts this distance in every comparison of sizes.
            found.distances[0] = 1;
        }
        found
    }

    fn size(&self, codes: &Codes) -> usize {
        codes.literals.size(&self.literals) + codes.distances.size(&self.distances)
    }

    fn extra_bits(&self) -> usize {
        let bits = |times: &[u32], of: fn(usize) -> usize| -> usize {
            times.iter().enumerate().map(|(symbol, times)| *times as usize * of(symbol)).sum()
        };
        bits(&self.literals, length_extra_bits) + bits(&self.distances, distance_extra_bits)
    }
}

/// Writes a block that is not the last. `raw` is the input that the tokens stand for, if it is still known.
pub fn write_block(tokens: &[Token], raw: Option<&[u8]>, out: &mut BitBuffer) {
    let histogram = Histogram::of(tokens);
    let own = OwnCodes::of(&histogram);
    let extra = histogram.extra_bits();
    let fixed_size = 3 + histogram.size(&FIXED) + extra;
    let own_size = own.header_size() + histogram.size(&own.codes) + extra;
    if let Some(raw) = raw.filter(|raw| raw.len() <= LONGEST_STORED)
        && (raw.len() + 5) * 8 < fixed_size.min(own_size)
    {
        write_stored(raw, false, out);
    } else if own_size < fixed_size {
        own.write_header(out);
        write_tokens(tokens, &own.codes, out);
    } else {
        out.push(2, 3);
        write_tokens(tokens, &FIXED, out);
    }
}

/// Writes a block of at most 65535 bytes as they are. An empty one ends a flushed part or the stream.
pub fn write_stored(raw: &[u8], last: bool, out: &mut BitBuffer) {
    let length = raw.len() as u16;
    out.push(u32::from(last), 3);
    out.align();
    out.extend(&length.to_le_bytes());
    out.extend(&(!length).to_le_bytes());
    out.extend(raw);
}

fn write_tokens(tokens: &[Token], codes: &Codes, out: &mut BitBuffer) {
    for token in tokens {
        match *token {
            Token::Literal(byte) => codes.literals.write(usize::from(byte), out),
            Token::Match { length, distance } => {
                let symbol = length_symbol(length);
                codes.literals.write(symbol.index, out);
                out.push(symbol.extra, symbol.extra_bits);
                let symbol = distance_symbol(distance);
                codes.distances.write(symbol.index, out);
                out.push(symbol.extra, symbol.extra_bits);
            }
        }
    }
    codes.literals.write(END_OF_BLOCK, out);
}

/// The optimal codes of a block and the header that describes them.
struct OwnCodes {
    codes: Codes,
    literal_count: usize,
    distance_count: usize,
    /// The code lengths of literals and distances, run-length encoded.
    runs: Vec<Run>,
    meta: Code,
    meta_frequencies: [u32; 19],
    /// The number of code lengths of `meta` in the header.
    meta_count: usize,
}

impl OwnCodes {
    fn of(histogram: &Histogram) -> OwnCodes {
        let codes = Codes {
            literals: Code::optimal(&histogram.literals, LIMIT),
            distances: Code::optimal(&histogram.distances, LIMIT),
        };
        let literal_count = used_count(&histogram.literals);
        let distance_count = used_count(&histogram.distances);
        let lengths: Vec<u8> = (0..literal_count)
            .map(|symbol| codes.literals.length(symbol))
            .chain((0..distance_count).map(|symbol| codes.distances.length(symbol)))
            .collect();
        let runs = run_lengths(&lengths);
        let mut meta_frequencies = [0; 19];
        for run in &runs {
            meta_frequencies[run.symbol] += 1;
        }
        let meta_count =
            META_ORDER.iter().rposition(|symbol| meta_frequencies[*symbol] > 0).map_or(0, |at| at + 1).max(4);
        let meta = Code::optimal(&meta_frequencies, META_LIMIT);
        OwnCodes { codes, literal_count, distance_count, runs, meta, meta_frequencies, meta_count }
    }

    fn header_size(&self) -> usize {
        let extra: usize = self.runs.iter().map(|run| run.extra_bits as usize).sum();
        3 + 5 + 5 + 4 + 3 * self.meta_count + self.meta.size(&self.meta_frequencies) + extra
    }

    fn write_header(&self, out: &mut BitBuffer) {
        out.push(4, 3);
        out.push((self.literal_count - 257) as u32, 5);
        out.push((self.distance_count - 1) as u32, 5);
        out.push((self.meta_count - 4) as u32, 4);
        for symbol in &META_ORDER[..self.meta_count] {
            out.push(u32::from(self.meta.length(*symbol)), 3);
        }
        for run in &self.runs {
            self.meta.write(run.symbol, out);
            out.push(run.extra, run.extra_bits);
        }
    }
}

/// The number of symbols up to the last one that occurs.
fn used_count(frequencies: &[u32]) -> usize {
    frequencies.iter().rposition(|times| *times > 0).map_or(0, |at| at + 1)
}

/// A code length, or a repetition, with the extra bits that say how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    symbol: usize,
    extra: u32,
    extra_bits: u32,
}

fn run_lengths(lengths: &[u8]) -> Vec<Run> {
    const REPEAT: usize = 16;
    const FEW_ZEROS: usize = 17;
    const MANY_ZEROS: usize = 18;
    let mut runs = Vec::new();
    for same in lengths.chunk_by(|a, b| a == b) {
        let single = Run { symbol: usize::from(same[0]), extra: 0, extra_bits: 0 };
        let mut left = same.len();
        if single.symbol == 0 {
            while left >= 11 {
                let count = left.min(138);
                runs.push(Run { symbol: MANY_ZEROS, extra: (count - 11) as u32, extra_bits: 7 });
                left -= count;
            }
            if left >= 3 {
                runs.push(Run { symbol: FEW_ZEROS, extra: (left - 3) as u32, extra_bits: 3 });
                left = 0;
            }
        } else {
            runs.push(single);
            left -= 1;
            while left >= 3 {
                let count = left.min(6);
                runs.push(Run { symbol: REPEAT, extra: (count - 3) as u32, extra_bits: 2 });
                left -= count;
            }
        }
        runs.extend(std::iter::repeat_n(single, left));
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::{Run, run_lengths};

    #[test]
    fn repeated_lengths_are_written_as_runs() {
        let run = |symbol, extra, extra_bits| Run { symbol, extra, extra_bits };
        let single = |symbol| run(symbol, 0, 0);
        let zeros = |count| vec![0; count];
        let cases = [
            (vec![5, 5, 5], vec![single(5), single(5), single(5)]),
            (vec![5; 4], vec![single(5), run(16, 0, 2)]),
            (vec![5; 9], vec![single(5), run(16, 3, 2), single(5), single(5)]),
            (zeros(2), vec![single(0), single(0)]),
            (zeros(10), vec![run(17, 7, 3)]),
            (zeros(11), vec![run(18, 0, 7)]),
            (zeros(140), vec![run(18, 127, 7), single(0), single(0)]),
            (vec![1, 0, 0, 0, 2], vec![single(1), run(17, 0, 3), single(2)]),
        ];
        for (lengths, expected) in cases {
            assert_eq!(run_lengths(&lengths), expected, "{lengths:?}");
        }
    }
}
