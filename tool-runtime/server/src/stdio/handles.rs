//! Takes over the standard streams on Windows.
//!
//! Rust code prints to the current handle in the process's table, which is replaced here. C code is out of
//! reach: its runtime keeps the original handle.
//!
//! A terminal is not replaced. Only people type the protocol on a terminal, and only `std` can write more
//! than ASCII to it.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::windows::io::{AsHandle, AsRawHandle, IntoRawHandle, RawHandle};
use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, SetHandleInformation};
use windows_sys::Win32::System::Console::{
    STD_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, SetStdHandle,
};

/// The original standard input.
pub(super) type Input = Box<dyn Read + Send>;

/// The original standard output.
pub(super) type Output = Box<dyn Write + Send>;

/// Takes standard input, which is empty for other code from now on.
pub(super) fn take_input() -> io::Result<Input> {
    let input = io::stdin();
    if input.is_terminal() {
        return Ok(Box::new(input));
    }
    Ok(Box::new(take_stream(&input, STD_INPUT_HANDLE, null()?)?))
}

/// Takes standard output, which is standard error for other code from now on.
pub(super) fn take_output() -> io::Result<Output> {
    let output = io::stdout();
    if output.is_terminal() {
        return Ok(Box::new(output));
    }
    let error = io::stderr().as_raw_handle();
    let replacement = if error.is_null() { null()? } else { error };
    Ok(Box::new(take_stream(&output, STD_OUTPUT_HANDLE, replacement)?))
}

/// A handle of `NUL` that is never closed.
fn null() -> io::Result<RawHandle> {
    Ok(File::options().read(true).write(true).open("NUL")?.into_raw_handle())
}

/// A private copy of a stream, which is replaced by `replacement`.
#[expect(
    unsafe_code,
    reason = "`std` can neither replace a standard handle nor keep one to itself"
)]
fn take_stream(
    stream: &(impl AsHandle + AsRawHandle),
    handle: STD_HANDLE,
    replacement: RawHandle,
) -> io::Result<File> {
    let copy = stream.as_handle().try_clone_to_owned()?;
    // SAFETY: both functions report an invalid handle as an error. The original handle and `replacement`
    // stay open, so that no code is left with a closed handle.
    let done = unsafe {
        // Fails for some kinds of handles, which do not need it.
        SetHandleInformation(stream.as_raw_handle(), HANDLE_FLAG_INHERIT, 0);
        SetStdHandle(handle, replacement)
    };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(File::from(copy)) }
}
