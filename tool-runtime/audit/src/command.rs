//! The commands `log show`, `follow`, `verify`, `export` and `resolve`.

mod selection;

use crate::calls::{Calls, ids};
use crate::error::{LogError, LogErrorKind};
use crate::event_log::{EventLog, Resolution};
use crate::head_file;
use crate::jsonl::no_steps;
use crate::reader::LogReader;
use crate::record::LogRecord;
use crate::run::is_unresolved;
use crate::time::time;
use selection::{Selection, TIMES};
use serde_json::json;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tool_runtime_command::seam::{CommandFailure, GOVERNANCE, run_printing};
use tool_runtime_command::{CliCommand, CommandArguments, CommandForm, PoolCommands as _};
use tool_runtime_core::pool::{PoolExtension, ToolPoolBuilder};
use tool_runtime_core::seam::one_line;
use tool_runtime_core::tool::{Observation, StepId};
use tool_runtime_core::vocabulary::BoxFuture;

/// The pause between looks at a log that is followed.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(200);

/// What to do after a check that found problems.
const TO_DO: &str = "copy the files of the log before more is written, compare them with a backup or an export, and find out who can write them";

/// Adds the commands of a pool with a log.
pub(crate) fn add_commands<S>(builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
    with_commands(builder, &FileArgument::Required)
}

fn with_commands<S>(builder: ToolPoolBuilder<S>, file: &FileArgument) -> ToolPoolBuilder<S> {
    use Action::{Export, Follow, Resolve, Show, Verify};
    let commands = [Show, Follow, Verify, Export, Resolve].into_iter();
    let commands = commands.map(|action| LogCommand { action, file: file.clone() });
    commands.fold(builder, ToolPoolBuilder::command_once)
}

/// Adds the commands `log show`, `follow`, `verify`, `export` and `resolve` to a program that knows where its log is:
/// `log show` is about this one, `log show FILE` about another. They run without the pool. An installed [`EventLog`] brings
/// them by itself, with a file that must be named.
///
/// ```
/// use tool_runtime::ToolPool;
/// use tool_runtime::audit::LogCommands;
///
/// let pool = ToolPool::builder().install(LogCommands::new(Some("calls.db".into()))).allow_empty().build()?;
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LogCommands {
    file: Option<PathBuf>,
}

impl LogCommands {
    /// The commands for a log. `None`: the program has none, so that one must be named.
    pub fn new(file: Option<PathBuf>) -> Self {
        Self { file }
    }
}

impl PoolExtension for LogCommands {
    fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        with_commands(builder, &FileArgument::Optional(self.file))
    }
}

/// The argument FILE.
#[derive(Clone)]
enum FileArgument {
    Required,
    /// The log of the program, if it has one.
    Optional(Option<PathBuf>),
}

/// A command about the file of a log. None needs the pool.
struct LogCommand {
    action: Action,
    file: FileArgument,
}

#[derive(Clone, Copy)]
enum Action {
    Show,
    Follow,
    Verify,
    Export,
    Resolve,
}

impl CliCommand for LogCommand {
    fn form(&self) -> CommandForm {
        let form = |name, about| {
            let form = CommandForm::new(name, about).heading(GOVERNANCE);
            match (&self.file, self.action) {
                (FileArgument::Required, _) | (_, Action::Resolve) => {
                    form.argument("FILE", "The log")
                }
                (FileArgument::Optional(_), _) => {
                    form.optional_argument("FILE", "The log; default: that of the program")
                }
            }
        };
        let after = "Begin after the record of this number; default: 0";
        match self.action {
            Action::Show => {
                Selection::options(form("log show", "Show calls as a timeline").option(
                    "run",
                    "RUN",
                    "Only this run, with its state, counts and times",
                ))
                .flag("unresolved", "Only calls whose end is not known")
                .flag("records", "Print each record as a line")
                .flag("json", "Print a JSON object a line, for each call or record")
                .after_help(TIMES)
            }
            Action::Follow => Selection::options(
                form("log follow", "Show records as they are written, until interrupted")
                    .option("after", "SEQ", after)
                    .option("run", "RUN", "Only of this run"),
            )
            .flag("json", "Print a JSON object a line")
            .after_help(TIMES),
            Action::Verify => form(
                "log verify",
                "Check that no record was changed, removed or moved",
            )
            .option("head", "FILE", "The file with the head of the log")
            .flag("json", "Print JSON")
            .after_help(
                "Exit codes: 0 the log is intact, 1 it was changed, is empty or cannot be read.\n\n\
                     Without `--head` it cannot be seen that the last records were cut off.",
            ),
            Action::Export => Selection::options(
                form("log export", "Print records as lines of JSON")
                    .option("after", "SEQ", after)
                    .option("run", "RUN", "Only of this run"),
            )
            .after_help(TIMES),
            Action::Resolve => {
                form("log resolve", "State the outcome of a step of a run that is indeterminate")
                    .argument("STEP", "The step, as `log show --unresolved` prints it")
                    .flag("not-run", "The call had no effect, and may run again")
                    .option("result", "TEXT", "The call had its effect, and this result")
                    .option("by", "NAME", "The person who knows; required")
            }
        }
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        Some(self.print(arguments))
    }
}

