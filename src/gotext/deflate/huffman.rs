//! Huffman codes with limited lengths.

use super::bits::BitBuffer;

/// The code word of each symbol. Symbols that do not occur have none.
pub struct Code {
    words: Vec<Word>,
}

#[derive(Clone, Copy, Default)]
struct Word {
    /// Least significant bit first, as the output has it.
    bits: u16,
    length: u8,
}

impl Code {
    /// The optimal code for symbol frequencies, with words of at most `limit` bits.
    pub fn optimal(frequencies: &[u32], limit: usize) -> Code {
        Code::canonical(&lengths(frequencies, limit))
    }

    /// The canonical code of RFC 1951, 3.2.2.
    pub fn canonical(lengths: &[u8]) -> Code {
        let mut words = vec![Word::default(); lengths.len()];
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut next: u16 = 0;
        for length in 1..=longest {
            next <<= 1;
            for (word, _) in words.iter_mut().zip(lengths).filter(|(_, own)| **own == length) {
                *word = Word { bits: next.reverse_bits() >> (16 - u32::from(length)), length };
                next += 1;
            }
        }
        Code { words }
    }

    pub fn length(&self, symbol: usize) -> u8 {
        self.words[symbol].length
    }

    pub fn write(&self, symbol: usize, out: &mut BitBuffer) {
        let word = self.words[symbol];
        out.push(u32::from(word.bits), u32::from(word.length));
    }

    /// The number of bits of symbols that occur this often.
    pub fn size(&self, frequencies: &[u32]) -> usize {
        self.words.iter().zip(frequencies).map(|(word, times)| usize::from(word.length) * *times as usize).sum()
    }
}

/// The number of bits of each symbol's word; 0 for symbols that do not occur.
fn lengths(frequencies: &[u32], limit: usize) -> Vec<u8> {
    let mut lengths = vec![0; frequencies.len()];
    let mut used: Vec<(u32, usize)> = frequencies
        .iter()
        .enumerate()
        .filter(|(_, times)| **times > 0)
        .map(|(symbol, times)| (*times, symbol))
        .collect();
    if used.len() <= 2 {
        for (_, symbol) in used {
            lengths[symbol] = 1;
        }
        return lengths;
    }
    // Ties are broken by the symbol: the lower one has the longer word.
    used.sort_unstable();
    let weights: Vec<u32> = used.iter().map(|(times, _)| *times).collect();
    // The first `count` symbols, which are the rarest, have one more bit than the others.
    for count in symbols_per_depth(&weights, limit.min(used.len() - 1)) {
        for (_, symbol) in &used[..count] {
            lengths[*symbol] += 1;
        }
    }
    lengths
}

/// An element of a row of package-merge: a symbol, or a package of two elements of the row before.
#[derive(Clone, Copy)]
struct Element {
    weight: u32,
    is_symbol: bool,
}

/// The number of symbols whose words have 1 bit at least, 2 at least, and so on, by package-merge (Larmore,
/// Hirschberg).
///
/// Weights are in ascending order, three at least. A package comes before a symbol of the same weight: other orders
/// make codes of the same total size with other lengths.
fn symbols_per_depth(weights: &[u32], limit: usize) -> Vec<usize> {
    // More elements of a row are never chosen.
    let most = 2 * weights.len() - 2;
    let mut rows: Vec<Vec<Element>> = Vec::with_capacity(limit);
    for _ in 0..limit {
        let packages = rows.last().map(Vec::as_slice).unwrap_or_default().as_chunks::<2>().0;
        let mut row = merge(weights, packages.iter().map(|[a, b]| a.weight + b.weight));
        row.truncate(most);
        rows.push(row);
    }
    let mut chosen = most;
    let mut counts = Vec::with_capacity(limit);
    for row in rows.iter().rev() {
        let symbols = row.iter().take(chosen).filter(|element| element.is_symbol).count();
        counts.push(symbols);
        chosen = 2 * (chosen - symbols);
    }
    counts
}

fn merge(weights: &[u32], packages: impl Iterator<Item = u32>) -> Vec<Element> {
    let mut row = Vec::new();
    let mut symbols = weights.iter().copied().peekable();
    for package in packages {
        while let Some(weight) = symbols.next_if(|weight| *weight < package) {
            row.push(Element { weight, is_symbol: true });
        }
        row.push(Element { weight: package, is_symbol: false });
    }
    row.extend(symbols.map(|weight| Element { weight, is_symbol: true }));
    row
}

#[cfg(test)]
mod tests {
    use super::lengths;

    #[test]
    fn rare_symbols_have_longer_words() {
        let cases: [(&[u32], usize, &[u8]); 7] = [
            (&[0, 0], 15, &[0, 0]),
            (&[0, 7], 15, &[0, 1]),
            (&[3, 0, 1], 15, &[1, 0, 1]),
            (&[1, 1, 1], 15, &[2, 2, 1]),
            (&[1, 1, 1, 1], 15, &[2, 2, 2, 2]),
            (&[8, 4, 2, 1, 1], 15, &[1, 2, 3, 4, 4]),
            (&[8, 4, 2, 1, 1], 3, &[1, 3, 3, 3, 3]),
        ];
        for (frequencies, limit, expected) in cases {
            assert_eq!(lengths(frequencies, limit), expected, "{frequencies:?} {limit}");
        }
    }

    #[test]
    fn words_fill_the_code_space_within_the_limit() {
        let fibonacci: Vec<u32> =
            std::iter::successors(Some((1, 1)), |(a, b)| Some((*b, a + b))).map(|pair| pair.0).take(25).collect();
        for limit in [5, 7, 15] {
            let found = lengths(&fibonacci, limit);
            assert_eq!(found.iter().copied().max(), Some(limit as u8));
            assert_eq!(found.iter().map(|length| 1_u32 << (limit - usize::from(*length))).sum::<u32>(), 1 << limit);
        }
    }
}
