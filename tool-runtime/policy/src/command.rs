//! The commands `policy check`, `policy explain` and `policy test`.

use crate::case::SampleCall;
use crate::folder::PolicyFolder;
use crate::policy::Policy;
use crate::read::PolicyError;
use clap::{Parser, Subcommand};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tool_runtime_core::{Principal, ToolPool};

/// Checks, explains and tests policies.
///
/// ```
/// use tool_runtime_policy::PolicyCommand;
///
/// let mut output = Vec::new();
/// let is_fine = PolicyCommand::run_on(["policy", "check", "missing.yaml"], None, &mut output)?;
/// assert!(!is_fine);
/// assert!(String::from_utf8(output)?.contains("missing.yaml"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Parser)]
#[command(name = "policy", about = "Check, explain and test policies")]
pub struct PolicyCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Report all mistakes of policies, with their lines
    Check {
        /// Files, or folders with a file for each caller
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Show which rule decides about a call, why, and what would change it
    Explain(Explain),
    /// Run the tests beside the rules
    Test {
        /// Files
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

#[derive(Debug, clap::Args)]
struct Explain {
    /// The policy
    file: PathBuf,
    /// The id of the tool
    #[arg(long)]
    tool: String,
    /// The arguments, as JSON
    #[arg(long, default_value = "{}")]
    args: String,
    /// The id of the caller
    #[arg(long, default_value = "")]
    principal: String,
    /// Labels of the execution, as NAME=VALUE
    #[arg(long)]
    label: Vec<String>,
}

impl PolicyCommand {
    /// Runs a command line, the name of the program first. Help and mistakes of the command line are
    /// written like results. Tells whether everything is fine.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn run_on<A: Into<std::ffi::OsString> + Clone>(
        arguments: impl IntoIterator<Item = A>,
        pool: Option<&ToolPool>,
        output: &mut dyn Write,
    ) -> io::Result<bool> {
        match Self::try_parse_from(arguments) {
            Ok(command) => command.run(pool, output),
            Err(error) => {
                write!(output, "{error}")?;
                Ok(!error.use_stderr())
            }
        }
    }

    /// Runs the command. With a pool, its tools are known: patterns that select none are reported.
    /// Tells whether everything is fine.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn run(self, pool: Option<&ToolPool>, output: &mut dyn Write) -> io::Result<bool> {
        match self.command {
            Command::Check { files } => each(&files, |file| check(file, pool, output)),
            Command::Explain(explain) => explain.run(pool, output),
            Command::Test { files } => each(&files, |file| test(file, output)),
        }
    }
}

/// Whether all files are fine. Those after one that is not are looked at as well.
fn each(files: &[PathBuf], mut run: impl FnMut(&Path) -> io::Result<bool>) -> io::Result<bool> {
    let mut is_fine = true;
    for file in files {
        is_fine &= run(file)?;
    }
    Ok(is_fine)
}

fn check(file: &Path, pool: Option<&ToolPool>, output: &mut dyn Write) -> io::Result<bool> {
    let read = match file.is_dir() {
        true => PolicyFolder::read(file).map(|folder| unused(folder.policies(), pool)),
        false => Policy::read(file).map(|policy| unused([&policy].into_iter(), pool)),
    };
    let warnings = match read {
        Ok(warnings) => warnings,
        Err(error) => return report(&error, output),
    };
    for warning in warnings {
        writeln!(output, "{}: warning: {warning}", file.display())?;
    }
    writeln!(output, "{}: ok", file.display())?;
    Ok(true)
}

fn unused<'p>(policies: impl Iterator<Item = &'p Policy>, pool: Option<&ToolPool>) -> Vec<String> {
    pool.map(|pool| policies.flat_map(|policy| policy.unused_patterns(pool)).collect())
        .unwrap_or_default()
}

fn report(error: &PolicyError, output: &mut dyn Write) -> io::Result<bool> {
    for problem in error.problems() {
        writeln!(output, "{problem}")?;
    }
    Ok(false)
}

fn test(file: &Path, output: &mut dyn Write) -> io::Result<bool> {
    match Policy::read(file) {
        Ok(policy) => {
            let tests = policy.test();
            write!(output, "{}\n{tests}", file.display())?;
            Ok(tests.is_passed())
        }
        Err(error) => report(&error, output),
    }
}

impl Explain {
    fn run(self, pool: Option<&ToolPool>, output: &mut dyn Write) -> io::Result<bool> {
        let policy = match Policy::read(&self.file) {
            Ok(policy) => policy,
            Err(error) => return report(&error, output),
        };
        let mut call = SampleCall::new(self.tool)
            .arguments_text(self.args)
            .principal(Principal::new(self.principal));
        for label in &self.label {
            let (name, value) = label.split_once('=').unwrap_or((label, ""));
            call = call.label(name, value);
        }
        if let Some(pool) = pool {
            call = call.in_pool(pool);
        }
        write!(output, "{}", policy.explain(&call))?;
        Ok(true)
    }
}
