//! Tools for files, search, a shell and a schedule, over MCP and from the command line.
//!
//! ```text
//! cargo run -p toolbox -- serve --root . --families files,search,shell --policy examples/toolbox/policy.yaml
//! cargo run -p toolbox -- call Grep pattern='fn main' --root .
//! cargo run -p toolbox -- call Bash command='cargo --version' --sandbox landlock
//! cargo run -p toolbox -- schedule --families shell,schedule --schedule-file schedule.db
//! ```
//!
//! | Option | Effect | Default |
//! |---|---|---|
//! | `--root DIR` | a directory that the tools may touch; repeat it for more | the working directory |
//! | `--families LIST` | some of `files`, `search`, `shell`, `schedule` | `files,search` |
//! | `--policy FILE` | rules about calls, in YAML | none: every call is allowed |
//! | `--sandbox KIND` | confinement of commands: `landlock` or `bubblewrap` | none |
//! | `--no-network` | commands have no network; needs a sandbox | |
//! | `--schedule-file FILE` | jobs and settings of the family `schedule`, shared with the command `schedule` | a temporary file |
//! | `--min-interval SECONDS` | the shortest interval between two runs of a job | `60s` |
//! | `--open-hands` | the names of OpenHands: `file_editor`, `terminal`, `glob`, `grep` | |
//!
//! All other arguments are those of every tool program: `serve`, `list`, `call`, `schema`, `report`. The family
//! `schedule` adds the command `schedule`, which runs the jobs.

mod options;

use options::{BoxError, Options};
use std::process::ExitCode;
use tool_runtime::Cli;
use tool_runtime::policy::Policy;
use tool_runtime::prelude::*;
use tool_runtime::shell::ShellMatcher;

#[tokio::main]
async fn main() -> ExitCode {
    let (pool, arguments) = match prepare() {
        Ok(prepared) => prepared,
        Err(error) => {
            eprintln!("toolbox: {error}");
            return ExitCode::from(3);
        }
    };
    let cli = Cli::new(pool.clone()).name("toolbox").version(env!("CARGO_PKG_VERSION"));
    let code = cli.about(env!("CARGO_PKG_DESCRIPTION")).run_from(arguments).await;
    // Ends background jobs and terminals.
    pool.close().await;
    code
}

/// The pool, and the arguments that are not about it.
fn prepare() -> Result<(ToolPool, Vec<std::ffi::OsString>), BoxError> {
    let (options, arguments) = Options::parse(std::env::args_os())?;
    let builder = ToolPool::builder().install(options.builtins()?).argument_matcher(ShellMatcher);
    let pool = match &options.policy {
        Some(file) => builder.install(Policy::read(file)?).build()?,
        None => builder.build()?,
    };
    Ok((pool, arguments))
}
