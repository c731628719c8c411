//! `check`: all mistakes of the configuration.

use crate::config::Source;
use crate::document::SCHEMA;
use crate::plan::Plan;
use serde_json::json;
use std::io::Write;
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
            .flag("connect", "Connect the external servers, and compare rules and `tools.deny` with all tools")
            .flag("schema", "Print the JSON Schema of configurations instead, for editors")
            .flag("json", "Print JSON")
            .after_help("Exit codes: 0 the gateway starts with it, 1 there are mistakes.\n\nWithout `--connect` nothing is started, and no file is written; with it, what `tools.data` keeps is created. Rules about tools that do not exist are found with `--connect` only. `tool-gateway doctor` explains servers that do not connect.")
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        let source = source(&self.0, arguments);
        // A pool is made of a valid configuration only.
        let connects = arguments.has("connect") && !arguments.has("schema");
        if connects && arguments.positional().is_empty() && Plan::load(&source).is_ok() {
            return None;
        }
        let run = move || {
            run_printing(|output| {
                if connects && !arguments.positional().is_empty() {
                    let text =
                        "`--connect` starts the program's own configuration; name it by `--config`";
                    return Err(CommandFailure::usage(text));
                }
                check(&source, arguments, None, output)
            })
        };
        Some(Box::pin(async move { run() }))
    }

    fn run<'a>(
        &'a self,
        arguments: &'a CommandArguments,
        pool: &'a ToolPool,
    ) -> BoxFuture<'a, ExitCode> {
        Box::pin(
            async move { run_printing(|output| check(&self.0, arguments, Some(pool), output)) },
        )
    }
}

/// The configuration that is checked.
fn source(own: &Source, arguments: &CommandArguments) -> Source {
    match arguments.positional() {
        [file, ..] => own.with_file(file),
        [] => own.clone(),
    }
}

/// Prints what is wrong, also compared with a pool. Whether the gateway starts with the configuration.
fn check(
    source: &Source,
    arguments: &CommandArguments,
    pool: Option<&ToolPool>,
    output: &mut dyn Write,
) -> Result<bool, CommandFailure> {
    if arguments.has("schema") {
        writeln!(output, "{:#}", *SCHEMA)?;
        return Ok(true);
    }
    let (problems, warnings, summary) = match Plan::load(source) {
        Ok(plan) => {
            let unused = pool.map(|pool| plan.unused(pool)).unwrap_or_default();
            let warnings = [plan.warnings.clone(), plan.unwritable(), unused].concat();
            (Vec::new(), warnings, plan.summary())
        }
        Err(problems) => (problems, Vec::new(), Vec::new()),
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
