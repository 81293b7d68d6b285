//! Where randomness comes from: the operating system, or a seed.

use std::fmt;

use rand::TryRngCore;
use rand::rngs::OsRng;

use super::generator::Generator;

/// Why nothing random can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RandomError {
    /// The operating system gives no random numbers.
    System(String),
    /// No characters are allowed.
    NoCharacters,
}

impl fmt::Display for RandomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RandomError::System(why) => f.write_str(why),
            RandomError::NoCharacters => f.write_str("the character set specified is empty"),
        }
    }
}

impl std::error::Error for RandomError {}

fn system(error: rand::rand_core::OsError) -> RandomError {
    RandomError::System(error.to_string())
}

/// A stream of random numbers.
pub enum RandomSource {
    System,
    Seeded(Generator),
}

impl RandomSource {
    /// An empty seed is none.
    pub fn new(seed: Option<&str>) -> RandomSource {
        seed.filter(|seed| !seed.is_empty())
            .map_or(RandomSource::System, |seed| RandomSource::Seeded(Generator::new(seed)))
    }

    /// A number below `bound`, each as likely as the next; `bound` must not be 0.
    pub fn below(&mut self, bound: u64) -> Result<u64, RandomError> {
        if let RandomSource::Seeded(generator) = self {
            return Ok(generator.below(bound));
        }
        // Numbers past the last whole multiple of the bound would favour the small ones.
        let limit = u64::MAX - u64::MAX % bound;
        loop {
            let number = OsRng.try_next_u64().map_err(system)?;
            if number < limit {
                return Ok(number % bound);
            }
        }
    }

    /// The numbers below `count` in random order.
    pub fn permutation(&mut self, count: usize) -> Result<Vec<usize>, RandomError> {
        if let RandomSource::Seeded(generator) = self {
            return Ok(generator.permutation(count));
        }
        let mut order: Vec<usize> = (0..count).collect();
        self.shuffle(&mut order)?;
        Ok(order)
    }

    /// One of the items, of which there must be some.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> Result<T, RandomError> {
        let index = self.below(from.len() as u64)?;
        Ok(from[usize::try_from(index).unwrap_or(0)])
    }

    /// Fisher and Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) -> Result<(), RandomError> {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1)?;
            items.swap(last, usize::try_from(other).unwrap_or(last));
        }
        Ok(())
    }
}

/// `length` bytes from the operating system.
pub fn system_bytes(length: usize) -> Result<Vec<u8>, RandomError> {
    let mut bytes = vec![0; length];
    OsRng.try_fill_bytes(&mut bytes).map_err(system)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats() {
        let draw = |seed| {
            let mut source = RandomSource::new(Some(seed));
            (0..5).map(|_| source.below(1000).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(draw("a"), draw("a"));
        assert_ne!(draw("a"), draw("b"));
    }

    #[test]
    fn every_number_of_the_range_is_generated() {
        let mut source = RandomSource::new(None);
        let mut seen = [false; 6];
        for _ in 0..1000 {
            seen[usize::try_from(source.below(6).unwrap()).unwrap()] = true;
        }
        assert_eq!(seen, [true; 6]);
    }
}
