//! Panics of user code as text.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs user code and catches its panic.
///
/// # Errors
/// The message of its panic.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(panic_message)
}

thread_local! {
    static IS_REPORTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs user code and catches its panic, which the caller reports.
///
/// # Errors
/// The message of its panic.
pub(crate) fn reported<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let before = IS_REPORTED.replace(true);
    let result = caught(work);
    IS_REPORTED.set(before);
    result
}

/// Whether the caller of the code on this thread reports its panic, so that a panic hook need not.
pub fn panic_is_reported() -> bool {
    IS_REPORTED.get()
}

/// The message of a panic. Its payload may panic when it is dropped, and so may the payload of that.
#[cold]
pub fn panic_message(panic: Box<dyn Any + Send>) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned());
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
    text
}
