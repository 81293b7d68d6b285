//! The numbers of a seed: the first generator of Go's `math/rand`, which the real provider uses. The same seed gives the
//! same results with both.
//!
//! Number n of the sequence is the sum, in 64 bits, of the numbers 607 and 273 before it. A seed fills the first 607, each
//! combined with one of an older state of the same sequence, 7.8e12 numbers after its own seed of 1. That state is computed
//! here, by the power of x in the ring of polynomials modulo x^607 - x^334 - 1, instead of stored as a table.

use std::sync::OnceLock;

const LENGTH: usize = 607;
const TAP: usize = 273;
/// How far the older state is from its seed.
const DISTANCE: u64 = 7_800_000_000_000;
/// Of CRC-64 (ISO), reversed.
const POLYNOMIAL: u64 = 0xd800_0000_0000_0000;

pub struct Generator {
    /// Number n is at place `(LENGTH - TAP - n) mod LENGTH`.
    state: Vec<u64>,
    feed: usize,
    tap: usize,
}

impl Generator {
    pub fn new(seed: &str) -> Generator {
        Generator::seeded(crc64(seed.as_bytes()))
    }

    fn seeded(seed: u64) -> Generator {
        let fresh = seeded_state(seed.cast_signed(), [40, 20]);
        let state = fresh.iter().zip(older_state()).map(|(new, old)| new ^ old).collect();
        Generator { state, feed: LENGTH - TAP, tap: 0 }
    }

    pub fn next(&mut self) -> u64 {
        let before = |place: usize| if place == 0 { LENGTH - 1 } else { place - 1 };
        (self.tap, self.feed) = (before(self.tap), before(self.feed));
        let number = self.state[self.feed].wrapping_add(self.state[self.tap]);
        self.state[self.feed] = number;
        number
    }

    /// A number below `bound`, which is not 0. Small bounds use 31 bits of each number, others 63.
    pub fn below(&mut self, bound: u64) -> u64 {
        let bits = match bound {
            0..0x8000_0000 => 31,
            0x8000_0000..0x8000_0000_0000_0000 => 63,
            _ => 64,
        };
        let range_mask = u64::MAX >> (64 - bits);
        if bound.is_power_of_two() {
            return self.bits(bits) & (bound - 1);
        }
        // Numbers past the last whole multiple of the bound would favour the small ones.
        let excess = (range_mask % bound + 1) % bound;
        loop {
            let number = self.bits(bits);
            if number <= range_mask - excess {
                return number % bound;
            }
        }
    }

    fn bits(&mut self, bits: u32) -> u64 {
        let number = self.next();
        if bits == 64 { number } else { (number & (u64::MAX >> 1)) >> (63 - bits) }
    }

    /// The numbers below `count` in random order.
    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order = Vec::with_capacity(count);
        for next in 0..count {
            let place = usize::try_from(self.below(next as u64 + 1)).unwrap_or(next);
            order.push(next);
            order.swap(place, next);
        }
        order
    }
}

/// The linear congruential generator of Park and Miller.
fn small_step(number: u64) -> u64 {
    number * 48_271 % 0x7fff_ffff
}

/// The numbers that a seed fills a state with: three small ones for each, the first two moved by these bits.
fn seeded_state(seed: i64, shifts: [u32; 2]) -> Vec<u64> {
    let mut small = match seed.rem_euclid(0x7fff_ffff) {
        0 => 89_482_311,
        seed => seed.cast_unsigned(),
    };
    let mut next = || {
        small = small_step(small);
        small
    };
    for _ in 0..20 {
        next();
    }
    let number = |_| (next() << shifts[0]) ^ (next() << shifts[1]) ^ next();
    (0..LENGTH).map(number).collect()
}

