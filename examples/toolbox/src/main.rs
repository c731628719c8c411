//! The built-in tools over MCP and from the command line.
//!
//! ```text
//! cargo run -p toolbox -- serve --root . --families files,search,shell --policy examples/toolbox/policy.yaml
//! cargo run -p toolbox -- call Grep pattern='fn main' --root .
//! cargo run -p toolbox -- call Grep pattern=todo --root . -- -i=true
//! cargo run -p toolbox -- call Write file_path=notes.md content=@draft.md
//! cargo run -p toolbox -- call Bash command='cargo --version' --families shell --sandbox landlock
//! cargo run -p toolbox -- schedule --families shell,schedule --data .toolbox
//! ```
//!
//! `toolbox --help` lists the options, each of which every command takes. The commands are those of every tool program:
//! `serve`, `list`, `call`, `schema`, `report`; the family `schedule` adds `schedule`, which runs the jobs. Questions and
//! plans reach the user by the forms of the MCP client, or at the terminal. `report` shows what each tool needs, and whether it is there.

mod agents;
mod code;
mod needs;
mod options;
mod targets;

use std::process::ExitCode;
use tool_runtime::approvals::AskCaller;
use tool_runtime::cli::{Cli, ProgramArguments, TerminalApprover};
use tool_runtime::mcp::{McpConfig, McpManager, PinCommand, Subreaper};
use tool_runtime::policy::Policy;
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;
use tool_runtime::shell::ShellMatcher;
use tool_runtime::skills::Skills;

type BoxError = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = match options::options().parse(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    // Dropped last: ends what commands have left. Not on every system.
    let _subreaper = Subreaper::new();
    let (pool, _servers) = match arguments.log_during(prepare(&arguments)).await {
        Ok(prepared) => prepared,
        Err(error) => {
            eprintln!("toolbox: {error}");
            return ExitCode::from(3);
        }
    };
    let cli = Cli::new(pool.clone()).name("toolbox").version(env!("CARGO_PKG_VERSION"));
    let code = cli.about(env!("CARGO_PKG_DESCRIPTION")).options(arguments).run_async().await;
    // Ends background jobs and terminals, and disconnects servers.
    pool.close().await;
    code
}

/// The pool, and its servers.
async fn prepare(arguments: &ProgramArguments) -> Result<(ToolPool, Option<McpManager>), BoxError> {
    let skills = options::skills(arguments);
    let skill = skills.iter().map(|skills| skills.tool().requires([needs::skills(arguments)]));
    let builder = ToolPool::builder()
        .install(options::builtins(arguments)?)
        .add_from(&Source::Custom, skill)
        .argument_matcher(ShellMatcher)
        // Models write names of arguments that they know from other programs.
        .repair()
        .command(PinCommand)
        .approver(AskCaller::new().or(TerminalApprover::new()));
    let pool = match arguments.value("policy") {
        Some(file) => builder.install(Policy::from_file(file)?).build()?,
        None => builder.build()?,
    };
    // The pool is that of one client: its skills may narrow the pool itself.
    skills.iter().for_each(|library| drop(Skills::new(library, &pool)));
    let servers = match arguments.value("mcp-config") {
        Some(file) => {
            let mut manager = McpManager::builder().config(McpConfig::from_file(file)?);
            if let Some(pins) = arguments.value("pins") {
                manager = manager.pins_file(pins);
            }
            Some(manager.connect(&pool).await?)
        }
        None => None,
    };
    Ok((pool, servers))
}
