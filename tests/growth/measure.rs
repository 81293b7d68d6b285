//! Work in numbers: allocations, memory, and the time that this thread computed.

use std::fmt;
use std::time::Duration;

use crate::hostile::allocation::{allocations, peak};

/// What some work cost.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    pub allocations: u64,
    /// Bytes beyond what was held before.
    pub peak: usize,
    pub computed: Duration,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { allocations, peak, computed } = self;
        write!(f, "{allocations} allocations, {} KiB at once, {} ms", peak / 1024, computed.as_millis())
    }
}

pub fn measure<T>(work: impl FnOnce() -> T) -> (T, Measured) {
    let mut result = None;
    let (begun, before) = (thread_time(), allocations());
    let peak = peak(|| result = Some(work()));
    let (allocations, computed) = (allocations() - before, thread_time() - begun);
    (result.unwrap(), Measured { allocations, peak, computed })
}

/// The time that this thread was on a processor.
#[cfg(unix)]
fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the structure that it is given, and to nothing else.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

#[cfg(not(unix))]
fn thread_time() -> Duration {
    Duration::ZERO
}