impl LogCommand {
    fn print<'a>(&'a self, arguments: &'a CommandArguments) -> BoxFuture<'a, ExitCode> {
        Box::pin(async move { run_printing(|output| self.write(arguments, output)) })
    }

    /// Runs the command. Whether nothing is wrong with the log.
    fn write(
        &self,
        arguments: &CommandArguments,
        output: &mut dyn Write,
    ) -> Result<bool, CommandFailure> {
        let values = arguments.positional();
        let file = match (values.first(), &self.file) {
            (Some(file), _) => Path::new(file),
            (None, FileArgument::Optional(Some(file))) => file,
            (None, _) => {
                let text = "this program has no log of its own; name the file of one";
                return Err(CommandFailure::usage(text));
            }
        };
        match self.action {
            Action::Show => show_file(file, arguments, output),
            Action::Follow => follow(file, arguments, output),
            Action::Verify => verify(file, arguments, output),
            Action::Export => {
                let (after, mut chosen) = (after(arguments)?, Selection::of_records(arguments)?);
                for record in LogReader::open(file)?.records_after(after) {
                    let record = record?;
                    if chosen.has_record(&record) {
                        write_json(&record, output)?;
                    }
                }
                Ok(true)
            }
            Action::Resolve => {
                resolve(file, values.get(1).map_or("", String::as_str), arguments)?;
                Ok(true)
            }
        }
    }
}

/// The value of `--after`.
fn after(arguments: &CommandArguments) -> Result<u64, CommandFailure> {
    let Some(text) = arguments.value("after") else { return Ok(0) };
    let wrong =
        |_| CommandFailure::usage(format!("`--after {text}` is not the number of a record"));
    text.parse().map_err(wrong)
}

fn show_file(
    file: &Path,
    arguments: &CommandArguments,
    output: &mut dyn Write,
) -> Result<bool, CommandFailure> {
    let mut chosen = match arguments.has("records") {
        true => Selection::of_records(arguments)?,
        false => Selection::from_arguments(arguments)?,
    };
    let reader = LogReader::open(file)?;
    let [unresolved, records, json] = ["unresolved", "records", "json"].map(|it| arguments.has(it));
    let is_summary = !unresolved && !records && !json;
    if let Some(run) = arguments.value("run").filter(|_| is_summary) {
        let summary = reader.run(run)?;
        if summary.calls.is_empty() {
            let text = format!("the log has no run `{}`", one_line(run, 100));
            return Err(LogError::new(LogErrorKind::NotFound, text).into());
        }
        writeln!(output, "{summary}")?;
        return Ok(true);
    }
    if records {
        for record in reader.records() {
            write_chosen(&record?, &mut chosen, json, output)?;
        }
        return Ok(true);
    }
    show(reader, &chosen, unresolved, json, output)
}

fn follow(
    file: &Path,
    arguments: &CommandArguments,
    output: &mut dyn Write,
) -> Result<bool, CommandFailure> {
    let (after, mut chosen) = (after(arguments)?, Selection::of_records(arguments)?);
    let mut records = LogReader::open(file)?.records_after(after);
    loop {
        for record in records.by_ref() {
            write_chosen(&record?, &mut chosen, arguments.has("json"), output)?;
        }
        output.flush()?;
        std::thread::sleep(FOLLOW_INTERVAL);
    }
}

