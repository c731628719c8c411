//! The commands `log show`, `follow`, `verify`, `export` and `resolve`.

use crate::calls::{Calls, time};
use crate::error::LogError;
use crate::event_log::{EventLog, Resolution};
use crate::head_file;
use crate::reader::LogReader;
use crate::record::LogRecord;
use crate::run::is_unresolved;
use lexopt::prelude::*;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;
use tool_runtime_core::seam::one_line;
use tool_runtime_core::{Observation, StepId};

/// The pause between looks at a log that is followed.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(200);

/// The help of the commands.
pub const LOG_HELP: &str = "\
Read and check a log of calls.

Usage:
  log show FILE [--run RUN | --tool TOOL | --unresolved] [--records]
  log follow FILE [--after SEQ]
  log verify FILE [--head FILE]
  log export FILE [--after SEQ]
  log resolve FILE STEP (--not-run | --result TEXT) --by NAME

show      calls as a timeline; with --records, each record as a line
follow    records as they are written, until interrupted
verify    check the chain of hashes; the exit code is 1 if anything was changed.
          Without --head it cannot be seen that the last records were cut off.
export    records as lines of JSON
resolve   state the outcome of a step that is indeterminate
";

/// A command about a log, from its arguments.
///
/// ```
/// use tool_runtime::audit::LogCommand;
///
/// let command = LogCommand::parse(["show", "calls.db", "--run", "order-17"])?;
/// assert!(LogCommand::parse(["shw", "calls.db"]).is_err());
/// # let _ = command;
/// # Ok::<(), tool_runtime::audit::LogCommandError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LogCommand {
    action: Action,
    file: PathBuf,
}

#[derive(Clone, Debug)]
enum Action {
    Show { run: Option<String>, tool: Option<String>, unresolved: bool, records: bool },
    Follow { after: u64 },
    Verify { head: Option<PathBuf> },
    Export { after: u64 },
    Resolve { step: String, result: Option<String>, by: String },
}

/// A mistake in the arguments of a command, or a failure while it runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogCommandError {
    /// The arguments are wrong. The text says how.
    #[error("{0}; see `log --help`")]
    Usage(String),
    /// The log cannot be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// All options, before it is known which the action takes.
#[derive(Default)]
struct Options {
    values: Vec<OsString>,
    run: Option<String>,
    tool: Option<String>,
    by: Option<String>,
    result: Option<String>,
    head: Option<PathBuf>,
    after: Option<u64>,
    is_unresolved: bool,
    is_records: bool,
    is_not_run: bool,
    /// The names of the options that were given.
    given: Vec<&'static str>,
}

/// The names of all options.
const NAMES: [&str; 9] =
    ["run", "tool", "by", "result", "head", "after", "unresolved", "records", "not-run"];

impl Options {
    fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, lexopt::Error> {
        let (mut own, mut parser) = (Self::default(), lexopt::Parser::from_args(arguments));
        while let Some(argument) = parser.next()? {
            let name = match argument {
                Value(ref value) => {
                    own.values.push(value.clone());
                    continue;
                }
                Long(name) => NAMES.iter().find(|own| **own == name).copied(),
                Short(_) => None,
            };
            let Some(name) = name else { return Err(argument.unexpected()) };
            own.given.push(name);
            own.take(name, &mut parser)?;
        }
        Ok(own)
    }

    fn take(&mut self, name: &str, parser: &mut lexopt::Parser) -> Result<(), lexopt::Error> {
        match name {
            "run" => self.run = Some(parser.value()?.string()?),
            "tool" => self.tool = Some(parser.value()?.string()?),
            "by" => self.by = Some(parser.value()?.string()?),
            "result" => self.result = Some(parser.value()?.string()?),
            "head" => self.head = Some(parser.value()?.into()),
            "after" => self.after = Some(parser.value()?.parse()?),
            "unresolved" => self.is_unresolved = true,
            "records" => self.is_records = true,
            _ => self.is_not_run = true,
        }
        Ok(())
    }

    /// Rejects options that the action does not take.
    fn only(&self, action: &str, allowed: &[&str]) -> Result<(), LogCommandError> {
        match self.given.iter().find(|given| !allowed.contains(given)) {
            Some(other) => Err(usage(format!("`log {action}` does not take `--{other}`"))),
            None => Ok(()),
        }
    }
}

fn usage(text: impl Into<String>) -> LogCommandError {
    LogCommandError::Usage(text.into())
}

