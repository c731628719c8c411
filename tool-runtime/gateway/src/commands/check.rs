//! `check`: all mistakes of the configuration.

use crate::config::Source;
use crate::config::document::SCHEMA;
use crate::plan::{Mistakes, Plan};
use serde_json::json;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use tool_runtime::BoxFuture;
use tool_runtime::ToolPool;
use tool_runtime::cli::{CliCommand, CommandArguments, CommandForm};
use tool_runtime_command::seam::{CommandFailure, SETUP, run_printing};

/// Reports all mistakes of a configuration, and of what it names.
pub(crate) struct Check(pub(crate) Source);

impl CliCommand for Check {
    fn form(&self) -> CommandForm {
        CommandForm::new("check", "Report all mistakes of the configuration, and of the files that it names")
            .heading(SETUP)
            .optional_argument("FILE", "The configuration; default: that of the program")
            .flag("strict", "Fail for warnings, too")
            .flag("connect", "Connect the external servers, compare rules and `tools.deny` with all tools, and try the address")
            .flag("schema", "Print the JSON Schema of configurations instead, for editors")
            .flag("json", "Print JSON")
            .after_help("Exit codes: 0 the gateway starts with it, 1 there are mistakes.\n\nWhat this user may not write is a warning: the gateway may run as another one. Without `--connect` nothing is started, and no file stays behind; with it, what `tools.data` keeps is created. Rules about tools that do not exist are found with `--connect` only. `tool-gateway doctor` explains servers that do not connect.")
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        if arguments.has("schema") {
            return Some(ready(|output| {
                writeln!(output, "{:#}", *SCHEMA)?;
                Ok(true)
            }));
        }
        let file = arguments.positional().first();
        if arguments.has("connect") && file.is_some() {
            return Some(ready(|_| {
                let text =
                    "`--connect` starts the program's own configuration; name it by `--config`";
                Err(CommandFailure::usage(text))
            }));
        }
        let source = file.map_or_else(|| self.0.clone(), |file| self.0.with_file(file));
        let plan = Plan::load(&source);
        // A pool is made of a valid configuration only.
        if arguments.has("connect") && plan.is_ok() {
            return None;
        }
        Some(ready(move |output| report(&source, arguments, plan, Vec::new(), output)))
    }

    fn reports_warnings(&self) -> bool {
        true
    }

    fn run<'a>(
        &'a self,
        arguments: &'a CommandArguments,
        pool: &'a ToolPool,
    ) -> BoxFuture<'a, ExitCode> {
        Box::pin(async move {
            let mut plan = Plan::load(&self.0);
            let mut compared = Vec::new();
            if let Ok(valid) = &plan {
                let (mistakes, warnings) = valid.compared_with(pool);
                compared = warnings;
                match valid.try_address().await {
                    // Perhaps by the gateway that the configuration is for.
                    Err(error) if error.kind() == ErrorKind::AddrInUse => {}
                    Err(error) => compared.push(format!("`http.listen`: {error}")),
                    Ok(()) => {}
                }
                if !mistakes.is_empty() {
                    plan = Err(Mistakes::new(mistakes));
                }
            }
            run_printing(|output| report(&self.0, arguments, plan, compared, output))
        })
    }
}

/// A command that only prints.
fn ready<'a>(
    print: impl FnOnce(&mut dyn Write) -> Result<bool, CommandFailure> + Send + 'a,
) -> BoxFuture<'a, ExitCode> {
    Box::pin(async move { run_printing(print) })
}

/// Prints what is wrong. Whether the gateway starts with the configuration.
fn report(
    source: &Source,
    arguments: &CommandArguments,
    plan: Result<Plan, Mistakes>,
    compared: Vec<String>,
    output: &mut dyn Write,
) -> Result<bool, CommandFailure> {
    let (problems, warnings, summary) = match plan {
        Ok(plan) => {
            let unwritable = plan.unwritable().into_iter().map(|file| file.text).collect();
            let warnings = [plan.warnings.clone(), unwritable, compared].concat();
            (Vec::new(), warnings, plan.summary())
        }
        Err(mistakes) => (mistakes.list, compared, mistakes.unchecked),
    };
    let file = source.file.as_ref().map(|file| file.display().to_string());
    if arguments.has("json") {
        let found = json!({ "file": file, "problems": problems, "warnings": warnings });
        writeln!(output, "{found}")?;
    } else {
        let file = file.as_deref().unwrap_or("no configuration file");
        match problems.len() {
            0 => writeln!(output, "{file}: ok")?,
            1 => writeln!(output, "{file}: 1 mistake")?,
            count => writeln!(output, "{file}: {count} mistakes")?,
        }
        for line in problems.iter().chain(&summary) {
            writeln!(output, "- {line}")?;
        }
        for warning in &warnings {
            writeln!(output, "- warning: {warning}")?;
        }
    }
    Ok(problems.is_empty() && (warnings.is_empty() || !arguments.has("strict")))
}
