//! Trying many inputs, each with a bound on time and memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::allocation::peak;
use super::mutation::mutated;
use crate::syntax::chance::Chance;

/// Longer for one input, on any machine, is a hang.
const PATIENCE: Duration = Duration::from_secs(30);
/// Memory for one input: so many times its size, and so much besides.
const TIMES: usize = 100;
const BESIDES: usize = 50 << 20;
/// Larger inputs would only take longer.
const LONGEST: usize = 256 << 10;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Gives `read` inputs made of the seeds: each seed itself, then changed ones, `few` of them unless more are asked for.
/// `words` are pieces that the format knows.
pub fn survives(name: &str, few: u64, seeds: &[Vec<u8>], words: &[&[u8]], read: impl Fn(&[u8]) + Send) {
    // The stack that threads have by default; unoptimised frames are large.
    let stack = if cfg!(debug_assertions) { 16 << 20 } else { 2 << 20 };
    let done = std::thread::scope(|scope| {
        let work = || all(name, few, seeds, words, read);
        std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, work).unwrap().join()
    });
    if let Err(problem) = done {
        std::panic::resume_unwind(problem);
    }
}

fn all(name: &str, few: u64, seeds: &[Vec<u8>], words: &[&[u8]], read: impl Fn(&[u8])) {
    let inputs = number("TERRANE_TEST_FUZZ_INPUTS");
    let seed = number("TERRANE_TEST_FUZZ_SEED");
    let kept = (inputs.is_some() || seed.is_some()).then(|| std::env::temp_dir().join(format!("terrane-fuzz-{name}")));
    if let Some(path) = &kept {
        println!("{name}: {} inputs, the current one in {}", inputs.unwrap_or(few), path.display());
    }
    for input in seeds {
        attempt(name, input, &kept, &read);
    }
    let begin = Instant::now();
    for i in 0..inputs.unwrap_or(few) {
        // Each input can be made again by its number alone.
        let mut chance = Chance::new(seed.unwrap_or(1).wrapping_mul(1 << 40).wrapping_add(i));
        (0..4).for_each(|_| _ = chance.next());
        let mut input = mutated(&mut chance, seeds, words);
        input.truncate(LONGEST);
        attempt(name, &input, &kept, &read);
    }
    if kept.is_some() {
        println!("{name}: done in {:?}", begin.elapsed());
    }
}

/// The processor time of this thread, which does not grow while others are served.
#[cfg(unix)]
fn worked() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the value that it is given, and to nothing else.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(done, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn worked() -> Duration {
    static BEGIN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    BEGIN.elapsed()
}

fn attempt(name: &str, input: &[u8], kept: &Option<PathBuf>, read: &impl Fn(&[u8])) {
    if let Some(path) = kept {
        std::fs::write(path, input).unwrap();
    }
    let begin = worked();
    let mut sound = true;
    let most = peak(|| sound = catch_unwind(AssertUnwindSafe(|| read(input))).is_ok());
    let time = worked().saturating_sub(begin);
    let allowed = input.len() * TIMES + BESIDES;
    if !sound || time > PATIENCE || most > allowed {
        let path = std::env::temp_dir().join(format!("terrane-fuzz-{name}-failed"));
        std::fs::write(&path, input).unwrap();
        panic!(
            "{name}: {} for {} bytes, in {}: {:?}",
            if sound { format!("{most} bytes of memory and {time:?}") } else { "a panic".into() },
            input.len(),
            path.display(),
            String::from_utf8_lossy(&input[..input.len().min(500)])
        );
    }
}
