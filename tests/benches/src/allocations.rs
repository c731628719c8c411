//! The system's allocator, with a counter of allocations per thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Reallocations count as well: they may move the block.
fn count_allocation() {
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every method passes its arguments to the system's allocator unchanged.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_allocation();
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_allocation();
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_allocation();
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) }
    }
}

/// Allocations of `work`, after everything that is created once exists.
pub fn count<T>(mut work: impl FnMut() -> T) -> u64 {
    drop(work());
    let before = COUNT.get();
    let output = work();
    let after = COUNT.get();
    drop(output);
    after - before
}