/// The state `DISTANCE` numbers after the seed 1.
fn older_state() -> &'static [u64] {
    static STATE: OnceLock<Vec<u64>> = OnceLock::new();
    STATE.get_or_init(|| {
        let mut generator = Generator { state: seeded_state(1, [20, 10]), feed: LENGTH - TAP, tap: 0 };
        // The sequence from its first number on: the state, oldest number first, and what follows.
        let mut sequence: Vec<u64> =
            (0..LENGTH).map(|n| generator.state[(2 * LENGTH - TAP - 1 - n) % LENGTH]).collect();
        sequence.extend((1..LENGTH).map(|_| generator.next()));
        let factors = power(DISTANCE);
        let mut state = vec![0; LENGTH];
        let place_of_last = u64::try_from(LENGTH - TAP).unwrap_or(0) + LENGTH as u64 - DISTANCE % LENGTH as u64;
        for (n, window) in sequence.windows(LENGTH).enumerate() {
            let number = window.iter().zip(&factors).fold(0_u64, |sum, (a, b)| sum.wrapping_add(a.wrapping_mul(*b)));
            // The last window ends at the newest number.
            let place = usize::try_from(place_of_last).unwrap_or(0) + (LENGTH - 1 - n);
            state[place % LENGTH] = number;
        }
        state
    })
}

/// The power of x modulo x^607 - x^334 - 1, lowest coefficient first.
fn power(exponent: u64) -> Vec<u64> {
    let mut result = vec![0_u64; LENGTH];
    result[0] = 1;
    for bit in (0..u64::BITS - exponent.leading_zeros()).rev() {
        let mut square = vec![0_u64; 2 * LENGTH];
        let shift = usize::from((exponent >> bit) & 1 == 1);
        for (i, a) in result.iter().enumerate() {
            for (sum, b) in square[i + shift..].iter_mut().zip(&result) {
                *sum = sum.wrapping_add(a.wrapping_mul(*b));
            }
        }
        for high in (LENGTH..2 * LENGTH).rev() {
            let coefficient = square[high];
            for low in [high - LENGTH, high - TAP] {
                square[low] = square[low].wrapping_add(coefficient);
            }
        }
        square.truncate(LENGTH);
        result = square;
    }
    result
}

fn crc64(bytes: &[u8]) -> u64 {
    !bytes.iter().fold(u64::MAX, |crc, byte| {
        (0..8).fold(crc ^ u64::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { POLYNOMIAL } else { 0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: [u64; 7] = [10, 64, (1 << 31) - 1, 1 << 31, (1 << 40) + 7, (1 << 62) + 1, (1 << 63) - 1];

    /// A checksum, the first numbers below `BOUNDS`, a permutation of 7 and a number. Recorded with Go 1.26.
    #[rustfmt::skip]
    const GOLDEN: &[(&str, u64, [u64; 7], [usize; 7], u64)] = &[
        ("seed", 0x3362_d2cc_4000_0000, [6, 44, 1_582_651_940, 602_404_607, 812_160_240_956, 1_537_654_128_803_872_174,
            3_260_750_342_668_431_695], [3, 2, 4, 5, 0, 6, 1], 278_631_060_180_528_278),
        ("", 0, [4, 18, 1_408_655_353, 1_760_470_370, 1_079_978_873_250, 2_669_985_732_393_126_063,
            1_774_932_891_286_980_153], [3, 6, 4, 2, 1, 5, 0], 5_617_773_211_005_988_520),
        ("🐟", 0xa5ac_35f6_9000_0000, [3, 30, 1_987_839_378, 838_180_272, 292_504_456_156, 2_548_656_425_919_889_169,
            4_054_815_323_494_790_644], [0, 1, 6, 4, 5, 3, 2], 4_853_279_033_875_915_004),
        ("a longer text", 0xd750_473c_d14b_c2d1, [7, 52, 1_742_246_039, 2_139_462_087, 913_613_091_981,
            1_949_214_797_070_965_376, 8_127_932_509_167_256_128], [1, 0, 4, 2, 6, 5, 3], 432_878_252_724_415_389),
    ];

    #[test]
    fn numbers_are_those_of_go() {
        for (seed, checksum, numbers, order, number) in GOLDEN {
            assert_eq!(crc64(seed.as_bytes()), *checksum);
            let mut generator = Generator::new(seed);
            assert_eq!(BOUNDS.map(|bound| generator.below(bound)), *numbers, "{seed}");
            assert_eq!(generator.permutation(7), order, "{seed}");
            assert_eq!(generator.next(), *number, "{seed}");
        }
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut generator = Generator::new("x");
        for bound in [1, 2, 3, 1 << 31, (1 << 31) + 1, u64::MAX >> 1, (u64::MAX >> 1) + 2, u64::MAX] {
            assert!((0..20).all(|_| generator.below(bound) < bound), "{bound}");
        }
    }
}
