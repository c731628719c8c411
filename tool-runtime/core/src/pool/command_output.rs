//! Output and exit codes of commands that other crates of the runtime bring.

use std::io::{self, Write};
use std::process::ExitCode;

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
/// failures, 2 for wrong usage. Output to a closed pipe is not a failure.
pub fn run_printing(run: impl FnOnce(&mut dyn Write) -> Result<bool, CommandFailure>) -> ExitCode {
    let mut output = ClosablePipe(io::BufWriter::new(io::stdout().lock()));
    let ran = run(&mut output).and_then(|is_fine| {
        output.flush()?;
        Ok(is_fine)
    });
    let (code, text) = match ran {
        Ok(is_fine) => return ExitCode::from(u8::from(!is_fine)),
        Err(CommandFailure::Failed(text)) => (1, text),
        Err(CommandFailure::Usage(text)) => (2, text),
    };
    let _ = writeln!(io::stderr().lock(), "error: {text}");
    ExitCode::from(code)
}

/// Ends the process when the reader of its output is gone.
struct ClosablePipe<W>(W);

impl<W: Write> Write for ClosablePipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).inspect_err(end_if_closed)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().inspect_err(end_if_closed)
    }
}

fn end_if_closed(error: &io::Error) {
    if error.kind() == io::ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
}
