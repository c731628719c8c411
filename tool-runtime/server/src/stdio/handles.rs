//! Taking the standard streams away from the rest of the process, on Windows.
//!
//! What is printed goes to the handle that stands in the process's table at that moment, so another
//! is put there. C code is out of reach: its runtime has noted the first one for good.
//!
//! A terminal stays what it is. Nobody speaks the protocol on it but a human who tries things out,
//! and only `std` knows how to write more than ASCII to it.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::windows::io::{AsHandle, AsRawHandle, IntoRawHandle, RawHandle};
use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, SetHandleInformation};
use windows_sys::Win32::System::Console::{
    STD_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, SetStdHandle,
};

/// What was standard input.
pub(super) type Input = Box<dyn Read + Send>;

/// What was standard output.
pub(super) type Output = Box<dyn Write + Send>;

/// Standard input, which is empty for everybody else from now on.
pub(super) fn take_input() -> io::Result<Input> {
    let input = io::stdin();
    if input.is_terminal() {
        return Ok(Box::new(input));
    }
    Ok(Box::new(taken(&input, STD_INPUT_HANDLE, null()?)?))
}

/// Standard output, which is standard error for everybody else from now on.
pub(super) fn take_output() -> io::Result<Output> {
    let output = io::stdout();
    if output.is_terminal() {
        return Ok(Box::new(output));
    }
    let error = io::stderr().as_raw_handle();
    let instead = if error.is_null() { null()? } else { error };
    Ok(Box::new(taken(&output, STD_OUTPUT_HANDLE, instead)?))
}

/// A handle on nothing, for as long as the process lives.
fn null() -> io::Result<RawHandle> {
    Ok(File::options().read(true).write(true).open("NUL")?.into_raw_handle())
}

/// A private copy of a stream, in whose place `instead` is put.
#[expect(
    unsafe_code,
    reason = "`std` can neither replace a standard handle nor keep one to itself"
)]
fn taken(
    stream: &(impl AsHandle + AsRawHandle),
    place: STD_HANDLE,
    instead: RawHandle,
) -> io::Result<File> {
    let copy = stream.as_handle().try_clone_to_owned()?;
    // SAFETY: a handle is a number to these two functions, and one that is none is an error. The
    // first handle stays open, and so does `instead`, so nobody is left with one that was closed.
    let done = unsafe {
        // Not of every kind of handle can this be said.
        SetHandleInformation(stream.as_raw_handle(), HANDLE_FLAG_INHERIT, 0);
        SetStdHandle(place, instead)
    };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(File::from(copy)) }
}
