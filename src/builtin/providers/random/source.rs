//! Where randomness comes from: the operating system, or a seed.

use rand::TryRngCore;
use rand::rngs::OsRng;

use super::generator::Generator;

/// A stream of random numbers.
pub enum Source {
    System,
    Seeded(Generator),
}

impl Source {
    /// An empty seed is none.
    pub fn new(seed: Option<&str>) -> Source {
        seed.filter(|seed| !seed.is_empty()).map_or(Source::System, |seed| Source::Seeded(Generator::new(seed)))
    }

    /// A number below `bound`, each as likely as the next; `bound` must not be 0.
    pub fn below(&mut self, bound: u64) -> Result<u64, String> {
        if let Source::Seeded(generator) = self {
            return Ok(generator.below(bound));
        }
        // Numbers past the last whole multiple of the bound would favour the small ones.
        let limit = u64::MAX - u64::MAX % bound;
        loop {
            let number = OsRng.try_next_u64().map_err(|error| error.to_string())?;
            if number < limit {
                return Ok(number % bound);
            }
        }
    }

    /// The numbers below `count` in random order.
    pub fn permutation(&mut self, count: usize) -> Result<Vec<usize>, String> {
        if let Source::Seeded(generator) = self {
            return Ok(generator.permutation(count));
        }
        let mut order: Vec<usize> = (0..count).collect();
        self.shuffle(&mut order)?;
        Ok(order)
    }

    /// One of the items, of which there must be some.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> Result<T, String> {
        let index = self.below(from.len() as u64)?;
        Ok(from[usize::try_from(index).unwrap_or(0)])
    }

    /// Fisher and Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) -> Result<(), String> {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1)?;
            items.swap(last, usize::try_from(other).unwrap_or(last));
        }
        Ok(())
    }
}

/// `length` bytes from the operating system.
pub fn system_bytes(length: usize) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; length];
    OsRng.try_fill_bytes(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats() {
        let draw = |seed| {
            let mut source = Source::new(Some(seed));
            (0..5).map(|_| source.below(1000).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(draw("a"), draw("a"));
        assert_ne!(draw("a"), draw("b"));
    }

    #[test]
    fn every_number_of_the_range_is_generated() {
        let mut source = Source::new(None);
        let mut seen = [false; 6];
        for _ in 0..1000 {
            seen[usize::try_from(source.below(6).unwrap()).unwrap()] = true;
        }
        assert_eq!(seen, [true; 6]);
    }
}
