//! How much memory a thread holds, and held at most, and how often it asked for more: an allocator that counts for each thread by itself.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counted.
pub struct Counting;

fn count(change: isize) {
    if change > 0 {
        let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
    }
    // A thread that ends has no counters any more.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + change);
        let _ = MOST.try_with(|most| most.set(most.get().max(now.get())));
    });
}

// SAFETY: every call goes to the system's allocator as it came; counting touches plain numbers of this thread only.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller promises for the layout what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as for `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the memory is of the system's allocator, as all of this one is.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: as for `dealloc`.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// How often this thread asked for memory.
pub fn allocations() -> u64 {
    CALLS.get()
}

/// The most that this thread held during the work, beyond what it held before.
pub fn peak(work: impl FnOnce()) -> usize {
    let before = NOW.get();
    MOST.set(before);
    work();
    usize::try_from(MOST.get() - before).unwrap_or(0)
}

#[test]
fn memory_is_counted() {
    let most = peak(|| {
        let one = vec![0_u8; 1 << 20];
        drop(one);
        drop(vec![0_u8; 3 << 20]);
    });
    assert!((3 << 20..4 << 20).contains(&most), "{most}");
}
