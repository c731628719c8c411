//! `init`: a first configuration.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use tool_runtime::BoxFuture;
use tool_runtime::cli::{CliCommand, CommandArguments, CommandForm};
use tool_runtime_command::seam::{CommandFailure, SETUP, run_printing};

/// The files that are written.
const FILES: [(&str, &str); 2] = [
    ("tool-gateway.toml", include_str!("init/tool-gateway.toml")),
    ("policy.yaml", include_str!("init/policy.yaml")),
];

/// Writes a configuration with comments, and a policy.
pub(crate) struct Init;

impl CliCommand for Init {
    fn form(&self) -> CommandForm {
        CommandForm::new("init", "Write a configuration with comments, and a policy, to start from")
            .heading(SETUP)
            .optional_argument("DIR", "The folder; default: this one")
            .after_help("Files that exist are not changed.")
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        let folder = arguments.positional().first().map_or(".", String::as_str);
        let run = move || run_printing(|output| init(Path::new(folder), output));
        Some(Box::pin(async move { run() }))
    }
}

fn init(folder: &Path, output: &mut dyn Write) -> Result<bool, CommandFailure> {
    let failed = |path: &Path, reason: &dyn Display| {
        CommandFailure::Failed(format!("`{}`: {reason}", path.display()))
    };
    let paths = FILES.map(|(name, _)| folder.join(name));
    if let Some(path) = paths.iter().find(|path| path.exists()) {
        return Err(failed(path, &"it exists already; nothing was written"));
    }
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    for (path, (_, text)) in paths.iter().zip(FILES) {
        write(path, text).map_err(|error| failed(path, &error))?;
        writeln!(output, "wrote {}", path.display())?;
    }
    writeln!(output, "next: `tool-gateway check`, then `tool-gateway serve`")?;
    Ok(true)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}
