//! `check`: all mistakes of the configuration.

use crate::config::Source;
use crate::document::SCHEMA;
use crate::plan::Plan;
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;
use tool_runtime::BoxFuture;
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
            .flag("schema", "Print the JSON Schema of configurations instead, for editors")
            .flag("json", "Print JSON")
            .after_help("Exit codes: 0 the gateway starts with it, 1 there are mistakes.\n\nNothing is started and no file is written. `tool-gateway status` connects the external servers, `tool-gateway doctor` explains them.")
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        let run = || run_printing(|output| check(&self.0, arguments, output));
        Some(Box::pin(async move { run() }))
    }
}

/// Prints what is wrong. Whether the gateway starts with the configuration.
fn check(
    source: &Source,
    arguments: &CommandArguments,
    output: &mut dyn Write,
) -> Result<bool, CommandFailure> {
    if arguments.has("schema") {
        writeln!(output, "{:#}", *SCHEMA)?;
        return Ok(true);
    }
    let source = match arguments.positional() {
        [file, ..] => source.with_file(file),
        [] => source.clone(),
    };
    let (problems, warnings, summary) = match Plan::load(&source) {
        Ok(plan) => (Vec::new(), plan.warnings.clone(), plan.summary()),
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
