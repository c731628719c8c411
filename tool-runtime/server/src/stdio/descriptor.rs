//! Takes over the standard streams of the process.

use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(windows)]
use super::handles::{self, Input, Output};

#[cfg(unix)]
type Input = OwnedFd;
#[cfg(unix)]
type Output = OwnedFd;

/// Set by the first successful [`Descriptors::take`]: a second one would hand out the replacements.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Private copies of the original descriptors 0 and 1.
///
/// Separate from the transport because it needs no runtime: a program takes its streams in the
/// first line of `main`, before any other code can print, and serves them later.
pub(crate) struct Descriptors {
    /// The stream of the peer's lines.
    pub(super) input: Input,
    /// The stream of our lines.
    pub(super) output: Output,
}

impl Descriptors {
    /// Duplicates descriptors 0 and 1, then points 0 at `/dev/null` and 1 at standard error; on
    /// Windows, its handles.
    ///
    /// No child process inherits the copies: it would keep the peer's pipe open.
    pub(crate) fn take() -> io::Result<Self> {
        if TAKEN.swap(true, Ordering::SeqCst) {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "standard input and output are already taken: serve stdio once per process",
            ));
        }
        duplicate_and_redirect().inspect_err(|_| TAKEN.store(false, Ordering::SeqCst))
    }
}

/// The part of [`Descriptors::take`] that differs between systems.
#[cfg(unix)]
fn duplicate_and_redirect() -> io::Result<Descriptors> {
    use rustix::io::fcntl_dupfd_cloexec;
    use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};

    // 3: the lowest number that is not itself a standard stream.
    let input = fcntl_dupfd_cloexec(stdin(), 3)?;
    let output = fcntl_dupfd_cloexec(stdout(), 3)?;
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    // A process without standard error still must not print into the protocol.
    dup2_stdout(stderr()).or_else(|_| dup2_stdout(&null))?;
    Ok(Descriptors { input, output })
}

/// The part of [`Descriptors::take`] that differs between systems.
#[cfg(windows)]
fn duplicate_and_redirect() -> io::Result<Descriptors> {
    Ok(Descriptors { input: handles::take_input()?, output: handles::take_output()? })
}
