//! Exit codes.

use super::print;
use std::io;
use std::process::ExitCode;

/// The tool answered with an error, or the server could not serve.
pub(super) const ERROR: u8 = 1;
/// Wrong usage: unknown tools and arguments, values of the wrong type.
pub(super) const USAGE: u8 = 2;
/// The pool cannot be built, or a required server is not connected.
pub(super) const SETUP: u8 = 3;

/// A signal cancelled the call.
pub(super) const INTERRUPTED: u8 = 130;

/// The exit code after serving.
pub(super) fn exit_code(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print::error(&format!("the server stopped: {error}"));
            ExitCode::from(ERROR)
        }
    }
}