impl LogCommand {
    /// Reads the arguments after `log`.
    ///
    /// # Errors
    /// The arguments are wrong; the text says how.
    pub fn parse<A: Into<OsString>>(
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Self, LogCommandError> {
        let options = Options::read(arguments.into_iter().map(Into::into));
        let mut options = options.map_err(|error| usage(error.to_string()))?;
        let mut values = std::mem::take(&mut options.values).into_iter();
        let action = values.next().ok_or_else(|| usage("name an action"))?;
        let action = action.to_string_lossy().into_owned();
        let file = values.next().ok_or_else(|| usage("name the file of the log"))?;
        let action = Action::new(&action, options, &mut values)?;
        match values.next() {
            Some(other) => Err(usage(format!("`{}` is too much", other.display()))),
            None => Ok(Self { action, file: file.into() }),
        }
    }

    /// Runs the command. Whether nothing was found that is wrong: false makes the exit code 1.
    ///
    /// # Errors
    /// The log cannot be read or written, or the output cannot be written.
    pub fn run(&self, output: &mut dyn Write) -> Result<bool, LogCommandError> {
        match &self.action {
            Action::Show { run, tool, unresolved, records } => {
                let reader = LogReader::open(&self.file)?;
                if let Some(run) = run {
                    writeln!(output, "{}", reader.run(run)?)?;
                    return Ok(true);
                }
                let is_chosen =
                    |record: &LogRecord| tool.as_ref().is_none_or(|tool| *tool == record.tool);
                show(reader, is_chosen, *unresolved, *records, output)
            }
            Action::Follow { after } => self.follow(*after, output),
            Action::Verify { head } => self.verify(head.as_ref(), output),
            Action::Export { after } => {
                for record in LogReader::open(&self.file)?.records_after(*after) {
                    write_json(&record?, output)?;
                }
                Ok(true)
            }
            Action::Resolve { step, result, by } => self.resolve(step, result.as_deref(), by),
        }
    }

    fn follow(&self, after: u64, output: &mut dyn Write) -> Result<bool, LogCommandError> {
        let mut records = LogReader::open(&self.file)?.records_after(after);
        loop {
            for record in records.by_ref() {
                write_line(&record?, output)?;
            }
            output.flush()?;
            std::thread::sleep(FOLLOW_INTERVAL);
        }
    }

    fn verify(
        &self,
        head: Option<&PathBuf>,
        output: &mut dyn Write,
    ) -> Result<bool, LogCommandError> {
        let head = head.map(|path| head_file::read(path)).transpose()?;
        let found = LogReader::open(&self.file)?.verify(head.as_ref())?;
        for problem in &found.problems {
            writeln!(output, "{problem}")?;
        }
        let (first, last) = (found.first, found.head.seq);
        match found.is_intact() {
            true if found.records == 0 => writeln!(output, "the log is empty")?,
            true => writeln!(output, "records {first} to {last} are as they were written")?,
            false => writeln!(output, "problems: {}", found.problems.len())?,
        }
        if !found.is_tail_checked {
            writeln!(
                output,
                "whether the end was cut is not known: give its head by `--head FILE`"
            )?;
        }
        writeln!(output, "head: {} {}", last, found.head.hash)?;
        Ok(found.is_intact())
    }

    fn resolve(&self, step: &str, result: Option<&str>, by: &str) -> Result<bool, LogCommandError> {
        let resolution = match result {
            Some(text) => Resolution::Ran(Observation::text(text)),
            None => Resolution::NotRun,
        };
        // A log that does not exist is not created.
        LogReader::open(&self.file)?;
        let log = EventLog::open(&self.file)?;
        log.resolve_blocking(&StepId::new(step), resolution, by)?;
        Ok(true)
    }
}

impl Action {
    fn new(
        action: &str,
        options: Options,
        values: &mut impl Iterator<Item = OsString>,
    ) -> Result<Self, LogCommandError> {
        let after = options.after.unwrap_or(0);
        match action {
            "show" => {
                options.only(action, &["run", "tool", "unresolved", "records"])?;
                let Options { run, tool, is_unresolved, is_records, .. } = options;
                Ok(Self::Show { run, tool, unresolved: is_unresolved, records: is_records })
            }
            "follow" => options.only(action, &["after"]).map(|()| Self::Follow { after }),
            "verify" => {
                options.only(action, &["head"]).map(|()| Self::Verify { head: options.head })
            }
            "export" => options.only(action, &["after"]).map(|()| Self::Export { after }),
            "resolve" => {
                options.only(action, &["not-run", "result", "by"])?;
                let step = values.next().ok_or_else(|| usage("name the step"))?;
                let step = step.to_string_lossy().into_owned();
                let by = options.by.ok_or_else(|| usage("say who you are by `--by NAME`"))?;
                if options.is_not_run == options.result.is_some() {
                    return Err(usage("choose `--not-run` or `--result TEXT`"));
                }
                Ok(Self::Resolve { step, result: options.result, by })
            }
            other => {
                let text =
                    "is not an action; use `show`, `follow`, `verify`, `export` or `resolve`";
                Err(usage(format!("`{other}` {text}")))
            }
        }
    }
}

fn show(
    reader: LogReader,
    is_chosen: impl Fn(&LogRecord) -> bool,
    unresolved: bool,
    records: bool,
    output: &mut dyn Write,
) -> Result<bool, LogCommandError> {
    let mut chosen = Vec::new();
    for record in reader.records() {
        let record = record?;
        match is_chosen(&record) {
            true if records => write_line(&record, output)?,
            true => chosen.push(record),
            false => {}
        }
    }
    for call in Calls::of(chosen) {
        let is_open = call.is_started && !call.is_ended();
        if !unresolved || is_open || is_unresolved(&call) {
            writeln!(output, "{call}")?;
        }
        if let (true, Some(step)) = (unresolved && (is_open || is_unresolved(&call)), &call.step) {
            writeln!(output, "  log resolve FILE {step}")?;
        }
    }
    Ok(true)
}

fn write_json(record: &LogRecord, output: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *output, record)?;
    writeln!(output)
}

/// A record on a line, for a person.
fn write_line(record: &LogRecord, output: &mut dyn Write) -> io::Result<()> {
    let LogRecord { seq, kind, tool, call, .. } = record;
    write!(output, "{seq:>6}  {}  {kind:<13}  #{call} {tool}", time(record.time_us))?;
    let arguments = record.arguments_text();
    if !arguments.is_empty() {
        write!(output, " {}", one_line(&arguments, 100))?;
    }
    let result = record.result.as_ref().map(|result| &result.summary);
    for text in [&record.rule, &record.reason, &record.by, &record.message].into_iter().flatten() {
        write!(output, "  {}", one_line(text, 100))?;
    }
    if let Some(summary) = result {
        write!(output, "  {}", one_line(summary, 100))?;
    }
    writeln!(output)
}

#[cfg(test)]
mod tests;