fn verify(
    file: &Path,
    arguments: &CommandArguments,
    output: &mut dyn Write,
) -> Result<bool, CommandFailure> {
    let head = arguments.value("head").map(|file| head_file::read(Path::new(file))).transpose()?;
    let found = LogReader::open(file)?.verify(head.as_ref())?;
    if arguments.has("json") {
        let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
        let found = json!({
            "is_intact": found.is_intact(),
            "records": found.records,
            "first": found.first,
            "head": { "seq": found.head.seq, "hash": found.head.hash },
            "problems": problems,
            "is_tail_checked": found.is_tail_checked,
            "unproven_removal": found.unproven_removal,
        });
        writeln!(output, "{found:#}")?;
        return Ok(problems.is_empty());
    }
    for problem in &found.problems {
        writeln!(output, "{problem}")?;
    }
    let (first, last) = (found.first, found.head.seq);
    match found.is_intact() {
        true => writeln!(output, "records {first} to {last} are as they were written")?,
        false => writeln!(output, "problems: {}\n{TO_DO}", found.problems.len())?,
    }
    match &head {
        _ if found.is_tail_checked => {}
        None => writeln!(
            output,
            "whether the end was cut is not known: give its head by `--head FILE`"
        )?,
        Some(head) => writeln!(
            output,
            "record {} of the head was removed, so whether the end was cut is not known: give a newer head",
            head.seq
        )?,
    }
    if let Some(removed) = found.unproven_removal {
        writeln!(
            output,
            "records up to {removed} were removed after the head was kept: whether by the retention is not known"
        )?;
    }
    writeln!(output, "head: {} {}", last, found.head.hash)?;
    Ok(found.is_intact())
}

fn resolve(file: &Path, step: &str, arguments: &CommandArguments) -> Result<(), CommandFailure> {
    let Some(by) = arguments.value("by") else {
        return Err(CommandFailure::usage("say who you are by `--by NAME`"));
    };
    let resolution = match (arguments.value("result"), arguments.has("not-run")) {
        (Some(text), false) => Resolution::Ran(Observation::text(text)),
        (None, true) => Resolution::NotRun,
        _ => return Err(CommandFailure::usage("choose `--not-run` or `--result TEXT`")),
    };
    // A log that does not exist is not created.
    LogReader::open(file)?;
    if EventLog::is_lines(file) {
        return Err(no_steps(file).into());
    }
    EventLog::open(file)?.resolve_blocking(&StepId::new(step), resolution, by)?;
    Ok(())
}

fn show(
    reader: LogReader,
    chosen: &Selection,
    unresolved: bool,
    json: bool,
    output: &mut dyn Write,
) -> Result<bool, CommandFailure> {
    let is_of = |record: &Result<LogRecord, LogError>| match record {
        Ok(record) => chosen.is_of(record),
        Err(_) => true,
    };
    let records = reader.records().filter(is_of).collect::<Result<Vec<_>, _>>()?;
    let mut count = 0;
    for call in Calls::from_records(records).iter().filter(|call| chosen.has_call(call)) {
        let is_open = call.is_started && !call.is_ended();
        let is_unknown = is_open || is_unresolved(call);
        if unresolved && !is_unknown {
            continue;
        }
        count += 1;
        if json {
            writeln!(output, "{}", call.to_json())?;
            continue;
        }
        writeln!(output, "{call}")?;
        // Nothing repeats a step without a run.
        let step = call.step.as_ref().filter(|_| call.run.is_some());
        if let (true, Some(step)) = (unresolved && is_unknown, step) {
            writeln!(output, "  log resolve FILE {step}")?;
        }
    }
    if count == 0 && !json {
        writeln!(output, "no such calls")?;
    }
    Ok(true)
}

/// Writes a record, if it is chosen.
fn write_chosen(
    record: &LogRecord,
    chosen: &mut Selection,
    json: bool,
    output: &mut dyn Write,
) -> io::Result<()> {
    match (chosen.has_record(record), json) {
        (false, _) => Ok(()),
        (true, true) => write_json(record, output),
        (true, false) => write_line(record, output),
    }
}

fn write_json(record: &LogRecord, output: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *output, record)?;
    writeln!(output)
}

/// A record on a line, for a person.
fn write_line(record: &LogRecord, output: &mut dyn Write) -> io::Result<()> {
    let LogRecord { seq, kind, tool, call, .. } = record;
    write!(output, "{seq:>6}  {}  {kind:<13}  #{call} {tool}", time(record.time_us))?;
    if let Some(principal) = &record.principal {
        write!(output, " for {}", one_line(principal, 100))?;
    }
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
    let [trace, session] = [&record.trace, &record.mcp_session].map(Option::as_deref);
    writeln!(output, "{}", ids(record.call_id.as_deref(), trace, session))
}

#[cfg(test)]
mod tests;
