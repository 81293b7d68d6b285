//! Literals and matches, and their symbols and extra bits.

/// Symbols for literals, the end of a block, and match lengths.
pub const LITERAL_SYMBOLS: usize = 286;
/// Symbols for match distances.
pub const DISTANCE_SYMBOLS: usize = 30;
/// The symbol that ends a block.
pub const END_OF_BLOCK: usize = 256;

const SHORTEST_MATCH: u16 = 3;
pub const LONGEST_MATCH: usize = 258;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    Literal(u8),
    /// A copy of `length` bytes (3 to 258) from `distance` bytes before (1 to 32768).
    Match {
        length: u16,
        distance: u16,
    },
}

/// A symbol and the bits that follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub index: usize,
    pub extra: u32,
    pub extra_bits: u32,
}

/// The symbol of a match length, in the alphabet that literals also have.
pub fn length_symbol(length: u16) -> Symbol {
    const FIRST: usize = END_OF_BLOCK + 1;
    if usize::from(length) == LONGEST_MATCH {
        // The longest match has its own symbol, without extra bits.
        return Symbol { index: LITERAL_SYMBOLS - 1, extra: 0, extra_bits: 0 };
    }
    let (index, extra, extra_bits) = split(u32::from(length - SHORTEST_MATCH), 2);
    Symbol { index: FIRST + index, extra, extra_bits }
}

/// The symbol of a match distance.
pub fn distance_symbol(distance: u16) -> Symbol {
    let (index, extra, extra_bits) = split(u32::from(distance - 1), 1);
    Symbol { index, extra, extra_bits }
}

/// Splits a value into a symbol and extra bits. Each power of two has `2 ^ leading` symbols, which have as many extra
/// bits.
fn split(value: u32, leading: u32) -> (usize, u32, u32) {
    let extra_bits = value.checked_ilog2().unwrap_or(0).saturating_sub(leading);
    let index = (extra_bits << leading) + (value >> extra_bits);
    (index as usize, value & ((1 << extra_bits) - 1), extra_bits)
}

/// The number of extra bits of a literal or length symbol.
pub fn length_extra_bits(index: usize) -> usize {
    match index.saturating_sub(END_OF_BLOCK + 1) {
        code @ 8..=27 => code / 4 - 1,
        _ => 0,
    }
}

/// The number of extra bits of a distance symbol.
pub fn distance_extra_bits(index: usize) -> usize {
    (index / 2).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_distances_have_the_symbols_of_the_rfc() {
        let lengths = [
            (3, 257, 0, 0),
            (10, 264, 0, 0),
            (11, 265, 0, 1),
            (12, 265, 1, 1),
            (13, 266, 0, 1),
            (19, 269, 0, 2),
            (131, 281, 0, 5),
            (257, 284, 30, 5),
            (258, 285, 0, 0),
        ];
        for (length, index, extra, extra_bits) in lengths {
            assert_eq!(length_symbol(length), Symbol { index, extra, extra_bits }, "{length}");
            assert_eq!(length_extra_bits(index), extra_bits as usize, "{length}");
        }
        let distances = [
            (1, 0, 0, 0),
            (4, 3, 0, 0),
            (5, 4, 0, 1),
            (6, 4, 1, 1),
            (7, 5, 0, 1),
            (9, 6, 0, 2),
            (24577, 29, 0, 13),
            (32768, 29, 8191, 13),
        ];
        for (distance, index, extra, extra_bits) in distances {
            assert_eq!(distance_symbol(distance), Symbol { index, extra, extra_bits }, "{distance}");
            assert_eq!(distance_extra_bits(index), extra_bits as usize, "{distance}");
        }
    }
}
