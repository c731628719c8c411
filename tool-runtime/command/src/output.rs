//! Output and exit codes of commands that other crates of the runtime bring.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;
use tool_runtime_core::seam::printable_lines;

/// The reason why a command of the runtime did not do its work.
#[derive(Debug)]
pub enum CommandFailure {
    /// The arguments are wrong, in a way that the form cannot express.
    Usage(String),
    /// Everything else.
    Failed(String),
}

impl CommandFailure {
    /// The arguments are wrong.
    pub fn usage(text: impl Into<String>) -> Self {
        Self::Usage(text.into())
    }
}

impl<E: std::error::Error> From<E> for CommandFailure {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Runs a command that prints to standard output, and gives its exit code: 0 for `true`, 1 for `false` and for
/// failures, 2 for wrong usage. A command whose reader has closed its output ends with 0.
pub fn run_printing(run: impl FnOnce(&mut dyn Write) -> Result<bool, CommandFailure>) -> ExitCode {
    let output = Output { inner: io::stdout().lock(), is_closed: false };
    let (code, error) = ended(output, run);
    if let Some(error) = error {
        let _ = writeln!(io::stderr().lock(), "error: {}", printable_lines(&error));
    }
    ExitCode::from(code)
}

fn ended<W: Write>(
    mut output: Output<W>,
    run: impl FnOnce(&mut dyn Write) -> Result<bool, CommandFailure>,
) -> (u8, Option<String>) {
    let ran = {
        let mut buffered = BufWriter::new(&mut output);
        let ran = run(&mut buffered);
        let flushed = buffered.flush().map_err(CommandFailure::from);
        ran.and_then(|is_fine| flushed.map(|()| is_fine))
    };
    match ran {
        Ok(is_fine) => (u8::from(!is_fine), None),
        Err(CommandFailure::Usage(text)) => (2, Some(text)),
        Err(CommandFailure::Failed(_)) if output.is_closed => (0, None),
        Err(CommandFailure::Failed(text)) => (1, Some(text)),
    }
}

/// Notes that the reader of the output is gone.
struct Output<W> {
    inner: W,
    is_closed: bool,
}

impl<W> Output<W> {
    fn noted<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.is_closed |= result.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe);
        result
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        self.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.noted(flushed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails with the same error at each attempt.
    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn output_that_nobody_reads_is_not_a_failure_and_a_full_disk_is() {
        let print = |kind| {
            let output = Output { inner: Broken(kind), is_closed: false };
            ended(output, |output| {
                writeln!(output, "text")?;
                output.flush()?;
                Ok(false)
            })
        };
        assert_eq!(print(ErrorKind::BrokenPipe), (0, None));
        assert!(matches!(print(ErrorKind::StorageFull), (1, Some(_))));
    }
}
